/**
 * What Lua's operators do when the quick case that generated code tests for does not apply: coercions, metamethods, errors.
 *
 * `what` names an operand as Lua's errors do ("local 'a'", "field 'b'"), undefined where Lua has no name for it. Errors get
 * the position of the Lua code that runs the operator; called by a native function (through the runtime's methods) they get
 * none, as in Lua.
 */
import { hashString } from "./hash.ts";
import { exact } from "./lib/exact.ts";
import { flat, LONG, take } from "./memory.ts";
import { numberToString, stringToNumber } from "./number.ts";
import type { Runtime } from "./runtime.ts";
import { bound } from "./suspension.ts";
import { LuaTable } from "./table.ts";
import { levelAt, prefixOf } from "./trace.ts";
import { first, LuaError, type LuaFunction, type LuaValue, typeName } from "./value.ts";

type What = string | undefined;

/** How long a chain of __index or __newindex may be. */
const MAX_CHAIN = 100;

/** An error of an operation, with the position of the Lua code that runs, if that is what runs. */
export function operationError(message: string): LuaError {
  const error = new LuaError(message);
  error.value = prefixOf(levelAt(error, 0)) + message;
  return error;
}

function typeError(operation: string, value: LuaValue, what: What): LuaError {
  const named = what === undefined ? `a ${typeName(value)} value` : `${what} (a ${typeName(value)} value)`;
  return operationError(`attempt to ${operation} ${named}`);
}

const events = {
  __index: hashString("__index"),
  __newindex: hashString("__newindex"),
  __call: hashString("__call"),
  __eq: hashString("__eq"),
  __lt: hashString("__lt"),
  __le: hashString("__le"),
  __concat: hashString("__concat"),
  __unm: hashString("__unm"),
  __add: hashString("__add"),
  __sub: hashString("__sub"),
  __mul: hashString("__mul"),
  __div: hashString("__div"),
  __mod: hashString("__mod"),
  __pow: hashString("__pow"),
  __len: hashString("__len"),
  __tostring: hashString("__tostring"),
  __metatable: hashString("__metatable"),
};

export type Event = keyof typeof events;

/** A value's metamethod. Only tables have metatables of their own; the one of strings has nothing but __index. */
export function metamethod(value: LuaValue, event: Event): LuaValue {
  if (!(value instanceof LuaTable) || value.metatable === null) return undefined;
  return value.metatable.getHashed(event, events[event]);
}

/**
 * The function to call for a value in a call's place. For what cannot be called it is a function that says so, since Lua
 * looks only after it has the arguments.
 */
export function callable(f: LuaValue, what: What): LuaFunction {
  if (typeof f === "function") return f;
  const method = metamethod(f, "__call");
  if (typeof method === "function") return bound(method, f);
  return () => {
    throw typeError("call", f, what);
  };
}

/**
 * Calls by metamethods and native functions inside each other. Each takes C stack in Lua, which allows 200 of them, one of
 * which is the script itself.
 */
let nested = 0;
const MAX_NESTED = 199;

/** Begins such a call; `leave` must follow, whatever happens. */
export function enter(): void {
  if (nested + 1 >= MAX_NESTED) throw operationError("C stack overflow");
  nested++;
}

export function leave(): void {
  nested--;
}

/** Calls a metamethod for its first value. */
function invoke(method: LuaValue, a: LuaValue, b: LuaValue): LuaValue {
  enter();
  try {
    return first(typeof method === "function" ? method(a, b) : callable(method, undefined)(a, b));
  } finally {
    leave();
  }
}

/** object[key] */
export function index(rt: Runtime, object: LuaValue, key: LuaValue, what?: What): LuaValue {
  let target = object;
  for (let i = 0; i < MAX_CHAIN; i++) {
    let method: LuaValue;
    if (target instanceof LuaTable) {
      const value = target.get(key);
      if (value !== undefined || target.metatable === null) return value;
      method = target.metatable.getHashed("__index", events.__index);
      if (method === undefined) return undefined;
    } else {
      method = typeof target === "string" ? rt.stringMetatable?.getHashed("__index", events.__index) : undefined;
      if (method === undefined) throw typeError("index", target, i === 0 ? what : undefined);
    }
    if (typeof method === "function") return invoke(method, target, key);
    target = method;
  }
  throw operationError("loop in gettable");
}

