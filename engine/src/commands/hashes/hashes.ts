/** Commands on hashes: a key with fields and values of its own. */
import type { Client } from "../../core/client.ts";
import {
  HASH_VALUE_NOT_A_FLOAT,
  HASH_VALUE_NOT_AN_INTEGER,
  INCR_NAN,
  INCR_OVERFLOW,
  NAN_OR_INFINITY,
  NOT_A_FLOAT,
  wrongArity,
} from "../../core/errors.ts";
import { EMPTY, MapReply, OK, type Reply } from "../../core/reply.ts";
import { addLongDouble, isInfinite, parseLongDouble } from "../../lib/long-double.ts";
import { INT64_MAX, INT64_MIN, narrow, parseInt64 } from "../../lib/numbers.ts";
import { group, key, READ_KEY } from "../../table/command.ts";
import { whole } from "../../table/shares.ts";
import { HashValue } from "../../types/hash/index.ts";
import { own } from "../../types/packed.ts";
import { drawsOf, randomCount } from "../shared/random-count.ts";
import { scanCollection } from "../shared/scan-options.ts";

const SUM_ERRORS = { left: HASH_VALUE_NOT_A_FLOAT, right: NOT_A_FLOAT, sum: INCR_NAN };

const EMPTY_MAP = new MapReply([]);

/** A new hash of no more words than this is made in one go. */
const MOST_FILLED = 2 + 2 * 32;

/** HSET and HMSET: returns how many fields are new. */
function setFields({ db }: Client, argv: readonly string[], name: string): number {
  if (argv.length % 2 === 1) throw wrongArity(name);
  const { limits } = db;
  let created = 0;
  db.edit(argv[1]!, HashValue, "hset", (hash) => {
    if (hash.size === 0 && argv.length <= MOST_FILLED) {
      created = hash.fill(argv, 2, limits);
      return (argv.length - 2) / 2;
    }
    hash.makeRoom(argv, 2, limits);
    for (let i = 2; i < argv.length; i += 2) if (hash.set(argv[i]!, argv[i + 1]!, limits)) created++;
    return (argv.length - 2) / 2;
  });
  return created;
}

function sum(current: string | undefined, increment: number | bigint): number | bigint {
  if (current === undefined) return increment;
  const value = parseInt64(current);
  if (value === undefined) throw HASH_VALUE_NOT_AN_INTEGER;
  if (typeof value === "number" && typeof increment === "number") {
    const total = value + increment;
    if (Number.isSafeInteger(total)) return total;
  }
  const total = BigInt(value) + BigInt(increment);
  if (total > INT64_MAX || total < INT64_MIN) throw INCR_OVERFLOW;
  return narrow(total);
}

/** HRANDFIELD's flat list as the client wants it. */
function randomFields(client: Client, flat: readonly string[], withValues: boolean): Reply {
  if (withValues && client.protocol === 2) return flat;
  if (!withValues) return flat.filter((_, i) => i % 2 === 0);
  const reply: Reply[] = [];
  for (let i = 0; i < flat.length; i += 2) reply.push(flat.slice(i, i + 2));
  return reply;
}

