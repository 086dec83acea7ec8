import { EventEmitter, once } from "node:events";
import { expect, test } from "vitest";
import { ClockedStore } from "../../../tests/kit/clocked-store.ts";
import { heldAnswer } from "../../../tests/kit/held-answer.ts";
import { describeBackends } from "../../../tests/kit/index.ts";
import { InputError } from "../../base/errors.ts";
import { Cache } from "./index.ts";

const HOUR = 3_600_000;
/** A failover may take longer than a caller of a cache usually waits. */
const PATIENT = { timeoutMs: 30_000 };

describeBackends("a cache, many values at once", { audit: "tags" }, (backend) => {
  test("gets those that are there, in order", async () => {
    const cache = new Cache<number>(backend.store, "c", PATIENT);
    await cache.setMany(
      [
        ["a", 1],
        ["b", 2],
        ["c", 3],
      ],
      { tags: ["t"] },
    );
    expect(await cache.getMany(["c", "x", "a", "c"])).toEqual([3, null, 1, 3]);
    expect(await cache.getMany([])).toEqual([]);
    await cache.invalidate("t");
    expect(await cache.getMany(["a", "b"])).toEqual([null, null]);
    await expect(cache.getMany(["a", ""])).rejects.toThrow(InputError);
    await expect(
      cache.setMany([
        ["a", 1],
        ["", 2],
      ]),
    ).rejects.toThrow(InputError);
    expect(await cache.get("a")).toBeNull();
  });

  test("makes those that are missing, few calls for all of them", async () => {
    const cache = new Cache<string>(backend.store, "c");
    await cache.set("k3", "there");
    const calls: string[][] = [];
    const load = async (keys: readonly string[]) => {
      calls.push([...keys]);
      return keys.map((key) => `made ${key}`);
    };
    const keys = Array.from({ length: 20 }, (_, nth) => `k${nth}`);
    const values = await cache.getMany(keys, load);
    expect(values).toEqual(keys.map((key) => (key === "k3" ? "there" : `made ${key}`)));
    expect(calls.flat().sort()).toEqual(keys.filter((key) => key !== "k3").sort());
    // In one process all answers are there at once; over a network they may come one by one.
    if (backend.name === "embedded") expect(calls.length).toBe(1);
    expect(await cache.getMany(keys, () => Promise.reject(new Error("not needed")))).toEqual(values);
    expect(await cache.get("k7")).toBe("made k7");
  });

  test("a loader that fails, or gives too few, fails those that it was to make", async () => {
    const cache = new Cache<string>(backend.store, "c");
    await cache.set("a", "x");
    await expect(cache.getMany(["a", "b"], () => Promise.reject(new Error("down")))).rejects.toThrow("down");
    await expect(cache.getMany(["b", "c"], async () => [])).rejects.toThrow(InputError);
    expect(await cache.getMany(["a", "b"], async (keys) => keys.map(() => "y"))).toEqual(["x", "y"]);
  });

  test("nothing is being made any more when getMany rejects", async () => {
    const cache = new Cache<string>(backend.store, "c");
    const events = new EventEmitter();
    let slow = 0;
    const load = async ([key]: readonly string[]) => {
      if (key === "bad") {
        // The slow load is running, and ends only some time after this one has failed.
        setTimeout(() => events.emit("failed"), 50);
        throw new Error("down");
      }
      slow++;
      const failed = once(events, "failed");
      events.emit("slow");
      await failed;
      slow--;
      return ["made"];
    };
    const running = once(events, "slow");
    const early = cache.getMany(["slow"], load);
    await running;
    await expect(cache.getMany(["slow", "bad"], load)).rejects.toThrow("down");
    expect(slow).toBe(0);
    expect(await early).toEqual(["made"]);
  });

  test("a value that many ask for in different lists is made once", async () => {
    const caches = [backend.store, await backend.open()].map((store) => new Cache<string>(store, "c"));
    let made = 0;
    const load = async (keys: readonly string[]) => {
      made += keys.length;
      return keys.map((key) => `made ${key}`);
    };
    await Promise.all(Array.from({ length: 20 }, (_, nth) => caches[nth % 2]!.getMany(["a", `k${nth}`], load)));
    expect(made).toBe(21);
  });

  test("has: fresh or stale, until it is invalid", async () => {
    const cache = new Cache<number | null>(backend.store, "c");
    expect(await cache.has("a")).toBe(false);
    await cache.set("a", null, { tags: ["t"] });
    expect(await cache.has("a")).toBe(true);
    await cache.invalidate("t");
    expect(await cache.has("a")).toBe(false);
    await cache.set("stale", 1, { freshMs: 1, staleMs: HOUR });
    await expect.poll(async () => (await cache.getEntry("stale", () => 2)).state).not.toBe("fresh");
    expect(await cache.has("stale")).toBe(true);
    await cache.delete("stale");
    expect(await cache.has("stale")).toBe(false);
  });
});

