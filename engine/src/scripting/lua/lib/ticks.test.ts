/**
 * No library call holds the thread for long: one that goes through much input ticks on its way, so SCRIPT KILL, a signal or a
 * full heap ends the script in the middle of it. Ticks are counted, not time: a call that ticks once for so much input goes on
 * doing so, however long its input is.
 */
import { describe, expect, test } from "vitest";
import { compileScript } from "../compiler/index.ts";
import { LuaTable } from "../table.ts";
import { LuaAbort } from "../value.ts";
import { makeRuntime } from "./test-script.ts";

/** At this tick a call is ended: some would go on for hours. */
const ENDED = 3;

/** How often a call ticks, up to ENDED. What is made before it does not count. */
function ticksOf(before: string, call: string): number {
  const rt = makeRuntime();
  let ticks = 0;
  let counting = false;
  rt.onTick = () => {
    if (counting && ++ticks === ENDED) throw new LuaAbort("ended");
  };
  rt.globals.readonly = false;
  rt.globals.setStr("begin", () => {
    counting = true;
    return undefined;
  });
  try {
    compileScript(rt, `${before} begin() local result = ${call}`, "@user_script").run(new LuaTable(), new LuaTable());
  } catch (thrown) {
    if (!(thrown instanceof LuaAbort)) throw thrown;
  }
  return ticks;
}

/** Characters of a text, of which most calls look at a million between two ticks. */
const MANY = 3.2e6;
/** Elements of a table, or values in a text, which are made one by one. */
const ELEMENTS = 40_000;

const text = (part: string, times = MANY) => `local s = string.rep('${part}', ${times})`;
const json = (part: string, times = ELEMENTS) => `local s = '[' .. string.rep('${part}', ${times}) .. '1]'`;
const filled = (value: string) => `local t = {} for i = 1, ${ELEMENTS} do t[i] = ${value} end`;
/** An array or a map of so many values. */
const packed = (type: string, value: string) =>
  `local s = '\\${type}' .. struct.pack('>I4', ${ELEMENTS / 2}) .. string.rep('\\${value}', ${ELEMENTS})`;

describe("a call that goes through much input ticks on its way:", () => {
  test.each([
    ["string.find of a short plain text", text("a"), "s:find(string.rep('a', 500) .. 'b', 1, true)"],
    ["string.find of a long plain text", text("a"), "s:find(string.rep('a', 2000) .. 'b', 1, true)"],
    ["string.find", text("a"), "s:find('a*b')"],
    ["string.find of a balance", text("("), "s:find('%b()')"],
    ["string.match", text("a"), "s:match('(a*)b')"],
    ["string.gmatch", text("a"), "s:gmatch('a-b')()"],
    ["string.gsub", text("a"), "s:gsub('a', 'bb')"],
    ["string.gsub that finds nothing", text("a"), "s:gsub('a-b', '')"],
    ["string.gsub with a function", text("a"), "s:gsub('a', function() end)"],
    ["string.gsub with a table", text("a"), "s:gsub('a', { a = 'b' })"],
    ["string.gsub with a long replacement", text("%1", ELEMENTS), "string.gsub('x', '(x)', s)"],
    ["string.upper", text("a"), "s:upper()"],
    ["string.lower", text("\\200"), "s:lower()"],
    ["string.reverse", text("a"), "s:reverse()"],
    ["string.format with %q", text("a"), "string.format('%q', s)"],
    ["string.format of a long format", text("%%", ELEMENTS), "string.format(s)"],
    ["table.concat", filled("i"), "table.concat(t, ',')"],
    ["table.sort of numbers", filled("i % 1000"), "table.sort(t)"],
    ["table.sort of strings", filled("'w' .. i % 1000"), "table.sort(t)"],
    ["table.sort with a function", filled("i % 1000"), "table.sort(t, function(a, b) return a < b end)"],
    ["table.insert at the front", filled("i"), "table.insert(t, 1, 1)"],
    ["table.remove at the front", filled("i"), "table.remove(t, 1)"],
    ["table.foreach", filled("i"), "table.foreach(t, function() end)"],
    ["table.foreachi", filled("i"), "table.foreachi(t, function() end)"],
    ["table.maxn", filled("i"), "table.maxn(t)"],
    ["cjson.decode of numbers", json("1,"), "cjson.decode(s)"],
    ["cjson.decode of arrays", json("[],"), "cjson.decode(s)"],
    ["cjson.decode of objects", json('{"a":1},'), "cjson.decode(s)"],
    ["cjson.decode of a string", `local s = '["' .. string.rep('a', ${MANY}) .. '"]'`, "cjson.decode(s)"],
    ["cjson.decode of escapes", `local s = '["' .. string.rep('\\\\n', ${ELEMENTS}) .. '"]'`, "cjson.decode(s)"],
    [
      "cjson.decode of a string behind an escape",
      `local s = '["\\\\n' .. string.rep('a', ${MANY}) .. '"]'`,
      "cjson.decode(s)",
    ],
    ["cjson.decode of spaces", json(" ", MANY), "cjson.decode(s)"],
    ["cjson.encode of a string", text("a"), "cjson.encode(s)"],
    ["cjson.encode of escapes", text("/aaaaaaaaaaaaaaa", MANY / 16), "cjson.encode(s)"],
    ["cjson.encode of an array", filled("{}"), "cjson.encode(t)"],
    ["cjson.encode of an object", filled("{ a = i }"), "cjson.encode(t)"],
    ["cmsgpack.pack", filled("i"), "cmsgpack.pack(t)"],
    ["cmsgpack.unpack of arrays", packed("221", "144"), "cmsgpack.unpack(s)"],
    ["cmsgpack.unpack of a map", packed("223", "1"), "cmsgpack.unpack(s)"],
    ["struct.pack", text("x", ELEMENTS), "struct.pack(s)"],
    ["struct.unpack", text("x", ELEMENTS), "struct.unpack(s, s)"],
    ["struct.size", text("x", ELEMENTS), "struct.size(s)"],
    ["struct.size of zeros", `local s = 'c' .. string.rep('0', ${MANY}) .. '1'`, "struct.size(s)"],
  ])("%s", (_name, before, call) => {
    expect(ticksOf(before, call)).toBe(ENDED);
  });
});

/** They make one pass over a text in V8's own code, or look at so much of it as is needed. */
describe("a call that does not tick does little for its input:", () => {
  test.each([
    ["string.rep", text("a", 1e6), "s:rep(100)"],
    ["string.sub", text("a"), "s:sub(2)"],
    ["string.byte", text("a"), "s:byte(-1)"],
    ["string.find of a letter", text("a"), "s:find('b', 1, true)"],
    ["string.format that lacks an argument for a long format", text("%d"), "pcall(string.format, s, 1)"],
    ["string.format of a long text", text("a"), "string.format(s)"],
    ["struct.unpack of a text", text("a"), "struct.unpack('s', s .. '\\0')"],
    ["cmsgpack.unpack of a string", `local s = cmsgpack.pack(string.rep('a', ${MANY}))`, "cmsgpack.unpack(s)"],
    ["tonumber", text("1"), "tonumber(s)"],
    ["tonumber of a numeral that is too long to be read", text("1", 7e7), "tonumber(s)"],
    ["loadstring of more than is compiled", text("x=1 "), "loadstring(s)"],
    ["unpack of more than there is room for", filled("i"), "pcall(unpack, t)"],
    ["a comparison of long texts", text("a"), "s .. 'a' < s .. 'b'"],
  ])("%s", (_name, before, call) => {
    expect(ticksOf(before, call)).toBe(0);
  });
});
