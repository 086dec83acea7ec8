/**
 * Unique visitors in Lua. Behind each tag a day has a gate, sets of integers as long as it is counted exactly, and a HyperLogLog from
 * the beginning on: so to stop counting exactly is to drop the sets.
 */

import { asNumber, asTuple } from "../../../base/replies.ts";
import { defineScript, NOW_MS } from "../../../base/script.ts";

/**
 * {1, {1 new · 0 known …}, exact 1 or 0, whether there are too many to stay exact} · {0, "day", the server's time}: it is not that day ·
 * {0, "shards", their number} · {0, "old"}: a day that is not kept any more. Items are {place of the shard, visitor}.
 */
export const visit = defineScript({
  name: "sharded.visit",
  keys: ["gate", "sketch"],
  args: ["dayFrom", "dayTo", "shardCount", "expireAt", "most"],
  restKeys: "shards",
  rest: "items",
  include: [NOW_MS],
  repeatable: true,
  lua: `
    if dayFrom ~= "" and (now < tonumber(dayFrom) or now >= tonumber(dayTo)) then return {0, "day", now} end
    if now >= tonumber(expireAt) then return {0, "old"} end
    local state = redis.call("HMGET", gate, "s", "exact", "n")
    if not state[1] then
      redis.call("HSET", gate, "s", shardCount, "exact", 1, "n", 0)
      redis.call("PEXPIREAT", gate, expireAt)
      state = {shardCount, "1", "0"}
    elseif state[1] ~= shardCount then return {0, "shards", state[1]} end
    local isExact, answers, fresh, visitors = state[2] == "1", {}, 0, {}
    for i = 1, #items, 2 do
      local isNew = 0
      if isExact then
        local shard = shards[tonumber(items[i])]
        isNew = redis.call("SADD", shard, items[i + 1])
        if isNew == 1 then
          fresh = fresh + 1
          if redis.call("SCARD", shard) == 1 then redis.call("PEXPIREAT", shard, expireAt) end
        end
      end
      if isNew == 1 or not isExact then visitors[#visitors + 1] = items[i + 1] end
      answers[#answers + 1] = isNew
    end
    for from = 1, #visitors, 500 do
      redis.call("PFADD", sketch, unpack(visitors, from, math.min(#visitors, from + 499)))
    end
    if tonumber(state[3]) == 0 and #visitors > 0 then redis.call("PEXPIREAT", sketch, expireAt) end
    local n = tonumber(state[3]) + fresh
    if fresh > 0 then redis.call("HSET", gate, "n", n) end
    return {1, answers, isExact and 1 or 0, (isExact and n > tonumber(most)) and 1 or 0}
  `,
});

/** Stops counting exactly, if there are too many: the sets go, the sketch knows all who were in them. */
export const promote = defineScript({
  name: "sharded.promote",
  keys: ["gate"],
  args: ["shardCount", "most"],
  restKeys: "shards",
  repeatable: true,
  lua: `
    local state = redis.call("HMGET", gate, "s", "exact", "n")
    if state[1] ~= shardCount or state[2] ~= "1" or tonumber(state[3]) <= tonumber(most) then return 0 end
    redis.call("HSET", gate, "exact", 0)
    for _, shard in ipairs(shards) do redis.call("UNLINK", shard) end
    return 1
  `,
});

/** {exact 1 or 0, how many, shards}. */
export const tally = defineScript({
  name: "sharded.tally",
  keys: ["gate", "sketch"],
  repeatable: true,
  lua: `
    local state = redis.call("HMGET", gate, "exact", "n", "s")
    if not state[1] then return {1, 0, 0} end
    if state[1] == "1" then return {1, tonumber(state[2]), tonumber(state[3])} end
    return {0, redis.call("PFCOUNT", sketch), tonumber(state[3])}
  `,
  reply: asTuple(asNumber, asNumber, asNumber),
});
