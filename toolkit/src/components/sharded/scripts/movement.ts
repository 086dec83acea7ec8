/**
 * The change of a layout. First the root says which one comes next (`plan`), then each gate begins to move (`begin`): from then on
 * everybody writes into the new layout and looks at both. Elements go over in steps, each of a bounded number of shards (`claim`,
 * then `move` for each); a gate whose old layout is empty is settled (`settle`), and when all are, the root is (`settleRoot`).
 *
 * Every one of them may be run by anybody, at any time, twice: what is done already stays done. The lease in the gate is there so that
 * two do not do the same work, not to keep anything right.
 */
import { defineScript, NOW_MS } from "../../../base/script.ts";
import { BUSY, DONE, HASHED, RANGED } from "./answers.ts";
import { fieldsOf, GUARD, KIND_LUA, type ShardedKind } from "./core.ts";

/** 1 planned, 0 another one is under way, or the root is not the one that the caller has seen. */
export const plan = defineScript({
  name: "sharded.plan",
  keys: ["root"],
  args: ["from", "shards", "size", "fill"],
  lua: `
    local state = redis.call("HMGET", root, "l", "moving")
    if state[1] ~= from or state[2] ~= "0" then return 0 end
    redis.call("HSET", root, "l", from + 1, "s", shards, "z", size, "moving", 1, "fill", fill)
    return 1
  `,
  reply: (reply) => reply === 1,
});

/** The gate begins to move to this layout, unless it has: answers the gate. An empty one has nothing to move. */
export const begin = defineScript({
  name: "sharded.begin",
  keys: ["gate"],
  args: ["layout", "shards", "size"],
  repeatable: true,
  lua: `
    local state = redis.call("HMGET", gate, "l", "s", "z", "n", "ol")
    if not state[1] then
      redis.call("HSET", gate, "gen", 2 * layout, "l", layout, "s", shards, "z", size, "n", 0)
    elseif tonumber(state[1]) == layout - 1 and not state[5] then
      redis.call("HSET", gate, "l", layout, "s", shards, "z", size)
      if state[4] == "0" then redis.call("HSET", gate, "gen", 2 * layout)
      else
        redis.call("HSET", gate, "gen", 2 * layout - 1, "ol", state[1], "os", state[2], "oz", state[3], "left", state[4], "at", 0)
      end
    end
    return redis.call("HGETALL", gate)
  `,
  reply: fieldsOf,
});

/**
 * Takes the lease and answers which shards of the old layout are next: {family, number …}; {} when none is left. Busy if another has
 * the lease.
 */
export const claim = defineScript({
  name: "sharded.claim",
  keys: ["gate", "oldDir"],
  args: ["gen", "token", "leaseMs", "most"],
  include: [NOW_MS, GUARD],
  repeatable: true,
  lua: `
    local lease = redis.call("HMGET", gate, "mover", "until", "at", "os")
    -- One that ends later than a new one would is from before the server's clock was put back.
    local ends = tonumber(lease[2] or 0)
    if lease[1] and lease[1] ~= token and ends > now and ends <= now + leaseMs then return {${BUSY}} end
    redis.call("HSET", gate, "mover", token, "until", now + leaseMs)
    local at, last, next = tonumber(lease[3]), tonumber(lease[4]), {}
    if at < last then
      next[1] = "${HASHED}"
      for index = at, math.min(last, at + most) - 1 do next[#next + 1] = index end
    else
      local ranges = redis.call("ZRANGE", oldDir, 0, most - 1)
      if #ranges > 0 then next = {"${RANGED}", unpack(ranges)} end
    end
    return {${DONE}, next}
  `,
});

/** The lease is checked, so that a mover that was stopped for long does not get in the way of the next. */
const MOVER = `
  if redis.call("HGET", gate, "mover") ~= token then return {${BUSY}} end
`;

/** Behind a move: whether the old shard is empty, and then it is done with. */
const PASSED = `
  local isEmpty = redis.call("EXISTS", old) == 0
  if isEmpty then
    if family == "${RANGED}" then redis.call("ZREM", oldDir, index)
    elseif redis.call("HGET", gate, "at") == index then redis.call("HSET", gate, "at", index + 1) end
  end
`;

/** Moves elements of one old shard: {moved, whether it is empty}. Items are {place of the new shard, range, element}. */
function moveScript(kind: "hash" | "set" | "zset") {
  return defineScript({
    name: `sharded.move-${kind}`,
    keys: ["gate", "dir", "oldDir", "old"],
    args: ["gen", "token", "family", "index"],
    restKeys: "shards",
    rest: "items",
    include: [GUARD, KIND_LUA[kind]],
    repeatable: true,
    lua: `
      ${MOVER}
      for i = 1, #items, 3 do pull(shards[tonumber(items[i])], old, items[i + 1], items[i + 2]) end
      ${PASSED}
      return done({-left, isEmpty and 1 or 0})
    `,
  });
}

