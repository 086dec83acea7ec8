/** What `redis.register_function` is given: a name and a function, or one table that says everything by name. */
import { BAD_FUNCTION_NAME } from "../../core/rare-errors.ts";
import { flagsOf, type ScriptFlags } from "../shebang.ts";
import { errorTable } from "./conversion.ts";
import { LuaTable } from "./table.ts";
import { LuaError, type LuaFunction, type LuaValue, toDisplay } from "./value.ts";

export interface NewFunction {
  readonly name: string;
  readonly description: string | null;
  readonly flags: ScriptFlags;
  readonly callback: LuaFunction;
}

const failure = (text: string) => new LuaError(errorTable(`ERR ${text}`));

const UNKNOWN_FLAG = "unknown flag given";
const unknownFlag = () => failure(UNKNOWN_FLAG);
const NO_FLAGS = flagsOf([], unknownFlag);

/** Names of libraries and functions. */
export function validName(name: string): boolean {
  return /^[A-Za-z0-9_]+$/.test(name);
}

/** Numbers are strings, too, where Lua's own functions take strings. */
function text(value: LuaValue, otherwise: string): string {
  if (typeof value === "string" || typeof value === "number") return toDisplay(value);
  throw failure(otherwise);
}

/** Throws Lua's error where it is not as it should be. */
export function readRegistration(args: LuaValue[]): NewFunction {
  if (args.length < 1 || args.length > 2) throw failure("wrong number of arguments to redis.register_function");
  const registration = args.length === 1 ? readNamed(args[0]) : readPair(args[0], args[1]);
  if (!validName(registration.name)) throw new LuaError(errorTable(BAD_FUNCTION_NAME.text));
  return registration;
}

function readPair(first: LuaValue, callback: LuaValue): NewFunction {
  const name = text(first, "first argument to redis.register_function must be a string");
  if (typeof callback !== "function") throw failure("second argument to redis.register_function must be a function");
  return { name, description: null, flags: NO_FLAGS, callback };
}

function readNamed(given: LuaValue): NewFunction {
  if (!(given instanceof LuaTable)) {
    throw failure(
      "calling redis.register_function with a single argument is only applicable to Lua table (representing named arguments).",
    );
  }
  let name: string | undefined;
  let description: string | null = null;
  let callback: LuaFunction | undefined;
  let flags = NO_FLAGS;
  for (const [key, value] of given.entries()) {
    switch (text(key, "named argument key given to redis.register_function is not a string").toLowerCase()) {
      case "function_name":
        name = text(value, "function_name argument given to redis.register_function must be a string");
        break;
      case "description":
        description = text(value, "description argument given to redis.register_function must be a string");
        break;
      case "callback":
        if (typeof value !== "function") {
          throw failure("callback argument given to redis.register_function must be a function");
        }
        callback = value;
        break;
      case "flags":
        flags = readFlags(value);
        break;
      default:
        throw failure("unknown argument given to redis.register_function");
    }
  }
  if (name === undefined) throw failure("redis.register_function must get a function name argument");
  if (callback === undefined) throw failure("redis.register_function must get a callback argument");
  return { name, description, flags, callback };
}

function readFlags(value: LuaValue): ScriptFlags {
  if (!(value instanceof LuaTable)) {
    throw failure("flags argument to redis.register_function must be a table representing function flags");
  }
  const names: string[] = [];
  for (let i = 1; value.getInt(i) !== undefined; i++) names.push(text(value.getInt(i), UNKNOWN_FLAG));
  return flagsOf(
    names.map((name) => name.toLowerCase()),
    unknownFlag,
  );
}
