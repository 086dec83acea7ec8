/** Sorted-set commands that take members off an end, at once or as soon as there are some. */

import type { Client } from "../../core/client.ts";
import { COUNT_NOT_POSITIVE, NOT_POSITIVE, NUMKEYS_NOT_POSITIVE, SYNTAX } from "../../core/errors.ts";
import { Double, EMPTY, NIL_ARRAY, type Reply } from "../../core/reply.ts";
import { Args } from "../../table/args.ts";
import { countedKeys, key, keysFrom, type Row } from "../../table/command.ts";
import { ZsetValue } from "../../types/zset/index.ts";

type End = "min" | "max";

/** The shape of the popped entries: member, score, member …; or in pairs. */
type Shape = "flat" | "pairs";

/** Takes up to `count` members off an end of the sorted set at a key that has one. */
function pop({ db }: Client, name: string, end: End, count: number, shape: Shape): Reply[] {
  const popped: Reply[] = [];
  db.amend(name, ZsetValue, end === "min" ? "zpopmin" : "zpopmax", (zset) => {
    const taken = Math.min(count, zset.size);
    const from = end === "min" ? 0 : zset.size - taken;
    zset.visit(from, from + taken, end === "max", (member, score) => {
      if (shape === "flat") popped.push(member, new Double(score));
      else popped.push([member, new Double(score)]);
    });
    return zset.deleteRanks(from, from + taken);
  });
  return popped;
}

const commandFor = (end: End) => (end === "min" ? "ZPOPMIN" : "ZPOPMAX");

/** ZPOPMIN and ZPOPMAX. */
function popOne(client: Client, args: Args, end: End): Reply {
  const name = args.next();
  const counted = args.more;
  const count = counted ? readCount(args) : 1;
  const zset = client.db.peekAs(name, ZsetValue);
  if (zset === undefined || count === 0) return EMPTY;
  return pop(client, name, end, count, counted && client.protocol === 3 ? "pairs" : "flat");
}

function readCount(args: Args): number {
  if (args.left > 1) throw SYNTAX;
  return args.intBetween(0, Number.POSITIVE_INFINITY, NOT_POSITIVE);
}

/** BZPOPMIN and BZPOPMAX. */
function popOrWait(client: Client, args: Args, end: End): Reply {
  const keys = args.take(args.left - 1);
  const timeoutMs = args.timeoutMs();
  const give = (name: string): Reply => {
    const popped = pop(client, name, end, 1, "flat");
    client.propagate.asPop(commandFor(end), name);
    return [name, ...popped];
  };
  return giveOrWait(client, keys, timeoutMs, give);
}

/** Pops from the first key that holds a sorted set, or waits for one. */
function giveOrWait(client: Client, keys: readonly string[], timeoutMs: number, give: (name: string) => Reply): Reply {
  const { db } = client;
  for (const name of keys) if (db.peekAs(name, ZsetValue) !== undefined) return give(name);
  return client.block({
    type: "zset",
    keys,
    timeoutMs,
    nothing: NIL_ARRAY,
    serve: (name) => (client.db.peek(name) instanceof ZsetValue ? give(name) : undefined),
  });
}

interface ManyPop {
  readonly keys: readonly string[];
  readonly give: (name: string) => Reply;
}

/** What ZMPOP and BZMPOP share: `numkeys key … MIN|MAX [COUNT count]`. */
function readManyPop(client: Client, args: Args): ManyPop {
  const number = args.intBetween(1, Number.POSITIVE_INFINITY, NUMKEYS_NOT_POSITIVE);
  if (number >= args.left) throw SYNTAX;
  const keys = args.take(number);
  const end = args.option();
  if (end !== "min" && end !== "max") throw SYNTAX;
  let count = 0;
  while (args.more) {
    if (count !== 0 || args.left < 2 || !args.accept("count")) throw SYNTAX;
    count = args.intBetween(1, Number.POSITIVE_INFINITY, COUNT_NOT_POSITIVE);
  }
  const give = (name: string): Reply => {
    const popped = pop(client, name, end, Math.max(1, count), "pairs");
    client.propagate.asPop(commandFor(end), name, popped.length);
    return [name, popped];
  };
  return { keys, give };
}

function popFromFirst(client: Client, args: Args): Reply {
  const { keys, give } = readManyPop(client, args);
  for (const name of keys) if (client.db.peekAs(name, ZsetValue) !== undefined) return give(name);
  return NIL_ARRAY;
}

function popFromFirstOrWait(client: Client, args: Args): Reply {
  // Written first, but looked at last.
  const timeout = new Args(args.take(1), 0);
  const { keys, give } = readManyPop(client, args);
  return giveOrWait(client, keys, timeout.timeoutMs(), give);
}

const TAKES = ["RW", "access", "delete"] as const;

export const pops: readonly Row[] = [
  {
    name: "zpopmin",
    arity: -2,
    flags: ["write", "fast"],
    keys: [key(TAKES)],
    takesCount: true,
    since: "5.0.0",
    summary: "Removes and returns the members with the lowest scores.",
    syntax: "key [count]",
    reply: "string[]",
    complexity: "O(M log N) for M members",
    run: (client, args) => popOne(client, args, "min"),
  },
  {
    name: "zpopmax",
    arity: -2,
    flags: ["write", "fast"],
    keys: [key(TAKES)],
    takesCount: true,
    since: "5.0.0",
    summary: "Removes and returns the members with the highest scores.",
    syntax: "key [count]",
    reply: "string[]",
    complexity: "O(M log N) for M members",
    run: (client, args) => popOne(client, args, "max"),
  },
  {
    name: "zmpop",
    arity: -4,
    flags: ["write", "movablekeys"],
    keys: [countedKeys(TAKES, 1)],
    since: "7.0.0",
    summary: "Removes and returns members from an end of the first sorted set that is not empty.",
    syntax: "numkeys key [key ...] MIN | MAX [COUNT count]",
    reply: "[string, [string, string][]] | null",
    complexity: "O(K + M log N) for K keys and M members",
    run: popFromFirst,
  },
  {
    name: "bzpopmin",
    arity: -3,
    flags: ["write", "noscript", "blocking", "fast"],
    keys: [keysFrom(TAKES, 1, 1, -2)],
    since: "5.0.0",
    summary: "Removes and returns the member with the lowest score, waiting for one if there is none.",
    syntax: "key [key ...] timeout",
    reply: "[string, string, string] | null",
    complexity: "O(log N)",
    run: (client, args) => popOrWait(client, args, "min"),
  },
  {
    name: "bzpopmax",
    arity: -3,
    flags: ["write", "noscript", "blocking", "fast"],
    keys: [keysFrom(TAKES, 1, 1, -2)],
    since: "5.0.0",
    summary: "Removes and returns the member with the highest score, waiting for one if there is none.",
    syntax: "key [key ...] timeout",
    reply: "[string, string, string] | null",
    complexity: "O(log N)",
    run: (client, args) => popOrWait(client, args, "max"),
  },
  {
    name: "bzmpop",
    arity: -5,
    flags: ["write", "blocking", "movablekeys"],
    keys: [countedKeys(TAKES, 2)],
    since: "7.0.0",
    summary: "Like ZMPOP, but waits until one of the sorted sets has members.",
    syntax: "timeout numkeys key [key ...] MIN | MAX [COUNT count]",
    reply: "[string, [string, string][]] | null",
    complexity: "O(K + M log N) for K keys and M members",
    run: popFromFirstOrWait,
  },
];
