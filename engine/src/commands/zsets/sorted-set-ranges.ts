/**
 * Sorted-set commands on ranges: by rank, by score, by the bytes of the member; reading, counting, storing and removing.
 * Whatever the kind of range, it is an interval of ranks before anything is done with it.
 */

import type { Client } from "../../core/client.ts";
import { LIMIT_NEEDS_BY, SYNTAX, WITHSCORES_BYLEX } from "../../core/errors.ts";
import { EMPTY, type Reply } from "../../core/reply.ts";
import { Args } from "../../table/args.ts";
import { key, READ_KEY, type Row } from "../../table/command.ts";
import { byBorders, byIndex, byIndexOrBorders } from "../../table/shares.ts";
import type { Limits } from "../../types/collection.ts";
import { type Interval, ZsetValue } from "../../types/zset/index.ts";
import { rankInterval, readInterval, readLexRange, readScoreRange } from "./sorted-set-args.ts";

type Kind = "rank" | "score" | "lex";

/** What a command's name fixes; undefined leaves it to BYSCORE, BYLEX and REV. */
interface Form {
  readonly kind?: Kind;
  readonly reverse?: boolean;
  readonly stores?: boolean;
}

interface RangeQuery {
  readonly kind: Kind;
  readonly reverse: boolean;
  readonly withScores: boolean;
  /** The ranks in a sorted set that the query asks for. */
  readonly intervalIn: (zset: ZsetValue) => Interval;
}

/** Reads `min max [options]`, complaining in Redis's order: options, their conflicts, then the range. */
function readQuery(args: Args, form: Form): RangeQuery {
  const first = args.next();
  const second = args.next();
  let { kind, reverse } = form;
  let withScores = false;
  let offset = 0;
  let limit = -1;
  while (args.more) {
    if (form.stores !== true && args.accept("withscores")) withScores = true;
    else if (args.left >= 3 && args.accept("limit")) {
      offset = args.int();
      limit = args.int();
    } else if (reverse === undefined && args.accept("rev")) reverse = true;
    else if (kind === undefined && args.accept("bylex")) kind = "lex";
    else if (kind === undefined && args.accept("byscore")) kind = "score";
    else throw SYNTAX;
  }
  const down = reverse ?? false;
  if (limit !== -1 && (kind ?? "rank") === "rank") throw LIMIT_NEEDS_BY;
  if (withScores && kind === "lex") throw WITHSCORES_BYLEX;
  const intervalIn = intervalReader(kind ?? "rank", first, second, down, offset, limit);
  return { kind: kind ?? "rank", reverse: down, withScores, intervalIn };
}

function intervalReader(
  kind: Kind,
  first: string,
  second: string,
  reverse: boolean,
  offset: number,
  limit: number,
): (zset: ZsetValue) => Interval {
  if (kind === "rank") {
    const words = new Args([first, second], 0);
    const start = words.int();
    const stop = words.int();
    return (zset) => {
      const { from, to } = rankInterval(zset.size, start, stop);
      return reverse ? { from: zset.size - to, to: zset.size - from } : { from, to };
    };
  }
  // Backwards, the higher end is written first.
  const min = reverse ? second : first;
  const max = reverse ? first : second;
  if (kind === "score") {
    const range = readScoreRange(min, max);
    return (zset) => limited(zset.scoreInterval(range), reverse, offset, limit);
  }
  const range = readLexRange(min, max);
  return (zset) => limited(zset.lexInterval(range, reverse), reverse, offset, limit);
}

/** The part that LIMIT leaves. A negative offset leaves nothing, a negative count everything. */
function limited({ from, to }: Interval, reverse: boolean, offset: number, limit: number): Interval {
  if (offset === 0 && limit < 0) return { from, to };
  if (offset < 0 || offset >= to - from) return { from: 0, to: 0 };
  const count = limit < 0 ? to - from - offset : Math.min(limit, to - from - offset);
  return reverse ? { from: to - offset - count, to: to - offset } : { from: from + offset, to: from + offset + count };
}

