/**
 * Real failovers: a primary that is killed under Sentinel and in a Cluster, a planned failover, and slots on the move, each
 * under load. The rule under test: callers see at most a pause; whatever is acknowledged is there afterwards, as far as
 * replication had carried it; and a script that may have run is never run again by us.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type ClusterProcesses,
  cli,
  installed,
  type SentinelProcesses,
  startCluster,
  startSentinel,
} from "../../tests/kit/servers.ts";
import { ConnectionError, ServerError } from "../base/errors.ts";
import { defineScript } from "../base/script.ts";
import { open } from "./open.ts";
import { slotOf } from "./slots.ts";
import type { Store } from "./store.ts";

const push = defineScript({
  name: "push",
  keys: ["list"],
  args: ["value"],
  lua: `return redis.call("RPUSH", list, value)`,
});
const programs = ["redis-server", "redis-cli", "redis-sentinel"];

/** Adds numbers one after the other until told to stop; what it knows of each is what a caller would know. */
function loadOn(store: Store, list: string) {
  const acknowledged: number[] = [];
  const unsure: number[] = [];
  let stopped = false;
  let onProgress: () => void = () => {};
  const running = (async () => {
    for (let n = 0; !stopped; n++) {
      try {
        await store.run(push, { list, value: n });
        acknowledged.push(n);
        onProgress();
      } catch (error) {
        if (!(error instanceof ConnectionError) && !(error instanceof ServerError)) throw error;
        unsure.push(n);
      }
    }
  })();
  return {
    acknowledged,
    unsure,
    /** Resolves when this many more have been acknowledged. */
    more: (count: number): Promise<void> => {
      const goal = acknowledged.length + count;
      return new Promise((resolve) => {
        onProgress = () => void (acknowledged.length >= goal && resolve());
      });
    },
    stop: async () => {
      stopped = true;
      await running;
    },
  };
}

/** Nothing twice, nothing that was never sent. */
function neverTwice(list: readonly string[], load: ReturnType<typeof loadOn>): void {
  expect(new Set(list).size).toBe(list.length);
  const sent = new Set([...load.acknowledged, ...load.unsure].map(String));
  expect(list.filter((value) => !sent.has(value))).toEqual([]);
}

