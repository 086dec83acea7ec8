/**
 * The scripts of the job board.
 *
 * A job is found through its rarest skills. A qualified candidate has all of them, so it is enough that the job stands in the list of
 * the one that fewest jobs ask for; a candidate who lacks at most k has at least one of the k + 1 rarest. So a job stands in the lists of its
 * four rarest skills, one list for each rank and skill, and a search for what lacks at most k reads the lists of ranks 0 to k of the
 * skills that the candidate has: hundreds of jobs, where "everybody who asks for JavaScript" would be tens of thousands. Each job
 * found is then checked in full, rarest skill first, since that is the one that fails. That a rank was chosen by counts that have
 * changed since costs time and never a match. It also stands in the list of its two rarest skills together: where the list of one is
 * longer than the candidate has skills, those of the pairs are read instead, which has few jobs in it that do not fit.
 *
 * Candidates stand in the lists of all their skills; a search for them reads those of the k + 1 rarest skills required.
 *
 * Names of lists are made from `lists`, which carries the shard's tag: same slot, by construction.
 */

import { asListOf, asNumber, asText, asTuple, orNull } from "../../base/replies.ts";
import { defineScript, NOW_MS } from "../../base/script.ts";
import type { Reply } from "../../connection/port.ts";

/** A search may ask for jobs that lack one less. */
export const RANKS = 4;
/** Closed jobs that go with each call that writes. */
const SWEPT = 10;

/** Keys of one side, as locals. */
const SIDE = ["packed", "data", "skills", "all", "closing"] as const;

const WRITING = `
local function names(line)
  local found = {}
  for name in line:sub(1, line:find("\\31", 1, true) - 1):gmatch("\\30([^\\29\\30]+)\\29") do found[#found + 1] = name end
  return found
end
-- The lists that an entry stands in: of its rarest skills by rank, or of all of them.
local function listsOf(skillNames)
  local found = {}
  if byRank ~= "1" then
    for i, name in ipairs(skillNames) do found[i] = lists .. name end
    return found
  end
  if #skillNames == 0 then return {lists .. "0:"} end
  for rank = 0, math.min(#skillNames, ${RANKS}) - 1 do found[rank + 1] = lists .. rank .. ":" .. skillNames[rank + 1] end
  found[#found + 1] = lists .. "both:" .. skillNames[1] .. "+" .. (skillNames[2] or "")
  return found
end
local function drop(id)
  local line = redis.call("HGET", packed, id)
  if not line then return 0 end
  local skillNames = names(line)
  for _, key in ipairs(listsOf(skillNames)) do redis.call("ZREM", key, id) end
  for _, name in ipairs(skillNames) do
    if redis.call("HINCRBY", skills, name, -1) <= 0 then redis.call("HDEL", skills, name) end
  end
  redis.call("HDEL", packed, id)
  redis.call("HDEL", data, id)
  redis.call("ZREM", all, id)
  redis.call("ZREM", closing, id)
  return 1
end
local function sweep(most)
  local over = redis.call("ZRANGEBYSCORE", closing, "-inf", now, "LIMIT", 0, most)
  for _, id in ipairs(over) do drop(id) end
  return #over
end
`;

