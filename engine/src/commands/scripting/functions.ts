/** FUNCTION, FCALL and FCALL_RO. */

import type { Client } from "../../core/client.ts";
import { subcommandSyntax } from "../../core/errors.ts";
import {
  BAD_DUMP_PAYLOAD,
  BAD_FUNCTION_DUMP,
  BAD_KEY_COUNT,
  BAD_RESTORE_POLICY,
  BUSY_SCRIPT,
  FUNCTION_FLUSH_OPTIONS,
  FUNCTION_NOT_FOUND,
  LIBRARY_NOT_FOUND,
  LIBRARY_PATTERN_MISSING,
  NOT_A_FUNCTION_DUMP,
  unknownListArgument,
  unknownLoadOption,
} from "../../core/rare-errors.ts";
import { MapReply, OK, type Reply, SetReply, Status } from "../../core/reply.ts";
import { compileGlob } from "../../lib/glob.ts";
import { RdbError } from "../../persist/rdb/errors.ts";
import { dumpFunctions, readFunctions } from "../../persist/rdb/functions-payload.ts";
import { isIntact } from "../../persist/rdb/payload.ts";
import { Buffer } from "../../platform/bytes.ts";
import type { Library } from "../../scripting/functions.ts";
import { namesOf } from "../../scripting/shebang.ts";
import type { Args } from "../../table/args.ts";
import type { Row } from "../../table/command.ts";
import { withHelp } from "../shared/help.ts";
import { flagsOfCall, keysAndArgs, READ_SCRIPT_KEYS, SCRIPT_KEYS } from "./script-args.ts";

function call(readOnly: boolean): (client: Client, args: Args) => Reply {
  return (client, args) => {
    const { functions, monitor } = client.engine;
    if (monitor.active) monitor.feed(client, args.argv);
    const found = functions.find(args.next());
    if (found === undefined) throw FUNCTION_NOT_FOUND;
    const { keys, rest } = keysAndArgs(args, BAD_KEY_COUNT);
    client.propagate.asNothing();
    return functions.call(client, found, keys, rest, args.argv, readOnly);
  };
}

function load({ engine }: Client, args: Args): Reply {
  let replace = false;
  while (args.left > 1) {
    const word = args.next();
    if (word.toLowerCase() !== "replace") throw unknownLoadOption(word);
    replace = true;
  }
  const name = engine.functions.load(args.next(), replace);
  engine.effects.dirty++;
  return name;
}

function deleteLibrary({ engine }: Client, args: Args): Reply {
  if (!engine.functions.delete(args.next())) throw LIBRARY_NOT_FOUND;
  engine.effects.dirty++;
  return OK;
}

function flush({ engine }: Client, args: Args): Reply {
  if (args.left > 1) throw subcommandSyntax(args.at(1), "FUNCTION");
  const mode = args.more ? args.option() : "sync";
  if (mode !== "sync" && mode !== "async") throw FUNCTION_FLUSH_OPTIONS;
  engine.functions.flush();
  engine.effects.dirty++;
  return OK;
}

function describe({ name, source, functions }: Library, withCode: boolean): MapReply {
  const rows = Array.from(
    functions.values(),
    (one) =>
      new MapReply([
        "name",
        one.name,
        "description",
        one.description,
        "flags",
        new SetReply(namesOf(one.flags).map((flag) => new Status(flag))),
      ]),
  );
  const fields: Reply[] = ["library_name", name, "engine", "LUA", "functions", rows];
  if (withCode) fields.push("library_code", source);
  return new MapReply(fields);
}

function list({ engine }: Client, args: Args): Reply {
  let pattern: string | undefined;
  let withCode = false;
  while (args.more) {
    const word = args.next();
    const option = word.toLowerCase();
    if (option === "withcode" && !withCode) withCode = true;
    else if (option === "libraryname" && pattern === undefined) {
      if (!args.more) throw LIBRARY_PATTERN_MISSING;
      pattern = args.next();
    } else throw unknownListArgument(word);
  }
  const matches = pattern === undefined ? () => true : compileGlob(pattern, true);
  const found = Array.from(engine.functions.libraries).filter((library) => matches(library.name));
  return found.map((library) => describe(library, withCode));
}

function restore({ engine }: Client, args: Args): Reply {
  if (args.left > 2) throw subcommandSyntax(args.at(1), "FUNCTION");
  const payload = Buffer.from(args.next(), "latin1");
  const policy = args.more ? args.option() : "append";
  if (policy !== "flush" && policy !== "append" && policy !== "replace") throw BAD_RESTORE_POLICY;
  if (!isIntact(payload)) throw BAD_DUMP_PAYLOAD;
  engine.functions.restore(readDump(payload), policy);
  engine.effects.dirty++;
  return OK;
}

function readDump(payload: Buffer): string[] {
  let sources: ReturnType<typeof readFunctions>;
  try {
    sources = readFunctions(payload);
  } catch (error) {
    if (error instanceof RdbError) throw BAD_FUNCTION_DUMP;
    throw error;
  }
  if (sources === "not a function") throw NOT_A_FUNCTION_DUMP;
  return sources;
}

