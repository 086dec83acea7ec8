/**
 * What a command may build at once, for commands that read or copy whole values: asked only while a copy of all data would
 * not fit into the heap any more (heap-guard.ts). The answer is an upper bound for what is asked, not for what is found: a
 * range that names both ends counts as the whole value, one with other borders as little.
 */

import type { Command } from "../table/command-table.ts";
import { keysOf } from "../table/key-extraction.ts";
import { ListValue } from "../types/list/index.ts";
import { StreamValue } from "../types/stream/index.ts";
import type { Value } from "../types/value.ts";
import type { Client } from "./client.ts";
import { isCollection, sizeOf } from "./db.ts";

/** A place in an array, and what surrounds a word in a reply. */
const WORD_BYTES = 40;

/** Part of the values that a call asks for: 0 to 1. */
type Share = (argv: readonly string[], size: number) => number;

const whole: Share = () => 1;

/** `LRANGE key start stop` and its like. */
const byIndex: Share = (argv, size) => {
  const [start, stop] = [Number(argv[2]), Number(argv[3])];
  const from = Math.max(0, start < 0 ? size + start : start);
  const to = Math.min(size - 1, stop < 0 ? size + stop : stop);
  return size === 0 ? 0 : Math.max(0, to - from + 1) / size;
};

const ENDS = /^[-+]$|^[-+]inf$|^0(-0)?$/i;

/** What `LIMIT offset count` or `COUNT count` leaves of so many; undefined where there is neither. */
function limited(argv: readonly string[], size: number): number | undefined {
  const at = argv.findIndex((word) => /^(limit|count)$/i.test(word));
  if (at < 2 || size === 0) return undefined;
  const count = Number(argv[/^limit$/i.test(argv[at]!) ? at + 2 : at + 1]);
  return count >= 0 ? Math.min(1, count / size) : undefined;
}

/** Ranges by score, word or id: everything when both ends are named and there is no limit. */
const byBorders: Share = (argv, size) => limited(argv, size) ?? (ENDS.test(argv[2]!) && ENDS.test(argv[3]!) ? 1 : 0);

const zrange: Share = (argv, size) =>
  argv.some((word) => /^by(score|lex)$/i.test(word)) ? byBorders(argv, size) : byIndex(argv, size);

/** `XREAD … STREAMS key … id …`: from the beginning of a stream, without a limit. */
const fromStart: Share = (argv, size) =>
  limited(argv, size) ?? (argv.slice(2).some((word) => /^0(-0)?$/.test(word)) ? 1 : 0);

const shares = new Map<string, Share>([
  ...[
    ...[
      "copy",
      "dump",
      "hgetall",
      "hkeys",
      "hvals",
      "sdiff",
      "sdiffstore",
      "sinterstore",
      "smembers",
      "sort",
      "sort_ro",
    ],
    ...["sunion", "sunionstore", "zdiff", "zdiffstore", "zinter", "zinterstore", "zunion", "zunionstore"],
  ].map((name) => [name, whole] as const),
  ["lrange", byIndex],
  ["zrevrange", byIndex],
  ["zrange", zrange],
  ...["xrange", "xrevrange", "zrangebylex", "zrangebyscore", "zrevrangebylex", "zrevrangebyscore"].map(
    (name) => [name, byBorders] as const,
  ),
  ["xread", fromStart],
]);

const elements = (value: Value) => (isCollection(value) ? value.size : 1);

/** What a part of a value takes in a reply or a copy. */
function builtBytes(value: Value, share: number): number {
  const bytes = sizeOf(value) + elements(value) * WORD_BYTES;
  // Words of lists and streams are made when they are read; those of the others are there.
  return bytes * share * (value instanceof ListValue || value instanceof StreamValue ? 2 : 1);
}

export function bytesToBuild({ db }: Client, command: Command, argv: readonly string[]): number {
  if (command.name === "keys") return argv[1] === "*" ? db.size * WORD_BYTES : 0;
  const share = shares.get(command.name);
  if (share === undefined) return 0;
  let bytes = 0;
  for (const place of keysOf(command, argv)) {
    const value = db.keyspace.get(argv[place]!);
    if (value !== undefined) bytes += builtBytes(value, share(argv, elements(value)));
  }
  return bytes;
}
