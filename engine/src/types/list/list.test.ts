import { describe, expect, test } from "vitest";
import { ListValue } from "./index.ts";

/** A small seeded generator, so that a failing run can be repeated. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const word = (n: number, length: number) => `${n}:`.padEnd(length, "x");

/** Lists that are held in each form, and across their borders. */
const shapes = [
  { shape: "one packed string", count: 20, length: 10 },
  { shape: "a chain of chunks with short words", count: 5000, length: 8 },
  { shape: "a chain of chunks with long words", count: 300, length: 500 },
  { shape: "plain chunks", count: 40, length: 3000 },
  { shape: "few words past the small form", count: 120, length: 20 },
];

describe.each(shapes)("a list held as $shape", ({ count, length }) => {
  const words = Array.from({ length: count }, (_, i) => word(i, length));
  const make = () => {
    const list = new ListValue();
    for (const w of words) list.pushTail(w);
    return list;
  };

  test("keeps its words in order", () => {
    const list = make();
    expect(list.size).toBe(count);
    expect(list.range(0, count - 1)).toEqual(words);
    expect([...list]).toEqual(words);
    expect(list.encoding).toBe("quicklist");
  });

  test("is the same whether pushed one by one, all at once, or at the head", () => {
    const atOnce = new ListValue();
    expect(atOnce.pushAll(words, 0, false)).toBe(count);
    const atHead = new ListValue();
    atHead.pushAll([...words].reverse(), 0, true);
    const oneByOne = new ListValue();
    for (let i = count - 1; i >= 0; i--) oneByOne.pushHead(words[i]!);
    for (const list of [atOnce, atHead, oneByOne]) expect([...list]).toEqual(words);
  });

  test("gives every word by index, from both ends", () => {
    const list = make();
    for (let i = 0; i < count; i += 7) {
      expect(list.at(i)).toBe(words[i]);
      expect(list.at(i - count)).toBe(words[i]);
    }
    expect(list.at(count)).toBeUndefined();
    expect(list.at(-count - 1)).toBeUndefined();
  });

  test("pops all of it from either end", () => {
    const fromHead = make();
    expect(Array.from(words, () => fromHead.popHead())).toEqual(words);
    expect(fromHead.popHead()).toBeUndefined();
    const fromTail = make();
    expect(Array.from(words, () => fromTail.popTail())).toEqual([...words].reverse());
    expect(fromTail.popTail()).toBeUndefined();
    expect(make().popAll(count + 5, true)).toEqual(words);
    expect(make().popAll(count, false)).toEqual([...words].reverse());
  });

  test("replaces a word by a longer and by a shorter one", () => {
    const list = make();
    const model = [...words];
    for (const [index, w] of [
      [0, "a"],
      [count - 1, "b".repeat(300)],
      [count >> 1, "c".repeat(5000)],
      [count >> 1, ""],
    ] as const) {
      expect(list.set(index, w)).toBe(true);
      model[index] = w;
      expect([...list]).toEqual(model);
    }
    expect(list.set(count, "d")).toBe(false);
  });

  test("does not share changes with its clone", () => {
    const list = make();
    const copy = list.clone();
    list.popHead();
    list.set(3, "changed");
    copy.pushTail("new");
    expect([...copy]).toEqual([...words, "new"]);
    expect([...list]).toEqual([words[1], words[2], words[3], "changed", ...words.slice(5)]);
  });

  test("takes about what it holds", () => {
    const list = make();
    const content = count * (length + 3);
    expect(list.sizeBytes).toBeGreaterThan(count * length);
    expect(list.sizeBytes).toBeLessThan(content * 1.2 + 4000);
    while (list.size > 0) list.popTail();
    expect(list.sizeBytes).toBeLessThan(100);
  });
});

/** What each operation means, on an array. */
class Model {
  words: string[] = [];

  remove(w: string, limit: number, fromTail: boolean): number {
    let removed = 0;
    for (let n = 0; n < this.words.length && removed < limit; ) {
      const i = fromTail ? this.words.length - 1 - n : n;
      if (this.words[i] === w) {
        this.words.splice(i, 1);
        removed++;
      } else n++;
    }
    return removed;
  }

  positions(w: string, fromTail: boolean, spare: number, limit: number, scan: number): number[] {
    const indexes = this.words.map((_, i) => i);
    if (fromTail) indexes.reverse();
    return indexes
      .slice(0, scan)
      .filter((i) => this.words[i] === w)
      .slice(spare, spare + limit);
  }
}

