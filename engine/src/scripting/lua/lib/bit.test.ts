import { describe, expect, it } from "vitest";
import { run } from "./test-script.ts";

describe("bit", () => {
  it("works on 32 bits and answers signed", () => {
    expect(
      run("return bit.bnot(0), bit.lshift(1, 31), bit.rshift(-1, 28), bit.tobit(2^32 + 5), bit.rol(1, 33)"),
    ).toEqual([-1, -2147483648, 15, 5, 2]);
  });

  it("writes eight hexadecimal digits at most", () => {
    expect(run("return bit.tohex(255, 2), bit.tohex(255, -4), bit.tohex(1, -2^31), bit.tohex(1, 2^31 - 1)")).toEqual([
      "ff",
      "00FF",
      "00000001",
      "00000001",
    ]);
  });
});
