/**
 * The append-only file: a base, which is an RDB, and the commands since, in increments (Redis 7's layout).
 *
 *   <dir>/appendonlydir/appendonly.aof.manifest        which files count
 *   <dir>/appendonlydir/appendonly.aof.3.base.rdb      everything up to a moment
 *   <dir>/appendonlydir/appendonly.aof.3.incr.aof      what came after
 *
 * A rewrite begins a new increment and lets the snapshot walk write a new base as of that very moment; when the base is on
 * disk, one change of the manifest puts the two in the place of everything before. Until then the old files count, and
 * nothing is lost whenever the process ends. A rewrite that fails leaves one more increment, which is loaded like the rest.
 *
 * The base is always an RDB: aof-use-rdb-preamble is accepted, and files without one are loaded, but none is written.
 */

import { messageOf } from "../../lib/caught.ts";
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  unlink,
} from "../../platform/files.ts";
import { dirname, join } from "../../platform/paths.ts";
import { ownPid } from "../../platform/process.ts";
import { atExit, notAtExit } from "../at-exit.ts";
import type { PersistHost } from "../host.ts";
import { saveRdb, syncFolder } from "../rdb/file.ts";
import { type Snapshot, walk } from "../snapshot.ts";
import { SnapshotFile } from "../snapshot-file.ts";
import { Appender } from "./appender.ts";
import { AofError } from "./error.ts";
import { loadPart } from "./load.ts";
import {
  baseName,
  EMPTY_MANIFEST,
  incrementName,
  type Manifest,
  manifestName,
  readManifest,
  writeManifest,
} from "./manifest.ts";

/** `waiting`: turned on at run time, and the first base is not complete yet. */
export type AofState = "off" | "on" | "waiting";

/** How soon a rewrite that writers wait for is tried again. */
const REPAIR_MS = 2000;

export interface AofLoadReport {
  readonly keysLoaded: number;
  readonly keysExpired: number;
}

/** What the files need of the store around them. */
type AofHost = Omit<PersistHost, "replication" | "startedAt" | "loading">;

/** Who runs one job at a time: a save, a rewrite, or a snapshot for replicas. */
interface Jobs {
  readonly busy: boolean;
  begin(kind: "aof", snapshot: Snapshot, finish: () => Promise<void>): void;
  /** Takes over the functions of a file. */
  loadFunctions(source: string): void;
}

export class Aof {
  state: AofState = "off";
  readonly appender: Appender;
  rewriteScheduled = false;
  rewrites = 0;
  consecutiveFailures = 0;
  lastRewriteOk = true;
  lastRewriteSeconds = -1;
  /** What files had when the last rewrite, or the start, was over: growth is measured against it. */
  baseSize = 0;

  readonly #host: AofHost;
  readonly #jobs: Jobs;
  #manifest: Manifest = EMPTY_MANIFEST;
  /** All files but the one that is being written. */
  #finishedBytes = 0;
  #retryAt = 0;
  #openFolder: string | null = null;
  readonly #onExit = () => this.appender.close();

  constructor(host: AofHost, jobs: Jobs) {
    this.#host = host;
    this.#jobs = jobs;
    this.appender = new Appender(host);
    this.appender.onSyncFailed = () => {
      this.rewriteScheduled = true;
      this.#retryAt = Math.min(this.#retryAt, host.clock.monotonic() + REPAIR_MS);
    };
  }

  /** Where the files are; while they are open, CONFIG SET dir does not move them. */
  get folder(): string {
    if (this.#openFolder !== null) return this.#openFolder;
    const { dir, appenddirname } = this.#host.config.values;
    return join(dir, appenddirname);
  }

  get #filename(): string {
    return this.#host.config.values.appendfilename;
  }

  get currentSize(): number {
    return this.#finishedBytes + this.appender.size;
  }

  // ---------------------------------------------------------------------------------------------- loading

  /** Whether there is something to load. */
  exists(): boolean {
    const { dir } = this.#host.config.values;
    return this.hasManifest() || this.#isOldFile(join(dir, this.#filename));
  }

