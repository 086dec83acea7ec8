/**
 * Errors as promised, measured: filters filled to their capacity and asked for as many items that were never added, sketches with a
 * stream in which few items are frequent and very many are rare. `SKETCH_ITEMS` says how many items; the README has the figures of a
 * million. Everything is the same in each run: a promise that is kept stays kept.
 */
import { describe, expect, test } from "vitest";
import { describeBackends } from "../../../tests/kit/index.ts";
import { BloomFilter, CountMinSketch, CuckooFilter, TopK } from "./index.ts";

const ITEMS = Number(process.env.SKETCH_ITEMS ?? 4_000);
const LONG_MS = 30_000 + ITEMS;
const AT_ONCE = 10_000;

const say = (...words: readonly unknown[]): void => {
  if (process.env.SKETCH_ITEMS !== undefined) console.log(...words);
};

async function inParts<T>(count: number, nameOf: (nth: number) => string, ask: (names: string[]) => Promise<T[]>) {
  const answers: T[] = [];
  for (let at = 0; at < count; at += AT_ONCE) {
    const names = Array.from({ length: Math.min(AT_ONCE, count - at) }, (_, nth) => nameOf(at + nth));
    answers.push(...(await ask(names)));
  }
  return answers;
}

const isTrue = (each: boolean): boolean => each;
const added = (nth: number): string => `added:${nth}`;
const absent = (nth: number): string => `absent:${nth}`;

/** What chance may add to so many expected errors: five standard deviations. */
const withLuck = (expected: number): number => expected + 5 * Math.sqrt(expected) + 1;

describeBackends("errors of filters", { backends: ["embedded", "redis"], audit: false }, (backend) => {
  describe.each([0.1, 0.01, 0.001])("made for %d", (errorRate) => {
    test("Bloom filter", { timeout: LONG_MS }, async () => {
      const filter = new BloomFilter(backend.store, `b${errorRate}`, { capacity: ITEMS, errorRate });
      await inParts(ITEMS, added, (names) => filter.addMany(names));
      const known = await inParts(ITEMS, added, (names) => filter.hasMany(names));
      expect(known.every(isTrue)).toBe(true);
      const wrong = (await inParts(ITEMS, absent, (names) => filter.hasMany(names))).filter(isTrue).length;
      const { count, bytes } = await filter.inspect();
      say(`Bloom ${backend.name}`, { errorRate, measured: wrong / ITEMS, count, bytes });
      expect(wrong).toBeLessThanOrEqual(withLuck(errorRate * ITEMS));
      // Those that were taken for others when they were added are known all the same.
      expect(count).toBeGreaterThan(ITEMS * (1 - errorRate));
    });

    test("Bloom filter that has grown from a tenth", { timeout: LONG_MS }, async () => {
      const capacity = Math.ceil(ITEMS / 10);
      const filter = new BloomFilter(backend.store, `g${errorRate}`, { capacity, maxCapacity: ITEMS, errorRate });
      await inParts(ITEMS, added, (names) => filter.addMany(names));
      expect((await inParts(ITEMS, added, (names) => filter.hasMany(names))).every(isTrue)).toBe(true);
      const wrong = (await inParts(ITEMS, absent, (names) => filter.hasMany(names))).filter(isTrue).length;
      const { grown, bytes } = await filter.inspect();
      say(`grown Bloom ${backend.name}`, { errorRate, measured: wrong / ITEMS, grown, bytes });
      expect(wrong).toBeLessThanOrEqual(withLuck(errorRate * ITEMS));
    });

    test("cuckoo filter", { timeout: LONG_MS }, async () => {
      const filter = new CuckooFilter(backend.store, `c${errorRate}`, { capacity: ITEMS, errorRate });
      expect((await inParts(ITEMS, added, (names) => filter.addMany(names))).every(isTrue)).toBe(true);
      expect((await inParts(ITEMS, added, (names) => filter.hasMany(names))).every(isTrue)).toBe(true);
      const wrong = (await inParts(ITEMS, absent, (names) => filter.hasMany(names))).filter(isTrue).length;
      const { count, bytes } = await filter.inspect();
      say(`cuckoo ${backend.name}`, { errorRate, measured: wrong / ITEMS, count, bytes });
      expect(wrong).toBeLessThanOrEqual(withLuck(errorRate * ITEMS));
      // Half of them leave; the others are still there.
      const half = ITEMS / 2;
      expect((await inParts(half, added, (names) => filter.deleteMany(names))).every(isTrue)).toBe(true);
      const rest = await inParts(
        half,
        (nth) => added(half + nth),
        (names) => filter.hasMany(names),
      );
      expect(rest.every(isTrue)).toBe(true);
      expect(await filter.count()).toBe(half);
    });
  });
});

