/** Commands on lists, one at a time; those that move words, take from the first of several, or wait are in list-moves.ts. */

import type { Client } from "../../core/client.ts";
import {
  LPOS_COUNT_NEGATIVE,
  LPOS_MAXLEN_NEGATIVE,
  LPOS_RANK_ZERO,
  NO_SUCH_KEY,
  NOT_POSITIVE,
  OUT_OF_RANGE,
  SYNTAX,
  wrongArity,
} from "../../core/errors.ts";
import { EMPTY, NIL_ARRAY, OK, type Reply } from "../../core/reply.ts";
import { INT64_MIN } from "../../lib/numbers.ts";
import type { Args } from "../../table/args.ts";
import { group, key, READ_KEY } from "../../table/command.ts";
import { byIndex } from "../../table/shares.ts";
import { ListValue } from "../../types/list/index.ts";
import { listMoves } from "./list-moves.ts";

/** LPUSH and RPUSH. */
function push({ db }: Client, args: Args, atHead: boolean): Reply {
  let size = 0;
  db.edit(args.next(), ListValue, atHead ? "lpush" : "rpush", (list) => {
    const pushed = list.pushAll(args.argv, 2, atHead, db.limits.listMaxListpackSize);
    size = list.size;
    return pushed;
  });
  return size;
}

/** LPUSHX and RPUSHX. */
function pushIfExists({ db }: Client, args: Args, atHead: boolean): Reply {
  let size = 0;
  db.amend(args.next(), ListValue, atHead ? "lpush" : "rpush", (list) => {
    const pushed = list.pushAll(args.argv, 2, atHead);
    size = list.size;
    return pushed;
  });
  return size;
}

/** LPOP and RPOP. */
function pop({ db }: Client, args: Args, atHead: boolean): Reply {
  const name = args.next();
  const event = atHead ? "lpop" : "rpop";
  if (!args.more) {
    let word: string | undefined;
    db.amend(name, ListValue, event, (list) => {
      word = atHead ? list.popHead() : list.popTail();
      return 1;
    });
    return word ?? null;
  }
  if (args.left > 1) throw wrongArity(event);
  const count = args.intBetween(0, Number.POSITIVE_INFINITY, NOT_POSITIVE);
  if (db.peekAs(name, ListValue) === undefined) return NIL_ARRAY;
  let words: readonly string[] = [];
  db.amend(name, ListValue, event, (list) => {
    words = list.popAll(count, atHead);
    return words.length;
  });
  return words;
}

/** Where a range's first index points: never before the head. */
function startOf(index: number, size: number): number {
  return index < 0 ? Math.max(0, size + index) : index;
}

/** Where a range's last index points: never behind the tail. */
function stopOf(index: number, size: number): number {
  return index < 0 ? size + index : Math.min(index, size - 1);
}

/** LTRIM. A list that is kept whole is announced all the same, as Redis does. */
function trim({ db }: Client, args: Args): Reply {
  const name = args.next();
  const first = args.int();
  const last = args.int();
  db.amendAnyway(name, ListValue, "ltrim", (list) => {
    const { size } = list;
    list.trim(startOf(first, size), stopOf(last, size));
    return size - list.size;
  });
  return OK;
}

interface PositionOptions {
  fromTail: boolean;
  /** Matches to pass over. */
  spare: number;
  /** Undefined: the first match only, not in an array. */
  count: number | undefined;
  maxLength: number;
}

function readPositionOptions(args: Args): PositionOptions {
  const options: PositionOptions = { fromTail: false, spare: 0, count: undefined, maxLength: 0 };
  while (args.more) {
    const option = args.option();
    if (!args.more) throw SYNTAX;
    if (option === "rank") {
      const rank = args.int64();
      if (rank === 0) throw LPOS_RANK_ZERO;
      options.fromTail = rank < 0;
      // The lowest int64 has no positive counterpart: Redis takes it for the first match from the tail.
      options.spare = rank === INT64_MIN ? 0 : Math.abs(Number(rank)) - 1;
    } else if (option === "count") {
      options.count = args.intBetween(0, Number.POSITIVE_INFINITY, LPOS_COUNT_NEGATIVE);
    } else if (option === "maxlen") {
      options.maxLength = args.intBetween(0, Number.POSITIVE_INFINITY, LPOS_MAXLEN_NEGATIVE);
    } else throw SYNTAX;
  }
  return options;
}

