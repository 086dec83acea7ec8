/** What a platform tells of the heap, in bytes. */
export interface HeapFigures {
  readonly used: number;
  /** The most that the heap may have. */
  readonly limit: number;
  /** Outside of the heap, but kept alive by it: Buffers. */
  readonly external: number;
}
