/**
 * A timeline is one sorted set, all of whose scores are 0: it is ordered by the bytes of its members, which are ids of statuses and,
 * in front of them, a few marks. One key, so that all of it comes and goes together: it expires when its owner has not read it for a
 * while, and a delivery to a timeline that is not there does nothing.
 *
 *   !<author>           this author is not delivered here: what they post is merged in when the timeline is read
 *   "<author>           muted: nothing of this author is taken
 *   #<floor>|<nonce>    exactly one, always there
 *   <time><author>      a status
 *
 * **Floor.** Everything later than this time (of authors who are delivered) is in the timeline; what is not later is not, and has to be
 * read from the authors' profiles. Empty: the timeline has all there is. "~": it is being built, takes everything, and is not read.
 * A timeline that is too long loses its oldest, and its floor rises to the time of the last that went.
 *
 * **Nonce.** Changes whenever it changes whose statuses belong here. Who has read profiles in order to fill the timeline may write
 * only if it is still the same; otherwise somebody was followed or left meanwhile, and the reading starts over.
 */

import { asList, asNumber, asText, asTexts, asTuple, optional, orNull, wordOf } from "../../../base/replies.ts";
import { defineScript, NOW_MS } from "../../../base/script.ts";
import { LUA_ORDER } from "../ids.ts";

/** While it is built a timeline takes so many times what it holds: the rest could not stay in it anyway. */
const BUILDING = 4;

const TIMELINE = `
${LUA_ORDER}
local function markOf(home)
  return redis.call("ZRANGEBYLEX", home, "[#", "($", "LIMIT", 0, 1)[1]
end
local function parts(mark)
  local bar = mark:find("|", 2, true)
  return mark:sub(2, bar - 1), mark:sub(bar + 1)
end
local function setMark(home, old, floor, nonce)
  local mark = "#" .. floor .. "|" .. nonce
  if mark ~= old then
    -- In this order: an empty set would be gone, and its expiry with it.
    redis.call("ZADD", home, 0, mark)
    redis.call("ZREM", home, old)
  end
  return mark
end
local function takes(floor, id)
  return floor == "" or floor == "~" or isAfter(id:sub(1, 8), floor)
end
-- Nothing at or before this time is complete any more.
local function raise(home, mark, at)
  local floor, nonce = parts(mark)
  redis.call("ZREMRANGEBYLEX", home, "($", "[" .. at .. "~")
  if floor == "~" or not takes(floor, at) then return mark end
  return setMark(home, mark, at, nonce)
end
local function trim(home, mark, most, slack)
  local marks = redis.call("ZRANK", home, mark) + 1
  if mark:sub(1, 2) == "#~" then most = most * ${BUILDING} end
  local over = redis.call("ZCARD", home) - marks - most
  if over <= tonumber(slack) then return mark end
  local last = redis.call("ZRANGE", home, marks + over - 1, marks + over - 1)[1]
  return raise(home, mark, last:sub(1, 8))
end
-- An author's statuses: all that are later than the cut.
local function fill(home, mark, ids, cut, most, slack)
  local floor = parts(mark)
  for at = 1, #ids do
    if takes(floor, ids[at]) then redis.call("ZADD", home, 0, ids[at]) end
  end
  if cut ~= "" then mark = raise(home, mark, cut) end
  return trim(home, mark, most, slack)
end
`;

/** Puts a status into timelines. How many have got it, or had it. */
export const deliver = defineScript({
  name: "social.timelines.deliver",
  keys: [],
  restKeys: "homes",
  args: ["id", "author", "most", "slack"],
  include: [TIMELINE],
  repeatable: true,
  lua: `
    local count = 0
    local muted = '"' .. author
    for at = 1, #homes do
      local home = homes[at]
      local mark = markOf(home)
      if mark and takes(parts(mark), id) and not redis.call("ZSCORE", home, muted) then
        count = count + 1
        if redis.call("ZADD", home, 0, id) == 1 then trim(home, mark, most, slack) end
      end
    end
    return count
  `,
  reply: (reply) => Number(reply),
});

/**
 * A page: { floor, nonce, [authors to merge in], [muted authors], [ids, newest first] }, or nil if there is no timeline. `before` is
 * an id, or empty for the newest. Reading keeps the timeline alive.
 */
export const readHome = defineScript({
  name: "social.timelines.read",
  keys: ["home"],
  args: ["before", "limit", "keepMs"],
  include: [TIMELINE],
  repeatable: true,
  lua: `
    local mark = markOf(home)
    if not mark then return nil end
    local floor, nonce = parts(mark)
    -- Not at each reading: it is a write, which replicas get too. Not at all for somebody who only looks.
    if keepMs ~= "0" and redis.call("PTTL", home) < keepMs * 0.9 then redis.call("PEXPIRE", home, keepMs) end
    local merged, muted = {}, {}
    if redis.call("ZRANK", home, mark) > 0 then
      for _, each in ipairs(redis.call("ZRANGEBYLEX", home, "-", "(#")) do
        local list = each:sub(1, 1) == "!" and merged or muted
        list[#list + 1] = each:sub(2)
      end
    end
    local ids = {}
    if floor ~= "~" then
      local from = before == "" and "+" or "(" .. before
      ids = redis.call("ZREVRANGEBYLEX", home, from, "($", "LIMIT", 0, limit)
    end
    return {floor, nonce, merged, muted, ids}
  `,
  reply: orNull(asTuple(asText, asText, asTexts, asTexts, asTexts)),
});

const asApplied = asTuple(wordOf("ok"), asText, asNumber);
const asNotApplied = asTuple(wordOf("cold", "changed"), optional(asText), optional(asNumber));

