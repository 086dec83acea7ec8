import { Engine, ManualClock } from "@cinnabar/engine";
import { expect, test } from "vitest";
import { describeBackends } from "../../../tests/kit/index.ts";
import { InputError } from "../../base/errors.ts";
import { open } from "../../connection/open.ts";
import { RowCache } from "./index.ts";

async function drained(rows: RowCache): Promise<void> {
  const refresher = rows.refresher();
  while ((await refresher.runOnce()) > 0);
}

describeBackends("row cache", (backend) => {
  test("a scheduled row is loaded, read, and gone when it is no longer scheduled", async () => {
    const rows = new RowCache(backend.store, "inventory", { load: (id) => ({ id, stock: 5 }) });
    await rows.schedule("17", 3_600_000);
    expect(await rows.get("17")).toBeNull();
    await drained(rows);
    expect(await rows.get("17")).toEqual({ id: "17", stock: 5 });
    expect(await rows.count()).toBe(1);
    await rows.schedule("17", 0);
    expect(await rows.get("17")).toBeNull();
    expect(await rows.count()).toBe(0);
  });

  test("no more rows are scheduled than allowed, in all processes together; scheduled rows can be changed and taken out", async () => {
    const stores = await Promise.all([backend.open(), backend.open()]);
    const caches = stores.map((store) => new RowCache(store, "inventory", { load: (id) => id, maxRows: 5 }));
    const ids = Array.from({ length: 12 }, (_, nth) => String(nth));
    const taken = await Promise.all(ids.map((id, nth) => caches[nth % 2]!.schedule(id, 3_600_000)));
    expect(taken.filter(Boolean)).toHaveLength(5);
    const [rows] = caches as [RowCache];
    expect(await rows.count()).toBe(5);
    const held = ids.filter((_, nth) => taken[nth]);
    const refused = ids.filter((_, nth) => !taken[nth]);
    await drained(rows);
    expect(await Promise.all(refused.map((id) => rows.get(id)))).toEqual(refused.map(() => null));
    expect(await rows.schedule(held[0]!, 1_000)).toBe(true);
    expect(await rows.schedule(refused[0]!, 1_000)).toBe(false);
    expect(await rows.schedule(refused[0]!, 0)).toBe(true);
    expect(await rows.schedule(held[0]!, 0)).toBe(true);
    expect(await rows.schedule(refused[0]!, 1_000)).toBe(true);
    expect(await rows.count()).toBe(5);
  });

  test("many workers load each row once in its interval", async () => {
    const loads = new Map<string, number>();
    const load = async (id: string) => {
      loads.set(id, (loads.get(id) ?? 0) + 1);
      await new Promise((resolve) => setImmediate(resolve));
      return id;
    };
    const stores = await Promise.all([backend.open(), backend.open(), backend.open()]);
    const caches = stores.map((store) => new RowCache(store, "inventory", { load }));
    for (let nth = 0; nth < 50; nth++) await caches[0]!.schedule(String(nth), 3_600_000);
    await Promise.all(caches.map(drained));
    expect([...loads.values()]).toEqual(Array.from({ length: 50 }, () => 1));
  });

  test("a row that is no longer there is taken out; one that fails is tried again, and keeps what it had", async () => {
    let answer: () => unknown = () => "first";
    const errors: unknown[] = [];
    const rows = new RowCache(backend.store, "inventory", { load: () => answer(), backoffMs: 1 });
    await rows.schedule("17", 1);
    await rows.refresher().runOnce();
    answer = () => {
      throw new Error("down");
    };
    const refresher = rows.refresher({ onError: (error, id) => errors.push([String(error), id]) });
    await expect.poll(() => refresher.runOnce()).toBe(1);
    expect(errors).toEqual([["Error: down", "17"]]);
    expect(await rows.get("17")).toBe("first");
    answer = () => null;
    await expect.poll(() => refresher.runOnce()).toBe(1);
    expect(await rows.count()).toBe(0);
    expect(await rows.get("17")).toBeNull();
  });

  test("a slow worker cannot overwrite what came after it", async () => {
    let release!: (value: string) => void;
    const slow = new Promise<string>((resolve) => {
      release = resolve;
    });
    const late = new RowCache(backend.store, "inventory", { load: () => slow, leaseMs: 10 });
    const quick = new RowCache(backend.store, "inventory", { load: () => "new", leaseMs: 10_000 });
    await late.schedule("17", 3_600_000);
    const stuck = late.refresher().runOnce();
    await expect.poll(() => quick.refresher().runOnce()).toBe(1);
    release("old");
    await stuck;
    expect(await quick.get("17")).toBe("new");
  });

  test("the loop refreshes by itself and stops", async () => {
    let loads = 0;
    const rows = new RowCache(backend.store, "inventory", { load: () => ++loads });
    const loop = rows.refresher({ everyMs: 1 }).start();
    await rows.schedule("17", 1);
    await expect.poll(() => loads).toBeGreaterThan(3);
    await loop.stop();
    const after = loads;
    await rows.schedule("18", 1);
    expect(loads).toBe(after);
  });

  test("wrong input is refused", async () => {
    const rows = new RowCache(backend.store, "inventory", { load: () => 1 });
    await expect(rows.schedule("", 1)).rejects.toThrow(InputError);
    await expect(rows.schedule("17", 0.5)).rejects.toThrow(InputError);
    await expect(rows.get("")).rejects.toThrow(InputError);
    expect(() => new RowCache(backend.store, "", { load: () => 1 })).toThrow(InputError);
  });
});

test("rows are refreshed at their own intervals, and a dead worker costs one lease", async () => {
  const clock = new ManualClock();
  const engine = await Engine.open({ clock });
  const store = await open(engine);
  const loads: string[] = [];
  const load = (id: string) => {
    loads.push(id);
    return id;
  };
  const rows = new RowCache(store, "inventory", { load, leaseMs: 5_000 });
  await rows.schedule("quick", 1_000);
  await rows.schedule("slow", 4_000);
  const refresher = rows.refresher();
  for (let second = 0; second < 8; second++) {
    await refresher.runOnce();
    clock.advance(1_000);
  }
  expect(loads.filter((id) => id === "quick").length).toBe(8);
  expect(loads.filter((id) => id === "slow").length).toBe(2);

  const dying = new RowCache(store, "inventory", { load: () => new Promise<never>(() => {}), leaseMs: 5_000 });
  void dying.refresher().runOnce();
  loads.length = 0;
  clock.advance(4_999);
  await refresher.runOnce();
  expect(loads).toEqual([]);
  clock.advance(1);
  await refresher.runOnce();
  expect(loads.sort()).toEqual(["quick", "slow"]);
  await store.close();
  await engine.close();
});
