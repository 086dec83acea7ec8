/**
 * What is waiting to be written to one client.
 *
 * While a connection runs a batch, its Output holds the one scratch memory of the process and short replies are put there
 * byte by byte; when the batch is over they become one string. That is several times faster than joining strings, which V8
 * keeps as a tree and flattens when it is written. An Output that does not hold the memory (a message to another client)
 * joins strings. Large words stand alone, as references to the very strings: joining would copy them, and two of half a
 * gigabyte do not fit into one string. They become bytes when the socket takes them (net/outbox.ts).
 */
import { Buffer } from "../platform/bytes.ts";

const LARGE = 64 * 1024;
/** Past this a joined string is set aside: trees of any size are slow to write. */
const JOINED = 1024 * 1024;
/** Longer texts are joined even while holding the memory: calling out of JavaScript is faster for them than a loop. */
const BYTEWISE = 96;

const scratch = Buffer.allocUnsafeSlow(64 * 1024);
let filled = 0;
let holder: Output | null = null;

export class Output {
  #text = "";
  #parts: (string | Buffer)[] = [];
  #partBytes = 0;
  /** More than this is of no use: the client will be cut off (client-output-buffer-limit). */
  limit = Number.POSITIVE_INFINITY;

  get isFull(): boolean {
    return this.length > this.limit;
  }

  get length(): number {
    return this.#partBytes + this.#text.length + (holder === this ? filled : 0);
  }

  /** Takes the scratch memory, unless another Output holds it. */
  hold(): void {
    if (holder === null) holder = this;
  }

  /** Gives the scratch memory back, what is in it kept as text. */
  release(): void {
    if (holder !== this) return;
    this.#spill();
    holder = null;
  }

  #spill(): void {
    if (filled === 0) return;
    this.#text += scratch.latin1Slice(0, filled);
    filled = 0;
    if (this.#text.length > JOINED) this.#setAside();
  }

  /** Adds protocol text; one char, one byte. */
  add(text: string): void {
    if (holder === this) {
      const { length } = text;
      if (length <= BYTEWISE) {
        if (filled + length > scratch.length) this.#spill();
        let at = filled;
        for (let i = 0; i < length; i++) scratch[at++] = text.charCodeAt(i);
        filled = at;
        return;
      }
      this.#spill();
    }
    this.#text += text;
    if (this.#text.length > JOINED) this.#setAside();
  }

  /** Adds a short word as a bulk string, byte by byte; false when it is too long or the memory is not held. */
  addShortBulk(word: string): boolean {
    const { length } = word;
    if (holder !== this || length > BYTEWISE) return false;
    if (filled + length + 8 > scratch.length) this.#spill();
    let at = filled;
    scratch[at++] = 0x24;
    if (length > 9) scratch[at++] = 0x30 + ((length / 10) | 0);
    scratch[at++] = 0x30 + (length % 10);
    scratch[at++] = 13;
    scratch[at++] = 10;
    for (let i = 0; i < length; i++) scratch[at++] = word.charCodeAt(i);
    scratch[at++] = 13;
    scratch[at++] = 10;
    filled = at;
    return true;
  }

  /** Adds an integer of up to nine digits, digit by digit; false for others, and when the memory is not held. */
  addInteger(value: number): boolean {
    if (holder !== this || value !== (value | 0) || value < 0 || value > 999_999_999) return false;
    if (filled + 12 > scratch.length) this.#spill();
    let digits = 1;
    for (let least = 10; least <= value; least *= 10) digits++;
    scratch[filled] = 0x3a;
    let rest = value;
    for (let at = filled + digits; at > filled; at--) {
      const tenth = (rest / 10) | 0;
      scratch[at] = 0x30 + rest - tenth * 10;
      rest = tenth;
    }
    scratch[filled + digits + 1] = 13;
    scratch[filled + digits + 2] = 10;
    filled += digits + 3;
    return true;
  }

  /** Adds a word that may be large. */
  addWord(word: string): void {
    if (word.length < LARGE) {
      this.add(word);
      return;
    }
    if (holder === this) this.#spill();
    this.#setAside();
    this.#parts.push(word);
    this.#partBytes += word.length;
  }

  /** Adds bytes that are no text of ours; they are not copied. */
  addBytes(bytes: Buffer): void {
    if (holder === this) this.#spill();
    this.#setAside();
    this.#parts.push(bytes);
    this.#partBytes += bytes.length;
  }

  #setAside(): void {
    if (this.#text === "") return;
    this.#parts.push(this.#text);
    this.#partBytes += this.#text.length;
    this.#text = "";
  }

  /** Everything, when it is one string; null when there are several parts (take them with `takeParts`). */
  takeText(): string | null {
    if (holder === this) this.#spill();
    if (this.#parts.length > 0) return null;
    const text = this.#text;
    this.#text = "";
    return text;
  }

  takeParts(): (string | Buffer)[] {
    if (holder === this) this.#spill();
    this.#setAside();
    const parts = this.#parts;
    this.#parts = [];
    this.#partBytes = 0;
    return parts;
  }
}
