/** The handlers, by the interfaces that Next.js asks for. Neither imports Next.js: it loads them. */
import { callback, defineOptions, prefix } from "../../base/options.ts";
import type { Store } from "../../connection/store.ts";
import { decode, encode } from "../shared/bytes-json.ts";
import { NextEntries } from "./entries.ts";

/** Where a cache handler keeps its entries. */
export interface NextCacheOptions {
  /** The first word of the keys; "next" by default. Say which build it is where builds must not see each other's entries. */
  readonly prefix?: string;
  /** Called with what went wrong; pages are rendered without the cache meanwhile. None by default. */
  readonly onError?: (error: unknown) => void;
}

const OPTIONS = defineOptions<NextCacheOptions>("useCacheHandler", { prefix, onError: callback });

type Connect = () => Store | Promise<Store>;

interface EntryFacts {
  readonly tags: string[];
  readonly stale: number;
  readonly timestamp: number;
  readonly expire: number;
  readonly revalidate: number;
}

interface Entry extends EntryFacts {
  readonly value: ReadableStream<Uint8Array>;
}

/** What `cacheHandlers` of next.config names. */
interface UseCacheHandler {
  get(cacheKey: string, softTags: string[]): Promise<Entry | undefined>;
  set(cacheKey: string, pendingEntry: Promise<Entry>): Promise<void>;
  refreshTags(): Promise<void>;
  getExpiration(tags: string[]): Promise<number>;
  updateTags(tags: string[], durations?: { expire?: number }): Promise<void>;
}

function entriesOf(connect: Connect, options: NextCacheOptions, kind: string): NextEntries {
  return new NextEntries(connect, `${options.prefix ?? "next"}-${kind}`, options.onError ?? (() => {}));
}

/**
 * For `use cache`: the default export of a module that `cacheHandlers` in next.config names. Connects with the first use.
 * @example
 * const handler = useCacheHandler(() => db, { prefix: "shop" });
 * await handler.get("page", []); // → undefined
 */
export function useCacheHandler(connect: Connect, options: NextCacheOptions = {}): UseCacheHandler {
  OPTIONS.check(options);
  const entries = entriesOf(connect, options, "use-cache");
  /** Entries that this process is writing: calls that ask for one wait. */
  const pending = new Map<string, Promise<void>>();
  const write = async (cacheKey: string, pendingEntry: Promise<Entry>): Promise<void> => {
    const { value, ...facts } = await pendingEntry;
    if (facts.expire <= 0) return;
    const body = Buffer.from(await new Response(value).arrayBuffer());
    const stored = Buffer.concat([Buffer.from(`${JSON.stringify(facts)}\n`, "utf8"), body]);
    await entries.set(cacheKey, stored, facts.expire * 1_000);
  };
  return {
    async get(cacheKey, softTags) {
      await pending.get(cacheKey);
      const stored = await entries.get(cacheKey);
      if (stored === null) return undefined;
      const at = stored.indexOf("\n");
      const facts: EntryFacts = JSON.parse(stored.toString("utf8", 0, at));
      const { expired, stale } = await entries.freshness([...facts.tags, ...softTags], facts.timestamp);
      if (expired) return undefined;
      const body = new Uint8Array(stored.subarray(at + 1));
      const value = new Blob([body]).stream();
      return { ...facts, value, ...(stale && { revalidate: -1 }) };
    },
    async set(cacheKey, pendingEntry) {
      const writing = write(cacheKey, pendingEntry);
      const settled = writing.catch(() => {});
      pending.set(cacheKey, settled);
      try {
        await writing;
      } finally {
        if (pending.get(cacheKey) === settled) pending.delete(cacheKey);
      }
    },
    // Tags are looked at with each entry: nothing is kept here that could be old.
    refreshTags: async () => {},
    getExpiration: (tags) => entries.expiration(tags),
    updateTags: (tags, durations) => entries.revalidate(tags, durations?.expire),
  };
}

interface IncrementalContext {
  readonly kind?: string;
  readonly tags?: readonly string[];
  readonly softTags?: readonly string[];
  readonly cacheControl?: { readonly revalidate?: number | false; readonly expire?: number };
}

interface IncrementalEntry {
  readonly lastModified: number;
  readonly value: unknown;
  readonly tags: readonly string[];
  readonly cacheControl?: IncrementalContext["cacheControl"];
}

/** How long pages live that never have to be rendered anew. */
const FOR_EVER_MS = 30 * 86_400_000;

/**
 * For ISR and `fetch`: the default export of the module that `cacheHandler` in next.config names. It is a class, as Next.js asks.
 * @example
 * const CacheHandler = incrementalCacheHandler(() => db, { prefix: "shop" });
 * await new CacheHandler().get("/products"); // → null
 */
export function incrementalCacheHandler(connect: Connect, options: NextCacheOptions = {}) {
  OPTIONS.check(options);
  const entries = entriesOf(connect, options, "isr");
  return class CinnabarCacheHandler {
    async get(key: string, context: IncrementalContext = {}) {
      const stored = await entries.get(key);
      if (stored === null) return null;
      const entry = decode(stored.toString("utf8")) as IncrementalEntry;
      const tags = [...entry.tags, ...(context.tags ?? []), ...(context.softTags ?? [])];
      const { expired, stale } = await entries.freshness(tags, entry.lastModified);
      if (expired) return null;
      const { lastModified, value, cacheControl } = entry;
      // An old time lets Next.js make a new one behind the caller's back.
      return { lastModified: stale ? 1 : lastModified, value, ...(cacheControl !== undefined && { cacheControl }) };
    }

    async set(key: string, value: unknown, context: IncrementalContext = {}): Promise<void> {
      if (value === null) return void (await entries.delete(key));
      const lastModified = await entries.nowMs();
      const tags = [...new Set([...tagsIn(value), ...(context.tags ?? [])])];
      const { cacheControl } = context;
      const entry: IncrementalEntry = {
        lastModified,
        value,
        tags,
        ...(cacheControl !== undefined && { cacheControl }),
      };
      const expire = cacheControl?.expire;
      await entries.set(key, encode(entry), expire === undefined ? FOR_EVER_MS : expire * 1_000);
    }

    revalidateTag(tags: string | readonly string[], durations?: { readonly expire?: number }): Promise<void> {
      return entries.revalidate(typeof tags === "string" ? [tags] : tags, durations?.expire);
    }

    /** Nothing is kept for a request. */
    resetRequestCache(): void {}
  };
}

/** Pages and routes carry their tags in a header, answers of `fetch` in a field. */
function tagsIn(value: unknown): string[] {
  const { headers, tags } = value as { headers?: Record<string, unknown>; tags?: string[] };
  const listed = headers?.["x-next-cache-tags"];
  return [...(typeof listed === "string" ? listed.split(",") : []), ...(tags ?? [])];
}
