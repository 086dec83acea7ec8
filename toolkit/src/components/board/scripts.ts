/**
 * The board's scripts. An article is a hash; its score is the second it was posted plus the worth of its votes, so that newer
 * articles need fewer votes to stand as high, and no score ever has to be rewritten because time passes.
 *
 * Keys of articles other than the declared ones are made from `base`, which carries the board's tag: same slot, by
 * construction.
 */

import { asList, asNumber, asText, asTuple, orNull } from "../../base/replies.ts";
import { defineScript, IF_WRITABLE, NOW_MS } from "../../base/script.ts";

/** { fields, score } of the article, which is there already when its id was posted before: then nothing changes. */
export const post = defineScript({
  name: "board.post",
  keys: ["article", "voters", "byScore", "byTime"],
  args: ["id", "poster", "voteScore", "votingMs", "maxArticles", "base", "groupCount"],
  rest: "words",
  include: [NOW_MS],
  repeatable: true,
  lua: `
    if redis.call("EXISTS", article) == 1 then
      return {redis.call("HGETALL", article), redis.call("ZSCORE", byScore, id)}
    end
    redis.call("HSET", article, "id", id, "poster", poster, "postedAt", now, "up", 1, "down", 0, "closesAt", now + votingMs)
    local groups = tonumber(groupCount)
    for i = groups + 1, #words, 2 do redis.call("HSET", article, "f:" .. words[i], words[i + 1]) end
    redis.call("HSET", voters, poster, 1)
    redis.call("PEXPIRE", voters, votingMs)
    -- Newer than all others, also when the clock was put back.
    local at = math.max(now, tonumber(redis.call("ZREVRANGE", byTime, 0, 0, "WITHSCORES")[2] or 0) + 1)
    redis.call("ZADD", byScore, at / 1000 + voteScore, id)
    redis.call("ZADD", byTime, at, id)
    for i = 1, groups do
      redis.call("SADD", base .. ":group:" .. words[i], id)
      redis.call("HSET", article, "g:" .. words[i], 1)
    end
    -- The board is bounded: the oldest articles go, a few at a time.
    local over = redis.call("ZCARD", byTime) - maxArticles
    if over > 0 then
      for _, old in ipairs(redis.call("ZRANGE", byTime, 0, math.min(over, 10) - 1)) do
        local key = base .. ":article:" .. old
        for _, field in ipairs(redis.call("HKEYS", key)) do
          if field:sub(1, 2) == "g:" then redis.call("SREM", base .. ":group:" .. field:sub(3), old) end
        end
        redis.call("DEL", key, base .. ":voters:" .. old)
        redis.call("ZREM", byScore, old)
        redis.call("ZREM", byTime, old)
      end
    end
    return {redis.call("HGETALL", article), redis.call("ZSCORE", byScore, id)}
  `,
  reply: asTuple(asList, asText),
});

/**
 * Sets a user's vote to a signed weight; 0 takes it back. Setting the same again changes nothing, so a repeated call is safe.
 * Answers { outcome, up, down, score }; outcome 1 changed, 0 the same as before, -1 closed, -2 no such article.
 */
export const vote = defineScript({
  name: "board.vote",
  keys: ["article", "voters", "byScore"],
  args: ["id", "user", "weight", "voteScore"],
  include: [NOW_MS],
  repeatable: true,
  lua: `
    local closesAt = redis.call("HGET", article, "closesAt")
    if not closesAt then return nil end
    local counts = redis.call("HMGET", article, "up", "down")
    local up, down = tonumber(counts[1]), tonumber(counts[2])
    local outcome = -1
    if now < tonumber(closesAt) then
      local before = tonumber(redis.call("HGET", voters, user) or 0)
      local after = tonumber(weight)
      outcome = 0
      if before ~= after then
        outcome = 1
        if before > 0 then up = up - before else down = down + before end
        if after > 0 then up = up + after else down = down - after end
        redis.call("HSET", article, "up", up, "down", down)
        if after == 0 then
          redis.call("HDEL", voters, user)
        else
          redis.call("HSET", voters, user, after)
          redis.call("PEXPIREAT", voters, closesAt)
        end
        redis.call("ZINCRBY", byScore, (after - before) * voteScore, id)
      end
    end
    return {outcome, up, down, redis.call("ZSCORE", byScore, id)}
  `,
  reply: orNull(asTuple(asNumber, asNumber, asNumber, asText)),
});

/**
 * A page of an order, behind a cursor. The cursor names the last article seen and its score: when that article has moved
 * since, the page begins at where its old score would stand. For groups, the order is made when it is missing; on a server that
 * is full it cannot be kept, and is made for each page. So it is when as many orders of several groups are kept as may be.
 *
 * `match`: in "any" of the groups, or in "all" of them.
 */
