/**
 * The part of the replication stream that some replica has yet to get: once for all of them, in blocks.
 *
 * Every replica has a place in it and takes views of the blocks from there as fast as its socket does (replica.ts). Bytes
 * are only ever added behind the others, so a view that waits in a socket stays right. A block goes when all have passed it.
 * Handing every replica every small chunk instead would cost an object or two for each, many times its bytes, and the limit
 * on what a slow replica may hold up would mean little.
 */
import { Buffer } from "../platform/bytes.ts";

/** Redis's size: what is left when all have caught up is one of them. */
const BLOCK_BYTES = 16 * 1024;

interface Block {
  /** The offset of the byte before its first. */
  readonly base: number;
  readonly bytes: Buffer;
  length: number;
}

export class StreamBuffer {
  #blocks: Block[] = [];
  #sizeBytes = 0;

  /** What it takes. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Adds a copy of these bytes behind this offset. */
  append(bytes: Buffer, base: number): void {
    let last = this.#blocks.at(-1);
    // Nothing was kept while nobody wanted it.
    if (last !== undefined && last.base + last.length !== base) {
      this.clear();
      last = undefined;
    }
    if (bytes.length >= BLOCK_BYTES) {
      this.#add({ base, bytes: Buffer.from(bytes), length: bytes.length });
      return;
    }
    if (last === undefined || last.length + bytes.length > last.bytes.length) {
      last = { base, bytes: Buffer.allocUnsafeSlow(BLOCK_BYTES), length: 0 };
      this.#add(last);
    }
    bytes.copy(last.bytes, last.length);
    last.length += bytes.length;
  }

  #add(block: Block): void {
    this.#blocks.push(block);
    this.#sizeBytes += block.bytes.length;
  }

  /** What stands behind this offset, as far as the block goes; undefined if there is nothing. */
  after(offset: number): Buffer | undefined {
    const block = this.#find(offset);
    return block?.bytes.subarray(offset - block.base, block.length);
  }

  /** The block that has the byte behind this offset. */
  #find(offset: number): Block | undefined {
    let low = 0;
    let high = this.#blocks.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const block = this.#blocks[middle]!;
      if (offset < block.base) high = middle - 1;
      else if (offset >= block.base + block.length) low = middle + 1;
      else return block;
    }
    return undefined;
  }

  /** All have everything up to this offset. The last block stays: more comes into it. */
  trim(offset: number): void {
    let gone = 0;
    for (const { base, bytes, length } of this.#blocks) {
      if (gone === this.#blocks.length - 1 || base + length > offset) break;
      this.#sizeBytes -= bytes.length;
      gone++;
    }
    if (gone > 0) this.#blocks.splice(0, gone);
  }

  clear(): void {
    this.#blocks = [];
    this.#sizeBytes = 0;
  }
}
