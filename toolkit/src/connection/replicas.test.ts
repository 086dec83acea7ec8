/** Reads from replicas: a primary with two replicas, behind proxies where they must fall behind; and a Cluster. */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { cli, installed, type ServerProcess, startRedis } from "../../tests/kit/servers.ts";
import { sharedCluster } from "../../tests/kit/shared.ts";
import { InputError } from "../base/errors.ts";
import { defineScript } from "../base/script.ts";
import { type OpenOptions, open } from "./open.ts";
import type { Store } from "./store.ts";

const AT_ONCE = ["--repl-diskless-sync-delay", "0"];
const opened: Store[] = [];
const started: { stop(): Promise<void> }[] = [];

async function store(url: string, options: OpenOptions = {}): Promise<Store> {
  const made = await open(url, options);
  opened.push(made);
  return made;
}

/** How often a server has run a command. */
function calls(port: number, command: string): number {
  const line = new RegExp(`^cmdstat_${command}:calls=(\\d+)`, "m").exec(cli(port, "INFO", "commandstats"));
  return Number(line?.[1] ?? 0);
}

async function follower(primary: ServerProcess): Promise<ServerProcess> {
  const replica = await startRedis({ args: ["--replicaof", "127.0.0.1", String(primary.port)] });
  started.push(replica);
  await linked(replica.port);
  return replica;
}

async function linked(port: number): Promise<void> {
  await vi.waitFor(() => expect(cli(port, "INFO", "replication")).toContain("master_link_status:up"), 30_000);
}

