/**
 * The values of a key are a set or a list of their own; which keys have values, and how many values there are in all, is kept beside
 * them in the same step. A key without values is not there.
 */

import {
  asByteList,
  asList,
  asListOf,
  asNumber,
  asNumbers,
  asTextOrNull,
  asTexts,
  asTuple,
} from "../../base/replies.ts";
import { defineScript } from "../../base/script.ts";

export type ValuesKind = "set" | "list";

/** Lua: what differs between sets and lists, and what is kept beside the values. */
const KIND = `
local isSet = kind == "set"
local function countOf(held) return redis.call(isSet and "SCARD" or "LLEN", held) end
local function changed(key, held, by)
  if by == 0 then return end
  if by < 0 and countOf(held) == 0 then redis.call("ZREM", keys, key) end
  if redis.call("INCRBY", total, by) == 0 then redis.call("DEL", total) end
end
`;

/** Answers 1 for added, 0 for exists (of sets), 2 for full: the key has too many values, or the map too many keys. */
export const add = defineScript({
  name: "multi-map.add",
  keys: ["keys", "total", "held"],
  args: ["kind", "key", "maxKeys", "maxValues"],
  rest: "values",
  include: [KIND],
  lua: `
    local count, added, answers = countOf(held), 0, {}
    local mayBegin = count > 0 or redis.call("ZCARD", keys) < tonumber(maxKeys)
    for at, value in ipairs(values) do
      if isSet and redis.call("SISMEMBER", held, value) == 1 then answers[at] = 0
      elseif not mayBegin or count + added >= tonumber(maxValues) then answers[at] = 2
      else
        redis.call(isSet and "SADD" or "RPUSH", held, value)
        added = added + 1
        answers[at] = 1
      end
    end
    if added > 0 and count == 0 then redis.call("ZADD", keys, 0, key) end
    changed(key, held, added)
    return answers
  `,
  reply: asNumbers,
});

/** Puts these values in the place of those that are there. 0: too many keys, and nothing has changed. */
export const replace = defineScript({
  name: "multi-map.replace",
  keys: ["keys", "total", "held"],
  args: ["kind", "key", "maxKeys"],
  rest: "values",
  include: [KIND],
  lua: `
    local before = countOf(held)
    if before == 0 and #values > 0 and redis.call("ZCARD", keys) >= tonumber(maxKeys) then return 0 end
    redis.call("DEL", held)
    for _, value in ipairs(values) do redis.call(isSet and "SADD" or "RPUSH", held, value) end
    local after = countOf(held)
    if after > 0 and before == 0 then redis.call("ZADD", keys, 0, key) end
    if after == 0 and before > 0 then redis.call("ZREM", keys, key) end
    changed(key, held, after - before)
    return 1
  `,
  reply: (reply) => reply === 1,
});

/** The values of each key. */
export const get = defineScript({
  name: "multi-map.get",
  keys: [],
  restKeys: "helds",
  args: ["kind"],
  readOnly: true,
  buffers: true,
  lua: `
    local answers = {}
    for at, held in ipairs(helds) do
      answers[at] = kind == "set" and redis.call("SMEMBERS", held) or redis.call("LRANGE", held, 0, -1)
    end
    return answers
  `,
  reply: (reply) => asList(reply).map((each) => asByteList(each)),
});

/** How often these values are there. */
export const occurrences = defineScript({
  name: "multi-map.has",
  keys: ["held"],
  args: ["kind"],
  rest: "values",
  readOnly: true,
  lua: `
    local answers = {}
    for at, value in ipairs(values) do
      if kind == "set" then answers[at] = redis.call("SISMEMBER", held, value)
      else answers[at] = #redis.call("LPOS", held, value, "COUNT", 1) end
    end
    return answers
  `,
  reply: asNumbers,
});

/** Deletes values, of a list all that are equal. Answers how many of each. */
export const deleteValues = defineScript({
  name: "multi-map.delete-values",
  keys: ["keys", "total", "held"],
  args: ["kind", "key"],
  rest: "values",
  include: [KIND],
  lua: `
    local deleted, answers = 0, {}
    for at, value in ipairs(values) do
      answers[at] = isSet and redis.call("SREM", held, value) or redis.call("LREM", held, 0, value)
      deleted = deleted + answers[at]
    end
    changed(key, held, -deleted)
    return answers
  `,
  reply: asNumbers,
});

/** Deletes keys with all their values; `names` are the keys whose values `helds` are. Answers how many values each had. */
export const deleteKeys = defineScript({
  name: "multi-map.delete",
  keys: ["keys", "total"],
  restKeys: "helds",
  args: ["kind"],
  rest: "names",
  include: [KIND],
  lua: `
    local answers = {}
    for at, held in ipairs(helds) do
      answers[at] = countOf(held)
      redis.call("UNLINK", held)
      changed(names[at], held, -answers[at])
    end
    return answers
  `,
  reply: asListOf(asNumber),
});

/** The first keys behind one: one more than `limit`, if there are. */
export const page = defineScript({
  name: "multi-map.page",
  keys: ["keys"],
  args: ["after", "limit"],
  readOnly: true,
  lua: `return redis.call("ZRANGEBYLEX", keys, after == "" and "-" or "(" .. after, "+", "LIMIT", 0, limit + 1)`,
  reply: asTexts,
});

/** { keys, values or nil }. */
export const totals = defineScript({
  name: "multi-map.totals",
  keys: ["keys", "total"],
  readOnly: true,
  lua: `return {redis.call("ZCARD", keys), redis.call("GET", total)}`,
  reply: asTuple(asNumber, asTextOrNull),
});
