/**
 * Writes an RDB's bytes: lengths, strings and numbers, into chunks that are handed on when they are full.
 *
 * Nothing that was written is gone back to, so a chunk can be handed on at any place: a value of any size takes no more
 * memory than a chunk. The receiver of a chunk owns it.
 */

import { parseInt64 } from "../../lib/numbers.ts";
import { Buffer } from "../../platform/bytes.ts";
import { Crc64 } from "./crc64.ts";
import { compress, PAUSED, Progress } from "./lzf.ts";

/** The checksum of a chunk is taken when it is full: at this length that is no pause to speak of. */
const CHUNK = 64 * 1024;
/** Up to here a loop is faster than a call out of JavaScript. */
const WRITTEN_BY_HAND = 24;
/** Strings up to this length may be integers; longer than that they may be compressed. */
const LONGEST_INTEGER = 11;
const SHORTEST_COMPRESSED = 21;
const KEPT_SCRATCH = 1 << 20;
/** Longer strings are worth writing in pieces, of this length. */
export const LONG_STRING = 128 * 1024;
const PIECE = 64 * 1024;

const TWO_32 = 0x100000000;

let plainScratch = Buffer.allocUnsafeSlow(64 * 1024);
let packedScratch = Buffer.allocUnsafeSlow(64 * 1024);

/** Two buffers of at least this length; large ones are not kept. */
function scratchOf(length: number): { plain: Buffer; packed: Buffer } {
  if (length <= plainScratch.length) return { plain: plainScratch, packed: packedScratch };
  const plain = Buffer.allocUnsafeSlow(length);
  const packed = Buffer.allocUnsafeSlow(length);
  if (length <= KEPT_SCRATCH) {
    plainScratch = plain;
    packedScratch = packed;
  }
  return { plain, packed };
}

export type Sink = (chunk: Buffer) => void;

export class Output {
  /** Whether strings are compressed. */
  readonly #compress: boolean;
  readonly #sink: Sink;
  readonly #crc: Crc64 | null;
  readonly #chunk: number;
  #bytes: Buffer;
  #at = 0;
  #handedOn = 0;

  constructor(sink: Sink, options: { compress: boolean; checksum: boolean; chunkBytes?: number }) {
    this.#sink = sink;
    this.#compress = options.compress;
    this.#crc = options.checksum ? new Crc64() : null;
    this.#chunk = options.chunkBytes ?? CHUNK;
    this.#bytes = Buffer.allocUnsafeSlow(this.#chunk);
  }

  /** How many bytes have been written. */
  get length(): number {
    return this.#handedOn + this.#at;
  }

