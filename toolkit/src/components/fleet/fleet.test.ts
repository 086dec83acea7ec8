/** A fleet of real servers: several processes use it while shards come and go, and movers die. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { FaultyProxy } from "../../../tests/kit/proxy.ts";
import { cli, installed, type ServerProcess, startRedis } from "../../../tests/kit/servers.ts";
import { ConnectionError, InputError } from "../../base/errors.ts";
import { defineScript } from "../../base/script.ts";
import { type OpenOptions, open } from "../../connection/open.ts";
import { slotOf } from "../../connection/slots.ts";
import type { Store } from "../../connection/store.ts";
import { Queue, Worker } from "../queues/index.ts";
import { Fleet, type FleetOptions } from "./index.ts";
import { Mover } from "./mover.ts";

const REDIS = installed("redis-server") && installed("redis-cli");

describe.skipIf(!REDIS)("a fleet", () => {
  let servers: ServerProcess[] = [];
  let stores: Store[] = [];
  let fleets: Fleet[] = [];

  beforeAll(async () => {
    servers = await Promise.all(Array.from({ length: 5 }, () => startRedis()));
  }, 60_000);

  afterAll(() => Promise.all(servers.map((server) => server.stop())));

  beforeEach(() => {
    for (const { port } of servers) cli(port, "FLUSHALL");
  });

  afterEach(async () => {
    await Promise.all(fleets.map((fleet) => fleet.close()));
    await Promise.all(stores.map((store) => store.close()));
    fleets = [];
    stores = [];
  });

  const url = (at: number): string => servers[at]!.url;

  /** As a process of its own would have it; the first server is everybody's home. */
  async function member(options: FleetOptions = {}, home: OpenOptions = {}): Promise<Fleet> {
    const store = await open(url(0), home);
    stores.push(store);
    const fleet = await Fleet.open(store, { leaseMs: 2_000, ...options });
    fleets.push(fleet);
    return fleet;
  }

  const keysAt = (at: number): string[] =>
    cli(servers[at]!.port, "--raw", "KEYS", "*")
      .split("\n")
      .filter((key) => key !== "" && !key.startsWith("fleet:") && !key.startsWith("cinnabar:"));

  test("gives each component its servers, and each key its shard", async () => {
    const fleet = await member();
    await fleet.define("carts", { a: url(1), b: url(2) });
    await fleet.define("logs", { only: url(3) });
    const carts = fleet.store("carts");
    for (let n = 0; n < 100; n++) await carts.call("SET", `cart:{${n}}`, n);
    await fleet.store("logs").call("SET", "log", "x");
    expect(keysAt(1).length + keysAt(2).length).toBe(100);
    expect(Math.min(keysAt(1).length, keysAt(2).length)).toBeGreaterThan(20);
    expect(keysAt(3)).toEqual(["log"]);
    expect(
      await carts.pipeline([
        ["GET", "cart:{1}"],
        ["GET", "cart:{2}"],
        ["GET", "cart:{3}"],
      ]),
    ).toEqual(["1", "2", "3"]);
    expect((await carts.sendToAll(["DBSIZE"])).map(Number).reduce((sum, n) => sum + n, 0)).toBe(100);
    expect(() => fleet.store("absent")).toThrow(InputError);
    const shown = await fleet.inspect("carts");
    expect(shown.map(({ shard, slots, leaving }) => ({ shard, slots, leaving }))).toEqual([
      { shard: "a", slots: 8_192, leaving: false },
      { shard: "b", slots: 8_192, leaving: false },
    ]);
    expect(shown[0]!.keys! + shown[1]!.keys!).toBe(100);
  });

  test("is the same for every process, also for one that comes later", async () => {
    const [one, two] = await Promise.all([member(), member()]);
    await one.define("shop", { a: url(1), b: url(2) });
    await vi.waitFor(() => two.store("shop"), 10_000);
    await one.store("shop").call("SET", "k", "v");
    expect(await two.store("shop").call("GET", "k")).toBe("v");
    await one.define("shop", { b: url(2), a: url(1) });
    await expect(one.define("shop", { a: url(3) })).rejects.toThrow(/already/);
    const three = await member();
    expect(await three.store("shop").call("GET", "k")).toBe("v");
  });

  test("adding and removing shards moves every kind of value with its lifetime, and leaves nothing behind", async () => {
    const fleet = await member();
    await fleet.define("shop", { a: url(1) });
    const shop = fleet.store("shop");
    for (let n = 0; n < 200; n++) {
      await shop.call("SET", `s:{${n}}`, Buffer.from([n, 0, 255]));
      await shop.call("RPUSH", `l:{${n}}`, 1, 2, 3);
      await shop.call("ZADD", `z:{${n}}`, n, "m");
      await shop.call("SET", `t:{${n}}`, "x", "EX", 1_000);
    }
    await shop.call("SET", Buffer.from([0xff, 0xfe]), "a key that is no text");
    const seen: number[] = [];
    await fleet.addShard("shop", "b", url(2), { onProgress: ({ keys }) => seen.push(keys) });
    expect(seen.at(-1)).toBeGreaterThan(0);
    await fleet.addShard("shop", "c", url(3));
    expect([1, 2, 3].map((at) => keysAt(at).length).reduce((sum, n) => sum + n, 0)).toBe(801);
    for (const at of [1, 2, 3]) expect(keysAt(at).length).toBeGreaterThan(100);
    for (let n = 0; n < 200; n++) {
      expect(await shop.callBuffer("GET", `s:{${n}}`)).toEqual(Buffer.from([n, 0, 255]));
      expect(await shop.call("LRANGE", `l:{${n}}`, 0, -1)).toEqual(["1", "2", "3"]);
      expect(await shop.call("ZSCORE", `z:{${n}}`, "m")).toBe(String(n));
      const ttl = Number(await shop.call("TTL", `t:{${n}}`));
      expect(ttl).toBeGreaterThan(900);
      expect(ttl).toBeLessThanOrEqual(1_000);
    }
    await fleet.removeShard("shop", "a");
    expect(keysAt(1)).toEqual([]);
    expect(keysAt(2).length + keysAt(3).length).toBe(801);
    expect(Object.keys(fleet.layout.components.shop!.shards)).toEqual(["b", "c"]);
    await expect(fleet.removeShard("shop", "b").then(() => fleet.removeShard("shop", "c"))).rejects.toThrow(
      /last shard/,
    );
  });

  const addOnce = defineScript({
    name: "test.add",
    keys: ["total", "seen"],
    args: ["id", "channel"],
    repeatable: true,
    lua: `
      if redis.call("SADD", seen, id) == 1 then redis.call("INCR", total) end
      redis.call("PUBLISH", channel, id)
      return redis.call("GET", total)
    `,
    reply: Number,
  });

  test("loses and doubles nothing while shards come and go under load", async () => {
    const members = await Promise.all([member({ slotsPerStep: 2_048 }), member(), member()]);
    const [first] = members as [Fleet, Fleet, Fleet];
    await first.define("shop", { a: url(1), b: url(2) });
    await vi.waitFor(() => members.map((fleet) => fleet.store("shop")), 10_000);
    const names = Array.from({ length: 64 }, (_, at) => `{t${at}}`);
    const done = new Map(names.map((name) => [name, 0]));
    const heard = new Set<string>();
    await members[2]!.store("shop").subscribe("told", (message) => void heard.add(message.toString()));
    let stop = false;
    let count = 0;
    const load = members.flatMap((fleet, process) =>
      Array.from({ length: 4 }, async (_, each) => {
        const shop = fleet.store("shop");
        for (let n = 0; !stop; n++) {
          const name = names[(n * 7 + process * 3 + each) % names.length]!;
          const id = `${process}-${each}-${n}`;
          const total = await shop.run(addOnce, { total: `n:${name}`, seen: `seen:${name}`, id, channel: "told" });
          expect(total).toBeGreaterThan(0);
          done.set(name, done.get(name)! + 1);
          // Plain commands and pipelines over several slots go the same ways.
          if (n % 10 === 0)
            await shop.pipeline([
              ["INCR", `p:${name}`],
              ["INCR", `p:${names[0]}`],
            ]);
          count++;
        }
      }),
    );
    await first.addShard("shop", "c", url(3));
    await members[1]!.addShard("shop", "d", url(4));
    await members[2]!.removeShard("shop", "a");
    const before = count;
    await vi.waitFor(() => expect(count).toBeGreaterThan(before + 100), 10_000);
    stop = true;
    await Promise.all(load);
    const shop = first.store("shop");
    for (const [name, times] of done) {
      expect([name, Number(await shop.call("GET", `n:${name}`))]).toEqual([name, times]);
      expect(Number(await shop.call("SCARD", `seen:${name}`))).toBe(times);
    }
    expect(keysAt(1)).toEqual([]);
    await vi.waitFor(() => expect(heard.size).toBe(count), 10_000);
  }, 120_000);

  test("a queue goes on through a move: every job runs", async () => {
    const fleet = await member();
    await fleet.define("work", { a: url(1) });
    const store = fleet.store("work");
    const queue = new Queue<number, number>(store, "jobs");
    const ran: number[] = [];
    const worker = new Worker<number, number>(queue, async (job) => ran.push(job.data), { concurrency: 5 }).start();
    let stop = false;
    let added = 0;
    const adding = (async () => {
      while (!stop) await queue.add(added++);
    })();
    await fleet.addShard("work", "b", url(2));
    // The queue's own slot has moved at least once.
    await fleet.removeShard("work", "a");
    stop = true;
    await adding;
    await vi.waitFor(() => expect(new Set(ran).size).toBe(added), 30_000);
    await worker.stop();
    expect(keysAt(1)).toEqual([]);
  }, 60_000);

  test("what a dead mover has begun is finished by another, and its late writes are refused", async () => {
    const fleet = await member({ takesOver: false, slotsPerStep: 4_096 });
    await fleet.define("shop", { a: url(1) });
    const shop = fleet.store("shop");
    for (let n = 0; n < 2_000; n++) await shop.call("SET", `k:{${n}}`, n);
    // It stops in the middle of a copy, with slots that nobody may touch.
    const dying = new AbortController();
    const onProgress = () => dying.abort(new Error("killed"));
    await expect(fleet.addShard("shop", "b", url(2), { signal: dying.signal, onProgress })).rejects.toThrow("killed");
    expect(fleet.layout.components.shop!.moving).toBeDefined();
    // A key that was copied is deleted at the source by nobody; one that the next mover finds at the target is from before.
    const other = await member();
    await other.balance("shop");
    for (let n = 0; n < 2_000; n++) expect(await shop.call("GET", `k:{${n}}`)).toBe(String(n));
    expect(keysAt(1).length + keysAt(2).length).toBe(2_000);
    expect(other.layout.components.shop!.left).toEqual([]);
    const store = await open(url(2));
    stores.push(store);
    const target = { send: (each: { words: readonly unknown[] }) => store.call(...(each.words as string[])) };
    const late = new Mover({
      fenceKey: "fleet:{main}:fence:shop",
      fence: 0,
      owners: () => "own",
      signal: new AbortController().signal,
    });
    await expect(late.claim(target as never)).rejects.toThrow(/FENCED/);
  }, 60_000);

  test("a process that is left alone finishes it by itself", async () => {
    const fleet = await member({ takesOver: false });
    await fleet.define("shop", { a: url(1) });
    for (let n = 0; n < 500; n++) await fleet.store("shop").call("SET", `k:{${n}}`, n);
    const dying = new AbortController();
    const onProgress = () => dying.abort(new Error("killed"));
    await expect(fleet.addShard("shop", "b", url(2), { signal: dying.signal, onProgress })).rejects.toThrow("killed");
    const other = await member();
    await vi.waitFor(() => expect(other.layout.components.shop!.moving).toBeUndefined(), 30_000);
    await vi.waitFor(() => expect(keysAt(2).length).toBeGreaterThan(150), 30_000);
    for (let n = 0; n < 500; n++) expect(await other.store("shop").call("GET", `k:{${n}}`)).toBe(String(n));
  }, 60_000);

  test("a process that is cut off from home stops in time, and the others do not wait for it longer", async () => {
    const fleet = await member({ takesOver: false });
    const proxy = await FaultyProxy.open(servers[0]!.port);
    try {
      const home = await open(`redis://127.0.0.1:${proxy.port}`, { retryMs: 1 });
      stores.push(home);
      const lost = await Fleet.open(home, {
        leaseMs: 1_000,
        waitMs: 200,
        takesOver: false,
        open: { retryMs: 1 },
      });
      fleets.push(lost);
      await fleet.define("shop", { a: url(1) });
      await vi.waitFor(() => lost.store("shop"), 10_000);
      const shop = lost.store("shop");
      await shop.call("SET", "k", "v");
      // Its way home is gone; the shards would still answer.
      proxy.refuse();
      proxy.cut();
      const outcome = () => shop.call("GET", "k").then(String, (error: Error) => error.message);
      await expect.poll(outcome, { timeout: 20_000 }).toMatch(/has not confirmed the layout/);
      await fleet.addShard("shop", "b", url(2));
      expect(await fleet.store("shop").call("GET", "k")).toBe("v");
      // It comes back, finds another layout, and follows that.
      proxy.refuse(false);
      await expect.poll(outcome, { timeout: 20_000 }).toBe("v");
      expect(Object.keys(lost.layout.components.shop!.shards)).toEqual(["a", "b"]);
    } finally {
      await proxy.close();
    }
  }, 60_000);

  /** A thousand keys of their own for two components, and what `addShard` of the other one's server does to them. */
  async function twoComponents(prefixes: { shop?: string[]; work?: string[] }): Promise<Fleet> {
    const fleet = await member();
    await fleet.define("shop", { a: url(1), b: url(2) }, prefixes.shop && { prefixes: prefixes.shop });
    await fleet.define("work", { only: url(3) }, prefixes.work && { prefixes: prefixes.work });
    for (let n = 0; n < 1_000; n++) {
      await fleet.store("shop").call("SET", `product:{${n}}`, n);
      await fleet.store("work").call("SET", `job:{${n}}`, n);
    }
    return fleet;
  }

  test("leaves the keys of another component alone, on a server that both have", async () => {
    const fleet = await twoComponents({ shop: ["product:"], work: ["job:"] });
    await fleet.addShard("shop", "c", url(3));
    expect(keysAt(3).filter((key) => key.startsWith("job:"))).toHaveLength(1_000);
    expect(keysAt(3).length).toBeGreaterThan(1_250);
    // Both move at the same time, in both directions, over the servers that they share.
    await Promise.all([fleet.addShard("work", "one", url(1)), fleet.removeShard("shop", "a")]);
    await Promise.all([fleet.removeShard("work", "only"), fleet.addShard("shop", "d", url(4))]);
    const all = [1, 2, 3, 4].flatMap(keysAt);
    expect(all.filter((key) => key.startsWith("job:"))).toHaveLength(1_000);
    expect(all.filter((key) => key.startsWith("product:"))).toHaveLength(1_000);
    for (let n = 0; n < 1_000; n++) {
      expect(await fleet.store("shop").call("GET", `product:{${n}}`)).toBe(String(n));
      expect(await fleet.store("work").call("GET", `job:{${n}}`)).toBe(String(n));
    }
  }, 60_000);

  test("does not let components share a server whose keys cannot be told apart", async () => {
    const fleet = await twoComponents({ shop: ["product:"] });
    await expect(fleet.addShard("shop", "c", url(3))).rejects.toThrow(/no component|told apart/);
    await expect(fleet.define("late", { a: url(1) }, { prefixes: ["prod"] })).rejects.toThrow(/both own/);
    // By another name, it is the same server.
    const alias = url(3).replace("127.0.0.1", "localhost");
    await expect(fleet.define("late", { a: alias }, { prefixes: ["x:"], shared: true })).rejects.toThrow(/told apart/);
    await expect(fleet.define("late", { a: url(4) }, { prefixes: ["fleet:mine"] })).rejects.toThrow(/fleet itself/);
    await expect(fleet.define("late", { a: url(4) }, { shared: true })).rejects.toThrow(/needs prefixes/);
    expect(keysAt(3)).toHaveLength(1_000);
  });

  test("takes a server with keys of another application only as a shared one, and leaves them alone", async () => {
    const fleet = await member();
    const pairs = Array.from({ length: 300 }, (_, n) => [`foreign:${n}`, String(n)]);
    cli(servers[2]!.port, "MSET", ...pairs.flat());
    await fleet.define("shop", { a: url(1) }, { prefixes: ["product:"] });
    await fleet.define("all", { a: url(3) });
    const shop = fleet.store("shop");
    for (let n = 0; n < 500; n++) await shop.call("SET", `product:{${n}}`, n);
    await expect(fleet.addShard("all", "b", url(2))).rejects.toThrow(/would delete, such as "foreign:/);
    await expect(fleet.addShard("shop", "b", url(2))).rejects.toThrow(/no component of the fleet, such as "foreign:/);
    expect(Object.keys(fleet.layout.components.shop!.shards)).toEqual(["a"]);
    await fleet.addShard("shop", "b", url(2), { shared: true });
    await fleet.removeShard("shop", "a");
    await fleet.addShard("shop", "a", url(1));
    expect(keysAt(2).filter((key) => key.startsWith("foreign:"))).toHaveLength(300);
    for (let n = 0; n < 500; n++) expect(await shop.call("GET", `product:{${n}}`)).toBe(String(n));
    // What a move would leave behind is not written in the first place.
    await expect(shop.call("SET", "other", 1)).rejects.toThrow(InputError);
    await expect(shop.call("SET", "fleet:{main}", 1)).rejects.toThrow(/fleet itself/);
  }, 60_000);

  test("does not delete what something else has written to a shard of a component without prefixes", async () => {
    const fleet = await member({ takesOver: false });
    await fleet.define("shop", { a: url(1), b: url(2) });
    for (let n = 0; n < 100; n++) await fleet.store("shop").call("SET", `k:{${n}}`, n);
    // Slot 12182 belongs to the second shard.
    expect(slotOf("foo")).toBe(12_182);
    cli(servers[1]!.port, "SET", "foo", "written behind the fleet's back");
    await expect(fleet.removeShard("shop", "b")).rejects.toThrow(/in slots that it does not own, such as "foo"/);
    expect(cli(servers[1]!.port, "GET", "foo")).toContain("behind");
    cli(servers[1]!.port, "DEL", "foo");
    await fleet.balance("shop");
    expect(keysAt(1)).toHaveLength(100);
  });

  test("keeps its own keys where they are when a shard is the home store", async () => {
    const fleet = await member();
    await fleet.define("shop", { a: url(0) });
    for (let n = 0; n < 200; n++) await fleet.store("shop").call("SET", `k:{${n}}`, n);
    await fleet.addShard("shop", "b", url(1));
    await fleet.removeShard("shop", "a");
    expect(keysAt(1)).toHaveLength(200);
    expect(cli(servers[0]!.port, "EXISTS", "fleet:{main}")).toContain("1");
    expect(Object.keys((await member()).layout.components.shop!.shards)).toEqual(["b"]);
  });

  test("a shard that does not answer changes nothing", async () => {
    const fleet = await member({ open: { connectTimeoutMs: 300 } });
    await fleet.define("shop", { a: url(1) });
    await expect(fleet.addShard("shop", "b", "redis://127.0.0.1:1")).rejects.toThrow(ConnectionError);
    await expect(fleet.define("other", { a: "redis://127.0.0.1:1" })).rejects.toThrow(ConnectionError);
    expect(Object.keys(fleet.layout.components.shop!.shards)).toEqual(["a"]);
    expect(await fleet.store("shop").call("SET", "k", "v")).toBe("OK");
    expect(slotOf("k")).toBe(7_629);
  });
});
