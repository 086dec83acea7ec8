/**
 * How large a shard may be so that the server keeps it packed. The limits are settings of the server, so it is asked; where it does
 * not tell, its defaults are taken for granted.
 *
 * Shards by hash do not fill evenly: with m elements on average, few hold more than m + 4√m (one in 30 000). The average is chosen so
 * that this is within the limit.
 */

import { ServerError } from "../../base/errors.ts";
import { asTexts } from "../../base/replies.ts";
import type { Store } from "../../connection/store.ts";

export interface PackedLimits {
  /** Most entries of a shard that is placed by hash. */
  readonly hashed: number;
  /** Most entries of one that is placed by range. */
  readonly ranged: number;
}

/** What a server that does not tell is taken to have: the defaults of Redis 6.2 to 7.2 and of Valkey. */
const DEFAULTS = { "hash-max-*-entries": 512, "zset-max-*-entries": 128, "set-max-intset-entries": 512 } as const;

type Setting = keyof typeof DEFAULTS;

/** In hashes are hashes, and texts of sets too: a set of texts is packed only since Redis 7.2, a hash always was. */
const SETTINGS: Readonly<Record<"hash" | "set" | "zset", { hashed: Setting; ranged: Setting }>> = {
  hash: { hashed: "hash-max-*-entries", ranged: "hash-max-*-entries" },
  set: { hashed: "hash-max-*-entries", ranged: "set-max-intset-entries" },
  zset: { hashed: "zset-max-*-entries", ranged: "zset-max-*-entries" },
};

export async function packedLimits(store: Store, kind: "hash" | "set" | "zset"): Promise<PackedLimits> {
  const { hashed, ranged } = SETTINGS[kind];
  return { hashed: await setting(store, hashed), ranged: await setting(store, ranged) };
}

async function setting(store: Store, name: Setting): Promise<number> {
  try {
    const found = asTexts(await store.send(["CONFIG", "GET", name], { repeatable: true }));
    // listpack and ziplist are two names of one setting.
    const value = Number(found[1]);
    return Number.isSafeInteger(value) && value > 0 ? value : DEFAULTS[name];
  } catch (error) {
    // Not allowed, or renamed, as services that run servers for others do.
    if (error instanceof ServerError) return DEFAULTS[name];
    throw error;
  }
}

/** Elements for each shard on average, so that nearly none is over the limit. */
export function averageFill(limit: number): number {
  return Math.max(1, Math.floor((Math.sqrt(4 + limit) - 2) ** 2));
}

/** A power of two: the largest that is within the limit, and not more than `most`. */
export function rangeSize(limit: number, most: number): number {
  return Math.min(most, 2 ** Math.floor(Math.log2(Math.max(1, limit))));
}
