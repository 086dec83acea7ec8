/**
 * A cart is one hash, and every change one script that also lets it live on.
 *
 * A cart that is bound to a session has the session's tag, and so is in its slot. Its scripts look whether the session is there,
 * enter the cart among what is bound to it, and give it the session's time to live. Whatever ends the session ends the cart then,
 * in the same step (../sessions/scripts.ts).
 */

import { asList } from "../../base/replies.ts";
import { defineScript } from "../../base/script.ts";

/** Lua: how a cart lives on after a change: for a time, */
const ALONE = `
local function isOver() return false end
local function live() redis.call("PEXPIRE", cart, idleMs) end
`;

/** or as long as its session. */
const IN_SESSION = `
local function isOver() return redis.call("EXISTS", session) == 0 end
local function live()
  if redis.call("EXISTS", cart) == 0 then return end
  local left = redis.call("PTTL", session)
  redis.call("SADD", bound, cart)
  redis.call("PEXPIRE", cart, left)
  redis.call("PEXPIRE", bound, left)
end
`;

const CHANGE = `
if isOver() then return -2 end
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
live()
return after
`;

const CHANGES = ["mode", "item", "quantity", "price", "maxItems", "maxQuantity", "idleMs"] as const;

/**
 * Sets or adds to the quantity of an item; nothing is left of one whose quantity is 0 or less. `price` empty: keep what is
 * there. Answers the quantity, or -1 when the cart is full.
 */
export const change = defineScript({
  name: "carts.change",
  keys: ["cart"],
  args: CHANGES,
  include: [ALONE],
  lua: CHANGE,
  reply: Number,
});

/** The same for a cart that ends with a session. -2 when that is over. */
export const changeInSession = defineScript({
  name: "carts.change-in-session",
  keys: ["cart", "session", "bound"],
  args: CHANGES,
  include: [IN_SESSION],
  lua: CHANGE,
  reply: Number,
});

/**
 * Moves a cart aside, so that what comes later is a new one, and answers what it holds, with the `id` of the move and where it
 * goes: `to`, and which `session` of it. Run again, it answers the same, whatever its own id and aim. The moment is part of the
 * id: a call that is repeated after its move was finished by another must not give the next move a name that is known as done.
 */
export const leave = defineScript({
  name: "carts.leave",
  keys: ["cart", "leaving"],
  args: ["id", "to", "session", "idleMs"],
  repeatable: true,
  lua: `
    if redis.call("EXISTS", leaving) == 0 then
      if redis.call("EXISTS", cart) == 0 then return {} end
      local time = redis.call("TIME")
      redis.call("RENAME", cart, leaving)
      redis.call("HSET", leaving, "id", id .. ":" .. time[1] .. "." .. time[2], "to", to, "session", session)
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

/** Lua: takes over items (flat fields of another cart). Quantities of the same item are added. */
const TAKE_OVER = `
local function takeOver(fields)
  if isOver() then return end
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
  if items > 0 then live() end
end
`;

/** Once for each move. */
const JOIN = `
if not redis.call("SET", merged, 1, "NX", "PX", markMs) then return 0 end
takeOver(fields)
return 1
`;

export const join = defineScript({
  name: "carts.join",
  keys: ["cart", "merged"],
  args: ["maxItems", "maxQuantity", "idleMs", "markMs"],
  rest: "fields",
  include: [ALONE, TAKE_OVER],
  repeatable: true,
  lua: JOIN,
});

/** Into the cart of a session; of one that is over, nothing is left. */
export const joinInSession = defineScript({
  name: "carts.join-in-session",
  keys: ["cart", "merged", "session", "bound"],
  args: ["maxItems", "maxQuantity", "idleMs", "markMs"],
  rest: "fields",
  include: [IN_SESSION, TAKE_OVER],
  repeatable: true,
  lua: JOIN,
});

/**
 * The whole move in one step, where one script may touch both carts. 0: a move of the first cart was broken off in several steps,
 * and has to be finished so. What was moved is gone from where it was, so repeating it moves nothing twice.
 */
const MOVE = `
if redis.call("EXISTS", leaving) == 1 then return 0 end
local fields = redis.call("HGETALL", from)
if #fields == 0 then return 1 end
takeOver(fields)
redis.call("DEL", from)
return 1
`;

export const move = defineScript({
  name: "carts.move",
  keys: ["from", "leaving", "cart"],
  args: ["maxItems", "maxQuantity", "idleMs"],
  include: [ALONE, TAKE_OVER],
  repeatable: true,
  lua: MOVE,
  reply: (reply) => reply === 1,
});

export const moveInSession = defineScript({
  name: "carts.move-in-session",
  keys: ["from", "leaving", "cart", "session", "bound"],
  args: ["maxItems", "maxQuantity", "idleMs"],
  include: [IN_SESSION, TAKE_OVER],
  repeatable: true,
  lua: MOVE,
  reply: (reply) => reply === 1,
});
