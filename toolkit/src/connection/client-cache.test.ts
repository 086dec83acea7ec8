/** The client cache: the contract of what it answers on every backend, and what becomes of it when servers fail. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { describeBackends } from "../../tests/kit/index.ts";
import { cli, installed, type ServerProcess, startRedis, startSentinel } from "../../tests/kit/servers.ts";
import { InputError, ServerError } from "../base/errors.ts";
import { defineScript } from "../base/script.ts";
import { ClientCache } from "./client-cache.ts";
import { open } from "./open.ts";
import type { Word } from "./port.ts";
import type { Store } from "./store.ts";

const PREFIXES = ["user:", "{u}"];
const clientCache = { prefixes: PREFIXES };
const put = defineScript({
  name: "test.put",
  keys: ["key"],
  args: ["value"],
  lua: `return redis.call("SET", key, value)`,
});

/** A number that repeats with its seed. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state % below;
  };
}

describeBackends("a client cache", { open: { clientCache }, audit: false }, (backend) => {
  const isServer = backend.name !== "embedded";
  const hits = (): number => backend.store.clientCache()?.hits ?? 0;
  /** Reads until what was written elsewhere is seen. */
  const seen = (words: readonly Word[], reply: unknown): Promise<void> =>
    expect.poll(() => backend.store.send(words)).toEqual(reply);

  /** Until a second read is answered from memory. */
  const kept = (...words: [string, ...Word[]]): Promise<void> =>
    expect
      .poll(async () => {
        const before = hits();
        await backend.store.send(words);
        return !isServer || hits() > before;
      })
      .toBe(true);

  test("a second read is answered from memory, of declared prefixes alone", async () => {
    const { store } = backend;
    await store.call("SET", "user:1", "Ada");
    await store.call("SET", "other", "x");
    await kept("GET", "user:1");
    expect(await store.call("GET", "user:1")).toBe("Ada");
    const before = hits();
    for (let round = 0; round < 5; round++) await store.call("GET", "other");
    expect(hits()).toBe(before);
    expect((await store.callBuffer("GET", "user:1")) as Buffer).toEqual(Buffer.from("Ada"));
    if (!isServer) expect(store.clientCache()).toBeNull();
  });

  test("another client's write is seen: strings, parts of structures, deletion, an emptied store", async () => {
    const { store } = backend;
    const other = await backend.open();
    await other.call("SET", "user:1", "a");
    await kept("GET", "user:1");
    await other.call("SET", "user:1", "b");
    await seen(["GET", "user:1"], "b");
    await other.call("HSET", "user:h", "f", 1, "g", 2);
    await kept("HGETALL", "user:h");
    await kept("HGET", "user:h", "g");
    await other.call("HINCRBY", "user:h", "g", 1);
    await seen(["HGETALL", "user:h"], ["f", "1", "g", "3"]);
    await seen(["HGET", "user:h", "g"], "3");
    await kept("GET", "user:1");
    await other.call("DEL", "user:1");
    await seen(["GET", "user:1"], null);
    await kept("HLEN", "user:h");
    await other.sendToAll(["FLUSHALL"]);
    await seen(["HLEN", "user:h"], 0);
    expect(await store.call("HLEN", "user:h")).toBe(0);
  });

  test("one's own writes are seen at once, however they are made", async () => {
    const { store } = backend;
    const blocking = store.blocking("{u}list");
    const ways: readonly ((value: number) => Promise<unknown>)[] = [
      (value) => store.call("SET", "{u}k", value),
      (value) => store.send(["set", Buffer.from("{u}k"), String(value)]),
      (value) => store.run(put, { key: "{u}k", value }),
      (value) => store.pipeline([["SET", "{u}k", value], put.with({ key: "{u}k", value })]),
      (value) => store.multi([["SET", "{u}k", value]]),
      (value) => store.transaction({ watch: ["{u}k"] }, () => [["SET", "{u}k", value]]),
      (value) => store.call("RENAME", "{u}from", "{u}k").then(() => store.call("SET", "{u}k", value)),
      (value) => store.set("{u}k", value),
    ];
    for (let round = 0; round < 40; round++) {
      for (const [at, write] of ways.entries()) {
        await store.call("SET", "{u}from", "renamed");
        const value = round * ways.length + at;
        // Reads under way meanwhile must not be kept.
        const reading = [store.call("GET", "{u}k"), store.call("MGET", "{u}k", "{u}from")];
        await write(value);
        expect(await store.call("GET", "{u}k")).toBe(String(value));
        expect(await store.call("MGET", "{u}k", "{u}k")).toEqual([String(value), String(value)]);
        await Promise.all(reading);
        expect(await store.call("GET", "{u}k")).toBe(String(value));
      }
    }
    await store.call("RPUSH", "{u}list", "a", "b");
    expect(await store.call("LLEN", "{u}list")).toBe(2);
    await blocking.call(["BLPOP", "{u}list", 1], { timeoutMs: 1_000 });
    expect(await store.call("LLEN", "{u}list")).toBe(1);
    await store.sendToAll(["FLUSHALL"]);
    expect(await store.call("LLEN", "{u}list")).toBe(0);
  });

  test("in a pipeline reads see its writes, and reads alone come from memory", async () => {
    const { store } = backend;
    await store.call("SET", "{u}a", 1);
    await kept("GET", "{u}a");
    const written = await store.pipeline([
      ["SET", "{u}a", 2],
      ["GET", "{u}a"],
    ]);
    expect(written).toEqual(["OK", "2"]);
    const reads = [
      ["GET", "{u}a"],
      ["GET", "elsewhere"],
      ["MGET", "{u}a", "{u}b"],
      ["HGET", "{u}a", "f"],
    ] as const;
    const once = await store.pipeline(reads);
    const again = await store.pipeline(reads);
    for (const answers of [once, again]) {
      expect(answers.slice(0, 3)).toEqual(["2", null, ["2", null]]);
      expect(answers[3]).toBeInstanceOf(ServerError);
    }
  });

  test("a key that expires is not answered past its time", async () => {
    const { store } = backend;
    await store.call("SET", "user:brief", "here", "PX", 2_000);
    expect(await store.call("GET", "user:brief")).toBe("here");
    await seen(["GET", "user:brief"], null);
    await store.call("SET", "user:brief", "here");
    await kept("GET", "user:brief");
    await store.call("PEXPIRE", "user:brief", 200);
    await seen(["GET", "user:brief"], null);
  });

  test("a caller may change what it gets", async () => {
    const { store } = backend;
    await store.call("RPUSH", "user:l", "a", "b");
    await kept("LRANGE", "user:l", 0, -1);
    const list = (await store.call("LRANGE", "user:l", 0, -1)) as string[];
    list.push("mine");
    expect(await store.call("LRANGE", "user:l", 0, -1)).toEqual(["a", "b"]);
    await store.callBuffer("GET", "user:l").catch(() => {});
    await store.call("SET", "user:b", "abc");
    for (let round = 0; round < 3; round++) {
      const bytes = (await store.callBuffer("GET", "user:b")) as Buffer;
      expect(String(bytes)).toBe("abc");
      bytes.fill(0);
    }
  });

  test("two stores that write and read at random agree in the end, and each sees its own writes", async () => {
    const stores = [backend.store, await backend.open({ clientCache })];
    const keys = ["user:x", "user:y", "{u}z", "plain"];
    const act = async (store: Store, seed: number): Promise<void> => {
      const next = random(seed);
      for (let round = 0; round < 400; round++) {
        const key = keys[next(keys.length)]!;
        if (next(3) > 0) await store.call("GET", key);
        else await store.call("SET", key, `${seed}.${round}`, ...(next(4) === 0 ? ["PX", 5] : []));
        // A key that nobody else writes.
        await store.call("SET", `user:own${seed}`, round);
        expect(await store.call("GET", `user:own${seed}`)).toBe(String(round));
      }
    };
    await Promise.all(stores.flatMap((store, at) => [act(store, at + 1), act(store, at + 11)]));
    for (const key of keys) await backend.store.call("PERSIST", key);
    const plain = await backend.open();
    for (const key of [...keys, "user:own1", "user:own12"]) {
      const truth = await plain.call("GET", key);
      for (const store of stores) await expect.poll(() => store.call("GET", key)).toBe(truth);
    }
  });
});

