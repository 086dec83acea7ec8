/**
 * The one script of a busy worker: says how its jobs ended and takes the next ones, in one round trip for as many as there are.
 * On the way it does what is due: delayed jobs, leases that ran out, schedules, windows. Work per call is bounded everywhere;
 * what is left over makes the next call come at once (`nextMs` 0).
 *
 * A worker that asks thousands of times a second need not look at the clock's things each time: it says when (`look`). Asked for
 * more than there is, the script says when something is due in any case.
 */

import { asList, asNumber } from "../../../base/replies.ts";
import { defineScript } from "../../../base/script.ts";
import type { Reply } from "../../../connection/port.ts";
import { KEY_NAMES } from "../keys.ts";
import { ENDING, MAKE_ROOM } from "./core.ts";
import {
  ENDING_LUA,
  ENDING_WORDS,
  FIRST_FENCE_LUA,
  firedLua,
  HAND_BACK,
  IS_DEAD_LUA,
  IS_DONE_LUA,
  JOB_COUNT_LUA,
  jobLua,
  KIND_LUA,
  RETRY,
} from "./outcomes.ts";

/** Most jobs taken in one call; Lua's stack and fairness to other clients set the bound. */
export const MAX_TAKEN = 500;

export interface CycleReply {
  /** Whether the session goes on. */
  readonly alive: boolean;
  readonly now: number;
  /** In how many milliseconds something is due; 0 for at once, -1 for no time known. */
  readonly next: number;
  readonly lost: readonly Reply[];
  readonly cancels: readonly Reply[];
  /** Those that need their next time worked out: see outcomes.ts, as for `jobs`. */
  readonly schedules: readonly Reply[];
  readonly messages: readonly Reply[];
  readonly jobs: readonly Reply[];
}

const NONE: readonly Reply[] = [];

/** Lists that are empty come as 0. */
function readReply(reply: Reply): CycleReply {
  const parts = asList(reply);
  const list = (at: number): readonly Reply[] => (Array.isArray(parts[at]) ? parts[at] : NONE);
  return {
    alive: parts[0] === 1,
    now: asNumber(parts[1]),
    next: asNumber(parts[2]),
    lost: list(3),
    cancels: list(4),
    schedules: list(5),
    messages: list(6),
    jobs: list(7),
  };
}

/** What is read first of all, in one go with the fences of the jobs that have ended; in Lua. */
const READ = {
  session: '"w" .. session',
  paused: '"#paused"',
  settings: '"#settings"',
  trail: '"#trail"',
  cancels: '"#cancels"',
  awaited: '"#awaited"',
  special: '"#special"',
  fence: '"#fence"',
  tally: "tally",
  now: '"#now"',
};
const READ_NAMES = Object.keys(READ);
const held = (name: keyof typeof READ): string => `held[${READ_NAMES.indexOf(name) + 1}]`;
/** The fence under which the job of an ending is leased. */
const holding = (i: string): string => `held[(${i} - 1) / ${ENDING_WORDS} + ${READ_NAMES.length + 1}]`;

const PREPARE = `
local want = tonumber(most)
local tally = "m" .. math.floor(now / 60000) .. "d"
local names = { ${Object.values(READ).join(", ")} }
for i = 1, #finished, ${ENDING_WORDS} do names[#names + 1] = "f" .. finished[i] end
local held = readAll(data, names)
configure(${held("settings")}, ${held("trail")})
mindClock(${held("now")})
local keep = cfg.kd or 1000
local awaited = ${held("awaited")} and ${held("awaited")} ~= "0"
special = ${held("special")} and true or false
`;

