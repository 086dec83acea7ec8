import { describe, expect, test } from "vitest";
import { ClockedStore } from "../../../tests/kit/clocked-store.ts";
import { describeBackends } from "../../../tests/kit/index.ts";
import { FaultyProxy } from "../../../tests/kit/proxy.ts";
import { InputError } from "../../base/errors.ts";
import { open } from "../../connection/open.ts";
import type { Store } from "../../connection/store.ts";
import { RateLimits, type RateLimitsOptions, type Rule } from "./index.ts";

const HOUR = 3_600_000;
const ALGORITHMS = ["fixed", "sliding", "gcra"] as const;
type Algorithm = (typeof ALGORITHMS)[number];

const make = (store: Store, algorithm: Algorithm, more: Partial<RateLimitsOptions> = {}): RateLimits =>
  new RateLimits(store, { name: "api", rules: { limit: 10, windowMs: HOUR, algorithm }, ...more });

const TWO: readonly Rule[] = [
  { limit: 10, windowMs: HOUR, algorithm: "fixed" },
  { limit: 5, windowMs: HOUR, algorithm: "sliding" },
];

describeBackends("a rate limit", (backend) => {
  describe.each(ALGORITHMS)("%s", (algorithm) => {
    test("a penalty charges, and at most what is left", async () => {
      const limits = make(backend.store, algorithm);
      expect(await limits.penalty("ann")).toMatchObject({ allowed: true, remaining: 9 });
      expect(await limits.penalty("ann", { cost: 4 })).toMatchObject({ allowed: true, remaining: 5 });
      expect((await limits.take("ann")).remaining).toBe(4);
      const verdict = await limits.penalty("ann", { cost: 100 });
      expect(verdict).toMatchObject({ allowed: false, remaining: 0 });
      expect(verdict.retryAfterMs).toBeGreaterThan(0);
      expect(verdict.retryAfterMs).toBeLessThanOrEqual(HOUR);
      expect((await limits.take("ann")).allowed).toBe(false);
      expect((await limits.take("ben")).allowed).toBe(true);
    });

    test("a reward gives back what was charged, and no more", async () => {
      const limits = make(backend.store, algorithm, { remember: 10 });
      await limits.take("ann", { cost: 10 });
      expect((await limits.take("ann")).allowed).toBe(false);
      expect(await limits.reward("ann", { cost: 3 })).toMatchObject({ allowed: true, remaining: 3 });
      expect((await limits.take("ann")).allowed).toBe(true);
      expect(await limits.reward("ann", { cost: 100 })).toMatchObject({ remaining: 10, resetAfterMs: 0 });
      expect(await backend.store.call("EXISTS", "limit:api:{ann}:0")).toBe(0);
      expect(await limits.reward("nobody")).toMatchObject({ allowed: true, remaining: 10 });
      expect((await limits.take("ann", { cost: 10 })).allowed).toBe(true);
    });

    test("a block refuses for as long as was said, whatever was used", async () => {
      const limits = make(backend.store, algorithm);
      await limits.take("ann");
      await limits.block("ann", { ttlMs: 5 * HOUR });
      for (const verdict of [await limits.take("ann"), await limits.peek("ann"), await limits.penalty("ann")]) {
        expect(verdict).toMatchObject({ allowed: false, blocked: true, remaining: 0, limit: 10 });
        expect(verdict.retryAfterMs).toBeGreaterThan(4 * HOUR);
      }
      const others = await Promise.all(["ann", "ben", "ann", "cid"].map((subject) => limits.take(subject)));
      expect(others.map(({ allowed }) => allowed)).toEqual([false, true, false, true]);
      expect(await limits.unblock("ann")).toBe(true);
      expect(await limits.unblock("ann")).toBe(false);
      expect(await limits.take("ann")).toMatchObject({ allowed: true, remaining: 9 });
    });

    test("a block ends by itself, and by a reset", async () => {
      const limits = make(backend.store, algorithm);
      await limits.block("ann", { ttlMs: HOUR });
      expect((await limits.take("ann")).allowed).toBe(false);
      await limits.block("ann", { ttlMs: 30 });
      await expect.poll(async () => (await limits.take("ann")).allowed).toBe(true);
      await limits.block("ann", { ttlMs: HOUR });
      await limits.reset("ann");
      expect((await limits.take("ann")).allowed).toBe(true);
    });
  });

  test("with several rules: all are charged, given back and blocked together", async () => {
    const limits = new RateLimits(backend.store, { name: "login", rules: TWO });
    expect(await limits.penalty("ann", { cost: 3 })).toMatchObject({ allowed: true, remaining: 2, limit: 5 });
    expect(await limits.reward("ann")).toMatchObject({ remaining: 3, limit: 5 });
    await limits.block("ann", { ttlMs: HOUR });
    expect(await limits.take("ann")).toMatchObject({ allowed: false, blocked: true });
    await limits.unblock("ann");
    expect(await limits.take("ann")).toMatchObject({ allowed: true, remaining: 4 });
  });

  test("many penalties and rewards at once end where they must", async () => {
    const all = [backend.store, await backend.open()].map((store) =>
      make(store, "fixed", { rules: { limit: 1_000, windowMs: HOUR, algorithm: "fixed" } }),
    );
    await Promise.all(Array.from({ length: 60 }, (_, nth) => all[nth % 2]!.penalty("ann", { cost: 3 })));
    await Promise.all(Array.from({ length: 30 }, (_, nth) => all[nth % 2]!.reward("ann", { cost: 2 })));
    expect((await all[0]!.peek("ann")).remaining).toBe(1_000 - 180 + 60);
  });

  test("wrong input is refused", async () => {
    const limits = make(backend.store, "gcra");
    await expect(limits.penalty("ann", { cost: 0 })).rejects.toThrow(InputError);
    await expect(limits.block("ann", { ttlMs: 0 })).rejects.toThrow(InputError);
    await expect(limits.block("", { ttlMs: 1 })).rejects.toThrow(InputError);
  });
});