describe.skipIf(!installed("redis-server") || !installed("redis-cli"))("a client cache whose server fails", () => {
  let server: ServerProcess;
  let store: Store;
  beforeEach(async () => {
    server = await startRedis({ args: ["--enable-debug-command", "yes"] });
    // Long enough for silence not to be found out by an answer that is missing.
    store = await open(server.url, { clientCache, retryMs: 20_000, commandTimeoutMs: 120_000 });
    await store.call("SET", "user:1", "before");
    await warm();
  });
  afterEach(async () => {
    server.resume();
    await store.close();
    await server.stop();
  });
  async function warm(of = store): Promise<void> {
    const hits = () => of.clientCache()!.hits;
    const before = hits();
    await expect.poll(async () => (await of.call("GET", "user:1")) !== undefined && hits() > before).toBe(true);
  }
  /** Until the server has announced everything that was written before. */
  async function told(of = store): Promise<void> {
    await warm(of);
    const value = `told ${Math.random()}`;
    cli(server.port, "SET", "user:1", value);
    await expect.poll(() => of.call("GET", "user:1")).toBe(value);
  }
  const calls = (): number =>
    Number(/^cmdstat_get:calls=(\d+)/m.exec(cli(server.port, "INFO", "commandstats"))?.[1] ?? 0);

  test("reads cost the server nothing while nothing changes", async () => {
    const before = calls();
    for (let round = 0; round < 1_000; round++) await store.call("GET", "user:1");
    expect(calls()).toBe(before);
  });

  test("a write while the connections are cut is seen: nothing old survives a reconnection", async () => {
    for (let round = 0; round < 6; round++) {
      cli(server.port, "CLIENT", "KILL", "TYPE", "normal");
      cli(server.port, "SET", "user:1", `cut ${round}`);
      await expect.poll(() => store.call("GET", "user:1")).toBe(`cut ${round}`);
      await warm();
    }
  });

  test("only the connection that tells of changes is cut: reads ask the server again, and are kept again", async () => {
    const tracking = cli(server.port, "CLIENT", "LIST")
      .split("\n")
      .find((line) => /flags=\S*t/.test(line))!;
    cli(server.port, "CLIENT", "KILL", "ID", /id=(\d+)/.exec(tracking)![1]!);
    cli(server.port, "SET", "user:1", "after");
    await expect.poll(() => store.call("GET", "user:1")).toBe("after");
    await warm();
    cli(server.port, "SET", "user:1", "again");
    await expect.poll(() => store.call("GET", "user:1")).toBe("again");
  });

  test("a server that says nothing is not believed to be there for long", async () => {
    server.pause();
    expect(await store.call("GET", "user:1")).toBe("before");
    // First from memory, then nobody knows.
    await expect
      .poll(() => store.send(["GET", "user:1"], { timeoutMs: 200 }).catch((error) => error.code))
      .toBe("DEADLINE");
    server.resume();
    await expect.poll(() => store.call("GET", "user:1")).toBe("before");
  });

  test("a key that has expired is not answered, although the server does not tell", async () => {
    expect(cli(server.port, "DEBUG", "SET-ACTIVE-EXPIRE", "0")).toBe("OK");
    await store.call("SET", "user:brief", "here", "PX", 2_000);
    expect(await store.call("GET", "user:brief")).toBe("here");
    await expect.poll(() => store.call("GET", "user:brief")).toBeNull();
    await store.call("SET", "user:brief", "here", "PX", 2_000);
    await told();
    expect(await store.pipeline([["GET", "user:brief"]])).toEqual(["here"]);
    await expect.poll(() => store.call("GET", "user:brief")).toBeNull();
  });

  test("a server that was emptied and is back has no old answers", async () => {
    await server.restart();
    await expect.poll(() => store.call("GET", "user:1")).toBeNull();
  });

  test("memory is bounded, and what was used goes last", async () => {
    const small = await open(server.url, { clientCache: { prefixes: ["user:"], maxBytes: 100_000 } });
    await small.call("SET", "user:large", "x".repeat(200_000));
    for (let n = 0; n < 500; n++) await small.call("SET", `user:n${n}`, "y".repeat(500));
    await told(small);
    await small.call("GET", "user:large");
    const before = small.clientCache()!.hits;
    for (let n = 0; n < 500; n++) {
      await small.call("GET", `user:n${n}`);
      await small.call("GET", "user:n0");
      expect(small.clientCache()!.bytes).toBeLessThanOrEqual(100_000);
    }
    const { entries, hits, bytes } = small.clientCache()!;
    expect(entries).toBeGreaterThan(50);
    expect(bytes).toBeGreaterThan(90_000);
    expect(hits - before).toBe(500);
    await small.close();
    expect(small.clientCache()).toMatchObject({ entries: 0, bytes: 0 });
  });

  test("what cannot work is refused when it is opened", async () => {
    const refused = (prefixes: string[]) => open(server.url, { clientCache: { prefixes } });
    await expect(refused([])).rejects.toThrow("prefixes is empty");
    await expect(refused(["a:", "a:b:"])).rejects.toThrow('has "a:" and "a:b:"');
    await expect(refused(["a:", "a:"])).rejects.toThrow(InputError);
    await expect(open(server.url, { clientCache, reads: { from: "replicas" } })).rejects.toThrow("leave out reads");
    await expect(open(server.url, { clientCache: { prefixes: ["a:"], size: 3 } as never })).rejects.toThrow(/size/);
    cli(server.port, "ACL", "SETUSER", "little", "on", ">word", "~*", "+@all", "-client|tracking");
    await expect(open(`redis://little:word@127.0.0.1:${server.port}`, { clientCache })).rejects.toThrow("NOPERM");
  });

  test("every key there is", async () => {
    const all = await open(server.url, { clientCache: { prefixes: [""] } });
    await all.call("SET", "anything", 1);
    await expect
      .poll(async () => (await all.call("GET", "anything")) === "1" && all.clientCache()!.hits > 0)
      .toBe(true);
    cli(server.port, "SET", "anything", "2");
    await expect.poll(() => all.call("GET", "anything")).toBe("2");
    await all.close();
  });
});

