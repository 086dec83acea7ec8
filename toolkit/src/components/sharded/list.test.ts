/** A sharded list is a list; with several lanes, each of them is. */
import { expect, test } from "vitest";
import { beforeScript } from "../../../tests/kit/before-script.ts";
import { describeBackends } from "../../../tests/kit/index.ts";
import { keysIn } from "../../../tests/kit/keys.ts";
import { ClosedError, ConnectionError, InputError } from "../../base/errors.ts";
import type { Store } from "../../connection/store.ts";
import { FullError, ShardedList } from "./index.ts";
import { all, randomFrom } from "./testing/models.ts";

/** SHARDED_ROUNDS=20000 SHARDED_SEED=7 runs it long. */
const ROUNDS = Number(process.env.SHARDED_ROUNDS ?? 0);
const SEED = Number(process.env.SHARDED_SEED ?? 1);

/** Until so many clients are waiting on the servers. */
async function blocked(store: Store, count: number): Promise<void> {
  const waiting = async (): Promise<number> => {
    const infos = await store.sendToAll(["INFO", "clients"]);
    return infos.reduce<number>((sum, info) => sum + Number(/blocked_clients:(\d+)/.exec(String(info))![1]), 0);
  };
  await expect.poll(waiting, { timeout: 20_000 }).toBeGreaterThanOrEqual(count);
}

