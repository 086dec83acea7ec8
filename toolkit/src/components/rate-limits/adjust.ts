/**
 * What is done to a subject beside judging its calls: charging and giving back, and keeping it away.
 *
 * A block stands in the place of the subject's buckets: each is a hash until the block is over, which no algorithm keeps. So the
 * scripts that judge fail on it by themselves and ask for nothing more while nobody is blocked; only then is the block looked up.
 */

import { ServerError } from "../../base/errors.ts";
import { asListOf, asNumber, asTuple } from "../../base/replies.ts";
import { defineScript } from "../../base/script.ts";

/** The field of a block that says when it ends, in milliseconds. */
const UNTIL = "until";

/**
 * Charges (`amount` above 0) or gives back. Nobody is charged for more than there is, nor given more than was charged. `rules` holds
 * five words a rule, as for `take`. Answers for each rule what `take` does: remaining, wait, time until all is free, in microseconds.
 */
export const adjust = defineScript({
  name: "rate-limits.adjust",
  keys: [],
  restKeys: "buckets",
  args: ["amount"],
  rest: "rules",
  lua: `
    local time = redis.call("TIME")
    local now = time[1] * 1000000 + time[2]
    amount = tonumber(amount)
    local function text(number) return string.format("%.0f", number) end
    local function within(least, number, most) return math.max(least, math.min(number, most)) end
    local settle = {}

    function settle.fixed(key, limit, window)
      local left = redis.call("PTTL", key) * 1000
      if left < 0 or left > window then left = window end
      local used = within(0, tonumber(redis.call("GET", key) or 0) + amount, limit)
      if used == 0 then redis.call("DEL", key) else redis.call("SET", key, used, "PX", math.ceil(left / 1000)) end
      return limit - used, used < limit and 0 or left, used == 0 and 0 or left
    end

    function settle.sliding(key, limit, window, _, unique)
      redis.call("ZREMRANGEBYSCORE", key, "-inf", text(now - window))
      local used = redis.call("ZCARD", key)
      if amount > 0 then
        for i = 1, math.min(amount, limit - used) do redis.call("ZADD", key, text(now), unique .. ".p" .. i) end
      elseif used > 0 then redis.call("ZREMRANGEBYRANK", key, math.max(amount, -used), -1) end
      redis.call("PEXPIRE", key, 2 * math.ceil(window / 1000) + 1)
      used = redis.call("ZCARD", key)
      local oldest = redis.call("ZRANGE", key, 0, 0, "WITHSCORES")[2]
      local newest = redis.call("ZRANGE", key, -1, -1, "WITHSCORES")[2]
      return limit - used, used < limit and 0 or oldest + window - now, newest and newest + window - now or 0
    end

    function settle.gcra(key, limit, window, burst)
      local each = window / limit
      local tolerance = each * burst
      local before = within(now, tonumber(redis.call("GET", key) or 0), now + tolerance)
      local arrival = within(now, before + each * amount, now + tolerance)
      if arrival == now then redis.call("DEL", key)
      else redis.call("SET", key, text(arrival), "PX", math.ceil(tolerance / 1000) + 1) end
      local left = math.floor((tolerance - (arrival - now)) / each)
      return left, left >= 1 and 0 or arrival - now + each - tolerance, arrival - now
    end

    -- All are looked at before one is changed: a blocked one fails here.
    for at, bucket in ipairs(buckets) do
      redis.call(rules[5 * at - 4] == "sliding" and "ZCARD" or "GET", bucket)
    end
    local verdicts = {}
    for at, bucket in ipairs(buckets) do
      local rule = (at - 1) * 5
      local remaining, wait, reset = settle[rules[rule + 1]](
        bucket, tonumber(rules[rule + 2]), tonumber(rules[rule + 3]), tonumber(rules[rule + 4]), rules[rule + 5])
      verdicts[at] = {math.max(remaining, 0), math.ceil(wait), math.ceil(reset)}
    end
    return verdicts
  `,
  reply: asListOf(asTuple(asNumber, asNumber, asNumber)),
});

export const block = defineScript({
  name: "rate-limits.block",
  keys: [],
  restKeys: "buckets",
  args: ["ttlMs"],
  repeatable: true,
  lua: `
    local time = redis.call("TIME")
    local ends = time[1] * 1000 + math.floor(time[2] / 1000) + ttlMs
    for _, bucket in ipairs(buckets) do
      redis.call("DEL", bucket)
      redis.call("HSET", bucket, "${UNTIL}", string.format("%.0f", ends))
      redis.call("PEXPIRE", bucket, ttlMs)
    end
    return 1
  `,
});

/** 1: the subject was blocked. */
export const unblock = defineScript({
  name: "rate-limits.unblock",
  keys: [],
  restKeys: "buckets",
  repeatable: true,
  lua: `
    local found = 0
    for _, bucket in ipairs(buckets) do
      if redis.call("TYPE", bucket).ok == "hash" then
        redis.call("DEL", bucket)
        found = 1
      end
    end
    return found
  `,
  reply: (reply) => asNumber(reply) === 1,
});

/**
 * For how many milliseconds the subject is blocked: 1 for a block that has ended since, −1 where a bucket is neither a block nor of the
 * type that its rule keeps, which `kinds` has.
 */
export const blockedFor = defineScript({
  name: "rate-limits.blocked",
  keys: [],
  restKeys: "buckets",
  rest: "kinds",
  repeatable: true,
  lua: `
    local isForeign = false
    for at, bucket in ipairs(buckets) do
      local kind = redis.call("TYPE", bucket).ok
      if kind == "hash" and redis.call("HEXISTS", bucket, "${UNTIL}") == 1 then return math.max(redis.call("PTTL", bucket), 1) end
      isForeign = isForeign or (kind ~= "none" and kind ~= kinds[at])
    end
    return isForeign and -1 or 1
  `,
  reply: asNumber,
});

/** What a script says that has met a block. Servers before Redis 7 put words of their own before it. */
export function metABlock(error: unknown): boolean {
  return error instanceof ServerError && error.message.includes("WRONGTYPE");
}
