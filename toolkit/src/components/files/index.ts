/**
 * Files for many readers, through the store, within a budget of memory.
 *
 *   const logs = new Files(store, "logs", { budgetBytes: 64 * 2 ** 20 });
 *   const reader = await logs.join("by country");
 *   await logs.send("access.log.gz", "/var/log/access.log.gz");
 *   for await (const file of reader.files()) {
 *     for await (const line of file.lines()) file.count("visits", countryOf(line.text));
 *   }
 *
 * A sender waits while the budget is used up; blocks are freed when every reader has committed what is in them.
 */
import { createReadStream } from "node:fs";
import { aStore, integer, word } from "../../base/checks.ts";
import { randomToken } from "../../base/clock.ts";
import { encodeWithin, json } from "../../base/codec.ts";
import { InputError } from "../../base/errors.ts";
import { NameIndex } from "../../base/names.ts";
import { anything, choice, defineOptions, prefix, signal, whole } from "../../base/options.ts";
import { type Page, type PageOptions, pageChecks } from "../../base/page.ts";
import { asPairs, asRows, asText, asTextOrNull, asTexts, asTuple, wordOf } from "../../base/replies.ts";
import type { Store } from "../../connection/store.ts";
import { crc32 } from "./checksum.ts";
import { FilesError } from "./errors.ts";
import { asEncoding, type FileEncoding } from "./incoming.ts";
import { type ChannelKeys, channelKeys } from "./keys.ts";
import { type MissedFile, Reader } from "./reader.ts";
import { announce, BLOCK_OVERHEAD, join, leave, remove, sweep } from "./scripts.ts";
import { WakeUps } from "./wake-ups.ts";
import { CHECKSUM_BYTES, FileWriter } from "./writer.ts";

export { FilesError, type FilesErrorCode } from "./errors.ts";
export type { FileEncoding, IncomingFile, LineOptions, ReadOptions } from "./incoming.ts";
export type { Line } from "./lines.ts";
export type { FilesOptions as ReaderFilesOptions, MissedFile, Reader } from "./reader.ts";
export type { FileWriter, WaitOptions } from "./writer.ts";

/** Settings of a channel of `Files`. All processes give the same ones. */
export interface FilesOptions {
  /** How all keys begin (default `"files"`). */
  readonly prefix?: string;
  /** Bytes of blocks in the store, of all files of the channel together. The same for all senders. 64 MiB by default. */
  readonly budgetBytes?: number;
  /** Bytes of a file in a block (default 65 536, at most 1 MiB). */
  readonly blockBytes?: number;
  /** A reader commits after so many stored bytes: 1 MiB by default, a quarter of the budget at most. */
  readonly commitBytes?: number;
  /** Files at a time; further announcements wait. 1 000 by default. */
  readonly maxFiles?: number;
  /** Readers at a time (default 100); a further one is refused with `FULL`. */
  readonly maxReaders?: number;
  /** How often waiting processes look by themselves: messages can be lost. 1 000 by default. */
  readonly pollMs?: number;
}

/** How to announce a file. */
export interface WriteOptions {
  /** What readers unpack. By default "gzip" for names that end with .gz. */
  readonly encoding?: FileEncoding;
  /** For readers, as JSON; up to 4 KiB. Null by default. */
  readonly info?: unknown;
  /** Ends the waiting for room. None by default. */
  readonly signal?: AbortSignal;
}

/** What to send: a path, bytes, or a stream of them. */
export type Source = string | Uint8Array | AsyncIterable<Uint8Array | string> | Iterable<Uint8Array>;

/** What became of a file that was to be sent. */
export interface Sent {
  /** `exists`: it was sent before, and perhaps read by everybody. */
  readonly status: "sent" | "exists";
  /** Stored by this call: less than the file if it was begun before. */
  readonly bytes: number;
}

/** How long a reader counts. */
export interface JoinOptions {
  /** How long the reader is waited for when it is not heard of. 30 000 by default. */
  readonly leaseMs?: number;
  /** How long it is remembered after it was dropped. A week by default. */
  readonly keepMs?: number;
}

/** A file of a channel. */
export interface FileInfo {
  /** The file's name. */
  readonly name: string;
  /** Files have numbers in the order of their announcement. */
  readonly number: number;
  /** `open`: more may come. */
  readonly state: "open" | "closed";
  /** How it is packed. */
  readonly encoding: FileEncoding;
  /** What the sender said about it. */
  readonly info: unknown;
  /** Bytes sent so far. */
  readonly size: number;
  /** Blocks sent so far. */
  readonly blocks: number;
  /** How many of the blocks are still stored. */
  readonly kept: number;
  /** The readers that are not done with it, and how many blocks each has done. */
  readonly readers: Readonly<Record<string, number>>;
}