const ENDED = String.raw`
local lost, results, ended, gone, done_n, retried_n, dead_n = {}, {}, {}, {}, 0, 0, 0
local fields, leases = {}, {}

-- Said once for all jobs that end here: when, and who ran them.
local name = ${held("session")} and string.match(${held("session")}, "^%d+;(.*)$") or ""
local stamp, by = ";" .. now .. ";", "@" .. name .. ";"

local function succeed(id, fence, made, payload, x, ms)
  if x then
    undedup(id, x)
    tellParent(id, x, true, payload)
  end
  if awaited then answer(id, "result", payload) end
  done_n = done_n + 1
  if keep > 0 and not (x and x.n) then
    ended[#ended + 1] = now
    ended[#ended + 1] = id
    fields[#fields + 1] = "r" .. id
    if ms then made = made .. "+" .. ms end
    fields[#fields + 1] = fence .. stamp .. made .. by .. payload
  else
    forget({ id })
  end
  if cfg.er then emit("ended", id .. "\n" .. payload) else results[#results + 1] = id end
end

-- Back to where it waits: after a failure, or handed back untouched.
local function again(id, kind, delay, payload, x, seq, ms)
  local state = call("HGET", data, "s" .. id) or "0;0;"
  local made, stalls, why = string.match(state, "^(%d+);(%d+);(.*)$")
  if kind == "${RETRY}" then
    made, why = made + 1, payload
    retried_n = retried_n + 1
    emit("retry", id .. "\n" .. delay .. "\n" .. payload)
    trail = math.max(trail, 1)
    call("HSET", data, "s" .. id, made .. ";" .. stalls .. ";" .. why, "#trail", trail)
    remember(id, "failed", made, ms or 0, name, payload)
  else
    emit("waiting", id)
  end
  if x and x.g and (cfg.gc or 1) == 1 then
    call("ZADD", index, 0, groupMember(x, seq, id))
    if delay > 0 then blockGroup(x.g, now + delay) end
  elseif delay > 0 then
    call("ZADD", delayed, now + delay, id)
    -- Idle workers must learn when to look again.
    if call("ZRANGE", delayed, 0, 0)[1] == id then rouse() end
  else
    place(id, x, seq, kind == "${HAND_BACK}")
  end
end

local function finish(i, holding)
  ${ENDING_LUA}
  local x, seq, cancelled
  if holding ~= fence then
    local number, plus, mark = string.match(holding or "", "^(%d+)(%+?)(x?)$")
    if number ~= fence then
      -- Told before, and only the answer was lost?
      local told = call("HGET", data, "r" .. id)
      if not (told and string.match(told, "^%d+") == fence) then lost[#lost + 1] = id end
      return
    end
    cancelled = mark == "x"
    if plus == "+" then x, seq = facts(call("HGET", data, "j" .. id)) end
  end
  gone[#gone + 1] = id
  leases[#leases + 1] = "f" .. id
  if cancelled and call("ZREM", index, "x" .. id) == 1 then call("HINCRBY", data, "#cancels", -1) end
  ${KIND_LUA}
  if ${IS_DONE_LUA} then
    succeed(id, fence, number, payload, x, ms)
  elseif ${IS_DEAD_LUA} then
    dead_n = dead_n + 1
    bury(id, x, fence, number, payload, ms, name)
  else
    again(id, kind, number, payload, x, seq, ms)
  end
  if x and x.g then groupEnds(x.g) end
end

for i = 1, #finished, ${ENDING_WORDS} do finish(i, ${holding("i")}) end
if #gone > 0 then
  callAll("ZREM", active, gone)
  callAll("HDEL", data, leases)
end
if done_n > 0 then
  if #results > 0 then emit("done", table.concat(results, "\n")) end
  if #ended > 0 then callAll("ZADD", done, ended) end
  if ${held("tally")} then
    fields[#fields + 1] = tally
    fields[#fields + 1] = ${held("tally")} + done_n
  else
    count("d", done_n)
  end
end
count("r", retried_n)
count("x", dead_n)
`;

