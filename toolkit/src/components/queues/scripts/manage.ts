/** What is done to jobs and queues from outside: remove, retry, promote, cancel, pause, drain; progress and logs of a running one. */

import { wordOf } from "../../../base/replies.ts";
import { defineScript } from "../../../base/script.ts";
import { KEY_NAMES } from "../keys.ts";
import { ENDING, MAKE_ROOM } from "./core.ts";

const OPENING = `
local opened = call("HMGET", data, "#settings", "#trail")
configure(opened[1], opened[2])
`;

/** Where a job is, and taking it out of there. */
const WHEREABOUTS = String.raw`
local function stateOf(id, record, x)
  if call("HEXISTS", data, "f" .. id) == 1 then return "active" end
  if call("ZSCORE", delayed, id) then return "delayed" end
  if call("ZSCORE", done, id) then return "done" end
  if call("ZSCORE", dead, id) then return "dead" end
  if x and x.c and call("ZSCORE", index, "k" .. id) then return "parent" end
  return "waiting"
end

-- Not for active ones.
local function unplace(id, state, x, seq)
  if state == "delayed" then
    call("ZREM", delayed, id)
  elseif state == "done" then
    call("ZREM", done, id)
  elseif state == "dead" then
    call("ZREM", dead, id)
  elseif state == "parent" then
    call("ZREM", index, "k" .. id)
    for _, child in ipairs(x.c) do call("ZREM", index, "c" .. id .. "\n" .. child) end
  elseif x and x.g then
    call("ZREM", index, groupMember(x, seq, id))
  elseif x and x.p then
    call("ZREM", prio, id)
  else
    call("LREM", wait, 1, id)
  end
end

local function erase(id, state, x, seq, why)
  unplace(id, state, x, seq)
  if x and state ~= "done" and state ~= "dead" then
    undedup(id, x)
    tellParent(id, x, false, why)
  end
  forget({ id })
  answer(id, "error", why)
  emit("removed", id)
end
`;

export type Deleted = "deleted" | "active" | "not-found";
export type Cancelled = "cancelled" | "asked" | "finished" | "not-found";

/** `active`: it is not touched. */
export const removeJob = defineScript({
  name: "queues.remove",
  keys: KEY_NAMES,
  args: ["id"],
  include: [...ENDING, MAKE_ROOM, OPENING, WHEREABOUTS],
  lua: `
local record = call("HGET", data, "j" .. id)
if not record then return "not-found" end
local x, seq = facts(record)
local state = stateOf(id, record, x)
if state == "active" then return "active" end
erase(id, state, x, seq, cjson.encode({ name = "Removed", message = "the job was removed" }))
publish()
return "deleted"
`,
  reply: wordOf<Deleted>("deleted", "active", "not-found"),
});

/** `cancelled`: it never ran. `asked`: its worker is told. */
export const cancelJob = defineScript({
  name: "queues.cancel",
  keys: KEY_NAMES,
  args: ["id", "channel"],
  include: [...ENDING, MAKE_ROOM, OPENING, WHEREABOUTS],
  lua: `
local record = call("HGET", data, "j" .. id)
if not record then return "not-found" end
local x, seq = facts(record)
local state = stateOf(id, record, x)
if state == "done" or state == "dead" then return "finished" end
if state == "active" then
  local fence = call("HGET", data, "f" .. id)
  if string.sub(fence, -1) ~= "x" then
    call("HSET", data, "f" .. id, fence .. "x")
    call("ZADD", index, 0, "x" .. id)
    call("HINCRBY", data, "#cancels", 1)
  end
  call("PUBLISH", channel, id)
  return "asked"
end
unplace(id, state, x, seq)
bury(id, x, "0", 0, cjson.encode({ name = "Cancelled", message = "cancelled before it ran" }))
publish()
return "cancelled"
`,
  reply: wordOf<Cancelled>("cancelled", "asked", "finished", "not-found"),
});

/** Runs finished jobs again with fresh attempts: one (`id`), or the oldest dead letters up to `most`. The number of them. */
export const replayJobs = defineScript({
  name: "queues.replay",
  keys: KEY_NAMES,
  args: ["id", "most"],
  include: [...ENDING, OPENING, WHEREABOUTS],
  lua: String.raw`
local ids = { id }
if id == "" then ids = call("ZRANGE", dead, 0, most - 1) end
local replayed = {}
for _, each in ipairs(ids) do
  local record = call("HGET", data, "j" .. each)
  if call("ZREM", dead, each) + call("ZREM", done, each) > 0 and record then
    local x, seq = facts(record)
    call("HDEL", data, "r" .. each, "s" .. each, "p" .. each)
    place(each, x, seq, false)
    replayed[#replayed + 1] = each
  end
end
if #replayed > 0 then
  emit("waiting", table.concat(replayed, "\n"))
  publish()
  rouse()
end
return #replayed
`,
  reply: Number,
});

