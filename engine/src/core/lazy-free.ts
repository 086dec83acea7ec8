/**
 * What Redis frees in the background. Here a value that nobody refers to is garbage at once and the collector takes it, so
 * nothing is ever pending; what would have been put off is counted, because INFO tells it (`lazyfreed_objects`).
 */

import type { Stats } from "../observe/stats.ts";
import { isCollection, isStream } from "../types/kind.ts";
import type { Value } from "../types/value.ts";

/** Redis frees what has no more parts than this on the spot. */
const FEW_PARTS = 64;
/** A list's nodes are about so large. */
const NODE_BYTES = 8192;

/** How many parts a value would be freed in. */
function partsOf(value: Value): number {
  if (!isCollection(value)) return 1;
  if (isStream(value)) return value.blockCount;
  switch (value.encoding) {
    case "hashtable":
    case "skiplist":
      return value.size;
    case "quicklist":
      return Math.ceil(value.sizeBytes / NODE_BYTES);
    default:
      return 1;
  }
}

/** A value goes whose memory is reclaimed in the background. */
export function countLazyFree(stats: Stats, value: Value | undefined): void {
  if (value !== undefined && partsOf(value) > FEW_PARTS) stats.lazyFreed++;
}
