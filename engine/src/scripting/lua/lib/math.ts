/**
 * Lua's math library. Random numbers are Redis's own: drand48's generator, whatever the machine, so that a seed gives the
 * same numbers everywhere. It goes on from script to script.
 */
// biome-ignore-all lint/complexity/noArguments: only the number of arguments is asked for, which costs nothing
import { single } from "../natives.ts";
import type { Runtime } from "../runtime.ts";
import type { LuaTable } from "../table.ts";
import { EMPTY, type LuaFunction, type LuaValue, type Results } from "../value.ts";
import { checkInt, checkNumber, makeLibrary } from "./check.ts";
import { exact } from "./exact.ts";

export function mathLibrary(rt: Runtime): LuaTable {
  const unary = (name: string, compute: (x: number) => number): [string, LuaValue] => [name, one(rt, name, compute)];
  const binary = (name: string, compute: (x: number, y: number) => number): [string, LuaValue] => [
    name,
    two(rt, name, compute),
  ];
  const random = new Random();
  const library = makeLibrary([
    unary("abs", Math.abs),
    unary("acos", exact.acos),
    unary("asin", exact.asin),
    binary("atan2", exact.atan2),
    unary("atan", exact.atan),
    unary("ceil", Math.ceil),
    unary("cosh", exact.cosh),
    unary("cos", exact.cos),
    unary("deg", (x) => x / (Math.PI / 180)),
    unary("exp", exact.exp),
    unary("floor", Math.floor),
    binary("fmod", (x, y) => x % y),
    ["frexp", frexpFunction(rt)],
    ["ldexp", ldexpFunction(rt)],
    unary("log10", Math.log10),
    unary("log", exact.log),
    ["max", maxFunction(rt)],
    ["min", minFunction(rt)],
    ["modf", modfFunction(rt)],
    binary("pow", exact.pow),
    unary("rad", (x) => x * (Math.PI / 180)),
    ["random", single(randomFunction(rt, random), "number")],
    ["randomseed", randomseedFunction(rt, random)],
    unary("sinh", Math.sinh),
    unary("sin", exact.sin),
    unary("sqrt", Math.sqrt),
    unary("tanh", Math.tanh),
    unary("tan", exact.tan),
  ]);
  library.setStr("pi", Math.PI);
  library.setStr("huge", Infinity);
  library.setStr("mod", library.getStr("fmod"));
  return library;
}

function one(rt: Runtime, name: string, compute: (x: number) => number): LuaFunction {
  return single(function (x: LuaValue) {
    return compute(typeof x === "number" ? x : checkNumber(rt, x, 1, name, arguments.length));
  }, "number");
}

/** The second argument is looked at first, as C compilers like to do. */
function two(rt: Runtime, name: string, compute: (x: number, y: number) => number): LuaFunction {
  return single(function (x: LuaValue, y: LuaValue) {
    if (typeof x === "number" && typeof y === "number") return compute(x, y);
    const b = checkNumber(rt, y, 2, name, arguments.length);
    return compute(checkNumber(rt, x, 1, name, arguments.length), b);
  }, "number");
}

function maxFunction(rt: Runtime): LuaFunction {
  return single((...args: LuaValue[]) => {
    let best = checkNumber(rt, args[0], 1, "max", args.length);
    for (let i = 1; i < args.length; i++) {
      const x = checkNumber(rt, args[i], i + 1, "max", args.length);
      if (x > best) best = x;
    }
    return best;
  }, "number");
}

function minFunction(rt: Runtime): LuaFunction {
  return single((...args: LuaValue[]) => {
    let best = checkNumber(rt, args[0], 1, "min", args.length);
    for (let i = 1; i < args.length; i++) {
      const x = checkNumber(rt, args[i], i + 1, "min", args.length);
      if (x < best) best = x;
    }
    return best;
  }, "number");
}

