/**
 * An entry is fresh, stale or not there, and at most one process at a time loads it. A caller that asks for one that is not fresh is
 * told to load it if nobody does, and holds a lease for that. What it loads is taken only while its lease stands: so neither a
 * loader that was overtaken nor one whose entry was invalidated meanwhile can put old data in the place of new.
 *
 * A tag is invalidated by noting when. An entry with a tag that was invalidated after its loading began is not there. "When" is
 * the shard's own time: the server's, but never in the wrong order, also when the server's clock is put back. Loading begins after
 * the last invalidation, and an invalidation comes after everything that has begun. For that the shard notes a moment which
 * nothing that has begun is behind: one that lies a little ahead, so that most of what begins has nothing to note.
 */

import { asBytes, asNumber, asTuple, optional } from "../../base/replies.ts";
import { defineScript, IF_WRITABLE } from "../../base/script.ts";

/**
 * Lua: puts an entry, in the place of what was there. It is the first write of its script: a server that is full refuses it only
 * then, and does not notice that a script goes on growing once it has written. Where it is refused, the old entry goes all the
 * same. Nil, or what the server said.
 */
const ENTER = `
local function enter(at)
  local fresh, ends = now + freshMs, now + keepMs
  local entered, refusal = ifWritable("HSET", entry, "v", value, "at", at, "fresh", fresh, "ends", ends, "t", tagList)
  if entered then redis.call("PEXPIRE", entry, keepMs) else redis.call("DEL", entry) end
  return refusal
end
`;

/** Lua: the server's time. As an argument of a command a number keeps all its digits; where it becomes part of a text, it needs `text`. */
export const NOW = `
local time = redis.call("TIME")
local micros = time[1] * 1000000 + time[2]
local now = math.floor(micros / 1000)
`;

export const TEXT = `
local function text(number) return string.format("%.0f", number) end
`;

/**
 * Lua: the shard's moments, in microseconds. The members are CLOCK and LAST of keys.ts. What begins notes its moment when it is sure
 * to happen: it may be refused by a server that is full.
 */
export const MOMENTS = `
local clock, last = "\\0", "\\0last"
local ahead = 100000
local function beginning()
  local known = redis.call("ZMSCORE", tags, clock, last)
  local moment = math.max(micros, tonumber(known[2] or 0) + 1)
  return moment, moment > tonumber(known[1] or 0)
end
local function note(moment, isNew)
  if not isNew then return end
  redis.call("ZADD", tags, math.max(moment, micros + ahead), clock)
  redis.call("PEXPIRE", tags, tagMs)
end
`;

