/**
 * A file as a reader gets it: by block or by line, unpacked if it is gzip, from where this reader was last time.
 *
 * What was handed out counts as read when the next is asked for. How far that is, and what was counted on the way, is committed in
 * the background, several blocks at a time; before waiting for more; and at the end. Blocks are freed by commits alone.
 */

import { InputError } from "../../base/errors.ts";
import { defineOptions, flag, signal, whole } from "../../base/options.ts";
import { asBytesOrNulls, asTextsOrNulls, wordOf } from "../../base/replies.ts";
import type { Store } from "../../connection/store.ts";
import { crc32 } from "./checksum.ts";
import { type Cursor, type Held, NOTHING } from "./cursor.ts";
import { FilesError } from "./errors.ts";
import { Gunzip } from "./gunzip.ts";
import type { ChannelKeys } from "./keys.ts";
import { type Line, Lines } from "./lines.ts";
import { type Mark, Progress, type ProgressFacts, refusal } from "./progress.ts";
import { BLOCK_OVERHEAD } from "./scripts.ts";
import type { FileChannel, WakeUps } from "./wake-ups.ts";
import { CHECKSUM_BYTES } from "./writer.ts";

/** How a file is packed. Readers get what is unpacked. */
export type FileEncoding = "plain" | "gzip";

export const asEncoding = wordOf<FileEncoding>("plain", "gzip");

export interface IncomingFacts extends ProgressFacts {
  readonly encoding: FileEncoding;
  readonly info: unknown;
  readonly cursor: Cursor;
}

export interface ReadSettings {
  readonly blockBytes: number;
  readonly budgetBytes: number;
  readonly commitBytes: number;
  readonly pollMs: number;
  /** Aborted when the reader is no longer one. */
  readonly lost: AbortSignal;
}

/** How to read a file. */
export interface ReadOptions {
  /** Ends reading: the loop rejects with the signal's reason. None by default. */
  readonly signal?: AbortSignal;
  /** False: only `checkpoint` and the end of the file commit. True by default. */
  readonly autoCommit?: boolean;
  /** A commit after so long at the latest, while lines come. 1 000 by default. */
  readonly commitEveryMs?: number;
  /** How long to wait for more of a file that is not closed; for ever by default. */
  readonly idleMs?: number;
}

/** How to read a file by lines. */
export interface LineOptions extends ReadOptions {
  /** What is longer is cut. 1 MiB by default. */
  readonly maxLineBytes?: number;
}

/** Read in one round trip; the next are fetched while these are worked on. */
const AHEAD_BYTES = 524_288;
const MAX_AHEAD = 64;

interface Fetched {
  readonly blocks: readonly Buffer[];
  readonly isEnd: boolean;
}

/** What is handed out before the blocks' bytes and after them, and what of them is not handed out yet. */
interface Ends<T> {
  readonly begin: Buffer;
  held(): Held;
  rest?(): T;
}

const READ_OPTIONS = defineOptions<ReadOptions>("IncomingFile.blocks", {
  signal,
  autoCommit: flag,
  commitEveryMs: whole(1),
  idleMs: whole(1),
});

const LINE_OPTIONS = defineOptions<LineOptions>("IncomingFile.lines", {
  signal,
  autoCommit: flag,
  commitEveryMs: whole(1),
  idleMs: whole(1),
  maxLineBytes: whole(1, 2 ** 30),
});

/**
 * A file as a reader gets it. How far it is read is committed together with what was counted, so nothing counts twice.
 *
 * @example
 * const logs = new Files(db, "logs");
 * const reader = await logs.join("counter");
 * await logs.send("monday.log", Buffer.from("GET /\nPOST /\n"));
 * const file = await reader.open("monday.log");
 * for await (const line of file!.lines()) file!.count("methods", line.text.split(" ")[0]!);
 * await logs.totals("methods"); // → Map { "GET" → 1, "POST" → 1 }
 * @example
 * const logs = new Files(db, "logs");
 * const reader = await logs.join("counter");
 * await logs.send("monday.log", Buffer.from("GET /\nPOST /\n"));
 * const file = await reader.open("monday.log");
 * for await (const lines of file!.lineBatches({ autoCommit: false })) lines.length; // → 2
 * await file!.checkpoint();
 * @example
 * const logs = new Files(db, "logs");
 * const reader = await logs.join("archive");
 * await logs.send("monday.log", Buffer.from("GET /\n"));
 * await logs.send("tuesday.log", Buffer.from("POST /\n"));
 * for await (const block of (await reader.open("monday.log"))!.blocks()) block.length; // → 6
 * await (await reader.open("tuesday.log"))?.skip();
 */
