/**
 * Values and the bytes that stand for them in the store: JSON unless the caller chooses otherwise. Sizes are checked before
 * anything is sent, so that one careless value cannot fill a server.
 */
import { InputError } from "./errors.ts";

/** `I` is what may be given where that differs from what comes back: a schema may fill in and transform. */
export interface Codec<T, I = T> {
  /** Whether stored values are bytes rather than text; decides how replies are read. */
  readonly binary: boolean;
  /** What is stored for a value. Throws an InputError for a value that it cannot store. */
  encode(value: I): string | Uint8Array;
  /** The value that was stored, text or bytes as `binary` says. */
  decode(stored: string | Buffer): T;
}

/**
 * JSON of anything that has one. `undefined`, functions and the like are refused rather than dropped in silence.
 * @example
 * const codec = json<{ readonly id: number }>();
 * codec.encode({ id: 1 }); // → "{\"id\":1}"
 * codec.decode("{\"id\":1}"); // → { id: 1 }
 */
export function json<T = unknown>(): Codec<T> {
  return JSON_CODEC;
}

const JSON_CODEC = {
  binary: false,
  encode(value: unknown) {
    const text = JSON.stringify(value);
    if (text === undefined) throw new InputError(`a value of type ${typeof value} has no JSON form`);
    return text;
  },
  decode: (stored: string | Buffer) => JSON.parse(typeof stored === "string" ? stored : stored.toString("utf8")),
};

/** Bytes as they are. */
export const bytes: Codec<Uint8Array> = {
  binary: true,
  encode: (value) => value,
  decode: (stored) => (typeof stored === "string" ? Buffer.from(stored, "utf8") : stored),
};

/** Text as it is. */
export const text: Codec<string> = {
  binary: false,
  encode: (value) => value,
  decode: (stored) => (typeof stored === "string" ? stored : stored.toString("utf8")),
};

/** Encodes, and refuses what is larger than allowed; `what` names it in the message. */
export function encodeWithin<T>(
  codec: Codec<unknown, T>,
  value: T,
  maxBytes: number,
  what: string,
): string | Uint8Array {
  const encoded = codec.encode(value);
  const size = typeof encoded === "string" ? byteLength(encoded, maxBytes) : encoded.byteLength;
  if (size > maxBytes) throw new InputError(`${what} takes ${size} bytes, more than the ${maxBytes} allowed`);
  return encoded;
}

/** Text can take three bytes a character: only near the limit does it need counting. */
function byteLength(word: string, limit: number): number {
  return word.length * 3 <= limit ? word.length : Buffer.byteLength(word, "utf8");
}
