import { Engine, ManualClock } from "@cinnabar/engine";
import { describe, expect, test } from "vitest";
import { describeBackends } from "../../../tests/kit/index.ts";
import { keysIn } from "../../../tests/kit/keys.ts";
import { systemClock } from "../../base/clock.ts";
import { ConnectionError, InputError } from "../../base/errors.ts";
import { open } from "../../connection/open.ts";
import { RateLimits } from "./index.ts";

const HOUR = 3_600_000;
const algorithms = ["fixed", "sliding", "gcra"] as const;

describeBackends("rate limits", (backend) => {
  test("limiters that are in use are listed with their rules", async () => {
    const rules = [
      { limit: 5, windowMs: 60_000 },
      { limit: 20, windowMs: 3_600_000, algorithm: "fixed" as const },
    ];
    await new RateLimits(backend.store, { name: "login", rules }).take("ann");
    const listed = { items: [{ name: "login", rules }], cursor: null };
    await expect.poll(() => RateLimits.list(backend.store), { timeout: 10_000 }).toEqual(listed);
  });

  describe.each(algorithms)("%s", (algorithm) => {
    test("allows as many as the limit and refuses the next, with the time to wait", async () => {
      const limiter = new RateLimits(backend.store, { name: "api", rules: { limit: 3, windowMs: HOUR, algorithm } });
      const verdicts = [];
      for (let nth = 0; nth < 4; nth++) verdicts.push(await limiter.take("ann"));
      expect(verdicts.map(({ allowed }) => allowed)).toEqual([true, true, true, false]);
      expect(verdicts.map(({ remaining }) => remaining)).toEqual([2, 1, 0, 0]);
      expect(verdicts[3]!.retryAfterMs).toBeGreaterThan(0);
      expect(verdicts[3]!.retryAfterMs).toBeLessThanOrEqual(HOUR);
      expect(verdicts[3]!.resetAfterMs).toBeGreaterThanOrEqual(verdicts[3]!.retryAfterMs);
      expect(await limiter.take("ben")).toMatchObject({ allowed: true, remaining: 2 });
    });

    test("allows again when the time to wait is over", async () => {
      const limiter = new RateLimits(backend.store, { name: "api", rules: { limit: 2, windowMs: 60, algorithm } });
      await limiter.take("ann", { cost: 2 });
      const { retryAfterMs } = await limiter.take("ann");
      expect(retryAfterMs).toBeLessThanOrEqual(60);
      await expect.poll(async () => (await limiter.take("ann")).allowed, { interval: 5 }).toBe(true);
    });

    test("never allows more than the limit, with many requests at the same time", async () => {
      const stores = await Promise.all([backend.open(), backend.open()]);
      const rule = { limit: 50, windowMs: HOUR, algorithm };
      const limiters = stores.map((store) => new RateLimits(store, { name: "api", rules: rule }));
      const verdicts = await Promise.all(Array.from({ length: 200 }, (_, nth) => limiters[nth % 2]!.take("ann")));
      expect(verdicts.filter(({ allowed }) => allowed).length).toBe(50);
    });

    test("calls of one moment are judged one by one, and one that fails leaves the others alone", async () => {
      const limiter = new RateLimits(backend.store, { name: "api", rules: { limit: 10, windowMs: HOUR, algorithm } });
      await limiter.take("broken");
      const [bucket = ""] = (await keysIn(backend.store)).filter((key) => key.includes("broken"));
      await backend.store.call("DEL", bucket);
      await backend.store.call("LPUSH", bucket, "no bucket of ours");
      const calls = [limiter.take("ann", { cost: 4 }), limiter.take("broken"), limiter.take("ann", { cost: 7 })];
      const others = Array.from({ length: 100 }, (_, nth) => limiter.take(`other${nth % 20}`));
      const [first, broken, second] = await Promise.allSettled([...calls, limiter.take("ann", { cost: 6 })]);
      expect(first).toMatchObject({ value: { allowed: true, remaining: 6 } });
      expect(broken).toMatchObject({ status: "rejected", reason: { code: "WRONGTYPE" } });
      expect(second).toMatchObject({ value: { allowed: false, remaining: 6 } });
      expect((await Promise.all(others)).every(({ allowed }) => allowed)).toBe(true);
      expect(await limiter.peek("ann")).toMatchObject({ allowed: false, remaining: 0 });
      expect(await limiter.peek("other3")).toMatchObject({ allowed: true, remaining: 5 });
    });

    test("a cost is charged whole or not at all", async () => {
      const limiter = new RateLimits(backend.store, { name: "api", rules: { limit: 10, windowMs: HOUR, algorithm } });
      expect(await limiter.take("ann", { cost: 7 })).toMatchObject({ allowed: true, remaining: 3 });
      expect(await limiter.take("ann", { cost: 4 })).toMatchObject({ allowed: false, remaining: 3 });
      expect(await limiter.take("ann", { cost: 3 })).toMatchObject({ allowed: true, remaining: 0 });
    });

    test("charges of different costs never fall together", async () => {
      const limiter = new RateLimits(backend.store, {
        name: "api",
        rules: { limit: 100, windowMs: 24 * HOUR, algorithm },
      });
      let charged = 0;
      // Long enough for the numbers of calls and of hits to have one digit and two, in any base.
      for (let nth = 0; nth < 45; nth++) {
        const cost = nth < 3 ? 12 : 1;
        charged += cost;
        expect((await limiter.take("ann", { cost })).remaining).toBe(100 - charged);
      }
    });

    test("looking charges nothing; resetting forgets", async () => {
      const limiter = new RateLimits(backend.store, { name: "api", rules: { limit: 1, windowMs: HOUR, algorithm } });
      expect(await limiter.peek("ann")).toMatchObject({ allowed: true, remaining: 1 });
      await limiter.take("ann");
      expect(await limiter.peek("ann")).toMatchObject({ allowed: false, remaining: 0 });
      await limiter.reset("ann");
      expect(await limiter.take("ann")).toMatchObject({ allowed: true });
    });

    test("leaves no key without an expiry", async () => {
      const limiter = new RateLimits(backend.store, { name: "api", rules: { limit: 5, windowMs: HOUR, algorithm } });
      await limiter.take("ann");
      expect(await backend.store.call("PTTL", "limit:api:{ann}:0")).toBeGreaterThan(0);
    });
  });

  test("several rules: refused by one, charged to none", async () => {
    const rules = [
      { limit: 2, windowMs: HOUR },
      { limit: 100, windowMs: 24 * HOUR, algorithm: "sliding" as const },
    ];
    const limiter = new RateLimits(backend.store, { name: "login", rules });
    const verdicts = [];
    for (let nth = 0; nth < 5; nth++) verdicts.push(await limiter.take("ann"));
    expect(verdicts.filter(({ allowed }) => allowed).length).toBe(2);
    expect(verdicts[4]!.limit).toBe(2);
    expect(await backend.store.call("ZCARD", "limit:login:{ann}:1")).toBe(2);
  });

  test("a burst smaller than the limit", async () => {
    const limiter = new RateLimits(backend.store, { name: "api", rules: { limit: 3600, windowMs: HOUR, burst: 2 } });
    const verdicts = [];
    for (let nth = 0; nth < 3; nth++) verdicts.push((await limiter.take("ann")).allowed);
    expect(verdicts).toEqual([true, true, false]);
  });

  test("a remembered refusal costs no round trip", async () => {
    let trips = 0;
    const store = await backend.open({ hooks: { roundTrip: () => void trips++ } });
    const limiter = new RateLimits(store, { name: "api", rules: { limit: 1, windowMs: HOUR }, remember: 10 });
    await limiter.take("ann");
    expect((await limiter.take("ann")).allowed).toBe(false);
    const before = trips;
    expect(await limiter.take("ann")).toMatchObject({ allowed: false, limit: 1, remaining: 0 });
    expect(trips).toBe(before);
    await limiter.reset("ann");
    expect((await limiter.take("ann")).allowed).toBe(true);
  });

  test("a remembered refusal of much does not refuse a little", async () => {
    const limiter = new RateLimits(backend.store, { name: "api", rules: { limit: 10, windowMs: HOUR }, remember: 10 });
    await limiter.take("ann", { cost: 8 });
    expect((await limiter.take("ann", { cost: 5 })).allowed).toBe(false);
    expect((await limiter.take("ann")).allowed).toBe(true);
  });
});

