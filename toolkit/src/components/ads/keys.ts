/** The keys of a network of ads. Everything about one ad is in one shard, under the shard's tag; shards spread over a Cluster. */

import { tagged } from "../../base/keys.ts";
import { defineLayout } from "../../base/layout.ts";

defineLayout("ads");

/** The beginning of all keys of a shard. */
export function shardBase(prefix: string, name: string, shard: number, shards: number): string {
  return tagged(prefix, shards === 1 ? name : `${name}/${shard}`, "network of ads");
}

/** Hash: what the ad is, what it has spent and learned. */
export const adKey = (base: string, ad: string): string => `${base}:ad:${ad}`;

/** Hash: `<day>:<what>` → count or money. */
export const reportKey = (base: string, ad: string): string => `${base}:report:${ad}`;

/** Sorted set: every ad, by name. */
export const allKey = (base: string): string => `${base}:ads`;

/** Hash: one ad that was chosen for one request, and what became of it. */
export const impressionKey = (base: string, id: string): string => `${base}:impression:${id}`;

/** Sorted set: open impression by when its time is over. */
export const openKey = (base: string): string => `${base}:open`;

/** Hash: ad → when this user was shown it, for ads with a cap. */
export const userKey = (base: string, user: string): string => `${base}:user:${user}`;

/*
 * Two more keys are made by the scripts alone:
 * `${base}:asleep`, a sorted set: ads that cannot be paid for now, by when they may be again;
 * `${base}:averages`, a hash: model → views, clicks, actions of all its ads; and the last generation.
 */
