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

export interface CacheManagerOptions {
  /** The first word of the keys; "cache-manager" by default. */
  readonly prefix?: string;
  readonly namespace?: string;
  /** As those of `createCache`: how long values live, and how long before their end they are loaded anew. */
  readonly ttl?: number;
  readonly refreshThreshold?: CreateCacheOptions["refreshThreshold"];
}

const OPTIONS = defineOptions<CacheManagerOptions>("cinnabarCache", {
  prefix,
  namespace: text,
  ttl: whole(1),
  refreshThreshold: anything,
});

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
