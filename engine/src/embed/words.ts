/**
 * The border between JavaScript's strings and the engine's words.
 *
 * Inside, a word is a latin1 string: one char, one byte. Outside, text is UTF-8. For ASCII the two are the same string, so
 * the conversion is a look at the chars. A string that will be kept must not share memory with another one: V8 makes
 * slices and unfinished concatenations from 13 chars on, so words for writing are copied from that length.
 */
import { Buffer } from "../platform/bytes.ts";

/** What may be given as a word. */
export type Input = string | number | bigint | Uint8Array;

/** From this length on, V8 may represent a string as a slice or a concatenation of others. */
const MAY_SHARE = 13;

const scratch = Buffer.allocUnsafeSlow(64 * 1024);
/** UTF-8 takes at most three bytes per UTF-16 unit. */
const FITS = Math.floor(scratch.length / 3);

export function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return false;
  return true;
}

/** A string's UTF-8 bytes as a word of its own. */
function encodeText(text: string): string {
  if (text.length > FITS) return Buffer.from(text, "utf8").latin1Slice();
  const length = scratch.utf8Write(text, 0);
  return scratch.latin1Slice(0, length);
}

/** A word for the engine; `kept` when a command may store it. */
export function toWord(input: Input, kept: boolean): string {
  if (typeof input === "string") {
    if (kept && input.length >= MAY_SHARE) return encodeText(input);
    return isAscii(input) ? input : encodeText(input);
  }
  if (typeof input === "number" || typeof input === "bigint") return String(input);
  if (input instanceof Uint8Array) {
    return Buffer.from(input.buffer, input.byteOffset, input.byteLength).latin1Slice();
  }
  throw new TypeError(`a command takes strings, numbers and bytes, not ${input === null ? "null" : typeof input}`);
}

/** A word as text. */
export function toText(word: string): string {
  return isAscii(word) ? word : Buffer.from(word, "latin1").toString("utf8");
}

export function toBuffer(word: string): Buffer {
  return Buffer.from(word, "latin1");
}
