/** The primary's end, byte by byte: what a replica is sent, when, and when it is sent away. */
import type { Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually, Peer } from "../../tests/kit/test-peer.ts";
import { ManualClock } from "../core/clock.ts";
import type { LocalClient } from "../embed/local-client.ts";
import { Engine as Store } from "../index.ts";

let store: Store;
let client: LocalClient;
let port: number;
let clock: ManualClock;
const sockets: Socket[] = [];

async function open(config: Record<string, string> = {}): Promise<void> {
  clock = new ManualClock();
  store = await Store.open({ clock, config: { "repl-diskless-sync-delay": "0", ...config } });
  ({ port } = await store.listen({ port: 0 }));
  client = store.connect();
}

beforeEach(() => open());

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await store.close();
});

function peer(): Peer {
  const made = new Peer(port);
  sockets.push(made.socket);
  return made;
}

/** The bytes of commands. */
const commands = (...lines: string[]) =>
  lines
    .map((line) => {
      const words = line.split(" ");
      return `*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join("")}`;
    })
    .join("");

/** Takes everything up to and with this. */
async function takeThrough(from: Peer, text: string): Promise<string> {
  await from.until(() => from.received.includes(text));
  const end = from.received.indexOf(text) + text.length;
  const taken = from.received.slice(0, end);
  from.received = from.received.slice(end);
  return taken;
}

interface Introduced {
  readonly replica: Peer;
  readonly id: string;
  readonly offset: number;
  readonly snapshot: string;
}

/** A replica that has its snapshot, and has said so. */
async function fullSync(listeningPort = 7000): Promise<Introduced> {
  const replica = peer();
  replica.write(commands(`REPLCONF listening-port ${listeningPort}`, "REPLCONF capa eof capa psync2"));
  expect(await takeThrough(replica, "+OK\r\n+OK\r\n")).toBe("+OK\r\n+OK\r\n");
  replica.write(commands("PSYNC ? -1"));
  const line = /\+FULLRESYNC ([0-9a-f]{40}) (\d+)\r\n/.exec(await takeThrough(replica, "\r\n$EOF:"))!;
  const mark = (await takeThrough(replica, "\r\n")).slice(0, 40);
  const snapshot = (await takeThrough(replica, mark)).slice(0, -40);
  replica.write(commands("REPLCONF ACK 0"));
  return { replica, id: line[1]!, offset: Number(line[2]), snapshot };
}

async function resumed(id: string, offset: number, capa = "capa psync2"): Promise<Peer> {
  const replica = peer();
  replica.write(commands(`REPLCONF ${capa}`));
  await takeThrough(replica, "+OK\r\n");
  return replica.write(commands(`PSYNC ${id} ${offset}`));
}

const info = async (field: string) =>
  new RegExp(`^${field}:(.*)\r$`, "m").exec(String(await client.call("INFO")))?.[1] ?? null;

describe("what a replica has yet to take", () => {
  it("does not count against maxmemory, and is in INFO's mem_not_counted_for_evict", async () => {
    const { replica } = await fullSync();
    await client.call("SET", "k", "x".repeat(100_000));
    const used = Number(await info("used_memory"));
    await client.call("CONFIG", "SET", "maxmemory", used + 3_000_000);
    replica.socket.pause();
    // Much more than the system's buffers and the backlog take.
    for (let i = 0; i < 300; i++) expect(await client.call("SET", "k", "x".repeat(100_000))).toBe("OK");
    const [now, spared] = [Number(await info("used_memory")), Number(await info("mem_not_counted_for_evict"))];
    expect(spared).toBeGreaterThan(5_000_000);
    expect(now).toBeGreaterThan(used + 5_000_000);
    expect(now - spared).toBeLessThan(used + 3_000_000);
    expect(await info("evicted_keys")).toBe("0");
    // Data of that size is refused.
    await expect(
      (async () => {
        for (let i = 0; i < 100; i++) await client.call("SET", `other ${i}`, "x".repeat(100_000));
      })(),
    ).rejects.toThrow("OOM");
    replica.socket.resume();
    await expect.poll(async () => Number(await info("mem_not_counted_for_evict"))).toBeLessThan(1_000_000);
  });
});

