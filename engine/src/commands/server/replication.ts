/** Commands of replication: what it does is in replication/. WAIT is here too, though its group is another. */

import type { Client } from "../../core/client.ts";
import { clientLine } from "../../core/client-info.ts";
import { SYNTAX, TIMEOUT_NEGATIVE } from "../../core/errors.ts";
import type { ReplicaState } from "../../core/ports.ts";
import {
  BAD_PRIMARY_PORT,
  FAILOVER_FORCE,
  FAILOVER_IN_CLUSTER,
  FAILOVER_IN_PROGRESS,
  FAILOVER_NO_SUCH_REPLICA,
  FAILOVER_ON_REPLICA,
  FAILOVER_OTHER_ID,
  FAILOVER_REPLICA_OFFLINE,
  FAILOVER_TIMEOUT,
  FAILOVER_TO_PRIMARY,
  FAILOVER_WITHOUT_REPLICAS,
  NO_FAILOVER,
  RDB_ONLY_RANGE,
  REPLICA_MAY_NOT_FOLLOW,
  REPLICAOF_IN_CLUSTER,
  REPLICAOF_IN_FAILOVER,
  replicaAddressTooLong,
  TIMEOUT_NOT_INTEGER,
  unknownReplconfOption,
  WAIT_ON_REPLICA,
  WAITAOF_LOCAL_RANGE,
  WAITAOF_ON_REPLICA,
  WAITAOF_WITHOUT_FILE,
} from "../../core/rare-errors.ts";
import { NO_REPLY, OK, type Reply, Status } from "../../core/reply.ts";
import type { Args } from "../../table/args.ts";
import { type Flag, group } from "../../table/command.ts";

/** As long as an IPv6 address can be. */
const LONGEST_ADDRESS = 255;

// ------------------------------------------------------------------------------------------------ roles

function replicaof(client: Client, args: Args): Reply {
  const { replication, log, cluster } = client.engine;
  if (cluster !== null) throw REPLICAOF_IN_CLUSTER;
  if (replication.failover.state !== "none") throw REPLICAOF_IN_FAILOVER;
  const host = args.next();
  const word = args.peek()!;
  if (host.toLowerCase() === "no" && word.toLowerCase() === "one") {
    if (replication.isReplica) {
      replication.promote();
      log("notice", `MASTER MODE enabled (user request from '${clientLine(client)}')`);
    }
    return OK;
  }
  if (client.replica?.attached) throw REPLICA_MAY_NOT_FOLLOW;
  const port = args.intBetween(0, 65535, BAD_PRIMARY_PORT);
  const { following } = replication;
  if (following?.host === host && following.port === port) {
    log(
      "notice",
      "REPLICAOF would result into synchronization with the master we are already connected with. No operation performed.",
    );
    return new Status("OK Already connected to specified master");
  }
  replication.follow(host, port);
  log("notice", `REPLICAOF ${host}:${port} enabled (user request from '${clientLine(client)}')`);
  return OK;
}

// ------------------------------------------------------------------------------------------------ the primary's end

function wantedOffset({ engine, transport }: Client, args: Args): number {
  try {
    return args.int();
  } catch (error) {
    engine.log("warning", `Replica ${transport.address} asks for synchronization but with a wrong offset`);
    throw error;
  }
}

function psync(client: Client, args: Args): Reply {
  const { replication, log } = client.engine;
  const id = args.next();
  const offsetWord = args.argv[2]!;
  if (args.argv[3]?.toLowerCase() === "failover") {
    log("warning", `Failover request received for replid ${id}.`);
    if (!replication.isReplica) throw FAILOVER_TO_PRIMARY;
    if (id.toLowerCase() !== replication.id) throw FAILOVER_OTHER_ID;
    replication.promote();
    log("notice", `MASTER MODE enabled (failover request from '${clientLine(client)}')`);
  }
  const offset = offsetWord === "-1" ? -1 : wantedOffset(client, args);
  replication.attach(client, { id, offset, failover: false });
  return NO_REPLY;
}

type Replconf = (replica: ReplicaState, args: Args) => void;

