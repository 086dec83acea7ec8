/**
 * List commands that move a word to another list, take from the first of several lists, or wait until there is something to
 * take. What waits goes to the file and the replicas as the plain command that did the work.
 */

import type { Client } from "../../core/client.ts";
import { COUNT_NOT_POSITIVE, NUMKEYS_NOT_POSITIVE, SYNTAX } from "../../core/errors.ts";
import { NIL_ARRAY, type Reply } from "../../core/reply.ts";
import { Args } from "../../table/args.ts";
import { countedKeys, key, keysFrom, type Row } from "../../table/command.ts";
import { ListValue } from "../../types/list/index.ts";
import { own } from "../../types/packed.ts";

type End = "left" | "right";

function readEnd(args: Args): End {
  const word = args.option();
  if (word !== "left" && word !== "right") throw SYNTAX;
  return word;
}

const popEvent = (end: End) => (end === "left" ? "lpop" : "rpop");
const popCommand = (end: End) => (end === "left" ? "LPOP" : "RPOP");

// Moving

interface Move {
  readonly source: string;
  readonly target: string;
  readonly from: End;
  readonly to: End;
}

/**
 * Moves one word between lists that may be one and the same; undefined where the source has none. The word is pushed before
 * it is popped, since Redis announces it in this order and a target of the wrong type must leave the source as it was.
 */
function move({ db }: Client, { source, target, from, to }: Move): string | undefined {
  const word = db.peekAs(source, ListValue)?.at(from === "left" ? 0 : -1);
  if (word === undefined) return undefined;
  const kept = own(word);
  const take = (list: ListValue): void => {
    if (from === "left") list.popHead();
    else list.popTail();
  };
  db.edit(target, ListValue, to === "left" ? "lpush" : "rpush", (list) => {
    // Of one list, the word is gone when it is pushed: what is full is cut as in Redis.
    if (source === target) take(list);
    const fill = source === target ? list.fill : db.limits.listMaxListpackSize;
    if (to === "left") list.pushHead(kept, fill);
    else list.pushTail(kept, fill);
    return 1;
  });
  db.amend(source, ListValue, popEvent(from), (list) => {
    if (source !== target) take(list);
    return 1;
  });
  return kept;
}

/** BLMOVE and BRPOPLPUSH, where `propagate` says what was done. */
function moveOrWait(client: Client, step: Move, timeoutMs: number, propagate: () => void): Reply {
  const serve = (): Reply | undefined => {
    const word = move(client, step);
    if (word !== undefined) propagate();
    return word;
  };
  const word = serve();
  if (word !== undefined) return word;
  // Redis answers a transaction with a null, and a wait that is over with a null array.
  if (client.inTransaction) return null;
  const { source } = step;
  return client.block({
    type: "list",
    keys: [source],
    timeoutMs,
    nothing: NIL_ARRAY,
    serve: () => (client.db.peek(source) instanceof ListValue ? serve() : undefined),
  });
}

// Taking from the first of several

/** Takes words off an end of the list at a key that has one. */
function popWords({ db }: Client, name: string, end: End, count: number): string[] {
  let words: string[] = [];
  db.amend(name, ListValue, popEvent(end), (list) => {
    words = list.popAll(count, end === "left");
    return words.length;
  });
  return words;
}

type Give = (name: string) => Reply;

/** The reply from the first key that holds a list, if any does. */
function giveFirst({ db }: Client, keys: readonly string[], give: Give): Reply | undefined {
  for (const name of keys) if (db.peekAs(name, ListValue) !== undefined) return give(name);
  return undefined;
}

function giveOrWait(client: Client, keys: readonly string[], timeoutMs: number, give: Give): Reply {
  return (
    giveFirst(client, keys, give) ??
    client.block({
      type: "list",
      keys,
      timeoutMs,
      nothing: NIL_ARRAY,
      serve: (name) => (client.db.peek(name) instanceof ListValue ? give(name) : undefined),
    })
  );
}

/** BLPOP and BRPOP. */
function popOrWait(client: Client, args: Args, end: End): Reply {
  const keys = args.take(args.left - 1);
  const timeoutMs = args.timeoutMs();
  const give = (name: string): Reply => {
    const words = popWords(client, name, end, 1);
    client.propagate.asPop(popCommand(end), name);
    return [name, ...words];
  };
  return giveOrWait(client, keys, timeoutMs, give);
}

/** What LMPOP and BLMPOP share: `numkeys key … LEFT | RIGHT [COUNT count]`. */
function readManyPop(client: Client, args: Args): { keys: readonly string[]; give: Give } {
  const number = args.intBetween(1, Number.POSITIVE_INFINITY, NUMKEYS_NOT_POSITIVE);
  if (number >= args.left) throw SYNTAX;
  const keys = args.take(number);
  const end = readEnd(args);
  let count = 0;
  while (args.more) {
    if (count !== 0 || args.left < 2 || !args.accept("count")) throw SYNTAX;
    count = args.intBetween(1, Number.POSITIVE_INFINITY, COUNT_NOT_POSITIVE);
  }
  const give = (name: string): Reply => {
    const words = popWords(client, name, end, Math.max(1, count));
    client.propagate.asPop(popCommand(end), name, words.length);
    return [name, words];
  };
  return { keys, give };
}

