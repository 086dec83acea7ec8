/** Unchanged Cluster clients on a Cluster in one process: ioredis, node-redis, BullMQ, redis-cli and its --cluster commands. */
import { spawn, spawnSync } from "node:child_process";
import { Queue, Worker } from "bullmq";
import { Cluster as Cluster5 } from "ioredis5";
import { Cluster as Cluster6 } from "ioredis6";
import { createCluster } from "redis";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { clusterConnectorFor, EngineCluster } from "../../src/index.ts";
import { keySlot } from "../../src/lib/key-slot.ts";

let cluster: EngineCluster;
let closing: (() => unknown)[];

beforeEach(async () => {
  cluster = await EngineCluster.open({ nodeTimeoutMs: 300 });
  closing = [];
});

afterEach(async () => {
  for (const close of closing.reverse()) await close();
  await cluster.close();
});

const KEYS = Array.from({ length: 200 }, (_, i) => `key:${i}`);

/** The two versions have the same interface as far as it is used here. */
const VERSIONS = { "ioredis 5": Cluster5, "ioredis 6": Cluster6 as unknown as typeof Cluster5 };
const WAYS = {
  "over TCP": () => ({}),
  "without a socket": () => ({ Connector: clusterConnectorFor(cluster) }),
};

const CASES = Object.entries(VERSIONS).flatMap(([version, Cluster]) =>
  Object.entries(WAYS).map(([way, options]) => ({ name: `${version} ${way}`, Cluster, options })),
);

describe.each(CASES)("$name", ({ Cluster, options }) => {
  function open(more: Record<string, unknown> = {}): Cluster5 {
    const redis = new Cluster(cluster.addresses, {
      redisOptions: { ...options(), maxRetriesPerRequest: null },
      clusterRetryStrategy: () => 20,
      retryDelayOnFailover: 20,
      maxRedirections: 1000,
      retryDelayOnTryAgain: 5,
      ...more,
    } as never);
    redis.on("error", () => {});
    closing.push(() => redis.disconnect());
    return redis;
  }

  it("finds keys wherever they are", async () => {
    const redis = open();
    await Promise.all(KEYS.map((key) => redis.set(key, key)));
    expect(await Promise.all(KEYS.map((key) => redis.get(key)))).toEqual(KEYS);
    expect(redis.nodes("master")).toHaveLength(3);
    expect(redis.nodes("slave")).toHaveLength(3);
  });

  it("reads from replicas", async () => {
    const redis = open({ scaleReads: "slave" });
    await redis.set("b", "1");
    await cluster.synced();
    await expect.poll(() => redis.get("b")).toBe("1");
    const replica = cluster.nodes[3]!.connect();
    expect(String(await replica.call("INFO", "commandstats"))).toMatch(/cmdstat_get:calls=[1-9]/);
  });

  it("goes on while slots move and a primary dies", async () => {
    const redis = open();
    const counts = new Map<string, number>();
    let stop = false;
    const writing = KEYS.slice(0, 20).map(async (key) => {
      while (!stop) {
        await redis.incr(key);
        counts.set(key, (counts.get(key) ?? 0) + 1);
      }
    });
    const slots = KEYS.slice(0, 20).map(keySlot);
    await cluster.moveSlots(slots, 0, { keysAtOnce: 1, pauseMs: 1 });
    await cluster.moveSlots(slots, 1, { keysAtOnce: 1, pauseMs: 1 });
    await cluster.failover(1);
    stop = true;
    await Promise.all(writing);
    for (const [key, count] of counts) expect(await redis.get(key)).toBe(String(count));

    await cluster.kill(2);
    const later = KEYS.slice(20).map((key) => redis.set(key, "after"));
    await Promise.all(later);
    expect(cluster.nodes[5]!.role).toBe("primary");
  });

  it("publishes and subscribes, also by shard", async () => {
    const redis = open();
    const subscriber = open();
    const heard: string[] = [];
    subscriber.on("message", (channel, message) => heard.push(`${channel} ${message}`));
    await subscriber.subscribe("news");
    await expect
      .poll(async () => {
        await redis.publish("news", "x");
        return heard.length;
      })
      .toBeGreaterThan(0);
    expect(heard[0]).toBe("news x");

    // The connection that ioredis subscribes with is one to any node, unless it is told to keep one to each shard.
    const sharded = open({ shardedSubscribers: true });
    await sharded.get("b");
    const inShard: string[] = [];
    sharded.on("smessage", (channel, message) => inShard.push(`${channel} ${message}`));
    for (const channel of ["a", "b", "f"]) await sharded.ssubscribe(channel);
    for (const channel of ["a", "b", "f"]) expect(await redis.spublish(channel, "x")).toBe(1);
    await expect.poll(() => inShard.toSorted()).toEqual(["a x", "b x", "f x"]);
    await sharded.sunsubscribe("b");
    expect(await redis.spublish("b", "y")).toBe(0);
  });
});

