/**
 * Commands to bytes: arrays of bulk strings, as a client would send them. Gathers them in one buffer that grows, and hands
 * it over when asked; nothing is made for a command but its bytes.
 */
import { Buffer } from "../platform/bytes.ts";

const FIRST_BUFFER = 64 * 1024;
/** A buffer that has grown past this is not kept. */
const KEPT_BUFFER = 1024 * 1024;
/** Words up to this length are copied by hand: calling out of JavaScript costs more. */
const WRITTEN_BY_HAND = 24;

export class CommandWriter {
  #buffer = Buffer.allocUnsafeSlow(FIRST_BUFFER);
  #at = 0;

  /** Bytes that have gathered. */
  get length(): number {
    return this.#at;
  }

  command(argv: readonly string[]): void {
    this.#line(0x2a, argv.length);
    for (let i = 0; i < argv.length; i++) {
      const word = argv[i]!;
      const { length } = word;
      this.#line(0x24, length);
      this.#reserve(length + 2);
      const bytes = this.#buffer;
      let at = this.#at;
      if (length <= WRITTEN_BY_HAND) for (let j = 0; j < length; j++) bytes[at++] = word.charCodeAt(j);
      else at += bytes.latin1Write(word, at, length);
      bytes[at] = 13;
      bytes[at + 1] = 10;
      this.#at = at + 2;
    }
  }

  /** A line of text that is no command: an annotation of the append-only file. */
  text(line: string): void {
    this.#reserve(line.length + 2);
    this.#at += this.#buffer.latin1Write(`${line}\r\n`, this.#at);
  }

  #line(sign: number, number: number): void {
    this.#reserve(16);
    const bytes = this.#buffer;
    bytes[this.#at++] = sign;
    if (number < 10) bytes[this.#at++] = 0x30 + number;
    else this.#at += bytes.latin1Write(String(number), this.#at);
    bytes[this.#at++] = 13;
    bytes[this.#at++] = 10;
  }

  #reserve(count: number): void {
    const needed = this.#at + count;
    if (needed <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.length * 2));
    this.#buffer.copy(grown, 0, 0, this.#at);
    this.#buffer = grown;
  }

  /** What has gathered; to be read before the next command is written. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#at);
  }

  /** Forgets so many bytes at the front; all of them by default. */
  drop(count = this.#at): void {
    this.#buffer.copyWithin(0, count, this.#at);
    this.#at -= count;
    if (this.#at === 0 && this.#buffer.length > KEPT_BUFFER) this.#buffer = Buffer.allocUnsafeSlow(FIRST_BUFFER);
  }

  /** What has gathered, to be read before the next command is written. The writer is empty then. */
  take(): Buffer {
    const { bytes } = this;
    this.drop();
    return bytes;
  }
}
