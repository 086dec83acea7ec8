/**
 * Entries come in batches. A batch goes to the list of recent entries and to the counts of common messages in one step, so a
 * message is in both or in neither. The first batch of an hour makes the counts those of the last hour.
 */
import { HOUR_MS, HOURLY } from "../../base/hourly.ts";
import { asTexts, asTuple } from "../../base/replies.ts";
import { defineScript, NOW_MS } from "../../base/script.ts";

/** `entries` holds two words an entry, oldest first: the entry as JSON, and the message that it is counted as. */
export const append = defineScript({
  name: "logs.append",
  keys: ["recent", "common", "commonLast", "hour"],
  args: ["keepRecent", "keepCommon", "keepMs"],
  rest: "entries",
  include: [NOW_MS, HOURLY],
  lua: `
    turnHour(common, commonLast, hour)
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
  include: [NOW_MS, HOURLY],
  repeatable: true,
  lua: `return tops(common, commonLast, hour, limit)`,
  reply: asTuple(asTexts, asTexts),
});
