import { describe, expect, it } from "vitest";
import { compileScript } from "./compiler/index.ts";
import { openBase, protectGlobals } from "./lib/base.ts";
import { Runtime } from "./runtime.ts";
import { LuaTable } from "./table.ts";
import { all, type LuaValue } from "./value.ts";

function run(source: string): LuaValue[] {
  const rt = new Runtime();
  openBase(rt);
  protectGlobals(rt);
  return [...all(compileScript(rt, source, "@user_script").run(new LuaTable(), new LuaTable()))];
}

describe("coroutines", () => {
  it("hand values both ways", () => {
    const source = `
      local co = coroutine.wrap(function(a) local b = coroutine.yield(a + 1) return b * 2, coroutine.yield(b) end)
      return co(1), co(10), co("end")
    `;
    expect(run(source)).toEqual([2, 10, 20, "end"]);
  });

  it("suspend through any depth of Lua calls, methods and callable tables", () => {
    const source = `
      local out, obj = {}, {}
      function obj:step(n) if n > 0 then coroutine.yield(n) return self:step(n - 1) end return "done" end
      local callable = setmetatable({}, {__call = function(_, n) return obj:step(n) end})
      local co = coroutine.wrap(function() local r = callable(3) return r end)
      return co(), co(), co(), co()
    `;
    expect(run(source)).toEqual([3, 2, 1, "done"]);
  });

  it("cannot suspend across pcall or a metamethod", () => {
    const source = `
      local _, _, e = coroutine.resume(coroutine.create(function() return pcall(coroutine.yield) end))
      local t = setmetatable({}, {__index = function() return coroutine.yield() end})
      local _, f = coroutine.resume(coroutine.create(function() return t.x end))
      return e, f
    `;
    expect(run(source)).toEqual(Array(2).fill("attempt to yield across metamethod/C-call boundary"));
  });

  it("die of an error and say so", () => {
    const source = `
      local co = coroutine.create(function() error("x") end)
      local ok, e = coroutine.resume(co)
      return ok, e, coroutine.status(co), coroutine.resume(co)
    `;
    expect(run(source)).toEqual([false, "user_script:2: x", "dead", false, "cannot resume dead coroutine"]);
  });
});
