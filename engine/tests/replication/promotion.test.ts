/** Who is the primary changes: FAILOVER, promotion by hand, restarts. Nobody who was up to date is copied anew. */
import { afterEach, describe, expect, it, vi } from "vitest";
import {
  caughtUp,
  type Directives,
  follow,
  linkUp,
  PATIENCE_MS,
  type Server,
  startAll,
  stopAll,
  until,
} from "./servers.ts";

vi.setConfig({ testTimeout: PATIENCE_MS, hookTimeout: PATIENCE_MS });

afterEach(stopAll);

/** A quiet primary says nothing of its own, so that its last words are its last write. */
const QUIET: Directives = { "repl-ping-replica-period": "3600" };

/** A primary and so many replicas. */
async function family(replicas: number, directives: Directives = {}): Promise<[Server, Server, Server]> {
  const servers = await startAll(
    Array.from({ length: replicas + 1 }, () => "ours" as const),
    directives,
  );
  for (const replica of servers.slice(1)) await follow(replica, servers[0]!.port);
  return servers as [Server, Server, Server];
}

const portOf = (server: Server): string => String(server.port);
const roleOf = async (server: Server): Promise<string> => (await server.info("replication")).role!;

/** Writes numbers one after the other until told to stop or refused; knows the last that was acknowledged. */
class Counter {
  acknowledged = 0;
  refused = "";
  #stopped = false;
  readonly done: Promise<void>;

  constructor(server: Server) {
    this.done = this.#run(server);
  }

  async #run(server: Server): Promise<void> {
    const wire = await server.wire();
    while (!this.#stopped && this.refused === "") {
      const answer = await wire.call("INCR", "counter");
      if (answer.tag === ":") this.acknowledged = Number(answer.text);
      else this.refused = answer.text || answer.tag;
    }
    await wire.close();
  }

  stop(): Promise<void> {
    this.#stopped = true;
    return this.done;
  }
}

describe("FAILOVER", () => {
  it("hands over to a replica under load: nothing acknowledged is missing, and the old primary follows", async () => {
    const [a, b, c] = await family(2);
    const counter = new Counter(a);
    await until("it counts", () => counter.acknowledged > 100);
    expect(await a.ask("FAILOVER", "TO", "127.0.0.1", portOf(b), "TIMEOUT", "20000")).toBe("OK");
    await until("the roles have changed", async () => (await roleOf(b)) === "master" && (await roleOf(a)) === "slave");
    // The write that was held meanwhile is answered by what is now a replica.
    await counter.done;
    expect(counter.refused).toMatch(/^READONLY/);
    await caughtUp(b, a);
    expect(await b.ask("GET", "counter")).toBe(String(counter.acknowledged));
    expect((await a.info("replication")).master_failover_state).toBe("no-failover");
    expect(await b.number("sync_full")).toBe(0);
    expect(await b.number("sync_partial_ok")).toBe(1);
    await b.ask("SET", "written by", "the new one");
    // The third still follows the old primary, and is a replica's replica now.
    await caughtUp(b, c);
    expect(await c.ask("GET", "written by")).toBe("the new one");
  });

  it("chooses a replica itself, and can be given up", async () => {
    const [a, b, c] = await family(2);
    expect((await a.call("FAILOVER", "ABORT")).text).toBe("ERR No failover in progress.");
    expect((await a.call("FAILOVER", "TO", "127.0.0.1", "1")).text).toBe(
      "ERR FAILOVER target HOST and PORT is not a replica.",
    );
    expect((await b.call("FAILOVER")).text).toBe("ERR FAILOVER is not valid when server is a replica.");
    b.signal("SIGSTOP");
    c.signal("SIGSTOP");
    const writer = await a.wire();
    await writer.call("SET", "k", "what they have not got");
    expect(await a.ask("FAILOVER", "TO", "127.0.0.1", portOf(b), "TIMEOUT", "1500")).toBe("OK");
    expect((await a.info("replication")).master_failover_state).toBe("waiting-for-sync");
    expect((await a.call("FAILOVER")).text).toBe("ERR FAILOVER already in progress.");
    // Writes are held until it is decided.
    expect((await writer.call("SET", "k", "held")).text).toBe("OK");
    expect((await a.info("replication")).master_failover_state).toBe("no-failover");
    expect(await a.ask("FAILOVER", "TIMEOUT", "20000")).toBe("OK");
    expect(await a.ask("FAILOVER", "ABORT")).toBe("OK");
    expect((await writer.call("SET", "k", "after")).text).toBe("OK");
    b.signal("SIGCONT");
    c.signal("SIGCONT");
    expect(await a.ask("FAILOVER")).toBe("OK");
    await until("one of them took over", async () => (await roleOf(a)) === "slave");
    await linkUp(a);
    expect([await roleOf(b), await roleOf(c)].sort()).toEqual(["master", "slave"]);
    await writer.close();
  });
});

