/** A store with a bit of everything in it, for tests that look at all that the console shows. */
import type { Store } from "cinnabar";
import { Cache } from "cinnabar/cache";
import { Chats, Mailboxes } from "cinnabar/chats";
import { Counters } from "cinnabar/counters";
import { Elections } from "cinnabar/elections";
import { Latches } from "cinnabar/latches";
import { Locks } from "cinnabar/locks";
import { Logs } from "cinnabar/logs";
import { Queue, Worker } from "cinnabar/queues";
import { RateLimits } from "cinnabar/rate-limits";
import { SearchIndex } from "cinnabar/search";
import { Semaphores } from "cinnabar/semaphores";
import { Sessions } from "cinnabar/sessions";
import { ShardedList, ShardedSet } from "cinnabar/sharded";
import { Social } from "cinnabar/social";
import { Stats } from "cinnabar/stats";
import { DurableTopic, Topic } from "cinnabar/topics";
import { expect, vi } from "vitest";
import { fillKinds } from "./kinds.ts";

const EVENT = { group: "mailers", consumer: "one" };

async function fillPlain(store: Store): Promise<void> {
  await store.call("SET", "text", "x", "EX", 1_000);
  await store.call("SET", Buffer.from([0xff, 0xfe]), Buffer.from([0xfd]));
  await store.call("RPUSH", "list", "a", "b");
  await store.call("SADD", "set", "a");
  await store.call("HSET", "hash", "field", "value");
  await store.call("ZADD", "zset", 1.5, "member");
  for (let nth = 1; nth <= 3; nth++) await store.call("XADD", "stream", `${nth}-0`, "n", nth);
  await store.call("XGROUP", "CREATE", "stream", EVENT.group, "0");
  await store.call("XREADGROUP", "GROUP", EVENT.group, EVENT.consumer, "COUNT", 2, "STREAMS", "stream", ">");
  await store.call(
    "FUNCTION",
    "LOAD",
    "#!lua name=shop\nredis.register_function{function_name='stock', callback=function() return 1 end, flags={'no-writes'}}",
  );
  const layout = {
    components: {
      shop: {
        shards: { a: { url: "redis://:secret@10.0.0.1" }, b: { url: "redis://10.0.0.2", leaving: true } },
        slots: [
          { from: 0, to: 9_999, shard: "a" },
          { from: 10_000, to: 16_383, shard: "b" },
        ],
        moving: { from: 16_000, to: 16_383, source: "b", target: "a" },
      },
      cart: { shards: { a: { url: "redis://10.0.0.1" } }, slots: [{ from: 0, to: 16_383, shard: "a" }] },
    },
  };
  await store.call("ZADD", "cinnabar:names:fleet", Date.now(), JSON.stringify(["fleet", "main"]));
  await store.call("HSET", "fleet:{main}", "version", 7, "value", JSON.stringify(layout), "at", 1_700_000_000_000);
  await store.call("HSET", "fleet:{main}:seen", "process", 7);
  await store.call("ZADD", "fleet:{main}:members", 1_700_000_000_000, "process");
}

/** A queue with a job in every state but `active`. */
async function fillQueue(store: Store): Promise<Filled["jobs"]> {
  const queue = new Queue<unknown, unknown>(store, "mails", { defaults: { attempts: 1 } });
  await queue.configure({ keepDone: 100, rate: { limit: 1_000, windowMs: 1_000 } });
  await queue.schedule("digest", { cron: "0 7 * * 1-5", timeZone: "Europe/Rome", limit: 3 }, { to: "all" });
  await queue.schedule("pulse", { everyMs: 3_600_000, endAt: Date.now() + 86_400_000_000 }, null);
  const worker = new Worker(queue, async ({ data }, { log, progress }) => {
    await log("trying");
    await progress({ percent: 50 });
    if (data === "bad") throw new Error("no route");
    return { sent: data };
  }).start();
  const dead = await queue.add("bad", { priority: 3 });
  const done = await queue.add("good", { group: "news" });
  for (const { id } of [dead, done]) await queue.waitFor(id, { timeoutMs: 30_000 });
  await worker.stop();
  const later = await queue.add({ n: 2 }, { delayMs: 1_000_000 });
  const whole = await queue.addFlow({ data: "whole", children: [{ data: "part" }] });
  return { dead: dead.id, later: later.id, whole };
}

