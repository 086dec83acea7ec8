/** What CLIENT LIST says about a client, and the classes by which clients are listed and killed. */
import type { Client } from "./client.ts";
import { accountOf } from "./client-memory.ts";

export type ClientType = "normal" | "master" | "replica" | "pubsub";

/** By the names that CLIENT LIST and CLIENT KILL take. */
export const CLIENT_TYPES: ReadonlyMap<string, ClientType> = new Map([
  ["normal", "normal"],
  ["master", "master"],
  ["slave", "replica"],
  ["replica", "replica"],
  ["pubsub", "pubsub"],
]);

export function clientTypeOf(client: Client): ClientType {
  if (client.isPrimary) return "master";
  if (client.replica?.attached) return "replica";
  return client.subscriptions > 0 ? "pubsub" : "normal";
}

/** Redis's letters for a client's state. */
function flagsOf(client: Client): string {
  const { tracking, engine } = client;
  let flags = "";
  if (client.replica?.attached) flags += "S";
  else if (client.monitoring) flags += "O";
  if (client.isPrimary) flags += "M";
  if (client.subscriptions > 0) flags += "P";
  if (client.multi !== null || client.inTransaction) flags += "x";
  if (client.blocked !== null || engine.pause.isPostponed(client)) flags += "b";
  if (tracking !== null) flags += "t";
  if (tracking?.redirectBroken) flags += "R";
  if (tracking?.bcast) flags += "B";
  if (client.watchBroken) flags += "d";
  if (client.transport.address.startsWith("unix:")) flags += "U";
  if (client.readsReplica) flags += "r";
  if (client.noEvict) flags += "e";
  return flags === "" ? "N" : flags;
}

/** One line of CLIENT LIST, in the order of Redis 7.0, with 7.2's library fields behind it. */
export function clientLine(client: Client): string {
  const { transport, engine, tracking } = client;
  const now = engine.clock.now();
  const seconds = (since: number) => Math.max(0, Math.floor(now / 1000) - Math.floor(since / 1000));
  const memory = accountOf(client);
  const fields: readonly (readonly [string, string | number])[] = [
    ["id", client.id],
    ["addr", transport.address],
    ["laddr", transport.localAddress],
    ["fd", transport.fd],
    ["name", client.name],
    ["age", seconds(client.createdAt)],
    ["idle", seconds(client.lastActiveAt)],
    ["flags", flagsOf(client)],
    ["db", client.db.index],
    ["sub", client.channels.size],
    ["psub", client.patterns.size],
    ["ssub", client.shardChannels.size],
    ["multi", memory.queued],
    ["qbuf", memory.query],
    ["qbuf-free", memory.queryFree],
    ["argv-mem", memory.argv],
    ["multi-mem", memory.queuedWordBytes],
    ["rbs", memory.replyRoom],
    ["rbp", memory.replyPeak],
    ["obl", memory.replyInBuffer],
    ["oll", memory.replyParts],
    ["omem", memory.replyBytes],
    ["tot-mem", memory.total],
    ["events", "r"],
    ["cmd", client.lastCommand?.name ?? "NULL"],
    ["user", client.user.name],
    ["redir", tracking?.redirect ?? -1],
    ["resp", client.protocol],
    ["lib-name", client.libName],
    ["lib-ver", client.libVersion],
  ];
  return fields.map(([name, value]) => `${name}=${value}`).join(" ");
}
