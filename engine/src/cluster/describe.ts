/** What a node says of its Cluster: CLUSTER NODES, INFO, SLOTS, SHARDS and LINKS. */

import type { Clock } from "../core/clock.ts";
import { MapReply, type Reply } from "../core/reply.ts";
import { SLOTS } from "../lib/key-slot.ts";
import type { ClusterNode, ClusterState } from "./state.ts";

/** A node, as far as it decides what it says. */
export interface Describer {
  readonly state: ClusterState;
  readonly self: ClusterNode;
  readonly migrating: ReadonlyMap<number, string>;
  readonly importing: ReadonlyMap<number, string>;
  readonly isUp: boolean;
  readonly clock: Clock;
  readonly endpointType: EndpointType;
  /** Whether the node refuses to replace its primary (cluster-replica-no-failover). */
  readonly refusesFailover: boolean;
  readonly startedAt: number;
}

export type EndpointType = "ip" | "hostname" | "unknown-endpoint";

/** The address of a node that clients get; null where they are to use the address that they know. */
export function endpointOf(type: EndpointType, { ip, hostname }: ClusterNode): string | null {
  if (type === "ip") return ip;
  if (type === "hostname") return hostname === "" ? "?" : hostname;
  return null;
}

function flagsOf(view: Describer, node: ClusterNode): string {
  const flags = node === view.self ? ["myself"] : [];
  flags.push(node.isPrimary ? "master" : "slave");
  if (node.health !== "ok") flags.push(node.health === "failed" ? "fail" : "fail?");
  if (!node.hasAddress) flags.push("noaddr");
  if (node === view.self && view.refusesFailover) flags.push("nofailover");
  return flags.join(",");
}

/** The slots of a node as CLUSTER NODES and nodes.conf list them; its own ones that are on their way behind them. */
function slotWords(view: Describer, node: ClusterNode): string[] {
  const words = view.state.rangesOf(node).map(([from, to]) => (from === to ? String(from) : `${from}-${to}`));
  if (node !== view.self) return words;
  for (const [slot, id] of view.migrating) words.push(`[${slot}->-${id}]`);
  for (const [slot, id] of view.importing) words.push(`[${slot}-<-${id}]`);
  return words;
}

/** One line of CLUSTER NODES. */
export function nodeLine(view: Describer, node: ClusterNode): string {
  const { state, self } = view;
  const isHere = state.isReachable(node);
  const name = node.hostname === "" ? "" : `,${node.hostname}`;
  return [
    node.id,
    `${node.ip}:${node.port}@${node.busPort}${name}`,
    flagsOf(view, node),
    node.primary?.id ?? "-",
    isHere ? 0 : node.lostAtMs,
    isHere ? (node === self ? 0 : view.clock.now()) : node.lostAtMs,
    node.shownEpoch,
    isHere ? "connected" : "disconnected",
    ...slotWords(view, node),
  ].join(" ");
}

export function nodesText(view: Describer): string {
  return [...view.state.nodes.values()].map((node) => `${nodeLine(view, node)}\n`).join("");
}

export function infoText(view: Describer): string {
  const { state, self } = view;
  const { assigned, suspected, failed } = state.countSlots();
  const fields: readonly (readonly [string, string | number])[] = [
    ["cluster_state", view.isUp ? "ok" : "fail"],
    ["cluster_slots_assigned", assigned],
    ["cluster_slots_ok", assigned - suspected - failed],
    ["cluster_slots_pfail", suspected],
    ["cluster_slots_fail", failed],
    ["cluster_known_nodes", state.nodes.size],
    ["cluster_size", state.voters.length],
    ["cluster_current_epoch", state.currentEpoch],
    ["cluster_my_epoch", self.shownEpoch],
    ["cluster_stats_messages_sent", 0],
    ["cluster_stats_messages_received", 0],
    ["total_cluster_links_buffer_limit_exceeded", 0],
  ];
  return fields.map(([name, value]) => `${name}:${value}\r\n`).join("");
}

/** A node as CLUSTER SLOTS shows it: where clients find it, its id, and what else they may want to know. */
function slotsNode({ endpointType }: Describer, node: ClusterNode): Reply {
  const more: string[] = [];
  if (endpointType !== "ip") more.push("ip", node.ip);
  if (endpointType !== "hostname" && node.hostname !== "") more.push("hostname", node.hostname);
  return [endpointOf(endpointType, node), node.port, node.id, new MapReply(more)];
}

/** Whether clients may read there. */
function isAvailable({ state }: Describer, node: ClusterNode): boolean {
  return node.health !== "failed" && (state.seats.get(node.id)?.hasData ?? true);
}

export function slotsReply(view: Describer): Reply {
  const { state } = view;
  const replies: Reply[] = [];
  for (let from = 0; from < SLOTS; ) {
    const owner = state.ownerOf(from);
    let to = from;
    while (to + 1 < SLOTS && state.ownerOf(to + 1) === owner) to++;
    if (owner !== null) {
      const replicas = state.replicasOf(owner).filter((node) => isAvailable(view, node));
      replies.push([from, to, ...[owner, ...replicas].map((node) => slotsNode(view, node))]);
    }
    from = to + 1;
  }
  return replies;
}

function shardNode(view: Describer, node: ClusterNode): Reply {
  const seat = view.state.seats.get(node.id);
  const health = node.health === "failed" ? "failed" : (seat?.hasData ?? true) ? "online" : "loading";
  return new MapReply([
    "id",
    node.id,
    ...(node.port === 0 ? [] : ["port", node.port]),
    "ip",
    node.ip,
    "endpoint",
    endpointOf(view.endpointType, node) ?? "",
    ...(node.hostname === "" ? [] : ["hostname", node.hostname]),
    "role",
    node.isPrimary ? "master" : "replica",
    "replication-offset",
    seat?.offset ?? 0,
    "health",
    health,
  ]);
}

export function shardsReply(view: Describer): Reply {
  const { state } = view;
  return [...state.nodes.values()]
    .filter(({ isPrimary }) => isPrimary)
    .map((primary) => {
      const nodes = [primary, ...state.replicasOf(primary)].map((node) => shardNode(view, node));
      return new MapReply(["slots", state.rangesOf(primary).flat(), "nodes", nodes]);
    });
}

const DIRECTIONS = "from to".split(" ");

/** Nodes in one process have no connections for their bus; each is shown as it would be, with nothing queued. */
export function linksReply({ state, self, startedAt }: Describer): Reply {
  return [...state.nodes.values()]
    .filter((node) => node !== self && state.isReachable(node))
    .flatMap(({ id }) =>
      DIRECTIONS.map(
        (direction) =>
          new MapReply([
            "direction",
            direction,
            "node",
            id,
            "create-time",
            startedAt,
            "events",
            "r",
            "send-buffer-allocated",
            0,
            "send-buffer-used",
            0,
          ]),
      ),
    );
}
