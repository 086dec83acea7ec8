import { expect, test } from "vitest";
import { Chance } from "./chance.ts";
import { median, ratioOf } from "./figures.ts";
import { Histogram } from "./histogram.ts";

/** The value that this share of the sorted ones does not exceed. */
const naive = (sorted: readonly number[], percent: number): number =>
  sorted[Math.max(1, Math.ceil((percent / 100) * sorted.length)) - 1]!;

test.each([1, 2, 3])("percentiles are at most 1 %% off those of a sorted list (seed %i)", (seed) => {
  const chance = new Chance(seed);
  const [histogram, all]: [Histogram, number[]] = [new Histogram(), []];
  for (let count = 0; count < 20_000; count++) {
    // From a microsecond to an hour.
    const ms = 10 ** (-3 + (chance.below(9_500) / 9_500) * 9.5);
    histogram.record(ms);
    all.push(ms);
  }
  all.sort((a, b) => a - b);
  for (const percent of [0, 1, 25, 50, 90, 99, 99.9, 100]) {
    const wanted = naive(all, percent);
    expect(Math.abs(histogram.percentile(percent) - wanted)).toBeLessThanOrEqual(wanted * 0.01 + 0.0001);
  }
  expect(histogram.total).toBe(20_000);
  expect([histogram.minMs, histogram.maxMs]).toEqual([all[0], all.at(-1)]);
  expect(histogram.meanMs).toBeCloseTo(all.reduce((sum, each) => sum + each, 0) / all.length, 5);
});

test("two histograms are one when they are added", () => {
  const [a, b, both] = [new Histogram(), new Histogram(), new Histogram()];
  for (let ms = 1; ms <= 1_000; ms++) {
    (ms % 3 === 0 ? a : b).record(ms);
    both.record(ms);
  }
  a.add(b);
  for (const percent of [1, 50, 99]) expect(a.percentile(percent)).toBe(both.percentile(percent));
  expect([a.total, a.minMs, a.maxMs]).toEqual([1_000, 1, 1_000]);
});

test("nothing measured is 0, and what is longer than an hour counts as an hour", () => {
  const histogram = new Histogram();
  expect([histogram.percentile(99), histogram.minMs, histogram.meanMs]).toEqual([0, 0, 0]);
  histogram.record(1e9);
  histogram.record(-1);
  expect([histogram.minMs, histogram.maxMs, histogram.percentile(1)]).toEqual([0, 1e9, 0]);
});

test("a ratio is of rounds that both have", () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 2, 3])).toBe(2.5);
  expect(ratioOf([10, 20, 60], [10, 10, 20])).toEqual({ ratio: 2, low: 1, high: 3 });
  expect(ratioOf([10, 20], [10])).toEqual({ ratio: 1, low: 1, high: 1 });
  expect(ratioOf([0], [10])).toBeNull();
});
