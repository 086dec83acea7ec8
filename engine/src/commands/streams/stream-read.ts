/**
 * XREAD and XREADGROUP: following streams, alone or as a member of a consumer group, and waiting for what comes.
 *
 * What a group's reading changes reaches files and replicas as the state that it led to (XCLAIM for a delivery, XGROUP for
 * the rest), never as the reading itself.
 */

import type { Client } from "../../core/client.ts";
import {
  BAD_STREAM_ID,
  blockInScript,
  GROUP_GONE,
  NOT_AN_INTEGER,
  noKeyOrGroup,
  STREAM_GONE,
  SYNTAX,
  TIMEOUT_NEGATIVE,
  TIMEOUT_NOT_INTEGER,
  XREAD_GROUP,
  XREAD_NEW_ID,
  XREAD_NOACK,
  XREAD_UNBALANCED,
  XREADGROUP_LAST_ID,
  XREADGROUP_NO_GROUP,
} from "../../core/errors.ts";
import { MapReply, NIL_ARRAY, type Reply } from "../../core/reply.ts";
import type { Args } from "../../table/args.ts";
import type { KeySpec, Row } from "../../table/command.ts";
import { fromStart } from "../../table/shares.ts";
import {
  addCounters,
  type Consumer,
  formatId,
  type Group,
  type Id,
  idAfter,
  MAX_ID,
  MIN_ID,
  parseId,
  type StreamCursor,
  StreamValue,
} from "../../types/stream/index.ts";
import { readInt } from "./stream-args.ts";
import { GroupEffects } from "./stream-effects.ts";

/** What a waiting client gets at most when it did not say. */
const COUNT_AFTER_WAIT = 1000;
const IN_XREADGROUP = " in XREADGROUP with GROUP option";
/** Stands for `>`: what nobody in the group has got yet. Redis takes this id for it as well when spelt out. */
const NEW: Id = MAX_ID;

interface ReadOptions {
  readonly keys: readonly string[];
  /** The words for the ids, one for each key. */
  readonly idWords: readonly string[];
  /** 0 for all. */
  readonly count: number;
  /** undefined without BLOCK. */
  readonly blockMs: number | undefined;
  readonly group: string | undefined;
  readonly consumer: string;
  readonly noAck: boolean;
}

function readOptions({ behalfOf }: Client, args: Args, isGroupRead: boolean): ReadOptions {
  let count = 0;
  let blockMs: number | undefined;
  let group: string | undefined;
  let consumer = "";
  let noAck = false;
  let words: string[] | undefined;
  while (words === undefined) {
    // Without STREAMS the words run out, which is a syntax error.
    const option = args.option();
    if (option === "block" && args.more) {
      if (behalfOf !== null) throw blockInScript(args.argv[0]!);
      blockMs = readInt(args.next(), TIMEOUT_NOT_INTEGER);
      if (blockMs < 0) throw TIMEOUT_NEGATIVE;
    } else if (option === "count" && args.more) count = Math.max(0, readInt(args.next(), NOT_AN_INTEGER));
    else if (option === "streams" && args.more) words = args.rest();
    else if (option === "group" && args.left >= 2) {
      if (!isGroupRead) throw XREAD_GROUP;
      group = args.next();
      consumer = args.next();
    } else if (option === "noack") {
      if (!isGroupRead) throw XREAD_NOACK;
      noAck = true;
    } else throw SYNTAX;
  }
  if (words.length % 2 !== 0) throw XREAD_UNBALANCED;
  if (isGroupRead && group === undefined) throw XREADGROUP_NO_GROUP;
  const half = words.length / 2;
  return { keys: words.slice(0, half), idWords: words.slice(half), count, blockMs, group, consumer, noAck };
}

/** The ids to read behind, once it is sure that every key is a stream and has the group. */
function resolveIds({ db }: Client, { keys, idWords, group }: ReadOptions): Id[] {
  return keys.map((name, i) => {
    const stream = db.get(name, StreamValue);
    if (group !== undefined && !stream?.groups.has(group)) throw noKeyOrGroup(name, group, IN_XREADGROUP);
    const word = idWords[i]!;
    if (word === "$") {
      if (group !== undefined) throw XREADGROUP_LAST_ID;
      return stream?.lastId ?? MIN_ID;
    }
    if (word === ">") {
      if (group === undefined) throw XREAD_NEW_ID;
      return NEW;
    }
    const id = parseId(word);
    if (id === undefined) throw BAD_STREAM_ID;
    return id;
  });
}

