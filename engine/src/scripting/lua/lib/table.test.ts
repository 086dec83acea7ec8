import { describe, expect, it } from "vitest";
import { LuaAbort } from "../value.ts";
import { run } from "./test-script.ts";

describe("table", () => {
  it("asks a comparison function in the order of the reference", () => {
    const source =
      'local log = {} local t = {5, 2, 8, 1} table.sort(t, function(a, b) log[#log + 1] = a .. b return a < b end) return table.concat(t), table.concat(log, " ")';
    expect(run(source)).toEqual(["1258", "15 21 52 82 28 21 58"]);
  });

  it("finds out an inconsistent comparison function", () => {
    const source =
      "local t = {} for i = 1, 100 do t[i] = i end return pcall(table.sort, t, function() return true end)";
    expect(run(source)[1]).toMatch(/invalid order function for sorting|attempt to compare/);
  });

  it("moves elements for no longer than the script may run", () => {
    expect(() => run("table.insert({}, -2^31, 1)", 10)).toThrow(LuaAbort);
  });

  it("does not change what is read-only", () => {
    for (const call of ["table.insert(string, 1)", "table.sort(math)", "table.insert(_G, 1, 1)"]) {
      const [ok] = run(`return pcall(function() ${call} end)`);
      if (!call.includes("sort")) expect(ok).toBe(false);
    }
    expect(run("return #string, #math")).toEqual([0, 0]);
  });
});
