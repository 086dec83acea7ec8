/** The test kit, used as a test uses it. */
import { Queue as BullQueue, Worker as BullWorker } from "bullmq";
import * as ioredis5 from "ioredis5";
import { Redis as Redis6 } from "ioredis6";
import { createClient as createClient6 } from "redis";
import { createClient as createClient5 } from "redis5";
import { afterEach, describe, expect, test, vi } from "vitest";
import { ConnectionError } from "../base/errors.ts";
import { Locks } from "../components/locks/index.ts";
import { Queue, Worker } from "../components/queues/index.ts";
import { flushInProcess, inProcess, RedisMemoryServer, TestClock, TestStore } from "./index.ts";

const Redis5 = ioredis5.Redis;
const open: TestStore[] = [];

afterEach(async () => {
  vi.useRealTimers();
  for (const store of open.splice(0).reverse()) await store.close();
});

async function opened(options: Parameters<typeof TestStore.open>[0] = {}): Promise<TestStore> {
  const store = await TestStore.open(options);
  open.push(store);
  return store;
}

async function forked(store: TestStore): Promise<TestStore> {
  const fork = await store.fork();
  open.push(fork);
  return fork;
}

describe("forks", () => {
  /** A key of each type, packed and wide. */
  const many = Array.from({ length: 600 }, (_, nth) => `m${nth}`);
  const commands: string[][] = [
    ["SET", "string", "a"],
    ["SETRANGE", "bytes", "3", "x"],
    ["RPUSH", "list", "a", "b"],
    ["RPUSH", "long-list", ...many],
    ["SADD", "set", "a"],
    ["SADD", "large-set", ...many],
    ["HSET", "hash", "f", "1"],
    ["HSET", "large-hash", ...many.flatMap((word) => [word, word])],
    ["ZADD", "zset", "1", "a"],
    ["ZADD", "large-zset", ...many.flatMap((word, nth) => [String(nth), word])],
    ["XADD", "stream", "1-1", "f", "v"],
    ["XGROUP", "CREATE", "stream", "group", "0"],
    ["SET", "mortal", "x", "PX", "5000"],
  ];
  const changes: string[][] = [
    ["APPEND", "string", "b"],
    ["SETRANGE", "bytes", "0", "yyy"],
    ["LSET", "list", "0", "z"],
    ["LPOP", "long-list"],
    ["SADD", "set", "b"],
    ["SREM", "large-set", "m1", "m2"],
    ["HSET", "hash", "f", "2"],
    ["HDEL", "large-hash", "m3"],
    ["ZINCRBY", "zset", "5", "a"],
    ["ZREM", "large-zset", "m4"],
    ["XADD", "stream", "2-1", "f", "w"],
    ["XREADGROUP", "GROUP", "group", "me", "STREAMS", "stream", ">"],
    ["PERSIST", "mortal"],
    ["RENAME", "hash", "renamed"],
    ["HSET", "renamed", "f", "3"],
    ["DEL", "large-hash"],
    ["MOVE", "set", "3"],
  ];
  const fill = async (db: TestStore["db"]) => {
    for (const words of commands) await db.call(...words);
  };
  const digestOf = async ({ engine }: TestStore): Promise<unknown> => {
    const client = engine.connect();
    const keys = ((await client.call("KEYS", "*")) as string[]).sort();
    const dumps = [];
    // RESTORE of what DUMP gives is the same value; the deadline is beside it.
    for (const key of keys) dumps.push([key, await client.call("DUMP", key), await client.call("PEXPIRETIME", key)]);
    client.close();
    return dumps;
  };
  const config = { "hash-max-listpack-entries": "64", "zset-max-listpack-entries": "64" };

  test("begin with what the store was filled with, and share no change of any type", async () => {
    const seeded = await opened({ fill, config });
    const before = await digestOf(seeded);
    const [one, two] = [await forked(seeded), await forked(seeded)];
    expect(await digestOf(one)).toEqual(before);
    for (const words of changes) await one.db.call(...words);
    const changed = await digestOf(one);
    expect(changed).not.toEqual(before);
    expect([await digestOf(two), await digestOf(seeded)]).toEqual([before, before]);
    // Nor does the other way round.
    for (const words of changes) await seeded.db.call(...words);
    expect([await digestOf(two), await digestOf(one)]).toEqual([before, changed]);
    await one.reset();
    expect(await digestOf(one)).toEqual(before);
    for (const words of changes) await one.db.call(...words);
    await one.close();
    expect(await digestOf(await forked(seeded))).toEqual(before);
  });

  test("use engines again, but not one whose settings or users were changed", async () => {
    const seeded = await opened({ fill: (db) => db.set("a", "1") });
    const first = await seeded.fork();
    await first.clock.advance(60_000);
    await first.close();
    const second = await seeded.fork();
    expect(second.engine).toBe(first.engine);
    expect(second.clock.now()).toBe(seeded.clock.now());
    await second.db.call("CONFIG", "SET", "maxmemory", "100mb");
    await second.close();
    const third = await forked(seeded);
    expect(third.engine).not.toBe(second.engine);
    expect(await third.db.get("a")).toBe("1");
  });

  test("end watches and blocked calls of what they replace as a change of the keys does", async () => {
    const store = await opened({ fill: (db) => db.rpush("list", "x") });
    const fork = await forked(store);
    await fork.db.del("list");
    const client = fork.engine.connect();
    await client.call("WATCH", "list");
    const popped = fork.db.blocking().blpop("list", 10);
    await fork.reset();
    expect(await popped).toEqual(["list", "x"]);
    await client.call("MULTI");
    expect(await client.call("EXEC")).toBeNull();
  });
});