describe.skipIf(!programs.every(installed))("under Sentinel", () => {
  let servers: SentinelProcesses;
  let store: Store;
  beforeAll(async () => {
    servers = await startSentinel();
    store = await open(servers.url, { retryMs: 30_000 });
  });
  afterAll(async () => {
    await store?.close();
    await servers?.stop();
  });

  test("a primary that is killed is replaced, and commands, subscriptions and blocking calls go on", async () => {
    let resumed: () => void = () => {};
    const isBack = new Promise<void>((resolve) => {
      resumed = resolve;
    });
    let heard: (text: string) => void = () => {};
    const hearing = new Promise<string>((resolve) => {
      heard = resolve;
    });
    await store.subscribe(
      "news",
      (message) => heard(message.toString()),
      () => resumed(),
    );
    const blocking = store.blocking("jobs");
    const waiting = blocking.call(["BLPOP", "jobs", 60], { timeoutMs: 60_000 }).catch((error) => error);
    const load = loadOn(store, "log");
    await load.more(50);
    await servers.primary.kill();
    await load.more(50);
    await load.stop();
    const list = (await store.call("LRANGE", "log", 0, -1)) as string[];
    neverTwice(list, load);
    // The blocking call was told; it did not wait for a server that is gone.
    expect(await waiting).toBeInstanceOf(ConnectionError);
    // Sentinels that do not agree fail over twice: a call that this breaks off is told, and what is published between is lost.
    const work = async (): Promise<unknown> => {
      await store.call("RPUSH", "jobs", "one");
      return blocking.call(["BLPOP", "jobs", 10], { timeoutMs: 10_000 });
    };
    const retold = (error: unknown) => (error instanceof ConnectionError ? work() : Promise.reject(error));
    expect(await work().catch(retold)).toEqual(["jobs", "one"]);
    await isBack;
    const telling = setInterval(() => void store.call("PUBLISH", "news", "after the failover").catch(() => {}), 100);
    expect(await hearing).toBe("after the failover");
    clearInterval(telling);
    // Transactions too.
    expect(await store.transaction({ watch: ["n"] }, () => [["INCR", "n"]])).toEqual([1]);
  });

  test("a planned failover demotes the primary, and commands go to the new one", async () => {
    const load = loadOn(store, "planned");
    await load.more(50);
    // The one that was killed is back, as a replica; the new primary hands over.
    await servers.primary.restart();
    const sentinel = servers.sentinels[0]!.port;
    const primaryNow = (): string => cli(sentinel, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", "main");
    const before = primaryNow();
    const isUnderWay = (): boolean => cli(sentinel, "SENTINEL", "MASTER", "main").includes("failover_in_progress");
    // A Sentinel gives one up where no replica is fit to be promoted yet.
    while (primaryNow() === before) {
      if (!isUnderWay() && primaryNow() === before) cli(sentinel, "SENTINEL", "FAILOVER", "main");
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const isThere = async (): Promise<boolean> => {
      const [host, port] = primaryNow().split("\n");
      return ((await store.call("CLIENT", "INFO").catch(() => "")) as string).includes(`laddr=${host}:${port} `);
    };
    while (!(await isThere())) await load.more(1);
    await load.more(50);
    await load.stop();
    neverTwice((await store.call("LRANGE", "planned", 0, -1)) as string[], load);
  });

  test("connections to a primary that stands still and was replaced are given up, those that only wait too", async () => {
    const [, port] = cli(servers.sentinels[0]!.port, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", "main").split("\n");
    const still = [servers.primary, ...servers.replicas].find((each) => each.port === Number(port))!;
    let resumed: () => void = () => {};
    const isBack = new Promise<void>((resolve) => {
      resumed = resolve;
    });
    await store.subscribe("more news", () => {}, resumed);
    // What comes of it is looked at later, and may be there before.
    const waiting = store
      .blocking("nothing")
      .call(["BLPOP", "nothing", 0], { timeoutMs: 600_000 })
      .catch((error: unknown) => error);
    while (!/blocked_clients:[1-9]/.test(cli(still.port, "INFO", "clients"))) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    still.pause();
    try {
      // Neither its connection nor the server says anything: Sentinel does.
      expect(await waiting).toBeInstanceOf(ConnectionError);
      await isBack;
    } finally {
      still.resume();
    }
  });
});

describe.skipIf(!programs.every(installed))("in a Cluster", () => {
  let cluster: ClusterProcesses;
  let store: Store;
  beforeAll(async () => {
    cluster = await startCluster();
    store = await open(cluster.url, { retryMs: 30_000 });
  });
  afterAll(async () => {
    await store?.close();
    await cluster?.stop();
  });
  const owner = (slot: number): { readonly id: string; readonly port: number } => {
    for (const line of cli(
      cluster.nodes.find(({ port }) => cli(port, "PING") === "PONG")!.port,
      "CLUSTER",
      "NODES",
    ).split("\n")) {
      const [id = "", address = "", flags = "", , , , , ...ranges] = line.split(" ");
      if (!flags.includes("master") || flags.includes("fail")) continue;
      for (const range of ranges) {
        const [from, to = from] = range.split("-").map(Number);
        if (slot >= from! && slot <= to!) return { id, port: Number(/:(\d+)@/.exec(address)![1]) };
      }
    }
    throw new Error(`nobody owns slot ${slot}`);
  };

  test("a slot that moves is followed: MOVED, ASK and TRYAGAIN end in the right answer", async () => {
    const slot = slotOf("{move}");
    const from = owner(slot);
    const to = owner((slot + 8_000) % 16_384);
    expect(to.port).not.toBe(from.port);
    await store.pipeline(Array.from({ length: 20 }, (_, n) => ["SET", `{move}${n}`, n]));
    const load = loadOn(store, "{move}log");
    await load.more(20);
    cli(to.port, "CLUSTER", "SETSLOT", String(slot), "IMPORTING", from.id);
    cli(from.port, "CLUSTER", "SETSLOT", String(slot), "MIGRATING", to.id);
    // Half of the keys are there, half still here: each is found, also in pipelines and transactions.
    const moved = Array.from({ length: 10 }, (_, n) => `{move}${n}`);
    cli(from.port, "MIGRATE", "127.0.0.1", String(to.port), "", "0", "5000", "KEYS", ...moved);
    const all = Array.from({ length: 20 }, (_, n) => ["GET", `{move}${n}`] as const);
    expect(await store.pipeline(all)).toEqual(all.map((_, n) => String(n)));
    expect(await store.call("INCR", "{move}3")).toBe(4);
    expect(
      await store.multi([
        ["INCR", "{move}3"],
        ["GET", "{move}3"],
      ]),
    ).toEqual([5, "5"]);
    // A script runs whole or not at all, so it waits for the end of the move.
    const pushed = store.run(push, { list: "{move}new", value: "x" });
    expect(
      await store
        .blocking("{move}15")
        .call(["LPOP", "{move}none"], { timeoutMs: 0 })
        .catch((error) => error.code),
    ).toMatch(/ASK/);
    // A key on each side in one command has to wait until the move is over.
    const both = store.call("MGET", "{move}3", "{move}15");
    const rest = cli(from.port, "CLUSTER", "GETKEYSINSLOT", String(slot), "1000").split("\n");
    cli(from.port, "MIGRATE", "127.0.0.1", String(to.port), "", "0", "5000", "KEYS", ...rest);
    for (const node of [to, from]) cli(node.port, "CLUSTER", "SETSLOT", String(slot), "NODE", to.id);
    expect(await both).toEqual(["5", "15"]);
    expect(await pushed).toBe(1);
    await load.more(20);
    await load.stop();
    expect(load.unsure).toEqual([]);
    expect(await store.call("LRANGE", "{move}log", 0, -1)).toEqual(load.acknowledged.map(String));
    expect(await store.transaction({ watch: ["{move}3"] }, () => [["INCR", "{move}3"]])).toEqual([6]);
  });

  test("a planned failover loses nothing", async () => {
    const before = owner(slotOf("{plan}"));
    const load = loadOn(store, "{plan}log");
    await load.more(50);
    const replica = cli(before.port, "CLUSTER", "REPLICAS", before.id).match(/:(\d+)@/)![1]!;
    expect(cli(Number(replica), "CLUSTER", "FAILOVER")).toBe("OK");
    while (owner(slotOf("{plan}")).port === before.port) await new Promise((resolve) => setTimeout(resolve, 50));
    await load.more(50);
    await load.stop();
    expect(load.unsure).toEqual([]);
    expect(await store.call("LRANGE", "{plan}log", 0, -1)).toEqual(load.acknowledged.map(String));
  });

  test("a primary that is killed is replaced by its replica, and everything goes on", async () => {
    const slot = slotOf("{kill}");
    const dead = owner(slot);
    let resumed = 0;
    await store.subscribe(
      "news",
      () => {},
      () => resumed++,
    );
    const blocking = store.blocking("{kill}jobs");
    const waiting = blocking.call(["BLPOP", "{kill}jobs", 60], { timeoutMs: 60_000 }).catch((error) => error);
    const load = loadOn(store, "{kill}log");
    await load.more(50);
    await cluster.nodes.find(({ port }) => port === dead.port)!.kill();
    await load.more(50);
    await load.stop();
    neverTwice((await store.call("LRANGE", "{kill}log", 0, -1)) as string[], load);
    expect(await waiting).toBeInstanceOf(ConnectionError);
    await store.call("RPUSH", "{kill}jobs", "one");
    expect(await blocking.call(["BLPOP", "{kill}jobs", 10], { timeoutMs: 10_000 })).toEqual(["{kill}jobs", "one"]);
    expect(await store.transaction({ watch: ["{kill}n"] }, () => [["INCR", "{kill}n"]])).toEqual([1]);
    expect(await store.sendToAll(["PING"])).toEqual(["PONG", "PONG", "PONG"]);
    // The others never noticed, and a store that is opened now finds its way past the dead seed.
    const fresh = await open(cluster.url);
    expect(await fresh.call("GET", "{kill}n")).toBe("1");
    await fresh.close();
  });

  test("a blocking call at a primary that stands still and was replaced is given up", async () => {
    // On a shard that still has its replica.
    const tag = ["{a}", "{b}", "{c}", "{d}"].find((each) => owner(slotOf(each)).port !== owner(slotOf("{kill}")).port)!;
    const still = cluster.nodes.find(({ port }) => port === owner(slotOf(tag)).port)!;
    // What comes of it is looked at later, and may be there before.
    const waiting = store
      .blocking(`${tag}none`)
      .call(["BLPOP", `${tag}none`, 0], { timeoutMs: 600_000 })
      .catch((error: unknown) => error);
    while (!/blocked_clients:[1-9]/.test(cli(still.port, "INFO", "clients"))) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    still.pause();
    try {
      // Another call to that node finds that it is silent, and the Cluster's new table then tells whom to leave.
      expect(await store.call("GET", `${tag}n`)).toBe(null);
      expect(await waiting).toBeInstanceOf(ConnectionError);
    } finally {
      still.resume();
    }
  });
});
