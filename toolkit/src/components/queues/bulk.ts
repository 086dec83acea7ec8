/**
 * What concerns many at once: the same done to many jobs, one round trip for every 500 of a shard, with one result for each in the order
 * given; and pages over all shards.
 */

import { InputError } from "../../base/errors.ts";
import { only, zipped } from "../../base/lists.ts";
import type { Page, PageOptions } from "../../base/page.ts";
import { settled } from "../../base/together.ts";
import type { Shard } from "./answers.ts";

/** In one call of a script; more are sent in several. */
export const BULK_CHUNK = 500;

export async function inBulk<I, O>(
  items: readonly I[],
  shardOf: (item: I) => Shard,
  run: (shard: Shard, items: readonly I[]) => Promise<readonly O[]>,
): Promise<O[]> {
  const parts = new Map<Shard, { readonly item: I; readonly at: number }[]>();
  items.forEach((item, at) => {
    const shard = shardOf(item);
    const part = parts.get(shard);
    if (part === undefined) parts.set(shard, [{ item, at }]);
    else part.push({ item, at });
  });
  const results: O[] = new Array(items.length);
  const calls: Promise<void>[] = [];
  for (const [shard, part] of parts) {
    for (let from = 0; from < part.length; from += BULK_CHUNK) {
      const some = part.slice(from, from + BULK_CHUNK);
      const call = run(
        shard,
        some.map(({ item }) => item),
      );
      calls.push(
        call.then((found) => {
          for (const [{ at }, result] of zipped(some, found)) results[at] = result;
        }),
      );
    }
  }
  await settled(calls);
  return results;
}

/** Of one. */
export async function alone<I, O>(
  item: I,
  shardOf: (item: I) => Shard,
  run: (shard: Shard, items: readonly I[]) => Promise<readonly O[]>,
): Promise<O> {
  return only(await run(shardOf(item), [item]));
}

/** A page of what stands in the shards by name, shard after shard; the cursor names the shard and the last one. */
export async function pageByName<I extends { readonly name: string }>(
  shards: readonly Shard[],
  { limit = 100, cursor = "0." }: PageOptions,
  read: (shard: Shard, after: string, most: number) => Promise<I[]>,
): Promise<Page<I>> {
  const [, first, last = ""] = /^(\d+)\.([\s\S]*)$/.exec(cursor) ?? [];
  if (first === undefined) throw new InputError(`"${cursor}" is no cursor`);
  const items: I[] = [];
  for (const shard of shards.slice(Number(first))) {
    const after = shard.index === Number(first) ? last : "";
    items.push(...(await read(shard, after, limit - items.length)));
    if (items.length === limit) return { items, cursor: `${shard.index}.${items.at(-1)?.name}` };
  }
  return { items, cursor: null };
}