/** Words as texts have them: the nth most frequent is seen about 1/n as often as the first. */
function* stream(count: number): Generator<string> {
  let state = 42;
  const words = count / 4;
  for (let nth = 0; nth < count; nth++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield `word:${Math.floor(words ** (state / 2 ** 32))}`;
  }
}

describeBackends("errors of sketches", { backends: ["embedded", "redis"], audit: false }, (backend) => {
  const all = [...stream(ITEMS)];
  const truth = new Map<string, number>();
  for (const word of all) truth.set(word, (truth.get(word) ?? 0) + 1);
  const words = [...truth.keys()];

  test.each([
    [0.01, 0.01],
    [0.001, 0.01],
    [0.0001, 0.001],
  ])("count-min sketch made for %d with %d of exceptions", { timeout: LONG_MS }, async (errorRate, missRate) => {
    const sketch = new CountMinSketch(backend.store, `s${errorRate}`, { errorRate, missRate });
    await inParts(
      ITEMS,
      (nth) => all[nth]!,
      (names) => sketch.addMany(names),
    );
    const counts = await inParts(
      words.length,
      (nth) => words[nth]!,
      (names) => sketch.counts(names),
    );
    const errors = words.map((word, at) => counts[at]! - truth.get(word)!);
    const { error, bytes, total } = await sketch.inspect();
    expect(total).toBe(ITEMS);
    expect(errors.filter((each) => each < 0)).toEqual([]);
    const over = errors.filter((each) => each > error).length / words.length;
    const largest = errors.reduce((most, each) => Math.max(most, each), 0);
    const mean = errors.reduce((sum, each) => sum + each, 0) / words.length;
    say(`count-min ${backend.name}`, { errorRate, missRate, words: words.length, error, largest, mean, over, bytes });
    expect(over).toBeLessThanOrEqual(missRate);
  });

  test.each([100, 1_000])("top-k with %i counters", { timeout: LONG_MS }, async (maxItems) => {
    const top = new TopK(backend.store, `t${maxItems}`, { maxItems });
    await inParts(
      ITEMS,
      (nth) => all[nth]!,
      (names) => top.addMany(names),
    );
    const { error, total } = await top.inspect();
    expect(total).toBe(ITEMS);
    const found = new Map((await top.top({ limit: maxItems })).map((each) => [each.item, each]));
    const frequent = words.filter((word) => truth.get(word)! > error);
    for (const word of frequent) expect(found.has(word), word).toBe(true);
    for (const { item, count, atLeast } of found.values()) {
      expect(count).toBeGreaterThanOrEqual(truth.get(item)!);
      expect(atLeast).toBeLessThanOrEqual(truth.get(item)!);
      expect(count - truth.get(item)!).toBeLessThanOrEqual(error);
    }
    const best = [...truth].sort(([, a], [, b]) => b - a).slice(0, maxItems / 10);
    const ranked = [...found.keys()].slice(0, best.length);
    const right = best.filter(([word]) => ranked.includes(word)).length / best.length;
    say(`top-k ${backend.name}`, { maxItems, error, certain: frequent.length, firstTenth: right });
  });
});
