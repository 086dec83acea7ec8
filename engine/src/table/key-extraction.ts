/**
 * Which words of a command are keys, and what it does to each: from the row's key specifications, or from its own `keysOf`
 * where specifications cannot tell.
 */

import { parseInt64 } from "../lib/numbers.ts";
import { sameToken } from "./args.ts";
import type { KeyFlag, KeySpec, Row } from "./command.ts";
import type { Command } from "./command-table.ts";

export interface KeyWord {
  /** Its place in argv. */
  readonly index: number;
  readonly flags: readonly KeyFlag[];
}

const NONE: readonly number[] = [];

const isKey = (spec: KeySpec) => !spec.flags.includes("not_key");

/** Whether a command of this row can have keys at all. */
export function hasKeys(row: Row): boolean {
  return row.keysOf !== undefined || (row.keys?.some(isKey) ?? false);
}

/** The places of a command's keys in argv. Empty where the words do not fit the command. */
export function keysOf(command: Command, argv: readonly string[]): readonly number[] {
  const specs = command.row.keys;
  if (specs?.length === 1 && isKey(specs[0]!)) {
    const places = placesOf(specs[0]!, argv);
    if (places !== undefined) return places;
  }
  return keyWordsOf(command, argv)?.map(({ index }) => index) ?? NONE;
}

/** The places of the words whose slot decides which node of a Cluster runs a command: its keys, or its shard channels. */
export function slotWordsOf(command: Command, argv: readonly string[]): readonly number[] {
  if (!command.namesShardChannels) return keysOf(command, argv);
  return command.row.keys!.flatMap((spec) => placesOf(spec, argv) ?? NONE);
}

/** A command's keys with what it does to them; undefined where the words do not fit the command. */
export function keyWordsOf(command: Command, argv: readonly string[]): KeyWord[] | undefined {
  const { row } = command;
  const specs = row.keys?.filter(isKey) ?? [];
  const found = bySpecs(specs, argv);
  if (found !== undefined) {
    if (row.keyFlagsOf === undefined) return found;
    const flags = row.keyFlagsOf(argv);
    return found.map(({ index }) => ({ index, flags }));
  }
  return row.keysOf?.(argv).map((index) => ({ index, flags: flagsAt(specs, index) }));
}

function bySpecs(specs: readonly KeySpec[], argv: readonly string[]): KeyWord[] | undefined {
  const found: KeyWord[] = [];
  for (const spec of specs) {
    const places = placesOf(spec, argv);
    if (places === undefined) return undefined;
    for (const index of places) found.push({ index, flags: spec.flags });
    if (places !== NONE && spec.flags.includes("incomplete")) return undefined;
  }
  return found;
}

/** The places that one specification finds: none where its keyword is missing, undefined where the words do not fit it. */
function placesOf(spec: KeySpec, argv: readonly string[]): readonly number[] | undefined {
  const { find } = spec;
  if (find === null) return undefined;
  const begin = beginOf(spec, argv);
  if (begin === undefined) return NONE;
  let first = begin;
  let last: number;
  if ("keynum" in find) {
    const count = parseInt64(argv[begin + find.keynum] ?? "");
    if (count === undefined || count < 0) return undefined;
    first = begin + find.first;
    last = first + Number(count) - 1;
  } else if (find.last >= 0) last = begin + find.last;
  else if (find.limit > 0) last = begin + Math.floor((argv.length - begin) / find.limit) + find.last;
  else last = argv.length + find.last;
  if (first >= argv.length || last >= argv.length || last < first) return undefined;
  const places: number[] = [];
  for (let i = first; i <= last; i += find.step) places.push(i);
  return places;
}

/** Where a specification begins; undefined where its keyword is not among the words. */
function beginOf({ begin }: KeySpec, argv: readonly string[]): number | undefined {
  if ("index" in begin) return begin.index;
  const keyword = begin.keyword.toLowerCase();
  const forwards = begin.startFrom > 0;
  let i = forwards ? begin.startFrom : argv.length + begin.startFrom;
  for (; forwards ? i < argv.length - 1 : i > 1; i += forwards ? 1 : -1) {
    if (sameToken(argv[i] ?? "", keyword)) return i + 1;
  }
  return undefined;
}

/** For keys that only the row's own function finds: those of the specification that names the place, or of the last one. */
function flagsAt(specs: readonly KeySpec[], index: number): readonly KeyFlag[] {
  const spec =
    specs.find(({ begin, find }) => find !== null && "index" in begin && begin.index === index) ?? specs.at(-1);
  return spec?.flags.filter((flag) => flag !== "incomplete") ?? [];
}
