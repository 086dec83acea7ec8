/**
 * Three methods that every Node.js since version 6 has on its Buffers, and that @types/node does not declare. They are the
 * engine's border between bytes and words, and faster than `toString("latin1")` and `write(…, "latin1")`, which look the
 * encoding up at every call.
 */
export {};

declare global {
  interface Buffer<TArrayBuffer extends ArrayBufferLike = ArrayBufferLike> {
    latin1Slice(start?: number, end?: number): string;
    latin1Write(text: string, offset?: number, length?: number): number;
    utf8Write(text: string, offset?: number, length?: number): number;
  }
}
