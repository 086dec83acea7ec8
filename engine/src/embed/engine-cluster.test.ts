/** A whole Cluster in one process: what tests may do to it, and what is kept. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { keySlot } from "../lib/key-slot.ts";
import { EngineCluster, type EngineClusterNode, type EngineClusterOptions } from "./engine-cluster.ts";
import type { ReplyValue } from "./local-client.ts";

const open: EngineCluster[] = [];
const folders: string[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((cluster) => cluster.close()));
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

async function start(options: EngineClusterOptions = {}): Promise<EngineCluster> {
  const cluster = await EngineCluster.open({ listen: false, nodeTimeoutMs: 200, ...options });
  open.push(cluster);
  return cluster;
}

/** A client that follows redirections, for one command at a time. */
async function call(cluster: EngineCluster, key: string, ...words: string[]): Promise<ReplyValue> {
  // Answers in the same process come at once: others must have their turn.
  await new Promise((resolve) => setImmediate(resolve));
  let node = cluster.ownerOf(keySlot(key));
  for (let asking = false; ; ) {
    if (node === undefined) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      node = cluster.ownerOf(keySlot(key));
      continue;
    }
    const client = node.connect();
    try {
      if (asking) await client.call("ASKING");
      return await client.call(...(words as [string, ...string[]]));
    } catch (error) {
      const [, kind, address] = /^(MOVED|ASK) \d+ (\S+)/.exec((error as Error).message) ?? [];
      if (kind === undefined) {
        if (!/^(TRYAGAIN|CLUSTERDOWN|READONLY)|closed/.test((error as Error).message)) throw error;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      asking = kind === "ASK";
      const target = cluster.nodes.find(({ host, port }) => `${host}:${port}` === address && address !== undefined);
      node = target?.isRunning ? target : cluster.ownerOf(keySlot(key));
    } finally {
      client.close();
    }
  }
}

const set = (cluster: EngineCluster, key: string, value: string) => call(cluster, key, "SET", key, value);
const get = (cluster: EngineCluster, key: string) => call(cluster, key, "GET", key);
const KEYS = Array.from({ length: 300 }, (_, i) => `key:${i}`);

