/** What EVAL and FCALL have in common: keys and arguments behind a script or a function's name. */
import type { Args } from "../args.ts";
import { countedKeys, type KeySpec } from "../command.ts";
import { NEGATIVE_SCRIPT_KEYS, NOT_AN_INTEGER, TOO_FEW_SCRIPT_ARGS } from "../errors.ts";

const notes = "what a script does with its keys is not known before it runs, so the most is assumed";

export const SCRIPT_KEYS: KeySpec[] = [{ ...countedKeys(["RW", "access", "update"], 2), notes }];
export const READ_SCRIPT_KEYS: KeySpec[] = [{ ...countedKeys(["RO", "access"], 2), notes }];

/** `badCount` is the error for a number of keys that is no number. */
export function keysAndArgs(args: Args, badCount = NOT_AN_INTEGER): { keys: string[]; rest: string[] } {
  const count = args.int(badCount);
  if (count > args.left) throw TOO_FEW_SCRIPT_ARGS;
  if (count < 0) throw NEGATIVE_SCRIPT_KEYS;
  return { keys: args.take(count), rest: args.rest() };
}
