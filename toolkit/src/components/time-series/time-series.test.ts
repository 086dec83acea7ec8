import { expect, test } from "vitest";
import { ClockedStore } from "../../../tests/kit/clocked-store.ts";
import { describeBackends } from "../../../tests/kit/index.ts";
import { InputError } from "../../base/errors.ts";
import type { Store } from "../../connection/store.ts";
import { TimeSeries } from "./index.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const ROLL_UPS = [
  { everyMs: SECOND, keepMs: MINUTE },
  { everyMs: MINUTE, keepMs: HOUR },
];

async function nowOf(store: Store): Promise<number> {
  const [seconds] = (await store.call("TIME")) as string[];
  return Number(seconds) * 1_000;
}

describeBackends("time series", { audit: "tags" }, (backend) => {
  test("have the figures of each stretch of time", async () => {
    const series = new TimeSeries(backend.store);
    // An hour that is over, so that no bucket is cut by the present moment.
    const start = Math.floor((await nowOf(backend.store)) / HOUR) * HOUR - 2 * HOUR;
    const values = [3, -1, 10, 4];
    expect(
      await series.addMany(
        "cpu",
        values.map((value, nth) => ({ value, at: start + nth * 20 * SECOND })),
      ),
    ).toEqual([true, true, true, true]);
    expect(await series.range("cpu", { from: start, to: start + HOUR - 1, everyMs: MINUTE })).toEqual([
      { at: new Date(start), count: 3, sum: 12, min: -1, max: 10, avg: 4, last: 10 },
      { at: new Date(start + MINUTE), count: 1, sum: 4, min: 4, max: 4, avg: 4, last: 4 },
    ]);
    const [hour] = await series.range("cpu", { from: start, to: start + HOUR - 1, everyMs: HOUR });
    expect(hour).toEqual({ at: new Date(start), count: 4, sum: 16, min: -1, max: 10, avg: 4, last: 4 });
    expect(await series.stats("cpu", { from: start, to: start + HOUR - 1 })).toMatchObject({
      count: 4,
      min: -1,
      max: 10,
    });
    expect(await series.get("cpu")).toEqual({ at: new Date(start + 60 * SECOND), value: 4 });
  });

  test("of which there is nothing are empty", async () => {
    const series = new TimeSeries(backend.store);
    expect(await series.range("none")).toEqual([]);
    expect(await series.stats("none")).toBeNull();
    expect(await series.get("none")).toBeNull();
    expect(await series.delete("none")).toBe(false);
  });

  test("a late sample counts where it belongs, and is not the last", async () => {
    const series = new TimeSeries(backend.store);
    const start = Math.floor((await nowOf(backend.store)) / HOUR) * HOUR - 2 * HOUR;
    await series.add("cpu", 1, { at: new Date(start + 30 * SECOND) });
    await series.add("cpu", 2, { at: start + 10 * SECOND });
    expect(await series.range("cpu", { from: start, to: start + MINUTE - 1 })).toMatchObject([
      { count: 2, sum: 3, last: 1 },
    ]);
    expect(await series.get("cpu")).toMatchObject({ value: 1 });
  });

  test("samples that are too old or too far ahead are refused", async () => {
    const series = new TimeSeries(backend.store, { rollUps: ROLL_UPS });
    const now = await nowOf(backend.store);
    expect(await series.add("cpu", 1, { at: now - 2 * HOUR })).toBe(false);
    expect(await series.add("cpu", 1, { at: now + HOUR })).toBe(false);
    expect(await series.add("cpu", 1, { at: now - 30 * MINUTE })).toBe(true);
    expect(await series.range("cpu", { everyMs: SECOND })).toEqual([]);
    expect(await series.range("cpu", { everyMs: MINUTE })).toMatchObject([{ count: 1 }]);
  });

  test("are as exact as doubles are, and everybody's samples count", async () => {
    const all = [backend.store, await backend.open(), await backend.open()].map((store) => new TimeSeries(store));
    const start = Math.floor((await nowOf(backend.store)) / HOUR) * HOUR - 3 * HOUR;
    await Promise.all(
      Array.from({ length: 300 }, (_, nth) => all[nth % 3]!.add("cpu", 0.1 + 0.2 + nth * 2 ** 40, { at: start + nth })),
    );
    const [point] = await all[0]!.range("cpu", { from: start, to: start + MINUTE - 1 });
    expect(point).toMatchObject({
      count: 300,
      min: 0.1 + 0.2,
      max: 0.1 + 0.2 + 299 * 2 ** 40,
      last: 0.1 + 0.2 + 299 * 2 ** 40,
    });
  });

  test("give the newest points of a long range, in the width that fits", async () => {
    const series = new TimeSeries(backend.store);
    const start = Math.floor((await nowOf(backend.store)) / HOUR) * HOUR - 20 * HOUR;
    const samples = Array.from({ length: 1_000 }, (_, nth) => ({ value: nth, at: start + nth * MINUTE }));
    await series.addMany("cpu", samples);
    const minutes = await series.range("cpu", { from: start, to: start + 1_000 * MINUTE - 1 });
    expect(minutes.map(({ last }) => last)).toEqual(samples.map(({ value }) => value));
    const hours = await series.range("cpu", { from: start, to: start + 1_000 * MINUTE - 1, limit: 100 });
    expect(hours.length).toBe(17);
    expect(hours[0]).toMatchObject({ count: 60, min: 0, max: 59, avg: 29.5 });
    const newest = await series.range("cpu", {
      from: start,
      to: start + 1_000 * MINUTE - 1,
      everyMs: MINUTE,
      limit: 7,
    });
    expect(newest.map(({ last }) => last)).toEqual([993, 994, 995, 996, 997, 998, 999]);
    const wide = await series.range("cpu", { from: start, to: start + 1_000 * MINUTE - 1, everyMs: 5 * HOUR });
    expect(wide.reduce((sum, { count }) => sum + count, 0)).toBe(1_000);
  });

  test("are found by their labels", async () => {
    const series = new TimeSeries(backend.store, { maxSeries: 4 });
    for (const host of ["a", "b", "c"]) {
      await series.add(`cpu:${host}`, 1);
      expect(await series.label(`cpu:${host}`, { host, kind: "cpu", region: host === "c" ? "us" : "eu" })).toBe(true);
    }
    expect(await series.list({ labels: { kind: "cpu", region: "eu" } })).toEqual({
      items: ["cpu:a", "cpu:b"],
      cursor: null,
    });
    const page = await series.list({ labels: { kind: "cpu" }, limit: 2 });
    expect(page).toEqual({ items: ["cpu:a", "cpu:b"], cursor: "cpu:b" });
    expect(await series.list({ labels: { kind: "cpu" }, limit: 2, cursor: page.cursor! })).toEqual({
      items: ["cpu:c"],
      cursor: null,
    });
    expect(await series.labels("cpu:a")).toEqual({ host: "a", kind: "cpu", region: "eu" });
    await series.label("cpu:a", { kind: "cpu", region: "us" });
    expect((await series.list({ labels: { region: "us" } })).items).toEqual(["cpu:a", "cpu:c"]);
    expect((await series.list({ labels: { host: "a" } })).items).toEqual([]);
    expect(await series.label("x", { n: "1" })).toBe(true);
    expect(await series.label("y", { n: "1" })).toBe(false);
    await series.delete("cpu:a");
    expect((await series.list({ labels: { region: "us" } })).items).toEqual(["cpu:c"]);
    expect(await series.labels("cpu:a")).toEqual({});
    await expect.poll(async () => [...(await series.list()).items].sort()).toEqual(["cpu:b", "cpu:c"]);
  });

  test("are deleted with all that they have", async () => {
    const series = new TimeSeries(backend.store);
    const now = await nowOf(backend.store);
    await series.addMany(
      "cpu",
      Array.from({ length: 100 }, (_, nth) => ({ value: nth, at: now - nth * 10 * HOUR })),
    );
    expect(await series.delete("cpu")).toBe(true);
    expect(await series.range("cpu", { everyMs: HOUR })).toEqual([]);
    expect(await series.get("cpu")).toBeNull();
  });

  test("refuse wrong input", async () => {
    const series = new TimeSeries(backend.store);
    await expect(series.add("cpu", Number.NaN)).rejects.toThrow(InputError);
    await expect(series.addMany("cpu", [{ value: 1 }, { value: Number.POSITIVE_INFINITY }])).rejects.toThrow(
      InputError,
    );
    await expect(series.add("", 1)).rejects.toThrow(InputError);
    await expect(series.range("cpu", { everyMs: 7 })).rejects.toThrow(InputError);
    await expect(series.range("cpu", { from: 5, to: 4 })).rejects.toThrow(InputError);
    await expect(series.label("cpu", { "a=b": "c" })).rejects.toThrow(InputError);
    await expect(series.list({ labels: {} })).rejects.toThrow(InputError);
    const rollUps = [
      { everyMs: MINUTE, keepMs: HOUR },
      { everyMs: SECOND, keepMs: HOUR },
    ];
    expect(() => new TimeSeries(backend.store, { rollUps })).toThrow(InputError);
    expect(() => new TimeSeries(backend.store, { rollUps: [{ everyMs: 1, keepMs: DAY }] })).toThrow(InputError);
    expect(await series.get("cpu")).toBeNull();
  });
});