/** A number as a fraction of 0.5 to 1 and a power of two. */
function frexpFunction(rt: Runtime): LuaFunction {
  return function frexp(x): Results {
    const value = checkNumber(rt, x, 1, "frexp", arguments.length);
    if (value === 0 || !Number.isFinite(value)) return [value, 0];
    // Numbers too small to be normal are scaled first.
    const small = Math.abs(value) < 2 ** -1022;
    const scaled = small ? value * 2 ** 54 : value;
    double[0] = scaled;
    const exponent = ((words[1]! >>> 20) & 0x7ff) - 1022;
    words[1] = (words[1]! & 0x800fffff) | 0x3fe00000;
    return [double[0], small ? exponent - 54 : exponent];
  };
}

const double = new Float64Array(1);
const words = new Int32Array(double.buffer);

function ldexpFunction(rt: Runtime): LuaFunction {
  return single(function ldexp(x, e) {
    const exponent = checkInt(rt, e, 2, "ldexp", arguments.length);
    return scale(checkNumber(rt, x, 1, "ldexp", arguments.length), exponent);
  }, "number");
}

/** value × 2^exponent, rounded once. */
function scale(value: number, exponent: number): number {
  if (value === 0 || !Number.isFinite(value)) return value;
  if (exponent >= -1022) {
    let result = value;
    let left = Math.min(exponent, 2200);
    for (; left > 1023; left -= 1023) result *= 2 ** 1023;
    return result * 2 ** left;
  }
  // Downwards, as far as the result stays normal first: that loses nothing.
  const size = Math.floor(Math.log2(Math.abs(value)));
  const exact = Math.min(Math.max(size + 1020, 0), -exponent);
  let result = value;
  let left = exact;
  for (; left > 1022; left -= 1022) result *= 2 ** -1022;
  result *= 2 ** -left;
  const rest = Math.min(-exponent - exact, 2200);
  return rest > 1022 ? result * 0 : result * 2 ** -rest;
}

/** The whole part and the rest, both with the number's sign. */
function modfFunction(rt: Runtime): LuaFunction {
  return function modf(x): Results {
    const value = checkNumber(rt, x, 1, "modf", arguments.length);
    const whole = Math.trunc(value);
    const rest = Number.isFinite(value) ? value - whole : Number.isNaN(value) ? value : 0;
    return [whole, rest === 0 && (value < 0 || Object.is(value, -0)) ? -0 : rest];
  };
}

/** The generator's factor, 0x5deece66d, in two halves of 24 bits, and what is added. */
const FACTOR_HIGH = 0x5de;
const FACTOR_LOW = 0xece66d;
const INCREMENT = 0xb;
const HALF = 2 ** 24;
const INT32_MAX = 0x7fffffff;

/** 48 bits, each time multiplied and added to. In two halves of 24 bits, so that doubles hold every product exactly. */
class Random {
  #high = 0x1234ab;
  #low = 0xcd330e;

  seed(value: number): void {
    const seed = value >>> 0;
    this.#high = seed >>> 8;
    this.#low = ((seed & 0xff) << 16) | 0x330e;
  }

  /** The upper 31 bits. */
  next(): number {
    const low = this.#low * FACTOR_LOW + INCREMENT;
    const carry = Math.floor(low / HALF);
    const high = this.#high * FACTOR_LOW + this.#low * FACTOR_HIGH + carry;
    this.#low = low - carry * HALF;
    this.#high = high - Math.floor(high / HALF) * HALF;
    return this.#high * 128 + (this.#low >>> 17);
  }
}

function randomFunction(rt: Runtime, random: Random): LuaFunction {
  return (...args: LuaValue[]) => {
    const bits = random.next();
    const fraction = bits === INT32_MAX ? 0 : bits / INT32_MAX;
    if (args.length === 0) return fraction;
    if (args.length > 2) throw rt.error("wrong number of arguments");
    const first = checkInt(rt, args[0], 1, "random", args.length);
    if (args.length === 1) {
      if (first < 1) throw rt.argumentError(1, "random", "interval is empty");
      return Math.floor(fraction * first) + 1;
    }
    const last = checkInt(rt, args[1], 2, "random", args.length);
    if (first > last) throw rt.argumentError(2, "random", "interval is empty");
    return Math.floor(fraction * ((last - first + 1) | 0)) + first;
  };
}

function randomseedFunction(rt: Runtime, random: Random): LuaFunction {
  return function randomseed(seed): Results {
    random.seed(checkInt(rt, seed, 1, "randomseed", arguments.length));
    return EMPTY;
  };
}
