import { describe, expect, it } from "vitest";
import { openBase, protectGlobals } from "../lib/base.ts";
import { Runtime } from "../runtime.ts";
import { LuaTable } from "../table.ts";
import { placeOf } from "../trace.ts";
import { all, LuaAbort, LuaError, type LuaValue } from "../value.ts";
import { compileChunk, compileLibrary, compileScript, translate } from "./index.ts";

function makeRuntime(): Runtime {
  const rt = new Runtime();
  openBase(rt);
  protectGlobals(rt);
  return rt;
}

const NONE = new LuaTable();

function run(source: string, rt = makeRuntime()): LuaValue[] {
  return [...all(compileScript(rt, source, "@user_script").run(NONE, NONE))];
}

function problem(source: string, rt = makeRuntime()): LuaError {
  try {
    run(source, rt);
  } catch (thrown) {
    return rt.asError(thrown);
  }
  throw new Error("nothing was raised");
}

describe("a compiled script", () => {
  it("gets new KEYS and ARGV with each run", () => {
    const rt = makeRuntime();
    for (const way of ["KEYS[1] .. ARGV[1]", '_G.KEYS[1] .. loadstring("return ARGV[1]")()']) {
      const script = compileScript(rt, `return ${way}`, "@user_script");
      for (const word of ["a", "b"]) {
        expect(script.run(LuaTable.fromArray([word]), LuaTable.fromArray(["!"]))).toBe(`${word}!`);
      }
    }
  });

  it("knows what an alias of a library function stands for, and only while it stands for it", () => {
    expect(run("local t, u = type, tostring; local v = t; return v(1), u(nil), t == type")).toEqual([
      "number",
      "nil",
      true,
    ]);
    expect(run("local t = type; t = tostring; return t(1)")).toEqual(["1"]);
    expect(run("local t = type; local function f() return t(1) end; t = tostring; return f()")).toEqual(["1"]);
    expect(run("local type = function() return 'mine' end; local t = type; return t(1)")).toEqual(["mine"]);
    expect(problem("local t = tonumber\nt('z', 99)").message).toBe(
      "user_script:2: bad argument #2 to 't' (base out of range)",
    );
  });

  it("makes functions once that need nothing of a run, and others with each run", () => {
    const rt = makeRuntime();
    const script = compileScript(
      rt,
      `local kind = type
      local function fact(n) if n < 2 then return 1 end return n * fact(n - 1) end
      local function both(n) return kind(n) .. fact(n) end
      local calls = 0
      local function count() calls = calls + 1 return calls end
      local function first() return KEYS[1] end
      count()
      return both(5) .. count() .. first()`,
      "@user_script",
    );
    for (const word of ["a", "b"]) expect(script.run(LuaTable.fromArray([word]), NONE)).toBe(`number1202${word}`);
    expect(run("local t = {} for i = 1, 2 do local function f() end t[i] = f end return t[1] == t[2]")).toEqual([
      false,
    ]);
    expect(run("local function f() return 1 end local g = f local function f() return 2 end return f() + g()")).toEqual(
      [3],
    );
  });

  it("says where it failed in a function that is made once", () => {
    const error = problem("local function inner(t)\n  return t.x.y\nend\n\nreturn (inner({}))");
    expect(error.message).toBe("user_script:2: attempt to index field 'x' (a nil value)");
    expect(placeOf(error)).toMatchObject({ line: 2 });
  });

  it("starts afresh with each run", () => {
    const script = compileScript(
      makeRuntime(),
      "local n = 0 local function f() n = n + 1 return n end return f()",
      "@s",
    );
    expect([script.run(NONE, NONE), script.run(NONE, NONE)]).toEqual([1, 1]);
  });

  it("says where it failed", () => {
    const error = problem("local t = {}\n\nreturn t.a.b");
    expect(error.value).toBe("user_script:3: attempt to index field 'a' (a nil value)");
    expect(placeOf(error)).toEqual({ source: "@user_script", line: 3 });
    expect(placeOf(problem("local x\nerror({})"))).toEqual({ source: "@user_script", line: 2 });
    expect(placeOf(problem("local function f() return 1 + f() end\nreturn f()"))).toEqual({
      source: "@user_script",
      line: 1,
    });
  });

  it("is refused with Lua's words if it is no Lua", () => {
    expect(problem("return return").value).toBe("user_script:1: unexpected symbol near 'return'");
  });

  it("hands back one value as itself, any other number as a list", () => {
    const rt = makeRuntime();
    const results = (source: string) => compileScript(rt, source, "@s").run(NONE, NONE);
    expect(results("return 1")).toBe(1);
    expect(results("return 1, 2")).toEqual([1, 2]);
    expect(results("")).toEqual([]);
    expect(results("return (function(...) return 5, ... end)()")).toBe(5);
  });
});

describe("a chunk", () => {
  it("has arguments, and no KEYS", () => {
    const rt = makeRuntime();
    expect(compileChunk(rt, "local a, b = ... return b, a", "@user_function")(1, 2)).toEqual([2, 1]);
    expect(() => compileChunk(rt, "return KEYS", "@user_function")()).toThrow(LuaError);
  });

  it("sees other globals in its main function than in the others, if it is a library", () => {
    const rt = new Runtime();
    openBase(rt);
    rt.globals.setStr("host", 1);
    protectGlobals(rt);
    const main = new LuaTable();
    main.setStr("host", 2);
    const library = compileLibrary(rt, "return host, type, (function() return host, type ~= nil end)()", "@l", main);
    expect(library()).toEqual([2, undefined, 1, true]);
  });
});

