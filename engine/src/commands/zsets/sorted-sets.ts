/**
 * Commands on sorted sets. Here: single members, their scores and ranks. Ranges, combinations and pops have files of their
 * own, joined at the end.
 */

import type { Client } from "../../core/client.ts";
import { Double, EMPTY, type Reply } from "../../core/reply.ts";
import type { Args } from "../../table/args.ts";
import { group, key, READ_KEY, type Row } from "../../table/command.ts";
import { sampleIndexes } from "../../types/sample.ts";
import { ZsetValue } from "../../types/zset/index.ts";
import { drawsOf, randomCount } from "../shared/random-count.ts";
import { scanCollection } from "../shared/scan-options.ts";
import { gather } from "./sorted-set-args.ts";
import { combinations } from "./sorted-set-combinations.ts";
import { pops } from "./sorted-set-pops.ts";
import { ranges } from "./sorted-set-ranges.ts";
import { INCR, zadd } from "./zadd.ts";

function scoreReply(zset: ZsetValue | undefined, member: string): Reply {
  const score = zset?.score(member);
  return score === undefined ? null : new Double(score);
}

/** `count` different ranks, evenly chosen. */
function differentRanks(size: number, count: number, random: () => number): Iterable<number> {
  if (count * 3 > size) return sampleIndexes(size, count, random);
  const ranks = new Set<number>();
  while (ranks.size < count) ranks.add(Math.floor(random() * size));
  return ranks;
}

function randomMembers(client: Client, args: Args): Reply {
  const name = args.next();
  const { clock } = client.engine;
  const random = (): number => clock.random();
  if (!args.more) {
    const zset = client.db.get(name, ZsetValue);
    return zset === undefined ? null : zset.at(Math.floor(random() * zset.size)).member;
  }
  const { count, withBeside } = randomCount(args, "withscores");
  const zset = client.db.get(name, ZsetValue);
  if (zset === undefined || count === 0) return EMPTY;
  const reply: Reply[] = [];
  const visit = gather(client, reply, withBeside);
  if (count >= zset.size) zset.visit(0, zset.size, false, visit);
  else if (count > 0)
    for (const rank of differentRanks(zset.size, count, random)) zset.visit(rank, rank + 1, false, visit);
  else {
    for (let i = drawsOf(client, count); i > 0; i--) {
      const rank = Math.floor(random() * zset.size);
      zset.visit(rank, rank + 1, false, visit);
    }
  }
  return reply;
}

const members: readonly Row[] = [
  {
    name: "zadd",
    arity: -4,
    flags: ["write", "denyoom", "fast"],
    keys: [key(["RW", "update"])],
    since: "1.2.0",
    summary: "Adds members to a sorted set or changes their scores, creating it if needed.",
    syntax: "key [NX | XX] [GT | LT] [CH] [INCR] score member [score member ...]",
    reply: { otherwise: "number", INCR: "string | null" },
    complexity: "O(log N) for each member",
    run: (client, args) => zadd(client, args.argv, 0),
  },
  {
    name: "zincrby",
    arity: 4,
    flags: ["write", "denyoom", "fast"],
    keys: [key(["RW", "access", "update"])],
    since: "1.2.0",
    summary: "Adds a number to a member's score and returns the sum.",
    syntax: "key increment member",
    reply: "string",
    complexity: "O(log N)",
    run: (client, args) => zadd(client, args.argv, INCR),
  },
  {
    name: "zrem",
    arity: -3,
    flags: ["write", "fast"],
    keys: [key(["RW", "delete"])],
    since: "1.2.0",
    summary: "Removes members; the key goes with the last one.",
    syntax: "key member [member ...]",
    reply: "number",
    complexity: "O(M log N) for M members",
    run({ db }, args) {
      const name = args.next();
      const gone = args.rest();
      return db.amend(name, ZsetValue, "zrem", (zset) => {
        let removed = 0;
        for (const member of gone) if (zset.delete(member)) removed++;
        return removed;
      });
    },
  },
  {
    name: "zcard",
    arity: 2,
    flags: ["readonly", "fast"],
    keys: [key(["RO"])],
    since: "1.2.0",
    summary: "Returns how many members a sorted set has.",
    syntax: "key",
    reply: "number",
    complexity: "O(1)",
    run: ({ db }, args) => db.get(args.next(), ZsetValue)?.size ?? 0,
  },
  {
    name: "zscore",
    arity: 3,
    flags: ["readonly", "fast"],
    keys: READ_KEY,
    since: "1.2.0",
    summary: "Returns a member's score.",
    syntax: "key member",
    reply: "string | null",
    complexity: "O(1)",
    run: ({ db }, args) => scoreReply(db.get(args.next(), ZsetValue), args.next()),
  },
  {
    name: "zmscore",
    arity: -3,
    flags: ["readonly", "fast"],
    keys: READ_KEY,
    since: "6.2.0",
    summary: "Returns the scores of several members.",
    syntax: "key member [member ...]",
    reply: "(string | null)[]",
    complexity: "O(M) for M members",
    run({ db }, args) {
      const zset = db.get(args.next(), ZsetValue);
      return args.rest().map((member) => scoreReply(zset, member));
    },
  },
  {
    name: "zrank",
    arity: 3,
    flags: ["readonly", "fast"],
    keys: READ_KEY,
    since: "2.0.0",
    summary: "Tells how many members come before this one, lowest score first.",
    syntax: "key member",
    reply: "number | null",
    complexity: "O(log N)",
    run({ db }, args) {
      const rank = db.get(args.next(), ZsetValue)?.rank(args.next()) ?? -1;
      return rank < 0 ? null : rank;
    },
  },
  {
    name: "zrevrank",
    arity: 3,
    flags: ["readonly", "fast"],
    keys: READ_KEY,
    since: "2.0.0",
    summary: "Tells how many members come before this one, highest score first.",
    syntax: "key member",
    reply: "number | null",
    complexity: "O(log N)",
    run({ db }, args) {
      const zset = db.get(args.next(), ZsetValue);
      if (zset === undefined) return null;
      const rank = zset.rank(args.next());
      return rank < 0 ? null : zset.size - 1 - rank;
    },
  },
  {
    name: "zrandmember",
    arity: -2,
    flags: ["readonly"],
    keys: READ_KEY,
    tips: ["nondeterministic_output"],
    since: "6.2.0",
    summary: "Returns members chosen by chance.",
    syntax: "key [count [WITHSCORES]]",
    reply: { otherwise: "string | null", count: "string[]" },
    complexity: "O(M log N) for M members returned",
    run: randomMembers,
  },
  {
    name: "zscan",
    arity: -3,
    flags: ["readonly"],
    keys: READ_KEY,
    tips: ["nondeterministic_output"],
    since: "2.8.0",
    summary: "Walks through members and scores, some at a time.",
    syntax: "key cursor [MATCH pattern] [COUNT count]",
    reply: "[string, string[]]",
    complexity: "O(1) for each call, O(N) for the whole walk",
    run: (client, args) =>
      scanCollection(client, args, ZsetValue, (zset, cursor, count, emit) =>
        zset.scan(cursor, count, (member, score) => emit(member, zset.printScore(score))),
      ),
  },
];

export const sortedSets = group("sorted-set", [...members, ...ranges, ...combinations, ...pops]);
