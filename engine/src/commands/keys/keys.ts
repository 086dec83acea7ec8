/** Keys as such: whatever they hold. Times to live are in expire.ts, OBJECT in object.ts, SORT in sort.ts. */

import type { Client } from "../../core/client.ts";
import type { Db } from "../../core/db.ts";
import {
  BAD_DB_INDEX,
  COPY_IN_CLUSTER,
  INT_OUT_OF_RANGE,
  NO_SUCH_KEY,
  notInCluster,
  SAME_OBJECT,
  SYNTAX,
} from "../../core/errors.ts";
import { countLazyFree } from "../../core/lazy-free.ts";
import { GENERIC_EVENT } from "../../core/notify.ts";
import { OK, type Reply, Status } from "../../core/reply.ts";
import { hideCursor } from "../../core/scan-cursor.ts";
import { compileGlob } from "../../lib/glob.ts";
import type { Args } from "../../table/args.ts";
import { group, key, keysFrom } from "../../table/command.ts";
import { everyKey, whole } from "../../table/shares.ts";
import { Bytes } from "../../types/bytes.ts";
import { isCollection, typeOf } from "../../types/kind.ts";
import type { Value } from "../../types/value.ts";
import { scanCursor, scanOptions } from "../shared/scan-options.ts";
import { expireCommands } from "./expire.ts";

/** Another database by its number. */
function databaseAt(client: Client, index: number): Db {
  const db = client.engine.databases[index];
  if (db === undefined) throw BAD_DB_INDEX;
  return db;
}

/** A database number: an int64 that must be an int32. */
function readIndex(args: Args): number {
  const index = args.int();
  if (index < -2147483648 || index > 2147483647) throw INT_OUT_OF_RANGE;
  return index;
}

function cloneValue(value: Value): Value {
  if (isCollection(value)) return value.clone();
  return value instanceof Bytes ? value.clone() : value;
}

function countKeys(args: Args, test: (name: string) => boolean): number {
  let count = 0;
  for (const name of args.rest()) if (test(name)) count++;
  return count;
}

function unlink({ db, engine }: Client, args: Args): number {
  return countKeys(args, (name) => {
    countLazyFree(engine.stats, db.peek(name));
    return db.delete(name);
  });
}

function rename({ db }: Client, args: Args, onlyNew: boolean): boolean {
  const name = args.next();
  const target = args.next();
  if (!db.exists(name)) throw NO_SUCH_KEY;
  if (name === target) return !onlyNew;
  if (onlyNew && db.exists(target)) return false;
  db.move(name, db, target, "rename");
  return true;
}

function move(client: Client, args: Args): Reply {
  if (client.engine.cluster !== null) throw notInCluster("MOVE");
  const name = args.next();
  const target = databaseAt(client, readIndex(args));
  const { db } = client;
  if (db === target) throw SAME_OBJECT;
  if (!db.exists(name) || target.exists(name)) return 0;
  db.move(name, target, name, "move");
  return 1;
}

function copy(client: Client, args: Args): Reply {
  const { db } = client;
  const name = args.next();
  const target = args.next();
  let into = db;
  let replace = false;
  while (args.more) {
    const option = args.option();
    if (option === "replace") replace = true;
    else if (option === "db" && args.more) into = databaseAt(client, readIndex(args));
    else throw SYNTAX;
  }
  if (db !== into && client.engine.cluster !== null) throw COPY_IN_CLUSTER;
  if (db === into && name === target) throw SAME_OBJECT;
  const value = db.read(name);
  if (value === undefined) return 0;
  const deadline = db.deadline(name);
  if (!replace && into.exists(target)) return 0;
  into.put(target, cloneValue(value), { event: "copy_to", eventClass: GENERIC_EVENT, deadline, asNew: true });
  return 1;
}

/** Where keys past their time stay (on a replica), one that is not is looked for this often at most. */
const MOST_TRIES = 100;

/** A random key; keys that turn out to be past their time go on the way. */
function randomkey({ db, engine }: Client): Reply {
  for (let tries = 1; ; tries++) {
    const name = db.keyspace.randomKey(() => engine.clock.random());
    if (name === undefined) return null;
    if (db.exists(name) || (tries >= MOST_TRIES && db.expires.size === db.size)) return name;
  }
}

function keysMatching({ db }: Client, args: Args): Reply {
  const pattern = args.next();
  // A lone star is every key, even the empty one, which no pattern matches.
  const matches = pattern === "*" ? () => true : compileGlob(pattern);
  const found: string[] = [];
  db.keyspace.forEach((name) => {
    if (matches(name)) found.push(name);
  });
  return db.expires.size === 0 ? found : found.filter((name) => db.exists(name));
}

function scan({ db }: Client, args: Args): Reply {
  const cursor = scanCursor(args);
  const { count, matches, type } = scanOptions(args, true);
  const found: string[] = [];
  const next = db.keyspace.scan(cursor, count, (name, value) => {
    if (type !== undefined && typeOf(value) !== type) return;
    if (matches === undefined || matches(name)) found.push(name);
  });
  return [String(hideCursor(next)), db.expires.size === 0 ? found : found.filter((name) => db.exists(name))];
}

