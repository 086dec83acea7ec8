/**
 * One numbered database, and the one door for every change to a key.
 *
 * Nothing but the methods of the part "changing" changes a key. So the things that must happen with every change happen
 * here, and no command can forget one: WATCH, key-space notifications, blocked clients, client-side caching, expiry, memory
 * accounting, the count of changes that the append-only file and the replicas go by, what they get where a deadline was set,
 * and the snapshot walk, which must see a key as it was (persist/snapshot.ts).
 *
 * Invariants kept here:
 * - a collection in the keyspace is never empty (streams excepted, which live until deleted);
 * - every key in `expires` is in the keyspace;
 * - `sizeBytes` is the sum of what keys and values say they take.
 */

import type { Config } from "../config/config.ts";
import type { LatencyMonitor } from "../observe/latency.ts";
import type { Stats } from "../observe/stats.ts";
import { Bytes, bytesOf, type StringValue, sizeOfString, textOf } from "../types/bytes.ts";
import type { Collection, CollectionClass, Limits, TypeName } from "../types/collection.ts";
import { isCollection, keyBytes, sizeOf, typeOf } from "../types/kind.ts";
import type { Value } from "../types/value.ts";
import type { AccessStamps } from "./access-stamps.ts";
import type { Clock } from "./clock.ts";
import { Dict } from "./dict.ts";
import type { Effects } from "./effects.ts";
import { WRONGTYPE } from "./errors.ts";
import type { Table } from "./hash-table.ts";
import { countLazyFree } from "./lazy-free.ts";
import { type EventClass, GENERIC_EVENT, type Notifications, STRING_EVENT, TYPE_EVENT } from "./notify.ts";
import { SlotIndex } from "./slot-index.ts";
import { Watchers } from "./watchers.ts";
import { hashWord, rememberedHash } from "./word-hash.ts";

/** What a database needs of the store around it. */
interface DbHost {
  /** Milliseconds since 1970, fixed while a command runs. */
  readonly now: number;
  readonly limits: Limits;
  readonly config: Pick<Config, "values">;
  readonly stats: Stats;
  readonly clock: Clock;
  readonly latency: LatencyMonitor;
  readonly effects: Effects;
  readonly stamps: AccessStamps;
  readonly notifications: Notifications;
  /** Data is being read from files: nothing expires meanwhile. */
  readonly loading: boolean;
  /** The client whose command is running. */
  readonly current: { readonly isPrimary: boolean } | null;
  /** The snapshot that is being taken, which must see keys before they change. */
  readonly snapshot: { before(keyspace: Dict<Value>, key: string, hash: number): void } | null;
  readonly pause: { readonly paused: boolean };
  readonly replication: {
    readonly isReplica: boolean;
    readonly isWritableReplica: boolean;
    readonly ownDeadlines: { remember(db: Db, key: string): void };
  };
  readonly blocking: {
    keyChanged(db: Db, key: string, type: "list" | "zset" | "stream"): void;
    lookAgain(...databases: Db[]): void;
  };
  readonly tracking: {
    readonly active: boolean;
    /** `byItself`: it has expired or was evicted. */
    keyChanged(key: string, byItself: boolean): void;
    databaseCleared(): void;
  };
}

/** A database as it was at a moment. Its values may be in databases as well, which copy them before they change them. */
export interface DbImage {
  readonly keyspace: Dict<Value>;
  readonly expires: Dict<number>;
  readonly valueBytes: number;
}

export interface PutOptions {
  /** Notified as an event of the value's own type, unless `eventClass` says otherwise. */
  readonly event?: string;
  readonly eventClass?: EventClass;
  readonly keepTtl?: boolean;
  /** How many changes this counts for. */
  readonly changes?: number;
  /** In ms. What the command propagates must say it too. */
  readonly deadline?: number | undefined;
  /** When or how often it was used (access-stamps.ts); now, if it is not said. */
  readonly stamp?: number | undefined;
  /** What is at the key goes first, so that the key counts as a new one. */
  readonly asNew?: boolean;
}

const RECENT = 64;

/** Spreads keys by what tends to differ: how long they are and how they end. */
function recentSlot(key: string): number {
  const { length } = key;
  if (length < 3) return length;
  return (length * 5 + key.charCodeAt(length - 1) + key.charCodeAt(length - 3) * 9) & (RECENT - 1);
}

