/** Adding jobs: any number in one call, all or none, and safe to repeat, since every job comes with its id. */

import { ServerError } from "../../../base/errors.ts";
import { asListOf, asTextOrNumber, wordOf } from "../../../base/replies.ts";
import { defineScript } from "../../../base/script.ts";
import type { Reply } from "../../../connection/port.ts";
import { KEY_NAMES } from "../keys.ts";
import { PLACING } from "./core.ts";

/** What became of the jobs that were not simply added: their place in the call, why, and the job that is there instead. */
const asStatus = wordOf<NotAdded["status"]>("exists", "duplicate", "replaced");

export interface NotAdded {
  readonly at: number;
  readonly status: "exists" | "duplicate" | "replaced";
  readonly id: string;
}

/**
 * `jobs`: for each its id, how to place it (JSON, empty for "at the end"), and its record from the facts on.
 * Ways to place: d delay, t time, g group, p priority, l last in first out, u w m deduplication, c children and o messages for
 * other slots; a: somebody waits for the result.
 */
export const addJobs = defineScript({
  name: "queues.add",
  keys: KEY_NAMES,
  rest: "jobs",
  include: PLACING,
  repeatable: true,
  lua: String.raw`
local names = { "#settings", "#now" }
for i = 1, #jobs, 3 do names[#names + 1] = "j" .. jobs[i] end
local known = readAll(data, names)
configure(known[1])
mindClock(known[2])
if cfg.mw then
  local size = call("LLEN", wait) + call("ZCARD", prio) + call("ZCARD", delayed)
    + call("ZLEXCOUNT", index, "[q", "(r")
  if size + #jobs / 3 > cfg.mw then return redis.error_reply("QUEUEFULL the queue holds as many jobs as it may") end
end
local stamp, seen, other = now .. ",", {}, {}
local fields, plain, added, earliest = {}, {}, {}, false

local function number() return call("HINCRBY", data, "#seq", 1) end

-- True if another job with this deduplication id stands in the way.
local function duplicate(at, id, tail, o)
  local current = call("HGET", data, "d" .. o.u)
  if current then
    local job, expiry = string.match(current, "^([^\n]*)\n(%d+)$")
    expiry = tonumber(expiry)
    if expiry == 0 or expiry > now then
      local status = "duplicate"
      if o.m == "debounce" and call("ZSCORE", delayed, job) then
        local head = string.match(call("HGET", data, "j" .. job), "^[^;]*;")
        call("HSET", data, "j" .. job, head .. tail, "d" .. o.u, job .. "\n" .. (now + o.w))
        call("ZADD", delayed, now + o.w, job)
        call("ZADD", timers, now + o.w, "d" .. o.u)
        status = "replaced"
      end
      other[#other + 1] = at
      other[#other + 1] = status
      other[#other + 1] = job
      return true
    end
  end
  call("HSET", data, "d" .. o.u, id .. "\n" .. (o.w and now + o.w or 0))
  if o.w then call("ZADD", timers, now + o.w, "d" .. o.u) end
  return false
end

local function addSpecial(at, id, tail, o)
  if o.u and duplicate(at, id, tail, o) then return end
  local seq = ""
  if o.g or o.p then seq = number() end
  call("HSET", data, "j" .. id, stamp .. seq .. ";" .. tail)
  if o.a then
    call("HSET", data, "a" .. id, "1")
    call("HINCRBY", data, "#awaited", 1)
  end
  added[#added + 1] = id
  -- A date stays what it is when the clock is put back; a delay does not.
  local due = o.t and o.t + 0.5 or (o.d and now + o.d)
  if o.c then
    call("HSET", data, "#trail", 2)
    call("ZADD", index, 0, "k" .. id)
    for _, child in ipairs(o.c) do call("ZADD", index, 0, "c" .. id .. "\n" .. child) end
    for _, message in ipairs(o.o or {}) do call("ZADD", timers, now, "o" .. message) end
  elseif due and math.floor(due) > now then
    call("ZADD", delayed, due, id)
    earliest = earliest or call("ZRANGE", delayed, 0, 0)[1] == id
  else
    place(id, o, seq, o.l)
    earliest = true
  end
end

for i = 1, #jobs, 3 do
  local id, how, tail = jobs[i], jobs[i + 1], jobs[i + 2]
  if known[(i + 8) / 3] or seen[id] then
    other[#other + 1] = (i - 1) / 3
    other[#other + 1] = "exists"
    other[#other + 1] = id
  else
    seen[id] = true
    if how == "" then
      fields[#fields + 1] = "j" .. id
      fields[#fields + 1] = stamp .. ";" .. tail
      plain[#plain + 1] = id
    else
      addSpecial((i - 1) / 3, id, tail, cjson.decode(how))
    end
  end
end
if #plain > 0 then
  callAll("HSET", data, fields)
  callAll("RPUSH", wait, plain)
end
if #plain > 0 or #added > 0 then
  for i = 1, #added do plain[#plain + 1] = added[i] end
  emit("added", table.concat(plain, "\n"))
  publish()
  if #plain > #added or earliest then rouse() end
end
return other
`,
  reply: decodeNotAdded,
});

const asRefusals = asListOf(asTextOrNumber);

function decodeNotAdded(reply: Reply): NotAdded[] {
  const flat = asRefusals(reply);
  const result: NotAdded[] = [];
  for (let i = 0; i + 2 < flat.length; i += 3) {
    result.push({ at: Number(flat[i]), status: asStatus(flat[i + 1]), id: String(flat[i + 2]) });
  }
  return result;
}

export function isFull(error: unknown): boolean {
  return error instanceof ServerError && error.message.includes("QUEUEFULL");
}
