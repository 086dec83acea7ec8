/**
 * CLUSTER and its kin, which answer as on a Redis whose cluster support is disabled: clients ask to learn what they talk to.
 * Arguments are checked first, as there.
 */

import { CLUSTER_DISABLED } from "../../core/errors.ts";
import { type Flag, group, type Row } from "../../table/command.ts";
import { withHelp } from "../shared/help.ts";

const refuse = () => {
  throw CLUSTER_DISABLED;
};

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
  run: refuse,
  ...more,
});

const NODES = { tips: VARIES, complexity: "O(N) with N nodes" };
const SLOTS = { complexity: "O(N) with N slots" };
const SLOT_RANGES = { ...SLOTS, since: "7.0.0" };

const subcommands = [
  sub("addslots", -3, CHANGES, "Assigns slots to a node.", "slot [slot ...]", SLOTS),
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
  sub("delslots", -3, CHANGES, "Takes slots from a node.", "slot [slot ...]", SLOTS),
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
const connectionRow = (name: string, flags: readonly Flag[], summary: string): Row => ({
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
  run: refuse,
});

export const cluster = group("cluster", [
  connectionRow("asking", ["fast"], "Follows an ASK redirection."),
  {
    name: "cluster",
    arity: -2,
    flags: [],
    since: "3.0.0",
    summary: "Inspects and changes a Redis Cluster.",
    syntax: "",
    complexity: "depends on the subcommand",
    subcommands: withHelp("cluster", "5.0.0", subcommands, { run: refuse }),
  },
  connectionRow("readonly", ["loading", "stale", "fast"], "Allows reading from a replica in a cluster."),
  connectionRow("readwrite", ["loading", "stale", "fast"], "Ends READONLY."),
]);
