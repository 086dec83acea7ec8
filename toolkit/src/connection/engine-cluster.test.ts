/** The store on a Cluster in one process, while slots move, replicas take over, a primary dies and the network is cut. */
import { EngineCluster } from "@cinnabar/engine";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { open } from "./open.ts";
import { slotOf } from "./slots.ts";
import type { Store } from "./store.ts";

let cluster: EngineCluster;
let store: Store;

beforeEach(async () => {
  cluster = await EngineCluster.open({ nodeTimeoutMs: 300 });
  store = await open(cluster.url);
});

afterEach(async () => {
  await store.close();
  await cluster.close();
});

const LISTS = Array.from({ length: 12 }, (_, i) => `list:${i}`);

/** Adds numbers to every list, one after the other, until `during` is over; then each list has them all, in order. */
async function whileWriting(during: () => Promise<unknown>): Promise<void> {
  let stopped = false;
  const written = LISTS.map(async (list) => {
    const acknowledged: string[] = [];
    for (let n = 0; !stopped; n++) {
      await store.call("RPUSH", list, n);
      acknowledged.push(String(n));
    }
    return acknowledged;
  });
  await during();
  stopped = true;
  const acknowledged = await Promise.all(written);
  for (const [i, list] of LISTS.entries()) expect(await store.call("LRANGE", list, 0, -1)).toEqual(acknowledged[i]);
}

describe("a store on an EngineCluster", () => {
  test("loses nothing while slots move", async () => {
    const slots = LISTS.map(slotOf);
    await whileWriting(async () => {
      for (const target of [0, 1, 2]) await cluster.moveSlots(slots, target, { keysAtOnce: 1, pauseMs: 2 });
    });
  });

  test("loses nothing when replicas take over by request", async () => {
    await whileWriting(async () => {
      for (const index of [0, 1, 2, 3]) await cluster.failover(index);
    });
  });

  test("goes on after a primary has died, with what was replicated", async () => {
    for (const list of LISTS) await store.call("RPUSH", list, "kept");
    await cluster.synced();
    await cluster.kill(1);
    for (const list of LISTS) expect(await store.call("LRANGE", list, 0, -1)).toEqual(["kept"]);
    expect(cluster.nodes[4]!.role).toBe("primary");
  });

  test("does not go on with the side that lost", async () => {
    cluster.partition([0]);
    await expect.poll(() => cluster.nodes[3]!.role).toBe("primary");
    for (const list of LISTS) await store.call("RPUSH", list, "after");
    cluster.heal();
    await cluster.synced();
    for (const list of LISTS) expect(await store.call("LRANGE", list, 0, -1)).toEqual(["after"]);
  });
});
