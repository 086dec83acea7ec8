/** Durations counted by logarithm: what LATENCY HISTOGRAM and INFO latencystats read. */

/** Up to 256 ns one bucket a nanosecond, then 128 buckets for each doubling, up to a second and a bit. */
const BUCKETS = 3072;
const LONGEST_NS = 1_000_000_000;

/** Durations by logarithm, at most 1 % off: two additions and a shift a call. */
export class Histogram {
  readonly #counts = new Uint32Array(BUCKETS);
  total = 0;

  record(microseconds: number, calls = 1): void {
    const ns = Math.min(Math.max(1, Math.round(microseconds * 1000)), LONGEST_NS);
    this.#counts[bucketOf(ns)]! += calls;
    this.total += calls;
  }

  /** The duration in microseconds that this share of the calls did not exceed. */
  percentile(percent: number): number {
    const wanted = Math.max(1, Math.floor((percent / 100) * this.total + 0.5));
    let seen = 0;
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      seen += this.#counts[bucket]!;
      if (seen >= wanted) return highest(bucket) / 1000;
    }
    return 0;
  }

  /** Bounds in microseconds that double, each with how many calls took no longer; only those where that number grows. */
  doublings(): { readonly microseconds: number; readonly calls: number }[] {
    const steps: { microseconds: number; calls: number }[] = [];
    let calls = 0;
    let bucket = 0;
    for (let bound = 1024; calls < this.total && bucket < BUCKETS; bound *= 2) {
      const before = calls;
      const last = Math.min(bucketOf(bound), BUCKETS - 1);
      while (bucket <= last) calls += this.#counts[bucket++]!;
      if (calls > before) steps.push({ microseconds: Math.floor(highest(last) / 1000), calls });
    }
    return steps;
  }
}

function bucketOf(ns: number): number {
  const shift = Math.max(0, 24 - Math.clz32(ns));
  return (shift << 7) + (ns >>> shift);
}

/** The highest duration, in nanoseconds, that falls into a bucket. */
function highest(bucket: number): number {
  const shift = bucket < 256 ? 0 : (bucket >> 7) - 1;
  return (bucket - (shift << 7) + 1) * 2 ** shift - 1;
}
