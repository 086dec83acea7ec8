/** Operators see what is in a store without scanning it. */
import { expect, test } from "vitest";
import { describeBackends } from "../../tests/kit/index.ts";
import { Ads } from "../components/ads/index.ts";
import { Board } from "../components/board/index.ts";
import { Cache } from "../components/cache/index.ts";
import { Locks } from "../components/locks/index.ts";
import { Market } from "../components/market/index.ts";
import { Queue } from "../components/queues/index.ts";
import { SearchIndex } from "../components/search/index.ts";
import type { Store } from "../connection/store.ts";
import { InputError } from "./errors.ts";
import { NameIndex } from "./names.ts";
import { Registry } from "./registry.ts";

const names = async (registry: Registry, kind: string) =>
  (await registry.list(kind)).items.map(({ name }) => name).sort();

describeBackends("the registry", { audit: "tags" }, (backend) => {
  const eventually = <T>(read: () => T) => expect.poll(read, { timeout: 20_000 });

  test("tells which components were used, and the version of their keys", async () => {
    const registry = new Registry(backend.store);
    expect(await registry.components()).toEqual([]);
    await new Queue(backend.store, "mails").add(1);
    await new Locks(backend.store).acquire("door");
    expect(await registry.components()).toEqual([
      { component: "locks", version: 1 },
      { component: "queues", version: 1 },
    ]);
  });

  test("lists what was used, with what it takes to open it", async () => {
    const { store } = backend;
    const registry = new Registry(store);
    await new Queue(store, "mails").add(1);
    await new Queue(store, "films", { shards: 4, prefix: "jobs" }).add(1);
    await new Locks(store).acquire("door");
    await new Cache(store, "pages", { shards: 2 }).get("a", () => 1);
    await new SearchIndex(store, "books", { fields: { title: { type: "text" } } }).set("1", { title: "Emma" });
    await eventually(() => names(registry, "queues")).toEqual(["films", "mails"]);
    const { items } = await registry.list("queues");
    expect(items.find(({ name }) => name === "films")).toEqual({
      prefix: "jobs",
      name: "films",
      details: { shards: 4 },
    });
    await eventually(() => names(registry, "locks")).toEqual(["door"]);
    await eventually(() => names(registry, "search")).toEqual(["books"]);
    await eventually(async () => (await registry.list("cache")).items).toEqual([
      { prefix: "cache", name: "pages", details: { shards: 2 } },
    ]);
    const opening = async (kind: string) => (await registry.list(kind)).items.map(({ details }) => details);
    await new Board(store, "news", { votingMs: 60_000 }).post("ann", { title: "A link" });
    await eventually(() => opening("board")).toEqual([{ voteScore: 432, votingMs: 60_000, maxArticles: 100_000 }]);
    const locking = new Market(store, "fair", { way: "lock", maxItems: 5 });
    await locking.mint("ann", "sword");
    const bounds = { maxListings: 100_000, maxItems: 5 };
    await eventually(() => opening("market")).toEqual([{ ...bounds, way: "lock", leaseMs: 5_000 }]);
    await new Ads(store, "site", { shards: 2, priorViews: 100 }).set("soap", { model: "cpm", bidMicros: 1_000 });
    await eventually(() => opening("ads")).toMatchObject([{ shards: 2, priorViews: 100, dayStartMs: 0 }]);
    expect((await registry.list("nothing")).items).toEqual([]);
    await expect(registry.list("")).rejects.toThrow(InputError);
    // What others have written there is passed over.
    await store.call("ZADD", "cinnabar:names:queues", 1, "nonsense", 2, "[1]", 3, "null");
    expect(await names(registry, "queues")).toEqual(["films", "mails"]);
  });

  test("forgets what is gone", async () => {
    const { store } = backend;
    const registry = new Registry(store);
    const queue = new Queue(store, "mails");
    await queue.add(1);
    await eventually(() => names(registry, "queues")).toEqual(["mails"]);
    await queue.clear();
    expect(await names(registry, "queues")).toEqual([]);
    // A queue that is used again is there again.
    await queue.add(1);
    await eventually(() => names(registry, "queues")).toEqual(["mails"]);
    const [mails] = (await registry.list("queues")).items;
    expect([await registry.delete("queues", mails!), await registry.delete("queues", mails!)]).toEqual([true, false]);
  });

  test("removes a name although its announcement is still under way", async () => {
    let goOn = (): void => {};
    const goes = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const { store } = backend;
    const pipeline: Store["pipeline"] = async (items) => {
      await goes;
      return store.pipeline(items);
    };
    const slow = new Proxy(store, {
      get: (target, property) => {
        if (property === "pipeline") return pipeline;
        const value: unknown = Reflect.get(target, property, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const index = new NameIndex(slow, { kind: "things", prefix: "late" });
    index.announce("n");
    const removed = index.remove("n");
    goOn();
    await removed;
    expect((await index.list()).items).toEqual([]);
  });

  test.skipIf(backend.isDisturbed)(
    "announces many names in a few round trips, and lists them page by page",
    async () => {
      const store = await backend.open();
      const index = new NameIndex(store, { kind: "things", prefix: "a" });
      let trips = 0;
      store.on("roundTrip", () => void trips++);
      for (let n = 0; n < 500; n++) index.announce(`n${n}`);
      for (let n = 0; n < 500; n++) index.announce(`n${n}`);
      new NameIndex(store, { kind: "things", prefix: "b" }).announce("another");
      await eventually(
        async () => (await new Registry(backend.store).list("things", { limit: 1_000 })).items.length,
      ).toBe(501);
      expect(trips).toBeLessThanOrEqual(3);
      const seen: string[] = [];
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const page = await index.list({ limit: 100, ...(cursor === undefined ? {} : { cursor }) });
        seen.push(...page.items);
        cursor = page.cursor;
      }
      expect(new Set(seen).size).toBe(500);
      expect(seen).toHaveLength(500);
    },
  );

  test("is bounded: the names that were used last stay", async () => {
    const { store } = backend;
    await store.call(
      "ZADD",
      "cinnabar:names:full",
      ...Array.from({ length: 2_000 }, (_, n) => [n + 1, `["a","old${n}"]`]).flat(),
    );
    const wall = store.clock.wallMs() - 365 * 86_400_000;
    await store.call(
      "ZADD",
      "cinnabar:names:full",
      wall - 1,
      '["a","ancient"]',
      store.clock.wallMs() - 1_000,
      '["a","recent"]',
    );
    new NameIndex(store, { kind: "full", prefix: "a" }).announce("new");
    await eventually(() => names(new Registry(store), "full")).toEqual(["new", "recent"]);
  });
});
