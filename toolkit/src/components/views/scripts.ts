/**
 * Counts that fade: half of what a view was worth is gone after each half-life. Nothing has to be rewritten for that. A later
 * view is worth more instead, by as much as earlier ones have faded, and counts are scaled down when they are read. Only every
 * few hundred half-lives, before the numbers get out of hand, all of them are scaled once.
 *
 * `epoch` is "<when it is> <the server's clock when it was last seen>". When the clock is put back, the epoch goes back with it:
 * views are worth what they were, whatever the step.
 */

import { asNumber, asText, asTexts, asTuple, orNull } from "../../base/replies.ts";
import { defineScript, NOW_MS } from "../../base/script.ts";

/** 2^300 is far from what a double can hold, and 300 half-lives ago is far from worth anything. */
const REBASE_AFTER = 300;

const SCALE = `
local function halfLives(epochMs) return math.max(now - epochMs, 0) / halfLifeMs end
local function scale(epochMs) return 2 ^ halfLives(epochMs) end
local function readEpoch()
  local since, seen = string.match(redis.call("GET", epoch) or "", "^(%-?%d+) ?(%d*)$")
  if not since then return nil, 0 end
  since, seen = tonumber(since), tonumber(seen) or 0
  if now < seen then since = since - (seen - now) end
  return since, seen
end
`;

/** `items` holds two words an item: name, views. */
export const view = defineScript({
  name: "views.add",
  keys: ["counts", "epoch"],
  args: ["halfLifeMs", "maxItems"],
  rest: "items",
  include: [NOW_MS, SCALE],
  lua: `
    local since, seen = readEpoch()
    if not since then
      since = now
    elseif now - since > ${REBASE_AFTER} * halfLifeMs then
      redis.call("ZUNIONSTORE", counts, 1, counts, "WEIGHTS", string.format("%.17g", 1 / scale(since)))
      since, seen = now, 0
    end
    if math.abs(now - seen) >= 1000 then redis.call("SET", epoch, string.format("%.0f %.0f", since, now)) end
    local worth = scale(since)
    for i = 1, #items, 2 do redis.call("ZINCRBY", counts, string.format("%.17g", worth * items[i + 1]), items[i]) end
    -- Some over, so that not every view has to trim.
    if redis.call("ZCARD", counts) > maxItems * 1.05 then redis.call("ZREMRANGEBYRANK", counts, 0, -1 - maxItems) end
    return 1
  `,
});

/** { half-lives since the epoch, flat items }. The power itself would be infinite after some thousand of them. */
export const top = defineScript({
  name: "views.top",
  keys: ["counts", "epoch"],
  args: ["halfLifeMs", "from", "to"],
  include: [NOW_MS, SCALE],
  repeatable: true,
  lua: `
    local since = readEpoch() or now
    return {string.format("%.17g", halfLives(since)), redis.call("ZREVRANGE", counts, from, to, "WITHSCORES")}
  `,
  reply: asTuple(asText, asTexts),
});

/** { half-lives since the epoch, score or nil, rank or nil } */
export const standing = defineScript({
  name: "views.standing",
  keys: ["counts", "epoch"],
  args: ["halfLifeMs", "item"],
  include: [NOW_MS, SCALE],
  repeatable: true,
  lua: `
    local since = readEpoch() or now
    local score = redis.call("ZSCORE", counts, item)
    if not score then return nil end
    return {string.format("%.17g", halfLives(since)), score, redis.call("ZREVRANK", counts, item)}
  `,
  reply: orNull(asTuple(asText, asText, asNumber)),
});
