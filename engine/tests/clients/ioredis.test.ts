/** Unchanged ioredis, versions 5 and 6, over TCP and without a socket: what programs do with it. */
import { Redis as Redis5 } from "ioredis5";
import { Redis as Redis6 } from "ioredis6";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connectorFor, Engine } from "../../src/index.ts";

type Options = Record<string, unknown>;

let engine: Engine;
let port: number;
const clients: Redis5[] = [];

beforeEach(async () => {
  engine = await Engine.open();
  ({ port } = await engine.listen({ port: 0 }));
});

afterEach(async () => {
  for (const client of clients.splice(0)) client.disconnect();
  await engine.close();
});

/** The two versions have the same interface as far as it is used here. */
const VERSIONS = { "ioredis 5": Redis5, "ioredis 6": Redis6 as unknown as typeof Redis5 };
const WAYS = {
  "over TCP": () => ({ port, host: "127.0.0.1" }),
  "without a socket": () => ({ Connector: connectorFor(engine) }),
};

const CASES = Object.entries(VERSIONS).flatMap(([version, Redis]) =>
  Object.entries(WAYS).map(([way, options]) => ({ name: `${version} ${way}`, Redis, options })),
);

const event = (client: Redis5, name: string) => new Promise<void>((resolve) => client.once(name, () => resolve()));

