/**
 * Keeps the data below what V8's heap can hold.
 *
 * V8 ends the process when its heap is full, and its limit cannot be raised while it runs. So long before that the store is
 * short of memory in the sense of `maxmemory`: keys are evicted by maxmemory-policy, or commands that need room get Redis's
 * OOM error. This holds without maxmemory. In a program of one's own the heap is shared with everything else in it; whatever
 * fills it, the store stops growing (`heapGuard` in Engine.open).
 *
 * **What is in use.** V8 tells how large its heap is, garbage included; at a busy moment most of it may be garbage. But what
 * it tells is never too low. So `live` follows the accounts of the data from one look to the next, is lowered to what V8
 * tells whenever that is less, and is set to it after V8 has collected all garbage, when it is nearly exact and includes
 * what the accounts do not know. The accounts are right to about 15 %; growth is taken as a little more than they say. Where
 * `live` reaches a limit, or V8 tells so much that it would fail if all of it were in use, all garbage is collected once to be
 * sure, but never for more than a small share of the time.
 *
 * **When to look.** Not by the clock: a pipeline writes hundreds of megabytes a second. Commands that need room look when
 * the data has grown by a part of what is left; between looks they cost a subtraction. The tick looks too, for what grows
 * beside the data. A command that builds much at once asks first (`require`).
 *
 * **Three limits**, as shares of the old generation: new data stops at the first. What has begun to write (a script, the
 * commands of one EXEC) may go on to the second. Files and snapshots may be loaded up to the third, so that a store that was
 * filled to the others can always be loaded again with the same heap. The rest is left to V8, which fails above it.
 *
 * Strings of more than a megabyte, buffers, and the words of tables (word-column.ts) are outside the heap. For all of it together there
 * is the same with the machine's memory, or the container's, in the place of the heap: without what the program itself takes, and
 * with room for the gaps that malloc leaves.
 */

import type { Config } from "../config/config.ts";
import { heapFigures, memoryLimit, oldLimit } from "../platform/memory.ts";
import { systemClock } from "./clock.ts";
import type { Db } from "./db.ts";
import { OOM } from "./errors.ts";
import { collectGarbage } from "./garbage.ts";
import type { Log } from "./log.ts";

const MB = 1024 * 1024;
const megabytes = (bytes: number) => Math.round(bytes / MB);

/**
 * The share of the old generation that data may take. With 80 % in use for good, V8 ends a process after four collections in a
 * row that free little; scripts may go to 78 % (script-memory.ts).
 */
const WRITE_SHARE = 0.7;
/** How far beyond that the two other limits are, as parts of what is left. */
const BEGUN_PART = 0.15;
const LOADED_PART = 0.4;
/** Shares of the machine's memory, in the order of the limits. */
const MACHINE_SHARES = [0.8, 0.84, 0.9] as const;
/** What the process takes of it beside heap and buffers, but not more than half. */
const PROGRAM_BYTES = 128 * MB;
/** What a byte of accounted growth may really take. */
const GROWTH = 1.1;
/** The least that is written between two looks. */
const LEAST_STEP_BYTES = MB / 4;
/** How far below its limit a store that was full must come before it is written to again, as a share of the limit. */
const SLACK = 0.02;
/** What a command may build from all data, replies and all. */
const TIMES_DATA = 3;
/** What may be built without asking. */
const SMALL_BYTES = MB;
/** From this share of the heap on, what is not data is worth collecting to find room for data. */
const MUCH_ELSE = 0.15;

/** Of a hundred milliseconds, how many may go into collections that we ask for: when a limit is reached, and beyond it. */
const COLLECTION_PERCENT = 5;
const RARE_COLLECTION_PERCENT = 1;

/** The data does not fit into the heap, or, where that is so, into the memory that there is. */
export class HeapFullError extends Error {
  override readonly name = "HeapFullError";

  constructor(limit: number, loadedBytes: number, totalBytes: number, isMachine = false) {
    const share = totalBytes > 0 && loadedBytes > 0 ? Math.min(1, loadedBytes / totalBytes) : 1;
    const needed = megabytes(Math.ceil((limit / share) * 1.2));
    const where = isMachine ? "the memory" : "V8's heap";
    const advice = isMachine
      ? `Give the process at least ${needed} MB`
      : `Start with a larger heap, here at least NODE_OPTIONS=--max-old-space-size=${needed}`;
    super(
      `the data does not fit into ${where} of ${megabytes(limit)} MB: it is full after ${Math.floor(share * 100)} % of the bytes. ${advice}`,
    );
  }
}

/** One kind of memory: what of it is in use for certain, and the three limits. */
class Gauge {
  live = 0;
  readonly writeLimit: number;
  readonly workLimit: number;
  readonly loadLimit: number;

  constructor(bytes: number, [write, work, load]: readonly [number, number, number]) {
    this.writeLimit = Math.floor(bytes * write);
    this.workLimit = Math.floor(bytes * work);
    this.loadLimit = Math.floor(bytes * load);
  }