/** Lua: behind the lease once somebody waits for its holder, who tells nobody otherwise. Who cannot say so looks again soon. */
const AWAITED = `
local awaited = " awaited"
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

/** An entry as `read` found it: fresh or stale. */
export interface FoundEntry {
  readonly ageMs: number;
  readonly stored: Buffer;
  readonly freshForMs: number;
  readonly tags: readonly string[];
}

export interface ReadReply {
  /** Null: not there. */
  readonly entry: FoundEntry | null;
  /** Who is to load it: the caller, the holder of the lease, or (`nobody`) each for itself, since the store takes no writes. */
  readonly loader: "caller" | "holder" | "nobody";
  /** Where there is no entry: the holder's token, and how long its lease lasts. For `nobody`, what the server said. */
  readonly holder: string;
  readonly leaseMs: number;
}

const asRead = asTuple(asNumber, asNumber, asBytes, optional(asNumber), optional(asBytes));

/**
 * Reads, and takes the lease if there is something to load and nobody does. `token` empty: only reads. Asking again with the
 * token that holds the lease answers as the first time did, so that an answer may be lost.
 * Answers { loader, age in ms, value, ms that it stays fresh, tags }, or { loader, ms that the lease lasts, its token } where
 * there is no entry. The loader is 1 for the caller, 2 for nobody, 0 for another or where there is nothing to load.
 */
export const read = defineScript({
  name: "cache.read",
  keys: ["entry", "loader", "tags"],
  args: ["token", "leaseMs", "tagMs"],
  include: [NOW, TEXT, MOMENTS, LOOK, IF_WRITABLE, AWAITED],
  buffers: true,
  repeatable: true,
  lua: `
    local found = look()
    local left = found and tonumber(found[3]) - now
    local mine, holder, lasts = 0, "", tonumber(leaseMs)
    if token ~= "" and not (found and left > 0) then
      local began, isNew = beginning()
      local taken, refusal = ifWritable("SET", loader, token .. " " .. text(began), "PX", leaseMs, "NX")
      if taken then
        mine = 1
        note(began, isNew)
      elseif refusal then mine, holder = 2, refusal
      else
        local lease = redis.call("GET", loader)
        holder = lease:match("^%S+")
        lasts = math.max(redis.call("PTTL", loader), 1)
        if holder == token then mine = 1
        elseif not found and not lease:find(awaited, 1, true) and not ifWritable("APPEND", loader, awaited) then
          lasts = math.min(lasts, 100)
        end
      end
    end
    if not found then return {mine, lasts, holder} end
    return {mine, math.max(now - math.floor(found[2] / 1000), 0), found[1], left, found[4] or ""}
  `,
  reply: (reply): ReadReply => {
    const [loader, ms, text, freshForMs, tags] = asRead(reply);
    const isEntry = freshForMs !== undefined && tags !== undefined;
    return {
      entry: isEntry ? { ageMs: ms, stored: text, freshForMs, tags: tagsIn(tags.toString("utf8")) } : null,
      loader: loader === 1 ? "caller" : loader === 2 ? "nobody" : "holder",
      holder: isEntry ? "" : text.toString("latin1"),
      leaseMs: isEntry ? 0 : ms,
    };
  },
});

function tagsIn(list: string): string[] {
  return list === "" ? [] : list.split("\n");
}

/**
 * Takes what the holder of the lease has loaded. 0: the lease is not theirs any more, and nothing has changed. Wakes the callers that
 * wait, and with `tells` 1 all processes: they may hold an older value in memory.
 */
export const fill = defineScript({
  name: "cache.fill",
  keys: ["entry", "loader", "tags"],
  args: ["token", "value", "freshMs", "keepMs", "tagList", "channel", "key", "tells"],
  include: [NOW, IF_WRITABLE, ENTER, AWAITED],
  repeatable: true,
  lua: `
    local lease = redis.call("GET", loader)
    if not lease then return 0 end
    local space = lease:find(" ", 1, true)
    if lease:sub(1, space - 1) ~= token then return 0 end
    local mark = lease:find(awaited, 1, true)
    local began = lease:sub(space + 1, (mark or 0) - 1)
    local refusal, result = nil, 1
    if tagList ~= "" then
      for tag in tagList:gmatch("[^\\n]+") do
        local invalidated = redis.call("ZSCORE", tags, tag)
        if invalidated and tonumber(invalidated) >= tonumber(began) then result = 0 end
      end
    end
    if result == 1 then refusal = enter(began) end
    redis.call("DEL", loader)
    if mark or tells == "1" then redis.call("PUBLISH", channel, key) end
    return refusal and redis.error_reply(refusal) or result
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

/** Puts a value while another process may be loading: its value is older. */
export const put = defineScript({
  name: "cache.put",
  keys: ["entry", "loader", "tags"],
  args: ["value", "freshMs", "keepMs", "tagList", "tagMs", "channel", "key"],
  include: [NOW, MOMENTS, IF_WRITABLE, ENTER],
  repeatable: true,
  lua: `
    local moment, isNew = beginning()
    local refusal = enter(moment)
    if not refusal then note(moment, isNew) end
    redis.call("DEL", loader)
    redis.call("PUBLISH", channel, key)
    return refusal and redis.error_reply(refusal) or 1
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

/**
 * Invalidates tags in one shard, and forgets those that no living entry can be older than. Forgetting comes first: a server that is
 * full refuses a script only before its first write, and an invalidation must not fail because there is too much in the cache.
 */
export const invalidate = defineScript({
  name: "cache.invalidate",
  keys: ["tags"],
  args: ["tagMs"],
  rest: "names",
  include: [NOW],
  repeatable: true,
  lua: `
    local clock, last = "\\0", "\\0last"
    local moment = math.max(micros, tonumber(redis.call("ZSCORE", tags, clock) or 0) + 1)
    redis.call("ZREMRANGEBYSCORE", tags, "-inf", moment - tagMs * 1000)
    for _, name in ipairs(names) do redis.call("ZADD", tags, moment, name) end
    redis.call("ZADD", tags, moment, clock, moment, last)
    redis.call("PEXPIRE", tags, tagMs)
    return 1
  `,
});