export const keys = group("generic", [
  {
    name: "del",
    arity: -2,
    flags: ["write"],
    keys: [keysFrom(["RM", "delete"])],
    tips: ["request_policy:multi_shard", "response_policy:agg_sum"],
    since: "1.0.0",
    summary: "Deletes keys.",
    syntax: "key [key ...]",
    reply: "number",
    complexity: "O(N) in the number of keys",
    run: (client, args) =>
      client.engine.config.values["lazyfree-lazy-user-del"]
        ? unlink(client, args)
        : countKeys(args, (name) => client.db.delete(name)),
  },
  {
    name: "unlink",
    arity: -2,
    flags: ["write", "fast"],
    keys: [keysFrom(["RM", "delete"])],
    tips: ["request_policy:multi_shard", "response_policy:agg_sum"],
    since: "4.0.0",
    summary: "Deletes keys; their memory is reclaimed in the background.",
    syntax: "key [key ...]",
    reply: "number",
    complexity: "O(1) for each key",
    run: unlink,
  },
  {
    name: "exists",
    arity: -2,
    flags: ["readonly", "fast"],
    keys: [keysFrom(["RO"])],
    tips: ["request_policy:multi_shard", "response_policy:agg_sum"],
    since: "1.0.0",
    summary: "Counts which of these keys exist; a key named twice counts twice.",
    syntax: "key [key ...]",
    reply: "number",
    complexity: "O(N) in the number of keys",
    run: ({ db }, args) => countKeys(args, (name) => db.look(name) !== undefined),
  },
  {
    name: "touch",
    arity: -2,
    flags: ["readonly", "fast"],
    keys: [keysFrom(["RO"])],
    tips: ["request_policy:multi_shard", "response_policy:agg_sum"],
    since: "3.2.1",
    summary: "Renews the access time of keys and counts those that exist.",
    syntax: "key [key ...]",
    reply: "number",
    complexity: "O(N) in the number of keys",
    run: ({ db }, args) => countKeys(args, (name) => db.read(name) !== undefined),
  },
  {
    name: "type",
    arity: 2,
    flags: ["readonly", "fast"],
    keys: [key(["RO"])],
    since: "1.0.0",
    summary: "Tells what a key holds.",
    syntax: "key",
    reply: "string",
    complexity: "O(1)",
    run({ db }, args) {
      const value = db.look(args.next());
      return new Status(value === undefined ? "none" : typeOf(value));
    },
  },
  {
    name: "keys",
    arity: 2,
    flags: ["readonly"],
    categories: ["dangerous"],
    tips: ["request_policy:all_shards", "nondeterministic_output_order"],
    builds: everyKey,
    since: "1.0.0",
    summary: "Returns every key that matches a pattern, in one step: use SCAN on large databases.",
    syntax: "pattern",
    reply: "string[]",
    complexity: "O(N) in the number of keys of the database",
    run: keysMatching,
  },
  {
    name: "scan",
    arity: -2,
    flags: ["readonly"],
    tips: ["nondeterministic_output", "request_policy:special"],
    touchesAnyKey: true,
    since: "2.8.0",
    summary: "Goes through the keys of the database, some at a time.",
    syntax: "cursor [MATCH pattern] [COUNT count] [TYPE type]",
    reply: "[string, string[]]",
    complexity: "O(1) for each call, O(N) for all",
    run: scan,
  },
  {
    name: "randomkey",
    arity: 1,
    flags: ["readonly"],
    tips: ["request_policy:all_shards", "nondeterministic_output"],
    touchesAnyKey: true,
    since: "1.0.0",
    summary: "Returns a key at random.",
    syntax: "",
    reply: "string | null",
    complexity: "O(1)",
    run: randomkey,
  },
  {
    name: "rename",
    arity: 3,
    flags: ["write"],
    keys: [key(["RW", "access", "delete"]), key(["OW", "update"], 2)],
    since: "1.0.0",
    summary: "Gives a key another name, over a key that has it already.",
    syntax: "key newkey",
    reply: '"OK"',
    complexity: "O(1)",
    run(client, args) {
      rename(client, args, false);
      return OK;
    },
  },
  {
    name: "renamenx",
    arity: 3,
    flags: ["write", "fast"],
    keys: [key(["RW", "access", "delete"]), key(["OW", "insert"], 2)],
    since: "1.0.0",
    summary: "Gives a key another name if no key has it.",
    syntax: "key newkey",
    reply: "number",
    complexity: "O(1)",
    run: (client, args) => (rename(client, args, true) ? 1 : 0),
  },
  {
    name: "move",
    arity: 3,
    flags: ["write", "fast"],
    keys: [key(["RW", "access", "update"])],
    otherDatabases: true,
    since: "1.0.0",
    summary: "Moves a key to another database.",
    syntax: "key db",
    reply: "number",
    complexity: "O(1)",
    run: move,
  },
  {
    name: "copy",
    arity: -3,
    flags: ["write", "denyoom"],
    keys: [key(["RO", "access"]), key(["OW", "update"], 2)],
    otherDatabases: true,
    builds: whole,
    since: "6.2.0",
    summary: "Copies a key's value and time to live to another key.",
    syntax: "source destination [DB destination-db] [REPLACE]",
    reply: "number",
    complexity: "O(N) in the size of the value",
    run: copy,
  },
  ...expireCommands,
]);
