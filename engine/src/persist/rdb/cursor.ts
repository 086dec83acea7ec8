/**
 * Reads an RDB's bytes: numbers, lengths and strings, from a buffer that may end in the middle of any of them.
 *
 * Bytes come in pieces, from a file or a socket. Rather than to keep a state for every place where a piece may end, a
 * reader just reads; where bytes are missing it throws UNDERFLOW, the cursor goes back to its mark, and the same step is
 * tried again when `needed` bytes are there. Marks are set after every element, so that no step is long.
 */

import { LONGEST_WORD } from "../../core/longest-string.ts";
import { Buffer } from "../../platform/bytes.ts";
import { Bytes, encodeString, type StringValue } from "../../types/bytes.ts";
import type { Entries } from "./entries.ts";
import { RdbError } from "./errors.ts";
import { BEST_RATIO, expand } from "./lzf.ts";

/** Thrown where more bytes are needed than there are. */
export const UNDERFLOW = { underflow: true } as const;

const TWO_32 = 0x100000000;
/** The longest string that is read: as a value. As a word it must fit a JavaScript string. */
const LONGEST_STRING = 1 << 30;
/** A scratch buffer that had to grow past this is not kept. */
const KEPT_SCRATCH = 1 << 20;

// The special forms of a string, as `#lengthOrForm` returns them; -3 is an int32.
const INT8 = -1;
const INT16 = -2;
const LZF = -4;

let scratch = Buffer.allocUnsafeSlow(64 * 1024);

function scratchOf(length: number): Buffer {
  if (length <= scratch.length) return scratch;
  const larger = Buffer.allocUnsafeSlow(length);
  if (length <= KEPT_SCRATCH) scratch = larger;
  return larger;
}

/** The bytes of a string that holds a whole collection. Valid until the next string is read. */
export class Blob {
  bytes: Buffer = Buffer.alloc(0);
  start = 0;
  end = 0;
  /** Where the string begins in the file, and whether its bytes stand there as they are. */
  offset = 0;
  plain = true;

  /** An error at a place in it. */
  corrupt(at: number, reason: string): RdbError {
    return new RdbError("corrupt", reason, this.plain ? this.offset + at - this.start : this.offset);
  }
}

export class Cursor {
  bytes: Buffer = Buffer.alloc(0);
  at = 0;
  end = 0;
  /** The offset of bytes[0] in the whole. */
  base = 0;
  /** Where the current step began. */
  mark = 0;
  /** After an UNDERFLOW: how many bytes there must be from the mark on. */
  needed = 0;
  readonly #blob = new Blob();

  get offset(): number {
    return this.base + this.at;
  }

  /** Ends a step: what was read up to here is not read again. */
  commit(): void {
    this.mark = this.at;
  }

  corrupt(reason: string): RdbError {
    return new RdbError("corrupt", reason, this.offset);
  }

  /** Makes sure that so many bytes are there. */
  need(count: number): void {
    if (this.end - this.at >= count) return;
    this.needed = this.at - this.mark + count;
    throw UNDERFLOW;
  }

  byte(): number {
    if (this.at >= this.end) this.need(1);
    return this.bytes[this.at++]!;
  }

  /** The start of so many bytes, which are passed. */
  skip(count: number): number {
    this.need(count);
    const start = this.at;
    this.at += count;
    return start;
  }

  /** An int64, little end first, to the nearest double: times in milliseconds. */
  time(): number {
    const at = this.skip(8);
    return this.bytes.readInt32LE(at + 4) * TWO_32 + this.bytes.readUInt32LE(at);
  }

  double(): number {
    const at = this.skip(8);
    return this.bytes.readDoubleLE(at);
  }

  /** So many bytes as a word. */
  slice(count: number): string {
    const start = this.skip(count);
    return this.bytes.latin1Slice(start, start + count);
  }

  // ---------------------------------------------------------------------------------------------- lengths

