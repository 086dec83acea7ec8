/** Configuration, maintenance and named connections: the contract, on every backend. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { type Backend, describeBackends } from "../../../tests/kit/index.ts";
import { manualClock } from "../../../tests/kit/manual-clock.ts";
import { FaultyProxy } from "../../../tests/kit/proxy.ts";
import { installed, startRedis } from "../../../tests/kit/servers.ts";
import { ConflictError, ConnectionError, InputError } from "../../base/errors.ts";
import { open } from "../../connection/open.ts";
import type { Store } from "../../connection/store.ts";
import { Config, type ConfigOptions, Connections, Maintenance } from "./index.ts";

interface Settings {
  readonly limit: number;
  readonly color: string;
}

const defaults: Settings = { limit: 10, color: "blue" };

function validate(value: unknown): Settings {
  const { limit, color } = value as Partial<Settings>;
  if (typeof limit !== "number" || limit < 0) throw new TypeError("limit must be a number of at least 0");
  if (typeof color !== "string") throw new TypeError("color must be text");
  return { limit, color };
}

const folder = mkdtempSync(join(tmpdir(), "cinnabar-config-"));
afterAll(() => rmSync(folder, { recursive: true }));

const shop = (store: Store, options: Partial<ConfigOptions<Settings>> = {}) =>
  new Config(store, "shop", { defaults, validate, ...options });

/** Resolves with the next change. */
const nextChange = (config: Config<Settings>): Promise<Settings> =>
  new Promise((resolve) => {
    const stop = config.on("change", ({ value }) => {
      stop();
      resolve(value);
    });
  });

describeBackends("configuration", (backend) => {
  describe("values", () => values(backend));
  describe("maintenance", () => maintenance(backend));
});

