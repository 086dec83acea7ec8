/**
 * Every script compares its plan with the stored one first: sizes decide where an item's bits are, so two processes with other
 * options would spoil each other's data. The first write stores the plan, and makes room for all of it at once.
 */

import { asListOf, asNumber, asNumbers, asText, asTextOrNull, asTexts, asTuple, orNull } from "../../base/replies.ts";
import { defineScript } from "../../base/script.ts";

/** Lua: `known` is whether the sketch exists. Ends the script where it was made with another plan. */
const PLAN = `
local storedPlan = redis.call("HGET", meta, "plan")
if storedPlan and storedPlan ~= plan then return redis.error_reply("PLAN " .. storedPlan) end
local known = storedPlan ~= false
`;

/** Lua: makes it, with so many bits. */
const BEGIN = `
local function begin(bits)
  redis.call("DEL", cells)
  redis.call("HSET", meta, "plan", plan)
  redis.call("SETBIT", cells, bits - 1, 0)
  if tonumber(ttlMs) > 0 then
    redis.call("PEXPIRE", meta, ttlMs)
    redis.call("PEXPIRE", cells, ttlMs)
  end
end
`;

// -------------------------------------------------------------------------------------------------- Bloom

/**
 * Lua: the layers of a plan, "offset size hashes capacity" each with a comma between; and the bits of an item in one of them. The
 * third difference keeps two items whose steps are alike apart.
 */
const LAYERS = `
local layers = {}
for offset, size, hashes, capacity in plan:gmatch("(%d+) (%d+) (%d+) (%d+)") do
  layers[#layers + 1] = {offset = tonumber(offset), size = tonumber(size), hashes = tonumber(hashes), capacity = tonumber(capacity)}
end
local function set(layer, first, step)
  local words = {"BITFIELD", cells}
  local at, grows = first % layer.size, step % layer.size
  for i = 1, layer.hashes do
    local n = #words
    words[n + 1], words[n + 2], words[n + 3], words[n + 4] = "SET", "u1", layer.offset + at, 1
    at = (at + grows) % layer.size
    grows = (grows + i) % layer.size
  end
  for _, before in ipairs(redis.call(unpack(words))) do if before == 0 then return 1 end end
  return 0
end
-- Of a bit that is asked for, every other one is not set: few have to be asked for.
local function isSet(layer, first, step)
  local at, grows = first % layer.size, step % layer.size
  for i = 1, layer.hashes do
    if redis.call("GETBIT", cells, layer.offset + at) == 0 then return false end
    at = (at + grows) % layer.size
    grows = (grows + i) % layer.size
  end
  return true
end
local function isIn(first, step, last)
  for nth = last, 1, -1 do if isSet(layers[nth], first, step) then return true end end
  return false
end
`;

/** `hashes` holds two numbers an item. Answers 1 for added, 0 for exists, 2 for full. */
export const bloomAdd = defineScript({
  name: "sketches.bloom-add",
  keys: ["meta", "cells"],
  args: ["plan", "ttlMs"],
  rest: "hashes",
  include: [PLAN, BEGIN, LAYERS],
  lua: `
    if not known then begin(layers[1].offset + layers[1].size) end
    local figures = redis.call("HMGET", meta, "layer", "count", "total")
    local current, count, total = tonumber(figures[1] or 1), tonumber(figures[2] or 0), tonumber(figures[3] or 0)
    local answers = {}
    for i = 1, #hashes, 2 do
      local first, step = tonumber(hashes[i]), tonumber(hashes[i + 1])
      local answer
      if isIn(first, step, current - 1) then answer = 0
      elseif count < layers[current].capacity then
        answer = set(layers[current], first, step)
      elseif isIn(first, step, current) then answer = 0
      elseif layers[current + 1] then
        current, count = current + 1, 0
        redis.call("SETBIT", cells, layers[current].offset + layers[current].size - 1, 0)
        answer = set(layers[current], first, step)
      else answer = 2 end
      if answer == 1 then count, total = count + 1, total + 1 end
      answers[#answers + 1] = answer
    end
    redis.call("HSET", meta, "layer", current, "count", count, "total", total)
    return answers
  `,
  reply: asNumbers,
});

