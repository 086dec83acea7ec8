/**
 * What each component promises when the server's clock is set. A check makes a state, steps the clock (`world.step(stepMs)`), and looks
 * whether what it promises holds after the time that it would have taken without the step.
 */
import { Readable } from "node:stream";
import { expect } from "vitest";
import { Ads } from "../../../src/components/ads/index.ts";
import { PrefixIndex, RecentContacts } from "../../../src/components/autocomplete/index.ts";
import { Board } from "../../../src/components/board/index.ts";
import { Cache } from "../../../src/components/cache/index.ts";
import { Carts } from "../../../src/components/carts/index.ts";
import { Chats } from "../../../src/components/chats/index.ts";
import { Config, Maintenance } from "../../../src/components/config/index.ts";
import { Counters } from "../../../src/components/counters/index.ts";
import { Files } from "../../../src/components/files/index.ts";
import { fleetKeys } from "../../../src/components/fleet/keys.ts";
import { behind, renew as renewMember } from "../../../src/components/fleet/scripts.ts";
import { JobSearch } from "../../../src/components/job-search/index.ts";
import { claim as claimFile } from "../../../src/components/log-files/scripts.ts";
import { Logs } from "../../../src/components/logs/index.ts";
import { Market } from "../../../src/components/market/index.ts";
import { PackedTable, uint8 } from "../../../src/components/packed-table/index.ts";
import { Places, ranges } from "../../../src/components/places/index.ts";
import { RateLimits } from "../../../src/components/rate-limits/index.ts";
import { writeToReplicas } from "../../../src/components/replication/index.ts";
import { RowCache } from "../../../src/components/row-cache/index.ts";
import { SearchIndex } from "../../../src/components/search/index.ts";
import { Sessions } from "../../../src/components/sessions/index.ts";
import { ShardedSortedSet, UniqueVisitors } from "../../../src/components/sharded/index.ts";
import { tagKeys } from "../../../src/components/sharded/keys.ts";
import { claim as claimShards } from "../../../src/components/sharded/scripts/movement.ts";
import { Stats } from "../../../src/components/stats/index.ts";
import { AccessTokens, StatusStream } from "../../../src/components/streaming/index.ts";
import { Views } from "../../../src/components/views/index.ts";
import { turns } from "../../kit/clocked-store.ts";
import { coordination } from "./coordination-promises.ts";
import { locks, semaphores } from "./lease-promises.ts";
import { DAY_MS, LEASE_MS, NOTICED_MS, type Promised, promised } from "./promised.ts";
import { queues } from "./queue-promises.ts";
import { social } from "./social-promises.ts";
import { STRUCTURE_PROMISES } from "./structure-promises.ts";

const rateLimits: Record<string, Promised> = Object.fromEntries(
  (["fixed", "sliding", "gcra"] as const).map((algorithm) => [
    `${algorithm} windows refuse for a window at most, and allow no more than the limit in one`,
    promised(async (world, stepMs) => {
      const windowMs = 30_000;
      const limiter = new RateLimits(world.store, { name: "api", rules: { limit: 5, windowMs, algorithm } });
      const granted = async (): Promise<number> => {
        let count = 0;
        for (let nth = 0; nth < 10; nth++) if ((await limiter.take("ann")).allowed) count++;
        return count;
      };
      expect(await granted()).toBe(5);
      world.step(stepMs);
      const { allowed, retryAfterMs } = await limiter.take("ann", { cost: 5 });
      expect(allowed).toBe(false);
      expect(retryAfterMs).toBeLessThanOrEqual(windowMs);
      await world.pass(windowMs);
      expect(await granted()).toBe(5);
    }),
  ]),
);

