/**
 * Who pushes onto an empty queue says so on its channel, and who takes from a full one. Nobody else has to: a process with waiting
 * callers looks when it hears of either, takes or pushes for as many as it can, and has found the queue empty or full when it stops.
 */

import { asByteList, asNumber } from "../../base/replies.ts";
import { defineScript } from "../../base/script.ts";

/** Digits before a value in a priority queue: of values with one priority, the first pushed comes first. */
const DIGITS = 16;

/** Pushes as many of the values as there is room for, from the first on. Answers how many. */
export const pushLast = defineScript({
  name: "blocking-queues.push",
  keys: ["items"],
  args: ["capacity", "channel"],
  rest: "values",
  lua: `
    local before = redis.call("LLEN", items)
    local fits = math.min(capacity - before, #values)
    for at = 1, fits do redis.call("RPUSH", items, values[at]) end
    if fits > 0 and before == 0 then redis.call("PUBLISH", channel, "+") end
    return math.max(fits, 0)
  `,
  reply: asNumber,
});

/** Takes up to so many, the first first. */
export const takeFirst = defineScript({
  name: "blocking-queues.take",
  keys: ["items"],
  args: ["capacity", "channel", "count"],
  buffers: true,
  lua: `
    local before = redis.call("LLEN", items)
    if before == 0 then return {} end
    local taken = redis.call("LPOP", items, count)
    if before >= tonumber(capacity) then redis.call("PUBLISH", channel, "-") end
    return taken
  `,
  reply: asByteList,
});

/** `values` holds a score and a value each; the lowest score is taken first. */
export const pushByPriority = defineScript({
  name: "blocking-queues.push-by-priority",
  keys: ["items", "sequence"],
  args: ["capacity", "channel"],
  rest: "values",
  lua: `
    local before = redis.call("ZCARD", items)
    local fits = math.min(capacity - before, #values / 2)
    if fits <= 0 then return 0 end
    local last = redis.call("INCRBY", sequence, fits)
    for at = 1, fits do
      local number = string.format("%0${DIGITS}.0f", last - fits + at)
      redis.call("ZADD", items, values[2 * at - 1], number .. values[2 * at])
    end
    if before == 0 then redis.call("PUBLISH", channel, "+") end
    return fits
  `,
  reply: asNumber,
});

export const takeByPriority = defineScript({
  name: "blocking-queues.take-by-priority",
  keys: ["items", "sequence"],
  args: ["capacity", "channel", "count"],
  buffers: true,
  lua: `
    local before = redis.call("ZCARD", items)
    if before == 0 then return {} end
    local popped = redis.call("ZPOPMIN", items, count)
    local taken = {}
    for at = 1, #popped, 2 do taken[#taken + 1] = popped[at]:sub(${DIGITS + 1}) end
    if #taken == before then redis.call("DEL", sequence) end
    if before >= tonumber(capacity) then redis.call("PUBLISH", channel, "-") end
    return taken
  `,
  reply: asByteList,
});

/** The first, which stays: a list of one or none. */
export const peekFirst = defineScript({
  name: "blocking-queues.peek",
  keys: ["items"],
  buffers: true,
  readOnly: true,
  lua: `return redis.call("LRANGE", items, 0, 0)`,
  reply: asByteList,
});

export const peekByPriority = defineScript({
  name: "blocking-queues.peek-by-priority",
  keys: ["items"],
  buffers: true,
  readOnly: true,
  lua: `
    local first = redis.call("ZRANGE", items, 0, 0)
    if first[1] then first[1] = first[1]:sub(${DIGITS + 1}) end
    return first
  `,
  reply: asByteList,
});

/** Deletes everything; answers how much that was. */
export const clear = defineScript({
  name: "blocking-queues.clear",
  keys: ["items", "sequence"],
  args: ["counting", "channel"],
  lua: `
    local before = redis.call(counting, items)
    redis.call("UNLINK", items, sequence)
    if before > 0 then redis.call("PUBLISH", channel, "-") end
    return before
  `,
  reply: asNumber,
});