describe("a full resynchronisation", () => {
  it("sends everything as of one moment, and then what was written since, once the replica has said that it is ready", async () => {
    await client.call("SET", "before", "1");
    const replica = peer();
    replica.write(commands("REPLCONF capa eof", "PING"));
    await takeThrough(replica, "+PONG\r\n");
    replica.write(commands("PSYNC ? -1"));
    await takeThrough(replica, "$EOF:");
    const mark = (await takeThrough(replica, "\r\n")).slice(0, 40);
    await client.call("SET", "meanwhile", "2");
    const snapshot = await takeThrough(replica, mark);
    expect(snapshot).toContain("before");
    expect(snapshot).not.toContain("meanwhile");
    await client.call("SET", "after", "3");
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    expect(replica.received).toBe("");
    replica.write(commands("REPLCONF ACK 0"));
    const stream = commands("SELECT 0", "SET meanwhile 2", "SET after 3");
    expect(await replica.take(stream.length)).toBe(stream);
  });

  it("tells the length first to one that does not know marks, and goes on by itself", async () => {
    await client.call("SET", "k", "v");
    const replica = peer().write("SYNC\r\n");
    await takeThrough(replica, "$");
    const length = Number((await takeThrough(replica, "\r\n")).trim());
    await replica.until(() => replica.received.length >= length);
    expect(replica.received.slice(0, 9)).toBe("REDIS0010");
    await client.call("SET", "k", "w");
    const stream = commands("SELECT 0", "SET k w");
    expect((await replica.take(length + stream.length)).slice(length)).toBe(stream);
  });

  it("is shared by replicas that come before it begins", async () => {
    await store.close();
    await open({ "repl-diskless-sync-delay": "5" });
    await client.call("SET", "k", "v");
    const ready = [fullSync(1), fullSync(2)];
    expect(await eventually(() => store.replication.replicas.length === 2)).toBe(true);
    store.core.tick();
    expect(store.core.snapshot).toBeNull();
    clock.advance(5000);
    const [a, b] = await Promise.all(ready);
    expect(a!.snapshot).toBe(b!.snapshot);
    expect(await info("sync_full")).toBe("2");
  });

  it("says that it is alive while it is waited for", async () => {
    await store.close();
    await open({ "repl-diskless-sync-delay": "100" });
    const replica = peer().write(commands("REPLCONF capa eof"));
    await takeThrough(replica, "+OK\r\n");
    replica.write(commands("PSYNC ? -1"));
    expect(await eventually(() => store.replication.replicas.length === 1)).toBe(true);
    for (let i = 1; i <= 3; i++) {
      clock.advance(1001);
      store.core.tick();
      await replica.until(() => replica.received.length >= i);
    }
    expect(replica.received).toBe("\n\n\n");
  });

  it("has what rdb-filter-only asks for, and ends the connection where rdb-only was asked for", async () => {
    await client.call("FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('f', function() end)");
    await client.call("SET", "some-key", "v");
    const replica = peer().write(commands("REPLCONF rdb-only 1 rdb-filter-only functions"));
    await takeThrough(replica, "+OK\r\n");
    const all = await replica.write("SYNC\r\n").rest();
    expect(all).toContain("register_function");
    expect(all).not.toContain("some-key");
  });

  it("is called off when nobody is left who wants it", async () => {
    client.callSync("CONFIG", "SET", "rdbcompression", "no");
    for (let i = 0; i < 2000; i++) client.callSync("SET", `key:${i}`, "x".repeat(20_000));
    const replica = peer().write(commands("REPLCONF capa eof"));
    await takeThrough(replica, "+OK\r\n");
    replica.socket.pause();
    replica.write(commands("PSYNC ? -1"));
    expect(await eventually(() => store.core.snapshot !== null)).toBe(true);
    expect(await info("rdb_bgsave_in_progress")).toBe("1");
    replica.socket.destroy();
    expect(await eventually(() => store.core.snapshot === null && !store.core.persistence.busy)).toBe(true);
  });

  it("does not go on for one that takes nothing for repl-timeout, and queues little for it meanwhile", async () => {
    client.callSync("CONFIG", "SET", "rdbcompression", "no");
    for (let i = 0; i < 2000; i++) client.callSync("SET", `key:${i}`, "x".repeat(20_000));
    const replica = peer().write(commands("REPLCONF capa eof"));
    await takeThrough(replica, "+OK\r\n");
    replica.socket.pause();
    replica.write(commands("PSYNC ? -1"));
    const queued = () => Math.max(0, ...Array.from(store.core.replication.replicas, (one) => one.pendingBytes));
    expect(await eventually(() => queued() > 8_000_000)).toBe(true);
    for (let i = 0; i < 58; i++) {
      clock.advance(1001);
      store.core.tick();
    }
    expect(queued()).toBeLessThan(20_000_000);
    expect(store.replication.replicas.length).toBe(1);
    for (let i = 0; i < 5; i++) {
      clock.advance(1001);
      store.core.tick();
    }
    expect(store.replication.replicas.length).toBe(0);
  });
});

