/**
 * CLUSTER and its kin. What they read and change is the node's (cluster/member.ts). Where cluster mode is off, they answer as
 * on a Redis whose cluster support is disabled: clients ask to learn what they talk to. Arguments are counted first, as there.
 */

import { infoText, linksReply, nodeLine, nodesText, shardsReply, slotsReply } from "../../cluster/describe.ts";
import type { Client } from "../../core/client.ts";
import { SYNTAX, subcommandSyntax, wrongArity } from "../../core/errors.ts";
import type { ClusterPort } from "../../core/ports.ts";
import {
  BAD_COUNTED_SLOT,
  BAD_LISTED_SLOT,
  BAD_SLOT,
  badBasePort,
  badBusPort,
  badConfigEpoch,
  badNodeAddress,
  CLUSTER_DISABLED,
  configNotSaved,
  FLUSHSLOTS_WITH_KEYS,
  NODE_NOT_PRIMARY,
  SETSLOT_SYNTAX,
  slotRange,
} from "../../core/rare-errors.ts";
import { OK, type Reply, Status, Verbatim } from "../../core/reply.ts";
import { messageOf } from "../../lib/caught.ts";
import { keySlot, SLOTS } from "../../lib/key-slot.ts";
import { parseInt64 } from "../../lib/numbers.ts";
import type { Args } from "../../table/args.ts";
import { type Flag, group, type Row } from "../../table/command.ts";
import { withHelp } from "../shared/help.ts";

type Run = (cluster: ClusterPort, args: Args, client: Client) => Reply;

/** A handler for nodes of a Cluster. */
const inCluster =
  (run: Run): NonNullable<Row["run"]> =>
  (client, args) => {
    const { cluster } = client.engine;
    if (cluster === null) throw CLUSTER_DISABLED;
    return run(cluster, args, client);
  };

/** The same for what answers OK. */
const doing = (act: (cluster: ClusterPort, args: Args, client: Client) => void) =>
  inCluster((cluster, args, client) => {
    act(cluster, args, client);
    return OK;
  });

// ------------------------------------------------------------------------------------------------ slots

function slotWord(word: string): number {
  const slot = parseInt64(word);
  if (slot === undefined || slot < 0 || slot >= SLOTS) throw BAD_SLOT;
  return Number(slot);
}

const slotList = (args: Args): readonly number[] => args.rest().map(slotWord);

function slotRanges(args: Args): readonly number[] {
  const words = args.rest();
  if (words.length % 2 !== 0) throw wrongArity(`cluster|${args.argv[1]!.toLowerCase()}`);
  const slots: number[] = [];
  for (let i = 0; i < words.length; i += 2) {
    const [from, to] = [slotWord(words[i]!), slotWord(words[i + 1]!)];
    if (from > to) throw slotRange(from, to);
    for (let slot = from; slot <= to; slot++) slots.push(slot);
  }
  return slots;
}

function setSlot(cluster: ClusterPort, args: Args): void {
  const slot = slotWord(args.next());
  const action = args.option();
  const wanted = action === "stable" ? 0 : 1;
  if (args.left !== wanted) throw SETSLOT_SYNTAX;
  if (action === "migrating") cluster.migrateSlot(slot, args.next());
  else if (action === "importing") cluster.importSlot(slot, args.next());
  else if (action === "node") cluster.giveSlot(slot, args.next());
  else if (action === "stable") cluster.closeSlot(slot);
  else throw SETSLOT_SYNTAX;
}

function countKeys(args: Args, { db }: Client): number {
  const slot = args.int();
  if (slot < 0 || slot >= SLOTS) throw BAD_COUNTED_SLOT;
  return db.slots!.count(slot);
}

function listKeys(args: Args, { db }: Client): string[] {
  const slot = args.int();
  const most = args.int();
  if (slot < 0 || slot >= SLOTS || most < 0) throw BAD_LISTED_SLOT;
  return db.slots!.keysOf(slot, most);
}

// ------------------------------------------------------------------------------------------------ nodes

function replicas(cluster: ClusterPort, args: Args): string[] {
  const node = cluster.nodeOf(args.next());
  if (!node.isPrimary) throw NODE_NOT_PRIMARY;
  return cluster.state.replicasOf(node).map((replica) => nodeLine(cluster, replica));
}

/** The one option that FAILOVER and RESET may have. */
function onlyOption(args: Args): string | undefined {
  if (args.left > 1) throw subcommandSyntax(args.argv[1]!, "CLUSTER");
  return args.more ? args.option() : undefined;
}

function failover(cluster: ClusterPort, args: Args): void {
  const option = onlyOption(args);
  if (option !== undefined && option !== "force" && option !== "takeover") throw SYNTAX;
  cluster.failover(option ?? "wait");
}

function reset(cluster: ClusterPort, args: Args): void {
  const option = onlyOption(args);
  if (option !== undefined && option !== "hard" && option !== "soft") throw SYNTAX;
  cluster.reset(option === "hard");
}

