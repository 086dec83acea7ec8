/**
 * XREAD and XREADGROUP: following streams, alone or as a member of a consumer group, and waiting for what comes.
 *
 * What a group's reading changes reaches files and replicas as the state that it led to (XCLAIM for a delivery, XGROUP for
 * the rest), never as the reading itself.
 */

import type { Client } from "../../core/client.ts";
import { NOT_AN_INTEGER, SYNTAX, TIMEOUT_NEGATIVE } from "../../core/errors.ts";
import {
  BAD_STREAM_ID,
  blockInScript,
  GROUP_GONE,
  noKeyOrGroup,
  STREAM_GONE,
  TIMEOUT_NOT_INTEGER,
  XREAD_GROUP,
  XREAD_NEW_ID,
  XREAD_NOACK,
  XREAD_UNBALANCED,
  XREADGROUP_LAST_ID,
  XREADGROUP_NO_GROUP,
} from "../../core/rare-errors.ts";
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
  /** The keys, each with the word for its id. */
  readonly streams: readonly { readonly name: string; readonly idWord: string }[];
  /** 0 for all. */
  readonly count: number;
  /** undefined without BLOCK. */
  readonly blockMs: number | undefined;
  readonly group: string | undefined;
  readonly consumer: string;
  readonly noAck: boolean;
}

interface GroupReadOptions extends ReadOptions {
  readonly group: string;
}

/** A stream to read, and the id to read behind. */
interface Place {
  readonly name: string;
  readonly id: Id;
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
      if (behalfOf !== null) throw blockInScript(args.at(0));
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
  return { streams: pairUp(words), count, blockMs, group, consumer, noAck };
}

/** Keys, then as many ids. Where the words are odd in number, the last key has none. */
function pairUp(words: readonly string[]): ReadOptions["streams"] {
  const half = Math.ceil(words.length / 2);
  return words.slice(0, half).map((name, i) => {
    const idWord = words[half + i];
    if (idWord === undefined) throw XREAD_UNBALANCED;
    return { name, idWord };
  });
}

function readGroupOptions(client: Client, args: Args): GroupReadOptions {
  const options = readOptions(client, args, true);
  const { group } = options;
  if (group === undefined) throw XREADGROUP_NO_GROUP;
  return { ...options, group };
}

/** The places to read at, once it is sure that every key is a stream and has the group. */
function resolvePlaces({ db }: Client, { streams, group }: ReadOptions): Place[] {
  return streams.map(({ name, idWord }) => {
    const stream = db.get(name, StreamValue);
    if (group !== undefined && !stream?.groups.has(group)) throw noKeyOrGroup(name, group, IN_XREADGROUP);
    return { name, id: resolveId(idWord, stream, group !== undefined) };
  });
}

function resolveId(word: string, stream: StreamValue | undefined, isGroupRead: boolean): Id {
  if (word === "$") {
    if (isGroupRead) throw XREADGROUP_LAST_ID;
    return stream?.lastId ?? MIN_ID;
  }
  if (word === ">") {
    if (!isGroupRead) throw XREAD_NEW_ID;
    return NEW;
  }
  const id = parseId(word);
  if (id === undefined) throw BAD_STREAM_ID;
  return id;
}

/** Streams with their entries: pairs in RESP2, a map in RESP3. */
function streamsReply(client: Client, pairs: [name: string, entries: Reply[]][]): Reply {
  if (client.protocol === 3) return new MapReply(pairs.flat());
  return pairs;
}

/** What has arrived in the streams at these keys when a client begins to wait. */
function arrivalsOf({ db }: Client, keys: readonly string[]): Map<string, number> {
  const arrivals = new Map<string, number>();
  for (const name of keys) {
    const stream = db.peek(name);
    arrivals.set(name, stream instanceof StreamValue ? stream.arrival : -1);
  }
  return arrivals;
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
  const { count } = options;
  const places = resolvePlaces(client, options);
  const found: [string, Reply[]][] = [];
  for (const { name, id } of places) {
    const stream = db.get(name, StreamValue);
    if (stream === undefined || stream.size === 0 || stream.lastLivingId <= id) continue;
    found.push([name, entriesBehind(stream, id, count)]);
  }
  if (found.length > 0) return streamsReply(client, found);
  if (options.blockMs === undefined) return NIL_ARRAY;
  const keys = places.map(({ name }) => name);
  const known = arrivalsOf(client, keys);
  return client.block({
    type: "stream",
    keys,
    timeoutMs: options.blockMs,
    nothing: NIL_ARRAY,
    serve: (name) => {
      const stream = client.db.peek(name);
      const place = places.find((each) => each.name === name);
      if (place === undefined || !(stream instanceof StreamValue)) return undefined;
      if (stream.arrival === known.get(name)) return undefined;
      known.set(name, stream.arrival);
      if (stream.lastId <= place.id) return undefined;
      return streamsReply(client, [[name, entriesBehind(stream, place.id, count || COUNT_AFTER_WAIT)]]);
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
  const start = idAfter(id);
  if (start === undefined) return entries;
  const now = client.engine.clock.now();
  for (const delivery of consumer.pending.from(start)) {
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
  { name, id }: Place,
  options: GroupReadOptions,
  effects: GroupEffects,
): Reply[] | undefined {
  const { count, noAck } = options;
  let entries: Reply[] | undefined;
  client.db.tend(name, StreamValue, undefined, (stream) => {
    const group = stream.groups.get(options.group);
    if (group === undefined) throw noKeyOrGroup(name, options.group, IN_XREADGROUP);
    if (id === NEW && (stream.size === 0 || stream.lastLivingId <= group.lastId)) return 0;
    const { consumer, changes } = readingConsumer(client, name, group, options, effects);
    const read = { client, name, stream, group, consumer, count, noAck, effects };
    entries = id === NEW ? deliverNew(read) : deliverAgain(read, id);
    return changes + 1;
  });
  return entries;
}

function xreadgroup(client: Client, args: Args): Reply {
  const options = readGroupOptions(client, args);
  const places = resolvePlaces(client, options);
  const effects = new GroupEffects(client);
  const found: [string, Reply[]][] = [];
  for (const place of places) {
    if (client.db.get(place.name, StreamValue) === undefined) continue;
    const entries = readForGroup(client, place, options, effects);
    if (entries !== undefined) found.push([place.name, entries]);
  }
  effects.say();
  if (found.length > 0) return streamsReply(client, found);
  if (options.blockMs === undefined) return NIL_ARRAY;
  const keys = places.map(({ name }) => name);
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
function serveGroup(
  client: Client,
  name: string,
  options: GroupReadOptions,
  known: Map<string, number>,
): Reply | undefined {
  const stream = client.db.peek(name);
  if (!(stream instanceof StreamValue)) throw STREAM_GONE;
  const group = stream.groups.get(options.group);
  if (group === undefined) throw GROUP_GONE;
  if (stream.arrival === known.get(name)) return undefined;
  known.set(name, stream.arrival);
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
  return streamsReply(client, [[name, entries]]);
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
