/**
 * What a caller gets that comes after a change: never what was there before. Changes and callers are in one process, or in two
 * that share nothing but the store.
 */
import { Engine, ManualClock } from "@cinnabar/engine";
import { describe, expect, test } from "vitest";
import { heldAnswer } from "../../../tests/kit/held-answer.ts";
import { describeBackends } from "../../../tests/kit/index.ts";
import { FaultyProxy } from "../../../tests/kit/proxy.ts";
import { startRedis } from "../../../tests/kit/servers.ts";
import { ClosedError, ConnectionError } from "../../base/errors.ts";
import { open } from "../../connection/open.ts";
import type { Store } from "../../connection/store.ts";
import { Cache, type Loader } from "./index.ts";

interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
}

function deferred<T>(): Deferred<T> {
  let resolve!: (value: T) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

type Change = "delete" | "set" | "invalidate";
const CHANGES: readonly Change[] = ["delete", "set", "invalidate"];

async function change(cache: Cache<string>, how: Change): Promise<void> {
  if (how === "delete") await cache.delete("a");
  else if (how === "set") await cache.set("a", "new", { tags: ["t"] });
  else await cache.invalidate("t");
}

const tags = { tags: ["t"] };
const loadNew: Loader<string> = () => "new";

describeBackends("cache after a change", (backend) => {
  const two = async (whose: "this" | "another", options: { readonly memoryTtlMs?: number } = {}) => {
    const mine = new Cache<string>(backend.store, "things", options);
    return { mine, changing: whose === "this" ? mine : new Cache<string>(await backend.open(), "things", options) };
  };

  describe.each(["this", "another"] as const)("by %s process", (whose) => {
    test.each(CHANGES)("%s: callers do not wait for what began to load before", async (how) => {
      const { mine, changing } = await two(whose);
      const old = deferred<string>();
      const early = mine.get("a", () => old.promise, tags);
      await expect.poll(() => mine.stats().loads).toBe(1);
      await change(changing, how);
      const late = mine.get("a", loadNew, tags);
      // After an invalidation the lease still stands, and the next caller waits for its end: the value is made anew then.
      if (how !== "invalidate") expect(await late).toBe("new");
      old.resolve("old");
      expect(await early).toBe("old");
      expect(await late).toBe("new");
      // What could not be kept while nobody could be reached is made again.
      const kept = backend.failsOver ? ["new", "newer"] : ["new"];
      expect(kept).toContain(await mine.get("a", () => "newer", tags));
    });

    test.each(CHANGES)("%s: callers do not get the answer to a question that was asked before", async (how) => {
      const { mine, changing } = await two(whose);
      await mine.set("a", "old", tags);
      const held = heldAnswer(backend.store, "HMGET");
      const slow = new Cache<string>(held.store, "things");
      const target = whose === "this" ? slow : changing;
      // What it has seen, it asks for at a glance.
      await slow.get("a", () => "never", tags);
      const early = slow.get("a", () => "never", tags);
      await held.arrived;
      await change(target, how);
      expect(await slow.get("a", loadNew, tags)).toBe("new");
      held.release();
      expect(await early).toBe("old");
    });

    test.each(CHANGES)("%s: an answer from before is not remembered", async (how) => {
      const { mine, changing } = await two(whose);
      await mine.set("a", "old", tags);
      const held = heldAnswer(await backend.open(), "cache.read");
      const slow = new Cache<string>(held.store, "things", { memoryTtlMs: 3_600_000 });
      const early = slow.get("a", () => "never", tags);
      await held.arrived;
      await change(whose === "this" ? slow : changing, how);
      if (whose === "another") {
        // The message of the change has arrived when one that was sent after it has.
        const heard = deferred<void>();
        await held.store.subscribe("cache:{things}:changes", () => heard.resolve());
        await backend.store.call("PUBLISH", "cache:{things}:changes", "b");
        await heard.promise;
      }
      held.release();
      expect(await early).toBe("old");
      const late = () => slow.get("a", loadNew, tags);
      // In a Cluster, messages that were sent to different nodes may overtake each other.
      if (whose === "this") expect(await late()).toBe("new");
      else await expect.poll(late).toBe("new");
    });
  });

  test("tags that a loader adds reach the memory of every process", async () => {
    const mine = new Cache<string>(backend.store, "things", { memoryTtlMs: 3_600_000 });
    const theirs = new Cache<string>(await backend.open(), "things", { memoryTtlMs: 3_600_000 });
    await mine.get("a", (loading) => {
      loading.tag("late");
      return "old";
    });
    expect(await theirs.get("a", loadNew)).toBe("old");
    expect(await theirs.get("a", loadNew)).toBe("old");
    await mine.invalidate("late");
    await expect.poll(() => theirs.get("a", loadNew)).toBe("new");
  });

  test("a value for one caller is not given to another that waits", async () => {
    const cache = new Cache<string>(backend.store, "things");
    const own = (value: string): Loader<string> => {
      return (loading) => {
        loading.skip();
        return value;
      };
    };
    expect(await Promise.all(["x", "y", "z"].map((each) => cache.get("a", own(each))))).toEqual(["x", "y", "z"]);
    const first = deferred<string>();
    const early = cache.get("a", async (loading) => {
      loading.skip();
      return first.promise;
    });
    await expect.poll(() => cache.stats().loads).toBe(4);
    const late = cache.get("a", own("own"));
    first.resolve("first");
    expect(await Promise.all([early, late])).toEqual(["first", "own"]);
  });

  test("nor when the message is lost that its loader has given up the lease", async () => {
    const deaf = new Proxy(backend.store, {
      get: (target, property) => {
        if (property === "subscribe") return async () => ({ close: async () => {} });
        const value: unknown = Reflect.get(target, property, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const cache = new Cache<string>(deaf, "things", { leaseMs: 500 });
    let reads = 0;
    const count = () => void reads++;
    const stop = backend.store.on("roundTrip", ({ name }) => (name === "cache.read" ? count : undefined));
    const first = deferred<string>();
    const early = cache.get("a", async (loading) => {
      loading.skip();
      return first.promise;
    });
    await expect.poll(() => cache.stats().loads).toBe(1);
    const late = cache.get("a", () => "own");
    // It has seen that somebody loads, and waits for the loader, which is in its own process.
    await expect.poll(() => reads).toBe(2);
    stop();
    first.resolve("first");
    expect(await Promise.all([early, late])).toEqual(["first", "own"]);
  });

  test("an error of the loader is the caller's, whatever kind it is, and the loader is called once", async () => {
    const cache = new Cache<string>(backend.store, "things");
    let calls = 0;
    const failing = () => {
      calls++;
      throw new ConnectionError("the database is gone", { maybeExecuted: true });
    };
    await expect(cache.get("a", failing)).rejects.toThrow("the database is gone");
    expect(calls).toBe(1);
    // It says nothing about the store, which is used on.
    await cache.set("a", "there");
    expect(await cache.get("a", () => "made")).toBe("there");
  });

  test("a caller that waits for another process hears that its store is closed", async () => {
    const theirs = new Cache<string>(backend.store, "things", { leaseMs: 3_600_000 });
    let answers = 0;
    const roundTrip = ({ name }: { readonly name: string }) =>
      name === "cache.read" ? () => void answers++ : undefined;
    const store = await backend.open({ hooks: { roundTrip } });
    const mine = new Cache<string>(store, "things", { leaseMs: 3_600_000 });
    const never = deferred<string>();
    const loading = theirs.get("a", () => never.promise);
    await expect.poll(() => theirs.stats().loads).toBe(1);
    const waiting = expect(mine.get("a", loadNew)).rejects.toThrow(ClosedError);
    // It asks, listens, and asks again; then it waits.
    await expect.poll(() => answers).toBe(2);
    await store.close();
    await waiting;
    never.resolve("made");
    await loading;
  });

  test.each([0, 3_600_000])("at random, with memoryTtlMs %i", async (memoryTtlMs) => {
    const stores = [backend.store, await backend.open()];
    const seed = Number(process.env.CACHE_SEED ?? 1);
    await history(stores, seed + memoryTtlMs, memoryTtlMs, Number(process.env.CACHE_STEPS ?? 400));
  });
});

/** Mulberry32. */
function randomOf(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

/**
 * A database of versions, and caches before it. A change writes the next version and then tells a cache. Every reader notes which
 * version was certain when it began, and must not get an older one. With memory, what another process has changed may be older
 * for a while: there a reader counts the changes of its own process.
 */
async function history(stores: readonly Store[], seed: number, memoryTtlMs: number, steps: number): Promise<void> {
  const random = randomOf(seed);
  const caches = stores.map(
    (store) => new Cache<number>(store, `history ${seed}`, { memoryTtlMs: memoryTtlMs, shards: 2 }),
  );
  const keys = ["a", "b", "c"];
  const database = new Map(keys.map((key) => [key, 0]));
  const certain = caches.map(() => new Map(keys.map((key) => [key, 0])));
  const violations: string[] = [];
  const turns = async (count: number) => {
    for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  const done = (by: number, changed: readonly string[]) => {
    for (const [at, versions] of certain.entries()) {
      if (memoryTtlMs > 0 && at !== by) continue;
      for (const key of changed) versions.set(key, database.get(key)!);
    }
  };
  const bump = (changed: readonly string[]) => {
    for (const key of changed) database.set(key, database.get(key)! + 1);
  };
  const changeOnce = async (by: number, key: string, how: number) => {
    const changed = how === 2 ? keys : [key];
    bump(changed);
    if (how === 0) await caches[by]!.delete(key);
    else if (how === 1) await caches[by]!.set(key, database.get(key)!, { tags: ["all"] });
    else await caches[by]!.invalidate("all");
    done(by, changed);
  };
  const readOnce = async (by: number, key: string, slowness: number, step: number) => {
    const least = certain[by]!.get(key)!;
    const load = async () => {
      const version = database.get(key)!;
      await turns(slowness);
      return version;
    };
    const got = await caches[by]!.get(key, load, { tags: ["all"] });
    if (got < least) violations.push(`step ${step}: cache ${by} gave version ${got} of ${key}, ${least} was certain`);
  };
  const reading: Promise<void>[] = [];
  let changing = Promise.resolve();
  for (let step = 0; step < steps; step++) {
    const by = random(caches.length);
    const key = keys[random(keys.length)]!;
    if (random(4) === 0) {
      const how = random(3);
      // One change at a time: of two at once, the database would not say which is the newer one in the cache.
      changing = changing.then(() => changeOnce(by, key, how));
      if (random(2) === 0) await changing;
    } else {
      reading.push(readOnce(by, key, random(6), step));
    }
    await turns(random(3));
  }
  await changing;
  await Promise.all(reading);
  expect(violations).toEqual([]);
}

describe("memory", () => {
  test("a value in memory is not fresh for longer than in the store, and tells its age", async () => {
    const clock = new ManualClock();
    const engine = await Engine.open({ clock });
    const timers = {
      monotonicMs: () => clock.now(),
      wallMs: () => clock.now(),
      random: () => 0,
      after: () => ({ cancel() {} }),
    };
    const store = await open(engine, { clock: timers });
    const cache = new Cache<number>(store, "things", { freshMs: 1_000, jitter: 0, memoryTtlMs: 60_000 });
    await cache.set("a", 1);
    clock.advance(300);
    const load = () => 2;
    expect(await cache.getEntry("a", load)).toEqual({ value: 1, state: "fresh", ageMs: 300 });
    clock.advance(699);
    expect(await cache.getEntry("a", load)).toEqual({ value: 1, state: "fresh", ageMs: 999 });
    clock.advance(1);
    expect(await cache.getEntry("a", load)).toMatchObject({ value: 2, state: "loaded" });
    await store.close();
    await engine.close();
  });
});

describe("an answer that is lost", () => {
  test.each(["for a moment", "for longer than a call may take"])(
    "%s does not leave the lease behind",
    async (how) => {
      const server = await startRedis();
      const proxy = await FaultyProxy.open(server.port);
      const store = await open(proxy.url, { retryMs: 10_000 });
      const other = await open(`redis://127.0.0.1:${server.port}`);
      try {
        const mine = new Cache<string>(store, "things", { leaseMs: 3_600_000, timeoutMs: 300 });
        const theirs = new Cache<string>(other, "things", { leaseMs: 3_600_000 });
        // The script is known to the server, so that its first request is the one that takes the lease.
        await mine.get("warm", loadNew);
        const lost = proxy.loseAnswerOf(":l:a");
        const isLong = how !== "for a moment";
        if (isLong) void lost.then(() => proxy.refuse());
        expect(await mine.get("a", () => "mine")).toBe("mine");
        await lost;
        proxy.refuse(false);
        expect(await theirs.get("a", () => "theirs")).toBe(isLong ? "theirs" : "mine");
      } finally {
        await store.close();
        await other.close();
        await proxy.close();
        await server.stop();
      }
    },
    30_000,
  );
});
