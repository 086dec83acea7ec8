/** Listings: one shape of page, one pair of options, the same in every component. */

import type { Store } from "../connection/store.ts";
import { InputError } from "./errors.ts";
import { text, whole } from "./options.ts";
import { asPairs } from "./replies.ts";

export interface Page<T> {
  readonly items: readonly T[];
  /** Give it back as `cursor` for the next page. Null: this was the last one. */
  readonly cursor: string | null;
}

/** What every listing takes. */
export interface PageOptions {
  /** At most so many items; 100 by default, unless the method says otherwise. */
  readonly limit?: number;
  /** `cursor` of the page before; by default the first page. */
  readonly cursor?: string;
}

/** Checks for the options of a listing: `defineOptions<PageOptions>("Stats.list", pageChecks(10_000))`. */
export const pageChecks = (most: number) => ({ limit: whole(1, most), cursor: text });

/**
 * A page of a sorted set, the highest score first, members of one score in descending order. The cursor names the last member that
 * was given and its score, so members that come or go meanwhile neither hide others nor show them twice. `sinceMs`: the lowest score.
 */
export async function pageByScore(
  store: Pick<Store, "call">,
  key: string,
  {
    limit,
    cursor,
    sinceMs,
  }: { readonly limit: number; readonly cursor: string | undefined; readonly sinceMs?: number },
): Promise<Page<string>> {
  const after = cursor === undefined ? null : parseScoreCursor(cursor);
  const found: { readonly member: string; readonly score: string }[] = [];
  // One more than asked for, to know whether there is a next page.
  const atOnce = limit + 1;
  for (let skipped = 0; found.length <= limit; skipped += atOnce) {
    const words = [
      "ZREVRANGEBYSCORE",
      key,
      after?.score ?? "+inf",
      sinceMs ?? "-inf",
      "WITHSCORES",
      "LIMIT",
      skipped,
      atOnce,
    ];
    const scored = asPairs(await store.call(...words));
    for (const [member, score] of scored) {
      // What has the cursor's score and is not below it was on the page before.
      if (score === after?.score && Buffer.compare(Buffer.from(member), Buffer.from(after.member)) >= 0) continue;
      found.push({ member, score });
    }
    if (scored.length < atOnce) break;
  }
  const last = found.length > limit ? found[limit - 1] : undefined;
  return {
    items: found.slice(0, limit).map(({ member }) => member),
    cursor: last === undefined ? null : `${last.score}~${last.member}`,
  };
}

/** The parts of a cursor that names a member and its score. */
export function parseScoreCursor(cursor: string): { readonly score: string; readonly member: string } {
  const at = cursor.indexOf("~");
  const score = cursor.slice(0, at);
  if (at < 1 || !Number.isFinite(Number(score))) throw new InputError("cursor is not one that list() gave");
  return { score, member: cursor.slice(at + 1) };
}