export const list = defineScript({
  name: "board.list",
  keys: ["order", "all", "orders"],
  restKeys: "groups",
  args: ["base", "limit", "afterScore", "afterId", "cacheMs", "viewer", "match", "maxOrders"],
  include: [NOW_MS, IF_WRITABLE],
  repeatable: true,
  lua: `
    local isUnion = match == "any" and #groups > 1
    -- Of these sets with all articles, by the scores of all.
    local function intersection(words, sets, further)
      words[#words + 1] = #sets + 1
      for _, set in ipairs(sets) do words[#words + 1] = set end
      words[#words + 1] = all
      words[#words + 1] = "WEIGHTS"
      for _ = 1, #sets do words[#words + 1] = 0 end
      words[#words + 1] = 1
      for _, word in ipairs(further) do words[#words + 1] = word end
      return words
    end
    local function pageOfKept()
      local start = 0
      if afterId ~= "" then
        local score = redis.call("ZSCORE", order, afterId)
        if score and tonumber(score) == tonumber(afterScore) then
          start = redis.call("ZREVRANK", order, afterId) + 1
        else
          start = redis.call("ZCOUNT", order, "(" .. afterScore, "+inf")
        end
      end
      return redis.call("ZREVRANGE", order, start, start + limit - 1, "WITHSCORES")
    end
    -- The same of what is not kept: the lowest score first, with the ids of one score in order.
    local function pageOfMade()
      local made
      if isUnion then
        local isMember = {}
        for _, id in ipairs(redis.call("SUNION", unpack(groups))) do isMember[id] = true end
        made = {}
        local every = redis.call("ZRANGE", all, 0, -1, "WITHSCORES")
        for i = 1, #every, 2 do
          if isMember[every[i]] then
            made[#made + 1] = every[i]
            made[#made + 1] = every[i + 1]
          end
        end
      else
        made = redis.call(unpack(intersection({"ZINTER"}, groups, {"WITHSCORES"})))
      end
      local last = #made
      if afterId ~= "" then
        while last > 0 and tonumber(made[last]) > tonumber(afterScore) do last = last - 2 end
        local at = last
        while at > 0 and tonumber(made[at]) == tonumber(afterScore) and made[at - 1] ~= afterId do at = at - 2 end
        if made[at - 1] == afterId and tonumber(made[at]) == tonumber(afterScore) then last = at - 2 end
      end
      local page = {}
      for at = last, math.max(2, last - 2 * limit + 2), -2 do
        page[#page + 1] = made[at - 1]
        page[#page + 1] = made[at]
      end
      return page
    end
    -- Several groups have many combinations: only so many orders of them are kept.
    local function hasRoom()
      if #groups == 1 then return true end
      if not ifWritable("ZREMRANGEBYSCORE", orders, "-inf", now) then return false end
      return redis.call("ZCARD", orders) < tonumber(maxOrders)
    end
    local function make()
      local sets = groups
      if isUnion then
        if not ifWritable("ZUNIONSTORE", order, #groups, unpack(groups)) then return false end
        sets = {order}
      end
      if not ifWritable(unpack(intersection({"ZINTERSTORE", order}, sets, {}))) then
        ifWritable("DEL", order)
        return false
      end
      redis.call("PEXPIRE", order, cacheMs)
      if #groups > 1 then
        redis.call("ZADD", orders, now + cacheMs, order)
        redis.call("PEXPIRE", orders, cacheMs)
      end
      return true
    end
    local isKept = order == all or redis.call("EXISTS", order) == 1 or (hasRoom() and make())
    local found = isKept and pageOfKept() or pageOfMade()
    local page = {}
    for i = 1, #found, 2 do
      -- An article that was removed may still stand in a cached order.
      local fields = redis.call("HGETALL", base .. ":article:" .. found[i])
      local mine = viewer ~= "" and redis.call("HGET", base .. ":voters:" .. found[i], viewer)
      page[#page + 1] = {found[i], found[i + 1], fields, redis.call("ZSCORE", base .. ":score", found[i]) or 0, mine or 0}
    end
    return page
  `,
});

/** Puts an article into groups and takes it out of others. 0 if there is no such article. */
export const regroup = defineScript({
  name: "board.regroup",
  keys: ["article", "orders"],
  args: ["id", "base", "addCount"],
  rest: "groups",
  repeatable: true,
  lua: `
    if redis.call("EXISTS", article) == 0 then return 0 end
    for i, group in ipairs(groups) do
      local key = base .. ":group:" .. group
      if i <= tonumber(addCount) then
        redis.call("SADD", key, id)
        redis.call("HSET", article, "g:" .. group, 1)
      else
        redis.call("SREM", key, id)
        redis.call("HDEL", article, "g:" .. group)
      end
      redis.call("DEL", key .. ":score", key .. ":time")
    end
    for _, order in ipairs(redis.call("ZRANGE", orders, 0, -1)) do redis.call("DEL", order) end
    redis.call("DEL", orders)
    return 1
  `,
  reply: (reply) => reply === 1,
});

export const remove = defineScript({
  name: "board.remove",
  keys: ["article", "voters", "byScore", "byTime", "orders"],
  args: ["id", "base"],
  repeatable: true,
  lua: `
    for _, field in ipairs(redis.call("HKEYS", article)) do
      if field:sub(1, 2) == "g:" then
        local group = base .. ":group:" .. field:sub(3)
        redis.call("SREM", group, id)
        redis.call("ZREM", group .. ":score", id)
        redis.call("ZREM", group .. ":time", id)
      end
    end
    for _, order in ipairs(redis.call("ZRANGE", orders, 0, -1)) do redis.call("ZREM", order, id) end
    redis.call("ZREM", byScore, id)
    redis.call("ZREM", byTime, id)
    return redis.call("DEL", article, voters)
  `,
  reply: (reply) => Number(reply) > 0,
});

/** { fields, score, vote of the viewer or nil } */
export const read = defineScript({
  name: "board.read",
  keys: ["article", "voters", "byScore"],
  args: ["id", "viewer"],
  repeatable: true,
  lua: `
    local fields = redis.call("HGETALL", article)
    if #fields == 0 then return nil end
    local mine = viewer ~= "" and redis.call("HGET", voters, viewer)
    return {fields, redis.call("ZSCORE", byScore, id), mine or 0}
  `,
});
