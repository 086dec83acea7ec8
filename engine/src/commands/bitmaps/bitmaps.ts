/**
 * Strings as arrays of bits and of small integers. Reads answer from any form of a string value; writes go through
 * `db.editBytes`, which is where a value turns into a growable byte array.
 */

import type { Client } from "../../core/client.ts";
import { NOT_AN_INTEGER, SYNTAX } from "../../core/errors.ts";
import {
  BAD_BIT,
  BAD_BIT_OFFSET,
  BAD_BITFIELD_TYPE,
  BAD_BITPOS_BIT,
  BAD_OVERFLOW_TYPE,
  BITFIELD_RO_WRITES,
  BITOP_NOT_KEYS,
} from "../../core/rare-errors.ts";
import type { Reply } from "../../core/reply.ts";
import { parseInt64 } from "../../lib/numbers.ts";
import { Args, sameToken } from "../../table/args.ts";
import { group, key, keysFrom, READ_KEY, type Row } from "../../table/command.ts";
import { type FieldType, fitField, type Overflow, readField, writeField } from "../../types/bitfield.ts";
import { type BitOperation, byteAt, combineBits, countBits, findBit, readable } from "../../types/bits.ts";
import type { Bytes, StringValue } from "../../types/bytes.ts";

/**
 * The next word as the position of a bit. With `bits`, `#3` is the fourth integer of that width. Bits beyond a string's end
 * can be read as far as Redis allows it, but only written as far as a string may grow.
 */
function bitOffset({ engine }: Client, args: Args, toWrite: boolean, bits = 0): number {
  const word = args.next();
  const counted = bits > 0 && word.charCodeAt(0) === 0x23;
  const parsed = parseInt64(counted ? word.slice(1) : word);
  if (parsed === undefined) throw BAD_BIT_OFFSET;
  // Redis multiplies in 64 bits: what runs over comes back in from below.
  const offset = counted ? Number(BigInt.asIntN(64, BigInt(parsed) * BigInt(bits))) : Number(parsed);
  const bytes = toWrite ? engine.maxStringBytes : engine.config.values["proto-max-bulk-len"];
  if (offset < 0 || Math.floor(offset / 8) >= bytes) throw BAD_BIT_OFFSET;
  return offset;
}

function setbit(client: Client, args: Args): Reply {
  const name = args.next();
  const offset = bitOffset(client, args, true);
  const bit = args.intBetween(0, 1, BAD_BIT) as 0 | 1;
  let before: 0 | 1 = 0;
  client.db.editBytes(name, "setbit", (bytes) => {
    const length = bytes.length;
    before = bytes.setBit(offset, bit);
    return before !== bit || bytes.length !== length ? 1 : 0;
  });
  return before;
}

function getbit(client: Client, args: Args): Reply {
  const name = args.next();
  const offset = bitOffset(client, args, false);
  const value = client.db.getString(name);
  if (value === undefined) return 0;
  return (byteAt(readable(value), Math.floor(offset / 8)) >> (7 - (offset % 8))) & 1;
}

/** A range of bits or bytes as the commands give it: inclusive, negative from the end, cut to what is there. */
function clamp(start: number, end: number, total: number): [number, number] {
  const from = start < 0 ? Math.max(0, total + start) : start;
  const to = end < 0 ? Math.max(0, total + end) : end;
  return [from, Math.min(to, total - 1)];
}

/** BYTE or BIT, where a word is left. */
function unitIsBit(args: Args): boolean {
  if (!args.more) return false;
  if (args.accept("bit")) return true;
  if (args.accept("byte")) return false;
  throw SYNTAX;
}

/** Arguments are read after the key is looked up, as Redis does: a missing key answers 0 whatever they are. */
function bitcount({ db }: Client, args: Args): Reply {
  const found = db.getString(args.next());
  if (found === undefined) return 0;
  const value = readable(found);
  if (!args.more) return countBits(value, 0, value.length);
  if (args.left !== 2 && args.left !== 3) throw SYNTAX;
  const first = args.int();
  const last = args.int();
  if (first < 0 && last < 0 && first > last) return 0;
  if (!unitIsBit(args)) {
    const [start, end] = clamp(first, last, value.length);
    return start > end ? 0 : countBits(value, start, end + 1);
  }
  const [start, end] = clamp(first, last, value.length * 8);
  if (start > end) return 0;
  const startByte = Math.floor(start / 8);
  const endByte = Math.floor(end / 8);
  const outside = (byteAt(value, startByte) & ~(0xff >> (start % 8)) & 0xff) << 8;
  const behind = byteAt(value, endByte) & (0x7f >> (end % 8));
  return countBits(value, startByte, endByte + 1) - popcount16(outside | behind);
}

