/**
 * Streams: adding, reading by id, trimming. Reading as a follower is in stream-read.ts, consumer groups are in
 * stream-groups.ts, what they have delivered in stream-pending.ts, XINFO in stream-info.ts.
 */

import type { Client } from "../../core/client.ts";
import { NO_SUCH_KEY, NOT_AN_INTEGER, SYNTAX, wrongArity } from "../../core/errors.ts";
import {
  BAD_STREAM_ID,
  STREAM_EXHAUSTED,
  XADD_SMALL_ID,
  XADD_TOO_LARGE,
  XADD_ZERO_ID,
  XSETID_BELOW_GIVEN_DELETED,
  XSETID_BELOW_TOP,
  XSETID_FEW_ADDED,
  XSETID_NEGATIVE_ADDED,
  XTRIM_NO_STRATEGY,
} from "../../core/rare-errors.ts";
import { EMPTY, NIL_ARRAY, OK, type Reply } from "../../core/reply.ts";
import { parseInt64 } from "../../lib/numbers.ts";
import type { Args } from "../../table/args.ts";
import { group, key, READ_KEY, type Row } from "../../table/command.ts";
import { byBorders } from "../../table/shares.ts";
import {
  type Counter,
  formatId,
  HALF_MAX,
  type Id,
  idAfter,
  MAX_ID,
  MIN_ID,
  makeId,
  msOf,
  parseId,
  StreamValue,
  seqOf,
} from "../../types/stream/index.ts";
import { applyTrim, exactTrim, readEnd, readId, readStart, readTrimOptions, type TrimOptions } from "./stream-args.ts";
import { groupRows } from "./stream-groups.ts";
import { infoRows } from "./stream-info.ts";
import { pendingRows } from "./stream-pending.ts";
import { readEntries, readRows } from "./stream-read.ts";

const UPDATE_KEY = [key(["RW", "update"])];
const DELETE_KEY = [key(["RW", "delete"])];

// ------------------------------------------------------------------------------------------------ XADD

/** More bytes than a node can hold. */
const MAX_ENTRY_BYTES = 1 << 30;

type GivenId = NonNullable<TrimOptions["id"]>;

/** The id for a new entry by what XADD was given. */
function chooseId(stream: StreamValue, given: GivenId | undefined, nowMs: number): Id {
  if (given !== undefined && stream.lastId !== MAX_ID) return idAsGiven(stream.lastId, given);
  const id = stream.nextId(nowMs);
  if (id === undefined) throw STREAM_EXHAUSTED;
  return id;
}

function idAsGiven(lastId: Id, { ms, seq }: GivenId): Id {
  if (seq !== -1) {
    const id = makeId(ms, seq);
    if (id <= lastId) throw XADD_SMALL_ID;
    return id;
  }
  const lastMs = msOf(lastId);
  if (ms < lastMs) throw XADD_SMALL_ID;
  if (ms > lastMs) return makeId(ms, 0);
  // Redis reports a used-up sequence by this text too.
  const id = seqOf(lastId) === HALF_MAX ? undefined : idAfter(lastId);
  if (id === undefined) throw XADD_TOO_LARGE;
  return id;
}

function checkEntrySize(argv: readonly string[], from: number): void {
  let bytes = 0;
  for (let i = from; i < argv.length; i++) bytes += argv[i]!.length;
  if (bytes > MAX_ENTRY_BYTES) throw XADD_TOO_LARGE;
}