const TAKES = ["RW", "access", "delete"] as const;
const FROM_AND_TO = [key(TAKES), key(["RW", "insert"], 2)];

export const listMoves: readonly Row[] = [
  {
    name: "lmove",
    arity: 5,
    flags: ["write", "denyoom"],
    keys: FROM_AND_TO,
    brief: true,
    since: "6.2.0",
    summary: "Takes a word off an end of one list and puts it at an end of another, or of the same.",
    syntax: "source destination LEFT | RIGHT LEFT | RIGHT",
    reply: "string | null",
    complexity: "O(1)",
    run(client, args) {
      const source = args.next();
      const target = args.next();
      return move(client, { source, target, from: readEnd(args), to: readEnd(args) }) ?? null;
    },
  },
  {
    name: "rpoplpush",
    arity: 3,
    flags: ["write", "denyoom"],
    keys: FROM_AND_TO,
    brief: true,
    since: "1.2.0",
    summary: "Takes the last word off one list and puts it before the first of another, or of the same.",
    syntax: "source destination",
    reply: "string | null",
    complexity: "O(1)",
    deprecated: { since: "6.2.0", use: "`LMOVE` with the `RIGHT` and `LEFT` arguments" },
    run: (client, args) =>
      move(client, { source: args.next(), target: args.next(), from: "right", to: "left" }) ?? null,
  },
  {
    name: "lmpop",
    arity: -4,
    flags: ["write", "movablekeys"],
    keys: [countedKeys(TAKES, 1)],
    since: "7.0.0",
    summary: "Takes words off an end of the first list that is not empty.",
    syntax: "numkeys key [key ...] LEFT | RIGHT [COUNT count]",
    reply: "[string, string[]] | null",
    complexity: "O(K+M) with K keys and M words taken",
    run(client, args) {
      const { keys, give } = readManyPop(client, args);
      return giveFirst(client, keys, give) ?? NIL_ARRAY;
    },
  },
  {
    name: "blpop",
    arity: -3,
    flags: ["write", "noscript", "blocking"],
    keys: [keysFrom(TAKES, 1, 1, -2)],
    since: "2.0.0",
    summary: "Takes the first word off the first list that is not empty, waiting for one if all are.",
    syntax: "key [key ...] timeout",
    reply: "[string, string] | null",
    complexity: "O(N) with N keys given",
    run: (client, args) => popOrWait(client, args, "left"),
  },
  {
    name: "brpop",
    arity: -3,
    flags: ["write", "noscript", "blocking"],
    keys: [keysFrom(TAKES, 1, 1, -2)],
    since: "2.0.0",
    summary: "Takes the last word off the first list that is not empty, waiting for one if all are.",
    syntax: "key [key ...] timeout",
    reply: "[string, string] | null",
    complexity: "O(N) with N keys given",
    run: (client, args) => popOrWait(client, args, "right"),
  },
  {
    name: "blmove",
    arity: 6,
    flags: ["write", "denyoom", "noscript", "blocking"],
    keys: FROM_AND_TO,
    since: "6.2.0",
    summary: "Like LMOVE, but waits until the source has a word.",
    syntax: "source destination LEFT | RIGHT LEFT | RIGHT timeout",
    reply: "string | null",
    complexity: "O(1)",
    run(client, args) {
      const source = args.next();
      const target = args.next();
      const from = readEnd(args);
      const to = readEnd(args);
      const timeoutMs = args.timeoutMs();
      const propagate = () => client.propagate.asLmove(source, target, from, to);
      return moveOrWait(client, { source, target, from, to }, timeoutMs, propagate);
    },
  },
  {
    name: "brpoplpush",
    arity: 4,
    flags: ["write", "denyoom", "noscript", "blocking"],
    keys: FROM_AND_TO,
    since: "2.2.0",
    summary: "Like RPOPLPUSH, but waits until the source has a word.",
    syntax: "source destination timeout",
    reply: "string | null",
    complexity: "O(1)",
    deprecated: { since: "6.2.0", use: "`BLMOVE` with the `RIGHT` and `LEFT` arguments" },
    run(client, args) {
      const source = args.next();
      const target = args.next();
      const timeoutMs = args.timeoutMs();
      const step: Move = { source, target, from: "right", to: "left" };
      return moveOrWait(client, step, timeoutMs, () => client.propagate.asRpoplpush(source, target));
    },
  },
  {
    name: "blmpop",
    arity: -5,
    flags: ["write", "blocking", "movablekeys"],
    keys: [countedKeys(TAKES, 2)],
    since: "7.0.0",
    summary: "Like LMPOP, but waits until one of the lists has words.",
    syntax: "timeout numkeys key [key ...] LEFT | RIGHT [COUNT count]",
    reply: "[string, string[]] | null",
    complexity: "O(K+M) with K keys and M words taken",
    run(client, args) {
      // Written first, but looked at last.
      const timeout = new Args(args.take(1), 0);
      const { keys, give } = readManyPop(client, args);
      return giveOrWait(client, keys, timeout.timeoutMs(), give);
    },
  },
];
