/** Listpacks, written: one at a time, in a buffer that is used again. See listpack.ts for what is in them. */

import { parseInt64 } from "../../lib/numbers.ts";
import { Buffer } from "../../platform/bytes.ts";

const HEADER = 6;
const MOST_COUNTED = 0xffff;
const FIRST_BYTES = 16 * 1024;
const KEPT_BYTES = 1 << 20;
/** What an entry takes beside its word at most: five bytes before it and five behind. */
const AROUND = 10;
// Up to here a loop is faster than a call out of JavaScript.
const WRITTEN_BY_HAND = 24;
const COPIED_BY_HAND = 48;
/** The longest word of a packed string whose length takes one char. */
const SHORT_WORD = 252;

export class ListpackWriter {
  bytes: Buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
  /** Where the next entry goes. */
  #at = HEADER;
  #count = 0;
  #source: Buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);

  begin(): void {
    this.#at = HEADER;
    this.#count = 0;
    if (this.bytes.length > KEPT_BYTES) this.bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  }

  get count(): number {
    return this.#count;
  }

  /** How long it would be if it ended here. */
  get length(): number {
    return this.#at + 1;
  }

  /** Writes header and end; returns the length of the whole, which begins at bytes[0]. */
  finish(): number {
    this.#reserve(1);
    this.bytes[this.#at] = 0xff;
    const length = this.#at + 1;
    this.bytes.writeUInt32LE(length, 0);
    this.bytes.writeUInt16LE(Math.min(this.#count, MOST_COUNTED), 4);
    return length;
  }

  #reserve(count: number): void {
    const needed = this.#at + count;
    if (needed <= this.bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed + 1, this.bytes.length * 2));
    this.bytes.copy(larger, 0, 0, this.#at);
    this.bytes = larger;
  }

  /** A word; as an integer where it spells one. */
  word(word: string): void {
    const { length } = word;
    if (length > 0 && length <= 20 && word.charCodeAt(0) <= 0x39) {
      const value = parseInt64(word);
      if (value !== undefined) {
        this.integer(value);
        return;
      }
    }
    const start = this.#begin(length);
    let at = this.#at;
    const { bytes } = this;
    if (length <= WRITTEN_BY_HAND) for (let i = 0; i < length; i++) bytes[at++] = word.charCodeAt(i);
    else {
      bytes.latin1Write(word, at, length);
      at += length;
    }
    this.#end(start, at);
  }

  /** All words of a packed string (types/packed.ts), of which none becomes a string of its own but integers. */
  packedWords(packed: string): void {
    const { length } = packed;
    if (length > this.#source.length) this.#source = Buffer.allocUnsafeSlow(length * 2);
    const source = this.#source;
    source.latin1Write(packed, 0, length);
    for (let at = 0; at < length; ) {
      let size = source[at++]!;
      if (size > SHORT_WORD) {
        const width = size === SHORT_WORD + 1 ? 2 : 4;
        size = source.readUIntBE(at, width);
        at += width;
      }
      if (size > 0 && size <= 20 && source[at]! <= 0x39) this.word(packed.substring(at, at + size));
      else this.#copied(source, at, size);
      at += size;
    }
    if (this.#source.length > KEPT_BYTES) this.#source = Buffer.allocUnsafeSlow(FIRST_BYTES);
  }

  #copied(source: Buffer, from: number, length: number): void {
    const start = this.#begin(length);
    const { bytes } = this;
    let at = this.#at;
    if (length > COPIED_BY_HAND) {
      source.copy(bytes, at, from, from + length);
      at += length;
    } else for (let i = from; i < from + length; i++) bytes[at++] = source[i]!;
    this.#end(start, at);
  }

  /** Begins a word's entry; returns where. */
  #begin(length: number): number {
    this.#reserve(length + AROUND);
    const start = this.#at;
    this.#wordHeader(length);
    return start;
  }

  #wordHeader(length: number): void {
    const { bytes } = this;
    const at = this.#at;
    if (length < 64) {
      bytes[at] = 0x80 | length;
      this.#at = at + 1;
    } else if (length < 4096) {
      bytes[at] = 0xe0 | (length >> 8);
      bytes[at + 1] = length & 0xff;
      this.#at = at + 2;
    } else {
      bytes[at] = 0xf0;
      bytes.writeUInt32LE(length, at + 1);
      this.#at = at + 5;
    }
  }

  integer(value: number | bigint): void {
    this.#reserve(9 + AROUND);
    const { bytes } = this;
    const at = this.#at;
    if (typeof value === "bigint" || value !== (value | 0)) {
      bytes[at] = 0xf4;
      bytes.writeBigInt64LE(BigInt.asIntN(64, BigInt(value)), at + 1);
      this.#end(at, at + 9);
    } else if (value >= 0 && value <= 127) {
      bytes[at] = value;
      this.#end(at, at + 1);
    } else if (value >= -4096 && value <= 4095) {
      bytes[at] = 0xc0 | ((value >> 8) & 0x1f);
      bytes[at + 1] = value & 0xff;
      this.#end(at, at + 2);
    } else {
      const width = value === (value << 16) >> 16 ? 2 : value === (value << 8) >> 8 ? 3 : 4;
      bytes[at] = 0xf1 + width - 2;
      for (let i = 0; i < width; i++) bytes[at + 1 + i] = (value >> (8 * i)) & 0xff;
      this.#end(at, at + 1 + width);
    }
  }

  /** Ends the entry between two places: its length goes behind it, seven bits a byte, the last bits last. */
  #end(start: number, end: number): void {
    const { bytes } = this;
    const size = end - start;
    this.#count++;
    if (size <= 127) {
      bytes[end] = size;
      this.#at = end + 1;
      return;
    }
    const width = size < 16383 ? 2 : size < 2097151 ? 3 : size < 268435455 ? 4 : 5;
    let rest = size;
    for (let i = end + width - 1; i >= end; i--) {
      bytes[i] = (rest & 0x7f) | (i === end ? 0 : 0x80);
      rest = Math.floor(rest / 128);
    }
    this.#at = end + width;
  }
}