/** By component; then by what it promises. */
export const PROMISES: Readonly<Record<string, Readonly<Record<string, Promised>>>> = {
  ...STRUCTURE_PROMISES,
  locks,
  semaphores,
  queues,
  ...coordination,
  "rate-limits": rateLimits,
  social,

  ads: {
    "a daily budget is not spent twice, also across midnight": promised(
      async (world, stepMs) => {
        const ads = new Ads(world.store, "site", { explore: "off" });
        await ads.set("soap", { model: "cpm", bidMicros: 1_000, budget: { dailyMicros: 1, pacing: "asap" } });
        const shown = async (): Promise<boolean> => (await ads.target({ viewed: true })) !== null;
        expect([await shown(), await shown()]).toEqual([true, false]);
        world.step(stepMs);
        expect(await shown()).toBe(false);
        await world.pass(Math.abs(stepMs));
        expect(await shown()).toBe(false);
        await world.pass(DAY_MS);
        expect(await shown()).toBe(true);
      },
      // A few seconds after midnight: every step back leaves the day.
      Date.UTC(2026, 10, 16) + 5_000,
    ),
    "a click counts": promised(async (world, stepMs) => {
      const ads = new Ads(world.store, "site", { explore: "off", minClickDelayMs: 300 });
      await ads.set("shoes", { model: "cpc", bidMicros: 1_000 });
      const shown = await ads.target({ viewed: true });
      await world.pass(400);
      world.step(stepMs);
      expect(await ads.click(shown!.id)).toMatchObject({ status: "counted" });
    }),
  },
  autocomplete: {
    "contacts stay in the order of use": promised(async ({ store, step }, stepMs) => {
      const contacts = new RecentContacts(store);
      await contacts.touch("me", "ann");
      step(stepMs);
      await contacts.touch("me", "anton");
      expect(await contacts.complete("me", "an")).toEqual(["anton", "ann"]);
    }),
    "names are found": promised(async ({ store, step }, stepMs) => {
      const members = new PrefixIndex(store, "guild");
      await members.addMany(["ann"]);
      step(stepMs);
      await members.addMany(["anton"]);
      expect(await members.complete("an")).toEqual(["ann", "anton"]);
    }),
  },
  cache: {
    "a value is kept, and loaded again after it was deleted": promised(async ({ store, step }, stepMs) => {
      const cache = new Cache<number>(store, "products", { freshMs: 3_600_000 });
      let loads = 0;
      const get = () => cache.get("17", async () => ++loads);
      expect(await get()).toBe(1);
      step(stepMs);
      expect(await get()).toBe(1);
      await cache.delete("17");
      expect([await get(), await get()]).toEqual([2, 2]);
    }),
    "what was loaded before a tag was invalidated is not given after it, and what came after it is": promised(
      async ({ store, step }, stepMs) => {
        const cache = new Cache<number>(store, "tagged", { freshMs: 30 * 86_400_000 });
        let loads = 0;
        const get = () => cache.get("17", async () => ++loads, { tags: ["catalogue"] });
        expect(await get()).toBe(1);
        let finish!: (value: number) => void;
        let begin!: () => void;
        const begun = new Promise<void>((resolve) => {
          begin = resolve;
        });
        const load = () => {
          begin();
          return new Promise<number>((resolve) => {
            finish = resolve;
          });
        };
        const loading = cache.get("18", load, { tags: ["catalogue"] });
        await begun;
        step(stepMs);
        await cache.invalidate("catalogue");
        finish(-1);
        await loading;
        expect(await cache.get("18", async () => 18, { tags: ["catalogue"] })).toBe(18);
        // Also when the time comes again in which it was loaded.
        step(-stepMs);
        expect([await get(), await get()]).toEqual([2, 2]);
        step(stepMs);
        await cache.invalidate("catalogue");
        await cache.set("17", 5, { tags: ["catalogue"] });
        expect([await get(), loads]).toEqual([5, 2]);
      },
    ),
  },
  carts: {
    "a cart is kept, and merged once": promised(async ({ store, step }, stepMs) => {
      const carts = new Carts(store);
      await carts.add("visitor", "book", 2);
      step(stepMs);
      await carts.merge("visitor", "ann");
      await carts.merge("visitor", "ann");
      expect(await carts.get("ann")).toMatchObject([{ item: "book", quantity: 2 }]);
    }),
  },
  chats: {
    "presence ends after its length": promised(async (world, stepMs) => {
      const chats = new Chats<string>(world.store, { presenceLeaseMs: 20_000 });
      await chats.joinMany("team", ["ann", "ben"]);
      await chats.arrive("team", "ann");
      world.step(stepMs);
      expect(await chats.present("team")).toEqual(["ann"]);
      await world.pass(20_000);
      expect(await chats.present("team")).toEqual([]);
      expect(await chats.inspect("team")).toMatchObject({ present: 0 });
    }),
    "messages keep their order, and an id of the sender's counts once": promised(async ({ store, step }, stepMs) => {
      const chats = new Chats<string>(store);
      await chats.join("team", "ann");
      await chats.send("team", "ann", "first", { id: "1" });
      step(stepMs);
      expect(await chats.send("team", "ann", "first", { id: "1" })).toMatchObject({ repeated: true });
      await chats.send("team", "ann", "second");
      const page = await chats.read("team", "ann");
      expect(page!.items.map(({ body }) => body)).toEqual(["first", "second"]);
    }),
  },
  config: {
    "versions and their history go on": promised(async ({ store, step }, stepMs) => {
      const settings = new Config<{ size: number }>(store, "shop", {
        defaults: { size: 1 },
        validate: (value) => value as { size: number },
      });
      expect(await settings.set({ size: 2 })).toMatchObject({ version: 1 });
      step(stepMs);
      expect(await settings.set({ size: 3 }, { ifVersion: 1 })).toMatchObject({ status: "changed", version: 2 });
      expect((await settings.history()).map(({ version }) => version)).toEqual([2, 1]);
    }),
    "maintenance is switched on and off": promised(async ({ store, step }, stepMs) => {
      const maintenance = new Maintenance(store, "shop");
      await maintenance.begin({ reason: "moving house", ttlMs: 3_600_000 });
      step(stepMs);
      expect(await maintenance.inspect()).toMatchObject({ reason: "moving house" });
      await maintenance.end();
    }),
  },
  counters: {
    "every hit counts, in the slice that the clock names": promised(async ({ store, step }, stepMs) => {
      const counters = new Counters(store);
      await counters.add("hits");
      step(stepMs);
      await counters.add("hits");
      const days = await counters.series("hits", DAY_MS, { samples: 1 });
      expect(days[0]!.count).toBe(2);
      const seconds = await counters.series("hits", 1_000, { samples: 1 });
      expect(seconds[0]!.count).toBe(1);
    }),
    "no more slices are kept than twice the samples": promised(async (world, stepMs) => {
      const counters = new Counters(world.store, { precisionsMs: [1_000], keepCount: 10 });
      for (let nth = 0; nth < 60; nth++) {
        await counters.add("hits");
        await world.pass(1_000);
        if (nth % 12 === 11) world.step(stepMs);
      }
      expect(Number(await world.store.call("HLEN", "counter:{hits}:1000"))).toBeLessThanOrEqual(22);
    }),
  },
  fleet: {
    "slots are not moved before a process of the old layout must have left it, nor long after": promised(
      async (world, stepMs) => {
        const { store } = world;
        const { current, members, seen } = fleetKeys("fleet", "main");
        await store.call("HSET", current, "version", 1);
        const joined = { current, members, seen, member: "p1", version: 1, untilMs: 11_000 };
        expect(await store.run(renewMember, joined)).toBe(1);
        await store.call("HSET", current, "version", 2);
        world.step(stepMs);
        const left = (waitedMs: number) => store.run(behind, { members, seen, version: 2, waitedMs });
        expect([await left(0), await left(11_000), await left(11_001)]).toEqual([1, 1, 0]);
      },
    ),
  },
  files: {
    "a dead reader is dropped after its lease": promised(async (world, stepMs) => {
      const files = new Files(world.store, "logs");
      await files.invite("dead", { leaseMs: LEASE_MS });
      await files.send("monday.log", Buffer.from("GET /\n"));
      world.step(stepMs);
      await files.sweep();
      await world.pass(LEASE_MS + 1);
      await files.sweep();
      expect((await files.inspect()).readers).toEqual({});
    }),
  },
  "job-search": {
    "jobs are found until the clock says that they close": promised(async (world, stepMs) => {
      const board = new JobSearch(world.store, "board");
      const skills = [{ skill: "redis" }];
      await board.set("open", { requires: skills, closesAt: new Date(world.nowMs + 7_200_000) });
      await board.set("closing", { requires: skills, closesAt: new Date(world.nowMs + 20_000) });
      const found = async (): Promise<string[]> => (await board.search(skills)).items.map(({ job }) => job.id).sort();
      world.step(stepMs);
      expect(await found()).toEqual(["closing", "open"]);
      await world.pass(20_000 - stepMs);
      expect(await found()).toEqual(["open"]);
    }),
  },
  "log-files": {
    "a dead process's file is taken over after its lease": promised(async (world, stepMs) => {
      const claim = (owner: string) =>
        world.store.run(claimFile, {
          ...{ record: "log-files:{access}:file:1", index: "log-files:{access}:files" },
          ...{ id: "1", owner, path: "/access.log", leaseMs: LEASE_MS, keepMs: DAY_MS },
        });
      expect((await claim("dead")).mine).toBe(true);
      expect((await claim("next")).mine).toBe(false);
      world.step(stepMs);
      await world.pass(LEASE_MS);
      expect((await claim("next")).mine).toBe(true);
    }),
  },
  logs: {
    "messages of this hour stay there": promised(async ({ store, step }, stepMs) => {
      const logs = new Logs(store);
      logs.write("web", "info", "before");
      await logs.flush();
      step(stepMs);
      expect((await logs.common("web", "info")).thisHour).toMatchObject([{ message: "before", count: 1 }]);
      logs.write("web", "info", "after");
      await logs.flush();
      expect((await logs.common("web", "info")).thisHour).toHaveLength(2);
      expect((await logs.recent("web", "info")).map(({ message }) => message)).toEqual(["after", "before"]);
    }),
  },
  market: {
    "a payment counts once": promised(async ({ store, step }, stepMs) => {
      const fair = new Market(store, "fair");
      await fair.deposit("ben", 1_000, { id: "payment-17" });
      step(stepMs);
      await fair.deposit("ben", 1_000, { id: "payment-17" });
      expect(await fair.withdraw("ben", 1_000, { id: "payment-17" })).toEqual({ status: "conflict" });
      expect(await fair.funds("ben")).toBe(1_000);
    }),
  },
  "packed-table": {
    "rows are what they were": promised(async ({ store, step }, stepMs) => {
      const users = await PackedTable.open(store, "users", { age: uint8() });
      await users.set(1, { age: 31 });
      step(stepMs);
      expect(await users.get(1)).toMatchObject({ age: 31 });
    }),
  },
  places: {
    "a load replaces the one before": promised(async ({ store, step }, stepMs) => {
      const places = new Places<{ country: string }>(store);
      const load = (country: string) =>
        places.load(ranges<{ country: string }>(Readable.from([`2.16.0.0/16,${country}\n`]), { columns: ["country"] }));
      await load("IT");
      step(stepMs);
      await load("FR");
      expect((await places.get("2.16.4.4"))?.place).toEqual({ country: "FR" });
    }),
  },
  replication: {
    "a write is answered in its time": promised(async (world, stepMs) => {
      const writing = writeToReplicas(world.store, ["SET", "order", "paid"], { replicas: 1, timeoutMs: 50 });
      await turns();
      world.step(stepMs);
      await world.pass(50);
      expect(await writing).toMatchObject({ answer: "OK", enough: false });
    }),
  },
  "row-cache": {
    "a row is refreshed at its interval": promised(async (world, stepMs) => {
      let stock = 1;
      const rows = new RowCache(world.store, "inventory", { load: async () => ({ stock }) });
      await rows.schedule("17", 15_000);
      const refresher = rows.refresher().start();
      await world.pass(NOTICED_MS);
      expect(await rows.get("17")).toEqual({ stock: 1 });
      stock = 2;
      world.step(stepMs);
      await world.pass(15_000 + NOTICED_MS);
      expect(await rows.get("17")).toEqual({ stock: 2 });
      await refresher.stop();
    }),
  },
  search: {
    "documents are found": promised(async ({ store, step }, stepMs) => {
      const books = new SearchIndex(store, "books", { fields: { title: { type: "text" } } });
      await books.set("dunes", { title: "The walking dunes" });
      step(stepMs);
      await books.set("tides", { title: "Walking tides" });
      expect((await books.search("walk")).count).toBe(2);
    }),
  },
  sessions: {
    "a session is kept, and what was viewed stays in order": promised(async ({ store, step }, stepMs) => {
      const sessions = new Sessions(store, { viewed: 2, idleMs: 600_000 });
      const { token } = await sessions.create({ user: "ann" });
      for (const viewed of ["a", "b"]) await sessions.load(token, { viewed });
      step(stepMs);
      expect(await sessions.load(token, { viewed: "c" })).not.toBeNull();
      expect(await sessions.viewed(token)).toEqual(["c", "b"]);
      expect(await sessions.signOutEverywhere("ann")).toBe(1);
    }),
    "a session that is used ends after its idle time": promised(async (world, stepMs) => {
      const sessions = new Sessions(world.store, { idleMs: 600_000 });
      const { token } = await sessions.create({ user: "ann" });
      world.step(stepMs);
      // In use, it is touched every 30 s, and lives so much longer.
      await world.pass(30_000);
      expect(await sessions.load(token)).not.toBeNull();
      await world.pass(630_001);
      expect(await sessions.load(token)).toBeNull();
    }),
  },
  sharded: {
    "a dead mover's work is taken over after its lease": promised(async (world, stepMs) => {
      const scores = new ShardedSortedSet(world.store, "scores", { tags: 1, expected: 1_000 });
      await scores.addMany(Array.from({ length: 500 }, (_, n): [string, number] => [`m${n}`, n]));
      await scores.shards.reshard({ shards: 64 });
      await scores.shards.move({ maxSteps: 1 });
      const { gate, dir } = tagKeys("sharded", "scores", 0);
      const gen = Number(await world.store.call("HGET", gate, "gen"));
      const lease = { gate, oldDir: dir(1), gen, leaseMs: LEASE_MS, most: 1 };
      await world.pass(10_000);
      await world.store.run(claimShards, { ...lease, token: "dead" });
      world.step(stepMs);
      await world.pass(LEASE_MS);
      let finished = false;
      for (let round = 0; round < 100 && !finished; round++) {
        ({ finished } = await scores.shards.move({ leaseMs: LEASE_MS }));
      }
      expect(finished).toBe(true);
      expect(await scores.count()).toBe(500);
    }),
    "a visitor counts once a day": promised(async ({ store, step }, stepMs) => {
      const visitors = new UniqueVisitors(store, "site");
      expect(await visitors.visit("ann")).toBe(true);
      step(stepMs);
      expect(await visitors.visit("ann")).toBe(false);
      expect((await visitors.count()).visitors).toBe(1);
    }),
  },
  stats: {
    "values of this hour stay there": promised(async ({ store, step }, stepMs) => {
      const stats = new Stats(store);
      await stats.record("checkout", "items", 1);
      await stats.duration("/report", 500);
      step(stepMs);
      expect((await stats.get("checkout", "items"))?.thisHour?.count).toBe(1);
      expect(await stats.slowest()).toHaveLength(1);
      await stats.record("checkout", "items", 3);
      expect((await stats.get("checkout", "items"))?.thisHour).toMatchObject({ count: 2, mean: 2 });
    }),
  },
  streaming: {
    "events keep their order, and an event counts once": promised(async ({ store, step }, stepMs) => {
      const stream = new StatusStream(store, "public");
      const say = (id: string) =>
        stream.publish({ kind: "status", id, userId: "ann", login: "ann", text: "redis", atMs: 0 });
      await say("1");
      const before = await stream.inspect();
      step(stepMs);
      await say("1");
      await say("2");
      const after = await stream.inspect();
      expect(after.events).toBe(2);
      const of = (cursor: string): number[] => cursor.split("-").map(Number);
      const [a, b] = [of(before.newest), of(after.newest)];
      expect(b[0]! > a[0]! || (b[0] === a[0] && b[1]! > a[1]!)).toBe(true);
      await stream.close();
    }),
    "a token lasts as long as the clock says": promised(async (world, stepMs) => {
      const tokens = new AccessTokens(world.store);
      const { token } = await tokens.issue("ann", { ttlMs: 60_000 });
      world.step(stepMs);
      expect(await tokens.verify(token)).not.toBeNull();
      await world.pass(60_000 - stepMs);
      expect(await tokens.verify(token)).toBeNull();
    }),
  },
  views: {
    "a view is worth as much as before": promised(async ({ store, step }, stepMs) => {
      const views = new Views(store, "pages", { halfLifeMs: 300_000 });
      await views.add("/old", 3);
      step(stepMs);
      await views.add("/new", 3);
      expect((await views.get("/new"))?.views).toBeCloseTo(3, 1);
      expect((await views.get("/old"))?.views).toBeCloseTo(stepMs > 0 ? 3 * 2 ** (-stepMs / 300_000) : 3, 1);
      expect((await views.top({ limit: 2 })).map(({ item }) => item)).toContain("/new");
    }),
  },
  board: {
    "a user has one vote": promised(async ({ store, step }, stepMs) => {
      const news = new Board(store, "news");
      const { id } = await news.post("ann", { title: "A link" });
      await news.vote(id, "ben", "up");
      step(stepMs);
      expect(await news.vote(id, "ben", "up")).toMatchObject({ status: "same" });
      expect(await news.vote(id, "cid", "up")).toMatchObject({ status: "changed", up: 3 });
    }),
    "an article is as new as any other, also on a full board": promised(async ({ store, step }, stepMs) => {
      const news = new Board(store, "news", { maxArticles: 3 });
      for (const id of ["a", "b", "c"]) await news.post("ann", { title: id }, { id });
      step(stepMs);
      expect(await news.post("ann", { title: "0" }, { id: "0" })).toMatchObject({ id: "0" });
      await news.post("ann", { title: "1" }, { id: "1" });
      const { items: articles } = await news.list({ by: "time" });
      expect(articles.map(({ id }) => id)).toEqual(["1", "0", "c"]);
    }),
  },
};
