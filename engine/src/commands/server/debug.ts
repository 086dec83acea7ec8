/** DEBUG: what tests and people who look for faults need. Off unless enable-debug-command allows it. */

import { parseMemory } from "../../config/kinds.ts";
import type { Client } from "../../core/client.ts";
import { NO_SUCH_KEY, subcommandSyntax } from "../../core/errors.ts";
import {
  BAD_PACKED_THRESHOLD,
  BAD_PROTOCOL_TYPE,
  BAD_RELOAD_OPTION,
  chosenError,
  DEBUG_NOT_ALLOWED,
  HTSTATS_RANGE,
  LOADAOF_FAILED,
  NOT_A_HASH_TABLE,
  NOT_A_LISTPACK,
  NOT_A_QUICKLIST,
  PLAIN_ERROR,
  RELOAD_FAILED,
  RESP2_UNSUPPORTED,
} from "../../core/rare-errors.ts";
import {
  BigNumber,
  Double,
  MapReply,
  OK,
  Push,
  Replies,
  type Reply,
  SetReply,
  Status,
  Verbatim,
  WithAttributes,
} from "../../core/reply.ts";
import { PEAK_RESET_MS } from "../../core/reply-room.ts";
import { formatFixed } from "../../lib/numbers.ts";
import { quoteWord } from "../../lib/quote.ts";
import { digestOfAll, digestOfValue } from "../../observe/debug-digest.ts";
import { bytesOfNodes } from "../../persist/rdb/list-writer.ts";
import { serializedLength } from "../../persist/rdb/payload.ts";
import { reloadAof, reloadRdb } from "../../persist/reload.ts";
import { stall } from "../../platform/stall.ts";
import type { Args } from "../../table/args.ts";
import { group } from "../../table/command.ts";
import { encodingOf } from "../../types/bytes.ts";
import { isCollection } from "../../types/kind.ts";
import { ListValue } from "../../types/list/index.ts";
import type { Value } from "../../types/value.ts";
import { helpReply } from "../shared/help.ts";
import { isAllowed } from "../shared/permission.ts";
import { rewriteConfig } from "./rewrite-config.ts";

interface Subcommand {
  /** How many words it takes behind its name: at least, at most. */
  readonly words: readonly [number, number];
  readonly call: string;
  readonly does: string;
  readonly run: (client: Client, args: Args) => Reply;
}

const ANY = Number.POSITIVE_INFINITY;

/** C's atoi: what is not a number is 0. */
const atoi = (args: Args) => Number.parseInt(args.next(), 10) || 0;
const flag = (args: Args) => atoi(args) > 0;

/** As it lies in the table, also when its time has come. */
function existing({ db }: Client, key: string): Value {
  const value = db.keyspace.get(key);
  if (value === undefined) throw NO_SUCH_KEY;
  return value;
}

function object(client: Client, args: Args): Reply {
  const key = args.next();
  const value = existing(client, key);
  const { eviction, stamps, config } = client.engine;
  const stamp = client.db.keyspace.stampOf(key)!;
  const shared = typeof value === "number" && value >= 0 && value < 10_000 && eviction.sharesIntegers;
  const parts = [
    "Value at:0x000000000000",
    `refcount:${shared ? 2147483647 : 1}`,
    `encoding:${isCollection(value) ? value.encoding : encodingOf(value)}`,
    `serializedlength:${serializedLength(value, config.values.rdbcompression)}`,
    `lru:${stamp}`,
    `lru_seconds_idle:${stamps.lfu ? 0 : stamps.idleSeconds(stamp)}`,
  ];
  if (value instanceof ListValue) parts.push(...nodesOf(value));
  return new Status(parts.join(" "));
}

function nodesOf(list: ListValue): string[] {
  const nodes = list.nodes().length;
  return [
    `ql_nodes:${nodes}`,
    `ql_avg_node:${formatFixed(list.size / nodes, 2)}`,
    `ql_listpack_max:${list.fill}`,
    "ql_compressed:0",
    `ql_uncompressed_size:${bytesOfNodes(list)}`,
  ];
}

