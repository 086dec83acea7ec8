/**
 * The snapshot walk: everything as it was at one moment, written in short slices while commands go on.
 *
 * There is no fork. The walk goes through each database in the order of the hashes (dict.ts), so one number, the cursor,
 * tells for any key whether it has been passed. Before the door (db.ts) changes, replaces, removes or adds a key that the
 * walk has not passed, it calls `before`: the old value is written at once, and the key is noted so that the walk leaves it
 * out when it comes to it. So every key is written exactly once, as it was when the walk began, and memory does not double:
 * what is kept is the names of the keys that were touched ahead of the cursor.
 *
 * The walk holds on to the tables, not to the databases: SWAPDB moves tables without changing them, and FLUSHDB during a
 * walk puts new ones in the place of the old (Db.clear), which the walk then has for itself.
 *
 * **The longest pause.** A slice ends after SLICE_MS. Large sets, hashes and sorted sets are put off until everything else is
 * written, and are then written in pieces, so that nothing need come between them. What remains: a large collection that a
 * command is about to change before its turn, or while it is written, must be finished at once, and lists and streams are
 * written in one piece (a million members: some hundred milliseconds). Many values of ordinary size do not add up, since the
 * walk looks at the clock after every few keys, and after every one once keys turn out to be large.
 */
import type { Dict } from "../dict.ts";
import type { Engine } from "../engine.ts";
import type { Value } from "../types/value.ts";
import { auxFields, type SaveOptions, writerFor } from "./rdb/file.ts";
import { isDivisible, LARGE } from "./rdb/value-pieces.ts";
import type { RdbWriter } from "./rdb/writer.ts";

/** Where the bytes go: a file, or replicas. */
export interface SnapshotSink {
  write(chunk: Buffer): void;
  /** What was written and has not been taken yet. */
  readonly pendingBytes: number;
  /** Settles when most of it has been taken; rejects if it cannot be. */
  drained(): Promise<void>;
}

/** How long one slice goes on. */
const SLICE_MS = 2;
/** Keys between two looks at the clock, and keys in a slice however fast the machine is. */
const BATCH = 16;
const MOST_IN_SLICE = 50_000;
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
  /** Large collections that the cursor has passed and that are yet to be written, with their stamps. */
  readonly large: Map<string, { readonly value: Value; readonly stamp: number }>;
}

/** A large collection that is being written. */
interface LargeKey {
  readonly section: Section;
  readonly key: string;
  readonly pieces: Generator<void>;
}

export interface WalkOptions extends SaveOptions {
  /** Collections with more elements are written in pieces. */
  readonly large?: number;
}

/** Why a walk that was called off has no result. */
export class SnapshotAborted extends Error {
  override readonly name = "SnapshotAborted";
}

export class Snapshot {
  /** The number of bytes; rejects if the sink fails or the walk is called off. */
  readonly done: Promise<number>;
  readonly keysTotal: number;
  keysProcessed = 0;
  /** Keys that were written ahead of their turn. */
  keysWrittenEarly = 0;
  longestSliceMs = 0;

  readonly #engine: Engine;
  readonly #sink: SnapshotSink;
  readonly #writer: RdbWriter;
  readonly #sections: Section[] = [];
  readonly #byKeyspace = new Map<Dict<Value>, Section>();
  #at = 0;
  #batch = BATCH;
  /** The database that the writer stands in. */
  #selected = -1;
  /** The large collection that is being written. */
  #current: LargeKey | null = null;
  readonly #large: number;
  #over = false;
  #resolve!: (bytes: number) => void;
  #reject!: (error: Error) => void;