/** 1 added, 0 changed, -1 there are too many. `posted`: "" for when it was first put, "now" for now. `words`: name, level and years of each skill. */
export const put = defineScript({
  name: "job-search.put",
  keys: [...SIDE],
  args: ["lists", "byRank", "id", "posted", "closes", "rest", "value", "max"],
  rest: "words",
  include: [NOW_MS, WRITING],
  repeatable: true,
  lua: `
    sweep(${SWEPT})
    local before = redis.call("ZSCORE", all, id)
    if not before and redis.call("ZCARD", all) >= tonumber(max) then return -1 end
    drop(id)
    if posted == "" then posted = before or now elseif posted == "now" then posted = now end
    local wanted, counts = {}, {}
    for i = 1, #words, 3 do wanted[#wanted + 1] = {words[i], words[i + 1], words[i + 2]} end
    for i, skill in ipairs(wanted) do counts[skill[1]] = redis.call("HINCRBY", skills, skill[1], 1) end
    table.sort(wanted, function(a, b)
      if counts[a[1]] ~= counts[b[1]] then return counts[a[1]] < counts[b[1]] end
      return a[1] < b[1]
    end)
    local skillNames, line = {}, {}
    for i, skill in ipairs(wanted) do
      skillNames[i] = skill[1]
      line[i] = "\\30" .. table.concat(skill, "\\29")
    end
    posted = string.format("%.0f", tonumber(posted))
    redis.call("HSET", packed, id, table.concat(line) .. "\\30\\31" .. posted .. "\\31" .. rest)
    if value ~= "" then redis.call("HSET", data, id, value) end
    redis.call("ZADD", all, posted, id)
    if closes ~= "" then redis.call("ZADD", closing, closes, id) end
    for _, key in ipairs(listsOf(skillNames)) do redis.call("ZADD", key, posted, id) end
    return before and 0 or 1
  `,
  reply: (reply) => Number(reply),
});

export const remove = defineScript({
  name: "job-search.remove",
  keys: [...SIDE],
  args: ["lists", "byRank", "id"],
  include: [NOW_MS, WRITING],
  repeatable: true,
  lua: `return drop(id)`,
  reply: (reply) => reply === 1,
});

/** Drops what has closed, at most so many: how many it were. */
export const sweep = defineScript({
  name: "job-search.sweep",
  keys: [...SIDE],
  args: ["lists", "byRank", "most"],
  include: [NOW_MS, WRITING],
  repeatable: true,
  lua: `return sweep(tonumber(most))`,
  reply: (reply) => Number(reply),
});

/** { packed, data }, or nil; what has closed is not there. */
export const read = defineScript({
  name: "job-search.read",
  keys: ["packed", "data"],
  args: ["id"],
  include: [NOW_MS],
  repeatable: true,
  lua: `
    local line = redis.call("HGET", packed, id)
    if not line then return nil end
    local closes = line:match("\\31[^\\31]*\\31([^\\31]*)")
    if closes ~= "" and tonumber(closes) <= now then return nil end
    return {line, redis.call("HGET", data, id) or ""}
  `,
  reply: orNull(asTuple(asText, asText)),
});

