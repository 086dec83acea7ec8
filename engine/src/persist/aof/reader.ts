/**
 * Reads the commands of an append-only file, strictly: what is not exactly as it should be is an error with its offset. A
 * file that ends too early is told from one that is wrong, since the first is what a crash leaves behind.
 */

import { LONGEST_WORD } from "../../core/longest-string.ts";
import { Buffer } from "../../platform/bytes.ts";
import { closeSync, fstatSync, openSync, readSync } from "../../platform/files.ts";
import { AofError } from "./error.ts";

const READ_BYTES = 1 << 20;
const CR = 13;
const LF = 10;
const STAR = 0x2a;
const DOLLAR = 0x24;
const HASH = 0x23;
/** No line that announces a count or a length, and no annotation, is longer. */
const LONGEST_LINE = 128 * 1024;
const MOST_WORDS = 2147483647;

/** More bytes are needed. */
const INCOMPLETE = -1;

export class AofReader {
  readonly path: string;
  readonly size: number;
  readonly #descriptor: number;
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;
  /** Where in the file #bytes begins. */
  #base: number;
  /** Told every annotation, without its sign, and where it stands. */
  onAnnotation: ((text: string, offset: number) => void) | null = null;
  /** How many bytes from #at on the next attempt needs, as far as that is known. */
  #needed = 0;

  constructor(path: string, from = 0) {
    this.path = path;
    this.#descriptor = openSync(path, "r");
    this.size = fstatSync(this.#descriptor).size;
    this.#base = from;
  }

  /** How far it has come: everything before this was sound. */
  get offset(): number {
    return this.#base + this.#at;
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  /** The next command; undefined at the end. Throws AofError. */
  next(): string[] | undefined {
    for (;;) {
      const words = this.#command();
      if (words !== undefined) return words;
      if (this.#more()) continue;
      if (this.#at === this.#bytes.length) return undefined;
      throw new AofError("truncated", this.path, this.offset, "the file ends in the middle of a command");
    }
  }

  /** Reads on; false at the end of the file. */
  #more(): boolean {
    const rest = this.#bytes.length - this.#at;
    const left = this.size - (this.#base + this.#bytes.length);
    const want = Math.min(left, Math.max(READ_BYTES, this.#needed - rest));
    if (want <= 0) return false;
    const bytes = Buffer.allocUnsafe(rest + want);
    this.#bytes.copy(bytes, 0, this.#at);
    this.#base += this.#at;
    let filled = rest;
    while (filled < bytes.length) {
      const read = readSync(this.#descriptor, bytes, filled, bytes.length - filled, this.#base + filled);
      if (read === 0) break;
      filled += read;
    }
    this.#bytes = bytes.subarray(0, filled);
    this.#at = 0;
    return filled > rest;
  }

  #wrong(at: number, reason: string): AofError {
    // The place is the command's: that is where a repair would cut.
    return new AofError("format", this.path, this.offset, `${reason} (byte ${this.#base + at})`);
  }

  #command(): string[] | undefined {
    const bytes = this.#bytes;
    while (bytes[this.#at] === HASH) {
      const end = bytes.indexOf(LF, this.#at);
      if (end < 0 && bytes.length - this.#at > LONGEST_LINE) throw this.#wrong(this.#at, "a line without an end");
      if (end < 0) return undefined;
      this.onAnnotation?.(bytes.latin1Slice(this.#at + 1, end).trimEnd(), this.offset);
      this.#at = end + 1;
    }
    if (this.#at === bytes.length) return undefined;
    let at = this.#at;
    if (bytes[at] !== STAR) throw this.#wrong(at, "expected a command, which begins with '*'");
    const count = this.#number(at + 1);
    if (count === INCOMPLETE) return undefined;
    if (count < 1 || count > MOST_WORDS) throw this.#wrong(at, "a command of no words, or of too many");
    at = this.#end;
    const words: string[] = [];
    for (let i = 0; i < count; i++) {
      if (at >= bytes.length) return undefined;
      if (bytes[at] !== DOLLAR) throw this.#wrong(at, "expected the length of a word, which begins with '$'");
      const length = this.#number(at + 1);
      if (length === INCOMPLETE) return undefined;
      if (length > LONGEST_WORD) throw this.#wrong(at, "a word that is too long");
      const start = this.#end;
      const stop = start + length;
      if (stop + 2 > bytes.length) {
        this.#needed = stop + 2 - this.#at;
        // What is there of the end of the word must be right, or the length was wrong.
        if (stop < bytes.length && bytes[stop] !== CR) throw this.#wrong(stop, "a word does not end where it should");
        return undefined;
      }
      if (bytes[stop] !== CR || bytes[stop + 1] !== LF) throw this.#wrong(stop, "a word does not end where it should");
      words.push(bytes.latin1Slice(start, stop));
      at = stop + 2;
    }
    this.#at = at;
    this.#needed = 0;
    return words;
  }

  /** Behind the last number. */
  #end = 0;

  #number(start: number): number {
    const bytes = this.#bytes;
    let value = 0;
    let at = start;
    for (; at < bytes.length; at++) {
      const digit = bytes[at]! - 0x30;
      if (digit < 0 || digit > 9) break;
      value = value * 10 + digit;
      if (at - start > 15) throw this.#wrong(start, "a number that is too long");
    }
    if (at >= bytes.length) return INCOMPLETE;
    if (at === start || bytes[at] !== CR) throw this.#wrong(at, "expected a number");
    if (at + 1 >= bytes.length) return INCOMPLETE;
    if (bytes[at + 1] !== LF) throw this.#wrong(at + 1, "expected the end of a line");
    this.#end = at + 2;
    return value;
  }
}