/** How a channel is doing. */
export interface FilesInfo {
  /** Bytes of blocks in the store. */
  readonly bytes: number;
  /** How many there may be. */
  readonly budgetBytes: number;
  /** Files that a reader may still read. */
  readonly files: number;
  /** Reader by when its lease ends, in the server's milliseconds. */
  readonly readers: Readonly<Record<string, number>>;
}

const LARGEST_INFO = 4_096;

const OPTIONS = defineOptions<FilesOptions>("Files", {
  prefix,
  budgetBytes: whole(1),
  blockBytes: whole(16, 1_048_576),
  commitBytes: whole(1),
  maxFiles: whole(1, 10_000),
  maxReaders: whole(1, 10_000),
  pollMs: whole(1),
});

const WRITE_OPTIONS = defineOptions<WriteOptions>("Files.write", {
  encoding: choice("plain", "gzip"),
  info: anything,
  signal,
});

const LIST_OPTIONS = defineOptions<PageOptions>("Files.list", pageChecks(10_000));

const JOIN_OPTIONS = defineOptions<JoinOptions>("Files.join", {
  leaseMs: whole(1),
  keepMs: whole(1),
});

const asState = wordOf("open", "closed");

/** Number, name and position of each file that a reader has missed. */
const asMissed = asRows(asText, asText, asText);
/** Name, status, encoding, info, size, blocks and first block; all null for a file that is gone. */
const asDescribed = asTuple(
  asTextOrNull,
  asTextOrNull,
  asTextOrNull,
  asTextOrNull,
  asTextOrNull,
  asTextOrNull,
  asTextOrNull,
);

/**
 * Files for many readers, through the store, within a budget of memory. A sender waits while the budget is used up.
 *
 * @example
 * const logs = new Files(db, "logs");
 * const reader = await logs.join("counter");
 * await logs.send("monday.log", Buffer.from("GET /\nPOST /\n")); // → { status: "sent", bytes: 13 }
 * for await (const file of reader.files()) for await (const line of file.lines()) file.count("lines", line.text);
 * await logs.totals("lines"); // → Map { "GET /" → 1, "POST /" → 1 }
 * await logs.clearTotals("lines");
 * @example
 * const logs = new Files(db, "logs");
 * await logs.invite("archive", { leaseMs: 60_000 });
 * const writer = await logs.write("today.log");
 * await writer?.append("GET /\n");
 * await writer?.close();
 * (await logs.list()).items; // → [{ number: 1, name: "today.log", state: "closed", encoding: "plain", info: null, size: 6, …
 * @example
 * const logs = new Files(db, "logs");
 * await logs.invite("archive");
 * await logs.inspect(); // → { bytes: 0, budgetBytes: 67108864, files: 0, readers: { archive: … } }
 * await logs.sweep(); // → 0
 * await logs.deleteReader("archive");
 * await logs.delete("none.log"); // → false
 */
export class Files {
  /** The channel's name, as given. */
  readonly name: string;
  readonly #store: Store;
  readonly #keys: ChannelKeys;
  readonly #names: NameIndex;
  readonly #wakeUps: WakeUps;
  readonly #options: Required<Omit<FilesOptions, "prefix">>;

