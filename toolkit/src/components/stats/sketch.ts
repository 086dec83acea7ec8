/**
 * Quantiles from counts in buckets whose widths grow with their values: a quantile is off by at most one per cent of itself,
 * sketches of several hours, processes or shards are merged by adding, and a bucket is a small integer and a count.
 */

const GAMMA = 1.02;
const LOG_GAMMA = Math.log(GAMMA);
/** Values closer to zero than this count as zero. */
const SMALLEST = 1e-9;
const SHIFT = 2_000;
/** The bucket of the largest number that there is. */
const LARGEST = SHIFT + Math.ceil(Math.log(Number.MAX_VALUE) / LOG_GAMMA);

/** The bucket of a value: 0 for zero, positive for positive ones, larger for larger ones. */
export function bucketOf(value: number): number {
  const size = Math.abs(value);
  if (size < SMALLEST) return 0;
  const index = Math.max(1, Math.min(LARGEST, Math.ceil(Math.log(size) / LOG_GAMMA) + SHIFT));
  return value < 0 ? -index : index;
}

/** The value in the middle of a bucket, by ratio. */
export function middleOf(bucket: number): number {
  if (bucket === 0) return 0;
  // The last bucket ends beyond the largest number.
  const size = Math.min(Number.MAX_VALUE, GAMMA ** (Math.abs(bucket) - SHIFT) * (2 / (GAMMA + 1)));
  return bucket < 0 ? -size : size;
}

/** The least value that the fraction `q` of all does not exceed; NaN when nothing was counted. */
export function quantile(buckets: ReadonlyMap<number, number>, q: number): number {
  let total = 0;
  for (const count of buckets.values()) total += count;
  const rank = Math.max(1, Math.ceil(q * total));
  let below = 0;
  for (const [bucket, count] of [...buckets].sort(([a], [b]) => a - b)) {
    below += count;
    if (below >= rank) return middleOf(bucket);
  }
  return Number.NaN;
}