  /** A length to the nearest double, or the special form of a string that stands in its place. */
  #lengthOrForm(): number {
    const first = this.byte();
    if (first < 0x40) return first;
    if (first < 0x80) return ((first & 0x3f) << 8) | this.byte();
    if (first === 0x80) return this.bytes.readUInt32BE(this.skip(4));
    if (first === 0x81) {
      const at = this.skip(8);
      return this.bytes.readUInt32BE(at) * TWO_32 + this.bytes.readUInt32BE(at + 4);
    }
    if (first < 0xc0 || first > 0xc3) {
      this.at--;
      throw this.corrupt(`no length begins with 0x${first.toString(16)}`);
    }
    return INT8 - (first & 3);
  }

  /** A length or count, to the nearest double. */
  length(): number {
    const start = this.at;
    const length = this.#lengthOrForm();
    if (length >= 0) return length;
    this.at = start;
    throw this.corrupt("a string where a length should be");
  }

  /** An unsigned 64-bit number that is written like a length, exactly. */
  length64(): number | bigint {
    if (this.at >= this.end) this.need(1);
    if (this.bytes[this.at] !== 0x81) return this.length();
    const at = this.skip(9);
    const high = this.bytes.readUInt32BE(at + 1);
    if (high < 0x200000) return high * TWO_32 + this.bytes.readUInt32BE(at + 5);
    return this.bytes.readBigUInt64BE(at + 1);
  }

  // ---------------------------------------------------------------------------------------------- strings

  #integer(form: number): number {
    if (form === INT8) return (this.byte() << 24) >> 24;
    if (form === INT16) return this.bytes.readInt16LE(this.skip(2));
    return this.bytes.readInt32LE(this.skip(4));
  }

  /** Expands a compressed string; returns its length, and leaves its bytes at the beginning of the buffer returned. */
  #expanded(): { bytes: Buffer; length: number } {
    const start = this.offset;
    const packed = this.length();
    const length = this.length();
    if (length > LONGEST_STRING || packed > LONGEST_STRING || length > packed * BEST_RATIO) {
      throw new RdbError("corrupt", `${packed} compressed bytes cannot be ${length}`, start);
    }
    const from = this.skip(packed);
    const bytes = scratchOf(length);
    if (!expand(this.bytes, from, from + packed, bytes, length)) {
      throw new RdbError("corrupt", "a compressed string does not expand to its length", start);
    }
    return { bytes, length };
  }

  /** A string as a word. */
  word(): string {
    const start = this.at;
    const length = this.#lengthOrForm();
    if (length >= 0) {
      if (length > LONGEST_WORD) throw this.#tooLong(start, length);
      return this.slice(length);
    }
    if (length !== LZF) return String(this.#integer(length));
    const expanded = this.#expanded();
    if (expanded.length > LONGEST_WORD) throw this.#tooLong(start, expanded.length);
    return expanded.bytes.latin1Slice(0, expanded.length);
  }

  #tooLong(start: number, length: number): RdbError {
    this.at = start;
    return this.corrupt(`a string of ${length} bytes is too long`);
  }

  /** A string as the value of a key. */
  stringValue(): StringValue {
    const start = this.at;
    const length = this.#lengthOrForm();
    if (length < 0 && length !== LZF) return this.#integer(length);
    if (length === LZF) {
      const expanded = this.#expanded();
      return this.#value(expanded.bytes, 0, expanded.length);
    }
    if (length > LONGEST_STRING) throw this.#tooLong(start, length);
    const from = this.skip(length);
    return this.#value(this.bytes, from, from + length);
  }

  #value(bytes: Buffer, from: number, to: number): StringValue {
    if (to - from <= LONGEST_WORD) return encodeString(bytes.latin1Slice(from, to));
    const copy = Buffer.allocUnsafeSlow(to - from);
    bytes.copy(copy, 0, from, to);
    return new Bytes(copy);
  }

  /** A string as the next of some entries. */
  wordInto(entries: Entries): void {
    const start = this.at;
    const length = this.#lengthOrForm();
    if (length >= 0) {
      if (length > LONGEST_WORD) throw this.#tooLong(start, length);
      const from = this.skip(length);
      entries.addBytes(this.bytes, from, from + length);
    } else if (length === LZF) {
      const expanded = this.#expanded();
      if (expanded.length > LONGEST_WORD) throw this.#tooLong(start, expanded.length);
      entries.addBytes(expanded.bytes, 0, expanded.length);
    } else entries.addInt(this.#integer(length));
  }

  /** A string that holds a collection. */
  blob(): Blob {
    const blob = this.#blob;
    const start = this.at;
    const length = this.#lengthOrForm();
    if (length === LZF) {
      const expanded = this.#expanded();
      blob.bytes = expanded.bytes;
      blob.start = 0;
      blob.end = expanded.length;
      blob.offset = this.base + start;
      blob.plain = false;
      return blob;
    }
    if (length > LONGEST_STRING) throw this.#tooLong(start, length);
    if (length < 0) {
      this.at = start;
      throw this.corrupt("a number where a collection should be");
    }
    blob.start = this.skip(length);
    blob.bytes = this.bytes;
    blob.end = this.at;
    blob.offset = this.base + blob.start;
    blob.plain = true;
    return blob;
  }
}