export const hashes = group("hash", [
  {
    name: "hset",
    arity: -4,
    flags: ["write", "denyoom", "fast"],
    keys: [key(["RW", "update"])],
    since: "2.0.0",
    summary: "Sets fields of a hash, creating it if needed, and tells how many are new.",
    syntax: "key field value [field value ...]",
    reply: "number",
    complexity: "O(N) with N pairs",
    run: (client, args) => setFields(client, args.argv, "hset"),
  },
  {
    name: "hmset",
    arity: -4,
    flags: ["write", "denyoom", "fast"],
    keys: [key(["RW", "update"])],
    since: "2.0.0",
    deprecated: { since: "4.0.0", use: "`HSET` with multiple field-value pairs" },
    summary: "Sets fields of a hash, creating it if needed.",
    syntax: "key field value [field value ...]",
    reply: '"OK"',
    complexity: "O(N) with N pairs",
    run(client, args) {
      setFields(client, args.argv, "hmset");
      return OK;
    },
  },
  {
    name: "hsetnx",
    arity: 4,
    flags: ["write", "denyoom", "fast"],
    keys: [key(["RW", "insert"])],
    since: "2.0.0",
    summary: "Sets a field of a hash only if it is not there yet.",
    syntax: "key field value",
    reply: "number",
    complexity: "O(1)",
    run({ db }, args) {
      const name = args.next();
      const field = args.next();
      const value = args.next();
      return db.edit(name, HashValue, "hset", (hash) => {
        if (hash.has(field)) return 0;
        hash.set(field, value, db.limits);
        return 1;
      });
    },
  },
  {
    name: "hget",
    arity: 3,
    flags: ["readonly", "fast"],
    keys: READ_KEY,
    since: "2.0.0",
    summary: "Returns the value of a field.",
    syntax: "key field",
    reply: "string | null",
    complexity: "O(1)",
    run: ({ db }, args) => db.get(args.next(), HashValue)?.get(args.next()) ?? null,
  },
  {
    name: "hmget",
    arity: -3,
    flags: ["readonly", "fast"],
    keys: READ_KEY,
    since: "2.0.0",
    summary: "Returns the values of several fields.",
    syntax: "key field [field ...]",
    reply: "(string | null)[]",
    complexity: "O(N) with N fields asked for",
    run({ db }, args) {
      const hash = db.get(args.next(), HashValue);
      const values: (string | null)[] = [];
      while (args.more) {
        const field = args.next();
        values.push(hash?.get(field) ?? null);
      }
      return values;
    },
  },
  {
    name: "hgetall",
    arity: 2,
    flags: ["readonly"],
    keys: READ_KEY,
    tips: ["nondeterministic_output_order"],
    builds: whole,
    since: "2.0.0",
    summary: "Returns all fields and values.",
    syntax: "key",
    reply: "Map<string, string>",
    complexity: "O(N) with N fields in the hash",
    run({ db }, args) {
      const hash = db.get(args.next(), HashValue);
      return hash === undefined ? EMPTY_MAP : new MapReply(hash.pairs());
    },
  },
  {
    name: "hkeys",
    arity: 2,
    flags: ["readonly"],
    keys: READ_KEY,
    tips: ["nondeterministic_output_order"],
    builds: whole,
    since: "2.0.0",
    summary: "Returns all fields.",
    syntax: "key",
    reply: "string[]",
    complexity: "O(N) with N fields in the hash",
    run: ({ db }, args) => db.get(args.next(), HashValue)?.fields() ?? EMPTY,
  },
  {
    name: "hvals",
    arity: 2,
    flags: ["readonly"],
    keys: READ_KEY,
    tips: ["nondeterministic_output_order"],
    builds: whole,
    since: "2.0.0",
    summary: "Returns all values.",
    syntax: "key",
    reply: "string[]",
    complexity: "O(N) with N fields in the hash",
    run: ({ db }, args) => db.get(args.next(), HashValue)?.values() ?? EMPTY,
  },
  {
    name: "hlen",
    arity: 2,
    flags: ["readonly", "fast"],
    keys: [key(["RO"])],
    since: "2.0.0",
    summary: "Returns how many fields a hash has.",
    syntax: "key",
    reply: "number",
    complexity: "O(1)",
    run: ({ db }, args) => db.get(args.next(), HashValue)?.size ?? 0,
  },
  {
    name: "hstrlen",
    arity: 3,
    flags: ["readonly", "fast"],
    keys: [key(["RO"])],
    since: "3.2.0",
    summary: "Returns how long a field's value is, in bytes.",
    syntax: "key field",
    reply: "number",
    complexity: "O(1)",
    run: ({ db }, args) => db.get(args.next(), HashValue)?.lengthOf(args.next()) ?? 0,
  },
  {
    name: "hexists",
    arity: 3,
    flags: ["readonly", "fast"],
    keys: [key(["RO"])],
    since: "2.0.0",
    summary: "Tells whether a hash has a field.",
    syntax: "key field",
    reply: "number",
    complexity: "O(1)",
    run: ({ db }, args) => (db.get(args.next(), HashValue)?.has(args.next()) ? 1 : 0),
  },
  {
    name: "hdel",
    arity: -3,
    flags: ["write", "fast"],
    keys: [key(["RW", "delete"])],
    since: "2.0.0",
    summary: "Removes fields, and the hash with the last of them; tells how many were there.",
    syntax: "key field [field ...]",
    reply: "number",
    complexity: "O(N) with N fields to remove",
    run({ db }, args) {
      const name = args.next();
      return db.amend(name, HashValue, "hdel", (hash) => {
        let removed = 0;
        while (args.more) if (hash.delete(args.next())) removed++;
        return removed;
      });
    },
  },
  {
    name: "hincrby",
    arity: 4,
    flags: ["write", "denyoom", "fast"],
    keys: [key(["RW", "access", "update"])],
    since: "2.0.0",
    summary: "Adds to the integer in a field; a missing field counts as 0.",
    syntax: "key field increment",
    reply: "number",
    complexity: "O(1)",
    run({ db }, args) {
      const name = args.next();
      const field = args.next();
      const increment = args.int64();
      let total: number | bigint = 0;
      db.edit(name, HashValue, "hincrby", (hash) => {
        total = sum(hash.get(field), increment);
        hash.set(field, String(total), db.limits);
        return 1;
      });
      return total;
    },
  },
  {
    name: "hincrbyfloat",
    arity: 4,
    flags: ["write", "denyoom", "fast"],
    keys: [key(["RW", "access", "update"])],
    since: "2.6.0",
    summary: "Adds to the number in a field; a missing field counts as 0.",
    syntax: "key field increment",
    reply: "string",
    complexity: "O(1)",
    run(client, args) {
      const { db } = client;
      const name = args.next();
      const field = args.next();
      const increment = args.next();
      const parsed = parseLongDouble(increment);
      if (parsed === undefined) throw NOT_A_FLOAT;
      if (isInfinite(parsed)) throw NAN_OR_INFINITY;
      let total = "";
      db.edit(name, HashValue, "hincrbyfloat", (hash) => {
        total = own(addLongDouble(hash.get(field) ?? "0", increment, SUM_ERRORS));
        hash.set(field, total, db.limits);
        return 1;
      });
      // The sum, not the summands: a replica or a reloaded file must not round differently.
      client.propagate.asHset(name, field, total);
      return total;
    },
  },
  {
    name: "hrandfield",
    arity: -2,
    flags: ["readonly"],
    keys: READ_KEY,
    tips: ["nondeterministic_output"],
    since: "6.2.0",
    summary: "Returns fields chosen at random, with their values if wanted; a negative count may repeat them.",
    syntax: "key [count [WITHVALUES]]",
    reply: { otherwise: "string | null", count: "string[]" },
    complexity: "O(N) with N fields returned",
    run(client, args) {
      const { db } = client;
      const { clock } = client.engine;
      const random = () => clock.random();
      const name = args.next();
      if (!args.more) return db.get(name, HashValue)?.randomField(random) ?? null;
      const { count, withBeside } = randomCount(args, "withvalues");
      const hash = db.get(name, HashValue);
      if (hash === undefined || count === 0) return EMPTY;
      const flat = count < 0 ? hash.draw(drawsOf(client, count), random) : hash.sample(count, random);
      return randomFields(client, flat, withBeside);
    },
  },
  {
    name: "hscan",
    arity: -3,
    flags: ["readonly"],
    keys: READ_KEY,
    tips: ["nondeterministic_output"],
    since: "2.8.0",
    summary: "Walks through a hash page by page.",
    syntax: "key cursor [MATCH pattern] [COUNT count]",
    reply: "[string, string[]]",
    complexity: "O(1) a call, O(N) for all N fields",
    run: (client, args) =>
      scanCollection(client, args, HashValue, (hash, cursor, count, emit) => hash.scan(cursor, count, emit)),
  },
]);
