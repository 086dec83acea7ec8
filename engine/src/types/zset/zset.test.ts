/** Sorted sets: the same behaviour in both encodings, then random operations against a naive sorted array. */
import { describe, expect, it } from "vitest";
import { ManualClock } from "../../core/clock.ts";
import { DEFAULT_LIMITS, type Limits } from "../collection.ts";
import { ADDED, type LexBound, type LexRange, UNCHANGED, UPDATED, ZsetValue } from "./index.ts";
import { encodeScore } from "./packed-entries.ts";

const SMALL: Limits = { ...DEFAULT_LIMITS, zsetMaxListpackEntries: 1_000_000, zsetMaxListpackValue: 1_000_000 };
const LARGE: Limits = { ...DEFAULT_LIMITS, zsetMaxListpackEntries: 0 };

type Pair = [string, number];

function make(pairs: readonly Pair[], limits: Limits): ZsetValue {
  const zset = new ZsetValue();
  for (const [member, score] of pairs) zset.set(member, score, limits);
  return zset;
}

function list(zset: ZsetValue, from = 0, to = zset.size, reverse = false): Pair[] {
  const pairs: Pair[] = [];
  zset.visit(from, to, reverse, (member, score) => {
    pairs.push([member, score]);
  });
  return pairs;
}

const word = (text: string, open = false): LexBound => ({ beyond: 0, word: text, open });
const LOWEST: LexBound = { beyond: -1, word: "", open: false };
const HIGHEST: LexBound = { beyond: 1, word: "", open: false };

