/**
 * Random slot moves, failovers, kills, restarts and partitions under load, one after the other: what WAIT has confirmed is
 * there at the end, every slot has one owner, and no node holds keys that are another's. `CLUSTER_ROUNDS=200` for a longer run,
 * `CLUSTER_SEED` for another one.
 */
import { expect, test } from "vitest";
import { EngineCluster, type EngineClusterNode } from "../../src/index.ts";
import { keySlot } from "../../src/lib/key-slot.ts";
import { Prng } from "../conformance/prng.ts";

const ROUNDS = Number(process.env.CLUSTER_ROUNDS ?? 12);
const SEED = Number(process.env.CLUSTER_SEED ?? 1);
const WRITERS = 6;
const KEYS_OF_EACH = 40;

const turn = () => new Promise((resolve) => setImmediate(resolve));
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Writes numbers to keys of its own, each confirmed by a replica before the next; notes what was confirmed last. */
class Writer {
  readonly confirmed = new Map<string, number>();
  readonly #cluster: EngineCluster;
  readonly #name: number;
  #stopped = false;
  readonly done: Promise<void>;

  constructor(cluster: EngineCluster, name: number) {
    this.#cluster = cluster;
    this.#name = name;
    this.done = this.#run();
  }

  async #run(): Promise<void> {
    for (let n = 1; !this.#stopped; n++) {
      const key = `writer:${this.#name}:${n % KEYS_OF_EACH}`;
      while (!(await this.#write(key, n))) await pause(5);
      this.confirmed.set(key, n);
      await turn();
    }
  }

  /** True once a replica has it. */
  async #write(key: string, value: number, to?: EngineClusterNode, asking = false): Promise<boolean> {
    const node = to ?? this.#cluster.ownerOf(keySlot(key));
    if (node === undefined || !node.isRunning) return false;
    const client = node.connect();
    try {
      if (asking) await client.call("ASKING");
      await client.call("SET", key, String(value));
      return (await client.call("WAIT", "1", "200")) === 1;
    } catch (error) {
      const [, kind, address] = /^(MOVED|ASK) \d+ (\S+)/.exec((error as Error).message) ?? [];
      const target = this.#cluster.nodes.find(({ host, port }) => `${host}:${port}` === address);
      return target === undefined || to !== undefined ? false : this.#write(key, value, target, kind === "ASK");
    } finally {
      client.close();
    }
  }

  stop(): Promise<void> {
    this.#stopped = true;
    return this.done;
  }
}

/** What may happen, each from a Cluster in order to a Cluster in order. */
const HAPPENINGS: Record<string, (cluster: EngineCluster, rng: Prng) => Promise<unknown>> = {
  move: async (cluster, rng) => {
    const primaries = cluster.nodes.filter(({ role }) => role === "primary");
    const from = rng.between(0, 16_000);
    await cluster.moveSlots({ from, to: from + 20 }, rng.pick(primaries).index, { keysAtOnce: 2 });
  },
  failover: (cluster, rng) => cluster.failover(rng.pick(cluster.nodes).index),
  kill: async (cluster, rng) => {
    const node = rng.pick(cluster.nodes);
    const wasPrimary = node.role === "primary";
    const { state, self } = node.member;
    await cluster.kill(node.index);
    if (wasPrimary) await expect.poll(() => self.slotCount).toBe(0);
    else await expect.poll(() => state.nodes.get(node.id)!.health).toBe("failed");
    await cluster.restart(node.index);
  },
  blink: async (cluster, rng) => {
    const node = rng.pick(cluster.nodes.filter(({ role }) => role === "replica"));
    await cluster.kill(node.index);
    await cluster.restart(node.index);
  },
  partition: async (cluster, rng) => {
    const node = rng.pick(cluster.nodes);
    cluster.partition([node.index]);
    await expect.poll(() => node.member.isUp).toBe(false);
    await pause(rng.between(0, 100));
    cluster.heal();
  },
};

test(`confirmed writes survive what happens to a Cluster (seed ${SEED}, ${ROUNDS} rounds)`, {
  timeout: ROUNDS * 20_000,
}, async () => {
  const rng = new Prng(SEED);
  const cluster = await EngineCluster.open({ listen: false, nodeTimeoutMs: 150 });
  const writers = Array.from({ length: WRITERS }, (_, name) => new Writer(cluster, name));
  const happened: string[] = [];
  try {
    for (let round = 0; round < ROUNDS; round++) {
      const what = rng.pick(Object.keys(HAPPENINGS));
      happened.push(what);
      await HAPPENINGS[what]!(cluster, rng);
      await cluster.synced();
      await pause(30);
    }
    await Promise.all(writers.map((writer) => writer.stop()));
    await cluster.synced();
    expect(writers.every(({ confirmed }) => confirmed.size > 0)).toBe(true);
    const lost: string[] = [];
    for (const { confirmed } of writers) {
      for (const [key, value] of confirmed) {
        const found = await cluster.ownerOf(keySlot(key))!.connect().call("GET", key);
        if (!(Number(found) >= value)) lost.push(`${key}: ${String(found)} instead of ${value}`);
      }
    }
    expect(lost, happened.join(", ")).toEqual([]);
    for (const node of cluster.nodes) {
      const owner = node.member.self.primary ?? node.member.self;
      for (const key of node.engine.core.databases[0]!.keyspace.keys()) {
        expect(node.member.state.ownerOf(keySlot(key)), `${key} on node ${node.index}`).toBe(owner);
      }
    }
    expect(cluster.nodes[0]!.member.state.isCovered).toBe(true);
  } finally {
    await Promise.all(writers.map((writer) => writer.stop()));
    await cluster.close();
  }
});
