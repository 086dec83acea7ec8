/**
 * Lua's base library as Redis leaves it to scripts: no files, no printing, no environments, no bytecode.
 */
// biome-ignore-all lint/complexity/noArguments: only the number of arguments is asked for, which costs nothing
import { compileChunk } from "../compiler/index.ts";
import { Coroutine } from "../coroutine.ts";
import { flat, take, VALUE_BYTES } from "../memory.ts";
import { single } from "../natives.ts";
import { parseInteger, stringToNumber } from "../number.ts";
import type { Runtime } from "../runtime.ts";
import { makeYield } from "../suspension.ts";
import { LuaTable } from "../table.ts";
import {
  EMPTY,
  first,
  LuaError,
  type LuaFunction,
  type LuaValue,
  type Results,
  toDisplay,
  typeName,
} from "../value.ts";
import { checkFunction, checkInt, checkString, checkTable, MAX_STACK, optInt } from "./check.ts";

/** Puts the base library and `coroutine` into the runtime's globals. */
export function openBase(rt: Runtime): void {
  const { globals } = rt;
  globals.setStr("_G", globals);
  globals.setStr("_VERSION", "Lua 5.1");
  for (const group of [basics(rt), tables(rt), metatables(rt), calls(rt), loading(rt)]) {
    for (const [name, f] of Object.entries(group)) globals.setStr(name, f);
  }
  rt.walkers.set(globals.getStr("pairs"), "pairs");
  rt.walkers.set(globals.getStr("ipairs"), "ipairs");
  globals.setStr("coroutine", coroutineLibrary(rt));
}

type Library = Record<string, LuaFunction>;

/** An argument that may be anything, but must be there. */
function checkAny(rt: Runtime, args: LuaValue[], argument: number, name: string): LuaValue {
  if (argument > args.length) throw rt.argumentError(argument, name, "value expected");
  return args[argument - 1];
}

function basics(rt: Runtime): Library {
  return {
    assert(...args) {
      const value = checkAny(rt, args, 1, "assert");
      if (value !== undefined && value !== false) return args.length === 1 ? value : args;
      const message = args[1] === undefined ? "assertion failed!" : checkString(rt, args[1], 2, "assert", args.length);
      throw rt.error(message);
    },
    error(value, level) {
      const at = optInt(rt, level, 2, "error", 1);
      if (typeof value === "string" && at > 0) throw rt.error(value, at);
      if (typeof value === "number" && at > 0) throw rt.error(toDisplay(value), at);
      throw new LuaError(value);
    },
    tostring: single(function (value) {
      if (typeof value === "string") return value;
      if (typeof value === "number") return toDisplay(value);
      if (value === undefined && arguments.length === 0) throw rt.argumentError(1, "tostring", "value expected");
      return rt.display(value);
    }),
    tonumber: single(function (value, base) {
      if (base !== undefined || arguments.length === 0) return tonumber(rt, [...arguments]);
      if (typeof value === "number") return value;
      return typeof value === "string" ? stringToNumber(flat(value)) : undefined;
    }),
    type: single(function (value) {
      if (value === undefined && arguments.length === 0) throw rt.argumentError(1, "type", "value expected");
      return typeName(value);
    }, "string"),
    select(...args) {
      const [which] = args;
      if (typeof which === "string" && which.startsWith("#")) return args.length - 1;
      let n = checkInt(rt, args[0], 1, "select", args.length);
      if (n < 0) n = args.length + n;
      else if (n > args.length) n = args.length;
      if (n < 1) throw rt.argumentError(1, "select", "index out of range");
      take((args.length - n) * VALUE_BYTES);
      return args.length - n === 1 ? args[n] : args.slice(n);
    },
    collectgarbage: single((...args) => collectgarbage(rt, args)),
    gcinfo: single(() => Math.floor(memoryKb()), "number"),
  };
}

function tonumber(rt: Runtime, args: LuaValue[]): LuaValue {
  const base = optInt(rt, args[1], 2, "tonumber", 10);
  if (base === 10) {
    const value = checkAny(rt, args, 1, "tonumber");
    if (typeof value === "number") return value;
    return typeof value === "string" ? stringToNumber(flat(value)) : undefined;
  }
  const text = checkString(rt, args[0], 1, "tonumber", args.length);
  if (base < 2 || base > 36) throw rt.argumentError(2, "tonumber", "base out of range");
  return parseInteger(text, base);
}

/** There is nothing to collect by hand; the figures are of the kind that Lua gives. */
function collectgarbage(rt: Runtime, args: LuaValue[]): LuaValue {
  const option = args[0] === undefined ? "collect" : checkString(rt, args[0], 1, "collectgarbage", args.length);
  optInt(rt, args[1], 2, "collectgarbage", 0);
  switch (option) {
    case "count":
      return memoryKb();
    case "step":
      return true;
    case "setpause":
    case "setstepmul":
      return 200;
    case "collect":
    case "stop":
    case "restart":
      return 0;
    default:
      throw rt.argumentError(1, "collectgarbage", `invalid option '${option}'`);
  }
}

