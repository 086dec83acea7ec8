/** Which keys go when memory is short, with a clock that is moved and chance that repeats. */

import { afterEach, describe, expect, test } from "vitest";
import { infoText } from "../observe/info.ts";
import type { Client } from "./client.ts";
import { NO_BUFFERS } from "./client-memory.ts";
import { ManualClock } from "./clock.ts";
import { Engine } from "./engine.ts";
import { OOM } from "./errors.ts";
import { BASE_BYTES } from "./eviction.ts";
import type { Reply } from "./reply.ts";
import { silentTransport } from "./transport.ts";
import { seedHashes } from "./word-hash.ts";

const NOWHERE = silentTransport("test:0");

const engines: Engine[] = [];

function open(config: Record<string, string>, seed = 1) {
  // Where keys lie in the tables is part of the chance that decides.
  seedHashes(seed);
  const clock = new ManualClock(1_700_000_000_000, seed);
  const engine = new Engine({ clock, config: { "maxmemory-samples": "10", ...config } });
  engines.push(engine);
  const client = engine.addClient(NOWHERE);
  return { clock, engine, client, run: (...argv: string[]) => run(engine, client, argv) };
}

function run(engine: Engine, client: Client, argv: string[]): Reply {
  engine.renewClock();
  return engine.execute(client, argv);
}

afterEach(() => {
  for (const engine of engines.splice(0)) engine.stop();
});

type Store = ReturnType<typeof open>;

/** Keys `prefix:0` … that are worth the same. */
function fill({ run }: Store, prefix: string, count: number, ...options: string[]): string[] {
  const keys = Array.from({ length: count }, (_, i) => `${prefix}:${i}`);
  for (const key of keys) run("SET", key, "x".repeat(100), ...options);
  return keys;
}

/** Lowers the limit until about this share of the keys must go. */
function squeeze({ engine, run }: Store, share: number): void {
  run("CONFIG", "SET", "maxmemory", String(engine.eviction.totalBytes - Math.floor(engine.dataBytes * share)));
  engine.eviction.makeRoom();
}

const left = ({ engine }: Store, keys: string[]) => keys.filter((key) => engine.databases[0]!.keyspace.has(key)).length;

describe("keys whose time has come but that are only hidden yet", () => {
  test("are left alone while clients are paused, as everything is, and go afterwards", () => {
    const store = open({ "maxmemory-policy": "volatile-lru" });
    fill(store, "due", 50, "PX", "1000");
    store.run("CLIENT", "PAUSE", "100000", "WRITE");
    store.clock.advance(2_000);
    store.run("CONFIG", "SET", "maxmemory", "1");
    expect(store.engine.eviction.makeRoom()).toBe(true);
    expect(store.engine.databases[0]!.size).toBe(50);
    store.run("CLIENT", "UNPAUSE");
    expect(store.engine.eviction.makeRoom()).toBe(false);
    expect(store.engine.databases[0]!.size).toBe(0);
  });

  test("are evicted on a replica that keeps to its own limit", () => {
    const store = open({ "maxmemory-policy": "volatile-lru", "replica-ignore-maxmemory": "no" });
    fill(store, "due", 50, "PX", "1000");
    store.run("REPLICAOF", "127.0.0.1", "1");
    store.clock.advance(2_000);
    store.run("CONFIG", "SET", "maxmemory", "1");
    expect(store.engine.eviction.makeRoom()).toBe(false);
    expect(store.engine.databases[0]!.size).toBe(0);
  });
});

