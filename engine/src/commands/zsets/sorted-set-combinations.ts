/**
 * Unions, intersections and differences of sorted sets, answered, counted or stored. Plain sets take part with a score of 1
 * for every member.
 */

import type { Client } from "../../core/client.ts";
import type { Db } from "../../core/db.ts";
import { Dict } from "../../core/dict.ts";
import { inputKeyNeeded, LIMIT_NEGATIVE, SYNTAX, WEIGHT_NOT_FLOAT, WRONGTYPE } from "../../core/errors.ts";
import type { Reply } from "../../core/reply.ts";
import type { Args } from "../../table/args.ts";
import { countedKeys, key, type Row } from "../../table/command.ts";
import { whole } from "../../table/shares.ts";
import { SetValue } from "../../types/set/index.ts";
import { type Visit, ZsetValue } from "../../types/zset/index.ts";
import { type Entries, sortEntries } from "../../types/zset/sort-entries.ts";
import { gather } from "./sorted-set-args.ts";

type Operation = "union" | "inter" | "diff";
type Aggregate = (a: number, b: number) => number;

interface Source {
  readonly value: ZsetValue | SetValue | undefined;
  weight: number;
}

interface Options {
  readonly aggregate: Aggregate;
  readonly withScores: boolean;
}

const orZero = (score: number) => (Number.isNaN(score) ? 0 : score);

/** The second may be NaN (a weight of 0 times infinity): MIN and MAX then keep the first, which Math.min would not. */
const AGGREGATES: Readonly<Record<"sum" | "min" | "max", Aggregate>> = {
  sum: (a, b) => orZero(a + b),
  min(a, b) {
    if (b < a) return b;
    return a;
  },
  max(a, b) {
    if (b > a) return b;
    return a;
  },
};
const aggregateByName: ReadonlyMap<string, Aggregate> = new Map(Object.entries(AGGREGATES));

const sizeOf = (source: Source) => source.value?.size ?? 0;

function scoreIn({ value }: Source, member: string): number | undefined {
  if (value instanceof SetValue) return value.has(member) ? 1 : undefined;
  return value?.score(member);
}

function visitAll({ value }: Source, visit: Visit): void {
  if (value instanceof SetValue) {
    for (const member of value.words()) if (visit(member, 1) === false) return;
  } else value?.visit(0, value.size, false, visit);
}

// ------------------------------------------------------------------------------------------------ arguments

/** Reads `numkeys key …`, and the values at these keys, whose types are checked before any option is. */
function readSources(db: Db, args: Args, name: string): Source[] {
  const count = args.int();
  if (count < 1) throw inputKeyNeeded(name);
  return args.take(count).map((word) => {
    const value = db.read(word);
    if (value !== undefined && !(value instanceof ZsetValue) && !(value instanceof SetValue)) throw WRONGTYPE;
    return { value, weight: 1 };
  });
}

function readOptions(args: Args, sources: readonly Source[], weighs: boolean, answers: boolean): Options {
  let aggregate = AGGREGATES.sum;
  let withScores = false;
  while (args.more) {
    if (weighs && args.left > sources.length && args.accept("weights")) {
      for (const source of sources) source.weight = args.float(WEIGHT_NOT_FLOAT);
    } else if (weighs && args.left >= 2 && args.accept("aggregate")) {
      const named = aggregateByName.get(args.option());
      if (named === undefined) throw SYNTAX;
      aggregate = named;
    } else if (answers && args.accept("withscores")) withScores = true;
    else throw SYNTAX;
  }
  return { aggregate, withScores };
}

// ------------------------------------------------------------------------------------------------ combining

/** Smallest first: fewer look-ups, and the order in which Redis adds scores up. */
const bySize = (sources: readonly Source[]) => [...sources].sort((a, b) => sizeOf(a) - sizeOf(b));

function union(sources: readonly Source[], aggregate: Aggregate): Entries {
  const found = new Dict<number>({ values: "numbers" });
  for (const source of bySize(sources)) {
    visitAll(source, (member, score) => {
      const weighed = orZero(source.weight * score);
      const known = found.get(member);
      found.set(member, known === undefined ? weighed : aggregate(known, weighed));
    });
  }
  const members: string[] = [];
  const scores: number[] = [];
  found.forEach((member, score) => {
    members.push(member);
    scores.push(score);
  });
  return { members, scores };
}

function intersection(sources: readonly Source[], aggregate: Aggregate): Entries {
  const [first, ...others] = bySize(sources) as [Source, ...Source[]];
  const members: string[] = [];
  const scores: number[] = [];
  visitAll(first, (member, score) => {
    let total = orZero(first.weight * score);
    for (const other of others) {
      const beside = scoreIn(other, member);
      if (beside === undefined) return;
      total = aggregate(total, beside * other.weight);
    }
    members.push(member);
    scores.push(total);
  });
  return { members, scores };
}

function difference(sources: readonly Source[]): Entries {
  const [first, ...others] = sources as [Source, ...Source[]];
  const members: string[] = [];
  const scores: number[] = [];
  visitAll(first, (member, score) => {
    for (const other of others) if (scoreIn(other, member) !== undefined) return;
    members.push(member);
    scores.push(score);
  });
  return { members, scores };
}

