/**
 * Counting different things in little memory. The values are strings (types/hyperloglog.ts), so GET, SET and DUMP carry
 * them from server to server.
 */

import type { Client } from "../../core/client.ts";
import type { Db } from "../../core/db.ts";
import { CORRUPT_HLL, HLL_NOT_SPARSE, NOT_A_HLL, PFDEBUG_NO_KEY, unknownPfdebug } from "../../core/rare-errors.ts";
import { OK, type Reply, Status } from "../../core/reply.ts";
import type { Args } from "../../table/args.ts";
import { group, key, keysFrom } from "../../table/command.ts";
import { type Bytes, encodingOf, type StringValue } from "../../types/bytes.ts";
import {
  addElement,
  countOf,
  describeSparse,
  estimate,
  invalidateCount,
  isHll,
  isSparse,
  keepCount,
  keptCount,
  mergeInto,
  newHll,
  REGISTERS,
  raiseRegister,
  registersOf,
  widen,
} from "../../types/hyperloglog.ts";

function checked(value: StringValue): string | Bytes {
  if (!isHll(value)) throw NOT_A_HLL;
  return value;
}

/** The HyperLogLog at a key, for reading. */
function readHll(db: Db, name: string): string | Bytes | undefined {
  const value = db.getString(name);
  return value === undefined ? undefined : checked(value);
}

/** Redis takes a short string out of its compact form (`embstr`) even where it does not change it. */
function loosen(db: Db, name: string, value: string | Bytes): void {
  if (encodingOf(value) === "embstr") db.editBytes(name, undefined, () => 0);
}

function pfadd({ db }: Client, args: Args): Reply {
  const name = args.next();
  const elements = args.rest();
  const found = db.peekString(name);
  if (found !== undefined) checked(found);
  const most = db.limits.hllSparseMaxBytes;
  const changes = db.editBytes(name, "pfadd", (bytes) => {
    let count = 0;
    if (found === undefined) {
      bytes.append(newHll());
      count++;
    }
    for (const element of elements) {
      const added = addElement(bytes, element, most);
      if (added < 0) throw CORRUPT_HLL;
      count += added;
    }
    if (count > 0) invalidateCount(bytes);
    return count;
  });
  return changes > 0 ? 1 : 0;
}

function pfcount({ db }: Client, args: Args): Reply {
  const name = args.next();
  if (args.more) return countUnion(db, [name, ...args.rest()]);
  const value = readHll(db, name);
  if (value === undefined) return 0;
  const kept = keptCount(value);
  if (kept !== undefined) {
    loosen(db, name, value);
    return kept;
  }
  const count = countOf(value);
  if (count === undefined) throw CORRUPT_HLL;
  // Keeping the count changes the value, so that files and replicas get it too; yet it is no event.
  db.editBytes(name, undefined, (bytes) => {
    keepCount(bytes, count);
    return 1;
  });
  return count;
}

function countUnion(db: Db, names: readonly string[]): number {
  const registers = new Uint8Array(REGISTERS);
  for (const name of names) {
    const value = readHll(db, name);
    if (value !== undefined && !mergeInto(registers, value)) throw CORRUPT_HLL;
  }
  return estimate(registers);
}

function pfmerge({ db }: Client, args: Args): Reply {
  const target = args.next();
  const registers = new Uint8Array(REGISTERS);
  let dense = false;
  for (const name of [target, ...args.rest()]) {
    const value = readHll(db, name);
    if (value === undefined) continue;
    if (!isSparse(value)) dense = true;
    if (!mergeInto(registers, value)) throw CORRUPT_HLL;
  }
  const most = db.limits.hllSparseMaxBytes;
  db.editBytes(target, "pfadd", (bytes) => {
    if (bytes.length === 0) bytes.append(newHll());
    if (dense && isSparse(bytes)) widen(bytes);
    for (let i = 0; i < REGISTERS; i++) if (registers[i] !== 0) raiseRegister(bytes, i, registers[i]!, most);
    invalidateCount(bytes);
    return 1;
  });
  return OK;
}

/** Makes the value at a key dense; false if it is already. */
function widenAt(db: Db, name: string, value: string | Bytes): boolean {
  if (!isSparse(value)) return false;
  db.editBytes(name, undefined, (bytes) => {
    if (!widen(bytes)) throw CORRUPT_HLL;
    return 1;
  });
  return true;
}

function pfdebug({ db }: Client, args: Args): Reply {
  const word = args.next();
  const name = args.next();
  const found = db.peekString(name);
  if (found === undefined) throw PFDEBUG_NO_KEY;
  const value = checked(found);
  loosen(db, name, value);
  switch (word.toLowerCase()) {
    case "getreg": {
      widenAt(db, name, value);
      const dense = db.peekString(name);
      const registers = dense === undefined ? undefined : registersOf(checked(dense));
      if (registers === undefined) throw CORRUPT_HLL;
      return Array.from(registers);
    }
    case "decode":
      if (!isSparse(value)) throw HLL_NOT_SPARSE;
      return describeSparse(value);
    case "encoding":
      return new Status(isSparse(value) ? "sparse" : "dense");
    case "todense":
      return widenAt(db, name, value) ? 1 : 0;
    default:
      throw unknownPfdebug(word);
  }
}

export const hyperloglog = group("hyperloglog", [
  {
    name: "pfadd",
    arity: -2,
    flags: ["write", "denyoom", "fast"],
    keys: [key(["RW", "insert"])],
    since: "2.8.9",
    summary: "Adds elements to a HyperLogLog, creating it if needed.",
    syntax: "key [element [element ...]]",
    reply: "number",
    complexity: "O(1) for each element",
    run: pfadd,
  },
  {
    name: "pfcount",
    arity: -2,
    flags: ["readonly", "may_replicate"],
    keys: [
      {
        ...keysFrom(["RW", "access"]),
        notes: "RW because it may change the internal representation of the key, and propagate to replicas",
      },
    ],
    since: "2.8.9",
    summary: "Estimates how many different elements were added to one HyperLogLog, or to several together.",
    syntax: "key [key ...]",
    reply: "number",
    complexity: "O(1) for one key, O(N) for N keys",
    run: pfcount,
  },
  {
    name: "pfmerge",
    arity: -2,
    flags: ["write", "denyoom"],
    keys: [key(["RW", "access", "insert"]), keysFrom(["RO", "access"], 2)],
    since: "2.8.9",
    summary: "Merges HyperLogLogs into one.",
    syntax: "destkey [sourcekey [sourcekey ...]]",
    reply: '"OK"',
    complexity: "O(N)",
    run: pfmerge,
  },
  {
    name: "pfdebug",
    arity: 3,
    flags: ["write", "denyoom", "admin"],
    keys: [key(["RW", "access"], 2)],
    since: "2.8.9",
    summary: "Shows the registers or the encoding of a HyperLogLog, or makes it dense.",
    syntax: "subcommand key",
    reply: "Reply",
    complexity: "O(N)",
    run: pfdebug,
  },
  {
    name: "pfselftest",
    arity: 1,
    flags: ["admin"],
    since: "2.8.9",
    summary: "Answers OK: the encoding is tested where the engine is built.",
    syntax: "",
    reply: '"OK"',
    complexity: "O(1)",
    run: () => OK,
  },
]);
