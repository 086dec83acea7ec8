/** Components are found through the registry that they keep, whatever else is in the store: 100 000 keys of others hide none of them. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Barriers } from "cinnabar/barriers";
import { BoundedQueue } from "cinnabar/blocking-queues";
import { Cache } from "cinnabar/cache";
import { Chats } from "cinnabar/chats";
import { Elections } from "cinnabar/elections";
import { ExpiringSet } from "cinnabar/expiring";
import { Ids } from "cinnabar/ids";
import { Latches } from "cinnabar/latches";
import { Locks } from "cinnabar/locks";
import { MultiMap } from "cinnabar/multi-map";
import { Queue } from "cinnabar/queues";
import { RateLimits } from "cinnabar/rate-limits";
import { SearchIndex } from "cinnabar/search";
import { Semaphores } from "cinnabar/semaphores";
import { Sessions } from "cinnabar/sessions";
import { ShardedSet } from "cinnabar/sharded";
import { BloomFilter, CountMinSketch, CuckooFilter, TopK } from "cinnabar/sketches";
import { Social } from "cinnabar/social";
import { TimeSeries } from "cinnabar/time-series";
import { DurableTopic, Topic } from "cinnabar/topics";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { installed, startRedis } from "../../toolkit/tests/kit/servers.ts";
import { KINDS } from "../src/operate/registry.ts";
import { type Backend, backends, type Served, serve } from "./support.ts";

const FOREIGN = 100_000;
const AT_ONCE = 5_000;

const toolkit = fileURLToPath(new URL("../../toolkit/src", import.meta.url));

test("the console knows every kind that the toolkit announces, and no other", () => {
  const files = readdirSync(toolkit, { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".ts") && !file.includes(".test."),
  );
  const announced = new Set(["locks", "semaphores", "elections"]);
  for (const file of files) {
    const text = readFileSync(join(toolkit, file), "utf8");
    for (const [, kind] of text.matchAll(/\bkind: "([a-z-]+)",\s*(?:what: "[^"]+",\s*)?prefix/g)) announced.add(kind!);
  }
  expect(KINDS.map(({ kind }) => kind).sort()).toEqual([...announced].sort());
});

describe.each(backends(installed("redis-server") ? startRedis : undefined))("among many keys on %s", (_name, start) => {
  let backend: Backend;
  let api: Served;
  const releases: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    backend = await start();
    const { store } = backend;
    for (let at = 0; at < FOREIGN; at += AT_ONCE) {
      const words = Array.from({ length: AT_ONCE }, (_, nth) => [`app:${at + nth}:held`, "x"]).flat();
      await store.call("MSET", ...words);
    }
    await use(backend);
    api = await serve(store);
  });
  afterAll(async () => {
    for (const release of releases) await release();
    await api?.console.close();
    await backend?.stop();
  });

  async function use({ store }: Backend): Promise<void> {
    await new Queue(store, "mails").add(1);
    const lock = await new Locks(store).acquire("order:17", { leaseMs: 60_000 });
    const other = await new Locks(store, { prefix: "door" }).acquire("front", { leaseMs: 60_000 });
    const permit = await new Semaphores(store, { limit: 2 }).acquire("db", { leaseMs: 60_000 });
    const term = await new Elections(store).campaign("indexer", { id: "one" });
    releases.push(async () => Promise.all([lock?.release(), other?.release(), permit?.release(), term?.resign()]));
    await new Latches(store).create("ready", { count: 3 });
    const barriers = new Barriers(store, { parties: 2 });
    await Promise.all([barriers.arrive("meet"), barriers.arrive("meet")]);
    await new Ids(store).next("invoices");
    await new Cache<number>(store, "pages").get("a", () => 1);
    await new RateLimits(store, { name: "api", rules: { limit: 2, windowMs: 60_000 } }).take("10.0.0.1");
    await new Chats<string>(store).joinMany("team", ["ann"]);
    await new SearchIndex(store, "books", { fields: { title: { type: "text" } } }).set("1", { title: "Emma" });
    await new Sessions(store).create({ user: "ann" });
    await new ShardedSet(store, "people", { tags: 2 }).addMany(["a", "b"]);
    await new BloomFilter(store, "seen", { capacity: 100 }).add("a");
    await new CuckooFilter(store, "held", { capacity: 100 }).add("a");
    await new CountMinSketch(store, "words").add("a");
    await new TopK(store, "pages").add("a");
    await new MultiMap(store, "roles").add("ann", "admin");
    await new ExpiringSet(store, "online").add("ann", { ttlMs: 60_000 });
    await new BoundedQueue(store, "work").push("a");
    await new TimeSeries(store).add("load", 1.5);
    await new DurableTopic(store, "orders").publish(1);
    await new Topic(store, "news").publish(1);
    const social = new Social(store);
    await social.users.join("ann", { id: "ann", name: "ann" });
    await social.statuses.post("ann", "hello");
  }

  const names = (list: readonly { readonly name: string }[]) => list.map(({ name }) => name);

  test("every page finds its own", async () => {
    const get = async (path: string) => (await api.get(`/api/${path}`)).body;
    await expect
      .poll(async () => names((await get("queues")).queues))
      .toEqual(expect.arrayContaining(["mails", "fan-out"]));
    const { locks, complete } = await get("locks");
    expect([names(locks).sort(), complete]).toEqual([["front", "order:17"], true]);
    expect(locks.find(({ name }: { name: string }) => name === "front")).toMatchObject({ prefix: "door" });
    expect(names((await get("semaphores")).semaphores)).toEqual(["db"]);
    expect((await get("elections")).elections).toMatchObject([{ name: "indexer", leader: { id: "one" } }]);
    await expect.poll(async () => names((await get("caches")).caches), { timeout: 30_000 }).toEqual(["pages"]);
    expect(names((await get("rate-limits")).limiters)).toEqual(["api"]);
    expect((await get("chats")).chats).toMatchObject([{ chat: "team" }]);
    expect(names((await get("indexes")).indexes)).toEqual(["books"]);
    expect((await get("sessions")).count).toBe(1);
    expect(names((await get("shards")).structures)).toEqual(["people"]);
    expect((await get("timelines")).networks).toMatchObject([{ prefix: "social" }]);
    const topics = await get("topics");
    expect([names(topics.topics), names(topics.channels)]).toEqual([["orders"], ["news"]]);
  });

  test("the list of all components has the others, each with its names", async () => {
    const kinds: Record<string, string> = {
      latches: "ready",
      barriers: "meet",
      ids: "invoices",
      "bloom-filters": "seen",
      "cuckoo-filters": "held",
      "count-min-sketches": "words",
      "top-k": "pages",
      "multi-maps": "roles",
      "expiring-sets": "online",
      "bounded-queues": "work",
      "time-series": "load",
    };
    const found = async () =>
      (await api.get("/api/components")).body.kinds.map(({ kind }: { kind: string }) => kind) as string[];
    await expect.poll(found).toEqual(expect.arrayContaining([...Object.keys(kinds), "queues", "locks", "cache"]));
    const figures: Record<string, unknown> = {};
    for (const [kind, name] of Object.entries(kinds)) {
      const { items } = (await api.get(`/api/components/${kind}`)).body;
      expect(names(items), kind).toEqual([name]);
      const told = items[0].figures.map(({ title, value }: { title: string; value: unknown }) => [title, value]);
      figures[kind] = Object.fromEntries(told);
    }
    expect(figures).toMatchObject({
      latches: { State: "closed", "Counted down": 0 },
      barriers: { Arrived: 0, Generation: 1 },
      "bloom-filters": { Items: 1, Capacity: 100 },
      "cuckoo-filters": { Items: 1 },
      "count-min-sketches": { Counted: 1 },
      "multi-maps": { Keys: 1, Values: 1 },
      "expiring-sets": { Items: 1 },
      "bounded-queues": { Values: 1 },
      "time-series": { Newest: 1.5 },
    });
    expect((await api.get("/api/components/nothing")).status).toBe(404);
  });

  test("a lock is taken from its holder; one that nobody holds says so", async () => {
    const locks = new Locks(backend.store);
    const lease = (await locks.acquire("stuck", { leaseMs: 60_000 }))!;
    const next = locks.acquire("stuck", { waitMs: 30_000 });
    await expect.poll(async () => (await locks.inspect("stuck")).waiting).toBe(1);
    expect((await api.send("POST", "/api/locks/stuck/release")).body).toEqual({ released: 1 });
    const second = (await next)!;
    expect(second.fence).toBeGreaterThan(lease.fence);
    expect(await lease.release()).toBe(false);
    await second.release();
    expect((await api.send("POST", "/api/locks/stuck/release")).status).toBe(409);
    expect((await api.send("POST", "/api/elections/indexer/release")).body).toEqual({ released: 1 });
    expect((await api.send("POST", "/api/semaphores/db/release")).body).toEqual({ released: 1 });
  });

  test("a group of a topic is set back, its dead letters are delivered again, and a topic that never was is not made", async () => {
    const orders = new DurableTopic<number>(backend.store, "orders");
    await orders.createGroup("billing", { from: "now" });
    expect((await orders.inspect("billing"))?.lag).toBe(0);
    const act = (body: unknown) => api.send("POST", "/api/topics/orders/groups/billing", body);
    expect((await act({ action: "replay", from: "start" })).status).toBe(200);
    expect((await orders.inspect("billing"))?.lag).toBe(1);
    expect((await act({ action: "replay", from: new Date(Date.now() + 60_000).toISOString() })).status).toBe(200);
    expect((await orders.inspect("billing"))?.lag).toBe(0);
    expect((await act({ action: "replay", from: "nonsense" })).status).toBe(400);
    expect((await act({ action: "replayDead" })).body).toEqual({ messages: 0 });
    expect((await api.send("POST", "/api/topics/orders/groups/nobody", { action: "replay" })).status).toBe(404);
    expect((await api.send("POST", "/api/topics/orders/messages", { data: { a: [1] } })).status).toBe(200);
    expect((await api.get("/api/topics/orders")).body.messages[0]).toMatchObject({ data: { a: [1] } });
    expect((await api.get("/api/topics/absent")).status).toBe(404);
    expect(await backend.store.call("EXISTS", "topic:{absent}:meta")).toBe(0);
  });
});