/** Streams with their entries: pairs in RESP2, a map in RESP3. Names and entries in turn. */
function streamsReply(client: Client, flat: readonly Reply[]): Reply {
  if (client.protocol === 3) return new MapReply(flat);
  const pairs: Reply[] = [];
  for (let i = 0; i < flat.length; i += 2) pairs.push([flat[i]!, flat[i + 1]!]);
  return pairs;
}

/** What has arrived in the streams at these keys when a client begins to wait. */
function arrivalsOf({ db }: Client, keys: readonly string[]): number[] {
  return keys.map((name) => {
    const stream = db.peek(name);
    return stream instanceof StreamValue ? stream.arrival : -1;
  });
}

// ------------------------------------------------------------------------------------------------ XREAD

/** What a cursor finds, as replies show entries: at most `count`, 0 for all. */
export function readEntries(cursor: StreamCursor, count: number): Reply[] {
  const entries: Reply[] = [];
  while (cursor.next()) {
    entries.push([cursor.idText, cursor.words()]);
    if (entries.length === count) break;
  }
  return entries;
}

function entriesBehind(stream: StreamValue, id: Id, count: number): Reply[] {
  const start = idAfter(id);
  return start === undefined ? [] : readEntries(stream.cursor(start), count);
}

function xread(client: Client, args: Args): Reply {
  const { db } = client;
  const options = readOptions(client, args, false);
  const { keys, count } = options;
  const ids = resolveIds(client, options);
  const found: Reply[] = [];
  for (let i = 0; i < keys.length; i++) {
    const stream = db.get(keys[i]!, StreamValue);
    if (stream === undefined || stream.size === 0 || stream.lastLivingId <= ids[i]!) continue;
    found.push(keys[i]!, entriesBehind(stream, ids[i]!, count));
  }
  if (found.length > 0) return streamsReply(client, found);
  if (options.blockMs === undefined) return NIL_ARRAY;
  const known = arrivalsOf(client, keys);
  return client.block({
    type: "stream",
    keys,
    timeoutMs: options.blockMs,
    nothing: NIL_ARRAY,
    serve: (name) => {
      const stream = client.db.peek(name);
      const at = keys.indexOf(name);
      const id = ids[at]!;
      if (!(stream instanceof StreamValue) || stream.arrival === known[at]) return undefined;
      known[at] = stream.arrival;
      if (stream.lastId <= id) return undefined;
      return streamsReply(client, [name, entriesBehind(stream, id, count || COUNT_AFTER_WAIT)]);
    },
  });
}

// ------------------------------------------------------------------------------------------------ XREADGROUP

/** One reading of one stream by a group's consumer, and what it leads to elsewhere. */
interface GroupRead {
  readonly client: Client;
  readonly name: string;
  readonly stream: StreamValue;
  readonly group: Group;
  readonly consumer: Consumer;
  readonly count: number;
  readonly noAck: boolean;
  readonly effects: GroupEffects;
}

/** Delivers what nobody in the group has got yet. */
function deliverNew({ client, name, stream, group, consumer, count, noAck, effects }: GroupRead): Reply[] {
  const entries: Reply[] = [];
  const start = idAfter(group.lastId);
  if (start === undefined) return entries;
  const now = client.engine.clock.now();
  const cursor = stream.cursor(start);
  while (cursor.next()) {
    const { id } = cursor;
    stream.advance(group, id);
    entries.push([cursor.idText, cursor.words()]);
    if (!noAck) {
      effects.delivered(name, group, group.deliver(id, consumer, now));
    }
    if (entries.length === count) break;
  }
  if (noAck && entries.length > 0) effects.read(name, group);
  return entries;
}

/** Delivers again what the consumer has got behind an id and not acknowledged. */
function deliverAgain({ client, stream, group, consumer, count }: GroupRead, id: Id): Reply[] {
  const entries: Reply[] = [];
  const now = client.engine.clock.now();
  for (const delivery of consumer.pending.from(idAfter(id)!)) {
    const words = stream.wordsOf(delivery.id);
    entries.push([formatId(delivery.id), words ?? NIL_ARRAY]);
    if (words !== undefined) group.redeliver(delivery, consumer, now, addCounters(delivery.count, 1));
    if (entries.length === count) break;
  }
  return entries;
}

/** Finds or makes the reading consumer; making it is news only where no delivery will say so. */
function readingConsumer(
  client: Client,
  name: string,
  group: Group,
  { consumer, noAck }: ReadOptions,
  effects: GroupEffects,
): { consumer: Consumer; changes: number } {
  const now = client.engine.clock.now();
  const known = group.seen(consumer, now);
  if (known !== undefined) return { consumer: known, changes: 0 };
  client.db.notify("xgroup-createconsumer", name, "t");
  if (noAck) effects.consumerCreated(name, group, consumer);
  return { consumer: group.addConsumer(consumer, now), changes: 1 };
}

