/**
 * The hash table under the keyspace and under every large set, hash and sorted set.
 *
 * V8's Map cannot be entered in the middle (SCAN), has no random element (RANDOMKEY, SPOP, eviction, active expiry), holds
 * at most 2^24 entries and stops the world for up to a second when it doubles. So:
 *
 * - A dict is a row of small tables (hash-table.ts), each responsible for a range of hashes. "Everything with a hash below h"
 *   is the same set of entries whatever grew meanwhile, so **a SCAN cursor is just a hash**: a page is what has a hash in the
 *   next range, and what stays in the dict during a whole scan is returned exactly once. The snapshot walk knows in the same
 *   way what it has passed.
 * - A table that is full is split in the middle of its range (extendible hashing): `directory` has a table for every value of
 *   the upper bits of a hash, and a table whose hashes agree in fewer bits stands in it several times. Two halves that have
 *   become nearly empty are merged again. So one table's growing is a pause of a tenth of a millisecond at any size. With
 *   smaller tables it would be shorter, but a look-up in a large dict would find the tables themselves out of the cache.
 *
 * **Chosen keys.** SMEMBERS, KEYS and SCAN show in which order hashes are, at least roughly, and an attacker may try words
 * until many are known that belong side by side. What that gains is bounded twice. Words with the same upper bits split
 * their table, so a cluster of colliding words is no longer than a table (SPLIT_AT), a microsecond. And to fill one table
 * further, with words that agree in more bits than the directory has room for, takes about n × 2^b words tried for n that
 * agree in b bits: hashes are keyed (word-hash.ts), so nobody can compute them.
 */
import { SMALLEST, SPLIT_AT, Table, type TableOptions, type ValueKind } from "./hash-table.ts";
import { hashWord } from "./word-hash.ts";

/** Two halves with together so many entries are merged. */
const MERGE_AT = 2048;
/** Tables are not split further: their range would have too few hashes to be told apart by multiplication. */
const DEEPEST = 24;
/** The directory may have this many places, or as many as there are entries. */
const SMALL_DIRECTORY = 64;
/** A longer one is made shorter, if it can be, with so few entries for each of its places. */
const FEW_EACH = 8;
const HASHES = 4294967296;
/** No more room is made in advance: who says how much is coming may be wrong. */
const MOST_RESERVED = 1_000_000;
/** How full tables that are made in advance will be in the mean, of what makes them split: some of them get more than their share. */
const RESERVED_SHARE = 0.97;
/** The places of a single table that is made in advance, for each of its entries. */
const ROOM = 1.3;
/** Places that a page of a scan may look at in vain. */
const MOST_LOOKED = 32_768;
/** Draws of a random key after which the bounds are looked at again. */
const MANY_TRIES = 1000;

export interface DictOptions {
  /** What to keep beside each key (default anything); a set of words needs none. */
  readonly values?: ValueKind;
  /** Keep a 32-bit number beside each entry. */
  readonly stamps?: boolean;
  /** Keep all words as strings, for somebody who shares them: short ones are bytes otherwise, made to strings when they are read. */
  readonly strings?: boolean;
}

/** Words to values. Keys must be flat strings that share memory with nothing large (`own` in types/packed.ts): long ones are kept. */
export class Dict<V = undefined> {
  /** Its length is a power of two. */
  #directory!: Table<V>[];
  /** What the upper bits of a hash are shifted by after a first shift by one: `>>>` cannot shift by 32. */
  #shift = 31;
  readonly #options: TableOptions;
  #size = 0;
  #tableBytes = 0;
  /** At least the most places that any table has for each of its places in the directory; for randomKey. */
  #densest = 0;
  #drawn = 0;

  constructor(options: DictOptions = {}) {
    const { values = "any", stamps = false, strings = false } = options;
    this.#options = { values, stamps, strings };
    this.#begin();
  }