describeBackends("a cache, all of it", { audit: false }, (backend) => {
  test("clear deletes every value of this cache, and of no other", async () => {
    const cache = new Cache<number>(backend.store, "c[*]");
    const others = [new Cache<number>(backend.store, "c[*]:1"), new Cache<number>(backend.store, "c")];
    const entries = Array.from({ length: 120 }, (_, nth) => [`k${nth}`, nth] as const);
    for (const each of [cache, ...others]) await each.setMany(entries);
    expect(await cache.clear()).toBe(120);
    expect(await cache.getMany(["k1", "k50"])).toEqual([null, null]);
    for (const other of others) expect(await other.getMany(["k1", "k50", "k119"])).toEqual([1, 50, 119]);
    expect(await cache.clear()).toBe(0);
  });

  test("clear reaches the memory of other processes, and what is being made", async () => {
    const cache = new Cache<number>(backend.store, "c");
    const other = new Cache<number>(await backend.open(), "c", { memoryTtlMs: HOUR });
    await cache.set("a", 1);
    await expect
      .poll(async () => {
        await other.get("a", () => 9);
        return other.stats().hits;
      })
      .toBeGreaterThan(1);
    let finish!: (value: number) => void;
    const making = new Promise<number>((resolve) => {
      finish = resolve;
    });
    const early = cache.get("b", () => making);
    await expect.poll(() => cache.stats().loads).toBe(1);
    await cache.clear();
    finish(2);
    expect(await early).toBe(2);
    expect(await cache.get("b")).toBeNull();
    await expect.poll(() => other.get("a")).toBeNull();
  });

  test("tags are invalidated by pattern", async () => {
    const cache = new Cache<number>(backend.store, "c");
    await cache.set("a", 1, { tags: ["user:17:orders", "x"] });
    await cache.set("b", 2, { tags: ["user:17:cart"] });
    await cache.set("c", 3, { tags: ["user:18:cart"] });
    await cache.set("d", 4);
    expect(await cache.invalidateMatching("user:17:*")).toBe(2);
    expect(await cache.getMany(["a", "b", "c", "d"])).toEqual([null, null, 3, 4]);
    expect(await cache.invalidateMatching("user:1?:c*t")).toBe(1);
    expect(await cache.invalidateMatching("nothing.%+-[x]")).toBe(0);
    expect(await cache.getMany(["c", "d"])).toEqual([null, 4]);
    await expect(cache.invalidateMatching("")).rejects.toThrow(InputError);
  });

  test("what is being made when tags are invalidated by pattern is not kept", async () => {
    const cache = new Cache<number>(backend.store, "c");
    let finish!: (value: number) => void;
    const making = new Promise<number>((resolve) => {
      finish = resolve;
    });
    const early = cache.get("a", () => making, { tags: ["user:17"] });
    await expect.poll(() => cache.stats().loads).toBe(1);
    await cache.invalidateMatching("user:*");
    finish(1);
    expect(await early).toBe(1);
    expect(await cache.get("a")).toBeNull();
  });
});

