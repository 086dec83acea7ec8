/**
 * A sample counts at once in a bucket of every width (roll-up): how many, their sum, the least, the largest and the last. So nothing
 * has to be rolled up later, and no sample is kept. Buckets of one width are packed by 128 into a hash that expires as a whole, when
 * its last bucket is older than what is kept: so nothing has to be deleted, either.
 */

import {
  asBytes,
  asList,
  asNumber,
  asNumbers,
  asText,
  asTextOrNull,
  asTexts,
  asTuple,
  orNull,
} from "../../base/replies.ts";
import { defineScript, NOW_MS } from "../../base/script.ts";

/** Buckets in a hash; Redis packs so many tightly. */
export const IN_A_CHUNK = 128;
/** How far a sample may be ahead of the server's clock. */
export const AHEAD_MS = 60_000;

const TEXT = `
local function text(number) return string.format("%.0f", number) end
local function keyOf(every, chunk) return buckets .. text(every) .. ":" .. text(chunk) end
`;

/**
 * `words` holds width and time to keep of `widths` roll-ups, then time and value of each sample; a time that is empty is now. Answers 1
 * for samples that count somewhere, 0 for those that are too old or too far ahead.
 */
export const add = defineScript({
  name: "time-series.add",
  keys: ["newest"],
  args: ["buckets", "widths"],
  rest: "words",
  include: [NOW_MS, TEXT],
  lua: `
    local first = 2 * widths + 1
    local longest = 0
    local function count(every, keep, at, value)
      local bucket = math.floor(at / every)
      if (bucket + 1) * every <= now - keep then return false end
      local chunk = math.floor(bucket / ${IN_A_CHUNK})
      local key, field = keyOf(every, chunk), text(bucket % ${IN_A_CHUNK})
      local before = redis.call("HGET", key, field)
      local n, sum, least, most, last, lastAt = 1, value, value, value, value, at
      if before then
        n, sum, least, most, last, lastAt = struct.unpack("<dddddd", before)
        n, sum, least, most = n + 1, sum + value, math.min(least, value), math.max(most, value)
        if at >= lastAt then last, lastAt = value, at end
      end
      redis.call("HSET", key, field, struct.pack("<dddddd", n, sum, least, most, last, lastAt))
      if not before then redis.call("PEXPIREAT", key, text((chunk + 1) * ${IN_A_CHUNK} * every + keep)) end
      return true
    end
    local answers = {}
    local known = tonumber(redis.call("HGET", newest, "at") or -1)
    local newestValue
    for i = first, #words, 2 do
      local at = words[i] == "" and now or tonumber(words[i])
      local isCounted = false
      if at <= now + ${AHEAD_MS} then
        for w = 1, first - 1, 2 do
          local every, keep = tonumber(words[w]), tonumber(words[w + 1])
          longest = math.max(longest, keep)
          isCounted = count(every, keep, at, tonumber(words[i + 1])) or isCounted
        end
      end
      if isCounted and at >= known then known, newestValue = at, words[i + 1] end
      answers[#answers + 1] = isCounted and 1 or 0
    end
    if newestValue then
      redis.call("HSET", newest, "at", text(known), "value", newestValue)
      redis.call("PEXPIREAT", newest, text(math.max(known, now) + longest))
    end
    return answers
  `,
  reply: asNumbers,
});

/** The hashes of buckets in a range. */
export interface RangeReply {
  /** Of the roll-up that was chosen. */
  readonly everyMs: number;
  readonly fromMs: number;
  readonly toMs: number;
  readonly chunks: readonly { readonly chunk: number; readonly flat: readonly Buffer[] }[];
}

/**
 * `words` holds width and time to keep of each roll-up, the finest first. Empty times are now, and as long ago as there is something.
 * The roll-up is the finest that reaches back far enough and gives no more points than `limit`; one whose width divides `wanted`, unless
 * that is 0. Where only a width is said, it is the one that reaches back furthest.
 */