describe("the policies", () => {
  test("LRU removes what was not used for longest", () => {
    const store = open({ "maxmemory-policy": "allkeys-lru" });
    const old = fill(store, "old", 300);
    const used = fill(store, "used", 300);
    store.clock.advance(60_000);
    store.engine.tick();
    const young = fill(store, "young", 300);
    for (const key of used) store.run("GET", key);
    squeeze(store, 0.25);
    expect(left(store, used)).toBe(300);
    expect(left(store, young)).toBe(300);
    expect(left(store, old)).toBeLessThan(80);
  });

  test("volatile-LRU leaves keys without a deadline alone, however old", () => {
    const store = open({ "maxmemory-policy": "volatile-lru" });
    const lasting = fill(store, "lasting", 200);
    store.clock.advance(60_000);
    store.engine.tick();
    const old = fill(store, "old", 200, "EX", "100000");
    store.clock.advance(60_000);
    store.engine.tick();
    const young = fill(store, "young", 200, "EX", "100000");
    squeeze(store, 0.25);
    expect(left(store, lasting)).toBe(200);
    expect(left(store, young)).toBe(200);
    expect(left(store, old)).toBeLessThan(70);
  });

  test("LFU removes what is used least, and use fades with time", () => {
    const store = open({ "maxmemory-policy": "allkeys-lfu", "lfu-log-factor": "1" });
    const rare = fill(store, "rare", 200);
    const often = fill(store, "often", 200);
    for (let i = 0; i < 40; i++) for (const key of often) store.run("GET", key);
    squeeze(store, 0.3);
    expect(left(store, often)).toBe(200);
    expect(left(store, rare)).toBeLessThan(90);
    const stamp = store.engine.databases[0]!.stampOf("often:0")!;
    const before = store.engine.stamps.frequency(stamp);
    expect(before).toBeGreaterThan(6);
    store.clock.advance(4 * 60_000);
    store.engine.tick();
    expect(store.engine.stamps.frequency(stamp)).toBe(before - 4);
  });

  test("volatile-LFU counts only among keys with a deadline", () => {
    const store = open({ "maxmemory-policy": "volatile-lfu", "lfu-log-factor": "0" });
    const lasting = fill(store, "lasting", 100);
    const often = fill(store, "often", 200, "EX", "100000");
    const rare = fill(store, "rare", 200, "EX", "100000");
    for (let i = 0; i < 10; i++) for (const key of often) store.run("GET", key);
    squeeze(store, 0.3);
    expect(left(store, lasting)).toBe(100);
    expect(left(store, often)).toBe(200);
    expect(left(store, rare)).toBeLessThan(60);
  });

  test("volatile-TTL removes what would expire first", () => {
    const store = open({ "maxmemory-policy": "volatile-ttl" });
    const soon = fill(store, "soon", 200, "EX", "1000");
    const late = fill(store, "late", 200, "EX", "100000");
    const never = fill(store, "never", 200);
    squeeze(store, 0.25);
    expect(left(store, late)).toBe(200);
    expect(left(store, never)).toBe(200);
    expect(left(store, soon)).toBeLessThan(60);
  });

  test("allkeys-random takes from all alike", () => {
    const store = open({ "maxmemory-policy": "allkeys-random" });
    const a = fill(store, "a", 500);
    const b = fill(store, "b", 500, "EX", "1000");
    squeeze(store, 0.5);
    expect(Math.abs(left(store, a) - left(store, b))).toBeLessThan(100);
  });

  test("volatile-random takes from keys with a deadline only", () => {
    const store = open({ "maxmemory-policy": "volatile-random" });
    const lasting = fill(store, "lasting", 200);
    const volatile = fill(store, "volatile", 200, "EX", "1000");
    squeeze(store, 0.3);
    expect(left(store, lasting)).toBe(200);
    expect(left(store, volatile)).toBeLessThan(120);
  });

  test("noeviction refuses writes and keeps everything", () => {
    const store = open({ "maxmemory-policy": "noeviction" });
    const keys = fill(store, "k", 100);
    squeeze(store, 0.1);
    expect(store.run("SET", "more", "x")).toBe(OOM);
    expect(store.run("GET", "k:1")).toBe("x".repeat(100));
    expect(left(store, keys)).toBe(100);
    store.run("DEL", ...keys.slice(0, 50));
    expect(store.run("SET", "more", "x")).not.toBe(OOM);
  });

  test("keys of every database are candidates", () => {
    const store = open({ "maxmemory-policy": "allkeys-lru" });
    fill(store, "old", 100);
    store.clock.advance(60_000);
    store.engine.tick();
    store.run("SELECT", "3");
    fill(store, "young", 100);
    squeeze(store, 0.3);
    expect(store.engine.databases[3]!.size).toBe(100);
    expect(store.engine.databases[0]!.size).toBeLessThan(50);
  });
});

