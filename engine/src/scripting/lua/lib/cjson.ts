/**
 * JSON: the `cjson` library and its settings. Each `cjson.new()` has settings of its own; those of the library itself stay
 * as a script leaves them.
 */
// biome-ignore-all lint/complexity/noArguments: only the number of arguments is asked for, which costs nothing
import { single } from "../natives.ts";
import type { Runtime } from "../runtime.ts";
import { LuaTable } from "../table.ts";
import type { LuaFunction, LuaValue, Results } from "../value.ts";
import { checkInteger, checkString } from "./check.ts";
import { JsonFault, type JsonSettings, NULL } from "./json.ts";
import { Decoder } from "./json-decode.ts";
import { encode } from "./json-encode.ts";

type Setting = keyof JsonSettings;

const INT_MAX = 0x7fffffff;
const SWITCH = ["off", "on"];

export function cjsonLibrary(rt: Runtime): LuaTable {
  const settings: JsonSettings = {
    sparseConvert: 0,
    sparseRatio: 2,
    sparseSafe: 10,
    encodeMaxDepth: 1000,
    decodeMaxDepth: 1000,
    precision: 14,
    keepBuffer: 1,
    encodeInvalidNumbers: 0,
    decodeInvalidNumbers: 1,
  };
  const option = (name: string, read: (value: LuaValue) => LuaValue) => single(setter(rt, name, read));
  const integer = (name: string, setting: Setting, min: number, max: number) =>
    option(name, (value) => integerOption(rt, settings, name, setting, value, 1, min, max));
  const choice = (name: string, setting: Setting, choices: string[]) =>
    option(name, (value) => choiceOption(rt, settings, name, setting, value, choices));
  const library = new LuaTable();
  library.setStr("encode", single(encodeFunction(rt, settings), "string"));
  library.setStr("decode", single(decodeFunction(rt, settings)));
  library.setStr("encode_sparse_array", sparseFunction(rt, settings));
  library.setStr("encode_max_depth", integer("encode_max_depth", "encodeMaxDepth", 1, INT_MAX));
  library.setStr("decode_max_depth", integer("decode_max_depth", "decodeMaxDepth", 1, INT_MAX));
  library.setStr("encode_number_precision", integer("encode_number_precision", "precision", 1, 14));
  library.setStr("encode_keep_buffer", choice("encode_keep_buffer", "keepBuffer", SWITCH));
  library.setStr(
    "encode_invalid_numbers",
    choice("encode_invalid_numbers", "encodeInvalidNumbers", [...SWITCH, "null"]),
  );
  library.setStr("decode_invalid_numbers", choice("decode_invalid_numbers", "decodeInvalidNumbers", SWITCH));
  library.setStr(
    "new",
    single(() => cjsonLibrary(rt)),
  );
  library.setStr("null", NULL);
  library.setStr("_NAME", "cjson");
  library.setStr("_VERSION", "2.1.0");
  return library;
}

function encodeFunction(rt: Runtime, settings: JsonSettings): LuaFunction {
  return function cjsonEncode(value) {
    if (arguments.length !== 1) throw rt.argumentError(1, "encode", "expected 1 argument");
    try {
      return encode(rt, settings, value);
    } catch (thrown) {
      throw thrown instanceof JsonFault ? rt.error(thrown.message) : thrown;
    }
  };
}

function decodeFunction(rt: Runtime, settings: JsonSettings): LuaFunction {
  return function cjsonDecode(value) {
    if (arguments.length !== 1) throw rt.argumentError(1, "decode", "expected 1 argument");
    const text = checkString(rt, value, 1, "decode");
    try {
      return new Decoder(rt, settings, text).decode();
    } catch (thrown) {
      throw thrown instanceof JsonFault ? rt.error(thrown.message) : thrown;
    }
  };
}

/** A function that sets one setting, if it is given a value, and says what it is. */
function setter(rt: Runtime, name: string, read: (value: LuaValue) => LuaValue): LuaFunction {
  return (...args: LuaValue[]) => {
    if (args.length > 1) throw rt.argumentError(2, name, "found too many arguments");
    return read(args[0]);
  };
}

function sparseFunction(rt: Runtime, settings: JsonSettings): LuaFunction {
  const name = "encode_sparse_array";
  return (...args: LuaValue[]): Results => {
    if (args.length > 3) throw rt.argumentError(4, name, "found too many arguments");
    return [
      choiceOption(rt, settings, name, "sparseConvert", args[0], SWITCH),
      integerOption(rt, settings, name, "sparseRatio", args[1], 2, 0, INT_MAX),
      integerOption(rt, settings, name, "sparseSafe", args[2], 3, 0, INT_MAX),
    ];
  };
}

function integerOption(
  rt: Runtime,
  settings: JsonSettings,
  name: string,
  setting: Setting,
  value: LuaValue,
  argument: number,
  min: number,
  max: number,
): number {
  if (value !== undefined) {
    const integer = checkInteger(rt, value, argument, name) | 0;
    if (integer < min || integer > max) {
      throw rt.argumentError(1, name, `expected integer between ${min} and ${max}`);
    }
    settings[setting] = integer;
  }
  return settings[setting];
}

/** One of some words; false and true stand for the first two. */
function choiceOption(
  rt: Runtime,
  settings: JsonSettings,
  name: string,
  setting: Setting,
  value: LuaValue,
  choices: string[],
): LuaValue {
  if (typeof value === "boolean") settings[setting] = value ? 1 : 0;
  else if (value !== undefined) {
    const word = checkString(rt, value, 1, name);
    const index = choices.indexOf(word);
    if (index < 0) throw rt.argumentError(1, name, `invalid option '${word}'`);
    settings[setting] = index;
  }
  const chosen = settings[setting];
  return chosen <= 1 ? chosen === 1 : choices[chosen];
}