function popcount16(word: number): number {
  let count = 0;
  for (let rest = word; rest !== 0; rest &= rest - 1) count++;
  return count;
}

function bitpos({ db }: Client, args: Args): Reply {
  const name = args.next();
  const bit = args.int();
  if (bit !== 0 && bit !== 1) throw BAD_BITPOS_BIT;
  const found = db.getString(name);
  if (found === undefined) return bit === 1 ? -1 : 0;
  const value = readable(found);
  if (args.left > 3) throw SYNTAX;
  let first = 0;
  let last = -1;
  let byBit = false;
  const endGiven = args.left >= 2;
  if (args.more) first = args.int();
  if (endGiven) {
    // The unit is checked before the end is read.
    const word = args.next();
    byBit = unitIsBit(args);
    last = intOf(word);
  }
  const [start, end] = clamp(first, last, byBit ? value.length * 8 : value.length);
  if (start > end || value.length === 0) return -1;
  const position = findBit(value, bit, byBit ? start : start * 8, byBit ? end : end * 8 + 7);
  // Without an end, the zeros go on behind the string.
  return position < 0 && bit === 0 && !endGiven ? value.length * 8 : position;
}

function intOf(word: string): number {
  const value = parseInt64(word);
  if (value === undefined) throw NOT_AN_INTEGER;
  return Number(value);
}

function bitop({ db }: Client, args: Args): Reply {
  const operation = args.option();
  const destination = args.next();
  const names = args.rest();
  if (operation !== "and" && operation !== "or" && operation !== "xor" && operation !== "not") throw SYNTAX;
  if (operation === "not" && names.length !== 1) throw BITOP_NOT_KEYS;
  const values: (StringValue | undefined)[] = names.map((name) => db.getString(name));
  const result = combineBits(operation satisfies BitOperation, values);
  if (result.length > 0) db.put(destination, result, { event: "set" });
  else db.delete(destination);
  return result.length;
}

interface FieldOperation {
  readonly kind: "get" | "set" | "incrby";
  readonly type: FieldType;
  readonly offset: number;
  readonly operand: number | bigint;
  readonly overflow: Overflow;
}

function fieldType(args: Args): FieldType {
  const [text = ""] = args.next().split("\0", 1);
  const sign = text.charCodeAt(0);
  const bits = Number(parseInt64(text.slice(1)) ?? 0);
  const signed = sign === 0x69;
  if ((!signed && sign !== 0x75) || bits < 1 || bits > (signed ? 64 : 63)) throw BAD_BITFIELD_TYPE;
  return { signed, bits };
}

function overflowOf(word: string): Overflow {
  if (sameToken(word, "wrap")) return "wrap";
  if (sameToken(word, "sat")) return "sat";
  if (sameToken(word, "fail")) return "fail";
  throw BAD_OVERFLOW_TYPE;
}

function fieldOperations(client: Client, args: Args): FieldOperation[] {
  const operations: FieldOperation[] = [];
  let overflow: Overflow = "wrap";
  while (args.more) {
    const kind = args.option();
    if (kind === "overflow" && args.left >= 1) {
      overflow = overflowOf(args.next());
      continue;
    }
    if (kind !== "get" && kind !== "set" && kind !== "incrby") throw SYNTAX;
    if (args.left < (kind === "get" ? 2 : 3)) throw SYNTAX;
    const type = fieldType(args);
    const offset = bitOffset(client, args, kind !== "get", type.bits);
    const operand = kind === "get" ? 0 : args.int64();
    operations.push({ kind, type, offset, operand, overflow });
  }
  return operations;
}

/** Runs one operation on bytes that are long enough; undefined where it overflowed and must fail. */
function runField(bytes: Bytes, operation: FieldOperation): { reply: number | bigint | null; changed: boolean } {
  const { kind, type, offset, operand, overflow } = operation;
  const before = readField(bytes, type, offset);
  if (kind === "get") return { reply: before, changed: false };
  const after = kind === "set" ? fitField(operand, 0, type, overflow) : fitField(before, operand, type, overflow);
  if (after === undefined) return { reply: null, changed: false };
  if (after !== before) writeField(bytes, type, offset, after);
  return { reply: kind === "set" ? before : after, changed: after !== before };
}

