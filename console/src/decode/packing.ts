/** Compression, by Node's zlib. */
import { promisify } from "node:util";
import zlib from "node:zlib";
import { codeOf } from "../values.ts";

export type Packing = "gzip" | "deflate" | "brotli" | "zstd";
/** What comes out must not be more than `most` bytes. */
type Unpacker = (input: Buffer, most: number) => Promise<Buffer>;
type Packer = (input: Buffer) => Promise<Buffer>;

/** Since Node 22.15. */
const { zstdDecompress, zstdCompress } = zlib as unknown as Partial<
  Record<"zstdDecompress" | "zstdCompress", typeof zlib.gunzip>
>;

const unpacker =
  (unpack: typeof zlib.gunzip): Unpacker =>
  (input, most) =>
    promisify<Buffer, object, Buffer>(unpack)(input, { maxOutputLength: most });

/** Null for what this Node does not have. */
export const UNPACK: Readonly<Record<Packing, Unpacker | null>> = {
  gzip: unpacker(zlib.gunzip),
  deflate: unpacker(zlib.inflate),
  brotli: unpacker(zlib.brotliDecompress),
  zstd: zstdDecompress ? unpacker(zstdDecompress) : null,
};

export const PACK: Readonly<Record<Packing, Packer | null>> = {
  gzip: (input) => promisify<Buffer, Buffer>(zlib.gzip)(input),
  deflate: (input) => promisify<Buffer, Buffer>(zlib.deflate)(input),
  brotli: (input) => promisify<Buffer, Buffer>(zlib.brotliCompress)(input),
  zstd: zstdCompress ? (input) => promisify<Buffer, Buffer>(zstdCompress)(input) : null,
};

/** Whether more came out than was asked for. */
export const isTooLarge = (error: unknown): boolean => codeOf(error) === "ERR_BUFFER_TOO_LARGE";

/** Why there is none. */
export const lacking = (packing: Packing): string => `this Node has no ${packing}: Node 22.15 and later do`;