function xadd(client: Client, args: Args): Reply {
  const { db, engine } = client;
  const { argv } = args;
  const name = args.next();
  const options = readTrimOptions(args, true, engine.limits);
  const { trim, id: given } = options;
  const words = args.left;
  const from = argv.length - words;
  if (words < 2 || (words & 1) === 1) throw wrongArity("xadd");
  if (given !== undefined && given.ms === 0 && given.seq === 0) throw XADD_ZERO_ID;
  if (options.noMakeStream && db.peekAs(name, StreamValue) === undefined) return null;
  let reply = "";
  let trimmed = 0;
  db.edit(name, StreamValue, "xadd", (stream) => {
    const id = chooseId(stream, given, engine.clock.now());
    checkEntrySize(argv, from);
    stream.add(id, argv, from, engine.limits);
    if (trim !== undefined) trimmed = applyTrim(stream, trim);
    reply = formatId(id);
    if (client.propagate.heard) client.propagate.asXadd(name, addOptions(stream, options), reply, args.rest());
    return 1;
  });
  if (trimmed > 0) db.notify("xtrim", name, "t");
  return reply;
}

/** XADD's options for others, who must not choose a place to trim at by themselves. */
function addOptions(stream: StreamValue, { trim, noMakeStream }: TrimOptions): string[] {
  const options: string[] = [];
  if (noMakeStream) options.push("NOMKSTREAM");
  if (trim?.whole) options.push(...exactTrim(stream, trim));
  else if (trim?.kind === "minid") options.push("MINID", "=", formatId(trim.minId));
  else if (trim !== undefined) options.push("MAXLEN", "=", String(trim.maxLength));
  return options;
}

// ------------------------------------------------------------------------------------------------ XRANGE

function range({ db }: Client, args: Args, reverse: boolean): Reply {
  const [name, from, to] = args.take(3);
  const start = readStart(reverse ? to : from);
  const end = readEnd(reverse ? from : to);
  let count: number | undefined;
  while (args.more) {
    if (!args.accept("count")) throw SYNTAX;
    count = Math.max(0, args.int());
  }
  const stream = db.get(name, StreamValue);
  if (stream === undefined) return EMPTY;
  if (count === 0) return NIL_ARRAY;
  return start > end ? EMPTY : readEntries(stream.cursor(start, end, reverse), count ?? 0);
}

// ------------------------------------------------------------------------------------------------ XDEL, XTRIM

function xdel({ db }: Client, args: Args): Reply {
  const name = args.next();
  if (db.peekAs(name, StreamValue) === undefined) return 0;
  const ids = args.rest().map(readId);
  return db.amend(name, StreamValue, "xdel", (stream) => {
    let deleted = 0;
    for (const id of ids) if (stream.delete(id)) deleted++;
    return deleted;
  });
}

function xtrim(client: Client, args: Args): Reply {
  const name = args.next();
  const { trim } = readTrimOptions(args, false, client.engine.limits);
  if (trim === undefined) throw XTRIM_NO_STRATEGY;
  return client.db.amend(name, StreamValue, "xtrim", (stream) => {
    const removed = applyTrim(stream, trim);
    if (removed > 0 && trim.whole) client.propagate.asXtrim(name, exactTrim(stream, trim));
    return removed;
  });
}

// ------------------------------------------------------------------------------------------------ XSETID

function xsetid(client: Client, args: Args): Reply {
  const { db } = client;
  const name = args.next();
  const id = readId(args.next());
  let added: Counter | undefined;
  let maxDeleted: Id = MIN_ID;
  while (args.more) {
    const option = args.option();
    if (!args.more) throw SYNTAX;
    if (option === "entriesadded") {
      added = parseInt64(args.next());
      if (added === undefined) throw NOT_AN_INTEGER;
      if (added < 0) throw XSETID_NEGATIVE_ADDED;
    } else if (option === "maxdeletedid") {
      const given = parseId(args.next());
      if (given === undefined) throw BAD_STREAM_ID;
      maxDeleted = given;
      if (id < maxDeleted) throw XSETID_BELOW_GIVEN_DELETED;
    } else throw SYNTAX;
  }
  const stream = db.peekAs(name, StreamValue);
  if (stream === undefined) throw NO_SUCH_KEY;
  if (stream.size > 0) {
    if (id < stream.lastLivingId) throw XSETID_BELOW_TOP;
    if (added !== undefined && added < stream.size) throw XSETID_FEW_ADDED;
  }
  db.tend(name, StreamValue, "xsetid", () => {
    stream.lastId = id;
    if (added !== undefined) stream.entriesAdded = added;
    if (maxDeleted !== MIN_ID) stream.maxDeletedId = maxDeleted;
    return 1;
  });
  return OK;
}