describe("the budget", () => {
  const endless = [
    "while true do end",
    "repeat until false",
    "for i = 1, 1/0 do end",
    "for i = 1, 2, 0 do end for i = 2, 1, 0 do end",
    "local function f() return f() end return f()",
    "local f, g function f() g() end function g() end while true do f() end",
    "while true do pcall(error) end",
    "while true do pcall(function() while true do end end) end",
    "while true do xpcall(function() while true do end end, function() end) end",
    "for k in function() return 1 end do end",
    "local co = coroutine.wrap(function() while true do coroutine.yield() end end) while true do co() end",
    "local t = setmetatable({}, {__index = function(t, k) return t[k + 1] end}) while true do pcall(function() return t[1] end) end",
    "return load(function() return ' ' end)",
    "local t = {} t[1] = 1 for k in pairs(t) do while true do end end",
  ];
  for (const source of endless) {
    it(`ends ${source}`, () => {
      const rt = makeRuntime();
      let ticks = 0;
      rt.onTick = () => {
        if (++ticks > 5) throw new LuaAbort("enough");
      };
      expect(() => run(source, rt)).toThrow(LuaAbort);
      rt.onTick = undefined;
      expect(run("return coroutine.running(), 1 + 1", rt)).toEqual([undefined, 2]);
    });
  }
});

describe("the sandbox", () => {
  it("lets no name or string of a script into the generated code", () => {
    const source = [
      "local constructor, __proto__, eval, process = 1, 2, 3, 4",
      'local s = "\\"; process.exit() //" .. [[`x` </script> \u2028]]',
      "local t = {prototype = constructor, ['a\\nb'] = eval} function t.hasOwnProperty() return arguments end",
      "return t.x.y, process",
    ].join("\n");
    const { text } = translate(makeRuntime(), source, "@user_script", { script: true, resumable: false });
    const outside = text.replace(/"(?:[^"\\]|\\x[\da-f]{2})*"/g, '""');
    expect(outside).not.toMatch(/constructor|__proto__|eval|process|prototype|hasOwnProperty|arguments|`|\/\//);
    expect(text).toMatch(/^[\n\x20-\x7e]*$/);
    expect(text).not.toContain("</");
  });

  const refused = [
    "_G.x = 1",
    "x = 1",
    "rawset(_G, 'x', 1)",
    "setmetatable(_G, {})",
    "setmetatable(_G, nil)",
    "getmetatable(_G).__index = nil",
    "coroutine.wrap = nil",
    "rawset(coroutine, 'wrap', nil)",
    "setmetatable(coroutine, {})",
    "KEYS = 1",
    "return process",
    "return globalThis",
    "return require",
    "return constructor",
    "return _G.constructor",
    "return _G.__proto__.x",
    "return ('x').constructor.constructor",
    "return (function() end).constructor",
    "return pcall.call",
    "return (function() end).apply",
    "return (5).toString",
    "return (true).valueOf",
    "return coroutine.create(function() end).status",
    "return ({}).array[1]",
    "return ({}).metatable.x",
    "return loadstring('return process')()",
    "return loadstring('\\27LuaQ')()",
    "return assert(loadstring(('('):rep(10)))",
    "local function f() return f() + 1 end return f()",
    "local t = {} t.__index = t setmetatable(t, t) return t.x",
    "local t = setmetatable({}, {__newindex = function(t, k, v) t[k] = v end}) t.x = 1",
  ];
  for (const source of refused) {
    it(`refuses ${source}`, () => {
      const rt = makeRuntime();
      expect(problem(source, rt)).toBeInstanceOf(LuaError);
      expect(run("return 1 + 1, type(coroutine.wrap), _G == _G._G", rt)).toEqual([2, "function", true]);
    });
  }

  it("treats JavaScript's names as any others", () => {
    expect(run("local t = {} return t.constructor, t.__proto__, t.toString, rawget(t, 'hasOwnProperty')")).toEqual(
      Array(4).fill(undefined),
    );
    expect(
      run("local t = {__proto__ = 1} t.constructor = 2 return t.__proto__, t.constructor, next(t) ~= nil"),
    ).toEqual([1, 2, true]);
    expect(
      run("local undefined, NaN, Infinity, rt, G, K0, L0, t0, va = 1, 2, 3, 4, 5, 6, 7, 8, 9 return undefined, rt, va"),
    ).toEqual([1, 4, 9]);
  });
});

describe("deep things", () => {
  it("stop with an error, not with the process", () => {
    const deep = (n: number, open: string, close: string) => `return ${open.repeat(n)}1${close.repeat(n)}`;
    expect(problem(deep(100_000, "(", ")")).value).toBe("user_script:1: chunk has too many syntax levels");
    expect(problem(deep(100_000, "{", "}")).value).toBe("user_script:1: chunk has too many syntax levels");
    expect(String(problem(`local a = 1 return ${"a+".repeat(100_000)}a`).value)).toContain("too complex");
    expect(
      run("local ok, e = pcall(function() local function f() return 1 + f() end return f() end) return e"),
    ).toEqual(["user_script:1: stack overflow"]);
    expect(
      run("local n = 0 local function f() n = n + 1 local ok = pcall(f) return ok end f() return n > 100"),
    ).toEqual([true]);
  });
});
