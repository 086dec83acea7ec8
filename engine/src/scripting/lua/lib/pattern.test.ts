import { describe, expect, it } from "vitest";
import { LuaAbort } from "../value.ts";
import { run } from "./test-script.ts";

describe("patterns", () => {
  it("find, capture and replace", () => {
    expect(run('return ("key=value"):match("^(%w+)=(%w*)$")')).toEqual(["key", "value"]);
    expect(run('return ("  x  "):gsub("^%s*(.-)%s*$", "%1")')).toEqual(["x", 1]);
    expect(run('return ("f(a(b)c)d"):find("%b()")')).toEqual([2, 8]);
    expect(run('return ("THE (quick) fox"):find("%f[%a]%a+%f[%A]", 5)')).toEqual([6, 10]);
  });

  it("work on bytes, not on characters of a language", () => {
    expect(run('return ("\\195\\169"):gsub("%a", "x")')).toEqual(["\xc3\xa9", 0]);
    expect(run('return ("a\\0b"):find("%z")')).toEqual([2, 2]);
  });

  it("are malformed only where matching comes to the fault", () => {
    expect(run('return ("abc"):find("x%")')).toEqual([undefined]);
    expect(run('return pcall(string.find, "abc", "a%")')).toEqual([false, "malformed pattern (ends with '%')"]);
  });

  it.each([
    '("a"):rep(40):find(("a?"):rep(40) .. ("a"):rep(40) .. "b")',
    '("a"):rep(3000):find((".-"):rep(6) .. "b")',
    '("a"):rep(3000):match(("a*"):rep(8) .. "b")',
    '("a"):rep(200000):find(".-b")',
    '("("):rep(200000):gsub("%b()", "")',
  ])("that take for ever end at the script's limit: %s", (bomb) => {
    expect(() => run(`return ${bomb}`, 20)).toThrow(LuaAbort);
    expect(() => run(`return pcall(function() return ${bomb} end)`, 20)).toThrow(LuaAbort);
  });

  it("are refused when they are nested too deep", () => {
    const [ok, problem] = run('return pcall(string.find, ("a"):rep(50000), ("a?"):rep(50000) .. "b")', 1000);
    expect([ok, problem]).toEqual([false, "pattern too complex"]);
  });

  it("may be used again inside a replacement function", () => {
    const source =
      'return ("a1b2"):gsub("(%a)(%d)", function(a, d) return (("x" .. d):gsub("(%a)(%d)", "%2%1")) .. a end)';
    expect(run(source)).toEqual(["1xa2xb", 2]);
  });
});
