import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Engine, ManualClock } from "@cinnabar/engine";
import { describe, expect, test } from "vitest";
import { nodeWords } from "../../../../scripts/program.ts";
import { describeBackends } from "../../../tests/kit/index.ts";
import { startRedis } from "../../../tests/kit/servers.ts";
import { bytes } from "../../base/codec.ts";
import { InputError } from "../../base/errors.ts";
import { open } from "../../connection/open.ts";
import { Cache, Caches } from "./index.ts";

function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void; reject: (error: unknown) => void } {
  let resolve!: (value: T) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

describeBackends("cache", (backend) => {
  test("what all processes have counted is told, and which tags were invalidated", async () => {
    for (let process = 0; process < 2; process++) {
      const store = await backend.open();
      const cache = new Cache<number>(store, "things", { shards: 4 });
      await cache.get(`a${process}`, () => 1);
      await cache.get(`a${process}`, () => 2);
      await cache.get(`a${process}`, () => 3);
      await cache.invalidate(`tag ${process}`);
      await store.close();
    }
    const caches = new Caches(backend.store);
    const told = async () => {
      const { items } = await caches.list();
      return items.map(({ stats: { hits, misses, loads, failures }, ...rest }) => {
        expect(loads).toBe(misses);
        return { ...rest, calls: hits + loads, failures, ...(!backend.failsOver && { hits }) };
      });
    };
    // How many are found while the primary is replaced depends on when that is.
    const calls = { calls: 6, failures: 0, ...(!backend.failsOver && { hits: 4 }) };
    await expect.poll(told).toEqual([{ name: "things", shards: 4, ...calls }]);
    const tags = await caches.invalidated({ name: "things", shards: 4 });
    expect(tags.map(({ tag }) => tag)).toEqual(["tag 1", "tag 0"]);
  });

  test("a value is made once and then found, in every process", async () => {
    const mine = new Cache<{ n: number }>(backend.store, "things");
    const theirs = new Cache<{ n: number }>(await backend.open(), "things");
    let loads = 0;
    const load = () => ({ n: ++loads });
    expect(await mine.get("a")).toBeNull();
    expect(await mine.getEntry("a", load)).toMatchObject({ value: { n: 1 }, state: "loaded" });
    expect(await mine.getEntry("a", load)).toMatchObject({ value: { n: 1 }, state: "fresh" });
    expect(await theirs.get("a", load)).toEqual({ n: 1 });
    expect(await theirs.get("b", load)).toEqual({ n: 2 });
    expect(mine.stats()).toMatchObject({ hits: 1, misses: 2, loads: 1 });
  });

  test("of many who ask at once, in many processes, one makes the value", async () => {
    const stores = await Promise.all(Array.from({ length: 8 }, () => backend.open()));
    const caches = stores.map((store) => new Cache<string>(store, "things"));
    let loads = 0;
    const load = async () => {
      loads++;
      // By then the others have asked too: their questions are on the way, and the store answers in order.
      for (const store of stores) await store.call("PING");
      return "made";
    };
    const values = await Promise.all(Array.from({ length: 200 }, (_, nth) => caches[nth % 8]!.get("cold", load)));
    expect(new Set(values)).toEqual(new Set(["made"]));
    // While the store cannot be reached, every process makes its own.
    expect(loads).toBeLessThanOrEqual(backend.failsOver ? 8 : 1);
  });

  test("when making fails, the next one tries", async () => {
    const mine = new Cache<string>(backend.store, "things");
    const theirs = new Cache<string>(await backend.open(), "things");
    const first = deferred<string>();
    const failing = mine.get("a", () => first.promise);
    const failed = expect(failing).rejects.toThrow("down");
    await expect.poll(() => mine.stats().loads).toBe(1);
    const waiting = theirs.get("a", () => "second");
    first.reject(new Error("down"));
    await failed;
    expect(await waiting).toBe("second");
    expect(mine.stats().failures).toBe(1);
  });

  test("a value that is not to be kept is for its caller only", async () => {
    const cache = new Cache<string>(backend.store, "things");
    expect(
      await cache.get("a", (loading) => {
        loading.skip();
        return "once";
      }),
    ).toBe("once");
    expect(await cache.get("a")).toBeNull();
  });

  test("a loader that was overtaken does not overwrite what is newer", async () => {
    const late = new Cache<string>(backend.store, "things", { leaseMs: 20 });
    const quick = new Cache<string>(await backend.open(), "things", { leaseMs: 5_000 });
    const slow = deferred<string>();
    const stuck = late.get("a", () => slow.promise);
    await expect.poll(() => late.stats().loads).toBe(1);
    expect(await quick.get("a", () => "new")).toBe("new");
    slow.resolve("old");
    expect(await stuck).toBe("old");
    // While nobody can be reached, a value is given without being kept.
    expect(backend.failsOver ? ["new", null] : ["new"]).toContain(await quick.get("a"));
  });

  test.each(["deleted", "set", "invalidated by a tag"])(
    "what was begun before the value was %s is not kept",
    async (how) => {
      const mine = new Cache<string>(backend.store, "things");
      const theirs = new Cache<string>(await backend.open(), "things");
      const slow = deferred<string>();
      const begun = mine.get("a", () => slow.promise, { tags: ["t"] });
      await expect.poll(() => mine.stats().loads).toBe(1);
      if (how === "deleted") await theirs.delete("a");
      else if (how === "set") await theirs.set("a", "new");
      else await theirs.invalidate("t");
      slow.resolve("old");
      expect(await begun).toBe("old");
      expect(await theirs.get("a")).toBe(how === "set" ? "new" : null);
    },
  );

  test("tags make many values invalid at once, and only those", async () => {
    const cache = new Cache<number>(backend.store, "things");
    for (let nth = 0; nth < 40; nth++) await cache.set(`k${nth}`, nth, { tags: [`t${nth % 4}`, "all"] });
    await cache.invalidate(["t1", "t2"]);
    const left = await Promise.all(Array.from({ length: 40 }, (_, nth) => cache.get(`k${nth}`)));
    expect(left.map((value) => value !== null)).toEqual(left.map((_, nth) => nth % 4 === 0 || nth % 4 === 3));
    await cache.set("k1", 100, { tags: ["t1"] });
    expect(await cache.get("k1")).toBe(100);
    await cache.invalidate("all");
    expect(await cache.get("k0")).toBeNull();
    expect(await cache.get("k1")).toBe(100);
  });

  test("a loader can add tags and choose how long its value is fresh", async () => {
    const cache = new Cache<number>(backend.store, "things", { staleMs: 100_000, jitter: 0 });
    await cache.get("a", (loading) => {
      loading.tag("late");
      loading.freshFor(1);
      return 1;
    });
    await expect.poll(async () => (await cache.getEntry("a", () => 2)).state).toBe("stale");
    await cache.invalidate("late");
    expect((await cache.getEntry("a", () => 3)).state).not.toBe("stale");
  });

  test("large values are compressed, binary ones come back as they were", async () => {
    const texts = new Cache<string>(backend.store, "texts", { shards: 1 });
    await texts.set("a", "x".repeat(100_000));
    expect(Number(await backend.store.call("HSTRLEN", "cache:{texts:0}:e:a", "v"))).toBeLessThan(1_000);
    expect(await texts.get("a")).toBe("x".repeat(100_000));
    const binary = new Cache<Uint8Array>(backend.store, "binary", { codec: bytes, compressAboveBytes: 0 });
    const all = Buffer.from(Array.from({ length: 512 }, (_, nth) => nth % 256));
    await binary.set("a", all);
    expect(await binary.get("a")).toEqual(all);
  });

  test("values kept in memory follow what others do", async () => {
    const mine = new Cache<string>(backend.store, "things", { memoryTtlMs: 60_000 });
    const theirs = new Cache<string>(await backend.open(), "things");
    await theirs.set("a", "one", { tags: ["t"] });
    expect(await mine.get("a", () => "never", { tags: ["t"] })).toBe("one");
    await theirs.set("a", "two", { tags: ["t"] });
    await expect.poll(() => mine.get("a", () => "never", { tags: ["t"] })).toBe("two");
    await theirs.invalidate("t");
    await expect.poll(() => mine.get("a")).toBeNull();
  });

  test.skipIf(backend.isDisturbed)(
    "what is there is seen at a glance, with the tags that the caller names or others, and not when it is invalid",
    async () => {
      const names: string[] = [];
      const hooks = {
        roundTrip: ({ name }: { readonly name: string }) => {
          // A cache announces its name beside its work.
          if (name !== "PIPELINE") names.push(name);
          return undefined;
        },
      };
      const cache = new Cache<string>(await backend.open({ hooks }), "things");
      const sent = async (body: () => Promise<unknown>): Promise<unknown[]> => {
        names.length = 0;
        const value = await body();
        return [value, ...names];
      };
      await cache.set("plain", "a");
      await cache.set("tagged", "b", { tags: ["t", "u"] });
      expect(await sent(() => cache.get("plain", () => "made"))).toEqual(["a", "HMGET"]);
      const named = () => cache.get("tagged", () => "made", { tags: ["t", "u"] });
      expect(await sent(named)).toEqual(["b", "HMGET", "ZMSCORE"]);
      expect(await sent(() => cache.get("tagged", () => "made"))).toEqual(["b", "HMGET", "cache.read"]);
      await cache.invalidate("u");
      expect(await sent(named)).toEqual(["made", "cache.read", "cache.fill"]);
      expect(await sent(named)).toEqual(["made", "HMGET", "ZMSCORE"]);
      expect(cache.stats()).toMatchObject({ hits: 4, misses: 1, loads: 1 });
      const stale = new Cache<string>(await backend.open({ hooks }), "things", { staleMs: 1_000 });
      expect(await sent(() => stale.get("plain", () => "made"))).toEqual(["a", "cache.read"]);
      await cache.get("plain", () => "made");
      await stale.set("plain", "c");
      expect(await sent(() => cache.get("plain", () => "made"))).toEqual(["c", "HMGET", "cache.read"]);
    },
  );

  test.skipIf(backend.isDisturbed)(
    "a value that is not there takes two round trips: of a key that is new, is over, or was deleted",
    async () => {
      const names: string[] = [];
      const store = await backend.open();
      store.on("roundTrip", ({ name }) => {
        if (/^cache\.|^HMGET$/.test(name)) names.push(name);
      });
      const cache = new Cache<string>(store, "things", { freshMs: 40, jitter: 0 });
      const sent = async (key: string): Promise<string[]> => {
        names.length = 0;
        await cache.get(key, () => "made");
        return [...names];
      };
      const made = ["cache.read", "cache.fill"];
      for (const key of ["a", "b", "c"]) expect(await sent(key)).toEqual(made);
      // Seen at a glance until it is over.
      await expect.poll(async () => (await sent("a")).join(" ")).toBe(made.join(" "));
      const lasting = new Cache<string>(store, "lasting");
      await lasting.get("a", () => "made");
      await lasting.delete("a");
      names.length = 0;
      await lasting.get("a", () => "made");
      await lasting.get("a", () => "made");
      expect(names).toEqual([...made, "HMGET"]);
    },
  );

  test.skipIf(backend.isDisturbed)(
    "where nearly everything is there, a glance is enough for what this process has not seen before",
    async () => {
      const cache = new Cache<number>(backend.store, "things");
      for (let nth = 0; nth < 150; nth++) await cache.set(`k${nth}`, nth);
      const names: string[] = [];
      const store = await backend.open();
      store.on("roundTrip", ({ name }) => {
        if (/^cache\.|^HMGET$/.test(name)) names.push(name);
      });
      const other = new Cache<number>(store, "things");
      for (let nth = 0; nth < 150; nth++) expect(await other.get(`k${nth}`, () => -1)).toBe(nth);
      expect(names).toHaveLength(150);
      expect(names.slice(0, 5)).toEqual(Array.from({ length: 5 }, () => "cache.read"));
      expect(names.slice(-50)).toEqual(Array.from({ length: 50 }, () => "HMGET"));
    },
  );

  test("every key expires", async () => {
    const cache = new Cache<string>(backend.store, "things", { shards: 1 });
    await cache.set("a", "x", { tags: ["t"] });
    await cache.invalidate("other");
    for (const key of ["cache:{things:0}:e:a", "cache:{things:0}:tags"]) {
      expect(Number(await backend.store.call("PTTL", key))).toBeGreaterThan(0);
    }
  });

  test("wrong input is refused", async () => {
    const cache = new Cache<unknown>(backend.store, "things", { maxBytes: 10 });
    await expect(cache.get("", () => 1)).rejects.toThrow(InputError);
    await expect(cache.set("a", "x".repeat(20))).rejects.toThrow(InputError);
    await expect(cache.set("a", 1, { tags: ["a\nb"] })).rejects.toThrow(InputError);
    await expect(cache.invalidate([])).rejects.toThrow(InputError);
    expect(() => new Cache(backend.store, "things", { jitter: 1 })).toThrow(InputError);
    expect(() => new Cache(backend.store, "")).toThrow(InputError);
  });
});

test("a value that was invalidated does not come back, however long it was to live", async () => {
  const clock = new ManualClock();
  const engine = await Engine.open({ clock });
  const store = await open(engine);
  const cache = new Cache<string>(store, "things", { shards: 1 });
  const day = 86_400_000;
  await cache.set("a", "old", { tags: ["t"], freshMs: 90 * day });
  await cache.invalidate("t");
  clock.advance(8 * day);
  // Forgets what is older than it needs to know.
  await cache.invalidate("other");
  expect(await cache.get("a")).toBeNull();
  await engine.close();
});

test("a value is fresh, then stale while one makes it anew, then gone", async () => {
  const clock = new ManualClock();
  const engine = await Engine.open({ clock });
  const store = await open(engine);
  const cache = new Cache<number>(store, "things", { freshMs: 1_000, staleMs: 5_000, jitter: 0 });
  let loads = 0;
  const load = () => ++loads;
  await cache.get("a", load);
  clock.advance(999);
  expect(await cache.getEntry("a", load)).toMatchObject({ value: 1, state: "fresh", ageMs: 999 });
  clock.advance(1);
  expect(await cache.getEntry("a", load)).toMatchObject({ value: 1, state: "stale" });
  await expect.poll(async () => (await cache.getEntry("a", load)).value).toBe(2);
  expect(loads).toBe(2);

  clock.advance(2_000);
  const failing = () => Promise.reject(new Error("down"));
  expect(await cache.getEntry("a", failing)).toMatchObject({ value: 2, state: "stale" });
  clock.advance(5_000);
  await expect(cache.get("a", failing)).rejects.toThrow("down");
  await store.close();
  await engine.close();
});

describe("when the store is gone", () => {
  test("values are made without it, at once, and it is used again when it is back", async () => {
    const server = await startRedis();
    const store = await open(`redis://127.0.0.1:${server.port}`, { retryMs: 50, commandTimeoutMs: 300 });
    const errors: unknown[] = [];
    const cache = new Cache<string>(store, "things", { onError: (error) => errors.push(error) });
    try {
      await cache.get("a", () => "kept");
      await server.kill();
      expect(await cache.get("a", () => "made")).toBe("made");
      expect(errors.length).toBeGreaterThan(0);
      const reported = errors.length;
      for (let nth = 0; nth < 100; nth++) expect(await cache.get("a", () => "alone")).toBe("alone");
      expect(errors.length).toBe(reported);
      await server.restart();
      await expect
        .poll(() => cache.get("a", () => "back").then(() => cache.get("a")), { timeout: 20_000 })
        .toBe("back");
    } finally {
      await store.close();
      await server.stop();
    }
  }, 60_000);
});

describe("a cold key", () => {
  test("asked for by many operating system processes at once is made once", async () => {
    const server = await startRedis();
    const store = await open(`redis://127.0.0.1:${server.port}`);
    const children = Number(process.env.CACHE_PROCESSES ?? 6);
    try {
      const worker = fileURLToPath(new URL("./testing/asker.ts", import.meta.url));
      const exits = Array.from({ length: children }, () => {
        const child = spawn(
          process.execPath,
          [...nodeWords(worker), `redis://127.0.0.1:${server.port}`, String(children)],
          {
            stdio: "inherit",
          },
        );
        return new Promise<number | null>((resolve) => child.once("exit", resolve));
      });
      expect(await Promise.all(exits)).toEqual(Array.from({ length: children }, () => 0));
      expect(await store.call("GET", "loads")).toBe("1");
    } finally {
      await store.close();
      await server.stop();
    }
  }, 60_000);
});
