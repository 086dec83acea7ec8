/** Whether a value is there, without reading it. */

import { asNumber } from "../../base/replies.ts";
import { defineScript } from "../../base/script.ts";

export const isThere = defineScript({
  name: "cache.has",
  keys: ["entry", "tags"],
  repeatable: true,
  lua: `
    local found = redis.call("HMGET", entry, "at", "t")
    if not found[1] then return 0 end
    for tag in (found[2] or ""):gmatch("[^\\n]+") do
      local invalidated = redis.call("ZSCORE", tags, tag)
      if invalidated and tonumber(invalidated) >= tonumber(found[1]) then return 0 end
    end
    return 1
  `,
  reply: (reply) => asNumber(reply) === 1,
});
