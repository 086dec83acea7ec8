/**
 * Entries come in batches. A batch goes to the list of recent entries and to the counts of common messages in one step, so a
 * message is in both or in neither. The first batch of an hour makes the counts those of the last hour.
 */
import { defineScript, NOW_MS } from "../script.ts";

const HOUR_MS = 3_600_000;

/** `entries` holds two words an entry, oldest first: the entry as JSON, and the message that it is counted as. */
export const append = defineScript({
  name: "logs.append",
  keys: ["recent", "common", "commonLast", "hour"],
  args: ["keepRecent", "keepCommon", "keepMs"],
  rest: "entries",
  include: [NOW_MS],
  lua: `
    local this = math.floor(now / ${HOUR_MS})
    local before = tonumber(redis.call("GET", hour) or this)
    if before < this then
      if before == this - 1 and redis.call("EXISTS", common) == 1 then
        redis.call("RENAME", common, commonLast)
        redis.call("PEXPIRE", commonLast, ${2 * HOUR_MS})
      else
        redis.call("DEL", common, commonLast)
      end
    end
    redis.call("SET", hour, this, "PX", ${2 * HOUR_MS})
    for i = 1, #entries, 2 do
      redis.call("LPUSH", recent, entries[i])
      redis.call("ZINCRBY", common, 1, entries[i + 1])
    end
    redis.call("LTRIM", recent, 0, keepRecent - 1)
    redis.call("PEXPIRE", recent, keepMs)
    -- The rarest go. A message that comes back begins at one, so counts of rare ones may be too low, never too high.
    redis.call("ZREMRANGEBYRANK", common, 0, -1 - keepCommon)
    redis.call("PEXPIRE", common, ${2 * HOUR_MS})
    return #entries / 2
  `,
  reply: Number,
});

/** { counts of this hour, counts of the last } as flat lists, most frequent first. */
export const commonest = defineScript({
  name: "logs.common",
  keys: ["common", "commonLast", "hour"],
  args: ["limit"],
  include: [NOW_MS],
  repeatable: true,
  lua: `
    local this = math.floor(now / ${HOUR_MS})
    local of = tonumber(redis.call("GET", hour) or 0)
    local function top(key) return redis.call("ZREVRANGE", key, 0, limit - 1, "WITHSCORES") end
    if of == this then return {top(common), top(commonLast)} end
    if of == this - 1 then return {{}, top(common)} end
    return {{}, {}}
  `,
  reply: (reply) => reply as [string[], string[]],
});
