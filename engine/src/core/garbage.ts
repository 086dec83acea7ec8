/** When V8 collects garbage, where we know better than it does. */
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

type Collect = (options?: { type: "minor" }) => void;

let collect: Collect | null = null;

function collector(): Collect {
  if (collect === null) {
    // Node hides the function unless it was started with this flag; a context made after setting it has one.
    setFlagsFromString("--expose-gc");
    collect = runInNewContext("gc") as Collect;
  }
  return collect;
}

/** Collects all garbage now: MEMORY PURGE. It pauses in proportion to the heap. */
export function collectGarbage(): void {
  collector()();
}

/** What is allocated between two collections. */
const ALLOCATED_BYTES = 3 * 1024 * 1024;

/**
 * Short pauses in exchange for some more work, for a while. V8 collects young garbage when 16 MB have been allocated; the
 * pause is in proportion to what of that is still in use, and where clients write a million keys at random that is five to
 * ten milliseconds, too much beside a snapshot's slices. A caller that calls `check` often gets a quarter of that
 * pause, four times as often.
 */
export class ShortCollections {
  #floor = getHeapStatistics().used_heap_size;

  /** Collects if enough has been allocated since the last time. */
  check(): void {
    const used = getHeapStatistics().used_heap_size;
    if (used < this.#floor) this.#floor = used;
    if (used - this.#floor < ALLOCATED_BYTES) return;
    collector()({ type: "minor" });
    this.#floor = getHeapStatistics().used_heap_size;
  }
}
