/**
 * The sharded list in Lua. A lane is a list in pieces of a bounded length, numbered from `first` to `last`; what is added goes into
 * the piece at that end until that is full, and then into a new one. Callers name the pieces that they expect at the end; if the
 * lane's gate says otherwise, nothing happens and the gate is answered (answers.ts).
 *
 * The bell is a list with one word in it. A waiting process pops it. It is rung when a lane gets something after it was empty, and by
 * a process that has heard it and leaves something behind; the process that takes the last element silences it.
 */
import { defineScript } from "../../../base/script.ts";
import { FULL, LANE_HEAD, laneAgainLua, laneLua, OUTDATED_LUA } from "./answers.ts";
import { fieldsOf } from "./core.ts";

const LANE = `
${OUTDATED_LUA}
local state = redis.call("HMGET", gate, "gen", "n", "first", "last", "z")
if state[1] ~= gen then return outdated() end
local n, first, last, size = tonumber(state[2]), tonumber(state[3]), tonumber(state[4]), tonumber(state[5])
local function ring() if redis.call("EXISTS", bell) == 0 then redis.call("RPUSH", bell, 1) end end
`;

function pushScript(repeatable: boolean) {
  return defineScript({
    name: "sharded.list-push",
    keys: ["gate", "bell", "receipt"],
    args: ["gen", "side", "at", "most", "keepMs"],
    restKeys: "pieces",
    rest: "values",
    include: [LANE],
    repeatable,
    lua: `
      local isLeft = side == "left"
      if (isLeft and first or last) ~= tonumber(at) then return outdated() end
      if keepMs ~= "0" and redis.call("EXISTS", receipt) == 1 then return ${laneLua("n")} end
      if n + #values > tonumber(most) then return {${FULL}} end
      local p, value, command = 1, 1, isLeft and "LPUSH" or "RPUSH"
      local length = redis.call("LLEN", pieces[1])
      while value <= #values do
        if length >= size then
          p, length = p + 1, 0
        end
        local upTo = math.min(#values, value + math.min(size - length, 500) - 1)
        length = redis.call(command, pieces[p], unpack(values, value, upTo))
        value = upTo + 1
      end
      if isLeft then first = first - (p - 1) else last = last + (p - 1) end
      redis.call("HSET", gate, "n", n + #values, "first", first, "last", last)
      if n == 0 then ring() end
      if keepMs ~= "0" then redis.call("SET", receipt, 1, "PX", keepMs) end
      return ${laneLua("n + #values")}
    `,
  });
}

export const push = pushScript(false);
export const pushOnce = pushScript(true);

/** Behind the lane: what was taken. Fewer than asked for only when the lane is empty, or when it would take more pieces than named. */
function popScript(repeatable: boolean) {
  return defineScript({
    name: "sharded.list-pop",
    keys: ["gate", "bell", "receipt"],
    args: ["gen", "side", "at", "count", "heard", "keepMs"],
    restKeys: "pieces",
    include: [LANE],
    repeatable,
    buffers: true,
    lua: `
      local isLeft = side == "left"
      if (isLeft and first or last) ~= tonumber(at) then return outdated() end
      if keepMs ~= "0" then
        local before = redis.call("GET", receipt)
        if before then
          local answer = ${laneLua("n")}
          answer[#answer + 1] = before
          return answer
        end
      end
      local answer, p, left = ${laneLua("n")}, 1, math.min(n, tonumber(count))
      while left > 0 and p <= #pieces do
        local found = redis.call(isLeft and "LPOP" or "RPOP", pieces[p], left)
        if found then
          for i = 1, #found do answer[#answer + 1] = found[i] end
          left = left - #found
        end
        if left > 0 then p = p + 1 end
      end
      p = math.min(p, #pieces)
      n = n - (#answer - ${LANE_HEAD})
      if isLeft then first = first + (p - 1) else last = last - (p - 1) end
      if n == 0 then redis.call("DEL", bell) elseif heard == "1" then ring() end
      if n == 0 and #answer > ${LANE_HEAD} then
        if isLeft then last = first else first = last end
      end
      if #answer > ${LANE_HEAD} or p > 1 then redis.call("HSET", gate, "n", n, "first", first, "last", last) end
      if keepMs ~= "0" and #answer > ${LANE_HEAD} then redis.call("SET", receipt, answer[${LANE_HEAD} + 1], "PX", keepMs) end
      ${laneAgainLua("answer")}
      return answer
    `,
  });
}

export const pop = popScript(false);
export const popOnce = popScript(true);

/** How much is in a lane; rings for somebody else if the caller has heard the bell and wants nothing. */
export const look = defineScript({
  name: "sharded.list-look",
  keys: ["gate", "bell"],
  args: ["gen", "heard"],
  include: [LANE],
  repeatable: true,
  lua: `
    if heard == "1" and n > 0 then ring() end
    return ${laneLua("n")}
  `,
});

export const planLanes = defineScript({
  name: "sharded.list-plan",
  keys: ["root"],
  args: ["from", "lanes", "wide", "size"],
  lua: `
    local state = redis.call("HMGET", root, "l", "moving")
    if state[1] ~= from or state[2] ~= "0" then return 0 end
    redis.call("HSET", root, "l", from + 1, "lanes", lanes, "wide", wide, "z", size, "moving", 1)
    return 1
  `,
  reply: (reply) => reply === 1,
});

/** The lane takes the generation and the size of its new pieces, and processes that wait at it are woken to look around. */
export const adopt = defineScript({
  name: "sharded.list-adopt",
  keys: ["gate", "bell"],
  args: ["gen", "size"],
  repeatable: true,
  lua: `
    local now = tonumber(redis.call("HGET", gate, "gen") or 0)
    if now >= tonumber(gen) then return now end
    if now == 0 then redis.call("HSET", gate, "n", 0, "first", 0, "last", 0) end
    redis.call("HSET", gate, "gen", gen, "z", size)
    if now > 0 and redis.call("EXISTS", bell) == 0 then redis.call("RPUSH", bell, 1) end
    return gen
  `,
});

export const settleLanes = defineScript({
  name: "sharded.list-settle",
  keys: ["root"],
  args: ["layout"],
  repeatable: true,
  lua: `
    if redis.call("HGET", root, "l") == layout then
      redis.call("HSET", root, "moving", 0, "wide", redis.call("HGET", root, "lanes"))
    end
    return redis.call("HGETALL", root)
  `,
  reply: fieldsOf,
});

/** Deletes a lane's pieces, all of them named, or tells. */
export const clearLane = defineScript({
  name: "sharded.list-clear",
  keys: ["gate", "bell"],
  args: ["gen", "from", "to"],
  restKeys: "pieces",
  include: [LANE],
  repeatable: true,
  lua: `
    if first ~= tonumber(from) or last < tonumber(to) then return outdated() end
    local deleted = 0
    for _, piece in ipairs(pieces) do
      deleted = deleted + redis.call("LLEN", piece)
      redis.call("UNLINK", piece)
    end
    n, first = n - deleted, math.min(last, tonumber(to) + 1)
    redis.call("HSET", gate, "n", n, "first", first)
    if n == 0 then redis.call("DEL", bell) end
    return ${laneLua("deleted")}
  `,
});