function values(backend: Backend): void {
  test("the defaults hold while nothing is stored", async () => {
    const config = shop(backend.store);
    expect(config.inspect().state).toBe("stale");
    await config.start();
    expect(config.current).toEqual({ value: defaults, version: 0 });
    expect(config.inspect()).toEqual({ state: "live" });
    await config.stop();
  });

  test("a change reaches every process that follows, with a version that grows", async () => {
    const mine = shop(backend.store);
    const theirs = shop(await backend.open());
    await Promise.all([mine.start(), theirs.start()]);
    const arriving = nextChange(theirs);
    expect(await mine.set({ limit: 20, color: "red" })).toEqual({ status: "changed", version: 1 });
    expect(mine.value.limit).toBe(20);
    expect(await arriving).toEqual({ limit: 20, color: "red" });
    expect(theirs.current.version).toBe(1);
    const second = nextChange(mine);
    await theirs.set({ limit: 30, color: "red" });
    expect((await second).limit).toBe(30);
    expect(mine.current.version).toBe(2);
    await Promise.all([mine.stop(), theirs.stop()]);
  });

  test("names are separate", async () => {
    await shop(backend.store).set({ limit: 1, color: "red" });
    const other = new Config(backend.store, "other", { defaults, validate });
    await other.start();
    expect(other.current.version).toBe(0);
    await other.stop();
  });

  test("compare-and-set: a version that is no longer current changes nothing", async () => {
    const config = shop(backend.store);
    expect(await config.set({ limit: 1, color: "red" }, { ifVersion: 0 })).toEqual({ status: "changed", version: 1 });
    expect(await config.set({ limit: 2, color: "red" }, { ifVersion: 0 })).toEqual({ status: "conflict", version: 1 });
    expect(config.current).toEqual({ value: { limit: 1, color: "red" }, version: 1 });
  });

  test("updates by many at once are all there in the end", async () => {
    const configs = [backend.store, await backend.open(), await backend.open()].map((store) => shop(store));
    await Promise.all(
      configs.map(async (config) => {
        for (let n = 0; n < 5; n++) await config.update(({ limit, color }) => ({ limit: limit + 1, color }));
      }),
    );
    const after = shop(backend.store);
    await after.refresh();
    expect(after.current).toEqual({ value: { limit: 25, color: "blue" }, version: 15 });
    expect(await after.update(() => null)).toBeNull();
  });

  test("updates of thirty callers at once all come through, of one process and of several", async () => {
    const stores = [backend.store, await backend.open(), await backend.open()];
    const one = shop(backend.store);
    const callers = [
      ...Array.from({ length: 30 }, () => one),
      ...Array.from({ length: 30 }, (_, nth) => shop(stores[nth % stores.length]!)),
    ];
    const versions = await Promise.all(
      callers.map((config) => config.update(({ limit, color }) => ({ limit: limit + 1, color }))),
    );
    expect(new Set(versions.map((each) => each!.version)).size).toBe(60);
    await one.refresh();
    expect(one.current).toEqual({ value: { limit: defaults.limit + 60, color: "blue" }, version: 60 });
  });

  test("an update that fails does not hold up the next", async () => {
    const config = shop(backend.store);
    const failing = config.update(() => Promise.reject(new Error("no")));
    const next = config.update(({ limit, color }) => ({ limit: limit + 1, color }));
    await expect(failing).rejects.toThrow("no");
    expect((await next)?.version).toBe(1);
  });

  test("an update that always loses ends in a ConflictError", async () => {
    const config = shop(backend.store);
    const rival = shop(await backend.open());
    const losing = config.update(async (value) => {
      await rival.set({ ...value, limit: value.limit + 1 });
      return value;
    });
    await expect(losing).rejects.toBeInstanceOf(ConflictError);
  });

  test("a value that is not valid is refused before it is stored", async () => {
    const config = shop(backend.store);
    await expect(config.set({ limit: -1, color: "red" })).rejects.toThrow(/limit must be/);
    await expect(config.set({ limit: 1, color: "x".repeat(2 << 20) })).rejects.toBeInstanceOf(InputError);
    await expect(config.set({ limit: 1, color: "x" }, { by: "x".repeat(2_000) })).rejects.toBeInstanceOf(InputError);
    await expect(config.set({ limit: 1, color: "x" }, { ifVersion: -1 })).rejects.toBeInstanceOf(InputError);
    expect(() => shop(backend.store, { defaults: {} as Settings })).toThrow(InputError);
    expect(() => new Config(backend.store, "", { defaults, validate })).toThrow(InputError);
    expect(() => shop(backend.store, { pollMs: 10 })).toThrow(InputError);
    await config.refresh();
    expect(config.current.version).toBe(0);
  });

  test("a stored value that this process refuses leaves the last good one in place, and says so", async () => {
    const errors: unknown[] = [];
    const config = shop(backend.store, { onError: (error) => void errors.push(error) });
    await config.set({ limit: 5, color: "red" });
    // A newer version of the program knows other values.
    const newer = new Config<unknown>(backend.store, "shop", { defaults: {}, validate: (value) => value });
    await newer.set({ limit: "many" });
    await config.refresh();
    expect(config.current).toEqual({ value: { limit: 5, color: "red" }, version: 1 });
    expect(config.inspect()).toMatchObject({ state: "invalid", error: { name: "InputError" } });
    expect(errors).toHaveLength(1);
    await expect(config.update((value) => value)).rejects.toBeInstanceOf(InputError);
    await newer.set({ limit: 6, color: "green" });
    await config.refresh();
    expect(config.inspect()).toEqual({ state: "live" });
    expect(config.value.limit).toBe(6);
  });

  test("the audit trail says who changed what, newest first, and is bounded", async () => {
    const config = shop(backend.store, { keepCount: 3 });
    for (let limit = 1; limit <= 5; limit++) {
      await config.set({ limit, color: "ü" }, { by: `user ${limit}`, note: "because" });
    }
    const history = await config.history();
    expect(history.map(({ version, by, note, value }) => [version, by, note, value?.limit])).toEqual([
      [5, "user 5", "because", 5],
      [4, "user 4", "because", 4],
      [3, "user 3", "because", 3],
    ]);
    expect(history[0]!.at.getTime()).toBeGreaterThanOrEqual(history[2]!.at.getTime());
    expect(history[0]!.value!.color).toBe("ü");
    expect(await config.history({ limit: 1 })).toHaveLength(1);
  });

  test("a message that was lost is made up for by looking at the version", async () => {
    const clock = manualClock();
    const following = await backend.open({ clock });
    const config = shop(following, { pollMs: 2_000 });
    await config.start();
    // Changed behind everybody's back: no message.
    const current = "config:{shop}";
    await backend.store.call("HSET", current, "version", 7, "value", JSON.stringify({ limit: 7, color: "red" }));
    const arriving = nextChange(config);
    clock.advance(2_000);
    expect((await arriving).limit).toBe(7);
    await config.stop();
  });

  test("a listener that throws harms nobody", async () => {
    const errors: unknown[] = [];
    const config = shop(backend.store, { onError: (error) => void errors.push(error) });
    const seen: number[] = [];
    config.on("change", () => {
      throw new Error("mine");
    });
    const stop = config.on("change", ({ version }, before) => void seen.push(before.version, version));
    await config.set({ limit: 1, color: "red" });
    stop();
    await config.set({ limit: 2, color: "red" });
    expect(seen).toEqual([0, 1]);
    expect(errors).toHaveLength(2);
  });

  test("the last good value is kept in a file, whole or not at all", async () => {
    const file = join(folder, `${backend.name}/shop.json`);
    const config = shop(backend.store, { file });
    await config.set({ limit: 8, color: "red" });
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ version: 1, value: { limit: 8, color: "red" } });
  });

  test("stopping ends following, and closing the store does too", async () => {
    const store = await backend.open();
    const config = shop(store);
    await config.start();
    await config.start();
    await config.stop();
    await shop(backend.store).set({ limit: 1, color: "red" });
    expect(config.current.version).toBe(0);
    await config.start();
    expect(config.current.version).toBe(1);
    await store.close();
  });
}

