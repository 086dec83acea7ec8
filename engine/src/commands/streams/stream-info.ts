/** XINFO: what a stream, its groups and their consumers look like from outside. */

import type { Client } from "../../core/client.ts";
import { NO_SUCH_KEY, subcommandSyntax } from "../../core/errors.ts";
import { noGroupOf } from "../../core/rare-errors.ts";
import { MapReply, type Reply } from "../../core/reply.ts";
import type { Args } from "../../table/args.ts";
import { key, type Row } from "../../table/command.ts";
import {
  type Consumer,
  formatId,
  type Group,
  type StreamCursor,
  StreamValue,
  UNKNOWN,
} from "../../types/stream/index.ts";
import { radixNodes } from "../../types/stream/radix-nodes.ts";
import { helpRow } from "../shared/help.ts";
import { readInt } from "./stream-args.ts";
import { readEntries } from "./stream-read.ts";

/** How many entries FULL shows of each list when nobody says otherwise. */
const FULL_COUNT = 10;

function findStream({ db }: Client, name: string): StreamValue {
  const stream = db.get(name, StreamValue);
  if (stream === undefined) throw NO_SUCH_KEY;
  return stream;
}

function outline(stream: StreamValue): Reply[] {
  return [
    "length",
    stream.size,
    "radix-tree-keys",
    stream.blockCount,
    "radix-tree-nodes",
    radixNodes(stream),
    "last-generated-id",
    formatId(stream.lastId),
    "max-deleted-entry-id",
    formatId(stream.maxDeletedId),
    "entries-added",
    stream.entriesAdded,
    "recorded-first-entry-id",
    formatId(stream.firstId),
  ];
}

/** The entry that a cursor comes upon first; null when there is none. */
const firstOf = (cursor: StreamCursor): Reply => (cursor.next() ? [cursor.idText, cursor.words()] : null);

function describeStream(client: Client, args: Args): Reply {
  const stream = findStream(client, args.next());
  if (args.more) return describeFully(stream, args);
  return new MapReply([
    ...outline(stream),
    "groups",
    stream.groups.size,
    "first-entry",
    firstOf(stream.cursor()),
    "last-entry",
    firstOf(stream.cursor(undefined, undefined, true)),
  ]);
}

function describeFully(stream: StreamValue, args: Args): Reply {
  const words = args.argv.length;
  if (!args.accept("full") || (words !== 4 && words !== 6)) throw subcommandSyntax(args.at(1), "XINFO");
  let count = FULL_COUNT;
  if (args.more) {
    if (!args.accept("count")) throw subcommandSyntax(args.at(1), "XINFO");
    count = readInt(args.next());
    if (count < 0) count = FULL_COUNT;
  }
  return new MapReply([
    ...outline(stream),
    "entries",
    readEntries(stream.cursor(), count),
    "groups",
    stream.sortedGroups().map((group) => describeGroupFully(stream, group, count)),
  ]);
}

function progress(stream: StreamValue, group: Group): Reply[] {
  return [
    "last-delivered-id",
    formatId(group.lastId),
    "entries-read",
    group.entriesRead === UNKNOWN ? null : group.entriesRead,
    "lag",
    stream.lag(group),
  ];
}

function describeGroupFully(stream: StreamValue, group: Group, count: number): Reply {
  return new MapReply([
    "name",
    group.name,
    ...progress(stream, group),
    "pel-count",
    group.pending.size,
    "pending",
    describePending(group, count, true),
    "consumers",
    group
      .sortedConsumers()
      .map(
        (consumer) =>
          new MapReply([
            "name",
            consumer.name,
            "seen-time",
            consumer.seenMs,
            "pel-count",
            consumer.pending.size,
            "pending",
            describePending(consumer, count, false),
          ]),
      ),
  ]);
}

function describePending({ pending }: Group | Consumer, count: number, withConsumer: boolean): Reply {
  const found: Reply[] = [];
  for (const { id, consumer, timeMs, count: times } of pending.from("")) {
    found.push(withConsumer ? [formatId(id), consumer.name, timeMs, times] : [formatId(id), timeMs, times]);
    if (found.length === count) break;
  }
  return found;
}

function describeGroups(client: Client, args: Args): Reply {
  const stream = findStream(client, args.next());
  return stream
    .sortedGroups()
    .map(
      (group) =>
        new MapReply([
          "name",
          group.name,
          "consumers",
          group.consumers.size,
          "pending",
          group.pending.size,
          ...progress(stream, group),
        ]),
    );
}

function describeConsumers(client: Client, args: Args): Reply {
  const name = args.next();
  const groupName = args.next();
  const group = findStream(client, name).groups.get(groupName);
  if (group === undefined) throw noGroupOf(name, groupName);
  const now = client.engine.clock.now();
  return group
    .sortedConsumers()
    .map(
      ({ name, pending, seenMs }) =>
        new MapReply(["name", name, "pending", pending.size, "idle", Math.max(0, now - seenMs)]),
    );
}

const SECOND_KEY = [key(["RO", "access"], 2)];

export const infoRows: readonly Row[] = [
  {
    name: "xinfo",
    arity: -2,
    flags: [],
    noGroupCategory: true,
    since: "5.0.0",
    summary: "Commands that describe streams.",
    syntax: "",
    complexity: "Depends on the subcommand.",
    subcommands: [
      {
        name: "stream",
        arity: -3,
        flags: ["readonly"],
        keys: SECOND_KEY,
        since: "5.0.0",
        summary: "Describes a stream, with FULL down to what is pending for each consumer.",
        syntax: "key [FULL [COUNT count]]",
        reply: "Map<string, Reply>",
        complexity: "O(B) for B blocks, plus O(N) for N entries that FULL shows",
        run: describeStream,
      },
      {
        name: "groups",
        arity: 3,
        flags: ["readonly"],
        keys: SECOND_KEY,
        since: "5.0.0",
        summary: "Lists the consumer groups of a stream.",
        syntax: "key",
        reply: "Map<string, Reply>[]",
        complexity: "O(G) for G groups",
        run: describeGroups,
      },
      {
        name: "consumers",
        arity: 4,
        flags: ["readonly"],
        keys: SECOND_KEY,
        tips: ["nondeterministic_output"],
        since: "5.0.0",
        summary: "Lists the consumers of a group.",
        syntax: "key group",
        reply: "Map<string, Reply>[]",
        complexity: "O(C) for C consumers",
        run: describeConsumers,
      },
      helpRow("xinfo", "5.0.0", [
        ["CONSUMERS <key> <group>", "List the consumers of a group."],
        ["GROUPS <key>", "List the groups of a stream."],
        ["STREAM <key> [FULL [COUNT <count>]]", "Describe a stream; with FULL, its entries, groups and consumers too."],
      ]),
    ],
  },
];
