/** What is asked of a queue: one job, many by state, counts, the end of a job. */

import { asListOf, asNumber, asNumbers, asRows, asText, asTexts, asTuple, orNull } from "../../../base/replies.ts";
import { defineScript, NOW_MS } from "../../../base/script.ts";
import type { Reply } from "../../../connection/port.ts";
import { KEY_NAMES } from "../keys.ts";

const FIND = `
local call = redis.call
local function stateOf(id)
  local named = call("HMGET", data, "f" .. id, "r" .. id)
  if named[1] then return "active" end
  if named[2] and call("ZSCORE", done, id) then return "done" end
  if named[2] and call("ZSCORE", dead, id) then return "dead" end
  if call("ZSCORE", delayed, id) then return "delayed" end
  if call("ZSCORE", index, "k" .. id) then return "parent" end
  return "waiting"
end

-- State, record, what befell it, its end, progress, due time; nil if there is no such job.
local function describe(id, state)
  local named = call("HMGET", data, "j" .. id, "s" .. id, "r" .. id, "p" .. id, "f" .. id)
  if not named[1] then return nil end
  state = state or stateOf(id)
  local due = state == "delayed" and string.format("%.0f", math.floor(call("ZSCORE", delayed, id))) or ""
  return { id, state, named[1], named[2] or "", named[3] or "", named[4] or "", due, named[5] or "" }
end
`;

const getShape = {
  keys: KEY_NAMES,
  rest: "ids",
  include: [FIND],
  repeatable: true,
  lua: `
local found = {}
for i = 1, #ids do found[i] = describe(ids[i]) or "" end
return found
`,
} as const;
export const getJobs = defineScript({ ...getShape, name: "queues.get" });
export const getJobsBytes = defineScript({ ...getShape, name: "queues.get", buffers: true });

const listShape = {
  keys: KEY_NAMES,
  args: ["state", "skip", "most", "newestFirst"],
  include: [FIND],
  repeatable: true,
  lua: String.raw`
local from, n = tonumber(skip), tonumber(most)
local ids = {}
local function append(list)
  for i = 1, #list do ids[#ids + 1] = list[i] end
end
-- Waiting jobs stand in three places; they are shown one after the other.
local function waiting()
  local urgent = call("ZCOUNT", prio, "-inf", "(0")
  if from < urgent then append(call("ZRANGEBYSCORE", prio, "-inf", "(0", "LIMIT", from, n)) end
  from = math.max(0, from - urgent)
  local plain = call("LLEN", wait)
  if #ids < n and from < plain then append(call("LRANGE", wait, from, from + n - #ids - 1)) end
  from = math.max(0, from - plain)
  local grouped = call("ZLEXCOUNT", index, "[q", "(r")
  if #ids < n and from < grouped then
    for _, member in ipairs(call("ZRANGEBYLEX", index, "[q", "(r", "LIMIT", from, n - #ids)) do
      ids[#ids + 1] = string.match(member, "^q[^\n]*\n%d+\n(.*)$")
    end
  end
  from = math.max(0, from - grouped)
  if #ids < n then append(call("ZRANGEBYSCORE", prio, "0", "+inf", "LIMIT", from, n - #ids)) end
end
if state == "waiting" then
  waiting()
elseif state == "parent" then
  for _, member in ipairs(call("ZRANGEBYLEX", index, "[k", "(l", "LIMIT", from, n)) do ids[#ids + 1] = string.sub(member, 2) end
else
  local key = ({ delayed = delayed, active = active, done = done, dead = dead })[state]
  ids = call(newestFirst == "1" and "ZREVRANGE" or "ZRANGE", key, from, from + n - 1)
end
local found = {}
for i = 1, #ids do found[#found + 1] = describe(ids[i], state) or "" end
return found
`,
} as const;
export const listJobs = defineScript({ ...listShape, name: "queues.list" });
export const listJobsBytes = defineScript({ ...listShape, name: "queues.list", buffers: true });

const asCounts = asTuple(asNumber, asNumber, asNumber, asNumber, asNumber, asNumber, asNumber, asNumber, asNumber);

export interface ShardCounts {
  readonly waiting: number;
  readonly delayed: number;
  readonly active: number;
  readonly done: number;
  readonly dead: number;
  readonly waitingForChildren: number;
  readonly paused: boolean;
  readonly workers: number;
  readonly groups: number;
}

