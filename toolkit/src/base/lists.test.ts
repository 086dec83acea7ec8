import { describe, expect, it } from "vitest";
import { dropOldest, getOrMake, inPairs, isFilled, ListError, mapFilled, only, zipped } from "./lists.ts";

describe("lists that belong together", () => {
  it("pairs items by their places, undefined ones too", () => {
    expect(zipped([1, 2, 3], ["a", undefined, "c"])).toEqual([
      [1, "a"],
      [2, undefined],
      [3, "c"],
    ]);
    expect(zipped([], [])).toEqual([]);
  });

  it("refuses to pair lists of different lengths", () => {
    expect(() => zipped([1, 2], ["a"])).toThrow(ListError);
    expect(() => zipped([1], ["a", "b"])).toThrow("1 items were expected, not 2");
  });

  it("takes a flat list two by two, and refuses half a pair", () => {
    expect(inPairs(["a", "1", "b", "2"])).toEqual([
      ["a", "1"],
      ["b", "2"],
    ]);
    expect(() => inPairs(["a", "1", "b"])).toThrow(ListError);
  });

  it("gives the only item, whatever it is, and nothing else", () => {
    expect(only([null])).toBeNull();
    expect(only([undefined])).toBeUndefined();
    expect(() => only([])).toThrow(ListError);
    expect(() => only([1, 2])).toThrow("one item was expected, not 2");
  });

  it("drops what came first", () => {
    const map = new Map([
      ["a", 1],
      ["b", 2],
    ]);
    dropOldest(map);
    expect([...map.keys()]).toEqual(["b"]);
    const none = new Set<string>();
    dropOldest(none);
    expect(none.size).toBe(0);
  });

  it("makes what a map lacks, once", () => {
    const map = new Map<string, number[]>();
    getOrMake(map, "a", () => []).push(1);
    getOrMake(map, "a", () => []).push(2);
    expect([...map]).toEqual([["a", [1, 2]]]);
  });

  it("keeps that a list has a first item", () => {
    const list: readonly number[] = [1, 2];
    if (!isFilled(list)) throw new Error("it has");
    const [first, ...others] = mapFilled(list, String);
    expect([first, others]).toEqual(["1", ["2"]]);
    expect(isFilled([])).toBe(false);
  });
});
