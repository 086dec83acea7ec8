/**
 * The end of the append-only file: effects are encoded into a buffer, written when the turn of the event loop is over and
 * before any reply leaves (net/flusher.ts), and brought to disk as appendfsync says.
 *
 * - **always**: replies wait for a sync. On a quick disk that happens at once, at the end of the turn, for everybody who was
 *   heard in it: to hand a sync to another thread and to hear of its end would take longer than the sync. On a slow disk it
 *   happens in the background, and commands go on meanwhile. What they do gathers, and is written and synced together when that
 *   sync is over. So disk and processor need not wait for each other, and the slower the disk, the more clients share a sync.
 *   Which of the two it is, is found by trying: a sync at the end of a turn that was slow sends the next ones to the background,
 *   4 at first, twice as many each time, at most 4 096. (What a sync in the background takes says little: its end is heard late
 *   when there is much to do.)
 * - **everysec**: a sync in the background once a second, one at a time. A write while it runs could block in the kernel
 *   until it ends, so it is put off, but not for longer than a second: no more than that may be lost (Redis waits two).
 * - **no**: written; the system syncs when it likes.
 *
 * When a write fails, what it left behind is cut off, the buffer is kept, and writers are refused until it has succeeded:
 * the file stays sound, and nothing that was acknowledged is forgotten while the process lives.
 *
 * When a sync fails, trying again proves nothing: the kernel may have dropped what it could not write, and call the next sync
 * of the rest a success. So the file is not trusted any more. Writers are refused until a rewrite has put everything that is
 * in memory into new files (`onSyncFailed`, `rewritten`). Redis goes on after the next sync that succeeds.
 */

import { EffectEncoder } from "../../core/effect-encoder.ts";
import type { EffectListener } from "../../core/effects.ts";
import { FOR_FILE } from "../../core/propagation.ts";
import { errorOf } from "../../lib/caught.ts";
import {
  closeSync,
  type FileError,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  writeSync,
} from "../../platform/files.ts";
import { stall } from "../../platform/stall.ts";
import { soon } from "../../platform/timers.ts";
import { CommandWriter } from "../../resp/command-writer.ts";
import type { PersistHost } from "../host.ts";

/** More than this is not gathered before it is written, however long the turn. */
const MOST_GATHERED = 16 * 1024 * 1024;
const SYNC_EVERY_MS = 1000;
const LONGEST_DELAY_MS = 900;
/** A disk whose syncs take no longer is a quick one. */
const QUICK_SYNC_MS = 0.3;
/** So many syncs go to the background after one that was slow, and after each further one twice as many. */
const FEWEST_IN_BACKGROUND = 4;
const MOST_IN_BACKGROUND = 4096;

export type FsyncPolicy = "always" | "everysec" | "no";

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** What the appender needs of the store around it. */
type AppenderHost = Pick<PersistHost, "clock" | "config" | "log" | "now" | "snapshot">;

export class Appender {
  delayedFsyncs = 0;
  /** See `handsOver`. */
  #handsOver = false;
  /** DEBUG AOF-FLUSH-SLEEP: everything stands still for so long before a write. */
  delayMs = 0;
  /** What a sync at the end of a turn may take before the next ones go to the background. */
  quickSyncMs = QUICK_SYNC_MS;
  /** Set while replies must wait for a sync; kept as a field because every in-process call looks at it. */
  holdsReplies = false;
  /** Called when the policy is always and a write has failed: what was answered to others cannot be kept any more. */
  onFatal: ((error: Error) => void) | null = null;
  /** Bytes that were written since the start, whatever file they are in, and how many of them are certainly on disk. */
  writtenBytes = 0;
  syncedBytes = 0;
  /** Called when more has come to be on disk. */
  onSynced: () => void = () => {};
  /** Called when what was written may be lost, though the process lives. */
  onSyncFailed: () => void = () => {};