const memoryKb = () => 64;

function tables(rt: Runtime): Library {
  const next: LuaFunction = (...args) => {
    const entry = checkTable(rt, args[0], 1, "next", args.length).next(args[1]);
    return entry === null ? undefined : entry;
  };
  const step: LuaFunction = (...args) => {
    const i = checkInt(rt, args[1], 2, "ipairs", args.length) + 1;
    const value = checkTable(rt, args[0], 1, "ipairs", args.length).getInt(i);
    return value === undefined ? EMPTY : [i, value];
  };
  rt.natives.add(step);
  return {
    next,
    pairs: (...args) => [next, checkTable(rt, args[0], 1, "pairs", args.length), undefined],
    ipairs: (...args) => [step, checkTable(rt, args[0], 1, "ipairs", args.length), 0],
    rawget: single((...args) => {
      const table = checkTable(rt, args[0], 1, "rawget", args.length);
      return table.get(checkAny(rt, args, 2, "rawget"));
    }),
    rawset: single((...args) => {
      const table = checkTable(rt, args[0], 1, "rawset", args.length);
      checkAny(rt, args, 2, "rawset");
      table.set(args[1], checkAny(rt, args, 3, "rawset"));
      return table;
    }),
    rawequal: single((...args) => {
      const a = checkAny(rt, args, 1, "rawequal");
      return a === checkAny(rt, args, 2, "rawequal");
    }, "boolean"),
    unpack: (...args) => unpack(rt, args),
  };
}

function unpack(rt: Runtime, args: LuaValue[]): Results {
  const table = checkTable(rt, args[0], 1, "unpack", args.length);
  const from = optInt(rt, args[1], 2, "unpack", 1);
  const to = args[2] === undefined ? table.length() : checkInt(rt, args[2], 3, "unpack", args.length);
  if (from > to) return EMPTY;
  const count = to - from + 1;
  if (count + args.length > MAX_STACK) throw rt.error("too many results to unpack");
  if (count === 1) return table.getInt(from);
  take(count * VALUE_BYTES);
  return table.slice(from, to);
}

function metatables(rt: Runtime): Library {
  return {
    getmetatable: single((...args) => {
      const metatable = rt.metatableOf(checkAny(rt, args, 1, "getmetatable"));
      return metatable?.getStr("__metatable") ?? metatable;
    }),
    setmetatable: single((...args) => {
      const table = checkTable(rt, args[0], 1, "setmetatable", args.length);
      const metatable = args[1];
      if (!(args.length > 1 && (metatable === undefined || metatable instanceof LuaTable))) {
        throw rt.argumentError(2, "setmetatable", "nil or table expected");
      }
      if (table.metatable?.getStr("__metatable") !== undefined) throw rt.error("cannot change a protected metatable");
      if (table.readonly) throw new LuaError("Attempt to modify a readonly table");
      table.metatable = metatable ?? null;
      return table;
    }),
  };
}

function calls(rt: Runtime): Library {
  return {
    pcall(...args) {
      if (args.length === 0) return [false, "attempt to call a boolean value"];
      try {
        return prepend(true, rt.call(args[0], args.slice(1)));
      } catch (thrown) {
        return failed(rt, rt.caught(thrown));
      }
    },
    xpcall(...args) {
      checkAny(rt, args, 2, "xpcall");
      try {
        return prepend(true, rt.call(args[0], []));
      } catch (thrown) {
        return [false, handled(rt, args[1], rt.caught(thrown))];
      }
    },
  };
}

function prepend(value: LuaValue, results: Results): LuaValue[] {
  return Array.isArray(results) ? [value, ...results] : [value, results];
}

/** What `pcall` gives for an error. Redis unpacks the tables that its own functions raise: `err` is the message. */
function failed(rt: Runtime, value: LuaValue): LuaValue[] {
  if (!(value instanceof LuaTable)) return [false, value];
  const message = rt.index(value, "err");
  return typeof message === "string" || typeof message === "number" ? [false, message] : [false, value, message];
}

/** Errors of an error handler go to the same handler, up to Lua's limit of C calls. */
const MAX_HANDLING = 200;

/** What an error handler makes of an error. */
function handled(rt: Runtime, handler: LuaValue, value: LuaValue): LuaValue {
  let current = value;
  for (let i = 0; typeof handler === "function" && i < MAX_HANDLING; i++) {
    try {
      return first(rt.call(handler, [current]));
    } catch (thrown) {
      current = rt.caught(thrown);
    }
  }
  return "error in error handling";
}

