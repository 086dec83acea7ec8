/**
 * What the scripts of sharded structures have in common. Each is given the generation that its caller believes in, and the shards
 * that follow from it. If the gate behind the tag has another one, it changes nothing and answers the gate, and the caller comes back
 * with the right shards: so an old client cannot write where nobody looks any more.
 *
 * While elements are moved, an element is in one shard, never in two: in that of the new layout, or still in that of the old one.
 * Writers pull it over first (`pull`), readers look at both. Scripts that do either are told both shards.
 *
 * answers.ts has what they answer.
 */

import { asList } from "../../../base/replies.ts";
import { defineScript } from "../../../base/script.ts";
import type { Reply } from "../../../connection/port.ts";
import { DONE, FULL, OUTDATED_LUA } from "./answers.ts";

/** For `include`: returns from the script unless the gate has the caller's generation. */
export const GUARD = `
${OUTDATED_LUA}
local state = redis.call("HMGET", gate, "gen", "n")
if state[1] ~= gen then return outdated() end
local count, added, left = tonumber(state[2]), 0, 0
local function done(answers)
  if added ~= 0 then redis.call("HINCRBY", gate, "n", added) end
  if left ~= 0 then redis.call("HINCRBY", gate, "left", left) end
  return {${DONE}, answers}
end
`;

/** How an element of each kind is moved from shard to shard; how many a shard has; and which of the two commands of each it takes. */
export const KIND_LUA = {
  hash: `
local function len(shard, range) return redis.call("HLEN", shard) end
local function opened(shard, range)
  if range ~= "" and redis.call("HLEN", shard) == 1 then redis.call("ZADD", dir, range, range) end
end
local function pull(shard, from, range, element)
  local value = redis.call("HGET", from, element)
  if not value then return end
  redis.call("HDEL", from, element)
  redis.call("HSET", shard, element, value)
  left = left - 1
  opened(shard, range)
end
local function closed(shard, range)
  if range ~= "" and redis.call("EXISTS", shard) == 0 then redis.call("ZREM", dir, range) end
end
`,
  set: `
local function len(shard, range) return redis.call(range ~= "" and "SCARD" or "HLEN", shard) end
local function opened(shard, range)
  if range ~= "" and redis.call("SCARD", shard) == 1 then redis.call("ZADD", dir, range, range) end
end
local function put(shard, range, element)
  if range == "" then return redis.call("HSETNX", shard, element, "") end
  return redis.call("SADD", shard, element)
end
local function drop(shard, range, element) return redis.call(range ~= "" and "SREM" or "HDEL", shard, element) end
local function has(shard, range, element) return redis.call(range ~= "" and "SISMEMBER" or "HEXISTS", shard, element) end
local function pull(shard, from, range, element)
  if drop(from, range, element) == 0 then return end
  put(shard, range, element)
  left = left - 1
  opened(shard, range)
end
local function closed(shard, range)
  if range ~= "" and redis.call("EXISTS", shard) == 0 then redis.call("ZREM", dir, range) end
end
`,
  zset: `
local function len(shard) return redis.call("ZCARD", shard) end
local function pull(shard, from, range, element)
  local score = redis.call("ZSCORE", from, element)
  if not score then return end
  redis.call("ZREM", from, element)
  redis.call("ZADD", shard, score, element)
  left = left - 1
end
`,
  // Valkey 8.0.1 does not clear the last two bytes of some strings that SETBIT and SETRANGE make (an allocation that turns out
  // larger than asked for gets a longer header). What they lengthen is clear, so a bitmap begins with a byte of its own.
  bitmap: `
local function len(shard) return redis.call("BITCOUNT", shard) end
local function begin(shard)
  if redis.call("EXISTS", shard) == 1 then return false end
  redis.call("SET", shard, "\\0")
  return true
end
local function opened(shard, range)
  redis.call("ZADD", dir, range, range)
end
`,
} as const;