const REPLCONF: Readonly<Record<string, Replconf>> = {
  "listening-port": (replica, args) => {
    replica.port = args.int();
  },
  "ip-address": (replica, args) => {
    const ip = args.next();
    if (ip.length >= LONGEST_ADDRESS) throw replicaAddressTooLong(ip.length);
    replica.ip = ip;
  },
  capa: (replica, args) => {
    const capability = args.option();
    if (capability === "eof") replica.capaEof = true;
    else if (capability === "psync2") replica.capaPsync2 = true;
  },
  "rdb-only": (replica, args) => {
    const only = args.int();
    if (only !== 0 && only !== 1) throw RDB_ONLY_RANGE;
    replica.rdbOnly = only === 1;
  },
  "rdb-filter-only": (replica, args) => {
    replica.filter(args.next());
  },
};

function replconf(client: Client, args: Args): Reply {
  const { replication } = client.engine;
  if (args.left % 2 !== 0) throw SYNTAX;
  while (args.more) {
    const name = args.next();
    const option = name.toLowerCase();
    if (option === "ack") {
      acknowledge(client, args);
      return NO_REPLY;
    }
    if (option === "getack") {
      replication.link?.acknowledge();
      return NO_REPLY;
    }
    if (!Object.hasOwn(REPLCONF, option)) throw unknownReplconfOption(name);
    REPLCONF[option]!(replication.replicaOf(client), args);
  }
  return OK;
}

/** Of others than replicas it means nothing. `FACK` is 7.2's: what of it is on disk. */
function acknowledge(client: Client, args: Args): void {
  const { replica, engine } = client;
  if (replica === null || !replica.attached) return;
  const offset = args.int();
  const disk = args.accept("fack") && args.more ? args.int() : undefined;
  engine.replication.acknowledged(client, offset, disk);
}

// ------------------------------------------------------------------------------------------------ FAILOVER, WAIT

function failover({ engine }: Client, args: Args): Reply {
  const { replication, cluster } = engine;
  if (cluster !== null) throw FAILOVER_IN_CLUSTER;
  let timeoutMs = 0;
  let force = false;
  let abort = false;
  let target: { host: string; port: number } | undefined;
  while (args.more) {
    const option = args.option();
    if (option === "timeout" && args.more && timeoutMs === 0) {
      timeoutMs = args.int();
      if (timeoutMs <= 0) throw FAILOVER_TIMEOUT;
    } else if (option === "abort" && args.argv.length === 2) abort = true;
    else if (option === "to" && args.left >= 2 && target === undefined)
      target = { host: args.next(), port: args.int() };
    else if (option === "force" && !force) force = true;
    else throw SYNTAX;
  }
  if (abort) {
    if (replication.failover.state === "none") throw NO_FAILOVER;
    replication.failover.abort("Failover manually aborted");
    return OK;
  }
  if (replication.failover.state !== "none") throw FAILOVER_IN_PROGRESS;
  if (replication.isReplica) throw FAILOVER_ON_REPLICA;
  if (replication.replicas.size === 0) throw FAILOVER_WITHOUT_REPLICAS;
  if (force && (timeoutMs === 0 || target === undefined)) throw FAILOVER_FORCE;
  if (target !== undefined) {
    const replica = replication.findReplica(target);
    if (replica === undefined) throw FAILOVER_NO_SUCH_REPLICA;
    if (replica.state !== "online") throw FAILOVER_REPLICA_OFFLINE;
  }
  replication.failover.begin({ target, force, timeoutMs });
  return OK;
}

function wait(client: Client, args: Args): Reply {
  const { replication } = client.engine;
  if (replication.isReplica) throw WAIT_ON_REPLICA;
  const replicas = args.int();
  const timeoutMs = args.int(TIMEOUT_NOT_INTEGER);
  if (timeoutMs < 0) throw TIMEOUT_NEGATIVE;
  return replication.waits.block(client, { replicas, onDisk: false, timeoutMs }, (reached) => reached.replicas);
}

