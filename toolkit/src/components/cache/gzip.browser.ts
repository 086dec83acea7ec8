/** gzip by the streams that browsers have. */
import { InputError } from "../../base/errors.ts";

async function through(
  bytes: Uint8Array,
  stream: CompressionStream | DecompressionStream,
  most: number,
): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let length = 0;
  const reader = new Blob([new Uint8Array(bytes)]).stream().pipeThrough<Uint8Array>(stream).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(parts);
    length += value.length;
    if (length > most) {
      await reader.cancel();
      throw new InputError(`a compressed value is larger than the ${most} bytes allowed`);
    }
    parts.push(value);
  }
}

export const compress = (bytes: Uint8Array): Promise<Buffer> =>
  through(bytes, new CompressionStream("gzip"), Number.POSITIVE_INFINITY);

/** Rejects when more than `most` bytes come out. */
export const decompress = (bytes: Uint8Array, most: number): Promise<Buffer> =>
  through(bytes, new DecompressionStream("gzip"), most);
