/**
 * A value is added to the hash of the running hour; the first one of a new hour makes that hash the last hour's. The variance is
 * kept by Welford's method (mean and sum of squared deviations), since the plain sum of squares loses all its digits when values
 * are large and close together. Squares of values beyond 1e154 are too large for a double: from the first such sum on, the squared
 * deviations are kept as a part of 2^1024 (`wide`).
 */

import { HOUR_MS, HOURLY } from "../../base/hourly.ts";
import { asList, asNumber, asTexts, asTuple } from "../../base/replies.ts";
import { defineScript, NOW_MS } from "../../base/script.ts";

/** The unit of deviations that are too large to be squared. */
export const WIDE = 2 ** 512;

/** `values` holds two words a value: the value and its bucket. */
export const record = defineScript({
  name: "stats.record",
  keys: ["current", "last"],
  rest: "values",
  include: [NOW_MS],
  lua: `
    local WIDE = 2 ^ 512
    local hour = math.floor(now / ${HOUR_MS})
    local stored = redis.call("HMGET", current, "hour", "count", "min", "max", "mean", "m2", "wide")
    local count, mean, m2 = tonumber(stored[2] or 0), tonumber(stored[5] or 0), tonumber(stored[6] or 0)
    local least, most, wide = tonumber(stored[3]), tonumber(stored[4]), tonumber(stored[7])
    if stored[1] and tonumber(stored[1]) < hour then
      if tonumber(stored[1]) == hour - 1 then redis.call("RENAME", current, last) else redis.call("DEL", current, last) end
      count, mean, m2, least, most, wide = 0, 0, 0, nil, nil, nil
    end
    for i = 1, #values, 2 do
      local value = tonumber(values[i])
      count = count + 1
      local before, off = mean, value - mean
      if math.abs(off) < math.huge then mean = mean + off / count else mean = mean + (value / count - mean / count) end
      local sum = m2 + off * (value - mean)
      if wide or not (sum < math.huge) then
        wide = (wide or m2 / WIDE / WIDE) + (value / WIDE - before / WIDE) * (value / WIDE - mean / WIDE)
      else
        m2 = sum
      end
      if not least or value < least then least = value end
      if not most or value > most then most = value end
      redis.call("HINCRBY", current, "b" .. values[i + 1], 1)
    end
    local text = function(number) return string.format("%.17g", number) end
    redis.call("HSET", current, "hour", hour, "count", count, "min", text(least), "max", text(most), "mean", text(mean), "m2", text(m2))
    if wide then redis.call("HSET", current, "wide", text(wide)) end
    redis.call("PEXPIRE", current, ${2 * HOUR_MS})
    return text(mean)
  `,
  reply: Number,
});

/** { hour now, current, last } */
export const read = defineScript({
  name: "stats.read",
  keys: ["current", "last"],
  include: [NOW_MS],
  repeatable: true,
  lua: `return {math.floor(now / ${HOUR_MS}), redis.call("HGETALL", current), redis.call("HGETALL", last)}`,
  reply: asTuple(asNumber, asList, asList),
});

/** Notes a context's mean time among the slowest of this hour. */
export const noteSlow = defineScript({
  name: "stats.slow",
  keys: ["current", "last", "hour"],
  args: ["context", "meanMs", "keep"],
  include: [NOW_MS, HOURLY],
  repeatable: true,
  lua: `
    turnHour(current, last, hour)
    redis.call("ZADD", current, meanMs, context)
    redis.call("ZREMRANGEBYRANK", current, 0, -1 - keep)
    redis.call("PEXPIRE", current, ${2 * HOUR_MS})
    return 1
  `,
});

/** { this hour's contexts with their means, last hour's }, the slowest first. */
export const slowest = defineScript({
  name: "stats.slowest",
  keys: ["current", "last", "hour"],
  args: ["limit"],
  include: [NOW_MS, HOURLY],
  repeatable: true,
  lua: `return tops(current, last, hour, limit)`,
  reply: asTuple(asTexts, asTexts),
});
