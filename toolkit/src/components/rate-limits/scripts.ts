/**
 * All rules of a subject are judged in one script, and charged only if every one of them allows it.
 *
 * - Fixed window: a counter that expires a window after its first hit.
 * - Sliding window: exact. A sorted set holds an entry for each hit of the last window (several for one that costs more);
 *   older ones are dropped on the way. Never more entries than the limit. It lives for two windows from the last time that it was
 *   empty or an entry was dropped: as long as neither happens, its oldest entry is of the last window, so the newest one is safe.
 *   A call that drops entries has to prolong its life.
 * - GCRA: one number, the theoretical arrival time. A hit moves it on by window / limit; it may run ahead of the clock by the
 *   burst, and is kept for as long. Smooth, and a few bytes a subject.
 *
 * Times are the server's, in microseconds, so that limits above a thousand a second are still exact. When its clock goes
 * back, what was charged lies in the future: it counts as charged now, so nobody is refused for longer than a window.
 */

import { ServerError } from "../../base/errors.ts";
import { asList, asListOf, asNumber, asTuple, optional } from "../../base/replies.ts";
import { defineScript } from "../../base/script.ts";
import type { Reply } from "../../connection/port.ts";

export const FIXED = "fixed";
export const SLIDING = "sliding";
export const GCRA = "gcra";

/** Hits of the future count as hits of now. Of a sound clock there are none. */
const HITS_IN_TIME = `
local at = string.format("%.0f", now)
local future = "(" .. at
local function hitsInTime(key)
  if redis.call("ZCOUNT", key, future, "+inf") == 0 then return end
  for _, hit in ipairs(redis.call("ZRANGEBYSCORE", key, future, "+inf")) do redis.call("ZADD", key, at, hit) end
end
`;

/** The server's time in microseconds, before everything else that a script includes. */
const NOW = `
local time = redis.call("TIME")
local now = time[1] * 1000000 + time[2]
`;

/** The arrival time of a bucket. A sound clock never lets it run ahead by more than the tolerance. */
const ARRIVAL_IN_TIME = `
local function arrivalInTime(key, tolerance)
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
  include: [NOW, HITS_IN_TIME, ARRIVAL_IN_TIME],
  lua: `
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
      local ttlMs = 2 * math.ceil(window / 1000) + 1
      if redis.call("ZREMRANGEBYSCORE", key, "-inf", now - window) > 0 then redis.call("PEXPIRE", key, ttlMs) end
      hitsInTime(key)
      local used = redis.call("ZCARD", key)
      local function charge()
        for i = 1, cost do redis.call("ZADD", key, at, unique .. "." .. i) end
        if used == 0 then redis.call("PEXPIRE", key, ttlMs) end
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
      local arrival = arrivalInTime(key, tolerance)
      local after = arrival + each * cost
      local function charge()
        redis.call("SET", key, string.format("%.0f", after), "PX", math.ceil(tolerance / 1000) + 1)
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
 * The same for a limiter with one rule, which most have: as few calls, words and figures as its algorithm allows. Each is a Lua
 * function of a bucket, a cost and a word that is unique to the call, and there are two scripts of each: for one call, and for
 * calls of the same moment (`base/together.ts`), where one that fails answers what went wrong and leaves the others alone.
 *
 * The fixed window answers { remaining, ms until the window ends }; refused, −1 − remaining. The others answer { remaining, time until
 * all is free }; refused, { −1 − remaining, time until all is free, wait }, the times in microseconds. What is the same for all calls
 * of a script stands outside of its function.
 */
