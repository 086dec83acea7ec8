/** The contract of latches. */
import { expect, test } from "vitest";
import { describeBackends } from "../../../tests/kit/index.ts";
import { keysIn } from "../../../tests/kit/keys.ts";
import { InputError } from "../../base/errors.ts";
import { Latches } from "./index.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const listeners = async (store: Parameters<typeof keysIn>[0], channel: string): Promise<number> => {
  let sum = 0;
  for (const answer of await store.sendToAll(["PUBSUB", "NUMSUB", channel])) sum += Number((answer as unknown[])[1]);
  return sum;
};

describeBackends("latches", (backend) => {
  const latches = (): Latches => new Latches(backend.store);
  const others = async (): Promise<Latches> => new Latches(await backend.open());

  test("open for all waiters when so many have counted", async () => {
    const mine = latches();
    expect(await mine.create("ready", { count: 3 })).toBe(true);
    expect(await mine.create("ready", { count: 7 })).toBe(false);
    const theirs = await others();
    const waiting = [mine.waitFor("ready"), mine.waitFor("ready"), theirs.waitFor("ready")];
    expect(await theirs.countDown("ready")).toBe(2);
    expect(await theirs.countDown("ready")).toBe(1);
    expect(await mine.inspect("ready")).toMatchObject({ count: 3, left: 1 });
    expect(await mine.waitFor("ready", { timeoutMs: 20 })).toEqual({ status: "timeout" });
    expect(await mine.countDown("ready")).toBe(0);
    expect(await Promise.all(waiting)).toEqual([{ status: "open" }, { status: "open" }, { status: "open" }]);
    expect(await theirs.waitFor("ready")).toEqual({ status: "open" });
    expect(await mine.countDown("ready")).toBe(0);
  });

  test("count an id once, however often it comes", async () => {
    const mine = latches();
    await mine.create("ready", { count: 2 });
    expect(await mine.countDown("ready", { id: "shard 1" })).toBe(1);
    expect(await mine.countDown("ready", { id: "shard 1" })).toBe(1);
    expect(await mine.countDown("ready", { id: "shard 2" })).toBe(0);
  });

  test("count several at once, and not below 0", async () => {
    const mine = latches();
    await mine.create("ready", { count: 10 });
    expect(await mine.countDown("ready", { by: 4 })).toBe(6);
    expect(await mine.countDown("ready", { by: 100 })).toBe(0);
    expect(await mine.inspect("ready")).toMatchObject({ count: 10, left: 0 });
  });

  test("are open after exactly so many counts of a hundred that come at once", async () => {
    const mine = latches();
    const theirs = await others();
    await mine.create("ready", { count: 100 });
    const waiting = theirs.waitFor("ready");
    const left = await Promise.all(
      Array.from({ length: 100 }, (_, n) => (n % 2 === 0 ? mine : theirs).countDown("ready", { id: `n${n}` })),
    );
    expect(left.sort((a, b) => a! - b!)).toEqual(Array.from({ length: 100 }, (_, n) => n));
    expect(await waiting).toEqual({ status: "open" });
  });

  test("that do not exist are said not to, and those that are deleted let nobody wait", async () => {
    const mine = latches();
    expect(await mine.countDown("none")).toBeNull();
    expect(await mine.inspect("none")).toBeNull();
    expect(await mine.waitFor("none")).toEqual({ status: "not-found" });
    await mine.create("ready", { count: 1 });
    const waiting = (await others()).waitFor("ready");
    while ((await listeners(backend.store, "latch:{ready}:news")) === 0) await turn();
    expect(await mine.delete("ready")).toBe(true);
    expect(await waiting).toEqual({ status: "not-found" });
    expect(await mine.delete("ready")).toBe(false);
    expect(await mine.create("ready", { count: 5 })).toBe(true);
  });

  test("end the waiting by its signal, and leave no subscription behind", async () => {
    const mine = latches();
    await mine.create("ready", { count: 1 });
    const giveUp = new AbortController();
    const waiting = mine.waitFor("ready", { signal: giveUp.signal });
    while ((await listeners(backend.store, "latch:{ready}:news")) === 0) await turn();
    giveUp.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    while ((await listeners(backend.store, "latch:{ready}:news")) > 0) await turn();
  });

  test("are found open by a poll when the message was lost", async () => {
    const mine = new Latches(backend.store, { pollMs: 20 });
    await mine.create("ready", { count: 1 });
    const waiting = mine.waitFor("ready");
    // As if a message had been lost: the number changes, and nobody says so.
    await backend.store.call("HSET", "latch:{ready}", "left", 0);
    expect(await waiting).toEqual({ status: "open" });
  });

  test("have a lifetime, and so has everything that they wrote", async () => {
    const mine = new Latches(backend.store, { ttlMs: 60_000 });
    await mine.create("ready", { count: 5 });
    await mine.countDown("ready");
    for (const key of ["latch:{ready}", "latch:{ready}:counted"]) {
      const left = Number(await backend.store.call("PTTL", key));
      expect(left > 0 && left <= 60_000, key).toBe(true);
    }
  });

  test("refuse what makes no sense before anything is written", async () => {
    const mine = latches();
    await expect(mine.create("x", { count: 0 })).rejects.toThrow(InputError);
    await expect(mine.create("", { count: 1 })).rejects.toThrow("name of a latch");
    await expect(mine.countDown("x", { by: 0 })).rejects.toThrow("by must be");
    await expect(mine.countDown("x", { id: "" })).rejects.toThrow("id must be");
    expect((await keysIn(backend.store)).filter((key) => key.startsWith("latch:"))).toEqual([]);
  });
});