describe("the stream", () => {
  it("has effects rather than commands, together what belongs together, and the database before it", async () => {
    const { replica } = await fullSync();
    await client.call("SET", "k", "v", "EX", "100");
    await client.transaction([
      ["INCR", "n"],
      ["SELECT", "2"],
      ["SADD", "s", "a"],
    ]);
    await client.call("EVAL", "redis.call('SET','x',1) redis.call('GET','x') return redis.call('INCR','x')", "0");
    await client.call("GET", "k");
    await client.call("PUBLISH", "channel", "message");
    const deadline = clock.now() + 100_000;
    const expected = commands(
      "SELECT 0",
      `SET k v PXAT ${deadline}`,
      "MULTI",
      "INCR n",
      "SELECT 2",
      "SADD s a",
      "EXEC",
      "MULTI",
      "SET x 1",
      "INCR x",
      "EXEC",
      "PUBLISH channel message",
    );
    expect(await replica.take(expected.length)).toBe(expected);
  });

  it("says that it is alive every repl-ping-replica-period", async () => {
    const { replica } = await fullSync();
    clock.advance(10_001);
    store.core.tick();
    expect(await replica.take(14)).toBe(commands("PING"));
    clock.advance(5000);
    store.core.tick();
    clock.advance(5001);
    store.core.tick();
    expect(await replica.take(14)).toBe(commands("PING"));
  });

  it("says nothing more of its own when repl-ping-replica-period is made longer", async () => {
    const { replica } = await fullSync();
    clock.advance(10_001);
    store.core.tick();
    expect(await replica.take(14)).toBe(commands("PING"));
    const offset = await info("master_repl_offset");
    clock.advance(9_900);
    store.core.tick();
    await client.call("CONFIG", "SET", "repl-ping-replica-period", "100000", "repl-timeout", "100000");
    for (let seconds = 0; seconds < 60; seconds++) {
      clock.advance(1000);
      store.core.tick();
    }
    expect(await info("master_repl_offset")).toBe(offset);
    const expected = commands("SELECT 0", "SET k v");
    await client.call("SET", "k", "v");
    expect(await replica.take(expected.length)).toBe(expected);
  });

  it("costs nothing where nobody listens", async () => {
    expect(store.core.effects.propagation.heard).toBe(false);
    await client.call("SET", "k", "v");
    expect(await info("master_repl_offset")).toBe("0");
    await fullSync();
    expect(store.core.effects.propagation.heard).toBe(true);
    await client.call("SET", "k", "v");
    expect(Number(await info("master_repl_offset"))).toBe(commands("SELECT 0", "SET k v").length);
  });

  it("cannot be taken up by a client in the same process, nor inside a transaction", async () => {
    await expect(client.call("PSYNC", "?", "-1")).rejects.toThrow("need a connection");
    await client.call("MULTI");
    await expect(client.call("SYNC")).rejects.toThrow("not allowed inside a transaction");
  });

  it("ends with what was saved last: neither a ping nor an expired key comes behind it", async () => {
    await fullSync();
    await client.call("SET", "k", "v", "PX", "1");
    const { core } = store;
    expect(core.persistence.shutdown(false)).toBe(true);
    const { offset } = core.replication.feed;
    clock.advance(60_000);
    core.tick();
    expect(core.databases[0]!.size).toBe(0);
    expect(core.replication.feed.offset).toBe(offset);
  });

  it.each(["GET k", "PING", "XINFO HELP"])(
    "is not for answers: one who gets it and says %s is cut off",
    async (words) => {
      const { replica } = await fullSync();
      expect(await replica.write(commands(words)).take(1)).toBe("");
      expect(replica.ended).toBe(true);
      expect(await client.call("PING")).toBe("PONG");
    },
  );
});

