/** Options of a cache and of its calls, and their checks. */
import { word } from "../../base/checks.ts";
import { InputError } from "../../base/errors.ts";
import { callback, codec, defineOptions, listOf, number, prefix, schema, text, whole } from "../../base/options.ts";
import type { AheadOptions, CacheOptions, EntryOptions, StaleIfErrorOptions } from "./types.ts";

export const MAX_TAGS = 64;

export const OPTIONS = defineOptions<CacheOptions<unknown>>("Cache", {
  prefix,
  freshMs: whole(1),
  staleMs: whole(0),
  errorStaleMs: whole(0),
  jitter: number(0, 0.999),
  leaseMs: whole(10),
  memoryTtlMs: whole(0),
  memoryItems: whole(1),
  timeoutMs: whole(1),
  shards: whole(1, 16_384),
  codec,
  schema,
  maxBytes: whole(1),
  compressAboveBytes: whole(0),
  onError: callback,
});

/** Of `get`, `getEntry` and `set`. */
export const ENTRY_OPTIONS = defineOptions<EntryOptions>("Cache.get", {
  tags: listOf(text),
  freshMs: whole(1),
  staleMs: whole(0),
});

export const STALE_OPTIONS = defineOptions<StaleIfErrorOptions>("Cache.staleIfError", {
  retryMs: whole(1),
  tags: listOf(text),
});

export const AHEAD_OPTIONS = defineOptions<AheadOptions>("Cache.getAhead", {
  tags: listOf(text),
  freshMs: whole(1),
  staleMs: whole(0),
  eagerness: number(0, 1_000),
});

export const listed = (tags: string | readonly string[]): readonly string[] =>
  typeof tags === "string" ? [tags] : tags;

export function checkTags(tags: readonly string[] = []): void {
  if (tags.length > MAX_TAGS) throw new InputError(`a value has at most ${MAX_TAGS} tags`);
  for (const tag of tags) {
    word("tag", tag, 256);
    if (/[\n\0]/.test(tag)) throw new InputError("a tag must not contain a line break or NUL");
  }
}
