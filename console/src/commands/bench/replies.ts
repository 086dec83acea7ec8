/**
 * Counts the replies in what arrives, without keeping any of it: a benchmark wants to know that an answer is there, and whether it
 * is an error. RESP2 alone, which is what its connections speak.
 */
import { ProtocolError } from "../link/reply.ts";

const [CR_LF, MINUS, NEWLINE] = [2, 0x2d, 0x0a];
/** Longer than any line that a server sends. */
const MOST_LINE = 65_536;

export class ReplyCounter {
  /** Called for each reply: with its text if it is an error. */
  readonly #onReply: (error: string | null) => void;
  #unfinished: Buffer | null = null;
  /** Bytes of a string that are still to come. */
  #skip = 0;
  /** Of each list that is open: how many elements are still to come. */
  readonly #open: number[] = [];

  constructor(onReply: (error: string | null) => void) {
    this.#onReply = onReply;
  }

  feed(chunk: Buffer): void {
    const bytes = this.#unfinished === null ? chunk : Buffer.concat([this.#unfinished, chunk]);
    this.#unfinished = null;
    let at = 0;
    while (at < bytes.length) {
      if (this.#skip > 0) {
        const skipped = Math.min(this.#skip, bytes.length - at);
        at += skipped;
        this.#skip -= skipped;
        if (this.#skip === 0) this.#element(null);
        continue;
      }
      const end = bytes.indexOf(NEWLINE, at);
      if (end === -1) {
        if (bytes.length - at > MOST_LINE) throw new ProtocolError("the server sent a line without an end");
        this.#unfinished = Buffer.from(bytes.subarray(at));
        return;
      }
      this.#line(bytes, at, end - 1);
      at = end + 1;
    }
  }

  #line(bytes: Buffer, at: number, end: number): void {
    switch (String.fromCharCode(bytes[at]!)) {
      case "+":
      case ":":
        this.#element(null);
        break;
      case "-":
        this.#element(this.#open.length === 0 ? bytes.toString("latin1", at + 1, end) : null);
        break;
      case "$": {
        const length = numberIn(bytes, at + 1, end);
        if (length < 0) this.#element(null);
        else this.#skip = length + CR_LF;
        break;
      }
      case "*": {
        const count = numberIn(bytes, at + 1, end);
        if (count <= 0) this.#element(null);
        else this.#open.push(count);
        break;
      }
      default:
        throw new ProtocolError(`the server sent '${bytes.toString("latin1", at, at + 1)}', which begins no reply`);
    }
  }

  /** An element is whole; it may be the last of a list, which is then whole too. */
  #element(error: string | null): void {
    const open = this.#open;
    while (open.length > 0) {
      const left = open[open.length - 1]! - 1;
      if (left > 0) {
        open[open.length - 1] = left;
        return;
      }
      open.pop();
    }
    this.#onReply(error);
  }
}

function numberIn(bytes: Buffer, from: number, to: number): number {
  if (bytes[from] === MINUS) return -1;
  let number = 0;
  for (let at = from; at < to; at++) {
    const digit = bytes[at]! - 0x30;
    if (digit < 0 || digit > 9)
      throw new ProtocolError(`the server sent '${bytes.toString("latin1", from, to)}' as a length`);
    number = number * 10 + digit;
  }
  return number;
}