const newKeyspace = () => new Dict<Value>({ stamps: true });
const newDeadlines = () => new Dict<number>({ values: "numbers" });

export class Db {
  readonly #host: DbHost;
  readonly index: number;
  keyspace = newKeyspace();
  /** Deadlines in ms of the keys that have one. */
  expires = newDeadlines();
  readonly watchers = new Watchers();
  /** Keys that clients are blocked on; blocking.ts knows which clients. */
  readonly awaited = new Set<string>();
  /** Which keys are in which slot of a Cluster; null where cluster mode is off. */
  slots: SlotIndex | null;
  readonly #effects: Effects;
  readonly #stamps: AccessStamps;
  readonly #notifications: Notifications;
  #valueBytes = 0;
  /**
   * Values that are in no image and so may be changed in place; null while there is no image, and all may. A value that an image
   * has is replaced by a copy when it is first opened for a change.
   */
  #owned: WeakSet<object> | null = null;

  /**
   * Where keys were found lately whose hash was not at hand: scripts look for the same few keys all the time. A place is
   * believed while its table has moved nothing, so nothing that moves keys has to know of this.
   */
  readonly #recentKeys: string[] = new Array(RECENT).fill("");
  readonly #recentTables: (Table<Value> | undefined)[] = new Array(RECENT).fill(undefined);
  /** What a table's `moves` were. */
  readonly #recentMoves = new Float64Array(RECENT);
  readonly #recentPlaces = new Uint32Array(RECENT);

  // Where the last look-up ended.
  #table!: Table<Value>;
  #place = -1;
  #hash = 0;

  constructor(host: DbHost, index: number) {
    this.#host = host;
    this.index = index;
    this.#effects = host.effects;
    this.#stamps = host.stamps;
    this.#notifications = host.notifications;
    this.slots = index === 0 && host.config.values["cluster-enabled"] ? new SlotIndex() : null;
  }

  get size(): number {
    return this.keyspace.size;
  }

  get limits(): Limits {
    return this.#host.limits;
  }

  /** What keys and values take, about. */
  get sizeBytes(): number {
    return this.#valueBytes + this.expires.size * 24;
  }

  // ---------------------------------------------------------------------------------------------- reading

  /** Finds a key and removes it if its time has come. Leaves its place in #table and #place. */
  #find(key: string, toChange = false): Value | undefined {
    const hash = rememberedHash(key);
    if (hash !== 0) this.#locate(key, hash);
    else if (!this.#isRecent(key)) this.#search(key);
    const place = this.#place;
    if (place < 0) return undefined;
    if (this.expires.size > 0 && this.#isDue(key, this.#hash)) return this.#findDue(key, toChange);
    return this.#table.values![place];
  }

  /**
   * What is found of a key whose time has come: nothing, and it goes. On a replica, and while clients are paused, it stays
   * until the primary removes it, or the pause is over, and is only hidden; but the primary's own commands still see it, and
   * for somebody who writes it must really be gone.
   */
  #findDue(key: string, toChange: boolean): Value | undefined {
    const { replication, pause, current } = this.#host;
    if (replication.isReplica && current?.isPrimary) return this.#table.values![this.#place];
    if (toChange || !(replication.isReplica || pause.paused)) this.#expire(key);
    this.#table = this.keyspace.tableOf(this.#hash);
    this.#place = -1;
    return undefined;
  }

