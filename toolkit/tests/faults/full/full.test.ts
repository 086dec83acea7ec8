/**
 * A store that is full: `maxmemory` is reached and nothing may be evicted, so every write that could need memory is refused. What
 * has to be written says so. What is read is still read, also where reading notes something on the way.
 */
import { request } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ServerError } from "../../../src/base/errors.ts";
import { Barriers } from "../../../src/components/barriers/index.ts";
import { Board } from "../../../src/components/board/index.ts";
import { type CachedPage, cachedPages, pageCodec } from "../../../src/components/cache/http.ts";
import { Cache } from "../../../src/components/cache/index.ts";
import { Chats } from "../../../src/components/chats/index.ts";
import { Elections } from "../../../src/components/elections/index.ts";
import { Locks } from "../../../src/components/locks/index.ts";
import { Queue, Worker } from "../../../src/components/queues/index.ts";
import { RateLimits } from "../../../src/components/rate-limits/index.ts";
import { SearchIndex } from "../../../src/components/search/index.ts";
import { Semaphores } from "../../../src/components/semaphores/index.ts";
import { Sessions } from "../../../src/components/sessions/index.ts";
import { Social } from "../../../src/components/social/index.ts";
import { StatusStream } from "../../../src/components/streaming/index.ts";
import { DurableTopic } from "../../../src/components/topics/index.ts";
import { Views } from "../../../src/components/views/index.ts";
import { open } from "../../../src/connection/open.ts";
import type { Store } from "../../../src/connection/store.ts";
import { installed, type ServerProcess, startRedis } from "../../kit/servers.ts";

const BACKENDS = (process.env.BACKENDS ?? "embedded,redis").split(",");

