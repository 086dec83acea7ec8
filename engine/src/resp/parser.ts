/**
 * Bytes to commands: RESP arrays of bulk strings, and inline commands as a person types them.
 *
 * Bytes come in chunks of any size. What is complete is taken out word by word; the rest of a command stays until the next
 * chunk. Nothing is reserved because a client said how much is coming: an array grows as its words arrive, and a large word
 * is gathered in a buffer that doubles up to its length.
 *
 * Limits and what breaks them are Redis's: see `limits` and the error texts, which were asked of a real server.
 */

import type { ReplyError } from "../core/errors.ts";
import { LONGEST_WORD } from "../core/longest-string.ts";
import { protocolError } from "../core/rare-errors.ts";
import { Buffer } from "../platform/bytes.ts";
import { wordOf } from "../platform/short-word.ts";
import { splitWords } from "./split-words.ts";
import { cachedKey, cachedWord } from "./word-cache.ts";

const CR = 13;
const LF = 10;
const STAR = 0x2a;
const DOLLAR = 0x24;
const MINUS = 0x2d;
const SPACE = 0x20;
const QUOTE = 0x22;
const APOSTROPHE = 0x27;

/** An inline command, and each line that announces a count or a length. */
const MAX_LINE = 64 * 1024;
/** Inline commands of up to so many bytes are usual. */
const USUAL_LINE = 256;
const MAX_WORDS = 2147483647;
/** From this length on a word is gathered in a buffer of its own. */
const LARGE = 32 * 1024;
/** What a word takes beside its bytes: the string's header, and its place in an array that grows by half. */
const WORD_BYTES = 32;
/** From this one on, words of a command that are longer than a few digits are not looked for among those seen lately. */
const FIRST_SELDOM = 16;
const LONGEST_USUAL = 3;
/** A larger buffer is not kept for the next large word. */
const MAX_SPARE = 4 * 1024 * 1024;

export interface ParserLimits {
  /** proto-max-bulk-len. */
  maxWordBytes: number;
  /** Before AUTH: at most 10 words of at most 16 KB. */
  unauthenticated: boolean;
}

const EMPTY = Buffer.alloc(0);
const NO_WORDS: string[] = [];

/** Returned by `#length` for a line that is not complete yet. */
const INCOMPLETE = Number.POSITIVE_INFINITY;
const INVALID = Number.NaN;

export class RequestParser {
  readonly limits: ParserLimits;
  #buffer: Buffer = EMPTY;
  /** Our own memory that `#buffer` is the front of, with room behind it; null where it is a chunk as it came. */
  #store: Buffer | null = null;
  #at = 0;
  /** Where the commands begin that are being taken out now. */
  #batchAt = 0;
  /** Words still to come in the command that is being read; 0 between commands. */
  #missing = 0;
  #words: string[] = [];
  /** Length of the word that is being read; -1 while its line is. */
  #wordLength = -1;
  /** A large word that is being gathered. */
  #large: Buffer | null = null;
  #largeFilled = 0;
  /** Memory of the last large word, for the next one; housekeeping takes it. */
  #spare: Buffer | null = null;
  /** The most that was pending since housekeeping looked. */
  #peak = 0;
  /** What the words of the unfinished command take. */
  #wordBytes = 0;
  #failed = false;

  constructor(limits: ParserLimits) {
    this.limits = limits;
  }

  /** Bytes that were fed and not yet taken. */
  get pendingBytes(): number {
    return this.#buffer.length - this.#at + this.#largeFilled;
  }

