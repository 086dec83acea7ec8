/** EVAL and its kin, and SCRIPT. Functions are in functions.ts. */

import type { Client } from "../../core/client.ts";
import { NO_DEBUGGER, NOSCRIPT_ERROR, SCRIPT_DEBUG_OPTIONS, SCRIPT_FLUSH_OPTIONS } from "../../core/rare-errors.ts";
import { OK, type Reply } from "../../core/reply.ts";
import type { Args } from "../../table/args.ts";
import { group, type Handler, type Row } from "../../table/command.ts";
import { withHelp } from "../shared/help.ts";
import { functionCommands } from "./functions.ts";
import { flagsOfCall, keysAndArgs, READ_SCRIPT_KEYS, SCRIPT_KEYS } from "./script-args.ts";

function evaluate(readOnly: boolean): (client: Client, args: Args) => Reply {
  return (client, args) => {
    const { monitor, scripts } = client.engine;
    if (monitor.active) monitor.feed(client, args.argv);
    const source = args.next();
    const { keys, rest } = keysAndArgs(args);
    client.propagate.asNothing();
    return scripts.eval(client, scripts.load(source), keys, rest, args.argv, readOnly);
  };
}

function evaluateSha(readOnly: boolean): (client: Client, args: Args) => Reply {
  return (client, args) => {
    const { monitor, scripts } = client.engine;
    if (monitor.active) monitor.feed(client, args.argv);
    const sha = args.next();
    const { keys, rest } = keysAndArgs(args);
    const script = scripts.get(sha);
    if (script === undefined) throw NOSCRIPT_ERROR;
    client.propagate.asNothing();
    return scripts.eval(client, script, keys, rest, args.argv, readOnly);
  };
}

const evalRow = (
  name: string,
  since: string,
  summary: string,
  subject: string,
  readOnly: boolean,
  run: Handler,
): Row => ({
  name,
  arity: -3,
  flags: [
    ...(readOnly ? (["readonly"] as const) : []),
    ...(readOnly ? [] : (["may_replicate"] as const)),
    "noscript",
    "stale",
    "skip_monitor",
    "no_mandatory_keys",
    "movablekeys",
  ],
  keys: readOnly ? READ_SCRIPT_KEYS : SCRIPT_KEYS,
  otherDatabases: true,
  since,
  summary,
  syntax: `${subject} numkeys [key [key ...]] [arg [arg ...]]`,
  reply: "Reply",
  complexity: "that of the script",
  flagsOf: ({ scripts }, [, script], flags) => {
    if (script === undefined) return flags;
    const kept = name.startsWith("evalsha") ? scripts.get(script)?.flags : scripts.flagsOfSource(script);
    return flagsOfCall(kept, flags);
  },
  run,
});

const SCRIPT_REPLIES: Readonly<Record<string, string>> = { exists: "number[]", load: "string" };

const sub = (
  name: string,
  arity: number,
  flags: Row["flags"],
  since: string,
  summary: string,
  syntax: string,
  tips: string[],
  run: NonNullable<Row["run"]>,
): Row => ({
  name,
  arity,
  flags,
  since,
  summary,
  syntax,
  tips,
  reply: SCRIPT_REPLIES[name] ?? '"OK"',
  complexity: "O(N)",
  run,
});

function flush({ engine }: Client, args: Args): Reply {
  const mode = args.more ? args.option() : "sync";
  if (args.more || (mode !== "sync" && mode !== "async")) throw SCRIPT_FLUSH_OPTIONS;
  engine.scripts.flush();
  return OK;
}

function debug(_client: Client, args: Args): Reply {
  const mode = args.option();
  if (mode !== "yes" && mode !== "sync" && mode !== "no") throw SCRIPT_DEBUG_OPTIONS;
  // A user of the debugger counts on its taking back what the script writes.
  if (mode !== "no") throw NO_DEBUGGER;
  return OK;
}

const script: Row = {
  name: "script",
  arity: -2,
  flags: [],
  noGroupCategory: true,
  since: "2.6.0",
  summary: "Looks after the scripts that EVALSHA runs.",
  syntax: "subcommand",
  complexity: "depends on the subcommand",
  subcommands: withHelp("script", "5.0.0", [
    sub(
      "load",
      3,
      ["noscript", "stale"],
      "2.6.0",
      "Keeps a script without running it.",
      "script",
      ["request_policy:all_nodes", "response_policy:all_succeeded"],
      ({ engine }, args) => engine.scripts.load(args.next()).sha,
    ),
    sub(
      "exists",
      -3,
      ["noscript"],
      "2.6.0",
      "Tells which scripts are kept.",
      "sha1 [sha1 ...]",
      ["request_policy:all_shards", "response_policy:agg_logical_and"],
      ({ engine }, args) => args.rest().map((sha) => (engine.scripts.has(sha) ? 1 : 0)),
    ),
    sub(
      "flush",
      -2,
      ["noscript"],
      "2.6.0",
      "Forgets all scripts.",
      "[ASYNC | SYNC]",
      ["request_policy:all_nodes", "response_policy:all_succeeded"],
      flush,
    ),
    sub(
      "kill",
      2,
      ["noscript", "allow_busy"],
      "2.6.0",
      "Ends the running script if it has written nothing.",
      "",
      ["request_policy:all_shards", "response_policy:one_succeeded"],
      ({ engine }) => {
        engine.scripts.kill("script");
        return OK;
      },
    ),
    sub("debug", 3, ["noscript"], "3.2.0", "Refused but for NO: there is no debugger.", "<YES | SYNC | NO>", [], debug),
  ]),
};

export const scripting = group("scripting", [
  evalRow("eval", "2.6.0", "Runs a script.", "script", false, evaluate(false)),
  evalRow("eval_ro", "7.0.0", "Runs a script that only reads.", "script", true, evaluate(true)),
  evalRow("evalsha", "2.6.0", "Runs a script that is kept, by its SHA1.", "sha1", false, evaluateSha(false)),
  evalRow(
    "evalsha_ro",
    "7.0.0",
    "Runs a script that is kept and only reads, by its SHA1.",
    "sha1",
    true,
    evaluateSha(true),
  ),
  script,
  ...functionCommands,
]);
