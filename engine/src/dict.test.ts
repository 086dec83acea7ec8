import { describe, expect, it } from "vitest";
import { ManualClock } from "./clock.ts";
import { Dict, hashWord, seedHashes, Table } from "./dict.ts";

seedHashes(1);

const random = (seed: number) => {
  const clock = new ManualClock(0, seed);
  return (below: number) => Math.floor(clock.random() * below);
};

/** A whole scan; `between` runs after every page. */
function scanAll(dict: Dict<number>, count: number, between: () => void = () => {}): Map<string, number> {
  const seen = new Map<string, number>();
  let cursor = 0;
  do {
    cursor = dict.scan(cursor, count, (key) => seen.set(key, (seen.get(key) ?? 0) + 1));
    between();
  } while (cursor !== 0);
  return seen;
}

describe("dict", () => {
  it.each([1, 2, 3])("agrees with a Map over random changes (seed %i)", (seed) => {
    const below = random(seed);
    const dict = new Dict<number>({ stamps: true });
    const model = new Map<string, number>();
    for (let i = 0; i < 60_000; i++) {
      // The share of deletions swings, so that the tables grow and shrink.
      const key = `key:${below(3000)}`;
      if (below(100) < (Math.floor(i / 10_000) % 2 === 0 ? 25 : 75)) expect(dict.delete(key)).toBe(model.delete(key));
      else {
        expect(dict.set(key, i)).toBe(!model.has(key));
        model.set(key, i);
      }
      if (i % 10_000 === 0) {
        expect(dict.size).toBe(model.size);
        expect(new Map(dict.entries())).toEqual(model);
      }
    }
    for (let i = 0; i < 3000; i++) {
      expect(dict.get(`key:${i}`)).toBe(model.get(`key:${i}`));
      expect(dict.has(`key:${i}`)).toBe(model.has(`key:${i}`));
    }
    expect([...dict.keys()].sort()).toEqual([...model.keys()].sort());
  });

  it("keeps everything, values and stamps included, when it splits into many tables", () => {
    const dict = new Dict<number>({ stamps: true });
    for (let i = 0; i < 40_000; i++) {
      const key = `k${i}`;
      const hash = hashWord(key);
      const place = dict.addNew(key, hash, i);
      dict.tableOf(hash).stamps![place] = i;
    }
    expect(dict.size).toBe(40_000);
    for (let i = 0; i < 40_000; i++) {
      const hash = hashWord(`k${i}`);
      const table = dict.tableOf(hash);
      const place = table.find(`k${i}`, hash);
      expect(table.values![place]).toBe(i);
      expect(table.stamps![place]).toBe(i);
    }
    for (let i = 0; i < 40_000; i += 2) dict.delete(`k${i}`);
    expect(dict.size).toBe(20_000);
    expect([...dict.keys()].every((key) => Number(key.slice(1)) % 2 === 1)).toBe(true);
    dict.clear();
    expect(dict.size).toBe(0);
    expect([...dict.keys()]).toEqual([]);
  });

  it("holds words without values, and numbers", () => {
    const words = new Dict({ values: "none" });
    expect(words.add("a")).toBe(true);
    expect(words.add("a")).toBe(false);
    expect(words.has("a")).toBe(true);
    const numbers = new Dict<number>({ values: "numbers" });
    for (let i = 0; i < 100; i++) numbers.set(`n${i}`, i / 3);
    for (let i = 0; i < 100; i += 3) numbers.delete(`n${i}`);
    for (let i = 0; i < 100; i++) expect(numbers.get(`n${i}`)).toBe(i % 3 === 0 ? undefined : i / 3);
  });

  it("counts the bytes of its tables", () => {
    const dict = new Dict<number>();
    const empty = dict.sizeBytes;
    for (let i = 0; i < 50_000; i++) dict.set(`k${i}`, i);
    let bytes = 0;
    const tables = new Set<Table<number>>();
    dict.forEach((_key, _value, _place, table) => void tables.add(table));
    for (const table of tables) bytes += table.sizeBytes;
    expect(dict.sizeBytes).toBe(bytes);
    dict.clear();
    expect(dict.sizeBytes).toBe(empty);
  });
});

