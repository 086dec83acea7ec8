/**
 * The stream itself, where it is easy to get wrong: cut anywhere and put together again, transactions in halves, snapshots
 * shared or given up, effects that are not in any client's words, restarts and promotions in the middle of a chain.
 */
import { afterEach, describe, expect, it, vi } from "vitest";
import { redisAvailable, yardstickMissing } from "../conformance/redis-server.ts";
import { compare, shortLivedGone } from "./content.ts";
import { Link } from "./link.ts";
import { Load } from "./load.ts";
import {
  caughtUp,
  type Directives,
  follow,
  type Kind,
  linkUp,
  PATIENCE_MS,
  type Server,
  startAll,
  stopAll,
  until,
} from "./servers.ts";

vi.setConfig({ testTimeout: PATIENCE_MS, hookTimeout: PATIENCE_MS });

afterEach(stopAll);

const start = async (kinds: readonly Kind[], directives: Directives = {}): Promise<[Server, Server, Server]> =>
  (await startAll(kinds, directives)) as [Server, Server, Server];

async function expectSame(primary: Server, replica: Server): Promise<void> {
  await caughtUp(primary, replica);
  expect((await compare(primary, replica)).differences.slice(0, 5)).toEqual([]);
}

const connected = (primary: Server): Promise<number> => primary.number("connected_slaves");

describe.each([
  ["ours", "ours"],
  ["redis", "ours"],
  ["ours", "redis"],
] as const)("%s → %s", (from, to) => {
  const missing = (from === "redis" || to === "redis") && !redisAvailable();

  it.skipIf(missing)("handshake, snapshot and stream may arrive in pieces of any size", async () => {
    const [primary, replica] = await start([from, to]);
    const load = await Load.start(primary, { seed: 31, connections: 1, batch: 10 });
    await load.goesOn(10);
    const link = await Link.to(primary);
    for (const piece of [1, 2, 7, 41, 1000]) {
      link.shred(piece);
      await follow(replica, link.port);
      await load.goesOn(3);
      // Another primary than before, or a replica that has become one, starts with a snapshot.
      if (piece !== 1000) {
        await replica.ask("REPLICAOF", "NO", "ONE");
        await replica.ask("DEL", "nothing");
        await replica.ask("SET", "of a former life", "yes");
      }
    }
    await load.stop();
    await shortLivedGone(primary);
    await expectSame(primary, replica);
  });

  it.skipIf(missing)(
    "a transaction that is cut in the middle is neither lost, nor made twice, nor seen by halves",
    async () => {
      const [primary, replica] = await start([from, to]);
      const link = await Link.to(primary);
      await follow(replica, link.port);
      const names = Array.from({ length: 60 }, (_, i) => `n${i}`);
      const wire = await primary.wire();
      let stopped = false;
      const torn: string[] = [];
      const reader = (async () => {
        const eyes = await replica.wire();
        while (!stopped) {
          const values = new Set((await eyes.call("MGET", ...names)).items.map(({ text }) => text));
          if (values.size > 1) torn.push([...values].join());
          await new Promise((resolve) => setTimeout(resolve, 1));
        }
        await eyes.close();
      })();
      for (let round = 1; round <= 8; round++) {
        await caughtUp(primary, replica);
        const partial = await primary.number("sync_partial_ok");
        link.throttle(12_000);
        const sent = link.bytesBack;
        await wire.pipeline([["MULTI"], ...names.map((name) => ["INCRBY", name, String(10 ** 9)]), ["EXEC"]]);
        // 60 commands are about three thousand bytes: this is within them, each time further on.
        await until("part of it has come", () => link.bytesBack >= sent + round * 250);
        link.cut();
        link.restore();
        await until("it goes on", async () => (await primary.number("sync_partial_ok")) > partial);
      }
      await caughtUp(primary, replica);
      stopped = true;
      await reader;
      expect(torn).toEqual([]);
      expect(await replica.ask("GET", "n59")).toBe(String(8 * 10 ** 9));
      await expectSame(primary, replica);
      expect(await primary.number("sync_full")).toBe(1);
      await wire.close();
    },
  );
});