// ------------------------------------------------------------------------------------------------ rows

const ADD_SYNTAX =
  "key [NOMKSTREAM] [<MAXLEN | MINID> [= | ~] threshold [LIMIT count]] <* | id> field value [field value ...]";

const rows: readonly Row[] = [
  {
    name: "xadd",
    arity: -5,
    flags: ["write", "denyoom", "fast"],
    keys: [
      {
        ...key(["RW", "update"]),
        notes: "UPDATE instead of INSERT because of the optional trimming feature",
      },
    ],
    tips: ["nondeterministic_output"],
    since: "5.0.0",
    summary: "Appends an entry to a stream, making the stream if needed and trimming it if asked.",
    syntax: ADD_SYNTAX,
    reply: "string | null",
    complexity: "O(1), plus O(N) for N entries that trimming removes",
    run: xadd,
  },
  {
    name: "xlen",
    arity: 2,
    flags: ["readonly", "fast"],
    keys: [key(["RO"])],
    since: "5.0.0",
    summary: "Counts the entries of a stream.",
    syntax: "key",
    reply: "number",
    complexity: "O(1)",
    run: ({ db }, args) => db.get(args.next(), StreamValue)?.size ?? 0,
  },
  {
    name: "xrange",
    arity: -4,
    flags: ["readonly"],
    keys: READ_KEY,
    builds: byBorders,
    since: "5.0.0",
    summary: "Returns the entries between two ids, oldest first.",
    syntax: "key start end [COUNT count]",
    reply: "Entry[]",
    complexity: "O(log(B) + M) for M entries returned from a stream of B blocks",
    run: (client, args) => range(client, args, false),
  },
  {
    name: "xrevrange",
    arity: -4,
    flags: ["readonly"],
    keys: READ_KEY,
    builds: byBorders,
    since: "5.0.0",
    summary: "Returns the entries between two ids, newest first.",
    syntax: "key end start [COUNT count]",
    reply: "Entry[]",
    complexity: "O(log(B) + M) for M entries returned from a stream of B blocks",
    run: (client, args) => range(client, args, true),
  },
  {
    name: "xdel",
    arity: -3,
    flags: ["write", "fast"],
    keys: DELETE_KEY,
    since: "5.0.0",
    summary: "Deletes entries by their ids and says how many there were.",
    syntax: "key id [id ...]",
    reply: "number",
    complexity: "O(log(B)) per id in a stream of B blocks",
    run: xdel,
  },
  {
    name: "xtrim",
    arity: -4,
    flags: ["write"],
    keys: DELETE_KEY,
    tips: ["nondeterministic_output"],
    since: "5.0.0",
    summary: "Removes the oldest entries, down to a length or up to an id.",
    syntax: "key <MAXLEN | MINID> [= | ~] threshold [LIMIT count]",
    reply: "number",
    complexity: "O(N) for N entries removed; whole blocks count as one",
    run: xtrim,
  },
  {
    name: "xsetid",
    arity: -3,
    flags: ["write", "denyoom", "fast"],
    keys: UPDATE_KEY,
    since: "5.0.0",
    summary: "Sets a stream's last id and its counters; meant for files and replicas.",
    syntax: "key last-id [ENTRIESADDED entries-added] [MAXDELETEDID max-deleted-id]",
    reply: '"OK"',
    complexity: "O(1)",
    run: xsetid,
  },
];

export const streams = group("stream", [...rows, ...readRows, ...groupRows, ...pendingRows, ...infoRows]);