describe.each([
  ["listpack", SMALL],
  ["skiplist", LARGE],
] as const)("a sorted set as %s", (encoding, limits) => {
  it("keeps members by score, then by bytes", () => {
    const zset = make(
      [
        ["b", 2],
        ["a", 2],
        ["\xff", 1],
        ["", 2],
        ["z", -1.5],
      ],
      limits,
    );
    expect(zset.encoding).toBe(encoding);
    expect(list(zset)).toEqual([
      ["z", -1.5],
      ["\xff", 1],
      ["", 2],
      ["a", 2],
      ["b", 2],
    ]);
    expect(list(zset, 0, 5, true)).toEqual(list(zset).reverse());
  });

  it("says what set did", () => {
    const zset = new ZsetValue();
    expect(zset.set("a", 1, limits)).toBe(ADDED);
    expect(zset.set("a", 1, limits)).toBe(UNCHANGED);
    expect(zset.set("a", 2, limits)).toBe(UPDATED);
    expect(zset.score("a")).toBe(2);
    expect(zset.size).toBe(1);
    expect(zset.delete("a")).toBe(true);
    expect(zset.delete("a")).toBe(false);
    expect(zset.size).toBe(0);
  });

  it("keeps every score exactly", () => {
    const scores = [
      0, 1, 199, 200, 8391, 8392, 32767, 32768, -1, -32768, -32769, 8388607, 8388608, -8388609, 2147483647,
    ];
    scores.push(
      2147483648,
      -2147483648,
      -2147483649,
      2 ** 47 - 1,
      2 ** 47,
      -(2 ** 47),
      -(2 ** 47) - 1,
      2 ** 53 + 2,
      1e300,
    );
    scores.push(0.5, -0.5, 3.14, 5e-324, Number.MAX_VALUE, Infinity, -Infinity, 1700000000123, 4294967295, 4294967296);
    const zset = make(
      scores.map((score, i) => [`m${i}`, score]),
      limits,
    );
    for (const [i, score] of scores.entries()) expect(zset.score(`m${i}`)).toBe(score);
    expect(list(zset).map(([, score]) => score)).toEqual([...scores].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0)));
  });

  it("finds ranks and intervals", () => {
    const zset = make(
      [
        ["a", 1],
        ["b", 2],
        ["c", 2],
        ["d", 3],
      ],
      limits,
    );
    expect(["a", "b", "c", "d", "e"].map((member) => zset.rank(member))).toEqual([0, 1, 2, 3, -1]);
    const interval = (min: number, max: number, minOpen = false, maxOpen = false) =>
      zset.scoreInterval({ min, max, minOpen, maxOpen });
    expect(interval(2, 2)).toEqual({ from: 1, to: 3 });
    expect(interval(1, 3, true, true)).toEqual({ from: 1, to: 3 });
    expect(interval(-Infinity, Infinity)).toEqual({ from: 0, to: 4 });
    expect(interval(2, 2, true)).toEqual({ from: 0, to: 0 });
    expect(interval(3, 1)).toEqual({ from: 0, to: 0 });
    expect(zset.at(2)).toEqual({ member: "c", score: 2 });
  });

  it("finds intervals of words where scores are equal", () => {
    const zset = make(
      ["a", "b", "c", "d", "e"].map((member) => [member, 0]),
      limits,
    );
    const interval = (min: LexBound, max: LexBound) => zset.lexInterval({ min, max });
    expect(interval(LOWEST, HIGHEST)).toEqual({ from: 0, to: 5 });
    expect(interval(word("b"), word("d"))).toEqual({ from: 1, to: 4 });
    expect(interval(word("b", true), word("d", true))).toEqual({ from: 2, to: 3 });
    expect(interval(word("bb"), HIGHEST)).toEqual({ from: 2, to: 5 });
    expect(interval(HIGHEST, LOWEST)).toEqual({ from: 0, to: 0 });
    expect(interval(word("d"), word("b"))).toEqual({ from: 0, to: 0 });
  });

  it("removes by rank", () => {
    const zset = make(
      ["a", "b", "c", "d", "e"].map((member, i) => [member, i]),
      limits,
    );
    expect(zset.deleteRanks(1, 3)).toBe(2);
    expect(list(zset)).toEqual([
      ["a", 0],
      ["d", 3],
      ["e", 4],
    ]);
    expect(zset.has("b")).toBe(false);
    expect(zset.deleteRanks(0, 3)).toBe(3);
    expect(zset.size).toBe(0);
  });

  it("copies deeply", () => {
    const zset = make(
      [
        ["a", 1],
        ["b", 2],
      ],
      limits,
    );
    const copy = zset.clone();
    zset.set("a", 5, limits);
    zset.delete("b");
    expect(list(copy)).toEqual([
      ["a", 1],
      ["b", 2],
    ]);
    expect(copy.encoding).toBe(encoding);
  });

  it("is built from entries in any order", () => {
    const zset = ZsetValue.from(["c", "a", "b", "z"], [Infinity, 1, 1, Infinity], limits);
    expect(list(zset)).toEqual([
      ["a", 1],
      ["b", 1],
      ["c", Infinity],
      ["z", Infinity],
    ]);
    expect(zset.encoding).toBe(encoding);
  });

  it("ends a walk where the visitor returns false", () => {
    const zset = make(
      ["a", "b", "c"].map((member, i) => [member, i]),
      limits,
    );
    for (const reverse of [false, true]) {
      const seen: string[] = [];
      zset.visit(0, 3, reverse, (member) => seen.push(member) < 2);
      expect(seen).toEqual(reverse ? ["c", "b"] : ["a", "b"]);
    }
  });

  it("is scanned completely", () => {
    const zset = make(
      Array.from({ length: 500 }, (_, i) => [`m${i}`, i]),
      limits,
    );
    const seen = new Map<string, number>();
    let cursor = 0;
    do cursor = zset.scan(cursor, 10, (member, score) => seen.set(member, score));
    while (cursor !== 0);
    expect(seen.size).toBe(500);
    expect(seen.get("m77")).toBe(77);
  });

  it("does as a sorted array does, over random operations", () => {
    const steps = encoding === "listpack" ? 30_000 : 100_000;
    const most = encoding === "listpack" ? 150 : 5_000;
    runAgainstModel(limits, steps, most, encoding === "listpack" ? 3 : 7);
  });
});

describe("widening", () => {
  it("comes with one member too many", () => {
    const zset = make(
      Array.from({ length: 128 }, (_, i) => [`m${i}`, i]),
      DEFAULT_LIMITS,
    );
    expect(zset.encoding).toBe("listpack");
    zset.set("m5", 1000, DEFAULT_LIMITS);
    expect(zset.encoding).toBe("listpack");
    zset.set("one more", 0.5, DEFAULT_LIMITS);
    expect(zset.encoding).toBe("skiplist");
    expect(zset.size).toBe(129);
    expect(zset.rank("one more")).toBe(1);
    expect(zset.rank("m5")).toBe(128);
  });

  it("comes with a member too long, and is not undone", () => {
    const zset = make([["a".repeat(64), 1]], DEFAULT_LIMITS);
    expect(zset.encoding).toBe("listpack");
    zset.set("b".repeat(65), 2, DEFAULT_LIMITS);
    expect(zset.encoding).toBe("skiplist");
    zset.delete("b".repeat(65));
    expect(zset.encoding).toBe("skiplist");
  });

  it("keeps the sign of zero only in the wide form, as Redis does", () => {
    expect(Object.is(make([["a", -0]], SMALL).score("a"), 0)).toBe(true);
    expect(Object.is(make([["a", -0]], LARGE).score("a"), -0)).toBe(true);
  });
});