export const range = defineScript({
  name: "time-series.range",
  keys: ["newest"],
  args: ["buckets", "from", "to", "wanted", "limit"],
  rest: "words",
  include: [NOW_MS, TEXT],
  readOnly: true,
  buffers: true,
  lua: `
    local till = to == "" and now or math.min(tonumber(to), now + ${AHEAD_MS})
    local every, since
    for w = 1, #words, 2 do
      local width, keep = tonumber(words[w]), tonumber(words[w + 1])
      if wanted == "0" or wanted % width == 0 then
        local oldest = now - keep
        local begin = from == "" and oldest or math.max(tonumber(from), oldest)
        local reaches
        if from == "" then reaches = wanted == "0" else reaches = tonumber(from) >= oldest end
        -- What is merged into wider buckets is not counted against the limit.
        local points = (till - begin) / math.max(width, tonumber(wanted))
        every, since = width, begin
        if reaches and points <= tonumber(limit) then break end
      end
    end
    local width = math.max(every, tonumber(wanted))
    since = math.max(since, till - limit * width)
    local answers = {text(every), text(since), text(till)}
    local firstChunk = math.floor(math.floor(since / every) / ${IN_A_CHUNK})
    for chunk = firstChunk, math.floor(math.floor(till / every) / ${IN_A_CHUNK}) do
      local flat = redis.call("HGETALL", keyOf(every, chunk))
      if #flat > 0 then
        answers[#answers + 1] = text(chunk)
        answers[#answers + 1] = flat
      end
    end
    return answers
  `,
  reply: (reply): RangeReply => {
    const [every, from, to, ...rest] = asList(reply);
    const chunks = [];
    for (let at = 0; at < rest.length; at += 2) {
      chunks.push({ chunk: Number(asBytes(rest[at])), flat: asList(rest[at + 1]).map((each) => asBytes(each)) });
    }
    return { everyMs: Number(asBytes(every)), fromMs: Number(asBytes(from)), toMs: Number(asBytes(to)), chunks };
  },
});

/** { at, value }, or nil. */
export const newestOf = defineScript({
  name: "time-series.newest",
  keys: ["newest"],
  readOnly: true,
  lua: `
    local found = redis.call("HMGET", newest, "at", "value")
    return found[1] and found or nil
  `,
  reply: orNull(asTuple(asText, asText)),
});

/** Deletes all buckets that can be there. 1: there was something. */
export const deleteSeries = defineScript({
  name: "time-series.delete",
  keys: ["newest"],
  args: ["buckets"],
  rest: "words",
  include: [NOW_MS, TEXT],
  repeatable: true,
  lua: `
    local deleted = redis.call("DEL", newest)
    for w = 1, #words, 2 do
      local every, keep = tonumber(words[w]), tonumber(words[w + 1])
      local function chunkAt(time) return math.floor(math.floor(time / every) / ${IN_A_CHUNK}) end
      for chunk = chunkAt(now - keep) - 1, chunkAt(now + ${AHEAD_MS}) do
        deleted = deleted + redis.call("UNLINK", keyOf(every, chunk))
      end
    end
    return deleted > 0 and 1 or 0
  `,
  reply: (reply) => asNumber(reply) === 1,
});

// -------------------------------------------------------------------------------------------------- labels

/** Puts labels in the place of those that a series has; `pairs` are texts like "host=a". 0: too many series have labels. */
export const label = defineScript({
  name: "time-series.label",
  keys: ["labels"],
  args: ["having", "name", "json", "maxSeries"],
  rest: "pairs",
  repeatable: true,
  lua: `
    local before = redis.call("HGET", labels, name)
    if not before and #pairs > 0 and redis.call("HLEN", labels) >= tonumber(maxSeries) then return 0 end
    for _, pair in ipairs(before and cjson.decode(before) or {}) do redis.call("ZREM", having .. pair, name) end
    for _, pair in ipairs(pairs) do redis.call("ZADD", having .. pair, 0, name) end
    if #pairs > 0 then redis.call("HSET", labels, name, json) else redis.call("HDEL", labels, name) end
    return 1
  `,
  reply: (reply) => asNumber(reply) === 1,
});

/** The first series behind one that have all the labels: one more than `limit`, if there are. */
export const labelled = defineScript({
  name: "time-series.labelled",
  keys: ["labels"],
  args: ["having", "after", "limit"],
  rest: "pairs",
  readOnly: true,
  lua: `
    -- The label that fewest have comes first: the others are only looked up.
    table.sort(pairs, function(a, b) return redis.call("ZCARD", having .. a) < redis.call("ZCARD", having .. b) end)
    local found, from = {}, after == "" and "-" or "(" .. after
    while true do
      local some = redis.call("ZRANGEBYLEX", having .. pairs[1], from, "+", "LIMIT", 0, 500)
      for _, name in ipairs(some) do
        local isIn = true
        for at = 2, #pairs do isIn = isIn and redis.call("ZSCORE", having .. pairs[at], name) end
        if isIn then found[#found + 1] = name end
        if #found > tonumber(limit) then return found end
      end
      if #some < 500 then return found end
      from = "(" .. some[#some]
    end
  `,
  reply: asTexts,
});

export const labelsOf = defineScript({
  name: "time-series.labels",
  keys: ["labels"],
  args: ["name"],
  readOnly: true,
  lua: `return redis.call("HGET", labels, name)`,
  reply: asTextOrNull,
});