export const bloomHas = defineScript({
  name: "sketches.bloom-has",
  keys: ["meta", "cells"],
  args: ["plan"],
  rest: "hashes",
  include: [PLAN, LAYERS],
  readOnly: true,
  lua: `
    local current = known and tonumber(redis.call("HGET", meta, "layer") or 1) or 0
    local answers = {}
    for i = 1, #hashes, 2 do
      answers[#answers + 1] = isIn(tonumber(hashes[i]), tonumber(hashes[i + 1]), current) and 1 or 0
    end
    return answers
  `,
  reply: asNumbers,
});

// -------------------------------------------------------------------------------------------------- cuckoo

/**
 * Lua: four fingerprints a bucket. An item's fingerprint is in one of two buckets, and each follows from the other and the
 * fingerprint; so a fingerprint can be moved although nobody knows its item. A fingerprint of 0 is an empty place.
 */
const BUCKETS = `
local buckets, bits = plan:match("^(%d+) (%d+)$")
local kind = "u" .. bits
buckets = tonumber(buckets)
local function spread(print)
  local mixed = (print * 2654435761) % 4294967296
  mixed = bit.bxor(mixed, bit.rshift(mixed, 15)) % 4294967296
  return mixed % buckets
end
local function otherThan(bucket, print) return (spread(print) - bucket) % buckets end
local function placesOf(bucket)
  local at = bucket * 4
  return redis.call("BITFIELD_RO", cells, "GET", kind, "#" .. at, "GET", kind, "#" .. at + 1, "GET", kind, "#" .. at + 2,
    "GET", kind, "#" .. at + 3)
end
local function placeOf(print, ...)
  for _, bucket in ipairs({...}) do
    for at, found in ipairs(placesOf(bucket)) do
      if found == print then return bucket * 4 + at - 1 end
    end
  end
  return nil
end
local function put(place, print) redis.call("BITFIELD", cells, "SET", kind, "#" .. place, print) end
`;

/** How often a fingerprint may drive out another before the filter is full. Filled as planned, it takes a few. */
const MOST_KICKS = 200;

/**
 * `prints` holds a bucket and a fingerprint an item. Answers 1 for added, 2 for full. Fingerprints that drive out each other are
 * written only when the last of them has a place: so nothing that was added is lost. Once one has found none, the others of the call
 * are put where there is room and drive out nobody: a full filter must not hold up the server.
 */
export const cuckooAdd = defineScript({
  name: "sketches.cuckoo-add",
  keys: ["meta", "cells"],
  args: ["plan", "ttlMs"],
  rest: "prints",
  include: [PLAN, BEGIN, BUCKETS],
  lua: `
    if not known then begin(buckets * 4 * bits) end
    local function moved(bucket, print)
      local changed = {}
      local found = placesOf(bucket)
      for _ = 1, ${MOST_KICKS} do
        local place = bucket * 4 + math.random(0, 3)
        local driven = changed[place] or found[place % 4 + 1]
        changed[place] = print
        print, bucket = driven, otherThan(bucket, driven)
        found = placesOf(bucket)
        for at, each in ipairs(found) do
          local free = bucket * 4 + at - 1
          if each == 0 and not changed[free] then
            changed[free] = print
            return changed
          end
        end
      end
      return nil
    end
    local isFull = false
    local answers, added = {}, 0
    for i = 1, #prints, 2 do
      local bucket, print = tonumber(prints[i]), tonumber(prints[i + 1])
      local other = otherThan(bucket, print)
      local free = placeOf(0, bucket, other)
      if free then put(free, print)
      elseif not isFull then
        free = moved(math.random(0, 1) == 0 and bucket or other, print)
        isFull = not free
        for place, each in pairs(free or {}) do put(place, each) end
      end
      if free then added = added + 1 end
      answers[#answers + 1] = free and 1 or 2
    end
    redis.call("HINCRBY", meta, "total", added)
    return answers
  `,
  reply: asNumbers,
});