  /** Takes over what the accounts and V8 say. */
  update(grownBytes: number, usedBytes: number, collected: boolean): void {
    this.live += grownBytes > 0 ? grownBytes * GROWTH : grownBytes;
    if (collected || usedBytes < this.live) this.live = usedBytes;
  }
}

/** What the guard needs of the store around it. */
interface HeapGuardHost {
  readonly config: Pick<Config, "values">;
  readonly databases: readonly Db[];
  /** What keys and values take, about. */
  readonly dataBytes: number;
  readonly log: Log;
}

export class HeapGuard {
  /** New data must wait: set where `live` reaches the write limit, until it is well below. */
  full = false;
  /** A copy of all data would not fit: commands that copy or read much at once have to ask. */
  tight = false;
  /** What V8's heap can hold in all; INFO shows it. */
  readonly heapLimit: number;
  readonly #host: HeapGuardHost;
  readonly #enabled: boolean;
  readonly #heap: Gauge;
  readonly #machine: Gauge;
  #dataBytes = 0;
  // The database that was last written to, what it took when V8 was last asked, and by how much it may grow until the next.
  #db: Db | null = null;
  #dbBytes = 0;
  #stepBytes = LEAST_STEP_BYTES;
  /** Something old that only a full collection removes: once it is gone, one has happened. */
  #sentinel = new WeakRef({});
  #collectedAt = Number.NEGATIVE_INFINITY;
  #collectionMs = 0;
  /** What V8 told last, of the heap and outside, and what that leaves to the load limits: all of it may be in use. */
  #usedBytes = 0;
  #certainBytes = 0;
  /** What the last collection that we asked for has left, of the heap and outside. */
  #leftByCollection = 0;

