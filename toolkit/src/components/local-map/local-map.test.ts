import { expect, test } from "vitest";
import { ClockedStore } from "../../../tests/kit/clocked-store.ts";
import { heldAnswer } from "../../../tests/kit/held-answer.ts";
import { describeBackends } from "../../../tests/kit/index.ts";
import { FaultyProxy } from "../../../tests/kit/proxy.ts";
import { bytes } from "../../base/codec.ts";
import { InputError } from "../../base/errors.ts";
import { open } from "../../connection/open.ts";
import type { Store } from "../../connection/store.ts";
import { LocalMap, type LocalMapOptions } from "./index.ts";

/** A map that answers from memory: it has heard that messages arrive, and the stored version. */
async function warm<V>(store: Store, options: LocalMapOptions<V> = {}): Promise<LocalMap<V>> {
  const map = new LocalMap<V>(store, "flags", { maxLagMs: 60_000, ...options });
  await expect
    .poll(async () => {
      await map.get("warm");
      return map.stats().hits;
    })
    .toBeGreaterThan(0);
  return map;
}

describeBackends("a local map", (backend) => {
  test("has values", async () => {
    const map = new LocalMap<{ n: number }>(backend.store, "flags");
    expect(await map.get("a")).toBeNull();
    expect(await map.set("a", { n: 1 })).toBe(true);
    expect(
      await map.setMany([
        ["b", { n: 2 }],
        ["c", { n: 3 }],
      ]),
    ).toEqual([true, true]);
    expect(await map.getMany(["c", "a", "x", "a"])).toEqual([{ n: 3 }, { n: 1 }, null, { n: 1 }]);
    expect(await map.create("a", { n: 9 })).toEqual({ status: "exists" });
    expect(await map.create("d", { n: 4 })).toEqual({ status: "created" });
    expect([await map.has("d"), await map.has("x"), await map.count()]).toEqual([true, false, 4]);
    const all = new Map<string, { n: number }>();
    for await (const [key, value] of map.entries()) all.set(key, value);
    expect([...all].sort()).toEqual([
      ["a", { n: 1 }],
      ["b", { n: 2 }],
      ["c", { n: 3 }],
      ["d", { n: 4 }],
    ]);
    expect(await map.deleteMany(["a", "x"])).toEqual([true, false]);
    expect(await map.get("a")).toBeNull();
    await map.clear();
    expect(await map.count()).toBe(0);
    expect(await backend.store.call("PTTL", "local-map:{flags}:version")).toBeGreaterThan(0);
    await map.set("a", { n: 5 });
    expect(await backend.store.call("PTTL", "local-map:{flags}:version")).toBe(-1);
    await map.close();
  });

  test("answers from memory, also that there is nothing", async () => {
    const store = await backend.open();
    await new LocalMap<string>(backend.store, "flags").set("a", "x");
    await using map = await warm<string>(store);
    expect([await map.get("a"), await map.get("none")]).toEqual(["x", null]);
    let trips = 0;
    store.on("roundTrip", ({ name }) => void (name === "local-map.read" && trips++));
    for (let nth = 0; nth < 100; nth++) expect(await map.getMany(["a", "none"])).toEqual(["x", null]);
    expect(trips).toBe(0);
    expect(map.stats().hits).toBeGreaterThanOrEqual(200);
  });

  test("hears of what others change, delete and clear", async () => {
    await using mine = await warm<number>(backend.store);
    const theirs = new LocalMap<number>(await backend.open(), "flags");
    expect(await mine.get("a")).toBeNull();
    await theirs.set("a", 1);
    await expect.poll(() => mine.get("a")).toBe(1);
    await theirs.setMany([
      ["a", 2],
      ["b", 3],
    ]);
    await expect.poll(() => mine.getMany(["a", "b"])).toEqual([2, 3]);
    await theirs.delete("a");
    await expect.poll(() => mine.get("a")).toBeNull();
    await theirs.clear();
    await expect.poll(() => mine.get("b")).toBeNull();
    expect(mine.stats().invalidated).toBeGreaterThan(0);
  });

  test("a process sees its own changes at once", async () => {
    await using map = await warm<number>(backend.store);
    for (let nth = 0; nth < 50; nth++) {
      await map.set("a", nth);
      expect(await map.get("a")).toBe(nth);
      expect(await map.get("a")).toBe(nth);
    }
    await map.delete("a");
    expect(await map.get("a")).toBeNull();
  });

  test("an answer that was overtaken by a change is not kept", async () => {
    const held = heldAnswer(await backend.open(), "local-map.read");
    const mine = new LocalMap<number>(held.store, "flags", { maxLagMs: 60_000 });
    const theirs = new LocalMap<number>(backend.store, "flags");
    await theirs.set("a", 1);
    const first = mine.get("a");
    await held.arrived;
    await theirs.set("a", 2);
    // Its own change goes over the same map: what was read before it is old.
    await mine.set("b", 1);
    held.release();
    expect(await first).toBe(1);
    await expect.poll(() => mine.get("a")).toBe(2);
    expect(await mine.get("a")).toBe(2);
    await mine.close();
  });

  test("callers may change what they get", async () => {
    await using map = await warm<{ list: number[] }>(backend.store);
    await map.set("a", { list: [1] });
    (await map.get("a"))?.list.push(2);
    (await map.get("a"))?.list.push(3);
    expect(await map.get("a")).toEqual({ list: [1] });
    await using raw = new LocalMap<Uint8Array>(backend.store, "raw", { codec: bytes });
    await raw.set("a", Buffer.from([0, 255]));
    (await raw.get("a"))?.fill(7);
    expect(await raw.get("a")).toEqual(Buffer.from([0, 255]));
  });

  test("is bounded, in the store and in memory", async () => {
    await using map = await warm<number>(backend.store, { maxItems: 2, memoryItems: 3 });
    expect(
      await map.setMany([
        ["a", 1],
        ["b", 2],
        ["c", 3],
        ["a", 4],
      ]),
    ).toEqual([true, true, false, true]);
    expect(await map.create("d", 1)).toEqual({ status: "full" });
    expect(await map.getMany(["a", "b", "c", "d", "e"])).toEqual([4, 2, null, null, null]);
    expect(map.stats().entries).toBeLessThanOrEqual(3);
  });

  test("many who change at once agree in the end", async () => {
    const maps = [await warm<number>(backend.store), await warm<number>(await backend.open())];
    await Promise.all(
      Array.from({ length: 200 }, async (_, nth) => {
        await maps[nth % 2]!.set(`k${nth % 5}`, nth);
        await maps[(nth + 1) % 2]!.get(`k${nth % 5}`);
      }),
    );
    const keys = ["k0", "k1", "k2", "k3", "k4"];
    const fresh = await new LocalMap<number>(await backend.open(), "flags").getMany(keys);
    for (const map of maps) await expect.poll(() => map.getMany(keys)).toEqual(fresh);
    for (const map of maps) await map.close();
  });

  test("refuses wrong input", async () => {
    const map = new LocalMap<unknown>(backend.store, "flags", { maxBytes: 5 });
    await expect(map.get("")).rejects.toThrow(InputError);
    await expect(
      map.setMany([
        ["a", 1],
        ["b", "too long"],
      ]),
    ).rejects.toThrow(InputError);
    expect(await map.count()).toBe(0);
  });
});