  constructor(store: Store, name: string, options: FilesOptions = {}) {
    aStore("Files", store);
    OPTIONS.check(options);
    const { prefix = "files", budgetBytes = 67_108_864, maxFiles = 1_000, maxReaders = 100, pollMs = 1_000 } = options;
    const blockBytes = options.blockBytes ?? 65_536;
    // Half of it is kept for the oldest file.
    integer("budgetBytes", budgetBytes, 4 * (blockBytes + CHECKSUM_BYTES + BLOCK_OVERHEAD));
    const most = Math.max(1, Math.floor(budgetBytes / 4));
    const commitBytes = options.commitBytes ?? Math.min(1_048_576, most);
    this.name = name;
    this.#store = store;
    this.#keys = channelKeys(prefix, name);
    this.#names = new NameIndex(store, { kind: "files", prefix: prefix });
    this.#wakeUps = new WakeUps(store, this.#keys.signal);
    this.#options = {
      budgetBytes,
      blockBytes,
      commitBytes: Math.min(commitBytes, most),
      maxFiles,
      maxReaders,
      pollMs,
    };
  }

  /**
   * Announces a file and writes it, or goes on with one that was begun: at the writer's `offset`. Null when everybody has read a
   * file of this name.
   */
  async write(name: string, options: WriteOptions = {}): Promise<FileWriter | null> {
    WRITE_OPTIONS.check(options);
    word("the name of a file", name);
    const encoding = options.encoding ?? (name.endsWith(".gz") ? "gzip" : "plain");
    const info = encodeWithin(json(), options.info ?? null, LARGEST_INFO, "info");
    const { channel: channelKey, base } = this.#keys;
    const { maxFiles, blockBytes, budgetBytes, pollMs } = this.#options;
    const token = randomToken();
    const params = { channelKey, base, file: name, token, encoding, info, maxFiles };
    const look = async () => {
      const answer = await this.#store.run(announce, params);
      return answer[0] === "full" ? null : answer;
    };
    const [status, number, size, , crc] = await this.#wakeUps.until("r", look, { signal: options.signal, pollMs });
    this.#names.announce(this.name);
    if (status === "ended") return null;
    if (status === "differs") throw new InputError(`the file "${name}" was begun as ${number}`);
    const facts = { name, number: Number(number), token, size: Number(size), crc: Number(crc) };
    return new FileWriter(
      { store: this.#store, keys: this.#keys, wakeUps: this.#wakeUps },
      { ...facts, isClosed: status === "closed" },
      { blockBytes, budgetBytes, pollMs },
    );
  }

  /**
   * Sends a whole file: bytes, a stream of them, or what is at a path. When it was begun before, what is stored is compared by its
   * checksum and passed over; a file that was sent before is not sent again.
   */
  async send(name: string, source: Source, options: WriteOptions = {}): Promise<Sent> {
    const writer = await this.write(name, options);
    if (writer === null || writer.closed) return { status: "exists", bytes: 0 };
    const wait = options.signal === undefined ? {} : { signal: options.signal };
    const began = writer.offset;
    let passed = 0;
    let crc = 0;
    let isSame = false;
    for await (const chunk of chunksOf(source)) {
      const bytes = typeof chunk === "string" ? Buffer.from(chunk, "utf8") : chunk;
      const known = bytes.subarray(0, Math.max(0, began - passed));
      crc = crc32(known, crc);
      passed += bytes.length;
      if (passed < began) continue;
      // Once: from then on the writer's checksum is of more.
      isSame ||= crc === writer.crc;
      if (!isSame) break;
      if (known.length < bytes.length) await writer.append(bytes.subarray(known.length), wait);
    }
    if (began > 0 && !isSame) throw new InputError(`what was sent of "${name}" before is not the beginning of this`);
    await writer.close(wait);
    return { status: "sent", bytes: writer.offset - began };
  }

  /** Registers a reader, or goes on as one that there was. Another process with the same name can commit nothing more. */
  async join(name: string, options: JoinOptions = {}): Promise<Reader> {
    JOIN_OPTIONS.check(options);
    const token = randomToken();
    const sentMs = this.#store.clock.monotonicMs();
    const { leaseMs, answer } = await this.#join(name, token, options);
    this.#names.announce(this.name);
    const missed: MissedFile[] = asMissed(answer.slice(1)).map(([, file, position]) => ({
      name: file,
      position: Number(position),
    }));
    const facts = { name, token, leaseMs, dropped: answer[0] === "dropped", missed, sentMs };
    return new Reader({ store: this.#store, keys: this.#keys, wakeUps: this.#wakeUps }, facts, this.#options);
  }

  /** Registers a reader that has not come yet, so that what is sent meanwhile is kept for it, for as long as its lease. */
  async invite(name: string, options: JoinOptions = {}): Promise<void> {
    JOIN_OPTIONS.check(options);
    await this.#join(name, "", options);
  }

  async #join(name: string, token: string, options: JoinOptions): Promise<{ leaseMs: number; answer: string[] }> {
    const reader = word("the name of a reader", name, 256);
    const leaseMs = options.leaseMs ?? 30_000;
    const keepMs = options.keepMs ?? 7 * 86_400_000;
    const { channel: channelKey, base } = this.#keys;
    const { maxReaders } = this.#options;
    const record = this.#keys.reader(reader);
    const answer = await this.#store.run(join, {
      channelKey,
      record,
      base,
      reader,
      token,
      leaseMs,
      keepMs,
      maxReaders,
    });
    if (answer[0] === "full") throw new FilesError("FULL", `the channel "${this.name}" has ${maxReaders} readers`);
    return { leaseMs, answer };
  }

  /** Removes a reader, also one of another process. */
  async deleteReader(name: string): Promise<void> {
    const record = this.#keys.reader(word("the name of a reader", name, 256));
    await this.#store.run(leave, { record, base: this.#keys.base, reader: name, token: "" });
  }

  /** The files that somebody may still read, in the order of their announcement. */
  async list(options: PageOptions = {}): Promise<Page<FileInfo>> {
    LIST_OPTIONS.check(options);
    const { limit = 100, cursor } = options;
    if (cursor !== undefined && !/^\d{1,15}$/.test(cursor)) throw new InputError("cursor is not one that list() gave");
    const from = cursor === undefined ? "-inf" : `(${cursor}`;
    // One more than asked for, to know whether there is a next page.
    const words = ["ZRANGEBYSCORE", this.#keys.files, from, "+inf", "WITHSCORES", "LIMIT", 0, limit + 1];
    const all = asTexts(await this.#store.call(...words));
    const found = all.filter((_, at) => at % 2 === 1).map(Number);
    const numbers = found.slice(0, limit);
    return { items: await this.#described(numbers), cursor: found.length > limit ? String(numbers.at(-1)) : null };
  }

  async #described(numbers: readonly number[]): Promise<FileInfo[]> {
    const fields = ["name", "status", "encoding", "info", "size", "blocks", "first"];
    const answers = await this.#store.pipeline(
      numbers.flatMap((number) => [
        ["HMGET", this.#keys.file(number), ...fields],
        ["ZRANGE", this.#keys.at(number), 0, -1, "WITHSCORES"],
      ]),
    );
    return numbers.flatMap((number, at) => {
      const [name, state, encoding, info, size, blocks, first] = asDescribed(answers[2 * at]);
      // It was read to the end, or removed, meanwhile.
      if (name === null || info === null) return [];
      const file = { number, name, state: asState(state), encoding: asEncoding(encoding) };
      const kept = Number(blocks) - Number(first);
      const readers = numbersByName(asTexts(answers[2 * at + 1]), Number(blocks));
      return [{ ...file, info: JSON.parse(info), size: Number(size), blocks: Number(blocks), kept, readers }];
    });
  }

  /** How much of the budget is used, and who reads. */
  async inspect(): Promise<FilesInfo> {
    const [bytes, files, readers] = await this.#store.pipeline([
      ["HGET", this.#keys.channel, "bytes"],
      ["ZCARD", this.#keys.files],
      ["ZRANGE", this.#keys.readers, 0, -1, "WITHSCORES"],
    ]);
    const { budgetBytes } = this.#options;
    return {
      bytes: Number(bytes ?? 0),
      budgetBytes,
      files: Number(files),
      readers: numbersByName(asTexts(readers)),
    };
  }

  /** What readers have counted under a name. */
  async totals(name: string): Promise<Map<string, number>> {
    const key = this.#keys.total(word("the name of a total", name, 256));
    return new Map(asPairs(await this.#store.call("HGETALL", key)).map(([field, total]) => [field, Number(total)]));
  }

  /** Forgets what readers have counted under a name. */
  async clearTotals(name: string): Promise<void> {
    await this.#store.send(["UNLINK", this.#keys.total(word("the name of a total", name, 256))], { repeatable: true });
  }

  /** Removes a file, even if a reader still needs it; a file of that name may then be sent again. False if there was none. */
  delete(name: string): Promise<boolean> {
    const { channel: channelKey, base } = this.#keys;
    return this.#store.run(remove, { channelKey, base, name: word("the name of a file", name) });
  }

  /** Drops the readers whose lease is over, which otherwise happens when room is wanted. Answers how many. */
  async sweep(): Promise<number> {
    const { readers: readersKey, base } = this.#keys;
    let dropped = 0;
    while ((await this.#store.run(sweep, { readersKey, base })) === 1) dropped++;
    return dropped;
  }
}

function numbersByName(flat: readonly string[], most = Number.POSITIVE_INFINITY): Record<string, number> {
  const pairs = flat.flatMap((name, at) => (at % 2 ? [] : [[name, Math.min(most, Number(flat[at + 1]))] as const]));
  return Object.fromEntries(pairs);
}

function chunksOf(source: Source): AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string> {
  if (typeof source === "string") return createReadStream(source, { highWaterMark: 1_048_576 });
  return source instanceof Uint8Array ? [source] : source;
}
