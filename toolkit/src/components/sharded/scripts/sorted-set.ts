/** The sharded sorted set in Lua. What needs all shards behind a tag reads them in one step, so nothing moves meanwhile. */
import { defineScript } from "../../../base/script.ts";
import { DONE } from "./answers.ts";
import { boundedBy, GUARD, itemScript } from "./core.ts";

const bounded = boundedBy((shard) => `redis.call("ZSCORE", ${shard}, element)`);

/** `when`: a flag of ZADD, or "". Answers {1 new · 0, the score now or false}. */
export const add = itemScript({
  name: "sharded.zset-add",
  kind: "zset",
  words: ["score"],
  args: ["most", "when"],
  before: `if when ~= "XX" then ${bounded} end`,
  pulls: true,
  each: `
    local isNew
    if when == "" then isNew = redis.call("ZADD", shard, score, element)
    else isNew = redis.call("ZADD", shard, when, score, element) end
    if isNew == 1 then added = added + 1 end
    answer = isNew
  `,
});

const incrementScript = (repeatable: boolean) =>
  itemScript({
    repeatable,
    name: "sharded.zset-increment",
    kind: "zset",
    keys: ["receipt"],
    words: ["by"],
    args: ["most", "keepMs"],
    before: `
    if keepMs ~= "0" then
      local before = redis.call("GET", receipt)
      if before then return {${DONE}, {before}} end
    end
    ${bounded}
  `,
    pulls: true,
    each: `
    local isNew = not redis.call("ZSCORE", shard, element)
    answer = redis.call("ZINCRBY", shard, by, element)
    if isNew then added = added + 1 end
    if keepMs ~= "0" then redis.call("SET", receipt, answer, "PX", keepMs) end
  `,
  });

export const increment = incrementScript(false);
/** With an id. */
export const incrementOnce = incrementScript(true);

export const score = itemScript({
  name: "sharded.zset-score",
  kind: "zset",
  repeatable: true,
  each: `
    answer = redis.call("ZSCORE", shard, element)
    if not answer and from then answer = redis.call("ZSCORE", from, element) end
  `,
});

export const remove = itemScript({
  name: "sharded.zset-remove",
  kind: "zset",
  pulls: true,
  each: `
    answer = redis.call("ZREM", shard, element)
    added = added - answer
  `,
});

export const count = defineScript({
  name: "sharded.zset-count",
  keys: ["gate"],
  args: ["gen", "min", "max"],
  restKeys: "shards",
  include: [GUARD],
  repeatable: true,
  lua: `
    local found = 0
    for _, shard in ipairs(shards) do found = found + redis.call("ZCOUNT", shard, min, max) end
    return {${DONE}, found}
  `,
});

/**
 * The first `want` members behind a tag within the scores, from one end: {member, score …}, behind the member `after` with score
 * `afterScore` if that is not "". Each shard is asked for `per`; one that could have more of the first is asked again.
 * Members are compared byte by byte: the order of Lua's own strings depends on the server's locale.
 */
export const range = defineScript({
  name: "sharded.zset-range",
  keys: ["gate"],
  args: ["gen", "isReverse", "min", "max", "want", "per", "afterScore", "after"],
  restKeys: "shards",
  include: [GUARD],
  repeatable: true,
  buffers: true,
  lua: `
    local reverse = isReverse == "1"
    want, per = tonumber(want), tonumber(per)
    local function number(shown)
      if shown == "inf" or shown == "+inf" then return math.huge end
      if shown == "-inf" then return -math.huge end
      return tonumber(shown)
    end
    local function isBefore(a, b)
      for i = 1, math.min(#a, #b) do
        local x, y = a:byte(i), b:byte(i)
        if x ~= y then return (x < y) ~= reverse end
      end
      return #a ~= #b and (#a < #b) ~= reverse
    end
    local function isFirst(a, b)
      if a[1] ~= b[1] then return (a[1] < b[1]) ~= reverse end
      return isBefore(a[2], b[2])
    end
    -- Shards are asked for the same places: a number that is a text already need not be made one for each.
    local texts = {}
    local function text(place)
      texts[place] = texts[place] or string.format("%.0f", place)
      return texts[place]
    end
    local isWhole = min == "-inf" and max == "+inf"
    local byRank = reverse and "ZREVRANGE" or "ZRANGE"
    local function slice(shard, offset, most)
      -- By place it takes the server half as long as by score.
      if isWhole then return redis.call(byRank, shard, text(offset), text(offset + most - 1), "WITHSCORES") end
      local from, limit = text(offset), text(most)
      if reverse then return redis.call("ZREVRANGEBYSCORE", shard, max, min, "WITHSCORES", "LIMIT", from, limit) end
      return redis.call("ZRANGEBYSCORE", shard, min, max, "WITHSCORES", "LIMIT", from, limit)
    end
    local bound = afterScore ~= "" and number(afterScore)
    local function isPast(member, score) return not bound or score ~= bound or isBefore(after, member) end
    -- The first ones so far. Few are kept in order and no more than wanted: most of what shards give is not among them.
    local found, count, areFew = {}, 0, want <= 32
    local function keep(one)
      local at = count + 1
      if areFew and at > want then
        if not isFirst(one, found[want]) then return false end
        at = want
      else count = at end
      while areFew and at > 1 and isFirst(one, found[at - 1]) do
        found[at] = found[at - 1]
        at = at - 1
      end
      found[at] = one
      return true
    end
    -- Goes on in a shard until it has given so many; answers where it stopped, or nil where it has no more of the first.
    local function take(shard, offset, most)
      local taken, last, step = 0, nil, most
      repeat
        local page = slice(shard, offset, step)
        for i = 1, #page, 2 do
          local score = number(page[i + 1])
          if isPast(page[i], score) then
            last = {score, page[i], page[i + 1]}
            if not keep(last) then return nil end
            taken = taken + 1
          end
        end
        if #page < 2 * step then return nil end
        -- Those before the cursor are passed in longer and longer steps.
        offset, step = offset + step, 2 * step
      until taken >= most
      return offset, last
    end
    local open = {}
    for i, shard in ipairs(shards) do
      local offset, last = take(shard, 0, per)
      if offset then open[#open + 1] = {shard, offset, last, per} end
    end
    -- A shard whose last one belongs to the first may have more of them: twice as many each time.
    local isMore
    repeat
      if not areFew then
        table.sort(found, isFirst)
        for i = count, want + 1, -1 do found[i] = nil end
        count = math.min(count, want)
      end
      isMore = false
      local cut = found[want]
      for _, at in ipairs(open) do
        if at[2] and (not cut or isFirst(at[3], cut)) then
          at[2], at[3] = take(at[1], at[2], at[4])
          at[4] = math.min(want, 2 * at[4])
          isMore = true
        end
      end
    until not isMore
    local answer = {}
    for i = 1, math.min(want, count) do
      answer[2 * i - 1] = found[i][2]
      answer[2 * i] = found[i][3]
    end
    return {${DONE}, answer}
  `,
});

export const removeRange = defineScript({
  name: "sharded.zset-remove-range",
  keys: ["gate"],
  args: ["gen", "min", "max"],
  restKeys: "shards",
  rest: "olds",
  include: [GUARD],
  lua: `
    for i, shard in ipairs(shards) do
      local removed = redis.call("ZREMRANGEBYSCORE", shard, min, max)
      added = added - removed
      if olds[i] == "1" then left = left - removed end
    end
    return done(-added)
  `,
});
