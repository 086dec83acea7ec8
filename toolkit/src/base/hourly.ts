/**
 * A sorted set of the running hour, one of the hour before, and a string that says which hour the first is for. The first write of
 * an hour turns them; a reader in an hour without writes must not take what is there for this hour's.
 */

export const HOUR_MS = 3_600_000;

/** Lua, for `include` behind NOW_MS: `turnHour` before writing, `tops` to read { this hour's, last hour's } by score. */
export const HOURLY = `
local thisHour = math.floor(now / ${HOUR_MS})
local function turnHour(current, last, hour)
  local before = tonumber(redis.call("GET", hour) or thisHour)
  if before < thisHour then
    if before == thisHour - 1 and redis.call("EXISTS", current) == 1 then
      redis.call("RENAME", current, last)
      redis.call("PEXPIRE", last, ${2 * HOUR_MS})
    else
      redis.call("DEL", current, last)
    end
  end
  redis.call("SET", hour, thisHour, "PX", ${2 * HOUR_MS})
end
local function tops(current, last, hour, limit)
  local of = tonumber(redis.call("GET", hour) or 0)
  local function top(key) return redis.call("ZREVRANGE", key, 0, limit - 1, "WITHSCORES") end
  -- Of a later hour: the clock was put back, and this hour goes on with what is there.
  if of >= thisHour then return {top(current), top(last)} end
  if of == thisHour - 1 then return {{}, top(current)} end
  return {{}, {}}
end
`;