// A cache keeps nothing while its primary is replaced.
describeBackends("a cache, stale if error", { fixedServer: true }, (backend) => {
  const down = () => Promise.reject(new Error("down"));

  test("gives the last value when making fails, also long after it has ended", async () => {
    const errors: unknown[] = [];
    const options = { freshMs: 1, errorStaleMs: HOUR, onError: (error: unknown) => errors.push(error) };
    const cache = new Cache<string>(backend.store, "c", options);
    const get = (load: () => Promise<string>) => cache.get("a", cache.staleIfError("a", load, { retryMs: 1 }));
    await expect(get(down)).rejects.toThrow("down");
    expect(await get(async () => "first")).toBe("first");
    await expect.poll(() => cache.has("a")).toBe(false);
    expect(await get(down)).toBe("first");
    expect(errors).toMatchObject([{ message: "down" }]);
    await expect.poll(() => cache.has("a")).toBe(false);
    expect(await get(async () => "second")).toBe("second");
    await expect.poll(() => cache.has("a")).toBe(false);
    expect(await get(down)).toBe("second");
  });

  test("what was deleted, invalidated or replaced is not given", async () => {
    const cache = new Cache<string>(backend.store, "c", { errorStaleMs: HOUR });
    const get = (load: () => Promise<string>) =>
      cache.get("a", cache.staleIfError("a", load, { tags: ["t"] }), { tags: ["t"] });
    await get(async () => "first");
    await cache.delete("a");
    await expect(get(down)).rejects.toThrow("down");
    await get(async () => "second");
    await cache.invalidate("t");
    await expect(get(down)).rejects.toThrow("down");
    await get(async () => "third");
    await cache.set("a", "put", { freshMs: 1 });
    await expect.poll(() => cache.has("a")).toBe(false);
    expect(await get(down)).toBe("put");
  });

  test("what is made while its tag is invalidated, or its key deleted, is not kept for later", async () => {
    const cache = new Cache<string>(backend.store, "c", { errorStaleMs: HOUR });
    for (const change of [() => cache.invalidate("t"), () => cache.delete("a")]) {
      let finish!: (value: string) => void;
      const making = new Promise<string>((resolve) => {
        finish = resolve;
      });
      const { loads } = cache.stats();
      const early = cache.get(
        "a",
        cache.staleIfError("a", () => making, { tags: ["t"] }),
        { tags: ["t"] },
      );
      await expect.poll(() => cache.stats().loads).toBeGreaterThan(loads);
      await change();
      finish("old");
      expect(await early).toBe("old");
      await expect(cache.get("a", cache.staleIfError("a", down, { tags: ["t"] }), { tags: ["t"] })).rejects.toThrow(
        "down",
      );
    }
  });

  test("needs a cache that keeps values for it", () => {
    const cache = new Cache<string>(backend.store, "c");
    expect(() => cache.staleIfError("a", () => "x")).toThrow(InputError);
  });
});

describeBackends("a cache, refreshed ahead", (backend) => {
  test("refresh makes a value anew, one process at a time", async () => {
    const caches = [backend.store, await backend.open()].map((store) => new Cache<number>(store, "c"));
    await caches[0]!.set("a", 1);
    let made = 0;
    const results = await Promise.all(
      caches.map((cache) =>
        cache.refresh("a", async () => {
          made++;
          await backend.store.call("PING");
          return 2;
        }),
      ),
    );
    expect(made).toBe(results.filter((each) => each !== null).length);
    expect(await caches[1]!.get("a")).toBe(2);
    await expect(caches[0]!.refresh("a", () => Promise.reject(new Error("down")))).rejects.toThrow("down");
    expect(await caches[0]!.get("a")).toBe(2);
    expect(await caches[0]!.refresh("a", () => 3)).toBe(3);
  });

  test("a refresh that was overtaken by a change is not kept", async () => {
    const held = heldAnswer(await backend.open(), "cache.claim");
    const cache = new Cache<number>(held.store, "c");
    const refreshing = cache.refresh("a", () => 1);
    await held.arrived;
    await new Cache<number>(backend.store, "c").set("a", 2);
    held.release();
    await refreshing;
    expect(await cache.get("a")).toBe(2);
  });
});

test("a value in demand is made anew before it stops being fresh, and one that nobody wants is not", async () => {
  const world = await ClockedStore.open();
  const cache = new Cache<number>(world.store, "c", { freshMs: 60_000, jitter: 0 });
  const loads = { busy: 0, idle: 0 };
  const waited = { busy: 0, idle: 0 };
  const ask = async (key: "busy" | "idle"): Promise<void> => {
    let isDone = false;
    const answer = cache.getAhead(key, () => {
      loads[key]++;
      return new Promise<number>((resolve) => {
        world.store.clock.after(2_000, () => resolve(1));
      });
    });
    const settled = answer.then(() => {
      isDone = true;
    });
    await world.pass(0);
    if (!isDone) waited[key]++;
    while (!isDone) await world.pass(250);
    await settled;
  };
  for (let second = 0; second < 360; second++) {
    await ask("busy");
    if (second % 120 === 0) await ask("idle");
    await world.pass(1_000);
  }
  // Asked for every second, it is there whenever it is asked for; asked for every two minutes, it is made each time.
  expect(waited.busy).toBeLessThanOrEqual(2);
  expect(loads.busy).toBeGreaterThanOrEqual(6);
  expect(loads.busy).toBeLessThan(14);
  expect(loads.idle).toBe(3);
  await world.close();
});
