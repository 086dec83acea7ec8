/**
 * Bytes to lines. A line ends with a line feed, of two bytes in UTF-16; what is longer than allowed is cut, and the rest of it
 * passed over without being kept, so that a file without any line feed takes no memory.
 */
import { InputError } from "../../base/errors.ts";

export interface RawLine {
  readonly bytes: Buffer;
  /** With the line feed, and with what was cut off. */
  readonly length: number;
  readonly cut: boolean;
}

const LINE_FEED = 10;
const EMPTY = Buffer.alloc(0);

export class LineSplitter {
  readonly #most: number;
  readonly #wide: boolean;
  /** Where in a unit of two bytes the line feed's own byte stands. */
  readonly #at: number;
  #kept: Buffer[] = [];
  #keptBytes = 0;
  #length = 0;
  #half: Buffer = EMPTY;

  constructor(maxLineBytes: number, encoding: string) {
    this.#most = maxLineBytes;
    this.#wide = encoding.startsWith("utf-16");
    this.#at = encoding === "utf-16be" ? 1 : 0;
  }

  *push(more: Buffer): Generator<RawLine> {
    let chunk = this.#half.length === 0 ? more : Buffer.concat([this.#half, more]);
    this.#half = EMPTY;
    if (this.#wide && chunk.length % 2 === 1) {
      this.#half = chunk.subarray(-1);
      chunk = chunk.subarray(0, -1);
    }
    let start = 0;
    for (;;) {
      const end = this.#lineFeed(chunk, start);
      if (end === -1) break;
      const next = end + (this.#wide ? 2 : 1);
      this.#keep(chunk.subarray(start, end));
      this.#length += next - start;
      yield this.#take();
      start = next;
    }
    this.#keep(chunk.subarray(start));
    this.#length += chunk.length - start;
  }

  /** What came after the last line feed; null if nothing. */
  rest(): RawLine | null {
    if (this.#half.length > 0) {
      this.#keep(this.#half);
      this.#length += this.#half.length;
      this.#half = EMPTY;
    }
    return this.#length === 0 ? null : this.#take();
  }

  /** How many bytes came after the last line feed. */
  get pendingBytes(): number {
    return this.#length + this.#half.length;
  }

  #lineFeed(chunk: Buffer, from: number): number {
    if (!this.#wide) return chunk.indexOf(LINE_FEED, from);
    for (let at = from; at + 1 < chunk.length; at += 2) {
      if (chunk[at + this.#at] === LINE_FEED && chunk[at + 1 - this.#at] === 0) return at;
    }
    return -1;
  }

  #keep(part: Buffer): void {
    const room = this.#most - this.#keptBytes;
    if (part.length === 0 || room <= 0) return;
    const kept = part.length > room ? part.subarray(0, room) : part;
    this.#kept.push(kept);
    this.#keptBytes += kept.length;
  }

  #take(): RawLine {
    const [first] = this.#kept;
    const bytes = first !== undefined && this.#kept.length === 1 ? first : Buffer.concat(this.#kept);
    const length = this.#length;
    const cut = length > bytes.length + (this.#wide ? 2 : 1);
    this.#kept = [];
    this.#keptBytes = 0;
    this.#length = 0;
    return { bytes, length, cut };
  }
}

/** Bytes to text without the end of line and without a byte order mark at the beginning. Bad bytes become U+FFFD. */
export function decoderFor(encoding: string): (line: RawLine) => string {
  const decoder = encoding === "utf-8" ? null : newDecoder(encoding);
  return ({ bytes, cut }) => {
    let text = decoder === null ? bytes.toString("utf8") : decoder.decode(bytes);
    if (text.charCodeAt(0) === 0xfeff) text = text.slice(1);
    return !cut && text.endsWith("\r") ? text.slice(0, -1) : text;
  };
}

/** The encoding's own name: "latin1" is windows-1252 to the standard that TextDecoder follows. */
export function encodingName(label: string): string {
  return newDecoder(label).encoding;
}

function newDecoder(label: string): { readonly encoding: string; decode(bytes: Uint8Array): string } {
  try {
    return new TextDecoder(label);
  } catch (cause) {
    throw new InputError(`"${label}" is no encoding that this program knows`, { cause });
  }
}
