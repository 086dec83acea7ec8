/**
 * What concerns entries whose keys nobody knows: they are found by walking over the keys of the store. In a Cluster each shard is walked
 * over on its own node; elsewhere all of them in one walk. It takes as long as the store has keys, in steps that hold up nobody.
 */

import { asList, asNumber, asText, asTexts } from "../../base/replies.ts";
import { defineScript } from "../../base/script.ts";
import type { Store } from "../../connection/store.ts";

const AT_ONCE = 500;

/**
 * Lua: `each(kind, key)` for every entry ("e") and lease ("l") of the shards that begin with `base`, of one step. The pattern finds
 * shards of caches whose names only begin alike, too: behind the name there must be a number.
 */
const WALK = `
local function walk(each)
  local step = redis.call("SCAN", cursor, "MATCH", pattern, "COUNT", ${AT_ONCE})
  for _, key in ipairs(step[2]) do
    if key:sub(1, #base) == base then
      local shard, kind = key:match("^(%d+)}:([el]):", #base + 1)
      if shard and (only == "" or only == shard) then each(kind, key) end
    end
  end
  return step[1]
end
`;

/** Deletes entries and leases of one step. Answers { next cursor, how many entries }. */
const clearStep = defineScript({
  name: "cache.clear",
  keys: ["tags"],
  args: ["cursor", "pattern", "base", "only"],
  include: [WALK],
  repeatable: true,
  lua: `
    local count = 0
    local next = walk(function(kind, key)
      redis.call("UNLINK", key)
      if kind == "e" then count = count + 1 end
    end)
    return {next, count}
  `,
  reply: (reply) => {
    const [cursor, count] = asList(reply);
    return { cursor: asText(cursor), found: [asNumber(count)] };
  },
});

/** The tags of one step's entries that match a Lua pattern, and the end of all leases: what is being loaded may have such a tag. */
const tagsStep = defineScript({
  name: "cache.tags",
  keys: ["tags"],
  args: ["cursor", "pattern", "base", "only", "wanted"],
  include: [WALK],
  repeatable: true,
  lua: `
    local found, isKnown = {}, {}
    local next = walk(function(kind, key)
      if kind == "l" then redis.call("UNLINK", key)
      else
        for tag in (redis.call("HGET", key, "t") or ""):gmatch("[^\\n]+") do
          if not isKnown[tag] and tag:find(wanted) then
            isKnown[tag] = true
            found[#found + 1] = tag
          end
        end
      end
    end)
    return {next, found}
  `,
  reply: (reply) => {
    const [cursor, found] = asList(reply);
    return { cursor: asText(cursor), found: asTexts(found) };
  },
});

/** The shards of a cache. */
export interface Shards {
  readonly prefix: string;
  readonly name: string;
  /** A key of each. */
  readonly tags: readonly string[];
}

interface Walk {
  readonly tags: string;
  readonly cursor: string;
  readonly pattern: string;
  readonly base: string;
  readonly only: string;
}

async function walkOver<T>(
  store: Store,
  { prefix, name, tags }: Shards,
  step: (walk: Walk) => Promise<{ readonly cursor: string; readonly found: readonly T[] }>,
): Promise<T[]> {
  const base = `${prefix}:{${name}:`;
  const pattern = `${escaped(base)}*`;
  const all: T[] = [];
  const isSpread = store.topology === "cluster";
  for (const [shard, key] of (isSpread ? tags : tags.slice(0, 1)).entries()) {
    let cursor = "0";
    do {
      const next = await step({ tags: key, cursor, pattern, base, only: isSpread ? String(shard) : "" });
      all.push(...next.found);
      cursor = next.cursor;
    } while (cursor !== "0");
  }
  return all;
}

/** What has a meaning in a pattern of SCAN, without it. */
const escaped = (text: string): string => text.replace(/[\\*?[\]^]/g, "\\$&");

/** How many entries were deleted. */
export async function clearShards(store: Store, shards: Shards): Promise<number> {
  const counts = await walkOver(store, shards, (walk) => store.run(clearStep, walk));
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Which tags of entries match: `*` is any text, `?` any character. */
export async function tagsMatching(store: Store, shards: Shards, pattern: string): Promise<string[]> {
  const wanted = `^${pattern
    .replace(/[^\w\s*?\u0080-\uffff]/g, "%$&")
    .replaceAll("*", ".*")
    .replaceAll("?", ".")}$`;
  return [...new Set(await walkOver(store, shards, (walk) => store.run(tagsStep, { ...walk, wanted })))];
}
