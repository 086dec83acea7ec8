/**
 * String values, and the growable byte array that a string turns into at its first partial write.
 *
 * APPEND, SETRANGE, SETBIT and BITFIELD in a loop would copy an immutable string every time; a Bytes has room to spare and
 * changes in place. Reading a value never converts it: the helpers below answer for all the forms a string value takes.
 */

import { STRING_TOO_LONG } from "../core/errors.ts";
import { LONGEST_WORD } from "../core/longest-string.ts";
import { parseInt64 } from "../lib/numbers.ts";
import { Buffer } from "../platform/bytes.ts";
import { soon } from "../platform/timers.ts";
import { stringBytes } from "./collection.ts";

/** A string, by the leanest JavaScript value that says its encoding: see value.ts. */
export type StringValue = string | number | bigint | Bytes;

const MEGABYTE = 1 << 20;
/** What a Bytes and its Buffer take beside the bytes themselves. */
const OVERHEAD = 200;
/** Redis keeps strings up to this length in one piece with their header. */
const EMBSTR_MAX = 44;

/** From this length on a value that is read several times in one turn of the event loop is made a word once. */
const LARGE = 1024;

/** What was read in this turn: MGET, transactions and scripts may name one value thousands of times. */
const texts = new Map<Bytes, string>();
const forgetAll = () => texts.clear();

/** How much room to make for `needed` bytes: twice that while small, less of a surplus when large. */
function roomFor(needed: number): number {
  if (needed < MEGABYTE) return Math.max(16, needed * 2);
  return needed + (needed >>> 2) + MEGABYTE;
}

/** A byte array that grows. Bytes beyond `length` are always zero, so that growing needs no filling. */
export class Bytes {
  #buffer: Buffer;
  #length: number;

  constructor(buffer: Buffer = Buffer.alloc(0)) {
    this.#buffer = buffer;
    this.#length = buffer.length;
  }

  static from(word: string): Bytes {
    const buffer = Buffer.allocUnsafeSlow(word.length);
    buffer.latin1Write(word, 0, word.length);
    return new Bytes(buffer);
  }

  get length(): number {
    return this.#length;
  }

  /**
   * The memory below, for loops over many bytes. Only the first `length` bytes count; growing replaces it. A writer
   * asks for it first, and does not read the text in between.
   */
  get raw(): Buffer {
    if (texts.size > 0) texts.delete(this);
    return this.#buffer;
  }

  get sizeBytes(): number {
    return this.#buffer.length + OVERHEAD;
  }

  /** The byte at an index; 0 beyond the end. */
  at(index: number): number {
    return index < this.#length ? this.#buffer[index]! : 0;
  }

  /** Sets a byte, growing with zeros where the index is beyond the end. */
  put(index: number, byte: number): void {
    if (texts.size > 0) texts.delete(this);
    this.grow(index + 1);
    this.#buffer[index] = byte;
  }

  append(word: string): void {
    this.write(this.#length, word);
  }

  /** Writes over what is there, and further; a gap before the offset is zeros. An empty word changes nothing. */
  write(offset: number, word: string): void {
    if (word.length === 0) return;
    if (texts.size > 0) texts.delete(this);
    this.grow(offset + word.length);
    this.#buffer.latin1Write(word, offset, word.length);
  }

  /** Makes it at least this long, with zeros at the end. */
  grow(length: number): void {
    if (length <= this.#length) return;
    if (texts.size > 0) texts.delete(this);
    if (length > this.#buffer.length) {
      const buffer = Buffer.alloc(this.#length === 0 ? length : roomFor(length));
      this.#buffer.copy(buffer, 0, 0, this.#length);
      this.#buffer = buffer;
    }
    this.#length = length;
  }

  /** Cuts it or grows it with zeros. */
  resize(length: number): void {
    if (length >= this.#length) {
      this.grow(length);
      return;
    }
    if (texts.size > 0) texts.delete(this);
    this.#buffer.fill(0, length, this.#length);
    this.#length = length;
  }

  /**
   * The bytes from start (inclusive) to end (exclusive), as a word. A value of 512 MB that was loaded from a file of Redis's
   * is longer than any word: bits and ranges of it can be read, the whole cannot.
   */
  slice(start: number, end: number): string {
    const stop = Math.min(end, this.#length);
    if (stop - start > LONGEST_WORD) throw STRING_TOO_LONG;
    return this.#buffer.latin1Slice(start, stop);
  }

  /** All of it, as a word. */
  text(): string {
    if (this.#length < LARGE) return this.slice(0, this.#length);
    let text = texts.get(this);
    if (text === undefined) {
      text = this.slice(0, this.#length);
      if (texts.size === 0) soon(forgetAll);
      texts.set(this, text);
    }
    return text;
  }

  /** The bit at an offset, counted from the highest bit of the first byte; 0 beyond the end. */
  getBit(offset: number): 0 | 1 {
    return ((this.at(Math.floor(offset / 8)) >> (7 - (offset % 8))) & 1) as 0 | 1;
  }

  /** Sets a bit, growing as needed; answers what it was. */
  setBit(offset: number, bit: 0 | 1): 0 | 1 {
    const index = Math.floor(offset / 8);
    if (texts.size > 0) texts.delete(this);
    this.grow(index + 1);
    const shift = 7 - (offset % 8);
    const byte = this.#buffer[index]!;
    this.#buffer[index] = (byte & ~(1 << shift)) | (bit << shift);
    return ((byte >> shift) & 1) as 0 | 1;
  }

  clone(): Bytes {
    const buffer = Buffer.allocUnsafeSlow(this.#length);
    this.#buffer.copy(buffer, 0, 0, this.#length);
    return new Bytes(buffer);
  }
}

/** A string value as a word. */
export function textOf(value: StringValue): string {
  if (typeof value === "string") return value;
  if (typeof value === "object") return value.text();
  return String(value);
}

export function lengthOf(value: StringValue): number {
  if (typeof value === "string" || typeof value === "object") return value.length;
  return String(value).length;
}

/** The encoding as OBJECT ENCODING names it. */
export function encodingOf(value: StringValue): "int" | "embstr" | "raw" {
  if (typeof value === "string") return value.length <= EMBSTR_MAX ? "embstr" : "raw";
  return typeof value === "object" ? "raw" : "int";
}

/** The leanest form of a whole word that is stored: an integer where the word is the one spelling of an int64. */
export function encodeString(word: string): StringValue {
  return word.length > 20 ? word : (parseInt64(word) ?? word);
}

/** A value's bytes for changing: a fresh copy of the leaner forms, a Bytes itself. */
export function bytesOf(value: StringValue): Bytes {
  return typeof value === "object" ? value : Bytes.from(textOf(value));
}

/** What a string value takes in memory beyond the place that points to it. */
export function sizeOfString(value: StringValue): number {
  switch (typeof value) {
    case "string":
      return stringBytes(value.length);
    case "number":
      return value === (value | 0) ? 0 : 16;
    case "bigint":
      return 24;
    default:
      return value.sizeBytes;
  }
}
