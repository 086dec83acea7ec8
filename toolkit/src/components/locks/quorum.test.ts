/** The quorum lock over independent servers, some of which fail, answer late, or have lost their memory. */
import { Engine } from "@cinnabar/engine";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { installed, startRedis } from "../../../tests/kit/servers.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import { InputError, LeaseLostError } from "../../base/errors.ts";
import { open } from "../../connection/open.ts";
import type { Store } from "../../connection/store.ts";
import { permitKeys } from "../../leases/keys.ts";
import { lockScripts, WHOLE_LOCK } from "../../leases/scripts.ts";
import { Locks, QuorumLocks, type QuorumOptions } from "./index.ts";

/** A store whose scripts run inside something else. */
function changed(store: Store, around: (script: string, run: () => Promise<unknown>) => Promise<unknown>): Store {
  const run = (script: { readonly name: string }, ...rest: unknown[]) =>
    around(script.name, () => (store.run as (...all: unknown[]) => Promise<unknown>)(script, ...rest));
  return new Proxy(store, {
    get: (target, property) => {
      if (property === "run") return run;
      const value: unknown = Reflect.get(target, property, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

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

  test("a request that arrives late hands nothing over: by then its caller may rely on it", async () => {
    const store = stores[0]!;
    const scripts = lockScripts({ keepMs: 3_600_000, maxWaiting: 10, aliveMs: 15_000, listenersCount: false });
    const ask = async (who: string, ticket: number | "", round: number) => {
      const token = `${WHOLE_LOCK}:30000:${who}`;
      const asked = {
        ...permitKeys("lock", "late", "lock"),
        token,
        leaseMs: 30_000,
        address: who,
        limitArg: WHOLE_LOCK,
      };
      return (await store.run(scripts.askInLine, { ...asked, ticket, round })).outcome;
    };
    expect(await ask("later", "", 1)).toBe("held");
    expect(await ask("earlier", 100, 1)).toBe("queued");
    // It has a majority with the answer to its third request; the second one comes behind that.
    expect(await ask("later", "", 3)).toBe("held");
    expect(await ask("later", 200, 2)).toBe("queued");
    expect(await ask("later", "", 3)).toBe("held");
    // It has none: its part goes to the one before it.
    expect(await ask("later", 200, 4)).toBe("queued");
    expect(await ask("earlier", 100, 2)).toBe("held");
    const { state } = permitKeys("lock", "late", "lock");
    const leave = { ...permitKeys("lock", "late", "lock"), limitArg: WHOLE_LOCK };
    for (const who of ["earlier", "later"]) {
      await store.run(scripts.leaveLine, { ...leave, token: `${WHOLE_LOCK}:30000:${who}` });
    }
    expect((await store.hkeys(state)).sort()).toEqual(["extra", "fence"]);
  });

  test("leaves nothing of its holders and waiters", async () => {
    const locks = new QuorumLocks(stores);
    for (let nth = 0; nth < 5; nth++) {
      await Promise.all(Array.from({ length: 4 }, () => locks.using("tidy", { shared: nth % 2 === 0 }, () => {})));
    }
    const { state, held, queue } = permitKeys("lock", "tidy", "lock");
    for (const store of stores) {
      await expect.poll(async () => (await store.hkeys(state)).sort()).toEqual(["extra", "fence"]);
      expect(await store.exists(held, queue)).toBe(0);
    }
  });

  test("lets no more wait than allowed", async () => {
    const locks = new QuorumLocks(stores, { maxWaiting: 2 });
    const lease = await locks.acquire("full");
    const waiting = [locks.acquire("full", { waitMs: 60_000 }), locks.acquire("full", { waitMs: 60_000 })];
    await expect.poll(async () => (await new Locks(stores[4]!).inspect("full")).waiting).toBe(2);
    expect(await locks.acquire("full", { waitMs: 60_000 })).toBeNull();
    await lease!.release();
    for (const each of waiting) await (await each)!.release();
  });
});

/** The same on stores in this process and on real servers: `clients` have connections of their own to all of three servers. */
describe.each([
  { kind: "stores in this process", isThere: true },
  { kind: "Redis servers", isThere: installed("redis-server") },
])("the line of a quorum lock on three $kind", ({ kind, isThere }) => {
  const ends: (() => Promise<unknown>)[] = [];
  let open1: (() => Promise<Store>)[] = [];

  beforeAll(async () => {
    if (!isThere) return;
    if (kind === "Redis servers") {
      const servers = await Promise.all([startRedis(), startRedis(), startRedis()]);
      open1 = servers.map(
        ({ url }) =>
          () =>
            open(url),
      );
      ends.push(() => Promise.all(servers.map((server) => server.stop())));
    } else {
      const engines = await Promise.all([Engine.open(), Engine.open(), Engine.open()]);
      open1 = engines.map((engine) => () => open(engine));
      ends.push(() => Promise.all(engines.map((engine) => engine.close())));
    }
  });

  afterEach(async () => {
    for (const end of ends.splice(1).reverse()) await end();
  });

  afterAll(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  async function client(options: QuorumOptions = {}, change = (store: Store, _nth: number) => store) {
    const stores = await Promise.all(open1.map((each) => each()));
    ends.push(() => Promise.all(stores.map((store) => store.close())));
    return { stores, locks: new QuorumLocks(stores.map(change), options) };
  }

  const waiting = async (stores: readonly Store[], name: string) =>
    Math.min(...(await Promise.all(stores.map(async (store) => (await new Locks(store).inspect(name)).waiting))));

  test.runIf(isThere)("serves in the order of asking, one at a time, and without asking again and again", async () => {
    const clients = await Promise.all([client(), client(), client()]);
    const first = await clients[0]!.locks.acquire("in order", { waitMs: 60_000 });
    const order: number[] = [];
    let inside = 0;
    const done: Promise<unknown>[] = [];
    for (let nth = 0; nth < 9; nth++) {
      const { locks, stores } = clients[nth % 3]!;
      done.push(
        locks.using("in order", { waitMs: 60_000 }, async (lease) => {
          inside += 1;
          expect(inside).toBe(1);
          expect(lease.validForMs).toBeGreaterThan(0);
          order.push(nth);
          await new Promise(setImmediate);
          inside -= 1;
        }),
      );
      await expect.poll(() => waiting(stores, "in order")).toBe(nth + 1);
    }
    await first!.release();
    await Promise.all(done);
    expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    for (const store of clients[0]!.stores) {
      expect(await new Locks(store).inspect("in order")).toMatchObject({ waiting: 0, holders: [] });
    }
  });

  test.runIf(isThere)(
    "lets callers in that each got a part, one after the other, the first of them first",
    async () => {
      // Each client's question arrives at its own server first, and at the others only when all have one.
      let arrived = 0;
      let go!: () => void;
      const all = new Promise<void>((resolve) => {
        go = resolve;
      });
      const split = (own: number) =>
        client({ retryMs: 20 }, (store, nth) => {
          let isFirst = true;
          return changed(store, async (script, run) => {
            if (script !== "locks.askInLine" || !isFirst) return run();
            isFirst = false;
            if (nth !== own) await all;
            const answer = await run();
            if (nth === own && ++arrived === 3) go();
            return answer;
          });
        });
      const clients = await Promise.all([split(0), split(1), split(2)]);
      let inside = 0;
      const fences: number[] = [];
      await Promise.all(
        clients.map(({ locks }) =>
          locks.using("split", { waitMs: 60_000 }, async (lease) => {
            inside += 1;
            expect(inside).toBe(1);
            fences.push(lease.fence);
            await new Promise(setImmediate);
            inside -= 1;
          }),
        ),
      );
      expect(arrived).toBe(3);
      expect(fences).toHaveLength(3);
      expect(fences).toEqual([...fences].sort((a, b) => a - b));
    },
  );

  test.runIf(isThere)("holds one at a time and lets everybody in when many come at once", async () => {
    const clients = await Promise.all(Array.from({ length: 5 }, () => client({ retryMs: 20 })));
    let [inside, entered, last] = [0, 0, 0];
    await Promise.all(
      Array.from({ length: 40 }, (_, nth) =>
        clients[nth % 5]!.locks.using("crowd", { waitMs: 120_000 }, async ({ fence }) => {
          inside += 1;
          expect(inside).toBe(1);
          expect(fence).toBeGreaterThan(last);
          last = fence;
          entered += 1;
          await new Promise(setImmediate);
          inside -= 1;
        }),
      ),
    );
    expect(entered).toBe(40);
  });

  test.runIf(isThere)("is shared by readers, who wait in one line with writers", async () => {
    const { locks, stores } = await client();
    const readers = [await locks.acquire("report", { shared: true }), await locks.acquire("report", { shared: true })];
    expect(readers.every((lease) => lease !== null && lease.validForMs > 0)).toBe(true);
    expect(await locks.acquire("report", { waitMs: 0 })).toBeNull();
    const order: string[] = [];
    const writer = locks.using("report", { waitMs: 60_000 }, () => order.push("writer"));
    await expect.poll(() => waiting(stores, "report")).toBe(1);
    expect(await locks.acquire("report", { shared: true, waitMs: 0 })).toBeNull();
    const reader = locks.using("report", { shared: true, waitMs: 60_000 }, () => order.push("reader"));
    await expect.poll(() => waiting(stores, "report")).toBe(2);
    for (const lease of readers) expect(await lease!.release()).toBe(true);
    await Promise.all([writer, reader]);
    expect(order).toEqual(["writer", "reader"]);
  });

  test.runIf(isThere)("takes several names, all or none, and nobody waits in a circle", async () => {
    const [one, two] = await Promise.all([client({ retryMs: 20 }), client({ retryMs: 20 })]);
    const both = await one.locks.acquireMany(["b", "a", "b"]);
    expect(both!.leases.map(({ name }) => name)).toEqual(["b", "a"]);
    expect(await two.locks.acquireMany(["a", "c"], { waitMs: 10 })).toBeNull();
    expect((await new Locks(one.stores[0]!).inspect("c")).holders).toEqual([]);
    expect(await both!.release()).toBe(true);
    let inside = 0;
    await Promise.all(
      Array.from({ length: 12 }, async (_, nth) => {
        const names = nth % 2 === 0 ? ["a", "b", "c"] : ["c", "b", "a"];
        const group = await (nth % 3 === 0 ? one : two).locks.acquireMany(names, { waitMs: 60_000 });
        inside += 1;
        expect(inside).toBe(1);
        await new Promise(setImmediate);
        inside -= 1;
        await group!.release();
      }),
    );
    await expect(one.locks.acquireMany([])).rejects.toThrow(InputError);
  });

  test.runIf(isThere)("passes over callers that have gone, and those that leave the line", async () => {
    const [holder, gone, next] = await Promise.all([client(), client(), client()]);
    const first = await holder.locks.acquire("gone", { leaseMs: 60_000 });
    const controller = new AbortController();
    const left = next.locks.acquire("gone", { waitMs: 60_000, signal: controller.signal });
    const dead = gone.locks.acquire("gone", { waitMs: 60_000 }).catch(() => null);
    await expect.poll(() => waiting(holder.stores, "gone")).toBe(2);
    const last = next.locks.acquire("gone", { waitMs: 60_000 });
    await expect.poll(() => waiting(holder.stores, "gone")).toBe(3);
    controller.abort(new Error("enough"));
    await expect(left).rejects.toThrow("enough");
    await Promise.all(gone.stores.map((store) => store.close()));
    await first!.release();
    const lease = await last;
    expect(lease!.fence).toBeGreaterThan(first!.fence);
    await lease!.release();
    await dead;
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
