/** Unchanged node-redis over TCP and a unix socket, with RESP2 and RESP3. */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient, RESP_TYPES, WatchError } from "redis";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Engine } from "../../src/index.ts";

let engine: Engine;
let port: number;
const path = join(tmpdir(), `cinnabar-node-redis-${process.pid}.sock`);

type Client = ReturnType<typeof createClient>;
const clients: { destroy(): void; isOpen: boolean }[] = [];

beforeEach(async () => {
  engine = await Engine.open();
  ({ port } = await engine.listen({ port: 0 }));
  await engine.listen({ path });
});

afterEach(async () => {
  for (const client of clients.splice(0)) if (client.isOpen) client.destroy();
  await engine.close();
});

const CASES = [
  { name: "RESP3 over TCP", RESP: 3 as const, socket: () => ({ port, host: "127.0.0.1" }) },
  { name: "RESP2 over TCP", RESP: 2 as const, socket: () => ({ port, host: "127.0.0.1" }) },
  { name: "RESP3 over a unix socket", RESP: 3 as const, socket: () => ({ path, tls: false }) },
];

describe.each(CASES)("node-redis, $name", ({ RESP, socket }) => {
  async function open(options: Record<string, unknown> = {}): Promise<Client> {
    const client = createClient({ RESP, socket: socket(), ...options } as never) as unknown as Client;
    client.on("error", () => {});
    clients.push(client);
    await client.connect();
    return client;
  }

  it("connects, with a name and a database", async () => {
    const client = await open({ name: "tester", database: 3 });
    expect(await client.ping()).toBe("PONG");
    expect(await client.clientGetName()).toBe("tester");
    await client.set("k", "v");
    expect(engine.core.databases[3]!.size).toBe(1);
    await client.close();
    while (engine.core.clients.size > 0) await new Promise(setImmediate);
  });

  it("reads and writes text, bytes and numbers", async () => {
    const client = await open();
    await client.set("text", "naïve 👋");
    expect(await client.get("text")).toBe("naïve 👋");
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
    await client.set("bytes", bytes);
    const raw = client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
    expect(await raw.get("bytes")).toEqual(bytes);
    expect(await client.incrBy("n", 7)).toBe(7);
    await client.hSet("h", { a: "1", b: "2" });
    expect({ ...(await client.hGetAll("h")) }).toEqual({ a: "1", b: "2" });
    await client.zAdd("z", [
      { score: 1.5, value: "a" },
      { score: Number.POSITIVE_INFINITY, value: "b" },
    ]);
    expect(await client.zRangeWithScores("z", 0, -1)).toEqual([
      { value: "a", score: 1.5 },
      { value: "b", score: Number.POSITIVE_INFINITY },
    ]);
    expect(await client.sMembers("none")).toEqual([]);
    await expect(client.lPush("text", "x")).rejects.toThrow("WRONGTYPE");
    expect(await client.geoAdd("g", { longitude: 13.361389, latitude: 38.115556, member: "Palermo" })).toBe(1);
  });

  it("pipelines and runs transactions", async () => {
    const client = await open();
    const counts = await Promise.all(Array.from({ length: 1000 }, () => client.incr("n")));
    expect(counts.at(-1)).toBe(1000);
    expect(await client.multi().set("k", "v").get("k").exec()).toEqual(["OK", "v"]);
    const other = await open();
    await client.watch("k");
    await other.set("k", "w");
    await expect(client.multi().set("k", "x").exec()).rejects.toThrow(WatchError);
    expect(await client.get("k")).toBe("w");
  });

  it("publishes and subscribes", async () => {
    const [subscriber, publisher] = [await open(), await open()];
    const heard: string[] = [];
    await subscriber.subscribe("a", (message, channel) => heard.push(`${channel} ${message}`));
    await subscriber.pSubscribe("n*", (message, channel) => heard.push(`${channel} ${message}`));
    await subscriber.sSubscribe("shard", (message, channel) => heard.push(`${channel} ${message}`));
    expect(await publisher.publish("a", "eins")).toBe(1);
    expect(await publisher.publish("news", "zwei ü")).toBe(1);
    expect(await publisher.sPublish("shard", "drei")).toBe(1);
    await subscriber.unsubscribe("a");
    expect(await publisher.publish("a", "vier")).toBe(0);
    await subscriber.pUnsubscribe();
    expect(heard).toEqual(["a eins", "news zwei ü", "shard drei"]);
  });

  it("waits for lists and streams", async () => {
    const [waiting, other] = [await open(), await open()];
    const popped = waiting.blPop("l", 0);
    await other.rPush("l", "x");
    expect(await popped).toEqual({ key: "l", element: "x" });
    expect(await waiting.blPop("l", 0.01)).toBeNull();
    const read = waiting.xRead({ key: "s", id: "0" }, { BLOCK: 5000 });
    await other.xAdd("s", "1-1", { f: "v" });
    expect(JSON.stringify(await read)).toContain('"id":"1-1","message":{"f":"v"}');
  });

  it("scans with an iterator", async () => {
    const client = await open();
    await Promise.all(Array.from({ length: 1000 }, (_, i) => client.set(`key:${i}`, "v")));
    const found = new Set<string>();
    for await (const keys of client.scanIterator({ MATCH: "key:*", COUNT: 100 }))
      for (const key of keys) found.add(key);
    expect(found.size).toBe(1000);
  });

  it("signs in with a password, and is refused without", async () => {
    await engine.connect().call("CONFIG", "SET", "requirepass", "secret");
    expect(await (await open({ password: "secret" })).set("k", "v")).toBe("OK");
    const refused = async () => (await open({ socket: { ...socket(), reconnectStrategy: false } })).get("k");
    await expect(refused()).rejects.toThrow(/NOAUTH/);
  });

  it("comes back after CLIENT KILL, with its subscriptions", async () => {
    const client = await open({ database: 2, socket: { ...socket(), reconnectStrategy: () => 1 } });
    const heard = new Promise((resolve) => void client.subscribe("c", resolve));
    await client.set("k", "v").catch(() => {});
    const killer = engine.connect();
    const again = new Promise((resolve) => client.once("ready", resolve));
    await killer.call("CLIENT", "KILL", "SKIPME", "yes");
    await again;
    while ((await killer.call("PUBLISH", "c", "still here")) === 0) await new Promise(setImmediate);
    expect(await heard).toBe("still here");
  });
});

describe("node-redis, RESP3", () => {
  it("keeps replies in a cache beside the client until the store says that they changed", async () => {
    const client = createClient({
      RESP: 3,
      socket: { port, host: "127.0.0.1" },
      clientSideCache: { ttl: 0, maxEntries: 100, evictPolicy: "LRU" },
    });
    clients.push(client);
    await client.connect();
    const other = engine.connect();
    await other.call("SET", "k", "1");
    expect([await client.get("k"), await client.get("k")]).toEqual(["1", "1"]);
    const calls = engine.core.stats.commands;
    await client.get("k");
    expect(engine.core.stats.commands).toBe(calls);
    await other.call("SET", "k", "2");
    await client.ping();
    expect(await client.get("k")).toBe("2");
  });
});