/** LPOS. */
function positions({ db }: Client, args: Args): Reply {
  const name = args.next();
  const word = args.next();
  const { fromTail, spare, count, maxLength } = readPositionOptions(args);
  const list = db.get(name, ListValue);
  if (list === undefined) return count === undefined ? null : EMPTY;
  const scan = maxLength === 0 ? Number.POSITIVE_INFINITY : maxLength;
  if (count === undefined) return list.positions(word, fromTail, spare, 1, scan)[0] ?? null;
  return list.positions(word, fromTail, spare, count === 0 ? Number.POSITIVE_INFINITY : count, scan);
}

/** LINSERT. */
function insert({ db }: Client, args: Args): Reply {
  const name = args.next();
  const where = args.option();
  if (where !== "before" && where !== "after") throw SYNTAX;
  const pivot = args.next();
  const word = args.next();
  let size = 0;
  db.amend(name, ListValue, "linsert", (list) => {
    const found = list.insert(pivot, word, where === "after");
    size = found ? list.size : -1;
    return found ? 1 : 0;
  });
  return size;
}

const INSERTS = [key(["RW", "insert"])];
const TAKES = [key(["RW", "access", "delete"])];
const DELETES = [key(["RW", "delete"])];

export const lists = group("list", [
  {
    name: "lpush",
    arity: -3,
    flags: ["write", "denyoom", "fast"],
    keys: INSERTS,
    since: "1.0.0",
    summary: "Puts words before the first of a list, one after the other, creating it if needed, and tells its length.",
    syntax: "key element [element ...]",
    reply: "number",
    complexity: "O(N) with N words given",
    run: (client, args) => push(client, args, true),
  },
  {
    name: "rpush",
    arity: -3,
    flags: ["write", "denyoom", "fast"],
    keys: INSERTS,
    since: "1.0.0",
    summary: "Puts words behind the last of a list, creating it if needed, and tells its length.",
    syntax: "key element [element ...]",
    reply: "number",
    complexity: "O(N) with N words given",
    run: (client, args) => push(client, args, false),
  },
  {
    name: "lpushx",
    arity: -3,
    flags: ["write", "denyoom", "fast"],
    keys: INSERTS,
    since: "2.2.0",
    summary: "Like LPUSH, but only on a list that exists.",
    syntax: "key element [element ...]",
    reply: "number",
    complexity: "O(N) with N words given",
    run: (client, args) => pushIfExists(client, args, true),
  },
  {
    name: "rpushx",
    arity: -3,
    flags: ["write", "denyoom", "fast"],
    keys: INSERTS,
    since: "2.2.0",
    summary: "Like RPUSH, but only on a list that exists.",
    syntax: "key element [element ...]",
    reply: "number",
    complexity: "O(N) with N words given",
    run: (client, args) => pushIfExists(client, args, false),
  },
  {
    name: "lpop",
    arity: -2,
    flags: ["write", "fast"],
    keys: TAKES,
    takesCount: true,
    since: "1.0.0",
    summary: "Takes the first word, or the first few, off a list.",
    syntax: "key [count]",
    reply: { otherwise: "string | null", count: "string[] | null" },
    complexity: "O(N) with N words taken",
    run: (client, args) => pop(client, args, true),
  },
  {
    name: "rpop",
    arity: -2,
    flags: ["write", "fast"],
    keys: TAKES,
    takesCount: true,
    since: "1.0.0",
    summary: "Takes the last word, or the last few, off a list.",
    syntax: "key [count]",
    reply: { otherwise: "string | null", count: "string[] | null" },
    complexity: "O(N) with N words taken",
    run: (client, args) => pop(client, args, false),
  },
  {
    name: "llen",
    arity: 2,
    flags: ["readonly", "fast"],
    keys: [key(["RO"])],
    since: "1.0.0",
    summary: "Tells how long a list is.",
    syntax: "key",
    reply: "number",
    complexity: "O(1)",
    run: ({ db }, args) => db.get(args.next(), ListValue)?.size ?? 0,
  },
  {
    name: "lindex",
    arity: 3,
    flags: ["readonly"],
    keys: READ_KEY,
    since: "1.0.0",
    summary: "Returns the word at an index; negative indexes count from the tail.",
    syntax: "key index",
    reply: "string | null",
    complexity: "O(N) with N words up to the index from the nearer end",
    run({ db }, args) {
      const list = db.get(args.next(), ListValue);
      return list?.at(args.int()) ?? null;
    },
  },
  {
    name: "lset",
    arity: 4,
    flags: ["write", "denyoom"],
    keys: [key(["RW", "update"])],
    since: "1.0.0",
    summary: "Replaces the word at an index.",
    syntax: "key index element",
    reply: '"OK"',
    complexity: "O(N) with N words up to the index from the nearer end",
    run({ db }, args) {
      const name = args.next();
      if (db.peekAs(name, ListValue) === undefined) throw NO_SUCH_KEY;
      const index = args.int();
      const word = args.next();
      if (db.amend(name, ListValue, "lset", (list) => (list.set(index, word) ? 1 : 0)) === 0) throw OUT_OF_RANGE;
      return OK;
    },
  },
  {
    name: "linsert",
    arity: 5,
    flags: ["write", "denyoom"],
    keys: INSERTS,
    since: "2.2.0",
    summary: "Puts a word before or behind the first that equals another.",
    syntax: "key BEFORE | AFTER pivot element",
    reply: "number",
    complexity: "O(N) with N words before the pivot",
    run: insert,
  },
  {
    name: "lrange",
    arity: 4,
    flags: ["readonly"],
    keys: READ_KEY,
    builds: byIndex,
    since: "1.0.0",
    summary: "Returns the words from one index to another, both included.",
    syntax: "key start stop",
    reply: "string[]",
    complexity: "O(S+N) with S words up to the start from the nearer end and N words returned",
    run({ db }, args) {
      const name = args.next();
      const first = args.int();
      const last = args.int();
      const list = db.get(name, ListValue);
      if (list === undefined) return EMPTY;
      const { size } = list;
      return list.range(startOf(first, size), stopOf(last, size));
    },
  },
  {
    name: "lrem",
    arity: 4,
    flags: ["write"],
    keys: DELETES,
    since: "1.0.0",
    summary: "Removes words that equal one: the first few, the last few with a negative count, or all with 0.",
    syntax: "key count element",
    reply: "number",
    complexity: "O(N) with the list's length",
    run({ db }, args) {
      const name = args.next();
      const count = args.int();
      const word = args.next();
      const limit = count === 0 ? Number.POSITIVE_INFINITY : Math.abs(count);
      return db.amend(name, ListValue, "lrem", (list) => list.remove(word, limit, count < 0));
    },
  },
  {
    name: "ltrim",
    arity: 4,
    flags: ["write"],
    keys: DELETES,
    since: "1.0.0",
    summary: "Keeps the words from one index to another and removes the others.",
    syntax: "key start stop",
    reply: '"OK"',
    complexity: "O(N) with N words removed",
    run: trim,
  },
  {
    name: "lpos",
    arity: -3,
    flags: ["readonly"],
    keys: READ_KEY,
    since: "6.0.6",
    summary: "Tells at which index, or at which ones, a list has a word.",
    syntax: "key element [RANK rank] [COUNT num-matches] [MAXLEN len]",
    reply: { otherwise: "number | null", COUNT: "number[]" },
    complexity: "O(N) with N words looked at",
    run: positions,
  },
  ...listMoves,
]);