describe("a Cluster in one process", () => {
  test("serves all slots, and its replicas have what its primaries have", async () => {
    const cluster = await start();
    expect(cluster.nodes.map(({ role }) => role)).toEqual([
      "primary",
      "primary",
      "primary",
      "replica",
      "replica",
      "replica",
    ]);
    for (const key of KEYS) await set(cluster, key, key);
    await cluster.synced();
    const sizes = cluster.nodes.map(({ engine }) => engine.core.databases[0]!.size);
    expect(sizes.slice(0, 3)).toEqual(sizes.slice(3));
    expect(sizes.slice(0, 3).reduce((a, b) => a + b)).toBe(KEYS.length);
  });

  test("tells a client of the wrong node where the key is", async () => {
    const cluster = await start();
    const { port } = cluster.ownerOf(keySlot("a"))!;
    const wrong = cluster.nodes.find((node) => node !== cluster.ownerOf(keySlot("a")))!;
    await expect(wrong.connect().call("GET", "a")).rejects.toThrow(`MOVED 15495 127.0.0.1:${port}`);
  });

  test("takes any number of primaries and replicas", async () => {
    const cluster = await start({ primaries: 5, replicas: 2 });
    expect(cluster.nodes).toHaveLength(15);
    expect(cluster.replicasOf(4).map(({ index }) => index)).toEqual([9, 14]);
    await expect(EngineCluster.open({ primaries: 0 })).rejects.toThrow(RangeError);
  });

  test("moves slots under load, and loses nothing", async () => {
    const cluster = await start();
    const slots = [...new Set(KEYS.map((key) => keySlot(`{${key}}`)))].slice(0, 60);
    const written = new Map<string, string>();
    let stop = false;
    const writers = [0, 1, 2, 3].map(async (writer) => {
      for (let round = 0; !stop; round++) {
        for (const key of KEYS) {
          const name = `{${key}}:${writer}`;
          await set(cluster, name, String(round));
          written.set(name, String(round));
        }
      }
    });
    const seen = new Set<string>();
    for (const target of [1, 2, 0]) {
      const onStep = async (slot: number) => {
        const from = cluster.ownerOf(slot)!;
        if (from.member.migrating.has(slot) && cluster.nodes[target]!.member.importing.has(slot)) seen.add("open");
        await new Promise((resolve) => setImmediate(resolve));
      };
      await cluster.moveSlots(slots, target, { keysAtOnce: 1, onStep });
    }
    stop = true;
    await Promise.all(writers);
    expect(seen).toContain("open");
    expect(slots.every((slot) => cluster.ownerOf(slot) === cluster.nodes[0])).toBe(true);
    for (const [key, value] of written) expect(await get(cluster, key)).toBe(value);
    const keys = cluster.nodes.slice(0, 3).reduce((sum, { engine }) => sum + engine.core.databases[0]!.size, 0);
    expect(keys).toBe(written.size);
    expect(cluster.nodes.every(({ member }) => member.migrating.size + member.importing.size === 0)).toBe(true);
  });

  test("a failover that is asked for loses no write", async () => {
    const cluster = await start({ replicaLagMs: 5 });
    const count = new Map<string, number>();
    let stop = false;
    const writing = (async () => {
      while (!stop) {
        for (const key of KEYS.slice(0, 40)) {
          await call(cluster, key, "INCR", key);
          count.set(key, (count.get(key) ?? 0) + 1);
        }
      }
    })();
    for (const index of [0, 1, 2, 3]) await cluster.failover(index);
    stop = true;
    await writing;
    for (const [key, value] of count) expect(await get(cluster, key)).toBe(String(value));
    await expect(cluster.failover(cluster.nodes.find(({ role }) => role === "primary")!.index)).resolves.toBeTypeOf(
      "number",
    );
  });

  test("a replica takes over from a primary that dies, after the node timeout, with what WAIT has confirmed", async () => {
    const cluster = await start();
    const confirmed: string[] = [];
    for (const key of KEYS) {
      const client = cluster.ownerOf(keySlot(key))!.connect();
      await client.call("SET", key, "kept");
      if ((await client.call("WAIT", "1", "5000")) === 1) confirmed.push(key);
      client.close();
    }
    expect(confirmed).toEqual(KEYS);
    await cluster.kill(0);
    expect(cluster.nodes[3]!.role).toBe("replica");
    await expect.poll(() => cluster.nodes[3]!.role).toBe("primary");
    for (const key of confirmed) expect(await get(cluster, key)).toBe("kept");
    await cluster.restart(0);
    expect(cluster.nodes[0]!.role).toBe("replica");
    await cluster.synced();
    const [old, now] = [0, 3].map((index) => cluster.nodes[index]!.engine.core.databases[0]!);
    expect(old!.size).toBe(now!.size);
    const slots = [...new Set(KEYS.map(keySlot))];
    expect(slots.map((slot) => old!.slots!.count(slot))).toEqual(slots.map((slot) => now!.slots!.count(slot)));
    await cluster.failover(0);
    for (const key of confirmed) expect(await get(cluster, key)).toBe("kept");
  });

  test("is down while a slot has no owner that runs, and is up again with it", async () => {
    const cluster = await start({ replicas: 0 });
    await cluster.kill(2);
    const { member } = cluster.nodes[0]!;
    await expect.poll(() => member.isUp).toBe(false);
    await expect(cluster.nodes[0]!.connect().call("GET", "b")).rejects.toThrow("CLUSTERDOWN The cluster is down");
    await cluster.restart(2);
    expect(member.isUp).toBe(true);
    expect(await get(cluster, "b")).toBeNull();
  });

  test("a part without the majority stops; the other goes on, and its claims count when they meet again", async () => {
    const cluster = await start();
    await set(cluster, "b", "before");
    await cluster.synced();
    cluster.partition([0]);
    // Until the node timeout a primary does not know that it is alone: what it accepts now is lost.
    await cluster.nodes[0]!.connect().call("SET", "b", "lost");
    await expect.poll(() => cluster.nodes[0]!.member.isUp).toBe(false);
    await expect(cluster.nodes[0]!.connect().call("SET", "b", "x")).rejects.toThrow("CLUSTERDOWN");
    await expect.poll(() => cluster.nodes[3]!.role).toBe("primary");
    expect(cluster.nodes[0]!.role).toBe("primary");
    await cluster.nodes[3]!.connect().call("SET", "b", "after");
    expect(() => cluster.partition([1])).toThrow("heal it first");
    cluster.heal();
    await cluster.synced();
    expect(cluster.nodes[0]!.role).toBe("replica");
    expect(await get(cluster, "b")).toBe("after");
    const replica = cluster.nodes[0]!.connect();
    await replica.call("READONLY");
    expect(await replica.call("GET", "b")).toBe("after");
  });

  test("ends all at once, although its nodes would reconnect to each other", async () => {
    for (let i = 0; i < 6; i++) {
      const cluster = await start();
      await call(cluster, "k", "SET", "k", "v");
      if (i % 2 === 0) await cluster.failover(0);
      await cluster.close();
      expect(cluster.nodes.some(({ isRunning }) => isRunning)).toBe(false);
    }
  });

  test("replicas lag as long as they are told to", async () => {
    const cluster = await start({ replicaLagMs: 0 });
    const replica = cluster.nodes[3]!.connect();
    await replica.call("READONLY");
    cluster.replicaLagMs = 100_000;
    const client = cluster.nodes[0]!.connect();
    await client.call("SET", "b", "1");
    expect(await client.call("WAIT", "1", "50")).toBe(0);
    expect(await replica.call("GET", "b")).toBeNull();
    expect(cluster.replicaLagMs).toBe(100_000);
  });

  test("publishes to subscribers of all nodes, and to shard channels in their shard", async () => {
    const cluster = await start();
    const heard: string[] = [];
    for (const { index } of cluster.nodes) {
      const client = cluster.nodes[index]!.connect();
      await client.subscribe("news", (message) => heard.push(`${index}:${String(message)}`));
    }
    expect(await cluster.nodes[0]!.connect().call("PUBLISH", "news", "x")).toBe(1);
    await expect.poll(() => heard.length).toBe(6);

    const shard: string[] = [];
    const reader = cluster.nodes[3]!.connect();
    reader.onPush((push) => shard.push(JSON.stringify(push)));
    await reader.call("SSUBSCRIBE", "b");
    await cluster.nodes[0]!.connect().call("SPUBLISH", "b", "y");
    await expect.poll(() => shard.some((text) => text.includes("smessage"))).toBe(true);
    await cluster.moveSlots([keySlot("b")], 1);
    await expect.poll(() => shard.some((text) => text.includes("sunsubscribe"))).toBe(true);
  });

  test("clients that wait for a key of a slot that leaves are sent after it", async () => {
    const cluster = await start();
    const waiting = cluster.nodes[0]!.connect().call("BLPOP", "b", "0");
    const outcome = vi.fn();
    waiting.catch(outcome);
    await cluster.moveSlots([keySlot("b")], 1);
    await expect.poll(() => outcome.mock.calls.length).toBe(1);
    expect(outcome.mock.calls[0]![0].message).toBe(`MOVED 3300 127.0.0.1:${cluster.nodes[1]!.port}`);
  });

  test("keeps data, roles and slots in a folder", async () => {
    const dir = mkdtempSync(join(tmpdir(), "cinnabar-cluster-"));
    folders.push(dir);
    const before = await start({ dir });
    for (const key of KEYS) await set(before, key, key);
    await before.moveSlots({ from: 0, to: 9 }, 2);
    await before.failover(1);
    await before.synced();
    const ids = before.nodes.map(({ id }) => id);
    const roles = before.nodes.map(({ role }) => role);
    await before.close();

    const after = await start({ dir });
    expect(after.nodes.map(({ id }) => id)).toEqual(ids);
    expect(after.nodes.map(({ role }) => role)).toEqual(roles);
    expect(after.ownerOf(5)).toBe(after.nodes[2]);
    for (const key of KEYS) expect(await get(after, key)).toBe(key);
    await expect(EngineCluster.open({ dir, primaries: 4, listen: false })).rejects.toThrow("a Cluster of 6 nodes");
  });

  test("nodes leave and come back by CLUSTER RESET, FORGET and MEET", async () => {
    const cluster = await start();
    const [a, , , , , last] = cluster.nodes;
    const client = last!.connect();
    await client.call("CLUSTER", "RESET", "SOFT");
    await a!.connect().call("CLUSTER", "FORGET", last!.id);
    await cluster.nodes[1]!.connect().call("CLUSTER", "FORGET", last!.id);
    expect(a!.member.state.nodes.size).toBe(5);
    await a!.connect().call("CLUSTER", "MEET", last!.host, String(last!.port));
    expect(last!.member.state).toBe(a!.member.state);
    expect(a!.member.state.nodes.size).toBe(6);
    await client.call("CLUSTER", "REPLICATE", cluster.nodes[2]!.id);
    await cluster.synced();
    expect(last!.role).toBe("replica");
    // As `redis-cli --cluster del-node` does it: forgotten first.
    const { id } = last!;
    await a!.connect().call("CLUSTER", "FORGET", id);
    await client.call("CLUSTER", "RESET", "HARD");
    expect(last!.role).toBe("primary");
    expect(last!.id).not.toBe(id);
    expect(last!.id).toBe(await client.call("CLUSTER", "MYID"));
    await expect(client.call("CLUSTER", "MEET", "127.0.0.1", "1")).rejects.toThrow(/one process.*Redis or Valkey/);
  });

  test("a node that was reset is a primary to the others while it answers, and lost when it ends", async () => {
    const cluster = await start();
    const [a, , , , other, reset] = cluster.nodes;
    const told = async ({ id }: EngineClusterNode) => {
      const nodes = String(await a!.connect().call("CLUSTER", "NODES"));
      return /(\S+) \S+ \d+ \d+ \d+ (\w+)$/.exec(nodes.split("\n").find((line) => line.startsWith(id))!)?.slice(1);
    };
    await reset!.connect().call("CLUSTER", "RESET");
    expect(await told(reset!)).toEqual(["master", "connected"]);
    // By the time that a dead node is noticed, the one that was reset is still there.
    await cluster.kill(4);
    await expect.poll(() => told(other!)).toEqual(["slave,fail", "disconnected"]);
    expect(await told(reset!)).toEqual(["master", "connected"]);
    await cluster.kill(5);
    await expect.poll(() => told(reset!)).toEqual(["master,fail", "disconnected"]);
  });

  test("with a password, replicas follow and slots move as without", async () => {
    const cluster = await start({ primaries: 2, config: { requirepass: "a secret" } });
    await call(cluster, "k", "SET", "k", "v");
    const slot = keySlot("k");
    const from = cluster.ownerOf(slot);
    const target = cluster.nodes.findIndex((node) => node.role === "primary" && node !== from);
    expect(await cluster.moveSlots([slot], target)).toBe(1);
    await cluster.synced();
    expect(await call(cluster, "k", "GET", "k")).toBe("v");
    const [replica] = cluster.replicasOf(target);
    const client = replica?.connect();
    await client?.call("READONLY");
    expect(await client?.call("GET", "k")).toBe("v");
  });

  test("users of their own are users of every node", async () => {
    const cluster = await start({ primaries: 1, users: [["reader", "on", "nopass", "~*", "+get"]] });
    await call(cluster, "k", "SET", "k", "v");
    const client = cluster.nodes[0]?.connect({ user: "reader" });
    expect(await client?.call("GET", "k")).toBe("v");
    await expect(client?.call("SET", "k", "w")).rejects.toThrow("NOPERM");
  });

  test.each(["tls-port", "tls-cluster", "tls-replication"])(
    "%s is refused: there is no second port, and nothing to encrypt between nodes",
    async (name) => {
      const config = { [name]: name === "tls-port" ? "7443" : "yes" };
      await expect(start({ config })).rejects.toThrow(`'${name}' cannot be put into force`);
    },
  );
});
