/** Durations counted by logarithm: a fixed amount of memory however many there are, and each at most 1 % off. */

/** In a unit of 100 ns: up to 256 one bucket for each, then 128 for each doubling, up to an hour. */
const TWO_32 = 2 ** 32;
const UNITS_IN_MS = 10_000;
const MOST = 3_600_000 * UNITS_IN_MS;
const BUCKETS = bucketOf(MOST) + 1;

export class Histogram {
  readonly #counts = new Float64Array(BUCKETS);
  #total = 0;
  #sumMs = 0;
  #leastMs = Number.POSITIVE_INFINITY;
  #mostMs = 0;

  get total(): number {
    return this.#total;
  }

  get minMs(): number {
    return this.#total === 0 ? 0 : this.#leastMs;
  }

  get maxMs(): number {
    return this.#mostMs;
  }

  get meanMs(): number {
    return this.#total === 0 ? 0 : this.#sumMs / this.#total;
  }

  record(ms: number): void {
    const known = Math.max(0, ms);
    this.#counts[bucketOf(Math.min(MOST, Math.round(known * UNITS_IN_MS)))]!++;
    this.#total++;
    this.#sumMs += known;
    if (known < this.#leastMs) this.#leastMs = known;
    if (known > this.#mostMs) this.#mostMs = known;
  }

  add(other: Histogram): void {
    for (let bucket = 0; bucket < BUCKETS; bucket++) this.#counts[bucket]! += other.#counts[bucket]!;
    this.#total += other.#total;
    this.#sumMs += other.#sumMs;
    this.#leastMs = Math.min(this.#leastMs, other.#leastMs);
    this.#mostMs = Math.max(this.#mostMs, other.#mostMs);
  }

  /** The duration that this share of them did not exceed. */
  percentile(percent: number): number {
    const wanted = Math.max(1, Math.ceil((percent / 100) * this.#total));
    let seen = 0;
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      seen += this.#counts[bucket]!;
      // The last bucket of all goes beyond what was seen.
      if (seen >= wanted) return Math.min(this.#mostMs, highestIn(bucket) / UNITS_IN_MS);
    }
    return 0;
  }
}

function bucketOf(units: number): number {
  const bits = units < TWO_32 ? 32 - Math.clz32(units) : 64 - Math.clz32(Math.floor(units / TWO_32));
  const shift = Math.max(0, bits - 8);
  return shift * 128 + Math.floor(units / 2 ** shift);
}

function highestIn(bucket: number): number {
  const shift = bucket < 256 ? 0 : Math.floor(bucket / 128) - 1;
  return (bucket - shift * 128 + 1) * 2 ** shift - 1;
}
