/**
 * What a command may build at once, for commands that read or copy whole values: asked only while a copy of all data would
 * not fit into the heap any more (heap-guard.ts). Which part of its values a call asks for, its row says (table/shares.ts).
 */

import type { Command } from "../table/command-table.ts";
import { hasKeys, keysOf } from "../table/key-extraction.ts";
import { isCollection, isStream, sizeOf } from "../types/kind.ts";
import { ListValue } from "../types/list/index.ts";
import type { Value } from "../types/value.ts";
import type { Db } from "./db.ts";

/** A place in an array, and what surrounds a word in a reply. */
const WORD_BYTES = 40;

const elements = (value: Value) => (isCollection(value) ? value.size : 1);

/** What a part of a value takes in a reply or a copy. */
function builtBytes(value: Value, share: number): number {
  const bytes = sizeOf(value) + elements(value) * WORD_BYTES;
  // Words of lists and streams are made when they are read; those of the others are there.
  return bytes * share * (value instanceof ListValue || isStream(value) ? 2 : 1);
}

export function bytesToBuild(db: Db, command: Command, argv: readonly string[]): number {
  const { row } = command;
  if (row.builds === undefined) return 0;
  if (!hasKeys(row)) return row.builds(argv, db.size) * db.size * WORD_BYTES;
  let bytes = 0;
  for (const place of keysOf(command, argv)) {
    const name = argv[place];
    const value = name === undefined ? undefined : db.keyspace.get(name);
    if (value !== undefined) bytes += builtBytes(value, row.builds(argv, elements(value)));
  }
  return bytes;
}
