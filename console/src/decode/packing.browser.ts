/** Compression, by the streams of browsers, which have gzip and deflate. */

export type Packing = "gzip" | "deflate" | "brotli" | "zstd";

class TooLarge extends Error {}

async function bytesOf(parts: ReadableStream<Uint8Array>, most: number): Promise<Buffer> {
  const all: Uint8Array[] = [];
  let length = 0;
  const reader = parts.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(all);
    length += value.length;
    if (length > most) {
      void reader.cancel();
      throw new TooLarge();
    }
    all.push(value);
  }
}

/** In a Blob, whose stream TypeScript knows to be of plain bytes. */
const streamOf = (input: Buffer): ReadableStream<Uint8Array<ArrayBuffer>> => new Blob([new Uint8Array(input)]).stream();

/** Named here, since the build for servers has no types of browsers. */
type Form = "gzip" | "deflate";

const unpacker = (form: Form) => (input: Buffer, most: number) =>
  bytesOf(streamOf(input).pipeThrough(new DecompressionStream(form)), most);
const packer = (form: Form) => (input: Buffer) =>
  bytesOf(streamOf(input).pipeThrough(new CompressionStream(form)), Number.POSITIVE_INFINITY);

export const UNPACK: Readonly<Record<Packing, ReturnType<typeof unpacker> | null>> = {
  gzip: unpacker("gzip"),
  deflate: unpacker("deflate"),
  brotli: null,
  zstd: null,
};

export const PACK: Readonly<Record<Packing, ReturnType<typeof packer> | null>> = {
  gzip: packer("gzip"),
  deflate: packer("deflate"),
  brotli: null,
  zstd: null,
};

export const isTooLarge = (error: unknown): boolean => error instanceof TooLarge;

export const lacking = (packing: Packing): string => `a page has no ${packing}: a console on a server does`;
