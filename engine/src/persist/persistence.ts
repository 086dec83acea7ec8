/**
 * An engine's files: what is loaded at the start, when snapshots are taken, the append-only file, and what happens at the
 * end. One background job at a time, as in Redis, where it is one child process: a save or a rewrite.
 *
 * `active` says that the files are this engine's to keep: an engine in memory neither loads nor saves by itself, though SAVE
 * and BGSAVE write a file when somebody calls them.
 */

import { BadValue } from "../config/kinds.ts";
import type { Effect } from "../core/effects.ts";
import { ReplyError } from "../core/errors.ts";
import { FOR_REPLICAS } from "../core/propagation.ts";
import { aofMisconfigured, RDB_MISCONFIGURED } from "../core/rare-errors.ts";
import { errorOf, messageOf } from "../lib/caught.ts";
import { existsSync } from "../platform/files.ts";
import { join } from "../platform/paths.ts";
import { ownPid } from "../platform/process.ts";
import { Aof } from "./aof/index.ts";
import type { PersistHost } from "./host.ts";
import { removeLeftovers, removeUnfinished } from "./leftovers.ts";
import { lockDirectory, lockNameOf } from "./lock.ts";
import { RdbError } from "./rdb/errors.ts";
import { breath, type LoadReport, loadRdb, type SaveOptions, saveRdb } from "./rdb/file.ts";
import { type Snapshot, SnapshotAborted, walk } from "./snapshot.ts";
import { SnapshotFile } from "./snapshot-file.ts";

/** After a save that failed, the next one by itself comes no sooner. */
const RETRY_MS = 5000;
const FINAL_SAVE = "Saving the final RDB snapshot before exiting.";
/** How long the last save goes on before signals have a turn. */
const END_SLICE_MS = 25;
/** How long a load goes on before others have a turn. */
const SLICE_MS = 8;

interface Job {
  /** `sync`: a snapshot for replicas. */
  readonly kind: "rdb" | "aof" | "sync";
  readonly snapshot: Snapshot;
  readonly startedAt: number;
  readonly finished: Promise<void>;
}

/** A load as INFO tells of it. */
export interface Progress {
  readonly startedAt: number;
  loadedBytes: number;
  totalBytes: number;
}

export interface OpenFilesOptions {
  /** Keep others away from the folder, also without an append-only file. */
  readonly lock: boolean;
  /** The lock says that others may join. */
  readonly shared?: boolean;
  readonly onProgress?: (loadedBytes: number, totalBytes: number) => void;
}

export class Persistence {
  /** The snapshot with which the store ends is being written. */
  savesLast = false;
  readonly aof: Aof;
  /** Whether this engine keeps its data in files. */
  active = false;
  progress: Progress | null = null;
  /** Why not everything was on disk when the files were closed; null if it was. */
  lost: Error | null = null;
  keysLoaded = 0;
  keysExpired = 0;
  /** Snapshots that were begun in the background, for whatever purpose: what Redis forks for. */
  jobsBegun = 0;

  /** When data was last saved, in seconds. */
  lastSaveAt: number;
  /** The same moment as the monotonic clock has it: save points count seconds that went by. */
  #savedAt: number;
  lastSaveOk = true;
  lastSaveSeconds = -1;
  saves = 0;
  saveScheduled = false;

  readonly #host: PersistHost;
  #job: Job | null = null;
  #lastTry = Number.NEGATIVE_INFINITY;
  #dirtyAtSave = 0;
  #unlock: (() => void) | null = null;

