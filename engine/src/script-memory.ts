/**
 * How much memory a script may still take: what is left to a share of V8's heap, garbage collected if need be.
 *
 * The data may fill the heap further than that (heap-guard.ts). Then a script gets a little all the same, enough to read, to
 * delete, and to write where there is room; no garbage is collected for it, as there would be next to none.
 */
import { getHeapStatistics } from "node:v8";
import { collectGarbage } from "./garbage.ts";
import type { HeapGuard } from "./heap-guard.ts";

/** The young generation's share of the limit that V8 names: what stays cannot use it. */
const YOUNG_BYTES = 48 * 1024 * 1024;
/** From 80 % of the old generation on, V8 gives up when some collections in a row free little. */
const FULLEST = 0.78;
/** A collection must make so much of the heap free, or there will be another one before long. */
const WORTH_WHILE = 0.05;
/** From here on the data leaves no more than a little. */
const NEARLY_FULL = 0.85;
/** The least and the share of the heap that a little is. */
const LITTLE_BYTES = 24 * 1024 * 1024;
const LITTLE_SHARE = 0.05;

export class ScriptMemory {
  readonly #guard: HeapGuard;
  /** What was in use when the script first asked for a little. */
  #usedBefore = -1;
  /** What was outside of V8's heap when the script first asked. Long strings and buffers are. */
  #externalBefore = -1;
  #most = 0;

  constructor(guard: HeapGuard) {
    this.#guard = guard;
  }

  /** Bytes that may still be allocated; where they are less than what is needed, garbage is collected first. */
  room(neededBytes: number): number {
    const room = this.#now();
    if (room >= neededBytes) return room;
    if (this.#guard.liveBytes > this.#most * NEARLY_FULL) return this.#little();
    collectGarbage();
    return this.#now() - this.#most * WORTH_WHILE;
  }

  #little(): number {
    const used = getHeapStatistics().used_heap_size;
    if (this.#usedBefore < 0) this.#usedBefore = used;
    const taken = Math.max(0, used - this.#usedBefore);
    return Math.min(this.#guard.workBytes(), Math.max(LITTLE_BYTES, this.#most * LITTLE_SHARE) - taken);
  }

  #now(): number {
    const { used_heap_size: used, heap_size_limit: limit, external_memory: external } = getHeapStatistics();
    if (this.#externalBefore < 0) this.#externalBefore = external;
    const most = (limit - YOUNG_BYTES) * FULLEST;
    this.#most = most;
    // What a script takes outside has no limit but the machine's: it gets no more of it than of the heap.
    return Math.min(most - used, most - (external - this.#externalBefore));
  }
}
