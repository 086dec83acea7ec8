import { Engine, ManualClock } from "@cinnabar/engine";
import { expect, test } from "vitest";
import { heldAnswer } from "../../../tests/kit/held-answer.ts";
import { describeBackends } from "../../../tests/kit/index.ts";
import { InputError } from "../../base/errors.ts";
import { open } from "../../connection/open.ts";
import { Views } from "./index.ts";

const names = (viewed: readonly { item: string }[]) => viewed.map(({ item }) => item);

describeBackends("views", (backend) => {
  test("rank the most viewed first", async () => {
    const views = new Views(backend.store, "pages");
    await views.add("/a");
    await views.add("/b", 3);
    await views.add("/c", 2);
    expect(names(await views.top())).toEqual(["/b", "/c", "/a"]);
    expect(names(await views.top({ limit: 1, offset: 1 }))).toEqual(["/c"]);
    expect(await views.rank("/a")).toBe(2);
    expect(await views.rank("/x")).toBeNull();
    expect(await views.get("/x")).toBeNull();
    const top = (await views.get("/b"))!;
    expect(top.rank).toBe(0);
    expect(top.views).toBeGreaterThan(2.9);
    expect(top.views).toBeLessThanOrEqual(3);
  });

  test("count everybody who looks at the same time", async () => {
    const others = await backend.open();
    const tables = [
      new Views(backend.store, "pages", { halfLifeMs: 1_000_000_000 }),
      new Views(others, "pages", { halfLifeMs: 1_000_000_000, bufferMs: 5 }),
    ];
    await Promise.all(Array.from({ length: 200 }, (_, nth) => tables[nth % 2]!.add(`/${nth % 5}`)));
    await tables[1]!.flush();
    for (const { views } of await tables[0]!.top()) expect(views).toBeCloseTo(40, 3);
  });

  test("are all there after a flush, also those that were on their way", async () => {
    const held = heldAnswer(backend.store, "views.add");
    const views = new Views(held.store, "pages", { bufferMs: 60_000 });
    await views.add("/a");
    void views.flush();
    await held.arrived;
    let isOver = false;
    const flushed = views.flush().then(() => {
      isOver = true;
    });
    await new Promise(setImmediate);
    expect(isOver).toBe(false);
    held.release();
    await flushed;
  });

  test("keep the most viewed and drop the least", async () => {
    const views = new Views(backend.store, "pages", { maxItems: 100 });
    for (let nth = 0; nth < 120; nth++) await views.add(`/${nth}`, 1 + (nth % 60));
    const kept = await views.top({ limit: 1_000 });
    expect(kept.length).toBeLessThanOrEqual(105);
    expect(names(kept)).toContain("/59");
    expect(names(kept)).not.toContain("/0");
  });

  test("what faded long ago is worth nothing, and is a number", async () => {
    const views = new Views(backend.store, "pages", { halfLifeMs: 1 });
    await views.add("/a", Number.MAX_SAFE_INTEGER);
    const epoch = Number.parseInt(String(await backend.store.call("GET", "views:{pages}:epoch")), 10);
    for (const halfLives of [1_100, 100_000, 1e12]) {
      await backend.store.call("SET", "views:{pages}:epoch", epoch - halfLives);
      expect(await views.top()).toEqual([{ item: "/a", views: 0, rank: 0 }]);
      expect(await views.get("/a")).toEqual({ item: "/a", views: 0, rank: 0 });
    }
    await views.add("/b");
    expect(names(await views.top())).toEqual(["/b", "/a"]);
    for (const { views: count } of await views.top()) expect(Number.isFinite(count)).toBe(true);
  });

  test("a clock that was put back makes no view worth more, and none worth nothing", async () => {
    const views = new Views(backend.store, "pages", { halfLifeMs: 1 });
    await views.add("/a", 5);
    const epoch = Number.parseInt(String(await backend.store.call("GET", "views:{pages}:epoch")), 10);
    await backend.store.call("SET", "views:{pages}:epoch", epoch + 3_600_000);
    await views.add("/b", 7);
    expect(await views.top()).toEqual([
      { item: "/b", views: 7, rank: 0 },
      { item: "/a", views: 5, rank: 1 },
    ]);
  });

  test("wrong input is refused", async () => {
    const views = new Views(backend.store, "pages");
    await expect(views.add("")).rejects.toThrow(InputError);
    await expect(views.add("/a", 0)).rejects.toThrow(InputError);
    expect(() => new Views(backend.store, "pages", { halfLifeMs: 0 })).toThrow(InputError);
  });
});

test("views fade by half in each half-life, for weeks, and new items rise", async () => {
  const clock = new ManualClock();
  const engine = await Engine.open({ clock });
  const store = await open(engine);
  const views = new Views(store, "pages", { halfLifeMs: 1_000 });
  await views.add("/old", 1_000);
  clock.advance(5_000);
  expect((await views.get("/old"))!.views).toBeCloseTo(1_000 / 32, 6);
  await views.add("/new", 40);
  expect(names(await views.top())).toEqual(["/new", "/old"]);
  let expected = 40;
  for (let nth = 0; nth < 50; nth++) {
    clock.advance(37_000);
    await views.add("/new", 2);
    expected = expected / 2 ** 37 + 2;
    expect((await views.get("/new"))!.views).toBeCloseTo(expected, 9);
  }
  await store.close();
  await engine.close();
});
