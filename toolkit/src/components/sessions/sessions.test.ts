import { Engine, ManualClock } from "@cinnabar/engine";
import { describe, expect, test } from "vitest";
import { beforeScript } from "../../../tests/kit/before-script.ts";
import { describeBackends } from "../../../tests/kit/index.ts";
import { keysIn } from "../../../tests/kit/keys.ts";
import { manualClock } from "../../../tests/kit/manual-clock.ts";
import { InputError } from "../../base/errors.ts";
import { open } from "../../connection/open.ts";
import type { Store } from "../../connection/store.ts";
import { Sessions } from "./index.ts";

const DAY = 86_400_000;

describeBackends("sessions", { audit: "tags" }, (backend) => {
  /** Two of one millisecond have no order. All nodes of a Cluster are on this machine, and have its clock. */
  const nextMillisecond = async () => {
    const now = async () => {
      const [seconds, micros] = (await backend.store.call("TIME")) as string[];
      return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
    };
    const before = await now();
    await expect.poll(now, { interval: 1 }).not.toBe(before);
  };

  test("a session holds what it was given, and its token is not in the store", async () => {
    const sessions = new Sessions(backend.store);
    const made = await sessions.create({ user: "ann", data: { theme: "dark", list: [1, 2], nothing: null } });
    expect(made.token).toMatch(/^[\w-]{12}\.[\w-]{22}$/);
    const found = (await sessions.load(made.token))!;
    expect(found).toMatchObject({ user: "ann", version: 1, data: { theme: "dark", list: [1, 2], nothing: null } });
    const secret = made.token.split(".")[1]!;
    for (const key of (await backend.store.sendToAll(["KEYS", "*"])).flat()) expect(String(key)).not.toContain(secret);
  });

  test("a malformed token, or a wrong one, is nobody's session", async () => {
    const sessions = new Sessions(backend.store);
    const { token } = await sessions.create();
    const forged = `${token.slice(0, 13)}${"A".repeat(22)}`;
    for (const wrong of ["", "x", "{}.y", forged, token.slice(0, -1), `${token}x`]) {
      expect(await sessions.load(wrong)).toBeNull();
      expect(await sessions.update(wrong, { a: 1 })).toBeNull();
      expect(await sessions.signOut(wrong)).toBe(false);
      expect(await sessions.viewed(wrong)).toEqual([]);
    }
  });

  test("pieces of data are changed on their own, and removed", async () => {
    const sessions = new Sessions(backend.store);
    const { token } = await sessions.create({ data: { a: 1, b: 2 } });
    expect(await sessions.update(token, { b: undefined, c: "x" })).toMatchObject({
      version: 2,
      data: { a: 1, c: "x" },
    });
    expect(await sessions.update(token, { a: 5 }, { ifVersion: 1 })).toBe("conflict");
    expect(await sessions.update(token, { a: 5 }, { ifVersion: 0 })).toBe("conflict");
    expect(await sessions.update(token, { a: 5 }, { ifVersion: 2 })).toMatchObject({ data: { a: 5, c: "x" } });
  });

  test("requests at the same time do not overwrite each other", async () => {
    const stores = await Promise.all([backend.open(), backend.open()]);
    const both = stores.map((store) => new Sessions(store));
    const { token } = await both[0]!.create();
    await Promise.all(
      Array.from({ length: 100 }, async (_, nth) => {
        await both[nth % 2]!.load(token, { viewed: `item ${nth % 30}` });
        await both[nth % 2]!.update(token, { [`field ${nth}`]: nth });
      }),
    );
    const session = (await both[1]!.load(token))!;
    expect(Object.keys(session.data).length).toBe(100);
    expect(session.version).toBe(101);
    expect((await both[0]!.viewed(token)).length).toBe(25);
  });

  test("what was viewed last comes first, once, and no more than the limit", async () => {
    const sessions = new Sessions(backend.store, { viewed: 3 });
    const { token } = await sessions.create();
    for (const item of ["a", "b", "c", "a", "d"]) {
      await sessions.load(token, { viewed: item });
      await nextMillisecond();
    }
    expect(await sessions.viewed(token)).toEqual(["d", "a", "c"]);
    expect(await sessions.viewed(token, { limit: 1 })).toEqual(["d"]);
  });

  test("signing in gives a new token with the old data; the old one is worth nothing", async () => {
    const sessions = new Sessions(backend.store);
    const visitor = await sessions.create({ data: { theme: "dark" } });
    await sessions.load(visitor.token, { viewed: "item:1" });
    const session = await sessions.signIn(visitor.token, "ann");
    expect(session).toMatchObject({ user: "ann", data: { theme: "dark" } });
    expect(session.token).not.toBe(visitor.token);
    expect(await sessions.load(visitor.token)).toBeNull();
    expect(await sessions.viewed(session.token)).toEqual(["item:1"]);
    expect(await sessions.signIn(null, "ben")).toMatchObject({ user: "ben", data: {} });
  });

  test("a sign-in with the session of another user takes nothing of it, and ends it", async () => {
    const sessions = new Sessions(backend.store);
    const visitor = await sessions.create({ data: { theme: "dark" } });
    const ben = await sessions.signIn(visitor.token, "ben");
    await sessions.load(ben.token, { viewed: "item:1" });
    const ann = await sessions.signIn(ben.token, "ann");
    expect(ann).toMatchObject({ user: "ann", data: {} });
    expect(await sessions.viewed(ann.token)).toEqual([]);
    expect(await sessions.load(ben.token)).toBeNull();
    expect((await sessions.list("ben")).items).toEqual([]);
    // The same user keeps what they have.
    await sessions.update(ann.token, { basket: 1 });
    expect(await sessions.signIn(ann.token, "ann")).toMatchObject({ user: "ann", data: { basket: 1 } });
  });

  test("a sign-in that breaks off leaves the visitor with everything, and one beside a change loses nothing", async () => {
    const sessions = new Sessions(backend.store);
    const visitor = await sessions.create({ data: { theme: "dark" } });
    const isByTurns = backend.store.topology === "cluster";
    // As if the process had died; in a Cluster, behind the making of the new session.
    const last = isByTurns ? "sessions.take" : "sessions.sign-in";
    const failing = beforeScript(backend.store, last, () => Promise.reject(new Error("cut off")));
    await expect(new Sessions(failing).signIn(visitor.token, "ann")).rejects.toThrow("cut off");
    expect(await sessions.load(visitor.token)).toMatchObject({ user: null, data: { theme: "dark" } });

    const late = beforeScript(backend.store, isByTurns ? "sessions.create" : "sessions.sign-in", () =>
      sessions.update(visitor.token, { theme: undefined, basket: "full" }),
    );
    const session = await new Sessions(late).signIn(visitor.token, "ann");
    expect(session).toMatchObject({ user: "ann", data: { basket: "full" } });
    expect(await sessions.load(session.token)).toMatchObject({ data: { basket: "full" } });
    expect(Object.keys(session.data)).toEqual(["basket"]);
    expect(await sessions.load(visitor.token)).toBeNull();
  });

  test.skipIf(backend.isDisturbed)(
    "a sign-in is one round trip, but in a Cluster, where the two sessions are in different slots",
    async () => {
      const { store } = backend;
      const sessions = new Sessions(store);
      const visitor = await sessions.create({ data: { theme: "dark" } });
      for (const viewed of ["a", "b"]) await sessions.load(visitor.token, { viewed });
      const sent: string[] = [];
      const stop = store.on("roundTrip", ({ name }) => {
        if (name.startsWith("sessions.") && name !== "sessions.live") sent.push(name);
      });
      const ann = await sessions.signIn(visitor.token, "ann");
      const byTurns = ["sessions.copy", "sessions.create", "sessions.take"];
      expect(sent).toEqual(store.topology === "cluster" ? byTurns : ["sessions.sign-in"]);
      expect(ann.data).toEqual({ theme: "dark" });
      expect(await sessions.viewed(ann.token)).toEqual(["b", "a"]);
      // Sessions of one user are in one slot everywhere.
      sent.length = 0;
      const again = await sessions.signIn(ann.token, "ann");
      stop();
      expect(sent).toEqual(["sessions.sign-in"]);
      expect(again).toMatchObject({ user: "ann", data: { theme: "dark" } });
      expect((await sessions.list("ann")).items.map(({ id }) => id)).toEqual([again.id]);
      await expect.poll(() => sessions.count()).toBe(1);
    },
  );

  test("a session that ends while it is noted as live is not counted among the living", async () => {
    let goOn = (): void => {};
    const goes = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const slow = new Sessions(beforeScript(backend.store, "sessions.live", () => goes));
    const { token } = await slow.create({ user: "ann" });
    await slow.signOut(token);
    const other = new Sessions(backend.store);
    const before = await other.create({ user: "ben" });
    await expect.poll(() => other.count()).toBe(1);
    goOn();
    // The note comes late, and what takes it back after it.
    await slow.load(before.token);
    await expect.poll(() => other.count()).toBe(1);
    expect(await backend.store.call("PING")).toBe("PONG");
    // While slots move, what takes it back may still be on its way.
    await expect.poll(() => other.count()).toBe(1);
  });

  test("a sign-in whose answer was lost is the same sign-in when it is repeated", async () => {
    const { store } = backend;
    const sessions = new Sessions(store);
    const visitor = await sessions.signIn(null, "ann");
    await sessions.update(visitor.token, { theme: "dark" });
    const twice = new Proxy(store, {
      get: (target, property) => {
        const value: unknown = Reflect.get(target, property, target);
        if (property !== "run") return typeof value === "function" ? value.bind(target) : value;
        return async (...[script, params, options]: Parameters<Store["run"]>) => {
          if (script.name === "sessions.sign-in") await target.run(script, params, options);
          return target.run(script, params, options);
        };
      },
    });
    const session = await new Sessions(twice).signIn(visitor.token, "ann");
    expect(session).toMatchObject({ user: "ann", data: { theme: "dark" } });
    expect((await sessions.list("ann")).items).toHaveLength(1);
  });

  test("a user's sessions can be listed and ended, one, all others, or all", async () => {
    const sessions = new Sessions(backend.store);
    const mine = [];
    for (let nth = 0; nth < 4; nth++) mine.push(await sessions.create({ user: "ann" }));
    const other = await sessions.create({ user: "ben" });
    const { items: listed } = await sessions.list("ann", { current: mine[2]!.token });
    expect(listed.map(({ id }) => id).sort()).toEqual(mine.map(({ id }) => id).sort());
    expect(listed.filter(({ current }) => current).map(({ id }) => id)).toEqual([mine[2]!.id]);
    expect(await sessions.revoke("ann", mine[0]!.id)).toBe(true);
    expect(await sessions.load(mine[0]!.token)).toBeNull();
    expect(await sessions.signOutEverywhere("ann", { except: mine[2]!.token })).toBe(2);
    expect((await sessions.list("ann")).items.map(({ id }) => id)).toEqual([mine[2]!.id]);
    expect(await sessions.signOutEverywhere("ann")).toBe(1);
    expect((await sessions.list("ann")).items).toEqual([]);
    expect(await sessions.load(other.token)).not.toBeNull();
  });

  test("a session is never half gone", async () => {
    const sessions = new Sessions(backend.store);
    const { token, id } = await sessions.create({ user: "ann", data: { a: 1 } });
    await sessions.load(token, { viewed: "x" });
    await Promise.all([
      sessions.signOut(token),
      ...Array.from({ length: 20 }, () => sessions.load(token, { viewed: "y" })),
      ...Array.from({ length: 20 }, (_, nth) => sessions.update(token, { [`f${nth}`]: nth })),
    ]);
    expect(await sessions.load(token)).toBeNull();
    const left = (await backend.store.sendToAll(["KEYS", `*${id}*`])).flat();
    expect(left).toEqual([]);
    expect((await sessions.list("ann")).items).toEqual([]);
  });

  test("beyond the limit of a user the least recently used session ends", async () => {
    const sessions = new Sessions(backend.store, { maxPerUser: 2 });
    const first = await sessions.create({ user: "ann" });
    await nextMillisecond();
    await sessions.create({ user: "ann" });
    await nextMillisecond();
    await sessions.create({ user: "ann" });
    expect(await sessions.load(first.token)).toBeNull();
    expect((await sessions.list("ann")).items.length).toBe(2);
  });

  test("cleaners end the least recently used beyond the limit, and none twice", async () => {
    const sessions = new Sessions(backend.store, { maxLive: 160 });
    const made = await Promise.all(Array.from({ length: 800 }, () => sessions.create()));
    await expect
      .poll(async () => {
        const sizes = Array.from({ length: 16 }, (_, shard) => ["ZCARD", `session:live:{${shard}}`] as const);
        return (await backend.store.pipeline(sizes)).map(Number).reduce((sum, n) => sum + n, 0);
      })
      .toBe(800);
    const cleaners = [sessions.cleaner(), new Sessions(await backend.open(), { maxLive: 160 }).cleaner()];
    const ended = await Promise.all(cleaners.map((cleaner) => cleaner.runOnce()));
    const alive = (await Promise.all(made.map(({ token }) => sessions.load(token, { touch: false })))).filter(Boolean);
    expect(alive.length).toBe(160);
    expect(ended[0]! + ended[1]!).toBe(640);
    const loop = cleaners[0]!.start();
    await loop.stop();
    expect(loop.running).toBe(false);
  });

  test("the limit on live sessions is of all users together, and the least recently used go", async () => {
    const sessions = new Sessions(backend.store, { maxLive: 7 });
    const tokens: string[] = [];
    // Twelve of one user, and so in one shard; then some of others; then one more of the first user.
    const users = [...Array.from({ length: 12 }, () => "ann"), "ben", "cat", "dan", "ann"];
    for (const user of users) {
      tokens.push((await sessions.create({ user })).token);
      await nextMillisecond();
    }
    await expect.poll(() => sessions.count()).toBe(users.length);
    expect(await sessions.cleaner().runOnce()).toBe(users.length - 7);
    const alive = async () => {
      const found = await Promise.all(tokens.map((token) => sessions.load(token, { touch: false })));
      return found.map((session) => (session === null ? "-" : "x")).join("");
    };
    expect(await alive()).toBe("---------xxxxxxx");
    expect(await sessions.count()).toBe(7);
    expect(await sessions.cleaner().runOnce()).toBe(0);
  });

  test("sessions that were ended do not count as live", async () => {
    const sessions = new Sessions(backend.store, { maxPerUser: 2, maxLive: 3 });
    const ben = await sessions.create({ user: "ben" });
    for (let nth = 0; nth < 5; nth++) await sessions.create({ user: "ann" });
    await expect.poll(() => sessions.count()).toBe(3);
    expect(await sessions.signOutEverywhere("ann")).toBe(2);
    await expect.poll(() => sessions.count()).toBe(1);
    expect(await sessions.cleaner().runOnce()).toBe(0);
    expect(await sessions.load(ben.token)).not.toBeNull();
  });

  test("operators see all sessions and no token, and can end one", async () => {
    const sessions = new Sessions(backend.store);
    const ann = await sessions.create({ user: "ann" });
    const somebody = await sessions.create();
    await expect.poll(() => sessions.count(), { timeout: 10_000 }).toBe(2);
    const live = await sessions.recent();
    expect(live.map(({ user }) => user).sort()).toEqual(["ann", null].sort());
    expect(JSON.stringify(live)).not.toContain(ann.token);
    const { handle, createdAt } = live.find(({ user }) => user === "ann")!;
    expect(createdAt).toEqual(ann.createdAt);
    expect(await sessions.load(handle)).toBeNull();
    expect(await sessions.end(handle)).toBe(true);
    expect(await sessions.end(handle)).toBe(false);
    expect(await sessions.load(ann.token)).toBeNull();
    expect(await sessions.load(somebody.token)).not.toBeNull();
    expect((await sessions.recent()).map(({ user }) => user)).toEqual([null]);
    await expect(sessions.end("no handle")).rejects.toThrow(InputError);
  });

  test("wrong input is refused before anything is written", async () => {
    const sessions = new Sessions(backend.store, { maxValueBytes: 10 });
    const { token } = await sessions.create();
    await expect(sessions.create({ user: "" })).rejects.toThrow(InputError);
    await expect(sessions.create({ data: { a: "x".repeat(20) } })).rejects.toThrow(InputError);
    await expect(sessions.update(token, {})).rejects.toThrow(InputError);
    await expect(sessions.update(token, { a: () => 1 })).rejects.toThrow(InputError);
    const many = Object.fromEntries(Array.from({ length: 200 }, (_, nth) => [`f${nth}`, nth]));
    await sessions.update(token, many);
    const more = Object.fromEntries(Array.from({ length: 100 }, (_, nth) => [`g${nth}`, nth]));
    await expect(sessions.update(token, more)).rejects.toThrow(InputError);
    expect(Object.keys((await sessions.load(token))!.data).length).toBe(200);
    // Pieces that are there already, or that go, leave room.
    await expect(sessions.update(token, { ...many, f0: undefined, g0: 0 })).resolves.toMatchObject({ version: 3 });
    expect(Object.keys((await sessions.load(token))!.data).length).toBe(200);
    await expect(sessions.signOutEverywhere("")).rejects.toThrow(InputError);
    expect(() => new Sessions(backend.store, { idleMs: 1 })).toThrow(InputError);
  });
});

