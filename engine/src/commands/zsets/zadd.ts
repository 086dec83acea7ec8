/** ZADD, ZINCRBY and GEOADD: one way to put scores into a sorted set under conditions. */

import type { Client } from "../../core/client.ts";
import { NOT_A_FLOAT, SCORE_NAN, SYNTAX, ZADD_GT_LT_NX, ZADD_INCR_PAIR, ZADD_XX_NX } from "../../core/errors.ts";
import { Double, type Reply } from "../../core/reply.ts";
import { parseFloat64 } from "../../lib/numbers.ts";
import { sameToken } from "../../table/args.ts";
import { ADDED, UNCHANGED, ZsetValue } from "../../types/zset/index.ts";

export const NX = 1;
export const XX = 2;
export const GT = 4;
export const LT = 8;
export const CH = 16;
export const INCR = 32;

function flagOf(word: string): number {
  if (sameToken(word, "nx")) return NX;
  if (sameToken(word, "xx")) return XX;
  if (sameToken(word, "gt")) return GT;
  if (sameToken(word, "lt")) return LT;
  if (sameToken(word, "ch")) return CH;
  return sameToken(word, "incr") ? INCR : 0;
}

/** Runs ZADD's words, `key [flags] score member …`; `flags` holds those that the command itself implies. */
export function zadd(client: Client, argv: readonly string[], flags: number): Reply {
  let at = 2;
  // Numbers begin below the letters, so a plain ZADD looks at no option.
  for (let word = argv[at]; word !== undefined && word.charCodeAt(0) >= 0x41; word = argv[++at]) {
    const flag = flagOf(word);
    if (flag === 0) break;
    flags |= flag;
  }
  const words = argv.length - at;
  if (words === 0 || words % 2 === 1) throw SYNTAX;
  if ((flags & (NX | XX)) === (NX | XX)) throw ZADD_XX_NX;
  const exclusive = flags & (NX | GT | LT);
  if ((exclusive & (exclusive - 1)) !== 0) throw ZADD_GT_LT_NX;
  if ((flags & INCR) !== 0 && words > 2) throw ZADD_INCR_PAIR;
  const scores: number[] = [];
  const members: string[] = [];
  for (; at < argv.length; at += 2) {
    const score = parseFloat64(argv[at]!);
    if (score === undefined) throw NOT_A_FLOAT;
    scores.push(score);
    members.push(argv[at + 1]!);
  }
  return putScores(client, argv[1]!, scores, members, flags);
}

/** Puts scores that have been read; answers what ZADD answers. */
export function putScores(
  { db }: Client,
  key: string,
  scores: readonly number[],
  members: readonly string[],
  flags: number,
): Reply {
  const { limits } = db;
  const increments = (flags & INCR) !== 0;
  let added = 0;
  let updated = 0;
  let outcome: Reply = null;
  const change = (zset: ZsetValue) => {
    for (let i = 0; i < members.length; i++) {
      const member = members[i]!;
      const given = scores[i]!;
      const score = (flags & ~CH) === 0 ? given : allowed(zset, member, given, flags);
      if (score === undefined) continue;
      const result = zset.set(member, score, limits);
      if (result === ADDED) added++;
      else if (result !== UNCHANGED) updated++;
      if (increments) outcome = new Double(score);
    }
    return added + updated;
  };
  const event = increments ? "zincr" : "zadd";
  if ((flags & XX) !== 0) db.amend(key, ZsetValue, event, change);
  else db.edit(key, ZsetValue, event, change);
  if (increments) return outcome;
  return (flags & CH) !== 0 ? added + updated : added;
}

/** The score that a member is to get, or undefined where the flags forbid a change. */
function allowed(zset: ZsetValue, member: string, score: number, flags: number): number | undefined {
  const current = zset.score(member);
  if (current === undefined) return (flags & XX) !== 0 ? undefined : score;
  if ((flags & NX) !== 0) return undefined;
  const wanted = (flags & INCR) !== 0 ? current + score : score;
  if (Number.isNaN(wanted)) throw SCORE_NAN;
  if ((flags & GT) !== 0 && wanted <= current) return undefined;
  if ((flags & LT) !== 0 && wanted >= current) return undefined;
  return wanted;
}
