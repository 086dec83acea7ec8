/**
 * Each component used by `count` of everything that it has names for, and then left: what can be given back, finished or removed is.
 * Bounds are set below `count`, so that what stays is what they allow.
 */
import { Readable } from "node:stream";
import { Ads } from "../../../src/components/ads/index.ts";
import { PrefixIndex, RecentContacts } from "../../../src/components/autocomplete/index.ts";
import { Barriers } from "../../../src/components/barriers/index.ts";
import { Board } from "../../../src/components/board/index.ts";
import { Cache } from "../../../src/components/cache/index.ts";
import { Carts } from "../../../src/components/carts/index.ts";
import { Chats, Mailboxes } from "../../../src/components/chats/index.ts";
import { Config, Maintenance } from "../../../src/components/config/index.ts";
import { Counters } from "../../../src/components/counters/index.ts";
import { Elections } from "../../../src/components/elections/index.ts";
import { Executor } from "../../../src/components/executor/index.ts";
import { Files } from "../../../src/components/files/index.ts";
import { fleetKeys } from "../../../src/components/fleet/keys.ts";
import { renew as renewMember } from "../../../src/components/fleet/scripts.ts";
import { Ids } from "../../../src/components/ids/index.ts";
import { JobSearch } from "../../../src/components/job-search/index.ts";
import { Latches } from "../../../src/components/latches/index.ts";
import { Locks } from "../../../src/components/locks/index.ts";
import { advance, claim, release } from "../../../src/components/log-files/scripts.ts";
import { Logs } from "../../../src/components/logs/index.ts";
import { Market } from "../../../src/components/market/index.ts";
import { PackedTable, uint8, words } from "../../../src/components/packed-table/index.ts";
import { Places, ranges } from "../../../src/components/places/index.ts";
import { Queue, Worker } from "../../../src/components/queues/index.ts";
import { RateLimits } from "../../../src/components/rate-limits/index.ts";
import { RowCache } from "../../../src/components/row-cache/index.ts";
import { SearchIndex } from "../../../src/components/search/index.ts";
import { Semaphores } from "../../../src/components/semaphores/index.ts";
import { Sessions } from "../../../src/components/sessions/index.ts";
import {
  ShardedBitmap,
  ShardedHash,
  ShardedList,
  ShardedSet,
  ShardedSortedSet,
  UniqueVisitors,
} from "../../../src/components/sharded/index.ts";
import { Social } from "../../../src/components/social/index.ts";
import { Stats } from "../../../src/components/stats/index.ts";
import { AccessTokens, StatusStream } from "../../../src/components/streaming/index.ts";
import { DurableTopic, Topic } from "../../../src/components/topics/index.ts";
import { Views } from "../../../src/components/views/index.ts";
import type { ClockedStore } from "../../kit/clocked-store.ts";
import { STRUCTURE_USES } from "./structure-uses.ts";

type Use = (world: ClockedStore, count: number) => Promise<void>;

async function each(count: number, act: (n: number) => Promise<unknown>): Promise<void> {
  for (let n = 0; n < count; n++) await act(n);
}

const DAY_MS = 86_400_000;

