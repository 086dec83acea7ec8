/**
 * Scripts that try to leave their sandbox, to change what others see, or to take the process down. Each is refused or
 * stopped with an error, or does something harmless; the store goes on.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CommandError, Engine, type LocalClient } from "../../src/index.ts";

let engine: Engine;
let client: LocalClient;

beforeAll(async () => {
  engine = await Engine.open({ config: { "busy-reply-threshold": "500" } });
  engine.core.onError = (error, command) => {
    throw new Error(`a fault of ours in ${command}: ${error}`);
  };
  client = engine.connect();
});

afterAll(() => engine.close());

/** What a script answers: its value, or its error's text. */
async function run(script: string, ...args: string[]): Promise<unknown> {
  try {
    return await client.call("EVAL", script, 0, ...args);
  } catch (error) {
    if (error instanceof CommandError) return error.message;
    throw error;
  }
}

const NONEXISTENT = /nonexistent global variable/;
const READONLY = /readonly table|read-only/i;

describe("nothing of JavaScript can be reached", () => {
  test.each([
    ["a table's constructor", "return tostring(({}).constructor)", "nil"],
    ["a table's prototype", "local t = {} return tostring(t.__proto__)", "nil"],
    [
      "a prototype name as a field",
      "local t = {} t.__proto__ = 'x' t.constructor = 'y' return t.__proto__ .. t.constructor",
      "xy",
    ],
    [
      "toString, valueOf, hasOwnProperty",
      "local t = {} return tostring(t.toString) .. tostring(t.valueOf) .. tostring(t.hasOwnProperty)",
      "nilnilnil",
    ],
    ["a string's constructor", "return tostring(('').constructor)", "nil"],
    ["a string's length", "return tostring(('abc').length)", "nil"],
    ["KEYS' map", "return tostring(KEYS.map) .. tostring(ARGV.constructor)", "nilnil"],
    ["a prototype name as an argument", "return ({__proto__ = 1})[ARGV[1]]", 1],
  ])("%s", async (_what, script, answer) => {
    expect(await run(script, "__proto__")).toBe(answer);
  });

  test.each([
    ["a function's constructor", "return redis.call.constructor"],
    ["a function's call", "return redis.call.call"],
    ["a number's constructor", "return (5).constructor"],
    ["a coroutine's constructor", "return coroutine.create(function() end).constructor"],
    ["cjson.null's constructor", "return cjson.null.constructor"],
  ])("%s", async (_what, script) => {
    expect(await run(script)).toMatch(/attempt to index/);
  });

  test.each([
    "process",
    "globalThis",
    "this",
    "require",
    "eval",
    "Function",
    "module",
    "console",
    "Buffer",
    "rt",
    "G",
    "helpers",
  ])("the name %s", async (name) => {
    expect(await run(`return ${name}`)).toMatch(NONEXISTENT);
  });

  test("JavaScript's words are ordinary names", async () => {
    const names = [
      "arguments",
      "eval",
      "this",
      "class",
      "new",
      "await",
      "yield",
      "let",
      "const",
      "var",
      "delete",
      "undefined",
      "NaN",
      "__proto__",
      "constructor",
      "async",
      "static",
      "enum",
      "super",
    ];
    for (const name of names) expect(await run(`local ${name} = 7 return ${name}`)).toBe(7);
    for (const name of names)
      expect(await run(`local function ${name}(${name}) return ${name} end return ${name}(3)`)).toBe(3);
    for (const name of names)
      expect(await run(`local t = {${name} = 5} t.${name} = t.${name} + 1 return t.${name}`)).toBe(6);
  });

  test("text cannot break out of the generated code", async () => {
    const texts = [
      "*/ process.exit(1) /*",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: that is the attempt
      "`${process.exit(1)}`",
      "\\u0022); process.exit(1); (",
      "'); process.exit(1); ('",
      "\u2028process.exit(1)\u2029",
      "//\r\nprocess.exit(1)",
      "</script>",
      "\\",
      '\\"',
      "\0",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: that is the attempt
      "${1+1}",
    ];
    for (const text of texts) {
      const literal = `"${[...Buffer.from(text)].map((byte) => `\\${String(byte).padStart(3, "0")}`).join("")}"`;
      expect(await run(`return ${literal}`)).toBe(text);
      expect(await run(`local t = {} t[${literal}] = 1 return next(t)`)).toBe(text);
      expect(await run(`return ARGV[1]`, text)).toBe(text);
      expect(await run(`error(${literal}, 0)`)).toContain("script:");
      expect(await run(`--[[${text.replaceAll("]]", "")}]] return 1`)).toBe(1);
    }
  });
});