/** Filters, and the best `limit` behind the cursor: by what is missing, then score, then the newest, then name. */
const RANKING = `
missing, limit, maxExamined, radiusKm = tonumber(missing), tonumber(limit), tonumber(maxExamined), tonumber(radiusKm)
local ids, isSeen, isComplete = {}, {}, 1
local function look(key)
  local room = maxExamined - #ids
  local found = redis.call("ZREVRANGE", key, 0, room)
  for _, id in ipairs(found) do
    if not isSeen[id] then
      if #ids == maxExamined then isComplete = 0 return end
      isSeen[id] = true
      ids[#ids + 1] = id
    end
  end
  if #found > room and redis.call("ZCARD", key) > #found then isComplete = 0 end
end
local isPlace
for place in places:gmatch("[^\\30]+") do
  isPlace = isPlace or {}
  isPlace[place] = true
end
local function isNear(lat, lon)
  if lat == "" then return false end
  local rad = math.pi / 180
  local north = (tonumber(lat) - tonumber(latitude)) * rad / 2
  local east = (tonumber(lon) - tonumber(longitude)) * rad / 2
  local across = math.cos(tonumber(lat) * rad) * math.cos(tonumber(latitude) * rad)
  local half = math.sin(north) ^ 2 + across * math.sin(east) ^ 2
  return 2 * 6371.0088 * math.asin(math.min(1, math.sqrt(half))) <= radiusKm
end
local function isWanted(closes, its, lat, lon)
  if closes ~= "" and tonumber(closes) <= now then return false end
  if radiusKm and not isNear(lat, lon) then return false end
  if not isPlace then return true end
  for place in its:gmatch("[^\\30]+") do
    if isPlace[place] then return true end
  end
  return false
end
local function isBefore(a, b)
  if a[1] ~= b[1] then return a[1] < b[1] end
  if a[2] ~= b[2] then return a[2] > b[2] end
  if a[3] ~= b[3] then return a[3] > b[3] end
  return a[4] < b[4]
end
local cursor = afterId ~= "" and {tonumber(afterMissing), tonumber(afterScore), tonumber(afterPosted), afterId}
local qualified, nearMisses, best = 0, 0, {}
local function rank(row)
  if row[1] == 0 then qualified = qualified + 1 else nearMisses = nearMisses + 1 end
  if cursor and not isBefore(cursor, row) then return end
  if #best == limit and not isBefore(row, best[limit]) then return end
  local at = math.min(#best + 1, limit)
  while at > 1 and isBefore(row, best[at - 1]) do
    best[at] = best[at - 1]
    at = at - 1
  end
  best[at] = row
end
local function rest(line)
  return line:match("\\31([^\\31]*)\\31([^\\31]*)\\31([^\\31]*)\\31([^\\31]*)\\31([^\\31]*)\\31(.*)$")
end
-- Calls back with each id and its line.
local function examine(visit)
  for from = 1, #ids, 1000 do
    local to = math.min(from + 999, #ids)
    local lines = redis.call("HMGET", packed, unpack(ids, from, to))
    for i = from, to do
      if lines[i - from + 1] then visit(ids[i], lines[i - from + 1]) end
    end
  end
end
local function answer()
  local rows, wanted = {}, {}
  for i, row in ipairs(best) do wanted[i] = row[4] end
  local values = #wanted > 0 and redis.call("HMGET", data, unpack(wanted)) or {}
  for i, row in ipairs(best) do
    rows[i] = {row[4], row[1], row[2], string.format("%.0f", row[3]), row[5], values[i] or ""}
  end
  return {isComplete, #ids, qualified, nearMisses, rows}
end
`;

/** What a search says, whichever lists it looks into. */
export const SEARCHED = [
  "missing",
  "limit",
  "afterMissing",
  "afterScore",
  "afterPosted",
  "afterId",
  "places",
  "latitude",
  "longitude",
  "radiusKm",
  "maxExamined",
] as const;
const SEARCH_ARGS = ["lists", ...SEARCHED] as const;

export interface Found {
  readonly isComplete: boolean;
  readonly examined: number;
  readonly qualified: number;
  readonly nearMisses: number;
  /** id, how many are missing, score, posted, packed, data. */
  readonly rows: readonly (readonly [string, number, number, string, string, string])[];
}

const ROW = asTuple(asText, asNumber, asNumber, asText, asText, asText);
const FOUND = asTuple(asNumber, asNumber, asNumber, asNumber, asListOf(ROW));

function toFound(reply: Reply): Found {
  const [isComplete, examined, qualified, nearMisses, rows] = FOUND(reply);
  return { isComplete: isComplete === 1, examined, qualified, nearMisses, rows };
}