function maintenance(backend: Backend): void {
  test("is off, is switched on with a reason, and off again, for everybody", async () => {
    const mine = new Maintenance(backend.store, "shop", { freshMs: 0 });
    const theirs = new Maintenance(await backend.open(), "shop", { freshMs: 0 });
    expect(await mine.isOn()).toBe(false);
    await theirs.begin({ reason: "moving house", by: "ann" });
    expect(await mine.inspect()).toEqual({ on: true, reason: "moving house", by: "ann" });
    expect(await new Maintenance(backend.store, "other").isOn()).toBe(false);
    await mine.end();
    expect(await theirs.isOn()).toBe(false);
  });

  test("is looked up at most once a second, however often it is asked for", async () => {
    const clock = manualClock();
    let lookups = 0;
    const store = await backend.open({
      clock,
      hooks: {
        roundTrip: ({ name }) => {
          if (name === "GET") lookups++;
          return undefined;
        },
      },
    });
    const service = new Maintenance(store, "shop");
    const ask = () => Promise.all(Array.from({ length: 100 }, () => service.isOn()));
    expect(new Set(await ask())).toEqual(new Set([false]));
    await new Maintenance(backend.store, "shop").begin();
    await ask();
    expect(lookups).toBe(1);
    clock.advance(999);
    expect(await service.isOn()).toBe(false);
    clock.advance(1);
    expect(await service.isOn()).toBe(true);
    expect(lookups).toBe(2);
  });

  test("ends by itself if it was begun for a time", async () => {
    const service = new Maintenance(backend.store, "shop", { freshMs: 0 });
    await service.begin({ ttlMs: 60_000 });
    const left = Number(await backend.store.call("PTTL", "config:maintenance:{shop}"));
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(60_000);
    await expect(service.begin({ ttlMs: 0 })).rejects.toBeInstanceOf(InputError);
  });
}

describe.skipIf(!installed("redis-server"))("when the store cannot be reached", () => {
  test("the last value stays and the status says so; afterwards everything that changed arrives", async () => {
    const server = await startRedis();
    const proxy = await FaultyProxy.open(server.port);
    const direct = await open(server.url);
    const store = await open(proxy.url, { retryMs: 0, commandTimeoutMs: 500 });
    const config = shop(store);
    const service = new Maintenance(store, "shop", { freshMs: 0 });
    await config.start();
    await shop(direct).set({ limit: 3, color: "red" });
    if (config.value.limit !== 3) await nextChange(config);
    await service.begin();
    proxy.refuse();
    proxy.cut();
    await expect(config.refresh()).rejects.toBeInstanceOf(ConnectionError);
    expect(config.inspect().state).toBe("stale");
    expect(config.value.limit).toBe(3);
    expect(await service.isOn()).toBe(true);
    await shop(direct).set({ limit: 4, color: "red" });
    const arriving = nextChange(config);
    proxy.refuse(false);
    expect((await arriving).limit).toBe(4);
    expect(config.inspect().state).toBe("live");
    await Promise.all([store.close(), direct.close()]);
    await proxy.close();
    await server.stop();
  });

  test("a change whose answer was lost is made once", async () => {
    const server = await startRedis();
    const proxy = await FaultyProxy.open(server.port);
    const store = await open(proxy.url);
    const config = shop(store);
    await config.set({ limit: 1, color: "red" });
    const lost = proxy.loseAnswerOf("EVALSHA");
    expect(await config.set({ limit: 2, color: "red" }, { ifVersion: 1 })).toEqual({ status: "changed", version: 2 });
    await lost;
    expect((await config.history()).map(({ version }) => version)).toEqual([2, 1]);
    await store.close();
    await proxy.close();
    await server.stop();
  });

  test("a start takes the file's value, if it is one and valid; else it fails", async () => {
    const server = await startRedis();
    const proxy = await FaultyProxy.open(server.port);
    const store = await open(proxy.url, { retryMs: 0, commandTimeoutMs: 500, connectTimeoutMs: 500 });
    proxy.refuse();
    proxy.cut();
    const file = join(folder, "offline.json");
    await expect(shop(store, { file }).start()).rejects.toBeInstanceOf(ConnectionError);
    for (const bad of ["", "{", "null", JSON.stringify({ version: 1, value: { limit: "x" } })]) {
      writeFileSync(file, bad);
      await expect(shop(store, { file }).start()).rejects.toBeInstanceOf(ConnectionError);
    }
    writeFileSync(file, JSON.stringify({ version: 9, value: { limit: 9, color: "red" } }));
    const config = shop(store, { file, pollMs: 1_000 });
    await config.start();
    expect(config.current).toEqual({ value: { limit: 9, color: "red" }, version: 9 });
    expect(config.inspect().state).toBe("stale");
    // The store is the truth, also when it knows less: it is back, and empty.
    const arriving = nextChange(config);
    proxy.refuse(false);
    expect(await arriving).toEqual(defaults);
    await store.close();
    await proxy.close();
    await server.stop();
  });
});