/**
 * Brings one author's place in a timeline up to date: "show" with ids of theirs (times later than `cut` all there are; `merged` when
 * they are not delivered), "mute", or "none". { "cold" }, { "changed" } when the nonce is another, or { "ok", floor, how many }.
 */
export const applyAuthor = defineScript({
  name: "social.timelines.apply",
  keys: ["home"],
  args: ["author", "state", "nonce", "fresh", "merged", "cut", "most", "slack"],
  rest: "ids",
  include: [TIMELINE],
  repeatable: true,
  lua: `
    local mark = markOf(home)
    if not mark then return {"cold"} end
    local floor, is = parts(mark)
    if is == fresh then return {"ok", floor, redis.call("ZCARD", home) - redis.call("ZRANK", home, mark) - 1} end
    if is ~= nonce then return {"changed"} end
    mark = setMark(home, mark, floor, fresh)
    if state == "show" then
      redis.call("ZREM", home, '"' .. author)
      if merged == "1" then redis.call("ZADD", home, 0, "!" .. author) else redis.call("ZREM", home, "!" .. author) end
      -- The process that builds it starts over, since the nonce is another, and reads this author too.
      if floor ~= "~" then mark = fill(home, mark, ids, cut, most, slack) end
    else
      local gone = {"!" .. author}
      for _, id in ipairs(redis.call("ZRANGEBYLEX", home, "($", "+")) do
        if id:sub(9) == author then gone[#gone + 1] = id end
      end
      for at = 1, #gone, 500 do redis.call("ZREM", home, unpack(gone, at, math.min(at + 499, #gone))) end
      if state == "mute" then redis.call("ZADD", home, 0, '"' .. author) else redis.call("ZREM", home, '"' .. author) end
    end
    return {"ok", parts(mark), redis.call("ZCARD", home) - redis.call("ZRANK", home, mark) - 1}
  `,
  reply: (reply) => (asList(reply)[0] === "ok" ? asApplied(reply) : asNotApplied(reply)),
});

const asWarm = asTuple(wordOf("warm"), asText, asText, asNumber);
const asBuild = asTuple(wordOf("build"), asText, optional(asText), optional(asNumber));
const asBusy = asTuple(wordOf("busy"), optional(asText), optional(asText), optional(asNumber));

/**
 * Before a timeline is filled from the profiles: { "build", nonce } for the process that is to do it, one at a time; { "busy" } while
 * another does; { "warm", nonce, floor, how many } if it is there. `take`: the process that is at it has lost it.
 */
export const startBuild = defineScript({
  name: "social.timelines.start",
  keys: ["home"],
  args: ["token", "take", "leaseMs", "keepMs"],
  include: [NOW_MS, TIMELINE],
  repeatable: true,
  lua: `
    local mark = markOf(home)
    local nonce = string.format("%.0f", now) .. "." .. token
    if not mark then
      redis.call("ZADD", home, 0, "#~|" .. nonce)
      redis.call("PEXPIRE", home, keepMs)
      return {"build", nonce}
    end
    local floor, is = parts(mark)
    if floor ~= "~" then
      return {"warm", is, floor, redis.call("ZCARD", home) - redis.call("ZRANK", home, mark) - 1}
    end
    if is:match("%.(.*)$") == token then return {"build", is} end
    local since = tonumber(is:match("^(%d+)%."))
    -- Begun in the future: the server's clock was put back, and nobody knows for how long it has been going on.
    if take == "0" and since <= now and now - since < tonumber(leaseMs) then return {"busy"} end
    setMark(home, mark, "~", nonce)
    return {"build", nonce}
  `,
  reply: (reply) => {
    const [state] = asList(reply);
    return state === "warm" ? asWarm(reply) : state === "build" ? asBuild(reply) : asBusy(reply);
  },
});

/** Fills a timeline. The first `markCount` words are marks, the rest ids; `cut` is its floor. 0 when floor or nonce are others. */
export const finishBuild = defineScript({
  name: "social.timelines.finish",
  keys: ["home"],
  args: ["floor", "nonce", "fresh", "cut", "most", "slack", "markCount"],
  rest: "words",
  include: [TIMELINE],
  repeatable: true,
  lua: `
    local mark = markOf(home)
    if not mark then return 0 end
    local has, is = parts(mark)
    if is == fresh then return 1 end
    if is ~= nonce or has ~= floor then return 0 end
    local marks = tonumber(markCount)
    for at = 1, marks do redis.call("ZADD", home, 0, words[at]) end
    mark = setMark(home, mark, "", fresh)
    for at = marks + 1, #words do redis.call("ZADD", home, 0, words[at]) end
    if cut ~= "" then mark = raise(home, mark, cut) end
    trim(home, mark, most, slack)
    return 1
  `,
});

/**
 * An author who is merged in from now on ("mark"), or delivered again ("unmark", with their statuses): for timelines that are there.
 */
export const switchAuthor = defineScript({
  name: "social.timelines.switch",
  keys: [],
  restKeys: "homes",
  args: ["author", "op", "cut", "most", "slack"],
  rest: "ids",
  include: [TIMELINE],
  repeatable: true,
  lua: `
    for at = 1, #homes do
      local home = homes[at]
      local mark = markOf(home)
      if mark and op == "mark" then
        redis.call("ZADD", home, 0, "!" .. author)
      elseif mark then
        redis.call("ZREM", home, "!" .. author)
        local floor, nonce = parts(mark)
        if floor == "~" then
          -- The process that builds it took the author for one that is merged in: it starts over.
          setMark(home, mark, floor, nonce .. "'")
        elseif not redis.call("ZSCORE", home, '"' .. author) then
          fill(home, mark, ids, cut, most, slack)
        end
      end
    end
    return #homes
  `,
});
