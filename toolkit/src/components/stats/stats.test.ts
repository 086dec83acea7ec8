import { Engine, ManualClock } from "@cinnabar/engine";
import { describe, expect, test } from "vitest";
import { describeBackends, withinAnHour } from "../../../tests/kit/index.ts";
import { InputError } from "../../base/errors.ts";
import { open } from "../../connection/open.ts";
import { Stats } from "./index.ts";
import { bucketOf, quantile } from "./sketch.ts";

const HOUR = 3_600_000;

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48271) % 2147483647;
    return state / 2147483647;
  };
}

describe("the sketch", () => {
  test.each([
    ["even", (random: () => number) => random() * 1000],
    ["steep", (random: () => number) => Math.exp(random() * 20)],
    ["tiny", (random: () => number) => random() * 1e-6 + 1e-7],
    ["huge", (random: () => number) => 10 ** (random() * 600 - 300)],
    ["negative too", (random: () => number) => (random() - 0.5) * 100],
  ])("finds quantiles within one per cent: %s", (_, draw) => {
    const random = seeded(5);
    const values = Array.from({ length: 5_000 }, () => draw(random)).sort((a, b) => a - b);
    const buckets = new Map<number, number>();
    for (const value of values) buckets.set(bucketOf(value), (buckets.get(bucketOf(value)) ?? 0) + 1);
    for (const q of [0, 0.1, 0.5, 0.9, 0.95, 0.99, 1]) {
      const exact = values[Math.max(1, Math.ceil(q * values.length)) - 1]!;
      expect(Math.abs(quantile(buckets, q) - exact)).toBeLessThanOrEqual(Math.abs(exact) * 0.0101 + 1e-9);
    }
  });

  test("of a few values gives the last one for the highest", () => {
    const buckets = new Map([1, 2, 3].map((value) => [bucketOf(value), 1]));
    expect(quantile(buckets, 0.5)).toBeCloseTo(2, 1);
    expect(quantile(buckets, 0.95)).toBeCloseTo(3, 1);
    expect(quantile(buckets, 0)).toBeCloseTo(1, 1);
  });

  test("of nothing is not a number, of zeros is zero", () => {
    expect(quantile(new Map(), 0.5)).toBeNaN();
    expect(quantile(new Map([[0, 3]]), 0.5)).toBe(0);
  });
});