  readonly #host: AppenderHost;
  #descriptor = -1;
  /** Counts the files; and the one in which a sync has failed. */
  #generation = 0;
  #failedGeneration = 0;
  #writeError: FileError | null = null;
  #syncError: FileError | null = null;
  /** Bytes in the file that is being written. */
  #size = 0;
  /** Files that are not written any more and whose last sync is under way. */
  #retiring = 0;
  /** Up to where the file that is being written has been synced, in bytes of all files. */
  #syncedInFile = 0;
  /** What has gathered and is not in the file yet. */
  readonly #writer = new CommandWriter();
  readonly #encoder = new EffectEncoder(this.#writer, FOR_FILE);
  /** The last moment that was said in this file, in seconds. */
  #stampedAt = 0;
  #scheduled = false;
  #syncing = false;
  #unsynced = false;
  #lastSync = 0;
  #postponedSince = 0;
  #waiters: Waiter[] = [];
  /** Callers that wait for the sync that is under way. */
  #groupWaiters: Waiter[] = [];
  /** A sync is under way that replies wait for. */
  #inGroup = false;
  /** How many syncs go to the background before one is waited for again, and how many will if that is slow. */
  #toBackground = 0;
  #patience = FEWEST_IN_BACKGROUND;
  readonly #flush = () => {
    this.#scheduled = false;
    this.poke();
  };

  constructor(host: AppenderHost) {
    this.#host = host;
  }

  get policy(): FsyncPolicy {
    return this.#host.config.values.appendfsync;
  }

  /** Why the last write failed, or a sync of what still counts. */
  get error(): FileError | null {
    return this.#writeError ?? this.#syncError;
  }

  get isOpen(): boolean {
    return this.#descriptor >= 0;
  }

  get size(): number {
    return this.#size;
  }

  get bufferedBytes(): number {
    return this.#writer.length;
  }

  get syncsInFlight(): number {
    return this.#syncing ? 1 : 0;
  }

  /**
   * Whether no reply, not even one in this process, leaves before the system has what it acknowledges, though not yet the disk:
   * for stores whose other users outlive this process when it is killed.
   */
  get handsOver(): boolean {
    return this.#handsOver;
  }

  set handsOver(handsOver: boolean) {
    this.#handsOver = handsOver;
    // Also what was acknowledged before.
    if (this.#writer.length > 0) this.flush(true);
  }

  /** Goes on in this file. What is buffered for the one before must have been flushed. */
  open(path: string): void {
    this.use(openSync(path, "a", 0o644));
  }

  /** The same with a file that is open, for appending. */
  use(descriptor: number): void {
    this.#size = fstatSync(descriptor).size;
    const before = this.#descriptor;
    this.#descriptor = descriptor;
    this.#encoder.db = -1;
    this.#stampedAt = 0;
    if (before >= 0) this.#retire(before);
    this.#generation++;
  }

  /** No sync has failed of what is in the files that count. */
  get isTrusted(): boolean {
    return this.#syncError === null;
  }

  /** All files before the one that is being written have been replaced by what is in memory. */
  rewritten(): void {
    if (this.#failedGeneration < this.#generation) this.#syncError = null;
    this.#confirm();
  }

  #syncFailed(error: FileError, generation: number): void {
    this.#syncError = error;
    this.#failedGeneration = generation;
    this.#host.log("warning", `Fail to fsync the AOF file: ${error.message}`);
    this.onSyncFailed();
  }

  /** Syncs and closes a file that is no longer written. */
  #retire(descriptor: number): void {
    const generation = this.#generation;
    this.#retiring++;
    fdatasync(descriptor, (error) => {
      this.#retiring--;
      if (error !== null) this.#syncFailed(error, generation);
      closeSync(descriptor);
      this.#confirm();
    });
  }

  /** The file that is being written has been synced up to here. */
  #synced(writtenBytes: number): void {
    this.#syncedInFile = Math.max(this.#syncedInFile, writtenBytes);
    this.#confirm();
  }

  /** What is in that file counts when what came before is on disk, too: at the latest when the last sync of older files is over. */
  #confirm(): void {
    if (this.#retiring > 0 || this.#syncError !== null || this.#syncedInFile <= this.syncedBytes) return;
    this.syncedBytes = this.#syncedInFile;
    this.onSynced();
  }

  /** Writes and syncs what there is, and closes. Returns why not all of it could be brought to disk; null if it was. */
  close(): Error | null {
    if (this.#descriptor < 0) return null;
    this.flush(true);
    let lost = this.#writer.length > 0 ? this.#writeError : this.#syncError;
    try {
      fdatasyncSync(this.#descriptor);
    } catch (error) {
      lost ??= errorOf(error);
    } finally {
      // A sync in another thread would find the descriptor gone, or somebody else's.
      const descriptor = this.#descriptor;
      this.#descriptor = -1;
      if (!this.#syncing) closeSync(descriptor);
      else this.#retire(descriptor);
      this.#writer.drop();
      this.holdsReplies = false;
      this.#settle(lost);
      this.#writeError = null;
      this.#syncError = null;
    }
    if (lost !== null) this.#host.log("warning", `Not all of the AOF could be brought to disk: ${lost.message}`);
    return lost;
  }

  // ---------------------------------------------------------------------------------------------- in

  /** Takes what one command, transaction or script did. */
  readonly append: EffectListener = (effects, framing) => {
    if (this.#descriptor < 0) return;
    if (this.#host.config.values["aof-timestamp-enabled"]) this.#stamp();
    this.#encoder.write(effects, framing);
    if (this.#handsOver || this.policy === "always") this.holdsReplies = true;
    if (this.#writer.length > MOST_GATHERED) this.flush();
    else if (!this.#scheduled) {
      this.#scheduled = true;
      soon(this.#flush);
    }
  };

  /** aof-timestamp-enabled: says from when on what follows was written, whenever another second has begun. */
  #stamp(): void {
    const seconds = Math.floor(this.#host.now / 1000);
    if (seconds <= this.#stampedAt) return;
    this.#stampedAt = seconds;
    this.#writer.text(`#TS:${seconds}`);
  }

  // ---------------------------------------------------------------------------------------------- out

  /** Settles when everything so far is on disk; rejects if it cannot be brought there. */
  whenSynced(): Promise<void> {
    return new Promise((resolve, reject) => this.#waiters.push({ resolve, reject }));
  }

  #settle(error: Error | null): void {
    if (this.#groupWaiters.length > 0) this.#settleGroup(error);
    const waiters = this.#waiters;
    if (waiters.length === 0) return;
    this.#waiters = [];
    for (const { resolve, reject } of waiters)
      if (error === null) resolve();
      else reject(error);
  }

  #settleGroup(error: Error | null): void {
    const waiters = this.#groupWaiters;
    this.#groupWaiters = [];
    for (const { resolve, reject } of waiters)
      if (error === null) resolve();
      else reject(error);
  }

  /** Brings what there is on its way to the file and the disk, as configured, without waiting for the disk. */
  poke(): void {
    if (this.policy === "always") this.#beginGroup();
    else this.flush();
  }

  /**
   * The same for replies that are ready to leave. True if they may, false if they never may; undefined if they have to wait
   * until `then` is told which it is.
   */
  commit(then: (kept: boolean) => void): boolean | undefined {
    if (this.#descriptor < 0) return true;
    if (this.policy !== "always" && !this.#inGroup) return this.flush();
    if (this.#writer.length === 0 && !this.#unsynced && !this.#inGroup) return true;
    this.#waiters.push({ resolve: () => then(true), reject: () => then(false) });
    this.#beginGroup();
    return undefined;
  }

  /** Writes what has gathered and begins to sync it; if a sync is under way already, that happens when it is over. */
  #beginGroup(): void {
    if (this.#syncing || this.#descriptor < 0) return;
    if (this.#writer.length > 0 && !this.#write()) return;
    if (!this.#unsynced) {
      this.holdsReplies = false;
      this.#settle(null);
      return;
    }
    if (this.#toBackground === 0) {
      const started = this.#host.clock.monotonic();
      if (this.flush()) this.#judge(this.#host.clock.monotonic() - started);
      return;
    }
    this.#toBackground--;
    this.#groupWaiters = this.#waiters;
    this.#waiters = [];
    this.#syncing = true;
    this.#inGroup = true;
    this.#unsynced = false;
    const generation = this.#generation;
    const { writtenBytes } = this;
    fdatasync(this.#descriptor, (error) => {
      this.#syncing = false;
      this.#inGroup = false;
      if (error !== null) {
        this.#unsynced = true;
        this.#syncFailed(error, generation);
        this.#fatal(error);
        return;
      }
      this.#lastSync = this.#host.clock.monotonic();
      this.#synced(writtenBytes);
      this.#settleGroup(null);
      if (this.#writer.length > 0 || this.#waiters.length > 0) this.#beginGroup();
      else if (!this.#unsynced) this.holdsReplies = false;
    });
  }

  /**
   * Writes what is buffered, and syncs as configured: with `always` at once, with everybody waiting. `force` does not wait for
   * a sync that is under way. False if replies must not leave, because what they acknowledge is not on disk and should be.
   */
  flush(force = false): boolean {
    if (this.#descriptor < 0) return true;
    if (this.#writer.length > 0) {
      if (!force && this.#mustWait()) return true;
      this.#postponedSince = 0;
      if (!this.#write()) return this.policy !== "always" && !this.#handsOver;
    }
    if (this.policy === "always") {
      if (!this.#syncNow()) return false;
    } else if (this.policy === "everysec") this.#syncSoon();
    this.holdsReplies = false;
    this.#inGroup = false;
    this.#settle(null);
    return true;
  }

  /** Whether a write has to wait for the sync that is under way. */
  #mustWait(): boolean {
    if (this.policy !== "everysec" || !this.#syncing || this.#handsOver) return false;
    const now = this.#host.clock.monotonic();
    if (this.#postponedSince === 0) this.#postponedSince = now;
    if (now - this.#postponedSince < LONGEST_DELAY_MS) return true;
    this.delayedFsyncs++;
    this.#host.log(
      "notice",
      "Asynchronous AOF fsync is taking too long (disk is busy?). Writing the AOF buffer without waiting for fsync to complete, this may slow down the store.",
    );
    return false;
  }

  #write(): boolean {
    const { bytes } = this.#writer;
    stall(this.delayMs);
    let written = 0;
    try {
      while (written < bytes.length) written += writeSync(this.#descriptor, bytes, written, bytes.length - written);
    } catch (error) {
      this.#failed(errorOf(error), written);
      return false;
    }
    this.#size += written;
    this.writtenBytes += written;
    this.#writer.drop();
    this.#unsynced = true;
    if (this.#writeError !== null && this.policy !== "always") {
      this.#host.log("warning", "AOF write error looks solved, the store can write again.");
    }
    this.#writeError = null;
    return true;
  }

  #failed(error: FileError, written: number): void {
    if (this.#writeError === null) this.#host.log("warning", `Error writing to the AOF file: ${error.message}`);
    this.#writeError = error;
    if (written > 0) {
      try {
        ftruncateSync(this.#descriptor, this.#size);
      } catch {
        // Half a command stays in the file: the rest of it comes next, so that it becomes whole.
        this.#size += written;
        this.#writer.drop(written);
      }
    }
    if (this.policy === "always") this.#fatal(error);
    else if (this.#handsOver) {
      this.holdsReplies = false;
      this.#settle(refusalFor(error));
    }
  }

  #fatal(error: Error): void {
    const reason = refusalFor(error);
    this.holdsReplies = false;
    this.#settle(reason);
    if (this.onFatal === null) return;
    this.#host.log("warning", "Can't recover from AOF write error when the AOF fsync policy is 'always'. Exiting...");
    this.onFatal(reason);
  }

  /** Decides by what a sync took where the next ones go. */
  #judge(ms: number): void {
    if (ms <= this.quickSyncMs) {
      this.#patience = FEWEST_IN_BACKGROUND;
      return;
    }
    this.#toBackground = this.#patience;
    this.#patience = Math.min(this.#patience * 2, MOST_IN_BACKGROUND);
  }

  #syncNow(): boolean {
    // What a group is syncing is not on disk before that is over.
    if (!this.#unsynced && !this.#inGroup) return true;
    try {
      fdatasyncSync(this.#descriptor);
      this.#unsynced = false;
      this.#lastSync = this.#host.clock.monotonic();
      this.#synced(this.writtenBytes);
      return true;
    } catch (error) {
      this.#syncFailed(errorOf(error), this.#generation);
      this.#fatal(errorOf(error));
      return false;
    }
  }

  #syncSoon(): void {
    if (!this.#unsynced || this.#syncing) return;
    const { clock, config, snapshot } = this.#host;
    const now = clock.monotonic();
    if (now - this.#lastSync < SYNC_EVERY_MS) return;
    if (config.values["no-appendfsync-on-rewrite"] && snapshot !== null) return;
    this.#lastSync = now;
    this.#syncing = true;
    this.#unsynced = false;
    const generation = this.#generation;
    const { writtenBytes } = this;
    fdatasync(this.#descriptor, (error) => {
      this.#syncing = false;
      if (error !== null && this.#descriptor >= 0) this.#syncFailed(error, generation);
      else if (error === null) this.#synced(writtenBytes);
      if (this.#postponedSince > 0 || this.#waiters.length > 0) this.poke();
    });
  }
}

const refusalFor = (error: Error): Error => new Error(`MISCONF Errors writing to the AOF file: ${error.message}`);
