/**
 * The Lua that the scripts of the ads share. Keys of ads, users and lists other than the declared ones are made from `base`, which
 * carries the shard's tag: same slot, by construction.
 *
 * An ad's hash holds what the advertiser said, the money, and what was learned; what every candidate is asked for comes first in it, and
 * its terms are one field, since small hashes are searched from their beginning. Money is in integer micro-units: `spent` has been
 * charged, `held` is reserved by open impressions. At every moment spent + held fits the budget for a new reservation to be made,
 * and spent fits it whatever happens: what an event costs is checked again when it is charged.
 *
 * What is learned is "views clicks actions at", each halved every half-life since `at`: once for the ad, and once for each of its
 * words, over the views on pages with that word. With the average of the model as what is believed before anything is known, worth
 * `priorViews` views, the rate of an ad is distributed like Gamma(alpha, beta).
 *
 * The lists by place, and by place and word, order the ads by how good they may be (mean plus some deviations): a new ad stands high
 * until it is known. They are rewritten when that has moved by a tenth. An ad that cannot be paid for is in none of them, so that a
 * bounded number of candidates is enough: it sleeps until its day, its pace or a reservation that ends lets it back in.
 */

/** Arguments of every script that changes something, as locals of the same names; numbers after `SHARED`. */
export const CONFIG = [
  "base",
  "halfLifeMs",
  "priorViews",
  "matchLift",
  "dayStartMs",
  "burstMs",
  "keepDays",
  "viewWindowMs",
  "clickWindowMs",
  "actionWindowMs",
  "minClickDelayMs",
  "maxOpen",
] as const;

export const DAY_MS = 86_400_000;
/** The rate of a new model before it has figures: one click or action in a thousand views, which the first figures soon replace. */
const FIRST_RATE = 0.001;
const FIRST_VIEWS = 100;
/** Deviations above the mean by which the lists are ordered. */
const OPTIMISM = 1.64;
const DRIFT = 0.1;
/** How long it is known of an impression that its time is over. */
export const GRACE_MS = 3_600_000;
/** An ad that waits for its pace is not looked at more often. */
const SHORTEST_SLEEP_MS = 1_000;
/** Ads that one user is known to have seen; those with a cap beyond it are not shown. */
export const MAX_CAPS = 1_000;

const LEARNING = `
halfLifeMs, priorViews, matchLift = tonumber(halfLifeMs), tonumber(priorViews), tonumber(matchLift)
-- What is left after so many half-lives, to nine digits: by halving and a series, which is much cheaper than a power.
local function left(halfLives)
  if halfLives > 1000 then return 0 end
  local whole = math.floor(halfLives)
  local x = (whole - halfLives) * 0.6931471805599453
  local series = 1 + x * (1 + x / 2 * (1 + x / 3 * (1 + x / 4 * (1 + x / 5 * (1 + x / 6 * (1 + x / 7 * (1 + x / 8 * (1 + x / 9))))))))
  return math.ldexp(series, -whole)
end
local function faded(packed)
  if not packed then return 0, 0, 0 end
  local views, clicks, actions, at = packed:match("^(%S+) (%S+) (%S+) (%S+)$")
  local keep = left(math.max(0, now - tonumber(at)) / halfLifeMs)
  return tonumber(views) * keep, tonumber(clicks) * keep, tonumber(actions) * keep
end
local function learned(packed, kind)
  local views, clicks, actions = faded(packed)
  if kind == "views" then views = views + 1
  elseif kind == "clicks" then clicks = clicks + 1
  elseif kind == "actions" then actions = actions + 1 end
  return string.format("%.9g %.9g %.9g %.0f", views, clicks, actions, now)
end
local rates = {}
local function averageRate(model)
  if not rates[model] then
    local views, clicks, actions = faded(redis.call("HGET", base .. ":averages", model))
    local events = model == "cpc" and clicks or actions
    rates[model] = (${FIRST_RATE * FIRST_VIEWS} + events) / (${FIRST_VIEWS} + views)
  end
  return rates[model]
end
local function termsOf(text)
  local model, price, total, daily, even, capViews, capMs, isFull =
    text:match("^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+)$")
  return model, tonumber(price), tonumber(total), tonumber(daily), even == "1", tonumber(capViews), tonumber(capMs), isFull == "1"
end
-- Shape and rate of what is believed about an ad; nil if it is paid for each view, where nothing is to be learned.
local function belief(model, packed)
  if model == "cpm" then return nil end
  local views, clicks, actions = faded(packed)
  return priorViews * averageRate(model) + (model == "cpc" and clicks or actions), priorViews + views
end
-- What a word on the page adds to the worth of a thousand views, given the ad's own rate.
local function wordBonus(model, price, rate, packed)
  if model == "cpm" then return price * 1000 * matchLift end
  local views, clicks, actions = faded(packed)
  local events = model == "cpc" and clicks or actions
  return ((priorViews * rate * (1 + matchLift) + events) / (priorViews + views) - rate) * price * 1000
end
-- How good an ad may be, in money for a thousand views.
local function promise(model, price, alpha, beta)
  if not alpha then return price * 1000 end
  return (alpha + ${OPTIMISM} * math.sqrt(alpha)) / beta * price * 1000
end
`;

