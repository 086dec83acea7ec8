/**
 * Lua values as JSON text. A table whose keys are all positive integers is an array up to the largest of them, unless most
 * of it would be holes; any other is an object in the order of `next`.
 */
import { flat, take, VALUE_BYTES } from "../memory.ts";
import type { Runtime } from "../runtime.ts";
import { LuaTable } from "../table.ts";
import { type LuaValue, typeName } from "../value.ts";
import { formatGeneral } from "./format.ts";
import { JsonFault, type JsonSettings, NULL } from "./json.ts";
import { OFTEN } from "./search.ts";

export function encode(rt: Runtime, settings: JsonSettings, value: LuaValue): string {
  return encodeValue(rt, settings, value, 0);
}

function fault(value: LuaValue, reason: string): JsonFault {
  return new JsonFault(`Cannot serialise ${typeName(value)}: ${reason}`);
}

function encodeValue(rt: Runtime, settings: JsonSettings, value: LuaValue, depth: number): string {
  switch (typeof value) {
    case "string":
      return encodeString(rt, value);
    case "number":
      return encodeNumber(settings, value);
    case "boolean":
      return value ? "true" : "false";
    case "undefined":
      return "null";
    default:
      if (value instanceof LuaTable) return encodeTable(rt, settings, value, depth + 1);
      if (value === NULL) return "null";
      throw fault(value, "type not supported");
  }
}

function encodeNumber(settings: JsonSettings, value: number): string {
  if ((value | 0) === value && settings.precision === 14) return Object.is(value, -0) ? "-0" : String(value);
  if (!Number.isFinite(value)) {
    if (settings.encodeInvalidNumbers === 0) throw fault(value, "must not be NaN or Inf");
    if (settings.encodeInvalidNumbers === 2) return "null";
    return Number.isNaN(value) ? "nan" : value < 0 ? "-inf" : "inf";
  }
  return formatGeneral(value, settings.precision);
}

/** What each character is written as, where it is not itself. */
const escapes: string[] = [];
for (let code = 0; code < 32; code++) escapes[code] = `\\u00${code.toString(16).padStart(2, "0")}`;
for (const pair of ["\bb", "\tt", "\nn", "\ff", "\rr", '""', "//", "\\\\"]) {
  escapes[pair.charCodeAt(0)] = `\\${pair.charAt(1)}`;
}
escapes[127] = "\\u007f";

function encodeString(rt: Runtime, text: string): string {
  flat(text);
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if ((i & OFTEN) === OFTEN) rt.tick();
    if (code < 32 || code === 0x22 || code === 0x2f || code === 0x5c || code === 0x7f) return escapeFrom(rt, text, i);
  }
  return `"${text}"`;
}

function escapeFrom(rt: Runtime, text: string, first: number): string {
  let result = '"';
  let copied = 0;
  for (let i = first; i < text.length; i++) {
    const written = escapes[text.charCodeAt(i)];
    if ((i & OFTEN) === OFTEN) rt.tick();
    if (written === undefined) continue;
    take(4 * VALUE_BYTES);
    result += text.slice(copied, i) + written;
    copied = i + 1;
  }
  return `${result}${text.slice(copied)}"`;
}

function encodeTable(rt: Runtime, settings: JsonSettings, table: LuaTable, depth: number): string {
  if (depth > settings.encodeMaxDepth) throw new JsonFault(`Cannot serialise, excessive nesting (${depth})`);
  rt.step(VALUE_BYTES);
  const length = arrayLength(settings, table);
  return length > 0 ? encodeArray(rt, settings, table, length, depth) : encodeObject(rt, settings, table, depth);
}

/** The largest key of an array; -1 for what is none. */
function arrayLength(settings: JsonSettings, table: LuaTable): number {
  let max = 0;
  let items = 0;
  for (let p = table.advance(0); p >= 0; p = table.advance(p)) {
    const key = table.keyAt(p);
    if (typeof key !== "number" || key < 1 || Math.floor(key) !== key) return -1;
    // As the reference's int would have it.
    if (key > max) max = key > 0x7fffffff ? -0x80000000 : key;
    items++;
  }
  const { sparseRatio, sparseSafe } = settings;
  if (sparseRatio > 0 && max > Math.imul(items, sparseRatio) && max > sparseSafe) {
    if (settings.sparseConvert === 0) throw fault(table, "excessively sparse array");
    return -1;
  }
  return max;
}

function encodeArray(rt: Runtime, settings: JsonSettings, table: LuaTable, length: number, depth: number): string {
  let result = `[${encodeValue(rt, settings, table.getInt(1), depth)}`;
  for (let i = 2; i <= length; i++) {
    rt.step(4 * VALUE_BYTES);
    result += `,${encodeValue(rt, settings, table.getInt(i), depth)}`;
  }
  return `${result}]`;
}

function encodeObject(rt: Runtime, settings: JsonSettings, table: LuaTable, depth: number): string {
  let result = "{";
  let separator = "";
  for (let p = table.advance(0); p >= 0; p = table.advance(p)) {
    const key = table.keyAt(p);
    rt.step(8 * VALUE_BYTES);
    let name: string;
    if (typeof key === "string") name = encodeString(rt, key);
    else if (typeof key === "number") name = `"${encodeNumber(settings, key)}"`;
    else throw fault(key, "table key must be a number or string");
    result += `${separator + name}:${encodeValue(rt, settings, table.valueAt(p), depth)}`;
    separator = ",";
  }
  return `${result}}`;
}
