/** The keys of a board. All share its tag, so a board lives on one node and boards spread over the Cluster. */

import { sha256 } from "../../base/hash.ts";
import { tagged } from "../../base/keys.ts";
import { defineLayout } from "../../base/layout.ts";

defineLayout("board");

export interface BoardKeys {
  readonly base: string;
  /** Sorted set: article by score. */
  readonly byScore: string;
  /** Sorted set: article by the time it was posted, in milliseconds. */
  readonly byTime: string;
}

export function boardKeys(prefix: string, board: string): BoardKeys {
  const base = tagged(prefix, board, "board");
  return { base, byScore: `${base}:score`, byTime: `${base}:time` };
}

/** Hash: the article. */
export const articleKey = (base: string, id: string): string => `${base}:article:${id}`;

/** Hash: user → signed weight of the vote. Gone when voting closes. */
export const votersKey = (base: string, id: string): string => `${base}:voters:${id}`;

/** Set: the articles of a group. */
export const groupKey = (base: string, group: string): string => `${base}:group:${group}`;

/** Sorted set: the articles of a group by score or time; a cached intersection that lives for a minute. */
export const groupOrderKey = (base: string, group: string, by: "score" | "time"): string =>
  `${base}:group:${group}:${by}`;

/** Sorted set: the articles of several groups by score or time; lives for a minute. The groups are in order, each once. */
export const groupsOrderKey = (
  base: string,
  groups: readonly string[],
  { match, by }: { readonly match: "any" | "all"; readonly by: "score" | "time" },
): string => `${base}:groups:${match}:${sha256(JSON.stringify(groups))}:${by}`;

/** Sorted set: keys of the orders of several groups that are kept, by their end. Lives as long as the last of them. */
export const ordersKey = (base: string): string => `${base}:orders`;