describe("scan", () => {
  it.each([0, 1, 10, 5000, 40_000])("returns every one of %i keys once", (size) => {
    const dict = new Dict<number>();
    for (let i = 0; i < size; i++) dict.set(`k${i}`, i);
    const seen = scanAll(dict, 10);
    expect(seen.size).toBe(size);
    expect([...seen.values()].every((times) => times === 1)).toBe(true);
  });

  it.each([
    ["grows", 100, 60_000],
    ["splits", 30_000, 40_000],
    ["shrinks", 60_000, 100],
  ])("returns what stays exactly once while the dict %s", (_how, from, to) => {
    const dict = new Dict<number>();
    for (let i = 0; i < from; i++) dict.set(`k${i}`, i);
    const stays = Math.min(from, to);
    let at = from;
    const step = Math.sign(to - from) * 300;
    const seen = scanAll(dict, 20, () => {
      for (let i = 0; i < Math.abs(step) && at !== to; i++) {
        if (step > 0) dict.set(`k${at}`, at++);
        else dict.delete(`k${--at}`);
      }
    });
    expect(at).toBe(to);
    for (let i = 0; i < stays; i++) expect(seen.get(`k${i}`)).toBe(1);
  });

  it("gives pages of about the size asked for, even when little is left", () => {
    const dict = new Dict<number>();
    for (let i = 0; i < 50_000; i++) dict.set(`k${i}`, i);
    let cursor = 0;
    do {
      let page = 0;
      cursor = dict.scan(cursor, 100, () => page++);
      expect(page).toBeLessThan(150);
    } while (cursor !== 0);
    for (let i = 1; i < 50_000; i++) dict.delete(`k${i}`);
    expect([...scanAll(dict, 10).keys()]).toEqual(["k0"]);
  });
});

describe("chance", () => {
  it.each([10, 1000, 33_000])("picks any of %i keys equally often", (size) => {
    const dict = new Dict<number>();
    for (let i = 0; i < size; i++) dict.set(`k${i}`, i);
    const clock = new ManualClock(0, 7);
    const groups = new Array(10).fill(0);
    const draws = 50_000;
    for (let i = 0; i < draws; i++) groups[Number(dict.randomKey(() => clock.random())!.slice(1)) % 10]++;
    // Chi-square with 9 degrees of freedom: above 33.7 once in ten thousand.
    const expected = draws / 10;
    const chi = groups.reduce((sum, n) => sum + (n - expected) ** 2 / expected, 0);
    expect(chi).toBeLessThan(33.7);
  });

  it("finds the only key that is left of many", () => {
    const dict = new Dict<number>();
    for (let i = 0; i < 40_000; i++) dict.set(`k${i}`, i);
    for (let i = 1; i < 40_000; i++) dict.delete(`k${i}`);
    const clock = new ManualClock();
    expect(dict.randomKey(() => clock.random())).toBe("k0");
    dict.delete("k0");
    expect(dict.randomKey(() => clock.random())).toBeUndefined();
  });

  it("samples entries that are there, no more than asked for", () => {
    const dict = new Dict<number>();
    const clock = new ManualClock();
    for (let i = 0; i < 100; i++) dict.set(`k${i}`, i);
    const sampled: string[] = [];
    dict.sample(
      16,
      () => clock.random(),
      (key) => sampled.push(key),
    );
    expect(sampled.length).toBe(16);
    expect(sampled.every((key) => dict.has(key))).toBe(true);
  });
});

describe("table", () => {
  it("takes any number of keys with one hash, at either end, in bounded memory", () => {
    for (const hash of [1, 0x7fffffff, 0xffffffff]) {
      const table = new Table<number>(0, 4294967296, "any", false);
      for (let i = 0; i < 1000; i++) table.add(`k${i}`, hash, i);
      for (let i = 0; i < 1000; i++) expect(table.values![table.find(`k${i}`, hash)]).toBe(i);
      expect(table.keys.length).toBeLessThan(20_000);
      for (let i = 0; i < 1000; i++) table.removeAt(table.find(`k${i}`, hash));
      expect(table.used).toBe(0);
    }
  });
});
