/** Structures in a store that is full: what is there can be read, taken and deleted; what must be written says so. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { BoundedQueue, PriorityQueue } from "../../../src/components/blocking-queues/index.ts";
import { Cache } from "../../../src/components/cache/index.ts";
import { ExpiringMap, ExpiringSet } from "../../../src/components/expiring/index.ts";
import { LocalMap } from "../../../src/components/local-map/index.ts";
import { MultiMap } from "../../../src/components/multi-map/index.ts";
import { BloomFilter, CountMinSketch, CuckooFilter, TopK } from "../../../src/components/sketches/index.ts";
import { TimeSeries } from "../../../src/components/time-series/index.ts";
import { open } from "../../../src/connection/open.ts";
import type { Store } from "../../../src/connection/store.ts";
import { installed, type ServerProcess, startRedis } from "../../kit/servers.ts";

const BACKENDS = (process.env.BACKENDS ?? "embedded,redis").split(",");

describe.each(["embedded", "redis"])("structures in a full store, %s", (backend) => {
  const isThere = BACKENDS.includes(backend) && (backend === "embedded" || installed("redis-server"));
  const onStore = test.runIf(isThere);
  let server: ServerProcess | null = null;
  let store: Store;

  beforeEach(async () => {
    if (!isThere) return;
    server = backend === "redis" ? await startRedis() : null;
    store = await open(server === null ? "memory:" : `redis://127.0.0.1:${server.port}`);
  });
  afterEach(async () => {
    if (!isThere) return;
    await store.close();
    await server?.stop();
  });

  const fill = async () => {
    await store.call("CONFIG", "SET", "maxmemory-policy", "noeviction");
    await store.call("CONFIG", "SET", "maxmemory", 1);
    await expect(store.call("SET", "more", "x")).rejects.toMatchObject({ code: "OOM" });
  };
  const full = { code: "OOM" };

  onStore("filters and sketches answer", async () => {
    const bloom = new BloomFilter(store, "b", { capacity: 100 });
    const cuckoo = new CuckooFilter(store, "c", { capacity: 100 });
    const sketch = new CountMinSketch(store, "s");
    const top = new TopK(store, "t");
    for (const each of [bloom, cuckoo, sketch, top]) await each.add("a");
    await fill();
    expect([await bloom.has("a"), await cuckoo.has("a")]).toEqual([true, true]);
    expect(await sketch.count("a")).toBe(1);
    expect(await top.top()).toMatchObject([{ item: "a", count: 1 }]);
    for (const each of [bloom, cuckoo, sketch, top]) await expect(each.add("b")).rejects.toMatchObject(full);
    await bloom.clear();
    expect(await bloom.has("a")).toBe(false);
  });

  onStore("expiring sets and maps, multi-maps and local maps are read, and their elements deleted", async () => {
    const set = new ExpiringSet(store, "s", { ttlMs: 60_000 });
    const map = new ExpiringMap<number>(store, "m", { ttlMs: 60_000 });
    const many = new MultiMap<number>(store, "m");
    const local = new LocalMap<number>(store, "l");
    await set.add("a");
    await map.setMany([
      ["a", 1],
      ["b", 2],
    ]);
    await many.addMany("a", [1, 2]);
    await local.setMany([
      ["a", 1],
      ["b", 2],
    ]);
    await fill();
    expect(await set.has("a")).toBe(true);
    expect((await map.list()).items.map(({ value }) => value)).toEqual([1, 2]);
    expect((await many.get("a")).length).toBe(2);
    expect(await local.get("a")).toBe(1);
    await expect(set.add("b")).rejects.toMatchObject(full);
    await expect(map.set("c", 3)).rejects.toMatchObject(full);
    await expect(many.add("b", 3)).rejects.toMatchObject(full);
    await expect(local.set("c", 3)).rejects.toMatchObject(full);
    expect(await set.delete("a")).toBe(true);
    expect([await map.take("a"), await map.get("a"), await map.count()]).toEqual([1, null, 1]);
    expect(await many.deleteValue("a", 1)).toBe(true);
    expect(await many.counts()).toEqual({ keys: 1, values: 1 });
    expect(await local.delete("a")).toBe(true);
    expect(await local.getMany(["a", "b"])).toEqual([null, 2]);
    await local.close();
  });

  onStore("queues are emptied", async () => {
    await new BoundedQueue<number>(store, "q").pushMany([1, 2]);
    await new PriorityQueue<number>(store, "q").pushMany([{ value: 1 }, { value: 2 }]);
    await fill();
    for (const queue of [new BoundedQueue<number>(store, "q"), new PriorityQueue<number>(store, "q")]) {
      await expect(queue.push(3)).rejects.toMatchObject(full);
      await expect(queue.push(3, { waitMs: 10_000 })).rejects.toMatchObject(full);
      expect([await queue.take(), await queue.take({ waitMs: 10_000 }), await queue.take()]).toEqual([1, 2, null]);
    }
  });

  onStore("time series are read, and a cache is cleared", async () => {
    const series = new TimeSeries(store);
    const cache = new Cache<number>(store, "c", { errorStaleMs: 60_000 });
    await series.add("cpu", 1);
    await cache.setMany(
      [
        ["a", 1],
        ["b", 2],
      ],
      { tags: ["t:1"] },
    );
    await fill();
    expect(await series.stats("cpu")).toMatchObject({ count: 1 });
    await expect(series.add("cpu", 2)).rejects.toMatchObject(full);
    expect(await series.delete("cpu")).toBe(true);
    expect([await cache.has("a"), await cache.getMany(["a", "b"])]).toEqual([true, [1, 2]]);
    const failing = cache.staleIfError("a", () => Promise.reject(new Error("down")));
    expect(await cache.get("a", failing)).toBe(1);
    expect(await cache.clear()).toBe(4);
    expect(await cache.getMany(["a", "b"])).toEqual([null, null]);
    expect(
      await cache.get(
        "c",
        cache.staleIfError("c", () => 3),
      ),
    ).toBe(3);
  });
});
