/** The server group: what concerns whole databases, the process and the people who run it. */

import type { Client } from "../../core/client.ts";
import type { Db } from "../../core/db.ts";
import {
  BAD_DB_INDEX,
  BAD_FIRST_DB,
  BAD_SECOND_DB,
  NO_SHUTDOWN,
  notInCluster,
  type ReplyError,
  SHUTDOWN_FAILED,
  SYNTAX,
} from "../../core/errors.ts";
import { NO_REPLY, OK, type Reply, Verbatim } from "../../core/reply.ts";
import { REDIS_VERSION, VERSION } from "../../core/version.ts";
import type { Args } from "../../table/args.ts";
import { group } from "../../table/command.ts";
import { acl } from "./acl.ts";
import { config } from "./config.ts";
import { debug } from "./debug.ts";
import { latency } from "./latency.ts";
import { memory } from "./memory.ts";
import { persistence } from "./persistence.ts";
import { slowlog } from "./slowlog.ts";

/** ASYNC and SYNC make no difference here: what is let go of is collected in the background anyway. */
function flush(client: Client, args: Args, databases: readonly Db[]): Reply {
  const { engine } = client;
  let lazy = !args.more && engine.config.values["lazyfree-lazy-user-flush"];
  if (args.accept("async")) lazy = true;
  else if (args.more && !args.accept("sync")) throw SYNTAX;
  args.end();
  for (const db of databases) {
    if (lazy) engine.stats.lazyFreed += db.size;
    engine.effects.dirty += db.clear();
  }
  if (databases === client.engine.databases) client.engine.persistence.flushedAll();
  // Passed on even if there was nothing to remove: a replica or a file may still have something.
  client.propagate.asItself(args.argv);
  return OK;
}

function dbIndex(args: Args, error: ReplyError): number {
  return args.intBetween(-2147483648, 2147483647, error);
}

function swapdb({ engine }: Client, args: Args): Reply {
  if (engine.cluster !== null) throw notInCluster("SWAPDB");
  const first = dbIndex(args, BAD_FIRST_DB);
  const second = dbIndex(args, BAD_SECOND_DB);
  const a = engine.databases[first];
  const b = engine.databases[second];
  if (a === undefined || b === undefined) throw BAD_DB_INDEX;
  if (a !== b) a.swap(b);
  engine.effects.dirty++;
  return OK;
}

function shutdown(client: Client, args: Args): Reply {
  const { engine } = client;
  const wanted = new Set<string>();
  while (args.more) {
    const option = args.option();
    if (!["save", "nosave", "now", "force", "abort"].includes(option)) throw SYNTAX;
    wanted.add(option);
  }
  if ((wanted.has("abort") && wanted.size > 1) || (wanted.has("save") && wanted.has("nosave"))) throw SYNTAX;
  // One that waits for nobody is over before the next command is read.
  if (wanted.has("abort")) {
    const abort = engine.onShutdownAbort ?? (() => engine.replication.handover.abort());
    if (!abort()) throw NO_SHUTDOWN;
    return OK;
  }
  if (engine.scripts.running !== null && !wanted.has("nosave")) throw engine.scripts.busyError;
  if (engine.onShutdown === null) throw SHUTDOWN_FAILED;
  const save = wanted.has("save") ? true : wanted.has("nosave") ? false : undefined;
  const stopping = engine.onShutdown({ save, now: wanted.has("now"), force: wanted.has("force") });
  if (stopping === false) throw SHUTDOWN_FAILED;
  if (stopping === true) return NO_REPLY;
  void stopping.then((stopped) => {
    if (!stopped && !client.closed) engine.blocking.release(client, SHUTDOWN_FAILED);
  });
  return engine.blocking.park(client);
}