function combine(operation: Operation, sources: readonly Source[], aggregate: Aggregate): Entries {
  if (operation === "union") return union(sources, aggregate);
  return operation === "inter" ? intersection(sources, aggregate) : difference(sources);
}

function answer(client: Client, args: Args, operation: Operation): Reply {
  const sources = readSources(client.db, args, `z${operation}`);
  const { aggregate, withScores } = readOptions(args, sources, operation !== "diff", true);
  const { members, scores } = sortEntries(combine(operation, sources, aggregate));
  const reply: Reply[] = [];
  const visit = gather(client, reply, withScores);
  for (let i = 0; i < members.length; i++) visit(members[i]!, scores[i]!);
  return reply;
}

function store({ db }: Client, args: Args, operation: Operation): Reply {
  const name = `z${operation}store`;
  const target = args.next();
  const sources = readSources(db, args, name);
  const { aggregate } = readOptions(args, sources, operation !== "diff", false);
  const { members, scores } = combine(operation, sources, aggregate);
  if (members.length === 0) db.delete(target);
  else db.put(target, ZsetValue.from(members, scores, db.limits), { event: name });
  return members.length;
}

function countCommon({ db }: Client, args: Args): Reply {
  const sources = readSources(db, args, "zintercard");
  let limit = 0;
  while (args.more) {
    if (args.left < 2 || !args.accept("limit")) throw SYNTAX;
    limit = args.intBetween(0, Number.POSITIVE_INFINITY, LIMIT_NEGATIVE);
  }
  const [first, ...others] = bySize(sources) as [Source, ...Source[]];
  if (sizeOf(first) === 0) return 0;
  let count = 0;
  visitAll(first, (member) => {
    if (limit > 0 && count === limit) return false;
    for (const other of others) if (scoreIn(other, member) === undefined) return true;
    count++;
    return true;
  });
  return count;
}

const COUNTED = [countedKeys(["RO", "access"], 1)];
const STORED = [key(["OW", "update"]), countedKeys(["RO", "access"], 2)];

export const combinations: readonly Row[] = [
  {
    name: "zunion",
    arity: -3,
    flags: ["readonly", "movablekeys"],
    keys: COUNTED,
    builds: whole,
    since: "6.2.0",
    summary: "Returns the members that are in any of several sorted sets.",
    syntax: "numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE SUM | MIN | MAX] [WITHSCORES]",
    reply: "string[]",
    complexity: "O(N + M log M) for N members in all, M in the result",
    run: (client, args) => answer(client, args, "union"),
  },
  {
    name: "zunionstore",
    arity: -4,
    flags: ["write", "denyoom", "movablekeys"],
    keys: STORED,
    builds: whole,
    since: "2.0.0",
    summary: "Keeps the members that are in any of several sorted sets in a key.",
    syntax: "destination numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE SUM | MIN | MAX]",
    reply: "number",
    complexity: "O(N + M log M) for N members in all, M in the result",
    run: (client, args) => store(client, args, "union"),
  },
  {
    name: "zinter",
    arity: -3,
    flags: ["readonly", "movablekeys"],
    keys: COUNTED,
    builds: whole,
    since: "6.2.0",
    summary: "Returns the members that are in all of several sorted sets.",
    syntax: "numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE SUM | MIN | MAX] [WITHSCORES]",
    reply: "string[]",
    complexity: "O(N K + M log M) for the smallest of K sets with N members, M in the result",
    run: (client, args) => answer(client, args, "inter"),
  },
  {
    name: "zinterstore",
    arity: -4,
    flags: ["write", "denyoom", "movablekeys"],
    keys: STORED,
    builds: whole,
    since: "2.0.0",
    summary: "Keeps the members that are in all of several sorted sets in a key.",
    syntax: "destination numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE SUM | MIN | MAX]",
    reply: "number",
    complexity: "O(N K + M log M) for the smallest of K sets with N members, M in the result",
    run: (client, args) => store(client, args, "inter"),
  },
  {
    name: "zintercard",
    arity: -3,
    flags: ["readonly", "movablekeys"],
    keys: COUNTED,
    since: "7.0.0",
    summary: "Returns how many members are in all of several sorted sets.",
    syntax: "numkeys key [key ...] [LIMIT limit]",
    reply: "number",
    complexity: "O(N K) for the smallest of K sets with N members",
    run: countCommon,
  },
  {
    name: "zdiff",
    arity: -3,
    flags: ["readonly", "movablekeys"],
    keys: COUNTED,
    builds: whole,
    since: "6.2.0",
    summary: "Returns the members of the first sorted set that are in none of the others.",
    syntax: "numkeys key [key ...] [WITHSCORES]",
    reply: "string[]",
    complexity: "O(N K + M log M) for N members in the first of K sets, M in the result",
    run: (client, args) => answer(client, args, "diff"),
  },
  {
    name: "zdiffstore",
    arity: -4,
    flags: ["write", "denyoom", "movablekeys"],
    keys: STORED,
    builds: whole,
    since: "6.2.0",
    summary: "Keeps the members of the first sorted set that are in none of the others in a key.",
    syntax: "destination numkeys key [key ...]",
    reply: "number",
    complexity: "O(N K + M log M) for N members in the first of K sets, M in the result",
    run: (client, args) => store(client, args, "diff"),
  },
];