describe("promotion by hand", () => {
  it("keeps the history: the others, and the old primary, go on from where they were", async () => {
    const [a, b, c] = await family(2, QUIET);
    for (let i = 0; i < 50; i++) await a.ask("RPUSH", "list", String(i));
    await Promise.all([caughtUp(a, b), caughtUp(a, c)]);
    const before = await a.info("replication");
    await b.ask("REPLICAOF", "NO", "ONE");
    const promoted = await b.info("replication");
    expect(promoted).toMatchObject({
      role: "master",
      master_replid2: before.master_replid,
      second_repl_offset: String(Number(before.master_repl_offset) + 1),
    });
    expect(promoted.master_replid).not.toBe(before.master_replid);
    await b.ask("RPUSH", "list", "after");
    await follow(c, b.port);
    await follow(a, b.port);
    expect(await b.number("sync_full")).toBe(0);
    expect(await b.number("sync_partial_ok")).toBe(2);
    for (const server of [a, c]) {
      await caughtUp(b, server);
      expect((await server.call("LRANGE", "list", "-1", "-1")).items[0]!.text).toBe("after");
      expect((await server.info("replication")).master_replid).toBe(promoted.master_replid);
    }
  });

  it("goes round in a circle at rest without a copy, once repl-ping-replica-period was made longer", async () => {
    const servers = await family(2, { "repl-ping-replica-period": "1" });
    const offset = async () => (await servers[0].info("replication")).master_repl_offset;
    await servers[0].ask("SET", "k", "v");
    const before = await offset();
    await until("it pings", async () => (await offset()) !== before);
    for (const server of servers) await server.ask("CONFIG", "SET", "repl-ping-replica-period", "3600");
    await Promise.all([caughtUp(servers[0], servers[1]), caughtUp(servers[0], servers[2])]);
    const copies = async () => {
      let sum = 0;
      for (const server of servers) sum += await server.number("sync_full");
      return sum;
    };
    const atFirst = await copies();
    for (const [from, to] of [
      [0, 1],
      [1, 2],
      [2, 0],
      [0, 2],
    ] as const) {
      await servers[to].ask("REPLICAOF", "NO", "ONE");
      for (const server of servers) if (server !== servers[to]) await follow(server, servers[to].port);
      await Promise.all(
        servers.filter((server) => server !== servers[to]).map((server) => caughtUp(servers[to], server)),
      );
      expect(await roleOf(servers[from])).toBe("slave");
    }
    expect(await copies()).toBe(atFirst);
  });

  it("does not keep a history that has split: an old primary that wrote on is copied anew", async () => {
    const [a, b] = await family(1, QUIET);
    await a.ask("SET", "shared", "yes");
    await caughtUp(a, b);
    await b.ask("REPLICAOF", "NO", "ONE");
    await a.ask("SET", "only in the old one", "yes");
    await b.ask("SET", "only in the new one", "yes");
    await follow(a, b.port);
    expect(await b.number("sync_full")).toBe(1);
    await caughtUp(b, a);
    expect(await a.ask("EXISTS", "only in the old one")).toBe("0");
    expect(await a.ask("EXISTS", "shared", "only in the new one")).toBe("2");
  });
});

describe("a restart", () => {
  it("of a replica that saved its data goes on with a partial resynchronisation", async () => {
    const [a, b] = await family(1);
    await b.ask("CONFIG", "REWRITE");
    await a.ask("SET", "before", "yes");
    await caughtUp(a, b);
    await b.call("SHUTDOWN", "SAVE");
    await until("it is gone", () => !b.running);
    await a.ask("SET", "meanwhile", "yes");
    const before = await a.info();
    await b.restart();
    await linkUp(b);
    await caughtUp(a, b);
    expect(await b.ask("EXISTS", "before", "meanwhile")).toBe("2");
    expect(await a.number("sync_full")).toBe(Number(before.sync_full));
    expect(await a.number("sync_partial_ok")).toBe(Number(before.sync_partial_ok) + 1);
  });

  it("with -9 of a replica that keeps an append-only file finds what it had, also what a full resync brought", async () => {
    const [a, b] = await startAll(["ours", "ours"], { appendonly: "yes", appendfsync: "always" });
    await a!.ask("SET", "in the snapshot", "yes");
    await b!.ask("SET", "of a former life", "yes");
    await follow(b!, a!.port);
    await a!.ask("SET", "in the stream", "yes");
    await caughtUp(a!, b!);
    await until("the file has been rewritten", async () => (await b!.info()).aof_rewrite_in_progress === "0");
    await b!.restart();
    expect((await b!.info()).role).toBe("master");
    expect(await b!.ask("EXISTS", "in the snapshot", "in the stream")).toBe("2");
    expect(await b!.ask("DBSIZE")).toBe("2");
  });
});
