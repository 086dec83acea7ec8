/** Notes of calls that take more than one step: the caller writes a note first, and another process finishes what was not finished. */

import { asTexts } from "../../../base/replies.ts";
import { defineScript, NOW_MS } from "../../../base/script.ts";

export const note = defineScript({
  name: "social.journal.note",
  keys: ["journal"],
  args: ["entry", "delayMs"],
  include: [NOW_MS],
  repeatable: true,
  lua: `return redis.call("ZADD", journal, now + delayMs, entry)`,
});

/**
 * Entries whose time has come; they come again after `delayMs`, unless they are removed. One whose time is further away than that is
 * from before the server's clock was put back, and comes at once: two processes that finish the same call do no harm.
 */
export const due = defineScript({
  name: "social.journal.due",
  keys: ["journal"],
  args: ["limit", "delayMs"],
  include: [NOW_MS],
  repeatable: true,
  lua: `
    local entries = redis.call("ZRANGEBYSCORE", journal, "-inf", now, "LIMIT", 0, limit)
    if #entries == 0 then
      entries = redis.call("ZRANGEBYSCORE", journal, "(" .. now + delayMs, "+inf", "LIMIT", 0, limit)
    end
    for _, entry in ipairs(entries) do redis.call("ZADD", journal, now + delayMs, entry) end
    return entries
  `,
  reply: asTexts,
});
