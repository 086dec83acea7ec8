/** Arguments that the stream commands share: ids, ends of an interval, and how to trim. */
import { NOT_AN_INTEGER, SYNTAX } from "../../core/errors.ts";
import {
  BAD_INTERVAL_END,
  BAD_INTERVAL_START,
  BAD_STREAM_ID,
  TRIM_LIMIT_ALONE,
  TRIM_LIMIT_EXACT,
  TRIM_LIMIT_NEGATIVE,
  TRIM_MAXLEN_NEGATIVE,
  TRIM_TWICE,
  XTRIM_NO_STRATEGY,
} from "../../core/rare-errors.ts";
import { parseInt64 } from "../../lib/numbers.ts";
import type { Args } from "../../table/args.ts";
import type { Limits } from "../../types/collection.ts";
import {
  formatId,
  HALF_MAX,
  type Half,
  type Id,
  idAfter,
  idBefore,
  parseHalves,
  parseId,
  parseIdOrEdge,
  type StreamValue,
} from "../../types/stream/index.ts";

/** A whole id; `-` and `+` are refused. */
export function readId(word: string): Id {
  const id = parseId(word);
  if (id === undefined) throw BAD_STREAM_ID;
  return id;
}

/** A whole id, `-` or `+`. */
export function readIdOrEdge(word: string): Id {
  const id = parseIdOrEdge(word);
  if (id === undefined) throw BAD_STREAM_ID;
  return id;
}

const isExclusive = (word: string) => word.length > 1 && word.charCodeAt(0) === 0x28;

/** Where an interval begins: `-`, an id, or `(` and an id to begin right behind it. */
export function readStart(word: string): Id {
  if (!isExclusive(word)) return readIdOrEdge(word);
  const id = idAfter(readId(word.slice(1)));
  if (id === undefined) throw BAD_INTERVAL_START;
  return id;
}

/** Where an interval ends: `+`, an id, or `(` and an id to end right before it. Milliseconds alone mean all of them. */
export function readEnd(word: string): Id {
  const exclusive = isExclusive(word);
  const id = exclusive ? parseId(word.slice(1), HALF_MAX) : parseIdOrEdge(word, HALF_MAX);
  if (id === undefined) throw BAD_STREAM_ID;
  const end = exclusive ? idBefore(id) : id;
  if (end === undefined) throw BAD_INTERVAL_END;
  return end;
}

/** An int64 that only matters by its order of magnitude. */
export function readInt(word: string, error = NOT_AN_INTEGER): number {
  const value = parseInt64(word);
  if (value === undefined) throw error;
  return Number(value);
}

/** How XADD and XTRIM shorten a stream: down to a length, or up to an id. */
export type Trim = ({ kind: "maxlen"; maxLength: number } | { kind: "minid"; minId: Id }) & {
  /** With `~`: only whole blocks. */
  whole: boolean;
  /** At most so many entries; 0: any number. */
  limit: number;
};

/** The words of XADD and XTRIM up to XADD's id. */
export interface TrimOptions {
  readonly trim: Trim | undefined;
  readonly noMakeStream: boolean;
  /** XADD's id; its sequence number is -1 where the server is to choose it, and undefined where all of it. */
  readonly id: { readonly ms: Half; readonly seq: Half } | undefined;
}

const JUST_ADD: TrimOptions = { trim: undefined, noMakeStream: false, id: undefined };

/** The options behind the key. Those of XADD end with its id; among XTRIM's nothing else may stand. */
export function readTrimOptions(args: Args, isAdd: boolean, limits: Limits): TrimOptions {
  if (isAdd && args.accept("*")) return JUST_ADD;
  let trim: Trim | undefined;
  let limit: number | undefined;
  let noMakeStream = false;
  let id: TrimOptions["id"];
  while (args.more) {
    const word = args.next();
    const option = word.toLowerCase();
    if (args.more && (option === "maxlen" || option === "minid")) {
      if (trim !== undefined) throw TRIM_TWICE;
      const sign = args.left > 1 ? args.peek() : undefined;
      if (sign === "~" || sign === "=") args.next();
      trim = readStrategy(option, args.next(), sign === "~");
    } else if (args.more && option === "limit") {
      limit = args.int();
      if (limit < 0) throw TRIM_LIMIT_NEGATIVE;
    } else if (isAdd && option === "nomkstream") noMakeStream = true;
    else if (!isAdd) throw SYNTAX;
    else {
      if (option === "*") break;
      id = parseHalves(word, 0, true);
      if (id === undefined) throw BAD_STREAM_ID;
      break;
    }
  }
  if (limit && trim === undefined) throw TRIM_LIMIT_ALONE;
  if (!isAdd && trim === undefined) throw XTRIM_NO_STRATEGY;
  if (limit !== undefined && !trim?.whole) throw TRIM_LIMIT_EXACT;
  if (trim?.whole) trim.limit = limit ?? defaultLimit(limits);
  return { trim, noMakeStream, id };
}

/** What approximate trimming does at most in one go, where nobody says otherwise. */
function defaultLimit(limits: Limits): number {
  const limit = 100 * limits.streamNodeMaxEntries;
  return limit <= 0 ? 10_000 : Math.min(limit, 1_000_000);
}

function readStrategy(option: "maxlen" | "minid", word: string, whole: boolean): Trim {
  if (option === "minid") return { kind: option, minId: readId(word), whole, limit: 0 };
  const maxLength = readInt(word);
  if (maxLength < 0) throw TRIM_MAXLEN_NEGATIVE;
  return { kind: option, maxLength, whole, limit: 0 };
}

/** Shortens a stream; returns by how many entries. */
export function applyTrim(stream: StreamValue, trim: Trim): number {
  return trim.kind === "maxlen"
    ? stream.trimToLength(trim.maxLength, trim.whole, trim.limit)
    : stream.trimBefore(trim.minId, trim.whole, trim.limit);
}

/**
 * The words that make another copy of the stream as short as trimming with `~` has made this one: where blocks end there
 * must not matter.
 */
export function exactTrim(stream: StreamValue, trim: Trim): string[] {
  return trim.kind === "maxlen"
    ? ["MAXLEN", "=", String(stream.size)]
    : ["MINID", "=", formatId(stream.firstIdInBlocks)];
}
