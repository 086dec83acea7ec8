/** The `redis` table that scripts see. What it does is the host's: see scripts.ts. */

import { ReplyError } from "../../core/errors.ts";
import type { Reply } from "../../core/reply.ts";
import { REDIS_VERSION } from "../../core/version.ts";
import { formatG } from "../../lib/numbers.ts";
import { sha1Hex } from "../../platform/digest.ts";
import { errorTable, field, replyToLua } from "./conversion.ts";
import { flat } from "./memory.ts";
import { single, withForms } from "./natives.ts";
import type { Runtime } from "./runtime.ts";
import { LuaTable } from "./table.ts";
import { EMPTY, LuaError, type LuaFunction, type LuaValue, toDisplay } from "./value.ts";

/** A command that the host has found; only the host knows what is in it. */
export type FoundCommand = object;

/** What the functions of the table ask for. */
export interface ScriptHost {
  /** The script's own protocol: 2 unless it has called `redis.setresp`. */
  protocol: 2 | 3;
  /** The command of this name, for calling it many times; undefined where the name alone does not say which it is. */
  find(name: string): FoundCommand | undefined;
  /** Runs a command of the running script: the one that was found, or else the one that the words name. Keeps the array. */
  call(argv: string[], found?: FoundCommand): Reply;
  /** Whether the script's client may run a command; undefined where there is no such command. */
  mayCall(argv: string[]): boolean | undefined;
  log(level: number, message: string): void;
  /** Which of its effects a script wants to be handed on: bits of REPL_AOF and REPL_REPLICA. */
  setReplication(flags: number): void;
}

const REPL_AOF = 1;
const REPL_REPLICA = 2;
const LOG_LEVELS = { LOG_DEBUG: 0, LOG_VERBOSE: 1, LOG_NOTICE: 2, LOG_WARNING: 3 };

const [major = 0, minor = 0, patch = 0] = REDIS_VERSION.split(".").map(Number);

/** Errors of this library carry no position: the script's line is in the report's last part. */
const failure = (text: string) => new LuaError(errorTable(`ERR ${text}`));

/** A number as a command's word: all its digits. */
function numberWord(value: number): string {
  return Number.isSafeInteger(value) && !Object.is(value, -0) ? String(value) : formatG(value, 17);
}

/** Makes a call's arguments words, in place; undefined when one is neither a string nor a number. */
function wordsOf(args: LuaValue[]): string[] | undefined {
  for (let i = 0; i < args.length; i++) {
    const value = args[i];
    if (typeof value === "string") {
      flat(value);
      continue;
    }
    if (typeof value !== "number") return undefined;
    args[i] = numberWord(value);
  }
  return args as string[];
}

const NO_ARGUMENTS = "Please specify at least one argument for this redis lib call";
const BAD_ARGUMENTS = "Lua redis lib command arguments must be strings or integers";

function callers(host: ScriptHost): Record<"call" | "pcall", LuaFunction> {
  // The array of a rest parameter is the callee's own.
  const run = (args: LuaValue[], found: FoundCommand | undefined): Reply => {
    if (args.length === 0) return new ReplyError(`ERR ${NO_ARGUMENTS}`);
    const words = wordsOf(args);
    return words === undefined ? new ReplyError(`ERR ${BAD_ARGUMENTS}`) : host.call(words, found);
  };
  const call: Caller =
    (found, unused) =>
    (...args) => {
      const reply = run(args, found);
      if (typeof reply === "string") return flat(reply);
      if (typeof reply === "number") return reply;
      if (reply instanceof ReplyError) throw new LuaError(errorTable(reply.text));
      return unused ? undefined : replyToLua(reply, host.protocol);
    };
  const pcall: Caller =
    (found, unused) =>
    (...args) => {
      const reply = run(args, found);
      if (unused) return undefined;
      return reply instanceof ReplyError ? errorTable(reply.text) : replyToLua(reply, host.protocol);
    };
  return { call: withFound(host, call), pcall: withFound(host, pcall) };
}

/** Makes a function that takes a command's words, for a command that was found or for any. */
type Caller = (found: FoundCommand | undefined, unused: boolean) => LuaFunction;

