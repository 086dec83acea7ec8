/** What is done to jobs and queues from outside: change, remove, retry, promote, cancel, pause, drain; notes on a running one. */

import { asListOf, asNumber, asNumbers, asTuple, wordOf } from "../../../base/replies.ts";
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

-- All but its place.
local function eraseRest(id, state, x, why)
  if x and state ~= "done" and state ~= "dead" then
    undedup(id, x)
    tellParent(id, x, false, why)
  end
  forget({ id })
  answer(id, "error", why)
  emit("removed", id)
end

local function erase(id, state, x, seq, why)
  unplace(id, state, x, seq)
  eraseRest(id, state, x, why)
end
`;

export type Deleted = "deleted" | "active" | "not-found";
export type Cancelled = "cancelled" | "asked" | "finished" | "not-found";

/** What became of each. `active`: it is not touched. */
export const removeJobs = defineScript({
  name: "queues.remove",
  keys: KEY_NAMES,
  rest: "ids",
  include: [...ENDING, MAKE_ROOM, OPENING, WHEREABOUTS],
  lua: `
local why = cjson.encode({ name = "Removed", message = "the job was removed" })
local function remove(id)
  local record = call("HGET", data, "j" .. id)
  if not record then return "not-found" end
  local x, seq = facts(record)
  local state = stateOf(id, record, x)
  if state == "active" then return "active" end
  erase(id, state, x, seq, why)
  return "deleted"
end
local became = {}
for i = 1, #ids do became[i] = remove(ids[i]) end
publish()
return became
`,
  reply: asListOf(wordOf<Deleted>("deleted", "active", "not-found")),
});

export type Updated = "updated" | "active" | "finished" | "waiting-for-children" | "not-found";

/**
 * Changes jobs that do not run; what became of each. `changes`: for each its id, what to change (JSON: p priority, d delay, t time,
 * o options of the record, s if the payload is to be another), and that payload. Those that ended have no time to run at, nor have
 * those that wait for children.
 */
export const updateJobs = defineScript({
  name: "queues.update",
  keys: KEY_NAMES,
  rest: "changes",
  include: [...ENDING, WHEREABOUTS],
  lua: String.raw`
local opened = call("HMGET", data, "#settings", "#trail", "#now")
configure(opened[1], opened[2])
mindClock(opened[3])
local changed, roused = {}, false

local function settle(id, x, seq, due)
  if due and math.floor(due) > now then
    call("ZADD", delayed, due, id)
    roused = roused or call("ZRANGE", delayed, 0, 0)[1] == id
  else
    place(id, x, seq, false)
    roused = true
  end
end