  hasManifest(): boolean {
    return existsSync(join(this.folder, manifestName(this.#filename)));
  }

  #isOldFile(path: string): boolean {
    return existsSync(path) && statSync(path).isFile() && statSync(path).size > 0;
  }

  /** Takes the single file of Redis 6 and older over as a base. */
  #adopt(): void {
    const { dir } = this.#host.config.values;
    const name = this.#filename;
    mkdirSync(this.folder, { recursive: true });
    this.#manifest = { ...EMPTY_MANIFEST, base: { name, seq: 1, type: "b" }, baseSeq: 1 };
    // First named, then moved: a crash in between finds the manifest, and moves it then.
    writeManifest(this.folder, name, this.#manifest);
    renameSync(join(dir, name), join(this.folder, name));
    syncFolder(this.folder);
    this.#host.log("notice", `Successfully migrated an old-style AOF into ${this.folder}`);
  }

  /** Loads base and increments; pauses at every `yield`, for so many milliseconds. Throws AofError. */
  *load(onProgress: (loaded: number, total: number) => void): Generator<number, AofLoadReport> {
    const host = this.#host;
    const { dir } = host.config.values;
    const manifest = readManifest(this.folder, this.#filename);
    if (manifest === undefined) this.#adopt();
    else this.#manifest = manifest;
    const { base, increments } = this.#manifest;
    const parts = [...(base === null ? [] : [base]), ...increments];
    if (base !== null && !existsSync(join(this.folder, base.name)) && base.name === this.#filename) {
      if (this.#isOldFile(join(dir, base.name))) renameSync(join(dir, base.name), join(this.folder, base.name));
    }
    for (const { name } of parts) {
      if (!existsSync(join(this.folder, name))) {
        throw new AofError("missing", join(this.folder, name), 0, "doesn't exist: No such file or directory");
      }
    }
    const total = parts.reduce((bytes, { name }) => bytes + statSync(join(this.folder, name)).size, 0);
    let before = 0;
    let keysLoaded = 0;
    let keysExpired = 0;
    for (const [i, { name, type }] of parts.entries()) {
      const path = join(this.folder, name);
      const started = host.clock.monotonic();
      const { rdb } = yield* loadPart(host, path, {
        last: i === parts.length - 1,
        onFunction: (source) => this.#jobs.loadFunctions(source),
        onBytes: (bytes) => onProgress(before + bytes, total),
      });
      keysLoaded += rdb?.keys ?? 0;
      keysExpired += rdb?.expired ?? 0;
      before += statSync(path).size;
      const seconds = ((host.clock.monotonic() - started) / 1000).toFixed(3);
      host.log("notice", `DB loaded from ${type === "b" ? "base" : "incr"} file ${name}: ${seconds} seconds`);
    }
    return { keysLoaded, keysExpired };
  }

  // ---------------------------------------------------------------------------------------------- on and off

  /** Goes on where the files end, after they were loaded or if there are none. */
  openAtStart(): void {
    const host = this.#host;
    mkdirSync(this.folder, { recursive: true });
    let manifest = this.#manifest;
    if (manifest.base === null && manifest.increments.length === 0) {
      const seq = manifest.baseSeq + 1;
      const name = baseName(this.#filename, seq);
      host.log("notice", `Creating AOF base file ${name} on server start`);
      saveRdb(host, join(this.folder, name), {
        aofBase: true,
        functions: host.functions.sources(),
      });
      manifest = { ...manifest, base: { name, seq, type: "b" }, baseSeq: seq };
    }
    let last = manifest.increments.at(-1);
    if (last === undefined) {
      const seq = manifest.incrementSeq + 1;
      last = { name: incrementName(this.#filename, seq), seq, type: "i" };
      host.log("notice", `Creating AOF incr file ${last.name} on server start`);
      rmSync(join(this.folder, last.name), { force: true });
      manifest = { ...manifest, increments: [last], incrementSeq: seq };
    } else host.log("notice", `Opening AOF incr file ${last.name} on server start`);
    this.appender.open(join(this.folder, last.name));
    if (manifest !== this.#manifest) writeManifest(this.folder, this.#filename, manifest);
    this.#manifest = manifest;
    this.#finishedBytes = this.#sizeOf(manifest) - this.appender.size;
    this.baseSize = this.currentSize;
    this.#begin("on");
    this.#removeHistory();
  }

  #begin(state: "on" | "waiting"): void {
    this.state = state;
    this.#openFolder = this.folder;
    this.#host.effects.listen(this.appender.append);
    atExit(this.#onExit);
  }

  #sizeOf({ base, increments }: Manifest): number {
    let bytes = 0;
    for (const part of [base, ...increments]) {
      const stats = part === null ? undefined : statSync(join(this.folder, part.name), { throwIfNoEntry: false });
      bytes += stats?.size ?? 0;
    }
    return bytes;
  }

  /** CONFIG SET appendonly yes: effects are kept from now on; they count when the first base is complete. */
  startAtRunTime(): void {
    mkdirSync(this.folder, { recursive: true });
    this.#manifest = readManifest(this.folder, this.#filename) ?? EMPTY_MANIFEST;
    // Whatever an earlier attempt has left under this name belongs to no manifest.
    const name = incrementName(this.#filename, this.#manifest.incrementSeq + 1);
    rmSync(join(this.folder, name), { force: true });
    this.appender.open(join(this.folder, name));
    this.#finishedBytes = 0;
    this.#begin("waiting");
    this.#retryAt = 0;
    const { current, log } = this.#host;
    // A base that is begun inside a transaction would hold half of it.
    if (this.#jobs.busy || current?.inTransaction) {
      this.rewriteScheduled = true;
      const why = this.#jobs.busy ? "but there is already another background operation" : "during a transaction";
      log("warning", `AOF was enabled ${why}. An AOF background was scheduled to start when possible.`);
    } else this.rewrite();
  }

  /** Writes everything, and stops listening. Returns why something could not be written, or null. */
  stop(): Error | null {
    if (this.state === "off") return null;
    this.#host.effects.unlisten(this.appender.append);
    notAtExit(this.#onExit);
    this.state = "off";
    this.#openFolder = null;
    this.rewriteScheduled = false;
    return this.appender.close();
  }

  // ---------------------------------------------------------------------------------------------- rewriting

  /** Begins a rewrite; false if it cannot. The caller has seen that no other snapshot is being taken. */
  rewrite(): boolean {
    const host = this.#host;
    this.rewriteScheduled = false;
    let file: SnapshotFile;
    try {
      mkdirSync(this.folder, { recursive: true });
      if (this.state === "off") this.#manifest = readManifest(this.folder, this.#filename) ?? EMPTY_MANIFEST;
      const temporary = join(dirname(this.folder), `temp-rewriteaof-bg-${ownPid}.aof`);
      file = new SnapshotFile(temporary, host.config.values["aof-rewrite-incremental-fsync"]);
      if (this.state === "on") this.#nextIncrement();
      else if (this.state === "waiting") this.#emptyIncrement();
    } catch (error) {
      host.log("warning", `Can't rewrite the append only file: ${messageOf(error)}`);
      this.#failed();
      return false;
    }
    const snapshot = walk(host, file, { aofBase: true, functions: host.functions.sources() });
    host.log("notice", "Background append only file rewriting started");
    // What a rewrite replaces: everything that was there when it began.
    const replaced = this.#manifest;
    const increments = this.state === "off" ? [] : [this.#currentIncrement()];
    this.#jobs.begin("aof", snapshot, async () => {
      try {
        await snapshot.done;
        await this.#complete(file, replaced, increments);
        this.rewrites++;
        this.lastRewriteOk = true;
        this.consecutiveFailures = 0;
        host.log("notice", "Background AOF rewrite finished successfully");
      } catch (error) {
        file.abandon();
        host.log("warning", `Background AOF rewrite failed: ${messageOf(error)}`);
        this.#failed();
      }
    });
    return true;
  }

  #failed(): void {
    this.lastRewriteOk = false;
    this.consecutiveFailures++;
    // A minute after the third failure, then twice as long each time, an hour at most.
    const minutes = this.consecutiveFailures < 3 ? 0 : Math.min(60, 2 ** (this.consecutiveFailures - 3));
    // Writers wait for it where the files are not trusted.
    const { isTrusted } = this.appender;
    this.rewriteScheduled ||= !isTrusted;
    const wait = isTrusted ? Math.max(1000, minutes * 60_000) : REPAIR_MS;
    this.#retryAt = this.#host.clock.monotonic() + wait;
  }

  /** The increment that is being written. */
  #currentIncrement() {
    const { increments, incrementSeq } = this.#manifest;
    if (this.state === "on") return increments.at(-1)!;
    const seq = incrementSeq + 1;
    return { name: incrementName(this.#filename, seq), seq, type: "i" as const };
  }

  /** What was written while the first base had to wait is in that base: kept, it would count twice. */
  #emptyIncrement(): void {
    const path = join(this.folder, this.#currentIncrement().name);
    this.appender.flush(true);
    rmSync(path, { force: true });
    this.appender.open(path);
  }

  /** From here on effects go into a new increment. */
  #nextIncrement(): void {
    this.appender.flush(true);
    if (this.appender.bufferedBytes > 0) throw new Error("the append-only file cannot be written");
    const seq = this.#manifest.incrementSeq + 1;
    const name = incrementName(this.#filename, seq);
    const path = join(this.folder, name);
    this.#host.log("notice", `Creating AOF incr file ${name} on background rewrite`);
    const increments = [...this.#manifest.increments, { name, seq, type: "i" as const }];
    const manifest = { ...this.#manifest, increments, incrementSeq: seq };
    // It is there before the manifest names it, and is named before anything goes into it.
    const { O_WRONLY, O_CREAT, O_TRUNC, O_APPEND } = constants;
    const descriptor = openSync(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0o644);
    try {
      writeManifest(this.folder, this.#filename, manifest);
    } catch (error) {
      closeSync(descriptor);
      this.#takeBackManifest();
      throw error;
    }
    this.#finishedBytes += this.appender.size;
    this.appender.use(descriptor);
    this.#manifest = manifest;
  }

  /** After a manifest that may have been put in its place and may not last: what counts is the one before. */
  #takeBackManifest(): void {
    try {
      writeManifest(this.folder, this.#filename, this.#manifest);
    } catch {
      // Whichever of the two is there names files that exist, and together they hold everything.
    }
  }

  /** The new base is written: puts it, and the increments since, in the place of all that was there. */
  async #complete(file: SnapshotFile, replaced: Manifest, kept: Manifest["increments"]): Promise<void> {
    const seq = replaced.baseSeq + 1;
    const name = baseName(this.#filename, seq);
    const path = join(this.folder, name);
    await file.commit(path);
    this.#host.log("notice", `Successfully renamed the temporary AOF base file into ${name}`);
    const old = [...(replaced.base === null ? [] : [replaced.base]), ...replaced.increments];
    const gone = old.filter((part) => !kept.some((other) => other.name === part.name));
    const manifest: Manifest = {
      base: { name, seq, type: "b" },
      history: [...replaced.history, ...gone.map((part) => ({ ...part, type: "h" as const }))],
      increments: kept,
      baseSeq: seq,
      incrementSeq: kept.at(-1)?.seq ?? replaced.incrementSeq,
    };
    writeManifest(this.folder, this.#filename, manifest);
    this.#manifest = manifest;
    if (this.state === "waiting") this.state = "on";
    this.#finishedBytes = statSync(path).size;
    this.baseSize = this.currentSize;
    this.appender.rewritten();
    this.#removeHistory();
  }

  #removeHistory(): void {
    const { history } = this.#manifest;
    if (history.length === 0 || this.#host.config.values["aof-disable-auto-gc"]) return;
    this.#manifest = { ...this.#manifest, history: [] };
    writeManifest(this.folder, this.#filename, this.#manifest);
    for (const { name } of history) {
      this.#host.log("notice", `Removing the history file ${name} in the background`);
      unlink(join(this.folder, name), () => {});
    }
  }

  /** Ten times a second: what is put off, and rewrites that are due. `idle`: no snapshot is being taken. */
  cron(idle: boolean): void {
    if (this.state !== "off") this.appender.poke();
    if (!idle || this.#host.clock.monotonic() < this.#retryAt) return;
    if (this.rewriteScheduled || this.state === "waiting") this.rewrite();
    else if (this.state === "on") this.#rewriteIfGrown();
  }

  #rewriteIfGrown(): void {
    const { values } = this.#host.config;
    const percentage = values["auto-aof-rewrite-percentage"];
    if (percentage === 0 || this.currentSize <= values["auto-aof-rewrite-min-size"]) return;
    const base = this.baseSize === 0 ? 1 : this.baseSize;
    const growth = Math.floor((this.currentSize * 100) / base) - 100;
    if (growth < percentage) return;
    this.#host.log("notice", `Starting automatic rewriting of AOF on ${growth}% growth`);
    this.rewrite();
  }
}
