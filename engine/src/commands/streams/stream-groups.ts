/** XGROUP: consumer groups and their consumers. */

import type { Client } from "../../core/client.ts";
import { NOT_AN_INTEGER, subcommandSyntax } from "../../core/errors.ts";
import { BAD_ENTRIESREAD, BUSYGROUP, noGroupOf, XGROUP_NO_KEY } from "../../core/rare-errors.ts";
import { OK, type Reply, Status } from "../../core/reply.ts";
import { parseInt64 } from "../../lib/numbers.ts";
import type { Args } from "../../table/args.ts";
import { type KeyFlag, key, type Row } from "../../table/command.ts";
import { type Counter, type Group, MIN_ID, StreamValue, UNKNOWN } from "../../types/stream/index.ts";
import { readId, readIdOrEdge } from "./stream-args.ts";

const HELP = [
  "XGROUP <subcommand> [<arg> ...]. Subcommands:",
  "CREATE <key> <group> <id | $> [MKSTREAM] [ENTRIESREAD <count>]",
  "    Make a group that has read up to <id>; $ means all that is there.",
  "    MKSTREAM",
  "      Make the stream too if it is missing.",
  "    ENTRIESREAD <count>",
  "      Say how many entries the group has read so far.",
  "CREATECONSUMER <key> <group> <consumer>",
  "    Add a consumer to a group.",
  "DELCONSUMER <key> <group> <consumer>",
  "    Remove a consumer and what is pending for it.",
  "DESTROY <key> <group>",
  "    Remove a group with all that it knows.",
  "SETID <key> <group> <id | $> [ENTRIESREAD <count>]",
  "    Let a group go on behind another entry.",
  "HELP",
  "    Show this text.",
].map((line) => new Status(line));

interface GroupOptions {
  readonly makeStream: boolean;
  readonly entriesRead: Counter;
}

/** What stands behind the id of CREATE and SETID. */
function readOptions(args: Args, mayMakeStream: boolean): GroupOptions {
  let makeStream = false;
  let entriesRead: Counter = UNKNOWN;
  while (args.more) {
    if (mayMakeStream && args.accept("mkstream")) makeStream = true;
    else if (args.left >= 2 && args.accept("entriesread")) {
      const given = parseInt64(args.next());
      if (given === undefined) throw NOT_AN_INTEGER;
      if (given < UNKNOWN) throw BAD_ENTRIESREAD;
      entriesRead = given;
    } else throw subcommandSyntax(args.at(1), "XGROUP");
  }
  return { makeStream, entriesRead };
}

function findStream({ db }: Client, name: string): StreamValue {
  const stream = db.peekAs(name, StreamValue);
  if (stream === undefined) throw XGROUP_NO_KEY;
  return stream;
}

function findGroup(client: Client, name: string, groupName: string): { stream: StreamValue; group: Group } {
  const stream = findStream(client, name);
  const group = stream.groups.get(groupName);
  if (group === undefined) throw noGroupOf(name, groupName);
  return { stream, group };
}

function create(client: Client, args: Args): Reply {
  const { db } = client;
  const [name, groupName, word] = args.take(3);
  const { makeStream, entriesRead } = readOptions(args, true);
  const stream = makeStream ? db.peekAs(name, StreamValue) : findStream(client, name);
  if (args.argv.length > 8) throw subcommandSyntax(args.at(1), "XGROUP");
  const id = word === "$" ? (stream?.lastId ?? MIN_ID) : readId(word);
  if (stream === undefined) {
    db.edit(name, StreamValue, "xgroup-create", (made) => {
      made.addGroup(groupName, id, entriesRead);
      return 1;
    });
    return OK;
  }
  if (stream.groups.has(groupName)) throw BUSYGROUP;
  db.tend(name, StreamValue, "xgroup-create", () => {
    stream.addGroup(groupName, id, entriesRead);
    return 1;
  });
  return OK;
}

