/**
 * Bytes of a server as replies: RESP2 and RESP3, in the one shape that port.ts promises, decoded once, to text or to Buffers as
 * the request at the head of the line asks.
 *
 * **It goes on where it stopped.** Chunks end anywhere. What is kept between two of them are the lists that are not full yet, what is
 * there of the string that is not whole yet, and at most the beginning of one line. Nothing is parsed twice, so a reply of many
 * chunks costs as much for each byte as a short one.
 *
 * **A server's announcement takes little memory.** Lists and long strings grow as their items and bytes come. A reply that is larger than the limit is read to its end without being kept, and only its request fails.
 */
import { ServerError } from "../base/errors.ts";
import type { Answer, Reply } from "./port.ts";

export interface Receiver {
  /** Whether the next reply's strings are to be Buffers. */
  wantsBytes(): boolean;
  reply(answer: Answer): void;
  /** The reply had more bytes than may be kept. */
  tooLarge(): void;
  /** A message that no request asked for (RESP3). Strings are Buffers. */
  push(items: Reply[]): void;
}

/** What came is not RESP. The connection is of no use any more. */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError";
}

/** A line that is longer has no end, as far as we are concerned. */
const LONGEST_LINE = 1 << 20;
const MOST_DEPTH = 512;
/** What an item of a list counts for, besides its bytes. */
const ITEM_BYTES = 16;
/** Room that a list gets at once. */
const MOST_RESERVED = 1_024;

const CR = 13;
const LF = 10;

type Kind = "list" | "push" | "attribute";

interface Frame {
  readonly kind: Kind;
  readonly items: Reply[];
  readonly length: number;
  /** How many are there. */
  at: number;
}

interface Body {
  /** How many bytes it has, with the two of the line's end. */
  readonly length: number;
  readonly type: number;
  /** Those that are there: `at` of them. It grows with them. */
  bytes: Buffer;
  at: number;
}

const NO_BYTES = Buffer.alloc(0);
/** Room that a string gets at once. */
const MOST_RESERVED_BYTES = 1 << 20;

export class Decoder {
  readonly #receiver: Receiver;
  readonly #maxBytes: number;
  readonly #frames: Frame[] = [];
  #body: Body | null = null;
  /** The beginning of a line whose end has not come. */
  #line: Buffer | null = null;
  #isBegun = false;
  #asBytes = false;
  /** Bytes of the reply that is being read. */
  #taken = 0;
  #isLent = false;

  constructor(receiver: Receiver, maxBytes: number) {
    this.#receiver = receiver;
    this.#maxBytes = maxBytes;
  }

