import { describe, expect, it } from "vitest";
import { run } from "./test-script.ts";

const format = (spec: string, value: string) => run(`return string.format("${spec}", ${value})`)[0];

describe("string.format", () => {
  it.each([
    ["%5.1f|", "3.14159", "  3.1|"],
    ["%.0f", "2.5", "2"],
    ["%.0f", "3.5", "4"],
    ["%.2e", "1.125", "1.12e+00"],
    ["%.1e", "25000", "2.5e+04"],
    ["%.0e", "25000", "2e+04"],
    ["%g", "1e20", "1e+20"],
    ["%g", "0.0001", "0.0001"],
    ["%#g", "1", "1.00000"],
    ["%.20f", "0.1", "0.10000000000000000555"],
    ["%.99f", "1e300", `${BigInt(1e300)}.${"0".repeat(99)}`],
    ["%.99g", "0.0001", "0.000100000000000000004792173602385929598312941379845142364501953125"],
    ["%d", "-2^63", "-9223372036854775808"],
    ["%d", "1e300", "-9223372036854775808"],
    ["%u", "-1", "18446744073709551615"],
    ["%x", "2^64 - 2048", "fffffffffffff800"],
    ["%#o", "8", "010"],
    ["%-8s|", "'ab'", "ab      |"],
    ["%s", "('x'):rep(3) .. '\\0y'", "xxx"],
    ["%q", "'a\\n\"\\0'", '"a\\\n\\"\\000"'],
  ])("%s of %s", (spec, value, text) => {
    expect(format(spec, value)).toBe(text);
  });

  it("never takes a width or precision of more than two digits", () => {
    expect(run('return pcall(string.format, "%999999999d", 1)')[1]).toBe(
      "invalid format (width or precision too long)",
    );
    expect(run('return pcall(string.format, "%.999f", 1)')[1]).toBe("invalid format (width or precision too long)");
  });
});