describe("node-redis", () => {
  it("finds keys, follows slots that move, and a failover", async () => {
    const redis = createCluster({ rootNodes: cluster.addresses.map((socket) => ({ socket })) });
    redis.on("error", () => {});
    closing.push(() => redis.destroy());
    await redis.connect();
    for (const key of KEYS) await redis.set(key, key);
    await cluster.moveSlots(
      KEYS.map(keySlot).filter((slot) => slot < 5000),
      2,
    );
    await cluster.failover(1);
    for (const key of KEYS) expect(await redis.get(key)).toBe(key);
    expect(await redis.mGet(["{b}1", "b"])).toEqual([null, null]);
    await expect(redis.sInter(["a", "b"])).rejects.toThrow("CROSSSLOT");
  });

  it("subscribes to shard channels", async () => {
    const redis = createCluster({ rootNodes: cluster.addresses.map((socket) => ({ socket })) });
    redis.on("error", () => {});
    closing.push(() => redis.destroy());
    await redis.connect();
    const heard: string[] = [];
    await redis.sSubscribe("b", (message) => heard.push(message));
    await redis.sPublish("b", "x");
    await expect.poll(() => heard).toEqual(["x"]);
    await cluster.moveSlots([keySlot("b")], 1);
    await expect
      .poll(async () => {
        await redis.sPublish("b", "y");
        return heard.includes("y");
      })
      .toBe(true);
  });
});

describe("BullMQ", () => {
  it("works off a queue", async () => {
    const connection = new Cluster5(cluster.addresses, { redisOptions: { maxRetriesPerRequest: null } });
    closing.push(() => connection.disconnect());
    const queue = new Queue("jobs", { connection, prefix: "{jobs}" });
    const done: number[] = [];
    const worker = new Worker("jobs", async (job) => void done.push(job.data.n), { connection, prefix: "{jobs}" });
    closing.push(
      () => queue.close(),
      () => worker.close(),
    );
    await queue.addBulk(Array.from({ length: 50 }, (_, n) => ({ name: "job", data: { n } })));
    await expect.poll(() => done.length).toBe(50);
    expect(done.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, n) => n));
  });
});

describe("BullMQ while the Cluster changes", () => {
  it("runs every job that is added while its slot moves and a replica takes over", async () => {
    const connection = new Cluster5(cluster.addresses, {
      redisOptions: { maxRetriesPerRequest: null },
      clusterRetryStrategy: () => 20,
      retryDelayOnFailover: 20,
      retryDelayOnTryAgain: 5,
      maxRedirections: 1000,
    });
    connection.on("error", () => {});
    closing.push(() => connection.disconnect());
    const slot = keySlot("jobs");
    const options = { connection, prefix: "{jobs}" };
    const queue = new Queue("jobs", options);
    const done = new Set<number>();
    const worker = new Worker("jobs", async (job) => void done.add(job.data.n), { ...options, concurrency: 4 });
    queue.on("error", () => {});
    worker.on("error", () => {});
    closing.push(
      () => queue.close(),
      () => worker.close(),
    );
    let added = 0;
    let stop = false;
    const adding = (async () => {
      // With an id of its own a job that is sent twice is one job.
      for (; !stop; added++) await queue.add("job", { n: added }, { jobId: `job-${added}` });
    })();
    const more = async () => {
      const before = [added, done.size] as const;
      await expect.poll(() => added > before[0] + 10 && done.size > before[1] + 10).toBe(true);
    };
    await more();
    for (const target of [0, 1, 2]) {
      await cluster.moveSlots([slot], target, { keysAtOnce: 20, pauseMs: 1 });
      expect(cluster.ownerOf(slot)!.index).toBe(target);
      await more();
    }
    const heir = await cluster.failover(2);
    await more();
    await cluster.moveSlots([slot], 0, { keysAtOnce: 20, pauseMs: 1 });
    await more();
    stop = true;
    await adding;
    await expect.poll(() => done.size).toBe(added);
    await expect
      .poll(() => queue.getJobCounts("completed", "failed", "waiting", "active", "delayed"))
      .toEqual({ completed: added, failed: 0, waiting: 0, active: 0, delayed: 0 });
    expect(heir).toBe(5);
  });
});

const hasCli = spawnSync("redis-cli", ["--version"]).error === undefined;
if (!hasCli) console.log("Skipped: redis-cli on a Cluster, since it is not installed.");