describe("lifetimes, with a clock moved by hand", () => {
  async function atOwnTime() {
    const [server, own] = [new ManualClock(), manualClock()];
    const engine = await Engine.open({ clock: server });
    const store = await open(engine, { clock: own });
    const advance = (ms: number): void => {
      server.advance(ms);
      own.advance(ms);
    };
    return { advance, store, sessions: new Sessions(store, { idleMs: DAY, ttlMs: 3 * DAY }), engine };
  }

  test("a session ends when it is not used, and in any case at its end", async () => {
    const { advance, store, sessions, engine } = await atOwnTime();
    const idle = await sessions.create({ user: "ann" });
    const used = await sessions.create({ user: "ann" });
    for (let hours = 0; hours < 71; hours++) {
      advance(DAY / 24);
      expect(await sessions.load(used.token, { viewed: "x" })).not.toBeNull();
      if (hours < 23) expect(await sessions.load(idle.token, { touch: false })).not.toBeNull();
      if (hours === 24) {
        expect(await sessions.load(idle.token)).toBeNull();
        expect((await sessions.list("ann")).items.map(({ id }) => id)).toEqual([used.id]);
      }
    }
    advance(DAY / 24);
    expect(await sessions.load(used.token)).toBeNull();
    advance(DAY);
    await store.call("DBSIZE");
    expect(await store.call("EXISTS", `session:{${used.token.slice(0, 12)}}:owned`)).toBe(0);
    await store.close();
    await engine.close();
  });

  test("a new session is never the one that goes because its user has too many, also of one millisecond", async () => {
    const { store, engine } = await atOwnTime();
    const sessions = new Sessions(store, { maxPerUser: 2 });
    for (let nth = 0; nth < 20; nth++) {
      const { token, id } = await sessions.create({ user: "ann", data: { nth } });
      expect(await sessions.load(token, { touch: false })).toMatchObject({ data: { nth } });
      expect((await sessions.list("ann")).items.map((each) => each.id)).toContain(id);
    }
    expect((await sessions.list("ann")).items).toHaveLength(2);
    await store.close();
    await engine.close();
  });

  test("without a cleaner the list of live sessions stays as long as they are, and nothing is left in the end", async () => {
    const { advance, store, sessions, engine } = await atOwnTime();
    for (let day = 0; day < 5; day++) {
      for (let nth = 0; nth < 200; nth++) await sessions.create();
      advance(DAY + 60_001);
    }
    for (let nth = 0; nth < 200; nth++) await sessions.create();
    // Those of the last round, and at most what it has not come to drop of the rounds before.
    expect(await sessions.count()).toBeLessThan(300);
    const { token } = await sessions.create({ user: "ann" });
    const before = await sessions.count();
    await sessions.signOut(token);
    expect(await sessions.count()).toBe(before - 1);
    advance(3 * DAY);
    for (const key of await keysIn(store)) expect(await store.call("EXISTS", key)).toBe(0);
    await store.close();
    await engine.close();
  });

  test("a session in use is touched once a minute, and read in between", async () => {
    const { advance, store, sessions, engine } = await atOwnTime();
    const { token, seenAt } = await sessions.create({ user: "ann", data: { theme: "dark" } });
    const scripts = async (): Promise<number> => {
      const stats = String(await store.call("INFO", "commandstats"));
      return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1] ?? 0);
    };
    const before = await scripts();
    for (let second = 0; second < 59; second++) {
      advance(1_000);
      expect(await sessions.load(token)).toMatchObject({ user: "ann", data: { theme: "dark" }, seenAt });
    }
    expect((await scripts()) - before).toBe(0);
    advance(1_000);
    expect((await sessions.load(token))?.seenAt.getTime()).toBe(seenAt.getTime() + 60_000);
    // What is viewed is noted each time, and lives as long as the session.
    await sessions.load(token, { viewed: "a" });
    await sessions.load(token, { viewed: "b" });
    expect(await sessions.viewed(token)).toEqual(["b", "a"]);
    const [session = ""] = (await keysIn(store)).filter((key) => key.endsWith(":viewed"));
    expect(await store.pttl(session)).toBe(await store.pttl(session.replace(":viewed", "")));
    // Unused for `idleMs` since the last load, it is there; a minute later it is not.
    advance(DAY - 1);
    expect(await sessions.load(token, { touch: false })).not.toBeNull();
    advance(60_001);
    expect(await sessions.load(token)).toBeNull();
    await store.close();
    await engine.close();
  });
});
