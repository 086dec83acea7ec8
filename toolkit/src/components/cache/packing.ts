/** Values as they are stored: one byte that says how, then the value, compressed where that is worth it. */
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { InputError } from "../../base/errors.ts";

const PLAIN = 0x30;
const GZIP = 0x31;
/** What a stored value may grow to when it is unpacked, so that a planted one cannot fill the memory. */
const MAX_UNPACKED = 256 * 1024 * 1024;

const compress = promisify(gzip);
const decompress = promisify(gunzip);

export async function pack(value: string | Uint8Array, compressAbove: number): Promise<Buffer> {
  const bytes = typeof value === "string" ? Buffer.from(value, "utf8") : value;
  if (bytes.byteLength > compressAbove) {
    const packed = await compress(bytes, { level: 5 });
    if (packed.byteLength < bytes.byteLength) return Buffer.concat([Buffer.of(GZIP), packed]);
  }
  return Buffer.concat([Buffer.of(PLAIN), bytes]);
}

/** Nobody waits for what is stored as it is. */
export function unpack(stored: Buffer): Buffer | Promise<Buffer> {
  const bytes = stored.subarray(1);
  if (stored[0] === PLAIN) return bytes;
  if (stored[0] === GZIP) return decompress(bytes, { maxOutputLength: MAX_UNPACKED });
  throw new InputError("the cache holds a value in a form that this version does not know");
}
