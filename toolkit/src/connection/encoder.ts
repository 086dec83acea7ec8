/**
 * Commands as bytes (RESP2, which RESP3 servers take as well). Short text gathers in one string, which Node turns into UTF-8 in
 * one go: for small commands that is cheaper than any writing into a buffer. Bytes, and text that is long, stand by themselves,
 * so that they are not copied once more.
 *
 * A `Uint8Array` of up to a few kilobytes is copied at once. A longer one is read when the socket takes it: a caller must not
 * change it before its call has settled.
 */
import type { Word } from "./port.ts";

/** From here on a word is worth a write of its own. */
const LONG = 16_384;
const COPIED_BYTES = 4_096;

/** The line before a word, with the end of the word before it. Most words are short. */
const LINES: readonly string[] = Array.from({ length: 512 }, (_, length) => `\r\n$${length}\r\n`);

export type Part = string | Uint8Array;

export class Encoder {
  #text = "";
  #parts: Part[] = [];
  /** About how many bytes are here. */
  bytes = 0;

  get isEmpty(): boolean {
    return this.#text === "" && this.#parts.length === 0;
  }

  /** Adds a command. Answers about how many bytes it takes. */
  add(words: readonly Word[]): number {
    let text = `${this.#text}*${words.length}`;
    let bytes = 8;
    for (let at = 0; at < words.length; at++) {
      const word = words[at]!;
      if (typeof word === "object") {
        bytes += word.byteLength + 16;
        this.#parts.push(
          `${text}\r\n$${word.byteLength}\r\n`,
          word.byteLength <= COPIED_BYTES ? Buffer.from(word) : word,
        );
        text = "";
        continue;
      }
      const plain = typeof word === "string" ? word : String(word);
      const length = Buffer.byteLength(plain);
      bytes += length + 8;
      text += length < LINES.length ? LINES[length]! : `\r\n$${length}\r\n`;
      if (length < LONG) text += plain;
      else {
        this.#parts.push(text, plain);
        text = "";
      }
    }
    this.#text = `${text}\r\n`;
    this.bytes += bytes;
    return bytes;
  }

  /** What is to be written, in order; nothing is left here. */
  take(): Part[] {
    const parts = this.#parts;
    if (this.#text !== "") parts.push(this.#text);
    this.#parts = [];
    this.#text = "";
    this.bytes = 0;
    return parts;
  }
}
