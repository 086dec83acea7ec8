/**
 * What one connection has yet to write, in order, and how it gets into the stream: a window at a time.
 *
 * Strings stay strings until their turn comes, and a large word is a reference to the value itself. So a reply that names one
 * value of 400 MB fifty times costs that value once and a window, not 20 GB of bytes; and the same goes for a large message
 * to many subscribers. Between two windows of one connection all the others have their turn.
 */
import type { Buffer } from "../platform/bytes.ts";
import type { Duplex } from "../platform/streams.ts";

export type Part = string | Buffer;

/** The most that is handed to the stream at a time. */
export const WINDOW_BYTES = 1024 * 1024;

export class Outbox {
  readonly #stream: Duplex;
  #parts: Part[] = [];
  /** The first part that is not written yet, and how much of it is. */
  #first = 0;
  #written = 0;
  #bytes = 0;

  constructor(stream: Duplex) {
    this.#stream = stream;
  }

  /** What is not handed to the stream yet. */
  get bytes(): number {
    return this.#bytes;
  }

  /** How many parts that is. */
  get count(): number {
    return this.#parts.length - this.#first;
  }

  add(parts: readonly Part[]): void {
    for (const part of parts) {
      this.#parts.push(part);
      this.#bytes += part.length;
    }
  }

  clear(): void {
    this.#parts = [];
    this.#first = 0;
    this.#written = 0;
    this.#bytes = 0;
  }

  /** Hands the next window to the stream unless it has yet to take the last one; returns how much that was. */
  pump(): number {
    const stream = this.#stream;
    if (this.#bytes === 0 || stream.writableNeedDrain || stream.destroyed) return 0;
    let room = WINDOW_BYTES;
    stream.cork();
    while (room > 0 && this.#bytes > 0) {
      const piece = this.#take(room);
      room -= piece.length;
      if (typeof piece === "string") stream.write(piece, "latin1");
      else stream.write(piece);
    }
    stream.uncork();
    return WINDOW_BYTES - room;
  }

  /** The next part, or as much of it as there is room for. */
  #take(room: number): Part {
    const part = this.#parts[this.#first]!;
    const start = this.#written;
    const length = Math.min(room, part.length - start);
    this.#bytes -= length;
    if (start + length < part.length) this.#written += length;
    else {
      // Let go of at once: the rest may wait for long.
      this.#parts[this.#first++] = "";
      this.#written = 0;
      if (this.#first === this.#parts.length) this.clear();
      else if (this.#first > 1024 && this.#first * 2 > this.#parts.length) {
        this.#parts = this.#parts.slice(this.#first);
        this.#first = 0;
      }
    }
    if (length === part.length) return part;
    return typeof part === "string" ? part.slice(start, start + length) : part.subarray(start, start + length);
  }
}
