import { describe, expect, it } from "vitest";
import { ManualClock } from "./clock.ts";
import { Dict } from "./dict.ts";
import { collectGarbage } from "./garbage.ts";
import { Table } from "./hash-table.ts";
import { hashWord, seedHashes } from "./word-hash.ts";

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

  it("leaves nothing in a table that was split or merged, since others may remember it", () => {
    const dict = new Dict<number>();
    const hash = hashWord("k0");
    const seen = new Set<Table<number>>();
    const fill = (change: (key: string, i: number) => void) => {
      for (let i = 1; i < 20_000; i++) {
        change(`k${i}`, i);
        seen.add(dict.tableOf(hash));
      }
    };
    dict.set("k0", 0);
    fill((key, i) => dict.set(key, i));
    fill((key) => dict.delete(key));
    expect(seen.size).toBeGreaterThan(4);
    for (const table of seen) {
      const places = Array.from({ length: table.words.places }, (_, place) => table.keyAt(place));
      expect(places.some((key) => key !== undefined)).toBe(table === dict.tableOf(hash));
    }
    expect(dict.get("k0")).toBe(0);
  });

  it.each([0, 1, 700, 5_000, 60_000])("has room for %i words in advance, whatever comes", (expected) => {
    for (const coming of [0, 10, expected, expected * 3]) {
      const dict = new Dict<number>();
      dict.reserve(expected);
      const model = new Map<string, number>();
      for (let i = 0; i < coming; i++) {
        dict.set(`word:${i}`, i);
        model.set(`word:${i}`, i);
      }
      // A few tables get more than their share. Two thousand words in a table are the fewest, four thousand the most.
      if (coming === expected) expect(dict.sizeBytes).toBeLessThan(expected * 50 + 2_000);
      expect(new Map(dict.entries())).toEqual(model);
      expect(scanAll(dict, 10).size).toBe(coming);
      for (const word of model.keys()) expect(dict.delete(word)).toBe(true);
      expect(dict.size).toBe(0);
    }
  });

  it("hands on the arrays of tables that are split or merged, with nothing left in them", () => {
    const below = random(11);
    const kinds = [{ stamps: true }, { values: "numbers", strings: true }, { values: "numbers" }] as const;
    // Two of each kind, so that the arrays of one may come to the other.
    const pairs = [...kinds, ...kinds].map((options) => ({ dict: new Dict<number>(options), model: new Map() }));
    const frozen: { dict: Dict<number>; model: Map<string, number> }[] = [];
    for (let i = 0; i < 240_000; i++) {
      const { dict, model } = pairs[i % pairs.length]!;
      const growing = i < 150_000;
      const key = growing || below(10) === 0 ? `key:${i}` : `key:${below(150_000)}`;
      if (growing) {
        dict.set(key, i);
        model.set(key, i);
      } else expect(dict.delete(key)).toBe(model.delete(key));
      // What is frozen keeps its arrays, while the dict that it was taken from splits and merges its tables.
      if (i % 50_000 === 20_000) frozen.push({ dict: dict.freeze(), model: new Map(model) });
    }
    for (const { dict, model } of [...pairs, ...frozen]) {
      expect(dict.size).toBe(model.size);
      expect(new Map(dict.entries())).toEqual(model);
    }
  });

  it("leaves little garbage outside the heap while it grows", () => {
    const dict = new Dict<number>({ stamps: true });
    collectGarbage();
    const before = process.memoryUsage().arrayBuffers;
    for (let i = 0; i < 120_000; i++) dict.set(`key:${i}`, i);
    const taken = process.memoryUsage().arrayBuffers - before;
    const inUse = 32 * 4_836 * (12 + 4 + 4);
    // Half as much again if each table that is split were left to V8.
    expect(taken).toBeLessThan(inUse * 1.25);
  });

  it("does not believe how many words are to come", () => {
    const dict = new Dict({ values: "none" });
    dict.reserve(Number.MAX_SAFE_INTEGER);
    expect(dict.sizeBytes).toBeLessThan(25_000_000);
  });

  it("counts the bytes of its tables", () => {
    const dict = new Dict<number>();
    const empty = dict.sizeBytes;
    for (let i = 0; i < 50_000; i++) dict.set(`k${i}`, i);
    let bytes = 0;
    const tables = new Set<Table<number>>();
    dict.forEach((_key, _value, _place, table) => void tables.add(table));
    for (const table of tables) bytes += table.sizeBytes;
    // 50 000 entries are 16 tables, and the directory has a place for each.
    expect(tables.size).toBe(16);
    expect(dict.sizeBytes).toBe(bytes + 15 * 8);
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

/** How many places were passed while these words were added, one for each word at least. */
function probesOf(words: Iterable<string>, dict = new Dict({ values: "none" })): number {
  let probes = 0;
  for (const word of words) {
    const hash = hashWord(word);
    const place = dict.addNew(word, hash, undefined);
    probes += place - dict.tableOf(hash).home(hash) + 1;
  }
  return probes;
}

const wordsFrom = (count: number, prefix = "member") => Array.from({ length: count }, (_, i) => `${prefix}:${i}`);

const inOrder = (dict: Dict) => [...dict.keys()];

const scanned = (dict: Dict) => {
  const words: string[] = [];
  let cursor = 0;
  do cursor = dict.scan(cursor, 10, (word) => words.push(word));
  while (cursor !== 0);
  return words;
};

describe("adding what came out of a dict, in its order", () => {
  const words = wordsFrom(60_000);
  const source = new Dict({ values: "none" });
  const usual = probesOf(words, source);

  it.each([
    ["as SMEMBERS gives them", () => inOrder(source)],
    ["backwards", () => inOrder(source).reverse()],
    ["as SSCAN gives them", () => scanned(source)],
    ["in the order of their hashes", () => words.toSorted((a, b) => hashWord(a) - hashWord(b))],
    ["only the first third", () => inOrder(source).slice(0, 20_000)],
    ["only each third", () => inOrder(source).filter((_, i) => i % 3 === 0)],
  ])("costs what adding them at random costs (%s)", (_how, order) => {
    const given = order();
    expect(probesOf(given) / given.length).toBeLessThan((usual / words.length) * 1.5);
  });

  it("does so in a dict that was emptied down to one word", () => {
    const dict = new Dict({ values: "none" });
    probesOf(words, dict);
    const order = inOrder(dict);
    for (const word of order.slice(1)) dict.delete(word);
    expect(probesOf(order.slice(1), dict) / order.length).toBeLessThan((usual / words.length) * 1.5);
  });
});

describe("words that an attacker has chosen", () => {
  // What an attacker can learn is an order. Here the very hashes are known, and a quarter of a million words were tried.
  const tried = wordsFrom(250_000, "try");
  const sorted = tried.toSorted((a, b) => hashWord(a) - hashWord(b));
  const usual = probesOf(tried.slice(0, 40_000)) / 40_000;

  it.each([
    ["40 000 with the lowest hashes", () => sorted.slice(0, 40_000)],
    ["1 000 with the lowest hashes", () => sorted.slice(0, 1000)],
    ["the 500 that are nearest to each of 80 points", () => sorted.filter((_, i) => i % 3125 < 500)],
    [
      "those whose lower bits are alike",
      () => tried.toSorted((a, b) => (hashWord(a) & 0xffff) - (hashWord(b) & 0xffff)).slice(0, 40_000),
    ],
  ])("cost a few times what others cost at most: %s", (_which, choose) => {
    const chosen = choose();
    expect(probesOf(chosen) / chosen.length).toBeLessThan(usual * 4);
  });

  it("cost a few times what others cost where the places of a whole dict were read first", () => {
    // The words that are in the first half of their tables stay, the rest goes, and more that belong there come.
    const dict = new Dict({ values: "none" });
    probesOf(tried.slice(0, 40_000), dict);
    const inFirstHalf = (word: string) => {
      const hash = hashWord(word);
      const table = dict.tableOf(hash);
      return table.home(hash) < table.capacity / 2;
    };
    for (const word of inOrder(dict)) if (!inFirstHalf(word)) dict.delete(word);
    const chosen = tried.slice(40_000).filter(inFirstHalf).slice(0, 40_000);
    const probes = probesOf(chosen, dict) / chosen.length;
    // A probe reads the next four bytes: a thousand of them take less than a cache miss or two.
    expect(probes).toBeLessThan(usual * 90);
    expect(probes).toBeLessThan(1000);
  });

  it("never take more places of the directory than there are words", () => {
    const alike = sorted.slice(0, 3000);
    const dict = new Dict({ values: "none" });
    probesOf(alike, dict);
    expect(dict.sizeBytes / alike.length).toBeLessThan(40);
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
    dict.set("k0", 0);
    const alone = dict.sizeBytes;
    for (let i = 0; i < 40_000; i++) dict.set(`k${i}`, i);
    for (let i = 1; i < 40_000; i++) dict.delete(`k${i}`);
    // The tables that were split have become one again.
    expect(dict.sizeBytes).toBe(alone);
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
      const table = new Table<number>(0, 0, { values: "any", stamps: false, strings: false });
      for (let i = 0; i < 1000; i++) table.add(`k${i}`, hash, i);
      for (let i = 0; i < 1000; i++) expect(table.values![table.find(`k${i}`, hash)]).toBe(i);
      expect(table.hashes.length).toBeLessThan(20_000);
      for (let i = 0; i < 1000; i++) table.removeAt(table.find(`k${i}`, hash));
      expect(table.used).toBe(0);
    }
  });

  it("lies another way once words come that were chosen by how it lies", () => {
    const table = new Table<number>(0, 1, { values: "none", stamps: false, strings: false });
    const chosen: string[] = [];
    for (let i = 0; chosen.length < 900; i++) {
      const word = `k${i}`;
      const hash = hashWord(word);
      if (hash < table.span && table.home(hash) < table.capacity / 10) chosen.push(word);
    }
    for (const word of chosen) table.add(word, hashWord(word), undefined);
    const distances = chosen.map((word) => table.find(word, hashWord(word)) - table.home(hashWord(word)));
    expect(Math.min(...distances)).toBe(0);
    // A tenth of the places for all of them: the last would be four hundred from their homes.
    expect(Math.max(...distances)).toBeLessThan(256);
  });
});
