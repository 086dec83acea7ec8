/** What callers of a cache say and get. */
import type { Codec } from "../../base/codec.ts";
import type { StandardSchema } from "../../base/schema.ts";

/** What a `Cache` may be given. */
export interface CacheOptions<T> {
  /** How all keys begin (default "cache"). */
  readonly prefix?: string;
  /** How long a value is served without revalidation. Five minutes by default. */
  readonly freshMs?: number;
  /** How long after that it is still given while a new one is made, or when that fails. 0, the default: not at all. */
  readonly staleMs?: number;
  /** How long after it was made a value is kept for `staleIfError`; the same in all processes. 0, the default: not at all. */
  readonly errorStaleMs?: number;
  /** Lifetimes are shortened by up to this part at random, so that values made together do not end together. From 0 to 1 (default 0.1). */
  readonly jitter?: number;
  /** How long a value may take to make before another process tries too. 30 s by default. */
  readonly leaseMs?: number;
  /** Values are also kept in this process for so long, which bounds how old they can be here. 0, the default: not at all. */
  readonly memoryTtlMs?: number;
  /** How many values this process keeps at most, where `memoryTtlMs` says that it does (default 1 000). */
  readonly memoryItems?: number;
  /** How long one question to the store may take in all before the value is made without it; 1 000 by default. */
  readonly timeoutMs?: number;
  /** How many slots the cache is spread over. All processes must agree on it. By default 16. */
  readonly shards?: number;
  /** How values become text or bytes and come back. JSON by default. */
  readonly codec?: Codec<T>;
  /**
   * Checks what is loaded or set, and what is read (Standard Schema: zod, valibot, arktype …). A stored value that it refuses is as if it
   * were not there. What it makes of a value is stored, so it must accept that again. None by default.
   */
  readonly schema?: StandardSchema<unknown, T>;
  /** Of one value, encoded; a larger one is an InputError (default 16 MiB). */
  readonly maxBytes?: number;
  /** Values larger than this are compressed. By default 1 024. */
  readonly compressAboveBytes?: number;
  /** Called with the error of a load that failed behind a stale value, and of a store that cannot be reached. None by default. */
  readonly onError?: (error: unknown) => void;
}

/** What holds for one value. */
export interface EntryOptions {
  /** Names under which the value can be made invalid together with others. None by default. */
  readonly tags?: readonly string[];
  /** How long it is served without revalidation; by default as the cache was made. */
  readonly freshMs?: number;
  /** How long after that it is still given while a new one is made; by default as the cache was made. */
  readonly staleMs?: number;
}

/** What a loader of `staleIfError` may be given. */
export interface StaleIfErrorOptions {
  /** How long the old value is given without trying again; 1 000 by default. */
  readonly retryMs?: number;
  /** The tags that `get` is given: what makes the value invalid makes the old one invalid, too. None by default. */
  readonly tags?: readonly string[];
}

/** What `getAhead` may be given. */
export interface AheadOptions extends EntryOptions {
  /** How early a value is made anew: by so many times as long as making takes, on average. 1 by default. */
  readonly eagerness?: number;
}

/** Counts of a cache. */
export interface CacheStats {
  /** Questions that were answered with a fresh value; without a loader, with any value. */
  readonly hits: number;
  /** Questions that were answered with a stale one. */
  readonly staleHits: number;
  /** Loads, and questions without a loader that found nothing. */
  readonly misses: number;
  /** Values that were made. */
  readonly loads: number;
  /** Loads that failed. */
  readonly failures: number;
}

/** What a loader can say about the value that it makes. */
export interface Loading {
  /** The value is for the caller only and is not kept; others who wait make their own. */
  skip(): void;
  /** Further tags, known only now. */
  tag(tags: string | readonly string[]): void;
  /** How long this value stays fresh. */
  freshFor(ms: number): void;
}

/** Makes a value. What it rejects with reaches the callers who wait, unless there is a stale value for them. */
export type Loader<T> = (loading: Loading) => Promise<T> | T;

/** A value, and where it came from. */
export interface Found<T> {
  /** The value. */
  readonly value: T;
  /** "fresh" and "stale": it was there. "loaded": it was made for this question. */
  readonly state: "fresh" | "stale" | "loaded";
  /** How long ago it was made; 0 when it was loaded. */
  readonly ageMs: number;
}