  /** Bytes that were taken since `beginBatch`. */
  get takenBytes(): number {
    return Math.max(0, this.#at - this.#batchAt);
  }

  /** The next commands are a new batch: Redis keeps what it reads until all of it is run, and CLIENT LIST shows that. */
  beginBatch(): void {
    this.#batchAt = this.#at;
  }

  /** What the words take that have been read of an unfinished command. */
  get wordBytes(): number {
    return this.#missing === 0 ? 0 : this.#wordBytes;
  }

  /** How long they are. */
  get wordLengths(): number {
    return this.#missing === 0 ? 0 : this.#wordBytes - this.#words.length * WORD_BYTES;
  }

  /** Room in the buffers beside what is pending. */
  get freeBytes(): number {
    let bytes = this.#spare?.length ?? 0;
    if (this.#large !== null) bytes += this.#large.length - this.#largeFilled;
    if (this.#store !== null) bytes += this.#store.length - this.#buffer.length;
    return bytes;
  }

  /** What an unfinished command takes in all. */
  get memoryBytes(): number {
    return this.pendingBytes + this.wordBytes + this.freeBytes;
  }

  /** Lets go of memory that has not been needed since the last time. */
  shrink(): void {
    if (this.#spare !== null && this.#peak < this.#spare.length / 2) this.#spare = null;
    this.#peak = this.pendingBytes;
  }

  feed(chunk: Buffer): void {
    if (this.#large !== null) chunk = this.#gather(chunk, this.#large);
    const rest = this.#buffer.length - this.#at;
    if (rest > chunk.length) {
      this.#append(chunk);
      return;
    }
    this.#buffer = rest === 0 ? chunk : Buffer.concat([this.#buffer.subarray(this.#at), chunk]);
    this.#store = null;
    this.#at = 0;
  }

  /** What was fed and not taken is copied: the memory that it came in is about to be used again. */
  keep(): void {
    const rest = this.#buffer.length - this.#at;
    if (rest === 0 || this.#store !== null) return;
    this.#store = Buffer.allocUnsafeSlow(rest * 2);
    this.#buffer.copy(this.#store, 0, this.#at);
    this.#buffer = this.#store.subarray(0, rest);
    this.#at = 0;
  }

  /** Puts a chunk behind more than its own length: into memory that doubles, so that many small ones do not copy it all. */
  #append(chunk: Buffer): void {
    const used = this.#buffer.length;
    if (this.#store !== null && used + chunk.length <= this.#store.length) {
      chunk.copy(this.#store, used);
      this.#buffer = this.#store.subarray(0, used + chunk.length);
      return;
    }
    const rest = used - this.#at;
    this.#store = Buffer.allocUnsafeSlow((rest + chunk.length) * 2);
    this.#buffer.copy(this.#store, 0, this.#at);
    chunk.copy(this.#store, rest);
    this.#buffer = this.#store.subarray(0, rest + chunk.length);
    this.#at = 0;
  }

  /** Moves bytes of a large word from a chunk; returns the rest of the chunk. */
  #gather(chunk: Buffer, large: Buffer): Buffer {
    const need = this.#wordLength - this.#largeFilled;
    const take = Math.min(need, chunk.length);
    const filled = this.#largeFilled + take;
    let into = large;
    if (filled > large.length) {
      into = Buffer.allocUnsafeSlow(Math.min(this.#wordLength, Math.max(filled, large.length * 2)));
      large.copy(into, 0, 0, this.#largeFilled);
      this.#large = into;
    }
    chunk.copy(into, this.#largeFilled, 0, take);
    this.#largeFilled = filled;
    return take === chunk.length ? EMPTY : chunk.subarray(take);
  }

  /**
   * The next complete command, undefined when more bytes are needed, or the error after which the connection must be
   * closed. Empty commands are passed over.
   */
  next(): string[] | undefined | ReplyError {
    if (this.#failed) return undefined;
    if (this.#missing === 0) {
      const whole = this.#whole();
      if (whole !== null) return whole;
    }
    for (;;) {
      if (this.#missing === 0) {
        const started = this.#start();
        if (started !== null) return started;
      }
      const words = this.#readWords();
      if (words !== null) return words;
    }
  }

  /**
   * The usual command in one go: up to nine words of up to 99 bytes, all of it there. Null for everything else, with
   * nothing taken, and for the rest of the class to read or refuse.
   */
  #whole(): string[] | null {
    const buffer = this.#buffer;
    const end = buffer.length;
    let at = this.#at;
    if (at + 4 > end || buffer[at] !== STAR || buffer[at + 2] !== CR) return null;
    const count = buffer[at + 1]! - 0x30;
    if (count < 1 || count > 9) return null;
    at += 4;
    // Made at its length: one that grows takes six times the memory.
    const words = new Array<string>(count);
    for (let i = 0; i < count; i++) {
      if (at + 5 > end || buffer[at] !== DOLLAR) return null;
      let length = buffer[at + 1]! - 0x30;
      if (length < 0 || length > 9) return null;
      if (buffer[at + 2] === CR) at += 4;
      else {
        const digit = buffer[at + 2]! - 0x30;
        if (digit < 0 || digit > 9 || length === 0 || buffer[at + 3] !== CR) return null;
        length = length * 10 + digit;
        at += 5;
      }
      const stop = at + length;
      if (stop + 2 > end) return null;
      words[i] = i === 1 ? cachedKey(buffer, at, stop) : cachedWord(buffer, at, stop);
      at = stop + 2;
    }
    this.#at = at;
    return words;
  }

  /** Reads the line that starts a command; null when an array has been started. */
  #start(): string[] | undefined | ReplyError | null {
    for (;;) {
      if (this.#at >= this.#buffer.length) return undefined;
      if (this.#buffer[this.#at] !== STAR) {
        const inline = this.#inline();
        if (inline === null) continue;
        return inline;
      }
      const count = this.#length(this.#at + 1);
      if (count === INCOMPLETE) {
        return this.#lineTooLong() ? this.#fail("too big mbulk count string") : undefined;
      }
      if (Number.isNaN(count) || count > MAX_WORDS) return this.#fail("invalid multibulk length");
      if (count > 10 && this.limits.unauthenticated) return this.#fail("unauthenticated multibulk length");
      if (count <= 0) continue;
      this.#missing = count;
      this.#words = [];
      this.#wordBytes = 0;
      this.#wordLength = -1;
      return null;
    }
  }

  /** Reads words until the command is complete; undefined for more bytes. Never null in practice: see next. */
  #readWords(): string[] | undefined | ReplyError | null {
    const words = this.#words;
    while (this.#missing > 0) {
      if (this.#wordLength < 0) {
        const failure = this.#wordLine();
        if (failure !== null) return failure;
      }
      const length = this.#wordLength;
      if (this.#large !== null) {
        // The two bytes behind a word are passed over unread, as Redis does.
        if (this.#largeFilled < length || this.#buffer.length - this.#at < 2) return undefined;
        words.push(this.#large.latin1Slice(0, length));
        if (this.#large.length <= MAX_SPARE) this.#spare = this.#large;
        if (length > this.#peak) this.#peak = length;
        this.#large = null;
        this.#largeFilled = 0;
        this.#at += 2;
      } else {
        const end = this.#at + length;
        if (end + 2 > this.#buffer.length) {
          if (length >= LARGE) this.#startLarge();
          else return undefined;
          continue;
        }
        // Members by the hundred are new each time, and would drive out the words that come again.
        const isSeldom = words.length >= FIRST_SELDOM && length > LONGEST_USUAL;
        words.push(
          isSeldom
            ? wordOf(this.#buffer, this.#at, end)
            : words.length === 1
              ? cachedKey(this.#buffer, this.#at, end)
              : cachedWord(this.#buffer, this.#at, end),
        );
        this.#at = end + 2;
      }
      this.#wordBytes += length + WORD_BYTES;
      this.#wordLength = -1;
      this.#missing--;
    }
    this.#words = NO_WORDS;
    return words;
  }

  #startLarge(): void {
    const rest = this.#buffer.subarray(this.#at);
    const first = Math.min(this.#wordLength, Math.max(rest.length, LARGE) * 2);
    const large = this.#spare !== null && this.#spare.length >= first ? this.#spare : Buffer.allocUnsafeSlow(first);
    this.#large = large;
    this.#spare = null;
    this.#largeFilled = 0;
    this.#buffer = this.#gather(rest, large);
    this.#at = 0;
    this.#batchAt = 0;
  }

  /** Reads `$<length>`; null when it is there. */
  #wordLine(): undefined | ReplyError | null {
    if (this.#at >= this.#buffer.length) return undefined;
    const sign = this.#buffer[this.#at]!;
    const length = sign === DOLLAR ? this.#length(this.#at + 1) : this.#length(this.#at, false);
    if (length === INCOMPLETE) {
      return this.#lineTooLong() ? this.#fail("too big bulk count string") : undefined;
    }
    if (sign !== DOLLAR) return this.#fail(`expected '$', got '${String.fromCharCode(sign)}'`);
    if (Number.isNaN(length) || length < 0 || length > this.limits.maxWordBytes || length > LONGEST_WORD) {
      return this.#fail("invalid bulk length");
    }
    if (length > 16384 && this.limits.unauthenticated) return this.#fail("unauthenticated bulk length");
    this.#wordLength = length;
    return null;
  }

  /** The number in the line from `start`; moves behind the line's CR LF. */
  #length(start: number, move = true): number {
    const buffer = this.#buffer;
    const end = buffer.length;
    let i = start;
    let value = 0;
    let digits = 0;
    const negative = buffer[i] === MINUS;
    if (negative) i++;
    for (; i < end; i++) {
      const digit = buffer[i]! - 0x30;
      if (digit < 0 || digit > 9) break;
      value = value * 10 + digit;
      digits++;
    }
    if (i < end && buffer[i] === CR && digits > 0 && digits < 16 && !(digits > 1 && buffer[i - digits] === 0x30)) {
      if (i + 1 >= end) return INCOMPLETE;
      if (move) this.#at = i + 2;
      if (negative && value === 0) return INVALID;
      return negative ? -value : value;
    }
    const cr = buffer.indexOf(CR, i);
    if (cr < 0 || cr + 1 >= end) return INCOMPLETE;
    if (move) this.#at = cr + 2;
    return INVALID;
  }

  #lineTooLong(): boolean {
    return this.#buffer.length - this.#at > MAX_LINE;
  }

  /** One line of words; null when it was empty. */
  #inline(): string[] | undefined | ReplyError | null {
    const plain = this.#plainLine();
    if (plain !== null) return plain.length === 0 ? null : plain;
    const newline = this.#buffer.indexOf(LF, this.#at);
    if (newline < 0) return this.#lineTooLong() ? this.#fail("too big inline request") : undefined;
    const end = newline > this.#at && this.#buffer[newline - 1] === CR ? newline - 1 : newline;
    const text = this.#buffer.latin1Slice(this.#at, end);
    this.#at = newline + 1;
    const words = splitWords(text);
    if (words === undefined) return this.#fail("unbalanced quotes in request");
    return words.length === 0 ? null : words;
  }

  /** The words of a short line that is there, with single spaces or several and without quotes. Null for any other, with nothing taken. */
  #plainLine(): string[] | null {
    const buffer = this.#buffer;
    const most = Math.min(buffer.length, this.#at + USUAL_LINE);
    const words: string[] = [];
    for (let i = this.#at, start = i; i < most; i++) {
      const byte = buffer[i]!;
      if (byte > SPACE && byte !== QUOTE && byte !== APOSTROPHE) continue;
      const isEnd = byte === LF || (byte === CR && buffer[i + 1] === LF);
      if (byte !== SPACE && !isEnd) return null;
      if (i > start) words.push(cachedWord(buffer, start, i));
      start = i + 1;
      if (!isEnd) continue;
      this.#at = byte === LF ? start : start + 1;
      return words;
    }
    return null;
  }

  #fail(what: string): ReplyError {
    this.#failed = true;
    this.#buffer = EMPTY;
    this.#at = 0;
    return protocolError(what);
  }
}