const LISTS = `
local function each(list, visit)
  for word in list:gmatch("[^\\n]+") do visit(word) end
end
local function unlist(id, places, words)
  each(places, function(place)
    redis.call("ZREM", base .. ":place:" .. place, id)
    each(words, function(word) redis.call("ZREM", base .. ":match:" .. place .. ":" .. word, id) end)
  end)
end
-- Puts an ad into its lists, or where it stands now. False if there is no such ad or it is paused.
local function list(id)
  local key = base .. ":ad:" .. id
  local ad = redis.call("HMGET", key, "state", "terms", "learned", "places", "words")
  if ad[1] ~= "on" then return false end
  local places, words = ad[4], ad[5]
  local model, price = termsOf(ad[2])
  local alpha, beta = belief(model, ad[3])
  local score = promise(model, price, alpha, beta)
  local bonus = {}
  each(words, function(word)
    bonus[word] = wordBonus(model, price, alpha and alpha / beta, redis.call("HGET", key, "w:" .. word))
  end)
  each(places, function(place)
    redis.call("ZADD", base .. ":place:" .. place, score, id)
    each(words, function(word) redis.call("ZADD", base .. ":match:" .. place .. ":" .. word, score + bonus[word], id) end)
  end)
  redis.call("HSET", key, "listed", score)
  return true
end
local function hasDrifted(listed, score)
  local before = tonumber(listed)
  return before and math.abs(score - before) > ${DRIFT} * before
end
local function sleep(id, untilMs)
  local ad = redis.call("HMGET", base .. ":ad:" .. id, "places", "words")
  unlist(id, ad[1], ad[2])
  redis.call("HSET", base .. ":ad:" .. id, "listed", "")
  redis.call("ZADD", base .. ":asleep", untilMs, id)
end
local function wake(most)
  for _, id in ipairs(redis.call("ZRANGEBYSCORE", base .. ":asleep", "-inf", now, "LIMIT", 0, most)) do
    redis.call("ZREM", base .. ":asleep", id)
    list(id)
  end
end
`;

const MONEY = `
dayStartMs, burstMs = tonumber(dayStartMs), tonumber(burstMs)
local today = math.floor((now - dayStartMs) / ${DAY_MS})
-- A day that is over when the clock is put back goes on: what was spent then counts until that day is over again.
local todayBegan = today * ${DAY_MS} + dayStartMs
-- Why an ad cannot be paid for, and when to ask again; nil if it can.
local function lacks(ad, need)
  local taken = ad.held + need
  if ad.total and (ad.spent + taken > ad.total or ad.spent + ad.price > ad.total) then return "budget", "+inf" end
  if not ad.daily then return nil end
  local tomorrow = todayBegan + ${DAY_MS}
  if ad.spentToday + taken > ad.daily or ad.spentToday + ad.price > ad.daily then return "daily-budget", tomorrow end
  if not ad.even then return nil end
  local share = (ad.spentToday + taken) / ad.daily
  if share <= (now - todayBegan + burstMs) / ${DAY_MS} then return nil end
  local at = todayBegan + math.ceil(share * ${DAY_MS}) - burstMs
  return "pace", math.min(tomorrow, math.max(at, now + ${SHORTEST_SLEEP_MS}))
end
local function release(id, generation, held)
  local key = base .. ":ad:" .. id
  if held <= 0 or redis.call("HGET", key, "generation") ~= generation then return end
  redis.call("HINCRBY", key, "held", -held)
  redis.call("ZADD", base .. ":asleep", "XX", now, id)
end
`;

