/** What callers of a cache say and get. */
import type { Codec } from "../../base/codec.ts";
import type { StandardSchema } from "../../base/schema.ts";

export interface CacheOptions<T> {
  readonly prefix?: string;
  /** How long a value is served without revalidation. */
  readonly freshMs?: number;
  /** How long after that it is still given while a new one is made, or when that fails. */
  readonly staleMs?: number;
  /** How long after it was made a value is kept for `staleIfError`; the same in all processes. 0, the default: not at all. */
  readonly errorStaleMs?: number;
  /** Lifetimes are shortened by up to this part at random, so that values made together do not end together. */
  readonly jitter?: number;
  /** How long a value may take to make before another process tries too. */
  readonly leaseMs?: number;
  /** Values are also kept in this process for so long, which bounds how old they can be here. 0: not at all. */
  readonly memoryTtlMs?: number;
  readonly memoryItems?: number;
  /** How long one question to the store may take in all before the value is made without it; 1 000 by default. */
  readonly timeoutMs?: number;
  /** How many slots the cache is spread over. All processes must agree on it. */
  readonly shards?: number;
  readonly codec?: Codec<T>;
  /**
   * Checks what is loaded or set, and what is read (Standard Schema: zod, valibot, arktype …). A stored value that it refuses is as if
   * it were not there. What it makes of a value is stored, so it must accept that again.
   */
  readonly schema?: StandardSchema<unknown, T>;
  readonly maxBytes?: number;
  /** Values larger than this are compressed. */
  readonly compressAboveBytes?: number;
  /** Told of loads that failed behind a stale value, and of a store that cannot be reached. */
  readonly onError?: (error: unknown) => void;
}

export interface EntryOptions {
  readonly tags?: readonly string[];
  readonly freshMs?: number;
  readonly staleMs?: number;
}

export interface StaleIfErrorOptions {
  /** How long the old value is given without trying again; 1 000 by default. */
  readonly retryMs?: number;
  /** The tags that `get` is given: what makes the value invalid makes the old one invalid, too. */
  readonly tags?: readonly string[];
}

export interface AheadOptions extends EntryOptions {
  /** How early a value is made anew: by so many times as long as making takes, on average. 1 by default. */
  readonly eagerness?: number;
}

export interface CacheStats {
  readonly hits: number;
  readonly staleHits: number;
  readonly misses: number;
  readonly loads: number;
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

export type Loader<T> = (loading: Loading) => Promise<T> | T;

export interface Found<T> {
  readonly value: T;
  readonly state: "fresh" | "stale" | "loaded";
  readonly ageMs: number;
}
