/**
 * Bytes to lines of UTF-8, many at a time. A line ends with a line feed, and a carriage return before it belongs to the end. What
 * is longer than allowed is cut, and the rest of it passed over without being kept. Characters may cross pieces: lines are decoded
 * when they are whole.
 */
import { isAscii } from "node:buffer";
import type { Held } from "./cursor.ts";

/** A line of a file. */
export interface Line {
  /** The line without its end, decoded as UTF-8. */
  readonly text: string;
  /** From 1 on. */
  readonly number: number;
  /** Where it begins: of a gzip file, in what is unpacked. */
  readonly offset: number;
  /** It was longer than allowed. */
  readonly cut: boolean;
}

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

export class Lines {
  readonly #most: number;
  #number: number;
  /** Where the line begins that is not ended. */
  #offset: number;
  #kept: Buffer[] = [];
  #keptBytes = 0;
  #length = 0;

  /** From `offset` on, which is the beginning of a line, behind `lines` of them; of that line some is there already. */
  constructor(maxLineBytes: number, offset: number, lines: number, held: Held) {
    this.#most = maxLineBytes;
    this.#offset = offset;
    this.#number = lines;
    this.#keep(held.bytes);
    this.#length = held.length;
  }

  /** The beginning of the line that is not ended. */
  get held(): Held {
    return { bytes: Buffer.concat(this.#kept), length: this.#length };
  }

  /** The place behind the last line that was ended. */
  get offset(): number {
    return this.#offset;
  }

  get count(): number {
    return this.#number;
  }

  push(chunk: Buffer): Line[] {
    const lines: Line[] = [];
    let start = 0;
    if (this.#length > 0) {
      const end = chunk.indexOf(LINE_FEED);
      this.#keep(end === -1 ? chunk : chunk.subarray(0, end));
      if (end === -1) return lines;
      this.#length++;
      lines.push(this.#take());
      start = end + 1;
    }
    const last = chunk.lastIndexOf(LINE_FEED);
    if (last >= start) {
      const whole = chunk.subarray(start, last);
      if (isAscii(whole)) this.#splitAscii(whole, lines);
      else this.#split(chunk.subarray(start, last + 1), lines);
      start = last + 1;
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start));
    return lines;
  }

  /** What came after the last line feed. */
  rest(): Line[] {
    return this.#length === 0 ? [] : [this.#take()];
  }

  /** Decoding once for all is worth it: where every byte is a character, texts tell the offsets. */
  #splitAscii(whole: Buffer, lines: Line[]): void {
    for (const text of whole.toString("latin1").split("\n")) {
      const offset = this.#offset;
      this.#offset += text.length + 1;
      const cut = text.length > this.#most;
      let end = cut ? this.#most : text.length;
      if (!cut && text.charCodeAt(end - 1) === CARRIAGE_RETURN) end--;
      lines.push({ text: end === text.length ? text : text.slice(0, end), number: ++this.#number, offset, cut });
    }
  }

  #split(ended: Buffer, lines: Line[]): void {
    for (let start = 0; start < ended.length; ) {
      const end = ended.indexOf(LINE_FEED, start);
      this.#keep(ended.subarray(start, end));
      this.#length++;
      lines.push(this.#take());
      start = end + 1;
    }
  }

  #keep(part: Buffer): void {
    this.#length += part.length;
    const room = this.#most + 1 - this.#keptBytes;
    if (part.length === 0 || room <= 0) return;
    const kept = part.length > room ? part.subarray(0, room) : part;
    this.#kept.push(kept);
    this.#keptBytes += kept.length;
  }

  #take(): Line {
    const [first] = this.#kept;
    let bytes = first !== undefined && this.#kept.length === 1 ? first : Buffer.concat(this.#kept);
    const cut = bytes.length > this.#most;
    if (cut) bytes = bytes.subarray(0, wholeCharacters(bytes, this.#most));
    else if (bytes.at(-1) === CARRIAGE_RETURN) bytes = bytes.subarray(0, -1);
    let text = bytes.toString("utf8");
    if (this.#offset === 0 && text.charCodeAt(0) === 0xfeff) text = text.slice(1);
    const line: Line = { text, number: ++this.#number, offset: this.#offset, cut };
    this.#offset += this.#length;
    this.#kept = [];
    this.#keptBytes = 0;
    this.#length = 0;
    return line;
  }
}

/** The largest size up to `most` that does not cut through a character. */
function wholeCharacters(bytes: Buffer, most: number): number {
  let size = most;
  while (size > most - 3 && size > 0 && (bytes[size]! & 0xc0) === 0x80) size--;
  return size;
}