describe("the limit", () => {
  test.each(["allkeys-lru", "allkeys-lfu", "allkeys-random", "volatile-lru", "volatile-ttl"])(
    "holds under %s while keys come in",
    (policy) => {
      const limit = BASE_BYTES + 200_000;
      const store = open({ maxmemory: String(limit), "maxmemory-policy": policy });
      let most = 0;
      for (let i = 0; i < 5000; i++) {
        expect(store.run("SET", `k:${i}`, "x".repeat(i % 400), "EX", "1000")).not.toBe(OOM);
        most = Math.max(most, store.engine.eviction.usedBytes);
      }
      // A command may go over by what it writes; the next one makes room.
      expect(most).toBeLessThan(limit + 1000);
      expect(store.engine.stats.evictedKeys).toBeGreaterThan(3000);
      expect(store.engine.databases[0]!.size).toBeGreaterThan(300);
    },
  );

  test("lowered at run time acts after the command, each removal by itself", async () => {
    const store = open({ "maxmemory-policy": "allkeys-random" });
    const effects: (readonly string[])[] = [];
    fill(store, "k", 100);
    store.engine.effects.listen((list) => effects.push(list.map(({ argv }) => argv[0]!)));
    store.run("CONFIG", "SET", "maxmemory", "1");
    expect(store.engine.databases[0]!.size).toBe(100);
    await expect.poll(() => store.engine.databases[0]!.size).toBe(0);
    expect(effects).toEqual(Array.from({ length: 100 }, () => ["DEL"]));
  });

  test("counts what clients have not taken of their replies", () => {
    const store = open({ "maxmemory-policy": "noeviction", maxmemory: String(BASE_BYTES + 10_000) });
    expect(store.run("SET", "a", "x")).not.toBe(OOM);
    store.engine.addClient({ ...NOWHERE, buffers: () => ({ ...NO_BUFFERS, replyBytes: 20_000 }) });
    store.engine.tick();
    expect(store.run("SET", "b", "x")).toBe(OOM);
  });

  test("goes down with what is freed in the background, as used_memory does", async () => {
    const store = open({});
    const used = () => Number(/used_memory:(\d+)/.exec(infoText(store.engine, ["memory"]))![1]);
    const large = () => {
      const members = Array.from({ length: 5000 }, (_, i) => `${"m".repeat(100)}${i}`);
      store.run("SADD", "set", ...members);
      store.run("HSET", "hash", ...members.flatMap((member) => [member, "v"]));
      store.run("RPUSH", "list", ...members);
      store.run("SET", "string", "x".repeat(1_000_000));
    };
    const before = used();
    for (const free of [
      ["UNLINK", "set", "hash", "list", "string"],
      ["FLUSHDB", "ASYNC"],
      ["FLUSHALL", "ASYNC"],
    ]) {
      large();
      expect(used()).toBeGreaterThan(before + 2_000_000);
      store.run(...free);
      store.engine.tick();
      expect(used()).toBeLessThan(before + 100_000);
    }
  });

  test("goes by what removed keys took, not by what is said about them to clients", () => {
    const store = open({ "maxmemory-policy": "allkeys-lru", "maxmemory-eviction-tenacity": "100" });
    const keys = fill(store, "k", 300);
    let told = 0;
    const buffers = () => ({ ...NO_BUFFERS, replyBytes: told });
    const push = () => {
      told += 10_000;
    };
    const cache = store.engine.addClient({ ...NOWHERE, buffers, push });
    cache.protocol = 3;
    run(store.engine, cache, ["CLIENT", "TRACKING", "ON"]);
    for (const key of keys) run(store.engine, cache, ["GET", key]);
    squeeze(store, 0.1);
    expect(told).toBeGreaterThan(0);
    expect(left(store, keys)).toBeGreaterThan(250);
  });

  test("below what an empty store takes refuses at once", () => {
    const store = open({ "maxmemory-policy": "noeviction", maxmemory: "1" });
    expect(store.run("SET", "a", "x")).toBe(OOM);
    expect(store.run("GET", "a")).toBeNull();
  });
});
