/**
 * The keys of a cache. It is spread over shards, each with its own tag, so that a cache of any size uses every node of a
 * Cluster; an entry and the tags that can make it invalid are in one shard, so that reading is one round trip.
 */

import { createHash } from "node:crypto";
import { tagged } from "../../base/keys.ts";
import { defineLayout } from "../../base/layout.ts";

defineLayout("cache");

/** Among the tags: the shard's own time, when it was last used. No tag is called so. */
export const CLOCK = "\0";

export interface ShardKeys {
  /** Sorted set: tag by when it was last invalidated, in microseconds; beside them `CLOCK`. Expires. */
  readonly tags: string;
  /** Beginning of the keys of entries. */
  readonly entries: string;
}

export interface EntryKeys {
  /** Hash: `v` value, `at` when its loading began (µs), `fresh` until when it is fresh and `ends` when it is gone (ms), `t` its tags. Expires. */
  readonly entry: string;
  /** String: token of the process that loads it now. Expires. */
  readonly loader: string;
  readonly tags: string;
}

export function shardKeys(prefix: string, name: string, shard: number): ShardKeys {
  const base = tagged(prefix, `${name}:${shard}`, "cache");
  return { tags: `${base}:tags`, entries: `${base}:` };
}

export function shardOf(key: string, shards: number): number {
  return createHash("md5").update(key).digest().readUInt32LE(0) % shards;
}

export function entryKeys(prefix: string, name: string, shards: number, key: string): EntryKeys {
  const { tags, entries } = shardKeys(prefix, name, shardOf(key, shards));
  return { entry: `${entries}e:${key}`, loader: `${entries}l:${key}`, tags };
}

/** Channel: an entry was filled or its loader gave up, so that waiting callers look again; `*` and tags for memory caches. */
export const changesChannel = (prefix: string, name: string): string => `${prefix}:{${name}}:changes`;

/** Hash: `hits`, `staleHits`, `misses`, `loads`, `failures` of all processes. A week after the last. */
export const countsKey = (prefix: string, name: string): string => `${prefix}:{${name}}:counts`;
