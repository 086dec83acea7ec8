/**
 * The end of the append-only file: effects are encoded into a buffer, written when the turn of the event loop is over and
 * before any reply leaves (net/flusher.ts), and brought to disk as appendfsync says.
 *
 * - **always**: written and synced in one go. All clients that were served in a turn share one sync.
 * - **everysec**: a sync in the background once a second, one at a time. A write while it runs could block in the kernel
 *   until it ends, so it is put off, but not for longer than a second: no more than that may be lost (Redis waits two).
 * - **no**: written; the system syncs when it likes.
 *
 * When a write fails, what it left behind is cut off, the buffer is kept, and writers are refused until it has succeeded:
 * the file stays sound, and nothing that was acknowledged is forgotten while the process lives.
 */
import { closeSync, fdatasync, fdatasyncSync, fstatSync, ftruncateSync, openSync, writeSync } from "node:fs";
import type { Effect, Engine } from "../../engine.ts";

const FIRST_BUFFER = 64 * 1024;
/** A buffer that has grown past this is let go of when it is empty. */
const KEPT_BUFFER = 1024 * 1024;
/** More than this is not gathered before it is written, however long the turn. */
const MOST_GATHERED = 16 * 1024 * 1024;
const WRITTEN_BY_HAND = 24;
const SYNC_EVERY_MS = 1000;
const LONGEST_DELAY_MS = 900;

export type FsyncPolicy = "always" | "everysec" | "no";

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

export class Appender {
  /** Why the last write or sync failed. */
  error: NodeJS.ErrnoException | null = null;
  delayedFsyncs = 0;
  /** Set while replies must wait for a sync; kept as a field because every in-process call looks at it. */
  holdsReplies = false;
  /** Called when the policy is always and a write has failed: what was answered to others cannot be kept any more. */
  onFatal: ((error: Error) => void) | null = null;