  #begin(): void {
    const table = new Table<V>(0, 0, this.#options);
    this.#directory = [table];
    this.#shift = 31;
    this.#size = 0;
    this.#tableBytes = table.sizeBytes;
    this.#measureAll();
  }

  get size(): number {
    return this.#size;
  }

  /** What the tables take, without the values in them. */
  get sizeBytes(): number {
    return this.#tableBytes + (this.#directory.length - 1) * 8;
  }

  /** The table that a hash belongs to. For callers that need a place in it; the rest use get and set. */
  tableOf(hash: number): Table<V> {
    return this.#directory[(hash >>> 1) >>> this.#shift]!;
  }

  /** How many places of the directory are a table's. */
  #placesOf(table: Table<V>): number {
    return this.#directory.length / 2 ** table.depth;
  }

  has(key: string): boolean {
    const hash = hashWord(key);
    return this.tableOf(hash).find(key, hash) >= 0;
  }

  get(key: string): V | undefined {
    const hash = hashWord(key);
    const table = this.tableOf(hash);
    const i = table.find(key, hash);
    return i < 0 ? undefined : table.values![i];
  }

  /** The number beside a key, where the dict keeps them. */
  stampOf(key: string): number | undefined {
    const hash = hashWord(key);
    const table = this.tableOf(hash);
    const i = table.find(key, hash);
    return i < 0 ? undefined : table.stamps![i];
  }

  /** Sets a key's value; true if the key is new. */
  set(key: string, value: V): boolean {
    const hash = hashWord(key);
    const table = this.tableOf(hash);
    const i = table.find(key, hash);
    if (i >= 0) {
      table.put(i, value);
      return false;
    }
    this.addNew(key, hash, value);
    return true;
  }

  /** Adds a key without a value; true if it is new. */
  add(key: string): boolean {
    const hash = hashWord(key);
    if (this.tableOf(hash).find(key, hash) >= 0) return false;
    this.addNew(key, hash, undefined);
    return true;
  }

  /** Adds a key that is known not to be there; returns its place in the hash's table. */
  addNew(key: string, hash: number, value: V | undefined): number {
    let table = this.tableOf(hash);
    if (table.used >= SPLIT_AT) table = this.#split(table, hash);
    const { sizeBytes } = table;
    const place = table.add(key, hash, value);
    this.#size++;
    if (table.sizeBytes !== sizeBytes) this.#resized(table, sizeBytes);
    return place;
  }

  delete(key: string): boolean {
    const hash = hashWord(key);
    const table = this.tableOf(hash);
    const i = table.find(key, hash);
    if (i < 0) return false;
    this.deleteAt(table, i);
    return true;
  }

  /** Deletes the entry at a place in one of this dict's tables. */
  deleteAt(table: Table<V>, place: number): void {
    const { sizeBytes } = table;
    const { length } = table.hashes;
    table.removeAt(place);
    this.#size--;
    if (table.sizeBytes !== sizeBytes) this.#resized(table, sizeBytes);
    if (table.hashes.length === length && table.used > 0) return;
    if (table.depth > 0) this.#merge(table);
  }

  clear(): void {
    this.#begin();
  }

  /** Makes room for so many entries while there are none, so that their tables need neither grow nor be split. */
  reserve(entries: number): void {
    if (this.#size > 0) return;
    const expected = Math.min(entries, MOST_RESERVED);
    let depth = 0;
    while (expected / 2 ** depth > SPLIT_AT * RESERVED_SHARE) depth++;
    const length = 2 ** depth;
    const capacity = depth === 0 ? Math.max(SMALLEST, Math.ceil(expected * ROOM)) : undefined;
    this.#directory = new Array(length);
    this.#shift = 31 - depth;
    this.#tableBytes = 0;
    this.#densest = 0;
    for (let i = 0; i < length; i++) {
      this.#admit(new Table<V>(i * (HASHES / length), depth, this.#options, capacity));
    }
  }

  /** A dict of its own with the same entries. */
  clone(): Dict<V> {
    return this.#copy((table) => table.clone());
  }

  /**
   * A dict that stays as this one is now, for reading. It takes no time worth mentioning; what this one changes from here on
   * it copies first, a table at a time, until `thaw` says that the frozen one is not needed any more.
   */
  freeze(): Dict<V> {
    return this.#copy((table) => table.freeze());
  }

  thaw(): void {
    for (const table of this.#directory) table.shared = false;
  }

  #copy(copyTable: (table: Table<V>) => Table<V>): Dict<V> {
    const copy = new Dict<V>(this.#options);
    copy.#directory = new Array(this.#directory.length);
    copy.#shift = this.#shift;
    copy.#size = this.#size;
    copy.#tableBytes = 0;
    for (const table of this.#tables()) copy.#admit(copyTable(table));
    return copy;
  }

  /** Puts a table into the directory, in the place of whatever has been responsible for its hashes. */
  #admit(table: Table<V>): void {
    const from = (table.base >>> 1) >>> this.#shift;
    this.#directory.fill(table, from, from + this.#placesOf(table));
    this.#tableBytes += table.sizeBytes;
    this.#measure(table);
  }

  /** Splits a full table until the one for this hash has room, as far as the directory may grow. */
  #split(full: Table<V>, hash: number): Table<V> {
    let table = full;
    while (table.used >= SPLIT_AT && table.depth < DEEPEST) {
      if (this.#placesOf(table) === 1) {
        if (this.#directory.length >= Math.max(SMALL_DIRECTORY, this.#size)) break;
        this.#redirect(this.#directory.length * 2);
      }
      const halves = table.split();
      this.#tableBytes -= table.sizeBytes;
      for (const half of halves) this.#admit(half);
      table.retire();
      table = this.tableOf(hash);
    }
    return table;
  }

  /** Merges a table that has shrunk with the one that it was split from, as long as both have little left. */
  #merge(shrunk: Table<V>): void {
    let table = shrunk;
    while (table.depth > 0) {
      const buddy = this.tableOf((table.base ^ table.span) >>> 0);
      if (buddy.depth !== table.depth || table.used + buddy.used > MERGE_AT) break;
      this.#tableBytes -= table.sizeBytes + buddy.sizeBytes;
      const merged = table.merge(buddy);
      this.#admit(merged);
      table.retire();
      buddy.retire();
      table = merged;
    }
    const { length } = this.#directory;
    if (length <= SMALL_DIRECTORY || this.#size <= length * FEW_EACH) this.#redirect(2 ** this.#depth());
  }

  /** How deep the deepest table is. */
  #depth(): number {
    let depth = 0;
    for (const table of this.#tables()) depth = Math.max(depth, table.depth);
    return depth;
  }

  /** Gives the directory another length. */
  #redirect(length: number): void {
    const ratio = length / this.#directory.length;
    if (ratio === 1) return;
    const old = this.#directory;
    this.#directory = Array.from({ length }, (_, i) => old[Math.floor(i / ratio)]!);
    this.#shift = 31 - Math.log2(length);
    this.#measureAll();
  }

  #resized(table: Table<V>, bytesBefore: number): void {
    this.#tableBytes += table.sizeBytes - bytesBefore;
    this.#measure(table);
  }

  #measure(table: Table<V>): void {
    this.#densest = Math.max(this.#densest, table.hashes.length / this.#placesOf(table));
  }

  #measureAll(): void {
    this.#densest = 0;
    for (const table of this.#tables()) this.#measure(table);
  }

  *#tables(): Generator<Table<V>> {
    for (let i = 0; i < this.#directory.length; ) {
      const table = this.#directory[i]!;
      i += this.#placesOf(table);
      yield table;
    }
  }

  *keys(): Generator<string> {
    for (const { words } of this.#tables()) {
      for (let i = 0; i < words.places; i++) {
        const key = words.at(i);
        if (key !== undefined) yield key;
      }
    }
  }

  *entries(): Generator<[string, V]> {
    for (const { words, values } of this.#tables()) {
      for (let i = 0; i < words.places; i++) {
        const key = words.at(i);
        if (key !== undefined) yield [key, values![i]!];
      }
    }
  }

  /** Calls back for every entry; the dict must not change meanwhile. Faster than the generators. */
  forEach(visit: (key: string, value: V, place: number, table: Table<V>) => void): void {
    for (const table of this.#tables()) {
      const { words, values } = table;
      for (let i = 0; i < words.places; i++) {
        const key = words.at(i);
        if (key !== undefined) visit(key, (values === null ? undefined : values[i]) as V, i, table);
      }
    }
  }

  /**
   * Visits about `count` entries from a cursor on and returns the next cursor, 0 at the end. Start with 0. The visitor must
   * not change the dict.
   */
  scan(cursor: number, count: number, visit: (key: string, value: V) => void): number {
    let from = cursor;
    let seen = 0;
    let looked = 0;
    const most = MOST_LOOKED + count * 10;
    while (from < HASHES && seen < count && looked < most) {
      const table = this.tableOf(from);
      const end = table.base + table.span;
      // Hashes are spread evenly, so a share of the range has about the same share of the entries.
      const share = (count - seen) / table.used;
      const to = share < 1 ? Math.min(end, from + Math.ceil(table.span * share)) : end;
      seen += table.visitRange(from, to, visit);
      looked += table.hashes.length;
      from = to;
    }
    return from < HASHES ? from : 0;
  }

  /** A key chosen evenly; undefined when there is none. `random` gives 0 ≤ x < 1. */
  randomKey(random: () => number): string | undefined {
    return this.#size === 0 ? undefined : this.drawKey(random);
  }

  /**
   * The same where there is one. A table comes up as often as it is in the directory, so each of its places is tried that
   * much more rarely; what is drawn beyond the last place, or is free, is drawn again.
   */
  drawKey(random: () => number): string {
    return this.#draw(random).keyAt(this.#drawn)!;
  }

  /** Takes out a key that is chosen evenly. */
  takeKey(random: () => number): string {
    const table = this.#draw(random);
    const key = table.keyAt(this.#drawn)!;
    this.deleteAt(table, this.#drawn);
    return key;
  }

  /** The table of a place that is chosen evenly among those that are used, and the place in `#drawn`. */
  #draw(random: () => number): Table<V> {
    if (this.#size === 0) throw new RangeError("there is no key to draw");
    const directory = this.#directory;
    for (let tries = 1; ; tries++) {
      const table = directory[Math.floor(random() * directory.length)]!;
      const { hashes } = table;
      const place = Math.floor(random() * this.#densest * this.#placesOf(table));
      if (place < hashes.length && hashes[place] !== 0) {
        this.#drawn = place;
        return table;
      }
      // The densest table may be gone.
      if (tries % MANY_TRIES === 0) this.#measureAll();
    }
  }

  /** A few entries, chosen cheaply rather than evenly: for sampling in eviction and expiry. */
  sample(
    count: number,
    random: () => number,
    visit: (key: string, value: V, place: number, table: Table<V>) => void,
  ): void {
    if (this.#size === 0) return;
    let left = Math.min(count, this.#size);
    for (let tries = 0; left > 0 && tries < count * 10; tries++) {
      const table = this.#directory[Math.floor(random() * this.#directory.length)]!;
      if (table.used === 0) continue;
      const { words, values } = table;
      let i = Math.floor(random() * words.places);
      for (let steps = 0; left > 0 && steps < 20; steps++, i++) {
        if (i === words.places) i = 0;
        const key = words.at(i);
        if (key === undefined) continue;
        visit(key, (values === null ? undefined : values[i]) as V, i, table);
        left--;
      }
    }
  }
}
