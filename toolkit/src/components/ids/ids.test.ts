/** The contract of ids. */
import { describe, expect, test } from "vitest";
import { describeBackends } from "../../../tests/kit/index.ts";
import type { Clock } from "../../base/clock.ts";
import { systemClock } from "../../base/clock.ts";
import { Ids, madeAt, SequenceExhaustedError, ulid, uuid7 } from "./index.ts";

describeBackends("ids", (backend) => {
  test("are unique over all processes and grow in each", async () => {
    const makers = [new Ids(backend.store, { blockCount: 7 }), new Ids(await backend.open(), { blockCount: 13 })];
    const all = await Promise.all(
      makers.map(async (ids) => {
        const own: number[] = [];
        for (let round = 0; round < 20; round++) {
          own.push(...(await Promise.all(Array.from({ length: 10 }, () => ids.next("orders")))));
          own.push(...(await ids.nextMany("orders", 5)));
        }
        return own;
      }),
    );
    for (const own of all) expect(own).toEqual([...own].sort((a, b) => a - b));
    expect(new Set(all.flat()).size).toBe(600);
  });

  test("cost one script for a block", async () => {
    let scripts = 0;
    const store = await backend.open({
      hooks: {
        roundTrip: ({ name }) => {
          if (name === "ids.reserve") scripts += 1;
          return undefined;
        },
      },
    });
    const ids = new Ids(store, { blockCount: 100 });
    for (let n = 0; n < 400; n++) expect(await ids.next("orders")).toBe(n + 1);
    // Four that were used, and the next one, which was asked for in advance.
    expect(scripts).toBeLessThanOrEqual(5);
  });

  test("of different names count by themselves, without gaps in blocks of one", async () => {
    const ids = new Ids(backend.store, { blockCount: 1 });
    expect([await ids.next("a"), await ids.next("b"), await ids.next("a")]).toEqual([1, 1, 2]);
    expect(await ids.inspect("a")).toEqual({ last: 2 });
    expect(await ids.nextMany("a", 5)).toEqual([3, 4, 5, 6, 7]);
  });

  test("go on above what a sequence is raised to, and never below", async () => {
    const ids = new Ids(backend.store, { blockCount: 10 });
    expect(await ids.raise("orders", 5_000)).toBe(5_000);
    expect(await ids.next("orders")).toBe(5_001);
    expect(await ids.raise("orders", 10)).toBe(5_010);
    expect(await ids.next("orders")).toBe(5_011);
    expect(await ids.delete("orders")).toBe(true);
    expect(await ids.next("orders")).toBe(1);
  });

  test("end before numbers that JavaScript cannot tell apart", async () => {
    const ids = new Ids(backend.store, { blockCount: 1 });
    await ids.raise("orders", Number.MAX_SAFE_INTEGER - 1);
    expect(await ids.next("orders")).toBe(Number.MAX_SAFE_INTEGER);
    await expect(ids.next("orders")).rejects.toThrow(SequenceExhaustedError);
    await expect(ids.nextMany("orders", 10)).rejects.toMatchObject({ code: "EXHAUSTED" });
  });

  test("refuse what makes no sense", async () => {
    const ids = new Ids(backend.store);
    await expect(ids.next("")).rejects.toThrow("name of a sequence");
    await expect(ids.nextMany("a", 0)).rejects.toThrow("count must be");
    await expect(ids.raise("a", -1)).rejects.toThrow("to must be");
  });
});

describe("sortable ids", () => {
  const clockAt = (now: { ms: number }): Clock => ({ ...systemClock, wallMs: () => now.ms });
  const kinds = [
    ["ulid", ulid, /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/],
    ["uuid7", uuid7, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/],
  ] as const;

  test.each(kinds)("%s has its form, tells its time, and grows within a millisecond", (_name, make, form) => {
    const now = { ms: Date.UTC(2026, 10, 17) };
    const clock = clockAt(now);
    const made = Array.from({ length: 10_000 }, () => make(clock));
    for (const id of made) expect(id).toMatch(form);
    expect(made).toEqual([...made].sort());
    expect(new Set(made).size).toBe(made.length);
    expect(madeAt(made[0]!)).toEqual(new Date(now.ms));
  });

  test.each(kinds)("%s grows when the clock is put back", (_name, make) => {
    const now = { ms: Date.UTC(2026, 10, 17) };
    const clock = clockAt(now);
    const before = make(clock);
    now.ms -= 3_600_000;
    const after = make(clock);
    expect(after > before).toBe(true);
    expect(madeAt(after)).toEqual(madeAt(before));
    now.ms += 3_600_001;
    expect(madeAt(make(clock))).toEqual(new Date(now.ms));
  });

  test.each(kinds)("%s sorts over years, from the first millisecond to the last", (_name, make) => {
    const times = [0, 1, Date.UTC(2026, 0), Date.UTC(2500, 0), 2 ** 48 - 1];
    const made = times.map((ms) => make(clockAt({ ms })));
    expect(made).toEqual([...made].sort());
    expect(made.map((id) => madeAt(id).getTime())).toEqual(times);
  });

  test.each(kinds)("%s of two processes do not collide", (_name, make) => {
    const [one, other] = [clockAt({ ms: 1 }), clockAt({ ms: 1 })];
    const made = Array.from({ length: 1_000 }, (_, n) => make(n % 2 === 0 ? one : other));
    expect(new Set(made).size).toBe(made.length);
  });

  test("madeAt refuses other texts", () => {
    for (const id of ["", "x", "01ARZ3NDEKTSV4RRFFQ69G5FA", "8ZZZZZZZZZZZZZZZZZZZZZZZZZ", crypto.randomUUID()]) {
      expect(() => madeAt(id)).toThrow("neither a ULID nor a UUID");
    }
  });
});
