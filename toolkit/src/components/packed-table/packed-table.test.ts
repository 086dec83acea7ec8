import { expect, test } from "vitest";
import { describeBackends } from "../../../tests/kit/index.ts";
import { InputError } from "../../base/errors.ts";
import { Registry } from "../../base/registry.ts";
import {
  type Condition,
  day,
  type Entry,
  fixedBytes,
  flags,
  float32,
  float64,
  type Group,
  int8,
  int16,
  int24,
  int32,
  PackedTable,
  type Query,
  type Schema,
  time,
  uint8,
  uint16,
  uint24,
  uint32,
  words,
} from "./index.ts";
import { tableKeys } from "./keys.ts";

const EVERYTHING = {
  a: uint8(),
  b: uint16(),
  c: uint24(),
  d: uint32(),
  e: int8(),
  f: int16(),
  g: int24(),
  h: int32(),
  i: float32(),
  j: float64(),
  k: words(["x"]),
  l: words([], { bits: 16 }),
  m: flags(["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]),
  n: fixedBytes(3),
  o: day(),
  p: time(),
} as const;

async function dumped<S extends Schema>(table: PackedTable<S>): Promise<Entry<S>[]> {
  const all: Entry<S>[] = [];
  for await (const block of table.entries()) all.push(...block);
  return all;
}

describeBackends("packed tables", (backend) => {
  test("a row of all types comes back as it was, at the ends of their ranges", async () => {
    const table = await PackedTable.open(backend.store, "all", EVERYTHING);
    expect(table.rowBytes).toBe(1 + 2 + 3 + 4 + 1 + 2 + 3 + 4 + 4 + 8 + 1 + 2 + 2 + 3 + 2 + 4);
    const low = {
      a: 0,
      b: 0,
      c: 0,
      d: 0,
      e: -128,
      f: -32_768,
      g: -8_388_608,
      h: -2_147_483_648,
      i: -1.5,
      j: -Number.MAX_VALUE,
      k: null,
      l: "日本",
      m: [],
      n: Buffer.from([0, 255, 10]),
      o: "1970-01-01",
      p: new Date(0),
    };
    const high = {
      a: 255,
      b: 65_535,
      c: 16_777_215,
      d: 4_294_967_295,
      e: 127,
      f: 32_767,
      g: 8_388_607,
      h: 2_147_483_647,
      i: 0.25,
      j: 0.1,
      k: "x",
      l: "y",
      m: ["one", "nine"],
      n: Buffer.from("abc"),
      o: "2149-06-06",
      p: new Date(4_294_967_295_000),
    };
    await table.setMany([
      [0, low],
      [70_000, high],
    ]);
    expect(await table.getMany([70_000, 1, 0])).toEqual([high, null, low]);
    expect(await table.count()).toBe(2);
    expect(await dumped(table)).toEqual([
      { id: 0, row: low },
      { id: 70_000, row: high },
    ]);
  });

  test("columns are written alone, and a row that is new is empty but for them", async () => {
    const table = await PackedTable.open(backend.store, "users", { country: words(), age: uint8(), score: int16() });
    await table.set(5, { age: 30 });
    expect(await table.get(5)).toEqual({ country: null, age: 30, score: 0 });
    await table.set(5, { country: "ITA", score: -2 });
    expect(await table.get(5)).toEqual({ country: "ITA", age: 30, score: -2 });
    await table.set(6, {});
    expect(await table.getMany([6, 7])).toEqual([{ country: null, age: 0, score: 0 }, null]);
    expect(await table.deleteMany([5, 6, 7, 100_000])).toBe(2);
    expect(await table.deleteMany([5])).toBe(0);
    await table.set(5, { age: 1 });
    expect(await table.get(5)).toEqual({ country: null, age: 1, score: 0 });
    expect(await table.count()).toBe(1);
    const named = async () => (await new Registry(backend.store).list("packed-table")).items.map(({ name }) => name);
    await expect.poll(named, { timeout: 20_000 }).toEqual(["users"]);
    await table.clear();
    expect(await named()).toEqual([]);
    const again = await PackedTable.open(backend.store, "users", { other: uint8() });
    expect([await again.count(), await again.get(5)]).toEqual([0, null]);
  });

  test("words get codes as they come up, which all processes share, and none is ever lost", async () => {
    const one = await PackedTable.open(backend.store, "w", { country: words(["DEU", "FRA"]) });
    const two = await PackedTable.open(await backend.open(), "w", { country: words(["DEU", "FRA"]) });
    await Promise.all([
      ...Array.from({ length: 40 }, (_, at) => one.set(at, { country: `C${at % 25}` })),
      ...Array.from({ length: 40 }, (_, at) => two.set(100 + at, { country: `C${at % 25}` })),
    ]);
    const known = await one.words("country");
    expect([known.get("DEU"), known.get("FRA"), known.size]).toEqual([1, 2, 27]);
    expect([...known.values()].sort((a, b) => a - b)).toEqual(Array.from({ length: 27 }, (_, at) => at + 1));
    // One process has words that the other has never seen.
    await one.set(500, { country: "NEW" });
    expect((await two.get(500))?.country).toBe("NEW");
    expect((await two.aggregate({ where: { country: "NEW" } })).count).toBe(1);
    const { groups, count } = await two.aggregate({ groupBy: ["country"] });
    expect([count, groups.length, groups.find(({ key }) => key[0] === "C3")?.count]).toEqual([81, 26, 4]);
    // A code without a word is named by its number, here and in sums.
    await backend.store.call("HDEL", tableKeys("packed", "w").dictionary("country"), "NEW");
    const three = await PackedTable.open(backend.store, "w", { country: words(["DEU", "FRA"]) });
    expect(await three.get(500)).toEqual({ country: `#${known.size + 1}` });
    expect((await three.aggregate({ groupBy: ["country"] })).groups.at(-1)).toMatchObject({ key: ["#28"], count: 1 });
    await expect(three.set(1, { country: "#28" })).rejects.toThrow("unknown code");
  });

  test("a dictionary that is full, and one that does not grow, refuse what they cannot hold", async () => {
    const table = await PackedTable.open(backend.store, "full", {
      word: words(),
      fixed: words(["yes", "no"], { grows: false }),
    });
    await table.setMany(Array.from({ length: 255 }, (_, at) => [at, { word: `w${at}` }] as const));
    await expect(table.set(1, { word: "one more" })).rejects.toThrow("none is left");
    await table.set(1, { fixed: "yes" });
    await expect(table.set(1, { fixed: "perhaps" })).rejects.toThrow('"perhaps" is none of the words');
    expect(await table.get(1)).toEqual({ word: "w1", fixed: "yes" });
    expect((await table.aggregate({ where: { word: "unheard" } })).count).toBe(0);
  });

  test("sums over all rows or over some", async () => {
    const table = await PackedTable.open(
      backend.store,
      "sums",
      { country: words(), age: uint8(), weight: float64(), roles: flags(["admin", "mail"]), since: day() },
      { rowsPerShard: 16 },
    );
    await table.setMany([
      [1, { country: "USA", age: 20, weight: 60.5, roles: ["admin", "mail"], since: "2026-01-01" }],
      [20, { country: "USA", age: 35, weight: 70, roles: ["mail"], since: "2026-02-01" }],
      [40, { country: "CAN", age: 38, weight: 80, since: "2026-03-01" }],
      [1_000, { age: 9 }],
    ]);
    expect(await table.aggregate()).toEqual({ count: 4, groups: [{ key: [], count: 4, measures: {} }] });
    expect(await table.aggregate({ groupBy: ["country"], measure: ["age", "weight"] })).toEqual({
      count: 4,
      groups: [
        {
          key: ["USA"],
          count: 2,
          measures: {
            age: { sum: 55, min: 20, max: 35, avg: 27.5 },
            weight: { sum: 130.5, min: 60.5, max: 70, avg: 65.25 },
          },
        },
        {
          key: [null],
          count: 1,
          measures: { age: { sum: 9, min: 9, max: 9, avg: 9 }, weight: { sum: 0, min: 0, max: 0, avg: 0 } },
        },
        {
          key: ["CAN"],
          count: 1,
          measures: { age: { sum: 38, min: 38, max: 38, avg: 38 }, weight: { sum: 80, min: 80, max: 80, avg: 80 } },
        },
      ],
    });
    const counts = async (query: Query<"country" | "age" | "weight" | "roles" | "since">) =>
      (await table.aggregate(query)).groups.map(({ key, count }) => [...key, count]);
    expect(await counts({ ids: [1, 40, 41, 1, 99_999], groupBy: ["country"] })).toEqual([
      ["USA", 1],
      ["CAN", 1],
    ]);
    expect(await counts({ groupBy: [{ column: "age", step: 10 }] })).toEqual([
      [30, 2],
      [0, 1],
      [20, 1],
    ]);
    expect(await counts({ groupBy: ["country", "since"], where: { age: { min: 30 } } })).toEqual([
      ["USA", "2026-02-01", 1],
      ["CAN", "2026-03-01", 1],
    ]);
    expect(await counts({ where: { roles: { has: "mail" }, since: { max: "2026-01-31" } } })).toEqual([[1]]);
    expect(await counts({ where: { country: ["CAN", null] } })).toEqual([[2]]);
    expect(await counts({ where: { age: [9, 38], weight: { min: 80, max: 80 } } })).toEqual([[1]]);
    expect(await table.aggregate({ where: { age: 77 } })).toEqual({ count: 0, groups: [] });
    await expect(table.aggregate({ groupBy: ["age"], maxGroups: 2 })).rejects.toThrow("more than 2 groups");
  });

  test("another schema is refused, and columns can be added at the end while the table is in use", async () => {
    const first = { country: words(), age: uint8() };
    const old = await PackedTable.open(backend.store, "s", first);
    await old.set(1, { country: "USA", age: 30 });
    const refused = (schema: Schema, options = {}) => PackedTable.open(backend.store, "s", schema, options);
    await expect(refused({ country: words(), age: uint16() })).rejects.toThrow('has "age" of uint8');
    await expect(refused({ age: uint8(), country: words() })).rejects.toThrow("column 1");
    await expect(refused(first, { rowsPerShard: 1_024 })).rejects.toThrow("65536 rows in a shard");
    const wider = { ...first, city: words([], { bits: 16 }), flags: flags(["a"]) };
    await expect(refused(wider)).rejects.toThrow('no "city", "flags": open it with addColumns');
    const [new1, new2] = await Promise.all([
      PackedTable.open(backend.store, "s", wider, { addColumns: true }),
      PackedTable.open(backend.store, "s", wider, { addColumns: true }),
    ]);
    expect(await new1.get(1)).toEqual({ country: "USA", age: 30, city: null, flags: [] });
    await new2.set(1, { city: "Boston" });
    await old.set(70_000, { country: "CAN" });
    await new1.set(70_001, { city: "Paris", flags: ["a"], age: 3 });
    expect(await old.get(70_001)).toEqual({ country: null, age: 3 });
    expect(await new1.get(1)).toEqual({ country: "USA", age: 30, city: "Boston", flags: [] });
    expect((await new1.aggregate({ groupBy: ["country", "city"], measure: ["age"] })).groups).toEqual([
      { key: [null, "Paris"], count: 1, measures: { age: { sum: 3, min: 3, max: 3, avg: 3 } } },
      { key: ["USA", "Boston"], count: 1, measures: { age: { sum: 30, min: 30, max: 30, avg: 30 } } },
      { key: ["CAN", null], count: 1, measures: { age: { sum: 0, min: 0, max: 0, avg: 0 } } },
    ]);
    expect((await dumped(new2)).map(({ id, row }) => [id, row.city])).toEqual([
      [1, "Boston"],
      [70_000, null],
      [70_001, "Paris"],
    ]);
    // The first columns alone are what a process has that was started before.
    expect(await (await refused(first)).get(1)).toEqual({ country: "USA", age: 30 });
  });

  test("what cannot be right is refused before anything is written", async () => {
    const { store } = backend;
    const table = await PackedTable.open(store, "bad", EVERYTHING);
    const bad: [string, unknown][] = [
      ["a", 256],
      ["e", -129],
      ["h", 0.5],
      ["i", 1e39],
      ["j", Number.NaN],
      ["k", 7],
      ["m", ["ten"]],
      ["m", "one"],
      ["n", Buffer.alloc(4)],
      ["o", "2026-02-30"],
      ["o", "15.11.2026"],
      ["p", new Date(Number.NaN)],
      ["z", 1],
    ];
    for (const [column, value] of bad) {
      await expect(
        table.setMany([
          [1, { a: 1 }],
          [2, { [column]: value } as never],
        ]),
        column,
      ).rejects.toThrow(InputError);
    }
    await expect(table.set(-1, {})).rejects.toThrow(InputError);
    await expect(table.get(2 ** 41)).rejects.toThrow(InputError);
    expect(await table.count()).toBe(0);
    const queries: Query<keyof typeof EVERYTHING>[] = [
      { groupBy: ["a", "b", "c"] },
      { groupBy: ["n"] },
      { groupBy: ["j"] },
      { groupBy: [{ column: "k", step: 2 }] },
      { measure: ["k"] },
      { where: { a: 300 } },
      { where: { a: {} as Condition } },
      { where: { k: { min: "x" } } },
      { where: { a: { has: "one" } } },
      { where: { zz: 1 } as never },
    ];
    for (const query of queries)
      await expect(table.aggregate(query), JSON.stringify(query)).rejects.toThrow(InputError);
    await expect(PackedTable.open(store, "x", {})).rejects.toThrow(InputError);
    await expect(PackedTable.open(store, "x", { a: fixedBytes(1_024) }, { rowsPerShard: 2 ** 20 })).rejects.toThrow(
      InputError,
    );
    await expect(PackedTable.open(store, "x", { a: uint8() }, { rowsPerShard: 12 })).rejects.toThrow("multiple of 8");
    await expect(PackedTable.open(store, "a}b", { a: uint8() })).rejects.toThrow(InputError);
    expect(() => words(["a", "a"])).toThrow(InputError);
  });

  test("on random rows and random questions, sums equal those of a naive computation", async () => {
    const seed = Number(process.env.SEED ?? 20_261);
    let state = seed;
    const random = (below: number): number => {
      state = (state * 48_271) % 2_147_483_647;
      return state % below;
    };
    const schema = {
      country: words(),
      state: words([], { bits: 16 }),
      age: uint8(),
      points: int24(),
      ratio: float64(),
      roles: flags(["a", "b", "c"]),
    };
    const table = await PackedTable.open(backend.store, "random", schema, { rowsPerShard: 1_024 });
    type Values = {
      country: string | null;
      state: string | null;
      age: number;
      points: number;
      ratio: number;
      roles: string[];
    };
    const rows = new Map<number, Values>();
    const made = (): Values => ({
      country: random(10) === 0 ? null : `c${random(30)}`,
      state: random(3) === 0 ? null : `s${random(300)}`,
      age: random(256),
      points: random(1_000_000) - 500_000,
      // Sums of halves are exact in whatever order.
      ratio: (random(2_000) - 1_000) / 2,
      roles: ["a", "b", "c"].filter(() => random(2) === 0),
    });
    for (let round = 0; round < 3; round++) {
      const some = Array.from({ length: 700 }, () => [random(5_000), made()] as const);
      await table.setMany(some);
      for (const [id, row] of some) rows.set(id, row);
      const removed = Array.from({ length: 50 }, () => random(5_000));
      await table.deleteMany([...removed]);
      for (const id of removed) rows.delete(id);
    }
    expect(new Map((await dumped(table)).map(({ id, row }) => [id, row]))).toEqual(rows);
    for (let round = 0; round < 40; round++) {
      const where: Query<keyof typeof schema>["where"] = {
        ...(random(3) ? {} : { country: random(2) ? `c${random(30)}` : [null, `c${random(30)}`, `c${random(30)}`] }),
        ...(random(3) ? {} : { age: { min: random(100), max: 100 + random(156) } }),
        ...(random(3) ? {} : { points: { min: random(200_000) - 100_000 } }),
        ...(random(4) ? {} : { roles: { has: ["a", "c"].slice(0, 1 + random(2)) } }),
      };
      const groupBy = (
        [[], ["country"], ["country", "age"], [{ column: "points", step: 70_000 }], ["roles", "state"]] as const
      )[random(5)]!;
      const ids = random(2) ? undefined : Array.from({ length: random(3_000) }, () => random(6_000));
      const query = { where, groupBy, measure: ["points", "ratio"], ...(ids === undefined ? {} : { ids }) } as const;
      const chosen = ids === undefined ? [...rows.values()] : [...new Set(ids)].flatMap((id) => rows.get(id) ?? []);
      expect(
        byKey((await table.aggregate(query)).groups),
        `seed ${seed}, ${JSON.stringify({ where, groupBy })}`,
      ).toEqual(byKey(naive(chosen, query as unknown as NaiveQuery)));
    }
  });
});

interface NaiveQuery {
  readonly where: Record<string, unknown>;
  readonly groupBy: readonly (string | { readonly column: string; readonly step: number })[];
  readonly measure: readonly string[];
}

function byKey(groups: readonly Group[]): Map<string, Group> {
  return new Map(groups.map((group) => [JSON.stringify(group.key), group]));
}

function naive(rows: readonly object[], { where, groupBy, measure }: NaiveQuery): Group[] {
  const matches = (value: unknown, condition: unknown): boolean => {
    if (Array.isArray(condition)) return condition.includes(value);
    if (typeof condition !== "object" || condition === null) return value === condition;
    const { min = -Infinity, max = Infinity, has } = condition as { min?: number; max?: number; has?: string[] };
    if (has !== undefined) return has.every((flag) => (value as string[]).includes(flag));
    return (value as number) >= min && (value as number) <= max;
  };
  const groups = new Map<string, { key: unknown[]; rows: Record<string, unknown>[] }>();
  for (const row of rows as Record<string, unknown>[]) {
    if (!Object.entries(where).every(([column, condition]) => matches(row[column], condition))) continue;
    const key = groupBy.map((each) => {
      if (typeof each === "string") return row[each];
      // A zero that is not negative, as it is written.
      return Math.floor((row[each.column] as number) / each.step) * each.step + 0;
    });
    const group = groups.get(JSON.stringify(key)) ?? { key, rows: [] };
    group.rows.push(row);
    groups.set(JSON.stringify(key), group);
  }
  return [...groups.values()].map(({ key, rows: members }) => {
    const measures = measure.map((column) => {
      const values = members.map((row) => row[column] as number);
      const sum = values.reduce((before, value) => before + value, 0);
      return [column, { sum, min: Math.min(...values), max: Math.max(...values), avg: sum / values.length }] as const;
    });
    return { key, count: members.length, measures: Object.fromEntries(measures) };
  });
}
