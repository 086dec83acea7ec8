/**
 * Writes a file into a channel: cuts what it gets into blocks, and waits for room. Where it stands is known by the store: a writer
 * that is made for a file which another has begun goes on at `offset`, and the other can write no more.
 */

import { InputError } from "../../base/errors.ts";
import { defineOptions, signal } from "../../base/options.ts";
import type { Store } from "../../connection/store.ts";
import { crc32 } from "./checksum.ts";
import { FilesError } from "./errors.ts";
import type { ChannelKeys } from "./keys.ts";
import { append, close } from "./scripts.ts";
import type { FileChannel, WakeUps } from "./wake-ups.ts";

/** What a block has before its bytes. */
export const CHECKSUM_BYTES = 4;
/** Sent in one step at most, and kept here at most before it is sent. */
const BATCH_BYTES = 1_048_576;
const MAX_BATCH = 256;

export interface WriterFacts {
  readonly name: string;
  readonly number: number;
  readonly token: string;
  readonly size: number;
  readonly crc: number;
  readonly isClosed: boolean;
}

export interface WriterSettings {
  readonly blockBytes: number;
  readonly budgetBytes: number;
  readonly pollMs: number;
}

/** How long to wait for room. */
export interface WaitOptions {
  /** Ends the waiting for room. What was given to the writer stays with it, and goes with the next call. None by default. */
  readonly signal?: AbortSignal;
}

interface Block {
  readonly bytes: Buffer;
  /** Of the file up to the end of this block. */
  readonly crc: number;
}

const WAIT_OPTIONS = defineOptions<WaitOptions>("FileWriter.append", { signal });

/**
 * Writes a file, from `Files.write`: from the beginning, or at `offset` of one that was begun.
 *
 * @example
 * const logs = new Files(db, "logs");
 * const writer = await logs.write("today.log");
 * await writer!.append("GET /\n");
 * await writer!.flush();
 * writer!.offset; // → 6
 * await writer!.close();
 */
export class FileWriter {
  /** The file's name. */
  readonly name: string;
  /** Files have numbers in the order of their announcement. */
  readonly number: number;
  readonly #store: Store;
  readonly #keys: ChannelKeys;
  readonly #wakeUps: WakeUps;
  readonly #settings: WriterSettings;
  readonly #token: string;
  /** Bytes that are not a whole block. */
  #parts: Buffer[] = [];
  #partBytes = 0;
  #blocks: Block[] = [];
  #stored: number;
  #crc: number;
  #isClosed: boolean;
  #last: Promise<unknown> = Promise.resolve();

  constructor({ store, keys, wakeUps }: FileChannel, facts: WriterFacts, settings: WriterSettings) {
    this.#store = store;
    this.#keys = keys;
    this.#wakeUps = wakeUps;
    this.#settings = settings;
    this.name = facts.name;
    this.number = facts.number;
    this.#token = facts.token;
    this.#stored = facts.size;
    this.#crc = facts.crc;
    this.#isClosed = facts.isClosed;
  }

  /** How many bytes of the file are stored: where a writer that has taken over goes on. */
  get offset(): number {
    return this.#stored;
  }

  /** The checksum (CRC-32) of what this writer has sent or found stored. */
  get crc(): number {
    return this.#crc;
  }

  /** Whether all of the file is stored. */
  get closed(): boolean {
    return this.#isClosed;
  }

  /** Adds to the file. Resolves when no more than a mebibyte is waiting to be stored. */
  async append(bytes: Uint8Array | string, options: WaitOptions = {}): Promise<void> {
    WAIT_OPTIONS.check(options);
    const more = typeof bytes === "string" ? Buffer.from(bytes, "utf8") : asBuffer(bytes);
    return this.#inTurn(async () => {
      this.#cut(more);
      while (this.#blocks.length >= this.#batch) await this.#send(options.signal);
    });
  }

  /** Resolves when everything is stored, a block that is not full as well. */
  async flush(options: WaitOptions = {}): Promise<void> {
    WAIT_OPTIONS.check(options);
    return this.#inTurn(() => this.#flush(options.signal));
  }

  /** Stores the rest; readers then find the end. */
  async close(options: WaitOptions = {}): Promise<void> {
    WAIT_OPTIONS.check(options);
    return this.#inTurn(async () => {
      if (this.#isClosed) return;
      await this.#flush(options.signal);
      const { number, name } = this;
      const params = { base: this.#keys.base, number, name, token: this.#token, size: this.#stored };
      const outcome = await this.#store.run(close, { file: this.#keys.file(number), ...params });
      if (outcome !== "closed") throw this.#refused(outcome);
      this.#isClosed = true;
    });
  }

  /** The same as `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #inTurn(step: () => Promise<void>): Promise<void> {
    const mine = this.#last.then(step);
    this.#last = mine.catch(() => {});
    return mine;
  }

  get #batch(): number {
    return Math.max(1, Math.min(MAX_BATCH, Math.floor(BATCH_BYTES / this.#settings.blockBytes)));
  }

  #cut(more: Buffer): void {
    if (this.#isClosed) throw new InputError(`the file "${this.name}" is closed`);
    const { blockBytes } = this.#settings;
    let at = 0;
    while (this.#partBytes + more.length - at >= blockBytes) {
      const size = blockBytes - this.#partBytes;
      this.#parts.push(more.subarray(at, at + size));
      at += size;
      this.#endBlock();
    }
    if (at === more.length) return;
    // The caller may use its buffer again.
    this.#parts.push(Buffer.from(more.subarray(at)));
    this.#partBytes += more.length - at;
  }

  #endBlock(): void {
    const bytes = Buffer.concat([Buffer.alloc(CHECKSUM_BYTES), ...this.#parts]);
    const payload = bytes.subarray(CHECKSUM_BYTES);
    bytes.writeUInt32BE(crc32(payload));
    this.#crc = crc32(payload, this.#crc);
    this.#blocks.push({ bytes, crc: this.#crc });
    this.#parts = [];
    this.#partBytes = 0;
  }

  async #flush(signal: AbortSignal | undefined): Promise<void> {
    if (this.#partBytes > 0) this.#endBlock();
    while (this.#blocks.length > 0) await this.#send(signal);
  }

  /** Stores at least one block of those that wait. */
  #send(signal: AbortSignal | undefined): Promise<true> {
    const { budgetBytes, pollMs } = this.#settings;
    const { number } = this;
    const look = async (again: (ms: number) => void): Promise<true | null> => {
      const blocks = this.#blocks.slice(0, this.#batch);
      const [stored, , leaseMs = -1] = await this.#store.run(append, {
        file: this.#keys.file(number),
        blocks: this.#keys.blocks(number),
        base: this.#keys.base,
        number,
        token: this.#token,
        offset: this.#stored,
        budget: budgetBytes,
        reserve: Math.floor(budgetBytes / 2),
        more: blocks.flatMap(({ bytes, crc }) => [bytes, crc]),
      });
      if (typeof stored === "string") throw this.#refused(stored);
      if (stored === 0) {
        if (leaseMs >= 0) again(leaseMs + 1);
        return null;
      }
      for (const { bytes } of this.#blocks.splice(0, stored)) this.#stored += bytes.length - CHECKSUM_BYTES;
      return true;
    };
    return this.#wakeUps.until("r", look, { signal, pollMs });
  }

  #refused(outcome: string): FilesError {
    if (outcome === "gone") return new FilesError("GONE", `the file "${this.name}" was removed`);
    return new FilesError("TAKEN", `another process writes the file "${this.name}" now, or has closed it`);
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