/** A user's views of an ad are one string: until when it matters, then when each was, all of 13 digits. */
const CAPS = `
local function stamp(ms) return string.format("%013.0f", ms) end
local function isCapped(views, everyMs, times, isCrowded)
  if views == 0 then return false end
  if not times then return isCrowded end
  if (#times - 13) / 13 < views then return false end
  local at = #times - 13 * views + 1
  return tonumber(times:sub(at, at + 12)) > now - everyMs
end
local function cap(key, id, times, views, everyMs)
  local kept = ((times or ""):sub(14) .. stamp(now)):sub(-13 * views)
  redis.call("HSET", key, id, stamp(now + everyMs) .. kept)
  if redis.call("PTTL", key) < everyMs then redis.call("PEXPIRE", key, everyMs) end
  local size = redis.call("HLEN", key)
  if size >= 100 and size % 50 == 0 then
    local all = redis.call("HGETALL", key)
    for i = 1, #all, 2 do
      if tonumber(all[i + 1]:sub(1, 13)) < now then redis.call("HDEL", key, all[i]) end
    end
  end
end
local function uncap(user, id, at)
  local key = base .. ":user:" .. user
  local times = redis.call("HGET", key, id)
  if not times then return end
  for i = 14, #times, 13 do
    if times:sub(i, i + 12) == stamp(at) then
      local kept = times:sub(1, i - 1) .. times:sub(i + 13)
      if #kept > 13 then redis.call("HSET", key, id, kept) else redis.call("HDEL", key, id) end
      return
    end
  end
end
`;

