/** Whether a store is well, and if not, why: each finding with its weight, a sentence, and the page that has more. */
import { type Info, numbersOf, total } from "../src/info.ts";
import { bytes, counted, number } from "./format.ts";
import { type QueueName, queuePath } from "./queue-link.ts";

export interface Finding {
  readonly weight: "failed" | "delayed";
  readonly text: string;
  readonly path: string;
}

export interface QueueState extends QueueName {
  readonly dead: number;
}

export interface Facts {
  readonly nodes: readonly Info[];
  /** As they were when they were asked before; what grows is told by the difference. */
  readonly before: readonly Info[];
  readonly queues: readonly QueueState[];
  /** Slow commands of the last minutes. */
  readonly slow: number;
}

const NEARLY = 0.9;

const fieldOf = (node: Info, section: string, field: string): string => node[section]?.[field] ?? "";

/** `name` says which node it is, where there are several. */
function ofNode(node: Info, name: string): Finding[] {
  const found: Finding[] = [];
  const add = (weight: Finding["weight"], text: string, path: string) =>
    found.push({ weight, text: name + text, path });
  const memory = Number(fieldOf(node, "Memory", "used_memory"));
  const limit = Number(fieldOf(node, "Memory", "maxmemory"));
  if (fieldOf(node, "Persistence", "loading") === "1") add("delayed", "The dataset is being loaded.", "files");
  if (fieldOf(node, "Persistence", "rdb_last_bgsave_status") === "err")
    add("failed", "The last snapshot failed.", "files");
  if (fieldOf(node, "Persistence", "aof_last_write_status") === "err")
    add("failed", "The last write to the AOF failed.", "files");
  if (fieldOf(node, "Persistence", "aof_last_bgrewrite_status") === "err")
    add("delayed", "The last rewrite of the AOF failed.", "files");
  if (fieldOf(node, "Replication", "master_link_status") === "down")
    add("failed", "The replica has lost its primary.", "config");
  if (limit > 0 && memory >= limit * NEARLY)
    add("delayed", `${bytes(memory)} of ${bytes(limit)} memory are in use.`, "config");
  const { connected_clients = "0", maxclients = "0" } = node.Clients ?? {};
  if (Number(maxclients) > 0 && Number(connected_clients) >= Number(maxclients) * NEARLY)
    add("delayed", `${connected_clients} of ${maxclients} client connections are in use.`, "clients");
  return found;
}

/** How much a total of INFO has grown. A restarted server begins again, which is no growth. */
function growth({ nodes, before }: Facts, section: string, field: string): number {
  return before.length === 0 ? 0 : Math.max(0, total(nodes, section, field) - total(before, section, field));
}

export function findingsOf(facts: Facts): readonly Finding[] {
  const { nodes, queues, slow } = facts;
  const found = nodes.flatMap((node, nth) => ofNode(node, nodes.length > 1 ? `Node ${nth + 1}: ` : ""));
  const evicted = growth(facts, "Stats", "evicted_keys");
  if (evicted > 0)
    found.push({
      weight: "delayed",
      text: `${counted(evicted, "key was", "keys were")} evicted in the last seconds.`,
      path: "config",
    });
  const rejected = growth(facts, "Stats", "rejected_connections");
  if (rejected > 0)
    found.push({
      weight: "failed",
      text: `${counted(rejected, "connection was", "connections were")} rejected just now.`,
      path: "clients",
    });
  for (const { dead, ...queue } of queues) {
    if (dead === 0) continue;
    const text = `${number(dead)} dead ${dead === 1 ? "job" : "jobs"} in queue ${queue.name}.`;
    found.push({ weight: "failed", text, path: queuePath(queue) });
  }
  if (slow > 0)
    found.push({
      weight: "delayed",
      text: `${number(slow)} slow ${slow === 1 ? "command" : "commands"} in the last five minutes.`,
      path: "slow",
    });
  return found.sort((a, b) => Number(b.weight === "failed") - Number(a.weight === "failed"));
}

/** What INFO says of replicas, with how many bytes they are behind. */
export function replicasOf(nodes: readonly Info[]): { readonly count: number; readonly worstBehind: number } {
  let count = 0;
  let worstBehind = 0;
  for (const { Replication = {} } of nodes) {
    const offset = Number(Replication.master_repl_offset ?? 0);
    for (const [name, value] of Object.entries(Replication)) {
      if (!/^slave\d+$/.test(name)) continue;
      count++;
      worstBehind = Math.max(worstBehind, offset - (numbersOf(value).offset ?? offset));
    }
  }
  return { count, worstBehind };
}
