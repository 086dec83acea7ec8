/**
 * Who is at a file, and how far it is read. The claim only keeps two processes from doing the same work; that no line counts
 * twice is the business of `advance`, which runs in a transaction that watches the record, and of `addUp`, which looks at it.
 */

import { asNumber, asText, asTextOrNumber, asTuple } from "../../base/replies.ts";
import { defineScript, NOW_MS } from "../../base/script.ts";

/** { 1 if it is ours now, offset, lines, tail, number of the file that has this name }. */
export const claim = defineScript({
  name: "log-files.claim",
  keys: ["record", "index"],
  args: ["id", "owner", "path", "leaseMs", "keepMs"],
  include: [NOW_MS],
  repeatable: true,
  lua: `
    local found = redis.call("HMGET", record, "owner", "until", "offset", "lines", "tail", "number")
    -- A claim that ends later than a new one would is from before the server's clock was put back.
    local mine = not found[1] or found[1] == owner or tonumber(found[2]) <= now or tonumber(found[2]) > now + leaseMs
    if mine then redis.call("HSET", record, "owner", owner, "until", now + leaseMs, "path", path) end
    redis.call("PEXPIRE", record, keepMs)
    redis.call("ZADD", index, now, id)
    redis.call("ZREMRANGEBYSCORE", index, "-inf", now - keepMs)
    redis.call("PEXPIRE", index, keepMs)
    return {mine and 1 or 0, found[3] or "0", found[4] or "0", found[5] or "", found[6] or "0"}
  `,
  reply: (reply) => {
    const [mine, offset, lines, tail, number] = asTuple(asNumber, asText, asText, asText, asText)(reply);
    return { mine: mine === 1, offset: Number(offset), lines: Number(lines), tail, number: Number(number) };
  },
});

/** First in the transaction, in which the rest are the effects. */
export const advance = defineScript({
  name: "log-files.advance",
  keys: ["record"],
  args: ["offset", "lines", "tail", "leaseMs", "keepMs"],
  include: [NOW_MS],
  lua: `
    redis.call("HSET", record, "offset", offset, "lines", lines, "tail", tail, "at", now, "until", now + leaseMs)
    redis.call("PEXPIRE", record, keepMs)
    return 1
  `,
});

/**
 * A whole batch of sums: moves the record and adds them, if the record says that the file is read up to where the batch begins.
 * Four words for each sum: HINCRBY or ZINCRBY, which of the keys, what to add to, how much. "done", "elsewhere" (the record says
 * something else), or why the server refused one of them; the others are done then.
 */
export const addUp = defineScript({
  name: "log-files.add-up",
  keys: ["record"],
  restKeys: "targets",
  args: ["fromOffset", "number", "offset", "lines", "tail", "leaseMs", "keepMs"],
  rest: "sums",
  include: [NOW_MS],
  lua: `
    local found = redis.call("HMGET", record, "offset", "number")
    if (found[1] or "0") ~= fromOffset or (found[2] or "0") ~= number then return "elsewhere" end
    redis.call("HSET", record, "offset", offset, "lines", lines, "tail", tail, "at", now, "until", now + leaseMs)
    redis.call("PEXPIRE", record, keepMs)
    local outcome = "done"
    for i = 1, #sums, 4 do
      local key = targets[tonumber(sums[i + 1])]
      local answer
      if sums[i] == "HINCRBY" then answer = redis.pcall("HINCRBY", key, sums[i + 2], sums[i + 3])
      else answer = redis.pcall("ZINCRBY", key, sums[i + 3], sums[i + 2]) end
      if type(answer) == "table" and answer.err and outcome == "done" then outcome = answer.err end
    end
    return outcome
  `,
  reply: (reply) => String(asTextOrNumber(reply)),
});

/** Another file has the name now: from its beginning, if nobody else was here first. */
export const restart = defineScript({
  name: "log-files.restart",
  keys: ["record"],
  args: ["owner", "number"],
  lua: `
    local found = redis.call("HMGET", record, "owner", "number")
    if found[1] ~= owner or (found[2] or "0") ~= number then return 0 end
    redis.call("HINCRBY", record, "number", 1)
    redis.call("HDEL", record, "offset", "lines", "tail")
    return 1
  `,
  reply: (reply) => reply === 1,
});

export const release = defineScript({
  name: "log-files.release",
  keys: ["record"],
  args: ["owner"],
  repeatable: true,
  lua: `
    if redis.call("HGET", record, "owner") == owner then redis.call("HDEL", record, "owner", "until") end
    return 1
  `,
});