export const cuckooHas = defineScript({
  name: "sketches.cuckoo-has",
  keys: ["meta", "cells"],
  args: ["plan"],
  rest: "prints",
  include: [PLAN, BUCKETS],
  readOnly: true,
  lua: `
    local answers = {}
    for i = 1, #prints, 2 do
      local bucket, print = tonumber(prints[i]), tonumber(prints[i + 1])
      answers[#answers + 1] = known and placeOf(print, bucket, otherThan(bucket, print)) and 1 or 0
    end
    return answers
  `,
  reply: asNumbers,
});

/** 1: one fingerprint like that is gone. */
export const cuckooDelete = defineScript({
  name: "sketches.cuckoo-delete",
  keys: ["meta", "cells"],
  args: ["plan"],
  rest: "prints",
  include: [PLAN, BUCKETS],
  lua: `
    local answers, deleted = {}, 0
    for i = 1, #prints, 2 do
      local bucket, print = tonumber(prints[i]), tonumber(prints[i + 1])
      local place = known and placeOf(print, bucket, otherThan(bucket, print))
      if place then
        put(place, 0)
        deleted = deleted + 1
      end
      answers[#answers + 1] = place and 1 or 0
    end
    if deleted > 0 then redis.call("HINCRBY", meta, "total", -deleted) end
    return answers
  `,
  reply: asNumbers,
});

// -------------------------------------------------------------------------------------------------- count-min

/** The bits of a cell. Its count is never above the total, which is refused before it needs more. */
export const CELL_BITS = 48;
const MOST_TOTAL = "281474976710655";

/** Lua: the cells of an item, one in each row. */
const CELLS = `
local width, depth = plan:match("^(%d+) (%d+)$")
width, depth = tonumber(width), tonumber(depth)
local function read(words, from)
  local asked = {"BITFIELD_RO", cells}
  for row = 0, depth - 1 do
    asked[#asked + 1] = "GET"
    asked[#asked + 1] = "u${CELL_BITS}"
    asked[#asked + 1] = "#" .. string.format("%.0f", row * width + words[from + row])
  end
  local found = redis.call(unpack(asked))
  local least = found[1]
  for _, each in ipairs(found) do if each < least then least = each end end
  return least, found
end
`;

/**
 * `items` holds a count and a column for each row an item. Only cells that are below the item's new count are raised (conservative
 * update): what other items have put there is not counted twice. Answers the new estimates, as text.
 */
export const countMinAdd = defineScript({
  name: "sketches.count-min-add",
  keys: ["meta", "cells"],
  args: ["plan", "ttlMs"],
  rest: "items",
  include: [PLAN, BEGIN, CELLS],
  lua: `
    local sum = 0
    for i = 1, #items, depth + 1 do sum = sum + items[i] end
    local total = tonumber(redis.call("HGET", meta, "total") or 0) + sum
    if total > ${MOST_TOTAL} then return redis.error_reply("TOTAL counts up to ${MOST_TOTAL} in all") end
    if not known then begin(width * depth * ${CELL_BITS}) end
    local answers = {}
    for i = 1, #items, depth + 1 do
      local least, found = read(items, i + 1)
      local raised = least + items[i]
      local words = {"BITFIELD", cells}
      for row = 0, depth - 1 do
        if found[row + 1] < raised then
          words[#words + 1] = "SET"
          words[#words + 1] = "u${CELL_BITS}"
          words[#words + 1] = "#" .. string.format("%.0f", row * width + items[i + 1 + row])
          words[#words + 1] = string.format("%.0f", raised)
        end
      end
      redis.call(unpack(words))
      answers[#answers + 1] = string.format("%.0f", raised)
    end
    redis.call("HSET", meta, "total", string.format("%.0f", total))
    return answers
  `,
  reply: asTexts,
});

/** The estimates, as text. */
export const countMinCounts = defineScript({
  name: "sketches.count-min-counts",
  keys: ["meta", "cells"],
  args: ["plan"],
  rest: "items",
  include: [PLAN, CELLS],
  readOnly: true,
  lua: `
    local answers = {}
    for i = 1, #items, depth do
      answers[#answers + 1] = known and string.format("%.0f", (read(items, i))) or "0"
    end
    return answers
  `,
  reply: asTexts,
});