/** Reads one key for a group; undefined when there is nothing to give. */
function readForGroup(
  client: Client,
  name: string,
  id: Id,
  options: ReadOptions,
  count: number,
  effects: GroupEffects,
): Reply[] | undefined {
  let entries: Reply[] | undefined;
  client.db.tend(name, StreamValue, undefined, (stream) => {
    const group = stream.groups.get(options.group!)!;
    if (id === NEW && (stream.size === 0 || stream.lastLivingId <= group.lastId)) return 0;
    const { consumer, changes } = readingConsumer(client, name, group, options, effects);
    const read = { client, name, stream, group, consumer, count, noAck: options.noAck, effects };
    entries = id === NEW ? deliverNew(read) : deliverAgain(read, id);
    return changes + 1;
  });
  return entries;
}

function xreadgroup(client: Client, args: Args): Reply {
  const options = readOptions(client, args, true);
  const { keys } = options;
  const ids = resolveIds(client, options);
  const effects = new GroupEffects(client);
  const found: Reply[] = [];
  for (let i = 0; i < keys.length; i++) {
    const name = keys[i]!;
    if (client.db.get(name, StreamValue) === undefined) continue;
    const entries = readForGroup(client, name, ids[i]!, options, options.count, effects);
    if (entries !== undefined) found.push(name, entries);
  }
  effects.say();
  if (found.length > 0) return streamsReply(client, found);
  if (options.blockMs === undefined) return NIL_ARRAY;
  const known = arrivalsOf(client, keys);
  return client.block({
    type: "stream",
    keys,
    timeoutMs: options.blockMs,
    nothing: NIL_ARRAY,
    serve: (name) => serveGroup(client, name, options, known),
  });
}

/** The reply for a client that waits in a group, now that a key has changed. */
function serveGroup(client: Client, name: string, options: ReadOptions, known: number[]): Reply | undefined {
  const stream = client.db.peek(name);
  if (!(stream instanceof StreamValue)) throw STREAM_GONE;
  const group = stream.groups.get(options.group!);
  if (group === undefined) throw GROUP_GONE;
  const at = options.keys.indexOf(name);
  if (stream.arrival === known[at]) return undefined;
  known[at] = stream.arrival;
  if (stream.lastId <= group.lastId) return undefined;
  const effects = new GroupEffects(client);
  let entries: Reply[] = [];
  client.db.tend(name, StreamValue, undefined, () => {
    const { consumer, changes } = readingConsumer(client, name, group, options, effects);
    const count = options.count || COUNT_AFTER_WAIT;
    entries = deliverNew({ client, name, stream, group, consumer, count, noAck: options.noAck, effects });
    return changes + 1;
  });
  effects.say();
  return streamsReply(client, [name, entries]);
}

// ------------------------------------------------------------------------------------------------ rows

/** Behind the word STREAMS: keys, then as many ids. */
const streamsKeys = (startFrom: number): KeySpec[] => [
  { flags: ["RO", "access"], begin: { keyword: "STREAMS", startFrom }, find: { last: -1, step: 1, limit: 2 } },
];

export const readRows: readonly Row[] = [
  {
    name: "xread",
    arity: -4,
    flags: ["readonly", "blocking", "movablekeys"],
    keys: streamsKeys(1),
    builds: fromStart,
    since: "5.0.0",
    summary: "Returns the entries of streams behind given ids, waiting for one if asked.",
    syntax: "[COUNT count] [BLOCK milliseconds] STREAMS key [key ...] id [id ...]",
    reply: "[string, Entry[]][] | null",
    complexity: "O(log(B) + M) per stream of B blocks for M entries returned",
    run: xread,
  },
  {
    name: "xreadgroup",
    arity: -7,
    flags: ["write", "blocking", "movablekeys"],
    keys: streamsKeys(4),
    since: "5.0.0",
    summary: "Reads streams as a consumer of a group: new entries, or its own that it has not acknowledged.",
    syntax: "GROUP group consumer [COUNT count] [BLOCK milliseconds] [NOACK] STREAMS key [key ...] id [id ...]",
    reply: "[string, (Entry | [string, null])[]][] | null",
    complexity: "O(log(B) + M) per stream of B blocks for M entries returned",
    run: xreadgroup,
  },
];