function bitfield(client: Client, args: Args, readOnly = false): Reply {
  const name = args.next();
  const operations = fieldOperations(client, args);
  const writes = operations.filter((operation) => operation.kind !== "get");
  if (writes.length === 0) return readFields(client, name, operations);
  if (readOnly) throw BITFIELD_RO_WRITES;
  let bits = 0;
  for (const { offset, type } of writes) bits = Math.max(bits, offset + type.bits);
  const replies: Reply[] = [];
  client.db.editBytes(name, "setbit", (bytes) => {
    const length = bytes.length;
    bytes.grow(Math.ceil(bits / 8));
    const grown = bytes.length !== length;
    let changes = 0;
    for (const operation of operations) {
      const { reply, changed } = runField(bytes, operation);
      replies.push(reply);
      if (changed || (grown && operation.kind !== "get" && reply !== null)) changes++;
    }
    return changes;
  });
  return replies;
}

function readFields({ db }: Client, name: string, operations: readonly FieldOperation[]): Reply {
  const value = readable(db.getString(name) ?? "");
  return operations.map(({ type, offset }) => readField(value, type, offset));
}

/** Whether the words of a BITFIELD only read. */
function onlyGets(argv: readonly string[]): boolean {
  const args = new Args(argv, 2);
  while (args.more) {
    if (args.left >= 2 && args.accept("overflow")) args.take(1);
    else if (args.left >= 3 && args.accept("get")) args.take(2);
    else return false;
  }
  return true;
}

const WRITE_BITS = key(["RW", "access", "update"]);
const FIELD_KEY = {
  ...key(["RW", "access", "update", "variable_flags"]),
  notes: "This command allows both access and modification of the key",
};

const rows: readonly Row[] = [
  {
    name: "setbit",
    arity: 4,
    flags: ["write", "denyoom"],
    keys: [WRITE_BITS],
    since: "2.2.0",
    summary: "Sets or clears one bit of a string and answers what it was.",
    syntax: "key offset value",
    reply: "number",
    complexity: "O(1)",
    run: setbit,
  },
  {
    name: "getbit",
    arity: 3,
    flags: ["readonly", "fast"],
    keys: READ_KEY,
    since: "2.2.0",
    summary: "Answers one bit of a string.",
    syntax: "key offset",
    reply: "number",
    complexity: "O(1)",
    run: getbit,
  },
  {
    name: "bitcount",
    arity: -2,
    flags: ["readonly"],
    keys: READ_KEY,
    since: "2.6.0",
    summary: "Counts the bits that are set in a string or a range of it.",
    syntax: "key [start end [BYTE | BIT]]",
    reply: "number",
    complexity: "O(N)",
    run: bitcount,
  },
  {
    name: "bitpos",
    arity: -3,
    flags: ["readonly"],
    keys: READ_KEY,
    since: "2.8.7",
    summary: "Finds the first bit that is set, or clear, in a string or a range of it.",
    syntax: "key bit [start [end [BYTE | BIT]]]",
    reply: "number",
    complexity: "O(N)",
    run: bitpos,
  },
  {
    name: "bitop",
    arity: -4,
    flags: ["write", "denyoom"],
    keys: [key(["OW", "update"], 2), keysFrom(["RO", "access"], 3)],
    since: "2.6.0",
    summary: "Combines strings bit by bit and stores the result.",
    syntax: "operation destkey key [key ...]",
    reply: "number",
    complexity: "O(N)",
    run: bitop,
  },
  {
    name: "bitfield",
    arity: -2,
    flags: ["write", "denyoom"],
    keys: [FIELD_KEY],
    keyFlagsOf: (argv) => (onlyGets(argv) ? ["RO", "access"] : ["RW", "access", "update"]),
    since: "3.2.0",
    summary: "Reads, sets and increments integers of any width inside a string.",
    syntax:
      "key [GET encoding offset | [OVERFLOW <WRAP | SAT | FAIL>] <SET encoding offset value | INCRBY encoding offset increment> [GET encoding offset | [OVERFLOW <WRAP | SAT | FAIL>] <SET encoding offset value | INCRBY encoding offset increment> ...]]",
    reply: "(number | null)[]",
    complexity: "O(1) for each operation",
    run: (client, args) => bitfield(client, args),
  },
  {
    name: "bitfield_ro",
    arity: -2,
    flags: ["readonly", "fast"],
    keys: READ_KEY,
    since: "6.0.0",
    summary: "Reads integers of any width inside a string.",
    syntax: "key [GET encoding offset [GET encoding offset ...]]",
    reply: "number[]",
    complexity: "O(1) for each operation",
    run: (client, args) => bitfield(client, args, true),
  },
];

export const bitmaps = group("bitmap", rows);
