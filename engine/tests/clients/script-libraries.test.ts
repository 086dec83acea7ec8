/** Libraries that are Lua scripts inside, unchanged: redlock, redis-semaphore and rate-limiter-flexible. */
import { createRequire } from "node:module";
import { Redis as Redis5 } from "ioredis5";
import { Redis as Redis6 } from "ioredis6";
import {
  BurstyRateLimiter,
  type IRateLimiterRedisOptions,
  RateLimiterQueue,
  RateLimiterRedis,
  type RateLimiterRes,
  RateLimiterUnion,
} from "rate-limiter-flexible";
import { createClient } from "redis";
import {
  LostLockError,
  MultiSemaphore,
  Mutex,
  RedlockMutex,
  RedlockSemaphore,
  Semaphore,
  TimeoutError,
} from "redis-semaphore";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connectorFor, Engine } from "../../src/index.ts";

/** redlock has no types of its own. */
interface Lock {
  value: string;
  expiration: number;
  unlock(): Promise<void>;
  extend(ttlMs: number): Promise<Lock>;
}
interface RedlockOptions {
  retryCount?: number;
  retryDelay?: number;
  retryJitter?: number;
}
const Redlock = createRequire(import.meta.url)("redlock") as new (
  clients: Redis5[],
  options?: RedlockOptions,
) => { lock(resources: string | string[], ttlMs: number): Promise<Lock> };

let engines: Engine[];
let closers: (() => void)[];

beforeEach(() => {
  engines = [];
  closers = [];
});

afterEach(async () => {
  for (const close of closers) close();
  for (const engine of engines) await engine.close();
});

const WAYS = {
  "over TCP": async (engine: Engine) => ({ host: "127.0.0.1", port: (await engine.listen({ port: 0 })).port }),
  "without a socket": async (engine: Engine) => ({ Connector: connectorFor(engine) }),
};
/** The two versions have the same interface as far as it is used here. */
const VERSIONS = { "ioredis 5": Redis5, "ioredis 6": Redis6 as unknown as typeof Redis5 };

const CASES = Object.entries(VERSIONS).flatMap(([version, Redis]) =>
  Object.entries(WAYS).map(([way, options]) => ({ name: `${version} ${way}`, Redis, options })),
);

