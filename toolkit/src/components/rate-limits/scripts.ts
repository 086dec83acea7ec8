/**
 * All rules of a subject are judged in one script, and charged only if every one of them allows it.
 *
 * - Fixed window: a counter that expires a window after its first hit.
 * - Sliding window: exact. A sorted set holds an entry for each hit of the last window (several for one that costs more);
 *   older ones are dropped on the way. Never more entries than the limit.
 * - GCRA: one number, the theoretical arrival time. A hit moves it on by window / limit; it may run ahead of the clock by the
 *   burst. Smooth, and a few bytes a subject.
 *
 * Times are the server's, in microseconds, so that limits above a thousand a second are still exact. When its clock goes
 * back, what was charged lies in the future: it counts as charged now, so nobody is refused for longer than a window.
 */

import { asListOf, asNumber, asTuple } from "../../base/replies.ts";
import { defineScript } from "../../base/script.ts";

export const FIXED = "fixed";
export const SLIDING = "sliding";
export const GCRA = "gcra";

/** Hits of the future count as hits of now. Of a sound clock there are none. */
const HITS_IN_TIME = `
local function hitsInTime(key, now)
  local at = string.format("%.0f", now)
  for _, hit in ipairs(redis.call("ZRANGEBYSCORE", key, "(" .. at, "+inf")) do redis.call("ZADD", key, at, hit) end
end
`;

/** The arrival time of a bucket. A sound clock never lets it run ahead by more than the tolerance. */
const ARRIVAL_IN_TIME = `
local function arrivalInTime(key, now, tolerance)
  local arrival = tonumber(redis.call("GET", key) or 0)
  if arrival <= now + tolerance + 1 then return math.max(arrival, now) end
  arrival = now + tolerance
  redis.call("SET", key, string.format("%.0f", arrival), "PX", math.ceil(tolerance / 1000) + 1)
  return arrival
end
`;

/** `rules` holds five words a rule: kind, limit, window in µs, burst, a word unique to this call. Mode "look" charges nothing. */
export const take = defineScript({
  name: "rate-limits.take",
  keys: [],
  restKeys: "buckets",
  args: ["cost", "mode"],
  rest: "rules",
  include: [HITS_IN_TIME, ARRIVAL_IN_TIME],
  lua: `
    local time = redis.call("TIME")
    local now = time[1] * 1000000 + time[2]
    local verdicts, charges = {}, {}
    local allowed = 1
    cost = tonumber(cost)

    local judge = {}

    -- Each answers: remaining after the charge (or now, if refused), wait until it would be allowed, time until all is free;
    -- the two times in microseconds. And what to do if every rule allows it.
    function judge.fixed(key, limit, window)
      local used = tonumber(redis.call("GET", key) or 0)
      local left = redis.call("PTTL", key) * 1000
      if left > window then redis.call("PEXPIRE", key, math.ceil(window / 1000)) end
      if left < 0 or left > window then left = window end
      local function charge()
        if redis.call("INCRBY", key, cost) == cost then redis.call("PEXPIRE", key, math.ceil(window / 1000)) end
      end
      if used + cost > limit then return limit - used, left, left end
      return limit - used - cost, 0, left, charge
    end

    function judge.sliding(key, limit, window, _, unique)
      redis.call("ZREMRANGEBYSCORE", key, "-inf", now - window)
      hitsInTime(key, now)
      local used = redis.call("ZCARD", key)
      local function charge()
        for i = 1, cost do redis.call("ZADD", key, string.format("%.0f", now), unique .. "." .. i) end
        redis.call("PEXPIRE", key, math.ceil(window / 1000) + 1)
      end
      if used + cost <= limit then return limit - used - cost, 0, window, charge end
      -- So many of the oldest hits must leave the window first.
      local last = used + cost - limit - 1
      local blocking = redis.call("ZRANGE", key, last, last, "WITHSCORES")[2]
      local newest = redis.call("ZRANGE", key, -1, -1, "WITHSCORES")[2]
      return limit - used, blocking + window - now, newest + window - now
    end

    function judge.gcra(key, limit, window, burst)
      local each = window / limit
      local tolerance = each * burst
      local arrival = arrivalInTime(key, now, tolerance)
      local after = arrival + each * cost
      local function charge()
        redis.call("SET", key, string.format("%.0f", after), "PX", math.ceil((after - now) / 1000) + 1)
      end
      if after - now > tolerance then
        return math.floor((tolerance - (arrival - now)) / each), after - now - tolerance, arrival - now
      end
      return math.floor((tolerance - (after - now)) / each), 0, after - now, charge
    end

    for at, bucket in ipairs(buckets) do
      local rule = (at - 1) * 5
      local remaining, wait, reset, charge = judge[rules[rule + 1]](
        bucket, tonumber(rules[rule + 2]), tonumber(rules[rule + 3]), tonumber(rules[rule + 4]), rules[rule + 5])
      if not charge then allowed = 0 end
      charges[at] = charge
      verdicts[at] = {math.max(remaining, 0), math.ceil(wait), math.ceil(reset)}
    end
    if allowed == 1 and mode == "take" then
      for _, charge in ipairs(charges) do charge() end
    end
    return {allowed, verdicts}
  `,
  reply: asTuple(asNumber, asListOf(asTuple(asNumber, asNumber, asNumber))),
});

