/** The market in Lua: each request is one script, so nothing can come between its reading and its writing. */

import { asListOf, asNumber, asText, asTuple, wordOf } from "../../base/replies.ts";
import { defineScript } from "../../base/script.ts";
import { RECEIPT_MS } from "./rules.ts";

export const list = defineScript({
  name: "market.list",
  keys: ["listings", "sellers", "items"],
  args: ["seller", "item", "price", "maxListings"],
  lua: `
    if redis.call("SISMEMBER", items, item) == 0 then return "not-found" end
    if redis.call("ZCARD", listings) >= tonumber(maxListings) then return "full" end
    redis.call("SREM", items, item)
    redis.call("ZADD", listings, price, item)
    redis.call("HSET", sellers, item, seller)
    return "offered"
  `,
  reply: wordOf("offered", "not-found", "full"),
});

/** 1 taken back, 0 not listed, -1 somebody else's. */
export const unlist = defineScript({
  name: "market.unlist",
  keys: ["listings", "sellers", "items"],
  args: ["seller", "item"],
  lua: `
    local owner = redis.call("HGET", sellers, item)
    if not owner then return 0 end
    if owner ~= seller then return -1 end
    redis.call("ZREM", listings, item)
    redis.call("HDEL", sellers, item)
    redis.call("SADD", items, item)
    return 1
  `,
});

/**
 * { "bought", price, seller } · { "not-found" } · { "price-changed", price } · { "insufficient-funds", price, funds } · { "own-item" } ·
 * { "conflict" }. The seller's money is at `fundsOf .. seller`, with the market's tag.
 */
export const buy = defineScript({
  name: "market.buy",
  keys: ["listings", "sellers", "owners", "funds", "items", "receipt"],
  args: ["buyer", "item", "price", "fundsOf", "request"],
  repeatable: true,
  lua: `
    local made = redis.call("GET", receipt)
    if made then
      local paid = cjson.decode(made)
      if paid[1] ~= request then return {"conflict"} end
      return {"bought", paid[2], paid[3]}
    end
    local seller = redis.call("HGET", sellers, item)
    if not seller then return {"not-found"} end
    if seller == buyer then return {"own-item"} end
    local asked = tonumber(redis.call("ZSCORE", listings, item))
    if asked ~= tonumber(price) then return {"price-changed", asked} end
    local has = tonumber(redis.call("GET", funds) or 0)
    if has < asked then return {"insufficient-funds", asked, has} end
    if redis.call("DECRBY", funds, price) == 0 then redis.call("DEL", funds) end
    redis.call("INCRBY", fundsOf .. seller, price)
    redis.call("ZREM", listings, item)
    redis.call("HDEL", sellers, item)
    redis.call("SADD", items, item)
    redis.call("HSET", owners, item, buyer)
    redis.call("SET", receipt, cjson.encode({request, price, seller}), "PX", ${RECEIPT_MS})
    return {"bought", asked, seller}
  `,
});

export const mint = defineScript({
  name: "market.mint",
  keys: ["owners", "items"],
  args: ["user", "item", "maxItems"],
  lua: `
    if redis.call("HEXISTS", owners, item) == 1 then return "exists" end
    if redis.call("HLEN", owners) >= tonumber(maxItems) then return "full" end
    redis.call("HSET", owners, item, user)
    redis.call("SADD", items, item)
    return "minted"
  `,
  reply: wordOf("minted", "exists", "full"),
});

/** Takes an item out of its owner's inventory and of the market; 0 if it is not there. */
export const drop = defineScript({
  name: "market.drop",
  keys: ["owners", "items"],
  args: ["item"],
  lua: `
    if redis.call("SREM", items, item) == 0 then return 0 end
    return redis.call("HDEL", owners, item)
  `,
  reply: (reply) => reply === 1,
});

/** Adds to a user's money, or takes from it if there is enough; once for each id. { status, what there was then }. */
export const move = defineScript({
  name: "market.move",
  keys: ["funds", "receipt"],
  args: ["amount", "request"],
  repeatable: true,
  lua: `
    local has = tonumber(redis.call("GET", funds) or 0)
    local made = redis.call("GET", receipt)
    if made then
      local moved = cjson.decode(made)
      if moved[1] ~= request then return {"conflict", has} end
      return {"done", tonumber(moved[2])}
    end
    if has + amount < 0 then return {"short", has} end
    local left = redis.call("INCRBY", funds, amount)
    if left == 0 then redis.call("DEL", funds) end
    redis.call("SET", receipt, cjson.encode({request, string.format("%.0f", left)}), "PX", ${RECEIPT_MS})
    return {"done", left}
  `,
  reply: asTuple(wordOf("done", "short", "conflict"), asNumber),
});

/** A page of listings by price, behind a cursor: { item, price, seller } each. */
export const browse = defineScript({
  name: "market.browse",
  keys: ["listings", "sellers"],
  args: ["limit", "afterPrice", "afterItem"],
  repeatable: true,
  lua: `
    local start = 0
    if afterItem ~= "" then
      local price = redis.call("ZSCORE", listings, afterItem)
      if price and tonumber(price) == tonumber(afterPrice) then start = redis.call("ZRANK", listings, afterItem) + 1
      else start = redis.call("ZCOUNT", listings, "-inf", afterPrice) end
    end
    local page = {}
    local found = redis.call("ZRANGE", listings, start, start + limit - 1, "WITHSCORES")
    for i = 1, #found, 2 do page[#page + 1] = {found[i], found[i + 1], redis.call("HGET", sellers, found[i])} end
    return page
  `,
  reply: asListOf(asTuple(asText, asText, asText)),
});

/**
 * The lock's two steps. A lease is no promise by itself: its holder may have been paused past the end. So the first step notes
 * the lease's number, and refuses one that is older than what is noted; the second writes only if its own number is still noted.
 */
export const claim = defineScript({
  name: "market.claim",
  keys: [],
  restKeys: "fences",
  args: ["keepMs"],
  rest: "numbers",
  lua: `
    for i, fence in ipairs(fences) do
      if tonumber(redis.call("GET", fence) or 0) > tonumber(numbers[i]) then return 0 end
    end
    for i, fence in ipairs(fences) do redis.call("SET", fence, numbers[i], "PX", keepMs) end
    return 1
  `,
  reply: (reply) => reply === 1,
});

/**
 * `writes`: commands as lists of words, in JSON. No lock is held on the listings and on an id: others may have filled the one or
 * used the other since they were read. So `count` (ZCARD, EXISTS or nothing) looks at the guarded key again, and `below` says
 * what it must find less than.
 */
export const commit = defineScript({
  name: "market.commit",
  keys: ["guarded"],
  restKeys: "fences",
  args: ["writes", "count", "below"],
  rest: "numbers",
  lua: `
    for i, fence in ipairs(fences) do
      if redis.call("GET", fence) ~= numbers[i] then return 0 end
    end
    if count ~= "" and redis.call(count, guarded) >= tonumber(below) then return 0 end
    for _, words in ipairs(cjson.decode(writes)) do redis.call(unpack(words)) end
    return 1
  `,
  reply: (reply) => reply === 1,
});
