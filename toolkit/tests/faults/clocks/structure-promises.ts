/** What the structures promise when clocks are set, for promises.ts. */
import { expect } from "vitest";
import { BoundedQueue, PriorityQueue } from "../../../src/components/blocking-queues/index.ts";
import { ExpiringMap, ExpiringSet } from "../../../src/components/expiring/index.ts";
import { LocalMap } from "../../../src/components/local-map/index.ts";
import { MultiMap } from "../../../src/components/multi-map/index.ts";
import { BloomFilter, TopK } from "../../../src/components/sketches/index.ts";
import { TimeSeries } from "../../../src/components/time-series/index.ts";
import { type Promised, promised } from "./promised.ts";

export const STRUCTURE_PROMISES: Readonly<Record<string, Record<string, Promised>>> = {
  "blocking-queues": {
    "values keep their order, and come to who waits": promised(async ({ store, step }, stepMs) => {
      for (const queue of [new BoundedQueue<number>(store, "q"), new PriorityQueue<number>(store, "q")]) {
        await queue.push(1);
        step(stepMs);
        await queue.push(2);
        expect([await queue.take(), await queue.take()]).toEqual([1, 2]);
        const taken = queue.take({ waitMs: 60_000 });
        step(-stepMs);
        await queue.push(3);
        expect(await taken).toBe(3);
      }
    }),
  },
  expiring: {
    "an element ends when the clock says so, and a new one is there": promised(async (world, stepMs) => {
      const set = new ExpiringSet(world.store, "online", { ttlMs: 60_000 });
      const map = new ExpiringMap<number>(world.store, "codes", { ttlMs: 60_000 });
      await set.add("old");
      await map.set("old", 1);
      world.step(stepMs);
      await set.add("new");
      expect(await set.hasMany(["old", "new"])).toEqual([true, true]);
      expect(await map.get("old")).toBe(1);
      await world.pass(60_000);
      expect(await set.hasMany(["old", "new"])).toEqual([stepMs < 0, false]);
      expect(await map.get("old")).toBe(stepMs < 0 ? 1 : null);
      await world.pass(Math.max(0, -stepMs));
      expect(await set.count()).toBe(0);
      expect(await map.count()).toBe(0);
    }),
  },
  "local-map": {
    "changes are heard of, before the step and after it": promised(async (world, stepMs) => {
      const map = new LocalMap<number>(world.store, "flags");
      const other = new LocalMap<number>(await world.another(), "flags");
      await other.set("a", 1);
      await world.until(async () => (await map.get("a")) === 1 && map.stats().hits > 0);
      world.step(stepMs);
      await other.set("a", 2);
      await world.until(async () => (await map.get("a")) === 2);
      const { misses } = map.stats();
      await world.pass(10_000);
      expect(await map.get("a")).toBe(2);
      expect(map.stats().misses).toBe(misses);
      await map.close();
    }),
  },
  "multi-map": {
    "values stay, in their order": promised(async ({ store, step }, stepMs) => {
      const log = new MultiMap<number>(store, "log", { values: "list" });
      await log.add("a", 1);
      step(stepMs);
      await log.add("a", 2);
      expect(await log.get("a")).toEqual([1, 2]);
    }),
  },
  sketches: {
    "what was added and counted stays": promised(async ({ store, step }, stepMs) => {
      const filter = new BloomFilter(store, "seen", { capacity: 10, ttlMs: 60_000 });
      const top = new TopK(store, "words", { maxItems: 1, ttlMs: 60_000 });
      await filter.add("a");
      await top.add("a");
      step(stepMs);
      expect(await filter.add("a")).toEqual({ status: "exists" });
      await top.add("b");
      expect(await top.top()).toEqual([{ item: "b", count: 2, atLeast: 1 }]);
    }),
  },
  "time-series": {
    "every sample counts, before the step and after it": promised(async ({ store, step }, stepMs) => {
      const series = new TimeSeries(store);
      await series.add("cpu", 1);
      step(stepMs);
      await series.add("cpu", 2);
      // What was measured before a step back lies ahead, and is given when the clock comes there.
      step(Math.max(0, -stepMs));
      expect(await series.stats("cpu")).toMatchObject({ count: 2, sum: 3 });
    }),
  },
};