/** Jobs for somebody; `words`: name, level and years of each skill that they have. */
export const searchJobs = defineScript({
  name: "job-search.jobs",
  keys: ["packed", "data", "closing"],
  args: [...SEARCH_ARGS],
  rest: "words",
  include: [NOW_MS, RANKING],
  repeatable: true,
  lua: `
    local levels, years = {}, {}
    for i = 1, #words, 3 do
      levels[words[i]], years[words[i]] = tonumber(words[i + 1]), tonumber(words[i + 2])
    end
    look(lists .. "0:")
    for of = 0, missing do
      for i = 1, #words, 3 do
        local list = lists .. of .. ":" .. words[i]
        if missing > 0 or redis.call("ZCARD", list) <= #words / 3 then look(list)
        else
          local both = lists .. "both:" .. words[i] .. "+"
          look(both)
          for j = 1, #words, 3 do
            if j ~= i then look(both .. words[j]) end
          end
        end
      end
    end
    -- Levels and years come again and again; turning text into a number costs more than looking it up.
    local number = setmetatable({}, {__index = function(known, text)
      known[text] = tonumber(text)
      return known[text]
    end})
    local function has(name, level, ofYears)
      local mine = levels[name]
      return mine and mine >= number[level] and years[name] >= number[ofYears]
    end
    -- Where nothing is filtered, what lacks more than the whole page does is only counted.
    local isUnfiltered = not isPlace and not radiusKm and redis.call("ZCOUNT", closing, "-inf", now) == 0
    examine(function(id, line)
      local lacking, met = 0, 0
      -- Nothing behind the skills has this form.
      for name, level, ofYears in line:gmatch("\\30([^\\29-\\31]+)\\29([^\\29-\\31]*)\\29([^\\29-\\31]*)") do
        if has(name, level, ofYears) then met = met + 1
        else
          lacking = lacking + 1
          if lacking > missing then return end
        end
      end
      if lacking > 0 and met == 0 then return end
      if isUnfiltered and #best == limit and lacking > best[limit][1] then
        nearMisses = nearMisses + 1
        return
      end
      local posted, closes, its, lat, lon, optional = rest(line)
      if not isWanted(closes, its, lat, lon) then return end
      local score = 0
      for name, level, ofYears, weight in optional:gmatch("([^\\28\\29]+)\\29([^\\29]*)\\29([^\\29]*)\\29([^\\28]*)") do
        if has(name, level, ofYears) then score = score + tonumber(weight) end
      end
      rank({lacking, score, tonumber(posted), id, line})
    end)
    return answer()
  `,
  reply: toFound,
});

/** Candidates for a job; `words`: name, level and years of each skill required, `wishes`: optional ones with weights, as packed. */
export const searchCandidates = defineScript({
  name: "job-search.candidates",
  keys: ["packed", "data", "skills", "all"],
  args: [...SEARCH_ARGS, "wishes"],
  rest: "words",
  include: [NOW_MS, RANKING],
  repeatable: true,
  lua: `
    local required = {}
    for i = 1, #words, 3 do
      required[#required + 1] = {words[i], tonumber(words[i + 1]), tonumber(words[i + 2]),
        tonumber(redis.call("HGET", skills, words[i]) or 0)}
    end
    table.sort(required, function(a, b)
      if a[4] ~= b[4] then return a[4] < b[4] end
      return a[1] < b[1]
    end)
    if #required == 0 then look(all) end
    for i = 1, math.min(#required, missing + 1) do look(lists .. required[i][1]) end
    local function has(line, name, level, ofYears)
      local _, at = line:find("\\30" .. name .. "\\29", 1, true)
      if not at then return false end
      local itsLevel, itsYears = line:match("^([^\\29]*)\\29([^\\30]*)", at + 1)
      return tonumber(itsLevel) >= level and tonumber(itsYears) >= ofYears
    end
    local optional = {}
    for name, level, ofYears, weight in wishes:gmatch("([^\\28\\29]+)\\29([^\\29]*)\\29([^\\29]*)\\29([^\\28]*)") do
      optional[#optional + 1] = {name, tonumber(level), tonumber(ofYears), tonumber(weight)}
    end
    examine(function(id, line)
      local lacking, met = 0, 0
      for _, skill in ipairs(required) do
        if has(line, skill[1], skill[2], skill[3]) then met = met + 1
        else
          lacking = lacking + 1
          if lacking > missing then return end
        end
      end
      if lacking > 0 and met == 0 then return end
      local posted, closes, its, lat, lon = rest(line)
      if not isWanted(closes, its, lat, lon) then return end
      local score = 0
      for _, skill in ipairs(optional) do
        if has(line, skill[1], skill[2], skill[3]) then score = score + skill[4] end
      end
      rank({lacking, score, tonumber(posted), id, line})
    end)
    return answer()
  `,
  reply: toFound,
});
