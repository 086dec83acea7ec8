/**
 * The side of a move that BullMQ's keys are on. A job that is to be moved first goes from BullMQ's list into one of ours, in one step, so
 * that no worker of BullMQ can take it any more; it leaves that list when it is in the other queue.
 */
import { asFields, asList, asNumber, asPairs, asText, asTexts, wordOf } from "../../../base/replies.ts";
import { defineScript } from "../../../base/script.ts";
import type { Reply } from "../../../connection/port.ts";

export interface BullKeys {
  readonly base: string;
  readonly wait: string;
  readonly paused: string;
  readonly prioritized: string;
  readonly delayed: string;
  readonly repeat: string;
  readonly meta: string;
  /** Ours: what is on its way. */
  readonly moving: string;
  readonly movingSchedulers: string;
}

export function bullKeys(prefix: string, queue: string): BullKeys {
  const base = `${prefix}:${queue}`;
  return {
    base,
    wait: `${base}:wait`,
    paused: `${base}:paused`,
    prioritized: `${base}:prioritized`,
    delayed: `${base}:delayed`,
    repeat: `${base}:repeat`,
    meta: `${base}:meta`,
    moving: `${base}:cinnabar-moving`,
    movingSchedulers: `${base}:cinnabar-moving-schedulers`,
  };
}

const asOrigin = wordOf("wait", "paused", "prioritized", "delayed");

export type Origin = ReturnType<typeof asOrigin>;

/** A job on its way: where it was, its place there, its id, and what is in its hash. */
export interface BullJob {
  readonly origin: Origin;
  readonly score: number;
  readonly id: string;
  readonly fields: ReadonlyMap<string, string>;
  /** How long its deduplication still holds: -1 until its end, -2 not at all. */
  readonly dedupMs: number;
}

export interface Claimed {
  readonly jobs: readonly BullJob[];
  /** Jobs of flows, which stay where they are. */
  readonly skipped: readonly string[];
}

function claimedIn(reply: Reply): Claimed {
  const [found, skipped] = asList(reply);
  const jobs = asList(found).map((each) => {
    const [entry, pairs, dedupMs] = asList(each);
    const [, origin = "", score = "", id = ""] = /^(\w+) (\S+) ([\s\S]*)$/.exec(asText(entry)) ?? [];
    return { origin: asOrigin(origin), score: Number(score), id, fields: asFields(pairs), dedupMs: asNumber(dedupMs) };
  });
  return { jobs, skipped: asTexts(skipped) };
}

/**
 * Up to `most` jobs in the order in which BullMQ would run them; those that are on their way already first, alone. What stands in a list
 * and is no job (a mark of an older BullMQ) stays, and so do jobs of flows: their parents wait for them there.
 */
export const claimJobs = defineScript({
  name: "bullmq.claim",
  keys: ["wait", "paused", "prioritized", "delayed", "moving"],
  args: ["base", "most"],
  repeatable: true,
  lua: `
local skipped = {}
local function isMovable(id)
  local key = base .. ":" .. id
  if redis.call("EXISTS", key) == 0 then return false end
  if redis.call("HEXISTS", key, "parentKey") == 0 and redis.call("HEXISTS", key, "parent") == 0 then return true end
  if #skipped < 1000 then skipped[#skipped + 1] = id end
  return false
end
local left = tonumber(most)
local function take(list, origin)
  if redis.call("TYPE", list).ok ~= "list" then return end
  local last = redis.call("LLEN", list) - 1
  while left > 0 and last >= 0 do
    local first = math.max(0, last - 499)
    local ids = redis.call("LRANGE", list, first, last)
    for i = #ids, 1, -1 do
      if left > 0 and isMovable(ids[i]) then
        redis.call("LREM", list, -1, ids[i])
        redis.call("RPUSH", moving, origin .. " 0 " .. ids[i])
        left = left - 1
      end
    end
    last = first - 1
  end
end
local function takeFirst(set, origin)
  if redis.call("TYPE", set).ok ~= "zset" then return end
  local from = 0
  while left > 0 do
    local found = redis.call("ZRANGE", set, from, from + 499, "WITHSCORES")
    if #found == 0 then return end
    for i = 1, #found, 2 do
      if left > 0 and isMovable(found[i]) then
        redis.call("ZREM", set, found[i])
        redis.call("RPUSH", moving, origin .. " " .. found[i + 1] .. " " .. found[i])
        left = left - 1
      else
        from = from + 1
      end
    end
  end
end
if redis.call("LLEN", moving) == 0 then
  take(wait, "wait")
  take(paused, "paused")
  takeFirst(prioritized, "prioritized")
  takeFirst(delayed, "delayed")
end
local jobs = {}
for _, entry in ipairs(redis.call("LRANGE", moving, 0, -1)) do
  local id = string.match(entry, "^%S+ %S+ (.*)$")
  local key = base .. ":" .. id
  local deid = redis.call("HGET", key, "deid")
  local holds = -2
  if deid and redis.call("GET", base .. ":de:" .. deid) == id then holds = redis.call("PTTL", base .. ":de:" .. deid) end
  jobs[#jobs + 1] = { entry, redis.call("HGETALL", key), holds }
end
return { jobs, skipped }`,
  reply: claimedIn,
});

/** They are in the other queue: nothing of them stays here. */
export const forgetJobs = defineScript({
  name: "bullmq.forget",
  keys: ["moving"],
  args: ["base"],
  rest: "ids",
  repeatable: true,
  lua: `
for _, id in ipairs(ids) do
  local key = base .. ":" .. id
  local deid = redis.call("HGET", key, "deid")
  if deid and redis.call("GET", base .. ":de:" .. deid) == id then redis.call("DEL", base .. ":de:" .. deid) end
  redis.call("DEL", key, key .. ":logs")
end
return redis.call("DEL", moving)`,
});

export interface BullScheduler {
  readonly id: string;
  readonly nextMs: number;
  /** Its next job waited for that time, and went with it. */
  readonly isAhead: boolean;
  readonly fields: ReadonlyMap<string, string>;
}

/** Takes all job schedulers out, each with the job that it has made ahead of time, and answers those that are on their way. */
export const claimSchedulers = defineScript({
  name: "bullmq.claimSchedulers",
  keys: ["schedulers", "delayed", "moving"],
  args: ["base"],
  repeatable: true,
  lua: `
if redis.call("TYPE", schedulers).ok == "zset" then
  local all = redis.call("ZRANGE", schedulers, 0, -1, "WITHSCORES")
  for i = 1, #all, 2 do
    local id, nextMs = all[i], string.format("%.0f", tonumber(all[i + 1]))
    local key, job = base .. ":repeat:" .. id, "repeat:" .. id .. ":" .. nextMs
    local fields = redis.call("HGETALL", key)
    if #fields > 0 then
      local isAhead = redis.call("ZREM", delayed, job) == 1
      if isAhead then redis.call("DEL", base .. ":" .. job) end
      redis.call("HSET", moving, id, cjson.encode({ nextMs, isAhead, fields }))
      redis.call("DEL", key)
      redis.call("ZREM", schedulers, id)
    end
  end
end
return redis.call("HGETALL", moving)`,
  reply: (reply): BullScheduler[] =>
    asPairs(reply).map(([id, text]) => {
      const [nextMs, isAhead, words]: [string, boolean, string[]] = JSON.parse(text);
      return { id, nextMs: Number(nextMs), isAhead, fields: asFields(words) };
    }),
});
