/** MULTI, EXEC and WATCH. Queueing itself is the engine's (engine.ts). */
import { type Client, type QueuedCommand, WatchedKey } from "../../core/client.ts";
import {
  DISCARD_WITHOUT_MULTI,
  EXEC_WITHOUT_MULTI,
  EXECABORT,
  NESTED_MULTI,
  WATCH_INSIDE_MULTI,
} from "../../core/errors.ts";
import { NIL_ARRAY, OK, type Reply } from "../../core/reply.ts";
import { group, keysFrom } from "../../table/command.ts";

function exec(client: Client): Reply {
  const queue = client.multi;
  if (queue === null) throw EXEC_WITHOUT_MULTI;
  const aborted = client.multiAborted;
  const broken = client.watchBroken || client.watched.some(({ hasExpired }) => hasExpired);
  client.discard();
  if (aborted) throw EXECABORT;
  if (broken) return NIL_ARRAY;
  const replies: Reply[] = [];
  client.inTransaction = true;
  client.transaction = { queue, replies };
  try {
    for (const queued of queue) replies.push(runQueued(client, queued));
    return replies;
  } finally {
    client.inTransaction = false;
    client.transaction = null;
  }
}

/** What a client may do can have changed since the command was queued. */
function runQueued(client: Client, { command, argv }: QueuedCommand): Reply {
  const { engine } = client;
  const refusal = client.user.limited ? engine.acl.execRefusal(client, command, argv) : null;
  if (refusal === null) return engine.call(client, command, argv);
  engine.stats.countError(refusal.code);
  return refusal;
}

export const transactions = group("transactions", [
  {
    name: "multi",
    arity: 1,
    flags: ["noscript", "loading", "stale", "fast", "allow_busy"],
    runsInsideMulti: true,
    since: "1.2.0",
    summary: "Starts a transaction: the commands that follow are queued until EXEC.",
    syntax: "",
    reply: '"OK"',
    ownConnection: true,
    complexity: "O(1)",
    run(client) {
      if (client.multi !== null) throw NESTED_MULTI;
      client.multi = [];
      return OK;
    },
  },
  {
    name: "exec",
    arity: 1,
    flags: ["noscript", "loading", "stale", "skip_slowlog"],
    runsInsideMulti: true,
    runsQueue: true,
    since: "1.2.0",
    summary: "Runs the queued commands as one step, unless a watched key has changed.",
    syntax: "",
    reply: "Reply[] | null",
    ownConnection: true,
    complexity: "that of the queued commands",
    run: exec,
  },
  {
    name: "discard",
    arity: 1,
    flags: ["noscript", "loading", "stale", "fast", "allow_busy"],
    runsInsideMulti: true,
    since: "2.0.0",
    summary: "Drops the queued commands and the watched keys.",
    syntax: "",
    reply: '"OK"',
    ownConnection: true,
    complexity: "O(N) in the number of queued commands",
    run(client) {
      if (client.multi === null) throw DISCARD_WITHOUT_MULTI;
      client.discard();
      return OK;
    },
  },
  {
    name: "watch",
    arity: -2,
    flags: ["noscript", "loading", "stale", "fast", "allow_busy"],
    keys: [keysFrom(["RO"])],
    runsInsideMulti: true,
    since: "2.2.0",
    summary: "Makes the next EXEC fail if one of these keys changes before it.",
    syntax: "key [key ...]",
    reply: '"OK"',
    ownConnection: true,
    complexity: "O(1) for each key",
    run(client, args) {
      if (client.multi !== null) throw WATCH_INSIDE_MULTI;
      const { db } = client;
      for (const key of args.rest()) {
        if (client.watched.some((watched) => watched.db === db && watched.key === key)) continue;
        const watched = new WatchedKey(client, db, key);
        client.watched.push(watched);
        db.watchers.add(key, watched);
      }
      return OK;
    },
  },
  {
    name: "unwatch",
    arity: 1,
    flags: ["noscript", "loading", "stale", "fast", "allow_busy"],
    since: "2.2.0",
    summary: "Forgets all watched keys.",
    syntax: "",
    reply: '"OK"',
    ownConnection: true,
    complexity: "O(1)",
    run(client) {
      client.unwatch();
      return OK;
    },
  },
]);
