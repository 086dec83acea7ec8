/**
 * Lua's string library. Strings are bytes: letters are those of ASCII, whatever JavaScript thinks of the others.
 */
// biome-ignore-all lint/complexity/noArguments: only the number of arguments is asked for, which costs nothing
import { Buffer } from "../../../platform/bytes.ts";
import { LONG, take, VALUE_BYTES } from "../memory.ts";
import { single } from "../natives.ts";
import { numberToString } from "../number.ts";
import type { Runtime } from "../runtime.ts";
import { LuaTable } from "../table.ts";
import { EMPTY, first, LuaError, type LuaFunction, type LuaValue, type Results, typeName } from "../value.ts";
import {
  checkFunction,
  checkInt,
  checkInteger,
  checkString,
  MAX_STACK,
  MAX_STRING,
  makeLibrary,
  optInt,
  optInteger,
} from "./check.ts";
import { formatFunction } from "./format.ts";
import { Matcher, PatternFault } from "./pattern.ts";
import { looseProgramOf, programOf } from "./pattern-program.ts";
import { indexOf } from "./search.ts";

/** The library; also makes strings answer to its functions (`("x"):upper()`). */
export function stringLibrary(rt: Runtime): LuaTable {
  const gmatch = gmatchFunction(rt);
  const library = makeLibrary([
    ["byte", byteFunction(rt)],
    ["char", single(charFunction(rt), "string")],
    ["dump", dumpFunction(rt)],
    ["find", findFunction(rt)],
    ["format", single(formatFunction(rt), "string")],
    ["gfind", gmatch],
    ["gmatch", gmatch],
    ["gsub", gsubFunction(rt)],
    ["len", single(lenFunction(rt), "number")],
    ["lower", single(lowerFunction(rt), "string")],
    ["match", matchFunction(rt)],
    ["rep", single(repFunction(rt), "string")],
    ["reverse", single(reverseFunction(rt), "string")],
    ["sub", single(subFunction(rt), "string")],
    ["upper", single(upperFunction(rt), "string")],
  ]);
  rt.stringMetatable = new LuaTable(0, 1);
  rt.stringMetatable.setStr("__index", library);
  return library;
}

/** Whether a value is a string that may be read without paying for it. */
function isShort(value: LuaValue): value is string {
  return typeof value === "string" && value.length <= LONG;
}

/** A position counted from the end where it is negative; 0 where that is before the start. */
function position(at: number, length: number): number {
  if (at >= 0) return at;
  const counted = at + length + 1;
  return Math.max(counted, 0);
}

function byteFunction(rt: Runtime): LuaFunction {
  return function byte(s, i, j) {
    const given = arguments.length;
    const text = isShort(s) ? s : checkString(rt, s, 1, "byte", given);
    let from = position(optInteger(rt, i, 2, "byte", 1, given), text.length);
    let to = position(optInteger(rt, j, 3, "byte", from, given), text.length);
    if (from <= 0) from = 1;
    if (to > text.length) to = text.length;
    if (from > to) return EMPTY;
    if (from === to) return text.charCodeAt(from - 1);
    if (to - from + 1 + given > MAX_STACK) throw rt.error("stack overflow (string slice too long)");
    take((to - from) * VALUE_BYTES);
    const codes: number[] = [];
    for (let k = from - 1; k < to; k++) codes.push(text.charCodeAt(k));
    return codes;
  };
}

function charFunction(rt: Runtime): LuaFunction {
  return (...args) => {
    let text = "";
    for (let i = 0; i < args.length; i++) {
      const code = checkInt(rt, args[i], i + 1, "char", args.length);
      if (code < 0 || code > 255) throw rt.argumentError(i + 1, "char", "invalid value");
      text += String.fromCharCode(code);
    }
    return text;
  };
}

/** The header of Lua 5.1's bytecode. There is none behind it, and no loader of Redis takes what begins so. */
const BYTECODE = "\x1bLuaQ\0\x01\x04\x08\x04\x08\0";

