import { describe, expect, it } from "vitest";
import { numberToString, parseInteger, stringToNumber } from "./number.ts";

describe("numberToString", () => {
  it("writes %.14g", () => {
    const written: [number, string][] = [
      [0, "0"],
      [-0, "-0"],
      [1, "1"],
      [-12.5, "-12.5"],
      [10 / 3, "3.3333333333333"],
      [1e14, "1e+14"],
      [99999999999999, "99999999999999"],
      [1e15, "1e+15"],
      [2 ** 53, "9.007199254741e+15"],
      [1e-5, "1e-05"],
      [Infinity, "inf"],
      [-Infinity, "-inf"],
      [NaN, "-nan"],
    ];
    for (const [value, text] of written) expect(numberToString(value)).toBe(text);
  });
});

describe("stringToNumber", () => {
  it("reads what strtod reads", () => {
    const read: [string, number | undefined][] = [
      ["12", 12],
      ["  12\n", 12],
      ["+5", 5],
      ["-0x1F", -31],
      ["0x1p4", 16],
      ["1e3", 1000],
      [".5", 0.5],
      ["5.", 5],
      ["inf", Infinity],
      ["-Infinity", -Infinity],
      ["", undefined],
      [" ", undefined],
      ["1 2", undefined],
      ["1e", undefined],
      ["0x", undefined],
      ["abc", undefined],
      ["12\0x", 12],
      ["9007199254740991", 9007199254740991],
      ["9007199254740993", 9007199254740992],
      ["9999999999999999", 10000000000000000],
      ["0000000000000017", 17],
    ];
    for (const [text, value] of read) expect(stringToNumber(text)).toBe(value);
  });
});

describe("parseInteger", () => {
  it("reads what strtoul reads", () => {
    expect(parseInteger("ff", 16)).toBe(255);
    expect(parseInteger("0xff", 16)).toBe(255);
    expect(parseInteger(" zz ", 36)).toBe(1295);
    expect(parseInteger("-1", 16)).toBe(2 ** 64);
    expect(parseInteger("8", 8)).toBe(undefined);
    expect(parseInteger("", 16)).toBe(undefined);
    expect(parseInteger("1.5", 16)).toBe(undefined);
  });
});
