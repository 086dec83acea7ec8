/** Strings and numbers. Bits are in bitmaps.ts. */

import type { Client } from "../../core/client.ts";
import type { Db } from "../../core/db.ts";
import {
  DECR_OVERFLOW,
  INCR_NAN,
  INCR_OVERFLOW,
  NOT_A_FLOAT,
  NOT_AN_INTEGER,
  OFFSET_OUT_OF_RANGE,
  STRING_TOO_LONG,
  SYNTAX,
  wrongArity,
} from "../../core/errors.ts";
import { OK, type Reply } from "../../core/reply.ts";
import { addLongDouble } from "../../lib/long-double.ts";
import { INT64_MAX, INT64_MIN, narrow, parseInt64 } from "../../lib/numbers.ts";
import { type Args, sameToken } from "../../table/args.ts";
import { group, type KeySpec, key, keysFrom, READ_KEY } from "../../table/command.ts";
import { encodeString, lengthOf, textOf } from "../../types/bytes.ts";
import { isCollection } from "../../types/kind.ts";
import { positiveDeadlineOf, TIME_OPTIONS, type TimeForm } from "../keys/expire-time.ts";

const UPDATE_KEY: KeySpec[] = [key(["RW", "access", "update"])];
const OVERWRITE_KEY: KeySpec[] = [key(["OW", "update"])];

const SUM_ERRORS = { left: NOT_A_FLOAT, right: NOT_A_FLOAT, sum: INCR_NAN };

const SECONDS: TimeForm = { seconds: true, absolute: false };
const MILLISECONDS: TimeForm = { seconds: false, absolute: false };

/** A key's string as a reply: null where there is none. */
function readText(db: Db, name: string): string | null {
  const value = db.getString(name);
  return value === undefined ? null : textOf(value);
}

/** The longest string that the configuration allows. */
function checkLength(client: Client, length: number): void {
  if (length > client.engine.maxStringBytes) throw STRING_TOO_LONG;
}

interface SetOptions {
  onlyNew: boolean;
  onlyOld: boolean;
  get: boolean;
  keepTtl: boolean;
  persist: boolean;
  time: { form: TimeForm; word: string } | null;
}

/** The options of SET, or of GETEX, which has only the times and PERSIST. */
function readOptions(args: Args, isSet: boolean): SetOptions {
  const options: SetOptions = {
    onlyNew: false,
    onlyOld: false,
    get: false,
    keepTtl: false,
    persist: false,
    time: null,
  };
  const timeChosen = () => options.time !== null || options.keepTtl || options.persist;
  while (args.more) {
    const option = args.option();
    const form = TIME_OPTIONS[option];
    if (form !== undefined && args.more && !timeChosen()) options.time = { form, word: args.next() };
    else if (isSet && option === "nx" && !options.onlyOld) options.onlyNew = true;
    else if (isSet && option === "xx" && !options.onlyNew) options.onlyOld = true;
    else if (isSet && option === "get") options.get = true;
    else if (isSet && option === "keepttl" && options.time === null) options.keepTtl = true;
    else if (!isSet && option === "persist" && options.time === null) options.persist = true;
    else throw SYNTAX;
  }
  return options;
}

function set(client: Client, args: Args): Reply {
  const { db } = client;
  const name = args.next();
  const word = args.next();
  if (!args.more) {
    db.putString(name, encodeString(word), "set", false);
    return OK;
  }
  const options = readOptions(args, true);
  const { time } = options;
  const deadline = time === null ? undefined : positiveDeadlineOf(time.word, time.form, client.engine.now, "set");
  const old = options.get ? readText(db, name) : null;
  const exists = (options.onlyNew || options.onlyOld) && db.exists(name);
  if ((options.onlyNew && exists) || (options.onlyOld && !exists)) return old;
  if (deadline === undefined) db.putString(name, encodeString(word), "set", options.keepTtl);
  else db.putStringUntil(name, encodeString(word), deadline);
  return options.get ? old : OK;
}

function setex(form: TimeForm, command: string): (client: Client, args: Args) => Reply {
  return (client, args) => {
    const name = args.next();
    const deadline = positiveDeadlineOf(args.next(), form, client.engine.now, command);
    client.db.putStringUntil(name, encodeString(args.next()), deadline);
    return OK;
  };
}