describeBackends("insurance in memory", { backends: ["redis"], audit: false, fixedServer: true }, (backend) => {
  test.each(ALGORITHMS)(
    "%s: judges by the same rules while the store is away, and by the store again after it",
    async (algorithm) => {
      const proxy = await FaultyProxy.open(backend.ports[0]!);
      const store = await open(proxy.url, { breaker: { failures: 1, openAfterMs: 0, probeEveryMs: 20 } });
      const insurance = { share: 0.5 };
      const limits = make(store, algorithm, { whenUnreachable: "memory", insurance, timeoutMs: 200 });
      try {
        expect(await limits.take("ann")).toMatchObject({ allowed: true, remaining: 9 });
        proxy.refuse();
        proxy.cut();
        const verdicts = [];
        for (let nth = 0; nth < 6; nth++) verdicts.push(await limits.take("ann"));
        // One of them may have been on its way to the store when the connection was cut.
        expect(verdicts.map(({ allowed }) => allowed)).toEqual([true, true, true, true, true, false]);
        expect(verdicts.at(-1)).toMatchObject({ unchecked: true, limit: 5, remaining: 0 });
        expect(verdicts.at(-1)!.retryAfterMs).toBeGreaterThan(0);
        expect(await limits.take("ben")).toMatchObject({ allowed: true, unchecked: true, remaining: 4 });
        proxy.refuse(false);
        await expect.poll(async () => (await limits.peek("ann")).unchecked).toBeUndefined();
        expect((await limits.take("ann")).allowed).toBe(true);
      } finally {
        await store.close();
        await proxy.close();
      }
    },
  );
});

describe("insurance in memory", () => {
  test.each(ALGORITHMS)("%s: judges as the store does", async (algorithm) => {
    const world = await ClockedStore.open();
    const { Insurance } = await import("./insurance.ts");
    const rules: Rule[] = [{ limit: 5, windowMs: 10_000, algorithm }];
    const memory = new Insurance(world.store.clock, rules, { share: 1, maxSubjects: 100 });
    const limits = new RateLimits(world.store, { name: "api", rules });
    for (let nth = 0; nth < 200; nth++) {
      await world.pass((nth * 7_919) % 2_900);
      const cost = 1 + ((nth * 31) % 3);
      const { unchecked, ...mine } = memory.judge("ann", cost, "take");
      const theirs = await limits.take("ann", { cost });
      expect(unchecked).toBe(true);
      expect(mine.allowed, `call ${nth}`).toBe(theirs.allowed);
      expect(mine.remaining).toBe(theirs.remaining);
      expect(mine.retryAfterMs).toBeCloseTo(theirs.retryAfterMs, 0);
    }
    await world.close();
  });

  test("forgets who was not seen for longest", async () => {
    const world = await ClockedStore.open();
    const { Insurance } = await import("./insurance.ts");
    const memory = new Insurance(world.store.clock, [{ limit: 1, windowMs: HOUR }], { share: 1, maxSubjects: 2 });
    expect(memory.judge("a", 1, "take").allowed).toBe(true);
    expect(memory.judge("b", 1, "take").allowed).toBe(true);
    expect(memory.judge("a", 1, "take").allowed).toBe(false);
    expect(memory.judge("c", 1, "take").allowed).toBe(true);
    expect(memory.count).toBe(2);
    expect(memory.judge("a", 1, "take").allowed).toBe(false);
    expect(memory.judge("b", 1, "take").allowed).toBe(true);
    await world.close();
  });
});
