/**
 * Rows are due at a time. A worker claims some that are: they become due again when its lease would be over, and the claim has a
 * number. What it loads is taken only under that number. So of many workers one refreshes a row, a worker that dies costs one
 * lease, and one that was too slow cannot overwrite what came after it.
 *
 * When the server's clock is put back, the next claim sees it and moves all times with it.
 */

import { asListOf, asTextOrNumber } from "../../base/replies.ts";
import { defineScript, NOW_MS } from "../../base/script.ts";

/** Schedules a row, due at once; 0 or less takes it out, with its data. 0: it is a new one, and there are `maxRows` already. */
export const schedule = defineScript({
  name: "row-cache.schedule",
  keys: ["due", "every", "claims", "failures", "row"],
  args: ["id", "everyMs", "maxRows"],
  include: [NOW_MS],
  repeatable: true,
  lua: `
    if tonumber(everyMs) <= 0 then
      redis.call("ZREM", due, id)
      redis.call("HDEL", claims, id)
      redis.call("HDEL", failures, id)
      redis.call("DEL", row)
      redis.call("HDEL", every, id)
      return 1
    end
    if redis.call("HEXISTS", every, id) == 0 and redis.call("HLEN", every) >= tonumber(maxRows) then return 0 end
    redis.call("HSET", every, id, everyMs)
    local at = redis.call("ZSCORE", due, id)
    -- A row that is being refreshed stays with its claim; one that is due later than its new interval allows comes earlier.
    if not at then redis.call("ZADD", due, now, id)
    elseif tonumber(at) > now + everyMs then redis.call("ZADD", due, now + everyMs, id) end
    return 1
  `,
  reply: (reply) => reply === 1,
});

/** Claims rows that are due: { ms until the next is due or -1, id, number, id, number … }. */
export const claim = defineScript({
  name: "row-cache.claim",
  keys: ["due", "claims", "next", "clock"],
  args: ["most", "leaseMs"],
  include: [NOW_MS],
  lua: `
    local last = tonumber(redis.call("GET", clock) or 0)
    if last - now > 1000 then
      local all = redis.call("ZRANGE", due, 0, -1, "WITHSCORES")
      for i = 1, #all, 2 do redis.call("ZADD", due, all[i + 1] - (last - now), all[i]) end
    end
    if math.abs(now - last) > 1000 then redis.call("SET", clock, now) end
    local found = redis.call("ZRANGEBYSCORE", due, "-inf", now, "LIMIT", 0, most)
    local claimed = {0}
    for _, id in ipairs(found) do
      local number = redis.call("INCR", next)
      redis.call("HSET", claims, id, number)
      redis.call("ZADD", due, now + leaseMs, id)
      claimed[#claimed + 1] = id
      claimed[#claimed + 1] = number
    end
    local first = redis.call("ZRANGE", due, 0, 0, "WITHSCORES")
    claimed[1] = first[2] and math.max(0, first[2] - now) or -1
    return claimed
  `,
  reply: asListOf(asTextOrNumber),
});

/** Takes a loaded row under its claim. Outcome "gone" means that there is no such row any more: it is taken out. */
export const done = defineScript({
  name: "row-cache.done",
  keys: ["due", "every", "claims", "failures", "row"],
  args: ["id", "number", "outcome", "value", "backoffMs"],
  include: [NOW_MS],
  repeatable: true,
  lua: `
    if redis.call("HGET", claims, id) ~= number then return 0 end
    redis.call("HDEL", claims, id)
    local everyMs = tonumber(redis.call("HGET", every, id) or 0)
    if everyMs <= 0 or outcome == "gone" then
      redis.call("ZREM", due, id)
      redis.call("HDEL", every, id)
      redis.call("HDEL", failures, id)
      redis.call("DEL", row)
    elseif outcome == "failed" then
      local failed = redis.call("HINCRBY", failures, id, 1)
      redis.call("ZADD", due, now + math.min(backoffMs * 2 ^ math.min(failed - 1, 20), math.max(everyMs, 3600000)), id)
    else
      redis.call("HDEL", failures, id)
      redis.call("SET", row, value)
      redis.call("ZADD", due, now + everyMs, id)
    end
    return 1
  `,
  reply: (reply) => reply === 1,
});