function getex(client: Client, args: Args): Reply {
  const { db } = client;
  const name = args.next();
  const { time, persist } = readOptions(args, false);
  const text = readText(db, name);
  if (text === null) return null;
  if (time !== null) {
    db.setDeadline(name, positiveDeadlineOf(time.word, time.form, client.engine.now, "getex"));
  } else if (persist) db.persist(name);
  return text;
}

/** Adds to the integer at a key. */
function increment({ db }: Client, name: string, by: number | bigint): Reply {
  return db.changeString(name, "incrby", (value) => {
    const old = value === undefined ? 0 : isNumber(value) ? value : parseInt64(textOf(value));
    if (old === undefined) throw NOT_AN_INTEGER;
    return added(old, by);
  });
}

/** Exact over the whole of int64. */
function added(a: number | bigint, b: number | bigint): number | bigint {
  if (typeof a === "number" && typeof b === "number" && Number.isSafeInteger(a + b)) return a + b;
  const exact = BigInt(a) + BigInt(b);
  if (exact > INT64_MAX || exact < INT64_MIN) throw INCR_OVERFLOW;
  return narrow(exact);
}

function isNumber(value: unknown): value is number | bigint {
  return typeof value === "number" || typeof value === "bigint";
}

function decrby(client: Client, args: Args): Reply {
  const name = args.next();
  const by = args.int64();
  if (by === INT64_MIN) throw DECR_OVERFLOW;
  return increment(client, name, -by);
}

function incrbyfloat(client: Client, args: Args): Reply {
  const { db } = client;
  const name = args.next();
  const by = args.next();
  const sum = db.changeString(name, "incrbyfloat", (value) =>
    addLongDouble(value === undefined ? "0" : textOf(value), by, SUM_ERRORS),
  );
  client.propagate.asSetKeepingTtl(name, sum);
  return sum;
}

function append(client: Client, args: Args): Reply {
  const { db } = client;
  const name = args.next();
  const word = args.next();
  const value = db.peekString(name);
  if (value === undefined) {
    db.putString(name, encodeString(word), "append", false);
    return word.length;
  }
  checkLength(client, lengthOf(value) + word.length);
  let length = 0;
  db.editBytes(name, "append", (bytes) => {
    bytes.append(word);
    length = bytes.length;
    return 1;
  });
  return length;
}

function setrange(client: Client, args: Args): Reply {
  const { db } = client;
  const name = args.next();
  const offset = args.int();
  const word = args.next();
  if (offset < 0) throw OFFSET_OUT_OF_RANGE;
  const value = db.peekString(name);
  if (word.length === 0) return value === undefined ? 0 : lengthOf(value);
  checkLength(client, offset + word.length);
  let length = 0;
  db.editBytes(name, "setrange", (bytes) => {
    bytes.write(offset, word);
    length = bytes.length;
    return 1;
  });
  return length;
}

function getrange({ db }: Client, args: Args): Reply {
  const name = args.next();
  let start = args.int();
  let end = args.int();
  const value = db.getString(name);
  if (value === undefined || (start < 0 && end < 0 && start > end)) return "";
  const length = lengthOf(value);
  if (start < 0) start = Math.max(0, start + length);
  if (end < 0) end = Math.max(0, end + length);
  if (end >= length) end = length - 1;
  if (length === 0 || start > end) return "";
  return typeof value === "object" ? value.slice(start, end + 1) : textOf(value).substring(start, end + 1);
}

function pairs(args: Args, command: string): string[] {
  const words = args.rest();
  if (words.length % 2 !== 0) throw wrongArity(command);
  return words;
}

function putPairs(db: Db, words: string[]): void {
  for (let i = 0; i < words.length; i += 2) db.putString(words[i]!, encodeString(words[i + 1]!), "set", false);
}

