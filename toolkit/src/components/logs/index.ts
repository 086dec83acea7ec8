/**
 * Logs in the store: the last entries of each name and severity, and the messages that came most often this hour and the last.
 *
 *   const logs = new Logs(store);
 *   logs.write("web", "error", "cannot reach the bank");
 *   await logs.recent("web", "error");
 *   await logs.common("web", "error");
 *
 * `write` collects and sends in batches, and never makes its caller wait. When the store cannot keep up or cannot be reached,
 * the buffer is bounded: the oldest entries go, and how many is reported. `stream` is a destination for pino.
 */
import { Writable } from "node:stream";
import { aStore, integer, word } from "../../base/checks.ts";
import type { Timer } from "../../base/clock.ts";
import { getOrMake } from "../../base/lists.ts";
import { NameIndex } from "../../base/names.ts";
import { callback, defineOptions, prefix, text, whole } from "../../base/options.ts";
import { type Page, type PageOptions, pageChecks } from "../../base/page.ts";
import { asPairs, asTexts } from "../../base/replies.ts";
import type { Store } from "../../connection/store.ts";
import { type LogKeys, logKeys } from "./keys.ts";
import { append, commonest } from "./scripts.ts";

const DAY_MS = 86_400_000;
const MAX_MESSAGE = 8_192;
/** Of the fields of an entry, as JSON. */
const MAX_FIELDS = 65_536;
const BATCH = 200;

/** What `Logs` may be given. */
export interface LogsOptions {
  /** How all keys begin (default "log"). */
  readonly prefix?: string;
  /** How many recent entries are kept for each name and severity. By default 100. */
  readonly keepRecent?: number;
  /** How many different messages are counted for each name and severity in an hour. By default 1 000. */
  readonly keepCommon?: number;
  /** Recent entries of a name that falls silent go after this long. Seven days by default. */
  readonly keepMs?: number;
  /** How long entries are collected before they are sent. By default 200. */
  readonly bufferMs?: number;
  /** Entries that wait to be sent; beyond it the oldest are dropped. By default 10 000. */
  readonly maxBuffered?: number;
  /** What a message is counted as; by default numbers and long hexadecimal words become `#`, so that alike messages meet. */
  readonly fingerprint?: (message: string) => string;
  /** Called when a batch could not be sent and when entries were dropped. None by default. */
  readonly onError?: (error: unknown, dropped: number) => void;
}

/** What was written once. */
export interface LogEntry {
  /** When, by the clock of the process that wrote it. */
  readonly at: Date;
  /** The message; past 8 192 characters it is cut. */
  readonly message: string;
  /** What was written with it; undefined if nothing was. */
  readonly fields: Readonly<Record<string, unknown>> | undefined;
}

/** A message, and how often it came. */
export interface CommonMessage {
  /** Its fingerprint: numbers are `#`, unless `fingerprint` makes something else of it. */
  readonly message: string;
  /** How often it came in that hour. */
  readonly count: number;
}

/** An entry as the list of the last ones has it. */
interface StoredEntry extends Omit<LogEntry, "at"> {
  readonly at: number;
}

interface Buffered {
  readonly name: string;
  readonly severity: string;
  readonly json: string;
  readonly counted: string;
}

const OPTIONS = defineOptions<LogsOptions>("Logs", {
  prefix,
  keepRecent: whole(1, 100_000),
  keepCommon: whole(1, 100_000),
  keepMs: whole(1),
  bufferMs: whole(0, 60_000),
  maxBuffered: whole(1),
  fingerprint: callback,
  onError: callback,
});

const RECENT_OPTIONS = defineOptions<{ readonly limit?: number }>("Logs.recent", {
  limit: whole(1, 100_000),
});

const STREAM_OPTIONS = defineOptions<{ readonly name?: string }>("Logs.stream", {
  name: text,
});

const COMMON_OPTIONS = defineOptions<{ readonly limit?: number }>("Logs.common", { limit: whole(1, 100_000) });

const LIST_OPTIONS = defineOptions<PageOptions>("Logs.list", pageChecks(10_000));

