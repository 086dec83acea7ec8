/**
 * Scripts that take all the memory they can get, one for each way of getting it. Each must end with an error while the
 * server goes on: see script-memory.test.ts.
 */
export interface Bomb {
  readonly name: string;
  readonly script: string;
  /** Commands to run before. */
  readonly before?: readonly (readonly string[])[];
}

/** Keeps what an expression gives, for ever. */
const keep = (expression: string, before = "") => `${before} local t = {} for i = 1, 1e9 do t[i] = ${expression} end`;

/** The longest string that can be made, as a rope: nothing of it is there until somebody reads it. */
const ROPE = "local s = 'x' for i = 1, 28 do s = s .. s end";
/** A string of a megabyte. */
const LARGE = "local s = string.rep('abcdefghij', 1e5)";

/** Ways to read a string `r`, or to make something of it, that need memory in proportion to it. */
const READERS: readonly (readonly [name: string, expression: string])[] = [
  ["upper", "r:upper()"],
  ["lower, with letters that are not ASCII", "(r .. '\\233'):lower()"],
  ["reverse", "r:reverse()"],
  ["byte", "r:byte(1)"],
  ["find", "r:find('y', 1, true)"],
  ["match", "r:match('y')"],
  ["gsub", "(r:gsub('.', 'yy'))"],
  ["gsub with captures", "(r:gsub('(.)', '%1%1%1'))"],
  ["gsub with a function", "(r:gsub('.', function(c) return c .. c end))"],
  ["gsub with a table", "(r:gsub('.', { x = 'yyyyyyyyyyyyyyyyyyyy', a = 'yyyyyyyyyyyyyyyyyyyyyyy' }))"],
  ["format", "string.format('%s%s', r, i):upper()"],
  ["format %q", "string.format('%q', (r:gsub('.', '\\0')))"],
  ["a long format", "pcall(string.format, (r:gsub('.', '%%%%d')))"],
  ["a long pattern", "pcall(string.find, 'x', (r:gsub('..', '[a]')))"],
  ["a comparison", "r < s .. (i + 1)"],
  ["an equality", "r == (s .. (i + 1))"],
  ["arithmetic", "pcall(function() return r + 1 end)"],
  ["tonumber", "tonumber(r)"],
  ["an index", "({ [r] = i })[r]"],
  ["sha1hex", "redis.sha1hex(r)"],
  ["a command's argument", "redis.pcall('echo', r)"],
  ["an error", "select(2, pcall(error, r)):upper()"],
  ["error_reply", "redis.error_reply(r)"],
  ["cjson.encode", "cjson.encode({ r })"],
  ["cjson.encode with escapes", "cjson.encode((r:gsub('.', '\\0')))"],
  ["cjson.decode", "cjson.decode('[' .. r:gsub('.', '[],') .. '1]')"],
  ["cjson.decode of a string with escapes", "cjson.decode('[\"' .. r:gsub('.', '\\\\u00e4') .. '\"]')"],
  ["cmsgpack.pack", "cmsgpack.pack(r, r):upper()"],
  ["cmsgpack.unpack", "cmsgpack.unpack_limit('\\221\\0\\15\\0\\0' .. r:gsub('.', '\\145\\1'), 1, 0)"],
  ["struct.pack", "struct.pack('c0c0', r, r):upper()"],
  ["struct.unpack", "struct.unpack('c1000000', r)"],
  ["struct.pack of a long format", "struct.pack((r:gsub('.', 'x')))"],
  ["table.concat", "table.concat({ r, r, i, r }):upper()"],
  ["loadstring", "loadstring('return {' .. r:gsub('..', '{},') .. '}')"],
];

/** Reads a string, and keeps it and what came of it, for ever. */
const reading = (expression: string, before: string) =>
  `${before} local t = {} for i = 1, 1e9 do local r = s .. i t[i] = { r, ${expression} } end`;

