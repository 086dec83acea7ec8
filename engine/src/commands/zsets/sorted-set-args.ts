/** What sorted-set commands share: how ranges are written, and how members with scores are answered. */
import type { Client } from "../../core/client.ts";
import { RANGE_NOT_FLOAT, RANGE_NOT_LEX } from "../../core/errors.ts";
import { Double, type Reply } from "../../core/reply.ts";
import { parseFloatLoosely } from "../../lib/numbers.ts";
import type { Interval, LexBound, LexRange, ScoreRange, Visit, ZsetValue } from "../../types/zset/index.ts";

const OPEN = 0x28;
const CLOSED = 0x5b;
const PLUS = 0x2b;
const MINUS = 0x2d;

/** `1.5`, `(1.5`, `-inf`: the ends of a range of scores. */
export function readScoreRange(minWord: string, maxWord: string): ScoreRange {
  const minOpen = minWord.charCodeAt(0) === OPEN;
  const maxOpen = maxWord.charCodeAt(0) === OPEN;
  const min = parseFloatLoosely(minOpen ? minWord.slice(1) : minWord);
  const max = parseFloatLoosely(maxOpen ? maxWord.slice(1) : maxWord);
  if (min === undefined || max === undefined) throw RANGE_NOT_FLOAT;
  return { min, max, minOpen, maxOpen };
}

/** `[word`, `(word`, `-`, `+`: the ends of a range of members. */
export function readLexRange(minWord: string, maxWord: string): LexRange {
  return { min: readLexBound(minWord), max: readLexBound(maxWord) };
}

function readLexBound(text: string): LexBound {
  const first = text.charCodeAt(0);
  if (first === OPEN || first === CLOSED) return { beyond: 0, word: text.slice(1), open: first === OPEN };
  // Redis looks at the second byte of a C string, so a NUL is as good as the end.
  if (first !== PLUS && first !== MINUS) throw RANGE_NOT_LEX;
  if (text.length > 1 && text.charCodeAt(1) !== 0) throw RANGE_NOT_LEX;
  return { beyond: first === PLUS ? 1 : -1, word: "", open: false };
}

/** The ranks that `start` and `stop` mean, both inclusive and counted from the end where negative. */
export function rankInterval(size: number, start: number, stop: number): Interval {
  const from = Math.max(0, start < 0 ? size + start : start);
  const to = Math.min(size, (stop < 0 ? size + stop : stop) + 1);
  return from < to ? { from, to } : { from: 0, to: 0 };
}

/** A visitor that gathers members, with their scores if wanted: flat in RESP2, in pairs in RESP3. */
export function gather(client: Client, reply: Reply[], withScores: boolean): Visit {
  if (!withScores) return (member) => reply.push(member);
  if (client.protocol === 2) return (member, score) => reply.push(member, new Double(score));
  return (member, score) => reply.push([member, new Double(score)]);
}

/** The members of an interval of ranks. */
export function readInterval(
  client: Client,
  zset: ZsetValue,
  { from, to }: Interval,
  reverse: boolean,
  withScores: boolean,
): Reply {
  const reply: Reply[] = [];
  if (from < to) zset.visit(from, to, reverse, gather(client, reply, withScores));
  return reply;
}
