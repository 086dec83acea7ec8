/**
 * The data model of a queue, and the Lua that its scripts share.
 *
 * Twelve keys, all in one slot, all declared by every script (../keys.ts); no key name is made from data. What a job is stands in
 * one hash, `data`; where it is stands in one list or sorted set:
 *
 *   waiting            `wait`: a list, oldest first. With a priority: `prio`, a sorted set, most urgent first. With a group: `index`.
 *   delayed            `delayed`: by due time; half a millisecond more where that is a date, not a delay
 *   active             `active`: the score is the session (one run of one worker) that has it
 *   done, dead         by the time they ended; the oldest are dropped past a bound
 *   waiting for children   `index`
 *
 * `data`, by the first character of the field:
 *   j<id>  record: `created,seq;facts LF options LF payload`. Facts are what the server must know of a job (JSON: g group,
 *          p priority, u dedup id, k parent …), empty for most; options and payload are the clients' business.
 *   s<id>  what befell it: `attempts;stalls;last error`        h<id>  attempts that failed or stalled, a line of JSON each
 *   r<id>  how it ended: `fence;when;attempts;result or error`, behind the attempts `+` and the milliseconds that the last one
 *          took (left out when it is 0), `@` and the worker's name
 *   f<id>  fence of the current lease, then `+` if it has facts, `x` if somebody asked to cancel it
 *   p<id>  progress        l<id>  log lines        a<id>  somebody waits for the result
 *   d<dedup id>  `job LF expiry`        g<group>  `running,place` (place: 0 nowhere, 1 in the ring, 2 blocked)
 *   t<name>, u<name>, v<name>  a schedule, its `next;fired;count`, and since when it is paused
 *   w<session>  a worker that lives: `lease in ms;name`        k<session>  its figures, as it last told them
 *   ys<n>, yl<n>  rings of the last reports: stalled jobs and slow ones
 *   c<parent> LF <child>  a child's result        m<minute><kind>  counts        #…  numbers of the queue, #now: the server's
 *          clock as last seen
 *
 * `timers`, by time: w<session> lease ends, g<group> may go on, e<group> its last start no longer counts, t<name> schedule is due, d<dedup id> window ends, o<message> to
 * pass on to another slot. One look at its head per fetch does all that other designs need a scheduler process for.
 *
 * `index`, all scores 0, used by its order: q<group> LF <order> LF <id> waiting in a group, s<group> LF <ms> LF <id> starts of
 * a group, r<ms> LF <id> starts of the queue (rate limits are exact: at most so many starts in any window), k<parent> waits for
 * children, c<parent> LF <child> not settled, t<name> a schedule, w<session> a worker that lives, x<id> to be cancelled.
 *
 * `ring`: groups that may run, each once: taking from its head and putting back at its end is round robin.
 * `wake`: at most one token; idle workers block on it, and who leaves work behind puts one in. Only a sign: the scripts have
 * the truth. `events`: a stream; one entry for each script that changed something.
 *
 * When the server's clock is put back, the next script that writes times sees it (`mindClock`) and moves the others with it.
 *
 * A lease belongs to a session, so renewing it is one command whatever the number of jobs. A job's fence is a number that only
 * grows; what a worker says about a job is believed only with the current fence.
 */
import { NOW_MS } from "../../../base/script.ts";

/** Attempts kept of each job, unless the settings say otherwise. */
const KEPT_ATTEMPTS = 10;
/** Reports kept of each kind. */
export const REPORTS = 100;

const BASE = String.raw`
local call = redis.call
local cfg, trail, ev, special = {}, 0, {}, false

-- Lua passes at most some thousand values on at once. The step is even, so that pairs stay together.
local STEP = 4000
local function callAll(command, key, words)
  if #words <= STEP then return call(command, key, unpack(words)) end
  for from = 1, #words, STEP do call(command, key, unpack(words, from, math.min(from + STEP - 1, #words))) end
end

local function readAll(key, names)
  if #names <= STEP then return call("HMGET", key, unpack(names)) end
  local found = {}
  for from = 1, #names, STEP do
    local some = call("HMGET", key, unpack(names, from, math.min(from + STEP - 1, #names)))
    for i = 1, #some do found[#found + 1] = some[i] end
  end
  return found
end

local function configure(settings, level)
  if settings then cfg = cjson.decode(settings) end
  trail = tonumber(level or 0)
end

-- From the first job with a group or a priority on, workers look for such.
local function markSpecial()
  if special then return end
  special = true
  call("HSET", data, "#special", "1")
end

local function emit(kind, text)
  ev[#ev + 1] = kind
  ev[#ev + 1] = text
end

local function publish()
  local most = cfg.me or 1000
  if most == 0 then return end
  for from = 1, #ev, STEP do
    call("XADD", events, "MAXLEN", "~", most, "*", unpack(ev, from, math.min(from + STEP - 1, #ev)))
  end
end

local function rouse()
  if call("EXISTS", wake) == 0 then call("RPUSH", wake, "1") end
end

-- The facts of a record, nil if it has none, and its number.
local function facts(record)
  local seq, text = string.match(record, "^%d+,(%d*);([^\n]*)\n")
  if text == nil or text == "" then return nil, seq end
  return cjson.decode(text), seq
end
`;

