/** What a store says about its servers, and what is wrong with them. */
import { describe, expect, test } from "vitest";
import { describeBackends } from "../../tests/kit/index.ts";
import { FaultyProxy } from "../../tests/kit/proxy.ts";
import { installed, startCluster, startRedis } from "../../tests/kit/servers.ts";
import { InputError, open } from "../index.ts";

describeBackends("health", (backend) => {
  test("of a store that works has no reasons", async () => {
    const health = await backend.store.health();
    expect(health).toMatchObject({ status: "healthy", reasons: [] });
    expect(health.latencyMs).toBeGreaterThanOrEqual(0);
  });

  test("of a closed store says so", async () => {
    const store = await backend.open();
    await store.close();
    expect(await store.health()).toMatchObject({ status: "unreachable", reasons: [{ code: "CLOSED" }] });
    await expect(store.health({ timeout: 1 } as never)).rejects.toThrow(InputError);
  });
});

test("a store in this process that is nearly full is degraded", async () => {
  const store = await open("memory:", { config: { maxmemory: "5mb" } });
  const text = "x".repeat(100_000);
  let at = 0;
  // Until it is full.
  while (
    await store.set(`k${at++}`, text).then(
      () => true,
      () => false,
    )
  );
  expect(await store.health()).toMatchObject({ status: "degraded", reasons: [{ code: "MEMORY_FULL", server: null }] });
  await store.close();
});

describe.runIf(installed("redis-server"))("servers with something wrong", () => {
  const codes = async (store: Awaited<ReturnType<typeof open>>) =>
    (await store.health({ timeoutMs: 1_000 })).reasons.map(({ code }) => code);

  test("a replica without its primary is read-only, and its link is down", async () => {
    const server = await startRedis();
    const store = await open(`redis://127.0.0.1:${server.port}`);
    await store.call("REPLICAOF", "127.0.0.1", 1);
    expect(await codes(store)).toEqual(["READ_ONLY", "PRIMARY_LINK_DOWN"]);
    expect((await store.health()).status).toBe("degraded");
    await store.close();
    await server.stop();
  });

  test("a snapshot that failed is a reason", async () => {
    const server = await startRedis({ args: ["--enable-protected-configs", "yes"] });
    const store = await open(server.url);
    // Longer than the name of a file may be.
    await store.call("CONFIG", "SET", "dbfilename", "x".repeat(300));
    await store.call("BGSAVE");
    await expect.poll(() => codes(store)).toEqual(["SNAPSHOT_FAILED"]);
    await store.close();
    await server.stop();
  });

  test("a user who may not ask INFO sees a server that answers", async () => {
    const server = await startRedis();
    const admin = await open(`redis://127.0.0.1:${server.port}`);
    await admin.call("ACL", "SETUSER", "app", "on", ">secret", "~*", "+@all", "-info");
    const store = await open(`redis://app:secret@127.0.0.1:${server.port}`);
    expect(await store.health()).toMatchObject({ status: "healthy", reasons: [] });
    await store.close();
    await admin.close();
    await server.stop();
  });

  test("a server that is silent is unreachable, within the time given, and recovers", async () => {
    const server = await startRedis();
    const proxy = await FaultyProxy.open(server.port);
    const store = await open(proxy.url, { retryMs: 0 });
    proxy.swallow();
    expect(await store.health({ timeoutMs: 50 })).toMatchObject({
      status: "unreachable",
      latencyMs: null,
      reasons: [{ code: "NO_ANSWER" }],
    });
    proxy.swallow(false);
    proxy.cut();
    await expect.poll(async () => (await store.health()).status).toBe("healthy");
    await store.close();
    await proxy.close();
    await server.stop();
  });

  test("a Cluster that has lost a node is degraded, and says which", async () => {
    const cluster = await startCluster({ replicas: 0 });
    const store = await open(cluster.url, { retryMs: 0 });
    expect((await store.health()).status).toBe("healthy");
    await cluster.nodes[0]!.kill();
    const health = await store.health({ timeoutMs: 2_000 });
    expect(health.status).toBe("degraded");
    expect(health.reasons[0]?.code).toBe("NO_ANSWER");
    expect(health.reasons[0]?.server).toContain(String(cluster.nodes[0]!.port));
    await store.close();
    await cluster.stop();
  });
});