describe.each(CASES)("$name", ({ Redis, options }) => {
  /** A client of an engine of its own. */
  async function open(): Promise<Redis5> {
    const engine = await Engine.open();
    engines.push(engine);
    const client = new Redis((await options(engine)) as never);
    closers.push(() => client.disconnect());
    return client;
  }

  describe("redlock", () => {
    it("locks what nobody holds, and gives it back", async () => {
      const redis = await open();
      const redlock = new Redlock([redis], { retryCount: 0 });
      const lock = await redlock.lock("resource", 30_000);
      expect(await redis.get("resource")).toBe(lock.value);
      expect(await redis.pttl("resource")).toBeGreaterThan(20_000);
      await expect(redlock.lock("resource", 30_000)).rejects.toThrow(/Exceeded 0 attempts/);
      await lock.unlock();
      expect(await redis.exists("resource")).toBe(0);
      await (await redlock.lock("resource", 30_000)).unlock();
    });

    it("takes several resources together or none", async () => {
      const redis = await open();
      const redlock = new Redlock([redis], { retryCount: 0 });
      const lock = await redlock.lock(["a", "b"], 30_000);
      await expect(redlock.lock(["b", "c"], 30_000)).rejects.toThrow(/Exceeded 0 attempts/);
      expect(await redis.exists("c")).toBe(0);
      await lock.unlock();
      expect(await redis.dbsize()).toBe(0);
    });

    it("extends its own lock, and not one that it lost", async () => {
      const redis = await open();
      const redlock = new Redlock([redis], { retryCount: 0 });
      const lock = await (await redlock.lock("resource", 1000)).extend(60_000);
      expect(await redis.pttl("resource")).toBeGreaterThan(50_000);
      await redis.set("resource", "somebody else");
      await expect(lock.extend(1000)).rejects.toThrow(/Cannot extend|exceeded|expired|Unable/i);
      expect(await redis.get("resource")).toBe("somebody else");
    });

    it("waits until the holder's time is over", async () => {
      const redis = await open();
      const held = await new Redlock([redis]).lock("resource", 60);
      const waiting = new Redlock([redis], { retryCount: 1000, retryDelay: 5, retryJitter: 1 });
      const lock = await waiting.lock("resource", 30_000);
      expect(lock.value).not.toBe(held.value);
    });

    it("needs most of several servers", async () => {
      const clients = [await open(), await open(), await open()] as const;
      const redlock = new Redlock([...clients], { retryCount: 0 });
      await clients[0].set("resource", "held");
      const lock = await redlock.lock("resource", 30_000);
      expect(await clients[1].get("resource")).toBe(lock.value);
      await clients[1].set("resource", "held");
      await expect(redlock.lock("resource", 30_000)).rejects.toThrow(/Exceeded 0 attempts/);
    });
  });

  describe("redis-semaphore", () => {
    const quick = { acquireTimeout: 50, retryInterval: 5, lockTimeout: 30_000, refreshInterval: 0 };

    it("lets one into a mutex at a time", async () => {
      const redis = await open();
      const [first, second] = [new Mutex(redis, "m", quick), new Mutex(redis, "m", quick)];
      await first.acquire();
      await expect(second.acquire()).rejects.toThrow(TimeoutError);
      expect(await redis.get("mutex:m")).toBe(first.identifier);
      await second.release();
      expect(await redis.exists("mutex:m")).toBe(1);
      await first.release();
      await second.acquire();
      await second.release();
      expect(await redis.exists("mutex:m")).toBe(0);
    });

    it("keeps a mutex alive while it is held, and says so when it is lost", async () => {
      const redis = await open();
      let lost: (error: Error) => void = () => {};
      const loss = new Promise<Error>((resolve) => {
        lost = resolve;
      });
      const mutex = new Mutex(redis, "m", {
        lockTimeout: 30_000,
        refreshInterval: 10,
        onLockLost: (error) => lost(error),
      });
      await mutex.acquire();
      await redis.pexpire("mutex:m", 20_000);
      while ((await redis.pttl("mutex:m")) <= 20_000);
      await redis.set("mutex:m", "somebody else");
      expect(await loss).toBeInstanceOf(LostLockError);
    });

    it("keeps sections apart under contention", async () => {
      const redis = await open();
      let inside = 0;
      let most = 0;
      const work = async () => {
        const mutex = new Mutex(redis, "m", { retryInterval: 1, acquireTimeout: 20_000 });
        await mutex.acquire();
        most = Math.max(most, ++inside);
        await redis.incr("done");
        inside--;
        await mutex.release();
      };
      await Promise.all(Array.from({ length: 10 }, work));
      expect([most, await redis.get("done")]).toEqual([1, "10"]);
    });

    it("lets so many into a semaphore, and so many of each in one with weights", async () => {
      const redis = await open();
      const three = Array.from({ length: 3 }, () => new Semaphore(redis, "s", 2, quick));
      await three[0]!.acquire();
      await three[1]!.acquire();
      await expect(three[2]!.acquire()).rejects.toThrow(TimeoutError);
      expect(await redis.zcard("semaphore:s")).toBe(2);
      await three[0]!.release();
      await three[2]!.acquire();

      const heavy = new MultiSemaphore(redis, "w", 3, 2, quick);
      const light = new MultiSemaphore(redis, "w", 3, 1, quick);
      const another = new MultiSemaphore(redis, "w", 3, 1, quick);
      await heavy.acquire();
      await light.acquire();
      await expect(another.acquire()).rejects.toThrow(TimeoutError);
      await heavy.release();
      await another.acquire();
      expect(await redis.zcard("semaphore:w")).toBe(2);
    });

    it("goes by most of several servers", async () => {
      const clients = [await open(), await open(), await open()];
      const first = new RedlockMutex(clients, "m", quick);
      await first.acquire();
      await expect(new RedlockMutex(clients, "m", quick).acquire()).rejects.toThrow(TimeoutError);
      await first.release();
      const semaphores = [1, 2, 3].map(() => new RedlockSemaphore(clients, "s", 2, quick));
      await semaphores[0]!.acquire();
      await semaphores[1]!.acquire();
      await expect(semaphores[2]!.acquire()).rejects.toThrow(TimeoutError);
    });
  });

  describe("rate-limiter-flexible", () => {
    const limiter = async (more: Partial<IRateLimiterRedisOptions> = {}) => {
      const storeClient = await open();
      const made = new RateLimiterRedis({ storeClient, points: 3, duration: 60, ...more } as IRateLimiterRedisOptions);
      return { made, storeClient };
    };

    it("counts points until there are none left", async () => {
      const { made, storeClient } = await limiter();
      expect(await made.get("u")).toBeNull();
      const first = await made.consume("u");
      expect([first.consumedPoints, first.remainingPoints, first.isFirstInDuration]).toEqual([1, 2, true]);
      expect((await made.consume("u", 2)).remainingPoints).toBe(0);
      const refusal = (await made.consume("u").catch((reason) => reason)) as RateLimiterRes;
      expect([refusal.consumedPoints, refusal.remainingPoints]).toEqual([4, 0]);
      expect(refusal.msBeforeNext).toBeGreaterThan(50_000);
      expect((await made.get("u"))?.consumedPoints).toBe(4);
      expect(await storeClient.ttl("rlflx:u")).toBeGreaterThan(50);
      expect((await made.reward("u", 2)).consumedPoints).toBe(2);
      expect((await made.penalty("u", 1)).consumedPoints).toBe(3);
      expect(await made.delete("u")).toBe(true);
      expect((await made.consume("u")).consumedPoints).toBe(1);
    });

    it("blocks, sets and never expires where it is told to", async () => {
      const { made, storeClient } = await limiter({ blockDuration: 600 });
      for (let i = 0; i < 3; i++) await made.consume("u");
      await expect(made.consume("u")).rejects.toMatchObject({ consumedPoints: 4 });
      expect(await storeClient.ttl("rlflx:u")).toBeGreaterThan(500);
      await made.set("v", 2, 30);
      expect((await made.get("v"))?.consumedPoints).toBe(2);
      await made.block("w", 100);
      await expect(made.consume("w")).rejects.toMatchObject({ remainingPoints: 0 });
      const { made: endless, storeClient: other } = await limiter({ duration: 0 });
      await endless.consume("u");
      expect(await other.ttl("rlflx:u")).toBe(-1);
    });

    it("counts right when many ask at once", async () => {
      const { made } = await limiter({ points: 50 });
      const answers = await Promise.allSettled(Array.from({ length: 80 }, () => made.consume("u")));
      expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(50);
    });

    it("joins limits, allows bursts and queues", async () => {
      const { made: perMinute, storeClient } = await limiter({ keyPrefix: "minute" });
      const perHour = new RateLimiterRedis({ storeClient, points: 2, duration: 3600, keyPrefix: "hour" });
      const union = new RateLimiterUnion(perMinute, perHour);
      await union.consume("u");
      await union.consume("u");
      await expect(union.consume("u")).rejects.toHaveProperty("hour");
      const burst = new RateLimiterRedis({ storeClient, points: 1, duration: 60, keyPrefix: "burst" });
      const bursty = new BurstyRateLimiter(perHour, burst);
      await bursty.consume("v", 2);
      await bursty.consume("v", 1);
      await expect(bursty.consume("v", 1)).rejects.toBeTruthy();
      const queue = new RateLimiterQueue(new RateLimiterRedis({ storeClient, points: 2, duration: 1, keyPrefix: "q" }));
      expect(await queue.removeTokens(1)).toBe(1);
      expect(await queue.removeTokens(1)).toBe(0);
    });
  });
});

it("rate-limiter-flexible works on node-redis, too", async () => {
  const engine = await Engine.open();
  engines.push(engine);
  const { port } = await engine.listen({ port: 0 });
  const client = createClient({ url: `redis://127.0.0.1:${port}` });
  closers.push(() => client.destroy());
  await client.connect();
  const limiter = new RateLimiterRedis({ storeClient: client, useRedisPackage: true, points: 1, duration: 60 });
  expect((await limiter.consume("u")).remainingPoints).toBe(0);
  await expect(limiter.consume("u")).rejects.toMatchObject({ consumedPoints: 2 });
});