const DUE = String.raw`
local schedules, messages, more = {}, {}, false

local function endSchedule(name)
  call("ZREM", timers, "t" .. name)
  call("ZREM", index, "t" .. name)
  call("HDEL", data, "t" .. name, "u" .. name, "v" .. name)
end

-- A schedule makes one job for each time it names: the first worker that looks makes it. Times by a calendar are worked out by the worker.
local function fire(name)
  local named = call("HMGET", data, "t" .. name, "u" .. name)
  if not named[1] or not named[2] then return endSchedule(name) end
  local spec = cjson.decode(named[1])
  local at, fired, made = string.match(named[2], "^(%d+);(%d+);(%d+)$")
  at, made = tonumber(at), tonumber(made)
  if fired ~= string.format("%d", at) then
    made = made + 1
    local id = "schedule:" .. name .. ":" .. string.format("%d", at) .. (spec.suffix or "")
    -- The clock was put back: this time comes again.
    while call("HEXISTS", data, "j" .. id) == 1 do id = id .. "+" end
    local x, seq = facts("0,;" .. spec.tail), call("HINCRBY", data, "#seq", 1)
    call("HSET", data, "j" .. id, now .. "," .. seq .. ";" .. spec.tail)
    place(id, x, seq, false)
    emit("added", id)
  end
  if spec.limit and made >= spec.limit then return endSchedule(name) end
  local following = now + 5000
  if spec.every then
    following = at + spec.every * (math.floor((now - at) / spec.every) + 1)
    if spec["until"] and following > spec["until"] then return endSchedule(name) end
    call("HSET", data, "u" .. name, string.format("%d;%d;%d", following, at, made))
  else
    call("HSET", data, "u" .. name, string.format("%d;%d;%d", at, at, made))
    ${firedLua({ name: "name", at: 'string.format("%d", at)', spec: "named[1]" })}
  end
  call("ZADD", timers, following, "t" .. name)
end

local function expire(dead_session)
  local ids = call("ZRANGEBYSCORE", active, dead_session, dead_session, "LIMIT", 0, 200)
  local worker = #ids > 0 and workerOf(dead_session)
  for i = 1, #ids do stall(ids[i], worker) end
  if #ids < 200 then
    call("ZREM", timers, "w" .. dead_session)
    call("ZREM", index, "w" .. dead_session)
    call("HDEL", data, "w" .. dead_session, "k" .. dead_session)
  else
    more = true
  end
end

local function onTimer(member)
  local kind, name = string.sub(member, 1, 1), string.sub(member, 2)
  if kind == "w" then
    -- Our own is not over while we ask; its renewal is late.
    if name == session then call("ZADD", timers, now + leaseMs, member) else expire(name) end
  elseif kind == "t" then
    fire(name)
  elseif kind == "o" then
    call("ZADD", timers, now + 10000, member)
    messages[#messages + 1] = name
  else
    call("ZREM", timers, member)
    if kind == "g" then
      local running = groupState(name)
      setGroup(name, running, 0)
      offer(name)
    elseif kind == "d" then
      local current = call("HGET", data, "d" .. name)
      if current and tonumber(string.match(current, "\n(%d+)$")) <= now then call("HDEL", data, "d" .. name) end
    elseif kind == "e" then
      call("ZREMRANGEBYLEX", index, "[s" .. name .. "\n", "(s" .. name .. "\11")
    end
  end
end

local function promote()
  local due = call("ZRANGEBYSCORE", delayed, "-inf", now, "LIMIT", 0, 200)
  if #due == 0 then return end
  more = more or #due == 200
  callAll("ZREM", delayed, due)
  local names = {}
  for i = 1, #due do names[i] = "j" .. due[i] end
  local records = readAll(data, names)
  for i = 1, #due do
    if records[i] then
      local x, seq = facts(records[i])
      place(due[i], x, seq, false)
    end
  end
  emit("waiting", table.concat(due, "\n"))
end

if want > 0 and look == "1" then
  local due = call("ZRANGEBYSCORE", timers, "-inf", now, "LIMIT", 0, 50)
  for i = 1, #due do onTimer(due[i]) end
  more = more or #due == 50
  promote()
end
`;

