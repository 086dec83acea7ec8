/** What replicas and primaries say of their disks, and how a primary ends. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../../tests/kit/test-peer.ts";
import type { ShutdownRequest } from "../core/ports.ts";
import { Engine as Store } from "../index.ts";

let folder: string;
const stores: Store[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cinnabar-replication-"));
});

afterEach(async () => {
  await Promise.all(stores.splice(0).map((store) => store.close()));
  rmSync(folder, { recursive: true, force: true });
});

async function open(name: string | null, config: Record<string, string> = {}): Promise<{ store: Store; port: number }> {
  const store = await Store.open({
    ...(name === null ? {} : { dir: join(folder, name) }),
    config: { "repl-diskless-sync-delay": "0", ...config },
  });
  stores.push(store);
  return { store, port: (await store.listen({ port: 0 })).port };
}

describe("a write", () => {
  it.each(["everysec", "always"])("is told to be on disk when it is, with appendfsync %s", async (appendfsync) => {
    const primary = await open("primary", { appendfsync });
    const replica = await open("replica", { appendfsync });
    const client = primary.store.connect();
    await client.call("SET", "before", "1");
    await replica.store.replicaOf("127.0.0.1", primary.port);
    await client.call("SET", "k", "v");
    expect(await client.call("WAITAOF", 1, 1, 0)).toEqual([1, 1]);
    expect(await primary.store.waitForReplicas(1, { onDisk: true })).toBe(1);
    // What the replica has on disk is what it was sent, the snapshot included.
    await replica.store.close();
    const again = await open("replica");
    expect(await again.store.connect().call("MGET", "before", "k")).toEqual(["1", "v"]);
  });

  it("is not told to be on the disk of a replica that keeps nothing", async () => {
    const primary = await open(null);
    const replica = await open(null);
    await replica.store.replicaOf("127.0.0.1", primary.port);
    const client = primary.store.connect();
    await client.call("SET", "k", "v");
    expect(await client.call("WAIT", 1, 0)).toBe(1);
    expect(await client.call("WAITAOF", 0, 1, 50)).toEqual([0, 0]);
    expect(await primary.store.waitForReplicas(2, { timeoutMs: 20 })).toBe(1);
    await expect(replica.store.waitForReplicas(1)).rejects.toThrow("is a replica");
  });
});

describe("before a primary ends", () => {
  async function pair() {
    const primary = await open(null);
    const replica = await open(null);
    await replica.store.replicaOf("127.0.0.1", primary.port);
    const client = primary.store.connect();
    await client.call("SET", "k", "v");
    await client.call("WAIT", 1, 0);
    // A server would stop here.
    const { core } = primary.store;
    const stopped: ShutdownRequest[] = [];
    core.onShutdown = (request) => {
      const waiting = request.now ? null : core.replication.handover.begin();
      const finish = () => stopped.push(request) > 0;
      return waiting === null ? finish() : waiting.then((outcome) => outcome !== "aborted" && finish());
    };
    return { primary: primary.store, replica: replica.store, client, stopped };
  }

  it("its replicas get what they lack, and nothing is written meanwhile", async () => {
    const { primary, replica, client, stopped } = await pair();
    client.callSync("SET", "last", "write");
    void primary
      .connect()
      .call("SHUTDOWN")
      .catch(() => {});
    const late = client.call("SET", "too", "late");
    expect(await eventually(() => stopped.length === 1)).toBe(true);
    expect(await replica.connect().call("MGET", "last", "too")).toEqual(["write", null]);
    primary.core.pause.end();
    expect(await late).toBe("OK");
  });

  it("it does not wait if they have everything, or it is to be now, or nobody reads", async () => {
    const { primary, replica, client, stopped } = await pair();
    expect(await primary.waitForReplicas(1)).toBe(1);
    await client.call("CONFIG", "SET", "shutdown-timeout", 0);
    client.callSync("SET", "k", "w");
    expect(client.callSync("SHUTDOWN")).toBeNull();
    await client.call("CONFIG", "SET", "shutdown-timeout", 10);
    client.callSync("SET", "k", "x");
    expect(client.callSync("SHUTDOWN", "NOW")).toBeNull();
    await replica.close();
    expect(await eventually(() => primary.replication.replicas.length === 0)).toBe(true);
    expect(client.callSync("SHUTDOWN")).toBeNull();
    expect(stopped.length).toBe(3);
  });

  it("the wait may be called off", async () => {
    const { primary, client, stopped } = await pair();
    client.callSync("SET", "k", "w");
    const asked = expect(primary.connect().call("SHUTDOWN")).rejects.toThrow("Errors trying to SHUTDOWN");
    expect(client.callSync("SHUTDOWN", "ABORT")).toBe("OK");
    await asked;
    expect(stopped).toEqual([]);
    expect(await client.call("SET", "k", "x")).toBe("OK");
    await expect(client.call("SHUTDOWN", "ABORT")).rejects.toThrow("No shutdown in progress");
  });
});

describe("the last snapshot", () => {
  const config = { appendonly: "no", save: "" };

  it.each([
    ["at once", (store: Store) => store.core.persistence.shutdown(true)],
    ["with the event loop alive", (store: Store) => store.core.persistence.shutdownSlowly(true, false)],
  ])("written %s is not behind what replicas were asked in the same turn", async (_, end) => {
    const primary = await open("primary", config);
    const replica = await open(null);
    await replica.store.replicaOf("127.0.0.1", primary.port);
    const client = primary.store.connect();
    await client.call("SET", "k", "v");
    await client.call("WAIT", 1, 0);
    const { feed } = primary.store.core.replication;
    feed.requestAcks();
    const ended = end(primary.store);
    // Nor is it by a question that comes while it is written.
    feed.requestAcks();
    expect(await ended).toBe(true);
    const { offset } = feed;
    await primary.store.close();
    const again = await open("primary", config);
    expect(again.store.core.replication.feed.offset).toBe(offset);
  });
});
