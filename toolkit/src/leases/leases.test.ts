/** Waiting and renewal under trouble: busy loops, lost messages, slow answers, clocks that jump. */
import { describe, expect, test } from "vitest";
import { describeBackends } from "../../tests/kit/index.ts";
import { FaultyProxy } from "../../tests/kit/proxy.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import { type Lease, Locks } from "../components/locks/index.ts";
import { Semaphores } from "../components/semaphores/index.ts";
import { open } from "../connection/open.ts";
import type { Driver } from "../connection/port.ts";
import { Store } from "../connection/store.ts";
import { openUrl } from "../connection/url.ts";
import { permitKeys } from "./keys.ts";
import { Renewal } from "./renewal.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Holds up the event loop. */
function compute(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

async function untilWaiting(locks: Locks, name: string, count: number): Promise<void> {
  while ((await locks.inspect(name)).waiting !== count) await turn();
}

async function threadRuns(store: Store): Promise<void> {
  while (Renewal.of(store).thread !== "running") await turn();
}

/** Computes until the lease has been renewed meanwhile, so often; or until it was lost. */
function computeWhileRenewed(lease: Lease, times: number): void {
  let last = lease.validForMs;
  for (let seen = 0; seen < times && last > 0; ) {
    const left = lease.validForMs;
    if (left > last) seen += 1;
    last = left;
  }
}

describeBackends("a process that computes for longer than its lease", (backend) => {
  test("keeps its locks", async () => {
    const locks = new Locks(backend.store);
    const theirs = new Locks(await backend.open());
    const leaseMs = backend.name === "embedded" ? 1_000 : 2_000;
    const lease = await locks.acquire("busy", { leaseMs });
    if (backend.name === "embedded") {
      compute(2 * leaseMs);
    } else {
      await threadRuns(backend.store);
      computeWhileRenewed(lease!, 4);
      expect(lease!.validForMs).toBeGreaterThan(0);
    }
    // On the embedded store both are in this process: what is due is renewed before anybody's next call.
    expect(await theirs.acquire("busy", { waitMs: 0 })).toBeNull();
    await turn();
    expect(lease!.lost).toBe(false);
    expect(lease!.validForMs).toBeGreaterThan(0);
    expect(await lease!.release()).toBe(true);
  });
});

describeBackends("a process that computes from its first lease on", { backends: ["redis"] }, (backend) => {
  test("keeps it, while the thread is still starting", async () => {
    const lease = await new Locks(await backend.open()).acquire("at-once", { leaseMs: 15_000 });
    computeWhileRenewed(lease!, 1);
    expect(lease!.validForMs).toBeGreaterThan(0);
    expect(await lease!.release()).toBe(true);
  });
});

describeBackends("a waiter", (backend) => {
  test("finds by polling what a lost message would have told", async () => {
    const locks = new Locks(backend.store);
    const other = await backend.open();
    await other.subscribe("elsewhere", () => {});
    const lease = await locks.acquire("lost-message", { leaseMs: 300 });
    const waiting = locks.acquire("lost-message", { leaseMs: 10_000 });
    await untilWaiting(locks, "lost-message", 1);
    const { queue, state } = permitKeys("lock", "lost-message", "lock");
    const [token] = (await other.call("ZRANGE", queue, 0, 0)) as string[];
    const info = (await other.call("HGET", state, token!)) as string;
    await other.call("HSET", state, token!, info.replace(/\S+$/, "elsewhere"));
    await lease!.release();
    const got = await waiting;
    expect(got!.token).toBe(token);
    expect(got!.validForMs).toBeGreaterThan(5_000);
    await got!.release();
  });

  test("does not believe a message about a lease that has long run out", async () => {
    const locks = new Locks(backend.store);
    const lease = await locks.acquire("stale");
    const waiting = locks.acquire("stale", { leaseMs: 10_000 });
    await untilWaiting(locks, "stale", 1);
    const { queue, state } = permitKeys("lock", "stale", "lock");
    const [token] = (await backend.store.call("ZRANGE", queue, 0, 0)) as string[];
    const [alive, , channel] = ((await backend.store.call("HGET", state, token!)) as string).split(" ");
    // What it would get if it had been stopped for longer than the lease that it was given.
    await backend.store.call("PUBLISH", channel!, `${token} 5 ${Number(alive) - 60_000} 10000`);
    // Its own messages come in the same order: this one is there when the next one is.
    expect(await lease!.release()).toBe(true);
    const got = await waiting;
    expect(got!.fence).toBeGreaterThan(lease!.fence);
    await got!.release();
  });

  test("that cannot be reached is passed over, keeps its place, and is served when it asks", async () => {
    if (backend.store.topology === "cluster") return;
    const locks = new Locks(backend.store);
    const other = await backend.open();
    const lease = await locks.acquire("unreachable", { leaseMs: 1_000 });
    const first = locks.acquire("unreachable");
    await untilWaiting(locks, "unreachable", 1);
    const { queue, state } = permitKeys("lock", "unreachable", "lock");
    const [token] = (await other.call("ZRANGE", queue, 0, 0)) as string[];
    const info = (await other.call("HGET", state, token!)) as string;
    const second = new Locks(other).acquire("unreachable");
    await untilWaiting(locks, "unreachable", 2);
    await other.call("HSET", state, token!, info.replace(/\S+$/, "nobody"));
    await lease!.release();
    const got = await second;
    expect((await locks.inspect("unreachable")).waiting).toBe(1);
    await got!.release();
    expect((await first)!.token).toBe(token);
    await (await first)!.release();
  });

  test("costs two commands for each section, however many wait", async () => {
    const trips: string[] = [];
    const store = await backend.open({
      hooks: {
        roundTrip: ({ name }) => {
          trips.push(name);
          return undefined;
        },
      },
    });
    const locks = new Locks(store, { waitMs: 30_000 });
    // The same lock, so that in a Cluster its node has the scripts.
    const holder = await locks.acquire("cost");
    await expect(locks.acquire("cost", { waitMs: 30 })).resolves.toBeNull();
    await holder!.release();
    trips.length = 0;
    const sections = Array.from({ length: 20 }, async () => {
      const lease = await locks.acquire("cost");
      await turn();
      await lease!.release();
    });
    await Promise.all(sections);
    expect(trips.filter((name) => name === "locks.release")).toHaveLength(20);
    // Besides one to ask, only signs of life: none within the first five seconds.
    const asked = trips.filter((name) => name === "locks.acquire").length;
    expect(asked).toBeGreaterThanOrEqual(20);
    expect(asked).toBeLessThanOrEqual(40);
    expect(trips).toHaveLength(asked + 20);
  });

  test("is never given a lease that has run out before it heard of it", async () => {
    let aheadMs = 0;
    let stepMs = 0;
    const clock: Clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + aheadMs };
    const store = await backend.open({
      clock,
      hooks: {
        roundTrip: () => () => {
          aheadMs += stepMs;
        },
      },
    });
    const locks = new Locks(store, { waitMs: 0 });
    stepMs = 31_000;
    expect(await locks.acquire("late")).toBeNull();
    expect((await locks.inspect("late")).holders).toEqual([]);
    expect(await locks.acquire("late", { waitMs: 40_000 })).toBeNull();
    expect((await locks.inspect("late")).holders).toEqual([]);
    expect(await locks.acquireMany(["late", "later"])).toBeNull();
    expect((await locks.inspect("later")).holders).toEqual([]);
    stepMs = 0;
    const lease = await locks.acquire("late");
    expect(lease!.validForMs).toBeGreaterThan(20_000);
    await lease!.release();
  });
});

