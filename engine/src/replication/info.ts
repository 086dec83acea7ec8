/** What INFO and ROLE say about replication, in the words and the order of Redis 7.0, which Sentinel and clients read. */
import type { Config } from "../config/config.ts";
import type { Clock } from "../core/clock.ts";
import type { Replication } from "./index.ts";
import type { Link } from "./link.ts";
import { STATE_NAMES } from "./replica.ts";

type Field = readonly [string, string | number];

const flag = (on: boolean) => (on ? 1 : 0);

/** How a snapshot that is being received gets on. */
function transferFields(link: Link): Field[] {
  const { payload } = link;
  if (link.state !== "sync") return [];
  const read = payload?.readBytes ?? 0;
  const total = payload !== null && "lengthBytes" in payload.framing ? payload.framing.lengthBytes : 0;
  return [
    ["master_sync_total_bytes", total],
    ["master_sync_read_bytes", read],
    ["master_sync_left_bytes", total - read],
    ["master_sync_perc", (total === 0 ? 0 : (read / total) * 100).toFixed(2)],
    ["master_sync_last_io_seconds_ago", link.idleSeconds],
  ];
}

function downSince(link: Link, clock: Clock): Field[] {
  if (link.isUp) return [];
  const seconds = link.downSince === 0 ? -1 : Math.floor((clock.now() - link.downSince) / 1000);
  return [["master_link_down_since_seconds", seconds]];
}

function replicaFields({ following, link, feed }: Replication, clock: Clock, { values }: Config): Field[] {
  if (following === null || link === null) return [];
  // A replica that has never been connected is said to be at 1.
  const offset = link.isUp || feed.backlog !== null ? feed.offset : 1;
  return [
    ["master_host", following.host],
    ["master_port", following.port],
    ["master_link_status", link.isUp ? "up" : "down"],
    ["master_last_io_seconds_ago", link.isUp ? link.idleSeconds : -1],
    ["master_sync_in_progress", flag(link.state === "sync")],
    ["slave_read_repl_offset", link.isUp ? link.readOffset : offset],
    ["slave_repl_offset", offset],
    ...transferFields(link),
    ...downSince(link, clock),
    ["slave_priority", values["replica-priority"]],
    ["slave_read_only", flag(values["replica-read-only"])],
    ["replica_announced", flag(values["replica-announced"])],
  ];
}

function replicaLines({ replicas }: Replication): Field[] {
  const fields: Field[] = [];
  for (const replica of replicas) {
    const { host, port, state, ackOffset } = replica;
    const lag = state === "online" ? replica.lagSeconds : 0;
    const text = `ip=${host},port=${port},state=${STATE_NAMES[state]},offset=${ackOffset},lag=${lag}`;
    fields.push([`slave${fields.length}`, text]);
  }
  return fields;
}

export function replicationFields(replication: Replication, clock: Clock, config: Config): Field[] {
  const { feed, replicas } = replication;
  const { values } = config;
  const counts = values["min-replicas-to-write"] > 0 && values["min-replicas-max-lag"] > 0;
  const { backlog } = feed;
  return [
    ["role", replication.isReplica ? "slave" : "master"],
    ...replicaFields(replication, clock, config),
    ["connected_slaves", replicas.size],
    ...(counts ? [["min_slaves_good_slaves", replication.goodReplicas] as const] : []),
    ...replicaLines(replication),
    ["master_failover_state", replication.failover.stateName],
    ["master_replid", replication.id],
    ["master_replid2", replication.secondId],
    ["master_repl_offset", feed.offset],
    ["second_repl_offset", replication.secondOffset],
    ["repl_backlog_active", flag(backlog !== null)],
    ["repl_backlog_size", config.format("repl-backlog-size")],
    ["repl_backlog_first_byte_offset", backlog?.start ?? 0],
    ["repl_backlog_histlen", backlog?.length ?? 0],
  ];
}