describe("against a naive count, with a clock moved by hand", () => {
  test.each(
    algorithms.flatMap(
      (algorithm) =>
        [
          [algorithm, "alone"],
          [algorithm, "beside another rule"],
        ] as const,
    ),
  )("%s, %s", async (algorithm, company) => {
    const clock = new ManualClock();
    const engine = await Engine.open({ clock });
    const store = await open(engine);
    const [limit, windowMs] = [5, 40];
    // Several rules are judged by another script than one.
    const others = company === "alone" ? [] : [{ limit: 1_000_000, windowMs: 1_000 }];
    const limiter = new RateLimits(store, { name: "api", rules: [{ limit, windowMs, algorithm }, ...others] });
    let hits: number[] = [];
    let arrival = 0;
    let seen = 0;
    for (let nth = 0; nth < 400; nth++) {
      clock.advance(Math.floor(clock.random() * 12));
      const now = clock.now();
      if (algorithm === "fixed" && now - (hits[0] ?? now) >= windowMs) hits = [];
      if (algorithm === "sliding") hits = hits.filter((at) => at > now - windowMs);
      const next = Math.max(arrival, now) + windowMs / limit;
      const expected = algorithm === "gcra" ? next - now <= windowMs : hits.length < limit;
      const { allowed } = await limiter.take("ann");
      expect([nth, allowed]).toEqual([nth, expected]);
      if (allowed) {
        hits.push(now);
        arrival = next;
      } else seen++;
    }
    expect(seen).toBeGreaterThan(20);
    await store.close();
    await engine.close();
  });
});