const GROUPS = String.raw`
local function groupState(g)
  local v = call("HGET", data, "g" .. g)
  if not v then return 0, 0 end
  local running, place = string.match(v, "^(%d+),(%d)$")
  return tonumber(running), tonumber(place)
end

local function setGroup(g, running, place)
  if running <= 0 and place == 0 then
    call("HDEL", data, "g" .. g)
  else
    call("HSET", data, "g" .. g, math.max(running, 0) .. "," .. place)
  end
end

local function inGroup(g, most)
  return call("ZRANGEBYLEX", index, "[q" .. g .. "\n", "(q" .. g .. "\11", "LIMIT", 0, most)
end

-- Into the ring, if it has something to run and may.
local function offer(g)
  local running, place = groupState(g)
  if place == 0 and running < (cfg.gc or 1) and #inGroup(g, 1) > 0 then
    call("RPUSH", ring, g)
    setGroup(g, running, 1)
  end
end

local function groupEnds(g)
  local running, place = groupState(g)
  setGroup(g, running - 1, place)
  offer(g)
end

local function groupMember(x, seq, id)
  return "q" .. x.g .. "\n" .. string.format("%04d%014d", 1000 - (x.p or 0), seq) .. "\n" .. id
end

-- When a group with a rate limit may start another; 0 for now.
local function groupFreeAt(g)
  if not cfg.gm then return 0 end
  local from = "s" .. g .. "\n" .. string.format("%013d", now - cfg.gw + 1)
  call("ZREMRANGEBYLEX", index, "[s" .. g .. "\n", "(" .. from)
  local starts = call("ZRANGEBYLEX", index, "[" .. from, "(s" .. g .. "\11", "LIMIT", 0, cfg.gm)
  if #starts < cfg.gm then return 0 end
  return tonumber(string.sub(starts[1], #g + 3, #g + 15)) + cfg.gw
end

-- The next job of the next group in turn; nil when the ring is empty.
local function takeFromRing()
  for _ = 1, 100 do
    local g = call("LPOP", ring)
    if not g then return nil end
    local running, place = groupState(g)
    local jobs = inGroup(g, 2)
    local freeAt = groupFreeAt(g)
    if place ~= 1 then
      -- It was blocked meanwhile.
    elseif #jobs == 0 or running >= (cfg.gc or 1) then
      setGroup(g, running, 0)
    elseif freeAt > now then
      setGroup(g, running, 2)
      call("ZADD", timers, freeAt, "g" .. g)
    else
      call("ZREM", index, jobs[1])
      local id = string.sub(jobs[1], #g + 22)
      if cfg.gm then
        call("ZADD", index, 0, "s" .. g .. "\n" .. string.format("%013d", now) .. "\n" .. id)
        call("ZADD", timers, now + cfg.gw, "e" .. g)
      end
      local again = #jobs > 1 and running + 1 < (cfg.gc or 1)
      if again then call("RPUSH", ring, g) end
      setGroup(g, running + 1, again and 1 or 0)
      return id
    end
  end
end

-- Puts a job where waiting ones are.
local function place(id, x, seq, front)
  if x and (x.g or x.p) then markSpecial() end
  if x and x.g then
    call("ZADD", index, 0, groupMember(x, seq, id))
    offer(x.g)
  elseif x and x.p then
    call("ZADD", prio, seq - x.p * 4398046511104, id)
  else
    call(front and "LPUSH" or "RPUSH", wait, id)
  end
end

local function blockGroup(g, untilMs)
  local running = groupState(g)
  setGroup(g, running, 2)
  call("ZADD", timers, untilMs, "g" .. g)
end
`;

