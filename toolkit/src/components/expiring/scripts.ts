/**
 * An element is there as long as its end lies in the future, by the server's clock. Elements that are over are left out of every
 * answer. Each write deletes some of them, and the whole structure expires with its last element: so nobody has to clean.
 */

import {
  asByteList,
  asBytesOrNulls,
  asListOf,
  asNumber,
  asNumbers,
  asTextOrNull,
  asTexts,
  asTuple,
} from "../../base/replies.ts";
import { defineScript, NOW_MS } from "../../base/script.ts";

/** The end of what has none: the last moment that a Date knows. */
export const NEVER = 8_640_000_000_000_000;

/** So many that are over go with each write. */
const SWEEP = 100;

const TEXT = `
local function text(number) return string.format("%.0f", number) end
`;

/** Lua: whether an end, as ZSCORE gives it, lies in the future. */
const LIVE = `
local function isLive(ends) return ends and tonumber(ends) > now end
`;

/** Lua: `sweep` deletes some that are over, `settle` lets the keys expire with the last element. */
const TIDY = `
local function sweep()
  local over = redis.call("ZRANGEBYSCORE", ends, "-inf", text(now), "LIMIT", 0, ${SWEEP})
  if #over == 0 then return end
  redis.call("ZREM", ends, unpack(over))
  if values then redis.call("HDEL", values, unpack(over)) end
end
local function settle()
  local last = redis.call("ZRANGE", ends, -1, -1, "WITHSCORES")[2]
  if not last then return end
  for _, key in ipairs({ends, values}) do
    if tonumber(last) >= ${NEVER} then redis.call("PERSIST", key) else redis.call("PEXPIREAT", key, text(tonumber(last))) end
  end
end
local function endOf(ttl) return ttl == "0" and "${NEVER}" or text(math.min(now + ttl, ${NEVER} - 1)) end
-- Those that are over take no room.
local function isFull()
  if redis.call("ZCARD", ends) < tonumber(maxItems) then return false end
  return redis.call("ZCOUNT", ends, "(" .. text(now), "+inf") >= tonumber(maxItems)
end
`;

const NO_VALUES = "local values";

/** Answers 1 for added, 0 for exists (it ends later or sooner from now on), 2 for full. */
export const addMembers = defineScript({
  name: "expiring.add",
  keys: ["ends"],
  args: ["ttlMs", "maxItems"],
  rest: "members",
  include: [NO_VALUES, NOW_MS, TEXT, LIVE, TIDY],
  lua: `
    sweep()
    local answers = {}
    local ending = endOf(ttlMs)
    for at, member in ipairs(members) do
      if isLive(redis.call("ZSCORE", ends, member)) then answers[at] = 0
      elseif isFull() then answers[at] = 2
      else answers[at] = 1 end
      if answers[at] < 2 then redis.call("ZADD", ends, ending, member) end
    end
    settle()
    return answers
  `,
  reply: asNumbers,
});

/**
 * `entries` holds a key and a value each. Mode "set" replaces, "create" leaves alone what is there. Answers 1 for stored, 0 for
 * exists, 2 for full.
 */
export const putEntries = defineScript({
  name: "expiring.put",
  keys: ["ends", "values"],
  args: ["ttlMs", "maxItems", "mode"],
  rest: "entries",
  include: [NOW_MS, TEXT, LIVE, TIDY],
  lua: `
    sweep()
    local answers = {}
    local ending = endOf(ttlMs)
    for i = 1, #entries, 2 do
      local isThere = isLive(redis.call("ZSCORE", ends, entries[i]))
      local answer = 1
      if isThere and mode == "create" then answer = 0
      elseif not isThere and isFull() then answer = 2
      else
        redis.call("ZADD", ends, ending, entries[i])
        redis.call("HSET", values, entries[i], entries[i + 1])
      end
      answers[#answers + 1] = answer
    end
    settle()
    return answers
  `,
  reply: asNumbers,
});

/** When these end, in milliseconds; nil for those that are not there. */
export const endsOf = defineScript({
  name: "expiring.ends",
  keys: ["ends"],
  rest: "members",
  include: [NOW_MS, LIVE],
  readOnly: true,
  lua: `
    local answers = {}
    for at, member in ipairs(members) do
      local ending = redis.call("ZSCORE", ends, member)
      answers[at] = isLive(ending) and ending
    end
    return answers
  `,
  reply: asListOf(asTextOrNull),
});

