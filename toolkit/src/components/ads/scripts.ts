/** The scripts that choose an ad and count what becomes of it. See lua.ts for what they share and how the data is laid out. */

import { asListOf, asReply, asText, asTexts, asTuple } from "../../base/replies.ts";
import { defineScript, NOW_MS } from "../../base/script.ts";
import type { Reply } from "../../connection/port.ts";
import { CHANCE, CONFIG, MAX_CAPS, SHARED } from "./lua.ts";

/** Lists of the requested places that are gone down, a page of candidates at a time, before nothing is found. */
const ROUNDS = 4;
/** Words of the page by which ads are looked for: those that any ad is for, the page's most frequent first. */
const MATCHED_WORDS = 8;
/** Ads read from each list of a place and a word. */
const PER_WORD = 4;
/** Ads from anywhere in the lists, so that none is forgotten. */
const STRAYS = 2;
/** What is put right on the way by one call, so that no call pays for all. */
const CHORES = 4;

/**
 * Chooses an ad and reserves what it costs. Candidates are the first ones of the lists of the places and, of those, of the words of
 * the page; each is asked whether it can be paid for and whether the user may see it. Of the rest the one of the highest value wins:
 * the eCPM that chance draws from what is believed, plus half of the least and half of the greatest bonus of its words.
 *
 * { ad, value, words, price, model, data, candidates }, or { } with only the candidates when there is none.
 */