describe.skipIf(!["redis-server", "redis-cli", "redis-sentinel"].every(installed))(
  "a client cache under Sentinel",
  () => {
    test("a primary that stands still and is replaced has no say any more", async () => {
      const servers = await startSentinel();
      const store = await open(servers.url, { clientCache, retryMs: 30_000, commandTimeoutMs: 2_000 });
      await store.call("SET", "user:1", "before");
      await expect
        .poll(async () => (await store.call("GET", "user:1")) === "before" && store.clientCache()!.hits > 0)
        .toBe(true);
      servers.primary.pause();
      const primary = () =>
        Number(cli(servers.sentinels[0]!.port, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", "main").split("\n")[1]);
      await expect.poll(primary).not.toBe(servers.primary.port);
      await expect.poll(() => cli(primary(), "SET", "user:1", "after")).toBe("OK");
      await expect.poll(() => store.call("GET", "user:1")).toBe("after");
      const { hits } = store.clientCache()!;
      await expect
        .poll(async () => (await store.call("GET", "user:1")) === "after" && store.clientCache()!.hits > hits)
        .toBe(true);
      servers.primary.resume();
      await store.close();
      await servers.stop();
    });
  },
);

describe("what a client cache keeps", () => {
  const cache = (): ClientCache => new ClientCache({ prefixes: ["k"], maxBytes: 10_000 });

  test("reads whose words could be mistaken for each other are told apart", () => {
    const ids = [
      ["HGET", "k", "a b"],
      ["HGET", "k a", "b"],
      ["HMGET", "k", "a", "b"],
      ["HMGET", "k", "a 1 b"],
      ["HGET", "k", "ab"],
      ["HGET", "ka", "b"],
    ].map((words) => cache().readOf(words, false)!.id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(cache().readOf(["GET", "k"], true)!.id).not.toBe(cache().readOf(["GET", "k"], false)!.id);
  });

  test("no write, nothing random, nothing that depends on the hour, no key of others", () => {
    for (const words of [
      ["SET", "k", "v"],
      ["SRANDMEMBER", "k"],
      ["TTL", "k"],
      ["GETEX", "k"],
      ["GET", "other"],
      ["MGET", "k", "other"],
      ["GET"],
      ["SCAN", "0"],
      ["EVALSHA", "k", "1", "k"],
    ])
      expect(cache().readOf(words, false), words.join(" ")).toBeNull();
  });

  test("a change while a read is under way takes its place, also between its parts", () => {
    for (const changedAfter of [0, 1, 2]) {
      const own = cache();
      const read = own.readOf(["GET", "k"], false)!;
      const place = own.take(read);
      const steps = [() => own.answered(place, "old"), () => own.lives(place, Number.POSITIVE_INFINITY)];
      for (let at = 0; at <= steps.length; at++) {
        if (at === changedAfter) own.forget(["k"]);
        steps[at]?.();
      }
      expect(own.get(read, 0)).toBeUndefined();
      expect(own.stats()).toMatchObject({ entries: 0, bytes: 0 });
    }
  });

  test("a reply is kept until the first of its keys ends", () => {
    const own = cache();
    const read = own.readOf(["MGET", "k1", "k2"], false)!;
    const place = own.take(read);
    own.lives(place, 50);
    own.answered(place, ["a", null]);
    expect(own.get(read, 0)).toBeUndefined();
    own.lives(place, 20);
    expect(own.get(read, 19)).toEqual(["a", null]);
    expect(own.get(read, 20)).toBeUndefined();
    expect(own.stats()).toMatchObject({ entries: 0, bytes: 0, hits: 1, misses: 2 });
  });
});
