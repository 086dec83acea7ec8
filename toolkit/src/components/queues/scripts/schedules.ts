/** Schedules in the store. Firing them is part of the cycle (scripts/cycle.ts). */

import { asRows, asText, asTuple, orNull, wordOf } from "../../../base/replies.ts";
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
local current = call("HMGET", data, "t" .. name, "u" .. name, "v" .. name)
if current[1] == spec and current[2] then return string.match(current[2], "^%d+") end
call("HSET", data, "t" .. name, spec, "u" .. name, at .. ";0;0")
call("ZADD", index, 0, "t" .. name)
-- One that is paused stays so, whatever it says.
if current[3] then return at end
call("ZADD", timers, at, "t" .. name)
if call("EXISTS", wake) == 0 then call("RPUSH", wake, "1") end
return at
`,
  reply: Number,
});

export type Replaced = "updated" | "conflict" | "not-found";

/** Puts another specification in the place of one that its caller has read; how many jobs it has made stays known. */
export const replaceSchedule = defineScript({
  name: "queues.reschedule",
  keys: KEY_NAMES,
  args: ["name", "before", "spec", "at"],
  lua: `
local call = redis.call
local current = call("HMGET", data, "t" .. name, "u" .. name, "v" .. name)
if not current[1] or not current[2] then return "not-found" end
if current[1] ~= before then return "conflict" end
local _, fired, made = string.match(current[2], "^(%d+);(%d+);(%d+)$")
call("HSET", data, "t" .. name, spec, "u" .. name, at .. ";" .. fired .. ";" .. made)
if current[3] then return "updated" end
call("ZADD", timers, at, "t" .. name)
if call("EXISTS", wake) == 0 then call("RPUSH", wake, "1") end
return "updated"
`,
  reply: wordOf<Replaced>("updated", "conflict", "not-found"),
});

/** Makes no jobs until it is resumed. False if there is no such schedule, or it is paused. */
export const pauseSchedule = defineScript({
  name: "queues.schedule.pause",
  keys: KEY_NAMES,
  args: ["name"],
  include: [NOW_MS],
  lua: `
local call = redis.call
if call("HEXISTS", data, "t" .. name) == 0 then return 0 end
call("ZREM", timers, "t" .. name)
return call("HSETNX", data, "v" .. name, string.format("%d", now))
`,
  reply: (reply) => Number(reply) === 1,
});

/** Goes on at `at`, if its specification is still the one that this was worked out from. */
export const resumeSchedule = defineScript({
  name: "queues.schedule.resume",
  keys: KEY_NAMES,
  args: ["name", "spec", "at"],
  lua: `
local call = redis.call
local current = call("HMGET", data, "t" .. name, "u" .. name, "v" .. name)
if not current[1] or not current[2] or not current[3] then return "not-found" end
if current[1] ~= spec then return "conflict" end
call("HDEL", data, "v" .. name)
if at == "-1" then
  call("ZREM", index, "t" .. name)
  call("HDEL", data, "t" .. name, "u" .. name)
  return "updated"
end
local _, fired, made = string.match(current[2], "^(%d+);(%d+);(%d+)$")
call("HSET", data, "u" .. name, at .. ";" .. fired .. ";" .. made)
call("ZADD", timers, at, "t" .. name)
if call("EXISTS", wake) == 0 then call("RPUSH", wake, "1") end
return "updated"
`,
  reply: wordOf<Replaced>("updated", "conflict", "not-found"),
});

/** The next time after `fired`, worked out by a worker; -1 for none. Ignored if the schedule has changed or somebody was first. */
export const advanceSchedule = defineScript({
  name: "queues.advance",
  keys: KEY_NAMES,
  args: ["name", "spec", "fired", "at"],
  repeatable: true,
  lua: `
local call = redis.call
local current = call("HMGET", data, "t" .. name, "u" .. name, "v" .. name)
if current[1] ~= spec or not current[2] then return 0 end
local was, _, made = string.match(current[2], "^(%d+);(%d+);(%d+)$")
if was ~= fired then return 0 end
if at == "-1" then
  call("ZREM", timers, "t" .. name)
  call("ZREM", index, "t" .. name)
  call("HDEL", data, "t" .. name, "u" .. name, "v" .. name)
else
  call("HSET", data, "u" .. name, at .. ";" .. fired .. ";" .. made)
  -- It was paused meanwhile.
  if current[3] then return 1 end
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
return redis.call("HDEL", data, "t" .. name, "u" .. name, "v" .. name)
`,
  reply: (reply) => Number(reply) > 0,
});

/** Specification, `next;fired;count`, since when it is paused (or nothing), and the server's time; null if there is none. */
export const readSchedule = defineScript({
  name: "queues.schedule.get",
  keys: ["data"],
  args: ["name"],
  include: [NOW_MS],
  repeatable: true,
  lua: `
local named = redis.call("HMGET", data, "t" .. name, "u" .. name, "v" .. name)
if not named[1] or not named[2] then return nil end
return { named[1], named[2], named[3] or "", string.format("%d", now) }
`,
  reply: orNull(asTuple(asText, asText, asText, asText)),
});

/** Name, specification, `next;fired;count`, and since when it is paused, of each behind `after`, by their names. */
export const listSchedules = defineScript({
  name: "queues.schedules",
  keys: KEY_NAMES,
  args: ["after", "most"],
  repeatable: true,
  lua: `
local found = {}
for _, member in ipairs(redis.call("ZRANGEBYLEX", index, after == "" and "[t" or "(t" .. after, "(u", "LIMIT", 0, most)) do
  local name = string.sub(member, 2)
  local named = redis.call("HMGET", data, "t" .. name, "u" .. name, "v" .. name)
  if named[1] and named[2] then
    found[#found + 1] = name
    found[#found + 1] = named[1]
    found[#found + 1] = named[2]
    found[#found + 1] = named[3] or ""
  end
end
return found
`,
  reply: asRows(asText, asText, asText, asText),
});