function setEpoch(cluster: ClusterPort, args: Args): void {
  const epoch = args.int();
  if (epoch < 0) throw badConfigEpoch(epoch);
  cluster.setEpoch(epoch);
}

function meet(cluster: ClusterPort, args: Args): void {
  const [ip, portWord] = args.take(2);
  if (args.left > 1) throw subcommandSyntax(args.argv[1]!, "CLUSTER");
  const port = parseInt64(portWord);
  if (port === undefined) throw badBasePort(portWord);
  if (args.more) {
    const busWord = args.next();
    if (parseInt64(busWord) === undefined) throw badBusPort(busWord);
  }
  if (port <= 0 || port > 65535) throw badNodeAddress(ip, Number(port));
  cluster.meet(ip, Number(port));
}

/** The side that saw a node fail is of one mind: each of its primaries but the one that is asked has reported it. */
function failureReports(cluster: ClusterPort, args: Args): number {
  const node = cluster.nodeOf(args.next());
  const { state, self } = cluster;
  if (node.health === "ok") return 0;
  return state.voters.filter((voter) => voter !== self && voter !== node && state.isReachable(voter)).length;
}

function saveConfig(cluster: ClusterPort): void {
  try {
    cluster.saveNow();
  } catch (error) {
    throw configNotSaved(messageOf(error));
  }
}

function bumpEpoch(cluster: ClusterPort): Reply {
  const word = cluster.bumpEpoch() ? "BUMPED" : "STILL";
  return new Status(`${word} ${cluster.self.configEpoch}`);
}

// ------------------------------------------------------------------------------------------------ rows

const READS: readonly Flag[] = ["stale"];
const LOOKS: readonly Flag[] = ["admin", "stale"];
const CHANGES: readonly Flag[] = ["admin", "stale", "no_async_loading"];
const VARIES = ["nondeterministic_output"];

/** A subcommand: name, arity, flags, what it is for, its arguments, and what differs from most. */
const sub = (
  name: string,
  arity: number,
  flags: readonly Flag[],
  summary: string,
  syntax: string,
  more: Partial<Row> = {},
): Row => ({
  name,
  arity,
  flags,
  since: "3.0.0",
  summary,
  syntax,
  reply: '"OK"',
  complexity: "O(1)",
  run: RUN[name]!,
  ...more,
});

const RUN: Readonly<Record<string, NonNullable<Row["run"]>>> = {
  addslots: doing((cluster, args) => cluster.addSlots(slotList(args))),
  addslotsrange: doing((cluster, args) => cluster.addSlots(slotRanges(args))),
  bumpepoch: inCluster(bumpEpoch),
  "count-failure-reports": inCluster((cluster, args) => failureReports(cluster, args)),
  countkeysinslot: inCluster((_cluster, args, client) => countKeys(args, client)),
  delslots: doing((cluster, args) => cluster.deleteSlots(slotList(args))),
  delslotsrange: doing((cluster, args) => cluster.deleteSlots(slotRanges(args))),
  failover: doing(failover),
  flushslots: doing((cluster, _args, { db }) => {
    if (db.size > 0) throw FLUSHSLOTS_WITH_KEYS;
    cluster.flushSlots();
  }),
  forget: doing((cluster, args) => cluster.forget(args.next())),
  getkeysinslot: inCluster((_cluster, args, client) => listKeys(args, client)),
  info: inCluster((cluster) => new Verbatim(infoText(cluster))),
  keyslot: inCluster((_cluster, args) => keySlot(args.next())),
  links: inCluster(linksReply),
  meet: doing(meet),
  myid: inCluster(({ id }) => id),
  nodes: inCluster((cluster) => new Verbatim(nodesText(cluster))),
  replicas: inCluster(replicas),
  replicate: doing((cluster, args) => cluster.replicate(args.next())),
  reset: doing(reset),
  saveconfig: doing(saveConfig),
  "set-config-epoch": doing(setEpoch),
  setslot: doing(setSlot),
  shards: inCluster(shardsReply),
  slaves: inCluster(replicas),
  slots: inCluster(slotsReply),
};

const NODES = { tips: VARIES, complexity: "O(N) with N nodes" };
const EACH_SLOT = { complexity: "O(N) with N slots" };
const SLOT_RANGES = { ...EACH_SLOT, since: "7.0.0" };

