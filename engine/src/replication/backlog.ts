/**
 * The backlog: the last bytes of the replication stream, so that a replica that was away for a moment gets what it missed
 * instead of everything.
 *
 * A ring of repl-backlog-size bytes. Memory is taken as it fills, doubling, since most backlogs are configured for a bad day;
 * only when it has its full size does it wrap round.
 *
 * Offsets count bytes of the stream from 1, as Redis does: `end` is the offset of the last byte, and a replica that has
 * everything up to n asks for n + 1.
 */
import { Buffer } from "../platform/bytes.ts";

const FIRST_BYTES = 64 * 1024;

export class Backlog {
  #ring: Buffer;
  #size: number;
  /** Where the next byte goes. */
  #at = 0;
  #length = 0;
  /** The offset of the last byte in it, or that would be before the first. */
  #end: number;

  constructor(sizeBytes: number, end: number) {
    this.#size = sizeBytes;
    this.#end = end;
    this.#ring = Buffer.allocUnsafeSlow(Math.min(sizeBytes, FIRST_BYTES));
  }

  /** How many bytes are in it. */
  get length(): number {
    return this.#length;
  }

  get end(): number {
    return this.#end;
  }

  /** The offset of the first byte in it; of the next one while it is empty. */
  get start(): number {
    return this.#end - this.#length + 1;
  }

  /** What it takes. */
  get sizeBytes(): number {
    return this.#ring.length;
  }

  append(bytes: Buffer): void {
    this.#end += bytes.length;
    const kept = bytes.length > this.#size ? bytes.subarray(bytes.length - this.#size) : bytes;
    if (this.#length + kept.length > this.#ring.length && this.#ring.length < this.#size) this.#grow(kept.length);
    const ring = this.#ring;
    const first = Math.min(kept.length, ring.length - this.#at);
    kept.copy(ring, this.#at, 0, first);
    if (first < kept.length) kept.copy(ring, 0, first);
    this.#at = (this.#at + kept.length) % ring.length;
    this.#length = Math.min(this.#length + kept.length, ring.length);
  }

  /** It has never wrapped round while it is smaller than it may be, so what it holds stands at its front. */
  #grow(more: number): void {
    const wanted = Math.max(this.#ring.length * 2, this.#length + more);
    const grown = Buffer.allocUnsafeSlow(Math.min(this.#size, wanted));
    this.#ring.copy(grown, 0, 0, this.#length);
    this.#ring = grown;
    this.#at = this.#length % grown.length;
  }

  /** Whether the stream can be taken up from this offset. */
  reaches(from: number): boolean {
    return from >= this.start && from <= this.#end + 1;
  }

  /** A copy of everything from an offset that it reaches. */
  from(offset: number): Buffer {
    const count = this.#end + 1 - offset;
    const out = Buffer.allocUnsafeSlow(count);
    const { length } = this.#ring;
    const begin = (((this.#at - count) % length) + length) % length;
    const first = Math.min(count, length - begin);
    this.#ring.copy(out, 0, begin, begin + first);
    if (first < count) this.#ring.copy(out, first, 0, count - first);
    return out;
  }

  /** repl-backlog-size has changed: the newest bytes stay, as far as there is room. */
  resize(sizeBytes: number): void {
    if (sizeBytes === this.#size) return;
    const kept = this.from(Math.max(this.start, this.#end + 1 - sizeBytes));
    const end = this.#end;
    this.#size = sizeBytes;
    this.#ring = Buffer.allocUnsafeSlow(Math.min(sizeBytes, Math.max(FIRST_BYTES, kept.length)));
    this.#at = 0;
    this.#length = 0;
    this.append(kept);
    this.#end = end;
  }
}
