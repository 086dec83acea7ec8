/**
 * MessagePack: the `cmsgpack` library.
 *
 * Packing writes the shortest form. A table whose keys are 1..n is an array, any other a map; tables nested more than 16
 * deep become nil, which is how circles end. Unpacking never makes more than the input has bytes for.
 */
// biome-ignore-all lint/complexity/noArguments: only the number of arguments is asked for, which costs nothing
import { TABLE_BYTES, VALUE_BYTES } from "../memory.ts";
import { single } from "../natives.ts";
import type { Runtime } from "../runtime.ts";
import { LuaTable } from "../table.ts";
import { EMPTY, type LuaFunction, type LuaValue, type Results } from "../value.ts";
import { checkInteger, checkString, MAX_STACK, makeSequence, optInteger, toInt } from "./check.ts";
import { Fields } from "./fields.ts";

export function cmsgpackLibrary(rt: Runtime): LuaTable {
  const library = new LuaTable();
  library.setStr("pack", single(packFunction(rt), "string"));
  library.setStr("unpack", unpackFunction(rt));
  library.setStr("unpack_one", unpackOneFunction(rt));
  library.setStr("unpack_limit", unpackLimitFunction(rt));
  library.setStr("_NAME", "cmsgpack");
  library.setStr("_VERSION", "lua-cmsgpack 0.4.0");
  library.setStr("_COPYRIGHT", "Copyright (C) 2012, Salvatore Sanfilippo");
  library.setStr("_DESCRIPTION", "MessagePack C implementation for Lua");
  return library;
}

const MAX_NESTING = 16;
const INT32_MAX = 0x7fffffff;

const view = new DataView(new ArrayBuffer(8));

function packFunction(rt: Runtime): LuaFunction {
  return (...args: LuaValue[]) => {
    if (args.length === 0) throw rt.argumentError(0, "pack", "MessagePack pack needs input.");
    let result = "";
    for (let i = 0; i < args.length; i++) result += pack(rt, args[i], 0);
    return result;
  };
}

function pack(rt: Runtime, value: LuaValue, level: number): string {
  rt.step(4 * VALUE_BYTES);
  switch (typeof value) {
    case "string":
      return packHeader(value.length, 0xa0, 32, 0xd9) + value;
    case "number":
      return packNumber(value);
    case "boolean":
      return value ? "\xc3" : "\xc2";
    default:
      return value instanceof LuaTable && level < MAX_NESTING ? packTable(rt, value, level) : "\xc0";
  }
}

const u8 = (n: number) => String.fromCharCode(n & 0xff);
const u16 = (n: number) => String.fromCharCode((n >>> 8) & 0xff, n & 0xff);
const u32 = (n: number) => String.fromCharCode(n >>> 24, (n >>> 16) & 0xff, (n >>> 8) & 0xff, n & 0xff);

/** A length: in the first byte if it is small enough, else in 1 (strings only), 2 or 4 bytes of its own. */
function packHeader(length: number, small: number, smallEnd: number, large: number): string {
  if (length < smallEnd) return u8(small | length);
  if (large === 0xd9) {
    if (length <= 0xff) return u8(0xd9) + u8(length);
    return length <= 0xffff ? u8(0xda) + u16(length) : u8(0xdb) + u32(length);
  }
  return length <= 0xffff ? u8(large) + u16(length) : u8(large + 1) + u32(length);
}

function packNumber(value: number): string {
  if (!(Math.trunc(value) === value && value >= -(2 ** 63) && value < 2 ** 63)) return packFloat(value);
  if (value >= 0) {
    if (value <= 127) return u8(value);
    if (value <= 0xff) return `\xcc${u8(value)}`;
    if (value <= 0xffff) return `\xcd${u16(value)}`;
    if (value <= 0xffffffff) return `\xce${u32(value)}`;
    return `\xcf${u32(Math.floor(value / 2 ** 32))}${u32(value % 2 ** 32)}`;
  }
  if (value >= -32) return u8(value);
  if (value >= -128) return `\xd0${u8(value)}`;
  if (value >= -32768) return `\xd1${u16(value)}`;
  if (value >= -2147483648) return `\xd2${u32(value)}`;
  const high = Math.floor(value / 2 ** 32);
  return `\xd3${u32(high)}${u32(value - high * 2 ** 32)}`;
}

/** Four bytes where they hold the number exactly. */
function packFloat(value: number): string {
  // The sign of a NaN that arithmetic makes is set on x86.
  if (Number.isNaN(value)) return "\xcb\xff\xf8\0\0\0\0\0\0";
  if (Math.fround(value) === value) {
    view.setFloat32(0, value);
    return `\xca${u32(view.getUint32(0))}`;
  }
  view.setFloat64(0, value);
  return `\xcb${u32(view.getUint32(0))}${u32(view.getUint32(4))}`;
}