function stats({ engine }: Client): Reply {
  const { functions, scripts } = engine;
  const { running } = scripts;
  if (running?.kind === "script") throw BUSY_SCRIPT;
  const now =
    running === null
      ? null
      : new MapReply(["name", running.name, "command", [...functions.runningArgv], "duration_ms", scripts.runningMs]);
  const lua = new MapReply(["libraries_count", functions.libraryCount, "functions_count", functions.count]);
  return new MapReply(["running_script", now, "engines", new MapReply(["LUA", lua])]);
}

const callRow = (name: string, summary: string, readOnly: boolean): Row => ({
  name,
  arity: -3,
  flags: [
    readOnly ? "readonly" : "may_replicate",
    "noscript",
    "stale",
    "skip_monitor",
    "no_mandatory_keys",
    "movablekeys",
  ],
  keys: readOnly ? READ_SCRIPT_KEYS : SCRIPT_KEYS,
  otherDatabases: true,
  since: "7.0.0",
  summary,
  syntax: "function numkeys [key [key ...]] [arg [arg ...]]",
  reply: "Reply",
  complexity: "that of the function",
  flagsOf: ({ functions }, [, called], flags) =>
    flagsOfCall(called === undefined ? undefined : functions.find(called)?.flags, flags),
  run: call(readOnly),
});

const EVERYWHERE = ["request_policy:all_shards", "response_policy:all_succeeded"];

const subcommands: Row[] = [
  {
    name: "load",
    arity: -3,
    flags: ["write", "denyoom", "noscript"],
    tips: EVERYWHERE,
    since: "7.0.0",
    summary: "Makes a library of functions from its source.",
    syntax: "[REPLACE] function-code",
    reply: "string",
    complexity: "O(1), plus what the library itself does",
    run: load,
  },
  {
    name: "delete",
    arity: 3,
    flags: ["write", "noscript"],
    tips: EVERYWHERE,
    since: "7.0.0",
    summary: "Removes a library and its functions.",
    syntax: "library-name",
    reply: '"OK"',
    complexity: "O(N) in the number of its functions",
    run: deleteLibrary,
  },
  {
    name: "flush",
    arity: -2,
    flags: ["write", "noscript"],
    tips: EVERYWHERE,
    since: "7.0.0",
    summary: "Removes all libraries.",
    syntax: "[ASYNC | SYNC]",
    reply: '"OK"',
    complexity: "O(1)",
    run: flush,
  },
  {
    name: "list",
    arity: -2,
    flags: ["noscript"],
    tips: ["nondeterministic_output_order"],
    since: "7.0.0",
    summary: "Lists libraries with their functions, and their source on request.",
    syntax: "[LIBRARYNAME library-name-pattern] [WITHCODE]",
    reply: "Map<string, Reply>[]",
    complexity: "O(N) in the number of functions",
    run: list,
  },
  {
    name: "dump",
    arity: 2,
    flags: ["noscript"],
    since: "7.0.0",
    summary: "Returns all libraries as bytes from which FUNCTION RESTORE makes them again, on any server.",
    syntax: "",
    reply: "string",
    complexity: "O(N) in the size of the sources",
    run: ({ engine }) => {
      const { rdbcompression } = engine.config.values;
      return dumpFunctions(engine.functions.sources(), rdbcompression).latin1Slice();
    },
  },
  {
    name: "restore",
    arity: -3,
    flags: ["write", "denyoom", "noscript"],
    tips: EVERYWHERE,
    since: "7.0.0",
    summary: "Makes libraries from what FUNCTION DUMP returned.",
    syntax: "serialized-value [FLUSH | APPEND | REPLACE]",
    reply: '"OK"',
    complexity: "O(N) in the number of functions",
    run: restore,
  },
  {
    name: "stats",
    arity: 2,
    flags: ["noscript", "allow_busy"],
    tips: ["nondeterministic_output", "request_policy:all_shards", "response_policy:special"],
    since: "7.0.0",
    summary: "Tells which function runs, and how many there are.",
    syntax: "",
    reply: "Map<string, Reply>",
    complexity: "O(1)",
    run: stats,
  },
  {
    name: "kill",
    arity: 2,
    flags: ["noscript", "allow_busy"],
    tips: ["request_policy:all_shards", "response_policy:one_succeeded"],
    since: "7.0.0",
    summary: "Ends the running function if it has written nothing.",
    syntax: "",
    reply: '"OK"',
    complexity: "O(1)",
    run: ({ engine }) => {
      engine.scripts.kill("function");
      return OK;
    },
  },
];

export const functionCommands: Row[] = [
  callRow("fcall", "Calls a function.", false),
  callRow("fcall_ro", "Calls a function that only reads.", true),
  {
    name: "function",
    arity: -2,
    flags: [],
    noGroupCategory: true,
    since: "7.0.0",
    summary: "Looks after the libraries of functions.",
    syntax: "subcommand",
    complexity: "depends on the subcommand",
    subcommands: withHelp("function", "7.0.0", subcommands),
  },
];