function dumpFunction(rt: Runtime): LuaFunction {
  return function dump(f) {
    if (!rt.natives.has(checkFunction(rt, f, 1, "dump", arguments.length))) return BYTECODE;
    throw rt.error("unable to dump given function");
  };
}

function lenFunction(rt: Runtime): LuaFunction {
  return function len(s) {
    return typeof s === "string" ? s.length : checkString(rt, s, 1, "len", arguments.length).length;
  };
}

function subFunction(rt: Runtime): LuaFunction {
  return function sub(s, i, j) {
    const given = arguments.length;
    const text = isShort(s) ? s : checkString(rt, s, 1, "sub", given);
    const from = position(checkInteger(rt, i, 2, "sub", given), text.length);
    const to = j === undefined ? text.length : position(checkInteger(rt, j, 3, "sub", given), text.length);
    // Where it ends before it begins, slice gives nothing, too.
    return text.slice(from < 1 ? 0 : from - 1, to);
  };
}

function repFunction(rt: Runtime): LuaFunction {
  return function rep(s, n) {
    const text = checkString(rt, s, 1, "rep", arguments.length);
    const times = checkInt(rt, n, 2, "rep", arguments.length);
    if (times <= 0 || text === "") return "";
    if (text.length * times > MAX_STRING) throw new LuaError("not enough memory");
    if (text.length * times > LONG) take(text.length * times);
    return text.repeat(times);
  };
}

/** Short strings are turned round in place; for long ones that would be a long chain of pieces. */
const SHORT = 64;

function reverseFunction(rt: Runtime): LuaFunction {
  return function reverse(s) {
    const text = checkString(rt, s, 1, "reverse", arguments.length);
    if (text.length > LONG) take(2 * text.length);
    if (text.length > SHORT) {
      let reversed = "";
      inPieces(rt, text, (piece) => {
        reversed = Buffer.from(piece, "latin1").reverse().latin1Slice() + reversed;
        return "";
      });
      return reversed;
    }
    let result = "";
    for (let i = text.length - 1; i >= 0; i--) result += text.charAt(i);
    return result;
  };
}

/** Node keeps longer strings that it makes of buffers outside of V8's heap, where nobody counts them. */
const PIECE = 512 * 1024;

/** Changes a text piece by piece, with a tick after each. */
function inPieces(rt: Runtime, text: string, change: (piece: string) => string): string {
  if (text.length <= PIECE) return change(text);
  let result = "";
  for (let at = 0; at < text.length; at += PIECE) {
    result += change(text.slice(at, at + PIECE));
    rt.tick();
  }
  return result;
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 127) return false;
  return true;
}

/** Changes the case of the letters of a range only. */
function convert(text: string, from: number, to: number): string {
  const bytes = Buffer.from(text, "latin1");
  for (let i = 0; i < bytes.length; i++) {
    const code = bytes[i]!;
    if (code >= from && code <= to) bytes[i] = code ^ 0x20;
  }
  return bytes.latin1Slice();
}

function lowerFunction(rt: Runtime): LuaFunction {
  return function lower(s) {
    const text = checkString(rt, s, 1, "lower", arguments.length);
    if (text.length > LONG) take(2 * text.length);
    return inPieces(rt, text, (piece) => (isAscii(piece) ? piece.toLowerCase() : convert(piece, 0x41, 0x5a)));
  };
}

function upperFunction(rt: Runtime): LuaFunction {
  return function upper(s) {
    const text = checkString(rt, s, 1, "upper", arguments.length);
    if (text.length > LONG) take(2 * text.length);
    return inPieces(rt, text, (piece) => (isAscii(piece) ? piece.toUpperCase() : convert(piece, 0x61, 0x7a)));
  };
}

/** Makes a Lua error, with the place in the script, of what is wrong with a pattern. */
function raised(rt: Runtime, thrown: unknown): unknown {
  return thrown instanceof PatternFault ? rt.error(thrown.message) : thrown;
}