export class IncomingFile {
  /** The file's name. */
  readonly name: string;
  /** Files have numbers in the order of their announcement. */
  readonly number: number;
  /** How it is packed in the store. */
  readonly encoding: FileEncoding;
  /** What the sender said about it. */
  readonly info: unknown;
  readonly #store: Store;
  readonly #keys: ChannelKeys;
  readonly #wakeUps: WakeUps;
  readonly #settings: ReadSettings;
  readonly #reader: string;
  readonly #progress: Progress;
  #isReading = false;

  constructor({ store, keys, wakeUps }: FileChannel, facts: IncomingFacts, settings: ReadSettings) {
    this.#store = store;
    this.#keys = keys;
    this.#wakeUps = wakeUps;
    this.#settings = settings;
    this.name = facts.name;
    this.number = facts.number;
    this.encoding = facts.encoding;
    this.info = facts.info;
    this.#reader = facts.reader;
    this.#progress = new Progress(store, keys, facts, facts.cursor);
  }

  /** Up to where it is committed; of a gzip file, in what is unpacked. */
  get position(): number {
    return this.#progress.committed.position;
  }

  /** How many lines are committed. */
  get lineCount(): number {
    return this.#progress.committed.lines;
  }

  /** Whether all of it is read and committed. */
  get done(): boolean {
    return this.#progress.isDone;
  }

  /** Adds to a field of one of the channel's totals, in the step that commits what was handed out so far. */
  count(total: string, field: string, by = 1): void {
    this.#progress.count(total, field, by);
  }

  /** Commits what was handed out so far, and what was counted. Everything that was handed out counts as read. */
  checkpoint(): Promise<void> {
    return this.#progress.commitNow();
  }

  /** Needs nothing more of this file. */
  skip(): Promise<void> {
    return this.#progress.commitNow(true);
  }

  /** The bytes, in pieces of at most 64 KiB or a block, whichever is larger. */
  async *blocks(options: ReadOptions = {}): AsyncGenerator<Buffer, void, undefined> {
    READ_OPTIONS.check(options);
    const cursor = await this.#begin();
    if (cursor === null) return;
    const { held } = cursor;
    if (held.length > held.bytes.length) {
      this.#isReading = false;
      throw new InputError(`the file "${this.name}" is in a line that is being cut: go on by line`);
    }
    let { position } = cursor;
    for await (const piece of this.#pieces(cursor, options, { begin: held.bytes, held: () => NOTHING })) {
      position += piece.length;
      this.#progress.reach(position, 0);
      yield piece;
      if (this.#isDue(options)) await this.#progress.commitSoon();
    }
  }

  /** Line by line. */
  async *lines(options: LineOptions = {}): AsyncGenerator<Line, void, undefined> {
    LINE_OPTIONS.check(options);
    for await (const lines of this.#split(options)) {
      for (const [at, line] of lines.entries()) {
        const end = lines[at + 1]?.offset ?? this.#splitEnd;
        this.#progress.reach(end, line.number);
        yield line;
        if (this.#isDue(options)) await this.#progress.commitSoon();
      }
    }
  }

  /** The same lines, as many at a time as are there: faster where there are millions. */
  async *lineBatches(options: LineOptions = {}): AsyncGenerator<Line[], void, undefined> {
    LINE_OPTIONS.check(options);
    for await (const lines of this.#split(options)) {
      const last = lines.at(-1);
      if (last === undefined) continue;
      this.#progress.reach(this.#splitEnd, last.number);
      yield lines;
      if (this.#isDue(options)) await this.#progress.commitSoon();
    }
  }

  /** Where the last of the lines ends that `#split` has given. */
  #splitEnd = 0;

  async *#split(options: LineOptions): AsyncGenerator<Line[], void, undefined> {
    const maxLineBytes = options.maxLineBytes ?? 1_048_576;
    const cursor = await this.#begin();
    if (cursor === null) return;
    const lines = new Lines(maxLineBytes, cursor.position, cursor.lines, cursor.held);
    const ends = { begin: NOTHING.bytes, held: () => lines.held, rest: () => lines.rest() };
    for await (const piece of this.#pieces(cursor, options, ends)) {
      const found = Array.isArray(piece) ? piece : lines.push(piece);
      this.#splitEnd = lines.offset;
      yield found;
    }
  }

  #isDue({ autoCommit = true, commitEveryMs = 1_000 }: ReadOptions): boolean {
    return autoCommit && this.#progress.isDue(this.#settings.commitBytes, commitEveryMs);
  }

  /** Where reading begins: what is committed when nothing is being committed any more. Null: there is nothing left to read. */
  async #begin(): Promise<Cursor | null> {
    if (this.#isReading) throw new InputError(`the file "${this.name}" is being read already`);
    this.#isReading = true;
    const cursor = await this.#progress.rewind();
    this.#isReading = !this.done;
    return this.done ? null : cursor;
  }

  /** What the blocks hold, unpacked, and what is at the ends; then the file is done. */
  async *#pieces<T = never>(
    cursor: Cursor,
    options: ReadOptions,
    ends: Ends<T>,
  ): AsyncGenerator<Buffer | T, void, undefined> {
    try {
      const { position, out: began, block: first, state } = cursor;
      const gunzip = this.encoding === "plain" ? null : state === null ? new Gunzip() : Gunzip.restore(state);
      let out = began;
      let stored = 0;
      const { budgetBytes, blockBytes } = this.#settings;
      const mostKept = budgetBytes / 2 - (blockBytes + CHECKSUM_BYTES + BLOCK_OVERHEAD);
      const markOf = (block: number): Mark => ({ block, out, stored, state: gunzip?.save() ?? null });
      const release = (block: number): Promise<void> =>
        this.#progress.release(markOf(block), ends.held(), options.autoCommit === false ? mostKept : null);
      if (ends.begin.length > 0) yield ends.begin;
      for await (const [block, payload] of this.#blocksFrom(first, options, release)) {
        this.#progress.mark(markOf(block));
        stored += payload.length + CHECKSUM_BYTES + BLOCK_OVERHEAD;
        for (const piece of gunzip?.push(payload) ?? [payload]) {
          // What was read before the last commit, of the block in which that was.
          const read = Math.min(piece.length, Math.max(0, position - out));
          out += piece.length;
          if (read < piece.length) yield read === 0 ? piece : piece.subarray(read);
        }
      }
      gunzip?.end();
      if (ends.rest !== undefined) yield ends.rest();
      await this.#progress.commitNow(true);
    } finally {
      this.#isReading = false;
    }
  }