describeBackends(
  "a local map, when messages are lost",
  { backends: ["redis"], audit: false, fixedServer: true },
  (backend) => {
    test("what was changed while the connection was lost is read anew", async () => {
      const proxy = await FaultyProxy.open(backend.ports[0]!);
      const store = await open(proxy.url);
      const mine = await warm<number>(store);
      const theirs = new LocalMap<number>(backend.store, "flags");
      try {
        await theirs.set("a", 1);
        await expect.poll(() => mine.get("a")).toBe(1);
        proxy.refuse();
        proxy.cut();
        await theirs.set("a", 2);
        proxy.refuse(false);
        await expect.poll(() => mine.get("a").catch(() => null)).toBe(2);
      } finally {
        await mine.close();
        await store.close();
        await proxy.close();
      }
    });
  },
);

test("a change whose message was lost is noticed by the version, within the time that was said", async () => {
  const world = await ClockedStore.open();
  const map = new LocalMap<number>(world.store, "flags", { maxLagMs: 3_000 });
  await map.set("a", 1);
  await world.until(async () => (await map.get("a")) === 1 && map.stats().hits > 0);
  // As a message that was lost: the data and its version change, and nothing is published.
  await world.store.call("HSET", "local-map:{flags}:values", "a", "2");
  await world.store.call("INCR", "local-map:{flags}:version");
  expect(await map.get("a")).toBe(1);
  await world.pass(3_001);
  expect(await map.get("a")).toBe(2);
  await map.close();
  await world.close();
});

test("while the store does not answer, memory is believed for as long as was said", async () => {
  const world = await ClockedStore.open();
  const other = await world.another();
  const map = new LocalMap<number>(other, "flags", { maxLagMs: 3_000 });
  await map.set("a", 1);
  await world.until(async () => (await map.get("a")) === 1 && map.stats().hits > 0);
  const { misses } = map.stats();
  await world.pass(2_000);
  expect(await map.get("a")).toBe(1);
  expect(map.stats().misses).toBe(misses);
  await map.close();
  await world.pass(1);
  expect(await map.get("a")).toBe(1);
  expect(map.stats().misses).toBe(misses + 1);
  await map.close();
  await world.close();
});