/** Reads until a replica has answered; false when it takes too long. */
async function servedBy(port: number, read: () => Promise<unknown>): Promise<boolean> {
  const before = calls(port, "get");
  for (let round = 0; round < 400; round++) {
    await read();
    if (round % 10 === 9 && calls(port, "get") > before) return true;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return false;
}

const REDIS = installed("redis-server") && installed("redis-cli");

afterAll(async () => {
  await Promise.all(opened.map((each) => each.close()));
  await Promise.all(started.map((each) => each.stop()));
});

describe.skipIf(!REDIS)("reads from replicas", () => {
  let primary: ServerProcess;
  let first: ServerProcess;
  let second: ServerProcess;

  beforeAll(async () => {
    primary = await startRedis({ args: AT_ONCE });
    started.push(primary);
    [first, second] = await Promise.all([follower(primary), follower(primary)]);
  }, 60_000);

  test("go to all replicas in turn, and writes to the primary", async () => {
    const reading = await store(primary.url, { reads: { from: "replicas", maxLagMs: 60_000 } });
    await reading.call("SET", "a", "1");
    expect(await servedBy(first.port, () => reading.call("GET", "a"))).toBe(true);
    expect(await servedBy(second.port, () => reading.call("GET", "a"))).toBe(true);
    await expect.poll(() => reading.call("GET", "a"), { timeout: 10_000 }).toBe("1");
    expect(await reading.call("INCR", "n")).toBe(
      await store(primary.url)
        .then((plain) => plain.call("GET", "n"))
        .then(Number),
    );
  });

  test("of a pipeline go together, unless there is a write among them", async () => {
    const reading = await store(primary.url, { reads: { from: "replicas", maxLagMs: 60_000 } });
    await reading.call("SET", "p", "1");
    const read = () =>
      reading.pipeline([
        ["GET", "p"],
        ["GET", "p"],
        ["STRLEN", "p"],
      ]);
    expect(await servedBy(first.port, read)).toBe(true);
    const before = calls(primary.port, "set");
    expect(
      await reading.pipeline([
        ["SET", "p", "22"],
        ["GET", "p"],
      ]),
    ).toEqual(["OK", "22"]);
    expect(calls(primary.port, "set")).toBe(before + 1);
  });

  test("a script that says it only reads runs there", async () => {
    const read = defineScript({
      name: "test.read",
      keys: ["key"],
      readOnly: true,
      lua: `return redis.call("GET", key)`,
    });
    const reading = await store(primary.url, { reads: { from: "replicas", maxLagMs: 60_000 } });
    await reading.call("SET", "s", "1");
    expect(read.repeatable).toBe(true);
    expect(await servedBy(first.port, () => reading.run(read, { key: "s" }))).toBe(true);
    await expect.poll(() => reading.run(read, { key: "s" }), { timeout: 10_000 }).toBe("1");
  });

  test("from a replica that no longer follows end within the bound, and come from the primary", async () => {
    const lonely = await startRedis({ args: AT_ONCE });
    started.push(lonely);
    const replica = await follower(lonely);
    const reading = await store(lonely.url, { reads: { from: "replicas", maxLagMs: 200 } });
    await reading.call("SET", "k", "old");
    expect(await servedBy(replica.port, () => reading.call("GET", "k"))).toBe(true);
    // The replica stands still: it answers nothing, and what it has is from before.
    replica.pause();
    try {
      const writer = await store(lonely.url);
      await writer.call("SET", "k", "new");
      // When what was measured before is too old, the primary is asked.
      await expect.poll(() => reading.call("GET", "k")).toBe("new");
      for (let round = 0; round < 20; round++) expect(await reading.call("GET", "k")).toBe("new");
    } finally {
      replica.resume();
    }
    expect(await servedBy(replica.port, () => reading.call("GET", "k"))).toBe(true);
  });

  test("are never older than the bound, by the values that are read", async () => {
    const maxLagMs = 300;
    const reading = await store(primary.url, { reads: { from: "replicas", maxLagMs } });
    const writer = await store(primary.url);
    /** When each number was acknowledged. */
    const writtenAt: number[] = [];
    let stop = false;
    const writing = (async () => {
      for (let n = 0; !stop; n++) {
        await writer.call("SET", "clock", n);
        writtenAt[n] = performance.now();
        if (n % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
      }
    })();
    await expect.poll(() => writtenAt.length, { timeout: 10_000 }).toBeGreaterThan(0);
    const before = calls(first.port, "get") + calls(second.port, "get");
    for (let round = 0; round < 1_500; round++) {
      const asked = performance.now();
      const n = Number(await reading.call("GET", "clock"));
      // All that was acknowledged more than the bound before the question is in the answer.
      const due = writtenAt.findLastIndex((at) => at < asked - maxLagMs);
      expect(n).toBeGreaterThanOrEqual(due);
    }
    stop = true;
    await writing;
    expect(calls(first.port, "get") + calls(second.port, "get")).toBeGreaterThan(before);
  });

  test("see one's own writes when that is asked for", async () => {
    const reading = await store(primary.url, { reads: { from: "replicas", maxLagMs: 60_000, readYourWrites: true } });
    const before = calls(first.port, "get") + calls(second.port, "get");
    for (let n = 0; n < 300; n++) {
      await reading.call("SET", "mine", n);
      expect(await reading.call("GET", "mine")).toBe(String(n));
    }
    expect(await servedBy(first.port, () => reading.call("GET", "mine"))).toBe(true);
    expect(calls(first.port, "get") + calls(second.port, "get")).toBeGreaterThan(before);
    expect(await reading.call("GET", "mine")).toBe("299");
  });

  test("are no older than a position that another process took", async () => {
    const writer = await store(primary.url);
    const reading = await store(primary.url, { reads: { from: "replicas", maxLagMs: 60_000 } });
    for (let n = 0; n < 100; n++) {
      await writer.call("SET", "theirs", n);
      const after = await writer.position();
      const view = reading.reading({ from: "replicas", maxLagMs: 60_000, after });
      expect(await view.call("GET", "theirs")).toBe(String(n));
      await view.close();
    }
    expect(() => reading.reading({ from: "replicas", after: "yesterday" })).toThrow(InputError);
  });

  test("can be asked of the primary alone, and of a store without replicas", async () => {
    const reading = await store(primary.url, { reads: { from: "replicas", maxLagMs: 60_000 } });
    expect(await servedBy(first.port, () => reading.call("GET", "a"))).toBe(true);
    const view = reading.reading({ from: "primary" });
    const before = calls(first.port, "get") + calls(second.port, "get");
    for (let round = 0; round < 50; round++) await view.call("GET", "a");
    expect(calls(first.port, "get") + calls(second.port, "get")).toBe(before);
    await view.close();
    expect(await reading.call("PING")).toBe("PONG");
    const embedded = await open();
    opened.push(embedded);
    await embedded.call("SET", "a", "1");
    expect(await embedded.reading({ from: "replicas", maxLagMs: 1 }).call("GET", "a")).toBe("1");
    expect(await embedded.position()).toMatch(/^[0-9a-f]{40}:\d+$/);
  });

  test("go on through a dead replica", async () => {
    const lonely = await startRedis({ args: AT_ONCE });
    started.push(lonely);
    const replica = await follower(lonely);
    const reading = await store(lonely.url, { reads: { from: "replicas", maxLagMs: 60_000 } });
    await reading.call("SET", "k", "v");
    expect(await servedBy(replica.port, () => reading.call("GET", "k"))).toBe(true);
    await replica.kill();
    for (let round = 0; round < 50; round++) expect(await reading.call("GET", "k")).toBe("v");
    await replica.restart();
    await linked(replica.port);
    expect(await servedBy(replica.port, () => reading.call("GET", "k"))).toBe(true);
  });

  test("leave a frozen replica after its maxLagMs, long before the deadline of a command", async () => {
    const lonely = await startRedis({ args: AT_ONCE });
    started.push(lonely);
    const replica = await follower(lonely);
    const policy = { from: "replicas", maxLagMs: 300 } as const;
    const reading = await store(lonely.url, { commandTimeoutMs: 600_000, reads: policy });
    await reading.call("SET", "k", "v");
    expect(await servedBy(replica.port, () => reading.call("GET", "k"))).toBe(true);
    replica.pause();
    // With the deadline of ten minutes alone, the first of them would not be over when the test is.
    for (let round = 0; round < 20; round++) expect(await reading.call("GET", "k")).toBe("v");
    expect(await reading.pipeline([["GET", "k"]])).toEqual(["v"]);
    replica.resume();
    expect(await servedBy(replica.port, () => reading.call("GET", "k"))).toBe(true);
  });

  test("a policy that makes no sense is refused", async () => {
    await expect(open(primary.url, { reads: { from: "mirrors" } as never })).rejects.toThrow(/reads: from must be/);
    await expect(open(primary.url, { reads: { from: "replicas", maxLagMs: 0 } })).rejects.toThrow(/maxLagMs/);
  });
});

describe.skipIf(!REDIS)("reads from a Cluster's replicas", () => {
  test("go to the replica of the key's own primary", async () => {
    const cluster = await sharedCluster();
    const reading = await store(cluster.url, { reads: { from: "replicas", maxLagMs: 60_000 } });
    const keys = Array.from({ length: 30 }, (_, at) => `replicas:{${at}}`);
    for (const key of keys) await reading.call("SET", key, key);
    const replicas = cluster.ports.filter((port) => cli(port, "INFO", "replication").includes("role:slave"));
    expect(replicas).toHaveLength(3);
    for (const port of replicas) {
      expect(await servedBy(port, () => reading.pipeline(keys.map((key) => ["GET", key] as const)))).toBe(true);
    }
    await expect
      .poll(() => reading.pipeline(keys.map((key) => ["GET", key] as const)), { timeout: 10_000 })
      .toEqual(keys);
    await expect(reading.position()).rejects.toThrow(InputError);
    expect(await reading.position(keys[0]!)).toMatch(/^[0-9a-f]{40}:\d+$/);
  }, 60_000);
});
