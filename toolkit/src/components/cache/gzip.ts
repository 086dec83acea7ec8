/** gzip, as values of the cache are compressed. */
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";

const [pack, unpack] = [promisify(gzip), promisify(gunzip)];

export const compress = (bytes: Uint8Array): Promise<Buffer> => pack(bytes, { level: 5 });

/** Rejects when more than `most` bytes come out. */
export const decompress = (bytes: Uint8Array, most: number): Promise<Buffer> =>
  unpack(bytes, { maxOutputLength: most });