describeBackends("statistics", (backend) => {
  test("equal a naive sum while several processes record at the same time", () =>
    withinAnHour(backend, async () => {
      const stores = await Promise.all([backend.open(), backend.open()]);
      const all = stores.map((store) => new Stats(store));
      const random = seeded(3);
      const values = Array.from({ length: 300 }, () => 1e6 + random() * 100);
      await Promise.all(values.map((value, nth) => all[nth % 2]!.record("page", "size", nth % 3 ? value : [value])));
      const { thisHour } = (await all[0]!.get("page", "size"))!;
      const found = thisHour!;
      const mean = values.reduce((sum, value) => sum + value, 0) / 300;
      const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / 299;
      expect(found.count).toBe(300);
      expect(found.min).toBe(Math.min(...values));
      expect(found.max).toBe(Math.max(...values));
      expect(found.mean).toBeCloseTo(mean, 6);
      expect(found.standardDeviation).toBeCloseTo(Math.sqrt(variance), 6);
      expect(found.sum).toBeCloseTo(mean * 300, 2);
      expect(found.p95).toBeGreaterThanOrEqual(found.p50);
      expect(found.quantile(0)).toBeGreaterThanOrEqual(found.min);
    }));

  test("nothing recorded is null", async () => {
    expect(await new Stats(backend.store).get("absent", "size")).toBeNull();
  });

  test("a timed block gives what it gives, and is noted, even when it throws", async () => {
    const stats = new Stats(backend.store);
    expect(await stats.time("/a", () => 17)).toBe(17);
    await expect(stats.time("/b", () => Promise.reject(new Error("mine")))).rejects.toThrow("mine");
    await expect.poll(async () => (await stats.slowest()).map(({ context }) => context).sort()).toEqual(["/a", "/b"]);
    await expect.poll(async () => (await stats.list()).items).toContainEqual({ context: "/a", type: "ms" });
  });

  test("the slowest contexts are kept, the others fall out", () =>
    withinAnHour(backend, async () => {
      const stats = new Stats(backend.store, { keepSlowest: 3 });
      for (const [context, ms] of [
        ["a", 5],
        ["b", 50],
        ["c", 1],
        ["d", 500],
        ["d", 100],
      ] as const) {
        await stats.duration(context, ms);
      }
      expect(await stats.slowest({ limit: 3 })).toEqual([
        { context: "d", meanMs: 300 },
        { context: "b", meanMs: 50 },
        { context: "a", meanMs: 5 },
      ]);
    }));

  test.each<[string, readonly number[], number, number]>([
    ["one value", [3], 3, 0],
    ["zero", [0], 0, 0],
    ["one huge value", [Number.MAX_VALUE], Number.MAX_VALUE, 0],
    ["both ends", [1e308, -1e308], 0, Math.SQRT2 * 1e308],
    ["both ends, the lower first", [-1e308, 1e308], 0, Math.SQRT2 * 1e308],
    ["huge ones that are the same", [1e308, 1e308, 1e308], 1e308, 0],
    ["small ones and a huge one", [1, 2, 1e300], 1e300 / 3, 1e300 / Math.sqrt(3)],
    ["squares that are too large", [1e200, 3e200], 2e200, Math.SQRT2 * 1e200],
    ["tiny ones", [5e-324, 5e-324], 5e-324, 0],
  ])("are numbers at the extremes: %s", (_, list, mean, deviation) =>
    withinAnHour(backend, async () => {
      const stats = new Stats(backend.store);
      for (const value of list) await stats.record("extremes", "size", value);
      const hour = (await stats.get("extremes", "size"))!.thisHour!;
      const { from: _from, quantile: at, ...figures } = hour;
      for (const [name, figure] of Object.entries(figures)) expect(figure, name).not.toBeNaN();
      expect(hour.mean / (mean || 1)).toBeCloseTo(mean === 0 ? 0 : 1, 9);
      expect(hour.standardDeviation / (deviation || 1)).toBeCloseTo(deviation === 0 ? 0 : 1, 9);
      const sorted = [...list].sort((a, b) => a - b);
      expect([hour.min, hour.max]).toEqual([sorted[0], sorted.at(-1)]);
      expect([at(0) / (hour.min || 1), at(1) / (hour.max || 1)].map((each) => Math.abs(each))).toEqual([
        expect.closeTo(hour.min === 0 ? 0 : 1, 1),
        expect.closeTo(hour.max === 0 ? 0 : 1, 1),
      ]);
    }),
  );

  test("deviations that are too large to be squared go on with those before them", () =>
    withinAnHour(backend, async () => {
      const stats = new Stats(backend.store);
      const list = [1e150, 5e150, 1e160, -3e160, 2e160];
      await stats.record("wide", "size", list.slice(0, 2));
      await stats.record("wide", "size", list.slice(2));
      const mean = list.reduce((sum, each) => sum + each / list.length, 0);
      const squares = list.reduce((sum, each) => sum + ((each - mean) / 1e160) ** 2, 0);
      const { thisHour } = (await stats.get("wide", "size"))!;
      expect(thisHour!.standardDeviation / (Math.sqrt(squares / 4) * 1e160)).toBeCloseTo(1, 9);
    }));

  test("a quantile that is none is refused", async () => {
    const stats = new Stats(backend.store);
    await stats.record("c", "t", 1);
    const { thisHour } = (await stats.get("c", "t"))!;
    for (const q of [Number.NaN, -0.1, 1.1, Number.POSITIVE_INFINITY]) {
      expect(() => thisHour!.quantile(q)).toThrow(InputError);
    }
  });

  test("wrong values are refused and leave nothing", async () => {
    const stats = new Stats(backend.store);
    await expect(stats.record("page", "size", Number.NaN)).rejects.toThrow(InputError);
    await expect(stats.record("page", "size", [])).rejects.toThrow(InputError);
    await expect(stats.record("page", "", 1)).rejects.toThrow(InputError);
    await expect(stats.record("", "size", 1)).rejects.toThrow(InputError);
    expect(await stats.get("page", "size")).toBeNull();
  });
});

test("an hour becomes the last hour, and then is gone", async () => {
  const clock = new ManualClock(1_700_000_000_000 - (1_700_000_000_000 % HOUR));
  const engine = await Engine.open({ clock });
  const store = await open(engine);
  const stats = new Stats(store);
  await stats.record("page", "size", [1, 2]);
  await stats.duration("/slow", 9);
  clock.advance(HOUR);
  expect(await stats.get("page", "size")).toMatchObject({ thisHour: null, lastHour: { count: 2 } });
  await stats.record("page", "size", 7);
  expect(await stats.get("page", "size")).toMatchObject({
    thisHour: { count: 1, max: 7 },
    lastHour: { count: 2, max: 2 },
  });
  await stats.duration("/quick", 1);
  expect((await stats.slowest()).map(({ context }) => context)).toEqual(["/slow", "/quick"]);
  clock.advance(HOUR);
  expect((await stats.slowest()).map(({ context }) => context)).toEqual(["/quick"]);
  await stats.record("page", "size", 8);
  expect(await stats.get("page", "size")).toMatchObject({ thisHour: { max: 8 }, lastHour: { max: 7 } });
  clock.advance(3 * HOUR);
  expect(await stats.get("page", "size")).toBeNull();
  expect(await stats.slowest()).toEqual([]);
  await store.close();
  await engine.close();
});
