/**
 * Binary records: the `struct` library.
 *
 * A format is a line of options: `<` `>` byte order, `!n` alignment, `b B h H l L T` integers, `in In` integers of n bytes,
 * `f d` floats, `s` a string with a NUL behind it, `cn` n characters (`c0`: all of the string when packing, as many as the
 * number before says when unpacking), `x` a byte of padding.
 */
// biome-ignore-all lint/complexity/noArguments: only the number of arguments is asked for, which costs nothing
import { LONG, take, VALUE_BYTES } from "../memory.ts";
import { single } from "../natives.ts";
import { stringToNumber } from "../number.ts";
import type { Runtime } from "../runtime.ts";
import type { LuaTable } from "../table.ts";
import { LuaError, type LuaFunction, type LuaValue, type Results } from "../value.ts";
import { checkInteger, checkNumber, checkString, MAX_STACK, MAX_STRING, makeLibrary } from "./check.ts";
import { OFTEN } from "./search.ts";

export function structLibrary(rt: Runtime): LuaTable {
  return makeLibrary([
    ["pack", single(packFunction(rt), "string")],
    ["unpack", unpackFunction(rt)],
    ["size", single(sizeFunction(rt), "number")],
  ]);
}

/** Integers may have this many bytes; those past the eighth are zero. */
const MAX_INTEGER = 32;
const NATIVE_ALIGNMENT = 8;
const INT_MAX = 0x7fffffff;

/** Reads a format option by option, and keeps what the options so far have set. */
class Format {
  readonly #rt: Runtime;
  readonly #text: string;
  readonly #function: string;
  #at = 0;
  little = true;
  #alignment = 1;
  /** The option that was read. */
  option = "";
  /** How many bytes it takes; 0 where that is not known yet. */
  size = 0;

  constructor(rt: Runtime, format: string, functionName: string) {
    this.#rt = rt;
    const nul = format.indexOf("\0");
    this.#text = nul < 0 ? format : format.slice(0, nul);
    this.#function = functionName;
  }