/**
 * Logs in the store: the last entries of each name and severity, and the messages that came most often this hour and the last.
 *
 * @example
 * const logs = new Logs(db);
 * logs.write("web", "error", "order 17 failed", { user: "ann" });
 * await logs.flush();
 * (await logs.recent("web", "error")).map(({ message }) => message); // → ["order 17 failed"]
 * (await logs.common("web", "error", { limit: 10 })).thisHour; // → [{ message: "order # failed", count: 1 }]
 * (await logs.list()).items; // → [{ name: "web", severity: "error" }]
 * @example
 * const logs = new Logs(db);
 * const stream = logs.stream({ name: "web" });
 * await new Promise((resolve) => stream.end('{"level":50,"msg":"no disk"}\n', () => resolve(null)));
 * (await logs.recent("web", "error")).length; // → 1
 */
export class Logs {
  readonly #store: Store;
  readonly #prefix: string;
  readonly #keep: { readonly keepRecent: number; readonly keepCommon: number; readonly keepMs: number };
  readonly #flushMs: number;
  readonly #maxBuffered: number;
  readonly #fingerprint: (message: string) => string;
  readonly #onError: (error: unknown, dropped: number) => void;
  readonly #names: NameIndex;
  #buffer: Buffered[] = [];
  #timer: Timer | null = null;
  #flushing: Promise<void> | null = null;
  #dropped = 0;

