/** Sessions: one run of one worker on one shard. Its jobs are leased together. */

import { asRows, asText, asTexts, asTuple } from "../../../base/replies.ts";
import { defineScript, NOW_MS } from "../../../base/script.ts";
import type { Reply } from "../../../connection/port.ts";
import { KEY_NAMES } from "../keys.ts";
import { ENDING, MAKE_ROOM } from "./core.ts";

export interface Joined {
  readonly session: string;
  /** Of the jobs that the worker believes to have: those that it has no longer. */
  readonly lost: readonly string[];
}

/**
 * Begins a session, or makes sure of one after a doubtful moment (a lost answer may have leased jobs that nobody heard of: they
 * are put back). `held`: id and fence of each job in hand. Repeating it is safe: a session without jobs just runs out.
 */
export const joinSession = defineScript({
  name: "queues.join",
  keys: KEY_NAMES,
  args: ["session", "leaseMs", "worker", "figures"],
  rest: "held",
  include: [...ENDING, MAKE_ROOM],
  repeatable: true,
  lua: `
local known = call("HMGET", data, "w" .. session, "#settings", "#trail", "#now")
configure(known[2], known[3])
mindClock(known[4])
local lost, mine = {}, {}
for i = 1, #held, 2 do
  local fence = call("HGET", data, "f" .. held[i])
  if fence and string.match(fence, "^%d+") == held[i + 1] then
    mine[held[i]] = true
  else
    lost[#lost + 1] = held[i]
  end
end
if not known[1] then
  session = string.format("%d", call("HINCRBY", data, "#session", 1))
  call("HSET", data, "w" .. session, leaseMs .. ";" .. worker, "k" .. session, now .. ";" .. now .. ";" .. figures)
  call("ZADD", index, 0, "w" .. session)
else
  for _, id in ipairs(call("ZRANGEBYSCORE", active, session, session)) do
    if not mine[id] then
      call("ZREM", active, id)
      call("HDEL", data, "f" .. id)
      local record = call("HGET", data, "j" .. id)
      if record then
        local x, seq = facts(record)
        place(id, x, seq, true)
        if x and x.g then groupEnds(x.g) end
        emit("waiting", id)
      end
    end
  end
  if call("EXISTS", wait, prio, ring) > 0 then rouse() end
end
call("ZADD", timers, now + leaseMs, "w" .. session)
publish()
return { session, lost }
`,
  reply(reply: Reply): Joined {
    const [session, lost] = asTuple(asText, asTexts)(reply);
    return { session: String(session), lost };
  },
});

/** 1 if the session goes on for another lease, 0 if it is over. */
export const renewSession = defineScript({
  name: "queues.renew",
  whileMoving: true,
  keys: ["data", "timers"],
  args: ["session", "leaseMs"],
  include: [NOW_MS],
  repeatable: true,
  lua: `
if redis.call("HEXISTS", data, "w" .. session) == 0 then return 0 end
${MAKE_ROOM}
redis.call("ZADD", timers, now + leaseMs, "w" .. session)
return 1
`,
  reply: Number,
});

/** What a worker has done so far. 0 if its session is over. */
export const reportFigures = defineScript({
  name: "queues.figures",
  keys: ["data"],
  args: ["session", "figures"],
  include: [NOW_MS],
  repeatable: true,
  lua: `
local known = redis.call("HGET", data, "k" .. session)
if not known then return 0 end
${MAKE_ROOM}
redis.call("HSET", data, "k" .. session, string.match(known, "^%d+;") .. now .. ";" .. figures)
return 1
`,
  reply: Number,
});

/** Session and figures of each worker that lives, by session. */
export const listWorkers = defineScript({
  name: "queues.workers",
  keys: KEY_NAMES,
  args: ["after", "most"],
  repeatable: true,
  lua: `
local found = {}
for _, member in ipairs(redis.call("ZRANGEBYLEX", index, after == "" and "[w" or "(w" .. after, "(x", "LIMIT", 0, most)) do
  local session = string.sub(member, 2)
  found[#found + 1] = session
  found[#found + 1] = redis.call("HGET", data, "k" .. session) or ""
end
return found
`,
  reply: asRows(asText, asText),
});

/** Puts a sign for idle workers where there is none. */
export const wakeAnother = defineScript({
  name: "queues.wake",
  keys: ["data", "wake"],
  repeatable: true,
  lua: `
${MAKE_ROOM}
if redis.call("EXISTS", wake) == 0 then redis.call("RPUSH", wake, "1") end
return 1
`,
});

/** Ends a session; jobs that are still in it run again at once, without being counted as stalled. */
export const leaveSession = defineScript({
  name: "queues.leave",
  keys: KEY_NAMES,
  args: ["session"],
  include: [...ENDING, MAKE_ROOM],
  repeatable: true,
  lua: `
local known = call("HMGET", data, "#settings", "#trail")
configure(known[1], known[2])
local ids = call("ZRANGEBYSCORE", active, session, session)
for i = 1, #ids do
  local id = ids[i]
  call("ZREM", active, id)
  call("HDEL", data, "f" .. id)
  local record = call("HGET", data, "j" .. id)
  if record then
    local x, seq = facts(record)
    place(id, x, seq, true)
    if x and x.g then groupEnds(x.g) end
    emit("waiting", id)
  end
end
call("ZREM", timers, "w" .. session)
call("ZREM", index, "w" .. session)
call("HDEL", data, "w" .. session, "k" .. session)
if call("EXISTS", wait, prio, ring) > 0 then rouse() end
publish()
return #ids
`,
  reply: Number,
});