  readonly #engine: Engine;
  #descriptor = -1;
  /** Bytes in the file that is being written. */
  #size = 0;
  #buffer = Buffer.allocUnsafeSlow(FIRST_BUFFER);
  #at = 0;
  /** The database that the file stands in; -1 at the start of one. */
  #db = -1;
  #scheduled = false;
  #syncing = false;
  #unsynced = false;
  #lastSync = 0;
  #postponedSince = 0;
  #waiters: Waiter[] = [];
  readonly #flush = () => {
    this.#scheduled = false;
    this.flush();
  };

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  get policy(): FsyncPolicy {
    return this.#engine.config.values.appendfsync;
  }

  get isOpen(): boolean {
    return this.#descriptor >= 0;
  }

  get size(): number {
    return this.#size;
  }

  get bufferedBytes(): number {
    return this.#at;
  }

  get syncsInFlight(): number {
    return this.#syncing ? 1 : 0;
  }

  /** Goes on in this file. What is buffered for the one before must have been flushed. */
  open(path: string): void {
    const descriptor = openSync(path, "a", 0o644);
    this.#size = fstatSync(descriptor).size;
    const before = this.#descriptor;
    this.#descriptor = descriptor;
    this.#db = -1;
    if (before >= 0) this.#retire(before);
  }

  /** Syncs and closes a file that is no longer written. */
  #retire(descriptor: number): void {
    fdatasync(descriptor, (error) => {
      if (error !== null) this.error = error;
      closeSync(descriptor);
    });
  }

  /** Writes and syncs what there is, and closes. */
  close(): void {
    if (this.#descriptor < 0) return;
    this.flush(true);
    try {
      fdatasyncSync(this.#descriptor);
    } finally {
      // A sync in another thread would find the descriptor gone, or somebody else's.
      const descriptor = this.#descriptor;
      this.#descriptor = -1;
      if (!this.#syncing) closeSync(descriptor);
      else this.#retire(descriptor);
      this.#at = 0;
      this.holdsReplies = false;
      this.#settle(this.error);
    }
  }

  // ---------------------------------------------------------------------------------------------- in

  /** Takes what one command, transaction or script did. */
  readonly append = (effects: readonly Effect[]): void => {
    if (this.#descriptor < 0) return;
    const together = effects.length > 1;
    if (together) this.#command(MULTI);
    for (const { db, argv } of effects) {
      if (isPublish(argv[0]!)) continue;
      if (db !== this.#db) {
        this.#db = db;
        this.#command(["SELECT", String(db)]);
      }
      this.#command(argv);
    }
    if (together) this.#command(EXEC);
    if (this.policy === "always") this.holdsReplies = true;
    if (this.#at > MOST_GATHERED) this.flush();
    else if (!this.#scheduled) {
      this.#scheduled = true;
      setImmediate(this.#flush);
    }
  };

  #command(argv: readonly string[]): void {
    this.#line(0x2a, argv.length);
    for (let i = 0; i < argv.length; i++) {
      const word = argv[i]!;
      const { length } = word;
      this.#line(0x24, length);
      this.#reserve(length + 2);
      const bytes = this.#buffer;
      let at = this.#at;
      if (length <= WRITTEN_BY_HAND) for (let j = 0; j < length; j++) bytes[at++] = word.charCodeAt(j);
      else at += bytes.latin1Write(word, at, length);
      bytes[at] = 13;
      bytes[at + 1] = 10;
      this.#at = at + 2;
    }
  }

  #line(sign: number, number: number): void {
    this.#reserve(16);
    const bytes = this.#buffer;
    bytes[this.#at++] = sign;
    if (number < 10) bytes[this.#at++] = 0x30 + number;
    else this.#at += bytes.latin1Write(String(number), this.#at);
    bytes[this.#at++] = 13;
    bytes[this.#at++] = 10;
  }

  #reserve(count: number): void {
    const needed = this.#at + count;
    if (needed <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.length * 2));
    this.#buffer.copy(grown, 0, 0, this.#at);
    this.#buffer = grown;
  }

  // ---------------------------------------------------------------------------------------------- out

  /** Settles when everything so far is on disk; rejects if it cannot be brought there. */
  whenSynced(): Promise<void> {
    return new Promise((resolve, reject) => this.#waiters.push({ resolve, reject }));
  }

  #settle(error: Error | null): void {
    const waiters = this.#waiters;
    if (waiters.length === 0) return;
    this.#waiters = [];
    for (const { resolve, reject } of waiters)
      if (error === null) resolve();
      else reject(error);
  }

  /**
   * Writes what is buffered, and syncs as configured. `force` does not wait for a sync that is under way. False if replies
   * must not leave, because what they acknowledge is not on disk and should be.
   */
  flush(force = false): boolean {
    if (this.#descriptor < 0) return true;
    if (this.#at > 0) {
      if (!force && this.#mustWait()) return true;
      this.#postponedSince = 0;
      if (!this.#write()) return this.policy !== "always";
    }
    if (this.policy === "always") {
      if (!this.#syncNow()) return false;
    } else if (this.policy === "everysec") this.#syncSoon();
    this.holdsReplies = false;
    if (this.#waiters.length > 0) this.#settle(null);
    return true;
  }

  /** Whether a write has to wait for the sync that is under way. */
  #mustWait(): boolean {
    if (this.policy !== "everysec" || !this.#syncing) return false;
    const now = this.#engine.clock.monotonic();
    if (this.#postponedSince === 0) this.#postponedSince = now;
    if (now - this.#postponedSince < LONGEST_DELAY_MS) return true;
    this.delayedFsyncs++;
    this.#engine.log(
      "notice",
      "Asynchronous AOF fsync is taking too long (disk is busy?). Writing the AOF buffer without waiting for fsync to complete, this may slow down the store.",
    );
    return false;
  }

  #write(): boolean {
    let written = 0;
    try {
      while (written < this.#at) written += writeSync(this.#descriptor, this.#buffer, written, this.#at - written);
    } catch (error) {
      this.#failed(error as NodeJS.ErrnoException, written);
      return false;
    }
    this.#size += written;
    this.#at = 0;
    this.#unsynced = true;
    if (this.#buffer.length > KEPT_BUFFER) this.#buffer = Buffer.allocUnsafeSlow(FIRST_BUFFER);
    if (this.error !== null && this.policy !== "always") {
      this.#engine.log("warning", "AOF write error looks solved, the store can write again.");
    }
    this.error = null;
    return true;
  }

  #failed(error: NodeJS.ErrnoException, written: number): void {
    if (this.error === null) this.#engine.log("warning", `Error writing to the AOF file: ${error.message}`);
    this.error = error;
    if (written > 0) {
      try {
        ftruncateSync(this.#descriptor, this.#size);
      } catch {
        // Half a command stays in the file: the rest of it comes next, so that it becomes whole.
        this.#size += written;
        this.#buffer.copyWithin(0, written, this.#at);
        this.#at -= written;
      }
    }
    if (this.policy === "always") this.#fatal(error);
  }

  #fatal(error: Error): void {
    const reason = new Error(`MISCONF Errors writing to the AOF file: ${error.message}`);
    this.holdsReplies = false;
    this.#settle(reason);
    if (this.onFatal === null) return;
    this.#engine.log("warning", "Can't recover from AOF write error when the AOF fsync policy is 'always'. Exiting...");
    this.onFatal(reason);
  }

  #syncNow(): boolean {
    if (!this.#unsynced) return true;
    try {
      fdatasyncSync(this.#descriptor);
      this.#unsynced = false;
      this.#lastSync = this.#engine.clock.monotonic();
      return true;
    } catch (error) {
      this.error = error as NodeJS.ErrnoException;
      this.#fatal(error as Error);
      return false;
    }
  }

  #syncSoon(): void {
    if (!this.#unsynced || this.#syncing) return;
    const { clock, config, snapshot } = this.#engine;
    const now = clock.monotonic();
    if (now - this.#lastSync < SYNC_EVERY_MS) return;
    if (config.values["no-appendfsync-on-rewrite"] && snapshot !== null) return;
    this.#lastSync = now;
    this.#syncing = true;
    this.#unsynced = false;
    fdatasync(this.#descriptor, (error) => {
      this.#syncing = false;
      if (error !== null && this.#descriptor >= 0) {
        this.error = error;
        this.#unsynced = true;
        this.#engine.log("warning", `Fail to fsync the AOF file: ${error.message}`);
      } else if (this.#at === 0) this.error = null;
      if (this.#postponedSince > 0) this.flush();
    });
  }
}

const MULTI = ["MULTI"];
const EXEC = ["EXEC"];

/** Messages are for replicas; a file has no use for them. */
function isPublish(name: string): boolean {
  if (name.length !== 7 && name.length !== 8) return false;
  const lower = name.toLowerCase();
  return lower === "publish" || lower === "spublish";
}