  constructor(store: Store, options: LogsOptions = {}) {
    aStore("Logs", store);
    OPTIONS.check(options);
    this.#store = store;
    this.#prefix = options.prefix ?? "log";
    this.#keep = {
      keepRecent: options.keepRecent ?? 100,
      keepCommon: options.keepCommon ?? 1_000,
      keepMs: options.keepMs ?? 7 * DAY_MS,
    };
    this.#names = new NameIndex(store, { kind: "logs", prefix: this.#prefix, keepMs: this.#keep.keepMs });
    this.#flushMs = options.bufferMs ?? 200;
    this.#maxBuffered = options.maxBuffered ?? 10_000;
    this.#fingerprint = options.fingerprint ?? withoutNumbers;
    this.#onError = options.onError ?? (() => {});
    store.on("close", () => this.flush());
  }

  /** Entries that were given up since the start. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Takes an entry; never waits, never throws because of the store. */
  write(name: string, severity: string, message: string, fields?: Readonly<Record<string, unknown>>): void {
    word("name", name);
    word("severity", severity, 64);
    const text = message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE)}…` : message;
    const json = entryJson({ at: this.#store.clock.wallMs(), message: text }, fields);
    if (this.#buffer.length >= this.#maxBuffered) {
      this.#buffer.shift();
      this.#drop(1, new Error("more log entries than the store takes: the oldest are dropped"));
    }
    this.#buffer.push({ name, severity, json, counted: this.#fingerprint(text).slice(0, MAX_MESSAGE) });
    if (this.#buffer.length >= BATCH) void this.flush();
    else this.#timer ??= this.#store.clock.after(this.#flushMs, () => void this.flush(), { keepAlive: true });
  }

  /** Resolves when everything written so far has been sent or given up. */
  async flush(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = null;
    // One batch at a time, so that entries stay in order.
    while (this.#flushing !== null) await this.#flushing;
    if (this.#buffer.length === 0) return;
    this.#flushing = this.#sendAll(this.#buffer.splice(0)).finally(() => {
      this.#flushing = null;
    });
    await this.#flushing;
  }

  async #sendAll(entries: readonly Buffered[]): Promise<void> {
    const groups = new Map<string, Pick<Buffered, "name" | "severity"> & { readonly entries: Buffered[] }>();
    for (const entry of entries) {
      const { name, severity } = entry;
      const group = getOrMake(groups, `${name}\0${severity}`, () => ({ name, severity, entries: [] }));
      group.entries.push(entry);
    }
    for (const { name, severity, entries: all } of groups.values()) {
      for (let at = 0; at < all.length; at += BATCH) await this.#send(name, severity, all.slice(at, at + BATCH));
    }
  }

  async #send(name: string, severity: Buffered["severity"], batch: readonly Buffered[]): Promise<void> {
    this.#names.announce(`${name}\0${severity}`);
    try {
      await this.#store.run(append, {
        ...this.#keys(name, severity),
        ...this.#keep,
        entries: batch.flatMap(({ json, counted }) => [json, counted]),
      });
    } catch (error) {
      this.#drop(batch.length, error);
    }
  }

  #drop(count: number, error: unknown): void {
    this.#dropped += count;
    this.#onError(error, count);
  }

  /** The last entries, newest first. At most `limit` (default `keepRecent`). */
  async recent(name: string, severity: string, options: { readonly limit?: number } = {}): Promise<LogEntry[]> {
    RECENT_OPTIONS.check(options);
    const limit = integer("limit", options.limit ?? this.#keep.keepRecent, 1, this.#keep.keepRecent);
    const found = asTexts(await this.#store.call("LRANGE", this.#keys(name, severity).recent, 0, limit - 1));
    return found.map((json) => {
      const { at, message, fields }: StoredEntry = JSON.parse(json);
      return { at: new Date(at), message, fields };
    });
  }

  /** The messages that came most often this hour and the last. At most `limit` of each hour (default 100). */
  async common(
    name: string,
    severity: string,
    options: { readonly limit?: number } = {},
  ): Promise<{ readonly thisHour: CommonMessage[]; readonly lastHour: CommonMessage[] }> {
    COMMON_OPTIONS.check(options);
    const limit = integer("limit", options.limit ?? 100, 1, this.#keep.keepCommon);
    const [current, last] = await this.#store.run(commonest, { ...this.#keys(name, severity), limit });
    return { thisHour: common(current), lastHour: common(last) };
  }

  /** Names and severities that were written lately, the latest announced first. */
  async list(options: PageOptions = {}): Promise<Page<{ readonly name: string; readonly severity: string }>> {
    LIST_OPTIONS.check(options);
    const { items, cursor } = await this.#names.list(options);
    const named = items.map((each) => {
      const at = each.indexOf("\0");
      return { name: each.slice(0, at), severity: each.slice(at + 1) };
    });
    return { items: named, cursor };
  }

  /** A destination for pino: `pino({ name: "web" }, logs.stream())`. Lines that are no JSON are kept as they are. */
  stream(options: { readonly name?: string } = {}): Writable {
    STREAM_OPTIONS.check(options);
    let rest = "";
    const take = (line: string): void => {
      if (line === "") return;
      const { name, severity, message, fields } = fromPino(line);
      this.write(name ?? options.name ?? "log", severity, message, fields);
    };
    return new Writable({
      decodeStrings: false,
      write: (chunk: string | Buffer, _encoding, done) => {
        const text = rest + chunk.toString();
        const end = text.lastIndexOf("\n") + 1;
        rest = text.slice(end);
        for (const line of text.slice(0, end).split("\n")) take(line);
        done();
      },
      final: (done) => {
        take(rest);
        this.flush().then(() => done(), done);
      },
    });
  }

  #keys(name: string, severity: string): LogKeys {
    return logKeys(this.#prefix, name, word("severity", severity, 64));
  }
}

/** Fields that have no JSON form or too long a one are left out, and a field says why: a log must not fail its program. */
function entryJson(
  entry: { at: number; message: string },
  fields: Readonly<Record<string, unknown>> | undefined,
): string {
  if (fields === undefined) return JSON.stringify(entry);
  try {
    const json = JSON.stringify({ ...entry, fields });
    if (json.length <= MAX_FIELDS + entry.message.length) return json;
    return JSON.stringify({ ...entry, fields: { omitted: `${json.length} characters` } });
  } catch (error) {
    return JSON.stringify({ ...entry, fields: { omitted: String(error) } });
  }
}

const PINO_LEVELS: Readonly<Record<number, string>> = {
  10: "trace",
  20: "debug",
  30: "info",
  40: "warn",
  50: "error",
  60: "fatal",
};

function fromPino(line: string): {
  name: string | undefined;
  severity: string;
  message: string;
  fields: Record<string, unknown> | undefined;
} {
  try {
    const { level, name, msg, time: _time, pid: _pid, hostname: _hostname, ...fields } = JSON.parse(line);
    return {
      name: typeof name === "string" && name !== "" ? name : undefined,
      severity: typeof level === "string" && level !== "" ? level : (PINO_LEVELS[level] ?? "info"),
      message: String(msg ?? ""),
      fields: Object.keys(fields).length === 0 ? undefined : fields,
    };
  } catch {
    return { name: undefined, severity: "info", message: line, fields: undefined };
  }
}

/** Long words of hexadecimal digits and dashes, then numbers. */
function withoutNumbers(message: string): string {
  return message.replace(/\b[0-9a-f-]{16,}\b/gi, "#").replace(/\d+(?:\.\d+)?/g, "#");
}

function common(flat: string[]): CommonMessage[] {
  return asPairs(flat).map(([message, count]) => ({ message, count: Number(count) }));
}