describe("packed scores", () => {
  it("are short for small whole numbers", () => {
    expect([5, 1000, 10_000, 1_000_000, 2_000_000_000, 1.5, 3.14].map((score) => encodeScore(score).length)).toEqual([
      1, 2, 3, 4, 5, 5, 9,
    ]);
  });
});

describe("a large sorted set", () => {
  it("stays right while scores only grow, and while it is emptied from either end", () => {
    const zset = new ZsetValue();
    for (let i = 0; i < 20_000; i++) zset.set(`m${i}`, i, LARGE);
    expect(zset.at(12_345)).toEqual({ member: "m12345", score: 12_345 });
    for (let i = 0; i < 9_000; i++) {
      zset.deleteRanks(0, 1);
      zset.delete(zset.at(zset.size - 1).member);
    }
    expect(list(zset, 0, 1)).toEqual([["m9000", 9000]]);
    expect(zset.size).toBe(2_000);
    expect(zset.deleteRanks(1, 1_999)).toBe(1_998);
    expect(list(zset)).toEqual([
      ["m9000", 9000],
      ["m10999", 10_999],
    ]);
  });
});

/** A sorted array that does everything the slow way. */
class Model {
  readonly scores = new Map<string, number>();

  list(): Pair[] {
    return [...this.scores].sort(([m, s], [n, t]) => (s !== t ? (s < t ? -1 : 1) : m < n ? -1 : 1));
  }
}

function runAgainstModel(limits: Limits, steps: number, most: number, seed: number): void {
  const clock = new ManualClock(0, seed);
  const below = (n: number) => Math.floor(clock.random() * n);
  const model = new Model();
  const zset = new ZsetValue();
  let growing = true;
  for (let step = 0; step < steps; step++) {
    if (zset.size >= most) growing = false;
    if (zset.size < most / 20) growing = true;
    const member = `m${below(most * 2)}`;
    const score = below(3) === 0 ? below(10) : below(2) === 0 ? below(most) / 4 : below(2 * most) - most;
    const dice = below(100);
    if (dice < (growing ? 70 : 30)) {
      const old = model.scores.get(member);
      expect(zset.set(member, score, limits)).toBe(old === undefined ? ADDED : old === score ? UNCHANGED : UPDATED);
      model.scores.set(member, score);
    } else if (dice < 97) {
      expect(zset.delete(member)).toBe(model.scores.delete(member));
    } else if (dice === 97 && !growing) {
      const from = below(zset.size);
      const to = Math.min(zset.size, from + below(step % 5 === 0 ? zset.size : 20));
      for (const [gone] of model.list().slice(from, to)) model.scores.delete(gone);
      expect(zset.deleteRanks(from, to)).toBe(Math.max(0, to - from));
    }
    expect(zset.score(member)).toBe(model.scores.get(member));
    if (step % 500 === 0) compare(zset, model, below);
  }
  compare(zset, model, below);
}

function compare(zset: ZsetValue, model: Model, below: (n: number) => number): void {
  const expected = model.list();
  expect(zset.size).toBe(expected.length);
  expect(list(zset)).toEqual(expected);
  if (expected.length === 0) return;
  const from = below(expected.length);
  const to = from + below(expected.length - from);
  expect(list(zset, from, to, true)).toEqual(expected.slice(from, to).reverse());
  const at = below(expected.length);
  expect(zset.rank(expected[at]![0])).toBe(at);
  const min = below(expected.length) - 5;
  const max = min + below(50);
  const minOpen = below(2) === 0;
  const within = expected.filter(([, score]) => (minOpen ? score > min : score >= min) && score <= max);
  const interval = zset.scoreInterval({ min, max, minOpen, maxOpen: false });
  expect(list(zset, interval.from, interval.to)).toEqual(within);
}

describe("words of a large set with equal scores", () => {
  it("are found by binary search", () => {
    const zset = make(
      Array.from({ length: 3_000 }, (_, i) => [String(i).padStart(5, "0"), 7]),
      LARGE,
    );
    const range: LexRange = { min: word("00100", true), max: word("02000") };
    expect(zset.lexInterval(range)).toEqual({ from: 101, to: 2001 });
    expect(zset.lexInterval({ min: word("x"), max: HIGHEST })).toEqual({ from: 0, to: 0 });
  });
});