  /** `isLent`: the bytes are somebody else's when this returns. */
  feed(data: Buffer, isLent = false): void {
    this.#isLent = isLent;
    let chunk = data;
    if (this.#line !== null) {
      chunk = Buffer.concat([this.#line, data]);
      this.#line = null;
    }
    let at = 0;
    while (at < chunk.length) {
      const next = this.#body === null ? this.#header(chunk, at) : this.#rest(this.#body, chunk, at);
      if (next === -1) {
        if (chunk.length - at > LONGEST_LINE) throw new ProtocolError("a line does not end");
        this.#line = Buffer.from(chunk.subarray(at));
        return;
      }
      at = next;
    }
  }

  /** Reads the line at a place, and what follows where that is there. Answers where to go on; −1 if the line is not whole. */
  #header(chunk: Buffer, at: number): number {
    const end = endOfLine(chunk, at);
    if (end === -1) return -1;
    if (!this.#isBegun) {
      this.#isBegun = true;
      this.#asBytes = this.#receiver.wantsBytes();
    }
    const from = at + 1;
    const next = end + 2;
    switch (chunk[at]) {
      case 0x24: // $
        return this.#string(chunk, from, end, 0x24);
      case 0x3a: // :
        this.#value(integer(chunk, from, end));
        return next;
      case 0x2b: // +
        this.#value(this.#simple(chunk, from, end));
        return next;
      case 0x2a: // *
      case 0x7e: // ~
        this.#list("list", count(chunk, from, end));
        return next;
      case 0x2d: // -
        this.#value(serverError(chunk.toString("utf8", from, end)));
        return next;
      case 0x25: // %
        this.#list("list", doubled(count(chunk, from, end)));
        return next;
      case 0x3e: // >
        if (this.#frames.length > 0) throw new ProtocolError("a message stands inside of a reply");
        this.#asBytes = true;
        this.#list("push", count(chunk, from, end));
        return next;
      case 0x7c: // |
        this.#list("attribute", doubled(count(chunk, from, end)));
        return next;
      case 0x5f: // _
        this.#value(null);
        return next;
      case 0x23: // #
        this.#value(chunk[from] === 0x74 ? 1 : 0);
        return next;
      case 0x2c: // ,
        this.#value(chunk.toString("latin1", from, end));
        return next;
      case 0x28: // (
        this.#value(integer(chunk, from, end));
        return next;
      case 0x21: // !
        return this.#string(chunk, from, end, 0x21);
      case 0x3d: // =
        return this.#string(chunk, from, end, 0x3d);
      default:
        throw new ProtocolError(`0x${chunk[at]!.toString(16).padStart(2, "0")} begins no reply`);
    }
  }

  #simple(chunk: Buffer, from: number, end: number): Reply {
    // The commonest of all.
    if (end - from === 2 && chunk[from] === 0x4f && chunk[from + 1] === 0x4b && !this.#asBytes) return "OK";
    return this.#asBytes ? Buffer.from(chunk.subarray(from, end)) : chunk.toString("utf8", from, end);
  }

  #string(chunk: Buffer, from: number, end: number, type: number): number {
    const length = count(chunk, from, end);
    const start = end + 2;
    if (length === -1) {
      this.#value(null);
      return start;
    }
    const stop = start + length;
    if (stop + 2 > chunk.length) {
      this.#body = { length: length + 2, type, bytes: NO_BYTES, at: 0 };
      return start;
    }
    if (chunk[stop] !== CR || chunk[stop + 1] !== LF) throw new ProtocolError("a string does not end where it should");
    this.#taken += length;
    if (type === 0x24 && !this.#asBytes) this.#value(this.#fits() ? chunk.toString("utf8", start, stop) : null);
    else this.#content(chunk.subarray(start, stop), this.#isLent || length * 2 < chunk.length, type);
    return stop + 2;
  }

  /** More of a string that is not whole. */
  #rest(body: Body, chunk: Buffer, at: number): number {
    const stop = Math.min(at + body.length - body.at, chunk.length);
    this.#taken += stop - at;
    if (this.#fits()) gather(body, chunk, at, stop);
    else body.bytes = NO_BYTES;
    body.at += stop - at;
    if (body.at < body.length) return stop;
    this.#body = null;
    if (!this.#fits()) {
      this.#value(null);
      return stop;
    }
    const { bytes, length, type } = body;
    const end = length - 2;
    if (bytes[end] !== CR || bytes[end + 1] !== LF) throw new ProtocolError("a string does not end where it should");
    this.#content(bytes.subarray(0, end), false, type);
    return stop;
  }

  /** `isAnothers`: to keep these bytes they must be copied, or much else would be kept with them. */
  #content(bytes: Buffer, isAnothers: boolean, type: number): void {
    if (!this.#fits()) this.#value(null);
    else if (type === 0x21) this.#value(serverError(bytes.toString("utf8")));
    else {
      // A verbatim string says its format first: txt:…
      const own = type === 0x3d ? bytes.subarray(4) : bytes;
      if (!this.#asBytes) this.#value(own.toString("utf8"));
      else this.#value(isAnothers ? Buffer.from(own) : own);
    }
  }

  #fits(): boolean {
    return this.#taken <= this.#maxBytes;
  }

  #list(kind: Kind, length: number): void {
    if (length === -1) {
      this.#value(null);
      return;
    }
    if (this.#frames.length >= MOST_DEPTH) throw new ProtocolError("lists are nested too deeply");
    this.#frames.push({ kind, items: length <= MOST_RESERVED ? new Array(length) : [], length, at: 0 });
    if (length === 0) this.#full();
  }

  /** A value is there: the reply itself, or an item of the innermost list. Errors in lists are values (EXEC). */
  #value(value: Answer): void {
    const frames = this.#frames;
    const frame = frames[frames.length - 1];
    if (frame === undefined) {
      this.#over(value);
      return;
    }
    this.#taken += ITEM_BYTES;
    if (this.#fits()) frame.items[frame.at] = value as Reply;
    if (++frame.at === frame.length) this.#full();
  }

  #full(): void {
    const { kind, items } = this.#frames.pop()!;
    if (kind === "attribute") {
      // It says something of the reply that follows, and is no part of it.
      if (this.#frames.length === 0) this.#begin();
      return;
    }
    if (kind === "list") {
      this.#value(items);
      return;
    }
    const isWhole = this.#fits();
    this.#begin();
    if (isWhole) this.#receiver.push(items);
  }

  #over(value: Answer): void {
    const isWhole = this.#fits();
    this.#begin();
    if (isWhole) this.#receiver.reply(value);
    else this.#receiver.tooLarge();
  }

  #begin(): void {
    this.#isBegun = false;
    this.#taken = 0;
  }
}