export const strings = group("string", [
  {
    name: "get",
    arity: 2,
    flags: ["readonly", "fast"],
    keys: READ_KEY,
    since: "1.0.0",
    summary: "Returns the string at a key.",
    syntax: "key",
    reply: "string | null",
    complexity: "O(1)",
    run: ({ db }, args) => readText(db, args.next()),
  },
  {
    name: "set",
    arity: -3,
    flags: ["write", "denyoom"],
    keys: [key(["RW", "access", "update", "variable_flags"])],
    keyFlagsOf: (argv) =>
      argv.some((word, i) => i > 2 && sameToken(word, "get")) ? ["RW", "access", "update"] : ["OW", "update"],
    brief: true,
    since: "1.0.0",
    summary: "Sets a key to a string, whatever it held before.",
    syntax:
      "key value [NX | XX] [GET] [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | KEEPTTL]",
    reply: { otherwise: '"OK" | null', GET: "string | null" },
    complexity: "O(1)",
    run: set,
  },
  {
    name: "setnx",
    arity: 3,
    flags: ["write", "denyoom", "fast"],
    keys: [key(["OW", "insert"])],
    since: "1.0.0",
    summary: "Sets a key to a string if the key does not exist.",
    syntax: "key value",
    reply: "number",
    complexity: "O(1)",
    deprecated: { since: "2.6.12", use: "SET with NX" },
    run({ db }, args) {
      const name = args.next();
      const word = args.next();
      if (db.exists(name)) return 0;
      db.putString(name, encodeString(word), "set", false);
      return 1;
    },
  },
  {
    name: "setex",
    arity: 4,
    flags: ["write", "denyoom"],
    keys: OVERWRITE_KEY,
    brief: true,
    since: "2.0.0",
    summary: "Sets a key to a string that expires after some seconds.",
    syntax: "key seconds value",
    reply: '"OK"',
    complexity: "O(1)",
    deprecated: { since: "2.6.12", use: "SET with EX" },
    run: setex(SECONDS, "setex"),
  },
  {
    name: "psetex",
    arity: 4,
    flags: ["write", "denyoom"],
    keys: OVERWRITE_KEY,
    brief: true,
    since: "2.6.0",
    summary: "Sets a key to a string that expires after some milliseconds.",
    syntax: "key milliseconds value",
    reply: '"OK"',
    complexity: "O(1)",
    deprecated: { since: "2.6.12", use: "SET with PX" },
    run: setex(MILLISECONDS, "psetex"),
  },
  {
    name: "getset",
    arity: 3,
    flags: ["write", "denyoom", "fast"],
    keys: UPDATE_KEY,
    since: "1.0.0",
    summary: "Sets a key to a string and returns the one it held before.",
    syntax: "key value",
    reply: "string | null",
    complexity: "O(1)",
    deprecated: { since: "6.2.0", use: "SET with GET" },
    run(client, args) {
      const name = args.next();
      const word = args.next();
      const old = readText(client.db, name);
      client.db.putString(name, encodeString(word), "set", false);
      client.propagate.asSet(name, word);
      return old;
    },
  },
  {
    name: "getdel",
    arity: 2,
    flags: ["write", "fast"],
    keys: [key(["RW", "access", "delete"])],
    since: "6.2.0",
    summary: "Returns the string at a key and deletes the key.",
    syntax: "key",
    reply: "string | null",
    complexity: "O(1)",
    run(client, args) {
      const name = args.next();
      const text = readText(client.db, name);
      if (text === null) return null;
      client.db.delete(name);
      client.propagate.asDel(name);
      return text;
    },
  },
  {
    name: "getex",
    arity: -2,
    flags: ["write", "fast"],
    keys: UPDATE_KEY,
    since: "6.2.0",
    summary: "Returns the string at a key and sets or removes its time to live.",
    syntax: "key [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | PERSIST]",
    reply: "string | null",
    complexity: "O(1)",
    run: getex,
  },
  {
    name: "mget",
    arity: -2,
    flags: ["readonly", "fast"],
    keys: [keysFrom(["RO", "access"])],
    tips: ["request_policy:multi_shard"],
    since: "1.0.0",
    summary: "Returns the strings at several keys; null for keys that hold none.",
    syntax: "key [key ...]",
    reply: "(string | null)[]",
    complexity: "O(N) in the number of keys",
    run({ db }, args) {
      return args.rest().map((name) => {
        const value = db.read(name);
        return value === undefined || isCollection(value) ? null : textOf(value);
      });
    },
  },
  {
    name: "mset",
    arity: -3,
    flags: ["write", "denyoom"],
    keys: [keysFrom(["OW", "update"], 1, 2)],
    tips: ["request_policy:multi_shard", "response_policy:all_succeeded"],
    since: "1.0.1",
    summary: "Sets several keys to strings, all at once.",
    syntax: "key value [key value ...]",
    reply: '"OK"',
    complexity: "O(N) in the number of keys",
    run({ db }, args) {
      putPairs(db, pairs(args, "mset"));
      return OK;
    },
  },
  {
    name: "msetnx",
    arity: -3,
    flags: ["write", "denyoom"],
    keys: [keysFrom(["OW", "insert"], 1, 2)],
    tips: ["request_policy:multi_shard", "response_policy:agg_min"],
    since: "1.0.1",
    summary: "Sets several keys to strings if none of them exists.",
    syntax: "key value [key value ...]",
    reply: "number",
    complexity: "O(N) in the number of keys",
    run({ db }, args) {
      const words = pairs(args, "msetnx");
      for (const [i, word] of words.entries()) if (i % 2 === 0 && db.exists(word)) return 0;
      putPairs(db, words);
      return 1;
    },
  },
  {
    name: "incr",
    arity: 2,
    flags: ["write", "denyoom", "fast"],
    keys: UPDATE_KEY,
    since: "1.0.0",
    summary: "Adds one to the integer at a key.",
    syntax: "key",
    reply: "number",
    complexity: "O(1)",
    run: (client, args) => increment(client, args.next(), 1),
  },
  {
    name: "decr",
    arity: 2,
    flags: ["write", "denyoom", "fast"],
    keys: UPDATE_KEY,
    since: "1.0.0",
    summary: "Takes one from the integer at a key.",
    syntax: "key",
    reply: "number",
    complexity: "O(1)",
    run: (client, args) => increment(client, args.next(), -1),
  },
  {
    name: "incrby",
    arity: 3,
    flags: ["write", "denyoom", "fast"],
    keys: UPDATE_KEY,
    since: "1.0.0",
    summary: "Adds to the integer at a key.",
    syntax: "key increment",
    reply: "number",
    complexity: "O(1)",
    run(client, args) {
      const name = args.next();
      return increment(client, name, args.int64());
    },
  },
  {
    name: "decrby",
    arity: 3,
    flags: ["write", "denyoom", "fast"],
    keys: UPDATE_KEY,
    since: "1.0.0",
    summary: "Takes from the integer at a key.",
    syntax: "key decrement",
    reply: "number",
    complexity: "O(1)",
    run: decrby,
  },
  {
    name: "incrbyfloat",
    arity: 3,
    flags: ["write", "denyoom", "fast"],
    keys: UPDATE_KEY,
    since: "2.6.0",
    summary: "Adds to the floating point number at a key.",
    syntax: "key increment",
    reply: "string",
    complexity: "O(1)",
    run: incrbyfloat,
  },
  {
    name: "append",
    arity: 3,
    flags: ["write", "denyoom", "fast"],
    keys: [key(["RW", "insert"])],
    since: "2.0.0",
    summary: "Appends to the string at a key, creating it if needed.",
    syntax: "key value",
    reply: "number",
    complexity: "O(1) amortised",
    run: append,
  },
  {
    name: "strlen",
    arity: 2,
    flags: ["readonly", "fast"],
    keys: [key(["RO"])],
    since: "2.2.0",
    summary: "Returns the length of the string at a key.",
    syntax: "key",
    reply: "number",
    complexity: "O(1)",
    run({ db }, args) {
      const value = db.getString(args.next());
      return value === undefined ? 0 : lengthOf(value);
    },
  },
  {
    name: "setrange",
    arity: 4,
    flags: ["write", "denyoom"],
    keys: [key(["RW", "update"])],
    since: "2.2.0",
    summary: "Overwrites part of the string at a key, from an offset on.",
    syntax: "key offset value",
    reply: "number",
    complexity: "O(M) in the length of the value",
    run: setrange,
  },
  {
    name: "getrange",
    arity: 4,
    flags: ["readonly"],
    keys: READ_KEY,
    since: "2.4.0",
    summary: "Returns part of the string at a key.",
    syntax: "key start end",
    reply: "string",
    complexity: "O(N) in the length of the part",
    run: getrange,
  },
  {
    name: "substr",
    arity: 4,
    flags: ["readonly"],
    keys: READ_KEY,
    since: "1.0.0",
    summary: "Returns part of the string at a key.",
    syntax: "key start end",
    reply: "string",
    complexity: "O(N) in the length of the part",
    deprecated: { since: "2.0.0", use: "GETRANGE" },
    run: getrange,
  },
]);