function read(client: Client, args: Args, form: Form): Reply {
  const name = args.next();
  const { reverse, withScores, intervalIn } = readQuery(args, form);
  const zset = client.db.get(name, ZsetValue);
  return zset === undefined ? EMPTY : readInterval(client, zset, intervalIn(zset), reverse, withScores);
}

function store({ db }: Client, args: Args): Reply {
  const target = args.next();
  const source = args.next();
  const { intervalIn, reverse, kind } = readQuery(args, { stores: true });
  const zset = db.get(source, ZsetValue);
  const members: string[] = [];
  const scores: number[] = [];
  if (zset !== undefined) {
    const { from, to } = intervalIn(zset);
    zset.visit(from, to, reverse, (member, score) => {
      members.push(member);
      scores.push(score);
    });
  }
  if (members.length === 0) db.delete(target);
  else {
    dropNegativeZeros(members, scores, kind === "rank", db.limits);
    db.put(target, ZsetValue.from(members, scores, db.limits), { event: "zrangestore" });
  }
  return members.length;
}

/**
 * Redis adds the members one by one, in the order of the range, to a listpack, which knows no negative zero, until they no
 * longer fit there. Only by ranks does it know beforehand that there are too many.
 */
function dropNegativeZeros(members: readonly string[], scores: number[], isCounted: boolean, limits: Limits): void {
  const { zsetMaxListpackEntries: most, zsetMaxListpackValue: longest } = limits;
  if (isCounted && members.length > most) return;
  const unfit = members.findIndex((member, i) => i >= most || member.length > longest);
  const fitting = unfit < 0 ? members.length : unfit;
  for (const [i, score] of scores.entries()) if (i < fitting) scores[i] = score + 0;
}

function count(client: Client, args: Args, kind: Kind): Reply {
  const name = args.next();
  const intervalIn = intervalReader(kind, args.next(), args.next(), false, 0, -1);
  const zset = client.db.get(name, ZsetValue);
  if (zset === undefined) return 0;
  const { from, to } = intervalIn(zset);
  return to - from;
}

function remove({ db }: Client, args: Args, kind: Kind, event: string): Reply {
  const name = args.next();
  const intervalIn = intervalReader(kind, args.next(), args.next(), false, 0, -1);
  return db.amend(name, ZsetValue, event, (zset) => {
    const { from, to } = intervalIn(zset);
    return zset.deleteRanks(from, to);
  });
}

