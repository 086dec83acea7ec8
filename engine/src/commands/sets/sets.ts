/** Commands on sets, one at a time; those that join several sets are in set-algebra.ts. */
import type { Client } from "../../core/client.ts";
import { NOT_POSITIVE, SYNTAX } from "../../core/errors.ts";
import { EMPTY, type Reply, SetReply } from "../../core/reply.ts";
import { group, key, READ_KEY } from "../../table/command.ts";
import { whole } from "../../table/shares.ts";
import { SetValue } from "../../types/set/index.ts";
import { drawsOf, randomCount } from "../shared/random-count.ts";
import { scanCollection } from "../shared/scan-options.ts";
import { EMPTY_SET, setAlgebra } from "./set-algebra.ts";

/** SPOP without a count. */
function popOne(client: Client, name: string): Reply {
  const { clock } = client.engine;
  let popped: string | undefined;
  client.db.amend(name, SetValue, "spop", (set) => {
    popped = set.pop(() => clock.random());
    return 1;
  });
  if (popped === undefined) return null;
  client.propagate.asSrem(name, [popped]);
  return popped;
}

/** SPOP with a count. */
function popSome(client: Client, name: string, count: number): Reply {
  const { db } = client;
  const { clock } = client.engine;
  const set = db.peekAs(name, SetValue);
  if (set === undefined || count === 0) return EMPTY_SET;
  const all = count >= set.size;
  let popped: string[] = [];
  db.amend(name, SetValue, "spop", () => {
    popped = set.popSome(count, () => clock.random(), db.limits);
    return popped.length;
  });
  if (all) client.propagate.asDel(name);
  else client.propagate.asSrem(name, popped);
  return new SetReply(popped);
}