describe("a snapshot", () => {
  const FILL = "for i = 1, 1500 do redis.call('SET', ARGV[1] .. i, string.rep(i, 400)) end";
  const UNPACKED = { rdbcompression: "no" };

  it("that is given up leaves the replica with what it had", async () => {
    const [primary, replica] = await start(["ours", "ours"], UNPACKED);
    await primary.ask("EVAL", FILL, "0", "k");
    await replica.ask("SET", "of a former life", "yes");
    const link = await Link.to(primary);
    link.throttle(400_000);
    await replica.ask("REPLICAOF", "127.0.0.1", String(link.port));
    await until("the transfer has begun", () => link.bytesBack > 100_000);
    expect(await replica.ask("GET", "of a former life")).toBe("yes");
    await replica.ask("REPLICAOF", "NO", "ONE");
    expect(await replica.ask("DBSIZE")).toBe("1");
    expect(await replica.ask("SET", "k", "v")).toBe("OK");
    await until("the primary has noticed", async () => (await connected(primary)) === 0);
  });

  it("goes to two replicas, the second of which comes when the first is halfway", async () => {
    const [primary, ...replicas] = await start(["ours", "ours", "ours"], UNPACKED);
    await primary.ask("EVAL", FILL, "0", "k");
    const links = [await Link.to(primary), await Link.to(primary)];
    links[0]!.throttle(700_000);
    await replicas[0]!.ask("REPLICAOF", "127.0.0.1", String(links[0]!.port));
    await until("the first is halfway", () => links[0]!.bytesBack > 500_000);
    const load = await Load.start(primary, { seed: 32, connections: 2 });
    await replicas[1]!.ask("REPLICAOF", "127.0.0.1", String(links[1]!.port));
    await load.goesOn(30);
    links[0]!.restore();
    for (const replica of replicas) await linkUp(replica);
    await load.stop();
    await shortLivedGone(primary);
    for (const replica of replicas) await expectSame(primary, replica);
  });

  it("of many keys and a value of 20 MB arrives", async () => {
    const [primary, replica] = await start(["ours", "ours"]);
    await primary.ask("EVAL", "for i = 1, 50000 do redis.call('SET', 'key:' .. i, i) end", "0");
    await primary.ask("SET", "large", "x".repeat(20_000_000));
    await follow(replica, primary.port);
    await primary.ask("APPEND", "large", "y".repeat(5_000_000));
    await caughtUp(primary, replica);
    expect(await replica.ask("DBSIZE")).toBe("50001");
    expect(await replica.ask("STRLEN", "large")).toBe("25000000");
    expect((await replica.call("MGET", "key:1", "key:777", "key:50000")).items.map(({ text }) => text)).toEqual([
      "1",
      "777",
      "50000",
    ]);
  });
});

describe("effects that no client asked for", () => {
  it("what the primary evicts goes from the replica, which evicts nothing itself", async () => {
    // The backlog counts as memory used, so it must not take all there is.
    const [primary, replica] = await start(["ours", "ours"], { "repl-backlog-size": "16kb" });
    await follow(replica, primary.port);
    const used = await primary.number("used_memory");
    for (const server of [primary, replica]) await server.ask("CONFIG", "SET", "maxmemory-policy", "allkeys-random");
    await primary.ask("CONFIG", "SET", "maxmemory", String(used + 2_000_000));
    await replica.ask("CONFIG", "SET", "maxmemory", "1");
    const wire = await primary.wire();
    for (let i = 0; i < 60; i++) {
      await wire.pipeline(Array.from({ length: 50 }, (_, j) => ["SET", `${i}:${j}`, "x".repeat(1000)]));
    }
    await wire.close();
    expect(await primary.number("evicted_keys")).toBeGreaterThan(100);
    expect(await replica.number("evicted_keys")).toBe(0);
    expect(Number(await primary.ask("DBSIZE"))).toBeGreaterThan(100);
    // Looking takes memory too.
    await primary.ask("CONFIG", "SET", "maxmemory", "0");
    await expectSame(primary, replica);
  });

  it("what is published at the primary is heard at the replica", async () => {
    const [primary, replica] = await start(["ours", "ours"]);
    await follow(replica, primary.port);
    const ears = await replica.wire();
    await ears.call("SUBSCRIBE", "news");
    await primary.ask("PUBLISH", "news", "something");
    const heard: string[] = [];
    await until("it is heard", () => {
      heard.push(...ears.takeInbox().map((message) => message.items[2]!.text));
      return heard.length > 0;
    });
    expect(heard).toEqual(["something"]);
    await ears.close();
  });

  it("clients that wait at the primary are told, and sent away, when it becomes a replica", async () => {
    const [primary, replica] = await start(["ours", "ours"]);
    const wires = [await primary.wire(), await primary.wire()];
    wires[0]!.send(["BLPOP", "list", "0"]);
    wires[1]!.send(["WAIT", "3", "0"]);
    await until("they wait", async () => (await primary.number("blocked_clients")) === 2);
    await follow(primary, replica.port);
    for (const wire of wires) {
      expect((await wire.receive(1))[0]!.text).toBe(
        "UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)",
      );
      await until("the connection is closed", () => wire.closed);
    }
  });

  it("a script may keep its effects from the replicas", async () => {
    const [primary, replica] = await start(["ours", "ours"]);
    await follow(replica, primary.port);
    await primary.ask(
      "EVAL",
      "redis.call('SET', 'a', 1) redis.set_repl(redis.REPL_NONE) redis.call('SET', 'b', 1) redis.set_repl(redis.REPL_ALL) redis.call('SET', 'c', 1)",
      "0",
    );
    await caughtUp(primary, replica);
    expect((await replica.call("MGET", "a", "b", "c")).items.map(({ text }) => text)).toEqual(["1", "", "1"]);
  });

  it("clients of the replica notice what comes from the primary: waiting, watching, caching, listening ones", async () => {
    const [primary, replica] = await start(["ours", "ours"]);
    await follow(replica, primary.port);
    const [waiting, watching, caching, listening] = await Promise.all([1, 2, 3, 4].map(() => replica.wire()));
    waiting!.send(["XREAD", "BLOCK", "0", "STREAMS", "stream", "$"]);
    await watching!.pipeline([["WATCH", "k"], ["MULTI"], ["GET", "k"]]);
    await caching!.pipeline([
      ["HELLO", "3"],
      ["CLIENT", "TRACKING", "ON"],
      ["GET", "k"],
    ]);
    await replica.ask("CONFIG", "SET", "notify-keyspace-events", "KA");
    await listening!.call("SUBSCRIBE", "__keyspace@0__:k");
    await until("one waits", async () => (await replica.number("blocked_clients")) === 1);

    await primary.ask("XADD", "stream", "1-1", "f", "v");
    await primary.ask("SET", "k", "v");
    expect((await waiting!.receive(1))[0]!.items).toHaveLength(1);
    await caughtUp(primary, replica);
    expect((await watching!.call("EXEC")).tag).toBe("*-1");
    for (const [wire, kind] of [
      [caching!, "invalidate"],
      [listening!, "message"],
    ] as const) {
      const inbox: string[] = [];
      await until(`one hears "${kind}"`, () => {
        inbox.push(...wire.takeInbox().map((message) => message.items[0]!.text));
        return inbox.length > 0;
      });
      expect(inbox).toEqual([kind]);
    }
    await Promise.all([waiting!, watching!, caching!, listening!].map((wire) => wire.close()));
  });
});