/**
 * The same for a limiter with one rule, which most have: as few calls, words and figures as its algorithm allows.
 *
 * The fixed window answers { used, ms until the window ends }; refused, what was used before, less than zero: −1 − used.
 */
export const takeFixed = defineScript({
  name: "rate-limits.take-fixed",
  keys: ["bucket"],
  args: ["cost", "limit", "windowMs"],
  lua: `
    local used = redis.call("INCRBY", bucket, cost)
    local left = redis.call("PTTL", bucket)
    if left < 0 or left > tonumber(windowMs) then
      -- The first of its window, or the clock was put back.
      left = tonumber(windowMs)
      redis.call("PEXPIRE", bucket, windowMs)
    end
    if used > tonumber(limit) then return {-1 - redis.call("DECRBY", bucket, cost), left} end
    return {used, left}
  `,
  reply: asTuple(asNumber, asNumber),
});

/** The others answer { 1 or 0, remaining, wait, time until all is free }, the times in microseconds. */
const LEAN: Readonly<Record<string, string>> = {
  [SLIDING]: `
    local time = redis.call("TIME")
    local now = time[1] * 1000000 + time[2]
    redis.call("ZREMRANGEBYSCORE", bucket, "-inf", now - window)
    hitsInTime(bucket, now)
    local used = redis.call("ZCARD", bucket)
    if used + cost <= tonumber(limit) then
      local at = string.format("%.0f", now)
      for i = 1, tonumber(cost) do redis.call("ZADD", bucket, at, unique .. "." .. i) end
      redis.call("PEXPIRE", bucket, math.ceil(window / 1000) + 1)
      return {1, limit - used - cost, 0, tonumber(window)}
    end
    local last = used + cost - limit - 1
    local blocking = redis.call("ZRANGE", bucket, last, last, "WITHSCORES")[2]
    local newest = redis.call("ZRANGE", bucket, -1, -1, "WITHSCORES")[2]
    return {0, limit - used, math.ceil(blocking + window - now), math.ceil(newest + window - now)}
  `,
  [GCRA]: `
    local time = redis.call("TIME")
    local now = time[1] * 1000000 + time[2]
    local each = window / limit
    local tolerance = each * burst
    local arrival = arrivalInTime(bucket, now, tolerance)
    local after = arrival + each * cost
    local ahead = after - now
    if ahead > tolerance then
      return {0, math.max(math.floor((tolerance - (arrival - now)) / each), 0), math.ceil(ahead - tolerance), math.ceil(arrival - now)}
    end
    redis.call("SET", bucket, string.format("%.0f", after), "PX", math.ceil(ahead / 1000) + 1)
    return {1, math.floor((tolerance - ahead) / each), 0, math.ceil(ahead)}
  `,
};

const lean = (algorithm: string) =>
  defineScript({
    name: `rate-limits.take-${algorithm}`,
    keys: ["bucket"],
    args: ["cost", "limit", "window", algorithm === SLIDING ? "unique" : "burst"],
    include: algorithm === SLIDING ? [HITS_IN_TIME] : [ARRIVAL_IN_TIME],
    lua: LEAN[algorithm]!,
    reply: asTuple(asNumber, asNumber, asNumber, asNumber),
  });

export const takeSliding = lean(SLIDING);
export const takeGcra = lean(GCRA);