describe("a partial resynchronisation", () => {
  it("sends what was missed and nothing else", async () => {
    const first = await fullSync();
    await client.call("SET", "k", "v");
    const stream = commands("SELECT 0", "SET k v");
    expect(await first.replica.take(stream.length)).toBe(stream);
    first.replica.socket.destroy();
    expect(await eventually(() => store.replication.replicas.length === 0)).toBe(true);
    await client.call("SET", "k", "w");
    const missed = `+CONTINUE ${first.id}\r\n${commands("SET k w")}`;
    const again = await resumed(first.id, first.offset + stream.length + 1);
    expect(await again.take(missed.length)).toBe(missed);
    const all = `+CONTINUE\r\n${stream}${commands("SET k w")}`;
    const whole = await resumed(first.id.toUpperCase(), first.offset + 1, "capa eof");
    expect(await whole.take(all.length)).toBe(all);
    expect(await info("sync_partial_ok")).toBe("2");
  });

  it("is refused where the history is another, or too much was missed, or what is asked for has not happened", async () => {
    const first = await fullSync();
    client.callSync("CONFIG", "SET", "repl-backlog-size", "16kb");
    for (let i = 0; i < 100; i++) client.callSync("SET", `k${i}`, "x".repeat(1000));
    const offset = Number(await info("master_repl_offset"));
    const wrong: [string, number][] = [
      [first.id, offset - 20_000],
      [first.id, offset + 2],
      ["f".repeat(40), offset],
    ];
    for (const [id, from] of wrong) {
      const again = await resumed(id, from);
      await takeThrough(again, "+FULLRESYNC ");
    }
    expect(await info("sync_partial_err")).toBe("3");
    await takeThrough(await resumed(first.id, offset - 16_000), "+CONTINUE");
  });

  it("is possible as long as nobody came for repl-backlog-ttl, and no longer", async () => {
    const { replica, id } = await fullSync();
    replica.socket.destroy();
    expect(await eventually(() => store.replication.replicas.length === 0)).toBe(true);
    clock.advance(3_599_000);
    store.core.tick();
    expect(await info("repl_backlog_active")).toBe("1");
    expect(await info("master_replid")).toBe(id);
    clock.advance(2000);
    store.core.tick();
    expect(await info("repl_backlog_active")).toBe("0");
    expect(await info("master_replid")).not.toBe(id);
    expect(store.core.effects.propagation.heard).toBe(false);
  });
});