  /** Hands on what is there. */
  flush(): void {
    if (this.#at === 0) return;
    const full = this.#bytes.subarray(0, this.#at);
    this.#crc?.update(full, 0, full.length);
    this.#handedOn += this.#at;
    this.#at = 0;
    this.#bytes = Buffer.allocUnsafeSlow(this.#chunk);
    this.#sink(full);
  }

  /** Makes room; not for more than a chunk. */
  #reserve(count: number): void {
    if (this.#at + count > this.#bytes.length) this.flush();
  }

  /** The checksum of all that was written; zeros where none is kept. It is the last to be written. */
  checksum(): void {
    this.flush();
    const bytes = Buffer.alloc(8);
    this.#crc?.write(bytes, 0);
    this.raw(bytes, 0, 8);
  }

  // ---------------------------------------------------------------------------------------------- numbers

  byte(value: number): void {
    if (this.#at === this.#bytes.length) this.flush();
    this.#bytes[this.#at++] = value;
  }

  length64(value: number | bigint): void {
    if (typeof value === "number" && value >= 0) this.count(value);
    else {
      this.#reserve(9);
      this.#bytes[this.#at] = 0x81;
      this.#bytes.writeBigUInt64BE(BigInt.asUintN(64, BigInt(value)), this.#at + 1);
      this.#at += 9;
    }
  }

  /** A length or count. */
  count(value: number): void {
    this.#reserve(9);
    const bytes = this.#bytes;
    const at = this.#at;
    if (value < 0x40) {
      bytes[at] = value;
      this.#at = at + 1;
    } else if (value < 0x4000) {
      bytes[at] = 0x40 | (value >> 8);
      bytes[at + 1] = value & 0xff;
      this.#at = at + 2;
    } else if (value < TWO_32) {
      bytes[at] = 0x80;
      bytes.writeUInt32BE(value, at + 1);
      this.#at = at + 5;
    } else {
      bytes[at] = 0x81;
      bytes.writeUInt32BE(Math.floor(value / TWO_32), at + 1);
      bytes.writeUInt32BE(value % TWO_32, at + 5);
      this.#at = at + 9;
    }
  }

  /** An int64, little end first. */
  time(value: number): void {
    this.#reserve(8);
    const high = Math.floor(value / TWO_32);
    this.#bytes.writeUInt32LE(value - high * TWO_32, this.#at);
    this.#bytes.writeInt32LE(Math.max(-0x80000000, Math.min(high, 0x7fffffff)), this.#at + 4);
    this.#at += 8;
  }

  double(value: number): void {
    this.#reserve(8);
    this.#bytes.writeDoubleLE(value, this.#at);
    this.#at += 8;
  }

  // ---------------------------------------------------------------------------------------------- strings

  /** Bytes as they are. */
  raw(source: Buffer, from: number, to: number): void {
    for (let at = from; at < to; ) {
      if (this.#at === this.#bytes.length) this.flush();
      const count = Math.min(to - at, this.#bytes.length - this.#at);
      source.copy(this.#bytes, this.#at, at, at + count);
      this.#at += count;
      at += count;
    }
  }

  /** A word's bytes as they are. */
  text(word: string): void {
    const { length } = word;
    if (length <= WRITTEN_BY_HAND) {
      this.#reserve(length);
      const bytes = this.#bytes;
      let at = this.#at;
      for (let i = 0; i < length; i++) bytes[at++] = word.charCodeAt(i);
      this.#at = at;
      return;
    }
    for (let from = 0; from < length; ) {
      if (this.#at === this.#bytes.length) this.flush();
      const count = Math.min(length - from, this.#bytes.length - this.#at);
      this.#bytes.latin1Write(count === length ? word : word.substring(from, from + count), this.#at, count);
      this.#at += count;
      from += count;
    }
  }

  /** A string: as an integer where it is a small one, compressed where that is shorter. */
  word(word: string): void {
    const { length } = word;
    if (length <= LONGEST_INTEGER) {
      if (length > 0 && word.charCodeAt(0) <= 0x39) {
        const value = parseInt64(word);
        if (typeof value === "number" && this.#integer(value)) return;
      }
    } else if (length >= SHORTEST_COMPRESSED && this.#compress) {
      const { plain, packed } = scratchOf(length);
      plain.latin1Write(word, 0, length);
      if (this.#compressed(plain, 0, length, packed)) return;
    }
    this.count(length);
    this.text(word);
  }

  /** A string that spells an integer. */
  integer(value: number | bigint): void {
    if (typeof value === "number" && this.#integer(value)) return;
    const text = String(value);
    this.count(text.length);
    this.text(text);
  }

  /** Writes an integer in its short form; false if it has none. */
  #integer(value: number): boolean {
    if (value !== (value | 0)) return false;
    this.#reserve(5);
    const bytes = this.#bytes;
    const at = this.#at;
    if (value === (value << 24) >> 24) {
      bytes[at] = 0xc0;
      bytes[at + 1] = value & 0xff;
      this.#at = at + 2;
    } else if (value === (value << 16) >> 16) {
      bytes[at] = 0xc1;
      bytes[at + 1] = value & 0xff;
      bytes[at + 2] = (value >> 8) & 0xff;
      this.#at = at + 3;
    } else {
      bytes[at] = 0xc2;
      bytes.writeInt32LE(value, at + 1);
      this.#at = at + 5;
    }
    return true;
  }

  /** A string from bytes, which are more than an integer has. */
  blob(source: Buffer, from: number, to: number): void {
    const length = to - from;
    if (length >= SHORTEST_COMPRESSED && this.#compress) {
      if (this.#compressed(source, from, length, scratchOf(length).packed)) return;
    }
    this.count(length);
    this.raw(source, from, to);
  }

  /** A string that is longer than LONG_STRING, in pieces: the caller may pause at every `yield`. */
  *longWord(word: string): Generator<void> {
    const { length } = word;
    if (!this.#compress) {
      this.count(length);
      for (let from = 0; from < length; from += PIECE) {
        this.text(word.substring(from, from + PIECE));
        yield;
      }
      return;
    }
    const plain = Buffer.allocUnsafeSlow(length);
    for (let from = 0; from < length; from += PIECE) {
      plain.latin1Write(word.substring(from, from + PIECE), from);
      yield;
    }
    yield* this.longBlob(plain, 0, length);
  }

  /** The same from bytes, which must not change meanwhile. */
  *longBlob(source: Buffer, from: number, to: number): Generator<void> {
    const length = to - from;
    let packed: Buffer | null = null;
    let size = 0;
    if (this.#compress) {
      packed = Buffer.allocUnsafeSlow(length);
      const progress = new Progress();
      size = PAUSED;
      for (let at = from + PIECE; size === PAUSED; at += PIECE) {
        size = compress(source, from, length, packed, length - 4, progress, at);
        yield;
      }
    }
    if (packed !== null && size > 0) {
      this.byte(0xc3);
      this.count(size);
      this.count(length);
      yield* this.#rawPieces(packed, 0, size);
    } else {
      this.count(length);
      yield* this.#rawPieces(source, from, to);
    }
  }

  *#rawPieces(source: Buffer, from: number, to: number): Generator<void> {
    for (let at = from; at < to; at += PIECE) {
      this.raw(source, at, Math.min(to, at + PIECE));
      yield;
    }
  }

  #compressed(source: Buffer, from: number, length: number, packed: Buffer): boolean {
    const size = compress(source, from, length, packed, length - 4);
    if (size === 0) return false;
    this.byte(0xc3);
    this.count(size);
    this.count(length);
    this.raw(packed, 0, size);
    return true;
  }
}