  constructor(engine: Engine, sink: SnapshotSink, options: WalkOptions = {}) {
    if (engine.snapshot !== null) throw new Error("there is a snapshot already");
    this.#engine = engine;
    this.#sink = sink;
    this.#large = options.large ?? LARGE;
    this.#writer = writerFor(engine, (chunk) => sink.write(chunk));
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // Whoever calls the walk off need not be the one who waits for it.
    this.done.catch(() => {});
    let total = 0;
    for (const { index, keyspace, expires, size } of engine.databases) {
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
    this.#writer.begin(auxFields(engine, options));
    this.#writer.functions(options.functions ?? []);
    engine.snapshot = this;
    setImmediate(this.#slice);
  }

  /** A key is about to change, go or come. The door's. */
  before(keyspace: Dict<Value>, key: string, hash: number): void {
    const section = this.#byKeyspace.get(keyspace);
    if (section === undefined) return;
    if (section.large.size > 0 && section.large.has(key)) {
      this.#writeLarge(section, key);
      return;
    }
    if (section.done || hash < section.cursor || section.settled.has(key)) return;
    section.settled.add(key);
    const table = keyspace.tableOf(hash);
    const place = table.find(key, hash);
    if (place < 0) return;
    this.#write(section, key, table.values![place]!, table.stamps![place]!);
    this.keysWrittenEarly++;
  }

  /** Calls the walk off. */
  abort(reason = "the snapshot was called off"): void {
    this.#fail(new SnapshotAborted(reason));
  }

  /** A large collection is about to change: it must be written now, and what is half written before it. */
  #writeLarge(section: Section, key: string): void {
    const current = this.#current;
    if (current !== null) while (this.#current === current) this.#piece();
    const found = section.large.get(key);
    if (found === undefined) return;
    section.large.delete(key);
    this.#write(section, key, found.value, found.stamp);
    this.keysWrittenEarly++;
  }

  #write(section: Section, key: string, value: Value, stamp: number): void {
    this.#select(section);
    this.#writer.key(key, value, this.#deadlineOf(section, key), stamp);
    this.keysProcessed++;
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

  /** Writes the next piece of a large collection; false when there is none left. */
  #piece(): boolean {
    const current = this.#current ?? this.#nextLarge();
    if (current === null) return false;
    if (!current.pieces.next().done) return true;
    current.section.large.delete(current.key);
    this.#current = null;
    this.keysProcessed++;
    return true;
  }

  #nextLarge(): LargeKey | null {
    for (const section of this.#sections) {
      for (const [key, { value, stamp }] of section.large) {
        this.#select(section);
        const pieces = this.#writer.keyInPieces(key, value, this.#deadlineOf(section, key), stamp);
        this.#current = { section, key, pieces };
        return this.#current;
      }
    }
    return null;
  }

  readonly #slice = (): void => {
    if (this.#over) return;
    const { clock } = this.#engine;
    const started = clock.monotonic();
    try {
      let now = started;
      for (let keys = 0; keys < MOST_IN_SLICE && now - started < SLICE_MS; keys += this.#batch) {
        const section = this.#sections[this.#at];
        if (section !== undefined) this.#step(section);
        else if (!this.#piece()) {
          this.#finish();
          break;
        }
        const after = clock.monotonic();
        this.#batch = after - now > SLOW_BATCH_MS ? 1 : BATCH;
        now = after;
        if (this.#sink.pendingBytes > MOST_PENDING) break;
      }
      this.longestSliceMs = Math.max(this.longestSliceMs, clock.monotonic() - started);
    } catch (error) {
      this.#fail(error as Error);
    }
    if (!this.#over) this.#goOn();
  };

  #goOn(): void {
    if (this.#sink.pendingBytes <= MOST_PENDING) setImmediate(this.#slice);
    else this.#sink.drained().then(this.#slice, (error: Error) => this.#fail(error));
  }

  /** Writes the next few keys of a database. */
  #step(section: Section): void {
    const { keyspace, settled } = section;
    section.cursor = keyspace.scan(section.cursor, this.#batch, (key, value) => {
      if (settled.size > 0 && settled.delete(key)) return;
      const stamp = this.#stampOf(keyspace, key);
      if (isDivisible(value, this.#large)) section.large.set(key, { value, stamp });
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
    if (this.#engine.snapshot === this) this.#engine.snapshot = null;
  }
}

/** Starts a walk over everything that an engine has. */
export function walk(engine: Engine, sink: SnapshotSink, options: WalkOptions = {}): Snapshot {
  return new Snapshot(engine, sink, options);
}
