/**
 * The words of a collection on their way from a file into memory, in the very form that a small collection is kept in: the
 * layout of types/packed.ts, in a buffer that is used again and again. So a small hash or list goes from the file's bytes
 * to its string with one copy and one string made, and no word of it becomes a JavaScript object.
 *
 * Beside the bytes it knows where each word is, and its number where it came as one.
 */

import { hashBytes } from "../../core/word-hash.ts";
import { parseInt64 } from "../../lib/numbers.ts";
import { Buffer, MOST_BYTES } from "../../platform/bytes.ts";

const SHORT = 252;
const FIRST_BYTES = 16 * 1024;
const FIRST_WORDS = 512;
const KEPT_BYTES = 1 << 20;
const KEPT_WORDS = 1 << 16;
/** Up to here a loop is faster than a call out of JavaScript. */
const COPIED_BY_HAND = 48;

/** Words by hash, to find those that occur twice. What is not above `floor` was left by an earlier look. */
let slots = new Int32Array(1024);
let floor = 0;

export class Entries {
  count = 0;
  /** The length of the longest word. */
  longest = 0;
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #at = 0;
  #starts = new Int32Array(FIRST_WORDS);
  #ends = new Int32Array(FIRST_WORDS);
  /** NaN for words that did not come as numbers, or as ones that doubles cannot hold. */
  #numbers = new Float64Array(FIRST_WORDS);

  reset(): void {
    this.count = 0;
    this.longest = 0;
    this.#at = 0;
    if (this.#bytes.length > KEPT_BYTES) this.#bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
    if (this.#starts.length > KEPT_WORDS) {
      this.#starts = new Int32Array(FIRST_WORDS);
      this.#ends = new Int32Array(FIRST_WORDS);
      this.#numbers = new Float64Array(FIRST_WORDS);
    }
  }

  /** What all words take when packed. */
  get packedLength(): number {
    return this.#at;
  }

  // ---------------------------------------------------------------------------------------------- adding

  /** Makes room for a word of this length, and notes where it is; returns where its bytes go. */
  #place(length: number, number: number): number {
    const room = this.#at + length + 5;
    if (room > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(room, Math.min(this.#bytes.length * 2, MOST_BYTES)));
      this.#bytes.copy(larger, 0, 0, this.#at);
      this.#bytes = larger;
    }
    const index = this.count++;
    if (index === this.#starts.length) this.#growIndex();
    const bytes = this.#bytes;
    let at = this.#at;
    if (length <= SHORT) bytes[at++] = length;
    else if (length <= 0xffff) {
      bytes[at] = 253;
      bytes[at + 1] = length >> 8;
      bytes[at + 2] = length & 0xff;
      at += 3;
    } else {
      bytes[at] = 254;
      bytes.writeUInt32BE(length, at + 1);
      at += 5;
    }
    this.#starts[index] = at;
    this.#ends[index] = this.#at = at + length;
    this.#numbers[index] = number;
    if (length > this.longest) this.longest = length;
    return at;
  }

  #growIndex(): void {
    const length = this.#starts.length * 2;
    const starts = new Int32Array(length);
    const ends = new Int32Array(length);
    const numbers = new Float64Array(length);
    starts.set(this.#starts);
    ends.set(this.#ends);
    numbers.set(this.#numbers);
    this.#starts = starts;
    this.#ends = ends;
    this.#numbers = numbers;
  }

  addBytes(source: Buffer, from: number, to: number): void {
    const at = this.#place(to - from, Number.NaN);
    const bytes = this.#bytes;
    if (to - from > COPIED_BY_HAND) source.copy(bytes, at, from, to);
    else for (let i = from, j = at; i < to; i++, j++) bytes[j] = source[i]!;
  }

  /** Adds a word of at most 252 bytes. */
  addShort(source: Buffer, from: number, length: number): void {
    const index = this.count;
    let at = this.#at;
    if (at + length >= this.#bytes.length || index === this.#starts.length) {
      this.addBytes(source, from, from + length);
      return;
    }
    const bytes = this.#bytes;
    bytes[at++] = length;
    this.#starts[index] = at;
    for (let i = from, end = from + length; i < end; i++) bytes[at++] = source[i]!;
    this.#ends[index] = at;
    this.#numbers[index] = Number.NaN;
    this.#at = at;
    this.count = index + 1;
    if (length > this.longest) this.longest = length;
  }

  /** Adds an integer that a double holds exactly, as the text that it stands for. */
  addInt(value: number): void {
    if (value < 0 || value > 0x7fffffff) {
      this.#addText(String(value), value);
      return;
    }
    let digits = 1;
    for (let limit = 10; value >= limit; limit *= 10) digits++;
    const at = this.#place(digits, value);
    let rest = value;
    for (let i = at + digits - 1; i >= at; i--) {
      const tenth = Math.floor(rest / 10);
      this.#bytes[i] = 0x30 + rest - tenth * 10;
      rest = tenth;
    }
  }

  /** Adds the int64 whose little end stands first at this place. */
  addInt64(source: Buffer, at: number): void {
    const value = source.readInt32LE(at + 4) * 4294967296 + source.readUInt32LE(at);
    if (Number.isSafeInteger(value)) {
      this.addInt(value);
      return;
    }
    this.#addText(String(source.readBigInt64LE(at)), Number.NaN);
  }

  #addText(text: string, number: number): void {
    const at = this.#place(text.length, number);
    this.#bytes.latin1Write(text, at, text.length);
  }

  // ---------------------------------------------------------------------------------------------- reading

  /** All words in one packed string. */
  text(): string {
    return this.#bytes.latin1Slice(0, this.#at);
  }

  /** One word, sharing memory with nothing. */
  word(index: number): string {
    return this.#bytes.latin1Slice(this.#starts[index], this.#ends[index]);
  }

  words(): string[] {
    const words: string[] = [];
    for (let i = 0; i < this.count; i++) words.push(this.word(i));
    return words;
  }

  /** The number that a word came as, NaN if it did not. */
  number(index: number): number {
    return this.#numbers[index]!;
  }

  /** The int64 that a word stands for, undefined if it does not. */
  int(index: number): number | bigint | undefined {
    const number = this.#numbers[index]!;
    if (!Number.isNaN(number)) return number;
    return this.#ends[index]! - this.#starts[index]! > 20 ? undefined : parseInt64(this.word(index));
  }

  /** Whether one of every `stride`-th words occurs twice. */
  hasDuplicates(stride: number): boolean {
    const { count } = this;
    if (count <= stride) return false;
    this.#clearSlots(count);
    const mask = slots.length - 1;
    for (let i = 0; i < count; i += stride) {
      let slot = hashBytes(this.#bytes, this.#starts[i]!, this.#ends[i]!) & mask;
      for (; slots[slot]! > floor; slot = (slot + 1) & mask) if (this.#equal(slots[slot]! - floor - 1, i)) return true;
      slots[slot] = floor + 1 + i;
    }
    return false;
  }

  #clearSlots(count: number): void {
    floor += slots.length;
    if (count * 2 <= slots.length && floor < 0x70000000) return;
    let length = 1024;
    while (length < count * 2) length *= 2;
    slots = new Int32Array(length);
    floor = 0;
  }

  #equal(a: number, b: number): boolean {
    const bytes = this.#bytes;
    let i = this.#starts[a]!;
    let j = this.#starts[b]!;
    const end = this.#ends[a]!;
    if (end - i !== this.#ends[b]! - j) return false;
    for (; i < end; i++, j++) if (bytes[i] !== bytes[j]) return false;
    return true;
  }
}
