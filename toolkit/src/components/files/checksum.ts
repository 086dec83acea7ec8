/** CRC-32 as gzip has it. Node brings it along in later versions of 20; before those it is computed here. */
import * as zlib from "node:zlib";

const native = (zlib as { readonly crc32?: (data: Uint8Array, value?: number) => number }).crc32;

/** Of `data`, continuing from the checksum of what came before. */
export const crc32: (data: Uint8Array, before?: number) => number = native ?? crc32InScript;

let table: Uint32Array | null = null;

export function crc32InScript(data: Uint8Array, before = 0): number {
  table ??= Uint32Array.from({ length: 256 }, (_, byte) => {
    let value = byte;
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
    return value;
  });
  let crc = ~before;
  for (let at = 0; at < data.length; at++) crc = table[(crc ^ data[at]!) & 0xff]! ^ (crc >>> 8);
  return ~crc >>> 0;
}