/** object.key, for a constant key whose hash the compiler knows. */
export function indexField(rt: Runtime, object: LuaValue, key: string, hash: number, what?: What): LuaValue {
  if (object instanceof LuaTable) {
    const value = object.getHashed(key, hash);
    if (value !== undefined || object.metatable === null) return value;
  }
  return inheritedField(rt, object, key, hash, what);
}

/** A field that the object itself has not: along a chain of tables, the hash still serves. */
function inheritedField(rt: Runtime, object: LuaValue, key: string, hash: number, what: What): LuaValue {
  let target = object;
  for (let i = 0; i < MAX_CHAIN && target instanceof LuaTable && target.metatable !== null; i++) {
    const method = target.metatable.getHashed("__index", events.__index);
    if (method === undefined) return undefined;
    if (typeof method === "function") return invoke(method, target, key);
    if (!(method instanceof LuaTable)) break;
    target = method;
    const value = target.getHashed(key, hash);
    if (value !== undefined || target.metatable === null) return value;
  }
  return index(rt, object, key, what);
}

/** object[key] where the key is likely to be an integer or a string. */
export function indexElement(rt: Runtime, object: LuaValue, key: LuaValue, what?: What): LuaValue {
  if (object instanceof LuaTable) {
    const value = typeof key === "number" ? object.getNumber(key) : object.get(key);
    if (value !== undefined || object.metatable === null) return value;
  }
  return index(rt, object, key, what);
}

/** object[key] = value */
export function setIndex(rt: Runtime, object: LuaValue, key: LuaValue, value: LuaValue, what?: What): void {
  let target = object;
  for (let i = 0; i < MAX_CHAIN; i++) {
    let method: LuaValue;
    if (target instanceof LuaTable) {
      method = storing(target, key);
      if (method === undefined) {
        target.set(key, value);
        return;
      }
    } else {
      method = typeof target === "string" ? rt.stringMetatable?.getHashed("__newindex", events.__newindex) : undefined;
      if (method === undefined) throw typeError("index", target, i === 0 ? what : undefined);
    }
    if (typeof method === "function") {
      enter();
      try {
        method(target, key, value);
      } finally {
        leave();
      }
      return;
    }
    target = method;
  }
  throw operationError("loop in settable");
}

/**
 * The __newindex to use instead of storing, if there is one. Lua finds or makes the key's place before it asks, so a bad key
 * is an error and a new one takes a node whatever the metamethod does.
 */
function storing(table: LuaTable, key: LuaValue): LuaValue {
  if (table.readonly) throw operationError("Attempt to modify a readonly table");
  if (key === undefined) throw operationError("table index is nil");
  if (Number.isNaN(key)) throw operationError("table index is NaN");
  if (table.metatable === null || table.get(key) !== undefined) return undefined;
  const method = table.metatable.getHashed("__newindex", events.__newindex);
  if (method !== undefined) table.set(key, undefined);
  return method;
}

/** object.key = value, for a constant key whose hash the compiler knows. */
export function setField(rt: Runtime, object: LuaValue, key: string, hash: number, value: LuaValue, what?: What): void {
  if (object instanceof LuaTable && object.metatable === null && !object.readonly) object.setHashed(key, hash, value);
  else setIndex(rt, object, key, value, what);
}

/** object[key] = value where the key is likely to be an integer or a string. */
export function setElement(rt: Runtime, object: LuaValue, key: LuaValue, value: LuaValue, what?: What): void {
  if (object instanceof LuaTable && object.metatable === null && !object.readonly) {
    if (typeof key === "number" && !Number.isNaN(key)) object.setNumber(key, value);
    else if (typeof key === "string") object.setHashed(key, hashString(key), value);
    else setIndex(rt, object, key, value, what);
  } else setIndex(rt, object, key, value, what);
}

export function toNumber(value: LuaValue): number | undefined {
  if (typeof value === "number") return value;
  return typeof value === "string" ? stringToNumber(flat(value)) : undefined;
}

export type Arithmetic = "__add" | "__sub" | "__mul" | "__div" | "__mod" | "__pow";

export function compute(event: Arithmetic, a: number, b: number): number {
  switch (event) {
    case "__add":
      return a + b;
    case "__sub":
      return a - b;
    case "__mul":
      return a * b;
    case "__div":
      return a / b;
    case "__mod":
      return a - Math.floor(a / b) * b;
    default:
      return power(a, b);
  }
}