async function fillComponents(store: Store): Promise<() => Promise<void>> {
  const locks = new Locks(store);
  const held = [
    await locks.acquire("order:17"),
    await locks.acquire("shelf", { shared: true }),
    await new Semaphores(store, { limit: 3 }).acquire("db", { permits: 2 }),
  ];
  await new Counters(store).add("hits", 5);
  const logs = new Logs(store);
  logs.write("web", "error", "failed", { path: "/", status: 500 });
  logs.write("web", "error", "failed again");
  await logs.flush();
  const stats = new Stats(store);
  await stats.record("checkout", "items", [1, 2.5, 3]);
  await stats.time("checkout", async () => {});
  const sessions = new Sessions(store);
  for (const user of ["ann", "ben"]) await sessions.create({ user });
  await sessions.create();
  const pages = new Cache<string>(store, "pages", { shards: 4 });
  for (let nth = 0; nth < 2; nth++) await pages.get("front", () => "made", { tags: ["news"] });
  await pages.get("back", () => "made", { tags: ["old"] });
  await pages.invalidate("old");
  const limiter = new RateLimits(store, {
    name: "api",
    rules: [
      { limit: 2, windowMs: 3_600_000, algorithm: "fixed" },
      { limit: 60, windowMs: 3_600_000, burst: 7 },
    ],
  });
  for (let nth = 0; nth < 3; nth++) await limiter.take("10.0.0.2");
  return async () => {
    for (const lease of held) await lease?.release();
  };
}

/** A topic with a group that has a dead letter, and an election with a leader and a candidate. */
async function fillMessages(store: Store): Promise<() => Promise<void>> {
  const orders = new DurableTopic<{ n: number }>(store, "orders");
  await orders.createGroup("billing", { from: "start" });
  const subscriber = orders
    .subscriber("billing", { attempts: 1 }, ({ data }) => {
      if (data.n === 1) throw new Error("no account");
    })
    .start();
  await orders.publishMany([{ data: { n: 1 } }, { data: { n: 2 } }]);
  const dead = async () => (await orders.inspect("billing"))?.dead;
  await vi.waitFor(async () => expect(await dead()).toBe(1), { timeout: 30_000 });
  await subscriber.stop();
  await new Topic(store, "news").publish("hello");
  await new Latches(store).create("ready", { count: 3 });
  const elections = new Elections(store);
  const term = await elections.campaign("indexer", { id: "one" });
  const giveUp = new AbortController();
  const second = elections.campaign("indexer", { id: "two", signal: giveUp.signal }).catch(() => null);
  const waiting = async () => (await elections.inspect("indexer")).waiting;
  await vi.waitFor(async () => expect(await waiting()).toBe(1), { timeout: 30_000 });
  return async () => {
    giveUp.abort();
    await term?.resign();
    await (await second)?.resign();
  };
}

async function fillLarge(store: Store): Promise<void> {
  const chats = new Chats<string>(store);
  await chats.joinMany("team", ["ann", "ben"]);
  await chats.joinMany("other", ["ann"]);
  await chats.send("team", "ann", "hello");
  await new Mailboxes<string>(store).send("zoe", "ann", "hello");
  await new ShardedSet(store, "people", { tags: 2 }).addMany(Array.from({ length: 200 }, (_, at) => `person ${at}`));
  await new ShardedList(store, "tasks", { lanes: 2 }).pushMany("right", ["a", "b", "c"]);
  const books = new SearchIndex(store, "books", {
    fields: { title: { type: "text" }, year: { type: "number" }, tags: { type: "tags" } },
  });
  await books.set("sand", { title: "The walking dunes", year: 1998, tags: ["sand"] });
  await books.set("tides", { title: "Tides and dunes", year: 2011 });
  // With so few followers an author is merged in at reading, once a worker has seen to it.
  const social = new Social(store, { pushBelow: 1 });
  for (const id of ["ann", "ben"]) await social.users.join(id, { id, name: id });
  await social.follows.follow("ben", "ann");
  await social.lists.create("ben", "List", { id: "+list" });
  await social.users.join("cem", { id: "cem", name: "cem" });
  await social.follows.follow("ben", "cem");
  await social.follows.mute("ben", "cem");
  await social.timelines.home("ben");
  await social.statuses.post("ann", "hello");
  const worker = social.worker().start();
  const merged = async () => (await social.inspectTimeline("ben")).merged.length;
  await vi.waitFor(async () => expect(await merged()).toBeGreaterThan(0), { timeout: 30_000 });
  await worker.stop();
}

export interface Filled {
  /** Ids of jobs in the queue `mails`. */
  readonly jobs: { readonly dead: string; readonly later: string; readonly whole: string };
  /** Gives back what is held. */
  release(): Promise<void>;
}

export async function fill(store: Store): Promise<Filled> {
  await fillPlain(store);
  const jobs = await fillQueue(store);
  const releases = [await fillComponents(store), await fillMessages(store)];
  await fillLarge(store);
  await fillKinds(store);
  return {
    jobs,
    release: async () => {
      for (const release of releases) await release();
    },
  };
}
