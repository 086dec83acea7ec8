/**
 * A hit counts at every precision in one call. A counter cleans up after itself: when a slice begins, what is older than the
 * kept samples is dropped, a few slices at a time, and a counter that is never hit again expires. So no process has to clean.
 */

import { asList, asText, asTuple } from "../../base/replies.ts";
import { defineScript, NOW_MS } from "../../base/script.ts";

/** How long a process may take to repeat a batch whose answer was lost. */
const BATCH_MS = 600_000;

/**
 * `slices` are the hashes, `precisions` their slice lengths in milliseconds. `sequence` grows with each batch of a process; one
 * that was counted before is not counted again. 0: no such check.
 */
export const add = defineScript({
  name: "counters.add",
  keys: ["batch"],
  restKeys: "slices",
  args: ["by", "sequence", "samples"],
  rest: "precisions",
  include: [NOW_MS],
  repeatable: false,
  lua: `
    if sequence ~= "0" then
      local last = tonumber(redis.call("GET", batch) or 0)
      if tonumber(sequence) <= last then return 0 end
      redis.call("SET", batch, sequence, "PX", ${BATCH_MS})
    end
    for i, key in ipairs(slices) do
      local precision = tonumber(precisions[i])
      local start = now - now % precision
      local field = string.format("%.0f", start)
      local isNew = redis.call("HEXISTS", key, field) == 0
      redis.call("HINCRBY", key, field, by)
      if isNew then
        redis.call("PEXPIRE", key, precision * (samples + 1))
        -- Some slices over, so that not every new slice has to look for old ones.
        if redis.call("HLEN", key) > samples * 1.1 + 1 then
          -- Those of the future are from before the clock was put back; so many of them stay as of the past.
          local kept = precision * (samples - 1)
          for _, each in ipairs(redis.call("HKEYS", key)) do
            if math.abs(each - start) > kept then redis.call("HDEL", key, each) end
          end
        end
      end
    end
    return 1
  `,
});

/** { now, flat slices } */
export const series = defineScript({
  name: "counters.series",
  keys: ["slices"],
  include: [NOW_MS],
  repeatable: true,
  lua: `return {string.format("%.0f", now), redis.call("HGETALL", slices)}`,
  reply: (reply) => {
    const [now, flat] = asTuple(asText, asList)(reply);
    const counts = new Map<number, number>();
    for (let i = 0; i < flat.length; i += 2) counts.set(Number(flat[i]), Number(flat[i + 1]));
    return { now: Number(now), counts };
  },
});