export const target = defineScript({
  name: "ads.target",
  keys: ["impression", "caps"],
  args: [
    ...CONFIG,
    "impressionId",
    "user",
    "most",
    "seed",
    "explore",
    "isQuote",
    "isViewed",
    "isExplained",
    "placeCount",
    "wordCount",
  ],
  rest: "given",
  include: [NOW_MS, SHARED, CHANCE],
  repeatable: true,
  lua: `
    local function text(number) return string.format("%.17g", number) end
    local made = redis.call("HMGET", impression, "ad", "value", "words", "price", "model")
    if made[1] then
      local data = redis.call("HGET", base .. ":ad:" .. made[1], "data")
      return {{}, made[1], made[2], made[3], made[4], made[5], data or "", 1}
    end
    sweep(${CHORES})
    wake(${CHORES})
    most, placeCount, wordCount = tonumber(most), tonumber(placeCount), tonumber(wordCount)
    local places, page, unwanted = {"*"}, {}, {}
    for i, word in ipairs(given) do
      if i <= placeCount then
        if word ~= "*" then places[#places + 1] = word end
      elseif i <= placeCount + wordCount then page[#page + 1] = word
      else unwanted[word] = true end
    end
    local words = {}
    if #page > 0 then
      for i, ads in ipairs(redis.call("HMGET", base .. ":vocabulary", unpack(page))) do
        if ads and #words < ${MATCHED_WORDS} then words[#words + 1] = page[i] end
      end
    end

    local FIELDS = {"terms", "spent", "held", "day", "spentToday", "learned", "listed"}
    local OWN = #FIELDS
    for _, word in ipairs(words) do FIELDS[#FIELDS + 1] = "w:" .. word end
    local isCrowded = user ~= "" and redis.call("HLEN", caps) >= ${MAX_CAPS}
    local tired, drifted, explained, best = {}, {}, {}, nil

    local function read(id)
      local f = redis.call("HMGET", base .. ":ad:" .. id, unpack(FIELDS))
      if not f[1] then return nil end
      local ad = {
        id = id, spent = tonumber(f[2]), held = tonumber(f[3]), spentToday = tonumber(f[4]) >= today and tonumber(f[5]) or 0,
        words = {},
      }
      local isFull
      ad.model, ad.price, ad.total, ad.daily, ad.even, ad.capViews, ad.capMs, isFull = termsOf(f[1])
      local alpha, beta = belief(ad.model, f[6])
      local rate = alpha and alpha / beta
      ad.need = (not rate or isFull) and ad.price or math.min(ad.price, math.ceil(ad.price * rate))
      ad.alpha, ad.beta = alpha, beta
      ad.mean = (rate or 1) * ad.price * 1000
      local least, greatest
      for i, word in ipairs(words) do
        if f[OWN + i] then
          local bonus = wordBonus(ad.model, ad.price, rate, f[OWN + i])
          if not least or bonus < least then least = bonus end
          if not greatest or bonus > greatest then greatest = bonus end
          ad.words[#ad.words + 1] = word
        end
      end
      ad.bonus = least and (least + greatest) / 2 or 0
      if hasDrifted(f[7], promise(ad.model, ad.price, alpha, beta)) then drifted[#drifted + 1] = id end
      return ad
    end

    local function consider(id, times)
      local ad = read(id)
      if not ad then return end
      local why, again = lacks(ad, ad.need)
      if why then tired[#tired + 1] = {id, again}
      elseif unwanted[id] then why = "excluded"
      elseif ad.capViews > 0 and user == "" then why = "no-user"
      elseif isCapped(ad.capViews, ad.capMs, times, isCrowded) then why = "cap" end
      if not why then
        local drawn = ad.mean
        if ad.alpha and explore == "thompson" then
          begin(id)
          drawn = gamma(ad.alpha) / ad.beta * ad.price * 1000
        elseif ad.alpha and explore == "ucb" then drawn = promise(ad.model, ad.price, ad.alpha, ad.beta) end
        ad.value = drawn + ad.bonus
        ad.times = times
        if not best or ad.value > best.value or (ad.value == best.value and id < best.id) then best = ad end
      end
      if isExplained == "1" then
        explained[#explained + 1] = {id, text(ad.mean), text(ad.bonus), ad.value and text(ad.value) or "", why or ""}
      end
    end

    local known = {}
    local function gather(round)
      local heads, order = {}, {}
      local function add(key, from, count)
        local found = redis.call("ZREVRANGE", key, from, from + count - 1, "WITHSCORES")
        if #found > 0 then heads[#heads + 1] = {found, 1, tonumber(found[2])} end
      end
      for _, place in ipairs(places) do
        add(base .. ":place:" .. place, round * most, most)
        for _, word in ipairs(words) do
          add(base .. ":match:" .. place .. ":" .. word, round * ${PER_WORD}, ${PER_WORD})
        end
      end
      -- Each list is in order, so the best of all is at the head of one of them.
      while #order < most do
        local first
        for _, head in ipairs(heads) do
          if head[3] and (not first or head[3] > first[3]) then first = head end
        end
        if not first then break end
        local id = first[1][first[2]]
        first[2] = first[2] + 2
        first[3] = tonumber(first[1][first[2] + 1])
        if not known[id] then
          known[id] = true
          order[#order + 1] = id
        end
      end
      if round == 0 then
        local place = base .. ":place:" .. places[1 + tonumber(seed) % #places]
        local rest = redis.call("ZCARD", place) - most
        if rest > 0 then
          local from = most + math.floor(tonumber(seed) / #places) % rest
          for _, id in ipairs(redis.call("ZREVRANGE", place, from, from + ${STRAYS - 1})) do
            if not known[id] then order[#order + 1] = id end
            known[id] = true
          end
        end
      end
      return order
    end

    for round = 0, ${ROUNDS - 1} do
      local ids = gather(round)
      if #ids == 0 then break end
      local times = user ~= "" and redis.call("HMGET", caps, unpack(ids)) or {}
      for i, id in ipairs(ids) do consider(id, times[i]) end
      if best then break end
    end
    for i = 1, math.min(#tired, ${CHORES * 2}) do sleep(tired[i][1], tired[i][2]) end
    for i = 1, math.min(#drifted, 2) do
      if not redis.call("ZSCORE", base .. ":asleep", drifted[i]) then list(drifted[i]) end
    end
    if not best then return {explained} end
    local matched = table.concat(best.words, "\\n")
    local answer = {explained, best.id, text(best.value), matched, text(best.price), best.model,
      redis.call("HGET", base .. ":ad:" .. best.id, "data"), 0}
    if isQuote == "1" then return answer end

    local generation = redis.call("HGET", base .. ":ad:" .. best.id, "generation")
    redis.call("HINCRBY", base .. ":ad:" .. best.id, "held", best.need)
    if best.capViews > 0 then cap(caps, best.id, best.times, best.capViews, best.capMs) end
    redis.call("HSET", impression, "ad", best.id, "generation", generation, "model", best.model, "price", best.price,
      "held", best.need, "user", best.capViews > 0 and user or "", "chosenAt", now, "value", answer[3], "words", matched)
    redis.call("ZADD", base .. ":open", now + viewWindowMs, impressionId)
    note(best.id, "chosen", 1)
    if isViewed == "1" then count("views", impression, impressionId, "target") end
    return answer
  `,
  reply: (reply) => {
    const [candidates, ...chosen] = CANDIDATES(reply);
    if (chosen.length === 0) return { candidates, chosen: null };
    const [ad, value, words, price, model, data, again] = CHOSEN(chosen);
    return { candidates, chosen: { ad, value, words, price, model, data, isAgain: Number(again) === 1 } };
  },
});

