/** The contract of barriers. Kills and pauses are in toolkit/tests/faults/coordination. */
import { expect, test } from "vitest";
import { describeBackends } from "../../../tests/kit/index.ts";
import { InputError } from "../../base/errors.ts";
import { type ArriveOutcome, Barriers } from "./index.ts";
import { barrierKeys } from "./keys.ts";
import { arrive, withdraw } from "./scripts.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const RELEASED = { status: "released", generation: 1 } as const;

describeBackends("barriers", (backend) => {
  const barriers = (parties: number): Barriers => new Barriers(backend.store, { parties });
  const others = async (parties: number): Promise<Barriers> => new Barriers(await backend.open(), { parties });
  const arrived = async (count: number): Promise<void> => {
    while ((await barriers(1).inspect("start")).arrived !== count) await turn();
  };

  test("let nobody go before all have come, then all; one of them is the last", async () => {
    const [mine, theirs] = [barriers(3), await others(3)];
    const outcomes: ArriveOutcome[] = [];
    const note = (outcome: ArriveOutcome): void => void outcomes.push(outcome);
    const waiting = [mine.arrive("start").then(note), theirs.arrive("start").then(note)];
    await arrived(2);
    expect(outcomes).toEqual([]);
    expect(await mine.arrive("start")).toEqual({ ...RELEASED, isLast: true });
    await Promise.all(waiting);
    expect(outcomes).toEqual([
      { ...RELEASED, isLast: false },
      { ...RELEASED, isLast: false },
    ]);
    expect(await mine.inspect("start")).toEqual({ generation: 1, parties: 3, arrived: 0, waiting: [] });
  });

  test("are used again and again: generations count, each released once", async () => {
    const PARTIES = 4;
    const ROUNDS = 10;
    const all = await Promise.all(
      Array.from({ length: PARTIES }, async (_, nth) => {
        const own = nth % 2 === 0 ? barriers(PARTIES) : await others(PARTIES);
        const seen: ArriveOutcome[] = [];
        for (let round = 0; round < ROUNDS; round++) seen.push(await own.arrive("start", { id: `p${nth}` }));
        return seen;
      }),
    );
    const generations = Array.from({ length: ROUNDS }, (_, n) => n + 1);
    for (const seen of all) {
      expect(seen.map((each) => each.status === "released" && each.generation)).toEqual(generations);
    }
    for (let round = 0; round < ROUNDS; round++) {
      const last = all.filter(
        (seen) => seen[round]!.status === "released" && (seen[round] as { isLast: boolean }).isLast,
      );
      expect(last).toHaveLength(1);
    }
  });

  test("of one party let it go at once", async () => {
    expect(await barriers(1).arrive("start")).toEqual({ ...RELEASED, isLast: true });
  });

  test("do not count who has left: by time, or by its signal", async () => {
    const mine = barriers(2);
    expect(await mine.arrive("start", { timeoutMs: 20 })).toEqual({ status: "timeout" });
    const giveUp = new AbortController();
    const waiting = mine.arrive("start", { signal: giveUp.signal });
    await arrived(1);
    giveUp.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    expect(await mine.inspect("start")).toMatchObject({ generation: 0, arrived: 0 });
    expect(await mine.arrive("start", { timeoutMs: 0 })).toEqual({ status: "timeout" });
  });

  test("a party that comes again under its id takes the place of its earlier self and counts once", async () => {
    const mine = barriers(2);
    const first = (await others(2)).arrive("start", { id: "shard 1" });
    await arrived(1);
    const second = mine.arrive("start", { id: "shard 1" });
    expect(await first).toEqual({ status: "replaced" });
    const { arrived: count, waiting } = await mine.inspect("start");
    expect([count, waiting]).toEqual([1, [{ id: "shard 1", validForMs: expect.any(Number) }]]);
    expect(await mine.arrive("start", { id: "shard 2" })).toEqual({ ...RELEASED, isLast: true });
    expect(await second).toEqual({ ...RELEASED, isLast: false });
  });

  test("are reset: waiters are sent away, later parties wait for the next generation", async () => {
    const mine = barriers(3);
    const waiting = [mine.arrive("start"), (await others(3)).arrive("start")];
    await arrived(2);
    expect(await mine.reset("start")).toBe(2);
    expect(await Promise.all(waiting)).toEqual([{ status: "reset" }, { status: "reset" }]);
    expect(await mine.reset("start")).toBe(0);
    expect(await mine.inspect("start")).toMatchObject({ generation: 0, arrived: 0 });
  });

  test("refuse a party that expects another number of parties", async () => {
    const mine = barriers(3);
    const ending = new AbortController();
    const waiting = mine.arrive("start", { signal: ending.signal }).catch(() => {});
    await arrived(1);
    await expect(barriers(2).arrive("start")).rejects.toThrow("others wait for 3");
    expect((await mine.inspect("start")).arrived).toBe(1);
    ending.abort();
    await waiting;
    // Nobody waits: the number may change.
    expect((await barriers(1).arrive("start")).status).toBe("released");
  });

  test("an arrival counts while its process lives: a dead one does not, after its lease", async () => {
    const keys = barrierKeys("barrier", "start");
    const dead = {
      ...keys,
      token: `${"x".repeat(22)}:`,
      parties: 2,
      leaseMs: 30,
      keepMs: 1_000,
      again: "",
      channel: "c",
    };
    expect((await backend.store.run(arrive, dead)).status).toBe("waiting");
    while ((await barriers(2).inspect("start")).arrived === 1) await turn();
    expect(await barriers(2).arrive("start", { timeoutMs: 20 })).toEqual({ status: "timeout" });
  });

  test("a waiter that lost its place comes again by itself", async () => {
    const mine = new Barriers(backend.store, { parties: 2, leaseMs: 200, pollMs: 50 });
    const waiting = mine.arrive("start");
    await arrived(1);
    await backend.store.call("DEL", "barrier:{start}:arrived");
    await arrived(1);
    expect((await mine.arrive("start")).status).toBe("released");
    expect((await waiting).status).toBe("released");
  });

  test("what is asked twice is answered alike, and who goes after the release learns of it", async () => {
    const keys = barrierKeys("barrier", "start");
    const asked = (letter: string) => ({
      ...keys,
      token: `${letter.repeat(22)}:`,
      parties: 2,
      leaseMs: 10_000,
      keepMs: 60_000,
      again: "",
      channel: "c",
    });
    const { store } = backend;
    expect((await store.run(arrive, asked("a"))).count).toBe(1);
    expect((await store.run(arrive, asked("a"))).count).toBe(1);
    expect((await store.run(arrive, asked("b"))).status).toBe("last");
    expect(await store.run(arrive, asked("b"))).toMatchObject({ status: "last", generation: 1 });
    expect(await store.run(arrive, asked("a"))).toMatchObject({ status: "released", generation: 1 });
    expect(await store.run(withdraw, { ...keys, token: asked("a").token })).toMatchObject({ status: "released" });
  });

  test("keep a bounded number of outcomes, and every key has a lifetime", async () => {
    const mine = new Barriers(backend.store, { parties: 2, keepMs: 60_000 });
    for (let round = 0; round < 25; round++)
      await Promise.all([mine.arrive("start"), mine.arrive("start", { id: "a" })]);
    expect(Number(await backend.store.call("ZCARD", "barrier:{start}:outcomes"))).toBeLessThanOrEqual(34);
    expect(await backend.store.call("HKEYS", "barrier:{start}")).not.toContain("=a");
    for (const key of ["barrier:{start}", "barrier:{start}:outcomes"]) {
      expect(Number(await backend.store.call("PTTL", key)), key).toBeGreaterThan(0);
    }
  });

  test("refuse what makes no sense before anything is written", async () => {
    expect(() => barriers(0)).toThrow(InputError);
    expect(() => new Barriers(backend.store, { parties: 2, leaseMs: 1_000, keepMs: 1_500 })).toThrow("half of keepMs");
    await expect(barriers(2).arrive("")).rejects.toThrow("name of a barrier");
    await expect(barriers(2).arrive("x", { id: "" })).rejects.toThrow("id must be");
  });
});
