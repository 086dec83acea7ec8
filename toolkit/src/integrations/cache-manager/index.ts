/**
 * A cache of cache-manager on a store.
 *
 *   const cache = cinnabarCache(db, { ttl: 60_000 });
 *   const product = await cache.wrap("17", () => load(17));
 *
 * `wrap` of cache-manager lets one caller in each process load a value; `Cache` of `cinnabar/cache` one in all processes.
 */
import { type Cache, type CreateCacheOptions, createCache } from "cache-manager";
import { aStore } from "../../base/checks.ts";
import { anything, defineOptions, prefix, text, whole } from "../../base/options.ts";
import type { Store } from "../../connection/store.ts";
import { createKeyv } from "../keyv/index.ts";

/** How a cache of cache-manager is kept in a store. */
export interface CacheManagerOptions {
  /** The first word of the keys; "cache-manager" by default. */
  readonly prefix?: string;
  /** Caches with different namespaces do not see each other's values. None by default. */
  readonly namespace?: string;
  /** How long values live that say nothing else, in milliseconds; for ever by default. */
  readonly ttl?: number;
  /** As that of `createCache`: how many milliseconds before its end a value is loaded anew. Never by default. */
  readonly refreshThreshold?: CreateCacheOptions["refreshThreshold"];
}

const OPTIONS = defineOptions<CacheManagerOptions>("cinnabarCache", {
  prefix,
  namespace: text,
  ttl: whole(1),
  refreshThreshold: anything,
});

/**
 * A cache of cache-manager on a store.
 * @example
 * const cache = cinnabarCache(db, { ttl: 60_000 });
 * await cache.wrap("17", async () => ({ name: "Ann" })); // → { name: "Ann" }
 * await cache.get("17"); // → { name: "Ann" }
 */
export function cinnabarCache(store: Store, options: CacheManagerOptions = {}): Cache {
  OPTIONS.check(options);
  aStore("cinnabarCache", store);
  const { prefix: first = "cache-manager", namespace, ttl, refreshThreshold } = options;
  const keyv = createKeyv(store, { prefix: first, ...(namespace !== undefined && { namespace }) });
  return createCache({
    stores: [keyv],
    ...(ttl !== undefined && { ttl }),
    ...(refreshThreshold !== undefined && { refreshThreshold }),
  });
}
