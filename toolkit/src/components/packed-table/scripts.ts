/** A table in Lua, but for aggregates (aggregate.ts), whose scripts are made for what is asked. */

import { asByteList, asBytes, asBytesOrNulls, asNumbers } from "../../base/replies.ts";
import { defineScript } from "../../base/script.ts";

/** Stores the schema if what is stored is what was thought to be. Answers what is stored then. */
export const putSchema = defineScript({
  name: "packed-table.schema",
  keys: ["schema"],
  args: ["before", "after"],
  repeatable: true,
  lua: `
    local stored = redis.call("GET", schema) or ""
    if stored ~= before then return stored end
    redis.call("SET", schema, after)
    return after
  `,
  reply: (reply) => String(reply),
});

/** The codes of words, made where they are new; 0 for one that there is no code for any more. */
export const intern = defineScript({
  name: "packed-table.words",
  keys: ["dictionary"],
  args: ["most"],
  rest: "words",
  repeatable: true,
  lua: `
    local codes = {}
    for i, word in ipairs(words) do
      local code = redis.call("HGET", dictionary, word)
      if not code then
        code = redis.call("HLEN", dictionary) + 1
        if code > tonumber(most) then code = 0 else redis.call("HSET", dictionary, word, code) end
      end
      codes[i] = tonumber(code)
    end
    return codes
  `,
  reply: asNumbers,
});

/**
 * Writes parts of rows. `parts` has four words each: which segment, row, offset in it, bytes. A row that was not there is zeros first.
 * `sizes`: how large the bits and each segment are when they are made; 0: as large as they must be. Answers how many rows are new.
 */
export const write = defineScript({
  name: "packed-table.write",
  keys: ["present"],
  restKeys: "segments",
  args: ["widths", "sizes"],
  rest: "parts",
  repeatable: true,
  lua: `
    local width, size = {}, {}
    for each in string.gmatch(widths, "%d+") do width[#width + 1] = tonumber(each) end
    for each in string.gmatch(sizes, "%d+") do size[#size + 1] = tonumber(each) end
    -- Made in one piece: a string that grows takes up to twice its length. And not by SETRANGE, of which Valkey 8.0.1 may
    -- leave the last two bytes as they were in memory.
    local function make(key, length)
      if length > 0 and redis.call("EXISTS", key) == 0 then redis.call("SET", key, string.rep("\\0", length)) end
    end
    make(present, size[1])
    for s = 1, #segments do make(segments[s], size[s + 1]) end
    local made = 0
    for i = 1, #parts, 4 do
      local segment, row = tonumber(parts[i]), tonumber(parts[i + 1])
      if redis.call("SETBIT", present, row, 1) == 0 then
        made = made + 1
        for s = 1, #segments do
          redis.call("SETRANGE", segments[s], row * width[s], string.rep("\\0", width[s]))
        end
      end
      if parts[i + 3] ~= "" then
        redis.call("SETRANGE", segments[segment], row * width[segment] + parts[i + 2], parts[i + 3])
      end
    end
    return made
  `,
  reply: (reply) => Number(reply),
});

/** Rows, all segments behind each other; nil for one that is not there. */
export const read = defineScript({
  name: "packed-table.read",
  keys: ["present"],
  restKeys: "segments",
  args: ["widths"],
  rest: "rows",
  repeatable: true,
  buffers: true,
  lua: `
    local width = {}
    for each in string.gmatch(widths, "%d+") do width[#width + 1] = tonumber(each) end
    local found = {}
    for i, row in ipairs(rows) do
      found[i] = false
      if redis.call("GETBIT", present, row) == 1 then
        local parts = {}
        for s = 1, #segments do
          local part = redis.call("GETRANGE", segments[s], row * width[s], (row + 1) * width[s] - 1)
          -- A segment that was added later is as short as what was written to it.
          parts[s] = part .. string.rep("\\0", width[s] - #part)
        end
        found[i] = table.concat(parts)
      end
    end
    return found
  `,
  reply: asBytesOrNulls,
});

/** Answers how many of them were there. */
export const remove = defineScript({
  name: "packed-table.remove",
  keys: ["present"],
  rest: "rows",
  repeatable: true,
  lua: `
    local removed = 0
    for _, row in ipairs(rows) do
      if redis.call("GETBIT", present, row) == 1 then removed = removed + redis.call("SETBIT", present, row, 0) end
    end
    return removed
  `,
  reply: (reply) => Number(reply),
});

/** The bits and the rows of a part of a shard, as they were at one moment: { bits, segment … }. */
export const block = defineScript({
  name: "packed-table.block",
  keys: ["present"],
  restKeys: "segments",
  args: ["widths", "first", "last"],
  repeatable: true,
  buffers: true,
  lua: `
    local width = {}
    for each in string.gmatch(widths, "%d+") do width[#width + 1] = tonumber(each) end
    local found = {redis.call("GETRANGE", present, first / 8, (last + 1) / 8 - 1)}
    for s = 1, #segments do
      found[s + 1] = redis.call("GETRANGE", segments[s], first * width[s], (last + 1) * width[s] - 1)
    end
    return found
  `,
  reply: (reply) => {
    const [marks, ...segments] = asByteList(reply);
    return { marks: asBytes(marks), segments };
  },
});