  constructor(host: PersistHost) {
    this.#host = host;
    this.aof = new Aof(host, this);
    this.lastSaveAt = Math.floor(host.startedAt / 1000);
    this.#savedAt = host.clock.monotonic();
    host.config.onChange(["appendonly"], () => this.#appendOnlyChanged());
  }

  get path(): string {
    const { dir, dbfilename } = this.#host.config.values;
    return join(dir, dbfilename);
  }

  /** Changes since the last save. */
  get dirty(): number {
    return this.#host.effects.dirty - this.#dirtyAtSave;
  }

  /** What changed in memory was no change of the data: it was read from files. */
  nothingChanged(): void {
    this.#dirtyAtSave = this.#host.effects.dirty;
  }

  /** A save or rewrite is under way. */
  get busy(): boolean {
    return this.#job !== null;
  }

  get saving(): boolean {
    return this.#job?.kind === "rdb" || this.#job?.kind === "sync";
  }

  get rewriting(): boolean {
    return this.#job?.kind === "aof";
  }

  /** How many keys the job has written, and of how many; nothing without one. */
  get jobKeys(): { readonly processed: number; readonly total: number } {
    const { keysProcessed = 0, keysTotal = 0 } = this.#job?.snapshot ?? {};
    return { processed: keysProcessed, total: keysTotal };
  }

  /** For how long the job has been running; -1 if there is none of the kind. */
  jobSeconds(kind: Job["kind"]): number {
    const job = this.#job;
    return job?.kind === kind ? Math.floor((this.#host.clock.monotonic() - job.startedAt) / 1000) : -1;
  }

  // ---------------------------------------------------------------------------------------------- opening

  /** Locks the folder, loads what is there, and goes on from it. Throws with a text for people. */
  async open(options: OpenFilesOptions): Promise<void> {
    const { values } = this.#host.config;
    if (options.lock) this.#unlock = lockDirectory(values.dir, { shared: options.shared === true });
    else if (values.appendonly) this.#lockFiles();
    try {
      if (this.#unlock !== null) {
        for (const folder of [values.dir, this.aof.folder]) {
          for (const name of removeLeftovers(folder)) this.#host.log("notice", `Removed ${name}, left by a crash`);
        }
      }
      this.#host.loading = true;
      await this.#load(options);
      this.#host.loading = false;
      this.active = true;
      this.#dirtyAtSave = this.#host.effects.dirty;
      if (values.appendonly) this.aof.openAtStart();
    } catch (error) {
      this.#unlock?.();
      this.#unlock = null;
      throw error;
    } finally {
      this.#host.loading = false;
      this.progress = null;
    }
  }

  /** Keeps other servers away from the append-only file. */
  #lockFiles(): void {
    const { dir, appenddirname, appendfilename } = this.#host.config.values;
    this.#unlock ??= lockDirectory(dir, { name: lockNameOf(appenddirname, appendfilename) });
  }

  async #load(options: OpenFilesOptions): Promise<void> {
    const host = this.#host;
    const { clock } = host;
    const started = clock.monotonic();
    const progress: Progress = { startedAt: clock.now(), loadedBytes: 0, totalBytes: 0 };
    this.progress = progress;
    const onProgress = (loaded: number, total: number) => {
      progress.loadedBytes = loaded;
      progress.totalBytes = total;
      options.onProgress?.(loaded, total);
    };
    if (host.config.values.appendonly && this.aof.exists()) {
      const report = await inSlices(host, this.aof.load(onProgress));
      this.keysLoaded = report.keysLoaded;
      this.keysExpired = report.keysExpired;
      const seconds = ((clock.monotonic() - started) / 1000).toFixed(3);
      host.log("notice", `DB loaded from append only file: ${seconds} seconds`);
    } else if (existsSync(this.path)) {
      // Also with an append-only file that is yet to be made: what is here becomes its base.
      const expired: Effect[] = [];
      const report = await this.#loadRdb(onProgress, expired);
      host.replication.restore(report, expired);
      this.keysLoaded = report.keys;
      this.keysExpired = report.expired;
      const empty = report.empty === 0 ? "" : `, empty keys skipped: ${report.empty}`;
      host.log(
        report.empty === 0 ? "notice" : "warning",
        `Done loading RDB, keys loaded: ${report.keys}, keys expired: ${report.expired}${empty}.`,
      );
      host.log("notice", `DB loaded from disk: ${((clock.monotonic() - started) / 1000).toFixed(3)} seconds`);
    }
  }

  /** Loads the snapshot. Keys that expired since it was made are dropped, and added to `expired`. */
  async #loadRdb(onProgress: (loaded: number, total: number) => void, expired: Effect[]): Promise<LoadReport> {
    try {
      return await loadRdb(this.#host, this.path, {
        onProgress,
        keepExpired: this.#host.replication.isReplica,
        onExpired: (db, key) => void expired.push({ db, argv: ["DEL", key], audience: FOR_REPLICAS }),
        onFunction: (source) => this.loadFunctions(source),
      });
    } catch (error) {
      if (!(error instanceof RdbError)) throw error;
      const what = error.kind === "checksum" ? "RDB CRC error" : "integrity check failed";
      const { log } = this.#host;
      log("warning", `Internal error in RDB reading offset ${error.offset} -> ${what}: ${error.message}`);
      log("warning", "Terminating server after rdb file reading failure.");
      throw new Error(
        `${what}. Cannot load ${this.path}, offset ${error.offset}: ${error.message}. See cinnabar-check-rdb for what is in it.`,
        { cause: error },
      );
    }
  }

  /** Loads a library of functions that a file has. */
  loadFunctions(source: string): void {
    try {
      this.#host.functions.loadSource(source);
    } catch (error) {
      if (error instanceof ReplyError) throw new Error(`a library of functions cannot be loaded: ${error.text}`);
      throw error;
    }
  }

  // ---------------------------------------------------------------------------------------------- closing

  /**
   * Brings everything to disk. False if a snapshot was to be saved and could not be: then nothing has been closed, and the
   * engine may go on.
   */
  shutdown(save: boolean | undefined, force = false): boolean {
    if (!this.#mayEnd(force)) return false;
    if (this.savesAtEnd(save)) {
      this.#host.log("notice", FINAL_SAVE);
      this.#host.replication.settle();
      if (!this.#endsWith(this.save(), force)) return false;
    }
    this.#host.replication.rest();
    this.close();
    return true;
  }

  /**
   * The same with the event loop alive while the snapshot is written, so that a second signal is heard. The caller has put
   * off all commands.
   */
  async shutdownSlowly(save: boolean | undefined, force: boolean): Promise<boolean> {
    if (!this.#mayEnd(force)) return false;
    await this.idle();
    if (this.savesAtEnd(save)) {
      this.#host.log("notice", FINAL_SAVE);
      this.#host.replication.settle();
      // A ping after the snapshot's moment would put replicas ahead of what the next start finds.
      this.savesLast = true;
      const saved = await this.#saveAside();
      this.savesLast = false;
      if (!this.#endsWith(saved, force)) return false;
    }
    this.#host.replication.rest();
    this.close();
    return true;
  }

  /** Whether an end that was asked for in this way saves a snapshot. */
  savesAtEnd(save: boolean | undefined): boolean {
    return save ?? (this.active && this.#host.config.values.save.length > 0);
  }

  /** Calls off what is under way and syncs the append-only file; false if something stands in the way of an end. */
  #mayEnd(force: boolean): boolean {
    const host = this.#host;
    if (this.#job?.kind === "aof" && this.aof.state === "waiting") {
      // Nothing of what the file is to hold is in it yet.
      host.log("warning", `Writing initial AOF${force ? ". Exit anyway." : ", can't exit."}`);
      if (!force) return false;
    }
    this.#job?.snapshot.abort("the store is shutting down");
    if (this.aof.state !== "off") {
      host.log("notice", "Calling fsync() on the AOF file.");
      this.aof.appender.flush(true);
    }
    return true;
  }

  #endsWith(saved: boolean, force: boolean): boolean {
    if (!saved) {
      this.#host.log("warning", `Error trying to save the DB${force ? ". Exit anyway." : ", can't exit."}`);
    }
    return saved || force;
  }

  /** SAVE by the walk, in long slices. */
  async #saveAside(): Promise<boolean> {
    const host = this.#host;
    const { dirty } = host.effects;
    let saved = false;
    try {
      const file = new SnapshotFile(join(host.config.values.dir, `temp-${ownPid}.rdb`), false);
      const snapshot = walk(host, file, { ...this.#saveOptions(), sliceMs: END_SLICE_MS });
      this.begin("rdb", snapshot, async () => {
        try {
          await snapshot.done;
          await file.commit(this.path, () => snapshot.verify());
          saved = true;
        } catch (error) {
          file.abandon();
          host.log("warning", `Error saving DB on disk: ${messageOf(error)}`);
        }
      });
    } catch (error) {
      host.log("warning", `Failed opening the temp RDB file for saving: ${messageOf(error)}`);
    }
    await this.idle();
    if (saved) {
      host.log("notice", "DB saved on disk");
      this.#saved(dirty);
    }
    return saved;
  }

  /** Removes what is being written, before the process ends at once. */
  removeTemporaryFiles(): void {
    for (const folder of [this.#host.config.values.dir, this.aof.folder]) removeUnfinished(folder);
  }

  /** Closes without a snapshot: what the append-only file has been told is on disk when this returns. */
  close(): void {
    this.#job?.snapshot.abort("the store is closing");
    this.active = false;
    this.lost = this.aof.stop();
    this.#unlock?.();
    this.#unlock = null;
  }

  /** The background job, if any, has come to its end. */
  async idle(): Promise<void> {
    while (this.#job !== null) await this.#job.finished;
  }

  // ---------------------------------------------------------------------------------------------- saving

  /** SAVE: at once, with everybody waiting. */
  save(): boolean {
    const host = this.#host;
    try {
      saveRdb(host, this.path, this.#saveOptions());
    } catch (error) {
      host.log("warning", `Error saving DB on disk: ${messageOf(error)}`);
      return false;
    }
    host.log("notice", "DB saved on disk");
    this.#saved(host.effects.dirty);
    return true;
  }

  #saved(dirty: number): void {
    this.#dirtyAtSave = dirty;
    this.lastSaveAt = Math.floor(this.#host.clock.now() / 1000);
    this.#savedAt = this.#host.clock.monotonic();
    this.lastSaveOk = true;
    this.saves++;
  }

  /** BGSAVE: begins a snapshot; false if it cannot. The caller has seen that no job is running. */
  saveInBackground(): boolean {
    const host = this.#host;
    const { clock } = host;
    const { dirty } = host.effects;
    const { path } = this;
    const started = clock.monotonic();
    this.saveScheduled = false;
    this.#lastTry = started;
    let file: SnapshotFile;
    try {
      const temporary = join(host.config.values.dir, `temp-${ownPid}-bg.rdb`);
      file = new SnapshotFile(temporary, host.config.values["rdb-save-incremental-fsync"]);
    } catch (error) {
      host.log("warning", `Failed opening the temp RDB file for saving: ${messageOf(error)}`);
      this.lastSaveOk = false;
      return false;
    }
    const snapshot = walk(host, file, this.#saveOptions());
    host.log("notice", "Background saving started");
    this.begin("rdb", snapshot, async () => {
      try {
        await snapshot.done;
        await file.commit(path, () => snapshot.verify());
        host.log("notice", "DB saved on disk");
        host.log("notice", "Background saving terminated with success");
        this.#saved(dirty);
      } catch (error) {
        file.abandon();
        this.#saveFailed(errorOf(error));
      }
      this.lastSaveSeconds = Math.floor((clock.monotonic() - started) / 1000);
    });
    return true;
  }

  /** A save that was called off on purpose is no failure. */
  #saveFailed(error: Error): void {
    if (error instanceof SnapshotAborted) {
      this.#host.log("warning", `Background saving called off: ${error.message}`);
      return;
    }
    this.#host.log("warning", `Write error saving DB on disk: ${error.message}`);
    this.#host.log("warning", "Background saving error");
    this.lastSaveOk = false;
  }

  /** Runs a background job to its end. `finish` does not throw. */
  begin(kind: Job["kind"], snapshot: Snapshot, finish: () => Promise<void>): void {
    const started = this.#host.clock.monotonic();
    this.jobsBegun++;
    const finished = finish().then(() => {
      this.#job = null;
      if (kind === "aof") this.aof.lastRewriteSeconds = Math.floor((this.#host.clock.monotonic() - started) / 1000);
    });
    this.#job = { kind, snapshot, startedAt: started, finished };
  }

  /** FLUSHALL: a save that is under way is of no use any more; the file becomes empty as well if it is kept. */
  flushedAll(): void {
    if (this.#job?.kind === "rdb") this.#job.snapshot.abort("all data was removed");
    if (this.active && this.#host.config.values.save.length > 0) this.save();
  }

  /** What a snapshot says beside the keys. */
  #saveOptions(): SaveOptions {
    const { functions, replication } = this.#host;
    const position = replication.position();
    return { functions: functions.sources(), ...(position === undefined ? {} : { replication: position }) };
  }

  /** A primary's data is about to take the place of ours: no file that is being written is of use any more. */
  dataReplaced(): void {
    this.#job?.snapshot.abort("the data is replaced by a primary's");
    this.aof.stop();
  }

  /** A primary's data is here: the append-only file begins anew with it. */
  dataLoaded(): void {
    if (!this.#host.config.values.appendonly || !this.active || this.aof.state !== "off") return;
    try {
      this.aof.startAtRunTime();
    } catch (error) {
      this.#host.log("warning", `Cannot go on with the append-only file: ${messageOf(error)}`);
    }
  }

  // ---------------------------------------------------------------------------------------------- running

  /** What replies have to wait for before they leave (Appender.commit). */
  commit(then: (kept: boolean) => void): boolean | undefined {
    return this.aof.state === "off" || this.aof.appender.commit(then);
  }

  /**
   * Writes what the append-only file has to hear before replies leave, with everybody waiting; false if they must not. `force`
   * does not wait for a sync that is under way: its end is not heard of while a script holds the thread.
   */
  flush(force = false): boolean {
    return this.aof.state === "off" || this.aof.appender.flush(force);
  }

  /** Whether the last save or write failed. */
  get troubled(): boolean {
    return !this.lastSaveOk || this.aof.appender.error !== null;
  }

  /** Why a command that writes is refused; null if it is not. */
  refusal(): ReplyError | null {
    const { values } = this.#host.config;
    if (!this.lastSaveOk && values["stop-writes-on-bgsave-error"] && values.save.length > 0) return RDB_MISCONFIGURED;
    const { error } = this.aof.appender;
    return error !== null && this.aof.state !== "off" ? aofMisconfigured(error.message) : null;
  }

  /** Ten times a second. */
  cron(): void {
    if (this.#host.loading) return;
    this.aof.cron(!this.busy);
    if (this.busy) return;
    if (this.saveScheduled) this.saveInBackground();
    else if (this.active) this.#saveIfDue();
  }

  #saveIfDue(): void {
    const { dirty } = this;
    if (dirty === 0) return;
    const { clock, config } = this.#host;
    const waited = (clock.monotonic() - this.#savedAt) / 1000;
    for (const { seconds, changes } of config.values.save) {
      if (dirty < changes || waited <= seconds) continue;
      if (!this.lastSaveOk && clock.monotonic() - this.#lastTry < RETRY_MS) continue;
      this.#host.log("notice", `${changes} changes in ${seconds} seconds. Saving...`);
      this.saveInBackground();
      return;
    }
  }

  #appendOnlyChanged(): void {
    if (!this.#host.config.values.appendonly) {
      if (this.#job?.kind === "aof") {
        // There is no child to kill, but tools wait for these words.
        this.#host.log("notice", "Killing running AOF rewrite child: the rewrite in this process is called off");
        this.#job.snapshot.abort("the append-only file was turned off");
      }
      this.aof.stop();
      return;
    }
    if (this.aof.state !== "off") return;
    try {
      this.#lockFiles();
      this.aof.startAtRunTime();
    } catch (error) {
      this.#host.log("warning", `Cannot turn the append-only file on: ${messageOf(error)}`);
      throw new BadValue("Unable to turn on AOF. Check server logs.");
    }
  }
}

/** Runs a load to its end and lets others have a turn now and then. */
async function inSlices<T>(host: PersistHost, work: Generator<number, T>): Promise<T> {
  let until = host.clock.monotonic() + SLICE_MS;
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
    if (value === 0 && host.clock.monotonic() < until) continue;
    await breath(value);
    until = host.clock.monotonic() + SLICE_MS;
  }
}