/** The values of these keys; nil for those that are not there. */
export const valuesOf = defineScript({
  name: "expiring.values",
  keys: ["ends", "values"],
  rest: "wanted",
  include: [NOW_MS, LIVE],
  readOnly: true,
  buffers: true,
  lua: `
    local answers = {}
    for at, key in ipairs(wanted) do
      answers[at] = isLive(redis.call("ZSCORE", ends, key)) and redis.call("HGET", values, key)
    end
    return answers
  `,
  reply: asBytesOrNulls,
});

/** Sets when these end, if they are there. Answers 1 or 0 each. */
export const touch = defineScript({
  name: "expiring.touch",
  keys: ["ends"],
  restKeys: "others",
  args: ["ttlMs"],
  rest: "members",
  include: ["local values, maxItems = others[1], 0", NOW_MS, TEXT, LIVE, TIDY],
  repeatable: true,
  lua: `
    local answers = {}
    for at, member in ipairs(members) do
      local isThere = isLive(redis.call("ZSCORE", ends, member))
      if isThere then redis.call("ZADD", ends, endOf(ttlMs), member) end
      answers[at] = isThere and 1 or 0
    end
    settle()
    return answers
  `,
  reply: asNumbers,
});

/** Answers 1 for those that were there. */
export const deleteElements = defineScript({
  name: "expiring.delete",
  keys: ["ends"],
  restKeys: "others",
  rest: "members",
  include: ["local values, maxItems = others[1], 0", NOW_MS, TEXT, LIVE, TIDY],
  lua: `
    local answers = {}
    for at, member in ipairs(members) do
      answers[at] = isLive(redis.call("ZSCORE", ends, member)) and 1 or 0
      redis.call("ZREM", ends, member)
      if values then redis.call("HDEL", values, member) end
    end
    sweep()
    settle()
    return answers
  `,
  reply: asNumbers,
});

/** The value, which is gone with the answer. */
export const takeEntry = defineScript({
  name: "expiring.take",
  keys: ["ends", "values"],
  args: ["key"],
  include: ["local maxItems = 0", NOW_MS, TEXT, LIVE, TIDY],
  buffers: true,
  lua: `
    local found = isLive(redis.call("ZSCORE", ends, key)) and redis.call("HGET", values, key)
    redis.call("ZREM", ends, key)
    redis.call("HDEL", values, key)
    sweep()
    settle()
    return {found}
  `,
  reply: asBytesOrNulls,
});

export const countLive = defineScript({
  name: "expiring.count",
  keys: ["ends"],
  include: [NOW_MS, TEXT],
  readOnly: true,
  lua: `return redis.call("ZCOUNT", ends, "(" .. text(now), "+inf")`,
  reply: asNumber,
});

/**
 * Lua: the place of the first element behind a member with a score, whether that member is still there or not. Members of one score
 * are in the order of their bytes, which is not the order in which Lua compares text.
 */
const AFTER = `
local function isBefore(a, b)
  for i = 1, math.min(#a, #b) do
    local x, y = a:byte(i), b:byte(i)
    if x ~= y then return x < y end
  end
  return #a < #b
end
local function placeAfter(score, member)
  if tonumber(redis.call("ZSCORE", ends, member) or 0) == tonumber(score) then return redis.call("ZRANK", ends, member) + 1 end
  local low, high = redis.call("ZCOUNT", ends, "-inf", "(" .. score), redis.call("ZCOUNT", ends, "-inf", score)
  while low < high do
    local middle = math.floor((low + high) / 2)
    if isBefore(member, redis.call("ZRANGE", ends, middle, middle)[1]) then high = middle else low = middle + 1 end
  end
  return low
end
local function page()
  local from = redis.call("ZCOUNT", ends, "-inf", text(now))
  if score ~= "" then from = math.max(from, placeAfter(score, member)) end
  return redis.call("ZRANGE", ends, from, from + limit, "WITHSCORES")
end
`;

/** Members and their ends, the first to end first: one more than `limit`, if there are. */
export const pageOfMembers = defineScript({
  name: "expiring.page-members",
  keys: ["ends"],
  args: ["score", "member", "limit"],
  include: [NOW_MS, TEXT, AFTER],
  readOnly: true,
  lua: "return page()",
  reply: asTexts,
});

/** The same for a map: { keys and ends, values }. */
export const pageOfEntries = defineScript({
  name: "expiring.page-entries",
  keys: ["ends", "values"],
  args: ["score", "member", "limit"],
  include: [NOW_MS, TEXT, AFTER],
  readOnly: true,
  buffers: true,
  lua: `
    local found, stored = page(), {}
    for i = 1, #found, 2 do stored[#stored + 1] = redis.call("HGET", values, found[i]) end
    return {found, stored}
  `,
  reply: asTuple(asByteList, asByteList),
});
