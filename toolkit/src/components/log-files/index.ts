/**
 * Log files, line by line, each line exactly once.
 *
 *   const logs = new LogFiles(store, "access");
 *   await logs.process("/var/log/nginx", {
 *     effects: (line, batch) => void batch.count(logs.key("by status"), line.text.split(" ")[8] ?? "?"),
 *   });
 *
 * How far a file is read and what its lines do are committed together, so a crash at any moment neither skips nor repeats a
 * line, and any number of processes may work on one folder.
 *
 * What a file *is* decides whether that holds when files are renamed, compressed and replaced, so the caller may choose:
 * by the first line ("content"), which survives renaming, copying, compressing and another machine, and needs first lines that
 * differ, as those with a time in them do; by "name", for files that are never renamed; by "inode", for files of one machine
 * that are renamed and never copied. In addition the bytes before the place that was reached are remembered, and compared
 * before anything is read from there: a file that only looks like another is found out.
 */

import { createHash } from "node:crypto";
import { readdir, stat } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { BackgroundLoop } from "../../base/background-loop.ts";
import { aStore, word } from "../../base/checks.ts";
import { randomToken } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import { zipped } from "../../base/lists.ts";
import { NameIndex } from "../../base/names.ts";
import { callback, choice, defineOptions, flag, prefix, required, signal, text, whole } from "../../base/options.ts";
import { type Page, type PageOptions, pageByScore, pageChecks } from "../../base/page.ts";
import { asTextOrNull, asTuple } from "../../base/replies.ts";
import type { Store } from "../../connection/store.ts";
import type { Batch } from "./batch.ts";
import { fileKey, type LogFilesKeys, logFilesKeys, ownKey } from "./keys.ts";
import { encodingName } from "./lines.ts";
import { LogSource } from "./source.ts";
import { type Effects, type FileOutcome, FileWork, type Line, LogFileError } from "./work.ts";

export type { Batch, Effects, FileOutcome, Line };
export { LogFileError };

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const MOST_SETTLED = 100_000;

/** What `LogFiles` may be given. */
export interface LogFilesOptions {
  /** How all keys begin (default "log-files"). */
  readonly prefix?: string;
  /** What makes two files the same one: their first line ("content", the default), their name, or their inode. */
  readonly identify?: "content" | "name" | "inode";
  /** How long a file that nobody looks at is remembered. 90 days by default. */
  readonly keepMs?: number;
  /** How long a process that has died keeps a file from the others. 30 s by default. */
  readonly leaseMs?: number;
  /** A batch is committed after so many lines (default 1 000) … */
  readonly batchLines?: number;
  /** … or so many bytes of them (default 4 MiB). */
  readonly batchBytes?: number;
  /** Lines longer than that are cut (default 1 MiB). */
  readonly maxLineBytes?: number;
  /** Any that TextDecoder knows: "utf-8" (the default), "latin1", "utf-16le", "shift_jis" … */
  readonly encoding?: string;
  /**
   * A last line without a line feed: "wait" until that comes, which is the default, or "take" it as it is. In a gzip file, to which
   * nothing is added, it is always taken.
   */
  readonly lastLine?: "wait" | "take";
}

/** What is done with which files. */
export interface ProcessOptions {
  /** What a line does: everything through `batch`, since it may be called again for a line whose batch was not committed. */
  readonly effects: Effects;
  /** Which files of a folder; by default all whose name does not begin with a dot. */
  readonly match?: (name: string) => boolean;
  /** Folders in folders too (default false). */
  readonly recursive?: boolean;
  /** Files that are read at the same time (default 1). */
  readonly concurrency?: number;
  /** Ends the reading after the batch in hand; the call rejects with its reason. None by default. */
  readonly signal?: AbortSignal;
}

/** What is done with which files, again and again. */
export interface FollowOptions extends Omit<ProcessOptions, "signal"> {
  /** How often it is looked for more when there was nothing (default 1 000). */
  readonly everyMs?: number;
  /** Called with the error of a round that failed; it is tried again after a pause. None by default. */
  readonly onError?: (error: unknown) => void;
}