/** Adds bytes of a chunk to a string. */
function gather(body: Body, chunk: Buffer, from: number, to: number): void {
  const needed = body.at + to - from;
  if (needed > body.bytes.length) {
    const room = Math.min(body.length, Math.max(needed, 2 * body.bytes.length, MOST_RESERVED_BYTES));
    const bytes = Buffer.allocUnsafeSlow(room);
    body.bytes.copy(bytes, 0, 0, body.at);
    body.bytes = bytes;
  }
  chunk.copy(body.bytes, body.at, from, to);
}

/** Where the line's CR stands; −1 if its end has not come. */
function endOfLine(chunk: Buffer, at: number): number {
  // Lines are short, but for errors: a search by the runtime costs more than a few steps.
  const near = Math.min(at + 24, chunk.length);
  let end = at + 1;
  while (end < near && chunk[end] !== CR) end++;
  if (end === near) end = chunk.indexOf(CR, end);
  if (end === -1 || end + 1 >= chunk.length) return -1;
  if (chunk[end + 1] !== LF) throw new ProtocolError("a line ends with CR alone");
  return end;
}

/** A number of 64 bits: text where it does not fit 2^53. */
function integer(chunk: Buffer, from: number, end: number): number | string {
  let at = from;
  const isNegative = chunk[at] === 0x2d;
  if (isNegative || chunk[at] === 0x2b) at++;
  if (at === end) throw new ProtocolError("a number has no digits");
  if (end - at > 15) return large(chunk.toString("latin1", from, end));
  let value = 0;
  for (; at < end; at++) {
    const digit = chunk[at]! - 0x30;
    if (digit < 0 || digit > 9) throw new ProtocolError("a number has other characters than digits");
    value = value * 10 + digit;
  }
  return isNegative ? 0 - value : value;
}

function large(digits: string): number | string {
  if (!/^[-+]?\d+$/.test(digits)) throw new ProtocolError("a number has other characters than digits");
  const value = Number(digits);
  return Number.isSafeInteger(value) ? value : digits;
}

/** A length; −1 for what is not there. */
function count(chunk: Buffer, from: number, end: number): number {
  const length = integer(chunk, from, end);
  if (typeof length === "string" || length < -1 || length > 0xff_ff_ff_ff) {
    throw new ProtocolError("a length is out of range");
  }
  return length;
}

const doubled = (length: number): number => (length === -1 ? -1 : 2 * length);

/**
 * A server's error text as the error it means. Redis 6 wraps what a script's command was refused with into an ERR of its own;
 * that a replica refuses writes must be seen all the same.
 */
export function serverError(message: string): ServerError {
  const wrapped = message.startsWith("ERR Error running script") ? /-(READONLY [^\n]*)/.exec(message) : null;
  return new ServerError(wrapped?.[1] ?? message);
}