export const countJobs = defineScript({
  name: "queues.counts",
  keys: KEY_NAMES,
  repeatable: true,
  lua: `
local call = redis.call
return {
  call("LLEN", wait) + call("ZCARD", prio) + call("ZLEXCOUNT", index, "[q", "(r"),
  call("ZCARD", delayed), call("ZCARD", active), call("ZCARD", done), call("ZCARD", dead),
  call("ZLEXCOUNT", index, "[k", "(l"), call("HEXISTS", data, "#paused"), 0, call("LLEN", ring),
}
`,
  reply(reply: Reply): ShardCounts {
    const [waiting, delayed, active, done, dead, waitingForChildren, paused, workers, groups] = asCounts(reply);
    return {
      ...{ waiting, delayed, active, done, dead, waitingForChildren, workers, groups },
      paused: paused === 1,
    };
  },
});

/** Of one job: attempts that are over (lines), its end, what befell it, its state, and the worker that runs it. */
export const readHistory = defineScript({
  name: "queues.history",
  keys: KEY_NAMES,
  args: ["id"],
  include: [FIND],
  repeatable: true,
  lua: `
local named = call("HMGET", data, "j" .. id, "h" .. id, "r" .. id, "s" .. id, "f" .. id)
if not named[1] then return nil end
local session = named[5] and call("ZSCORE", active, id)
local known = session and call("HMGET", data, "w" .. session, "k" .. session) or {}
local ended = named[3] and not named[5] and named[3] or ""
local state = stateOf(id)
-- Of a result, which may be large or bytes, nothing is needed here.
if state == "done" then ended = string.match(ended, "^[^;]*;[^;]*;[^;]*;") or "" end
return { named[2] or "", ended, named[4] or "", state, known[1] or "", known[2] or "" }
`,
  reply: orNull(asTuple(asText, asText, asText, asText, asText, asText)),
});

/** The last reports of a kind, in no order. */
export const readReports = defineScript({
  name: "queues.reports",
  keys: ["data"],
  args: ["kind", "most"],
  repeatable: true,
  lua: `
local names = {}
for at = 0, most - 1 do names[#names + 1] = "y" .. kind .. at end
local found = {}
for _, each in ipairs(redis.call("HMGET", data, unpack(names))) do
  if each then found[#found + 1] = each end
end
return found
`,
  reply: asTexts,
});

/** Groups with jobs that wait, by name, behind `after`: name, how many wait, and `running,place`. */
export const listGroups = defineScript({
  name: "queues.groups",
  keys: KEY_NAMES,
  args: ["after", "most"],
  repeatable: true,
  lua: String.raw`
local found = {}
local from = after == "" and "[q" or "(q" .. after .. "\11"
for _ = 1, most do
  local member = redis.call("ZRANGEBYLEX", index, from, "(r", "LIMIT", 0, 1)[1]
  if not member then break end
  local name = string.match(member, "^q([^\n]*)\n")
  found[#found + 1] = name
  found[#found + 1] = redis.call("ZLEXCOUNT", index, "[q" .. name .. "\n", "(q" .. name .. "\11")
  found[#found + 1] = redis.call("HGET", data, "g" .. name) or "0,0"
  from = "(q" .. name .. "\11"
end
return found
`,
  reply: asRows(asText, asNumber, asText),
});

/** How a job ended, or "pending" after noting that somebody waits for it, or "missing". And the stream's place from which to listen. */
const awaitShape = {
  keys: KEY_NAMES,
  args: ["id"],
  repeatable: true,
  lua: `
local call = redis.call
local last = call("XREVRANGE", events, "+", "-", "COUNT", 1)[1]
local place = last and last[1] or "0-0"
local named = call("HMGET", data, "j" .. id, "r" .. id, "f" .. id)
if not named[1] then return { "missing", "", place } end
if named[2] and not named[3] then
  if call("ZSCORE", done, id) then return { "done", named[2], place } end
  if call("ZSCORE", dead, id) then return { "dead", named[2], place } end
end
if call("HSETNX", data, "a" .. id, "1") == 1 then call("HINCRBY", data, "#awaited", 1) end
return { "pending", "", place }
`,
} as const;
export const awaitJob = defineScript({ ...awaitShape, name: "queues.await" });
export const awaitJobBytes = defineScript({ ...awaitShape, name: "queues.await", buffers: true });

/** Counts of the last `minutes` minutes, the oldest first: done, retried, dead, stalled for each. */
export const readMetrics = defineScript({
  name: "queues.metrics",
  keys: KEY_NAMES,
  args: ["minutes"],
  include: [NOW_MS],
  repeatable: true,
  lua: `
local last = math.floor(now / 60000)
local rows = {}
for minute = last - minutes + 1, last do
  local row = redis.call("HMGET", data, "m" .. minute .. "d", "m" .. minute .. "r", "m" .. minute .. "x", "m" .. minute .. "s")
  for i = 1, 4 do row[i] = tonumber(row[i] or 0) end
  rows[#rows + 1] = row
end
return { last - minutes + 1, rows }
`,
  reply: asTuple(asNumber, asListOf(asNumbers)),
});