/** A crystal of cinnabar, different every day, and who we are. */
function lolwut({ engine }: Client, args: Args): Reply {
  if (args.accept("version") && args.more) args.int();
  const day = Math.floor(engine.now / 86_400_000);
  const shades = " .:-=+*#%@";
  const lines: string[] = [];
  for (let y = -8; y <= 8; y++) {
    let line = "";
    for (let x = -16; x <= 16; x++) {
      const edge = 1 - (Math.abs(x) / 16 + Math.abs(y) / 8);
      const facet = Math.abs(Math.sin(x * 0.35 + day) * Math.cos(y * 0.6 - day * 0.7));
      line += edge < 0 ? " " : shades[Math.min(9, 1 + Math.floor(facet * 8 + edge))];
    }
    lines.push(line.trimEnd());
  }
  return new Verbatim(`${lines.join("\n")}\nCinnabar ${VERSION}, Redis ver. ${REDIS_VERSION}\n`);
}

export const server = group("server", [
  acl,
  config,
  {
    name: "dbsize",
    arity: 1,
    flags: ["readonly", "fast"],
    categories: ["keyspace"],
    tips: ["request_policy:all_shards", "response_policy:agg_sum"],
    since: "1.0.0",
    summary: "Counts the keys of the database.",
    syntax: "",
    reply: "number",
    complexity: "O(1)",
    run: ({ db }) => db.size,
  },
  debug,
  {
    name: "flushall",
    arity: -1,
    flags: ["write"],
    categories: ["keyspace", "dangerous"],
    tips: ["request_policy:all_shards", "response_policy:all_succeeded"],
    wholeDatabases: true,
    since: "1.0.0",
    summary: "Removes all keys from all databases.",
    syntax: "[ASYNC | SYNC]",
    reply: '"OK"',
    complexity: "O(N) with N keys",
    run: (client, args) => flush(client, args, client.engine.databases),
  },
  {
    name: "flushdb",
    arity: -1,
    flags: ["write"],
    categories: ["keyspace", "dangerous"],
    tips: ["request_policy:all_shards", "response_policy:all_succeeded"],
    wholeDatabases: true,
    since: "1.0.0",
    summary: "Removes all keys from the database.",
    syntax: "[ASYNC | SYNC]",
    reply: '"OK"',
    complexity: "O(N) with N keys",
    run: (client, args) => flush(client, args, [client.db]),
  },
  {
    name: "info",
    arity: -1,
    flags: ["loading", "stale"],
    categories: ["dangerous"],
    tips: ["nondeterministic_output", "request_policy:all_shards", "response_policy:special"],
    since: "1.0.0",
    summary: "Shows figures about the server, section by section.",
    syntax: "[section [section ...]]",
    reply: "string",
    complexity: "O(1)",
    run: ({ engine }, args) => new Verbatim(engine.info(args.rest())),
  },
  latency,
  {
    name: "lolwut",
    arity: -1,
    flags: ["readonly", "fast"],
    since: "5.0.0",
    summary: "Draws something and tells the version.",
    syntax: "[VERSION version]",
    reply: "string",
    complexity: "O(1)",
    run: lolwut,
  },
  memory,
  ...persistence,
  {
    name: "shutdown",
    arity: -1,
    flags: ["admin", "noscript", "loading", "stale", "no_multi", "allow_busy"],
    since: "1.0.0",
    summary: "Stops the server.",
    syntax: "[NOSAVE | SAVE] [NOW] [FORCE] [ABORT]",
    reply: '"OK"',
    complexity: "O(N) with N keys when saving, otherwise O(1)",
    run: shutdown,
  },
  slowlog,
  {
    name: "swapdb",
    arity: 3,
    flags: ["write", "fast"],
    categories: ["keyspace", "dangerous"],
    wholeDatabases: true,
    since: "4.0.0",
    summary: "Exchanges two databases.",
    syntax: "index1 index2",
    reply: '"OK"',
    complexity: "O(N) with N clients that watch or wait for keys in them",
    run: swapdb,
  },
  {
    name: "time",
    arity: 1,
    flags: ["loading", "stale", "fast"],
    tips: ["nondeterministic_output"],
    since: "2.6.0",
    summary: "Tells the server's time: seconds, and microseconds within the second.",
    syntax: "",
    reply: "[string, string]",
    complexity: "O(1)",
    run({ engine }) {
      const micros = engine.nowMicros;
      return [String(Math.floor(micros / 1_000_000)), String(micros % 1_000_000)];
    },
  },
]);