test("what is older than it is kept for is not given, goes by itself, and takes a bounded number of keys", async () => {
  const world = await ClockedStore.open();
  const series = new TimeSeries(world.store, { rollUps: ROLL_UPS });
  const model: { at: number; value: number }[] = [];
  for (let nth = 0; nth < 400; nth++) {
    await series.add("cpu", nth);
    model.push({ at: world.nowMs, value: nth });
    if (nth % 20 === 0) {
      for (const [everyMs, keepMs] of [
        [SECOND, MINUTE],
        [MINUTE, HOUR],
      ] as const) {
        const points = await series.range("cpu", { everyMs });
        const kept = model.filter(({ at }) => (Math.floor(at / everyMs) + 1) * everyMs > world.nowMs - keepMs);
        expect(points.reduce((sum, { count }) => sum + count, 0)).toBe(kept.length);
        expect(points.reduce((sum, each) => sum + each.sum, 0)).toBe(kept.reduce((sum, { value }) => sum + value, 0));
      }
      expect((await world.keys()).filter((key) => key.includes(":b:")).length).toBeLessThanOrEqual(5);
    }
    await world.pass(17_300);
  }
  await world.leap(4 * HOUR);
  expect((await world.keys()).filter((key) => key.startsWith("series:"))).toEqual([]);
  await world.close();
});