export const BOMBS: readonly Bomb[] = [
  {
    name: "the one of the report",
    script: 'local t={} for i=1,1e9 do t[i]=(string.rep("x",1000000)..i):upper() end',
  },
  ...READERS.map(([name, expression]) => ({ name: `${name}, of a rope`, script: reading(expression, ROPE) })),
  ...READERS.map(([name, expression]) => ({ name: `${name}, of large strings`, script: reading(expression, LARGE) })),
  { name: "numbers in a table", script: keep("i + 0.5") },
  { name: "numbers as keys", script: "local t = {} for i = 1, 1e9 do t[i + 0.5] = i end" },
  { name: "strings as keys", script: "local t = {} for i = 1, 1e9 do t['k' .. i] = i end" },
  { name: "numbers in a table from its end", script: "local t = {} for i = 1e8, 1, -1 do t[i] = i end" },
  { name: "tables", script: keep("{}") },
  { name: "tables with elements", script: keep("{ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 }") },
  { name: "tables with fields", script: keep("{ a = i, b = i, c = i, d = i }") },
  { name: "nested tables", script: "local t = {} while true do t = { t } end" },
  { name: "closures", script: keep("function() return i end") },
  { name: "coroutines", script: keep("coroutine.wrap(function() coroutine.yield(i) end)") },
  {
    name: "coroutines that have begun",
    script: keep(
      "(function() local c = coroutine.create(function() coroutine.yield(i) end) coroutine.resume(c) return c end)()",
    ),
  },
  { name: "short strings", script: keep("'a string of some length ' .. i") },
  { name: "strings of a kilobyte", script: keep("string.rep('x', 1000) .. i") },
  { name: "strings of a kilobyte in one piece", script: keep("(string.rep('x', 1000) .. i):upper()") },
  { name: "much in each round", script: keep(`{ ${"(string.rep('x', 1000) .. i):upper(), ".repeat(2000)} }`) },
  { name: "unpack", script: keep("{ unpack(a) }", "local a = {} for i = 1, 7999 do a[i] = i end") },
  { name: "byte of many", script: keep("{ s:byte(1, 7900) }", "local s = string.rep('x', 8000)") },
  {
    name: "varargs",
    script: keep(
      "f(unpack(a))",
      "local function f(...) return { ... } end local a = {} for i = 1, 7999 do a[i] = i end",
    ),
  },
  { name: "gmatch", script: `${LARGE} local t = {} while true do for w in s:gmatch('.') do t[#t + 1] = { w } end end` },
  { name: "insert", script: "local t = {} while true do table.insert(t, {}) end" },
  {
    name: "recursion",
    script: "local function f(n) local s = string.rep('x', 1e5):upper() return f(n + 1) .. s end return f(1)",
  },
  { name: "a reply that nests", script: "local t = {} for i = 1, 1e8 do t[i] = { i } end return t" },
  {
    name: "a reply of one string many times",
    script: `${LARGE} local t = {} for i = 1, 1e6 do t[i] = s .. i end return t`,
  },
  {
    name: "GET",
    before: [["SETRANGE", "big", "10000000", "x"]],
    script: keep("redis.call('get', 'big')"),
  },
  {
    name: "LRANGE",
    before: [["EVAL", "for i = 1, 1e5 do redis.call('rpush', 'list', 'element ' .. i) end", "0"]],
    script: keep("redis.call('lrange', 'list', 0, -1)"),
  },
  {
    name: "HGETALL",
    before: [["EVAL", "for i = 1, 1e5 do redis.call('hset', 'hash', 'field ' .. i, i) end", "0"]],
    script: keep("redis.call('hgetall', 'hash')"),
  },
  {
    name: "MGET",
    before: [["SET", "big", "x".repeat(1000)]],
    script: keep("redis.call('mget', unpack(a))", "local a = {} for i = 1, 7000 do a[i] = 'big' end"),
  },
  {
    name: "pcall does not help",
    script: "while true do pcall(function() local t = {} for i = 1, 1e9 do t[i] = {} end end) end",
  },
];

/**
 * Texts of which one call makes much more than they are: the call itself must refuse, long before it is through. `text` is made
 * and read before, for which there is room.
 */
export const CALLS: readonly { readonly name: string; readonly text: string; readonly call: string }[] = [
  {
    name: "cjson.decode of 20 million arrays",
    text: "'[' .. string.rep('[],', 2e7) .. '1]'",
    call: "cjson.decode(text)",
  },
  {
    name: "cjson.decode of a string with 20 million escapes",
    text: `'["' .. string.rep('\\\\u00e4', 2e7) .. '"]'`,
    call: "cjson.decode(text)",
  },
  {
    // 33 million as four bytes, and as many empty arrays.
    name: "cmsgpack.unpack of 33 million arrays",
    text: "'\\221\\1\\247\\138\\64' .. string.rep('\\144', 33e6)",
    call: "cmsgpack.unpack(text)",
  },
];