describe("acknowledgements", () => {
  it("are asked for by WAIT, once for all who wait, and let them go on", async () => {
    const [a, b] = [await fullSync(1), await fullSync(2)];
    const other = store.connect();
    await client.call("SET", "k", "v");
    const waiting = [client.call("WAIT", 1, 0), other.call("SET", "x", "y"), other.call("WAIT", 2, 0)];
    const stream = commands("SELECT 0", "SET k v", "SET x y", "REPLCONF GETACK *");
    for (const { replica } of [a, b]) expect(await replica.take(stream.length)).toBe(stream);
    const had = a.offset + stream.length - commands("REPLCONF GETACK *").length;
    a.replica.write(commands(`REPLCONF ACK ${had}`));
    expect(await waiting[0]).toBe(1);
    expect(store.core.blocking.size).toBe(1);
    b.replica.write(commands(`REPLCONF ACK ${had}`));
    expect(await waiting[2]).toBe(2);
  });

  it("are counted when the time for WAIT is over", async () => {
    const { replica, offset } = await fullSync();
    await client.call("SET", "k", "v");
    const late = client.call("WAIT", 3, 1000);
    expect(await eventually(() => store.core.blocking.size === 1)).toBe(true);
    replica.write(commands(`REPLCONF ACK ${offset + 1000}`));
    expect(await eventually(() => store.replication.replicas[0]!.offset === offset + 1000)).toBe(true);
    clock.advance(1001);
    store.core.tick();
    expect(await late).toBe(1);
  });

  it("of what is on disk are counted by WAITAOF", async () => {
    const { replica, offset } = await fullSync();
    await client.call("SET", "k", "v");
    const waiting = client.call("WAITAOF", 0, 1, 0);
    replica.write(commands(`REPLCONF ACK ${offset + 1000}`));
    expect(await store.waitForReplicas(1)).toBe(1);
    expect(store.core.blocking.size).toBe(1);
    replica.write(commands(`REPLCONF ACK ${offset + 1000} FACK ${offset + 1000}`));
    expect(await waiting).toEqual([0, 1]);
    await expect(client.call("WAITAOF", 1, 1, 0)).rejects.toThrow("appendonly is disabled");
  });

  it("keep a replica: one that is silent for repl-timeout is dropped, and does not count as good before", async () => {
    await fullSync();
    await client.call("CONFIG", "SET", "min-replicas-to-write", 1);
    expect(await client.call("SET", "k", "v")).toBe("OK");
    clock.advance(11_001);
    store.core.tick();
    await expect(client.call("SET", "k", "v")).rejects.toThrow("NOREPLICAS");
    expect(await info("min_slaves_good_slaves")).toBe("0");
    clock.advance(50_000);
    store.core.tick();
    expect(store.replication.replicas).toEqual([]);
  });
});

describe("a replica that does not read", () => {
  it("is dropped at client-output-buffer-limit, however often chunks are small", async () => {
    await client.call("CONFIG", "SET", "client-output-buffer-limit", "replica 8mb 0 0");
    const { replica } = await fullSync();
    replica.socket.pause();
    let most = 0;
    let written = 0;
    while (store.replication.replicas.length > 0 && written < 200) {
      for (let i = 0; i < 100; i++) client.callSync("SET", "k", "x".repeat(10_000));
      written++;
      await new Promise((resolve) => setImmediate(resolve));
      for (const one of store.core.replication.replicas) most = Math.max(most, one.pendingBytes);
    }
    expect(store.replication.replicas).toEqual([]);
    expect(most).toBeGreaterThan(4_000_000);
    expect(most).toBeLessThan(11_000_000);
    expect(store.core.stats.outputLimitDisconnections).toBe(1);
  });

  it("is dropped by CLIENT KILL TYPE replica, and told apart by CLIENT LIST", async () => {
    const { replica } = await fullSync();
    expect(String(await client.call("CLIENT", "LIST", "TYPE", "replica"))).toMatch(/ flags=S /);
    expect(await client.call("CLIENT", "KILL", "TYPE", "replica")).toBe(1);
    expect(await replica.rest()).toBe("");
  });
});
