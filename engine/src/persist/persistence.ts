/**
 * An engine's files: what is loaded at the start, when snapshots are taken, the append-only file, and what happens at the
 * end. One background job at a time, as in Redis, where it is one child process: a save or a rewrite.
 *
 * `active` says that the files are this engine's to keep: an engine in memory neither loads nor saves by itself, though SAVE
 * and BGSAVE write a file when somebody calls them.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { BadValue } from "../config/kinds.ts";
import type { Effect } from "../core/effects.ts";
import type { Engine } from "../core/engine.ts";
import { aofMisconfigured, RDB_MISCONFIGURED, ReplyError } from "../core/errors.ts";
import { FOR_REPLICAS } from "../core/propagation.ts";
import { Aof } from "./aof/index.ts";
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

  readonly #engine: Engine;
  #job: Job | null = null;
  #lastTry = Number.NEGATIVE_INFINITY;
  #dirtyAtSave = 0;
  #unlock: (() => void) | null = null;

  constructor(engine: Engine) {
    this.#engine = engine;
    this.aof = new Aof(engine);
    this.lastSaveAt = Math.floor(engine.startedAt / 1000);
    this.#savedAt = engine.clock.monotonic();
    engine.config.onChange(["appendonly"], () => this.#appendOnlyChanged());
  }

  get path(): string {
    const { dir, dbfilename } = this.#engine.config.values;
    return join(dir, dbfilename);
  }

  /** Changes since the last save. */
  get dirty(): number {
    return this.#engine.effects.dirty - this.#dirtyAtSave;
  }

  /** What changed in memory was no change of the data: it was read from files. */
  nothingChanged(): void {
    this.#dirtyAtSave = this.#engine.effects.dirty;
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
    return job?.kind === kind ? Math.floor((this.#engine.clock.monotonic() - job.startedAt) / 1000) : -1;
  }

  // ---------------------------------------------------------------------------------------------- opening

  /** Locks the folder, loads what is there, and goes on from it. Throws with a text for people. */
  async open(options: OpenFilesOptions): Promise<void> {
    const { values } = this.#engine.config;
    if (options.lock) this.#unlock = lockDirectory(values.dir);
    else if (values.appendonly) this.#lockFiles();
    try {
      if (this.#unlock !== null) {
        for (const folder of [values.dir, this.aof.folder]) {
          for (const name of removeLeftovers(folder)) this.#engine.log("notice", `Removed ${name}, left by a crash`);
        }
      }
      this.#engine.loading = true;
      await this.#load(options);
      this.#engine.loading = false;
      this.active = true;
      this.#dirtyAtSave = this.#engine.effects.dirty;
      if (values.appendonly) this.aof.openAtStart();
    } catch (error) {
      this.#unlock?.();
      this.#unlock = null;
      throw error;
    } finally {
      this.#engine.loading = false;
      this.progress = null;
    }
  }

  /** Keeps other servers away from the append-only file. */
  #lockFiles(): void {
    const { dir, appenddirname, appendfilename } = this.#engine.config.values;
    this.#unlock ??= lockDirectory(dir, lockNameOf(appenddirname, appendfilename));
  }

  async #load(options: OpenFilesOptions): Promise<void> {
    const engine = this.#engine;
    const { clock } = engine;
    const started = clock.monotonic();
    const progress: Progress = { startedAt: clock.now(), loadedBytes: 0, totalBytes: 0 };
    this.progress = progress;
    const onProgress = (loaded: number, total: number) => {
      progress.loadedBytes = loaded;
      progress.totalBytes = total;
      options.onProgress?.(loaded, total);
    };
    if (engine.config.values.appendonly && this.aof.exists()) {
      const report = await inSlices(engine, this.aof.load(onProgress));
      this.keysLoaded = report.keysLoaded;
      this.keysExpired = report.keysExpired;
      const seconds = ((clock.monotonic() - started) / 1000).toFixed(3);
      engine.log("notice", `DB loaded from append only file: ${seconds} seconds`);
    } else if (existsSync(this.path)) {
      // Also with an append-only file that is yet to be made: what is here becomes its base.
      const expired: Effect[] = [];
      const report = await this.#loadRdb(onProgress, expired);
      engine.replication.restore(report, expired);
      this.keysLoaded = report.keys;
      this.keysExpired = report.expired;
      const empty = report.empty === 0 ? "" : `, empty keys skipped: ${report.empty}`;
      engine.log(
        report.empty === 0 ? "notice" : "warning",
        `Done loading RDB, keys loaded: ${report.keys}, keys expired: ${report.expired}${empty}.`,
      );
      engine.log("notice", `DB loaded from disk: ${((clock.monotonic() - started) / 1000).toFixed(3)} seconds`);
    }
  }

  /** Loads the snapshot. Keys that expired since it was made are dropped, and added to `expired`. */
  async #loadRdb(onProgress: (loaded: number, total: number) => void, expired: Effect[]): Promise<LoadReport> {
    try {
      return await loadRdb(this.#engine, this.path, {
        onProgress,
        keepExpired: this.#engine.replication.isReplica,
        onExpired: (db, key) => void expired.push({ db, argv: ["DEL", key], audience: FOR_REPLICAS }),
        onFunction: (source) => this.loadFunctions(source),
      });
    } catch (error) {
      if (!(error instanceof RdbError)) throw error;
      const what = error.kind === "checksum" ? "RDB CRC error" : "integrity check failed";
      const { log } = this.#engine;
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
      this.#engine.functions.loadSource(source);
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
      this.#engine.log("notice", FINAL_SAVE);
      if (!this.#endsWith(this.save(), force)) return false;
    }
    this.#engine.replication.rest();
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
      this.#engine.log("notice", FINAL_SAVE);
      // A ping after the snapshot's moment would put replicas ahead of what the next start finds.
      this.savesLast = true;
      const saved = await this.#saveAside();
      this.savesLast = false;
      if (!this.#endsWith(saved, force)) return false;
    }
    this.#engine.replication.rest();
    this.close();
    return true;
  }

  /** Whether an end that was asked for in this way saves a snapshot. */
  savesAtEnd(save: boolean | undefined): boolean {
    return save ?? (this.active && this.#engine.config.values.save.length > 0);
  }

  /** Calls off what is under way and syncs the append-only file; false if something stands in the way of an end. */
  #mayEnd(force: boolean): boolean {
    const engine = this.#engine;
    if (this.#job?.kind === "aof" && this.aof.state === "waiting") {
      // Nothing of what the file is to hold is in it yet.
      engine.log("warning", `Writing initial AOF${force ? ". Exit anyway." : ", can't exit."}`);
      if (!force) return false;
    }
    this.#job?.snapshot.abort("the store is shutting down");
    if (this.aof.state !== "off") {
      engine.log("notice", "Calling fsync() on the AOF file.");
      this.aof.appender.flush(true);
    }
    return true;
  }

  #endsWith(saved: boolean, force: boolean): boolean {
    if (!saved) {
      this.#engine.log("warning", `Error trying to save the DB${force ? ". Exit anyway." : ", can't exit."}`);
    }
    return saved || force;
  }

  /** SAVE by the walk, in long slices. */
  async #saveAside(): Promise<boolean> {
    const engine = this.#engine;
    const { dirty } = engine.effects;
    let saved = false;
    try {
      const file = new SnapshotFile(join(engine.config.values.dir, `temp-${process.pid}.rdb`), false);
      const snapshot = walk(engine, file, { ...this.#saveOptions(), sliceMs: END_SLICE_MS });
      this.begin("rdb", snapshot, async () => {
        try {
          await snapshot.done;
          await file.commit(this.path, () => snapshot.verify());
          saved = true;
        } catch (error) {
          file.abandon();
          engine.log("warning", `Error saving DB on disk: ${(error as Error).message}`);
        }
      });
    } catch (error) {
      engine.log("warning", `Failed opening the temp RDB file for saving: ${(error as Error).message}`);
    }
    await this.idle();
    if (saved) {
      engine.log("notice", "DB saved on disk");
      this.#saved(dirty);
    }
    return saved;
  }

  /** Removes what is being written, before the process ends at once. */
  removeTemporaryFiles(): void {
    for (const folder of [this.#engine.config.values.dir, this.aof.folder]) removeUnfinished(folder);
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
    const engine = this.#engine;
    try {
      saveRdb(engine, this.path, this.#saveOptions());
    } catch (error) {
      engine.log("warning", `Error saving DB on disk: ${(error as Error).message}`);
      return false;
    }
    engine.log("notice", "DB saved on disk");
    this.#saved(engine.effects.dirty);
    return true;
  }

  #saved(dirty: number): void {
    this.#dirtyAtSave = dirty;
    this.lastSaveAt = Math.floor(this.#engine.clock.now() / 1000);
    this.#savedAt = this.#engine.clock.monotonic();
    this.lastSaveOk = true;
    this.saves++;
  }

  /** BGSAVE: begins a snapshot; false if it cannot. The caller has seen that no job is running. */
  saveInBackground(): boolean {
    const engine = this.#engine;
    const { clock } = engine;
    const { dirty } = engine.effects;
    const { path } = this;
    const started = clock.monotonic();
    this.saveScheduled = false;
    this.#lastTry = started;
    let file: SnapshotFile;
    try {
      const temporary = join(engine.config.values.dir, `temp-${process.pid}-bg.rdb`);
      file = new SnapshotFile(temporary, engine.config.values["rdb-save-incremental-fsync"]);
    } catch (error) {
      engine.log("warning", `Failed opening the temp RDB file for saving: ${(error as Error).message}`);
      this.lastSaveOk = false;
      return false;
    }
    const snapshot = walk(engine, file, this.#saveOptions());
    engine.log("notice", "Background saving started");
    this.begin("rdb", snapshot, async () => {
      try {
        await snapshot.done;
        await file.commit(path, () => snapshot.verify());
        engine.log("notice", "DB saved on disk");
        engine.log("notice", "Background saving terminated with success");
        this.#saved(dirty);
      } catch (error) {
        file.abandon();
        this.#saveFailed(error as Error);
      }
      this.lastSaveSeconds = Math.floor((clock.monotonic() - started) / 1000);
    });
    return true;
  }

  /** A save that was called off on purpose is no failure. */
  #saveFailed(error: Error): void {
    if (error instanceof SnapshotAborted) {
      this.#engine.log("warning", `Background saving called off: ${error.message}`);
      return;
    }
    this.#engine.log("warning", `Write error saving DB on disk: ${error.message}`);
    this.#engine.log("warning", "Background saving error");
    this.lastSaveOk = false;
  }

  /** Runs a background job to its end. `finish` does not throw. */
  begin(kind: Job["kind"], snapshot: Snapshot, finish: () => Promise<void>): void {
    const started = this.#engine.clock.monotonic();
    this.jobsBegun++;
    const finished = finish().then(() => {
      this.#job = null;
      if (kind === "aof") this.aof.lastRewriteSeconds = Math.floor((this.#engine.clock.monotonic() - started) / 1000);
    });
    this.#job = { kind, snapshot, startedAt: started, finished };
  }

  /** FLUSHALL: a save that is under way is of no use any more; the file becomes empty as well if it is kept. */
  flushedAll(): void {
    if (this.#job?.kind === "rdb") this.#job.snapshot.abort("all data was removed");
    if (this.active && this.#engine.config.values.save.length > 0) this.save();
  }

  /** What a snapshot says beside the keys. */
  #saveOptions(): SaveOptions {
    const { functions, replication } = this.#engine;
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
    if (!this.#engine.config.values.appendonly || !this.active || this.aof.state !== "off") return;
    try {
      this.aof.startAtRunTime();
    } catch (error) {
      this.#engine.log("warning", `Cannot go on with the append-only file: ${(error as Error).message}`);
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
    const { values } = this.#engine.config;
    if (!this.lastSaveOk && values["stop-writes-on-bgsave-error"] && values.save.length > 0) return RDB_MISCONFIGURED;
    const { error } = this.aof.appender;
    return error !== null && this.aof.state !== "off" ? aofMisconfigured(error.message) : null;
  }

  /** Ten times a second. */
  cron(): void {
    if (this.#engine.loading) return;
    this.aof.cron(!this.busy);
    if (this.busy) return;
    if (this.saveScheduled) this.saveInBackground();
    else if (this.active) this.#saveIfDue();
  }

  #saveIfDue(): void {
    const { dirty } = this;
    if (dirty === 0) return;
    const { clock, config } = this.#engine;
    const waited = (clock.monotonic() - this.#savedAt) / 1000;
    for (const { seconds, changes } of config.values.save) {
      if (dirty < changes || waited <= seconds) continue;
      if (!this.lastSaveOk && clock.monotonic() - this.#lastTry < RETRY_MS) continue;
      this.#engine.log("notice", `${changes} changes in ${seconds} seconds. Saving...`);
      this.saveInBackground();
      return;
    }
  }

  #appendOnlyChanged(): void {
    if (!this.#engine.config.values.appendonly) {
      if (this.#job?.kind === "aof") {
        // There is no child to kill, but tools wait for these words.
        this.#engine.log("notice", "Killing running AOF rewrite child: the rewrite in this process is called off");
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
      this.#engine.log("warning", `Cannot turn the append-only file on: ${(error as Error).message}`);
      throw new BadValue("Unable to turn on AOF. Check server logs.");
    }
  }
}

/** Runs a load to its end and lets others have a turn now and then. */
async function inSlices<T>(engine: Engine, work: Generator<number, T>): Promise<T> {
  let until = engine.clock.monotonic() + SLICE_MS;
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
    if (value === 0 && engine.clock.monotonic() < until) continue;
    await breath(value);
    until = engine.clock.monotonic() + SLICE_MS;
  }
}
