/**
 * Arguments of library functions, checked and converted as Lua's auxiliary library does.
 *
 * Lua tells an argument that was not given from one that is nil, in error messages and in a few functions. So functions
 * hand over how many they got (`arguments.length`: unlike a rest parameter it never costs an array), and the checks look
 * at it only when something is wrong.
 */
import { flat, LONG } from "../memory.ts";
import { numberToString, stringToNumber } from "../number.ts";
import type { Runtime } from "../runtime.ts";
import { LuaTable } from "../table.ts";
import type { LuaError, LuaFunction, LuaValue } from "../value.ts";
import { typeName } from "../value.ts";

/** How many values one native function may have on Lua's stack. */
export const MAX_STACK = 8000;

/** Strings cannot be longer than this in JavaScript. */
export const MAX_STRING = 2 ** 29 - 24;

const TWO_63 = 2 ** 63;

/** `number expected, got nil`. */
export function typeError(
  rt: Runtime,
  value: LuaValue,
  argument: number,
  name: string,
  expected: string,
  given: number,
): LuaError {
  const got = argument > given ? "no value" : typeName(value);
  return rt.argumentError(argument, name, `${expected} expected, got ${got}`);
}

/** A number as C's cast to a 64-bit integer makes it on x86: cut off, and the smallest integer for what does not fit. */
export function toInteger(value: number): number {
  if (value < TWO_63 && value >= -TWO_63) return Math.trunc(value) + 0;
  return -TWO_63;
}

/** The same, of which only the low 32 bits are kept. */
export function toInt(value: number): number {
  return value < TWO_63 && value >= -TWO_63 ? value | 0 : 0;
}

export function checkNumber(rt: Runtime, value: LuaValue, argument: number, name: string, given = argument): number {
  if (typeof value === "number") return value;
  if (typeof value === "string") {
    const number = stringToNumber(value);
    if (number !== undefined) return number;
  }
  throw typeError(rt, value, argument, name, "number", given);
}

/** A 64-bit integer (as a double). */
export function checkInteger(rt: Runtime, value: LuaValue, argument: number, name: string, given = argument): number {
  if (typeof value === "number" && (value | 0) === value) return value;
  return toInteger(checkNumber(rt, value, argument, name, given));
}

export function optInteger(
  rt: Runtime,
  value: LuaValue,
  argument: number,
  name: string,
  otherwise: number,
  given = argument,
): number {
  return value === undefined ? otherwise : checkInteger(rt, value, argument, name, given);
}

/** A 32-bit integer. */
export function checkInt(rt: Runtime, value: LuaValue, argument: number, name: string, given = argument): number {
  if (typeof value === "number" && (value | 0) === value) return value;
  return toInt(checkNumber(rt, value, argument, name, given));
}

export function optInt(
  rt: Runtime,
  value: LuaValue,
  argument: number,
  name: string,
  otherwise: number,
  given = argument,
): number {
  return value === undefined ? otherwise : checkInt(rt, value, argument, name, given);
}

/** Numbers are strings, too. A long string is paid for, since it is about to be read. */
export function checkString(rt: Runtime, value: LuaValue, argument: number, name: string, given = argument): string {
  if (typeof value === "string") return value.length > LONG ? flat(value) : value;
  if (typeof value === "number") return numberToString(value);
  throw typeError(rt, value, argument, name, "string", given);
}

export function checkTable(rt: Runtime, value: LuaValue, argument: number, name: string, given = argument): LuaTable {
  if (value instanceof LuaTable) return value;
  throw typeError(rt, value, argument, name, "table", given);
}

export function checkFunction(
  rt: Runtime,
  value: LuaValue,
  argument: number,
  name: string,
  given = argument,
): LuaFunction {
  if (typeof value === "function") return value;
  throw typeError(rt, value, argument, name, "function", given);
}

/** A library as luaL_register makes it: room for as many fields as it lists, filled in this order. */
export function makeLibrary(entries: readonly (readonly [name: string, value: LuaValue])[]): LuaTable {
  const table = new LuaTable(0, entries.length);
  for (const [name, value] of entries) table.setStr(name, value);
  return table;
}

/**
 * A table with these values at 1, 2, 3 …, as if they had been stored one after the other. values[0] is not used, and none
 * of the others is nil. The array becomes the table's own.
 */
export function makeSequence(values: LuaValue[]): LuaTable {
  const count = values.length - 1;
  if (count === 0) return new LuaTable();
  // Stored one by one they would have doubled the array part each time it was full.
  const table = new LuaTable(count === 1 ? 1 : 1 << (32 - Math.clz32(count - 1)));
  table.array = values;
  return table;
}
