import { describe, expect, it } from "vitest";
import {
  formatDouble,
  formatFixed,
  formatG,
  isSpace,
  narrow,
  parseFloat64,
  parseFloatLoosely,
  parseInt64,
} from "./numbers.ts";

describe("parseInt64", () => {
  it.each([
    ["0", 0],
    ["7", 7],
    ["-1", -1],
    ["123456789012345", 123456789012345],
    ["9007199254740991", 9007199254740991],
    ["-9007199254740991", -9007199254740991],
    ["9007199254740992", 9007199254740992n],
    ["9007199254740993", 9007199254740993n],
    ["9999999999999999", 9999999999999999n],
    ["9223372036854775807", 9223372036854775807n],
    ["-9223372036854775808", -9223372036854775808n],
  ])("reads %s", (word, value) => {
    expect(parseInt64(word)).toBe(value);
  });

  it.each([
    "",
    "-",
    "+1",
    "-0",
    "00",
    "01",
    " 1",
    "1 ",
    "1.0",
    "1e3",
    "0x10",
    "1\0",
    "9223372036854775808",
    "-9223372036854775809",
    "18446744073709551616",
    "123456789012345678901",
    "12345678901234567x",
    "\xb2",
  ])("does not read %j", (word) => {
    expect(parseInt64(word)).toBeUndefined();
  });
});

describe("narrow", () => {
  it("keeps as bigint only what a double cannot hold", () => {
    expect(narrow(5n)).toBe(5);
    expect(narrow(-9007199254740991n)).toBe(-9007199254740991);
    expect(narrow(9007199254740992n)).toBe(9007199254740992n);
  });
});

describe("parseFloat64", () => {
  it.each([
    ["5", 5],
    ["+5", 5],
    ["-5.", -5],
    [".5", 0.5],
    ["5.25e2", 525],
    ["1E+5", 100000],
    ["00012", 12],
    ["-0", -0],
    ["1e-320", 1e-320],
    ["0e999999", 0],
    ["1.7976931348623157e308", Number.MAX_VALUE],
    ["inf", Infinity],
    ["+INF", Infinity],
    ["-infinity", -Infinity],
    ["0x10", 16],
    ["-0X1.8p1", -3],
    ["0x.8", 0.5],
    ["0x0p99", 0],
    ["0x1.fffffffffffff7p0", 1.9999999999999998],
    ["0x1.fffffffffffff8p0", 2],
    ["0x1p-1074", 5e-324],
    ["0x3p-1075", 1e-323],
    ["0xff", 255],
  ])("reads %s", (word, value) => {
    expect(parseFloat64(word)).toBe(value);
  });

  it.each([
    "",
    ".",
    "-",
    "+-5",
    " 1",
    "1 ",
    "\t1",
    "1\0",
    "1e",
    "1e+",
    "e5",
    "1_0",
    "1,5",
    "1d5",
    "0x",
    "0x.",
    "0x1p",
    "0x1g",
    "nan",
    "-nan",
    "nan(1)",
    "infin",
    "1e400",
    "-1e400",
    "1e-400",
    "0x1p5000",
    "0x1p-5000",
    "0x1p-1075",
  ])("does not read %j", (word) => {
    expect(parseFloat64(word)).toBeUndefined();
  });
});

describe("parseFloatLoosely", () => {
  it.each([
    ["", 0],
    [" \t1.5", 1.5],
    ["1e400", Infinity],
    ["-1e400", -Infinity],
    ["1e-400", 0],
    ["1\0x", 1],
    ["\0", 0],
    ["0x1p5000", Infinity],
  ])("reads %j", (word, value) => {
    expect(parseFloatLoosely(word)).toBe(value);
  });

  it.each([" ", "1 ", "x", "nan", "1e"])("does not read %j", (word) => {
    expect(parseFloatLoosely(word)).toBeUndefined();
  });
});

describe("isSpace", () => {
  it("knows the six spaces of C", () => {
    const spaces = Array.from({ length: 256 }, (_, code) => code).filter(isSpace);
    expect(spaces).toEqual([9, 10, 11, 12, 13, 32]);
  });
});

describe("formatDouble", () => {
  it.each([
    [0, "0"],
    [-0, "-0"],
    [3, "3"],
    [-3.5, "-3.5"],
    [0.1, "0.10000000000000001"],
    [1 / 3, "0.33333333333333331"],
    [1e15, "1000000000000000"],
    [Number.MAX_SAFE_INTEGER, "9007199254740991"],
    [-Number.MAX_SAFE_INTEGER, "-9007199254740991"],
    [2 ** 53 + 2, "9007199254740994"],
    [123456789012345680, "1.2345678901234568e+17"],
    [12345678901234568, "12345678901234568"],
    [1e17, "1e+17"],
    [1e21, "1e+21"],
    [1e100, "1e+100"],
    [0.0001, "0.0001"],
    [0.00001, "1.0000000000000001e-05"],
    [5e-324, "4.9406564584124654e-324"],
    [Number.MAX_VALUE, "1.7976931348623157e+308"],
    [Infinity, "inf"],
    [-Infinity, "-inf"],
    [Number.NaN, "nan"],
    // Exactly between two decimals of 17 digits: the even one.
    [1 + 2 ** -17, "1.0000076293945312"],
    [1 + 3 * 2 ** -17, "1.0000228881835938"],
    [-(1 + 2 ** -17), "-1.0000076293945312"],
  ])("prints %d as %s", (value, text) => {
    expect(formatDouble(value)).toBe(text);
  });
});

describe("formatG", () => {
  it.each([
    [0.5, 1, "0.5"],
    [2.5, 1, "2"],
    [3.5, 1, "4"],
    [12345650, 6, "1.23456e+07"],
    [12345750, 6, "1.23458e+07"],
    [99999.96, 6, "100000"],
    [99999.95, 6, "99999.9"],
    [999999.5, 6, "1e+06"],
    [0.00012345, 3, "0.000123"],
    [1234.5, 4, "1234"],
    [1235.5, 4, "1236"],
    [100, 6, "100"],
  ])("prints %d with %i digits as %s", (value, precision, text) => {
    expect(formatG(value, precision)).toBe(text);
  });
});

describe("formatFixed", () => {
  it.each([
    [2 ** -18, 17, "0.00000381469726562"],
    [3 * 2 ** -18, 17, "0.00001144409179688"],
    [0.03125, 4, "0.0312"],
    [166274.15156960033, 4, "166274.1516"],
    [-1e30, 6, "-1000000000000000019884624838656.000000"],
    [200, 6, "200.000000"],
    [Number.POSITIVE_INFINITY, 6, "inf"],
  ])("prints %d with %i digits behind the point as %s", (value, digits, text) => {
    expect(formatFixed(value, digits)).toBe(text);
  });
});
