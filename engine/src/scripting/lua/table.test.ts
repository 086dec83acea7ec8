import { describe, expect, it } from "vitest";
import { LuaTable } from "./table.ts";
import { LuaError, type LuaValue } from "./value.ts";

const entriesOf = (table: LuaTable) => new Map(table.entries());

/** A generator of numbers that repeats. */
function chance(seed: number): (n: number) => number {
  let state = seed;
  return (n) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return Math.floor((state / 0x80000000) * n);
  };
}

describe("LuaTable", () => {
  it("keeps what a map keeps, whatever the order of changes", () => {
    for (let seed = 1; seed <= 50; seed++) {
      const below = chance(seed);
      const table = new LuaTable(below(5), below(5));
      const model = new Map<LuaValue, LuaValue>();
      const keys: (() => LuaValue)[] = [
        () => below(40),
        () => `k${below(40)}`,
        () => below(40) / 4,
        () => below(2) === 0,
      ];
      for (let i = 0; i < 400; i++) {
        const key = keys[below(4)]!();
        const value = below(3) === 0 ? undefined : i;
        table.set(key, value);
        if (value === undefined) model.delete(key);
        else model.set(key, value);
        expect(table.get(key)).toBe(value);
      }
      expect(entriesOf(table)).toEqual(new Map([...model].sort(() => 0)));
      for (const [key, value] of model) expect(table.get(key)).toBe(value);
      const border = table.length();
      expect(border === 0 || table.get(border) !== undefined).toBe(true);
      expect(table.get(border + 1)).toBe(undefined);
    }
  });

  it("finds the same key by every way of asking", () => {
    const table = new LuaTable();
    table.setStr("a", 1);
    table.setInt(7, 2);
    table.set(-0, 3);
    expect([table.get("a"), table.getStr("a"), table.get(7), table.getInt(7), table.getNumber(0)]).toEqual([
      1, 1, 2, 2, 3,
    ]);
    expect([table.get(undefined), table.get(NaN), table.get("b"), table.getInt(8)]).toEqual(Array(4).fill(undefined));
  });

  it("walks past keys that are removed on the way", () => {
    const table = new LuaTable();
    for (let i = 1; i <= 100; i++) {
      table.set(i, i);
      table.set(`k${i}`, i);
    }
    let seen = 0;
    for (let p = table.advance(0); p >= 0; p = table.advance(p)) {
      table.set(table.keyAt(p), undefined);
      seen++;
    }
    expect(seen).toBe(200);
    expect(table.isEmpty).toBe(true);
    expect(table.length()).toBe(0);
  });

  it("goes on by key with next", () => {
    const table = LuaTable.fromArray(["a", "b"]);
    table.setStr("x", "c");
    const values: LuaValue[] = [];
    for (let entry = table.next(undefined); entry !== null; entry = table.next(entry[0])) values.push(entry[1]);
    expect(values).toEqual(["a", "b", "c"]);
    expect(() => table.next("nosuch")).toThrow(LuaError);
  });

  it("takes holes in a list", () => {
    const table = LuaTable.fromArray(["a", undefined, "c", undefined]);
    expect([table.getInt(1), table.getInt(2), table.getInt(3), table.getInt(4)]).toEqual([
      "a",
      undefined,
      "c",
      undefined,
    ]);
    expect(entriesOf(table)).toEqual(
      new Map<LuaValue, LuaValue>([
        [1, "a"],
        [3, "c"],
      ]),
    );
  });

  it("refuses nil and NaN as keys, and any change when read-only", () => {
    const table = LuaTable.fromArray([1]);
    expect(() => table.set(undefined, 1)).toThrow(LuaError);
    expect(() => table.set(NaN, 1)).toThrow(LuaError);
    table.setStr("x", 1);
    table.readonly = true;
    for (const key of ["x", "y", 5, true]) expect(() => table.set(key, 2)).toThrow(LuaError);
    expect(table.get("x")).toBe(1);
  });

  it("has no keys but those that were set", () => {
    const table = new LuaTable();
    for (const name of ["__proto__", "constructor", "toString", "hasOwnProperty"]) {
      expect(table.get(name)).toBe(undefined);
      table.set(name, name);
      expect(table.get(name)).toBe(name);
    }
  });
});
