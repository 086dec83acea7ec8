/**
 * A look-up: the block whose first address is the last one not above the address, then by halves within the block. Blocks are
 * read whole, six or eighteen kilobytes, and nothing is unpacked.
 */

import { asList, asText, asTexts, asTuple } from "../../base/replies.ts";
import { defineScript, NOW_MS } from "../../base/script.ts";
import { PLACES_PER_BUCKET } from "./keys.ts";

/** From, to, and what is known of the place. */
const RANGE = asTuple(asText, asText, asText);
export type FoundRange = ReturnType<typeof RANGE>;

/** `addresses` holds two words an address: family, and the address in hexadecimal. Answers { first, last, place } or 0 for each. */
export const find = defineScript({
  name: "places.find",
  keys: ["current"],
  args: ["base"],
  rest: "addresses",
  repeatable: true,
  lua: `
    local version = redis.call("GET", current)
    local found = {}
    local function hex(text) return (text:gsub(".", function(c) return string.format("%02x", c:byte()) end)) end
    local function place(number)
      return redis.call("HGET", base .. version .. ":p:" .. math.floor(number / ${PLACES_PER_BUCKET}), number % ${PLACES_PER_BUCKET})
    end
    local function search(family, address)
      if not version then return 0 end
      local index = base .. version .. ":" .. family
      local first = redis.call("ZREVRANGEBYLEX", index, "[" .. address, "-", "LIMIT", 0, 1)[1]
      if not first then return 0 end
      local block = redis.call("GET", index .. ":" .. first)
      if not block then return 0 end
      local width = #address / 2
      local wanted = {}
      for i = 1, width do wanted[i] = tonumber(address:sub(2 * i - 1, 2 * i), 16) end
      -- Byte by byte: the order of strings depends on the server's locale.
      local function compare(at)
        local bytes = {block:byte(at + 1, at + width)}
        for i = 1, width do
          if bytes[i] ~= wanted[i] then return bytes[i] < wanted[i] and -1 or 1 end
        end
        return 0
      end
      local record = 2 * width + 4
      local low, high = 0, #block / record - 1
      while low < high do
        local middle = math.ceil((low + high) / 2)
        if compare(middle * record) <= 0 then low = middle else high = middle - 1 end
      end
      local at = low * record
      if compare(at) > 0 or compare(at + width) < 0 then return 0 end
      local a, b, c, d = block:byte(at + 2 * width + 1, at + record)
      return {hex(block:sub(at + 1, at + width)), hex(block:sub(at + width + 1, at + 2 * width)),
              place(((a * 256 + b) * 256 + c) * 256 + d)}
    end
    for i = 1, #addresses, 2 do found[#found + 1] = search(addresses[i], addresses[i + 1]) end
    return found
  `,
  reply: (reply) => asList(reply).map((found) => (found === 0 ? null : RANGE(found))),
});

/** Registers a version that is being loaded, or says that its loader is alive. Answers the versions whose loader seems dead. */
export const begin = defineScript({
  name: "places.begin",
  keys: ["current", "versions"],
  args: ["version", "deadMs"],
  include: [NOW_MS],
  repeatable: true,
  lua: `
    redis.call("ZADD", versions, now, version)
    local dead = {}
    for _, each in ipairs(redis.call("ZRANGEBYSCORE", versions, "-inf", now - deadMs)) do
      if each ~= redis.call("GET", current) then dead[#dead + 1] = each end
    end
    return dead
  `,
  reply: asTexts,
});

/** From now on look-ups use this version. Answers the one that was used before, or an empty string. */
export const activate = defineScript({
  name: "places.activate",
  keys: ["current", "versions"],
  args: ["version"],
  include: [NOW_MS],
  repeatable: true,
  lua: `
    local before = redis.call("GET", current)
    if before == version then return "" end
    redis.call("SET", current, version)
    redis.call("ZADD", versions, now, version)
    return before or ""
  `,
  reply: String,
});
