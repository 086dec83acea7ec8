/** Buckets as they are stored, and as callers get them. */
import { inPairs } from "../../base/lists.ts";
import { IN_A_CHUNK, type RangeReply } from "./scripts.ts";

/** Figures of all samples of one bucket. */
export interface SeriesPoint {
  /** When the bucket begins. */
  readonly at: Date;
  /** How many samples there were. */
  readonly count: number;
  /** The sum of their values. */
  readonly sum: number;
  /** The least value. */
  readonly min: number;
  /** The largest value. */
  readonly max: number;
  /** The mean of their values. */
  readonly avg: number;
  /** The newest of them. */
  readonly last: number;
}

interface Bucket {
  readonly startMs: number;
  readonly count: number;
  readonly sum: number;
  readonly min: number;
  readonly max: number;
  readonly last: number;
}

/** The buckets of a range, oldest first. */
function bucketsIn({ everyMs, fromMs, toMs, chunks }: RangeReply): Bucket[] {
  const buckets: Bucket[] = [];
  for (const { chunk, flat } of chunks) {
    for (const [field, packed] of inPairs(flat)) {
      const startMs = (chunk * IN_A_CHUNK + Number(field)) * everyMs;
      if (startMs + everyMs <= fromMs || startMs > toMs) continue;
      const figure = (nth: number): number => packed.readDoubleLE(nth * 8);
      buckets.push({ startMs, count: figure(0), sum: figure(1), min: figure(2), max: figure(3), last: figure(4) });
    }
  }
  return buckets.sort((a, b) => a.startMs - b.startMs);
}

function merged(a: Bucket, b: Bucket): Bucket {
  return {
    startMs: a.startMs,
    count: a.count + b.count,
    sum: a.sum + b.sum,
    min: Math.min(a.min, b.min),
    max: Math.max(a.max, b.max),
    last: b.last,
  };
}

const pointOf = ({ startMs, ...figures }: Bucket): SeriesPoint => ({
  at: new Date(startMs),
  ...figures,
  avg: figures.sum / figures.count,
});

/** In buckets of this width, which is a multiple of the stored one. */
export function pointsOf(reply: RangeReply, widthMs: number): SeriesPoint[] {
  const wide = new Map<number, Bucket>();
  for (const bucket of bucketsIn(reply)) {
    const startMs = bucket.startMs - (bucket.startMs % widthMs);
    const before = wide.get(startMs);
    wide.set(startMs, before === undefined ? { ...bucket, startMs } : merged(before, bucket));
  }
  return [...wide.values()].map(pointOf);
}

/** All of it as one; null where there is nothing. */
export function totalOf(reply: RangeReply): SeriesPoint | null {
  const [first, ...others] = bucketsIn(reply);
  return first === undefined ? null : pointOf(others.reduce(merged, first));
}
