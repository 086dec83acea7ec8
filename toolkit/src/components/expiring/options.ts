/** What sets and maps have in common: lifetimes, pages, and the names of members. */
import { integer, word } from "../../base/checks.ts";
import { whole } from "../../base/options.ts";
import { type PageOptions, parseScoreCursor } from "../../base/page.ts";
import { NEVER } from "./scripts.ts";

/** So many elements go into one script: a server does nothing else meanwhile. */
export const AT_ONCE = 1_000;
export const MOST_LISTED = 1_000;

/** How long what is added or set lives. */
export interface TtlOptions {
  /** How long the element lives; by default as the structure was made. */
  readonly ttlMs?: number;
}

export const ttlChecks = { ttlMs: whole(1) };

/** How long an element lives from now on. */
export interface RequiredTtl {
  /** How long the element lives from now on. */
  readonly ttlMs: number;
}

export function checkItem(what: string, item: string): string {
  return word(what, item, 65_536);
}

/** Null for what does not end. */
export function endAt(ms: string): Date | null {
  return Number(ms) >= NEVER ? null : new Date(Number(ms));
}

export interface Asked {
  readonly limit: number;
  readonly score: string;
  readonly member: string;
}

/** What a page begins behind. */
export function asked({ limit = 100, cursor }: PageOptions): Asked {
  integer("limit", limit, 1, MOST_LISTED);
  return cursor === undefined ? { limit, score: "", member: "" } : { limit, ...parseScoreCursor(cursor) };
}

/** The cursor of a page whose last element this is, if there are more. */
export function cursorOf(found: readonly (readonly [member: string, score: string])[], limit: number): string | null {
  const last = found.length > limit ? found[limit - 1] : undefined;
  return last === undefined ? null : `${last[1]}~${last[0]}`;
}