  /** `release` is called before waiting for a block: what is read already may be what there is no room for. */
  async *#blocksFrom(
    first: number,
    options: ReadOptions,
    release: (block: number) => Promise<void>,
  ): AsyncGenerator<[number, Buffer], void, undefined> {
    const ahead = Math.max(1, Math.min(MAX_AHEAD, Math.floor(AHEAD_BYTES / this.#settings.blockBytes)));
    let block = first;
    let next: Promise<Fetched> | null = null;
    for (;;) {
      this.#check(options.signal);
      let fetched: Fetched = await (next ?? this.#fetch(block, ahead));
      next = null;
      if (fetched.blocks.length === 0 && !fetched.isEnd) {
        await release(block);
        fetched = await this.#wait(block, ahead, options);
      }
      if (fetched.blocks.length === 0) return;
      if (fetched.blocks.length === ahead && !fetched.isEnd) {
        next = this.#fetch(block + ahead, ahead);
        next.catch(() => {});
      }
      for (const stored of fetched.blocks) yield [block, this.#verified(stored, block++)];
      if (fetched.isEnd) return;
    }
  }

  #check(signal: AbortSignal | undefined): void {
    signal?.throwIfAborted();
    this.#settings.lost.throwIfAborted();
  }

  /** Blocks from one on, as many as there are in a row. */
  async #fetch(block: number, count: number): Promise<Fetched> {
    const numbers = Array.from({ length: count }, (_, nth) => block + nth);
    const [found, about] = await Promise.all([
      this.#store.send(["HMGET", this.#keys.blocks(this.number), ...numbers], { buffers: true }),
      this.#store.call("HMGET", this.#keys.file(this.number), "status", "blocks", "first"),
    ]);
    const blocks: Buffer[] = [];
    for (const each of asBytesOrNulls(found)) {
      if (each === null) break;
      blocks.push(each);
    }
    const [status, written, kept] = asTextsOrNulls(about);
    if (status === null) {
      if (blocks.length > 0) return { blocks, isEnd: false };
      throw refusal("gone", this.#reader, this.name);
    }
    if (blocks.length === 0 && Number(kept) > block) throw refusal("dropped", this.#reader, this.name);
    return { blocks, isEnd: status === "closed" && block + blocks.length >= Number(written) };
  }

  async #wait(block: number, count: number, options: ReadOptions): Promise<Fetched> {
    const { signal, idleMs } = options;
    const { clock } = this.#store;
    const since = clock.monotonicMs();
    const { lost, pollMs } = this.#settings;
    return this.#wakeUps.until(
      "b",
      async (again) => {
        const fetched = await this.#fetch(block, count);
        if (fetched.blocks.length > 0 || fetched.isEnd) return fetched;
        if (idleMs === undefined) return null;
        const leftMs = idleMs - (clock.monotonicMs() - since);
        if (leftMs <= 0) throw new FilesError("IDLE", `nothing more of "${this.name}" came in ${idleMs} ms`);
        again(leftMs);
        return null;
      },
      { signal: signal === undefined ? lost : AbortSignal.any([signal, lost]), pollMs },
    );
  }

  #verified(stored: Buffer, block: number): Buffer {
    const payload = stored.subarray(CHECKSUM_BYTES);
    if (stored.length > CHECKSUM_BYTES && stored.readUInt32BE(0) === crc32(payload)) return payload;
    throw new FilesError("CORRUPT", `block ${block} of "${this.name}" is not what was sent`);
  }
}
