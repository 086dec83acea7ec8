import { expect, test } from "vitest";
import { ClockedStore } from "../../../tests/kit/clocked-store.ts";
import { describeBackends } from "../../../tests/kit/index.ts";
import { bytes } from "../../base/codec.ts";
import { InputError } from "../../base/errors.ts";
import { ExpiringMap, ExpiringSet } from "./index.ts";

const HOUR = 3_600_000;

/** All pages. */
async function allOf<T>(
  list: (options: { limit: number; cursor?: string }) => Promise<{ items: readonly T[]; cursor: string | null }>,
  limit: number,
) {
  const items: T[] = [];
  let page = await list({ limit });
  items.push(...page.items);
  while (page.cursor !== null) {
    page = await list({ limit, cursor: page.cursor });
    items.push(...page.items);
  }
  return items;
}

describeBackends("an expiring set", (backend) => {
  test("has members, with a lifetime or without", async () => {
    const set = new ExpiringSet(backend.store, "online");
    expect(await set.add("ann", { ttlMs: HOUR })).toEqual({ status: "added" });
    expect(await set.add("ann", { ttlMs: 2 * HOUR })).toEqual({ status: "exists" });
    expect(await set.add("ben")).toEqual({ status: "added" });
    expect(await set.hasMany(["ann", "ben", "cid"])).toEqual([true, true, false]);
    expect(await set.get("ben")).toEqual({ member: "ben", expiresAt: null });
    expect((await set.get("ann"))?.expiresAt).toBeInstanceOf(Date);
    expect(await set.get("cid")).toBeNull();
    expect(await set.count()).toBe(2);
    expect(await set.deleteMany(["ann", "cid"])).toEqual([true, false]);
    expect(await set.has("ann")).toBe(false);
  });

  test("members end at their time, whatever the others do", async () => {
    const set = new ExpiringSet(backend.store, "online");
    await set.add("long", { ttlMs: HOUR });
    await set.add("brief", { ttlMs: 20 });
    await expect.poll(() => set.has("brief")).toBe(false);
    expect(await set.count()).toBe(1);
    expect(await set.list()).toMatchObject({ items: [{ member: "long" }], cursor: null });
    expect(await set.delete("brief")).toBe(false);
    expect(await set.add("brief", { ttlMs: HOUR })).toEqual({ status: "added" });
  });

  test("touch moves the end of what is there", async () => {
    const set = new ExpiringSet(backend.store, "online", { ttlMs: HOUR });
    await set.add("ann");
    const before = (await set.get("ann"))?.expiresAt?.getTime() ?? 0;
    expect(await set.touch("ann", { ttlMs: 3 * HOUR })).toBe(true);
    expect((await set.get("ann"))?.expiresAt?.getTime()).toBeGreaterThan(before + HOUR);
    expect(await set.touch("ben", { ttlMs: HOUR })).toBe(false);
    expect(await set.has("ben")).toBe(false);
  });

  test("is bounded; members that are over take no room", async () => {
    const set = new ExpiringSet(backend.store, "online", { maxItems: 3 });
    await set.addMany(["a", "b"]);
    await set.add("brief", { ttlMs: HOUR });
    expect(await set.addMany(["a", "c"], { ttlMs: HOUR })).toEqual([{ status: "exists" }, { status: "full" }]);
    await set.touch("brief", { ttlMs: 20 });
    await expect.poll(() => set.has("brief")).toBe(false);
    expect(await set.add("c")).toEqual({ status: "added" });
    expect(await set.add("d")).toEqual({ status: "full" });
    expect(await set.has("d")).toBe(false);
  });

  test("is listed in pages, the first to end first; members that leave meanwhile hide no other", async () => {
    const set = new ExpiringSet(backend.store, "online");
    const names = Array.from({ length: 25 }, (_, nth) => `m${String(nth).padStart(2, "0")}`);
    await set.addMany(names.slice(0, 20), { ttlMs: HOUR });
    await set.addMany(names.slice(20));
    expect((await allOf((options) => set.list(options), 7)).map(({ member }) => member)).toEqual(names);
    const page = await set.list({ limit: 7 });
    await set.deleteMany(["m06", "m02"]);
    const next = await set.list({ limit: 3, cursor: page.cursor! });
    expect(next.items.map(({ member }) => member)).toEqual(["m07", "m08", "m09"]);
    await expect(set.list({ cursor: "x" })).rejects.toThrow(InputError);
  });

  test("expires as a whole with its last member, and only then", async () => {
    const set = new ExpiringSet(backend.store, "online");
    const key = "expiring-set:{online}:ends";
    await set.add("a", { ttlMs: HOUR });
    await set.add("b", { ttlMs: 2 * HOUR });
    expect(await backend.store.call("PTTL", key)).toBeGreaterThan(HOUR);
    await set.add("c");
    expect(await backend.store.call("PTTL", key)).toBe(-1);
    await set.delete("c");
    await set.delete("b");
    expect(await backend.store.call("PTTL", key)).toBeLessThanOrEqual(HOUR);
    await set.clear();
    expect(await backend.store.call("EXISTS", key)).toBe(0);
  });

  test("many add at once, and each member is added once", async () => {
    const sets = [backend.store, await backend.open()].map(
      (store) => new ExpiringSet(store, "online", { maxItems: 15 }),
    );
    const outcomes = await Promise.all(Array.from({ length: 200 }, (_, nth) => sets[nth % 2]!.add(`m${nth % 20}`)));
    expect(outcomes.filter(({ status }) => status === "added")).toHaveLength(15);
    expect(await sets[0]!.count()).toBe(15);
  });

  test("refuses wrong input", async () => {
    const set = new ExpiringSet(backend.store, "online");
    await expect(set.add("")).rejects.toThrow(InputError);
    await expect(set.addMany(["a", ""])).rejects.toThrow(InputError);
    await expect(set.add("a", { ttlMs: 0 })).rejects.toThrow(InputError);
    expect(await set.count()).toBe(0);
  });
});

