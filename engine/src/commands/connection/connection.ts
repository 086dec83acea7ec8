/** The connection itself: who it is, what it speaks, which database it sees. */

import type { Client } from "../../core/client.ts";
import { setClientName } from "../../core/client-name.ts";
import {
  BAD_DB_INDEX,
  BAD_PROTOCOL_NUMBER,
  helloSyntax,
  INT_OUT_OF_RANGE,
  NO_SUCH_PROTOCOL,
  NOAUTH_HELLO,
  notInCluster,
  SYNTAX,
  wrongArity,
} from "../../core/errors.ts";
import { MapReply, OK, PONG, type Reply, Status } from "../../core/reply.ts";
import { REDIS_VERSION } from "../../core/version.ts";
import type { Args } from "../../table/args.ts";
import { type Flag, group } from "../../table/command.ts";
import { redact, redactFrom } from "../shared/redact.ts";

const RESET = new Status("RESET");
/** May be called before AUTH. */
const OPEN: Flag[] = ["noscript", "loading", "stale", "fast", "no_auth", "allow_busy"];
const FAST: Flag[] = ["loading", "stale", "fast"];

function auth(client: Client, args: Args): Reply {
  const { argv } = args;
  redactFrom(client, argv, 1);
  if (argv.length > 3) throw SYNTAX;
  const { acl } = client.engine;
  if (argv.length === 2) acl.authenticateDefault(client, argv[1]!, argv[0]!);
  else acl.authenticate(client, argv[1]!, argv[2]!, argv[0]!);
  return OK;
}

/** The options act as they are read: a wrong one leaves those before it done, as in Redis. */
function hello(client: Client, args: Args): Reply {
  // Before anything can be wrong with the rest.
  args.argv.forEach((word, i) => {
    if (i >= 2 && word.toLowerCase() === "auth") redact(client, args.argv, i + 1, i + 2);
  });
  let protocol: 2 | 3 | undefined;
  if (args.more) {
    const version = args.int64(BAD_PROTOCOL_NUMBER);
    if (version !== 2 && version !== 3) throw NO_SUCH_PROTOCOL;
    protocol = version;
  }
  while (args.more) {
    const word = args.next();
    const option = word.toLowerCase();
    if (option === "auth" && args.left >= 2) {
      client.engine.acl.authenticate(client, args.next(), args.next(), args.argv[0]!);
    } else if (option === "setname" && args.more) setClientName(client, args.next());
    else throw helloSyntax(word);
  }
  if (!client.authenticated) throw NOAUTH_HELLO;
  if (protocol !== undefined) client.protocol = protocol;
  return new MapReply([
    "server",
    "redis",
    "version",
    REDIS_VERSION,
    "proto",
    client.protocol,
    "id",
    client.id,
    "mode",
    client.engine.cluster === null ? "standalone" : "cluster",
    "role",
    client.engine.replication.isReplica ? "replica" : "master",
    "modules",
    [],
  ]);
}

function reset(client: Client): Reply {
  const { engine } = client;
  engine.monitor.remove(client);
  engine.tracking.disable(client);
  client.discard();
  engine.pubsub.unsubscribeAll(client);
  client.db = engine.databases[0]!;
  client.protocol = 2;
  client.name = "";
  client.replyMode = "on";
  client.asking = "no";
  client.readsReplica = false;
  engine.acl.forget(client);
  return RESET;
}

function ping(client: Client, args: Args): Reply {
  if (args.left > 1) throw wrongArity("ping");
  const word = args.more ? args.next() : undefined;
  if (client.protocol === 2 && client.subscriptions > 0) return ["pong", word ?? ""];
  return word ?? PONG;
}

const INT_MAX = 2147483647;

function select(client: Client, args: Args): Reply {
  const index = args.int();
  if (index > INT_MAX || index < -INT_MAX - 1) throw INT_OUT_OF_RANGE;
  if (client.engine.cluster !== null && index !== 0) throw notInCluster("SELECT");
  const db = client.engine.databases[index];
  if (db === undefined) throw BAD_DB_INDEX;
  client.db = db;
  return OK;
}

export const connection = group("connection", [
  {
    name: "auth",
    arity: -2,
    flags: OPEN,
    since: "1.0.0",
    summary: "Lets the client in with a password.",
    syntax: "[username] password",
    reply: '"OK"',
    ownConnection: true,
    complexity: "O(1)",
    run: auth,
  },
  {
    name: "echo",
    arity: 2,
    flags: FAST,
    since: "1.0.0",
    summary: "Returns its argument.",
    syntax: "message",
    reply: "string",
    complexity: "O(1)",
    run: (_client, args) => args.next(),
  },
  {
    name: "hello",
    arity: -1,
    flags: OPEN,
    since: "6.0.0",
    summary: "Agrees on the protocol, and tells about the server.",
    syntax: "[protover [AUTH username password] [SETNAME clientname]]",
    reply: "Map<string, Reply>",
    ownConnection: true,
    complexity: "O(1)",
    run: hello,
  },
  {
    name: "ping",
    arity: -1,
    flags: ["fast"],
    tips: ["request_policy:all_shards", "response_policy:all_succeeded"],
    whileSubscribed: true,
    refusedWithoutFiles: true,
    since: "1.0.0",
    summary: "Answers, to show that the server is there.",
    syntax: "[message]",
    reply: { otherwise: '"PONG"', message: "string" },
    complexity: "O(1)",
    run: ping,
  },
  {
    name: "quit",
    arity: -1,
    flags: OPEN,
    whileSubscribed: true,
    runsInsideMulti: true,
    since: "1.0.0",
    summary: "Ends the connection.",
    syntax: "",
    reply: '"OK"',
    ownConnection: true,
    complexity: "O(1)",
    run({ transport }) {
      transport.close(true);
      return OK;
    },
  },
  {
    name: "reset",
    arity: 1,
    flags: OPEN,
    whileSubscribed: true,
    runsInsideMulti: true,
    since: "6.2.0",
    summary: "Puts the connection back into the state that it began with.",
    syntax: "",
    reply: '"RESET"',
    ownConnection: true,
    complexity: "O(1)",
    run: reset,
  },
  {
    name: "select",
    arity: 2,
    flags: FAST,
    since: "1.0.0",
    summary: "Selects the database that the client's commands work on.",
    syntax: "index",
    reply: '"OK"',
    ownConnection: true,
    complexity: "O(1)",
    run: select,
  },
]);
