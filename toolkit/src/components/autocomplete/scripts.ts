/** Both completions: reads write nothing, and everything is bounded. */

import { asNumber, asTexts, asTuple, orNull } from "../../base/replies.ts";
import { defineScript } from "../../base/script.ts";
import type { Reply } from "../../connection/port.ts";

const strings = (reply: Reply): string[] => orNull(asTexts)(reply) ?? [];

/** A contact comes to the front; the least recent beyond the limit goes. Ties of one millisecond keep their order by a counter. */
export const touch = defineScript({
  name: "autocomplete.touch",
  keys: ["recent", "names"],
  args: ["folded", "name", "max"],
  lua: `
    local last = redis.call("ZREVRANGE", recent, 0, 0, "WITHSCORES")[2]
    redis.call("ZADD", recent, (last or 0) + 1, folded)
    redis.call("HSET", names, folded, name)
    local over = redis.call("ZCARD", recent) - max
    if over > 0 then
      for _, old in ipairs(redis.call("ZRANGE", recent, 0, over - 1)) do redis.call("HDEL", names, old) end
      redis.call("ZREMRANGEBYRANK", recent, 0, over - 1)
    end
    return 1
  `,
  repeatable: true,
});

export const forget = defineScript({
  name: "autocomplete.forget",
  keys: ["recent", "names"],
  args: ["folded"],
  repeatable: true,
  lua: `
    redis.call("HDEL", names, folded)
    return redis.call("ZREM", recent, folded)
  `,
  reply: (reply) => reply === 1,
});

export const recentMatches = defineScript({
  name: "autocomplete.recent",
  keys: ["recent", "names"],
  args: ["beginning", "limit"],
  repeatable: true,
  lua: `
    local found = {}
    for _, folded in ipairs(redis.call("ZREVRANGE", recent, 0, -1)) do
      if folded:sub(1, #beginning) == beginning then
        found[#found + 1] = redis.call("HGET", names, folded)
        if #found >= tonumber(limit) then break end
      end
    end
    return found
  `,
  reply: strings,
});

/**
 * Adds names (three words each: folded, name as written, weight), or changes their weight or spelling. `beginnings` is how
 * many characters of a name have an index by weight. Weights of existing names are added to when `mode` is "bump".
 */
export const add = defineScript({
  name: "autocomplete.add",
  keys: ["lex", "weights"],
  args: ["top", "beginnings", "mode"],
  rest: "names",
  lua: `
    -- Where each UTF-8 character of the name ends, as far as beginnings go.
    local function ends(word)
      local found, at = {}, 1
      while at <= #word and #found < tonumber(beginnings) do
        local byte = word:byte(at)
        at = at + (byte < 0x80 and 1 or byte < 0xE0 and 2 or byte < 0xF0 and 3 or 4)
        found[#found + 1] = at - 1
      end
      return found
    end
    local added = 0
    for i = 1, #names, 3 do
      local folded, name, weight = names[i], names[i + 1], tonumber(names[i + 2])
      local entry = folded .. "\\0" .. name
      local before = redis.call("HGET", weights, folded)
      if before then
        local at = before:find(" ", 1, true)
        local oldEntry = folded .. "\\0" .. before:sub(at + 1)
        if mode == "bump" then weight = weight + before:sub(1, at - 1) end
        if oldEntry ~= entry then
          redis.call("ZREM", lex, oldEntry)
          for _, to in ipairs(ends(folded)) do redis.call("ZREM", top .. folded:sub(1, to), oldEntry) end
        end
      else
        added = added + 1
      end
      redis.call("HSET", weights, folded, string.format("%.17g", weight) .. " " .. name)
      redis.call("ZADD", lex, 0, entry)
      for _, to in ipairs(ends(folded)) do redis.call("ZADD", top .. folded:sub(1, to), weight, entry) end
    end
    return added
  `,
  reply: Number,
});

export const removeName = defineScript({
  name: "autocomplete.remove",
  keys: ["lex", "weights"],
  args: ["top", "folded"],
  rest: "prefixes",
  repeatable: true,
  lua: `
    local before = redis.call("HGET", weights, folded)
    if not before then return 0 end
    local entry = folded .. "\\0" .. before:sub(before:find(" ", 1, true) + 1)
    redis.call("HDEL", weights, folded)
    redis.call("ZREM", lex, entry)
    for _, prefix in ipairs(prefixes) do redis.call("ZREM", top .. prefix, entry) end
    return 1
  `,
  reply: (reply) => reply === 1,
});

/**
 * The heaviest names with a beginning that has no index by weight of its own: looks at no more than `scan` of them, in the
 * order of bytes. Answers { whether all were looked at, names }.
 */
export const heaviest = defineScript({
  name: "autocomplete.heaviest",
  keys: ["lex", "weights"],
  args: ["from", "to", "limit", "scan"],
  repeatable: true,
  lua: `
    local entries = redis.call("ZRANGEBYLEX", lex, from, to, "LIMIT", 0, scan + 1)
    local all = #entries <= tonumber(scan) and 1 or 0
    local found = {}
    for i = 1, math.min(#entries, tonumber(scan)) do
      local folded = entries[i]:sub(1, entries[i]:find("\\0", 1, true) - 1)
      local stored = redis.call("HGET", weights, folded)
      local at = stored:find(" ", 1, true)
      found[i] = {tonumber(stored:sub(1, at - 1)), stored:sub(at + 1), i}
    end
    table.sort(found, function(a, b)
      if a[1] ~= b[1] then return a[1] > b[1] end
      return a[3] < b[3]
    end)
    local names = {}
    for i = 1, math.min(#found, tonumber(limit)) do names[i] = found[i][2] end
    return {all, names}
  `,
  reply: asTuple(asNumber, asTexts),
});
