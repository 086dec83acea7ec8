/** When V8 collects garbage, where we know better than it does. */
import { collectAll, collectYoung, heapFigures } from "../platform/memory.ts";

/** Collects all garbage now: MEMORY PURGE. It pauses in proportion to the heap. */
export function collectGarbage(): void {
  collectAll();
}

/** What is allocated between two collections. */
const ALLOCATED_BYTES = 3 * 1024 * 1024;

/**
 * Short pauses in exchange for some more work, for a while. V8 collects young garbage when 16 MB have been allocated, where no flag says otherwise; the
 * pause is in proportion to what of that is still in use, and where clients write a million keys at random that is five to
 * ten milliseconds, too much beside a snapshot's slices. A caller that calls `check` often gets a quarter of that
 * pause, four times as often.
 */
export class ShortCollections {
  #floor = heapFigures().used;

  /** Collects if enough has been allocated since the last time. */
  check(): void {
    const used = heapFigures().used;
    if (used < this.#floor) this.#floor = used;
    if (used - this.#floor < ALLOCATED_BYTES) return;
    collectYoung();
    this.#floor = heapFigures().used;
  }
}