/** C's pow. */
export const power = exact.pow;

/** a op b when they are not both numbers. */
export function arithmetic(event: Arithmetic, a: LuaValue, b: LuaValue, whatA?: What, whatB?: What): LuaValue {
  const x = toNumber(a);
  const y = toNumber(b);
  if (x !== undefined && y !== undefined) return compute(event, x, y);
  const method = metamethod(a, event) ?? metamethod(b, event);
  if (method !== undefined) return invoke(method, a, b);
  throw x === undefined ? typeError("perform arithmetic on", a, whatA) : typeError("perform arithmetic on", b, whatB);
}

export function negate(a: LuaValue, what?: What): LuaValue {
  const x = toNumber(a);
  if (x !== undefined) return -x;
  const method = metamethod(a, "__unm");
  if (method !== undefined) return invoke(method, a, a);
  throw typeError("perform arithmetic on", a, what);
}

/** #a. Lua 5.1 asks no metamethod of tables. */
export function length(a: LuaValue, what?: What): LuaValue {
  if (a instanceof LuaTable) return a.length();
  if (typeof a === "string") return a.length;
  throw typeError("get length of", a, what);
}

/** a .. b */
export function concat(a: LuaValue, b: LuaValue, whatA?: What, whatB?: What): LuaValue {
  const textA = typeof a === "string" || typeof a === "number";
  const textB = typeof b === "string" || typeof b === "number";
  if (textA && textB) {
    const left = typeof a === "string" ? a : numberToString(a);
    return left + (typeof b === "string" ? b : numberToString(b));
  }
  const method = metamethod(a, "__concat") ?? metamethod(b, "__concat");
  if (method !== undefined) return invoke(method, a, b);
  throw textA ? typeError("concatenate", b, whatB) : typeError("concatenate", a, whatA);
}

/** a == b */
export function equals(a: LuaValue, b: LuaValue): boolean {
  if (typeof a === "string" && a.length > LONG && typeof b === "string" && a.length === b.length) take(2 * a.length);
  return a === b || (a instanceof LuaTable && b instanceof LuaTable && equalsByMetamethod(a, b));
}

function equalsByMetamethod(a: LuaTable, b: LuaTable): boolean {
  const method = sharedMetamethod(a, b, "__eq");
  return method !== undefined && isTrue(invoke(method, a, b));
}

/** A comparison's metamethod: both operands must have the same one. */
function sharedMetamethod(a: LuaValue, b: LuaValue, event: Event): LuaValue {
  const method = metamethod(a, event);
  if (method === undefined) return undefined;
  const other = metamethod(b, event);
  return method === other || (other !== undefined && equals(method, other)) ? method : undefined;
}

const isTrue = (value: LuaValue) => value !== undefined && value !== false;

/** a < b */
export function lessThan(a: LuaValue, b: LuaValue): boolean {
  if (typeof a === "number" && typeof b === "number") return a < b;
  if (typeof a === "string" && typeof b === "string") return flat(a) < flat(b);
  if (typeName(a) === typeName(b)) {
    const method = sharedMetamethod(a, b, "__lt");
    if (method !== undefined) return isTrue(invoke(method, a, b));
  }
  throw orderError(a, b);
}

/** a <= b; without __le, not (b < a). */
export function lessEqual(a: LuaValue, b: LuaValue): boolean {
  if (typeof a === "number" && typeof b === "number") return a <= b;
  if (typeof a === "string" && typeof b === "string") return flat(a) <= flat(b);
  if (typeName(a) === typeName(b)) {
    const method = sharedMetamethod(a, b, "__le");
    if (method !== undefined) return isTrue(invoke(method, a, b));
    const reverse = sharedMetamethod(a, b, "__lt");
    if (reverse !== undefined) return !isTrue(invoke(reverse, b, a));
  }
  throw orderError(a, b);
}

function orderError(a: LuaValue, b: LuaValue): LuaError {
  const left = typeName(a);
  const right = typeName(b);
  return operationError(
    left === right ? `attempt to compare two ${left} values` : `attempt to compare ${left} with ${right}`,
  );
}

/** A numeric loop's start, limit or step. */
export function forNumber(value: LuaValue, role: "initial" | "limit" | "step"): number {
  const number = toNumber(value);
  if (number !== undefined) return number;
  throw operationError(role === "initial" ? "'for' initial value must be a number" : `'for' ${role} must be a number`);
}
