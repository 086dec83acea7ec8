/**
 * Lua's table library. Everything here goes past metatables, but for the comparisons of `sort`.
 */
// biome-ignore-all lint/complexity/noArguments: only the number of arguments is asked for, which costs nothing
import { VALUE_BYTES } from "../memory.ts";
import { single } from "../natives.ts";
import { numberToString } from "../number.ts";
import type { Runtime } from "../runtime.ts";
import type { LuaTable } from "../table.ts";
import { EMPTY, first, type LuaFunction, type LuaValue, type Results, typeName } from "../value.ts";
import { checkFunction, checkInt, checkString, checkTable, makeLibrary, optInt } from "./check.ts";
import { sortFunction } from "./sort.ts";

export function tableLibrary(rt: Runtime): LuaTable {
  return makeLibrary([
    ["concat", single(concatFunction(rt), "string")],
    ["foreach", foreachFunction(rt)],
    ["foreachi", foreachiFunction(rt)],
    ["getn", single(getnFunction(rt), "number")],
    ["maxn", single(maxnFunction(rt), "number")],
    ["insert", insertFunction(rt)],
    ["remove", removeFunction(rt)],
    ["setn", setnFunction(rt)],
    ["sort", sortFunction(rt)],
  ]);
}

function concatFunction(rt: Runtime): LuaFunction {
  return function concat(t, separator, i, j) {
    const given = arguments.length;
    const between = separator === undefined ? "" : checkString(rt, separator, 2, "concat", given);
    const table = checkTable(rt, t, 1, "concat", given);
    const from = optInt(rt, i, 3, "concat", 1, given);
    const to = j === undefined ? table.length() : checkInt(rt, j, 4, "concat", given);
    if (from > to) return "";
    let result = text(rt, table, from);
    for (let k = from + 1; k <= to; k++) {
      result += between + text(rt, table, k);
      rt.step(2 * VALUE_BYTES);
    }
    return result;
  };
}

function text(rt: Runtime, table: LuaTable, index: number): string {
  const value = table.getInt(index);
  if (typeof value === "string") return value;
  if (typeof value === "number") return numberToString(value);
  throw rt.error(`invalid value (${typeName(value)}) at index ${index} in table for 'concat'`);
}

function foreachFunction(rt: Runtime): LuaFunction {
  return function foreach(t, f): Results {
    const table = checkTable(rt, t, 1, "foreach", arguments.length);
    const call = checkFunction(rt, f, 2, "foreach", arguments.length);
    let key: LuaValue;
    for (;;) {
      const entry = table.next(key);
      if (entry === null) return EMPTY;
      const result = first(rt.call(call, entry));
      if (result !== undefined) return result;
      if (--rt.fuel < 0) rt.tick();
      key = entry[0];
    }
  };
}

function foreachiFunction(rt: Runtime): LuaFunction {
  return function foreachi(t, f): Results {
    const table = checkTable(rt, t, 1, "foreachi", arguments.length);
    const count = table.length();
    const call = checkFunction(rt, f, 2, "foreachi", arguments.length);
    for (let i = 1; i <= count; i++) {
      const result = first(rt.call(call, [i, table.getInt(i)]));
      if (result !== undefined) return result;
      if (--rt.fuel < 0) rt.tick();
    }
    return EMPTY;
  };
}

function getnFunction(rt: Runtime): LuaFunction {
  return function getn(t) {
    return checkTable(rt, t, 1, "getn", arguments.length).length();
  };
}

function maxnFunction(rt: Runtime): LuaFunction {
  return function maxn(t) {
    const table = checkTable(rt, t, 1, "maxn", arguments.length);
    let max = 0;
    for (let p = table.advance(0); p >= 0; p = table.advance(p)) {
      const key = table.keyAt(p);
      if (typeof key === "number" && key > max) max = key;
      if (--rt.fuel < 0) rt.tick();
    }
    return max;
  };
}

function insertFunction(rt: Runtime): LuaFunction {
  return function insert(t, where, value): Results {
    const given = arguments.length;
    const table = checkTable(rt, t, 1, "insert", given);
    let end = table.length() + 1;
    if (given === 2) {
      table.setInt(end, where);
      return EMPTY;
    }
    if (given !== 3) throw rt.error("wrong number of arguments to 'insert'");
    const at = checkInt(rt, where, 2, "insert", given);
    if (at > end) end = at;
    for (let i = end; i > at; i--) {
      if (--rt.fuel < 0) rt.tick();
      table.setInt(i, table.getInt(i - 1));
    }
    table.setInt(at, value);
    return EMPTY;
  };
}

function removeFunction(rt: Runtime): LuaFunction {
  return function remove(t, where): Results {
    const given = arguments.length;
    const table = checkTable(rt, t, 1, "remove", given);
    const end = table.length();
    const at = optInt(rt, where, 2, "remove", end, given);
    if (at < 1 || at > end) return EMPTY;
    const value = table.getInt(at);
    for (let i = at; i < end; i++) {
      if (--rt.fuel < 0) rt.tick();
      table.setInt(i, table.getInt(i + 1));
    }
    table.setInt(end, undefined);
    return value;
  };
}

function setnFunction(rt: Runtime): LuaFunction {
  return function setn(t) {
    checkTable(rt, t, 1, "setn", arguments.length);
    throw rt.error("'setn' is obsolete");
  };
}
