import { describe, expect, it } from "vitest";
import { addLongDouble, isInfinite, parseLongDouble } from "./long-double.ts";

const errors = { left: new Error("left"), right: new Error("right"), sum: new Error("sum") };

describe("addLongDouble", () => {
  it.each([
    ["0", "0", "0"],
    ["0.1", "0.2", "0.3"],
    ["10.5", "0.1", "10.6"],
    ["-1", "1", "0"],
    ["-0", "-0", "0"],
    ["3", "1.25", "4.25"],
    ["1.5", "-3", "-1.5"],
    ["5.0e3", "2.0e2", "5200"],
    ["1000.1", "0.2", "1000.29999999999999999"],
    ["3.5", "0.00000000000000001", "3.50000000000000001"],
    ["1e-20", "0", "0"],
    ["-1e-20", "0", "0"],
    ["0x10", "0x.8", "16.5"],
    ["9223372036854775807", "1", "9223372036854775808"],
    ["18446744073709551615", "1", "18446744073709551616"],
    ["1e21", "1", "1000000000000000000000"],
    ["7.999999999999", "0.000000000001", "8"],
    ["+5", "5.", "10"],
  ])("%s + %s = %s", (a, b, sum) => {
    expect(addLongDouble(a, b, errors)).toBe(sum);
  });

  it("prints large numbers in full", () => {
    expect(addLongDouble("1e40", "0", errors)).toBe("9999999999999999999783686092270256259072");
  });

  it.each(["", "x", "nan", " 1", "1 ", "1e", "1e5000", "1e-5000", "0x1p-16446", "1".repeat(5120)])(
    "does not take %j for a number",
    (word) => {
      expect(() => addLongDouble("0", word, errors)).toThrow(errors.right);
    },
  );

  it("complains about the first word first, in the caller's words", () => {
    const thrown = (a: string, b: string) => {
      try {
        return addLongDouble(a, b, errors);
      } catch (error) {
        return error;
      }
    };
    expect(thrown("x", "y")).toBe(errors.left);
    expect(thrown("1", "y")).toBe(errors.right);
    expect(thrown("1", "inf")).toBe(errors.sum);
    expect(thrown("inf", "-inf")).toBe(errors.sum);
    expect(thrown("1.1e4932", "1.1e4932")).toBe(errors.sum);
  });

  it("tells infinities", () => {
    expect(isInfinite(parseLongDouble("-inf")!)).toBe(true);
    expect(isInfinite(parseLongDouble("1e4932")!)).toBe(false);
  });
});
