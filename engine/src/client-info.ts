/** What CLIENT LIST says about a client, and the classes by which clients are listed and killed. */
import type { Client } from "./client.ts";

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
  if (client.noEvict) flags += "e";
  return flags === "" ? "N" : flags;
}

/** What a client takes beside its buffers, about. */
const CLIENT_BYTES = 1024;

/** One line of CLIENT LIST, in the order of Redis 7.0, with 7.2's library fields behind it. */
export function clientLine(client: Client): string {
  const { transport, engine, tracking } = client;
  const now = engine.clock.now();
  const seconds = (since: number) => Math.max(0, Math.floor(now / 1000) - Math.floor(since / 1000));
  const input = transport.inputBytes;
  const output = transport.outputBytes;
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
    ["multi", client.multi === null ? -1 : client.multi.length],
    ["qbuf", input],
    ["qbuf-free", 0],
    ["argv-mem", 0],
    ["multi-mem", queuedBytes(client)],
    ["rbs", 0],
    ["rbp", 0],
    ["obl", 0],
    ["oll", output > 0 ? 1 : 0],
    ["omem", output],
    ["tot-mem", CLIENT_BYTES + input + output + queuedBytes(client)],
    ["events", "r"],
    ["cmd", client.lastCommand?.name ?? "NULL"],
    ["user", client.user],
    ["redir", tracking?.redirect ?? -1],
    ["resp", client.protocol],
    ["lib-name", client.libName],
    ["lib-ver", client.libVersion],
  ];
  return fields.map(([name, value]) => `${name}=${value}`).join(" ");
}

function queuedBytes(client: Client): number {
  let bytes = 0;
  for (const { argv } of client.multi ?? []) for (const word of argv) bytes += word.length;
  return bytes;
}