function setId(client: Client, args: Args): Reply {
  const { db } = client;
  const [name, groupName, word] = args.take(3);
  const { entriesRead } = readOptions(args, false);
  const { stream, group } = findGroup(client, name, groupName);
  if (args.argv.length !== 5 && args.argv.length !== 7) throw subcommandSyntax(args.at(1), "XGROUP");
  const id = word === "$" ? stream.lastId : readIdOrEdge(word);
  db.tend(name, StreamValue, "xgroup-setid", () => {
    group.lastId = id;
    group.entriesRead = entriesRead;
    return 1;
  });
  return OK;
}

function destroy(client: Client, args: Args): Reply {
  const { db } = client;
  const name = args.next();
  const groupName = args.next();
  const stream = findStream(client, name);
  const removed = db.tend(name, StreamValue, "xgroup-destroy", () => Number(stream.removeGroup(groupName)));
  if (removed === 0) return 0;
  stream.arrive();
  db.wakeGroups(name);
  return 1;
}

function createConsumer(client: Client, args: Args): Reply {
  const { db, engine } = client;
  const [name, groupName, consumer] = args.take(3);
  const { group } = findGroup(client, name, groupName);
  if (group.consumers.has(consumer)) return 0;
  db.tend(name, StreamValue, "xgroup-createconsumer", () => {
    group.addConsumer(consumer, engine.clock.now());
    return 1;
  });
  return 1;
}

function deleteConsumer(client: Client, args: Args): Reply {
  const { db } = client;
  const [name, groupName, consumer] = args.take(3);
  const { group } = findGroup(client, name, groupName);
  let pending = 0;
  db.tend(name, StreamValue, "xgroup-delconsumer", () => {
    const dropped = group.removeConsumer(consumer);
    pending = dropped ?? 0;
    return dropped === undefined ? 0 : 1;
  });
  return pending;
}

const keyFor = (what: KeyFlag) => [key(["RW", what], 2)];

export const groupRows: readonly Row[] = [
  {
    name: "xgroup",
    arity: -2,
    flags: [],
    noGroupCategory: true,
    since: "5.0.0",
    summary: "Commands for consumer groups.",
    syntax: "",
    complexity: "Depends on the subcommand.",
    subcommands: [
      {
        name: "create",
        arity: -5,
        flags: ["write", "denyoom"],
        keys: keyFor("insert"),
        since: "5.0.0",
        summary: "Makes a consumer group.",
        syntax: "key group <id | $> [MKSTREAM] [ENTRIESREAD entries-read]",
        reply: '"OK"',
        complexity: "O(1)",
        run: create,
      },
      {
        name: "setid",
        arity: -5,
        flags: ["write"],
        keys: keyFor("update"),
        since: "5.0.0",
        summary: "Sets the id that a consumer group goes on behind.",
        syntax: "key group <id | $> [ENTRIESREAD entries-read]",
        reply: '"OK"',
        complexity: "O(1)",
        run: setId,
      },
      {
        name: "destroy",
        arity: 4,
        flags: ["write"],
        keys: keyFor("delete"),
        since: "5.0.0",
        summary: "Removes a consumer group with what is pending in it.",
        syntax: "key group",
        reply: "number",
        complexity: "O(C) for C consumers",
        run: destroy,
      },
      {
        name: "createconsumer",
        arity: 5,
        flags: ["write", "denyoom"],
        keys: keyFor("insert"),
        since: "6.2.0",
        summary: "Adds a consumer to a group.",
        syntax: "key group consumer",
        reply: "number",
        complexity: "O(1)",
        run: createConsumer,
      },
      {
        name: "delconsumer",
        arity: 5,
        flags: ["write"],
        keys: keyFor("delete"),
        since: "5.0.0",
        summary: "Removes a consumer from a group and says how many entries were pending for it.",
        syntax: "key group consumer",
        reply: "number",
        complexity: "O(P) for P entries pending for the consumer",
        run: deleteConsumer,
      },
      {
        name: "help",
        arity: 2,
        flags: ["loading", "stale"],
        undocumented: true,
        since: "5.0.0",
        summary: "Explains the subcommands of XGROUP.",
        syntax: "",
        reply: "string[]",
        complexity: "O(1)",
        run: () => HELP,
      },
    ],
  },
];