function populate(client: Client, args: Args): Reply {
  const { db } = client;
  const count = args.count();
  const prefix = args.more ? args.next() : "key";
  const size = args.more ? args.count() : 0;
  for (let i = 0; i < count; i++) {
    const key = `${prefix}:${i}`;
    if (db.exists(key)) continue;
    const value = `value:${i}`;
    db.put(key, size === 0 ? value : value.slice(0, size).padEnd(size, "\0"), { changes: 0 });
  }
  return OK;
}

function tableStats(title: string, dict: { readonly size: number; readonly sizeBytes: number }): string {
  return `[${title}]\n number of elements: ${dict.size}\n bytes of tables: ${dict.sizeBytes}\n`;
}

function htstats({ engine }: Client, args: Args): Reply {
  const index = args.int();
  const db = engine.databases[index];
  if (db === undefined) throw HTSTATS_RANGE;
  return new Verbatim(tableStats("Dictionary HT", db.keyspace) + tableStats("Expires HT", db.expires));
}

function htstatsKey(client: Client, args: Args): Reply {
  const value = existing(client, args.next());
  if (!isCollection(value) || (value.encoding !== "hashtable" && value.encoding !== "skiplist")) throw NOT_A_HASH_TABLE;
  return new Verbatim(tableStats("Dictionary HT", value));
}

function listpack(client: Client, args: Args): Reply {
  const value = existing(client, args.next());
  if (!isCollection(value) || value.encoding !== "listpack") throw NOT_A_LISTPACK;
  return new Status("Listpack structure printed on stdout");
}

function quicklist(client: Client, args: Args): Reply {
  const key = args.next();
  const value = existing(client, key);
  if (!(value instanceof ListValue)) throw NOT_A_QUICKLIST;
  client.engine.log("notice", `DEBUG QUICKLIST: words in each node of ${quoteWord(key)}: ${value.nodes().join(" ")}`);
  return new Status("Quicklist structure printed on stdout");
}

/** One reply of each kind, for authors of clients. */
function protocol(client: Client, args: Args): Reply {
  switch (args.option()) {
    case "string":
      return "Hello World";
    case "integer":
      return 12345;
    case "double":
      // biome-ignore lint/suspicious/noApproximativeNumericConstant: the very digits that Redis answers
      return new Double(3.141);
    case "null":
      return null;
    case "array":
      return [0, 1, 2];
    case "set":
      return new SetReply([0, 1, 2]);
    case "map":
      return new MapReply([0, false, 1, true, 2, false]);
    case "attrib":
      return new WithAttributes(
        new MapReply(["key-popularity", ["key:123", 90]]),
        "Some real reply following the attribute",
      );
    case "push":
      if (client.protocol === 2) throw RESP2_UNSUPPORTED;
      return new Replies([new Push(["server-cpu-usage", 42]), "Some real reply following the push reply"]);
    case "true":
      return true;
    case "false":
      return false;
    case "verbatim":
      return new Verbatim("This is a verbatim\nstring");
    case "bignum":
      return new BigNumber("1234567999999999999999999999999999999");
    default:
      throw BAD_PROTOCOL_TYPE;
  }
}

/** Accepted, since test suites call it; there are no plain and packed nodes to choose between here. */
function packedThreshold(args: Args): Reply {
  const bytes = parseMemory(args.next());
  if (bytes === undefined || bytes > 4 * 1024 ** 3) throw BAD_PACKED_THRESHOLD;
  return OK;
}

function replyBuffer({ engine }: Client, args: Args): Reply {
  const what = args.option();
  if (what === "resizing") engine.replyRooms.resizing = flag(args);
  else if (what === "peak-reset-time") {
    const time = args.next().toLowerCase();
    engine.replyRooms.peakResetMs =
      time === "never" ? -1 : time === "reset" ? PEAK_RESET_MS : Number.parseInt(time, 10);
  } else throw subcommandSyntax(args.argv[1]!, "DEBUG");
  return OK;
}

