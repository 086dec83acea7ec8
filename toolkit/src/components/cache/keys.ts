/**
 * The keys of a cache. It is spread over shards, each with its own tag, so that a cache of any size uses every node of a
 * Cluster; an entry and the tags that can make it invalid are in one shard, so that reading is one round trip.
 */

import { hashOf } from "../../base/hash.ts";
import { tagged } from "../../base/keys.ts";
import { defineLayout } from "../../base/layout.ts";

defineLayout("cache");

/** Among the tags: a moment that nothing which has begun is behind. No tag is called so. */
export const CLOCK = "\0";
/** Among the tags: when something was last invalidated. */
export const LAST = "\0last";

export interface ShardKeys {
  /** Sorted set: tag by when it was last invalidated, in microseconds; beside them `CLOCK` and `LAST`. Expires. */
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
  return hashOf(key) % shards;
}

export function entryKeys(shards: readonly ShardKeys[], key: string): EntryKeys {
  const { tags, entries } = shards[shardOf(key, shards.length)]!;
  return { entry: `${entries}e:${key}`, loader: `${entries}l:${key}`, tags };
}

/** Channel: an entry was filled or its loader gave up, so that waiting callers look again; `*` and tags for memory caches. */
export const changesChannel = (prefix: string, name: string): string => `${prefix}:{${name}}:changes`;

/** Hash: `hits`, `staleHits`, `misses`, `loads`, `failures` of all processes. A week after the last. */
export const countsKey = (prefix: string, name: string): string => `${prefix}:{${name}}:counts`;
