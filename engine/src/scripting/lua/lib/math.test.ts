import { describe, expect, it } from "vitest";
import { makeRuntime, run } from "./test-script.ts";

describe("math", () => {
  it("gives Redis's random numbers, going on from script to script", () => {
    expect(run("math.randomseed(5) return math.random(100000)")).toEqual([52484]);
    const rt = makeRuntime();
    const [first] = run("math.randomseed(5) return math.random()", 1, rt);
    const [second] = run("return math.random()", 1, rt);
    expect(run("math.randomseed(5) return math.random(), math.random()")).toEqual([first, second]);
  });

  it("splits and joins numbers of every size", () => {
    const source =
      "for _, x in ipairs{1, -3.75, 2^-1074, 2^-1022, 1e308, 5e-310} do local m, e = math.frexp(x) if math.ldexp(m, e) ~= x or math.abs(m) < 0.5 or math.abs(m) >= 1 then return x end end";
    expect(run(source)).toEqual([]);
  });
});