describe("a chain", () => {
  it("whose middle is promoted goes on without copying", async () => {
    const [a, b, c] = await start(["ours", "ours", "ours"]);
    await follow(b, a.port);
    await follow(c, b.port);
    await a.ask("SET", "k", "by the first");
    await caughtUp(a, c);
    const before = await b.info();
    await b.ask("REPLICAOF", "NO", "ONE");
    await b.ask("SET", "k", "by the second");
    await linkUp(c);
    await caughtUp(b, c);
    expect(await c.ask("GET", "k")).toBe("by the second");
    expect(await b.number("sync_full")).toBe(Number(before.sync_full));
    const [theirs, own] = [await b.info("replication"), await c.info("replication")];
    expect(own.master_replid).toBe(theirs.master_replid);
  });

  it("that is cut above the middle stays connected below it, and gets there what was missed", async () => {
    const [a, b, c] = await start(["ours", "ours", "ours"]);
    const link = await Link.to(a);
    await follow(b, link.port);
    await follow(c, b.port);
    expect(await connected(a)).toBe(1);
    link.refuse();
    await until("the middle is alone", async () => (await b.info()).master_link_status === "down");
    expect((await c.info()).master_link_status).toBe("up");
    await a.ask("SET", "k", "while alone");
    link.restore();
    await linkUp(b);
    await caughtUp(a, c);
    expect(await c.ask("GET", "k")).toBe("while alone");
    expect(await b.number("sync_full")).toBe(1);
  });
});

