/** Values as they are stored: one byte that says how, then the value, compressed where that is worth it. */
import { isSendable } from "../../base/checks.ts";
import { InputError } from "../../base/errors.ts";
import { compress, decompress } from "./gzip.ts";

const PLAIN = 0x30;
const GZIP = 0x31;
/** What a stored value may grow to when it is unpacked, so that a planted one cannot fill the memory. */
const MAX_UNPACKED = 256 * 1024 * 1024;

/** UTF-8 takes at most so many bytes for a unit of a string. */
const MOST_BYTES = 3;

/** Nobody waits for what is not compressed, and a short text stays a text. */
export function pack(value: string | Uint8Array, compressAbove: number): string | Buffer | Promise<Buffer> {
  if (typeof value !== "string") return packBytes(value, compressAbove);
  if (value.length * MOST_BYTES <= compressAbove && isSendable(value)) return `0${value}`;
  return packBytes(Buffer.from(value, "utf8"), compressAbove);
}

function packBytes(bytes: Uint8Array, compressAbove: number): Buffer | Promise<Buffer> {
  const plain = (): Buffer => Buffer.concat([Buffer.of(PLAIN), bytes]);
  if (bytes.byteLength <= compressAbove) return plain();
  return compress(bytes).then((packed) =>
    packed.byteLength < bytes.byteLength ? Buffer.concat([Buffer.of(GZIP), packed]) : plain(),
  );
}

/** Nobody waits for what is stored as it is. */
export function unpack(stored: Buffer): Buffer | Promise<Buffer> {
  const bytes = stored.subarray(1);
  if (stored[0] === PLAIN) return bytes;
  if (stored[0] === GZIP) return decompress(bytes, MAX_UNPACKED);
  throw new InputError("the cache holds a value in a form that this version does not know");
}
