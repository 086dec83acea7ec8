import { describe, expect, it } from "vitest";
import { LuaAbort } from "../value.ts";
import { makeRuntime, run } from "./test-script.ts";

describe("cjson", () => {
  it("writes as the reference does", () => {
    expect(run('return cjson.encode({"a/b", "\\127\\1\\n", 1e15, 0.1, {}, cjson.null, false})')).toEqual([
      '["a\\/b","\\u007f\\u0001\\n",1e+15,0.1,{},null,false]',
    ]);
    expect(run("return cjson.encode({1, nil, 3})")).toEqual(["[1,null,3]"]);
  });

  it("keeps the names of JavaScript's objects for ordinary keys", () => {
    const text = '{"__proto__":{"x":1},"constructor":2,"hasOwnProperty":3}';
    const source = `local t = cjson.decode('${text}') return t.__proto__.x, t.constructor, t.hasOwnProperty, t.toString`;
    expect(run(source)).toEqual([1, 2, 3, undefined]);
  });

  it("makes UTF-8 of escapes", () => {
    expect(run('return cjson.decode([["\\u00e9\\u20ac\\ud83d\\ude00"]])')).toEqual([
      "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
    ]);
  });

  it("walks what it decoded in the same order every time", () => {
    const rt = makeRuntime();
    const source =
      'local t = cjson.decode(\'{"one":1,"two":2,"three":3,"four":4,"five":5}\') local k = {} for n in pairs(t) do k[#k + 1] = n end t.six = 6 for n in pairs(t) do k[#k + 1] = n end return table.concat(k, " ")';
    const first = run(source, 9, rt);
    for (let i = 0; i < 5; i++) expect(run(source, 9, rt)).toEqual(first);
  });

  it("does not share values between tables of the same keys", () => {
    const source =
      'local text = \'{"a":1,"b":[]}\' local ts = {} for i = 1, 5 do ts[i] = cjson.decode(text) ts[i].a = i ts[i].b[1] = i ts[i]["k" .. i] = i end return ts[2].a, ts[5].b[1], ts[3].k4, ts[4].k4';
    expect(run(source)).toEqual([2, 5, undefined, 4]);
  });

  it("bounds depth, and time where tables are shared", () => {
    expect(run('return pcall(cjson.decode, ("["):rep(100000))')[1]).toMatch(
      /^Found too many nested data structures \(1001\)/,
    );
    expect(run("local t = {} t[1] = t return pcall(cjson.encode, t)")[1]).toBe(
      "Cannot serialise, excessive nesting (1001)",
    );
    const bomb = "local t = {1} for i = 1, 60 do t = {t, t} end return cjson.encode(t)";
    expect(() => run(bomb, 100)).toThrow(LuaAbort);
  });
});