function packTable(rt: Runtime, table: LuaTable, level: number): string {
  const count = sequenceLength(table);
  if (count >= 0) {
    let result = packHeader(count, 0x90, 16, 0xdc);
    for (let i = 1; i <= count; i++) result += pack(rt, table.getInt(i), level + 1);
    return result;
  }
  let entries = "";
  let size = 0;
  for (let p = table.advance(0); p >= 0; p = table.advance(p)) {
    entries += pack(rt, table.keyAt(p), level + 1) + pack(rt, table.valueAt(p), level + 1);
    size++;
  }
  return packHeader(size, 0x80, 16, 0xde) + entries;
}

/** n if the keys are exactly 1..n, else -1. */
function sequenceLength(table: LuaTable): number {
  let count = 0;
  let max = 0;
  for (let p = table.advance(0); p >= 0; p = table.advance(p)) {
    const key = table.keyAt(p);
    if (typeof key !== "number" || key <= 0 || Math.trunc(key) !== key || key > INT32_MAX) return -1;
    if (key > max) max = key;
    count++;
  }
  return max === count ? count : -1;
}

/** What is wrong with the input; thrown deep inside, made a Lua error where the script is near on the stack. */
class Fault {
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
}

const MISSING = new Fault("Missing bytes in input.");
const MALFORMED = new Fault("Bad data format in input.");
const TOO_MANY = new Fault("stack overflow (too many return values at once; use unpack_one or unpack_limit instead.)");
const NO_ROOM = new Fault("stack overflow (in function mp_unpack_full)");
const TOO_DEEP = new Fault("stack overflow (in function mp_decode_to_lua_array)");

/** Says that the content of an array or a map comes next. */
const OPENED = Symbol("opened");

/** An array or a map that is being read. */
class Container {
  /** The fields of a map; or the elements of an array, the first at 1: once there was a nil, the table is filled instead. */
  readonly #content: LuaValue[] | Fields;
  #table: LuaTable | undefined;
  /** How many elements, or keys and values, are still to come. */
  left: number;
  key: LuaValue;
  /** What it is part of. */
  readonly parent: Container | undefined;

  constructor(isArray: boolean, left: number, parent: Container | undefined) {
    this.parent = parent;
    this.#content = isArray ? [undefined] : new Fields();
    this.#table = undefined;
    this.left = left;
    this.key = undefined;
  }

  /** Takes the next element, key or value. */
  add(value: LuaValue): void {
    this.left--;
    const content = this.#content;
    if (content instanceof Fields) {
      if ((this.left & 1) === 1) this.key = value;
      else content.add(this.key, value);
    } else if (this.#table === undefined && value !== undefined) content.push(value);
    else this.#addToArray(content, value);
  }

  #addToArray(values: LuaValue[], value: LuaValue): void {
    if (this.#table === undefined) {
      this.key = values.length;
      this.#table = makeSequence(values);
    }
    this.#table.set(this.key, value);
    this.key = (this.key as number) + 1;
  }

  get done(): LuaTable {
    const content = this.#content;
    return content instanceof Fields ? content.done() : (this.#table ?? makeSequence(content));
  }

  get isMap(): boolean {
    return this.#content instanceof Fields;
  }
}

/** Reads values without recursion: input may be nested deeper than JavaScript's stack allows. */
class Unpacker {
  readonly #rt: Runtime;
  readonly #text: string;
  #at: number;
  /** Values that would be on Lua's stack, which is how the reference limits depth and number. */
  #stack: number;
  #open: Container | undefined;

  constructor(rt: Runtime, text: string, at: number) {
    this.#rt = rt;
    this.#text = text;
    this.#at = at;
    this.#stack = 1;
    this.#open = undefined;
  }

  get at(): number {
    return this.#at;
  }

  get atEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  get isFull(): boolean {
    return this.#stack >= MAX_STACK;
  }

  /** One value; it stays on the stack. */
  next(): LuaValue {
    for (;;) {
      let value = this.#scalar();
      if (value === OPENED) continue;
      for (;;) {
        const container = this.#open;
        if (container === undefined) {
          this.#stack++;
          return value;
        }
        container.add(value);
        const { isMap } = container;
        if (isMap) this.#stack += (container.left & 1) === 1 ? 1 : -1;
        if (container.left > 0) break;
        this.#open = container.parent;
        this.#stack -= isMap ? 1 : 2;
        value = container.done;
      }
    }
  }

  /** A value that is complete, or OPENED for an array or map whose content follows. */
  #scalar(): LuaValue | typeof OPENED {
    const text = this.#text;
    const at = this.#at;
    if (at >= text.length) throw MISSING;
    if (this.#stack >= MAX_STACK) throw TOO_MANY;
    this.#rt.step(2 * VALUE_BYTES);
    const type = text.charCodeAt(at);
    if (type < 0x80) {
      this.#at = at + 1;
      return type;
    }
    if (type >= 0xe0) {
      this.#at = at + 1;
      return type - 256;
    }
    if (type >= 0xc0) return this.#typed(type);
    if (type >= 0xa0) return this.#string(at + 1, type & 0x1f);
    this.#at = at + 1;
    return this.#container(type >= 0x90, type & 0xf);
  }