describe("the clock", () => {
  test("moves expiry, leases, delays and blocked calls when it is advanced", async () => {
    const { db, clock } = await opened({ clock: new TestClock({ startAt: new Date("2030-01-01T00:00:00Z") }) });
    await db.set("mortal", "x", "PX", 60_000);
    const lease = await new Locks(db).acquire("door", { leaseMs: 10_000, renew: false });
    const queue = new Queue<number, number>(db, "jobs");
    const done: Date[] = [];
    const worker = new Worker(queue, async () => {
      done.push(new Date(clock.now()));
      return 1;
    });
    worker.start();
    await queue.add(1, { delayMs: 3_600_000 });
    const popped = db.blocking().blpop("nothing", 30);
    await clock.advance(9_000);
    expect([await db.get("mortal"), lease!.signal.aborted, done]).toEqual(["x", false, []]);
    await clock.advance(30_000);
    expect(await popped).toBeNull();
    expect(await new Locks(db).acquire("door", { waitMs: 0 })).not.toBeNull();
    await clock.advance(60_000);
    expect(await db.get("mortal")).toBeNull();
    await clock.advance(3_600_000);
    expect(done.map((at) => at.toISOString().slice(0, 16))).toEqual(["2030-01-01T01:00"]);
    await worker.stop();
  });

  test("runs the jobs of schedules, each at its time, when it is advanced", async () => {
    const { db, clock } = await opened({ clock: new TestClock({ startAt: new Date("2030-01-01T00:00:00Z") }) });
    const queue = new Queue<string, void>(db, "jobs");
    const ran: string[] = [];
    const worker = new Worker(queue, async ({ data }) => {
      ran.push(`${data} ${new Date(clock.now()).toISOString().slice(5, 16)}`);
    });
    worker.start();
    await queue.schedule("poll", { everyMs: 600_000 }, "poll");
    await queue.schedule("digest", { cron: "*/15 * * * *", timeZone: "UTC" }, "digest");
    await clock.advance(11 * 60_000);
    expect(ran.splice(0)).toEqual(["poll 01-01T00:10"]);
    await clock.advance(20 * 60_000);
    expect(ran.splice(0).sort()).toEqual([
      "digest 01-01T00:15",
      "digest 01-01T00:30",
      "poll 01-01T00:20",
      "poll 01-01T00:30",
    ]);
    await queue.unschedule("poll");
    await clock.advance(15 * 60_000);
    expect(ran).toEqual(["digest 01-01T00:45"]);
    await worker.stop();
  });

  test("follows the fake timers of vitest", async () => {
    vi.useFakeTimers({ now: new Date("2030-01-01T00:00:00Z") });
    const { db } = await opened({ clock: new TestClock({ follows: "timers" }) });
    await db.set("mortal", "x", "PX", 60_000);
    const queue = new Queue<number, number>(db, "jobs");
    const done: number[] = [];
    const worker = new Worker(queue, async ({ data }) => done.push(data));
    worker.start();
    await queue.add(7, { delayMs: 30_000 });
    await queue.schedule("quarterly", { cron: "*/15 * * * *", timeZone: "UTC" }, 8);
    await vi.advanceTimersByTimeAsync(29_000);
    expect([await db.get("mortal"), done]).toEqual(["x", []]);
    await vi.advanceTimersByTimeAsync(32_000);
    expect([await db.get("mortal"), done]).toEqual([null, [7]]);
    await vi.advanceTimersByTimeAsync(15 * 60_000);
    expect(done).toEqual([7, 8]);
    const stopped = worker.stop();
    await vi.advanceTimersByTimeAsync(10_000);
    await stopped;
  });

  test("refuses what cannot be meant", async () => {
    await expect(new TestClock().advance(-1)).rejects.toThrow("0 or more");
    await expect(new TestClock({ follows: "timers" }).advance(1)).rejects.toThrow("advance these");
  });
});