const JUDGES = {
  [FIXED]: `
local function judge(bucket, cost)
  local used = redis.call("INCRBY", bucket, cost)
  local left = redis.call("PTTL", bucket)
  if left < 0 or left > tonumber(windowMs) then
    -- The first of its window, or the clock was put back.
    left = tonumber(windowMs)
    redis.call("PEXPIRE", bucket, windowMs)
  end
  if used <= tonumber(limit) then return {limit - used, left} end
  return {-1 - math.max(limit - redis.call("DECRBY", bucket, cost), 0), left}
end
`,
  [SLIDING]: `
local window = windowMs * 1000
local old = string.format("%.0f", now - window)
local function judge(bucket, cost, unique)
  local isPruned = redis.call("ZREMRANGEBYSCORE", bucket, "-inf", old) > 0
  hitsInTime(bucket)
  local used = redis.call("ZCARD", bucket)
  local remaining = limit - used - cost
  if remaining >= 0 then
    for i = 1, tonumber(cost) do redis.call("ZADD", bucket, at, i == 1 and unique or unique .. "." .. i) end
  end
  if isPruned or used == 0 then redis.call("PEXPIRE", bucket, 2 * windowMs + 1) end
  if remaining >= 0 then return {remaining, window} end
  local last = used + cost - limit - 1
  local blocking = redis.call("ZRANGE", bucket, last, last, "WITHSCORES")[2]
  local newest = redis.call("ZRANGE", bucket, -1, -1, "WITHSCORES")[2]
  return {-1 - (limit - used), math.ceil(newest + window - now), math.ceil(blocking + window - now)}
end
`,
  [GCRA]: `
local each = windowMs * 1000 / limit
local tolerance = each * burst
local ttlMs = string.format("%.0f", math.ceil(tolerance / 1000) + 1)
local function judge(bucket, cost)
  local arrival = arrivalInTime(bucket, tolerance)
  local after = arrival + each * cost
  local ahead = after - now
  if ahead > tolerance then
    local remaining = math.max(math.floor((tolerance - (arrival - now)) / each), 0)
    return {-1 - remaining, math.ceil(arrival - now), math.ceil(ahead - tolerance)}
  end
  redis.call("PSETEX", bucket, ttlMs, string.format("%.0f", after))
  return {math.floor((tolerance - ahead) / each), math.ceil(ahead)}
end
`,
} as const;

export type Algorithm = keyof typeof JUDGES;

/** What a rule says of a call. */
export interface Judged {
  readonly allowed: boolean;
  readonly remaining: number;
  readonly retryAfterMs: number;
  readonly resetAfterMs: number;
}

const asTwo = asTuple(asNumber, asNumber);
const asTwoOrThree = asTuple(asNumber, asNumber, optional(asNumber));

function judgedFixed(reply: Reply): Judged {
  const [left, ms] = asTwo(reply);
  if (left >= 0) return { allowed: true, remaining: left, retryAfterMs: 0, resetAfterMs: ms };
  return { allowed: false, remaining: -1 - left, retryAfterMs: ms, resetAfterMs: ms };
}

function judged(reply: Reply): Judged {
  const [left, reset, wait = 0] = asTwoOrThree(reply);
  const resetAfterMs = reset / 1_000;
  if (left >= 0) return { allowed: true, remaining: left, retryAfterMs: 0, resetAfterMs };
  return { allowed: false, remaining: -1 - left, retryAfterMs: wait / 1_000, resetAfterMs };
}

/** What each of them needs beside limit and window, and how its answer is read. */
const NEEDS = {
  [FIXED]: { include: [], rule: [], call: [], read: judgedFixed },
  [SLIDING]: { include: [NOW, HITS_IN_TIME], rule: [], call: ["unique"], read: judged },
  [GCRA]: { include: [NOW, ARRIVAL_IN_TIME], rule: ["burst"], call: [], read: judged },
} as const;

const one = (algorithm: Algorithm) => {
  const { include, rule, call, read } = NEEDS[algorithm];
  return defineScript({
    name: `rate-limits.take-${algorithm}`,
    keys: ["bucket"],
    args: ["cost", "limit", "windowMs", ...rule, ...call],
    include: [...include, JUDGES[algorithm]],
    lua: `return judge(${["bucket", "cost", ...call].join(", ")})`,
    reply: read,
  });
};

/** `costs` is empty where each costs one. */
const many = (algorithm: Algorithm) => {
  const { include, rule, read } = NEEDS[algorithm];
  return defineScript({
    name: `rate-limits.take-${algorithm}-many`,
    keys: [],
    restKeys: "buckets",
    args: ["unique", "limit", "windowMs", ...rule],
    rest: "costs",
    include: [...include, JUDGES[algorithm]],
    lua: `
      local answers = {}
      for at, bucket in ipairs(buckets) do
        local isJudged, answer = pcall(judge, bucket, costs[at] or 1, unique .. "." .. at)
        if not isJudged then answer = type(answer) == "table" and answer.err or tostring(answer) end
        answers[at] = answer
      end
      return answers
    `,
    reply: (reply) => asList(reply).map((each) => (typeof each === "string" ? new ServerError(each) : read(each))),
  });
};

export const takeOne = { [FIXED]: one(FIXED), [SLIDING]: one(SLIDING), [GCRA]: one(GCRA) };
export const takeMany = { [FIXED]: many(FIXED), [SLIDING]: many(SLIDING), [GCRA]: many(GCRA) };
