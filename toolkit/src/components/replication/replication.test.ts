/** Real primaries and replicas: Redis behind Redis, and Redis behind our own server. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Engine } from "@cinnabar/engine";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describeBackends } from "../../../tests/kit/index.ts";
import { cli, installed, type ServerProcess, startRedis, whileReadOnly } from "../../../tests/kit/servers.ts";
import { InputError, ServerError } from "../../base/errors.ts";
import { defineScript } from "../../base/script.ts";
import { open } from "../../connection/open.ts";
import type { Store } from "../../connection/store.ts";
import { waitForReplicas, writeToReplicas } from "./index.ts";
import { markKey } from "./keys.ts";

const QUICK = ["--repl-diskless-sync-delay", "0"];

async function follows(replica: ServerProcess, port: number): Promise<void> {
  cli(replica.port, "REPLICAOF", "127.0.0.1", String(port));
  while (!/master_link_status:up/.test(cli(replica.port, "INFO", "replication"))) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe.skipIf(!installed("redis-server"))("replicas of a Redis", () => {
  let primary: ServerProcess;
  let always: ServerProcess;
  let everysec: ServerProcess;
  let store: Store;
  const servers: ServerProcess[] = [];

  beforeAll(async () => {
    primary = await startRedis({ args: QUICK });
    always = await startRedis({ args: [...QUICK, "--appendonly", "yes", "--appendfsync", "always"] });
    everysec = await startRedis({ args: [...QUICK, "--appendonly", "yes"] });
    servers.push(primary, always, everysec);
    await follows(always, primary.port);
    await follows(everysec, primary.port);
    store = await open(primary.url);
  });
  afterAll(async () => {
    await store?.close();
    await Promise.all(servers.map((each) => each.stop()));
  });

  test("what is written is on the replicas when the wait is over", async () => {
    await store.call("SET", "key", "value");
    expect(await waitForReplicas(store, { replicas: 2, timeoutMs: 20_000 })).toEqual({
      replicas: 2,
      onDisk: null,
      enough: true,
    });
    for (const { port } of [always, everysec]) expect(cli(port, "GET", "key")).toBe("value");
    const ttl = Number(cli(primary.port, "PTTL", "replication:mark"));
    expect(ttl).toBeGreaterThan(0);
  });

  test("a command or a script is written and waited for over one connection", async () => {
    const written = await writeToReplicas(store, ["INCR", "count"], { replicas: 2, timeoutMs: 20_000 });
    expect(written).toEqual({ answer: 1, replicas: 2, onDisk: null, enough: true });
    const twice = defineScript({
      name: "test.twice",
      keys: ["count"],
      lua: `redis.call("INCR", count) return redis.call("INCR", count)`,
      reply: (reply) => `now ${reply}`,
    });
    const options = { replicas: 2, timeoutMs: 20_000 };
    expect((await writeToReplicas(store, twice.with({ count: "count" }), options)).answer).toBe("now 3");
    expect(cli(always.port, "GET", "count")).toBe("3");
    await expect(writeToReplicas(store, ["LPUSH", "count", "x"])).rejects.toThrow(ServerError);
    expect((await writeToReplicas(store, ["INCR", "count"], options)).answer).toBe(4);
  });

  test("on disk: at once where every write is synced, after its sync where that is once a second", async () => {
    const one = await writeToReplicas(store, ["SET", "key", 1], { replicas: 1, onDisk: true, timeoutMs: 20_000 });
    expect(one).toMatchObject({ onDisk: 1, enough: true });
    const two = await writeToReplicas(store, ["SET", "key", 2], { replicas: 2, onDisk: true, timeoutMs: 20_000 });
    expect(two).toMatchObject({ onDisk: 2, enough: true });
    expect(await waitForReplicas(store, { replicas: 2, onDisk: true, timeoutMs: 20_000 })).toMatchObject({ onDisk: 2 });
  });

  test("a replica without a file of its own, or that leaves syncing to the system, does not count", async () => {
    const options = { replicas: 2, onDisk: true, timeoutMs: 20_000 } as const;
    cli(everysec.port, "CONFIG", "SET", "appendfsync", "no");
    expect(await writeToReplicas(store, ["SET", "key", 3], options)).toMatchObject({ onDisk: 1, enough: false });
    cli(everysec.port, "CONFIG", "SET", "appendfsync", "everysec");
    cli(everysec.port, "CONFIG", "SET", "appendonly", "no");
    expect(await writeToReplicas(store, ["SET", "key", 3], options)).toMatchObject({ onDisk: 1, enough: false });
    cli(everysec.port, "CONFIG", "SET", "appendonly", "yes");
  });

  test("a replica that stands still is not waited for longer than asked", async () => {
    everysec.pause();
    try {
      expect(await waitForReplicas(store, { replicas: 2, timeoutMs: 50 })).toEqual({
        replicas: 1,
        onDisk: null,
        enough: false,
      });
      expect(await waitForReplicas(store, { replicas: 1, timeoutMs: 20_000 })).toMatchObject({ enough: true });
      // Nothing else of the store is held up meanwhile.
      const waiting = waitForReplicas(store, { replicas: 2, timeoutMs: 500 });
      expect(await store.call("PING")).toBe("PONG");
      expect((await waiting).enough).toBe(false);
    } finally {
      everysec.resume();
    }
    expect(await waitForReplicas(store, { replicas: 2, timeoutMs: 20_000 })).toMatchObject({ enough: true });
  });

  test("a replica that stands still between memory and disk is not waited for longer than asked", async () => {
    expect(await waitForReplicas(store, { replicas: 2, timeoutMs: 20_000 })).toMatchObject({ enough: true });
    const asked = writeToReplicas(store, ["SET", "key", 4], {
      replicas: 2,
      onDisk: true,
      timeoutMs: 3_000,
      proof: "inspected",
      replicaUrl: ({ port }) => {
        // By now both have it in memory.
        if (port === everysec.port) everysec.pause();
        return `redis://127.0.0.1:${port}`;
      },
    });
    expect(await asked.finally(() => everysec.resume())).toMatchObject({ replicas: 2, onDisk: 1, enough: false });
  });

  test("the primary's own credentials lead to the replicas", async () => {
    for (const { port } of [primary, always, everysec]) {
      cli(port, "CONFIG", "SET", "masterauth", "secret");
      cli(port, "CONFIG", "SET", "requirepass", "secret");
    }
    const signedIn = await open(`redis://:secret@127.0.0.1:${primary.port}`);
    const options = { replicas: 1, onDisk: true, timeoutMs: 20_000 };
    expect(await waitForReplicas(signedIn, options)).toMatchObject({ enough: true });
    await signedIn.close();
  });

  test("wrong input is refused", async () => {
    await expect(waitForReplicas(store, { replicas: 0 })).rejects.toThrow(InputError);
    await expect(waitForReplicas(store, { timeoutMs: 0 })).rejects.toThrow(InputError);
    await expect(writeToReplicas(store, ["PING"])).rejects.toThrow("must have a key");
  });
});

describe.skipIf(!installed("redis-server"))("a Redis that follows a store in this process", () => {
  let engine: Engine;
  let replica: ServerProcess;
  let store: Store;
  beforeAll(async () => {
    engine = await Engine.open({ config: { "repl-diskless-sync-delay": "0" } });
    const { port } = await engine.listen({ port: 0, host: "127.0.0.1" });
    replica = await startRedis({ args: [...QUICK, "--appendonly", "yes", "--appendfsync", "always"] });
    // Not by cli, which would hold up this process and with it the primary.
    const client = await open(replica.url);
    await client.call("REPLICAOF", "127.0.0.1", port);
    while (!/master_link_status:up/.test(String(await client.call("INFO", "replication")))) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await client.close();
    store = await open(engine);
  });
  afterAll(async () => {
    await store?.close();
    await engine?.close();
    await replica?.stop();
  });

  test("has what is written, in memory and on disk", async () => {
    const written = await writeToReplicas(store, ["SET", "key", "value"], { replicas: 1, timeoutMs: 20_000 });
    expect(written).toEqual({ answer: "OK", replicas: 1, onDisk: null, enough: true });
    const options = { replicas: 1, onDisk: true, timeoutMs: 20_000, proof: "inspected" } as const;
    expect(await waitForReplicas(store, options)).toMatchObject({ replicas: 1, onDisk: 1, enough: true });
    // Servers that have WAITAOF also acknowledge their disk to us; Redis 7.0 does not.
    const acknowledges = cli(replica.port, "COMMAND", "INFO", "WAITAOF") !== "";
    const acknowledged = { ...options, timeoutMs: acknowledges ? 20_000 : 1_000, proof: "acknowledged" } as const;
    expect(await waitForReplicas(store, acknowledged)).toMatchObject({
      replicas: 1,
      onDisk: acknowledges ? 1 : 0,
      enough: acknowledges,
    });
  });

  test("a replica that stands still is missed", async () => {
    replica.pause();
    try {
      expect((await waitForReplicas(store, { timeoutMs: 50 })).enough).toBe(false);
    } finally {
      replica.resume();
    }
    expect((await waitForReplicas(store, { timeoutMs: 20_000 })).enough).toBe(true);
  });
});

test("a replica that acknowledges its disk is believed", async () => {
  const dir = mkdtempSync(join(tmpdir(), "cinnabar-replica-"));
  const primary = await Engine.open({ config: { "repl-diskless-sync-delay": "0" } });
  const replica = await Engine.open({ dir, config: { appendonly: "yes", appendfsync: "always" } });
  const store = await open(primary);
  try {
    const { port } = await primary.listen({ port: 0, host: "127.0.0.1" });
    await replica.replicaOf("127.0.0.1", port);
    const options = { replicas: 1, onDisk: true, timeoutMs: 20_000 };
    expect(await writeToReplicas(store, ["SET", "key", "value"], options)).toMatchObject({ onDisk: 1, enough: true });
  } finally {
    await store.close();
    await replica.close();
    await primary.close();
    rmSync(dir, { recursive: true, force: true });
  }
});

describeBackends("waiting for replicas", (backend) => {
  test("nobody follows, or the replicas of the key's node have it", async () => {
    const enough = backend.store.topology === "cluster" || backend.name === "sentinel";
    const timeoutMs = enough ? 20_000 : 20;
    const options = { timeoutMs, key: "{user:17}:name" };
    await backend.store.call("SET", options.key, "ann");
    expect(await waitForReplicas(backend.store, options)).toMatchObject({ enough });
    expect(await writeToReplicas(backend.store, ["SET", options.key, "ben"], { timeoutMs })).toMatchObject({
      answer: "OK",
      enough,
    });
    if (backend.store.topology === "cluster")
      await expect(waitForReplicas(backend.store)).rejects.toThrow("which node");
  });
});

test("the mark is in the slot of the key it stands for", () => {
  expect(markKey("replication", "a:{tag}:b")).toBe("replication:mark:{tag}");
  expect(markKey("replication", "plain")).toBe("replication:mark:{plain}");
  expect(() => markKey("replication", "a}b")).toThrow(InputError);
});

test.skipIf(!installed("redis-server"))(
  "a write waits while the server is no primary, over kept connections too",
  async () => {
    const server = await startRedis();
    const store = await open(server.url);
    try {
      const options = { timeoutMs: 20 };
      await writeToReplicas(store, ["INCR", "n"], options); // Its connection is kept.
      const written = await whileReadOnly(server, "incr", () => writeToReplicas(store, ["INCR", "n"], options));
      expect(written).toMatchObject({ answer: 2, enough: false });
      expect(await store.call("GET", "n")).toBe("2");
    } finally {
      await store.close();
      await server.stop();
    }
  },
);