export const ranges: readonly Row[] = [
  {
    name: "zrange",
    arity: -4,
    flags: ["readonly"],
    keys: READ_KEY,
    builds: byIndexOrBorders,
    since: "1.2.0",
    summary: "Returns the members of a range of ranks, scores or words.",
    syntax: "key start stop [BYSCORE | BYLEX] [REV] [LIMIT offset count] [WITHSCORES]",
    reply: "string[]",
    complexity: "O(log N + M) for M members returned",
    run: (client, args) => read(client, args, {}),
  },
  {
    name: "zrangestore",
    arity: -5,
    flags: ["write", "denyoom"],
    keys: [key(["OW", "update"]), key(["RO", "access"], 2)],
    since: "6.2.0",
    summary: "Keeps the members of a range in another key and returns how many they are.",
    syntax: "dst src min max [BYSCORE | BYLEX] [REV] [LIMIT offset count]",
    reply: "number",
    complexity: "O(log N + M) for M members stored",
    run: store,
  },
  {
    name: "zrevrange",
    arity: -4,
    flags: ["readonly"],
    keys: READ_KEY,
    builds: byIndex,
    since: "1.2.0",
    deprecated: { since: "6.2.0", use: "`ZRANGE` with the `REV` argument" },
    summary: "Returns the members of a range of ranks, highest score first.",
    syntax: "key start stop [WITHSCORES]",
    reply: "string[]",
    complexity: "O(log N + M) for M members returned",
    run: (client, args) => read(client, args, { kind: "rank", reverse: true }),
  },
  {
    name: "zrangebyscore",
    arity: -4,
    flags: ["readonly"],
    keys: READ_KEY,
    builds: byBorders,
    since: "1.0.5",
    deprecated: { since: "6.2.0", use: "`ZRANGE` with the `BYSCORE` argument" },
    summary: "Returns the members of a range of scores.",
    syntax: "key min max [WITHSCORES] [LIMIT offset count]",
    reply: "string[]",
    complexity: "O(log N + M) for M members returned",
    run: (client, args) => read(client, args, { kind: "score", reverse: false }),
  },
  {
    name: "zrevrangebyscore",
    arity: -4,
    flags: ["readonly"],
    keys: READ_KEY,
    builds: byBorders,
    since: "2.2.0",
    deprecated: { since: "6.2.0", use: "`ZRANGE` with the `REV` and `BYSCORE` arguments" },
    summary: "Returns the members of a range of scores, highest first.",
    syntax: "key max min [WITHSCORES] [LIMIT offset count]",
    reply: "string[]",
    complexity: "O(log N + M) for M members returned",
    run: (client, args) => read(client, args, { kind: "score", reverse: true }),
  },
  {
    name: "zrangebylex",
    arity: -4,
    flags: ["readonly"],
    keys: READ_KEY,
    builds: byBorders,
    since: "2.8.9",
    deprecated: { since: "6.2.0", use: "`ZRANGE` with the `BYLEX` argument" },
    summary: "Returns the members of a range of words; all scores must be equal.",
    syntax: "key min max [LIMIT offset count]",
    reply: "string[]",
    complexity: "O(log N + M) for M members returned",
    run: (client, args) => read(client, args, { kind: "lex", reverse: false }),
  },
  {
    name: "zrevrangebylex",
    arity: -4,
    flags: ["readonly"],
    keys: READ_KEY,
    builds: byBorders,
    since: "2.8.9",
    deprecated: { since: "6.2.0", use: "`ZRANGE` with the `REV` and `BYLEX` arguments" },
    summary: "Returns the members of a range of words, last first; all scores must be equal.",
    syntax: "key max min [LIMIT offset count]",
    reply: "string[]",
    complexity: "O(log N + M) for M members returned",
    run: (client, args) => read(client, args, { kind: "lex", reverse: true }),
  },
  {
    name: "zcount",
    arity: 4,
    flags: ["readonly", "fast"],
    keys: READ_KEY,
    since: "2.0.0",
    summary: "Returns how many members have a score in a range.",
    syntax: "key min max",
    reply: "number",
    complexity: "O(log N)",
    run: (client, args) => count(client, args, "score"),
  },
  {
    name: "zlexcount",
    arity: 4,
    flags: ["readonly", "fast"],
    keys: READ_KEY,
    since: "2.8.9",
    summary: "Returns how many members lie in a range of words; all scores must be equal.",
    syntax: "key min max",
    reply: "number",
    complexity: "O(log N)",
    run: (client, args) => count(client, args, "lex"),
  },
  {
    name: "zremrangebyrank",
    arity: 4,
    flags: ["write"],
    keys: [key(["RW", "delete"])],
    since: "2.0.0",
    summary: "Removes the members of a range of ranks.",
    syntax: "key start stop",
    reply: "number",
    complexity: "O(log N + M) for M members removed",
    run: (client, args) => remove(client, args, "rank", "zremrangebyrank"),
  },
  {
    name: "zremrangebyscore",
    arity: 4,
    flags: ["write"],
    keys: [key(["RW", "delete"])],
    since: "1.2.0",
    summary: "Removes the members with a score in a range.",
    syntax: "key min max",
    reply: "number",
    complexity: "O(log N + M) for M members removed",
    run: (client, args) => remove(client, args, "score", "zremrangebyscore"),
  },
  {
    name: "zremrangebylex",
    arity: 4,
    flags: ["write"],
    keys: [key(["RW", "delete"])],
    since: "2.8.9",
    summary: "Removes the members in a range of words; all scores must be equal.",
    syntax: "key min max",
    reply: "number",
    complexity: "O(log N + M) for M members removed",
    run: (client, args) => remove(client, args, "lex", "zremrangebylex"),
  },
];