/** Every script that writes times calls `mindClock` first. It writes itself once a second. */
const CLOCK = String.raw`
local function setBack(by)
  local all = call("ZRANGE", delayed, 0, -1, "WITHSCORES")
  for i = 1, #all, 2 do
    local due = tonumber(all[i + 1])
    if due % 1 == 0 then call("ZADD", delayed, due - by, all[i]) end
  end
  all = call("ZRANGE", timers, 0, -1, "WITHSCORES")
  for i = 1, #all, 2 do
    local member, due = all[i], tonumber(all[i + 1]) - by
    local kind, name = string.sub(member, 1, 1), string.sub(member, 2)
    if kind == "w" then
      -- It may have been renewed since; its lease says how long it can still have.
      due = math.min(due + by, now + tonumber(string.match(call("HGET", data, member) or "0", "^%d+")))
    elseif kind == "t" then
      local next, fired, made = string.match(call("HGET", data, "u" .. name) or "", "^(%d+);(%d+);(%d+)$")
      local spec = next and cjson.decode(call("HGET", data, member))
      if spec and spec.every then
        call("HSET", data, "u" .. name, string.format("%d;%d;%d", due, fired, made))
      elseif spec then
        -- The worker that finds it due works out its next time, and no job comes of it.
        due = now
        call("HSET", data, "u" .. name, string.format("%d;%d;%d", now, now, made))
      end
    elseif kind == "d" then
      local job = string.match(call("HGET", data, member) or "", "^([^\n]*)\n")
      if job then call("HSET", data, member, job .. "\n" .. string.format("%d", due)) end
    end
    call("ZADD", timers, due, member)
  end
  local function starts(from, to, pattern)
    for _, member in ipairs(call("ZRANGEBYLEX", index, from, to)) do
      local head, at, rest = string.match(member, pattern)
      call("ZREM", index, member)
      call("ZADD", index, 0, head .. string.format("%013d", at - by) .. rest)
    end
  end
  starts("[r", "(s", "^(r)(%d+)(\n.*)$")
  starts("[s", "(t", "^(s[^\n]*\n)(%d+)(\n.*)$")
end

local function mindClock(seen)
  local last = tonumber(seen or 0)
  if math.abs(now - last) < 1000 then return end
  if now < last then setBack(last - now) end
  call("HSET", data, "#now", now)
end
`;

/** History of jobs and reports of trouble. */
const HISTORY = String.raw`
local REPORTS = ${REPORTS}

-- A line for an attempt that is over while the job is not. How the job ended stands in r<id>.
local function remember(id, how, attempt, ms, worker, why)
  local most = cfg.ka or ${KEPT_ATTEMPTS}
  if most == 0 then return end
  local line = '{"k":"' .. how .. '","n":' .. attempt .. ',"e":' .. string.format("%d", now)
    .. (ms and ',"ms":' .. string.format("%d", ms) or "") .. ',"w":' .. cjson.encode(worker)
    .. (why ~= "" and ',"x":' .. why or "") .. "}"
  local lines = call("HGET", data, "h" .. id)
  lines = lines and lines .. "\n" .. line or line
  local _, breaks = string.gsub(lines, "\n", "")
  for _ = 1, breaks + 1 - most do lines = string.sub(lines, string.find(lines, "\n", 1, true) + 1) end
  trail = math.max(trail, 1)
  call("HSET", data, "h" .. id, lines, "#trail", trail)
end

local function workerOf(session)
  return string.match(call("HGET", data, "w" .. session) or "", "^%d+;(.*)$") or ""
end

-- Into the ring of its kind. The number tells the order.
local function report(kind, about)
  about.n = call("HINCRBY", data, "#y" .. kind, 1)
  about.at = now
  call("HSET", data, "y" .. kind .. about.n % REPORTS, cjson.encode(about))
end
`;

