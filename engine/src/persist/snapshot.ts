/**
 * The snapshot walk: everything as it was at one moment, written in short slices while commands go on.
 *
 * There is no fork. The walk goes through each database in the order of the hashes (dict.ts), so one number, the cursor,
 * tells for any key whether it has been passed. Before the door (db.ts) changes, replaces, removes or adds a key that the
 * walk has not passed, it calls `before`: the old value is written at once, and the key is noted so that the walk leaves it
 * out when it comes to it. So every key is written exactly once, as it was when the walk began, and memory does not double:
 * what is kept is the names of the keys that were touched ahead of the cursor, and what large values lost (see below).
 *
 * The walk holds on to the tables, not to the databases: SWAPDB moves tables without changing them, and FLUSHDB during a
 * walk puts new ones in the place of the old (Db.clear), which the walk then has for itself.
 *
 * **The longest pause.** A slice ends after a millisecond while commands come in, after two when none do, or when it has
 * written 64 KB, whichever is later. Many values of ordinary size do not add up, since the walk looks at the clock after
 * every few keys, and after every one once keys turn out to be large. A large value, of any type, is put off until
 * everything else is written, and then written in pieces with commands in between. When it changes before that, or on the
 * way, it is frozen first (types/value.ts): a copy that shares all its parts (tables, nodes, blocks, strings) and is made in
 * microseconds. What the command then changes, it copies first, a part at a time. So no command waits for a large value to
 * be written, and memory grows by the parts that changed, as it does under fork.
 *
 * Why large values come last: a value's bytes must be in one piece in the file, and small values that are about to change
 * are written at once. When all of those are written, nothing need come between the pieces.
 *
 * Garbage counts too: while the walk goes on, young garbage is collected more often, so that each time is short (garbage.ts).
 *
 * What is left: freezing a list takes some dozen nanoseconds for each 4 KB of it, and freezing a string that APPEND or SETBIT
 * made copies its bytes. Both are noticed from some hundred megabytes on.
 */

import type { Dict } from "../core/dict.ts";
import { ShortCollections } from "../core/garbage.ts";
import { errorOf } from "../lib/caught.ts";
import type { Buffer } from "../platform/bytes.ts";
import { soon, unheldTimeout } from "../platform/timers.ts";
import type { Value } from "../types/value.ts";
import type { PersistHost } from "./host.ts";
import { KeyDelay } from "./key-delay.ts";
import { auxFields, type RdbSaveHost, type SaveOptions, writerFor } from "./rdb/file.ts";
import { freezeValue, isLarge, LARGE, thawValue } from "./rdb/value-pieces.ts";
import type { RdbWriter } from "./rdb/writer.ts";

/** Where the bytes go: a file, or replicas. */
export interface SnapshotSink {
  write(chunk: Buffer): void;
  /** What was written and has not been taken yet. */
  readonly pendingBytes: number;
  /** Settles when most of it has been taken; rejects if it cannot be. */
  drained(): Promise<void>;
}

/** How long one slice goes on while commands come in, and while none do. */
const BUSY_SLICE_MS = 1;
const IDLE_SLICE_MS = 2;
/** Keys between two looks at the clock, and keys in a slice however fast the machine is. */
const BATCH = 16;
const MOST_IN_SLICE = 50_000;
/**
 * Written in a slice even when its time is over: beside busy processes time passes while this one waits for its turn, and a copy of
 * 5 MB to a replica took 19 s. To write this much takes some tenths of a millisecond.
 */
const LEAST_BYTES = 64 * 1024;
/** A batch that took this long makes the next one a single key. */
const SLOW_BATCH_MS = 0.5;
/** The walk waits while this much has not been taken. */
const MOST_PENDING = 8 * 1024 * 1024;

/** One database as it was at the start. */
interface Section {
  readonly index: number;
  readonly keyspace: Dict<Value>;
  readonly expires: Dict<number>;
  readonly size: number;
  readonly deadlines: number;
  /** Everything with a lower hash has been passed. */
  cursor: number;
  done: boolean;
  /** Whether its size has been written. */
  announced: boolean;
  /** Keys ahead of the cursor that were written already, or did not exist at the start. */
  readonly settled: Set<string>;
  /** Large values that are yet to be written. The cursor has passed them, or they are settled. */
  readonly large: Map<string, LargeValue>;
}

interface LargeValue {
  readonly value: Value;
  /** Its key's deadline and access stamp. */
  readonly deadline: number | undefined;
  readonly stamp: number;
  /** What is written: the value as it was before its first change, or when its turn came. */
  frozen: Value | null;
}