function reload(client: Client, args: Args): Reply {
  const words = args.rest().map((word) => word.toLowerCase());
  if (words.some((word) => word !== "merge" && word !== "noflush" && word !== "nosave")) throw BAD_RELOAD_OPTION;
  const said = (word: string) => words.includes(word);
  client.propagate.asNothing();
  const options = { save: !said("nosave"), flush: !said("noflush"), merge: said("merge") };
  const outcome = reloadRdb(client.engine, options);
  if (outcome === "unsaved") throw PLAIN_ERROR;
  if (outcome === "failed") throw RELOAD_FAILED;
  return OK;
}

function loadAof(client: Client): Reply {
  client.propagate.asNothing();
  if (!reloadAof(client.engine)) throw LOADAOF_FAILED;
  return OK;
}

const SUBCOMMANDS: Readonly<Record<string, Subcommand>> = {
  "aof-flush-sleep": {
    words: [1, 1],
    call: "AOF-FLUSH-SLEEP <microseconds>",
    does: "Stops everything for so long before the append-only file is written.",
    run({ engine }, args) {
      engine.persistence.aof.appender.delayMs = Math.max(0, atoi(args)) / 1000;
      return OK;
    },
  },
  "change-repl-id": {
    words: [0, 0],
    call: "CHANGE-REPL-ID",
    does: "Begins a new replication history: replicas need everything when they come back.",
    run({ engine }) {
      engine.replication.changeId();
      return OK;
    },
  },
  "config-rewrite-force-all": {
    words: [0, 0],
    call: "CONFIG-REWRITE-FORCE-ALL",
    does: "Like CONFIG REWRITE, and writes directives that have their default too.",
    run: ({ engine }) => rewriteConfig(engine, true),
  },
  digest: {
    words: [0, 0],
    call: "DIGEST",
    does: "A signature of all data, the same as Redis's for the same data.",
    run: ({ engine }) => new Status(digestOfAll(engine.databases)),
  },
  "digest-value": {
    words: [0, ANY],
    call: "DIGEST-VALUE <key> [<key> ...]",
    does: "A signature of each of these values.",
    run: ({ db }, args) => args.rest().map((key) => new Status(digestOfValue(db, key))),
  },
  error: {
    words: [1, 1],
    call: "ERROR <string>",
    does: "Answers with this error.",
    run(_client, args) {
      throw chosenError(args.next());
    },
  },
  htstats: {
    words: [1, 1],
    call: "HTSTATS <dbid>",
    does: "Figures of a database's hash tables.",
    run: htstats,
  },
  "htstats-key": {
    words: [1, 1],
    call: "HTSTATS-KEY <key>",
    does: "Figures of the hash table of a value.",
    run: htstatsKey,
  },
  listpack: {
    words: [1, 1],
    call: "LISTPACK <key>",
    does: "Tells whether a value is packed.",
    run: listpack,
  },
  loadaof: {
    words: [0, 0],
    call: "LOADAOF",
    does: "Puts what the append-only file says in the place of all data.",
    run: loadAof,
  },
  log: {
    words: [1, 1],
    call: "LOG <message>",
    does: "Writes a message to the log.",
    run({ engine }, args) {
      engine.log("warning", `DEBUG LOG: ${args.next()}`);
      return OK;
    },
  },
  object: {
    words: [1, 1],
    call: "OBJECT <key>",
    does: "How a value is kept.",
    run: object,
  },
  "pause-cron": {
    words: [1, 1],
    call: "PAUSE-CRON <0|1>",
    does: "Stops housekeeping, or lets it go on.",
    run({ engine }, args) {
      engine.cronPaused = flag(args);
      return OK;
    },
  },
  populate: {
    words: [1, 3],
    call: "POPULATE <count> [<prefix>] [<size>]",
    does: "Makes this many string keys.",
    run: populate,
  },
  protocol: {
    words: [1, 1],
    call: "PROTOCOL <type>",
    does: "Answers with a reply of this kind.",
    run: protocol,
  },
  quicklist: {
    words: [1, 2],
    call: "QUICKLIST <key> [<0|1>]",
    does: "Logs how many words each node of a list has in a file.",
    run: quicklist,
  },
  "quicklist-packed-threshold": {
    words: [1, 1],
    call: "QUICKLIST-PACKED-THRESHOLD <size>",
    does: "Accepted; lists have one kind of node here.",
    run: (_client, args) => packedThreshold(args),
  },
  reload: {
    words: [0, ANY],
    call: "RELOAD [MERGE] [NOFLUSH] [NOSAVE]",
    does: "Saves a snapshot and loads it in the place of all data. NOSAVE: the one that is there; NOFLUSH: beside the data; MERGE: keys of the file win.",
    run: reload,
  },
  replicate: {
    words: [1, ANY],
    call: "REPLICATE <command> [<arg> ...]",
    does: "Sends a command to the replicas without running it here.",
    run({ engine }, args) {
      const argv = args.rest();
      if (engine.replication.feeding) engine.replication.feed.say(argv);
      return OK;
    },
  },
  replybuffer: {
    words: [2, 2],
    call: "REPLYBUFFER PEAK-RESET-TIME <time> | RESIZING <0|1>",
    does: "Whether the room for a client's replies follows what it needs, and how long a peak counts.",
    run: replyBuffer,
  },
  "set-active-expire": {
    words: [1, 1],
    call: "SET-ACTIVE-EXPIRE <0|1>",
    does: "Whether keys that nobody asks for are removed when their time has come.",
    run({ engine }, args) {
      engine.expiry.enabled = flag(args);
      return OK;
    },
  },
  "set-disable-deny-scripts": {
    words: [1, 1],
    call: "SET-DISABLE-DENY-SCRIPTS <0|1>",
    does: "Lets scripts call commands that they may not call.",
    run({ engine }, args) {
      engine.allowDeniedInScripts = flag(args);
      return OK;
    },
  },
  "set-skip-checksum-validation": {
    words: [1, 1],
    call: "SET-SKIP-CHECKSUM-VALIDATION <0|1>",
    does: "Takes snapshots and payloads whose checksum is wrong.",
    run({ engine }, args) {
      engine.skipsChecksums = flag(args);
      return OK;
    },
  },
  sleep: {
    words: [1, 1],
    call: "SLEEP <seconds>",
    does: "Stops everything for a while.",
    run(_client, args) {
      stall(Number.parseFloat(args.next()) * 1000);
      return OK;
    },
  },
};

export const debugging = group("server", [
  {
    name: "debug",
    arity: -2,
    flags: ["admin", "noscript", "loading", "stale"],
    wholeDatabases: true,
    since: "1.0.0",
    summary: "Helps to find faults.",
    syntax: "subcommand [argument ...]",
    reply: "Reply",
    complexity: "depends on the subcommand",
    run(client, args) {
      if (!isAllowed(client, client.engine.config.values["enable-debug-command"])) throw DEBUG_NOT_ALLOWED;
      const name = args.next();
      const lower = name.toLowerCase();
      if (lower === "help" && !args.more) {
        return helpReply(
          "debug",
          Object.values(SUBCOMMANDS).map(({ call, does }): [string, string] => [call, does]),
        );
      }
      const found = Object.hasOwn(SUBCOMMANDS, lower) ? SUBCOMMANDS[lower] : undefined;
      if (found === undefined || args.left < found.words[0] || args.left > found.words[1]) {
        throw subcommandSyntax(name, "DEBUG");
      }
      return found.run(client, args);
    },
  },
]);