const IMPRESSIONS = `
viewWindowMs, clickWindowMs, actionWindowMs, minClickDelayMs = tonumber(viewWindowMs), tonumber(clickWindowMs), tonumber(actionWindowMs), tonumber(minClickDelayMs)
local function close(id)
  local key = base .. ":impression:" .. id
  local was = redis.call("HMGET", key, "ad", "generation", "held", "user", "chosenAt", "viewsAt")
  redis.call("ZREM", base .. ":open", id)
  if not was[1] then return end
  release(was[1], was[2], tonumber(was[3]))
  if not was[6] and was[4] ~= "" then uncap(was[4], was[1], tonumber(was[5])) end
  redis.call("HSET", key, "held", 0, "isOver", 1)
  redis.call("PEXPIRE", key, ${GRACE_MS})
end
-- Ends impressions whose time is over, and, where there are too many, the ones that end soonest.
local function sweep(most)
  local over = redis.call("ZRANGEBYSCORE", base .. ":open", "-inf", now, "LIMIT", 0, most)
  if #over == 0 then
    local tooMany = redis.call("ZCARD", base .. ":open") - maxOpen
    if tooMany <= 0 then return 0 end
    over = redis.call("ZRANGE", base .. ":open", 0, math.min(tooMany, most) - 1)
  end
  for _, id in ipairs(over) do close(id) end
  return #over
end
local function note(id, what, amount)
  redis.call("HINCRBY", base .. ":report:" .. id, today .. ":" .. what, amount)
end
-- Days that nobody asks for any more go with the first event of a new day.
local function turnDay(id, reported)
  if tonumber(reported) == today then return end
  redis.call("HSET", base .. ":ad:" .. id, "reported", today)
  local report = base .. ":report:" .. id
  for _, field in ipairs(redis.call("HKEYS", report)) do
    if tonumber(field:match("^-?%d+")) <= today - keepDays then redis.call("HDEL", report, field) end
  end
end
local PAID = {cpm = "views", cpc = "clicks", cpa = "actions"}
-- Charges for an event that is paid for; what is reserved for it ends either way.
local function charge(id, ad, total, daily, price, held)
  local key = base .. ":ad:" .. id
  -- Nobody has to be woken: what is free of the budget does not get more by it.
  redis.call("HINCRBY", key, "held", -held)
  local day = math.max(tonumber(ad[3]), today)
  local spentToday = tonumber(ad[3]) >= today and tonumber(ad[4]) or 0
  if (total and ad[2] + price > total) or (daily and spentToday + price > daily) then
    note(id, "unpaid", 1)
    return 0
  end
  redis.call("HINCRBY", key, "spent", price)
  redis.call("HSET", key, "day", day, "spentToday", spentToday + price)
  note(id, "spent", price)
  return price
end
-- Counts an event of an impression. The checks are over. Answers what was charged; nil if the ad is not there any more.
local function count(kind, impression, impressionId, token)
  local was = redis.call("HMGET", impression, "ad", "generation", "model", "price", "held", "words")
  local id, model = was[1], was[3]
  local key = base .. ":ad:" .. id
  local ad = redis.call("HMGET", key, "terms", "spent", "day", "spentToday", "generation", "learned", "listed", "reported")
  if ad[5] ~= was[2] then return nil end
  local nowModel, nowPrice, total, daily = termsOf(ad[1])
  local charged, held = 0, tonumber(was[5])
  turnDay(id, ad[8])
  if PAID[model] == kind then
    charged = charge(id, ad, total, daily, tonumber(was[4]), held)
    held = 0
  end
  note(id, kind, 1)
  local known = learned(ad[6], kind)
  local fields, values = {}, {"learned", known}
  each(was[6], function(word) fields[#fields + 1] = "w:" .. word end)
  if #fields > 0 then
    for i, before in ipairs(redis.call("HMGET", key, unpack(fields))) do
      if before then
        values[#values + 1] = fields[i]
        values[#values + 1] = learned(before, kind)
      end
    end
  end
  redis.call("HSET", key, unpack(values))
  redis.call("HSET", base .. ":averages", model, learned(redis.call("HGET", base .. ":averages", model), kind))
  rates = {}
  local alpha, beta = belief(nowModel, known)
  if hasDrifted(ad[7], promise(nowModel, nowPrice, alpha, beta)) then list(id) end
  redis.call("HSET", impression, kind .. "At", now, kind .. "Token", token, kind .. "Charged", charged, "held", held)
  local lasts = kind == "views" and clickWindowMs or kind == "clicks" and actionWindowMs or ${GRACE_MS}
  redis.call("ZADD", base .. ":open", now + lasts, impressionId)
  return charged
end
`;

/** For `include` behind NOW_MS, with the arguments of `CONFIG`. */
export const SHARED = [LEARNING, LISTS, MONEY, CAPS, IMPRESSIONS].join("");

/**
 * Chance that is the caller's: what comes out for a seed and an ad is the same whatever else is asked for. Gamma after Marsaglia and
 * Tsang, from a multiplicative generator.
 */
export const CHANCE = `
local state = 1
local function uniform()
  state = state * 48271 % 2147483647
  return state / 2147483647
end
local function begin(id)
  state = (tonumber(seed) * 31 + 17) % 2147483646 + 1
  for i = 1, #id do state = (state * 31 + id:byte(i)) % 2147483646 + 1 end
  uniform()
  uniform()
end
-- After Marsaglia, by pairs of which the second is dropped: what is drawn for an ad must not depend on who was drawn before.
local function normal()
  while true do
    local a, b = 2 * uniform() - 1, 2 * uniform() - 1
    local square = a * a + b * b
    if square < 1 and square > 0 then return a * math.sqrt(-2 * math.log(square) / square) end
  end
end
local function gamma(shape)
  if shape < 1 then
    local boost = uniform() ^ (1 / shape)
    return gamma(shape + 1) * boost
  end
  local d = shape - 1 / 3
  local c = 1 / math.sqrt(9 * d)
  while true do
    local x = normal()
    local v = 1 + c * x
    if v > 0 then
      v = v * v * v
      local u = uniform()
      if u < 1 - 0.0331 * x * x * x * x or math.log(u) < 0.5 * x * x + d - d * v + d * math.log(v) then return d * v end
    end
  end
end
`;