describe("named connections", () => {
  interface Places {
    readonly orders: string;
    readonly cache?: string;
  }
  const setUp = async () => {
    const store = await open();
    const config = new Config<Places>(store, "places", {
      defaults: { orders: join(folder, "orders-1") },
      validate: (value) => value as Places,
    });
    await config.start();
    const errors: string[] = [];
    const connections = new Connections(
      store,
      config,
      ({ orders, cache }) => ({
        orders,
        ...(cache === undefined ? {} : { cache: { url: cache, options: { retryMs: 1 } } }),
      }),
      { drainTimeoutMs: 60_000, retryMs: 60_000, onError: (name) => void errors.push(name) },
    );
    return { store, config, connections, errors };
  };

  test("are opened once, and only when asked for", async () => {
    const { store, connections } = await setUp();
    const [first, second] = await Promise.all([connections.get("orders"), connections.get("orders")]);
    expect(first).toBe(second);
    await expect(connections.get("cache")).rejects.toBeInstanceOf(InputError);
    await connections.close();
    expect(first.closed).toBe(true);
    await expect(connections.get("orders")).rejects.toMatchObject({ code: "CLOSED" });
    await store.close();
  });

  test("are made anew when the configuration changes; who uses the old one can finish", async () => {
    const { store, config, connections } = await setUp();
    const remade = new Promise<Store>((resolve) => void connections.on("remade", (_, made) => resolve(made)));
    let old: Store | undefined;
    await connections.use("orders", async (using) => {
      old = using;
      await using.call("SET", "where", "first");
      await config.set({ orders: join(folder, "orders-2") });
      await remade;
      expect(using.closed).toBe(false);
      expect(await using.call("GET", "where")).toBe("first");
    });
    // Nobody uses it any more.
    await expect.poll(() => old!.closed).toBe(true);
    expect(await connections.get("orders")).toBe(await remade);
    expect(await (await remade).call("GET", "where")).toBeNull();
    await connections.close();
    await store.close();
  });

  test("stay as they are when the new address cannot be reached, and when nothing about them has changed", async () => {
    const { store, config, connections, errors } = await setUp();
    const before = await connections.get("orders");
    await config.set({ orders: "redis://127.0.0.1:1?nonsense=1" });
    await expect.poll(() => errors).toEqual(["orders"]);
    expect(await connections.get("orders")).toBe(before);
    expect(before.closed).toBe(false);
    // Another mistake is tried at once, and the old address again is no change.
    await config.set({ orders: "redis://127.0.0.1:1?nonsense=2" });
    await expect.poll(() => errors).toEqual(["orders", "orders"]);
    await config.set({ orders: join(folder, "orders-1"), cache: join(folder, "cache-1") });
    expect(await connections.get("orders")).toBe(before);
    const cache = await connections.get("cache");
    expect(await cache.call("PING")).toBe("PONG");
    await connections.close();
    expect([before.closed, cache.closed]).toEqual([true, true]);
    await store.close();
  });

  test("that are no longer configured are closed", async () => {
    const { store, config, connections } = await setUp();
    await config.set({ orders: join(folder, "orders-1"), cache: join(folder, "cache-2") });
    let cache: Store | undefined;
    await connections.use("cache", async (using) => {
      cache = using;
    });
    await config.set({ orders: join(folder, "orders-1") });
    await expect.poll(() => cache!.closed).toBe(true);
    await connections.close();
    await store.close();
  });
});
