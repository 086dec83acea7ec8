/**
 * One Lua state: its globals, its budget, and what native functions need to raise errors and to call back.
 *
 * Native functions use the methods here (`call`, `index`, `lessThan` …) and never the functions of operators.ts, which are
 * for generated code: Lua leaves the position out of an error that an operation raises inside a native function, and the
 * difference is told by who is on the stack.
 */
import type { Coroutine } from "./coroutine.ts";
import { TICK_BYTES, take } from "./memory.ts";
import { callable, enter, equals, index, leave, lessThan, metamethod, setIndex } from "./operators.ts";
import { LuaTable } from "./table.ts";
import { levelAt, overflowPlace, prefixOf } from "./trace.ts";
import { first, LuaError, type LuaFunction, type LuaValue, type Results, toDisplay } from "./value.ts";

/** Calls between two ticks; a loop makes one each 8192 rounds, too. */
export const FUEL = 8192;

export class Runtime {
  /** Counted down by calls; below zero `tick` is called. */
  fuel: number;
  /** What happens at a tick: looks at the clock, and ends the script by throwing a LuaAbort. */
  onTick: (() => void) | undefined;
  readonly globals: LuaTable;
  /** The metatable of all strings, once the string library is there. */
  stringMetatable: LuaTable | undefined;
  /** The functions that are not Lua's own. */
  readonly natives: WeakSet<LuaFunction>;
  /** `pairs` and `ipairs`, which the compiler makes into plain loops. */
  readonly walkers: Map<LuaValue, "pairs" | "ipairs">;
  /** The coroutine that runs, if one does. */
  running: Coroutine | undefined;

  constructor() {
    this.fuel = FUEL;
    this.onTick = undefined;
    this.globals = new LuaTable();
    this.stringMetatable = undefined;
    this.natives = new WeakSet();
    this.walkers = new Map();
    this.running = undefined;
  }

  /** Called by generated code now and then, whatever it does. */
  tick(_chunk?: unknown): void {
    this.fuel = FUEL;
    take(TICK_BYTES);
    this.onTick?.();
  }

  /** One step of a library function that goes through its input: counts as a call, and pays for what it makes. */
  step(bytes: number): void {
    take(bytes);
    if (--this.fuel < 0) this.tick();
  }

  /**
   * An error to be thrown by a native function, with the position of its caller (level 1), of that one's caller
   * (level 2) …, or with none (level 0). What luaL_error does.
   */
  error(message: string, level = 1): LuaError {
    const error = new LuaError(message);
    if (level > 0) error.value = prefixOf(levelAt(error, level - 1)) + message;
    return error;
  }

  /**
   * `bad argument #1 to 'rep' (number expected, got nil)`. The function is named as the script named it where it called it;
   * a method's own argument is not counted. `functionName` is for callers that have no place in a script.
   */
  argumentError(argument: number, functionName: string, text: string): LuaError {
    const error = new LuaError(text);
    const level = levelAt(error, 0);
    let name: string = functionName;
    let number = argument;
    if (level === "native") name = "?";
    else if (typeof level === "object") {
      name = level.site.name ?? "?";
      if (level.site.method) number--;
    }
    const bad = number === 0 && argument > 0 ? `calling '${name}' on bad self` : `bad argument #${number} to '${name}'`;
    error.value = `${prefixOf(level)}${bad} (${text})`;
    return error;
  }

  /** Calls any value that can be called. */
  call(f: LuaValue, args: LuaValue[]): Results {
    return fromNative(f, args);
  }

  index(object: LuaValue, key: LuaValue): LuaValue {
    return marked.index(this, object, key);
  }

  setIndex(object: LuaValue, key: LuaValue, value: LuaValue): void {
    marked.setIndex(this, object, key, value);
  }

  lessThan(a: LuaValue, b: LuaValue): boolean {
    return marked.lessThan(a, b);
  }

  equals(a: LuaValue, b: LuaValue): boolean {
    return marked.equals(a, b);
  }

  /** A value's metatable; those of strings share one. */
  metatableOf(value: LuaValue): LuaTable | undefined {
    if (value instanceof LuaTable) return value.metatable ?? undefined;
    return typeof value === "string" ? this.stringMetatable : undefined;
  }

  /** What `tostring` gives: nearly always a string, but a __tostring may say anything. */
  display(value: LuaValue): LuaValue {
    if (value instanceof LuaTable && value.metatable !== null) {
      const method = metamethod(value, "__tostring");
      if (method !== undefined) return first(fromNative(method, [value]));
    }
    return toDisplay(value);
  }

  /** The same where it must be text. */
  tostring(value: LuaValue): string {
    return toDisplay(this.display(value));
  }

  /**
   * What a `pcall` gets for something thrown: the error's value. JavaScript's own errors that a script can cause become
   * Lua's; everything else, an abort first of all, goes on.
   */
  caught(thrown: unknown): LuaValue {
    return this.asError(thrown).value;
  }

  asError(thrown: unknown): LuaError {
    if (thrown instanceof LuaError) return thrown;
    if (thrown instanceof RangeError) {
      const place = overflowPlace(thrown);
      const overflow = thrown.message.includes("call stack");
      const error = new LuaError(overflow ? `${prefixOf(place)}stack overflow` : "not enough memory");
      if (place !== undefined) error.place = { source: place.chunk.source, line: place.site.line };
      return error;
    }
    throw thrown;
  }
}

/** Marks a native function that calls back as a level of the Lua stack: see trace.ts. */
const { fromNative } = {
  fromNative(f: LuaValue, args: LuaValue[]): Results {
    enter();
    try {
      return typeof f === "function" ? f(...args) : callable(f, undefined)(...args);
    } finally {
      leave();
    }
  },
};

/** Operators as native functions use them: the name marks the native function here, too. */
const marked = {
  index: {
    fromNative(rt: Runtime, object: LuaValue, key: LuaValue): LuaValue {
      return index(rt, object, key);
    },
  }.fromNative,
  setIndex: {
    fromNative(rt: Runtime, object: LuaValue, key: LuaValue, value: LuaValue): void {
      setIndex(rt, object, key, value);
    },
  }.fromNative,
  lessThan: {
    fromNative(a: LuaValue, b: LuaValue): boolean {
      return lessThan(a, b);
    },
  }.fromNative,
  equals: {
    fromNative(a: LuaValue, b: LuaValue): boolean {
      return equals(a, b);
    },
  }.fromNative,
};
