/**
 * BitOp: operations on 32-bit integers, handed back signed.
 */
// biome-ignore-all lint/complexity/noArguments: only the number of arguments is asked for, which costs nothing
import { single } from "../natives.ts";
import type { Runtime } from "../runtime.ts";
import type { LuaTable } from "../table.ts";
import type { LuaFunction, LuaValue } from "../value.ts";
import { checkNumber, makeLibrary } from "./check.ts";

export function bitLibrary(rt: Runtime): LuaTable {
  const shift = (name: string, compute: (x: number, n: number) => number): [string, LuaValue] => [
    name,
    shifting(rt, name, compute),
  ];
  return makeLibrary([
    ["tobit", unary(rt, "tobit", (x) => x)],
    ["bnot", unary(rt, "bnot", (x) => ~x)],
    ["band", folding(rt, "band", (a, b) => a & b)],
    ["bor", folding(rt, "bor", (a, b) => a | b)],
    ["bxor", folding(rt, "bxor", (a, b) => a ^ b)],
    shift("lshift", (x, n) => x << n),
    shift("rshift", (x, n) => (x >>> n) | 0),
    shift("arshift", (x, n) => x >> n),
    shift("rol", (x, n) => (x << n) | (x >>> (32 - n))),
    shift("ror", (x, n) => (x << (32 - n)) | (x >>> n)),
    ["bswap", unary(rt, "bswap", (x) => (x >>> 24) | ((x >>> 8) & 0xff00) | ((x & 0xff00) << 8) | (x << 24))],
    ["tohex", tohexFunction(rt)],
  ]);
}

const double = new Float64Array(1);
const words = new Int32Array(double.buffer);

/** Adding this pushes a number's fraction out, rounding it, and leaves its integer in the low bits. */
const MAGIC = 2 ** 52 + 2 ** 51;

function toBits(rt: Runtime, value: LuaValue, argument: number, name: string, given: number): number {
  if (typeof value === "number" && (value | 0) === value) return value | 0;
  double[0] = checkNumber(rt, value, argument, name, given) + MAGIC;
  return words[0]!;
}

function unary(rt: Runtime, name: string, compute: (x: number) => number): LuaFunction {
  return single(function (x: LuaValue) {
    return compute(toBits(rt, x, 1, name, arguments.length));
  }, "number");
}

function shifting(rt: Runtime, name: string, compute: (x: number, n: number) => number): LuaFunction {
  return single(function (x: LuaValue, n: LuaValue) {
    const given = arguments.length;
    const bits = toBits(rt, x, 1, name, given);
    return compute(bits, toBits(rt, n, 2, name, given) & 31);
  }, "number");
}

/** Arguments after the first are looked at from the last one on, which decides whose error is raised. */
function folding(rt: Runtime, name: string, compute: (a: number, b: number) => number): LuaFunction {
  return single((...args: LuaValue[]) => {
    let bits = toBits(rt, args[0], 1, name, args.length);
    for (let i = args.length; i > 1; i--) bits = compute(bits, toBits(rt, args[i - 1], i, name, args.length));
    return bits;
  }, "number");
}

/** As many hexadecimal digits as asked for, 8 at most; capital ones if the number asked for is negative. */
function tohexFunction(rt: Runtime): LuaFunction {
  return single(function tohex(x, n) {
    const given = arguments.length;
    const bits = toBits(rt, x, 1, "tohex", given) >>> 0;
    const digits = given < 2 ? 8 : toBits(rt, n, 2, "tohex", given);
    const text = bits
      .toString(16)
      .padStart(8, "0")
      .slice(8 - Math.min(Math.abs(digits), 8));
    return digits < 0 ? text.toUpperCase() : text;
  }, "string");
}