describe("what others see cannot be changed", () => {
  test.each([
    ["a global", "x = 1"],
    ["a global through _G", "_G.x = 1"],
    ["rawset on _G", "rawset(_G, 'x', 1)"],
    ["another metatable for _G", "setmetatable(_G, {})"],
    ["a function of redis", "redis.call = function() return 'mine' end"],
    ["a function of string", "string.upper = function() return 'mine' end"],
    ["rawset on string", "rawset(string, 'upper', 1)"],
    ["the strings' metatable", "getmetatable('').__index = {}"],
    ["a field in the strings' metatable", "getmetatable('').__add = function() return 1 end"],
    ["_G's metatable", "getmetatable(_G).__index = nil"],
    ["cjson", "cjson.decode = nil"],
    ["table.insert into math", "table.insert(math, 1)"],
    ["os", "os.clock = nil"],
  ])("%s", async (_what, script) => {
    expect(await run(script)).toMatch(/script:/);
    expect(await run("return tostring(x == nil)").then(String)).toMatch(NONEXISTENT);
    expect(await run("return string.upper('a') .. type(redis.call) .. type(cjson.decode)")).toBe("Afunctionfunction");
  });

  test("KEYS and ARGV of one run are gone in the next", async () => {
    await run("KEYS.secret = 'x' ARGV.secret = 'x'");
    expect(await run("return tostring(KEYS.secret) .. tostring(ARGV.secret)")).toBe("nilnil");
    expect(await run("local g = _G return tostring(g.KEYS.secret)")).toBe("nil");
  });

  test.each([
    "io",
    "debug",
    "package",
    "require",
    "dofile",
    "loadfile",
    "print",
    "getfenv",
    "setfenv",
    "newproxy",
    "module",
  ])("there is no %s", async (name) => {
    expect(await run(`return ${name}`)).toMatch(NONEXISTENT);
    expect(await run(`return tostring(rawget(_G, '${name}'))`)).toBe("nil");
  });

  test("os has nothing but a clock", async () => {
    expect(await run("local names = {} for name in pairs(os) do names[#names + 1] = name end return names")).toEqual([
      "clock",
    ]);
  });

  test("bytecode is refused", async () => {
    expect(await run("local f, e = loadstring('\\27Lua\\81\\0\\1\\4\\8\\4\\8\\0') return type(f)")).toBe("nil");
    expect(await run("local f = loadstring(string.dump(function() end)) return type(f)")).toBe("nil");
  });

  test("code that is loaded stays inside, too", async () => {
    expect(await run("return loadstring('x = 1')()")).toMatch(READONLY);
    expect(await run("return loadstring('return process')()")).toMatch(NONEXISTENT);
  });
});