// -------------------------------------------------------------------------------------------------- figures

/** { total or nil, layer or nil, bytes }. */
export const figures = defineScript({
  name: "sketches.figures",
  keys: ["meta", "cells"],
  args: ["plan"],
  include: [PLAN],
  readOnly: true,
  lua: `
    local found = redis.call("HMGET", meta, "total", "layer")
    return {found[1], found[2], redis.call("STRLEN", cells)}
  `,
  reply: asTuple(asTextOrNull, asTextOrNull, asNumber),
});

// -------------------------------------------------------------------------------------------------- top-k

/** Scores are doubles. */
const MOST_EXACT = "9007199254740991";

/**
 * Space-Saving: so many counters. An item that has none takes over the smallest, with its count; by that much its own count may be
 * too large. `items` holds an item and a number each. Answers the counts, as text.
 */
export const topAdd = defineScript({
  name: "sketches.top-add",
  keys: ["counts", "errors", "meta"],
  args: ["plan", "ttlMs"],
  rest: "items",
  include: [PLAN],
  lua: `
    local text = function(number) return string.format("%.0f", number) end
    local total = tonumber(redis.call("HGET", meta, "total") or 0)
    for i = 2, #items, 2 do total = total + items[i] end
    if total > ${MOST_EXACT} then return redis.error_reply("TOTAL counts up to ${MOST_EXACT} in all") end
    local size = redis.call("ZCARD", counts)
    local answers = {}
    for i = 1, #items, 2 do
      local item, by = items[i], items[i + 1]
      local count = redis.call("ZSCORE", counts, item)
      if count then
        count = count + by
        redis.call("ZADD", counts, text(count), item)
      elseif size < tonumber(plan) then
        count, size = tonumber(by), size + 1
        redis.call("ZADD", counts, by, item)
      else
        local least = redis.call("ZPOPMIN", counts)
        redis.call("HDEL", errors, least[1])
        count = least[2] + by
        redis.call("ZADD", counts, text(count), item)
        redis.call("HSET", errors, item, text(tonumber(least[2])))
      end
      answers[#answers + 1] = text(count)
    end
    redis.call("HSET", meta, "plan", plan, "total", text(total))
    if tonumber(ttlMs) > 0 then
      if not known then redis.call("PEXPIRE", meta, ttlMs) end
      -- The others may be made later than the first, and end with it.
      local left = redis.call("PTTL", meta)
      redis.call("PEXPIRE", counts, left)
      redis.call("PEXPIRE", errors, left)
    end
    return answers
  `,
  reply: asTexts,
});

const asItems = asListOf(asTextOrNull);

/** { flat items and counts, errors }. */
export const topRange = defineScript({
  name: "sketches.top-range",
  keys: ["counts", "errors", "meta"],
  args: ["plan", "from", "to"],
  include: [PLAN],
  readOnly: true,
  lua: `
    local found = redis.call("ZREVRANGE", counts, from, to, "WITHSCORES")
    local wrong = {}
    for i = 1, #found, 2 do wrong[#wrong + 1] = redis.call("HGET", errors, found[i]) end
    return {found, wrong}
  `,
  reply: asTuple(asTexts, asItems),
});

/** { count, error or nil }, or nil. */
export const topGet = defineScript({
  name: "sketches.top-get",
  keys: ["counts", "errors", "meta"],
  args: ["plan", "item"],
  include: [PLAN],
  readOnly: true,
  lua: `
    local count = redis.call("ZSCORE", counts, item)
    if not count then return nil end
    return {count, redis.call("HGET", errors, item)}
  `,
  reply: orNull(asTuple(asText, asTextOrNull)),
});

/** { total or nil, items }. */
export const topFigures = defineScript({
  name: "sketches.top-figures",
  keys: ["counts", "errors", "meta"],
  args: ["plan"],
  include: [PLAN],
  readOnly: true,
  lua: `return {redis.call("HGET", meta, "total"), redis.call("ZCARD", counts)}`,
  reply: asTuple(asTextOrNull, asNumber),
});