  #typed(type: number): LuaValue | typeof OPENED {
    switch (type) {
      case 0xc0:
        this.#at++;
        return undefined;
      case 0xc2:
      case 0xc3:
        this.#at++;
        return type === 0xc3;
      case 0xca:
        view.setUint32(0, this.#unsigned(4));
        return view.getFloat32(0);
      case 0xcb:
        view.setUint32(4, this.#double());
        return view.getFloat64(0);
      // Numbers past 2^63 come out negative: the reference takes them for signed ones.
      case 0xcf:
      case 0xd3: {
        const low = this.#double();
        return view.getInt32(0) * 2 ** 32 + low;
      }
      case 0xcc:
        return this.#unsigned(1);
      case 0xcd:
        return this.#unsigned(2);
      case 0xce:
        return this.#unsigned(4);
      case 0xd0:
        return (this.#unsigned(1) << 24) >> 24;
      case 0xd1:
        return (this.#unsigned(2) << 16) >> 16;
      case 0xd2:
        return this.#unsigned(4) | 0;
      default:
        return this.#sized(type);
    }
  }

  /** Strings, arrays and maps with a length of 1, 2 or 4 bytes. */
  #sized(type: number): LuaValue | typeof OPENED {
    switch (type) {
      case 0xd9:
      case 0xda:
      case 0xdb: {
        const length = this.#unsigned(1 << (type - 0xd9));
        return this.#string(this.#at, length);
      }
      case 0xdc:
      case 0xdd:
        return this.#container(true, this.#unsigned(type === 0xdc ? 2 : 4));
      case 0xde:
      case 0xdf:
        return this.#container(false, this.#unsigned(type === 0xde ? 2 : 4));
      default:
        throw MALFORMED;
    }
  }

  #need(bytes: number): void {
    if (this.#text.length - this.#at < bytes) throw MISSING;
  }

  /** The number in the bytes behind the type. */
  #unsigned(bytes: number): number {
    this.#need(bytes + 1);
    let value = 0;
    for (let i = 1; i <= bytes; i++) value = value * 256 + this.#text.charCodeAt(this.#at + i);
    this.#at += bytes + 1;
    return value;
  }

  /** Eight bytes behind the type: the upper half is left in the view. */
  #double(): number {
    this.#need(9);
    view.setUint32(0, this.#unsigned(4));
    this.#at--;
    return this.#unsigned(4);
  }

  #string(from: number, length: number): string {
    const end = from + length;
    if (end > this.#text.length) throw MISSING;
    this.#at = end;
    return this.#text.slice(from, end);
  }

  #container(isArray: boolean, count: number): LuaValue | typeof OPENED {
    // The table, and of an array the index of the element that is being read, are on the stack.
    if (isArray && this.#stack + 2 > MAX_STACK) throw TOO_DEEP;
    this.#rt.step(2 * TABLE_BYTES);
    if (count === 0) return new LuaTable();
    this.#stack += isArray ? 2 : 1;
    this.#open = new Container(isArray, isArray ? count : count * 2, this.#open);
    return OPENED;
  }
}

function unpackFunction(rt: Runtime): LuaFunction {
  return function unpack(s): Results {
    const text = checkString(rt, s, 1, "unpack", arguments.length);
    return unpackAll(rt, text, 0, 0);
  };
}

function unpackOneFunction(rt: Runtime): LuaFunction {
  return function unpackOne(s, offset): Results {
    const given = arguments.length;
    const from = optInteger(rt, offset, 2, "unpack_one", 0, given);
    return unpackAll(rt, checkString(rt, s, 1, "unpack_one", given), 1, from);
  };
}

function unpackLimitFunction(rt: Runtime): LuaFunction {
  return function unpackLimit(s, limit, offset): Results {
    const given = arguments.length;
    const most = checkInteger(rt, limit, 2, "unpack_limit", given);
    const from = optInteger(rt, offset, 3, "unpack_limit", 0, given);
    return unpackAll(rt, checkString(rt, s, 1, "unpack_limit", given), most, from);
  };
}

/** Values from an offset on, behind where to go on (-1 at the end); or all there are, if neither offset nor limit is set. */
function unpackAll(rt: Runtime, text: string, limit: number, offset: number): Results {
  if (offset < 0 || limit < 0) {
    throw rt.error(`Invalid request to unpack with offset of ${toInt(offset)} and limit of ${text.length}.`);
  }
  if (offset > text.length) {
    throw rt.error(`Start offset ${toInt(offset)} greater than input length ${text.length}.`);
  }
  const everything = limit === 0 && offset === 0;
  const most = everything ? INT32_MAX : limit;
  const unpacker = new Unpacker(rt, text, offset);
  const values: LuaValue[] = [];
  try {
    while (!unpacker.atEnd && values.length < most) values.push(unpacker.next());
    if (!everything && unpacker.isFull) throw NO_ROOM;
  } catch (thrown) {
    throw thrown instanceof Fault ? rt.error(thrown.message) : thrown;
  }
  if (everything) return values.length === 1 ? values[0] : values.length === 0 ? EMPTY : values;
  const next = unpacker.atEnd ? -1 : unpacker.at;
  if (values.length === 0) return next;
  values.unshift(next);
  return values;
}