/** The function for any command, with a form for each that a script names. */
function withFound(host: ScriptHost, make: Caller): LuaFunction {
  return withForms(make(undefined, false), (name, unused) => {
    const found = host.find(name);
    return found === undefined ? undefined : make(found, unused);
  });
}

/** An error as `redis.error_reply` makes it: a text of one word gets a code, a leading dash is dropped. */
function errorReply(text: string): LuaTable {
  const bare = flat(text).startsWith("-") ? text.slice(1) : text;
  return field("err", bare.includes(" ") ? bare : `ERR ${bare}`);
}

function replies(): Record<string, LuaFunction> {
  return {
    error_reply: (...args) =>
      args.length === 1 && typeof args[0] === "string"
        ? errorReply(args[0])
        : field("err", "ERR wrong number or type of arguments"),
    status_reply: (...args) =>
      args.length === 1 && typeof args[0] === "string"
        ? field("ok", args[0])
        : field("err", "ERR wrong number or type of arguments"),
    sha1hex(...args) {
      if (args.length !== 1) throw failure("wrong number of arguments");
      const value = args[0];
      const text = typeof value === "string" || typeof value === "number" ? toDisplay(value) : "";
      return sha1(flat(text));
    },
  };
}

function settings(host: ScriptHost): Record<string, LuaFunction> {
  return {
    log(...args) {
      if (args.length < 2) throw failure("redis.log() requires two arguments or more.");
      const level = args[0];
      if (typeof level !== "number") throw failure("First argument must be a number (log level).");
      if (level < 0 || level > 3) throw failure("Invalid debug level.");
      const words = args.slice(1).filter((word) => typeof word === "string" || typeof word === "number");
      host.log(level, words.map((word) => flat(toDisplay(word))).join(" "));
      return EMPTY;
    },
    setresp(...args) {
      if (args.length !== 1) throw failure("redis.setresp() requires one argument.");
      if (args[0] !== 2 && args[0] !== 3) throw failure("RESP version must be 2 or 3.");
      host.protocol = args[0];
      return EMPTY;
    },
    set_repl(...args) {
      if (args.length !== 1) throw failure("redis.set_repl() requires two arguments.");
      const flags = Number(args[0]);
      if ((flags & ~(REPL_AOF | REPL_REPLICA)) !== 0) {
        throw failure("Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE.");
      }
      host.setReplication(flags);
      return EMPTY;
    },
    replicate_commands: () => true,
    breakpoint: () => false,
    debug: () => EMPTY,
    acl_check_cmd(...args) {
      if (args.length === 0) throw failure(NO_ARGUMENTS);
      const words = wordsOf(args);
      if (words === undefined) throw failure(BAD_ARGUMENTS);
      const allowed = host.mayCall(words);
      if (allowed === undefined) throw failure("Invalid command passed to redis.acl_check_cmd()");
      return allowed;
    },
  };
}

/** The hexadecimal SHA1 of a latin1 string's bytes. */
export function sha1(text: string): string {
  return sha1Hex(text);
}

/** Puts `redis`, and `server` as its other name, into the runtime's globals. */
export function openRedis(rt: Runtime, host: ScriptHost): void {
  const redis = new LuaTable();
  for (const [name, f] of Object.entries({ ...callers(host), ...replies() })) redis.setStr(name, single(f));
  for (const [name, f] of Object.entries(settings(host))) redis.setStr(name, f);
  for (const [name, level] of Object.entries(LOG_LEVELS)) redis.setStr(name, level);
  redis.setStr("REPL_AOF", REPL_AOF);
  redis.setStr("REPL_SLAVE", REPL_REPLICA);
  redis.setStr("REPL_REPLICA", REPL_REPLICA);
  redis.setStr("REPL_ALL", REPL_AOF | REPL_REPLICA);
  redis.setStr("REPL_NONE", 0);
  redis.setStr("REDIS_VERSION", REDIS_VERSION);
  redis.setStr("REDIS_VERSION_NUM", (major << 16) | (minor << 8) | patch);
  rt.globals.setStr("redis", redis);
  rt.globals.setStr("server", redis);
}
