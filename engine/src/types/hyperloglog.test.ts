import { describe, expect, it } from "vitest";
import { Bytes } from "./bytes.ts";
import {
  addElement,
  countOf,
  describeSparse,
  isHll,
  isSparse,
  keepCount,
  keptCount,
  newHll,
  REGISTERS,
  raiseRegister,
  registersOf,
  widen,
} from "./hyperloglog.ts";

const SPARSE_MAX = 3000;

describe("HyperLogLog", () => {
  it("counts with an error of about one percent, sparse and dense", () => {
    for (const size of [0, 1, 10, 100, 1000, 10_000, 100_000]) {
      const bytes = Bytes.from(newHll());
      for (let i = 0; i < size; i++) addElement(bytes, `element:${i}`, SPARSE_MAX);
      expect(Math.abs(countOf(bytes)! - size)).toBeLessThanOrEqual(size * 0.03);
      expect(isSparse(bytes)).toBe(size <= 1000);
      expect(isHll(bytes)).toBe(true);
    }
  });

  it("has the same registers in both encodings", () => {
    const sparse = Bytes.from(newHll());
    const dense = Bytes.from(newHll());
    widen(dense);
    for (let i = 0; i < 600; i++) {
      expect(addElement(sparse, `${i % 500}`, SPARSE_MAX)).toBe(addElement(dense, `${i % 500}`, SPARSE_MAX));
    }
    expect(isSparse(sparse)).toBe(true);
    expect(registersOf(sparse)).toEqual(registersOf(dense));
    expect(countOf(sparse)).toBe(countOf(dense));
    widen(sparse);
    expect(sparse.text().slice(16)).toBe(dense.text().slice(16));
  });

  it("keeps every register apart, at every value", () => {
    const bytes = Bytes.from(newHll());
    const model = new Uint8Array(REGISTERS);
    for (let i = 0; i < 3000; i++) {
      const register = (i * 7919) % REGISTERS;
      const value = 1 + (i % 51);
      raiseRegister(bytes, register, value, SPARSE_MAX);
      model[register] = Math.max(model[register]!, value);
    }
    for (const register of [0, 1, 2, 3, REGISTERS - 2, REGISTERS - 1]) {
      raiseRegister(bytes, register, 51, SPARSE_MAX);
      model[register] = 51;
    }
    expect(registersOf(bytes)).toEqual(model);
  });

  it("joins neighbouring runs of one value", () => {
    const bytes = Bytes.from(newHll());
    for (const register of [5, 7, 6, 8, 9]) raiseRegister(bytes, register, 3, SPARSE_MAX);
    expect(describeSparse(bytes)).toBe("z:5 v:3,4 v:3,1 Z:16374");
    expect(raiseRegister(bytes, 6, 3, SPARSE_MAX)).toBe(0);
    raiseRegister(bytes, 6, 4, SPARSE_MAX);
    expect(describeSparse(bytes)).toBe("z:5 v:3,1 v:4,1 v:3,3 Z:16374");
  });

  it("keeps counts of any size in the header", () => {
    const bytes = Bytes.from(newHll());
    for (const count of [0, 1, 4294967295, 4294967296, Number.MAX_SAFE_INTEGER]) {
      keepCount(bytes, count);
      expect(keptCount(bytes)).toBe(count);
    }
    expect(keptCount(`HYLL\x01abc${"\xff".repeat(7)}\x7f`)).toBe(9223372036854775807n);
    expect(keptCount(`HYLL\x01abc${"\xff".repeat(7)}\xff`)).toBeUndefined();
  });

  it("survives any bytes behind a header", () => {
    const header = `${newHll().slice(0, 15)}\x80`;
    for (let i = 0; i < 2000; i++) {
      let tail = "";
      for (let k = 0; k < i % 40; k++) tail += String.fromCharCode((i * 131 + k * k * 17 + (i >> 3) * k) & 0xff);
      const bytes = Bytes.from(header + tail);
      expect(isHll(bytes)).toBe(true);
      countOf(bytes);
      describeSparse(bytes);
      for (let e = 0; e < 5; e++) addElement(bytes, `${i}:${e}`, 60);
      raiseRegister(bytes, i % REGISTERS, 40, 60);
    }
  });
});
