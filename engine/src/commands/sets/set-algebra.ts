/**
 * Intersection, union and difference of sets, answered or stored.
 *
 * Which way a result is computed can be seen from outside: in the order of integers, and in the encoding of what is stored.
 * So results of SUNION and SDIFF are collected in a set, which begins as integers, and SDIFF chooses between its two ways
 * as Redis does.
 */

import type { Client } from "../../core/client.ts";
import type { Db } from "../../core/db.ts";
import { LIMIT_NEGATIVE, NUMKEYS_NOT_POSITIVE, NUMKEYS_TOO_LARGE, SYNTAX } from "../../core/errors.ts";
import { type Reply, SetReply } from "../../core/reply.ts";
import type { Args } from "../../table/args.ts";
import { countedKeys, key, keysFrom, type Row } from "../../table/command.ts";
import { whole } from "../../table/shares.ts";
import type { Limits } from "../../types/collection.ts";
import { SetValue } from "../../types/set/index.ts";

export const EMPTY_SET = new SetReply([]);

const SOURCES = [keysFrom(["RO", "access"])];
const storing = (flag: "RW" | "OW") => [key([flag, "update"]), keysFrom(["RO", "access"], 2)];

/** The sets at these keys; undefined stands for a key that does not exist. Every type is checked before anything else. */
function readSets(db: Db, keys: readonly string[]): (SetValue | undefined)[] {
  return keys.map((name) => db.get(name, SetValue));
}

const bySize = (a: SetValue, b: SetValue) => a.size - b.size;

/** Calls back for each common member until `visit` says that it is enough. */
function intersect(sources: (SetValue | undefined)[], visit: (word: string, from: SetValue) => boolean): void {
  if (sources.includes(undefined)) return;
  const [smallest, ...others] = (sources as SetValue[]).sort(bySize) as [SetValue, ...SetValue[]];
  next: for (const word of smallest.words()) {
    for (const other of others) if (other !== smallest && !other.has(word)) continue next;
    if (!visit(word, smallest)) return;
  }
}

function union(sources: readonly (SetValue | undefined)[], limits: Limits): SetValue {
  const result = new SetValue();
  for (const source of sources) {
    source?.forEach((word) => {
      result.addFrom(source, word, limits);
    });
  }
  return result;
}

function difference(sources: readonly (SetValue | undefined)[], limits: Limits): SetValue {
  const [first, ...rest] = sources;
  const others = rest.filter((set) => set !== undefined);
  if (first === undefined || others.includes(first)) return new SetValue();
  let total = first.size;
  for (const other of others) total += other.size;
  // Looking up each member of the first everywhere stops early, so it is given half its work.
  if (Math.floor((first.size * (others.length + 1)) / 2) <= total) return differenceByLookup(first, others, limits);
  return differenceByRemoval(first, others, limits);
}

function differenceByLookup(first: SetValue, others: SetValue[], limits: Limits): SetValue {
  const result = new SetValue();
  others.sort((a, b) => b.size - a.size);
  next: for (const word of first.words()) {
    for (const other of others) if (other.has(word)) continue next;
    result.addFrom(first, word, limits);
  }
  return result;
}

function differenceByRemoval(first: SetValue, others: readonly SetValue[], limits: Limits): SetValue {
  const result = union([first], limits);
  for (const other of others) {
    if (result.size === 0) break;
    other.forEach((word) => {
      result.delete(word);
    });
  }
  return result;
}

/** Puts a result where it belongs; an empty one deletes what was there. */
function store(db: Db, destination: string, result: SetValue, event: string): number {
  if (result.size === 0) db.delete(destination);
  else db.put(destination, result, { event });
  return result.size;
}

function intersectionReply({ db }: Client, args: Args): Reply {
  const words: string[] = [];
  intersect(readSets(db, args.rest()), (word) => words.push(word) > 0);
  return new SetReply(words);
}

