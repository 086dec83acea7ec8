import { describe, expect, it } from "vitest";
import { LuaAbort } from "../value.ts";
import { run } from "./test-script.ts";

describe("cmsgpack", () => {
  it("packs into the shortest form", () => {
    expect(run('return cmsgpack.pack(1, -1, 200, 0.5, 0.1, "a", {1}, {a = 1}, true)')).toEqual([
      "\x01\xff\xcc\xc8\xca\x3f\0\0\0\xcb\x3f\xb9\x99\x99\x99\x99\x99\x9a\xa1a\x91\x01\x81\xa1a\x01\xc3",
    ]);
  });

  it("ends circles after sixteen levels", () => {
    expect(run("local t = {} t[1] = t return cmsgpack.pack(t)")).toEqual([`${"\x91".repeat(16)}\xc0`]);
  });

  it("ends at the script's limit where tables are shared", () => {
    const bomb = "local t = {1} for i = 1, 15 do t = {t, t, t, t, t, t, t, t} end return cmsgpack.pack(t)";
    expect(() => run(bomb, 100)).toThrow(LuaAbort);
  });

  it.each([
    ["\\221\\255\\255\\255\\255", "Missing bytes in input."],
    ["\\223\\255\\255\\255\\255\\1", "Missing bytes in input."],
    ["\\219\\255\\255\\255\\255x", "Missing bytes in input."],
    ["\\193", "Bad data format in input."],
    ["\\129\\192\\1", "table index is nil"],
  ])("believes no length that the input does not have: %s", (bytes, message) => {
    expect(run(`return pcall(cmsgpack.unpack, "${bytes}")`)).toEqual([false, message]);
  });

  it("unpacks deep nesting up to the reference's limit", () => {
    expect(run('return pcall(cmsgpack.unpack, ("\\145"):rep(3999) .. "\\1")')[0]).toBe(true);
    expect(run('return pcall(cmsgpack.unpack, ("\\145"):rep(1000000))')[1]).toBe(
      "stack overflow (in function mp_decode_to_lua_array)",
    );
  });

  it("keeps the names of JavaScript's objects for ordinary keys", () => {
    const source =
      "local t = cmsgpack.unpack(cmsgpack.pack({__proto__ = 1, constructor = 2})) return t.__proto__, t.constructor, t.x";
    expect(run(source)).toEqual([1, 2, undefined]);
  });
});
