/** Keys of another version are refused, and those of every component are asked for. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { describeBackends } from "../../tests/kit/index.ts";
import { keysIn } from "../../tests/kit/keys.ts";
import { Carts } from "../components/carts/index.ts";
import { Locks } from "../components/locks/index.ts";
import { Queue, Worker } from "../components/queues/index.ts";
import { definedLayouts, defineLayout, LAYOUTS_KEY, LayoutError } from "./layout.ts";
import { defineScript } from "./script.ts";

const COMPONENTS = join(import.meta.dirname, "../components");
/** They have no keys of their own. */
const WITHOUT = new Set(["replication"]);
/** Scripts on the keys of others, which have no layout of ours. */
const OF_OTHERS = new Set(["bullmq"]);

test("every component has a layout, and every script of one belongs to it", async () => {
  const folders = readdirSync(COMPONENTS).filter((name) => !WITHOUT.has(name));
  const scripts: string[] = [];
  for (const folder of folders) {
    const files = readdirSync(join(COMPONENTS, folder), { recursive: true, encoding: "utf8" });
    for (const file of files.filter((each) => each.endsWith(".ts") && !/test|http|express/.test(each))) {
      const module = (await import(join(COMPONENTS, folder, file))) as Record<string, unknown>;
      for (const value of Object.values(module)) {
        if (value instanceof defineScript({ name: "a.b", keys: [], lua: "" }).constructor) {
          scripts.push(`${folder}: ${(value as { name: string }).name}`);
        }
      }
    }
  }
  expect(folders.filter((name) => !definedLayouts().has(name))).toEqual([]);
  expect(scripts.length).toBeGreaterThan(100);
  const componentOf = (script: string) => /: ([\w-]+)\./.exec(script)![1]!;
  const ours = scripts.filter((each) => !OF_OTHERS.has(componentOf(each)));
  expect(ours.filter((each) => !definedLayouts().has(componentOf(each)))).toEqual([]);
});

describeBackends("layouts", {}, (backend) => {
  const stored = () => backend.store.call("HGET", LAYOUTS_KEY, "layout-test");
  const write = defineScript({
    name: "layout-test.write",
    keys: ["key"],
    lua: `return redis.call("INCR", key)`,
    reply: Number,
  });
  const run = async (store = backend.store) => store.run(write, { key: "layout-test" });

  test("are noted by the first who uses a component", async () => {
    defineLayout("layout-test", { version: 3 });
    expect(await run()).toBe(1);
    expect(await stored()).toBe("3");
  });

  test("that are newer, too old or no version at all are refused before anything is written", async () => {
    defineLayout("layout-test", { version: 3, oldest: 2 });
    for (const version of [1, 4, "seven"]) {
      await backend.store.call("HSET", LAYOUTS_KEY, "layout-test", version);
      const store = await backend.open();
      const refused = run(store);
      await expect(refused).rejects.toThrow(LayoutError);
      await expect(refused).rejects.toMatchObject({ code: "LAYOUT_VERSION" });
      await expect(refused).rejects.toThrow(
        `layout-test: the store has version ${version} of its keys, and this program reads versions 2 to 3`,
      );
      await expect(store.pipeline([write.with({ key: "layout-test" })])).rejects.toThrow(LayoutError);
      await expect(store.multi([write.with({ key: "layout-test" })])).rejects.toThrow(LayoutError);
      await expect(store.blocking().run(write.with({ key: "layout-test" }), { timeoutMs: 1_000 })).rejects.toThrow(
        LayoutError,
      );
    }
    expect(await backend.store.call("GET", "layout-test")).toBeNull();
  });

  test("that are older and readable become the program's own", async () => {
    defineLayout("layout-test", { version: 3, oldest: 2, newest: 4 });
    await backend.store.call("HSET", LAYOUTS_KEY, "layout-test", 2);
    expect(await run(await backend.open())).toBe(1);
    expect(await stored()).toBe("3");
  });

  test("that are newer and readable stay as they are", async () => {
    defineLayout("layout-test", { version: 3, oldest: 2, newest: 4 });
    await backend.store.call("HSET", LAYOUTS_KEY, "layout-test", 4);
    expect(await run(await backend.open())).toBe(1);
    expect(await stored()).toBe("4");
  });

  test("of a later version stop a program that is running, within a minute", async () => {
    defineLayout("layout-test", { version: 3 });
    let nowMs = 0;
    const timers: { at: number; callback: () => void }[] = [];
    const { clock: real } = backend.store;
    const clock = {
      ...real,
      wallMs: () => real.wallMs(),
      monotonicMs: () => real.monotonicMs(),
      random: () => real.random(),
      after: (ms: number, callback: () => void, options?: { readonly keepAlive?: boolean }) => {
        if (ms !== 60_000) return real.after(ms, callback, options);
        timers.push({ at: nowMs + ms, callback });
        return { cancel: () => {} };
      },
    };
    const store = await backend.open({ clock });
    await run(store);
    await backend.store.call("HSET", LAYOUTS_KEY, "layout-test", 9);
    await run(store);
    nowMs = 60_000;
    for (const { callback } of timers.splice(0)) callback();
    // The first look after a minute is beside the work.
    await run(store);
    const outcome = () => run(store).catch((error: unknown) => error);
    await expect.poll(outcome, { timeout: 20_000 }).toBeInstanceOf(LayoutError);
  });

  test("of real components are refused in all their ways", async () => {
    const { store } = backend;
    for (const component of ["queues", "locks", "carts"]) await store.call("HSET", LAYOUTS_KEY, component, 99);
    const other = await backend.open();
    const queue = new Queue(other, "q");
    await expect(queue.add(1)).rejects.toThrow(LayoutError);
    await expect(new Locks(other).acquire("l")).rejects.toThrow(LayoutError);
    await expect(new Carts(other).add("ann", "book", 1)).rejects.toThrow(LayoutError);
    const worker = new Worker(queue, () => 1);
    const heard = new Promise((resolve) => worker.on("error", resolve));
    worker.start();
    expect(await heard).toBeInstanceOf(LayoutError);
    await worker.stop({ timeoutMs: 0 });
    expect(await keysIn(store)).toEqual([]);
  });
});
