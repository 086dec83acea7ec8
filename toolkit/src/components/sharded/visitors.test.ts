/** Unique visitors: exact, then estimated within the error that is stated. */
import { expect, test } from "vitest";
import { describeBackends } from "../../../tests/kit/index.ts";
import { InputError } from "../../base/errors.ts";
import { UniqueVisitors } from "./index.ts";

const DAY_MS = 86_400_000;

/** Days of the test begin twelve hours ago: none ends in the middle of it. */
const nowMs = new Date(performance.timeOrigin + performance.now()).getTime();
const utcOffsetMs = DAY_MS / 2 - (nowMs % DAY_MS);
/** Noon or so of the day that is so many days before today. */
const daysAgo = (days: number): Date => new Date(nowMs - days * DAY_MS);
const dayName = (days: number): string => new Date(nowMs - days * DAY_MS + utcOffsetMs).toISOString().slice(0, 10);

const ids = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, nth) => `session-${from + nth}`);

describeBackends("unique visitors", (backend) => {
  test("each is counted once a day, by the server's clock", async () => {
    const visitors = new UniqueVisitors(backend.store, "site", { tags: 4, utcOffsetMs });
    expect(await visitors.visit("ann")).toBe(true);
    expect(await visitors.visit("ann")).toBe(false);
    expect(await visitors.visitMany(["ben", "ann", "cat", "ben"])).toEqual([true, false, true, false]);
    expect(await visitors.count()).toEqual({ visitors: 3, isExact: true, standardError: 0 });
    expect((await visitors.list()).items).toEqual(["site"]);
    await visitors.delete(await visitors.today());
    expect((await visitors.count()).visitors).toBe(0);
  });

  test("a process whose clock is days off counts for the server's day", async () => {
    const { clock } = backend.store;
    const wrong = { ...clock, after: clock.after.bind(clock), wallMs: () => clock.wallMs() - 3 * DAY_MS };
    const visitors = new UniqueVisitors(await backend.open({ clock: wrong }), "site", { tags: 2, utcOffsetMs });
    expect(await visitors.visit("ann")).toBe(true);
    expect((await visitors.count()).visitors).toBe(1);
    const right = new UniqueVisitors(backend.store, "site", { tags: 2, utcOffsetMs });
    expect(await right.visit("ann")).toBe(false);
  });

  test("past the limit it is estimated, within the stated error, and the sets are gone", async () => {
    const { store } = backend;
    const visitors = new UniqueVisitors(store, "site", { tags: 4, maxExact: 1_000, expected: 1_000, utcOffsetMs });
    const other = new UniqueVisitors(await backend.open(), "site", { tags: 9, maxExact: 1_000, utcOffsetMs });
    const everybody = ids(0, 4_000);
    await visitors.visitMany(everybody.slice(0, 900));
    expect(await other.count()).toMatchObject({ visitors: 900, isExact: true });
    await visitors.visitMany(everybody.slice(0, 2_000));
    await other.visitMany(everybody);
    const { visitors: found, isExact, standardError } = await other.count();
    expect(isExact).toBe(false);
    expect(standardError).toBeGreaterThan(0.003);
    expect(standardError).toBeLessThan(0.0082);
    // The same visitors always give the same estimate.
    expect(Math.abs(found - 4_000) / 4_000).toBeLessThan(4 * standardError);
    expect(await visitors.visit("session-1")).toBe(null);
    const keys = (await store.sendToAll(["KEYS", "visitors:*"])).flat().map(String);
    expect(keys.filter((key) => /:\d+$/.test(key))).toEqual([]);
  });

  test("days are put together: who came on several counts once", async () => {
    const visitors = new UniqueVisitors(backend.store, "site", { tags: 4, maxExact: 1_500, utcOffsetMs });
    const today = await visitors.today();
    expect(today).toBe(dayName(0));
    await visitors.visitMany(ids(0, 1_000), { at: daysAgo(2) });
    await visitors.visitMany(ids(500, 2_500), { at: daysAgo(1) });
    const { visitors: found, standardError } = await visitors.countDays(dayName(3), today);
    expect(Math.abs(found - 2_500) / 2_500).toBeLessThan(4 * standardError);
    expect(await visitors.countDays(dayName(2), dayName(2))).toEqual({
      visitors: 1_000,
      isExact: true,
      standardError: 0,
    });
    await expect(visitors.visit("ann", { at: daysAgo(400) })).rejects.toThrow(InputError);
    await expect(visitors.countDays(today, dayName(2))).rejects.toThrow(InputError);
    await expect(visitors.count("2026-13-01")).rejects.toThrow(InputError);
  });

  test("a day has as many sets as the day before needs, for all who count", async () => {
    const { store } = backend;
    const open = async (expected: number) =>
      new UniqueVisitors(await backend.open(), "site", { tags: 2, expected, utcOffsetMs });
    const [first, second] = [await open(1_000_000), await open(10)];
    const [at, before] = [daysAgo(0), daysAgo(1)];
    const gate = (days: number): string => `visitors:{site/0}:${dayName(days)}:gate`;
    await first.visitMany(ids(0, 2_000), { at: before });
    expect(Number(await store.call("HGET", gate(1), "s"))).toBeGreaterThan(1_000);
    // The second would have chosen another number, and learns.
    expect((await second.visitMany(ids(1_990, 2_010), { at: before })).filter((isNew) => isNew).length).toBe(10);
    await second.visitMany(ids(0, 100), { at });
    expect(Number(await store.call("HGET", gate(0), "s"))).toBe(Math.ceil(4_096 / 2 / 429));
    expect(await store.call("OBJECT", "ENCODING", `visitors:{site/0}:${dayName(0)}:0`)).toBe("intset");
    expect(Number(await store.call("PTTL", gate(0)))).toBeGreaterThan(0);
    const keys = (await store.sendToAll(["KEYS", "visitors:{site/*"])).flat() as string[];
    const lives = await store.pipeline(keys.map((key) => ["PTTL", key]));
    expect(keys.filter((_, at) => !(Number(lives[at]) > 0))).toEqual([]);
  });
});
