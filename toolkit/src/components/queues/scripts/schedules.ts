/** Schedules in the store. Firing them is part of the cycle (scripts/cycle.ts). */

import { asRows, asText } from "../../../base/replies.ts";
import { defineScript, NOW_MS } from "../../../base/script.ts";
import { KEY_NAMES } from "../keys.ts";

export const serverNow = defineScript({
  name: "queues.now",
  keys: ["data"],
  include: [NOW_MS],
  repeatable: true,
  lua: "return string.format('%d', now)",
  reply: Number,
});

/** Sets a schedule. One that says the same as before keeps its next time, so that every process may set it when it starts. */
export const upsertSchedule = defineScript({
  name: "queues.schedule",
  keys: KEY_NAMES,
  args: ["name", "spec", "at"],
  repeatable: true,
  lua: `
local call = redis.call
local current = call("HMGET", data, "t" .. name, "u" .. name)
if current[1] == spec and current[2] then return string.match(current[2], "^%d+") end
call("HSET", data, "t" .. name, spec, "u" .. name, at .. ";0;0")
call("ZADD", timers, at, "t" .. name)
call("ZADD", index, 0, "t" .. name)
if call("EXISTS", wake) == 0 then call("RPUSH", wake, "1") end
return at
`,
  reply: Number,
});

/** The next time after `fired`, worked out by a worker; -1 for none. Ignored if the schedule has changed or somebody was first. */
export const advanceSchedule = defineScript({
  name: "queues.advance",
  keys: KEY_NAMES,
  args: ["name", "spec", "fired", "at"],
  repeatable: true,
  lua: `
local call = redis.call
local current = call("HMGET", data, "t" .. name, "u" .. name)
if current[1] ~= spec or not current[2] then return 0 end
local was, _, made = string.match(current[2], "^(%d+);(%d+);(%d+)$")
if was ~= fired then return 0 end
if at == "-1" then
  call("ZREM", timers, "t" .. name)
  call("ZREM", index, "t" .. name)
  call("HDEL", data, "t" .. name, "u" .. name)
else
  call("HSET", data, "u" .. name, at .. ";" .. fired .. ";" .. made)
  call("ZADD", timers, at, "t" .. name)
  if call("EXISTS", wake) == 0 then call("RPUSH", wake, "1") end
end
return 1
`,
  reply: Number,
});

export const removeSchedule = defineScript({
  name: "queues.unschedule",
  keys: KEY_NAMES,
  args: ["name"],
  repeatable: true,
  lua: `
redis.call("ZREM", timers, "t" .. name)
redis.call("ZREM", index, "t" .. name)
return redis.call("HDEL", data, "t" .. name, "u" .. name)
`,
  reply: (reply) => Number(reply) > 0,
});

/** Name, specification and `next;fired;count` of each. */
export const listSchedules = defineScript({
  name: "queues.schedules",
  keys: KEY_NAMES,
  args: ["most"],
  repeatable: true,
  lua: `
local found = {}
for _, member in ipairs(redis.call("ZRANGEBYLEX", index, "[t", "(u", "LIMIT", 0, most)) do
  local name = string.sub(member, 2)
  local named = redis.call("HMGET", data, "t" .. name, "u" .. name)
  if named[1] and named[2] then
    found[#found + 1] = name
    found[#found + 1] = named[1]
    found[#found + 1] = named[2]
  end
end
return found
`,
  reply: asRows(asText, asText, asText),
});
