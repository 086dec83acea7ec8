/** The scripts that bring ads in, change them and take them out. See lua.ts for how the data is laid out. */

import { asText, asTextOrNull, asTexts, asTuple, orNull } from "../../base/replies.ts";
import { defineScript, NOW_MS } from "../../base/script.ts";
import { CONFIG, SHARED } from "./lua.ts";

/** How often a word stands among the ads: only words that some ad is for are looked up on a page. */
const VOCABULARY = `
local function vocabulary(words, by)
  each(words, function(word)
    if redis.call("HINCRBY", base .. ":vocabulary", word, by) <= 0 then redis.call("HDEL", base .. ":vocabulary", word) end
  end)
end
`;

/**
 * Sets what an ad is; what it has spent and learned stays. 1 added, 0 changed, -1 there are too many. What every candidate is asked for is written
 * first.
 */
export const put = defineScript({
  name: "ads.put",
  keys: ["ad", "ads"],
  args: [...CONFIG, "id", "maxAds", "terms", "places", "words", "data"],
  include: [NOW_MS, SHARED, VOCABULARY],
  repeatable: true,
  lua: `
    local was = redis.call("HMGET", ad, "generation", "places", "words")
    if not was[1] then
      if redis.call("ZCARD", ads) >= tonumber(maxAds) then return -1 end
      redis.call("HSET", ad, "terms", terms, "spent", 0, "held", 0, "day", 0, "spentToday", 0, "learned", learned(false),
        "listed", "", "generation", redis.call("HINCRBY", base .. ":averages", "generation", 1), "state", "on")
      redis.call("ZADD", ads, 0, id)
    else
      unlist(id, was[2], was[3])
      vocabulary(was[3], -1)
    end
    redis.call("HSET", ad, "terms", terms, "places", places, "words", words, "data", data, "listed", "")
    local isWord = {}
    each(words, function(word)
      isWord["w:" .. word] = true
      redis.call("HSETNX", ad, "w:" .. word, "0 0 0 " .. string.format("%.0f", now))
    end)
    each(was[3] or "", function(word)
      if not isWord["w:" .. word] then redis.call("HDEL", ad, "w:" .. word) end
    end)
    vocabulary(words, 1)
    redis.call("ZREM", base .. ":asleep", id)
    list(id)
    return was[1] and 0 or 1
  `,
  reply: (reply) => Number(reply),
});

/** Takes an ad out of the running, or back in. 0 if there is none. */
export const setState = defineScript({
  name: "ads.state",
  keys: ["ad"],
  args: [...CONFIG, "id", "state"],
  include: [NOW_MS, SHARED],
  repeatable: true,
  lua: `
    local was = redis.call("HMGET", ad, "state", "places", "words")
    if not was[1] then return 0 end
    if was[1] == state then return 1 end
    redis.call("HSET", ad, "state", state, "listed", "")
    redis.call("ZREM", base .. ":asleep", id)
    if state == "on" then list(id) else unlist(id, was[2], was[3]) end
    return 1
  `,
  reply: (reply) => reply === 1,
});

/** Removes an ad with everything of it. Open impressions end by themselves and are charged to nobody. */
export const remove = defineScript({
  name: "ads.remove",
  keys: ["ad", "ads", "report"],
  args: [...CONFIG, "id"],
  include: [NOW_MS, SHARED, VOCABULARY],
  repeatable: true,
  lua: `
    local was = redis.call("HMGET", ad, "places", "words")
    if was[1] then
      unlist(id, was[1], was[2])
      vocabulary(was[2], -1)
    end
    redis.call("ZREM", base .. ":asleep", id)
    redis.call("ZREM", ads, id)
    redis.call("DEL", report)
    sweep(100)
    return redis.call("DEL", ad)
  `,
  reply: (reply) => reply === 1,
});

/** { fields, views, clicks, actions, mean eCPM, asleep until, spent today } of an ad. */
export const read = defineScript({
  name: "ads.read",
  keys: ["ad"],
  args: [...CONFIG, "id"],
  include: [NOW_MS, SHARED],
  repeatable: true,
  lua: `
    local flat = redis.call("HGETALL", ad)
    if #flat == 0 then return nil end
    local f = {}
    for i = 1, #flat, 2 do f[flat[i]] = flat[i + 1] end
    local views, clicks, actions = faded(f.learned)
    local model, price = termsOf(f.terms)
    local alpha, beta = belief(model, f.learned)
    local function text(number) return string.format("%.17g", number) end
    local mean = (alpha and alpha / beta or 1) * price * 1000
    local bonuses = {}
    each(f.words, function(word)
      bonuses[#bonuses + 1] = word
      bonuses[#bonuses + 1] = text(wordBonus(model, price, alpha and alpha / beta, f["w:" .. word]))
    end)
    local spentToday = tonumber(f.day) >= today and f.spentToday or "0"
    return {flat, text(views), text(clicks), text(actions), text(mean), redis.call("ZSCORE", base .. ":asleep", id), spentToday, bonuses}
  `,
  reply: orNull(asTuple(asTexts, asText, asText, asText, asText, asTextOrNull, asText, asTexts)),
});
