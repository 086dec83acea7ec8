/**
 * What a Lua value is in JavaScript, and how values travel.
 *
 * nil is `undefined`; booleans and numbers are themselves; strings are latin1 strings, one character one byte. Tables,
 * coroutines and light userdata are instances of classes that carry `luaType`; functions are JavaScript functions. A
 * JavaScript array is never a Lua value: it is how a function hands back none or several values (exactly one is handed back
 * as itself), and nobody changes an array that was handed back.
 */
import { noteStack } from "../../lib/stacks.ts";
import type { Coroutine } from "./coroutine.ts";
import { numberToString } from "./number.ts";
import type { LuaTable } from "./table.ts";

export type LuaValue = undefined | boolean | number | string | LuaTable | LuaFunction | Coroutine | LightUserdata;
export type Results = LuaValue | LuaValue[];
export type LuaFunction = (...args: LuaValue[]) => Results;

/** No values at all. */
export const EMPTY: LuaValue[] = [];
Object.freeze(EMPTY);

/** A pointer of the host that Lua code can only pass on and compare: `cjson.null` is one. */
export class LightUserdata {
  readonly name: string;
  declare readonly luaType: "userdata";
  constructor(name: string) {
    this.name = name;
    Object.freeze(this);
  }
}
Object.defineProperty(LightUserdata.prototype, "luaType", { value: "userdata" });

/** How many frames an error remembers: enough to pass over helpers in all usual cases; trace.ts looks further in others. */
export const FRAMES = 10;

/**
 * A Lua error on its way up: any value. Not a JavaScript Error, since it says nothing to JavaScript. It remembers the
 * JavaScript stack it was raised on, from which the runtime reads the script's line if somebody asks.
 */
export class LuaError {
  /** Changed only by the code that makes the error, to put the position before its text. */
  value: LuaValue;
  /** Set by captureStackTrace; read by trace.ts only. */
  declare readonly stack: unknown;
  /** What was known about the place where it was raised; filled in on the first question. */
  place: { source: string; line: number } | undefined;

  constructor(value: LuaValue) {
    this.value = value;
    this.place = undefined;
    noteStack(this, LuaError, FRAMES);
  }

  /** The value as text, for reports outside Lua. */
  get message(): string {
    return toDisplay(this.value);
  }
}

/**
 * Ends a script from outside (time limit, SCRIPT KILL). Neither `pcall` nor a coroutine catches it. Code that throws it from
 * a tick makes a subclass or fills in the reason.
 */
export class LuaAbort {
  readonly reason: unknown;
  constructor(reason: unknown) {
    this.reason = reason;
  }
}

/** The first of the values that a call handed back. */
export function first(results: Results): LuaValue {
  return Array.isArray(results) ? results[0] : results;
}

/** All of the values that a call handed back, as an array that must not be changed. */
export function all(results: Results): LuaValue[] {
  return Array.isArray(results) ? results : [results];
}

/** The reverse of `all`: one value as itself. */
export function pack(values: LuaValue[]): Results {
  return values.length === 1 ? values[0] : values;
}

export type TypeName = "nil" | "boolean" | "number" | "string" | "table" | "function" | "thread" | "userdata";

/** What `type` says. */
export function typeName(value: LuaValue): TypeName {
  switch (typeof value) {
    case "undefined":
      return "nil";
    case "string":
      return "string";
    case "number":
      return "number";
    case "boolean":
      return "boolean";
    case "function":
      return "function";
    default:
      return value.luaType;
  }
}

let lastId = 0;
const ids = new WeakMap<object, number>();

/** A number that stands for an object's address: the same for the same object, in the order in which they were asked for. */
export function identity(value: object): number {
  let id = ids.get(value);
  if (id === undefined) {
    id = ++lastId;
    ids.set(value, id);
  }
  return id;
}

/** `0x7f…` for a value without a text of its own. */
export function address(value: object): string {
  return `0x${(0x7f0000000000 + identity(value) * 0x20).toString(16)}`;
}

/** A value as `tostring` shows it, without regard to metatables. */
export function toDisplay(value: LuaValue): string {
  switch (typeof value) {
    case "string":
      return value;
    case "number":
      return numberToString(value);
    case "undefined":
      return "nil";
    case "boolean":
      return value ? "true" : "false";
    case "function":
      return `function: ${address(value)}`;
    default:
      return value instanceof LightUserdata && value.name === "NULL"
        ? "userdata: (nil)"
        : `${value.luaType}: ${address(value)}`;
  }
}
