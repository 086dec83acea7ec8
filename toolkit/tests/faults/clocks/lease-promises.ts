/** What locks and semaphores promise when clocks are set. */
import { expect } from "vitest";
import { Locks } from "../../../src/components/locks/index.ts";
import { Semaphores } from "../../../src/components/semaphores/index.ts";
import type { Store } from "../../../src/connection/store.ts";
import type { Lease } from "../../../src/leases/lease.ts";
import type { ClockedStore } from "../../kit/clocked-store.ts";
import { LEASE_MS, type Promised, promised } from "./promised.ts";

/** The next to ask waits for a dead holder's lease, not for the step. */
async function expectNextHolder(
  world: ClockedStore,
  stepMs: number,
  acquire: (store: Store, waitMs: number) => Promise<Lease | null>,
  dead: Lease,
): Promise<void> {
  world.step(stepMs);
  const waiting = acquire(await world.another(), 60_000);
  let got: Lease | null = null;
  void waiting.then((lease) => {
    got = lease;
  });
  // It is in line before time goes by.
  await world.pass(0);
  if (stepMs < 0) {
    await world.pass(LEASE_MS - 1_000);
    expect(got).toBeNull();
    await world.pass(2_000);
  } else await world.pass(100);
  expect(got).not.toBeNull();
  expect((await waiting)!.fence).toBeGreaterThan(dead.fence);
}

export const locks: Record<string, Promised> = {
  "a dead holder's lock goes to the next after its lease": promised(async (world, stepMs) => {
    const dead = await new Locks(world.store).acquire("door", { leaseMs: LEASE_MS, renew: false });
    await expectNextHolder(
      world,
      stepMs,
      (store, waitMs) => new Locks(store).acquire("door", { leaseMs: LEASE_MS, waitMs }),
      dead!,
    );
  }),
  "a living holder keeps its lock, and nobody else gets it": promised(async (world, stepMs) => {
    const leaseMs = 30_000;
    const mine = await new Locks(world.store).acquire("door", { leaseMs });
    world.step(stepMs);
    const others = new Locks(await world.another());
    for (let nth = 0; nth < 10; nth++) {
      expect(await others.acquire("door", { waitMs: 0 })).toBeNull();
      await world.pass(leaseMs / 4);
    }
    expect(mine!.lost).toBe(false);
    expect(await mine!.release()).toBe(true);
  }),
  "a dead waiter is passed over after fifteen seconds": promised(async (world, stepMs) => {
    const store = await world.another();
    const mine = await new Locks(world.store).acquire("door", { leaseMs: 10 * LEASE_MS });
    // In a Cluster nobody knows who listens, so there the line believes in a waiter for a while. Here: one who polled, and died.
    const keys = { state: "lock:{door}", queue: "lock:{door}:queue" };
    const token = `1000000:${LEASE_MS}:dead`;
    await store.call("ZADD", keys.queue, 1, token);
    await store.call("HSET", keys.state, token, `${world.nowMs + 15_000} ${LEASE_MS} nowhere`);
    world.step(stepMs);
    await mine!.release();
    await world.pass(15_001);
    expect(await new Locks(store).acquire("door", { waitMs: 0 })).not.toBeNull();
    expect(await store.call("ZCARD", keys.queue)).toBe(0);
  }),
};

export const semaphores: Record<string, Promised> = {
  "a dead holder's permits go to the next after its lease": promised(async (world, stepMs) => {
    const make = (store: Store) => new Semaphores(store, { limit: 2 });
    const options = { leaseMs: LEASE_MS, renew: false };
    const dead = [await make(world.store).acquire("seats", options), await make(world.store).acquire("seats", options)];
    await expectNextHolder(
      world,
      stepMs,
      (store, waitMs) => make(store).acquire("seats", { leaseMs: LEASE_MS, waitMs, permits: 2 }),
      dead[1]!,
    );
    expect((await make(world.store).inspect("seats")).used).toBe(2);
  }),
  "living holders keep their permits, and the limit holds": promised(async (world, stepMs) => {
    const leaseMs = 30_000;
    const mine = [await new Semaphores(world.store, { limit: 2 }).acquire("seats", { leaseMs, permits: 2 })];
    world.step(stepMs);
    const others = new Semaphores(await world.another(), { limit: 2 });
    for (let nth = 0; nth < 10; nth++) {
      expect(await others.acquire("seats", { waitMs: 0 })).toBeNull();
      await world.pass(leaseMs / 4);
    }
    expect(mine[0]!.lost).toBe(false);
  }),
};