function intersectionCount({ db }: Client, args: Args): Reply {
  const count = args.intBetween(1, Number.POSITIVE_INFINITY, NUMKEYS_NOT_POSITIVE);
  if (count > args.left) throw NUMKEYS_TOO_LARGE;
  const keys = args.take(count);
  let limit = 0;
  while (args.more) {
    if (!args.accept("limit") || !args.more) throw SYNTAX;
    limit = args.intBetween(0, Number.POSITIVE_INFINITY, LIMIT_NEGATIVE);
  }
  let found = 0;
  intersect(readSets(db, keys), () => ++found !== limit);
  return found;
}

export const setAlgebra: readonly Row[] = [
  {
    name: "sinter",
    arity: -2,
    flags: ["readonly"],
    keys: SOURCES,
    tips: ["nondeterministic_output_order"],
    since: "1.0.0",
    summary: "Returns the members that are in all of the sets.",
    syntax: "key [key ...]",
    reply: "string[]",
    complexity: "O(N*M) with N members in the smallest of M sets",
    run: intersectionReply,
  },
  {
    name: "sintercard",
    arity: -3,
    flags: ["readonly", "movablekeys"],
    keys: [countedKeys(["RO", "access"], 1)],
    since: "7.0.0",
    summary: "Returns how many members are in all of the sets, counting no further than the limit.",
    syntax: "numkeys key [key ...] [LIMIT limit]",
    reply: "number",
    complexity: "O(N*M) with N members in the smallest of M sets",
    run: intersectionCount,
  },
  {
    name: "sinterstore",
    arity: -3,
    flags: ["write", "denyoom"],
    keys: storing("RW"),
    builds: whole,
    since: "1.0.0",
    summary: "Stores the members that are in all of the sets.",
    syntax: "destination key [key ...]",
    reply: "number",
    complexity: "O(N*M) with N members in the smallest of M sets",
    run({ db }, args) {
      const destination = args.next();
      const result = new SetValue();
      intersect(readSets(db, args.rest()), (word, from) => {
        result.addFrom(from, word, db.limits);
        return true;
      });
      return store(db, destination, result, "sinterstore");
    },
  },
  {
    name: "sunion",
    arity: -2,
    flags: ["readonly"],
    keys: SOURCES,
    tips: ["nondeterministic_output_order"],
    builds: whole,
    since: "1.0.0",
    summary: "Returns the members that are in any of the sets.",
    syntax: "key [key ...]",
    reply: "string[]",
    complexity: "O(N) with N members in all sets together",
    run: ({ db }, args) => new SetReply(union(readSets(db, args.rest()), db.limits).members()),
  },
  {
    name: "sunionstore",
    arity: -3,
    flags: ["write", "denyoom"],
    keys: storing("OW"),
    builds: whole,
    since: "1.0.0",
    summary: "Stores the members that are in any of the sets.",
    syntax: "destination key [key ...]",
    reply: "number",
    complexity: "O(N) with N members in all sets together",
    run({ db }, args) {
      const destination = args.next();
      return store(db, destination, union(readSets(db, args.rest()), db.limits), "sunionstore");
    },
  },
  {
    name: "sdiff",
    arity: -2,
    flags: ["readonly"],
    keys: SOURCES,
    tips: ["nondeterministic_output_order"],
    builds: whole,
    since: "1.0.0",
    summary: "Returns the members of the first set that are in none of the others.",
    syntax: "key [key ...]",
    reply: "string[]",
    complexity: "O(N) with N members in all sets together",
    run: ({ db }, args) => new SetReply(difference(readSets(db, args.rest()), db.limits).members()),
  },
  {
    name: "sdiffstore",
    arity: -3,
    flags: ["write", "denyoom"],
    keys: storing("OW"),
    builds: whole,
    since: "1.0.0",
    summary: "Stores the members of the first set that are in none of the others.",
    syntax: "destination key [key ...]",
    reply: "number",
    complexity: "O(N) with N members in all sets together",
    run({ db }, args) {
      const destination = args.next();
      return store(db, destination, difference(readSets(db, args.rest()), db.limits), "sdiffstore");
    },
  },
];