/** A large value that is being written. */
interface LargeKey {
  readonly section: Section;
  readonly key: string;
  readonly value: Value;
  readonly pieces: Generator<void>;
}

export interface WalkOptions extends SaveOptions {
  /** Collections with more elements count as large. */
  readonly large?: number;
  /** How long a slice goes on, where nobody waits for commands. */
  readonly sliceMs?: number;
  /** What a slice writes even when its time is over. */
  readonly leastBytes?: number;
}

/** Why a walk that was called off has no result. */
export class SnapshotAborted extends Error {
  override readonly name = "SnapshotAborted";
}

/** What the walk needs of the store around it. */
type SnapshotHost = RdbSaveHost & Pick<PersistHost, "clock" | "snapshot" | "stats">;

export class Snapshot {
  /** The number of bytes; rejects if the sink fails or the walk is called off. */
  readonly done: Promise<number>;
  readonly keysTotal: number;
  keysProcessed = 0;
  /** Keys that were written ahead of their turn. */
  keysWrittenEarly = 0;
  longestSliceMs = 0;

  readonly #host: SnapshotHost;
  readonly #sink: SnapshotSink;
  readonly #writer: RdbWriter;
  readonly #sections: Section[] = [];
  readonly #byKeyspace = new Map<Dict<Value>, Section>();
  #at = 0;
  #batch = BATCH;
  /** The database that the writer stands in. */
  #selected = -1;
  /** The large value that is being written. */
  #current: LargeKey | null = null;
  readonly #large: number;
  readonly #fixedSliceMs: number | undefined;
  readonly #leastBytes: number;
  readonly #delay: KeyDelay;
  readonly #garbage = new ShortCollections();
  /** Commands that had been run when the last slice began. */
  #commands = 0;
  #over = false;
  #calledOff: SnapshotAborted | null = null;
  #resolve!: (bytes: number) => void;
  #reject!: (error: Error) => void;

  constructor(host: SnapshotHost, sink: SnapshotSink, options: WalkOptions = {}) {
    if (host.snapshot !== null) throw new Error("there is a snapshot already");
    this.#host = host;
    this.#sink = sink;
    this.#large = options.large ?? LARGE;
    this.#fixedSliceMs = options.sliceMs;
    this.#leastBytes = options.leastBytes ?? LEAST_BYTES;
    this.#delay = new KeyDelay(host.config.values["rdb-key-save-delay"]);
    if (this.#delay.isOn) this.#batch = 1;
    this.#writer = writerFor(host, (chunk) => sink.write(chunk));
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // The caller that cancels the walk need not be the caller that waits for it.
    this.done.catch(() => {});
    let total = 0;
    for (const { index, keyspace, expires, size } of host.databases) {
      if (size === 0) continue;
      total += size;
      const section: Section = {
        index,
        keyspace,
        expires,
        size,
        deadlines: expires.size,
        cursor: 0,
        done: false,
        announced: false,
        settled: new Set(),
        large: new Map(),
      };
      this.#sections.push(section);
      this.#byKeyspace.set(keyspace, section);
    }
    this.keysTotal = total;
    this.#writer.begin(auxFields(host, options));
    this.#writer.functions(options.functions ?? []);
    host.snapshot = this;
    soon(this.#slice);
  }

  /** A key is about to change, go or come. The door's. */
  before(keyspace: Dict<Value>, key: string, hash: number): void {
    const section = this.#byKeyspace.get(keyspace);
    if (section === undefined) return;
    const large = section.large.size > 0 ? section.large.get(key) : undefined;
    if (large !== undefined) {
      large.frozen ??= freezeValue(large.value);
      return;
    }
    if (section.done || hash < section.cursor || section.settled.has(key)) return;
    section.settled.add(key);
    const table = keyspace.tableOf(hash);
    const place = table.find(key, hash);
    if (place < 0) return;
    const value = table.values![place]!;
    const stamp = table.stamps![place]!;
    if (isLarge(value, this.#large)) this.#putOff(section, key, value, stamp).frozen = freezeValue(value);
    else {
      this.#write(section, key, value, stamp);
      this.keysWrittenEarly++;
    }
  }

  #putOff(section: Section, key: string, value: Value, stamp: number): LargeValue {
    const large = { value, deadline: this.#deadlineOf(section, key), stamp, frozen: null };
    section.large.set(key, large);
    return large;
  }

  /** Calls the snapshot off; also when the walk is over and its file is yet to be put in its place. */
  abort(reason = "the snapshot was called off"): void {
    this.#calledOff ??= new SnapshotAborted(reason);
    this.#fail(this.#calledOff);
  }

  /** Throws if the snapshot has been called off. */
  verify(): void {
    if (this.#calledOff !== null) throw this.#calledOff;
  }

  #write(section: Section, key: string, value: Value, stamp: number): void {
    this.#select(section);
    this.#writer.key(key, value, this.#deadlineOf(section, key), stamp);
    this.keysProcessed++;
    this.#delay.count();
  }

  #deadlineOf(section: Section, key: string): number | undefined {
    return section.expires.size > 0 ? section.expires.get(key) : undefined;
  }

  #select(section: Section): void {
    if (this.#selected !== section.index) {
      this.#selected = section.index;
      this.#writer.selectDb(section.index);
      if (!section.announced) this.#writer.resizeDb(section.size, section.deadlines);
      section.announced = true;
    }
  }

  /** Writes the next piece of a large value; false when there is none left. */
  #piece(): boolean {
    const current = this.#current ?? this.#nextLarge();
    if (current === null) return false;
    if (!current.pieces.next().done) return true;
    const { section, key, value } = current;
    thawValue(value);
    section.large.delete(key);
    this.#current = null;
    this.keysProcessed++;
    return true;
  }

  #nextLarge(): LargeKey | null {
    for (const section of this.#sections) {
      for (const [key, large] of section.large) {
        this.#select(section);
        large.frozen ??= freezeValue(large.value);
        const pieces = this.#writer.keyInPieces(key, large.frozen, large.deadline, large.stamp);
        this.#current = { section, key, value: large.value, pieces };
        return this.#current;
      }
    }
    return null;
  }