describe("clients of other libraries, with no socket", () => {
  test.each([
    ["5", Redis5],
    ["6", Redis6 as unknown as typeof Redis5],
  ] as const)("ioredis %s", async (_version, Redis) => {
    const store = await opened();
    const redis = new Redis(store.ioredis());
    const subscriber = redis.duplicate();
    const heard = new Promise((resolve) => subscriber.on("message", (_channel, message) => resolve(message)));
    await subscriber.subscribe("news");
    await redis.multi().set("a", "1").incr("a").exec();
    await redis.publish("news", "hello");
    expect([await heard, await store.db.get("a")]).toEqual(["hello", "2"]);
    await Promise.all([redis.quit(), subscriber.quit()]);
  });

  test.each([
    ["5", createClient5],
    ["6", createClient6],
  ] as const)("node-redis %s", async (_version, createClient) => {
    const store = await opened();
    const redis = (createClient as typeof createClient6)(store.nodeRedis());
    redis.on("error", () => {});
    await redis.connect();
    const subscriber = redis.duplicate();
    subscriber.on("error", () => {});
    await subscriber.connect();
    const heard = new Promise((resolve) => void subscriber.subscribe("news", resolve));
    await expect.poll(() => store.db.pubsubNumsub("news")).toEqual(["news", 1]);
    await redis.multi().set("a", "1").incr("a").exec();
    await redis.publish("news", "hello");
    expect([await heard, await store.db.get("a")]).toEqual(["hello", "2"]);
    const isOver = new Promise((resolve) => redis.once("reconnecting", resolve));
    store.faults.cut();
    await isOver;
    await expect.poll(() => redis.isReady).toBe(true);
    expect(await redis.get("a")).toBe("2");
    await Promise.all([redis.close(), subscriber.close()]);
  });

  test("BullMQ", async () => {
    const store = await opened({ clock: new TestClock({ follows: "timers" }) });
    const connection = { ...store.ioredis(), maxRetriesPerRequest: null };
    const queue = new BullQueue("mails", { connection });
    const worker = new BullWorker("mails", async ({ data }) => `sent to ${data.to}`, { connection });
    const done = new Promise((resolve) => worker.on("completed", (_job, result) => resolve(result)));
    await queue.add("mail", { to: "ann" });
    expect(await done).toBe("sent to ann");
    await worker.close();
    await queue.close();
  });

  test("in the place of ioredis-mock", async () => {
    const { Redis } = inProcess(ioredis5);
    const [one, same, other] = [
      new Redis(),
      new Redis(6379, "localhost"),
      new Redis({ port: 7000, lazyConnect: true }),
    ];
    expect(one).toBeInstanceOf(ioredis5.Redis);
    await one.set("a", "1");
    expect([await same.get("a"), await other.get("a")]).toEqual(["1", null]);
    await flushInProcess();
    expect(await one.get("a")).toBeNull();
    for (const redis of [one, same, other]) await redis.quit();
  });

  test("in the place of redis-memory-server", async () => {
    const server = new RedisMemoryServer({ instance: { args: ["--maxmemory", "50mb"] } });
    const redis = new Redis5(await server.getPort(), await server.getHost());
    expect(await redis.config("GET", "maxmemory")).toEqual(["maxmemory", String(50 << 20)]);
    await redis.quit();
    expect(await server.stop()).toBe(true);
    expect(server.getInstanceInfo()).toBe(false);
  });
});

describe("faults", () => {
  test("a cut: what is safe is sent again, and the rest may have run", async () => {
    const store = await opened({ clock: new TestClock({ follows: "timers" }) });
    const db = await store.connect();
    await db.set("a", "1");
    const [read, write] = [db.get("a"), db.incr("n").catch((error) => error)];
    // On its way: written at the end of this turn.
    await Promise.resolve();
    process.nextTick(() => store.faults.cut());
    expect(await read).toBe("1");
    expect([1, "maybe"]).toContain((await write) instanceof ConnectionError ? "maybe" : await write);
  });

  test("a store that is stopped refuses, and is there again when it is started", async () => {
    const store = await opened({ clock: new TestClock({ follows: "timers" }) });
    const db = await store.connect({ retryMs: 0, breaker: false });
    await db.set("a", "1");
    store.faults.stop();
    await expect(db.get("a")).rejects.toBeInstanceOf(ConnectionError);
    store.faults.start();
    await expect.poll(() => db.get("a").catch(() => null)).toBe("1");
  });

  test("a delay passes a deadline", async () => {
    const store = await opened({ clock: new TestClock({ follows: "timers" }) });
    const db = await store.connect();
    await db.set("a", "1");
    store.faults.delay(10_000);
    await expect(db.send(["GET", "a"], { timeoutMs: 20 })).rejects.toMatchObject({ code: "DEADLINE" });
  });

  test("a failover loses scripts, and what the new primary never had", async () => {
    const store = await opened({ clock: new TestClock({ follows: "timers" }) });
    const db = await store.connect();
    const locks = new Locks(db);
    await db.set("a", "old");
    const image = store.engine.image();
    await (await locks.acquire("door"))!.release();
    await db.set("a", "new");
    store.faults.failover({ image });
    expect(await db.get("a")).toBe("old");
    expect(await locks.acquire("door")).not.toBeNull();
  });

  test("out of memory refuses writes and answers reads", async () => {
    const { db, faults } = await opened({ fill: (each) => each.set("a", "1") });
    faults.outOfMemory();
    await expect(db.set("b", "1")).rejects.toMatchObject({ code: "OOM" });
    expect(await db.get("a")).toBe("1");
    faults.outOfMemory(false);
    await db.set("b", "1");
  });
});
