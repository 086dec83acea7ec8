/**
 * An entry is fresh, stale or not there, and at most one process at a time loads it. Whoever asks for one that is not fresh is
 * told to load it if nobody does, and holds a lease for that. What it loads is taken only while its lease stands: so neither a
 * loader that was overtaken nor one whose entry was invalidated meanwhile can put old data in the place of new.
 *
 * A tag is invalidated by noting when. An entry with a tag that was invalidated after its loading began is not there.
 */
import type { Reply } from "../connection/port.ts";
import { defineScript } from "../script.ts";

const NOW = `
local time = redis.call("TIME")
local micros = time[1] * 1000000 + time[2]
local now = math.floor(micros / 1000)
local function text(number) return string.format("%.0f", number) end
`;

/** Lua: the entry if it is valid, as { value, at, fresh }. */
const LOOK = `
local function look()
  local found = redis.call("HMGET", entry, "v", "at", "fresh", "t")
  if not found[1] then return nil end
  for tag in (found[4] or ""):gmatch("[^\\n]+") do
    local invalidated = redis.call("ZSCORE", tags, tag)
    if invalidated and tonumber(invalidated) >= tonumber(found[2]) then
      redis.call("DEL", entry)
      return nil
    end
  end
  return found
end
`;

/**
 * Reads, and takes the lease if there is something to load and nobody does. `token` empty: only reads. `eager`: a stale entry
 * counts as one to load even before its time, with this lead in milliseconds.
 * Answers { state, age in ms, value }: state 0 not there, 1 fresh, 2 stale; + 10 when the caller is to load it. When it is not
 * there and another loads it: { 0, milliseconds that they still have }.
 */
export const read = defineScript({
  name: "cache.read",
  keys: ["entry", "loader", "tags"],
  args: ["token", "leaseMs", "leadMs"],
  include: [NOW, LOOK],
  buffers: true,
  lua: `
    local found = look()
    local state = 0
    local due = true
    if found then
      local left = tonumber(found[3]) - now
      state = left > 0 and 1 or 2
      due = left <= tonumber(leadMs)
    end
    if due and token ~= "" and redis.call("SET", loader, token .. " " .. text(micros), "NX", "PX", leaseMs) then
      state = state + 10
    end
    if not found then return {state, math.max(redis.call("PTTL", loader), 1)} end
    return {state, now - math.floor(found[2] / 1000), found[1]}
  `,
  reply: (reply) => reply as [number, number?, Buffer?] & Reply,
});

/** Takes what the holder of the lease has loaded. 0: the lease is not theirs any more, and nothing has changed. */
export const fill = defineScript({
  name: "cache.fill",
  keys: ["entry", "loader", "tags"],
  args: ["token", "value", "freshMs", "keepMs", "tagList", "channel", "key"],
  include: [NOW],
  repeatable: true,
  lua: `
    local lease = redis.call("GET", loader)
    if not lease then return 0 end
    local space = lease:find(" ", 1, true)
    if lease:sub(1, space - 1) ~= token then return 0 end
    local began = lease:sub(space + 1)
    redis.call("DEL", loader)
    for tag in tagList:gmatch("[^\\n]+") do
      local invalidated = redis.call("ZSCORE", tags, tag)
      if invalidated and tonumber(invalidated) >= tonumber(began) then
        redis.call("PUBLISH", channel, key)
        return 0
      end
    end
    redis.call("DEL", entry)
    redis.call("HSET", entry, "v", value, "at", began, "fresh", text(now + freshMs), "ends", text(now + keepMs), "t", tagList)
    redis.call("PEXPIRE", entry, keepMs)
    redis.call("PUBLISH", channel, key)
    return 1
  `,
  reply: (reply) => reply === 1,
});

/** The loader gives up: somebody else may try. */
export const giveUp = defineScript({
  name: "cache.give-up",
  keys: ["loader"],
  args: ["token", "channel", "key"],
  repeatable: true,
  lua: `
    local lease = redis.call("GET", loader)
    if not lease or lease:sub(1, #token + 1) ~= token .. " " then return 0 end
    redis.call("DEL", loader)
    redis.call("PUBLISH", channel, key)
    return 1
  `,
});

/** Puts a value, whoever is loading: theirs is older. */
export const put = defineScript({
  name: "cache.put",
  keys: ["entry", "loader"],
  args: ["value", "freshMs", "keepMs", "tagList", "channel", "key"],
  include: [NOW],
  repeatable: true,
  lua: `
    redis.call("DEL", loader, entry)
    redis.call("HSET", entry, "v", value, "at", text(micros), "fresh", text(now + freshMs), "ends", text(now + keepMs), "t", tagList)
    redis.call("PEXPIRE", entry, keepMs)
    redis.call("PUBLISH", channel, key)
    return 1
  `,
});

/** Removes an entry; what is being loaded for it will not be taken. */
export const drop = defineScript({
  name: "cache.drop",
  keys: ["entry", "loader"],
  args: ["channel", "key"],
  repeatable: true,
  lua: `
    redis.call("DEL", loader)
    redis.call("PUBLISH", channel, key)
    return redis.call("DEL", entry)
  `,
  reply: (reply) => reply === 1,
});

/** Invalidates tags in one shard, and forgets those that no living entry can be older than. */
export const invalidate = defineScript({
  name: "cache.invalidate",
  keys: ["tags"],
  args: ["keepMs"],
  rest: "names",
  include: [NOW],
  repeatable: true,
  lua: `
    for _, name in ipairs(names) do redis.call("ZADD", tags, text(micros), name) end
    redis.call("ZREMRANGEBYSCORE", tags, "-inf", text(micros - keepMs * 1000))
    redis.call("PEXPIRE", tags, keepMs)
    return 1
  `,
});
