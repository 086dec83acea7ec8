import { describe, expect, it } from "vitest";
import { ManualClock } from "../../../core/clock.ts";
import { exact } from "./exact.ts";

describe("exact functions", () => {
  it("round powers of ten to the nearest number", () => {
    for (let n = -300; n <= 300; n++) expect(exact.pow(10, n)).toBe(Number(`1e${n}`));
  });

  it("give exact powers where there are any", () => {
    for (let x = -20; x <= 20; x++) {
      for (let y = 0; y <= 12; y++) expect(exact.pow(x, y)).toBe(Number(BigInt(x) ** BigInt(y)));
    }
    expect([exact.pow(2, -1074), exact.pow(2, 1023), exact.pow(4, 0.5), exact.pow(-8, 3)]).toEqual([
      2 ** -1074,
      2 ** 1023,
      2,
      -512,
    ]);
  });

  it("keep C's special cases", () => {
    expect([
      exact.pow(1, NaN),
      exact.pow(-1, Infinity),
      exact.pow(0, 0),
      exact.pow(0, -1),
      exact.pow(-8, 1 / 3),
    ]).toEqual([1, 1, 1, Infinity, NaN]);
    expect([exact.exp(-Infinity), exact.exp(710), exact.log(0), exact.log(-1), exact.log(1)]).toEqual([
      0,
      Infinity,
      -Infinity,
      NaN,
      0,
    ]);
    expect(Object.is(exact.sin(-0), -0) && Object.is(exact.atan2(-0, 1), -0)).toBe(true);
  });

  it("stay within a unit in the last place of V8's own", () => {
    const clock = new ManualClock(0, 5);
    const near = (a: number, b: number) => expect(Math.abs(a - b)).toBeLessThanOrEqual(2 ** -51 * Math.abs(b));
    for (let i = 0; i < 2000; i++) {
      const x = clock.random() * 20 - 10;
      const y = clock.random() * 20 - 10;
      near(exact.exp(x * 70), Math.exp(x * 70));
      near(exact.log(Math.abs(x) * 10 ** Math.trunc(y * 30)), Math.log(Math.abs(x) * 10 ** Math.trunc(y * 30)));
      near(exact.atan2(x, y), Math.atan2(x, y));
      near(exact.tan(x), Math.tan(x));
      near(exact.acos(x / 10), Math.acos(x / 10));
      near(exact.pow(Math.abs(x), y), Math.abs(x) ** y);
    }
  });
});