/** Makes a delayed job due now: 1, or 0 if it is not delayed. */
export const promoteJob = defineScript({
  name: "queues.promote",
  keys: KEY_NAMES,
  args: ["id"],
  include: [...ENDING, OPENING],
  lua: `
if call("ZREM", delayed, id) == 0 then return 0 end
local x, seq = facts(call("HGET", data, "j" .. id))
place(id, x, seq, false)
emit("waiting", id)
publish()
rouse()
return 1
`,
  reply: Number,
});

export const setPaused = defineScript({
  name: "queues.pause",
  keys: KEY_NAMES,
  args: ["paused"],
  include: [...ENDING, OPENING],
  repeatable: true,
  lua: `
if paused == "1" then
  call("HSET", data, "#paused", "1")
  emit("paused", "")
else
  call("HDEL", data, "#paused")
  emit("resumed", "")
  rouse()
end
publish()
return 1
`,
});

export const setSettings = defineScript({
  name: "queues.configure",
  keys: KEY_NAMES,
  args: ["settings"],
  include: [...ENDING],
  repeatable: true,
  lua: String.raw`
if settings == "" then call("HDEL", data, "#settings") else call("HSET", data, "#settings", settings) end
configure(settings ~= "" and settings or nil, call("HGET", data, "#trail"))
-- A wider limit may let groups run that were waiting for the end of a job.
local seen = call("ZRANGEBYLEX", index, "[q", "(r", "LIMIT", 0, 1000)
local last
for i = 1, #seen do
  local g = string.match(seen[i], "^q([^\n]*)\n")
  if g ~= last then offer(g) end
  last = g
end
rouse()
return 1
`,
});

/** Removes up to `most` jobs that wait (and delayed ones, if asked). The number of them; again until it is 0. */
export const drainJobs = defineScript({
  name: "queues.drain",
  keys: KEY_NAMES,
  args: ["alsoDelayed", "most"],
  include: [...ENDING, MAKE_ROOM, OPENING, WHEREABOUTS],
  lua: String.raw`
local n, removed = tonumber(most), 0
local why = cjson.encode({ name = "Removed", message = "the queue was drained" })
local function drop(ids, state)
  for i = 1, #ids do
    local record = call("HGET", data, "j" .. ids[i])
    if record then
      local x, seq = facts(record)
      erase(ids[i], state, x, seq, why)
    end
  end
  removed = removed + #ids
  n = n - #ids
end
drop(call("LRANGE", wait, 0, n - 1), "waiting")
if n > 0 then drop(call("ZRANGE", prio, 0, n - 1), "waiting") end
if n > 0 then
  local ids = {}
  for _, member in ipairs(call("ZRANGEBYLEX", index, "[q", "(r", "LIMIT", 0, n)) do
    ids[#ids + 1] = string.match(member, "^q[^\n]*\n%d+\n(.*)$")
  end
  drop(ids, "waiting")
end
if n > 0 and alsoDelayed == "1" then drop(call("ZRANGE", delayed, 0, n - 1), "delayed") end
publish()
return removed
`,
  reply: Number,
});

/** Drops up to `most` jobs that ended as `state` before `now - olderThanMs`. The number of them. */
export const cleanJobs = defineScript({
  name: "queues.clean",
  keys: KEY_NAMES,
  args: ["state", "olderThanMs", "most"],
  include: [...ENDING, MAKE_ROOM, OPENING],
  lua: String.raw`
local key = state == "done" and done or dead
local ids = call("ZRANGEBYSCORE", key, "-inf", now - olderThanMs, "LIMIT", 0, most)
if #ids == 0 then return 0 end
callAll("ZREM", key, ids)
forget(ids)
emit("removed", table.concat(ids, "\n"))
publish()
return #ids
`,
  reply: Number,
});

/** Progress or a line of the log, from who has the lease: 1, or 0 if that is lost. */
export const noteOnJob = defineScript({
  name: "queues.note",
  keys: KEY_NAMES,
  args: ["id", "fence", "kind", "value", "maxLines"],
  include: [...ENDING, OPENING],
  repeatable: false,
  lua: String.raw`
local current = call("HGET", data, "f" .. id)
if not current or string.match(current, "^%d+") ~= fence then return 0 end
if kind == "progress" then
  call("HSET", data, "p" .. id, value, "#trail", math.max(trail, 1))
  emit("progress", id .. "\n" .. value)
else
  local lines = call("HGET", data, "l" .. id)
  lines = lines and lines .. "\n" .. value or value
  local _, breaks = string.gsub(lines, "\n", "")
  for _ = 1, breaks + 1 - maxLines do lines = string.sub(lines, string.find(lines, "\n", 1, true) + 1) end
  call("HSET", data, "l" .. id, lines, "#trail", math.max(trail, 1))
end
publish()
return 1
`,
  reply: Number,
});