function loading(rt: Runtime): Library {
  const load = (source: string, chunkName: string): Results => {
    if (source.length > MAX_SOURCE) return [undefined, "not enough memory"];
    try {
      return compileChunk(rt, source, chunkName, { resumable: true });
    } catch (thrown) {
      return [undefined, rt.caught(thrown)];
    }
  };
  return {
    loadstring(...args) {
      const source = checkString(rt, args[0], 1, "loadstring", args.length);
      return load(source, args[1] === undefined ? source : checkString(rt, args[1], 2, "loadstring", args.length));
    },
    load(...args) {
      const chunkName = args[1] === undefined ? "=(load)" : checkString(rt, args[1], 2, "load", args.length);
      const reader = checkFunction(rt, args[0], 1, "load", args.length);
      let source: string;
      try {
        source = readAll(rt, reader);
      } catch (thrown) {
        return [undefined, rt.caught(thrown)];
      }
      return load(source, chunkName);
    },
  };
}

/** More source than this is refused: compiling cannot be interrupted, and takes a second for a megabyte. */
const MAX_SOURCE = 512 * 1024;

/** The pieces that a reader gives, joined now and then so that many small ones take no more room than their text. */
function readAll(rt: Runtime, reader: LuaValue): string {
  const joined: string[] = [];
  let pieces: string[] = [];
  let size = 0;
  for (;;) {
    const piece = first(rt.call(reader, []));
    if (piece === undefined || piece === "") return joined.join("") + pieces.join("");
    if (typeof piece !== "string" && typeof piece !== "number") {
      throw rt.error("reader function must return a string");
    }
    const text = flat(toDisplay(piece));
    size += text.length;
    if (size > MAX_SOURCE) throw new LuaError("not enough memory");
    pieces.push(text);
    if (pieces.length === 1024) {
      joined.push(pieces.join(""));
      pieces = [];
    }
  }
}

function coroutineLibrary(rt: Runtime): LuaTable {
  const check = (args: LuaValue[], name: string): Coroutine => {
    if (args[0] instanceof Coroutine) return args[0];
    throw rt.argumentError(1, name, "coroutine expected");
  };
  const create = (args: LuaValue[], name: string): Coroutine => {
    const [f] = args;
    if (typeof f !== "function" || rt.natives.has(f)) throw rt.argumentError(1, name, "Lua function expected");
    return new Coroutine(f);
  };
  const library: Library = {
    create: single((...args) => create(args, "create")),
    resume(...args) {
      const coroutine = check(args, "resume");
      if (coroutine.status !== "suspended") return [false, `cannot resume ${coroutine.status} coroutine`];
      try {
        return [true, ...coroutine.resume(rt, args.slice(1))];
      } catch (thrown) {
        return [false, rt.caught(thrown)];
      }
    },
    wrap: single((...args) => {
      const coroutine = create(args, "wrap");
      const wrapped: LuaFunction = (...given) => resumeWrapped(rt, coroutine, given);
      rt.natives.add(wrapped);
      return wrapped;
    }),
    status: single((...args) => check(args, "status").status, "string"),
    running: single(() => rt.running),
    yield: makeYield(),
  };
  const table = new LuaTable(0, 8);
  for (const [name, f] of Object.entries(library)) table.setStr(name, f);
  return table;
}

function resumeWrapped(rt: Runtime, coroutine: Coroutine, args: LuaValue[]): Results {
  if (coroutine.status !== "suspended") throw rt.error(`cannot resume ${coroutine.status} coroutine`);
  let values: LuaValue[];
  try {
    values = coroutine.resume(rt, args);
  } catch (thrown) {
    const value = rt.caught(thrown);
    if (typeof value === "string" || typeof value === "number") throw rt.error(toDisplay(value));
    throw new LuaError(value);
  }
  return values.length === 1 ? values[0] : values;
}

/** Makes a table, and the tables in it, read-only to scripts; the functions in it are the host's. */
export function protect(rt: Runtime, table: LuaTable): void {
  if (table.readonly) return;
  table.readonly = true;
  if (table.metatable !== null) protect(rt, table.metatable);
  for (const [, value] of table.entries()) {
    if (value instanceof LuaTable) protect(rt, value);
    else if (typeof value === "function") rt.natives.add(value);
  }
}

/** Makes the globals and all libraries read-only, and the reading of a global that is not there an error, as Redis does. */
export function protectGlobals(rt: Runtime): void {
  const metatable = new LuaTable(0, 1);
  metatable.setStr("__index", (...args) => {
    if (args.length !== 2) throw rt.error("Wrong number of arguments to luaProtectedTableError");
    const name = args[1];
    if (typeof name !== "string" && typeof name !== "number") {
      throw rt.error("Second argument to luaProtectedTableError must be a string or number");
    }
    throw rt.error(`Script attempted to access nonexistent global variable '${toDisplay(name)}'`);
  });
  rt.globals.metatable = metatable;
  protect(rt, rt.globals);
  if (rt.stringMetatable !== undefined) protect(rt, rt.stringMetatable);
}
