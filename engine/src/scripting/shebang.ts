/** A script's first line, where it begins with `#!`: the engine and what the script may do. */
import type { ReplyError } from "../core/errors.ts";
import { INVALID_SHEBANG, unexpectedEngine, unexpectedScriptFlag, unknownShebangOption } from "../core/rare-errors.ts";
import type { LuaError } from "./lua/value.ts";

export interface ScriptFlags {
  readonly noWrites: boolean;
  readonly allowOom: boolean;
  readonly allowStale: boolean;
  readonly noCluster: boolean;
  readonly allowCrossSlotKeys: boolean;
}

const FLAGS: ReadonlyMap<string, keyof ScriptFlags> = new Map([
  ["no-writes", "noWrites"],
  ["allow-oom", "allowOom"],
  ["allow-stale", "allowStale"],
  ["no-cluster", "noCluster"],
  ["allow-cross-slot-keys", "allowCrossSlotKeys"],
]);

/** The flags with these names. `unknown` makes the error for a name that does not exist. */
export function flagsOf(names: readonly string[], unknown: (name: string) => ReplyError | LuaError): ScriptFlags {
  const flags: Record<keyof ScriptFlags, boolean> = {
    noWrites: false,
    allowOom: false,
    allowStale: false,
    noCluster: false,
    allowCrossSlotKeys: false,
  };
  for (const name of names) {
    const flag = FLAGS.get(name);
    if (flag === undefined) throw unknown(name);
    flags[flag] = true;
  }
  return flags;
}

/** The names of the flags that are set, in Redis's order. */
export function namesOf(flags: ScriptFlags): string[] {
  return Array.from(FLAGS)
    .filter(([, flag]) => flags[flag])
    .map(([name]) => name);
}

/** A script's flags, null where it has no such line, and its Lua with that line blank, so that line numbers stay. */
export function parseShebang(source: string): { flags: ScriptFlags | null; body: string } {
  if (!source.startsWith("#!")) return { flags: null, body: source };
  const end = source.indexOf("\n");
  if (end < 0) throw INVALID_SHEBANG;
  const [engine, ...options] = source
    .slice(0, end)
    .split(" ")
    .filter((word) => word !== "");
  if (engine !== "#!lua") throw unexpectedEngine(engine ?? "");
  const names: string[] = [];
  for (const option of options) {
    if (!option.startsWith("flags=")) throw unknownShebangOption(option);
    names.push(
      ...option
        .slice("flags=".length)
        .split(",")
        .filter((name) => name !== ""),
    );
  }
  const flags = flagsOf(names, unexpectedScriptFlag);
  return { flags, body: source.slice(end) };
}