describeBackends("an expiring map", (backend) => {
  test("has values, with a lifetime or without", async () => {
    const map = new ExpiringMap<{ n: number }>(backend.store, "codes", { ttlMs: HOUR });
    expect(await map.set("a", { n: 1 })).toBe(true);
    expect(
      await map.setMany(
        [
          ["b", { n: 2 }],
          ["a", { n: 3 }],
        ],
        { ttlMs: 2 * HOUR },
      ),
    ).toEqual([true, true]);
    expect(await map.getMany(["a", "b", "c"])).toEqual([{ n: 3 }, { n: 2 }, null]);
    expect(await map.get("c")).toBeNull();
    expect([await map.has("a"), await map.has("c"), await map.count()]).toEqual([true, false, 2]);
    expect((await map.expiry("a"))?.expiresAt).toBeInstanceOf(Date);
    expect(await map.expiry("c")).toBeNull();
    expect(await map.deleteMany(["a", "c"])).toEqual([true, false]);
    expect(await map.get("a")).toBeNull();
  });

  test("entries end at their time, and may be made anew", async () => {
    const map = new ExpiringMap<string>(backend.store, "codes");
    expect(await map.create("a", "first", { ttlMs: 20 })).toEqual({ status: "created" });
    await map.set("other", "x");
    await expect.poll(() => map.get("a")).toBeNull();
    expect(await map.create("a", "second", { ttlMs: HOUR })).toEqual({ status: "created" });
    expect(await map.create("a", "third")).toEqual({ status: "exists" });
    expect(await map.get("a")).toBe("second");
    expect(await map.touch("a", { ttlMs: 2 * HOUR })).toBe(true);
    expect(await map.touch("b", { ttlMs: HOUR })).toBe(false);
  });

  test("gives a value that is taken to one of the callers that ask at once", async () => {
    const maps = [backend.store, await backend.open()].map((store) => new ExpiringMap<number>(store, "codes"));
    await maps[0]!.set("a", 7);
    const taken = await Promise.all(Array.from({ length: 20 }, (_, nth) => maps[nth % 2]!.take("a")));
    expect(taken.filter((value) => value !== null)).toEqual([7]);
    expect(await maps[0]!.count()).toBe(0);
    expect(await backend.store.call("EXISTS", "expiring-map:{codes}:values")).toBe(0);
  });

  test("is bounded, and says when it is full", async () => {
    const map = new ExpiringMap<number>(backend.store, "codes", { maxItems: 2 });
    expect(
      await map.setMany([
        ["a", 1],
        ["b", 2],
        ["c", 3],
        ["a", 4],
      ]),
    ).toEqual([true, true, false, true]);
    expect(await map.create("d", 5)).toEqual({ status: "full" });
    expect(await map.getMany(["a", "b", "c", "d"])).toEqual([4, 2, null, null]);
  });

  test("is listed in pages, the first to end first", async () => {
    const map = new ExpiringMap<number>(backend.store, "codes");
    for (let nth = 0; nth < 9; nth++) await map.set(`k${nth}`, nth, { ttlMs: HOUR * (10 - nth) });
    await map.set("never", 99);
    const all = await allOf((options) => map.list(options), 4);
    expect(all.map(({ key, value }) => [key, value])).toEqual([
      ...Array.from({ length: 9 }, (_, nth) => [`k${8 - nth}`, 8 - nth]),
      ["never", 99],
    ]);
    expect(all.at(-1)?.expiresAt).toBeNull();
    await map.clear();
    expect(await map.list()).toEqual({ items: [], cursor: null });
  });

  test("keeps bytes as they are", async () => {
    const map = new ExpiringMap<Uint8Array>(backend.store, "codes", { codec: bytes });
    const value = Buffer.from([0, 255, 10, 128]);
    await map.set("a", value);
    expect(await map.get("a")).toEqual(value);
    expect((await map.list()).items[0]?.value).toEqual(value);
  });

  test("refuses wrong input, before anything is stored", async () => {
    const map = new ExpiringMap<unknown>(backend.store, "codes", { maxBytes: 10 });
    await expect(
      map.setMany([
        ["a", 1],
        ["b", "x".repeat(20)],
      ]),
    ).rejects.toThrow(InputError);
    await expect(map.set("", 1)).rejects.toThrow(InputError);
    await expect(map.set("a", undefined)).rejects.toThrow(InputError);
    expect(await map.count()).toBe(0);
  });
});

test("elements that are over are swept as others come, and leave nothing behind", async () => {
  const world = await ClockedStore.open();
  const map = new ExpiringMap<number>(world.store, "codes");
  await map.set("stays", 0);
  for (let round = 0; round < 20; round++) {
    await map.setMany(
      Array.from({ length: 50 }, (_, nth) => [`r${round}:${nth}`, nth] as const),
      { ttlMs: 1_000 },
    );
    await world.pass(2_000);
    expect(await map.count()).toBe(1);
    expect(Number(await world.store.call("HLEN", "expiring-map:{codes}:values"))).toBeLessThanOrEqual(51);
  }
  expect((await map.list()).items.map(({ key }) => key)).toEqual(["stays"]);
  await world.close();
});