type Random = (below: number) => number;

function step(list: ListValue, model: Model, random: Random, lengths: readonly number[], growing: boolean): void {
  const { words } = model;
  const some = () => word(random(30), lengths[random(lengths.length)]!);
  const index = () => random(words.length + 1);
  const atHead = random(2) === 0;
  const kind = random(growing ? 14 : 18);
  if (kind < 4) {
    const w = some();
    if (atHead) list.pushHead(w);
    else list.pushTail(w);
    if (atHead) words.unshift(w);
    else words.push(w);
  } else if (kind < 6) {
    const many = Array.from({ length: random(60) + 1 }, some);
    list.pushAll(["skipped", ...many], 1, atHead);
    if (atHead) words.unshift(...many.reverse());
    else words.push(...many);
  } else if (kind === 6) {
    expect(atHead ? list.popHead() : list.popTail()).toBe(atHead ? words.shift() : words.pop());
  } else if (kind === 7) {
    const i = index();
    const w = some();
    expect(list.set(i, w)).toBe(i < words.length);
    if (i < words.length) words[i] = w;
  } else if (kind === 8) {
    const pivot = some();
    const w = some();
    const at = words.indexOf(pivot);
    expect(list.insert(pivot, w, atHead)).toBe(at >= 0);
    if (at >= 0) words.splice(atHead ? at + 1 : at, 0, w);
  } else if (kind === 9) {
    const w = some();
    const limit = random(3) === 0 ? Infinity : random(4) + 1;
    expect(list.remove(w, limit, atHead)).toBe(model.remove(w, limit, atHead));
  } else if (kind === 10) {
    const query = [some(), atHead, random(4), random(4) + 1, random(2) === 0 ? Infinity : random(200)] as const;
    expect(list.positions(...query)).toEqual(model.positions(...query));
  } else if (kind === 11) {
    const start = index();
    const stop = Math.min(start + random(300), words.length - 1);
    expect(list.range(start, stop)).toEqual(words.slice(start, stop + 1));
  } else if (kind === 12) {
    const i = index() - (words.length >> 1);
    expect(list.at(i)).toBe(words.at(i));
  } else if (kind === 13) {
    const start = Math.min(random(3), words.length);
    const stop = words.length - 1 - random(3);
    list.trim(start, stop);
    model.words = words.slice(start, Math.max(stop + 1, start));
  } else if (kind < 17) {
    const count = random(80);
    const popped = atHead ? words.splice(0, count) : words.splice(Math.max(0, words.length - count)).reverse();
    expect(list.popAll(count, atHead)).toEqual(popped);
  } else {
    const start = random(words.length + 1);
    const stop = Math.min(start + random(words.length + 1), words.length - 1);
    list.trim(start, stop);
    model.words = words.slice(start, Math.max(stop + 1, start));
  }
}

test.each([1_024, 1_025, 1_500, 2_000, 2_045, 3_000])(
  "a small list takes a word of %i chars in its middle",
  (length) => {
    const list = new ListValue();
    list.pushAll(["a", "b", "c"], 0, false);
    expect(list.insert("b", "x".repeat(length), false)).toBe(true);
    expect([...list]).toEqual(["a", "x".repeat(length), "b", "c"]);
    expect(list.remove("b", 1, true)).toBe(1);
    expect([...list]).toEqual(["a", "x".repeat(length), "c"]);
  },
);

describe.each([
  { what: "short words", lengths: [3, 5, 8] },
  { what: "words around the lengths that change an entry's header", lengths: [4, 251, 252, 253, 254, 300] },
  { what: "words around the length that gets a chunk of its own", lengths: [6, 1000, 1024, 1025, 5000, 70000] },
])("random operations with $what", ({ lengths }) => {
  test.each([1, 2, 3, 4, 5, 6])("agree with an array (seed %i)", (seed) => {
    const random = randomFrom(seed);
    const list = new ListValue();
    const model = new Model();
    for (let i = 0; i < 1500; i++) {
      step(list, model, random, lengths, i % 400 < 250);
      expect(list.size).toBe(model.words.length);
      expect(list.nodes().reduce((sum, count) => sum + count, 0)).toBe(list.size);
      if (i % 10 === 0) expect([...list]).toEqual(model.words);
    }
    expect([...list.clone()]).toEqual(model.words);
    expect(list.clone().nodes()).toEqual(list.nodes());
    list.trim(1, 0);
    expect(list.size).toBe(0);
  });
});
