/** Stores for express-rate-limit, @fastify/rate-limit, Keyv, cache-manager and unstorage, under the real libraries. */
import fastifyRateLimit from "@fastify/rate-limit";
import express from "express";
import { rateLimit } from "express-rate-limit";
import Fastify from "fastify";
import { Keyv } from "keyv";
import { createStorage, prefixStorage } from "unstorage";
import { afterEach, describe, expect, test } from "vitest";
import { cinnabarCache } from "../../src/integrations/cache-manager/index.ts";
import { RateLimitStore } from "../../src/integrations/express-rate-limit/index.ts";
import { rateLimitStore } from "../../src/integrations/fastify-rate-limit/index.ts";
import { createKeyv, KeyvStore } from "../../src/integrations/keyv/index.ts";
import { cinnabarDriver } from "../../src/integrations/unstorage/index.ts";
import { describeBackends } from "../kit/index.ts";
import { addressOf, ended } from "./browser.ts";

const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const HOUR = 3_600_000;

describeBackends("stores", { backends: ["embedded", "redis", "cluster"] }, (backend) => {
  describe("for express-rate-limit", () => {
    async function start(store: RateLimitStore): Promise<(key: string, fail?: boolean) => Promise<Response>> {
      const app = express();
      const keyGenerator = (request: express.Request): string => String(request.headers["x-key"]);
      app.use(
        rateLimit({
          windowMs: HOUR,
          limit: 2,
          store,
          keyGenerator,
          skipFailedRequests: true,
          standardHeaders: "draft-6",
        }),
      );
      app.get("/", (request, response) => {
        response.status(request.query.fail ? 500 : 200).send("ok");
      });
      const server = app.listen(0, "127.0.0.1");
      closing.push(() => ended(server));
      const url = await addressOf(server);
      return (key, fail) =>
        fetch(`${url}/${fail ? "?fail=1" : ""}`, { headers: { "x-key": key, connection: "close" } });
    }

    test("counts for all processes, takes hits back, and resets", async () => {
      const [first, second] = [new RateLimitStore(backend.store), new RateLimitStore(await backend.open())];
      const [askFirst, askSecond] = [await start(first), await start(second)];
      expect((await askFirst("ann")).status).toBe(200);
      const last = await askSecond("ann");
      expect([last.status, last.headers.get("ratelimit-remaining")]).toEqual([200, "0"]);
      const refused = await askFirst("ann");
      expect(refused.status).toBe(429);
      expect(Number(refused.headers.get("ratelimit-reset"))).toBeGreaterThan(3_000);
      // One that was skipped does not count: it is taken back after it has been answered, so the next must wait for that.
      for (let at = 0; at < 3; at++) {
        expect((await askFirst("ben", true)).status).toBe(500);
        await expect.poll(() => first.get("ben")).toBeUndefined();
      }
      expect((await askFirst("ben")).status).toBe(200);
      await first.resetKey("ann");
      expect((await askFirst("ann")).status).toBe(200);
      await second.resetAll();
      expect(await first.get("ann")).toBeUndefined();
      await first.decrement("nobody");
      expect(await first.get("nobody")).toBeUndefined();
    });

    test("no counter stays without an end", async () => {
      const store = new RateLimitStore(backend.store, { prefix: "own" });
      store.init({ windowMs: 50_000 });
      const { totalHits, resetTime } = await store.increment("ann");
      expect(totalHits).toBe(1);
      expect(resetTime!.getTime()).toBeLessThanOrEqual(backend.store.clock.wallMs() + 50_000);
      expect(resetTime!.getTime()).toBeGreaterThan(backend.store.clock.wallMs() + 10_000);
    });
  });

  describe("for @fastify/rate-limit", () => {
    async function start(options: object = {}) {
      const app = Fastify();
      closing.push(() => app.close());
      const keyGenerator = (request: { headers: Record<string, unknown> }): string => String(request.headers["x-key"]);
      await app.register(fastifyRateLimit, {
        max: 2,
        timeWindow: HOUR,
        keyGenerator: keyGenerator as never,
        store: rateLimitStore(backend.store),
        ...options,
      });
      app.get("/", () => "ok");
      app.get("/own", { config: { rateLimit: { max: 1, timeWindow: HOUR } } }, () => "ok");
      return async (key: string, url = "/") => app.inject({ url, headers: { "x-key": key } });
    }

    test("counts for all processes, and routes with limits of their own apart", async () => {
      const [first, second] = [await start(), await start()];
      expect((await first("ann")).statusCode).toBe(200);
      expect((await second("ann")).headers["x-ratelimit-remaining"]).toBe("0");
      const refused = await first("ann");
      expect(refused.statusCode).toBe(429);
      expect(Number(refused.headers["retry-after"])).toBeGreaterThan(3_000);
      expect((await first("ben")).statusCode).toBe(200);
      expect((await first("ann", "/own")).statusCode).toBe(200);
      expect((await second("ann", "/own")).statusCode).toBe(429);
    });

    test("backs off and begins windows anew where the plugin is told so", async () => {
      const ask = await start({ max: 1, timeWindow: 60_000, exponentialBackoff: true });
      await ask("ann");
      const waits: number[] = [];
      for (let at = 0; at < 4; at++) waits.push(Number((await ask("ann")).headers["retry-after"]));
      expect(waits[3]! / waits[0]!).toBeGreaterThan(4);
      const anew = await start({ max: 1, timeWindow: 60_000, continueExceeding: true });
      await anew("ben");
      expect(Number((await anew("ben")).headers["retry-after"])).toBe(60);
    });
  });

  describe("for Keyv", () => {
    test("keeps, lists and clears the values of a namespace", async () => {
      const users = createKeyv<{ name: string }>(backend.store, { namespace: "users" });
      const other = new Keyv({ store: new KeyvStore(backend.store), namespace: "users2" });
      await users.set("17", { name: "Ann" }, 60_000);
      await users.setMany([
        { key: "18", value: { name: "Ben" } },
        { key: "19", value: { name: "Cid" }, ttl: 60_000 },
      ]);
      await other.set("17", 1);
      expect(await users.get("17")).toEqual({ name: "Ann" });
      expect(await users.getMany(["18", "none", "19"])).toEqual([{ name: "Ben" }, undefined, { name: "Cid" }]);
      expect([await users.has("17"), await users.has("none")]).toEqual([true, false]);
      const seen: unknown[] = [];
      for await (const [key, value] of users.iterator!({})) seen.push([key, value]);
      expect(seen.sort()).toEqual([
        ["17", { name: "Ann" }],
        ["18", { name: "Ben" }],
        ["19", { name: "Cid" }],
      ]);
      expect(await users.delete("18")).toBe(true);
      expect(await users.delete("18")).toBe(false);
      await users.clear();
      expect(await users.get("17")).toBeUndefined();
      expect(await other.get("17")).toBe(1);
    });

    test("values end with their time, by the server's clock too", async () => {
      const keyv = createKeyv(backend.store, { ttl: 30 });
      await keyv.set("a", 1);
      await expect.poll(() => new KeyvStore(backend.store).has("a")).toBe(false);
      await keyv.set("stays", 1, 0);
      expect(await keyv.get("stays")).toBe(1);
    });
  });

  test("for cache-manager, wraps, keeps and deletes", async () => {
    const cache = cinnabarCache(backend.store, { ttl: 60_000 });
    let loads = 0;
    const load = () => cache.wrap("product", async () => ({ id: 17, loads: ++loads }));
    expect(await load()).toEqual({ id: 17, loads: 1 });
    expect(await load()).toEqual({ id: 17, loads: 1 });
    await cache.mset([
      { key: "a", value: 1 },
      { key: "b", value: 2 },
    ]);
    expect(await cache.mget(["a", "b", "c"])).toEqual([1, 2, undefined]);
    await cache.del("product");
    expect(await load()).toEqual({ id: 17, loads: 2 });
    await cache.clear();
    expect(await cache.get("a")).toBeUndefined();
  });

  describe("for unstorage", () => {
    test("keeps items, bytes and lifetimes, and lists and clears below a base", async () => {
      const storage = createStorage({ driver: cinnabarDriver({ store: backend.store, base: "app" }) });
      await storage.setItem("users:17", { name: "Ann" });
      await storage.setItem("users:18", "text", { ttl: 60 });
      await storage.setItem("other", 5);
      await storage.setItemRaw("bytes", Buffer.from([0, 255, 10]));
      expect(await storage.getItem("users:17")).toEqual({ name: "Ann" });
      expect(await storage.getItem("none")).toBeNull();
      expect(Buffer.from((await storage.getItemRaw("bytes")) as Uint8Array)).toEqual(Buffer.from([0, 255, 10]));
      expect(await storage.getItems(["users:18", "other"])).toEqual([
        { key: "users:18", value: "text" },
        { key: "other", value: 5 },
      ]);
      expect((await storage.getMeta("users:18")).ttl).toBeGreaterThan(30);
      expect((await storage.getKeys()).sort()).toEqual(["bytes", "other", "users:17", "users:18"]);
      expect((await prefixStorage(storage, "users").getKeys()).sort()).toEqual(["17", "18"]);
      expect([await storage.hasItem("other"), await storage.hasItem("none")]).toEqual([true, false]);
      await storage.removeItem("other");
      const other = createStorage({ driver: cinnabarDriver({ store: backend.store, base: "app2" }) });
      await other.setItem("a", 1);
      await storage.clear();
      expect(await storage.getKeys()).toEqual([]);
      expect(await other.getKeys()).toEqual(["a"]);
      await storage.dispose();
      expect(backend.store.closed).toBe(false);
    });

    test("opens a store by its URL, and closes that one", async () => {
      const driver = cinnabarDriver({ store: "memory:" });
      const storage = createStorage({ driver });
      await storage.setItem("a", 1);
      const store = await driver.getInstance!();
      await storage.dispose();
      expect(store.closed).toBe(true);
    });
  });
});
