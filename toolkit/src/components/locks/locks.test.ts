/** What a lock promises, on every backend. */
import { afterEach, describe, expect, test } from "vitest";
import { describeBackends, EVERY_BACKEND_AND_OWN_CLUSTER } from "../../../tests/kit/index.ts";
import { InputError, LeaseLostError } from "../../base/errors.ts";
import type { Store } from "../../connection/store.ts";
import { permitKeys, tagOf } from "../../leases/keys.ts";
import { type Lease, Locks } from "./index.ts";

/** Resolves when so many wait in line. */
async function untilWaiting(locks: Locks, name: string, count: number): Promise<void> {
  while ((await locks.inspect(name)).waiting !== count) await new Promise(setImmediate);
}

/** Ends a lease on the server as if its time had passed there. */
async function runOut(store: Store, lease: Lease): Promise<void> {
  const { held } = permitKeys("lock", lease.name, "lock");
  expect(await store.call("ZADD", held, "XX", "CH", 1, lease.token)).toBe(1);
}

const lossOf = (lease: Lease): Promise<unknown> =>
  new Promise((resolve) => {
    if (lease.signal.aborted) resolve(lease.signal.reason);
    lease.signal.addEventListener("abort", () => resolve(lease.signal.reason));
  });

describeBackends("locks", { backends: EVERY_BACKEND_AND_OWN_CLUSTER }, (backend) => {
  const leases: Lease[] = [];
  const held = async (locks: Locks, name: string, options = {}): Promise<Lease> => {
    const lease = await locks.acquire(name, options);
    expect(lease).not.toBeNull();
    leases.push(lease!);
    return lease!;
  };
  afterEach(async () => {
    await Promise.all(leases.splice(0).map((lease) => lease.release()));
  });

  test("release takes a name from all who hold it, and who waits is served", async () => {
    const locks = new Locks(backend.store);
    const readers = await Promise.all([1, 2].map(() => locks.acquire("hung", { shared: true })));
    const writer = locks.acquire("hung", { waitMs: 30_000 });
    while ((await locks.inspect("hung")).waiting !== 1) await new Promise(setImmediate);
    expect(await locks.release("hung")).toBe(2);
    const lease = await writer;
    expect(lease).not.toBeNull();
    for (const reader of readers) expect(await reader?.release()).toBe(false);
    expect((await locks.inspect("hung")).holders).toMatchObject([{ fence: lease?.fence, shared: false }]);
    await lease?.release();
    expect(await locks.release("hung")).toBe(0);
  });

  test("are held by one at a time", async () => {
    const mine = new Locks(backend.store);
    const theirs = new Locks(await backend.open());
    const lease = await held(mine, "a");
    expect(lease).toMatchObject({ name: "a", lost: false, leaseMs: 30_000, replicas: null });
    expect(lease.validForMs).toBeGreaterThan(0);
    expect(lease.validForMs).toBeLessThanOrEqual(30_000);
    expect(await theirs.acquire("a", { waitMs: 0 })).toBeNull();
    expect(await theirs.acquire("a", { waitMs: 30 })).toBeNull();
    await held(theirs, "b");
    expect(await lease.release()).toBe(true);
    expect(lease.validForMs).toBe(0);
    await held(theirs, "a");
  });

  test("give each holder a larger fence, also after the keys are lost", async () => {
    const locks = new Locks(backend.store);
    let last = 0;
    for (let round = 0; round < 6; round++) {
      const lease = await held(locks, "fenced", { shared: round % 2 === 1 });
      expect(lease.fence).toBeGreaterThan(last);
      last = lease.fence;
      await lease.release();
      if (round === 3) await backend.flush();
    }
  });

  test("are given in the order of asking, and only to one who waits", async () => {
    const first = new Locks(backend.store);
    const others = [first, new Locks(await backend.open()), new Locks(await backend.open())];
    const lease = await held(first, "line");
    const order: number[] = [];
    const waiting: Promise<void>[] = [];
    for (let n = 0; n < 9; n++) {
      waiting.push(
        others[n % 3]!.acquire("line").then(async (mine) => {
          order.push(n);
          expect(await first.acquire("line", { waitMs: 0 })).toBeNull();
          expect((await first.inspect("line")).waiting).toBe(8 - n);
          expect(await mine!.release()).toBe(true);
        }),
      );
      await untilWaiting(first, "line", n + 1);
    }
    await lease.release();
    await Promise.all(waiting);
    expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  });

  test("are not given to a newcomer before callers that wait", async () => {
    const locks = new Locks(backend.store);
    const lease = await held(locks, "queue");
    const second = locks.acquire("queue");
    await untilWaiting(locks, "queue", 1);
    const [, third, next] = await Promise.all([lease.release(), locks.acquire("queue", { waitMs: 0 }), second]);
    expect(third).toBeNull();
    expect(await next!.release()).toBe(true);
  });

  test("are not given to a newcomer while waiting callers look for the server that has replaced theirs", async () => {
    const locks = new Locks(backend.store);
    const elsewhere = new Locks(await backend.open());
    const stop = new AbortController();
    /** Who gets it when it is given back and nobody hears the one who waits, whose server was this one or another. */
    const given = async (name: string, serverOf: (own: string) => string): Promise<"waiter" | "newcomer"> => {
      const lease = await held(locks, name);
      elsewhere.acquire(name, { signal: stop.signal }).catch(() => {});
      await untilWaiting(locks, name, 1);
      const { queue, state, held: zset } = permitKeys("lock", name, "lock");
      const [token] = (await backend.store.call("ZRANGE", queue, 0, 0)) as string[];
      const record = async () => String(await backend.store.call("HGET", state, token!));
      await expect.poll(record).toMatch(/@[0-9a-f]{8}$/);
      const [alive, leaseMs, address] = (await record()).split(" ");
      const unheard = `unheard@${serverOf(address!.split("@")[1]!)}`;
      await backend.store.call("HSET", state, token!, `${alive} ${leaseMs} ${unheard}`);
      await lease.release();
      const newcomer = await locks.acquire(name, { waitMs: 0 });
      expect(await backend.store.call("ZRANGE", zset, 0, -1)).toEqual([newcomer?.token ?? token]);
      return newcomer === null ? "waiter" : "newcomer";
    };
    // In a Cluster nobody can tell who listens, and all who wait are believed.
    if (backend.store.topology !== "cluster") {
      expect(await given("replaced", () => "00000000")).toBe("waiter");
      if (!backend.failsOver) expect(await given("same", (own) => own)).toBe("newcomer");
    }
    stop.abort();
  });

  test("leave no waiter in line whose time is up or who was called off", async () => {
    const locks = new Locks(backend.store);
    await held(locks, "patience");
    expect(await locks.acquire("patience", { waitMs: 20 })).toBeNull();
    const controller = new AbortController();
    const waiting = locks.acquire("patience", { signal: controller.signal });
    await untilWaiting(locks, "patience", 1);
    controller.abort(new Error("never mind"));
    await expect(waiting).rejects.toThrow("never mind");
    expect((await locks.inspect("patience")).waiting).toBe(0);
    await expect(locks.acquire("patience", { signal: controller.signal })).rejects.toThrow("never mind");
  });

  test("pass over a waiter that has shown no sign of life", async () => {
    const locks = new Locks(backend.store);
    const other = new Locks(await backend.open());
    const lease = await held(locks, "dead");
    const controller = new AbortController();
    const dead = locks.acquire("dead", { waitMs: 60_000, signal: controller.signal });
    await untilWaiting(locks, "dead", 1);
    const { queue, state } = permitKeys("lock", "dead", "lock");
    const [token] = (await backend.store.call("ZRANGE", queue, 0, 0)) as string[];
    const alive = other.acquire("dead");
    await untilWaiting(locks, "dead", 2);
    await backend.store.call("HSET", state, token!, "1 30000 nowhere");
    await lease.release();
    const got = await alive;
    expect(got).not.toBeNull();
    await got!.release();
    expect((await locks.inspect("dead")).waiting).toBe(0);
    controller.abort(new Error("enough"));
    await expect(dead).rejects.toThrow("enough");
  });

  test("go to the next in line when the holder's lease runs out", async () => {
    const locks = new Locks(backend.store);
    await locks.acquire("left", { leaseMs: 100, renew: false });
    const lease = await held(locks, "left", { waitMs: 20_000 });
    expect(lease.validForMs).toBeGreaterThan(15_000);
  });

  test("are renewed without being asked, and kept past their lease", async () => {
    const locks = new Locks(backend.store);
    // Longer than a failover takes: nobody can renew during one.
    const leaseMs = backend.failsOver ? 30_000 : 1_500;
    const lease = await held(locks, "kept", { leaseMs });
    const { held: zset } = permitKeys("lock", "kept", "lock");
    const firstEnd = Number(await backend.store.call("ZSCORE", zset, lease.token));
    let end = firstEnd;
    while (end < firstEnd + 600 && !lease.lost) {
      await new Promise(setImmediate);
      end = Number(await backend.store.call("ZSCORE", zset, lease.token));
    }
    expect(lease.lost).toBe(false);
    expect(lease.validForMs).toBeGreaterThan(0);
    expect(await lease.release()).toBe(true);
  });

  test("tell the holder that the lease was lost to another", async () => {
    const locks = new Locks(backend.store);
    const lease = await held(locks, "lost", { leaseMs: 1_500 });
    const loss = lossOf(lease);
    await runOut(backend.store, lease);
    const next = await held(locks, "lost");
    expect(await loss).toBeInstanceOf(LeaseLostError);
    expect(lease.lost).toBe(true);
    expect(lease.validForMs).toBe(0);
    expect(await lease.renew()).toBe(false);
    expect(await lease.release()).toBe(false);
    expect(next.fence).toBeGreaterThan(lease.fence);
    expect(await next.renew()).toBe(true);
  });

  test("tell the holder that the lease has run out when nobody renews it", async () => {
    const locks = new Locks(backend.store);
    const lease = await held(locks, "alone", { leaseMs: 50, renew: false });
    expect(await lossOf(lease)).toBeInstanceOf(LeaseLostError);
  });

  test("can be renewed by hand, even after the lease ran out, as long as nobody had it between", async () => {
    const locks = new Locks(backend.store);
    const lease = await held(locks, "hand", { leaseMs: 20_000, renew: false });
    await runOut(backend.store, lease);
    expect(await lease.renew()).toBe(true);
    expect(await locks.acquire("hand", { waitMs: 0 })).toBeNull();
  });

  test("run a body while held, and are given back after it", async () => {
    const locks = new Locks(backend.store);
    const result = await locks.using("body", {}, async (lease, signal) => {
      expect(signal.aborted).toBe(false);
      expect(await locks.using("body", { waitMs: 0 }, () => "never")).toBeNull();
      return lease.name;
    });
    expect(result).toBe("body");
    await expect(locks.using("body", {}, () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
    expect((await locks.inspect("body")).holders).toEqual([]);
  });

  test("are shared by readers, and writers are not starved", async () => {
    const locks = new Locks(backend.store);
    const readers = [await held(locks, "rw", { shared: true }), await held(locks, "rw", { shared: true })];
    const writer = locks.acquire("rw");
    await untilWaiting(locks, "rw", 1);
    const late = [locks.acquire("rw", { shared: true }), locks.acquire("rw", { shared: true })];
    await untilWaiting(locks, "rw", 3);
    expect(await locks.acquire("rw", { shared: true, waitMs: 0 })).toBeNull();
    await readers[0]!.release();
    expect((await locks.inspect("rw")).waiting).toBe(3);
    await readers[1]!.release();
    const writing = await writer;
    expect((await locks.inspect("rw")).holders).toEqual([
      { fence: writing!.fence, validForMs: expect.any(Number), shared: false },
    ]);
    await writing!.release();
    const reading = await Promise.all(late);
    expect((await locks.inspect("rw")).holders.map(({ shared }) => shared)).toEqual([true, true]);
    for (const lease of reading) await lease!.release();
  });

  test("are taken together or not at all", async () => {
    const locks = new Locks(backend.store);
    const names = ["m", "{t}x", "a", "{t}y", "z", "a"];
    const group = await locks.acquireMany(names, { leaseMs: 5_000 });
    expect(group!.leases.map(({ name }) => name)).toEqual(["m", "{t}x", "a", "{t}y", "z"]);
    expect(group!.validForMs).toBeGreaterThan(0);
    for (const name of names) expect(await locks.acquire(name, { waitMs: 0 })).toBeNull();
    expect(await group!.renew()).toBe(true);
    expect(await group!.release()).toBe(true);
    const one = await held(locks, "z");
    expect(await locks.acquireMany(names, { waitMs: 20 })).toBeNull();
    for (const name of ["m", "{t}x", "a", "{t}y"]) expect((await locks.inspect(name)).holders).toEqual([]);
    const waiting = locks.acquireMany(names);
    await untilWaiting(locks, "z", 1);
    await one.release();
    const all = await waiting;
    await runOut(backend.store, all!.leases[1]!);
    await held(locks, "{t}x");
    expect(await all!.renew()).toBe(false);
    expect(all!.lost).toBe(true);
    expect(all!.signal.aborted).toBe(true);
    expect(await all!.release()).toBe(false);
  });

  test("taken together by many in any order never wait for each other", async () => {
    const locks = [new Locks(backend.store), new Locks(await backend.open())];
    const names = ["n1", "{g}1", "n2", "{g}2", "n3"];
    const rounds = Array.from({ length: 24 }, async (_, n) => {
      const chosen = [...names.slice(n % 5), ...names.slice(0, n % 5)].slice(0, 3);
      const group = await locks[n % 2]!.acquireMany(n % 2 === 0 ? chosen : chosen.reverse(), { waitMs: 50_000 });
      expect(await group?.release()).toBe(true);
    });
    await Promise.all(rounds);
  });

  test("can be handed to another process", async () => {
    const mine = new Locks(backend.store);
    const theirs = new Locks(await backend.open());
    const lease = await held(mine, "hand-over");
    const handle = lease.detach();
    expect(lease.validForMs).toBe(0);
    const taken = await theirs.resume(handle);
    expect(taken).toMatchObject({ name: "hand-over", token: lease.token, fence: lease.fence });
    expect(await taken!.release()).toBe(true);
    expect(await theirs.resume(handle)).toBeNull();
    await expect(theirs.resume("{}")).rejects.toThrow(InputError);
  });

  test("refuse what cannot be right, before anything is sent", async () => {
    const locks = new Locks(backend.store);
    await expect(locks.acquire("")).rejects.toThrow(InputError);
    await expect(locks.acquire("a", { leaseMs: 1.5 })).rejects.toThrow("leaseMs");
    await expect(locks.acquire("a", { leaseMs: 10_000_000 })).rejects.toThrow("leaseMs");
    await expect(locks.acquire("a", { waitMs: Number.NaN })).rejects.toThrow("waitMs");
    await expect(locks.acquireMany([])).rejects.toThrow(InputError);
    expect(() => new Locks(backend.store, { leaseMs: 0 })).toThrow(InputError);
  });

  test("have a line of bounded length", async () => {
    const locks = new Locks(backend.store, { maxWaiting: 2 });
    await locks.acquire("warm", { waitMs: 0 });
    const lease = await held(locks, "full");
    const waiting = [locks.acquire("full"), locks.acquire("full")];
    await untilWaiting(locks, "full", 2);
    expect(await locks.acquire("full", { waitMs: 60_000 })).toBeNull();
    await lease.release();
    for (const each of waiting) await (await each)!.release();
  });

  test("wait for replicas where that is asked for, and say how many have it", async () => {
    // The servers of the suites have no replicas, but those of the Cluster have one, and Sentinel's has two.
    const expected = { cluster: 1, "embedded-cluster": 1, sentinel: 2 }[backend.name as string] ?? 0;
    const missing = expected + 1;
    const accepting = new Locks(backend.store, { confirm: { replicas: missing, timeoutMs: 20, otherwise: "accept" } });
    const lease = await held(accepting, "copied");
    // One that has just been the primary is not there yet.
    expect(backend.failsOver ? [0, 1, 2] : [expected]).toContain(lease.replicas);
    expect(lease.validForMs).toBeGreaterThan(0);
    await lease.release();
    const strict = new Locks(backend.store, { confirm: { replicas: missing, timeoutMs: 20 } });
    await expect(strict.acquire("copied")).rejects.toMatchObject({ code: "UNCONFIRMED" });
    expect((await strict.inspect("copied")).holders).toEqual([]);
    if (expected === 0) return;
    const enough = new Locks(backend.store, { confirm: { replicas: 1, timeoutMs: 5_000 } });
    expect((await held(enough, "copied")).replicas).toBeGreaterThanOrEqual(1);
  });

  test("reject who waits when the store is closed", async () => {
    const store = await backend.open();
    const locks = new Locks(backend.store);
    await held(locks, "closing");
    const waiting = new Locks(store).acquire("closing", { waitMs: 60_000 });
    await untilWaiting(locks, "closing", 1);
    await Promise.all([store.close(), expect(waiting).rejects.toThrow("closed")]);
  });

  test("leave only keys that vanish by themselves", async () => {
    const locks = new Locks(backend.store);
    const lease = await held(locks, "tidy");
    const next = locks.acquire("tidy");
    await untilWaiting(locks, "tidy", 1);
    const { state, held: zset, queue } = permitKeys("lock", "tidy", "lock");
    for (const key of [state, zset, queue])
      expect(Number(await backend.store.call("PTTL", key))).toBeGreaterThan(30_000);
    await lease.release();
    await (await next)!.release();
    expect(await backend.store.call("EXISTS", zset)).toBe(0);
    expect(await backend.store.call("EXISTS", queue)).toBe(0);
    expect(Number(await backend.store.call("PTTL", state))).toBeLessThanOrEqual(3_600_000);
  });
});

describe("the keys of a lock", () => {
  test("are in one slot, and different names are in different ones", () => {
    for (const name of ["a", "{t}x", "a{b}c", "{", "x}y"]) {
      const keys = Object.values(permitKeys("lock", name, "lock"));
      expect(new Set(keys.map(tagOf)).size).toBe(1);
      expect(tagOf(keys[0]!)).not.toBe("");
    }
    expect(tagOf(permitKeys("lock", "a", "lock").state)).not.toBe(tagOf(permitKeys("lock", "b", "lock").state));
  });
});