/** Moves a whole shard of a bitmap. Items are {place of the new shard, range, first byte in the old, first byte in the new, bytes}. */
const moveBitmap = defineScript({
  name: "sharded.move-bitmap",
  keys: ["gate", "dir", "oldDir", "old"],
  args: ["gen", "token", "family", "index"],
  restKeys: "shards",
  rest: "items",
  include: [GUARD, KIND_LUA.bitmap],
  repeatable: true,
  lua: `
    ${MOVER}
    local function merged(a, b)
      local bytes = {}
      for i = 1, math.max(#a, #b) do bytes[i] = string.char(bit.bor(a:byte(i) or 0, b:byte(i) or 0)) end
      return table.concat(bytes)
    end
    left = -redis.call("BITCOUNT", old)
    for i = 1, #items, 5 do
      local shard, range, from, to, size = shards[tonumber(items[i])], items[i + 1], items[i + 2], items[i + 3], items[i + 4]
      local part = redis.call("GETRANGE", old, from, from + size - 1)
      local last = #part
      while last > 0 and part:byte(last) == 0 do last = last - 1 end
      if last > 0 then
        part = part:sub(1, last)
        local there = redis.call("GETRANGE", shard, to, to + last - 1)
        if there ~= "" then part = merged(part, there) end
        begin(shard)
        redis.call("SETRANGE", shard, to, part)
        opened(shard, range)
      end
    end
    local moved = -left
    redis.call("DEL", old)
    ${PASSED}
    return done({moved, 1})
  `,
});

export const MOVE = {
  hash: moveScript("hash"),
  set: moveScript("set"),
  zset: moveScript("zset"),
  bitmap: moveBitmap,
} as const;

/** The gate is through with the old layout, if that is empty: 1 if it is settled. */
export const settle = defineScript({
  name: "sharded.settle",
  keys: ["gate", "oldDir"],
  args: ["gen"],
  include: [GUARD],
  repeatable: true,
  lua: `
    local state = redis.call("HMGET", gate, "ol", "at", "os", "l")
    if not state[1] then return {${DONE}, 1} end
    if tonumber(state[2]) < tonumber(state[3]) or redis.call("EXISTS", oldDir) == 1 then return {${DONE}, 0} end
    redis.call("HDEL", gate, "ol", "os", "oz", "left", "at", "mover", "until")
    redis.call("HSET", gate, "gen", 2 * state[4])
    return {${DONE}, 1}
  `,
});

export const settleRoot = defineScript({
  name: "sharded.settle-root",
  keys: ["root"],
  args: ["layout"],
  repeatable: true,
  lua: `
    if redis.call("HGET", root, "l") == layout then redis.call("HSET", root, "moving", 0) end
    return 1
  `,
});

/** Deletes whole shards: `ranges` has their numbers ("" by hash), `olds` whether they are of the old layout. */
function clearScript(kind: ShardedKind) {
  return defineScript({
    name: `sharded.clear-${kind}`,
    keys: ["gate", "dir", "oldDir"],
    args: ["gen"],
    restKeys: "shards",
    rest: "items",
    include: [GUARD, KIND_LUA[kind]],
    repeatable: true,
    lua: `
      for i, shard in ipairs(shards) do
        local range, isOld = items[2 * i - 1], items[2 * i] == "1"
        local elements = len(shard, range)
        added = added - elements
        if isOld then left = left - elements end
        redis.call("UNLINK", shard)
        if range ~= "" then redis.call("ZREM", isOld and oldDir or dir, range) end
      end
      return done(-added)
    `,
  });
}

export const CLEAR = {
  hash: clearScript("hash"),
  set: clearScript("set"),
  zset: clearScript("zset"),
  bitmap: clearScript("bitmap"),
} as const;

/** All shards by range: {those of the old layout, those of the new}, from the numbers on. */
export const ranges = defineScript({
  name: "sharded.ranges",
  keys: ["gate", "dir", "oldDir"],
  args: ["gen", "newFrom", "newTo", "oldFrom", "oldTo", "most"],
  include: [GUARD],
  repeatable: true,
  lua: `
    local function of(key, from, to) return redis.call("ZRANGEBYSCORE", key, from, to, "LIMIT", 0, most) end
    return {${DONE}, {of(oldDir, oldFrom, oldTo), of(dir, newFrom, newTo)}}
  `,
});