/** Whether a pattern has none of the characters that mean something, up to a NUL. */
function isPlain(pattern: string): boolean {
  for (let i = 0; i < pattern.length; i++) {
    switch (pattern.charCodeAt(i)) {
      case 0:
        return true;
      case 0x5e: // ^
      case 0x24: // $
      case 0x2a: // *
      case 0x2b: // +
      case 0x3f: // ?
      case 0x2e: // .
      case 0x28: // (
      case 0x5b: // [
      case 0x25: // %
      case 0x2d: // -
        return false;
    }
  }
  return true;
}

/** Where a search begins: 0 to the length. */
function searchStart(rt: Runtime, init: LuaValue, length: number, name: string, given: number): number {
  if (init === undefined) return 0;
  const at = position(checkInteger(rt, init, 3, name, given), length) - 1;
  return at < 0 ? 0 : Math.min(at, length);
}

/** The first match from a place on; its start, and its end through `ends`. -1 if there is none. */
function search(matcher: Matcher, anchored: boolean, from: number, length: number): number {
  if (anchored) {
    searchEnd = matcher.matchAt(from);
    return searchEnd < 0 ? -1 : from;
  }
  for (let s = matcher.skip(from); s <= length; s = matcher.skip(s + 1)) {
    searchEnd = matcher.matchAt(s);
    if (searchEnd >= 0) return s;
  }
  return -1;
}

/** The end of what `search` found. */
let searchEnd = 0;

function findFunction(rt: Runtime): LuaFunction {
  return function find(s, pattern, init, plain): Results {
    const given = arguments.length;
    const text = isShort(s) ? s : checkString(rt, s, 1, "find", given);
    const p = isShort(pattern) ? pattern : checkString(rt, pattern, 2, "find", given);
    const from = searchStart(rt, init, text.length, "find", given);
    if ((plain !== undefined && plain !== false) || isPlain(p)) {
      const at = indexOf(rt, text, p, from);
      return at < 0 ? undefined : [at + 1, at + p.length];
    }
    const program = programOf(p);
    const matcher = new Matcher(rt, program, text);
    try {
      const start = search(matcher, program.anchored, from, text.length);
      if (start < 0) return undefined;
      const results: LuaValue[] = [start + 1, searchEnd];
      matcher.addCaptures(results, start, searchEnd, false);
      return results;
    } catch (thrown) {
      throw raised(rt, thrown);
    }
  };
}

function matchFunction(rt: Runtime): LuaFunction {
  return function match(s, pattern, init): Results {
    const given = arguments.length;
    const text = isShort(s) ? s : checkString(rt, s, 1, "match", given);
    const p = isShort(pattern) ? pattern : checkString(rt, pattern, 2, "match", given);
    const from = searchStart(rt, init, text.length, "match", given);
    const program = programOf(p);
    const matcher = new Matcher(rt, program, text);
    try {
      const start = search(matcher, program.anchored, from, text.length);
      return start < 0 ? undefined : captures(matcher, start, searchEnd);
    } catch (thrown) {
      throw raised(rt, thrown);
    }
  };
}

/** What `match` hands back: the captures, or the whole match. */
function captures(matcher: Matcher, start: number, end: number): Results {
  if (matcher.captureCount <= 1) return matcher.capture(0, start, end);
  const values: LuaValue[] = [];
  matcher.addCaptures(values, start, end, true);
  return values;
}

function gmatchFunction(rt: Runtime): LuaFunction {
  return single(function gmatch(s, pattern) {
    const text = checkString(rt, s, 1, "gmatch", arguments.length);
    const p = checkString(rt, pattern, 2, "gmatch", arguments.length);
    const program = looseProgramOf(p);
    const matcher = new Matcher(rt, program, text);
    let from = 0;
    return (): Results => {
      try {
        const start = search(matcher, false, from, text.length);
        if (start < 0) return EMPTY;
        const end = searchEnd;
        from = end === start ? end + 1 : end;
        return captures(matcher, start, end);
      } catch (thrown) {
        throw raised(rt, thrown);
      }
    };
  });
}