describe("a restart of the primary", () => {
  it.each([["ours"], ["redis"]] as const)(
    "(%s) that saved its data lets the replicas go on where they were, and the logs say what tools wait for",
    async (kind) => {
      // Later servers say it in other words.
      if (kind === "redis" && yardstickMissing() !== undefined) return;
      const [primary, replica] = await start([kind, kind]);
      await follow(replica, primary.port);
      expect(replica.log).toMatch(/ \* MASTER <-> REPLICA sync: Loading DB in memory\n/);
      expect(replica.log).toMatch(/ \* MASTER <-> REPLICA sync: Finished with success\n/);
      await primary.ask("SET", "before", "yes");
      await caughtUp(primary, replica);
      await primary.call("SHUTDOWN", "SAVE");
      await until("it is gone", () => !primary.running);
      expect(primary.log).toMatch(/ # User requested shutdown\.\.\.\n/);
      expect(primary.log).toMatch(/ \* DB saved on disk\n/);
      expect(primary.log).toMatch(/ # (Cinnabar|Redis) is now ready to exit, bye bye\.\.\.\n$/);
      await primary.restart();
      expect(primary.log).toMatch(
        / \* DB loaded from disk: \d+\.\d{3} seconds\n(?:.*\n)*.* \* Ready to accept connections\n/,
      );
      await primary.ask("SET", "after", "yes");
      await linkUp(replica);
      await caughtUp(primary, replica);
      expect(await replica.ask("EXISTS", "before", "after")).toBe("2");
      expect(await primary.number("sync_full")).toBe(0);
      expect(await primary.number("sync_partial_ok")).toBe(1);
    },
  );

  it("during which keys expired removes them from the replicas, which go on where they were, word by word", async () => {
    const [primary, replica] = await start(["ours", "ours"]);
    const link = await Link.to(primary);
    await follow(replica, link.port);
    // They expire while it is away, however slowly it goes.
    await primary.ask("DEBUG", "SET-ACTIVE-EXPIRE", "0");
    await primary.ask("EVAL", "for i = 1, 300 do redis.call('set', 'due:' .. i, 'v', 'px', 1500) end", "0");
    await primary.ask("SET", "stays", "v");
    await caughtUp(primary, replica);
    expect(await replica.ask("DBSIZE")).toBe("301");
    await primary.call("SHUTDOWN", "SAVE");
    await until("it is gone", () => !primary.running);
    // What has expired is removed once the replica is back, not before.
    link.refuse();
    await until("the keys are due", async () => (await replica.ask("EXISTS", "due:1", "due:300")) === "0");
    expect(await replica.ask("DBSIZE")).toBe("301");
    await primary.restart();
    expect(primary.log).toMatch(/DB loaded from disk/);
    link.restore();
    await linkUp(replica);
    await until("the replica has removed them", async () => (await replica.ask("DBSIZE")) === "1");
    await expectSame(primary, replica);
    expect(await primary.number("sync_full")).toBe(0);
    expect(await primary.number("sync_partial_ok")).toBe(1);
  });

  it("whose keys expired meanwhile removes them from the replicas by the stream, which goes on", async () => {
    const [primary, replica] = await start(["ours", "ours"]);
    await follow(replica, primary.port);
    // They must still be there when the snapshot is written.
    await primary.ask("DEBUG", "SET-ACTIVE-EXPIRE", "0");
    const wire = await primary.wire();
    for (let db = 0; db < 16; db++) {
      await wire.pipeline([
        ["SELECT", String(db)],
        ...Array.from({ length: 64 }, (_, i) => ["SET", `short:${i}`, "lived", "PX", "20"]),
      ]);
    }
    await wire.call("SET", "stays", "yes");
    await wire.close();
    const now = async () => Number((await primary.call("TIME")).items[0]!.text);
    const written = await now();
    await until("their time has come", async () => (await now()) > written + 1);
    await caughtUp(primary, replica);
    const keysOf = async (server: Server) =>
      Object.entries(await server.info("keyspace")).map(([db, line]) => `${db} ${/keys=\d+/.exec(line)?.[0]}`);
    expect(await keysOf(replica)).toHaveLength(16);
    await primary.call("SHUTDOWN", "SAVE");
    await until("it is gone", () => !primary.running);
    await primary.restart();
    await linkUp(replica);
    await caughtUp(primary, replica);
    expect(await keysOf(primary)).toEqual(["db15 keys=1"]);
    expect(await keysOf(replica)).toEqual(["db15 keys=1"]);
    expect(await primary.number("sync_full")).toBe(0);
    expect(await primary.number("sync_partial_ok")).toBe(1);
    await expectSame(primary, replica);
  });

  it("with -9 and without files empties the replica with it: a primary is believed", async () => {
    const [primary, replica] = await start(["ours", "ours"]);
    await follow(replica, primary.port);
    await primary.ask("SET", "before", "yes");
    await caughtUp(primary, replica);
    await primary.restart();
    await primary.ask("SET", "after", "yes");
    await linkUp(replica);
    await caughtUp(primary, replica);
    expect(await replica.ask("EXISTS", "before", "after")).toBe("1");
    expect(await primary.number("sync_full")).toBe(1);
  });
});

describe.skipIf(yardstickMissing() !== undefined)("INFO replication", () => {
  it("has the same fields as that of a real Redis, in both roles", async () => {
    const fields: Record<string, string[]> = {};
    for (const kind of ["ours", "redis"] as const) {
      const [primary, replica] = await start([kind, kind]);
      await follow(replica, primary.port);
      await until("it is online", async () => /state=online/.test((await primary.info()).slave0 ?? ""));
      const link = await Link.to(primary);
      link.refuse();
      fields[kind] = [
        ...Object.keys(await primary.info("replication")),
        "—",
        ...Object.keys(await replica.info("replication")),
      ];
      await replica.ask("REPLICAOF", "127.0.0.1", String(link.port));
      fields[kind].push("—", ...Object.keys(await replica.info("replication")));
      await stopAll();
    }
    expect(fields.ours).toEqual(fields.redis);
  });
});