describe.skipIf(!hasCli)("redis-cli", () => {
  const run = (...args: string[]) =>
    new Promise<string>((resolve) => {
      const child = spawn("redis-cli", args, { stdio: ["ignore", "pipe", "pipe"] });
      let text = "";
      for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (text += String(chunk)));
      child.on("close", () => resolve(text.replace(/\x1b\[[\d;]*m/g, "")));
    });
  const first = () => `127.0.0.1:${cluster.nodes[0]!.port}`;

  async function fill(): Promise<void> {
    for (const key of KEYS) await cluster.ownerOf(keySlot(key))!.connect().call("SET", key, key);
  }

  async function expectKept(): Promise<void> {
    for (const key of KEYS) expect(await cluster.ownerOf(keySlot(key))!.connect().call("GET", key)).toBe(key);
  }

  it("follows redirections with -c", async () => {
    const port = String(cluster.nodes[0]!.port);
    expect(await run("-c", "-p", port, "SET", "a", "1")).toBe("OK\n");
    expect(await run("-c", "-p", port, "GET", "a")).toBe("1\n");
    expect(await run("-p", port, "GET", "a")).toContain(`MOVED 15495 127.0.0.1:${cluster.nodes[2]!.port}`);
  });

  it("checks the Cluster and describes it", async () => {
    await fill();
    expect(await run("--cluster", "check", first())).toContain("[OK] All 16384 slots covered.");
    expect(await run("--cluster", "info", first())).toContain(`[OK] ${KEYS.length} keys in 3 masters.`);
  });

  it("reshards and rebalances", async () => {
    await fill();
    const from = cluster.nodes[0]!.id;
    const words = ["--cluster-from", from, "--cluster-to", cluster.nodes[1]!.id, "--cluster-slots", "300"];
    await run("--cluster", "reshard", first(), ...words, "--cluster-yes");
    expect(cluster.nodes[1]!.member.self.slotCount).toBe(5462 + 300);
    await expectKept();
    await run("--cluster", "rebalance", first());
    const counts = cluster.nodes.slice(0, 3).map(({ member }) => member.self.slotCount);
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(2);
    await expectKept();
    expect(await run("--cluster", "check", first())).toContain("[OK] All nodes agree about slots configuration.");
  });

  it("reshards under load, and nothing is lost", async () => {
    const redis = new Cluster5(cluster.addresses, { maxRedirections: 1000, retryDelayOnTryAgain: 5 });
    redis.on("error", () => {});
    closing.push(() => redis.disconnect());
    // redis-cli takes the first slots of a node. Each of these has two dozen keys, so that it goes in several steps.
    const [slots, keysOfEach] = [300, 24];
    const names = Array.from({ length: 2000 }, (_, i) => `tag:${i}`);
    const tags = names.filter((name) => keySlot(name) < slots).slice(0, 6);
    const from = cluster.nodes[0]!;
    const counts = new Map<string, number>();
    let stop = false;
    const counting = tags.flatMap((tag) =>
      Array.from({ length: keysOfEach }, async (_, i) => {
        const key = `{${tag}}:${i}`;
        while (!stop) {
          await redis.incr(key);
          counts.set(key, (counts.get(key) ?? 0) + 1);
        }
      }),
    );
    await expect.poll(() => counts.size).toBe(tags.length * keysOfEach);
    const words = ["--cluster-from", from.id, "--cluster-to", cluster.nodes[1]!.id, "--cluster-slots", String(slots)];
    const before = [...counts.values()].reduce((sum, count) => sum + count, 0);
    expect(await run("--cluster", "reshard", first(), ...words, "--cluster-yes")).not.toContain("ERR");
    for (const tag of tags) expect(cluster.ownerOf(keySlot(tag))).toBe(cluster.nodes[1]);
    const after = [...counts.values()].reduce((sum, count) => sum + count, 0);
    expect(after - before).toBeGreaterThan(counts.size);
    stop = true;
    await Promise.all(counting);
    for (const [key, count] of counts) expect([key, await redis.get(key)]).toEqual([key, String(count)]);
    const checked = await run("--cluster", "check", `127.0.0.1:${cluster.nodes[1]!.port}`);
    expect(checked).toContain("[OK] All nodes agree about slots configuration.");
    expect(checked).toContain("[OK] All 16384 slots covered.");
    expect(checked).toContain(`[OK] ${counts.size} keys in`);
    expect(checked).not.toMatch(/\[(?:WARNING|ERR)\]/);
  });

  it("takes a node out and adds it again", async () => {
    const last = cluster.nodes[5]!;
    await run("--cluster", "del-node", first(), last.id);
    expect(cluster.nodes[0]!.member.state.nodes.size).toBe(5);
    const added = await run("--cluster", "add-node", `127.0.0.1:${last.port}`, first(), "--cluster-slave");
    expect(added).toContain("[OK] New node added correctly.");
    await expect.poll(() => last.role).toBe("replica");
    expect(cluster.nodes[0]!.member.state.nodes.size).toBe(6);
  });
});
