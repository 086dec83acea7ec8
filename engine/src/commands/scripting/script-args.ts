/** What EVAL and FCALL have in common: keys and arguments behind a script or a function's name. */

import { NOT_AN_INTEGER } from "../../core/errors.ts";
import { NEGATIVE_SCRIPT_KEYS, TOO_FEW_SCRIPT_ARGS } from "../../core/rare-errors.ts";
import { LuaTable } from "../../scripting/lua/table.ts";
import type { ScriptFlags } from "../../scripting/shebang.ts";
import type { Args } from "../../table/args.ts";
import { countedKeys, type KeySpec } from "../../table/command.ts";
import { DENYOOM, MAY_REPLICATE, STALE, WRITE } from "../../table/command-table.ts";

const notes = "what a script does with its keys is not known before it runs, so the most is assumed";

export const SCRIPT_KEYS: KeySpec[] = [{ ...countedKeys(["RW", "access", "update"], 2), notes }];
export const READ_SCRIPT_KEYS: KeySpec[] = [{ ...countedKeys(["RO", "access"], 2), notes }];

/** `badCount` is the error for a number of keys that is no number. */
export function keysAndArgs(args: Args, badCount = NOT_AN_INTEGER): { keys: LuaTable; rest: LuaTable } {
  const count = args.int(badCount);
  if (count > args.left) throw TOO_FEW_SCRIPT_ARGS;
  if (count < 0) throw NEGATIVE_SCRIPT_KEYS;
  const { argv } = args;
  const first = argv.length - args.left;
  return {
    keys: LuaTable.fromWords(argv, first, first + count),
    rest: LuaTable.fromWords(argv, first + count, argv.length),
  };
}

/** The flags of a call of a script or a function that says what it does; `flags` where it does not (null). */
export function flagsOfCall(script: ScriptFlags | null | undefined, flags: number): number {
  if (script === null || script === undefined) return flags;
  let own = flags & ~(STALE | DENYOOM | WRITE | MAY_REPLICATE);
  if (!script.allowOom && !script.noWrites) own |= DENYOOM;
  if (!script.noWrites) own |= WRITE;
  if (script.allowStale) own |= STALE;
  return own;
}