describe.each(algorithms)("%s, when the server's clock is put back", (algorithm) => {
  test.each([
    ["10 s", 10_000, 1],
    ["a minute", 60_000, 1],
    ["an hour", HOUR, 1],
    ["an hour", HOUR, 2],
  ])(
    "by %s: nobody is refused for longer than a window, nor gets more than the limit in one",
    async (_, backMs, rules) => {
      const clock = new ManualClock();
      const engine = await Engine.open({ clock });
      const store = await open(engine);
      const rule = { limit: 5, windowMs: 1_000, algorithm };
      const others = rules === 1 ? [] : [{ limit: 1_000_000, windowMs: 1_000 }];
      const limiter = new RateLimits(store, { name: "api", rules: [rule, ...others] });
      for (let nth = 0; nth < 5; nth++) await limiter.take("ann");
      expect((await limiter.take("ann")).allowed).toBe(false);
      clock.step(-backMs);
      const { allowed, retryAfterMs } = await limiter.take("ann");
      expect(allowed).toBe(false);
      expect(retryAfterMs).toBeLessThanOrEqual(1_000);
      clock.advance(1_000);
      let granted = 0;
      for (let nth = 0; nth < 10; nth++) if ((await limiter.take("ann")).allowed) granted++;
      expect(granted).toBe(5);
      await store.close();
      await engine.close();
    },
  );
});

describe("misuse and failure", () => {
  test("wrong rules and costs are refused", async () => {
    const store = await open();
    const make = (rule: object) => () => new RateLimits(store, { name: "api", rules: rule as never });
    expect(make({ limit: 0, windowMs: 1 })).toThrow(InputError);
    expect(make({ limit: 1, windowMs: 0.5 })).toThrow(InputError);
    expect(make({ limit: 1, windowMs: 1, algorithm: "leaky" })).toThrow(InputError);
    expect(make({ limit: 100_000, windowMs: 1, algorithm: "sliding" })).toThrow(InputError);
    expect(make({ limit: 5, windowMs: 1, algorithm: "fixed", burst: 2 })).toThrow(InputError);
    expect(() => new RateLimits(store, { name: "api", rules: [] })).toThrow(InputError);
    const limiter = new RateLimits(store, { name: "api", rules: { limit: 5, windowMs: 1000 } });
    await expect(limiter.take("ann", { cost: 6 })).rejects.toThrow(InputError);
    await expect(limiter.take("", {})).rejects.toThrow(InputError);
    await store.close();
  });

  test("what happens while the store cannot be reached is the caller's choice", async () => {
    const rule = { limit: 5, windowMs: 1000 };
    const broken = {
      run: () => Promise.reject(new ConnectionError("gone", { maybeExecuted: true })),
      pipeline: () => Promise.reject(new ConnectionError("gone", { maybeExecuted: true })),
      clock: systemClock,
    };
    const make = (whenUnreachable: "throw" | "allow" | "deny") =>
      new RateLimits(broken as never, { name: "api", rules: rule, whenUnreachable });
    await expect(make("throw").take("ann")).rejects.toThrow(ConnectionError);
    expect(await make("allow").take("ann")).toMatchObject({ allowed: true, unchecked: true });
    expect(await make("deny").take("ann")).toMatchObject({ allowed: false, unchecked: true });
  });
});