describe("the process cannot be taken down", () => {
  const nest = (open: string, inside: string, close: string, times = 20_000) =>
    open.repeat(times) + inside + close.repeat(times);
  test.each([
    ["deep parentheses", `return ${nest("(", "1", ")")}`],
    ["deep tables", `return ${nest("{", "", "}")}`],
    ["deep functions", nest("return function() ", "", " end", 5000)],
    ["deep blocks", nest("do ", "", " end")],
    ["deep unary", `return ${"-".repeat(20_000).replaceAll("-", "- ")}1`],
    ["deep concatenation", `return ${"'a'..".repeat(50_000)}'a'`],
    ["deep indexing", `local t = {} return t${".a".repeat(50_000)}`],
    ["deep long brackets", `return [${"=".repeat(100_000)}[`],
    ["recursion", "local function f() return 1 + f() end return f()"],
    ["recursion through pcall", "local function f() return select(2, pcall(f)) end return tostring(f()):sub(1, 0)"],
    [
      "recursion through a metamethod",
      "local t = setmetatable({}, {}) getmetatable(t).__index = function(_, k) return t[k] end return t.x",
    ],
    ["a chain of __index that closes", "local t = {} setmetatable(t, {__index = t}) return t.x"],
    ["recursion through gsub", "local function f(s) return (s:gsub('.', f)) end return f('a')"],
    ["recursion through sort", "local function f() table.sort({3, 2, 1}, f) end f()"],
    ["recursion in coroutines", "local function f() return coroutine.wrap(f)() end return f()"],
    [
      "tostring of itself",
      "local t = setmetatable({}, {}) getmetatable(t).__tostring = function(v) return tostring(v) end return tostring(t)",
    ],
    ["unpack of everything", "return unpack({}, 0, 2^31 - 1)"],
    ["unpack of the far end", "return unpack({}, 2^31 - 10, 2^31 - 1)"],
    ["string.rep of everything", "return #string.rep('x', 2^31)"],
    ["string.rep beyond the longest string", "return #string.rep('abc', 2^29)"],
    ["string.format too wide", "return string.format('%99999d', 1)"],
    ["bit.tohex of everything", "return bit.tohex(1, -2^31)"],
    ["struct.pack too wide", "return struct.pack('i2147483648', 1)"],
    ["struct.pack of a long char", "return #struct.pack('c2147483647', 'x')"],
    ["cjson deep", "local t = {} local u = t for i = 1, 5000 do u[1] = {} u = u[1] end return cjson.encode(t)"],
    ["cjson decode deep", "return cjson.decode(string.rep('[', 100000))"],
    ["cjson of a cycle", "local t = {} t[1] = t return cjson.encode(t)"],
    ["cjson sparse", "return cjson.encode({[1000000000] = 1})"],
    ["cmsgpack of a cycle", "local t = {} t[1] = t return #cmsgpack.pack(t)"],
    ["cmsgpack decode deep", "return cmsgpack.unpack(string.rep('\\145', 100000))"],
    ["cmsgpack of an announced giant", "return cmsgpack.unpack('\\221\\255\\255\\255\\255')"],
    [
      "a pattern that backtracks",
      "return string.find(string.rep('a', 30), string.rep('a?', 30) .. string.rep('a', 30) .. 'b')",
    ],
    ["a pattern with many captures", "return string.find('a', string.rep('(a?)', 40))"],
    ["a pattern that nests", "return string.find(string.rep('a', 300000), string.rep('(', 40))"],
    ["returning a cycle", "local t = {} t[1] = t return t"],
    ["a reply that nests deep", "local t = {} for i = 1, 100000 do t = {t} end return t"],
    ["an error that is a table", "error({1, 2})"],
    ["an error whose text fails", "error(setmetatable({}, {__tostring = function() error('again') end}))"],
    ["a table with a far index", "local t = {} t[2^40] = 1 t[-2^40] = 2 t[0.5] = 3 return t[2^40]"],
    ["a table without end", "local t = {} local i = 0 while true do i = i + 1 t[i] = {i} end"],
    ["strings without end", "local t = {} while true do t[#t + 1] = string.rep('x', 1e7) .. #t end"],
    ["a string that doubles", "local s = 'x' while true do s = s .. s end"],
    ["sorting with a liar", "local t = {} for i = 1, 1000 do t[i] = i end table.sort(t, function() return true end)"],
  ])("%s", { timeout: 20_000 }, async (_what, script) => {
    await run(script);
    expect(await run("return 'alive'")).toBe("alive");
    expect(await client.call("PING")).toBe("PONG");
  });

  test.each(["YES", "SYNC", "yes", "sync"])("SCRIPT DEBUG %s is an error, and scripts run as before", async (mode) => {
    await expect(client.call("SCRIPT", "DEBUG", mode)).rejects.toThrow(/^ERR /);
    expect(await run("redis.call('SET', 'kept', '1') return redis.call('GET', 'kept')")).toBe("1");
    expect(await client.call("GET", "kept")).toBe("1");
    expect(await client.call("SCRIPT", "DEBUG", "NO")).toBe("OK");
  });

  test("a key with a prototype's name is a key", async () => {
    for (const name of ["__proto__", "constructor", "toString", "hasOwnProperty"]) {
      expect(
        await client.call(
          "EVAL",
          "redis.call('SET', KEYS[1], ARGV[1]) return redis.call('GET', KEYS[1])",
          1,
          name,
          name,
        ),
      ).toBe(name);
    }
  });
});