  readonly #slice = (): void => {
    if (this.#over) return;
    this.#garbage.check();
    const { clock } = this.#host;
    const started = clock.monotonic();
    try {
      let now = started;
      const end = started + this.#sliceMs();
      const least = this.#writer.length + this.#leastBytes;
      for (let keys = 0; keys < MOST_IN_SLICE && (now < end || this.#writer.length < least); keys += this.#batch) {
        const section = this.#sections[this.#at];
        if (section !== undefined) this.#step(section);
        else if (!this.#piece()) {
          this.#finish();
          break;
        }
        const after = clock.monotonic();
        this.#batch = after - now > SLOW_BATCH_MS || this.#delay.isOn ? 1 : BATCH;
        now = after;
        if (this.#sink.pendingBytes > MOST_PENDING || this.#delay.isOn) break;
      }
      this.longestSliceMs = Math.max(this.longestSliceMs, clock.monotonic() - started);
    } catch (error) {
      this.#fail(errorOf(error));
    }
    if (!this.#over) this.#goOn();
  };

  #sliceMs(): number {
    if (this.#fixedSliceMs !== undefined) return this.#fixedSliceMs;
    const { commands } = this.#host.stats;
    const busy = commands !== this.#commands;
    this.#commands = commands;
    return busy ? BUSY_SLICE_MS : IDLE_SLICE_MS;
  }

  #goOn(): void {
    const wait = this.#delay.take();
    if (wait > 0) unheldTimeout(this.#slice, wait);
    else if (this.#sink.pendingBytes <= MOST_PENDING) soon(this.#slice);
    else this.#sink.drained().then(this.#slice, (error: Error) => this.#fail(error));
  }

  /** Writes the next few keys of a database. */
  #step(section: Section): void {
    const { keyspace, settled } = section;
    section.cursor = keyspace.scan(section.cursor, this.#batch, (key, value) => {
      if (settled.size > 0 && settled.delete(key)) return;
      const stamp = this.#stampOf(keyspace, key);
      if (isLarge(value, this.#large)) this.#putOff(section, key, value, stamp);
      else this.#write(section, key, value, stamp);
    });
    if (section.cursor !== 0) return;
    section.done = true;
    settled.clear();
    this.#at++;
  }

  #stampOf(keyspace: Dict<Value>, key: string): number {
    return this.#writer.wantsStamps ? (keyspace.stampOf(key) ?? 0) : 0;
  }

  #finish(): void {
    const bytes = this.#writer.end();
    this.#leave();
    this.#resolve(bytes);
  }

  #fail(error: Error): void {
    if (this.#over) return;
    this.#leave();
    this.#reject(error);
  }

  #leave(): void {
    this.#over = true;
    this.#byKeyspace.clear();
    for (const { large } of this.#sections) {
      for (const { value, frozen } of large.values()) if (frozen !== null) thawValue(value);
      large.clear();
    }
    if (this.#host.snapshot === this) this.#host.snapshot = null;
  }
}

/** Starts a walk over everything that an engine has. */
export function walk(host: SnapshotHost, sink: SnapshotSink, options: WalkOptions = {}): Snapshot {
  return new Snapshot(host, sink, options);
}