/** What one call has read. */
export interface Report {
  /** Lines that this call has committed. */
  readonly lines: number;
  /** What became of each file. */
  readonly files: readonly FileOutcome[];
}

/** How far a file is read. */
export interface Progress {
  /** What its progress is kept under, for `delete`. */
  readonly id: string;
  /** Under which name it was last read. */
  readonly path: string;
  /** How far it is read, in bytes. */
  readonly offset: number;
  /** How many lines that is. */
  readonly lines: number;
  /** When the last batch was committed; null if none has been. */
  readonly at: Date | null;
}

interface Found {
  readonly path: string;
  /** By which it is known with "name". */
  readonly name: string;
  readonly mtimeMs: number;
  /** Changes when the file does. */
  readonly look: string;
}

const OPTIONS = defineOptions<LogFilesOptions>("LogFiles", {
  prefix,
  identify: choice("content", "name", "inode"),
  keepMs: whole(1_000),
  leaseMs: whole(10),
  batchLines: whole(1, 100_000),
  batchBytes: whole(1),
  maxLineBytes: whole(2),
  encoding: text,
  lastLine: choice("wait", "take"),
});

const PROCESS_OPTIONS = defineOptions<ProcessOptions>("LogFiles.process", {
  effects: required(callback),
  match: callback,
  recursive: flag,
  concurrency: whole(1, 100),
  signal,
});

const FOLLOW_OPTIONS = defineOptions<FollowOptions>("LogFiles.follow", {
  effects: required(callback),
  match: callback,
  recursive: flag,
  concurrency: whole(1, 100),
  everyMs: whole(1),
  onError: callback,
});

const LIST_OPTIONS = defineOptions<PageOptions>("LogFiles.list", pageChecks(10_000));

/** Path, offset, lines and time of a file; all null for one that is not known. */
const asProgress = asTuple(asTextOrNull, asTextOrNull, asTextOrNull, asTextOrNull);

/**
 * Reads log files line by line, each line exactly once, in any number of processes: how far a file is read is saved in one step with what
 * its lines do.
 *
 * @example
 * import { writeFileSync } from "node:fs";
 * writeFileSync("access.log", "GET / 200\nGET /no 404\n");
 * const logs = new LogFiles(db, "access");
 * const effects: Effects = ({ text }, batch) => void batch.count(logs.key("by status"), text.split(" ")[2]!);
 * (await logs.process("access.log", { effects })).lines; // → 2
 * await db.hgetall(logs.key("by status")); // → { 200: "1", 404: "1" }
 * @example
 * import { mkdirSync, writeFileSync } from "node:fs";
 * mkdirSync("nginx");
 * writeFileSync("nginx/access.log", "GET / 200\n");
 * const logs = new LogFiles(db, "nginx");
 * await using loop = logs.follow("nginx", { effects: (_line, batch) => void batch.count(logs.key("all"), "lines") }).start();
 * for (const { id } of (await logs.list()).items) await logs.delete(id);
 */