const TAKE = String.raw`
local jobs, freeAt = {}, nil

-- How many the limits of the queue allow.
local function allowed()
  local most = want
  if cfg.c then most = math.min(most, cfg.c - call("ZCARD", active)) end
  if cfg.rm then
    local from = "r" .. string.format("%013d", now - cfg.rw + 1)
    call("ZREMRANGEBYLEX", index, "[r", "(" .. from)
    local left = cfg.rm - call("ZLEXCOUNT", index, "[r", "(s")
    if left < most then
      most = left
      local first = call("ZRANGEBYLEX", index, "[r", "(s", "LIMIT", 0, 1)[1]
      if first then freeAt = tonumber(string.sub(first, 2, 14)) + cfg.rw end
    end
  end
  return most
end

local ids
local function fromPrio(low, high, most)
  if most <= 0 then return end
  local got = call("ZRANGEBYSCORE", prio, low, high, "LIMIT", 0, most)
  if #got > 0 then callAll("ZREM", prio, got) end
  for i = 1, #got do ids[#ids + 1] = got[i] end
end

local function fromList(most)
  if most <= 0 then return end
  local got = call("LPOP", wait, most)
  if got then for i = 1, #got do ids[#ids + 1] = got[i] end end
end

local function fromRing(upto)
  while #ids < upto do
    local id = takeFromRing()
    if not id then return end
    ids[#ids + 1] = id
  end
end

-- Urgent ones first; then groups and the rest in turn, so that neither starves the other; then those that can wait.
local function take(most)
  ids = {}
  if most <= 0 then return end
  if not special then return fromList(most) end
  fromPrio("-inf", "(0", most)
  local left = most - #ids
  local turn = left == 1 and call("HINCRBY", data, "#turn", 1) % 2 or math.floor(left / 2)
  fromRing(#ids + turn)
  fromList(most - #ids)
  fromRing(most)
  fromPrio("0", "+inf", most - #ids)
end

local function lease()
  local names = {}
  for i = 1, #ids do
    names[i * 2 - 1] = "j" .. ids[i]
    names[i * 2] = "s" .. ids[i]
  end
  local known = readAll(data, names)
  local fence = tonumber(${held("fence")} or 0)
  fields[#fields + 1] = "#fence"
  fields[#fields + 1] = fence + #ids
  local leased, starts, taken = {}, {}, {}
  for i = 1, #ids do
    local id, record = ids[i], known[i * 2 - 1]
    if record then
      local mine = string.format("%d", fence + i)
      taken[#taken + 1] = id
      leased[#leased + 1] = session
      leased[#leased + 1] = id
      fields[#fields + 1] = "f" .. id
      fields[#fields + 1] = string.match(record, "^%d+,%d*;\n") and mine or mine .. "+"
      if cfg.rm then
        starts[#starts + 1] = 0
        starts[#starts + 1] = "r" .. string.format("%013d", now) .. "\n" .. mine
      end
      ${jobLua({ id: "id", fence: "mine", state: 'known[i * 2] or ""', record: "record" })}
    end
  end
  if #taken == 0 then return end
  callAll("ZADD", active, leased)
  if #starts > 0 then callAll("ZADD", index, starts) end
  emit("active", table.concat(taken, "\n"))
end

local most = 0
if want > 0 and ${held("session")} and not ${held("paused")} then
  most = allowed()
  take(most)
  if #ids > 0 then lease() end
end
if #fields > 0 then callAll("HSET", data, fields) end
-- The last one has ended: nothing waits, and nothing runs.
if #gone > 0 and want > 0 and #jobs == 0 and call("EXISTS", wait, prio, ring, active) == 0 then emit("drained", "") end
-- After the results are written: some of those that ended just now may be over the bound already.
if #ended > 0 then trim(done, keep, cfg.da) end
publish()

local function anyLeft()
  return call("EXISTS", wait, prio, ring) > 0
end

-- When to look again if nothing wakes the worker before: -1 for no time known.
local function nextMs()
  if more then return 0 end
  local head = -1
  local function at(ms) if ms and (head < 0 or ms < head) then head = ms end end
  at(tonumber(call("ZRANGE", delayed, 0, 0, "WITHSCORES")[2]))
  at(tonumber(call("ZRANGE", timers, 0, 0, "WITHSCORES")[2]))
  if freeAt and anyLeft() then at(freeAt) end
  return head < 0 and -1 or math.max(0, math.ceil(head - now))
end

local following = -1
if want > 0 and ${JOB_COUNT_LUA} < want then
  following = nextMs()
elseif not ${held("paused")} and call("EXISTS", wake) == 0 and anyLeft() then
  call("RPUSH", wake, "1")
end
local cancels = {}
if ${held("cancels")} and ${held("cancels")} ~= "0" then cancels = call("ZRANGEBYLEX", index, "[x", "(y", "LIMIT", 0, 100) end
local function some(list) return #list > 0 and list or 0 end
return { ${held("session")} and 1 or 0, now, following, some(lost), some(cancels), some(schedules), some(messages), some(jobs) }
`;

const shape = {
  keys: KEY_NAMES,
  args: ["session", "leaseMs", "look", "most"],
  rest: "finished",
  include: [...ENDING, MAKE_ROOM, PREPARE, ENDED, DUE],
  lua: TAKE,
  reply: readReply,
} as const;

/**
 * Ends one job and does what goes with that, all or nothing: the effects run if the lease is current, before the ending is
 * written. Commands that fail stop the script, and the job has not ended.
 */
const EFFECTS = `
local current = ${holding("1")}
if current and string.match(current, "^%d+") == ${FIRST_FENCE_LUA} then
  for _, command in ipairs(cjson.decode(effects)) do call(unpack(command)) end
end
`;

export const endWithEffects = defineScript({
  ...shape,
  name: "queues.effects",
  args: [...shape.args, "effects"],
  restKeys: "touched",
  include: [...ENDING, MAKE_ROOM, PREPARE, EFFECTS, ENDED, DUE],
});

/** `finished`: endings, see outcomes.ts. */
export const cycle = defineScript({ ...shape, name: "queues.cycle" });

/** The same for payloads that are bytes. */
export const cycleBytes = defineScript({ ...shape, name: "queues.cycle", buffers: true });
