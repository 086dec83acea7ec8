/** What concerns whole databases, and the time. What concerns the process and the people who run it is in operation.ts. */

import type { Client } from "../../core/client.ts";
import type { Db } from "../../core/db.ts";
import { BAD_DB_INDEX, BAD_FIRST_DB, BAD_SECOND_DB, notInCluster, type ReplyError, SYNTAX } from "../../core/errors.ts";
import { OK, type Reply } from "../../core/reply.ts";
import type { Args } from "../../table/args.ts";
import { group } from "../../table/command.ts";

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

export const server = group("server", [
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