describeBackends("a sharded list", (backend) => {
  const rounds = ROUNDS || (backend.name === "embedded" ? 600 : 250);

  test("with one lane it equals an array under random operations of three clients, while its pieces change their size", async () => {
    const stores = [backend.store, await backend.open(), await backend.open()];
    const lists = stores.map((store) => new ShardedList<number>(store, "subject", { pieceSize: 4 }));
    const random = randomFrom(SEED);
    const model: number[] = [];
    let number = 0;
    for (let round = 0; round < rounds; round++) {
      const list = lists[random(3)]!;
      const [side, action] = [random(2) === 0 ? "left" : "right", random(12)] as const;
      if (action < 4) {
        const values = Array.from({ length: 1 + random(action === 0 ? 20 : 2) }, () => number++);
        await list.pushMany(side, values);
        for (const value of values) side === "left" ? model.unshift(value) : model.push(value);
      } else if (action < 8) {
        const expected = (side === "left" ? model.shift() : model.pop()) ?? null;
        expect([round, await list.pop(side)]).toEqual([round, expected]);
      } else if (action < 9) {
        const count = 1 + random(30);
        const expected = side === "left" ? model.splice(0, count) : model.splice(-count).reverse();
        expect([round, await list.popMany(side, count)]).toEqual([round, expected]);
      } else if (action < 10) expect(await list.count()).toBe(model.length);
      else if (action < 11) expect(await all(list.items())).toEqual(model);
      else if (random(5) === 0) {
        await list.reshard({ pieceSize: 1 + random(12) });
        expect(await list.settle()).toBe(true);
      }
    }
    expect(await all(lists[0]!.items())).toEqual(model);
  }, 120_000);

  test("no piece is longer than it may be", async () => {
    const list = new ShardedList<number>(backend.store, "subject", { pieceSize: 10 });
    await list.pushMany(
      "right",
      Array.from({ length: 95 }, (_, nth) => nth),
    );
    await list.pushMany(
      "left",
      Array.from({ length: 25 }, (_, nth) => -nth),
    );
    const lengths = await Promise.all(
      Array.from({ length: 14 }, (_, nth) => backend.store.call("LLEN", `sharded:{subject/0}:piece:${nth - 3}`)),
    );
    expect(Math.max(...lengths.map(Number))).toBe(10);
    expect(await list.inspect()).toMatchObject({ elements: 120, lanes: 1, generation: 2, moving: null });
    expect((await list.inspect()).byLane[0]!.bytes).toBeGreaterThan(0);
  });

  test("with several lanes everything comes out once, and what has the same key in its order, also while lanes come and go", async () => {
    const stores = [backend.store, await backend.open()];
    const lists = stores.map((store) => new ShardedList<string>(store, "subject", { lanes: 4, pieceSize: 5 }));
    const random = randomFrom(SEED);
    const pushed: string[] = [];
    const popped: string[] = [];
    for (let round = 0; round < rounds; round++) {
      const list = lists[random(2)]!;
      const action = random(10);
      if (action < 5) {
        const value = `k${random(3)}:${round}`;
        pushed.push(value);
        await list.push("right", value, { key: value.slice(0, 2) });
      } else if (action < 9) {
        const value = await list.pop("left");
        if (value === null) expect(popped.length).toBe(pushed.length);
        else popped.push(value);
      } else if (random(4) === 0) {
        await list.reshard({ lanes: 1 + random(6) });
      } else await list.settle();
    }
    popped.push(...(await lists[0]!.popMany("left", 1_000)));
    expect([...popped].sort()).toEqual([...pushed].sort());
    expect(await lists[1]!.settle()).toBe(true);
    expect(await lists[1]!.count()).toBe(0);
    // With the lanes as they are, the order of a key is kept.
    for (let nth = 0; nth < 30; nth++)
      await lists[nth % 2]!.push("right", `k${nth % 5}:${nth}`, { key: `k${nth % 5}` });
    const out = await lists[1]!.popMany("left", 100);
    expect(out.length).toBe(30);
    for (let key = 0; key < 5; key++) {
      const ofKey = out.filter((value) => value.startsWith(`k${key}`)).map((value) => Number(value.slice(3)));
      expect(ofKey).toEqual([...ofKey].sort((a, b) => a - b));
    }
  });

  test("one who waits gets what is pushed, at either end, the longest waiting first", async () => {
    const list = new ShardedList<number>(await backend.open(), "subject", { pieceSize: 2 });
    const other = new ShardedList<number>(backend.store, "subject", { pieceSize: 2 });
    const first = list.pop("left", { waitMs: 60_000 });
    await blocked(backend.store, 1);
    const second = list.pop("left", { waitMs: 60_000 });
    await other.push("right", 1);
    expect(await first).toBe(1);
    await other.push("right", 2);
    expect(await second).toBe(2);
    const third = list.pop("right", { signal: new AbortController().signal });
    await blocked(backend.store, 1);
    await other.pushMany("left", [3, 4, 5]);
    expect([await third, await list.pop("right"), await list.pop("right"), await list.pop("right")]).toEqual([
      3,
      4,
      5,
      null,
    ]);
  });

  test("a consumer that has heard the bell and leaves something rings it again; the last one silences it", async () => {
    const list = new ShardedList<number>(await backend.open(), "subject");
    const other = new ShardedList<number>(backend.store, "subject");
    const waiting = list.pop("left", { waitMs: 60_000 });
    await blocked(backend.store, 1);
    await other.pushMany("right", [1, 2]);
    expect(await waiting).toBe(1);
    expect(await backend.store.call("LRANGE", "sharded:{subject/0}:bell", 0, -1)).toEqual(["1"]);
    expect(await other.pop("left")).toBe(2);
    expect(await backend.store.call("EXISTS", "sharded:{subject/0}:bell")).toBe(0);
  });

  test("waiting ends after a time, with a signal, and with the store", async () => {
    const store = await backend.open();
    const list = new ShardedList<number>(store, "subject");
    expect(await list.pop("left", { waitMs: 20 })).toBe(null);
    const stop = new AbortController();
    const waiting = list.pop("left", { signal: stop.signal });
    stop.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    const last = expect(list.pop("left", { waitMs: 60_000 })).rejects.toThrow(ClosedError);
    await store.close();
    await last;
  });

  test("a pop that failed for one who waits does not disturb later calls", async () => {
    let failing = false;
    const store = beforeScript(backend.store, "sharded.list-pop", async () => {
      if (failing) throw new ConnectionError("lost", { maybeExecuted: true });
    });
    const list = new ShardedList<string>(store, "jobs");
    const unlucky = list.pop("left", { waitMs: 60_000 });
    const failed = expect(unlucky).rejects.toThrow("lost");
    await blocked(backend.store, 1);
    failing = true;
    await new ShardedList<string>(backend.store, "jobs").push("right", "a");
    await failed;
    failing = false;
    expect(await list.pop("left", { waitMs: 60_000 })).toBe("a");
    const later = list.pop("left", { waitMs: 60_000 });
    await blocked(backend.store, 1);
    await new ShardedList<string>(backend.store, "jobs").push("right", "b");
    expect(await later).toBe("b");
  });

  test("waiting asks only when the bell has rung", async () => {
    const trips: string[] = [];
    const store = await backend.open({ hooks: { roundTrip: ({ name }) => void trips.push(name) } });
    const list = new ShardedList<number>(store, "subject", { lanes: 3 });
    const other = new ShardedList<number>(backend.store, "subject", { lanes: 3 });
    const waiting = list.pop("left", { waitMs: 60_000 });
    await blocked(backend.store, backend.store.topology === "cluster" ? 3 : 1);
    const before = trips.length;
    // What is put in at another's end and taken out again rings, and may wake it once each.
    for (let nth = 0; nth < 50; nth++) await backend.store.call("SET", "unrelated", nth);
    expect(trips.length).toBe(before);
    await other.push("right", 7);
    expect(await waiting).toBe(7);
    expect(trips.length - before).toBeLessThanOrEqual(3);
  });

  test("one who waits hears of a lane that was not there when it began", async () => {
    const list = new ShardedList<number>(await backend.open(), "subject", { lanes: 1 });
    const other = new ShardedList<number>(backend.store, "subject");
    const waiting = list.pop("left", { waitMs: 60_000 });
    await blocked(backend.store, 1);
    await other.reshard({ lanes: 3 });
    await other.settle();
    for (let nth = 0; nth < 50; nth++) await other.push("right", nth, { key: `key ${nth}` });
    expect(await waiting).not.toBe(null);
    const rest = Promise.all(Array.from({ length: 49 }, () => list.pop("left", { waitMs: 60_000 })));
    expect(new Set([...(await rest), await waiting]).size).toBe(50);
  });

  test("many who push and many who wait: everything arrives once", async () => {
    const stores = await Promise.all([backend.open(), backend.open(), backend.open()]);
    const total = 120;
    const received: number[] = [];
    const stop = new AbortController();
    const consumers = stores.flatMap((store, nth) => {
      const list = new ShardedList<number>(store, "subject", { lanes: 2, pieceSize: 3 });
      return Array.from({ length: 2 }, async () => {
        while (received.length < total) {
          const value = await list.pop(nth % 2 === 0 ? "left" : "right", { signal: stop.signal }).catch(() => null);
          if (value !== null && received.push(value) === total) stop.abort();
        }
      });
    });
    const producer = new ShardedList<number>(backend.store, "subject", { lanes: 2, pieceSize: 3 });
    for (let nth = 0; nth < total; nth += 3) await producer.pushMany("right", [nth, nth + 1, nth + 2]);
    await Promise.all(consumers);
    expect(received.sort((a, b) => a - b)).toEqual(Array.from({ length: total }, (_, nth) => nth));
  });

  test.each([1, 3])("with an id, a push and a pop happen once (%i lanes)", async (lanes) => {
    const list = new ShardedList<number>(backend.store, "subject", { lanes });
    await list.push("right", 1, { id: "a" });
    await list.push("right", 1, { id: "a" });
    await list.push("right", 2, { id: "b" });
    expect(await list.count()).toBe(2);
    const value = await list.pop("left", { id: "p" });
    expect(await list.pop("left", { id: "p" })).toBe(value);
    expect(await list.count()).toBe(1);
  });

  test("it holds no more than it may; clearing and destroying leave nothing", async () => {
    const list = new ShardedList<number>(backend.store, "subject", { lanes: 2, pieceSize: 2, maxElements: 400 });
    await list.pushMany(
      "right",
      Array.from({ length: 200 }, (_, nth) => nth),
      { key: "a" },
    );
    await expect(list.push("left", 1, { key: "a" })).rejects.toThrow(FullError);
    await expect(list.push("up" as "left", 1)).rejects.toThrow(InputError);
    expect([await list.count(), await list.clear(), await list.count(), await list.pop("left")]).toEqual([
      200,
      200,
      0,
      null,
    ]);
    await list.push("left", 5);
    expect(await list.pop("right")).toBe(5);
    await list.delete();
    expect(await keysIn(backend.store)).toEqual([]);
  });
});