const ENDINGS = String.raw`
-- Counts by minute, for a day.
local function count(kind, n)
  if n == 0 then return end
  local minute = math.floor(now / 60000)
  if call("HINCRBY", data, "m" .. minute .. kind, n) ~= n then return end
  local swept = tonumber(call("HGET", data, "#swept") or minute)
  call("HSET", data, "#swept", minute)
  for old = swept - 1440, math.min(minute - 1440, swept) do
    call("HDEL", data, "m" .. old .. "d", "m" .. old .. "r", "m" .. old .. "x", "m" .. old .. "s")
  end
end

-- Drops all that is known of jobs which are in no list any more.
local function forget(ids)
  local fields = {}
  for i = 1, #ids do
    local id = ids[i]
    fields[#fields + 1] = "j" .. id
    fields[#fields + 1] = "r" .. id
    if trail > 0 then
      for _, kind in ipairs({ "s", "p", "l", "h" }) do fields[#fields + 1] = kind .. id end
    end
    if trail > 1 then
      local record = call("HGET", data, "j" .. id)
      local x = record and facts(record)
      for _, child in ipairs(x and x.c or {}) do fields[#fields + 1] = "c" .. id .. "\n" .. child end
    end
  end
  if #fields > 0 then callAll("HDEL", data, fields) end
end

-- Holds finished jobs to their bound; a little slack, so that not every job pays for it.
local function trim(key, most, age)
  local over = call("ZCARD", key) - most
  if over > math.min(50, math.floor(most / 20)) then
    local old = call("ZPOPMIN", key, math.min(over, 500))
    local ids = {}
    for i = 1, #old, 2 do ids[#ids + 1] = old[i] end
    forget(ids)
  end
  if age then
    local old = call("ZRANGEBYSCORE", key, "-inf", now - age, "LIMIT", 0, 100)
    if #old > 0 then
      callAll("ZREM", key, old)
      forget(old)
    end
  end
end

-- Gives back the deduplication id that a job has until it ends.
local function undedup(id, x)
  if x.u and call("HGET", data, "d" .. x.u) == id .. "\n0" then call("HDEL", data, "d" .. x.u) end
end

-- Tells who waits for it, with the result in the event: the job itself may be dropped before they look.
local function answer(id, kind, payload)
  if call("HDEL", data, "a" .. id) == 1 then
    call("HINCRBY", data, "#awaited", -1)
    emit(kind, id .. "\n" .. payload)
  end
end

local bury

-- A child has ended. Told twice, it counts once.
local function settleChild(parent, child, ok, payload, policy)
  if not ok and policy == "wait" then return end
  if call("ZREM", index, "c" .. parent .. "\n" .. child) == 0 then return end
  call("HSET", data, "c" .. parent .. "\n" .. child, (ok and "+" or "-") .. payload)
  local record = call("HGET", data, "j" .. parent)
  if not record then return end
  local x, seq = facts(record)
  if not ok and policy == "fail" then
    if call("ZREM", index, "k" .. parent) == 1 then
      bury(parent, x, "0", 0, cjson.encode({ name = "ChildDead", message = "the child " .. child .. " is dead" }))
    end
  elseif #call("ZRANGEBYLEX", index, "[c" .. parent .. "\n", "(c" .. parent .. "\11", "LIMIT", 0, 1) == 0 then
    if call("ZREM", index, "k" .. parent) == 1 then
      place(parent, x, seq, false)
      emit("waiting", parent)
      rouse()
    end
  end
end

local function tellParent(id, x, ok, payload)
  if not x.k then return end
  if not x.K then return settleChild(x.k, id, ok, payload, x.f or "wait") end
  local message = { t = "child", q = x.K, k = x.k, c = x.C or id, o = ok and 1 or 0, p = payload, f = x.f }
  call("ZADD", timers, now, "o" .. cjson.encode(message))
end

-- Into the dead letters.
bury = function(id, x, fence, made, payload, ms, worker)
  local took = ms and ms > 0 and "+" .. string.format("%d", ms) or ""
  call("HSET", data, "r" .. id, fence .. ";" .. now .. ";" .. made .. took .. "@" .. (worker or "") .. ";" .. payload)
  call("ZADD", dead, now, id)
  emit("dead", id .. "\n" .. payload)
  if x then
    undedup(id, x)
    tellParent(id, x, false, payload)
  end
  answer(id, "error", payload)
  trim(dead, cfg.kx or 10000, cfg.xa)
end

-- The lease is over without an ending: the job runs again, unless this happened too often.
local function stall(id, worker)
  local named = call("HMGET", data, "j" .. id, "s" .. id)
  call("ZREM", active, id)
  call("HDEL", data, "f" .. id)
  if call("ZREM", index, "x" .. id) == 1 then call("HINCRBY", data, "#cancels", -1) end
  if not named[1] then return end
  local x, seq = facts(named[1])
  local made, stalls, why = 0, 0, ""
  if named[2] then made, stalls, why = string.match(named[2], "^(%d+);(%d+);(.*)$") end
  stalls = tonumber(stalls) + 1
  call("HSET", data, "s" .. id, made .. ";" .. stalls .. ";" .. why, "#trail", math.max(trail, 1))
  trail = math.max(trail, 1)
  report("s", { id = id, w = worker, s = stalls })
  emit("stalled", id)
  count("s", 1)
  if stalls > (cfg.sl or 3) then
    local why = cjson.encode({ name = "Stalled", message = "its worker was lost " .. stalls .. " times" })
    bury(id, x, "0", made, why, nil, worker)
    count("x", 1)
    if x and x.g then groupEnds(x.g) end
  else
    remember(id, "stalled", made + 1, nil, worker, "")
    place(id, x, seq, true)
    if x and x.g then groupEnds(x.g) end
  end
end
`;

/** For scripts that only put jobs somewhere. */
export const PLACING: readonly string[] = [NOW_MS, BASE, GROUPS, CLOCK];

/** For scripts that also end them. */
export const ENDING: readonly string[] = [NOW_MS, BASE, GROUPS, CLOCK, HISTORY, ENDINGS];

/**
 * For scripts that make room in the end: they take jobs, end them and drop them. A server that is full refuses a script only before
 * its first write, and never one that can only free memory. So they begin with such a write, which changes nothing.
 */
export const MAKE_ROOM = `redis.call("HDEL", data, "")`;
