/** A cart is one hash, and every change one script that also lets it live on. */

import { asList } from "../../base/replies.ts";
import { defineScript } from "../../base/script.ts";

/**
 * Sets or adds to the quantity of an item; nothing is left of one whose quantity is 0 or less. `price` empty: keep what is
 * there. Answers the quantity, or -1 when the cart is full.
 */
export const change = defineScript({
  name: "carts.change",
  keys: ["cart"],
  args: ["mode", "item", "quantity", "price", "maxItems", "maxQuantity", "idleMs"],
  lua: `
    local field = "q:" .. item
    local before = tonumber(redis.call("HGET", cart, field) or 0)
    local after = tonumber(quantity)
    if mode == "add" then after = before + after end
    after = math.min(after, tonumber(maxQuantity))
    if after <= 0 then
      redis.call("HDEL", cart, field, "p:" .. item)
      after = 0
    else
      if before == 0 then
        local items = 0
        for _, name in ipairs(redis.call("HKEYS", cart)) do if name:sub(1, 2) == "q:" then items = items + 1 end end
        if items >= tonumber(maxItems) then return -1 end
      end
      redis.call("HSET", cart, field, after)
      if price ~= "" then redis.call("HSET", cart, "p:" .. item, price) end
    end
    redis.call("PEXPIRE", cart, idleMs)
    return after
  `,
  reply: Number,
});

/**
 * Moves a cart aside, so that what comes later is a new one, and answers what it holds, with the `id` of the move and where it
 * goes `to`. Run again, it answers the same, whatever its own id and aim. The moment is part of the id: a call that is repeated
 * after its move was finished by another must not give the next move a name that is known as done.
 */
export const leave = defineScript({
  name: "carts.leave",
  keys: ["cart", "leaving"],
  args: ["id", "to", "idleMs"],
  repeatable: true,
  lua: `
    if redis.call("EXISTS", leaving) == 0 then
      if redis.call("EXISTS", cart) == 0 then return {} end
      local time = redis.call("TIME")
      redis.call("RENAME", cart, leaving)
      redis.call("HSET", leaving, "id", id .. ":" .. time[1] .. "." .. time[2], "to", to)
      redis.call("PEXPIRE", leaving, idleMs)
    end
    return redis.call("HGETALL", leaving)
  `,
  reply: asList,
});

/** The end of a move: forgets what was moved aside, unless that is another move by now. */
export const left = defineScript({
  name: "carts.left",
  keys: ["leaving"],
  args: ["id"],
  repeatable: true,
  lua: `
    if redis.call("HGET", leaving, "id") == id then return redis.call("DEL", leaving) end
    return 0
  `,
});

/** Takes over items (flat fields of another cart), once. Quantities of the same item are added. */
export const join = defineScript({
  name: "carts.join",
  keys: ["cart", "merged"],
  args: ["maxItems", "maxQuantity", "idleMs", "markMs"],
  rest: "fields",
  repeatable: true,
  lua: `
    if not redis.call("SET", merged, 1, "NX", "PX", markMs) then return 0 end
    local items = 0
    for _, name in ipairs(redis.call("HKEYS", cart)) do if name:sub(1, 2) == "q:" then items = items + 1 end end
    local prices = {}
    for i = 1, #fields, 2 do if fields[i]:sub(1, 2) == "p:" then prices[fields[i]:sub(3)] = fields[i + 1] end end
    for i = 1, #fields, 2 do
      if fields[i]:sub(1, 2) == "q:" then
        local item = fields[i]:sub(3)
        local before = tonumber(redis.call("HGET", cart, fields[i]) or 0)
        if before > 0 or items < tonumber(maxItems) then
          if before == 0 then items = items + 1 end
          redis.call("HSET", cart, fields[i], math.min(before + fields[i + 1], tonumber(maxQuantity)))
          if prices[item] then redis.call("HSETNX", cart, "p:" .. item, prices[item]) end
        end
      end
    end
    if items > 0 then redis.call("PEXPIRE", cart, idleMs) end
    return 1
  `,
});