describe.each(CASES)("$name", ({ Redis, options }) => {
  function open(more: Options = {}): Redis5 {
    const client = new Redis({ ...options(), ...more } as never);
    client.on("error", () => {});
    clients.push(client);
    return client;
  }

  it("connects, with a name and a database, and says what it is", async () => {
    const redis = open({ connectionName: "tester", db: 4 });
    await event(redis, "ready");
    const list = String(await redis.client("LIST"));
    expect(list).toMatch(/ name=tester .* db=4 /);
    await redis.set("k", "v");
    expect(engine.core.databases[4]!.size).toBe(1);
    const ended = event(redis, "end");
    expect(await redis.quit()).toBe("OK");
    await ended;
    expect(engine.core.clients.size).toBe(0);
  });

  it("answers QUIT before the connection closes", async () => {
    const redis = open();
    const seen: string[] = [];
    for (const name of ["close", "end"]) redis.on(name, () => seen.push(name));
    const ended = event(redis, "end");
    redis.set("k", "v").then(() => seen.push("set"));
    await redis.quit().then(() => seen.push("quit"));
    await ended;
    expect(seen).toEqual(["set", "quit", "close", "end"]);
  });

  it("reads and writes text, bytes and numbers", async () => {
    const redis = open();
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
    await redis.set("bytes", bytes);
    expect(await redis.getBuffer("bytes")).toEqual(bytes);
    await redis.set("text", "naïve 👋");
    expect(await redis.get("text")).toBe("naïve 👋");
    expect(await redis.incrby("n", 5)).toBe(5);
    expect(await redis.hset("h", { a: 1, b: "zwei" })).toBe(2);
    expect(await redis.hgetall("h")).toEqual({ a: "1", b: "zwei" });
    expect(await redis.mget("text", "none")).toEqual(["naïve 👋", null]);
    await redis.zadd("z", 1.5, "a", 2, "b");
    expect(await redis.zrange("z", 0, -1)).toEqual(["a", "b"]);
    expect(Number(await redis.zscore("z", "a"))).toBe(1.5);
    expect((await redis.smembers("none")).length).toBe(0);
    await expect(redis.lpush("text", "x")).rejects.toThrow("WRONGTYPE");
    expect(await redis.call("STRLEN", "bytes")).toBe(256);
    const big = "x".repeat(5_000_000);
    await redis.set("big", big);
    expect((await redis.get("big")) === big).toBe(true);
  });

  it("pipelines, by hand and by itself", async () => {
    const redis = open();
    const pipeline = redis.pipeline();
    for (let i = 0; i < 1000; i++) pipeline.rpush("l", i);
    pipeline.get("l");
    const replies = (await pipeline.exec())!;
    expect(replies[999]).toEqual([null, 1000]);
    expect(replies[1000]![0]).toBeInstanceOf(Error);
    const auto = open({ enableAutoPipelining: true });
    const lengths = await Promise.all(Array.from({ length: 100 }, () => auto.llen("l")));
    expect(new Set(lengths)).toEqual(new Set([1000]));
  });

  it("runs transactions, and sees that a watched key has changed", async () => {
    const [redis, other] = [open(), open()];
    expect(await redis.multi().set("k", 1).incr("k").exec()).toEqual([
      [null, "OK"],
      [null, 2],
    ]);
    await redis.watch("k");
    await other.set("k", 10);
    expect(await redis.multi().incr("k").exec()).toBeNull();
    await expect(redis.multi().set("k", 1).call("NO").exec()).rejects.toThrow("EXECABORT");
  });

  it("publishes and subscribes", async () => {
    const [subscriber, publisher] = [open(), open()];
    const heard: string[] = [];
    subscriber.on("message", (channel, message) => heard.push(`${channel} ${message}`));
    subscriber.on("pmessage", (pattern, channel, message) => heard.push(`${pattern} ${channel} ${message}`));
    expect(await subscriber.subscribe("a", "b")).toBe(2);
    expect(await subscriber.psubscribe("n*")).toBe(3);
    expect(await publisher.publish("a", "eins")).toBe(1);
    expect(await publisher.publish("news", "zwei ü")).toBe(1);
    await subscriber.unsubscribe("a");
    expect(await publisher.publish("a", "drei")).toBe(0);
    expect(heard).toEqual(["a eins", "n* news zwei ü"]);
    await subscriber.unsubscribe("b");
    await subscriber.punsubscribe("n*");
    expect(await subscriber.set("k", "v")).toBe("OK");
  });

  it("waits for lists, sorted sets and streams", async () => {
    const [waiting, other] = [open(), open()];
    const popped = waiting.blpop("l", 0);
    const behind = waiting.get("k");
    await other.set("k", "v");
    await other.rpush("l", "x");
    expect(await popped).toEqual(["l", "x"]);
    expect(await behind).toBe("v");
    expect(await waiting.brpop("l", 0.01)).toBeNull();
    const least = waiting.bzpopmin("z", 5);
    await other.zadd("z", 1, "m");
    expect((await least)?.slice(0, 2)).toEqual(["z", "m"]);
    const read = waiting.xread("BLOCK", 5000, "STREAMS", "s", "0");
    await other.xadd("s", "1-1", "f", "v");
    expect(JSON.stringify(await read)).toContain('["1-1",["f","v"]]');
  });

  it("reads streams in groups", async () => {
    const redis = open();
    await redis.xgroup("CREATE", "s", "g", "0", "MKSTREAM");
    await redis.xadd("s", "1-1", "f", "v");
    const read = await redis.xreadgroup("GROUP", "g", "c", "COUNT", 10, "STREAMS", "s", ">");
    expect(JSON.stringify(read)).toContain('["1-1",["f","v"]]');
    expect(await redis.xack("s", "g", "1-1")).toBe(1);
    expect(await redis.xlen("s")).toBe(1);
  });

  it("scans as a stream", async () => {
    const redis = open();
    const pipeline = redis.pipeline();
    for (let i = 0; i < 2000; i++) pipeline.set(`key:${i}`, i);
    await pipeline.set("other", 1).exec();
    const found = new Set<string>();
    for await (const keys of redis.scanStream({ match: "key:*", count: 100 })) for (const key of keys) found.add(key);
    expect(found.size).toBe(2000);
    await redis.hset("h", { a: 1, b: 2 });
    const fields: string[] = [];
    for await (const part of redis.hscanStream("h")) fields.push(...part);
    expect(fields).toEqual(["a", "1", "b", "2"]);
  });

  it("puts a prefix before keys", async () => {
    const redis = open({ keyPrefix: "app:" });
    await redis.mset("a", 1, "b", 2);
    await redis.sadd("s", "x");
    await redis.sunionstore("t", "s", "none");
    expect(await redis.mget("a", "b")).toEqual(["1", "2"]);
    const keys = (await engine.connect().call("KEYS", "*")) as string[];
    expect(keys.sort()).toEqual(["app:a", "app:b", "app:s", "app:t"]);
  });

  it("signs in with a password, and is refused without", async () => {
    await engine.connect().call("CONFIG", "SET", "requirepass", "secret ü");
    expect(await open({ password: "secret ü" }).set("k", "v")).toBe("OK");
    expect(await open({ username: "default", password: "secret ü" }).get("k")).toBe("v");
    await expect(open({ maxRetriesPerRequest: 0, retryStrategy: null }).get("k")).rejects.toThrow();
  });

  it("comes back after CLIENT KILL, with its subscriptions and its database", async () => {
    const redis = open({ db: 2, retryStrategy: () => 1 });
    const subscriber = open({ retryStrategy: () => 1 });
    await redis.set("k", "v");
    await subscriber.subscribe("c");
    const heard = new Promise((resolve) => subscriber.once("message", (_channel, message) => resolve(message)));
    const again = [event(redis, "ready"), event(subscriber, "ready")];
    const killer = engine.connect();
    expect(await killer.call("CLIENT", "KILL", "TYPE", "normal")).toBe(1);
    expect(await killer.call("CLIENT", "KILL", "TYPE", "pubsub")).toBe(1);
    await Promise.all(again);
    expect(await redis.get("k")).toBe("v");
    while ((await killer.call("PUBLISH", "c", "still here")) === 0) await new Promise(setImmediate);
    expect(await heard).toBe("still here");
  });

  it("makes duplicates of its own", async () => {
    const redis = open({ keyPrefix: "p:" });
    const copy = redis.duplicate();
    clients.push(copy);
    await copy.set("k", "v");
    expect(await redis.get("k")).toBe("v");
    expect(engine.core.clients.size).toBe(2);
  });

  it("monitors", async () => {
    const redis = open();
    await event(redis, "ready");
    const monitor = await redis.monitor();
    clients.push(monitor);
    const seen = new Promise((resolve) => monitor.once("monitor", (_time, args: string[]) => resolve(args)));
    await redis.set("k", "v w");
    expect(await seen).toEqual(["set", "k", "v w"]);
  });

  it("gets a thousand commands answered on each of twenty connections at once", async () => {
    const many = Array.from({ length: 20 }, () => open());
    await Promise.all(many.map((redis) => Promise.all(Array.from({ length: 1000 }, () => redis.incr("n")))));
    expect(await many[0]!.get("n")).toBe("20000");
  });
});