export type ShardedKind = keyof typeof KIND_LUA;

export interface ItemShape {
  readonly name: string;
  readonly kind: ShardedKind;
  /** Words of an item behind its element. */
  readonly words?: readonly string[];
  readonly args?: readonly string[];
  readonly keys?: readonly string[];
  /** Before the items; may return. */
  readonly before?: string;
  /** Sets `answer`, out of `shard`, `from` (false unless elements are being moved), `range`, `element` and the words. */
  readonly each: string;
  /** Pulls each element into the new layout first; for whatever writes. */
  readonly pulls?: boolean;
  readonly repeatable?: boolean;
  readonly buffers?: boolean;
}

/** Three words before the element: places of its shards among the keys (0: none), and the number of its range. */
export const ITEM_HEAD = 3;

/** A script that does the same to one or many elements behind one tag. */
export function itemScript(shape: ItemShape) {
  const { words = [], args = [], keys = [], before = "", pulls = false } = shape;
  const width = ITEM_HEAD + 1 + words.length;
  return defineScript<string, string, "items", "shards">({
    name: shape.name,
    keys: ["gate", "dir", ...keys],
    args: ["gen", ...args],
    restKeys: "shards",
    rest: "items",
    include: [GUARD, KIND_LUA[shape.kind]],
    repeatable: shape.repeatable ?? false,
    buffers: shape.buffers ?? false,
    lua: `
      local width, answers = ${width}, {}
      ${before}
      for i = 1, #items, width do
        local shard, range, element = shards[tonumber(items[i])], items[i + 2], items[i + 3]
        local from = items[i + 1] ~= "0" and shards[tonumber(items[i + 1])]
        ${words.map((name, at) => `local ${name} = items[i + ${ITEM_HEAD + 1 + at}]`).join(" ")}
        ${pulls ? "if from then pull(shard, from, range, element) end" : ""}
        local answer
        ${shape.each}
        answers[#answers + 1] = answer
      end
      return done(answers)
    `,
  });
}

export type ItemScript = ReturnType<typeof itemScript>;

/** Refuses to grow past `most`; counts what is new only near it. `present` says whether a shard has the element. */
export const boundedBy = (present: (shard: string) => string): string => `
  if count + #items / width > tonumber(most) then
    local fresh = 0
    for i = 1, #items, width do
      local shard, range, element = shards[tonumber(items[i])], items[i + 2], items[i + 3]
      local from = items[i + 1] ~= "0" and shards[tonumber(items[i + 1])]
      local there = ${present("shard")} or (from and ${present("from")})
      if not there then fresh = fresh + 1 end
    end
    if count + fresh > tonumber(most) then return {${FULL}} end
  end
`;

// -------------------------------------------------------------------------------------------------- root and gates

/** The structure's description: what is stored, or now this. */
export const define = defineScript({
  name: "sharded.define",
  keys: ["root"],
  rest: "fields",
  repeatable: true,
  lua: `
    if redis.call("EXISTS", root) == 0 and #fields > 0 then redis.call("HSET", root, unpack(fields)) end
    return redis.call("HGETALL", root)
  `,
  reply: fieldsOf,
});

/** A gate that nobody has opened yet gets this layout. */
export const openGate = defineScript({
  name: "sharded.open-gate",
  keys: ["gate"],
  args: ["layout", "shards", "size"],
  repeatable: true,
  lua: `
    if redis.call("EXISTS", gate) == 0 then
      redis.call("HSET", gate, "gen", 2 * layout, "l", layout, "s", shards, "z", size, "n", 0)
    end
    return redis.call("HGETALL", gate)
  `,
  reply: fieldsOf,
});

export function fieldsOf(reply: Reply): Map<string, string> {
  const flat = asList(reply);
  const fields = new Map<string, string>();
  for (let at = 0; at + 1 < flat.length; at += 2) fields.set(String(flat[at]), String(flat[at + 1]));
  return fields;
}
