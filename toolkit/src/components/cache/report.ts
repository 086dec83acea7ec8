/**
 * How often a cache had what was asked for, over all processes: each adds what it has counted every few seconds, in one go and
 * not in anybody's way. Losing a report loses some counts and nothing else.
 */
import { aStore } from "../../base/checks.ts";
import type { Timer } from "../../base/clock.ts";
import { NameIndex } from "../../base/names.ts";
import { defineOptions, prefix, whole } from "../../base/options.ts";
import { type Page, type PageOptions, pageChecks } from "../../base/page.ts";
import { asPairs, asTextsOrNulls } from "../../base/replies.ts";
import type { Store } from "../../connection/store.ts";
import { CLOCK, countsKey, LAST, shardKeys } from "./keys.ts";
import type { CacheStats } from "./types.ts";

const REPORT_MS = 5_000;
/** Caches that nobody has used for so long are not listed. */
const KEEP_MS = 7 * 86_400_000;

type Counts = { -readonly [name in keyof CacheStats]: number };

const NONE: CacheStats = { hits: 0, staleHits: 0, misses: 0, loads: 0, failures: 0 };
const FIELDS = Object.keys(NONE) as (keyof CacheStats)[];

export class CacheReport {
  readonly #store: Store;
  readonly #key: string;
  readonly #names: NameIndex;
  readonly #name: string;
  readonly #total: Counts = { ...NONE };
  #unsent: Counts = { ...NONE };
  #timer: Timer | null = null;
  #removeFromStore = (): void => {};

  constructor(store: Store, prefix: string, name: string, shards: number) {
    this.#store = store;
    this.#key = countsKey(prefix, name);
    this.#names = new NameIndex(store, { kind: "cache", prefix, keepMs: KEEP_MS, details: { shards } });
    this.#name = name;
  }

  /** Of this process. */
  get total(): CacheStats {
    return { ...this.#total };
  }

  count(what: keyof CacheStats): void {
    this.#total[what]++;
    this.#unsent[what]++;
    this.#store.probe?.counted(this.#name, what);
    if (this.#timer !== null || this.#store.closed) return;
    this.#names.announce(this.#name);
    this.#timer = this.#store.clock.after(REPORT_MS, () => void this.send());
    this.#removeFromStore = this.#store.on("close", () => this.send());
  }

  /** Adds what is not yet told. Does not fail. */
  async send(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = null;
    this.#removeFromStore();
    const counts = this.#unsent;
    this.#unsent = { ...NONE };
    const changed = FIELDS.filter((field) => counts[field] > 0);
    if (changed.length === 0) return;
    await this.#store
      .pipeline([
        ...changed.map((field) => ["HINCRBY", this.#key, field, counts[field]] as const),
        ["PEXPIRE", this.#key, KEEP_MS],
      ])
      .catch(() => {});
  }
}

/** A cache as operators see it. */
export interface CacheInfo {
  /** The name that it was made with. */
  readonly name: string;
  /** How many slots it is spread over. */
  readonly shards: number;
  /** Of all processes, as far as they have told; within some seconds. */
  readonly stats: CacheStats;
}

/** A tag that was invalidated. */
export interface InvalidatedTag {
  /** The tag. */
  readonly tag: string;
  /** When that was, by the server's clock. */
  readonly at: Date;
}

const LIST_OPTIONS = defineOptions<PageOptions>("Caches.list", pageChecks(10_000));
const INVALIDATED_OPTIONS = defineOptions<{ readonly limit?: number }>("Caches.invalidated", {
  limit: whole(1, 10_000),
});
const CACHES_OPTIONS = defineOptions<{ readonly prefix?: string }>("Caches", { prefix });

/**
 * Caches as operators see them.
 *
 * @example
 * await new Cache<number>(db, "prices").get("17", () => 5);
 * const caches = new Caches(db);
 * const { items } = await caches.list();
 * for (const cache of items) console.log(cache.name, cache.stats.hits, await caches.invalidated(cache, { limit: 10 }));
 */
export class Caches {
  readonly #store: Store;
  readonly #prefix: string;
  readonly #names: NameIndex;

  constructor(store: Store, options: { readonly prefix?: string } = {}) {
    CACHES_OPTIONS.check(options);
    this.#store = aStore("Caches", store);
    this.#prefix = options.prefix ?? "cache";
    this.#names = new NameIndex(store, { kind: "cache", prefix: this.#prefix, keepMs: KEEP_MS });
  }

  /** Those that were used in the last week, the latest announced first. */
  async list(options: PageOptions = {}): Promise<Page<CacheInfo>> {
    LIST_OPTIONS.check(options);
    const { items, cursor } = await this.#names.listThings(options);
    const counts = await this.#store.pipeline(
      items.map(({ name }) => ["HMGET", countsKey(this.#prefix, name), ...FIELDS] as const),
    );
    const caches = items.map(({ name, details }, at) => {
      const found = asTextsOrNulls(counts[at]);
      const stats: Counts = { ...NONE };
      for (const [nth, field] of FIELDS.entries()) stats[field] = Number(found[nth] ?? 0);
      return { name, shards: Number(details.shards), stats };
    });
    return { items: caches, cursor };
  }

  /** The tags of a cache that were invalidated last, the latest first. At most `limit` (default 50). */
  async invalidated(
    { name, shards }: Pick<CacheInfo, "name" | "shards">,
    options: { readonly limit?: number } = {},
  ): Promise<InvalidatedTag[]> {
    INVALIDATED_OPTIONS.check(options);
    const { limit = 50 } = options;
    const lists = await this.#store.pipeline(
      Array.from(
        { length: shards },
        (_, shard) => ["ZREVRANGE", shardKeys(this.#prefix, name, shard).tags, 0, limit, "WITHSCORES"] as const,
      ),
    );
    const latest = new Map<string, number>();
    for (const each of lists) {
      for (const [tag, micros] of asPairs(each)) latest.set(tag, Math.max(latest.get(tag) ?? 0, Number(micros)));
    }
    latest.delete(CLOCK);
    latest.delete(LAST);
    return [...latest]
      .sort((a, b) => b[1] - a[1])
      .slice(0, limit)
      .map(([tag, micros]) => ({ tag, at: new Date(micros / 1_000) }));
  }
}