export const sets = group("set", [
  {
    name: "sadd",
    arity: -3,
    flags: ["write", "denyoom", "fast"],
    keys: [key(["RW", "insert"])],
    since: "1.0.0",
    summary: "Adds members to a set, creating it if needed, and tells how many are new.",
    syntax: "key member [member ...]",
    reply: "number",
    complexity: "O(N) with N members given",
    run({ db }, args) {
      const { argv } = args;
      return db.edit(args.next(), SetValue, "sadd", (set) => {
        let added = 0;
        for (let i = 2; i < argv.length; i++) if (set.add(argv[i]!, db.limits)) added++;
        return added;
      });
    },
  },
  {
    name: "srem",
    arity: -3,
    flags: ["write", "fast"],
    keys: [key(["RW", "delete"])],
    since: "1.0.0",
    summary: "Removes members, and the set with the last of them; tells how many were there.",
    syntax: "key member [member ...]",
    reply: "number",
    complexity: "O(N) with N members given",
    run({ db }, args) {
      const { argv } = args;
      return db.amend(args.next(), SetValue, "srem", (set) => {
        let removed = 0;
        for (let i = 2; i < argv.length; i++) if (set.delete(argv[i]!)) removed++;
        return removed;
      });
    },
  },
  {
    name: "smove",
    arity: 4,
    flags: ["write", "fast"],
    keys: [key(["RW", "access", "delete"]), key(["RW", "insert"], 2)],
    since: "1.0.0",
    summary: "Moves a member from one set to another.",
    syntax: "source destination member",
    reply: "number",
    complexity: "O(1)",
    run({ db }, args) {
      const from = args.next();
      const to = args.next();
      const member = args.next();
      const source = db.peekAs(from, SetValue);
      // The destination's type matters only where there is something to move from.
      if (source === undefined) return 0;
      db.peekAs(to, SetValue);
      if (from === to) return source.has(member) ? 1 : 0;
      if (db.amend(from, SetValue, "srem", (set) => (set.delete(member) ? 1 : 0)) === 0) return 0;
      db.edit(to, SetValue, "sadd", (set) => (set.add(member, db.limits) ? 1 : 0));
      return 1;
    },
  },
  {
    name: "sismember",
    arity: 3,
    flags: ["readonly", "fast"],
    keys: [key(["RO"])],
    since: "1.0.0",
    summary: "Tells whether a word is in a set.",
    syntax: "key member",
    reply: "number",
    complexity: "O(1)",
    run: ({ db }, args) => (db.get(args.next(), SetValue)?.has(args.next()) ? 1 : 0),
  },
  {
    name: "smismember",
    arity: -3,
    flags: ["readonly", "fast"],
    keys: READ_KEY,
    since: "6.2.0",
    summary: "Tells for each of several words whether it is in a set.",
    syntax: "key member [member ...]",
    reply: "number[]",
    complexity: "O(N) with N members asked for",
    run({ db }, args) {
      const set = db.get(args.next(), SetValue);
      const answers: number[] = [];
      while (args.more) {
        const member = args.next();
        answers.push(set?.has(member) ? 1 : 0);
      }
      return answers;
    },
  },
  {
    name: "scard",
    arity: 2,
    flags: ["readonly", "fast"],
    keys: [key(["RO"])],
    since: "1.0.0",
    summary: "Returns how many members a set has.",
    syntax: "key",
    reply: "number",
    complexity: "O(1)",
    run: ({ db }, args) => db.get(args.next(), SetValue)?.size ?? 0,
  },
  {
    name: "smembers",
    arity: 2,
    flags: ["readonly"],
    keys: READ_KEY,
    tips: ["nondeterministic_output_order"],
    builds: whole,
    since: "1.0.0",
    summary: "Returns all members of a set.",
    syntax: "key",
    reply: "string[]",
    complexity: "O(N) with N members in the set",
    run({ db }, args) {
      const set = db.get(args.next(), SetValue);
      return set === undefined ? EMPTY_SET : new SetReply(set.members());
    },
  },
  {
    name: "spop",
    arity: -2,
    flags: ["write", "fast"],
    keys: [key(["RW", "access", "delete"])],
    tips: ["nondeterministic_output"],
    takesCount: true,
    since: "1.0.0",
    summary: "Takes members out of a set at random and returns them.",
    syntax: "key [count]",
    reply: { otherwise: "string | null", count: "string[]" },
    complexity: "O(N) with N members taken out",
    run(client, args) {
      const name = args.next();
      if (!args.more) return popOne(client, name);
      if (args.left > 1) throw SYNTAX;
      return popSome(client, name, args.intBetween(0, Number.POSITIVE_INFINITY, NOT_POSITIVE));
    },
  },
  {
    name: "srandmember",
    arity: -2,
    flags: ["readonly"],
    keys: READ_KEY,
    tips: ["nondeterministic_output"],
    since: "1.0.0",
    summary: "Returns members chosen at random; a negative count may repeat them.",
    syntax: "key [count]",
    reply: { otherwise: "string | null", count: "string[]" },
    complexity: "O(N) with N members returned",
    run(client, args) {
      const { db, engine } = client;
      const { clock } = engine;
      const random = () => clock.random();
      const name = args.next();
      if (!args.more) return db.get(name, SetValue)?.random(random) ?? null;
      if (args.left > 1) throw SYNTAX;
      const { count } = randomCount(args);
      const set = db.get(name, SetValue);
      if (set === undefined || count === 0) return EMPTY;
      return count < 0 ? set.draw(drawsOf(client, count), random) : set.sample(count, random);
    },
  },
  {
    name: "sscan",
    arity: -3,
    flags: ["readonly"],
    keys: READ_KEY,
    tips: ["nondeterministic_output"],
    since: "2.8.0",
    summary: "Walks through a set page by page.",
    syntax: "key cursor [MATCH pattern] [COUNT count]",
    reply: "[string, string[]]",
    complexity: "O(1) a call, O(N) for all N members",
    run: (client, args) =>
      scanCollection(client, args, SetValue, (set, cursor, count, emit) => set.scan(cursor, count, emit)),
  },
  ...setAlgebra,
]);
