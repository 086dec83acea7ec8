/**
 * How much memory a script may still take: what is left to a share of V8's heap, garbage collected if need be. The share is
 * above the one that data may take (heap-guard.ts), so scripts run in a store that is full of data, too.
 */

import { collectGarbage } from "../core/garbage.ts";
import { heapFigures, oldLimit } from "../platform/memory.ts";

/** From 80 % of the old generation on, V8 gives up when some collections in a row free little. */
const FULLEST = 0.78;
/** A collection must make so much of the heap free, or there will be another one before long. */
const WORTH_WHILE = 0.02;

export class ScriptMemory {
  /** What was outside of V8's heap when the script first asked. Long strings and buffers are. */
  #externalBefore = -1;
  #most = 0;

  /** Bytes that may still be allocated; where they are less than what is needed, garbage is collected first. */
  room(neededBytes: number): number {
    const room = this.#now();
    if (room >= neededBytes) return room;
    collectGarbage();
    return this.#now() - this.#most * WORTH_WHILE;
  }

  #now(): number {
    const { used, limit, external } = heapFigures();
    if (this.#externalBefore < 0) this.#externalBefore = external;
    const most = oldLimit(limit) * FULLEST;
    this.#most = most;
    // What a script takes outside has no limit but the machine's: it gets no more of it than of the heap.
    return Math.min(most - used, most - (external - this.#externalBefore));
  }
}