local function update(id, how, payload)
  local record = call("HGET", data, "j" .. id)
  if not record then return "not-found" end
  local x, seq = facts(record)
  local state = stateOf(id, record, x)
  if state == "active" then return "active" end
  local due = how.t and how.t + 0.5 or (how.d and now + how.d)
  if due and (state == "done" or state == "dead") then return "finished" end
  if due and state == "parent" then return "waiting-for-children" end
  local stamp, own, body = string.match(record, "^(%d+,)%d*;[^\n]*\n([^\n]*)\n(.*)$")
  local before = x and x.p or 0
  local isMoved = state == "waiting" and ((how.p and how.p ~= before) or (due and math.floor(due) > now))
    or state == "delayed" and due
  if isMoved then unplace(id, state, x, seq) end
  x = x or {}
  if how.p then x.p = how.p ~= 0 and how.p or nil end
  if (x.p or x.g) and seq == "" then seq = call("HINCRBY", data, "#seq", 1) end
  if how.o then
    local kept = own == "" and {} or cjson.decode(own)
    for name, value in pairs(how.o) do kept[name] = value end
    own = cjson.encode(kept)
  end
  local text = next(x) and cjson.encode(x) or ""
  call("HSET", data, "j" .. id, stamp .. seq .. ";" .. text .. "\n" .. own .. "\n" .. (how.s and payload or body))
  if isMoved then settle(id, x, seq, due) end
  changed[#changed + 1] = id
  return "updated"
end

local became = {}
for i = 1, #changes, 3 do became[#became + 1] = update(changes[i], cjson.decode(changes[i + 1]), changes[i + 2]) end
if #changed > 0 then
  emit("updated", table.concat(changed, "\n"))
  publish()
  if roused then rouse() end
end
return became
`,
  reply: asListOf(wordOf<Updated>("updated", "active", "finished", "waiting-for-children", "not-found")),
});

/** What became of each. `cancelled`: it never ran. `asked`: its worker is told. */
export const cancelJobs = defineScript({
  name: "queues.cancel",
  keys: KEY_NAMES,
  args: ["channel"],
  rest: "ids",
  include: [...ENDING, MAKE_ROOM, OPENING, WHEREABOUTS],
  lua: `
local why = cjson.encode({ name = "Cancelled", message = "cancelled before it ran" })
local function cancel(id)
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
  bury(id, x, "0", 0, why)
  return "cancelled"
end
local became = {}
for i = 1, #ids do became[i] = cancel(ids[i]) end
publish()
return became
`,
  reply: asListOf(wordOf<Cancelled>("cancelled", "asked", "finished", "not-found")),
});

/** Runs finished jobs again with fresh attempts: these, or the oldest dead letters up to `most`. 1 for each that does, 0 for the rest. */
export const replayJobs = defineScript({
  name: "queues.replay",
  keys: KEY_NAMES,
  args: ["most"],
  rest: "ids",
  include: [...ENDING, OPENING, WHEREABOUTS],
  lua: String.raw`
if most ~= "" then ids = call("ZRANGE", dead, 0, most - 1) end
local became, replayed = {}, {}

-- The end that it had is one of its attempts from now on.
local function keepEnd(id, isDead)
  local when, made, ms, worker, why = string.match(call("HGET", data, "r" .. id) or "", "^%d+;(%d+);(%d+)%+?(%d*)@?([^;]*);(.*)$")
  if not when or made == "0" then return end
  local moment = now
  now = tonumber(when)
  remember(id, isDead and "failed" or "done", made, tonumber(ms) or 0, worker, isDead and why or "")
  now = moment
end

for i, each in ipairs(ids) do
  local record = call("HGET", data, "j" .. each)
  local isDead = call("ZREM", dead, each) == 1
  became[i] = 0
  if (isDead or call("ZREM", done, each) == 1) and record then
    local x, seq = facts(record)
    keepEnd(each, isDead)
    call("HDEL", data, "r" .. each, "s" .. each, "p" .. each)
    place(each, x, seq, false)
    replayed[#replayed + 1] = each
    became[i] = 1
  end
end
if #replayed > 0 then
  emit("waiting", table.concat(replayed, "\n"))
  publish()
  rouse()
end
return became
`,
  reply: asNumbers,
});

/** Makes delayed jobs due now: these, or those that are due first up to `most`. 1 for each, 0 for one that is not delayed. */
export const promoteJobs = defineScript({
  name: "queues.promote",
  keys: KEY_NAMES,
  args: ["most"],
  rest: "ids",
  include: [...ENDING, OPENING],
  lua: String.raw`
if most ~= "" then ids = call("ZRANGE", delayed, 0, most - 1) end
local became, promoted = {}, {}
for i, id in ipairs(ids) do
  local isDelayed = call("ZREM", delayed, id)
  local record = isDelayed == 1 and call("HGET", data, "j" .. id)
  became[i] = isDelayed
  if record then
    local x, seq = facts(record)
    place(id, x, seq, false)
    promoted[#promoted + 1] = id
  end
end
if #promoted > 0 then
  emit("waiting", table.concat(promoted, "\n"))
  publish()
  rouse()
end
return became
`,
  reply: asNumbers,
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

/** Drops up to `most` jobs that ended as `state` before `now - keepMs`. The number of them. */
export const cleanJobs = defineScript({
  name: "queues.clean",
  keys: KEY_NAMES,
  args: ["state", "keepMs", "most"],
  include: [...ENDING, MAKE_ROOM, OPENING],
  lua: String.raw`
local key = state == "done" and done or dead
local ids = call("ZRANGEBYSCORE", key, "-inf", now - keepMs, "LIMIT", 0, most)
if #ids == 0 then return 0 end
callAll("ZREM", key, ids)
forget(ids)
emit("removed", table.concat(ids, "\n"))
publish()
return #ids
`,
  reply: Number,
});

/**
 * Looks at `most` jobs of one kind, from `skip` on, and removes those that were added before `now - keepMs`: how many it has removed,
 * and how many it has looked at. Kinds: `plain`, `prio` and `group` wait; `delayed`; `parent`.
 */
export const cleanPlaces = defineScript({
  name: "queues.sweep",
  keys: KEY_NAMES,
  args: ["kind", "keepMs", "skip", "most"],
  include: [...ENDING, MAKE_ROOM, OPENING, WHEREABOUTS],
  lua: String.raw`
local from, to = tonumber(skip), skip + most - 1
local ids, state = {}, "waiting"
local function named(prefix, last, pattern)
  for _, member in ipairs(call("ZRANGEBYLEX", index, "[" .. prefix, "(" .. last, "LIMIT", from, most)) do
    ids[#ids + 1] = string.match(member, pattern)
  end
end
if kind == "plain" then
  ids = call("LRANGE", wait, from, to)
elseif kind == "prio" then
  ids = call("ZRANGE", prio, from, to)
elseif kind == "group" then
  named("q", "r", "^q[^\n]*\n%d+\n(.*)$")
elseif kind == "delayed" then
  ids, state = call("ZRANGE", delayed, from, to), "delayed"
else
  named("k", "l", "^k(.*)$")
  state = "parent"
end
local names = {}
for i = 1, #ids do names[i] = "j" .. ids[i] end
local records = #names > 0 and readAll(data, names) or {}
local why = cjson.encode({ name = "Removed", message = "the job was too old" })
local removed = 0
for i = 1, #ids do
  local record = records[i]
  if record and tonumber(string.match(record, "^%d+")) <= now - keepMs then
    local x, seq = facts(record)
    -- Marked first, and taken out of the list all together.
    if kind == "plain" then call("LSET", wait, from + i - 1, "") else unplace(ids[i], state, x, seq) end
    eraseRest(ids[i], state, x, why)
    removed = removed + 1
  end
end
if kind == "plain" and removed > 0 then call("LREM", wait, removed, "") end
publish()
return { removed, #ids }
`,
  reply: asTuple(asNumber, asNumber),
});

/** Progress, a line of the log, or that it is slow, from who has the lease: 1, or 0 if that is lost. */
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
elseif kind == "slow" then
  report("l", { id = id, w = workerOf(call("ZSCORE", active, id)), ms = tonumber(value) })
  emit("slow", id .. "\n" .. value)
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
