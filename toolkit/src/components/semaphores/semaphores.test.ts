/** What a semaphore promises, on every backend. */
import { afterEach, expect, test } from "vitest";
import { describeBackends } from "../../../tests/kit/index.ts";
import { InputError } from "../../base/errors.ts";
import { permitKeys } from "../../leases/keys.ts";
import { type Lease, type PermitOptions, Semaphores } from "./index.ts";

async function untilWaiting(semaphores: Semaphores, name: string, count: number): Promise<void> {
  while ((await semaphores.inspect(name)).waiting !== count) await new Promise(setImmediate);
}

describeBackends("semaphores", (backend) => {
  const leases: Lease[] = [];
  const held = async (semaphores: Semaphores, name: string, options: PermitOptions = {}): Promise<Lease> => {
    const lease = await semaphores.acquire(name, options);
    expect(lease).not.toBeNull();
    leases.push(lease!);
    return lease!;
  };
  afterEach(async () => {
    await Promise.all(leases.splice(0).map((lease) => lease.release()));
  });

  test("release takes the permits of a name from all who hold some", async () => {
    const semaphores = new Semaphores(backend.store, { limit: 2 });
    const held = await Promise.all([1, 2].map(() => semaphores.acquire("hung")));
    expect(await semaphores.release("hung")).toBe(2);
    expect(await semaphores.inspect("hung")).toMatchObject({ used: 0, holders: [] });
    for (const lease of held) expect(await lease?.release()).toBe(false);
  });

  test("let in as many as the limit and not one more, from many processes at once", async () => {
    const all = [backend.store, await backend.open(), await backend.open()].map(
      (store) => new Semaphores(store, { limit: 5 }),
    );
    const tries = Array.from({ length: 30 }, (_, n) => all[n % 3]!.acquire("many", { waitMs: 0 }));
    const got = (await Promise.all(tries)).filter((lease) => lease !== null);
    expect(got).toHaveLength(5);
    expect(new Set(got.map((lease) => lease.fence)).size).toBe(5);
    expect(await all[0]!.inspect("many")).toMatchObject({ limit: 5, used: 5, waiting: 0 });
    for (const lease of got) expect(await lease.release()).toBe(true);
    expect(await all[0]!.inspect("many")).toMatchObject({ used: 0, holders: [] });
  });

  test("give permits in the order of asking", async () => {
    const all = [new Semaphores(backend.store, { limit: 2 }), new Semaphores(await backend.open(), { limit: 2 })];
    const first = [await held(all[0]!, "order"), await held(all[1]!, "order")];
    const order: number[] = [];
    const waiting: Promise<void>[] = [];
    for (let n = 0; n < 6; n++) {
      waiting.push(
        all[n % 2]!.acquire("order").then(async (lease) => {
          order.push(lease!.fence);
          await lease!.release();
        }),
      );
      await untilWaiting(all[0]!, "order", n + 1);
    }
    for (const lease of first) await lease.release();
    await Promise.all(waiting);
    expect(order).toHaveLength(6);
    // Two are inside at a time; the fences say in which order the server let them in.
    expect([...order].sort((a, b) => a - b)).toEqual(expect.arrayContaining(order));
    expect(await all[0]!.inspect("order")).toMatchObject({ used: 0, waiting: 0 });
  });

  test("let nobody overtake one who needs many permits", async () => {
    const semaphores = new Semaphores(backend.store, { limit: 4 });
    const small = [await held(semaphores, "heavy", { permits: 2 }), await held(semaphores, "heavy", { permits: 1 })];
    const large = semaphores.acquire("heavy", { permits: 4 });
    await untilWaiting(semaphores, "heavy", 1);
    expect(await semaphores.acquire("heavy", { waitMs: 0 })).toBeNull();
    const behind = semaphores.acquire("heavy");
    await untilWaiting(semaphores, "heavy", 2);
    await small[0]!.release();
    expect(await semaphores.inspect("heavy")).toMatchObject({ used: 1, waiting: 2 });
    await small[1]!.release();
    const got = await large;
    expect(await semaphores.inspect("heavy")).toMatchObject({ used: 4, waiting: 1 });
    await got!.release();
    await (await behind)!.release();
  });

  test("let in those behind when one who needs many gives up", async () => {
    const semaphores = new Semaphores(backend.store, { limit: 3 });
    await held(semaphores, "gives-up");
    const controller = new AbortController();
    const large = semaphores.acquire("gives-up", { permits: 3, signal: controller.signal });
    await untilWaiting(semaphores, "gives-up", 1);
    const small = [semaphores.acquire("gives-up"), semaphores.acquire("gives-up")];
    await untilWaiting(semaphores, "gives-up", 3);
    controller.abort(new Error("enough"));
    await expect(large).rejects.toThrow("enough");
    for (const lease of await Promise.all(small)) await lease!.release();
  });

  test("grow and shrink while in use", async () => {
    const semaphores = new Semaphores(backend.store, { limit: 1 });
    const other = new Semaphores(await backend.open(), { limit: 1 });
    const first = await held(semaphores, "size");
    const waiting = [other.acquire("size"), other.acquire("size")];
    await untilWaiting(semaphores, "size", 2);
    await semaphores.resize("size", 3);
    const more = await Promise.all(waiting);
    expect(await other.inspect("size")).toMatchObject({ limit: 3, used: 3, waiting: 0 });
    await semaphores.resize("size", 2);
    await first.release();
    expect(await other.acquire("size", { waitMs: 0 })).toBeNull();
    await more[0]!.release();
    await held(other, "size");
    await expect(semaphores.acquire("size", { permits: 3 })).rejects.toThrow(
      "3 permits were asked for, and there are 2",
    );
    await semaphores.resize("size", null);
    expect((await other.inspect("size")).limit).toBe(1);
    await more[1]!.release();
  });

  test("count right when one with several permits leaves others behind", async () => {
    const semaphores = new Semaphores(backend.store, { limit: 5 });
    const three = await held(semaphores, "count", { permits: 3 });
    const two = await held(semaphores, "count", { permits: 2 });
    await semaphores.resize("count", 3);
    await three.release();
    expect(await semaphores.inspect("count")).toMatchObject({ used: 2 });
    await held(semaphores, "count", { waitMs: 0 });
    expect(await semaphores.acquire("count", { waitMs: 0 })).toBeNull();
    await two.release();
    expect(await semaphores.inspect("count")).toMatchObject({ used: 1 });
  });

  test("keep a waiter that asks for more than a shrunken limit, without stopping the others", async () => {
    const semaphores = new Semaphores(backend.store, { limit: 3 });
    const first = await held(semaphores, "shrunk");
    const large = semaphores.acquire("shrunk", { permits: 3 });
    await untilWaiting(semaphores, "shrunk", 1);
    const small = semaphores.acquire("shrunk");
    await untilWaiting(semaphores, "shrunk", 2);
    await semaphores.resize("shrunk", 2);
    const got = await small;
    expect(await semaphores.inspect("shrunk")).toMatchObject({ used: 2, waiting: 1 });
    await semaphores.resize("shrunk", 4);
    await got!.release();
    await first.release();
    expect(await (await large)!.release()).toBe(true);
  });

  test("get permits back from a holder that went silent, within its lease", async () => {
    const semaphores = new Semaphores(backend.store, { limit: 2 });
    await semaphores.acquire("crash", { permits: 2, leaseMs: 100, renew: false });
    const both = await Promise.all([held(semaphores, "crash"), held(semaphores, "crash")]);
    expect(both.map((lease) => lease.lost)).toEqual([false, false]);
    expect(await semaphores.inspect("crash")).toMatchObject({ used: 2 });
  });

  test("keep permits by renewal, hand them on, and run bodies", async () => {
    const semaphores = new Semaphores(backend.store, { limit: 2 });
    // Longer than a failover takes: nobody can renew during one.
    const lease = await held(semaphores, "kept", { permits: 2, leaseMs: backend.failsOver ? 30_000 : 1_500 });
    const { held: zset } = permitKeys("semaphore", "kept", "semaphore");
    const firstEnd = Number(await backend.store.call("ZSCORE", zset, lease.token));
    while (Number(await backend.store.call("ZSCORE", zset, lease.token)) < firstEnd + 400 && !lease.lost) {
      await new Promise(setImmediate);
    }
    expect(lease.lost).toBe(false);
    const taken = await new Semaphores(await backend.open(), { limit: 2 }).resume(lease.detach());
    expect(taken).toMatchObject({ fence: lease.fence });
    expect(await taken!.release()).toBe(true);
    expect(await semaphores.using("kept", { permits: 2 }, () => "done")).toBe("done");
    expect(await semaphores.inspect("kept")).toMatchObject({ used: 0 });
  });

  test("leave only keys that vanish by themselves, unless resized", async () => {
    const semaphores = new Semaphores(backend.store, { limit: 2 });
    await (await held(semaphores, "tidy")).release();
    const { state, held: zset, queue, limitKey } = permitKeys("semaphore", "tidy", "semaphore");
    for (const key of [zset, queue, limitKey]) expect(await backend.store.call("EXISTS", key)).toBe(0);
    expect(Number(await backend.store.call("PTTL", state))).toBeGreaterThan(0);
    await semaphores.resize("tidy", 7);
    expect(await backend.store.call("PTTL", limitKey)).toBe(-1);
    await semaphores.resize("tidy", null);
    expect(await backend.store.call("EXISTS", limitKey)).toBe(0);
  });

  test("refuse what cannot be right", async () => {
    const semaphores = new Semaphores(backend.store, { limit: 2 });
    await expect(semaphores.acquire("a", { permits: 0 })).rejects.toThrow(InputError);
    await expect(semaphores.acquire("a", { permits: 1.5 })).rejects.toThrow(InputError);
    await expect(semaphores.acquire("a", { permits: 3 })).rejects.toThrow(InputError);
    await expect(semaphores.resize("a", 0)).rejects.toThrow(InputError);
    expect(() => new Semaphores(backend.store, { limit: 0 })).toThrow(InputError);
  });
});