export class LogFiles {
  /** The name under which progress is kept, as it was given. */
  readonly name: string;
  readonly #store: Store;
  readonly #keys: LogFilesKeys;
  readonly #identify: "content" | "name" | "inode";
  readonly #limits: {
    readonly keepMs: number;
    readonly leaseMs: number;
    readonly batchLines: number;
    readonly batchBytes: number;
    readonly maxLineBytes: number;
  };
  readonly #encoding: string;
  readonly #takeLastLine: boolean;
  readonly #known = new Set<string>();
  /** Files that were read to their end, and how they looked then: nothing to ask the store about. */
  readonly #settled = new Map<
    string,
    { readonly look: string; readonly untilMs: number; readonly outcome: FileOutcome }
  >();
  readonly #names: NameIndex;

  constructor(store: Store, name: string, options: LogFilesOptions = {}) {
    aStore("LogFiles", store);
    OPTIONS.check(options);
    this.name = name;
    this.#store = store;
    this.#keys = logFilesKeys(options.prefix ?? "log-files", name);
    this.#names = new NameIndex(store, { kind: "log-files", prefix: options.prefix ?? "log-files" });
    this.#identify = options.identify ?? "content";
    this.#limits = {
      keepMs: options.keepMs ?? 90 * DAY_MS,
      leaseMs: options.leaseMs ?? 30_000,
      batchLines: options.batchLines ?? 1_000,
      batchBytes: options.batchBytes ?? 4 * 1_024 * 1_024,
      maxLineBytes: options.maxLineBytes ?? 1_024 * 1_024,
    };
    this.#encoding = encodingName(options.encoding ?? "utf-8");
    this.#takeLastLine = (options.lastLine ?? "wait") === "take";
  }

  /** A key for what the lines do: in the slot that it has to be in. */
  key(name: string): string {
    return ownKey(this.#keys.base, word("the name of a key", name));
  }

  /**
   * Reads what is new in a file, in files, or in the files of a folder, oldest first. When a file fails, the others are still
   * read; then the first failure is thrown.
   */
  async process(source: string | readonly string[], options: ProcessOptions): Promise<Report> {
    PROCESS_OPTIONS.check(options);
    this.#names.announce(this.name);
    const concurrency = options.concurrency ?? 1;
    const waiting = (await this.#find(source, options)).reverse();
    const files: FileOutcome[] = [];
    const failures: unknown[] = [];
    const work = async (): Promise<void> => {
      for (let found = waiting.pop(); found !== undefined; found = waiting.pop()) {
        if (options.signal?.aborted === true) return;
        try {
          files.push(await this.#processOne(found, options));
        } catch (error) {
          if (!(error instanceof LogFileError)) waiting.length = 0;
          failures.push(error);
        }
      }
    };
    await Promise.all(Array.from({ length: concurrency }, work));
    options.signal?.throwIfAborted();
    if (failures.length > 0) throw failures.find((error) => !(error instanceof LogFileError)) ?? failures[0];
    return { lines: files.reduce((sum, { lines }) => sum + lines, 0), files };
  }

  /** Reads what is there and what comes. In as many processes as one likes. */
  follow(source: string | readonly string[], options: FollowOptions): BackgroundLoop {
    FOLLOW_OPTIONS.check(options);
    const { everyMs = 1_000, onError, ...rest } = options;
    return new BackgroundLoop(this.#store, {
      everyMs,
      round: async (signal) => (await this.process(source, { ...rest, signal })).lines,
      ...(onError === undefined ? {} : { onError }),
    });
  }

  /** How far files are read, those looked at last first. */
  async list(options: PageOptions = {}): Promise<Page<Progress>> {
    LIST_OPTIONS.check(options);
    const { limit = 100, cursor } = options;
    const { items: ids, cursor: next } = await pageByScore(this.#store, this.#keys.index, { limit, cursor });
    const records = await this.#store.pipeline(
      ids.map((id) => ["HMGET", fileKey(this.#keys.base, id), "path", "offset", "lines", "at"]),
    );
    const items = zipped(ids, records).flatMap(([id, record]) => {
      const [path, offset, lines, at] = asProgress(record);
      if (path === null) return [];
      const when = at === null ? null : new Date(Number(at));
      return [{ id, path, offset: Number(offset ?? 0), lines: Number(lines ?? 0), at: when }];
    });
    return { items, cursor: next };
  }

  /** Forgets how far a file is read: it would be read again from its beginning. False: it was not known. */
  async delete(id: string): Promise<boolean> {
    for (const [path, { outcome }] of this.#settled) if (outcome.id === id) this.#settled.delete(path);
    const [removed] = await this.#store.multi([
      ["DEL", fileKey(this.#keys.base, word("id", id, 8_192))],
      ["ZREM", this.#keys.index, id],
    ]);
    return removed === 1;
  }

  async #processOne(found: Found, { effects, signal }: ProcessOptions): Promise<FileOutcome> {
    const now = this.#store.clock.monotonicMs();
    const settled = this.#settled.get(found.path);
    if (settled?.look === found.look && now < settled.untilMs) return { ...settled.outcome, lines: 0 };
    const source = await this.#opened(found.path);
    if (source === null) return { file: found.path, id: null, status: "gone", lines: 0, offset: 0 };
    try {
      const id = await this.#idOf(source, found);
      if (id === null) return { file: found.path, id, status: "done", lines: 0, offset: 0 };
      const outcome = await new FileWork(this.#store, source, {
        ...this.#keys,
        ...this.#limits,
        record: fileKey(this.#keys.base, id),
        id,
        owner: randomToken(),
        encoding: this.#encoding,
        takeLastLine: this.#takeLastLine,
        replaceable: this.#identify !== "content",
        known: this.#known,
        effects,
        signal,
      }).run();
      this.#settle(found, outcome, now);
      return outcome;
    } catch (error) {
      throw error instanceof Error && "code" in error && isSystemCode(error.code)
        ? new LogFileError(error.message, { file: found.path, line: null }, { cause: error })
        : error;
    } finally {
      await source.close();
    }
  }

  async #opened(path: string): Promise<LogSource | null> {
    try {
      return await LogSource.open(path);
    } catch (cause) {
      throw new LogFileError(messageOf(cause), { file: path, line: null }, { cause });
    }
  }

  #settle(found: Found, outcome: FileOutcome, now: number): void {
    this.#settled.delete(found.path);
    if (outcome.status !== "done") return;
    if (this.#settled.size >= MOST_SETTLED) this.#settled.clear();
    // Looked at again before it would be forgotten.
    const untilMs = now + Math.min(HOUR_MS, this.#limits.keepMs / 4);
    this.#settled.set(found.path, { look: found.look, untilMs, outcome });
  }

  async #idOf(source: LogSource, { name }: Found): Promise<string | null> {
    if (this.#identify === "name") return name;
    if (this.#identify === "inode") return `${source.dev}:${source.ino}`;
    const head = await source.head(this.#encoding);
    return head === null ? null : createHash("sha256").update(head).digest("base64url");
  }

  async #find(source: string | readonly string[], options: ProcessOptions): Promise<Found[]> {
    const found: Found[] = [];
    for (const path of typeof source === "string" ? [source] : source) {
      const about = await stat(word("a path", path, 4_096)).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "ENOENT" || typeof source === "string") throw error;
        return null;
      });
      if (about?.isDirectory() === true) for (const each of await this.#inFolder(path, options)) found.push(each);
      else if (about?.isFile() === true) found.push(seen(path, basename(path), about));
    }
    return found.sort((one, other) => one.mtimeMs - other.mtimeMs || (one.path < other.path ? -1 : 1));
  }

  async #inFolder(folder: string, options: ProcessOptions): Promise<Found[]> {
    const { match = (name) => !name.startsWith("."), recursive = false } = options;
    const found: Found[] = [];
    for (const entry of await readdir(folder, { withFileTypes: true, recursive })) {
      if (!match(entry.name) || entry.isDirectory()) continue;
      const path = join(entry.parentPath ?? dirname(join(folder, entry.name)), entry.name);
      const about = await stat(path).catch(() => null);
      if (about?.isFile() === true) found.push(seen(path, relative(folder, path), about));
    }
    return found;
  }
}

function seen(
  path: string,
  name: string,
  about: { readonly mtimeMs: number; readonly size: number; readonly ino: number },
): Found {
  // A log that is compressed where it stands keeps its name but for the ending.
  const look = `${about.ino}:${about.size}:${about.mtimeMs}`;
  return { path, name: name.replace(/\.gz$/i, ""), mtimeMs: about.mtimeMs, look };
}

/** Of the system or of zlib: EIO, Z_DATA_ERROR … */
function isSystemCode(code: unknown): boolean {
  return typeof code === "string" && /^(E[A-Z]+|Z_[A-Z_]+)$/.test(code);
}