  #locate(key: string, hash: number): void {
    this.#hash = hash;
    this.#table = this.keyspace.tableOf(hash);
    this.#place = this.#table.find(key, hash);
  }

  #search(key: string): void {
    this.#locate(key, hashWord(key));
    if (this.#place < 0) return;
    const slot = recentSlot(key);
    // Not the caller's own string, which may share memory with a larger one.
    this.#recentKeys[slot] = this.#table.keyAt(this.#place)!;
    this.#recentTables[slot] = this.#table;
    this.#recentMoves[slot] = this.#table.moves;
    this.#recentPlaces[slot] = this.#place;
  }

  /** The tables are others now; holding on to the old ones would keep everything in them alive. */
  #forgetPlaces(): void {
    this.#recentTables.fill(undefined);
    this.#recentKeys.fill("");
    this.#locate("", hashWord(""));
  }

  /** Finds a key that is still where it was found before, without hashing it. */
  #isRecent(key: string): boolean {
    const slot = recentSlot(key);
    const table = this.#recentTables[slot];
    if (table === undefined || table.moves !== this.#recentMoves[slot] || key !== this.#recentKeys[slot]) return false;
    const place = this.#recentPlaces[slot]!;
    this.#hash = table.hashes[place]!;
    this.#table = table;
    this.#place = place;
    return true;
  }

  #isDue(key: string, hash: number): boolean {
    const table = this.expires.tableOf(hash);
    const place = table.find(key, hash);
    return place >= 0 && table.values![place]! <= this.#host.now && !this.#host.loading;
  }

  /** Whether a key is there although its time has come. */
  isDue(key: string): boolean {
    return this.expires.size > 0 && this.#isDue(key, hashWord(key));
  }

  /** A key's value, counted as a hit or a miss, its access time renewed. */
  read(key: string): Value | undefined {
    const value = this.#find(key);
    if (value === undefined) {
      this.#host.stats.keyspaceMisses++;
      if (this.#notifications.flags !== 0) this.#notifications.send(this.index, "m", "keymiss", key);
      return undefined;
    }
    this.#host.stats.keyspaceHits++;
    this.#stamps.touch(this.#table.stamps!, this.#place);
    return value;
  }

  /** A key's value, counted as a hit or a miss, its access time left alone: TYPE, TTL, OBJECT. */
  look(key: string): Value | undefined {
    const value = this.#find(key);
    if (value === undefined) this.#host.stats.keyspaceMisses++;
    else this.#host.stats.keyspaceHits++;
    return value;
  }

  /** A key's value without a trace of the look. */
  peek(key: string): Value | undefined {
    return this.#find(key);
  }

  /** A key's value with its access time renewed, not counted as a hit or a miss: before a write. */
  #open(key: string): Value | undefined {
    const value = this.#find(key, true);
    if (value === undefined) return undefined;
    this.#stamps.touch(this.#table.stamps!, this.#place);
    return this.#owned === null || typeof value !== "object" ? value : this.#ownAt(value, this.#owned);
  }

  /** The value at the place that was found, as one that may be changed. */
  #ownAt(value: Bytes | (Value & Collection), owned: WeakSet<object>): Value {
    if (owned.has(value)) return value;
    const copy = value.clone() as Value & object;
    owned.add(copy);
    this.#valueBytes += sizeOf(copy) - sizeOf(value);
    this.#table.values![this.#place] = copy;
    return copy;
  }

  get<V extends Collection>(key: string, type: CollectionClass<V>): V | undefined {
    const value = this.read(key);
    if (value === undefined || value instanceof type) return value;
    throw WRONGTYPE;
  }

  peekAs<V extends Collection>(key: string, type: CollectionClass<V>): V | undefined {
    const value = this.#open(key);
    if (value === undefined || value instanceof type) return value;
    throw WRONGTYPE;
  }

  getString(key: string): StringValue | undefined {
    const value = this.read(key);
    if (value === undefined || !isCollection(value)) return value;
    throw WRONGTYPE;
  }

  peekString(key: string): StringValue | undefined {
    const value = this.#open(key);
    if (value === undefined || !isCollection(value)) return value;
    throw WRONGTYPE;
  }

  /** Whether a key is there, also if its time has come. */
  has(key: string): boolean {
    return this.keyspace.has(key);
  }

  exists(key: string): boolean {
    return this.#find(key) !== undefined;
  }

  /** When a key expires, in ms; undefined when it does not or does not exist. */
  deadline(key: string): number | undefined {
    if (this.expires.size === 0 || this.#find(key) === undefined) return undefined;
    return this.expires.get(key);
  }

  /** The 24-bit access stamp of a key (see access-stamps.ts), or undefined. */
  stampOf(key: string): number | undefined {
    return this.#find(key) === undefined ? undefined : this.#table.stamps![this.#place]!;
  }

  // ---------------------------------------------------------------------------------------------- changing

  /**
   * Finds or makes the collection at a key and lets `change` work on it. `change` returns how many things it changed; 0
   * means that nothing happened: nothing is announced, and a collection that had to be made is not kept. The event may be
   * given as a function where the change decides which it is.
   */
  edit<V extends Collection>(
    key: string,
    type: CollectionClass<V>,
    event: string | (() => string),
    change: (value: V) => number,
  ): number {
    const found = this.#open(key);
    if (found !== undefined) {
      if (!(found instanceof type)) throw WRONGTYPE;
      return this.#change(key, found, event, change);
    }
    const hash = this.#hash;
    const made = new type();
    const changes = change(made);
    if (changes === 0 || (made.size === 0 && type.typeName !== "stream")) return changes;
    this.#owned?.add(made);
    this.#insert(key, hash, made as unknown as Value);
    this.#announce(key, TYPE_EVENT[type.typeName], typeof event === "string" ? event : event(), changes);
    return changes;
  }

  /** Like edit, but only where the key exists; 0 where it does not. */
  amend<V extends Collection>(
    key: string,
    type: CollectionClass<V>,
    event: string | (() => string),
    change: (value: V) => number,
  ): number {
    const found = this.#open(key);
    if (found === undefined) return 0;
    if (!(found instanceof type)) throw WRONGTYPE;
    return this.#change(key, found, event, change);
  }

  /** Like amend, but what turns out to have changed nothing is announced all the same, though not counted (LTRIM). */
  amendAnyway<V extends Collection>(
    key: string,
    type: CollectionClass<V>,
    event: string,
    change: (value: V) => number,
  ): number {
    const changes = this.amend(key, type, event, change);
    if (changes === 0 && this.exists(key)) this.#announce(key, TYPE_EVENT[type.typeName], event, 0);
    return changes;
  }

  /**
   * For what belongs to a value beside its elements (a stream's consumer groups), only where the key exists: changes are
   * counted, their memory accounted and the event published, but neither watchers nor waiters nor caches are told, as in
   * Redis.
   */
  tend<V extends Collection>(
    key: string,
    type: CollectionClass<V>,
    event: string | undefined,
    change: (value: V) => number,
  ): number {
    const found = this.#open(key);
    if (found === undefined) return 0;
    if (!(found instanceof type)) throw WRONGTYPE;
    if (this.#host.snapshot !== null) this.#keep(key);
    const before = found.sizeBytes;
    const changes = change(found);
    this.#valueBytes += found.sizeBytes - before;
    this.#effects.dirty += changes;
    if (this.watchers.size > 0) this.watchers.tended(key);
    if (changes > 0 && event !== undefined) this.notify(event, key, TYPE_EVENT[type.typeName]);
    return changes;
  }

  #change<V extends Collection>(
    key: string,
    value: V,
    event: string | (() => string),
    change: (value: V) => number,
  ): number {
    if (this.#host.snapshot !== null) this.#keep(key);
    const before = value.sizeBytes;
    const changes = change(value);
    this.#valueBytes += value.sizeBytes - before;
    if (changes === 0) return 0;
    if (value.type === "stream" && this.awaited.size > 0) this.#wake(key, "stream");
    this.#announce(key, TYPE_EVENT[value.type], typeof event === "string" ? event : event(), changes);
    if (value.size === 0 && value.type !== "stream") {
      this.#remove(key);
      this.notify("del", key);
    }
    return changes;
  }

  /**
   * Changes part of a string in place. `change` returns how many things it changed; where that is 0 nothing is announced,
   * but what it wrote stays (a BITFIELD whose every operation overflowed leaves the zeros that it made room with).
   */
  editBytes(key: string, event: string | undefined, change: (bytes: Bytes) => number): number {
    const found = this.#open(key);
    if (found !== undefined && isCollection(found)) throw WRONGTYPE;
    if (this.#host.snapshot !== null) this.#keep(key);
    const before = found === undefined ? 0 : sizeOfString(found);
    const bytes = found === undefined ? new Bytes() : bytesOf(found);
    const changes = change(bytes);
    if (found !== undefined) {
      if (found !== bytes) {
        this.#find(key);
        this.#table.values![this.#place] = bytes;
      }
      this.#valueBytes += bytes.sizeBytes - before;
    } else if (changes > 0 || bytes.length > 0) this.#insert(key, hashWord(key), bytes);
    if (changes > 0) this.#announce(key, STRING_EVENT, event, changes);
    return changes;
  }

  /** Replaces a key's value as a whole; its time to live goes unless `keepTtl` or a new one is given. */
  put(key: string, value: Value, options: PutOptions = {}): void {
    const { deadline, stamp, asNew = false, keepTtl = false } = options;
    if (asNew) this.#giveWay(key);
    this.#replace(key, value, keepTtl);
    if (deadline !== undefined) this.#setDeadline(key, deadline);
    if (stamp !== undefined && this.#find(key) !== undefined) this.#table.stamps![this.#place] = stamp;
    this.#announce(key, options.eventClass ?? TYPE_EVENT[typeOf(value)], options.event, options.changes ?? 1);
  }

  /** SET's path: put without an options object. */
  putString(key: string, value: StringValue, event: string, keepTtl: boolean): void {
    this.#replace(key, value, keepTtl);
    this.#announce(key, STRING_EVENT, event, 1);
  }

  /** Replaces a string by what `change` makes of it, with one look-up; its time to live stays. Nothing is changed where `change` throws. */
  changeString<S extends StringValue>(key: string, event: string, change: (old: StringValue | undefined) => S): S {
    const old = this.#open(key);
    if (old !== undefined && isCollection(old)) throw WRONGTYPE;
    const value = change(old);
    if (old === undefined) this.#insert(key, this.#hash, value);
    else {
      if (this.#host.snapshot !== null) this.#keep(key);
      this.#valueBytes += sizeOf(value) - sizeOf(old);
      this.#table.values![this.#place] = value;
    }
    this.#announce(key, STRING_EVENT, event, 1);
    return value;
  }

  /** SET with a deadline, and said to be that. */
  putStringUntil(key: string, value: StringValue, deadline: number): void {
    this.#replace(key, value, false);
    this.#announce(key, STRING_EVENT, "set", 1);
    this.#setDeadline(key, deadline);
    this.notify("expire", key);
    const { propagation } = this.#effects;
    if (propagation.heard) propagation.asSetUntil(key, textOf(value), deadline);
  }

  #replace(key: string, value: Value, keepTtl: boolean): void {
    const old = this.#find(key, true);
    if (old === undefined) {
      this.#insert(key, this.#hash, value);
      return;
    }
    if (this.#host.snapshot !== null) this.#keep(key);
    this.#valueBytes += sizeOf(value) - sizeOf(old);
    this.#table.values![this.#place] = value;
    this.#stamps.touch(this.#table.stamps!, this.#place);
    if (!keepTtl && this.expires.size > 0) this.expires.delete(key);
    if (this.awaited.size > 0) this.#wakeStreamReaders(key, old);
  }

  /** After a #find that found nothing. */
  #insert(key: string, hash: number, value: Value): void {
    if (this.#host.snapshot !== null) this.#keep(key);
    const place = this.keyspace.addNew(key, hash, value);
    this.keyspace.tableOf(hash).stamps![place] = this.#stamps.fresh;
    this.#valueBytes += keyBytes(key) + sizeOf(value);
    if (this.slots !== null) this.slots.add(key);
    if (this.awaited.size > 0) this.#wake(key, typeOf(value));
    if (this.#notifications.flags !== 0) this.#notifications.send(this.index, "n", "new", key);
  }

  /**
   * Adds a key as a file has it, unannounced. Without a stamp it counts as used now. Where there is one already it takes its
   * place, or (false) does not.
   */
  load(key: string, value: Value, deadline: number | undefined, stamp: number | undefined, replaces = false): boolean {
    const hash = hashWord(key);
    if (this.keyspace.tableOf(hash).find(key, hash) >= 0) {
      if (!replaces) return false;
      this.#giveWay(key);
    }
    if (this.#host.snapshot !== null) this.#keep(key);
    const place = this.keyspace.addNew(key, hash, value);
    this.keyspace.tableOf(hash).stamps![place] = stamp ?? this.#stamps.fresh;
    this.#valueBytes += keyBytes(key) + sizeOf(value);
    if (this.slots !== null) this.slots.add(key);
    if (deadline !== undefined) this.expires.set(key, deadline);
    if (this.awaited.size > 0) this.#wake(key, typeOf(value));
    return true;
  }

  /** Takes a key out without a word to anybody. */
  #remove(key: string): Value | undefined {
    const hash = hashWord(key);
    const table = this.keyspace.tableOf(hash);
    const place = table.find(key, hash);
    if (place < 0) return undefined;
    if (this.#host.snapshot !== null) this.#keep(key);
    const value = table.values![place]!;
    this.#valueBytes -= keyBytes(key) + sizeOf(value);
    this.keyspace.deleteAt(table, place);
    if (this.slots !== null) this.slots.delete(key);
    if (this.expires.size > 0) this.expires.delete(key);
    if (this.awaited.size > 0) this.#wakeStreamReaders(key, value);
    return value;
  }

  /** Removes a key that nobody has asked to delete, and tells the latency monitor how long that took. */
  #removeTimed(key: string, event: string): Value | undefined {
    const { clock, latency } = this.#host;
    if (latency.threshold === 0) return this.#remove(key);
    const started = clock.monotonic();
    const value = this.#remove(key);
    latency.add(event, clock.monotonic() - started);
    return value;
  }

  /** Deletes a key; false if there was none. */
  delete(key: string, event = "del"): boolean {
    if (this.#find(key) === undefined) return false;
    this.#remove(key);
    this.#announce(key, GENERIC_EVENT, event, 1);
    return true;
  }

  /**
   * Gives a key's value and deadline another name, or another database (RENAME, MOVE), in place of what is there. The key
   * exists; the caller has looked.
   */
  move(key: string, into: Db, target: string, verb: "rename" | "move"): void {
    into.#giveWay(target);
    const deadline = this.expires.size > 0 ? this.expires.get(key) : undefined;
    const value = this.#remove(key)!;
    this.#signal(key);
    into.#replace(target, value, false);
    into.#signal(target);
    if (deadline !== undefined) into.#setDeadline(target, deadline);
    this.notify(`${verb}_from`, key);
    into.#announce(target, GENERIC_EVENT, `${verb}_to`, 1);
  }

  /** What is at a key goes for something that takes its place. Not announced as an event. */
  #giveWay(key: string): void {
    if (this.#find(key, true) === undefined) return;
    this.#remove(key);
    this.#signal(key);
  }

  /** Sets the deadline of a key that exists, or deletes it if that is past. */
  setDeadline(key: string, ms: number): void {
    const host = this.#host;
    // A file may end with what removes the key later; until then it is there.
    if (ms <= host.now && !host.loading) {
      this.delete(key);
      this.#effects.propagation.asDel(key);
      return;
    }
    this.#setDeadline(key, ms);
    this.#announce(key, GENERIC_EVENT, "expire", 1);
    this.#effects.propagation.asPexpireat(key, ms);
  }

  #setDeadline(key: string, ms: number): void {
    const host = this.#host;
    if (host.snapshot !== null) this.#keep(key);
    if (host.replication.isWritableReplica && !host.current?.isPrimary) {
      host.replication.ownDeadlines.remember(this, key);
    }
    this.expires.set(key, ms);
  }

  /** Takes a key's deadline away; false if it had none. */
  persist(key: string): boolean {
    if (this.expires.size === 0 || this.#find(key) === undefined) return false;
    if (this.#host.snapshot !== null) this.#keep(key);
    if (!this.expires.delete(key)) return false;
    this.#announce(key, GENERIC_EVENT, "persist", 1);
    this.#effects.propagation.asPersist(key);
    return true;
  }

  #expire(key: string): void {
    const value = this.#removeTimed(key, "expire-del");
    if (this.#host.config.values["lazyfree-lazy-expire"]) countLazyFree(this.#host.stats, value);
    this.#host.stats.expiredKeys++;
    this.#signal(key, true);
    this.notify("expired", key, "x");
    this.#effects.addRemoval(this.index, key);
  }

  /** Removes a key because memory is short. */
  evict(key: string): void {
    const value = this.#removeTimed(key, "eviction-del");
    if (this.#host.config.values["lazyfree-lazy-eviction"]) countLazyFree(this.#host.stats, value);
    this.#host.stats.evictedKeys++;
    this.#signal(key, true);
    this.notify("evicted", key, "e");
    this.#effects.addRemoval(this.index, key);
  }

  /** Removes a key whose deadline is past; false if it has none or it lies ahead. For the active cycle. */
  expireIfDue(key: string): boolean {
    if (!this.isDue(key)) return false;
    this.#expire(key);
    return true;
  }

  /** Empties the database. */
  clear(): number {
    const removed = this.size;
    this.watchers.replaced(this, null);
    for (const key of this.awaited) this.#wakeStreamReaders(key, this.#find(key));
    if (this.#host.tracking.active) this.#host.tracking.databaseCleared();
    if (this.#host.snapshot === null) {
      this.keyspace.clear();
      this.expires.clear();
    } else {
      // The snapshot walk goes on with the old ones.
      this.keyspace = newKeyspace();
      this.expires = newDeadlines();
    }
    this.#forgetPlaces();
    this.slots?.clear();
    this.#valueBytes = 0;
    return removed;
  }

  /**
   * Exchanges the contents of two databases (SWAPDB). Numbers, clients, watched and awaited keys stay where they are; a
   * watched key counts as changed if it exists on either side.
   */
  swap(other: Db): void {
    this.watchers.replaced(this, other);
    other.watchers.replaced(other, this);
    [this.keyspace, other.keyspace] = [other.keyspace, this.keyspace];
    [this.expires, other.expires] = [other.expires, this.expires];
    [this.slots, other.slots] = [other.slots, this.slots];
    [this.#valueBytes, other.#valueBytes] = [other.#valueBytes, this.#valueBytes];
    for (const db of [this, other]) db.#forgetPlaces();
    this.#host.blocking.lookAgain(this, other);
  }

  /** What is here now. It takes a copy of the tables, and of no value. */
  image(): DbImage {
    this.#owned = new WeakSet();
    return { keyspace: this.keyspace.clone(), expires: this.expires.clone(), valueBytes: this.#valueBytes };
  }

  /** Holds what an image holds; nothing, if there is none. Not handed on to files and replicas. */
  restore(image: DbImage | null): void {
    if (image === null && this.size === 0) return;
    this.clear();
    if (image === null) return;
    this.#owned = new WeakSet();
    this.keyspace = image.keyspace.clone();
    this.expires = image.expires.clone();
    this.#valueBytes = image.valueBytes;
    this.#forgetPlaces();
    if (this.slots !== null) for (const key of this.keyspace.keys()) this.slots.add(key);
    this.#host.blocking.lookAgain(this);
  }

  /** A key is about to change while a snapshot is taken: what it was is written first. */
  #keep(key: string): void {
    this.#host.snapshot!.before(this.keyspace, key, hashWord(key));
  }

  // ---------------------------------------------------------------------------------------------- announcing

  #announce(key: string, eventClass: EventClass, event: string | undefined, changes: number): void {
    this.#effects.dirty += changes;
    this.#signal(key);
    if (event !== undefined && this.#notifications.flags !== 0) this.notify(event, key, eventClass);
  }

  /** Tells watchers and caches that a key is not what it was. */
  #signal(key: string, byItself = false): void {
    if (this.watchers.size > 0) this.watchers.changed(key, this);
    const { tracking } = this.#host;
    if (tracking.active) tracking.keyChanged(key, byItself);
  }

  /**
   * Has clients that wait for a key look at it again. Not on every change: as in Redis, only when the key is new, or is or was
   * a stream. A list that takes the place of something else without being new wakes nobody.
   */
  #wake(key: string, type: TypeName): void {
    if (type === "list" || type === "zset" || type === "stream") this.#host.blocking.keyChanged(this, key, type);
  }

  /** Has clients that wait in a group of a stream look at it again: the group is gone, though the stream is what it was. */
  wakeGroups(key: string): void {
    this.#wake(key, "stream");
  }

  /** A value is about to go: readers of a group must hear of it if it is a stream. */
  #wakeStreamReaders(key: string, value: Value | undefined): void {
    if (value !== undefined && typeOf(value) === "stream") this.#wake(key, "stream");
  }

  /** Publishes a key-space event and nothing else: for what comes along with a change. */
  notify(event: string, key: string, eventClass: EventClass = GENERIC_EVENT): void {
    if (this.#notifications.flags !== 0) this.#notifications.send(this.index, eventClass, event, key);
  }
}