/** By component. */
export const USES: Readonly<Record<string, Use>> = {
  ...STRUCTURE_USES,
  ads: async (world, count) => {
    const ads = new Ads(world.store, "site", { explore: "off", minClickDelayMs: 0 });
    await each(count, async (n) => {
      const cap = { views: 2, everyMs: DAY_MS };
      await ads.set(`ad${n}`, { model: "cpc", bidMicros: 1_000, words: [`word${n}`], locations: [`place${n}`], cap });
      const shown = await ads.target({ user: `u${n}`, content: `word${n}`, locations: [`place${n}`], viewed: true });
      await ads.click(shown!.id);
    });
    await each(count, (n) => ads.delete(`ad${n}`));
    await world.leap(2 * DAY_MS);
    while ((await ads.sweep()) > 0);
  },
  autocomplete: async ({ store }, count) => {
    const contacts = new RecentContacts(store);
    const members = new PrefixIndex(store, "guild", { rankedBeginnings: 2 });
    await each(count, async (n) => {
      await contacts.touch(`u${n}`, `c${n}`);
      await contacts.touch("me", `c${n}`);
      await members.addMany([`m${n}`]);
    });
    await each(count, async (n) => {
      await contacts.delete(`u${n}`, `c${n}`);
      await members.delete(`m${n}`);
    });
    await contacts.clear("me");
  },
  barriers: async ({ store }, count) => {
    const barriers = new Barriers(store, { parties: 2 });
    await each(count, async (n) => {
      await Promise.all([barriers.arrive(`b${n}`, { id: "a" }), barriers.arrive(`b${n}`)]);
      await Promise.all([barriers.arrive("all", { id: `p${n}` }), barriers.arrive("all", { id: `q${n}` })]);
      await barriers.arrive(`alone${n}`, { timeoutMs: 0 });
      await barriers.reset(`b${n}`);
    });
  },
  elections: async ({ store }, count) => {
    const elections = new Elections(store);
    await each(count, async (n) => {
      const term = (await elections.campaign(`e${n}`, { id: `p${n}` }))!;
      const next = elections.campaign(`e${n}`, { id: "other" });
      await term.resign();
      await (await next)!.resign();
    });
  },
  executor: async (world, count) => {
    // The settings of its queue, in the store.
    await new Queue(world.store, "main", { prefix: "executor" }).configure({ keepDone: 5, keepDead: 5, maxEvents: 10 });
    const executor = new Executor(world.store, "main", {
      tasks: {
        work: (n: number) => {
          if (n % 5 === 4) throw new Error("every fifth fails");
        },
      },
    }).start();
    await each(count, async (n) => {
      await executor.run("work", n);
      await executor.run("work", n, { delayMs: 500 });
      await executor.schedule(`s${n}`, { task: "work", data: n, everyMs: 1_000, limit: 2 });
    });
    await world.pass(30_000);
    await world.until(async () => (await executor.listSchedules()).items.length === 0);
    await executor.stop();
  },
  ids: async ({ store }, count) => {
    const ids = new Ids(store);
    await each(count, async (n) => {
      await ids.next("orders");
      await ids.next(`s${n}`);
      await ids.delete(`s${n}`);
    });
  },
  latches: async ({ store }, count) => {
    const latches = new Latches(store);
    await each(count, async (n) => {
      await latches.create(`l${n}`, { count: 3 });
      await latches.countDown(`l${n}`, { id: "a" });
      await latches.create(`open${n}`, { count: 1 });
      await latches.countDown(`open${n}`);
    });
  },
  topics: async (world, count) => {
    const news = new Topic<number>(world.store, "news");
    const orders = new DurableTopic<number>(world.store, "orders");
    await each(count, async (n) => {
      await news.publish(n);
      await orders.publish(n, { id: `o${n}` });
      await orders.createGroup(`g${n}`, { from: "start" });
    });
    const subscriber = orders.subscriber("g0", { concurrency: 10, attempts: 1 }, (message) => {
      if (message.data % 5 === 4) throw new Error("every fifth fails");
    });
    subscriber.start();
    await world.until(async () => {
      const { lag, pending } = (await orders.inspect("g0"))!;
      return lag + pending === 0;
    });
    await subscriber.stop();
  },
  cache: async ({ store }, count) => {
    const cache = new Cache<number>(store, "products", { freshMs: 1_000, staleMs: 1_000 });
    await each(count, (n) => cache.get(`k${n}`, async () => n, { tags: [`t${n}`] }));
    await each(count, (n) => cache.invalidate(`t${n}`));
  },
  carts: async ({ store }, count) => {
    const sessions = new Sessions(store);
    const carts = new Carts(store, { sessions });
    await each(count, async (n) => {
      await carts.add(`visitor${n}`, "book");
      await carts.merge(`visitor${n}`, `u${n}`);
      const session = await sessions.create();
      await carts.add(session, "book");
    });
  },
  chats: async (world, count) => {
    const chats = new Chats<string>(world.store);
    const mailboxes = new Mailboxes<string>(world.store);
    await each(count, async (n) => {
      await chats.joinMany(`c${n}`, [`u${n}`, "ann"]);
      await chats.arrive(`c${n}`, "ann");
      await chats.send(`c${n}`, "ann", "hello", { id: `m${n}` });
      await chats.leave(`c${n}`, "ann");
      await chats.leave(`c${n}`, `u${n}`);
      const sent = await mailboxes.send(`u${n}`, "ann", "hello");
      await mailboxes.acknowledge(`u${n}`, sent.id);
    });
  },
  config: async ({ store }, count) => {
    const settings = new Config<{ n: number }>(store, "shop", {
      defaults: { n: 0 },
      validate: (value) => value as { n: number },
      keepCount: 10,
    });
    await each(count, (n) => settings.set({ n: 100 + n }));
    const maintenance = new Maintenance(store, "shop");
    await maintenance.begin({ reason: "moving house", ttlMs: 1_000 });
  },
  counters: async ({ store }, count) => {
    const counters = new Counters(store);
    await each(count, (n) => counters.add(`hits${n}`));
  },
  files: async ({ store }, count) => {
    const files = new Files(store, "logs");
    const reader = await files.join("counter");
    await each(count, (n) => files.send(`${n}.log`, Buffer.from("GET /\n")));
    let left = count;
    for await (const file of reader.files()) {
      for await (const line of file.lines()) file.count("lines", line.text);
      if (--left === 0) break;
    }
    await reader.leave();
    await each(count, async (n) => {
      await files.invite(`r${n}`, { leaseMs: 1_000 });
      await files.deleteReader(`r${n}`);
    });
  },
  fleet: async ({ store }, count) => {
    const { current, members, seen } = fleetKeys("fleet", "main");
    await store.call("HSET", current, "version", 1);
    await each(count, (n) =>
      store.run(renewMember, { current, members, seen, member: `p${n}`, version: 1, untilMs: 11_000 }),
    );
  },
  "job-search": async ({ store }, count) => {
    const board = new JobSearch(store, "board");
    await each(count, async (n) => {
      const skills = [{ skill: `s${n}` }];
      await board.set(`j${n}`, { requires: skills, places: [`p${n}`] });
      await board.setCandidate(`c${n}`, { skills });
      await board.search(skills);
    });
    await each(count, async (n) => {
      await board.delete(`j${n}`);
      await board.deleteCandidate(`c${n}`);
    });
  },
  locks: async ({ store }, count) => {
    const locks = new Locks(store);
    await each(count, async (n) => {
      const lease = await locks.acquire(`l${n}`);
      await lease!.release();
      // A holder that died.
      await locks.acquire(`dead${n}`, { renew: false });
      const both = await locks.acquireMany([`a${n}`, `b${n}`]);
      await both!.release();
    });
  },
  "log-files": async ({ store }, count) => {
    await each(count, async (n) => {
      const record = `log-files:{access}:file:${n}`;
      const kept = { leaseMs: 1_000, keepMs: 30 * DAY_MS };
      const index = "log-files:{access}:files";
      await store.run(claim, { record, index, id: String(n), owner: "p", path: `/${n}`, ...kept });
      await store.run(advance, { record, offset: 1, lines: 1, tail: "", ...kept });
      await store.run(release, { record, owner: "p" });
    });
  },
  logs: async ({ store }, count) => {
    const logs = new Logs(store);
    await each(count, async (n) => logs.write(`web${n}`, "info", `hello ${"x".repeat(n)}`));
    await logs.flush();
  },
  market: async ({ store }, count) => {
    const fair = new Market(store, "fair");
    await each(count, async (n) => {
      await fair.deposit(`u${n}`, 100, { id: `d${n}` });
      await fair.withdraw(`u${n}`, 100, { id: `w${n}` });
    });
    // One item that goes from hand to hand.
    await fair.mint("u0", "sword");
    await each(count, async (n) => {
      await fair.deposit(`u${n + 1}`, 100);
      await fair.offer(`u${n}`, "sword", 100);
      await fair.buy(`u${n + 1}`, "sword", 100, { id: `b${n}` });
      await fair.withdraw(`u${n}`, 100);
    });
  },
  "packed-table": async ({ store }, count) => {
    const users = await PackedTable.open(store, "users", { age: uint8(), state: words([], { bits: 16 }) });
    await each(count, (n) => users.set(n * 100_000, { age: n, state: `s${n}` }));
    await users.clear();
  },
  places: async ({ store }, count) => {
    const places = new Places<{ country: string }>(store);
    const load = (n: number) =>
      places.load(ranges<{ country: string }>(Readable.from([`2.${n}.0.0/16,C${n}\n`]), { columns: ["country"] }));
    await each(count / 10, load);
    await places.clear();
  },
  queues: async (world, count) => {
    // So each that is dead has a history.
    const tasks = new Queue<number>(world.store, "tasks", { defaults: { attempts: 2 } });
    await tasks.configure({ keepDone: 5, keepDead: 5, maxEvents: 10, groupRate: { limit: 1, windowMs: 1_000 } });
    const worker = new Worker<number>(tasks, ({ data }) => {
      if (data % 5 === 4) throw new Error("every fifth fails");
    }).start();
    await each(count, async (n) => {
      await tasks.add(n, { group: `g${n}` });
      await tasks.add(n, { dedup: { id: `d${n}`, windowMs: 1_000 } });
      await tasks.add(n, { delayMs: 500, priority: 1 });
    });
    await each(count, async (n) => {
      const { id } = await tasks.add(n, { delayMs: 1_000, name: `n${n}` });
      await tasks.update(id, { priority: 2, delayMs: 500 });
      await tasks.schedule(`s${n}`, { everyMs: 10_000 }, n);
      await tasks.pauseSchedule(`s${n}`);
      await tasks.unschedule(`s${n}`);
    });
    await tasks.schedule("tick", { everyMs: 10_000, limit: 2 }, 1);
    await world.pass(30_000);
    await world.until(async () => {
      const { waiting, delayed, active } = await tasks.counts();
      return waiting + delayed + active === 0;
    });
    await worker.stop();
  },
  "rate-limits": async ({ store }, count) => {
    for (const algorithm of ["fixed", "sliding", "gcra"] as const) {
      const limiter = new RateLimits(store, { name: algorithm, rules: { limit: 5, windowMs: 1_000, algorithm } });
      await each(count, (n) => limiter.take(`u${n}`));
    }
  },
  replication: async () => {},
  "row-cache": async ({ store }, count) => {
    const rows = new RowCache(store, "inventory", { load: async (id) => ({ id }) });
    await each(count, (n) => rows.schedule(`r${n}`, 1_000));
    for (let done = 1; done > 0; ) done = await rows.refresher({ concurrency: 100 }).runOnce();
    await each(count, (n) => rows.schedule(`r${n}`, 0));
  },
  search: async ({ store }, count) => {
    const books = new SearchIndex(store, "books", { fields: { title: { type: "text" }, year: { type: "number" } } });
    await each(count, (n) => books.set(`b${n}`, { title: `walking dunes ${n}`, year: n }));
    await each(count, (n) => books.search(`dunes ${n}`, { cacheTtlMs: 1_000 }));
    await each(count, (n) => books.delete(`b${n}`));
  },
  semaphores: async ({ store }, count) => {
    const semaphores = new Semaphores(store, { limit: 3 });
    await each(count, async (n) => {
      const lease = await semaphores.acquire(`s${n}`);
      await semaphores.resize(`s${n}`, 5);
      await lease!.release();
      await semaphores.resize(`s${n}`, null);
      await semaphores.acquire(`dead${n}`, { renew: false });
    });
  },
  sessions: async ({ store }, count) => {
    const sessions = new Sessions(store);
    await each(count, async (n) => {
      const { token } = await sessions.create({ data: { n } });
      await sessions.load(token, { viewed: "item" });
      await sessions.signIn(token, `u${n}`);
    });
  },
  sharded: async ({ store }, count) => {
    const hash = new ShardedHash<number>(store, "hash", { tags: 2, expected: 1_000 });
    const set = new ShardedSet(store, "set", { tags: 2, expected: 1_000 });
    const scores = new ShardedSortedSet(store, "scores", { tags: 2, expected: 1_000 });
    const list = new ShardedList<number>(store, "list");
    const bitmap = new ShardedBitmap(store, "bitmap", { tags: 2 });
    const visitors = new UniqueVisitors(store, "site", { tags: 2 });
    await each(count, async (n) => {
      await hash.setMany([[`f${n}`, n]]);
      await set.addMany([`m${n}`]);
      await scores.addMany([[`m${n}`, n]]);
      await list.pushMany("right", [n]);
      await list.pop("left");
      await bitmap.setMany([n * 1_000]);
      await visitors.visit(`v${n}`);
    });
    await hash.shards.clear();
    await set.shards.delete();
    await scores.shards.delete();
    await bitmap.shards.delete();
  },
  social: async (world, count) => {
    const network = new Social(world.store);
    const worker = network.worker().start();
    const ids: string[] = [];
    await each(count, async (n) => {
      const joined = await network.users.join(`user${n}`);
      if (joined.status !== "joined") throw new Error(joined.status);
      ids.push(joined.user.id);
    });
    await each(count, async (n) => {
      const [me, other] = [ids[n]!, ids[(n + 1) % count]!];
      await network.follows.follow(me, other);
      await network.statuses.post(other, "hello", { id: "request" });
      await network.timelines.home(me, { limit: 10 });
      await network.lists.create(me, "friends");
    });
    await each(count, (n) => network.users.delete(ids[n]!));
    for (let round = 0; round < 40; round++) await world.pass(15_000);
    await worker.stop();
  },
  stats: async ({ store }, count) => {
    const stats = new Stats(store);
    await each(count, (n) => stats.duration(`/page${n}`, n));
  },
  streaming: async ({ store }, count) => {
    const stream = new StatusStream(store, "public");
    const tokens = new AccessTokens(store);
    await each(count, async (n) => {
      await stream.publish({ kind: "status", id: String(n), userId: "ann", login: "ann", text: "hello", atMs: 0 });
      await tokens.issue(`u${n}`, { ttlMs: DAY_MS });
    });
    await stream.close();
  },
  views: async ({ store }, count) => {
    const views = new Views(store, "pages", { maxItems: 10 });
    await each(count, (n) => views.add(`/p${n}`));
  },
  board: async ({ store }, count) => {
    const news = new Board(store, "news", { maxArticles: 10 });
    await each(count, async (n) => {
      const { id } = await news.post(`u${n}`, { title: "A link" }, { groups: [`g${n}`] });
      await news.vote(id, "ben", "up");
      await news.list({ by: "score", group: `g${n}` });
    });
  },
};