  next(): boolean {
    if (this.#at >= this.#text.length) return false;
    this.option = this.#text.charAt(this.#at++);
    this.size = this.#sizeOf(this.option);
    return true;
  }

  /** How many bytes of padding the option needs at a position. */
  padding(at: number): number {
    if (this.size === 0 || this.option === "c") return 0;
    const size = Math.min(this.size, this.#alignment);
    return (size - (at & (size - 1))) & (size - 1);
  }

  /** An option that takes no bytes, or none at all. */
  control(): void {
    switch (this.option) {
      case " ":
        return;
      case ">":
        this.little = false;
        return;
      case "<":
        this.little = true;
        return;
      case "!": {
        const alignment = this.#number(NATIVE_ALIGNMENT);
        if (alignment === 0 || (alignment & (alignment - 1)) !== 0) {
          throw this.#rt.error(`alignment ${alignment} is not a power of 2`);
        }
        this.#alignment = alignment;
        return;
      }
      default:
        throw this.fault(`invalid format option '${this.option}'`);
    }
  }

  fault(message: string): LuaError {
    return this.#rt.argumentError(1, this.#function, message);
  }

  #sizeOf(option: string): number {
    switch (option) {
      case "b":
      case "B":
      case "x":
        return 1;
      case "h":
      case "H":
        return 2;
      case "l":
      case "L":
      case "T":
      case "d":
        return 8;
      case "f":
        return 4;
      case "c":
        return this.#number(1);
      case "i":
      case "I": {
        const size = this.#number(4);
        if (size <= MAX_INTEGER) return size;
        throw this.#rt.error(`integral size ${size} is larger than limit of ${MAX_INTEGER}`);
      }
      default:
        return 0;
    }
  }

  #number(otherwise: number): number {
    const begin = this.#at;
    let value = 0;
    for (;;) {
      const digit = this.#text.charCodeAt(this.#at) - 0x30;
      if (!(digit >= 0 && digit <= 9)) break;
      if ((this.#at & OFTEN) === OFTEN) this.#rt.tick();
      value = value * 10 + digit;
      if (value > INT_MAX) throw this.#rt.error("integral size overflow");
      this.#at++;
    }
    return this.#at === begin ? otherwise : value;
  }
}

const isInteger = (option: string) => "bBhHlLTiI".includes(option);

const view = new DataView(new ArrayBuffer(8));

function bytesOf(count: number): string {
  let text = "";
  for (let i = 0; i < count; i++) text += String.fromCharCode(view.getUint8(i));
  return text;
}

function packFunction(rt: Runtime): LuaFunction {
  return (...args: LuaValue[]) => {
    // The reference puts a nil behind the arguments, so that the first one missing is nil to it.
    const given = args.length + 1;
    const format = new Format(rt, checkString(rt, args[0], 1, "pack", args.length), "pack");
    let result = "";
    let argument = 2;
    while (format.next()) {
      const { option, size, little } = format;
      rt.step(4 * VALUE_BYTES + size);
      const padding = format.padding(result.length);
      if (padding > LONG) take(padding);
      if (padding > 0) result += "\0".repeat(padding);
      const value = args[argument - 1];
      if (isInteger(option)) result += packInteger(checkNumber(rt, value, argument++, "pack", given), size, little);
      else if (option === "x") result += "\0";
      else if (option === "f") {
        view.setFloat32(0, checkNumber(rt, value, argument++, "pack", given), little);
        result += bytesOf(4);
      } else if (option === "d") {
        view.setFloat64(0, checkNumber(rt, value, argument++, "pack", given), little);
        result += bytesOf(8);
      } else if (option === "c" || option === "s") {
        const text = checkString(rt, value, argument++, "pack", given);
        if (text.length < size) throw rt.argumentError(argument, "pack", "string too short");
        result += size === 0 ? text : text.slice(0, size);
        if (option === "s") result += "\0";
      } else format.control();
      if (result.length > MAX_STRING) throw new LuaError("not enough memory");
    }
    return result;
  };
}

/** The two's complement of a number in so many bytes: two halves of 32 bits, and zeros past them. */
function packInteger(value: number, size: number, little: boolean): string {
  const fits = value >= -(2 ** 63) && value < 2 ** 64;
  const integer = fits ? Math.trunc(value) : 0;
  const low = integer >>> 0;
  // What does not fit becomes the smallest integer or zero, as C's casts have it on x86.
  const high = fits || value >= 2 ** 64 ? Math.floor(integer / 2 ** 32) >>> 0 : 0x80000000;
  let text = "";
  for (let i = 0; i < size; i++) {
    const k = little ? i : size - 1 - i;
    const byte = k < 4 ? low >>> (8 * k) : k < 8 ? high >>> (8 * (k - 4)) : 0;
    text += String.fromCharCode(byte & 0xff);
  }
  return text;
}

/** A position before the first byte stands for one past 2^63, as in C; alignment may bring it back. */
function fits(at: number, size: number, length: number): boolean {
  return at >= 0 && size <= length && at <= length - size;
}

function unpackFunction(rt: Runtime): LuaFunction {
  return function unpack(f, s, start): Results {
    const given = arguments.length;
    const format = new Format(rt, checkString(rt, f, 1, "unpack", given), "unpack");
    const data = checkString(rt, s, 2, "unpack", given);
    let at = start === undefined ? 0 : checkInteger(rt, start, 3, "unpack", given) - 1;
    if (at === -1) throw rt.argumentError(3, "unpack", "offset must be 1 or greater");
    const tooShort = () => rt.argumentError(2, "unpack", "data string too short");
    const results: LuaValue[] = [];
    while (format.next()) {
      const { option } = format;
      let { size } = format;
      rt.step(2 * VALUE_BYTES);
      at += format.padding(at);
      if (!fits(at, size, data.length)) throw tooShort();
      if (results.length + 4 > MAX_STACK) throw rt.error("stack overflow (too many results)");
      if (isInteger(option)) results.push(unpackInteger(data, at, size, format.little, option >= "a"));
      else if (option === "f" || option === "d") results.push(unpackFloat(data, at, size, format.little));
      else if (option === "c") {
        if (size === 0) {
          size = previousSize(rt, results);
          if (!fits(at, size, data.length)) throw tooShort();
        }
        results.push(data.slice(at, at + size));
      } else if (option === "s") {
        const end = data.indexOf("\0", at);
        if (end < 0) throw rt.error("unfinished string in data");
        results.push(data.slice(at, end));
        size = end - at + 1;
      } else if (option !== "x") format.control();
      at += size;
    }
    if (results.length === 0) return at + 1;
    results.push(at + 1);
    return results;
  };
}

/** `c0` takes the value before it for its size. */
function previousSize(rt: Runtime, results: LuaValue[]): number {
  const value = results.pop();
  const size = typeof value === "string" ? stringToNumber(value) : value;
  if (typeof size !== "number") throw rt.error("format 'c0' needs a previous size");
  return size < 0 ? 2 ** 64 : Math.trunc(size);
}

function unpackInteger(data: string, at: number, size: number, little: boolean, signed: boolean): number {
  if (size <= 4 && size > 0) {
    let value = 0;
    for (let i = 0; i < size; i++) value = (value << 8) | data.charCodeAt(little ? at + size - 1 - i : at + i);
    if (!signed) return value >>> 0;
    const unused = 32 - size * 8;
    return (value << unused) >> unused;
  }
  if (size === 8) {
    const upper = unpackInteger(data, little ? at + 4 : at, 4, little, signed);
    return upper * 2 ** 32 + unpackInteger(data, little ? at : at + 4, 4, little, false);
  }
  let value = 0n;
  for (let i = 0; i < size; i++) {
    value = ((value << 8n) | BigInt(data.charCodeAt(little ? at + size - 1 - i : at + i))) & 0xffffffffffffffffn;
  }
  if (!signed) return Number(value);
  // Sizes that are not a register's extend the sign from where x86's shift, which counts modulo 64, puts it.
  const mask = BigInt.asUintN(64, -1n << BigInt((size * 8 + 63) % 64));
  if ((value & mask) !== 0n) value |= mask;
  return Number(BigInt.asIntN(64, value));
}

function unpackFloat(data: string, at: number, size: number, little: boolean): number {
  for (let i = 0; i < size; i++) view.setUint8(i, data.charCodeAt(at + i));
  return size === 4 ? view.getFloat32(0, little) : view.getFloat64(0, little);
}

function sizeFunction(rt: Runtime): LuaFunction {
  return function size(f) {
    const format = new Format(rt, checkString(rt, f, 1, "size", arguments.length), "size");
    let total = 0;
    while (format.next()) {
      rt.step(0);
      total += format.padding(total);
      if (format.option === "s") throw format.fault("option 's' has no fixed size");
      if (format.option === "c" && format.size === 0) throw format.fault("option 'c0' has no fixed size");
      if (!/[0-9a-zA-Z]/.test(format.option)) format.control();
      total += format.size;
    }
    return total;
  };
}
