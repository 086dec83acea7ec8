import { describe, expect, it } from "vitest";
import { run } from "./test-script.ts";

describe("string", () => {
  it("counts positions from either end", () => {
    expect(run('return ("hello"):sub(-3, -2), ("hello"):sub(0), ("hello"):sub(4, 2), ("hello"):byte(-1)')).toEqual([
      "ll",
      "hello",
      "",
      111,
    ]);
  });

  it("changes the case of ASCII letters only", () => {
    const all = Array.from({ length: 256 }, (_, i) => String.fromCharCode(i)).join("");
    const ascii = (from: RegExp, change: (c: string) => string) => all.replace(from, change);
    const source =
      "local t = {} for i = 0, 255 do t[i + 1] = string.char(i) end t = table.concat(t) return t:upper(), t:lower()";
    expect(run(source)).toEqual([ascii(/[a-z]/g, (c) => c.toUpperCase()), ascii(/[A-Z]/g, (c) => c.toLowerCase())]);
  });

  it.each([
    'string.rep("x", 2^31 - 1)',
    'string.rep(("x"):rep(1000000), 1000000)',
    '(function() local t = {} local s = ("x"):rep(2^27) for i = 1, 8 do t[i] = s end return table.concat(t) end)()',
    '(function() local s = ("x"):rep(2^27) return s .. s .. s .. s .. s end)()',
  ])("refuses what would not fit into memory: %s", (source) => {
    expect(run(`return pcall(function() return ${source} end)`)).toEqual([false, "not enough memory"]);
  });

  it("refuses more values than a call may hand back", () => {
    expect(run('return pcall(string.byte, ("x"):rep(10000), 1, -1)')).toEqual([
      false,
      "stack overflow (string slice too long)",
    ]);
  });

  it("has no bytecode to give away", () => {
    expect(run("return loadstring(string.dump(function() end)) == nil")).toEqual([true]);
    expect(run("return pcall(string.dump, string.dump)")).toEqual([false, "unable to dump given function"]);
  });

  it("tells a missing argument from nil", () => {
    expect(run("return pcall(function() return string.rep() end)")[1]).toBe(
      "user_script:1: bad argument #1 to 'rep' (string expected, got no value)",
    );
    expect(run("return pcall(function() return string.rep(nil) end)")[1]).toBe(
      "user_script:1: bad argument #1 to 'rep' (string expected, got nil)",
    );
    expect(run('return pcall(function() return ("x"):rep({}) end)')[1]).toBe(
      "user_script:1: bad argument #1 to 'rep' (number expected, got table)",
    );
  });
});
