import { expect, test } from "vitest";
import { partialSort } from "./partial-sort.ts";

const byNumber = (a: number, b: number) => a - b;

test.each([0, 1, 2, 6, 7, 8, 39, 40, 41, 200, 1000])("the interval of %i items is as in a full sort", (count) => {
  const items = Array.from({ length: count }, (_, i) => (i * 7919) % 101);
  const full = [...items].sort(byNumber);
  for (const [from, to] of [
    [0, 3],
    [Math.floor(count / 2), Math.floor(count / 2) + 5],
    [count - 2, count],
    [0, count],
  ] as const) {
    const partly = [...items];
    partialSort(partly, byNumber, Math.max(0, from), to);
    expect(partly.slice(Math.max(0, from), to)).toEqual(full.slice(Math.max(0, from), to));
    expect([...partly].sort(byNumber)).toEqual(full);
  }
});
