/** Snapshots and rewrites on demand. What they do is in persist/. */

import type { Client } from "../../core/client.ts";
import { SYNTAX } from "../../core/errors.ts";
import {
  ANOTHER_JOB,
  PLAIN_ERROR,
  REWRITE_FAILED,
  REWRITE_IN_PROGRESS,
  SAVE_IN_PROGRESS,
} from "../../core/rare-errors.ts";
import { OK, type Reply, Status } from "../../core/reply.ts";
import type { Args } from "../../table/args.ts";
import type { Row } from "../../table/command.ts";

function bgsave({ engine, inTransaction }: Client, args: Args): Reply {
  const schedule = args.more;
  if (schedule && !args.accept("schedule")) throw SYNTAX;
  if (args.more) throw SYNTAX;
  const { persistence } = engine;
  if (persistence.saving) throw SAVE_IN_PROGRESS;
  // Inside a transaction a snapshot would show half of it.
  if (persistence.busy || inTransaction) {
    if (!schedule && !inTransaction) throw ANOTHER_JOB;
    persistence.saveScheduled = true;
    return new Status("Background saving scheduled");
  }
  if (!persistence.saveInBackground()) throw PLAIN_ERROR;
  return new Status("Background saving started");
}

function bgrewriteaof({ engine, inTransaction }: Client): Reply {
  const { persistence } = engine;
  const { aof } = persistence;
  if (persistence.rewriting) throw REWRITE_IN_PROGRESS;
  if (persistence.busy || inTransaction) {
    aof.rewriteScheduled = true;
    aof.consecutiveFailures = 0;
    return new Status("Background append only file rewriting scheduled");
  }
  if (!aof.rewrite()) throw REWRITE_FAILED;
  return new Status("Background append only file rewriting started");
}

export const persistence: readonly Row[] = [
  {
    name: "bgrewriteaof",
    arity: 1,
    flags: ["admin", "noscript", "no_async_loading"],
    since: "1.0.0",
    summary: "Makes the append-only file as short as the data allows, in the background.",
    syntax: "",
    reply: "string",
    complexity: "O(1) at once, O(N) with N keys in the background",
    run: (client) => bgrewriteaof(client),
  },
  {
    name: "bgsave",
    arity: -1,
    flags: ["admin", "noscript", "no_async_loading"],
    since: "1.0.0",
    summary: "Saves a snapshot to disk in the background.",
    syntax: "[SCHEDULE]",
    reply: "string",
    complexity: "O(1) at once, O(N) with N keys in the background",
    run: bgsave,
  },
  {
    name: "lastsave",
    arity: 1,
    flags: ["loading", "stale", "fast"],
    categories: ["admin", "dangerous"],
    tips: ["nondeterministic_output"],
    since: "1.0.0",
    summary: "Tells when data was last saved, in seconds since 1970.",
    syntax: "",
    reply: "number",
    complexity: "O(1)",
    run: ({ engine }) => engine.persistence.lastSaveAt,
  },
  {
    name: "save",
    arity: 1,
    flags: ["admin", "noscript", "no_async_loading", "no_multi"],
    since: "1.0.0",
    summary: "Saves a snapshot to disk while everybody waits.",
    syntax: "",
    reply: '"OK"',
    complexity: "O(N) with N keys",
    run({ engine }) {
      if (engine.persistence.saving) throw SAVE_IN_PROGRESS;
      if (!engine.persistence.save()) throw PLAIN_ERROR;
      return OK;
    },
  },
];