const subcommands = [
  sub("addslots", -3, CHANGES, "Assigns slots to a node.", "slot [slot ...]", EACH_SLOT),
  sub(
    "addslotsrange",
    -4,
    CHANGES,
    "Assigns ranges of slots to a node.",
    "start-slot end-slot [start-slot end-slot ...]",
    SLOT_RANGES,
  ),
  sub("bumpepoch", 2, CHANGES, "Advances a node's configuration epoch.", "", { tips: VARIES, reply: "string" }),
  sub("count-failure-reports", 3, LOOKS, "Counts the reports that a node has failed.", "node-id", {
    tips: VARIES,
    complexity: "O(N) with N reports",
    reply: "number",
  }),
  sub("countkeysinslot", 3, READS, "Counts the keys of a slot.", "slot", { reply: "number" }),
  sub("delslots", -3, CHANGES, "Takes slots from a node.", "slot [slot ...]", EACH_SLOT),
  sub(
    "delslotsrange",
    -4,
    CHANGES,
    "Takes ranges of slots from a node.",
    "start-slot end-slot [start-slot end-slot ...]",
    SLOT_RANGES,
  ),
  sub("failover", -2, CHANGES, "Makes a replica take its primary's place.", "[FORCE | TAKEOVER]"),
  sub("flushslots", 2, CHANGES, "Takes all slots from a node.", ""),
  sub("forget", 3, CHANGES, "Removes a node from the node table.", "node-id"),
  sub("getkeysinslot", 4, READS, "Lists keys of a slot.", "slot count", {
    tips: VARIES,
    complexity: "O(log(N)) with N keys",
    reply: "string[]",
  }),
  sub("info", 2, READS, "Shows the state of the cluster.", "", { tips: VARIES, reply: "string" }),
  sub("keyslot", 3, READS, "Tells the slot of a key.", "key", { complexity: "O(N) with N bytes", reply: "number" }),
  sub("links", 2, READS, "Lists a node's links to its peers.", "", { ...NODES, since: "7.0.0", reply: "Reply[]" }),
  sub("meet", -4, CHANGES, "Introduces a node.", "ip port [cluster-bus-port]"),
  sub("myid", 2, READS, "Tells a node's id.", "", { reply: "string" }),
  sub("nodes", 2, READS, "Describes the cluster as a node sees it.", "", { ...NODES, reply: "string" }),
  sub("replicas", 3, LOOKS, "Lists the replicas of a node.", "node-id", {
    tips: VARIES,
    since: "5.0.0",
    reply: "string[]",
  }),
  sub("replicate", 3, CHANGES, "Makes a node a replica of another.", "node-id"),
  sub("reset", -2, ["admin", "noscript", "stale"], "Resets a node.", "[HARD | SOFT]", {
    complexity: "O(N) with N nodes",
  }),
  sub("saveconfig", 2, CHANGES, "Writes a node's configuration to disk.", ""),
  sub("set-config-epoch", 3, CHANGES, "Sets the epoch of a new node.", "config-epoch"),
  sub(
    "setslot",
    -4,
    CHANGES,
    "Binds a slot to a node.",
    "slot <IMPORTING node-id | MIGRATING node-id | NODE node-id | STABLE>",
  ),
  sub("shards", 2, READS, "Lists the shards and their nodes.", "", {
    ...NODES,
    since: "7.0.0",
    reply: "Map<string, Reply>[]",
  }),
  sub("slaves", 3, LOOKS, "Lists the replicas of a node.", "node-id", {
    tips: VARIES,
    deprecated: { since: "5.0.0", use: "CLUSTER REPLICAS" },
    reply: "string[]",
  }),
  sub("slots", 2, READS, "Lists the slots and their nodes.", "", {
    ...NODES,
    deprecated: { since: "7.0.0", use: "CLUSTER SHARDS" },
    reply: "Reply[]",
  }),
];

/** What a client says of its connection to a node. */
const connectionRow = (name: string, flags: readonly Flag[], summary: string, say: (client: Client) => void): Row => ({
  name,
  arity: 1,
  flags,
  categories: ["connection"],
  since: "3.0.0",
  summary,
  syntax: "",
  ownConnection: true,
  reply: '"OK"',
  complexity: "O(1)",
  run: doing((_cluster, _args, client) => say(client)),
});

/** HELP is for nodes of a Cluster too. */
const subcommandsWithHelp = withHelp("cluster", "5.0.0", subcommands).map((row) =>
  row.name === "help" ? { ...row, run: inCluster((_cluster, args, client) => row.run!(client, args)) } : row,
);

export const cluster = group("cluster", [
  connectionRow("asking", ["fast"], "Follows an ASK redirection.", (client) => {
    client.asking = "next";
  }),
  {
    name: "cluster",
    arity: -2,
    flags: [],
    since: "3.0.0",
    summary: "Inspects and changes a Redis Cluster.",
    syntax: "",
    complexity: "depends on the subcommand",
    subcommands: subcommandsWithHelp,
  },
  connectionRow("readonly", ["loading", "stale", "fast"], "Allows reading from a replica in a cluster.", (client) => {
    client.readsReplica = true;
  }),
  connectionRow("readwrite", ["loading", "stale", "fast"], "Ends READONLY.", (client) => {
    client.readsReplica = false;
  }),
]);
