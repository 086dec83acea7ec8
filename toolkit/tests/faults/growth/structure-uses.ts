/** Uses of the structures, for uses.ts. */
import { BoundedQueue, PriorityQueue } from "../../../src/components/blocking-queues/index.ts";
import { ExpiringMap, ExpiringSet } from "../../../src/components/expiring/index.ts";
import { LocalMap } from "../../../src/components/local-map/index.ts";
import { MultiMap } from "../../../src/components/multi-map/index.ts";
import { BloomFilter, CountMinSketch, CuckooFilter, TopK } from "../../../src/components/sketches/index.ts";
import { TimeSeries } from "../../../src/components/time-series/index.ts";
import type { ClockedStore } from "../../kit/clocked-store.ts";

type Use = (world: ClockedStore, count: number) => Promise<void>;

async function each(count: number, act: (n: number) => Promise<unknown>): Promise<void> {
  for (let n = 0; n < count; n++) await act(n);
}

export const STRUCTURE_USES: Readonly<Record<string, Use>> = {
  "blocking-queues": async ({ store }, count) => {
    const queues = [new BoundedQueue(store, "q"), new PriorityQueue(store, "q")];
    for (const queue of queues) {
      await each(count, (n) => queue.push(n));
      await each(count, () => queue.take({ waitMs: 1_000 }));
    }
  },
  expiring: async ({ store }, count) => {
    const set = new ExpiringSet(store, "online", { ttlMs: 60_000 });
    const map = new ExpiringMap(store, "codes", { ttlMs: 60_000 });
    const kept = new ExpiringMap(store, "kept");
    await each(count, async (n) => {
      await set.add(`m${n}`);
      await map.set(`k${n}`, n);
      await kept.set(`k${n}`, n);
    });
    await each(count, (n) => kept.delete(`k${n}`));
  },
  "local-map": async ({ store }, count) => {
    const map = new LocalMap(store, "flags");
    await each(count, (n) => map.set(`k${n}`, n));
    await each(count, (n) => map.get(`k${n}`));
    await map.clear();
    await map.close();
  },
  "multi-map": async ({ store }, count) => {
    const tags = new MultiMap(store, "tags");
    const log = new MultiMap(store, "log", { values: "list" });
    await each(count, async (n) => {
      await tags.addMany(`k${n}`, [1, 2]);
      await log.add(`k${n}`, n);
    });
    await each(count, (n) => tags.delete(`k${n}`));
    await log.clear();
  },
  sketches: async ({ store }, count) => {
    const bloom = new BloomFilter(store, "seen", { capacity: 10, maxCapacity: 15 });
    const cuckoo = new CuckooFilter(store, "there", { capacity: 100 });
    const sketch = new CountMinSketch(store, "hits");
    const top = new TopK(store, "words", { maxItems: 5 });
    await each(count, async (n) => {
      await bloom.add(`i${n}`);
      await cuckoo.add(`i${n}`);
      await sketch.add(`i${n}`);
      await top.add(`i${n}`);
    });
    const gone = [new BloomFilter(store, "gone", { capacity: 10 }), new TopK(store, "gone")];
    for (const one of gone) {
      await one.add("a");
      await one.clear();
    }
    await new BloomFilter(store, "brief", { capacity: 10, ttlMs: 60_000 }).add("a");
  },
  "time-series": async (world, count) => {
    const series = new TimeSeries(world.store);
    await each(count, async (n) => {
      await series.add(`s${n}`, n);
      await series.label(`s${n}`, { n: String(n), kind: "s" });
      await world.pass(60_000);
    });
    await each(count, (n) => series.label(`s${n}`, {}));
  },
};
