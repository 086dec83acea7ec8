/**
 * LCS: the longest sequence of bytes that two strings have in common, in order but not necessarily side by side. The usual
 * table of lengths, one row per byte of the first string; for the length alone two rows are enough.
 */

import type { Client } from "../../core/client.ts";
import { SYNTAX } from "../../core/errors.ts";
import { LCS_LEN_AND_IDX, LCS_TOO_LONG, LCS_WRONG_TYPE } from "../../core/rare-errors.ts";
import { MapReply, type Reply } from "../../core/reply.ts";
import { Buffer } from "../../platform/bytes.ts";
import type { Args } from "../../table/args.ts";
import { group, keysFrom } from "../../table/command.ts";
import { type StringValue, textOf } from "../../types/bytes.ts";
import { isCollection } from "../../types/kind.ts";
import type { Value } from "../../types/value.ts";

interface Options {
  length: boolean;
  indexes: boolean;
  withLengths: boolean;
  shortest: number;
}

function readOptions(args: Args): Options {
  const options: Options = { length: false, indexes: false, withLengths: false, shortest: 0 };
  while (args.more) {
    const word = args.option();
    if (word === "idx") options.indexes = true;
    else if (word === "len") options.length = true;
    else if (word === "withmatchlen") options.withLengths = true;
    else if (word === "minmatchlen" && args.more) options.shortest = Math.max(0, args.int());
    else throw SYNTAX;
  }
  if (options.indexes && options.length) throw LCS_LEN_AND_IDX;
  return options;
}

function stringOf(value: Value | undefined): StringValue {
  if (value === undefined) return "";
  if (isCollection(value)) throw LCS_WRONG_TYPE;
  return value;
}

function run(client: Client, args: Args): Reply {
  const first = client.db.read(args.next());
  const second = client.db.read(args.next());
  const a = Buffer.from(textOf(stringOf(first)), "latin1");
  const b = Buffer.from(textOf(stringOf(second)), "latin1");
  const options = readOptions(args);
  // Redis takes four bytes for each pair of positions, and no more than the longest string allowed.
  const tableBytes = (a.length + 1) * (b.length + 1) * 4;
  if (tableBytes > client.engine.config.values["proto-max-bulk-len"]) throw LCS_TOO_LONG;
  if (options.length) return lengthOnly(a, b);
  const table = fillTable(a, b);
  return options.indexes ? matches(a, b, table, options) : common(a, b, table);
}

function lengthOnly(a: Buffer, b: Buffer): number {
  let above = new Uint32Array(b.length + 1);
  let row = new Uint32Array(b.length + 1);
  for (let i = 0; i < a.length; i++) {
    [above, row] = [row, above];
    fillRow(a[i]!, b, above, 0, row, 0);
  }
  return row[b.length]!;
}

type Lengths = Uint16Array | Uint32Array;

/** One row of the table from the one above it. */
function fillRow(byte: number, b: Buffer, above: Lengths, from: number, row: Lengths, to: number): void {
  let left = 0;
  row[to] = 0;
  for (let j = 0; j < b.length; j++) {
    const up = above[from + j + 1]!;
    if (byte === b[j]) left = above[from + j]! + 1;
    else if (up > left) left = up;
    row[to + j + 1] = left;
  }
}

/** At i × (b.length + 1) + j: how much the first i bytes of a and the first j of b have in common. */
function fillTable(a: Buffer, b: Buffer): Lengths {
  const width = b.length + 1;
  const size = (a.length + 1) * width;
  const table = Math.min(a.length, b.length) < 65_536 ? new Uint16Array(size) : new Uint32Array(size);
  for (let i = 1; i <= a.length; i++) fillRow(a[i - 1]!, b, table, (i - 1) * width, table, i * width);
  return table;
}

function common(a: Buffer, b: Buffer, table: Lengths): string {
  const width = b.length + 1;
  let i = a.length;
  let j = b.length;
  let left = table[i * width + j]!;
  const result = Buffer.allocUnsafe(left);
  while (left > 0) {
    if (a[i - 1] === b[j - 1]) {
      result[--left] = a[--i]!;
      j--;
    } else if (table[(i - 1) * width + j]! > table[i * width + j - 1]!) i--;
    else j--;
  }
  return result.latin1Slice();
}

/** The stretches that make it up, last first: where they are in each string. */
function matches(a: Buffer, b: Buffer, table: Lengths, options: Options): Reply {
  const width = b.length + 1;
  const found: Reply[] = [];
  let i = a.length;
  let j = b.length;
  while (i > 0 && j > 0) {
    let run = 0;
    while (i > run && j > run && a[i - 1 - run] === b[j - 1 - run]) run++;
    if (run === 0) {
      if (table[(i - 1) * width + j]! > table[i * width + j - 1]!) i--;
      else j--;
      continue;
    }
    if (run >= options.shortest) {
      const ranges = [
        [i - run, i - 1],
        [j - run, j - 1],
      ];
      found.push(options.withLengths ? [...ranges, run] : ranges);
    }
    i -= run;
    j -= run;
  }
  return new MapReply(["matches", found, "len", table[a.length * width + b.length]!]);
}

export const lcs = group("string", [
  {
    name: "lcs",
    arity: -3,
    flags: ["readonly"],
    keys: [keysFrom(["RO", "access"], 1, 1, 1)],
    since: "7.0.0",
    summary: "Finds the longest sequence of bytes that two strings have in common.",
    syntax: "key1 key2 [LEN] [IDX] [MINMATCHLEN min-match-len] [WITHMATCHLEN]",
    reply: { otherwise: "string", LEN: "number", IDX: "Map<string, Reply>" },
    complexity: "O(N*M)",
    run,
  },
]);
