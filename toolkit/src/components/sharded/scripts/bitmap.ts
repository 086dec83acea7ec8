/** The sharded bitmap in Lua. A bit is set in one shard at most, of the new layout or of the old one. */
import { defineScript } from "../../../base/script.ts";
import { DONE } from "./answers.ts";
import { GUARD, itemScript, KIND_LUA } from "./core.ts";

/** The element is the offset in the new shard; `oldAt` that in the old one. Answers what the bit was. */
export const set = itemScript({
  name: "sharded.bitmap-set",
  kind: "bitmap",
  words: ["oldAt", "value"],
  each: `
    answer = 0
    if from and redis.call("GETBIT", from, oldAt) == 1 then
      redis.call("SETBIT", from, oldAt, 0)
      left = left - 1
      answer = 1
    end
    -- A bit that is not set needs no room.
    if value == "1" and begin(shard) then opened(shard, range) end
    if value == "1" or redis.call("EXISTS", shard) == 1 then
      if redis.call("SETBIT", shard, element, value) == 1 then answer = 1 end
    end
    added = added + tonumber(value) - answer
  `,
});

export const get = itemScript({
  name: "sharded.bitmap-get",
  kind: "bitmap",
  words: ["oldAt"],
  repeatable: true,
  each: `
    answer = redis.call("GETBIT", shard, element)
    if answer == 0 and from then answer = redis.call("GETBIT", from, oldAt) end
  `,
});

/** How many bits are set in some bytes of each shard; `spans` has the first and the last byte of each. */
export const count = defineScript({
  name: "sharded.bitmap-count",
  keys: ["gate"],
  args: ["gen"],
  restKeys: "shards",
  rest: "spans",
  include: [GUARD],
  repeatable: true,
  lua: `
    local found = 0
    for i, shard in ipairs(shards) do found = found + redis.call("BITCOUNT", shard, spans[2 * i - 1], spans[2 * i]) end
    return {${DONE}, found}
  `,
});

/** All bytes of some shards, in their order. */
export const read = defineScript({
  name: "sharded.bitmap-read",
  keys: ["gate"],
  args: ["gen"],
  restKeys: "shards",
  include: [GUARD],
  repeatable: true,
  buffers: true,
  lua: `
    local all = {}
    for i, shard in ipairs(shards) do all[i] = redis.call("GET", shard) end
    return {${DONE}, all}
  `,
});

/** Puts `parts` in the place of all that is in some shards; of the old layout nothing is left. Ranges: numbers of all shards. */
export const replace = defineScript({
  name: "sharded.bitmap-replace",
  keys: ["gate", "dir", "oldDir"],
  args: ["gen", "news"],
  restKeys: "shards",
  rest: "words",
  include: [GUARD, KIND_LUA.bitmap],
  repeatable: true,
  lua: `
    news = tonumber(news)
    for i, shard in ipairs(shards) do
      local range, part = words[i], words[#shards + i]
      local before = len(shard)
      redis.call("DEL", shard)
      added = added - before
      if i > news then
        left = left - before
        redis.call("ZREM", oldDir, range)
      elseif part == "" then redis.call("ZREM", dir, range)
      else
        redis.call("SET", shard, part)
        added = added + len(shard)
        opened(shard, range)
      end
    end
    return done(1)
  `,
});
