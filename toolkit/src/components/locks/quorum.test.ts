/** The quorum lock over independent servers, some of which fail, answer late, or have lost their memory. */
import { Engine } from "@cinnabar/engine";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { installed, startRedis } from "../../../tests/kit/servers.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import { InputError, LeaseLostError } from "../../base/errors.ts";
import { open } from "../../connection/open.ts";
import type { Store } from "../../connection/store.ts";
import { permitKeys } from "../../leases/keys.ts";
import { Locks, QuorumLocks } from "./index.ts";

describe("a quorum lock", () => {
  let stores: Store[] = [];

  beforeEach(async () => {
    stores = await Promise.all(Array.from({ length: 5 }, () => open()));
  });

  afterEach(async () => {
    await Promise.all(stores.map((store) => store.close()));
  });

  test("is held by one, and given back everywhere", async () => {
    const locks = new QuorumLocks(stores);
    const lease = await locks.acquire("a");
    expect(lease!.validForMs).toBeGreaterThan(20_000);
    expect(await locks.acquire("a", { waitMs: 20 })).toBeNull();
    const waiting = locks.acquire("a");
    expect(await lease!.release()).toBe(true);
    const next = await waiting;
    expect(next!.fence).toBeGreaterThan(lease!.fence);
    expect(await locks.using("b", {}, (held) => held.name)).toBe("b");
    await next!.release();
    for (const store of stores) expect((await new Locks(store).inspect("a")).holders).toEqual([]);
  });

  test("needs a majority and gives back what it got without one", async () => {
    const others = await Promise.all(stores.slice(0, 3).map((store) => new Locks(store).acquire("part")));
    const locks = new QuorumLocks(stores);
    expect(await locks.acquire("part", { waitMs: 10 })).toBeNull();
    for (const store of stores.slice(3)) expect((await new Locks(store).inspect("part")).holders).toEqual([]);
    await others[0]!.release();
    const lease = await locks.acquire("part");
    expect(lease).not.toBeNull();
    await lease!.release();
    await Promise.all(others.map((other) => other!.release()));
  });

  test("works without a minority, and not without a majority", async () => {
    const locks = new QuorumLocks(stores, { timeoutMs: 200 });
    await Promise.all(stores.slice(0, 2).map((store) => store.close()));
    const lease = await locks.acquire("few");
    expect(await lease!.renew()).toBe(true);
    await stores[2]!.close();
    expect(await locks.acquire("other", { waitMs: 0 })).toBeNull();
    expect(lease!.lost).toBe(true);
    expect(lease!.signal.reason).toBeInstanceOf(LeaseLostError);
  });

  test("gives growing fences, whichever servers make the majority", async () => {
    const locks = new QuorumLocks(stores);
    // One server's numbers are far ahead: its clock was wrong.
    const { state } = permitKeys("lock", "fenced", "lock");
    await stores[0]!.call("HSET", state, "fence", String(8e15));
    let last = 0;
    for (let round = 0; round < 5; round++) {
      // Two servers are busy each time, others in each round.
      const busy = [stores[round]!, stores[(round + 1) % 5]!];
      const taken = round === 0 ? [] : await Promise.all(busy.map((store) => new Locks(store).acquire("fenced")));
      const lease = await locks.acquire("fenced");
      expect(lease!.fence).toBeGreaterThan(last);
      last = lease!.fence;
      await lease!.release();
      await Promise.all(taken.map((each) => each!.release()));
    }
    expect(last).toBeGreaterThan(8e15);
  });

  test("is lost when a majority has lost it, and kept when a minority has", async () => {
    const locks = new QuorumLocks(stores);
    const lease = await locks.acquire("memory", { leaseMs: 1_500 });
    await Promise.all(stores.slice(0, 2).map((store) => store.call("FLUSHALL")));
    expect(await lease!.renew()).toBe(true);
    expect(lease!.lost).toBe(false);
    await stores[2]!.call("FLUSHALL");
    await new Promise((resolve) => lease!.signal.addEventListener("abort", resolve));
    expect(lease!.lost).toBe(true);
    expect(await lease!.release()).toBe(false);
  });

  test("is handed on by its handle", async () => {
    const locks = new QuorumLocks(stores);
    const lease = await locks.acquire("handle");
    const taken = await new QuorumLocks(stores).resume(lease!.detach());
    expect(taken!.fence).toBe(lease!.fence);
    expect(await taken!.release()).toBe(true);
    expect(await locks.resume(taken!.handle)).toBeNull();
  });

  test("is not given when asking took longer than the lease", async () => {
    let ahead = 0;
    const clock: Clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + ahead };
    const hooks = {
      roundTrip: () => () => {
        ahead += 31_000;
      },
    };
    const engine = await Engine.open();
    const slow = [await open(engine, { clock, hooks }), ...stores.slice(0, 2)];
    expect(await new QuorumLocks(slow).acquire("slow", { waitMs: 0 })).toBeNull();
    for (const store of stores.slice(0, 2)) expect((await new Locks(store).inspect("slow")).holders).toEqual([]);
    await slow[0]!.close();
    await engine.close();
  });

  test("refuses numbers of stores that have no clear majority", () => {
    expect(() => new QuorumLocks(stores.slice(0, 2))).toThrow(InputError);
    expect(() => new QuorumLocks(stores.slice(0, 4))).toThrow(InputError);
    expect(() => new QuorumLocks([stores[0]!, stores[0]!, stores[1]!])).toThrow(InputError);
  });
});

describe.skipIf(!installed("redis-server"))("a quorum lock on three Redis servers", () => {
  test("survives the death of one, renews on the others, and tells when two are gone", async () => {
    const servers = await Promise.all([startRedis(), startRedis(), startRedis()]);
    const stores = await Promise.all(servers.map(({ url }) => open(url, { retryMs: 0 })));
    try {
      const locks = new QuorumLocks(stores, { timeoutMs: 2_000 });
      const lease = await locks.acquire("real", { leaseMs: 3_000 });
      await servers[0]!.kill();
      // Renewed by the threads of the other two: more is left than what the first three seconds can have left.
      let before = lease!.validForMs;
      for (let risen = 0; risen < 2 && !lease!.lost; ) {
        await new Promise(setImmediate);
        const now = lease!.validForMs;
        if (now > before) risen += 1;
        before = now;
      }
      expect(lease!.lost).toBe(false);
      expect(await locks.acquire("real", { waitMs: 0 })).toBeNull();
      await servers[1]!.kill();
      await new Promise<void>((resolve) => {
        if (lease!.lost) resolve();
        lease!.signal.addEventListener("abort", () => resolve());
      });
      expect(lease!.validForMs).toBe(0);
    } finally {
      await Promise.all(stores.map((store) => store.close()));
      await Promise.all(servers.map((server) => server.stop()));
    }
  });
});