  /** `share` is the part of the old generation that data may take; false turns the guard off. */
  constructor(host: HeapGuardHost, share: number | boolean = true) {
    this.#host = host;
    this.#enabled = share !== false;
    this.heapLimit = heapFigures().limit;
    const old = oldLimit(this.heapLimit);
    const write = typeof share === "number" ? share : WRITE_SHARE;
    this.#heap = new Gauge(old, [write, write + (1 - write) * BEGUN_PART, write + (1 - write) * LOADED_PART]);
    const machine = memoryLimit();
    this.#machine = new Gauge(Math.max(machine - PROGRAM_BYTES, machine / 2), MACHINE_SHARES);
    this.#heap.live = this.#machine.live = Number.POSITIVE_INFINITY;
    if (this.#enabled) this.#measure();
    else this.#stepBytes = Number.POSITIVE_INFINITY;
  }

  /** What data may take of the heap, other things in it included. */
  get writeLimit(): number {
    return this.#enabled ? this.#heap.writeLimit : this.heapLimit;
  }

  /** What is in use of the heap and is not garbage, as far as it is known. */
  get liveBytes(): number {
    return this.#enabled ? this.#heap.live : heapFigures().used;
  }

  /** For people, at the start. */
  describe(): string {
    const heap = `V8's heap may grow to ${megabytes(this.heapLimit)} MB of ${megabytes(memoryLimit())} MB of memory`;
    const { writeLimit } = this.#machine;
    return this.#enabled
      ? `${heap}; data is taken until ${megabytes(this.writeLimit)} MB of it are in use, or ${megabytes(writeLimit)} MB with what is outside`
      : heap;
  }

  // ---------------------------------------------------------------------------------------------- asking

  /** Whether there is no room for new data; called before every command that needs some. */
  isShort(db: Db): boolean {
    if (!this.full && db === this.#db && db.sizeBytes - this.#dbBytes < this.#stepBytes) return false;
    this.look(db);
    return this.full;
  }

  /** Whether something that has begun to write must be stopped in the middle. */
  isExhausted(db: Db): boolean {
    return this.isShort(db) && this.#left("workLimit") <= 0;
  }

  /** Bytes that new data may still take. */
  availableBytes(): number {
    if (!this.#enabled) return Number.POSITIVE_INFINITY;
    this.look();
    return this.full ? 0 : Math.max(0, this.#left("writeLimit"));
  }

  /** Bytes that a command, a script or a load may still allocate, until V8's own limit is near. */
  workBytes(): number {
    if (!this.#enabled) return Number.POSITIVE_INFINITY;
    this.look();
    if (this.#certainBytes > this.heapLimit * MUCH_ELSE) return this.#certainBytes;
    // What is used beside the data since V8 last collected may be garbage or not: only a collection tells.
    this.#collect(COLLECTION_PERCENT);
    this.look();
    return Math.max(0, this.#left("loadLimit"));
  }

  /** Throws OOM where so much cannot be built at once: for commands whose result may be far larger than their words. */
  require(bytes: number): void {
    if (bytes <= SMALL_BYTES || !this.#enabled) return;
    this.#measure();
    // Where there is plenty, nothing has to be known exactly.
    if (bytes > this.#left("loadLimit") / 2 && bytes > this.workBytes()) throw OOM;
  }

  /** Throws where what has been loaded so far of a file or a snapshot leaves no room for more; `total` is 0 if unknown. */
  checkLoad(loadedBytes: number, totalBytes: number): void {
    if (this.fits()) return;
    const isMachine = this.#isMachineTighter("loadLimit");
    throw new HeapFullError(isMachine ? memoryLimit() : this.heapLimit, loadedBytes, totalBytes, isMachine);
  }

  /**
   * Whether what has been loaded so far fits. A load knows nothing of what is half built, so it goes by what V8 tells, and
   * collects all garbage where that is too much; the next time only after a good deal more has been allocated.
   */
  fits(): boolean {
    if (!this.#enabled) return true;
    this.#measure();
    if (this.#certainBytes > 0) return true;
    if (this.#usedBytes - this.#leftByCollection > this.heapLimit * SLACK) this.#collect(100);
    return this.#left("loadLimit") > 0;
  }

  // ---------------------------------------------------------------------------------------------- looking

  /** Finds out where we are, and whether that is too far. Called by every tick. */
  look(db: Db = this.#host.databases[0]!): void {
    if (!this.#enabled) {
      this.#db = db;
      return;
    }
    this.#measure();
    const slack = this.#heap.writeLimit * SLACK;
    if (!this.full && (this.#left("writeLimit") <= 0 || this.#certainBytes <= 0)) {
      const evicts = this.#host.config.values["maxmemory-policy"] !== "noeviction";
      this.#collect(evicts ? RARE_COLLECTION_PERCENT : COLLECTION_PERCENT);
      this.#setFull(this.#left("writeLimit") <= slack);
    } else if (this.full) {
      const otherBytes = this.#heap.live - this.#dataBytes;
      if (this.#left("writeLimit") <= slack && otherBytes > this.heapLimit * MUCH_ELSE) {
        this.#collect(RARE_COLLECTION_PERCENT);
      }
      if (this.#left("writeLimit") > slack) this.#setFull(false);
    }
    this.#db = db;
    this.#dbBytes = db.sizeBytes;
    this.tight = this.#left("loadLimit") < this.#dataBytes * TIMES_DATA;
    this.#stepBytes = Math.max(LEAST_STEP_BYTES, Math.min(this.#left("writeLimit") / 4, this.#certainBytes / 2));
  }

  #setFull(full: boolean): void {
    if (full === this.full) return;
    this.full = full;
    const isMachine = this.#isMachineTighter("writeLimit");
    const { live, writeLimit } = isMachine ? this.#machine : this.#heap;
    const inUse = `${megabytes(live)} of ${megabytes(writeLimit)} MB are in use`;
    const what = isMachine ? "memory" : "heap";
    if (!full) this.#host.log("notice", `The ${what} has room again: ${inUse}.`);
    else {
      const advice = isMachine
        ? `give the process more memory than ${megabytes(memoryLimit())} MB`
        : `start with a larger heap than ${megabytes(this.heapLimit)} MB (NODE_OPTIONS=--max-old-space-size=...)`;
      this.#host.log(
        "warning",
        `The ${what} is full: ${inUse}. Commands that need memory evict keys or are refused. Delete keys, or ${advice}.`,
      );
    }
  }

  /** Whether the machine's memory, heap included, leaves less than the heap by itself. */
  #isMachineTighter(limit: "writeLimit" | "loadLimit"): boolean {
    return this.#machine[limit] - this.#machine.live < this.#heap[limit] - this.#heap.live;
  }

  /** The least that is left of both kinds of memory. */
  #left(limit: "writeLimit" | "workLimit" | "loadLimit"): number {
    return Math.min(this.#heap[limit] - this.#heap.live, this.#machine[limit] - this.#machine.live);
  }

  #measure(collected = this.#wasCollected()): void {
    const data = this.#host.dataBytes;
    const grown = data - this.#dataBytes;
    this.#dataBytes = data;
    const { used, external } = heapFigures();
    this.#heap.update(grown, used, collected);
    this.#machine.update(grown, used + external, collected);
    this.#usedBytes = used + external;
    this.#certainBytes = Math.min(this.#heap.loadLimit - used, this.#machine.loadLimit - used - external);
  }

  #wasCollected(): boolean {
    if (this.#sentinel.deref() !== undefined) return false;
    this.#sentinel = new WeakRef({});
    return true;
  }

  /** Collects all garbage, unless that would take more than this share of the time; then `live` stays what it is. */
  #collect(percent: number): void {
    const { monotonic } = systemClock;
    const started = monotonic();
    if (percent < 100 && started - this.#collectedAt < (this.#collectionMs * 100) / percent) return;
    collectGarbage();
    this.#collectedAt = monotonic();
    this.#collectionMs = this.#collectedAt - started;
    this.#measure(true);
    this.#leftByCollection = this.#machine.live;
  }
}