describeBackends("clocks", (backend) => {
  test("of callers decide nothing: one that is a day ahead and jumps gets no more than its share", async () => {
    const wrong: Clock = {
      ...systemClock,
      monotonicMs: () => systemClock.monotonicMs() + 86_400_000,
      wallMs: () => Math.floor(Math.random() * 2 ** 41),
    };
    const here = new Semaphores(backend.store, { limit: 2 });
    const there = new Semaphores(await backend.open({ clock: wrong }), { limit: 2 });
    const [a, b] = await Promise.all([there.acquire("skew"), here.acquire("skew")]);
    expect(await there.acquire("skew", { waitMs: 0 })).toBeNull();
    expect(await here.acquire("skew", { waitMs: 0 })).toBeNull();
    expect(a!.validForMs).toBeGreaterThan(20_000);
    expect(a!.lost).toBe(false);
    await Promise.all([a!.release(), b!.release()]);
  });
});

describe("the thread that renews", () => {
  describeBackends("leases", { backends: ["redis"] }, (backend) => {
    test("is not missed where it cannot reach the server", async () => {
      const driver = await openUrl(backend.url!, {});
      const address = { url: "redis://127.0.0.1:1", options: { connectTimeoutMs: 100 } };
      const store = new Store(
        new Proxy<Driver>(driver, {
          get(target, key) {
            if (key === "address") return address;
            const value = Reflect.get(target, key, target);
            return typeof value === "function" ? value.bind(target) : value;
          },
        }),
      );
      // A failover takes longer than a short lease.
      const leaseMs = backend.failsOver ? 15_000 : 1_500;
      const lease = await new Locks(store).acquire("no-thread", { leaseMs });
      const { held } = permitKeys("lock", "no-thread", "lock");
      const first = Number(await store.call("ZSCORE", held, lease!.token));
      while (Number(await store.call("ZSCORE", held, lease!.token)) < first + 400) await turn();
      expect(lease!.lost).toBe(false);
      expect(await lease!.release()).toBe(true);
      await store.close();
    });

    test("renews many leases at once, and stops with the store", async () => {
      const store = await backend.open();
      const locks = new Locks(store);
      const leases = await Promise.all(
        Array.from({ length: 1_500 }, (_, n) => locks.acquire(`n${n}`, { leaseMs: 9_000 })),
      );
      const ends = async (): Promise<number[]> => {
        const answers = await store.pipeline(
          leases.map((lease) => ["ZSCORE", permitKeys("lock", lease!.name, "lock").held, lease!.token]),
        );
        return answers.map(Number);
      };
      const first = await ends();
      while (!(await ends()).every((end, n) => end > first[n]!)) await turn();
      await threadRuns(store);
      expect(leases.every((lease) => lease!.validForMs > 0)).toBe(true);
      await store.close();
      expect(leases.every((lease) => lease!.lost)).toBe(true);
      expect(Renewal.of(store).thread).toBe("none");
    });
  });

  describeBackends("what was cut off", { backends: ["redis"], fixedServer: true }, (backend) => {
    test("renews a long lease once the server can be reached again", { timeout: 30_000 }, async () => {
      const proxy = await FaultyProxy.open(backend.ports[0]!);
      const store = await open(proxy.url);
      const lease = await new Locks(store).acquire("cut-off", { leaseMs: 12_000 });
      const { held } = permitKeys("lock", "cut-off", "lock");
      const end = async (): Promise<number> => Number(await backend.store.call("ZSCORE", held, lease!.token));
      const first = await end();
      await threadRuns(store);
      proxy.refuse();
      proxy.cut();
      // Its first attempt is due when a third has passed, a twentieth earlier where others are due too.
      while (lease!.validForMs > 12_000 * 0.6) await new Promise((resolve) => setTimeout(resolve, 20));
      proxy.refuse(false);
      while ((await end()) === first && !lease!.lost) await turn();
      expect(lease!.lost).toBe(false);
      expect(await lease!.release()).toBe(true);
      await store.close();
      await proxy.close();
    });
  });
});