const CANDIDATES = asTuple(asListOf(asTexts));
const CHOSEN = asTuple(asText, asText, asText, asText, asText, asText, asReply);

export interface Chosen {
  readonly ad: string;
  readonly value: string;
  readonly words: string;
  readonly price: string;
  readonly model: string;
  readonly data: string;
  /** It was chosen by an earlier call with the same id. */
  readonly isAgain: boolean;
}

/**
 * Counts a view, a click or an action, once. { "counted", charged } or { "refused", why }. With the token of the call that was counted,
 * the same answer again.
 */
export const record = defineScript({
  name: "ads.record",
  keys: ["impression"],
  args: [...CONFIG, "impressionId", "kind", "token"],
  include: [NOW_MS, SHARED],
  repeatable: true,
  lua: `
    local was = redis.call("HMGET", impression, "ad", "generation", "chosenAt", "viewsAt", "clicksAt", "isOver",
      kind .. "At", kind .. "Token", kind .. "Charged", "refused")
    if not was[1] then return {"refused", "unknown"} end
    if was[8] == token then return {"counted", was[9]} end
    local function refused(why)
      -- A call that is repeated is refused once.
      local isThere = redis.call("HGET", base .. ":ad:" .. was[1], "generation") == was[2]
      if was[10] ~= token and isThere then
        redis.call("HSET", impression, "refused", token)
        note(was[1], "refused", 1)
      end
      return {"refused", why}
    end
    if was[7] then return refused("duplicate") end
    if was[6] then return refused("late") end
    local from, lasts = tonumber(was[3]), viewWindowMs
    if kind == "clicks" then
      if not was[4] then return refused("not-viewed") end
      from, lasts = tonumber(was[4]), clickWindowMs
      -- Viewed in the future: the server's clock was put back, and how soon it is nobody knows.
      if from <= now and now - from < minClickDelayMs then return refused("soon") end
    elseif kind == "actions" then
      if not was[5] then return refused("not-clicked") end
      from, lasts = tonumber(was[5]), actionWindowMs
    end
    if now - from > lasts then return refused("late") end
    local charged = count(kind, impression, impressionId, token)
    if not charged then return {"refused", "removed"} end
    return {"counted", string.format("%.0f", charged)}
  `,
  reply: asTuple(asText, asText),
});

/** Ends impressions whose time is over, at most so many: how many it were. */
export const sweep = defineScript({
  name: "ads.sweep",
  keys: ["open"],
  args: [...CONFIG, "most"],
  include: [NOW_MS, SHARED],
  repeatable: true,
  lua: `return sweep(tonumber(most))`,
  reply: (reply: Reply) => Number(reply),
});
