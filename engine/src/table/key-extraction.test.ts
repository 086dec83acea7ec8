/** Which words of a command are keys. */
import { expect, test } from "vitest";
import { groups } from "../commands/index.ts";
import { CommandTable } from "./command-table.ts";
import { keysOf, keyWordsOf } from "./key-extraction.ts";

const table = new CommandTable(groups);

function keysIn(line: string): string[] {
  const argv = line.split(" ");
  return keysOf(table.find(argv)!, argv).map((index) => argv[index]!);
}

test.each([
  ["GET a", ["a"]],
  ["MGET a b c", ["a", "b", "c"]],
  ["MSET a 1 b 2", ["a", "b"]],
  ["BLPOP a b 0", ["a", "b"]],
  ["LCS a b", ["a", "b"]],
  ["ZUNIONSTORE d 2 a b WEIGHTS 1 2", ["d", "a", "b"]],
  ["SINTERCARD 2 a b", ["a", "b"]],
  ["XREAD COUNT 2 STREAMS a b 0 0", ["a", "b"]],
  ["GEORADIUS k 1 1 1 m STORE x STOREDIST y", ["k", "x", "y"]],
  ["SORT a BY nosort STORE b", ["a", "b"]],
  ["OBJECT ENCODING a", ["a"]],
  ["PING", []],
  ["SSUBSCRIBE a", []],
  ["SINTERCARD 3 a b", []],
  ["SINTERCARD x a b", []],
])("%s", (line, keys) => expect(keysIn(line)).toEqual(keys));

test.each([
  ["SET a 1", ["OW", "update"]],
  ["SET a 1 EX 5 get", ["RW", "access", "update"]],
  ["BITFIELD a GET u8 0 OVERFLOW SAT GET u8 8", ["RO", "access"]],
  ["BITFIELD a GET u8 0 SET u8 8 1", ["RW", "access", "update"]],
])("what it does to its key depends on its words: %s", (line, flags) => {
  const argv = line.split(" ");
  expect(keyWordsOf(table.find(argv)!, argv)).toEqual([{ index: 1, flags }]);
});