/** Redis 7.2's. */
function waitaof(client: Client, args: Args): Reply {
  const { replication, config } = client.engine;
  const local = args.intBetween(0, 1, WAITAOF_LOCAL_RANGE);
  const replicas = args.count();
  const timeoutMs = args.int(TIMEOUT_NOT_INTEGER);
  if (timeoutMs < 0) throw TIMEOUT_NEGATIVE;
  if (replication.isReplica) throw WAITAOF_ON_REPLICA;
  if (local > 0 && !config.values.appendonly) throw WAITAOF_WITHOUT_FILE;
  const wanted = { replicas, onDisk: true, localDisk: local > 0, timeoutMs };
  return replication.waits.block(client, wanted, (reached) => [Number(reached.localDisk), reached.replicas]);
}

// ------------------------------------------------------------------------------------------------ rows

const CHANGES_ROLE: Flag[] = ["admin", "noscript", "stale", "no_async_loading"];
const SENDS_DATA: Flag[] = ["admin", "noscript", "no_async_loading", "no_multi"];
const ADDRESS = "<host port | NO ONE>";

export const replication = group("server", [
  {
    name: "failover",
    arity: -1,
    flags: ["admin", "noscript", "stale"],
    since: "6.2.0",
    summary: "Has a replica that has everything take this server's place, and follows it.",
    syntax: "[TO host port [FORCE]] [ABORT] [TIMEOUT milliseconds]",
    reply: '"OK"',
    complexity: "O(1)",
    run: failover,
  },
  {
    name: "psync",
    arity: -3,
    flags: SENDS_DATA,
    since: "2.8.0",
    summary: "Starts or takes up a replication stream; for replicas.",
    syntax: "replicationid offset",
    reply: "Reply",
    ownConnection: true,
    complexity: "",
    run: psync,
  },
  {
    name: "replconf",
    arity: -1,
    flags: ["admin", "noscript", "loading", "stale", "allow_busy"],
    since: "3.0.0",
    summary: "Tells a primary about its replica, and how far that is; for replicas.",
    syntax: "",
    reply: "Reply",
    ownConnection: true,
    complexity: "O(1)",
    run: replconf,
  },
  {
    name: "replicaof",
    arity: 3,
    flags: CHANGES_ROLE,
    since: "5.0.0",
    summary: "Makes this server a replica of another, or a primary.",
    syntax: ADDRESS,
    reply: '"OK"',
    complexity: "O(1)",
    run: replicaof,
  },
  {
    name: "role",
    arity: 1,
    flags: ["noscript", "loading", "stale", "fast"],
    categories: ["admin", "dangerous"],
    since: "2.8.12",
    summary: "Tells whether this is a primary or a replica, and how far replication is.",
    syntax: "",
    reply: "Reply[]",
    complexity: "O(1)",
    run: ({ engine }) => engine.replication.role(),
  },
  {
    name: "slaveof",
    arity: 3,
    flags: CHANGES_ROLE,
    since: "1.0.0",
    summary: "Makes this server a replica of another, or a primary.",
    syntax: ADDRESS,
    reply: '"OK"',
    complexity: "O(1)",
    deprecated: { since: "5.0.0", use: "`REPLICAOF`" },
    run: replicaof,
  },
  {
    name: "sync",
    arity: 1,
    flags: SENDS_DATA,
    since: "1.0.0",
    summary: "Starts a replication stream with everything; for old replicas and tools.",
    syntax: "",
    reply: "Reply",
    ownConnection: true,
    complexity: "",
    run(client) {
      client.engine.replication.attach(client, null);
      return NO_REPLY;
    },
  },
]);

export const waiting = group("generic", [
  {
    name: "wait",
    arity: 3,
    flags: ["noscript"],
    categories: ["connection"],
    noGroupCategory: true,
    tips: ["request_policy:all_shards", "response_policy:agg_min"],
    since: "3.0.0",
    summary: "Waits until this many replicas have everything that this connection wrote.",
    syntax: "numreplicas timeout",
    reply: "number",
    complexity: "O(1)",
    run: wait,
  },
  {
    name: "waitaof",
    arity: 4,
    flags: ["noscript"],
    categories: ["connection"],
    noGroupCategory: true,
    tips: ["request_policy:all_shards", "response_policy:agg_min"],
    since: "7.2.0",
    summary: "Waits until everything that this connection wrote is in this many append-only files, synced to disk.",
    syntax: "numlocal numreplicas timeout",
    reply: "[number, number]",
    complexity: "O(1)",
    run: waitaof,
  },
]);