/** What replaces a match; undefined keeps it. */
type Replacement = (matcher: Matcher, start: number, end: number) => LuaValue;

function gsubFunction(rt: Runtime): LuaFunction {
  return function gsub(s, pattern, by, limit): Results {
    const given = arguments.length;
    const text = checkString(rt, s, 1, "gsub", given);
    const p = checkString(rt, pattern, 2, "gsub", given);
    const most = limit === undefined ? text.length + 1 : optInt(rt, limit, 4, "gsub", 0, given);
    const replacement = replacementOf(rt, by);
    if (replacement === undefined) throw rt.argumentError(3, "gsub", "string/function/table expected");
    const program = programOf(p);
    try {
      return substitute(rt, new Matcher(rt, program, text), program.anchored, text, most, replacement);
    } catch (thrown) {
      throw raised(rt, thrown);
    }
  };
}

/** What a match adds to a result: the text before it, its replacement, and two ropes. */
const PIECE_BYTES = 4 * VALUE_BYTES;

function substitute(
  rt: Runtime,
  matcher: Matcher,
  anchored: boolean,
  text: string,
  most: number,
  replacement: Replacement,
): LuaValue[] {
  let result = "";
  let copied = 0;
  let count = 0;
  let s = 0;
  while (count < most) {
    if (!anchored) s = matcher.skip(s);
    if (s > text.length) break;
    const end = matcher.matchAt(s);
    if (end >= 0) {
      count++;
      const value = replacement(matcher, s, end);
      rt.step(PIECE_BYTES);
      if (value !== undefined && value !== false) {
        result += text.slice(copied, s) + replacementText(rt, value);
        copied = end;
      }
    }
    if (anchored) break;
    s = end > s ? end : s + 1;
  }
  return [result + text.slice(copied), count];
}

function replacementText(rt: Runtime, value: LuaValue): string {
  if (typeof value === "string") return value;
  if (typeof value === "number") return numberToString(value);
  throw rt.error(`invalid replacement value (a ${typeName(value)})`);
}

function replacementOf(rt: Runtime, by: LuaValue): Replacement | undefined {
  if (typeof by === "function") {
    return (matcher, start, end) => {
      const values: LuaValue[] = [];
      matcher.addCaptures(values, start, end, true);
      return first(rt.call(by, values));
    };
  }
  if (by instanceof LuaTable) return (matcher, start, end) => rt.index(by, matcher.capture(0, start, end));
  if (typeof by !== "string" && typeof by !== "number") return undefined;
  const text = typeof by === "string" ? by : numberToString(by);
  return text.includes("%") ? template(rt, text) : () => text;
}

/** A replacement with `%1`, `%0`, `%%` in it. */
function template(rt: Runtime, text: string): Replacement {
  const parts: (string | number)[] = [];
  let from = 0;
  take(text.length * VALUE_BYTES);
  for (let at = text.indexOf("%"); at >= 0; at = text.indexOf("%", from)) {
    // A single % at the end stands for the NUL behind it, as in C.
    const next = at + 1 < text.length ? text.charAt(at + 1) : "\0";
    parts.push(text.slice(from, at), next >= "0" && next <= "9" ? Number(next) : next);
    from = at + 2;
    rt.step(0);
  }
  parts.push(text.slice(from));
  return (matcher, start, end) => {
    let result = "";
    for (const part of parts) {
      rt.step(VALUE_BYTES);
      if (typeof part === "string") result += part;
      else if (part === 0) result += matcher.matched(start, end);
      else {
        const value = matcher.capture(part - 1, start, end);
        result += typeof value === "string" ? value : numberToString(value);
      }
    }
    return result;
  };
}