describe.each(["embedded", "redis"])("a full store, %s", (backend) => {
  const isThere = BACKENDS.includes(backend) && (backend === "embedded" || installed("redis-server"));
  const onStore = test.runIf(isThere);
  let server: ServerProcess | null = null;
  let store: Store;

  beforeEach(async () => {
    if (!isThere) return;
    server = backend === "redis" ? await startRedis() : null;
    store = await open(server === null ? undefined : `redis://127.0.0.1:${server.port}`);
  });
  afterEach(async () => {
    if (!isThere) return;
    await store.close();
    await server?.stop();
  });

  const fill = async () => {
    await store.call("CONFIG", "SET", "maxmemory-policy", "noeviction");
    await store.call("CONFIG", "SET", "maxmemory", 1);
    await expect(store.call("SET", "more", "x")).rejects.toMatchObject({ code: "OOM" });
  };
  const empty = () => store.call("CONFIG", "SET", "maxmemory", 0);
  const full = { code: "OOM" };

  onStore("Queue: workers begin, keep their leases and work off what is there, whatever becomes of it", async () => {
    const queue = new Queue<{ readonly n: number }, string>(store, "work");
    const count = 300;
    await queue.addMany(
      Array.from({ length: count }, (_, n) => ({ data: { n }, options: { attempts: 2, backoff: 1 } })),
    );
    await queue.add({ n: count }, { delayMs: 50 });
    await queue.add({ n: count + 1 }, { priority: 1 });
    await queue.add({ n: count + 2 }, { group: "g" });
    await fill();
    await expect(queue.add({ n: -1 })).rejects.toMatchObject(full);
    const errors: unknown[] = [];
    const tries = new Map<number, number>();
    const worker = new Worker(
      queue,
      async ({ data: { n } }) => {
        tries.set(n, (tries.get(n) ?? 0) + 1);
        // Longer than its lease.
        if (n === 7) await new Promise((resolve) => setTimeout(resolve, 3_000));
        if (n % 10 === 3 && tries.get(n) === 1) throw new Error("once");
        if (n % 100 === 50) throw new Error("always");
        return "done";
      },
      { concurrency: 10, leaseMs: 1_000 },
    );
    worker.on("error", (error) => errors.push(error));
    worker.start();
    await expect.poll(() => queue.counts()).toMatchObject({ waiting: 0, delayed: 0, active: 0, done: count, dead: 3 });
    expect(errors).toEqual([]);
    expect(tries.get(7)).toBe(1);
    await worker.stop();
    expect(await queue.clean("done")).toBeGreaterThan(0);
    await empty();
    await queue.add({ n: -1 });
  });

  onStore("Cache: gives what is there, and what is made for a miss, to many at once", async () => {
    const errors: unknown[] = [];
    const cache = new Cache<string>(store, "things", { onError: (error) => errors.push(error) });
    await cache.set("there", "kept");
    await fill();
    let loads = 0;
    const load = async () => {
      loads++;
      await store.call("PING");
      return "made";
    };
    expect(await cache.get("there", load)).toBe("kept");
    expect(await Promise.all(Array.from({ length: 20 }, () => cache.get("missing", load)))).toEqual(
      Array.from({ length: 20 }, () => "made"),
    );
    expect(loads).toBe(1);
    expect(await cache.get("there", load)).toBe("kept");
    expect(errors).toHaveLength(1);
    expect(errors[0]).toBeInstanceOf(ServerError);
    expect(errors[0]).toMatchObject(full);
    await expect(cache.set("there", "new")).rejects.toMatchObject(full);
    expect(await cache.get("there")).toBeNull();
    await empty();
    await cache.set("tagged", "old", { tags: ["t"] });
    await fill();
    await cache.invalidate("t");
    expect(await cache.get("tagged")).toBeNull();
    await empty();
    expect(await cache.get("missing", () => "later")).toBe("later");
    expect(await cache.get("missing")).toBe("later");
  });

  onStore("Cache: what was being made when the store became full is given, and others need not wait", async () => {
    const cache = new Cache<string>(store, "things", { leaseMs: 3_600_000 });
    let finish!: (value: string) => void;
    const making = new Promise<string>((resolve) => {
      finish = resolve;
    });
    const early = cache.get("a", () => making);
    await expect.poll(() => cache.stats().loads).toBe(1);
    await fill();
    const late = cache.get("a", () => "other");
    finish("made");
    expect(await early).toBe("made");
    expect(await late).toBe("other");
  });

  onStore("Cache: a stale value is given while it cannot be replaced", async () => {
    const cache = new Cache<string>(store, "things", { freshMs: 1, staleMs: 3_600_000 });
    await cache.set("a", "stale");
    await fill();
    await expect.poll(async () => (await cache.getEntry("a", () => "new")).state).toBe("stale");
    expect(await cache.getEntry("a", () => "new")).toMatchObject({ value: "stale", state: "stale" });
  });

  onStore("pages: are made and sent, with views and without", async () => {
    const pages = new Cache<CachedPage>(store, "pages", { codec: pageCodec });
    const app = express();
    app.use("/ranked", cachedPages(pages, { views: new Views(store, "pages") }));
    app.use(cachedPages(pages));
    app.use((_request, response) => void response.send("made"));
    await fill();
    const listening = app.listen(0, "127.0.0.1");
    await new Promise((resolve) => listening.once("listening", resolve));
    const { port } = listening.address() as AddressInfo;
    try {
      for (const path of ["/ranked", "/plain", "/ranked", "/plain"]) {
        const status = await new Promise((resolve, reject) => {
          request({ port, host: "127.0.0.1", path }, (response) => {
            response.resume();
            response.once("end", () => resolve(response.statusCode));
          })
            .once("error", reject)
            .end();
        });
        expect(status).toBe(200);
      }
    } finally {
      listening.closeAllConnections();
      await new Promise((resolve) => listening.close(resolve));
    }
  });

  onStore("Sessions: are loaded, and live on", async () => {
    const sessions = new Sessions(store, { idleMs: 3_600_000 });
    const { token } = await sessions.create({ user: "ann", data: { theme: "dark" } });
    await fill();
    expect(await sessions.load(token, { viewed: "item" })).toMatchObject({ user: "ann", data: { theme: "dark" } });
    expect(await sessions.viewed(token)).toEqual([]);
    expect((await sessions.list("ann")).items).toHaveLength(1);
    await expect(sessions.create()).rejects.toMatchObject(full);
    await empty();
    await sessions.load(token, { viewed: "item" });
    expect(await sessions.viewed(token)).toEqual(["item"]);
  });

  onStore("Board: groups are listed page by page as when their order is kept", async () => {
    const board = new Board(store, "news");
    for (let nth = 0; nth < 7; nth++) {
      const groups = nth % 3 === 0 ? [] : ["some"];
      const { id } = await board.post(`user ${nth}`, { title: `${nth}` }, { groups });
      for (let vote = 0; vote < nth % 3; vote++) await board.vote(id, `voter ${vote}`, "up");
    }
    const pages = async (by: "score" | "time") => {
      const titles: string[][] = [];
      let after: string | null = null;
      do {
        const page: Awaited<ReturnType<Board["list"]>> = await board.list({
          ...{ by, group: "some", limit: 2 },
          ...(after === null ? {} : { cursor: after }),
        });
        titles.push(page.items.map(({ fields }) => String(fields.title)));
        after = page.cursor;
      } while (after !== null);
      return titles;
    };
    await fill();
    const whenFull = [await pages("score"), await pages("time")];
    await empty();
    expect(whenFull).toEqual([await pages("score"), await pages("time")]);
    expect(whenFull[0]!.flat()).toHaveLength(4);
  });

  onStore("SearchIndex: answers that cannot be kept are given", async () => {
    const index = new SearchIndex(store, "books", { fields: { title: { type: "text" } } });
    await index.set("a", { title: "red tea" });
    await fill();
    const found = await index.search("tea", { cacheTtlMs: 60_000 });
    expect(found).toMatchObject({ count: 1, id: null, cached: false });
    await expect(index.set("b", { title: "tea" })).rejects.toMatchObject(full);
    expect(await index.search("tea")).toMatchObject({ count: 1 });
  });

  onStore("Chats: messages are read, also by one whose presence is noted", async () => {
    const chats = new Chats<string>(store);
    await chats.joinMany("team", ["ann", "ben"]);
    await chats.send("team", "ann", "hello");
    await fill();
    const texts = (page: Awaited<ReturnType<typeof chats.read>>) => page?.items.map(({ body }) => body);
    expect(texts(await chats.read("team", "ben"))).toEqual(["hello"]);
    expect(texts(await chats.read("team", "ben", { waitMs: 1_000 }))).toEqual(["hello"]);
    for await (const { body } of chats.messages("team", "ben")) {
      expect(body).toBe("hello");
      break;
    }
    expect(await chats.unread("ben")).toMatchObject([{ chat: "team", unread: 1 }]);
  });

  onStore("Social: timelines that nobody has built are read from the profiles", async () => {
    const social = new Social(store);
    const [ann, ben] = await Promise.all(
      ["ann", "ben"].map(async (login) => {
        const joined = await social.users.join(login);
        return joined.status === "joined" ? joined.user.id : "";
      }),
    );
    await social.follows.follow(ben!, ann!);
    await social.statuses.post(ann!, "hello");
    await fill();
    expect((await social.timelines.home(ben!)).items.map(({ text }) => text)).toEqual(["hello"]);
    expect((await social.timelines.profile(ann!)).items).toHaveLength(1);
  });

  onStore("StatusStream: can be listened to, also before anything was published", async () => {
    await fill();
    const stream = new StatusStream(store, "public");
    const listening = await stream.events({ track: ["news"] });
    await empty();
    await stream.publish({ kind: "status", id: "1", userId: "a", login: "ann", text: "news", atMs: 0 });
    for await (const message of listening) {
      if (message.kind === "status") break;
    }
  });

  onStore("Locks, Semaphores: leases are renewed, and given back", async () => {
    const lock = (await new Locks(store).acquire("a", { renew: false }))!;
    const permit = (await new Semaphores(store, { limit: 2 }).acquire("a", { renew: false }))!;
    await fill();
    for (const lease of [lock, permit]) {
      expect(await lease.renew()).toBe(true);
      expect(await lease.release()).toBe(true);
    }
    await expect(new Locks(store).acquire("a")).rejects.toMatchObject(full);
  });

  onStore("Elections, Barriers: terms and arrivals are renewed, handed over and given back", async () => {
    const elections = new Elections(store);
    const brief = (await elections.campaign("brief", { leaseMs: 1500 }))!;
    // Nobody in its line gives a sign of life before the end of the test: that is refused.
    const term = (await elections.campaign("a", { id: "ann", leaseMs: 300_000 }))!;
    const next = elections.campaign("a", { id: "ben", leaseMs: 300_000 });
    next.catch(() => {});
    const barriers = new Barriers(store, { parties: 2, leaseMs: 1500 });
    const leaving = new AbortController();
    const waiting = barriers.arrive("b", { signal: leaving.signal });
    waiting.catch(() => {});
    await expect.poll(() => elections.inspect("a")).toMatchObject({ waiting: 1 });
    await expect.poll(async () => (await barriers.inspect("b")).arrived).toBe(1);
    await fill();
    // Renewed, more than once.
    for (let last = 0, renewals = 0; renewals < 3; ) {
      const now = (await elections.get("brief"))!.validForMs;
      if (now > last) renewals += 1;
      last = now;
    }
    expect(await brief.resign()).toBe(true);
    expect((await barriers.inspect("b")).arrived).toBe(1);
    await expect(barriers.arrive("b")).rejects.toMatchObject(full);
    await expect.poll(() => term.handOver("ben")).toEqual({ status: "handed-over" });
    expect(await (await next)!.resign()).toBe(true);
    leaving.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    expect((await barriers.inspect("b")).arrived).toBe(0);
  });

  onStore("DurableTopic: what is there is worked off, and publishing is refused", async () => {
    const topic = new DurableTopic<number>(store, "orders");
    await topic.createGroup("g");
    await topic.publishMany(Array.from({ length: 100 }, (_, n) => ({ data: n })));
    await fill();
    await expect(topic.publish(-1)).rejects.toMatchObject(full);
    const errors: unknown[] = [];
    const tries = new Map<number, number>();
    const subscriber = topic.subscriber(
      "g",
      { concurrency: 10, attempts: 2, backoffMs: 1, leaseMs: 300 },
      ({ data }) => {
        tries.set(data, (tries.get(data) ?? 0) + 1);
        if (data % 10 === 3 && tries.get(data) === 1) throw new Error("once");
        if (data % 50 === 20) throw new Error("always");
      },
    );
    subscriber.on("error", (error) => errors.push(error));
    subscriber.start();
    await expect.poll(() => topic.inspect("g")).toMatchObject({ lag: 0, pending: 0, dead: 2, acknowledged: 98 });
    await subscriber.stop();
    expect(errors).toEqual([]);
  });

  onStore("RateLimits: whenUnreachable decides", async () => {
    const rule = { limit: 1, windowMs: 60_000 };
    await fill();
    const allowing = new RateLimits(store, { name: "a", rules: rule, whenUnreachable: "allow" });
    const denying = new RateLimits(store, { name: "b", rules: rule, whenUnreachable: "deny" });
    expect((await allowing.take("ann")).allowed).toBe(true);
    expect((await denying.take("ann")).allowed).toBe(false);
  });
});
