/**
 * Every change of a session is one script on its owner's slot. A session ends `keepMs` after it was last touched and in any
 * case at `ends`; both are the key's own expiry, by the server's clock, so nothing has to sweep. The list of an owner's sessions
 * is corrected whenever it is read or added to.
 */

import { inPairs } from "../../base/lists.ts";
import { asListOf, asNumber, asReply, asText, asTexts, asTuple, ReplyFormError } from "../../base/replies.ts";
import { defineScript, IF_WRITABLE, NOW_MS } from "../../base/script.ts";
import type { Reply } from "../../connection/port.ts";

/** Lua: lets session and viewed items live on, as long as both lifetimes allow. */
const KEEP = `
local function keep(ends, keepMs)
  local untilMs = math.min(now + keepMs, ends)
  redis.call("PEXPIREAT", session, untilMs)
  redis.call("PEXPIREAT", viewed, untilMs)
  return untilMs
end
`;

/** What a session looks like to the caller: { user, created, seen, ends, version, flat data }. */
export type Shown = [string, string, string, string, string, string[]];

/** The whole hash, as it is: taking it apart is cheaper here than in Lua. */
function shownOf(flat: Reply): Shown {
  const own: Record<string, string> = {};
  const data: string[] = [];
  const words = asTexts(flat);
  for (let at = 0; at + 1 < words.length; at += 2) {
    const field = words[at]!;
    const value = words[at + 1]!;
    if (field.startsWith("d:")) data.push(field.slice(2), value);
    else own[field] = value;
  }
  const { user, created, seen, ends, version } = own;
  if (
    user === undefined ||
    created === undefined ||
    seen === undefined ||
    ends === undefined ||
    version === undefined
  ) {
    throw new ReplyFormError("all fields of a session", flat);
  }
  return [user, created, seen, ends, version, data];
}

const shown = (reply: Reply): Shown | null => (reply === null ? null : shownOf(reply));

/** Of HGETALL. */
export function shownIfAny(reply: Reply): Shown | null {
  return Array.isArray(reply) && reply.length > 0 ? shownOf(reply) : null;
}

const asHashAndTexts = asTuple(asReply, asTexts);

/** Of a script that answers with the hash and what was viewed. */
function shownWithViews(reply: Reply): [Shown, string[]] | null {
  if (reply === null) return null;
  const [flat, views] = asHashAndTexts(reply);
  return [shownOf(flat), views];
}

/**
 * Lua: keys of other components may be bound to a session: they are in a set beside it, have its tag, live as long as it and end
 * with it, in the same step.
 */
const BOUND = `
local function endBound(key)
  for _, each in ipairs(redis.call("SMEMBERS", key .. ":bound")) do redis.call("DEL", each) end
  redis.call("DEL", key .. ":bound")
end
local function finish(key)
  endBound(key)
  redis.call("DEL", key .. ":viewed")
  return redis.call("DEL", key)
end
`;

/**
 * Lua: a new session with pieces of data and what was viewed, both flat. Beyond `maxOwned` sessions of a user the least recently
 * used go. Answers the session and the ids of those that went.
 */
const BEGIN = `
local function begin(data, views)
  local ends = now + absoluteMs
  local dropped = {}
  redis.call("HSET", session, "user", user, "created", now, "seen", now, "ends", ends, "version", 1)
  for i = 1, #data, 2 do redis.call("HSET", session, "d:" .. data[i], data[i + 1]) end
  for i = 1, #views, 2 do redis.call("ZADD", viewed, views[i + 1], views[i]) end
  keep(ends, keepMs)
  if user ~= "" then
    redis.call("ZREMRANGEBYSCORE", owned, "-inf", now - keepMs)
    -- Before the new one is added: of two of one millisecond it might be taken for the older one.
    dropped = redis.call("ZRANGE", owned, 0, -maxOwned)
    for _, old in ipairs(dropped) do
      finish(base .. old)
      redis.call("ZREM", owned, old)
    end
    redis.call("ZADD", owned, now, id)
    redis.call("PEXPIRE", owned, keepMs)
  end
  return {redis.call("HGETALL", session), dropped}
end
`;

interface Begun {
  readonly shown: Shown;
  readonly dropped: readonly string[];
}

function begun(reply: Reply): Begun {
  const [flat, dropped] = asHashAndTexts(reply);
  return { shown: shownOf(flat), dropped };
}

/** `words` are those of so many pieces of data, two for each, and then what was viewed with when. */
export const create = defineScript({
  name: "sessions.create",
  keys: ["session", "viewed", "owned"],
  args: ["id", "user", "keepMs", "absoluteMs", "maxOwned", "base", "pieces"],
  rest: "words",
  include: [NOW_MS, KEEP, BOUND, BEGIN],
  lua: `
    local data, views = {}, {}
    for i, word in ipairs(words) do
      if i <= 2 * pieces then data[i] = word else views[i - 2 * pieces] = word end
    end
    return begin(data, views)
  `,
  reply: begun,
});

/**
 * Signs in where one script may touch both sessions: the new one takes over what the old one holds, and the old one is over. What
 * is bound to it stays for the session that takes it over, as long as it would have lived. A session of another user ends with all that
 * is bound to it. The id of the new session is of this call alone: where it is known, this is the same call again.
 */
export const signIn = defineScript({
  name: "sessions.sign-in",
  keys: ["oldSession", "oldViewed", "oldOwned", "session", "viewed", "owned"],
  args: ["oldId", "id", "user", "keepMs", "absoluteMs", "maxOwned", "base"],
  include: [NOW_MS, KEEP, BOUND, BEGIN],
  repeatable: true,
  lua: `
    if redis.call("EXISTS", session) == 1 then return {redis.call("HGETALL", session), {}} end
    local held = redis.call("HGETALL", oldSession)
    local data, views, owner = {}, {}, nil
    for i = 1, #held, 2 do
      if held[i] == "user" then owner = held[i + 1]
      elseif held[i]:sub(1, 2) == "d:" then
        data[#data + 1] = held[i]:sub(3)
        data[#data + 1] = held[i + 1]
      end
    end
    if owner == "" or owner == user then
      views = redis.call("ZRANGE", oldViewed, 0, -1, "WITHSCORES")
      redis.call("DEL", oldSession .. ":bound")
    else
      data = {}
    end
    finish(oldSession)
    redis.call("ZREM", oldOwned, oldId)
    return begin(data, views)
  `,
  reply: begun,
});

/**
 * Lua: what is being looked at comes before all others, also when the clock was put back. Answers whether there were others.
 * A server that is full does not note it.
 */
const VIEW = `
local function view()
  local last = redis.call("ZREVRANGE", viewed, 0, 0, "WITHSCORES")[2]
  if ifWritable("ZADD", viewed, math.max(now, tonumber(last or 0) + 1), item) == 1 and last then
    redis.call("ZREMRANGEBYRANK", viewed, 0, -1 - maxViewed)
  end
  return last
end
`;

/**
 * Reads a session and notes that it is in use; `item` is what is being looked at, or empty. Data are not touched. A server that is
 * full still lets a session live on; when it was used and what was looked at are not noted then.
 */
export const touch = defineScript({
  name: "sessions.touch",
  keys: ["session", "viewed", "owned"],
  args: ["id", "keepMs", "item", "maxViewed"],
  include: [NOW_MS, KEEP, IF_WRITABLE, VIEW],
  repeatable: true,
  lua: `
    local held = redis.call("HGETALL", session)
    local ends, user, seenAt
    for i = 1, #held, 2 do
      local field = held[i]
      if field == "ends" then ends = held[i + 1]
      elseif field == "user" then user = held[i + 1]
      elseif field == "seen" then seenAt = i + 1 end
    end
    if not (ends and user and seenAt) then return nil end
    if ifWritable("HSET", session, "seen", now) then held[seenAt] = string.format("%.0f", now) end
    if item ~= "" then view() end
    local untilMs = keep(tonumber(ends), keepMs)
    if redis.call("PEXPIREAT", session .. ":bound", untilMs) == 1 then
      for _, each in ipairs(redis.call("SMEMBERS", session .. ":bound")) do redis.call("PEXPIREAT", each, untilMs) end
    end
    if user ~= "" then
      ifWritable("ZADD", owned, now, id)
      redis.call("PEXPIRE", owned, keepMs)
    end
    return held
  `,
  reply: shown,
});

/** Reads a session and notes what is being looked at, without touching the session. What it notes lives as long. */
export const view = defineScript({
  name: "sessions.view",
  keys: ["session", "viewed"],
  args: ["item", "maxViewed"],
  include: [NOW_MS, IF_WRITABLE, VIEW],
  repeatable: true,
  lua: `
    local held = redis.call("HGETALL", session)
    if #held == 0 then return nil end
    if not view() then redis.call("PEXPIRE", viewed, redis.call("PTTL", session)) end
    return held
  `,
  reply: shown,
});

/** Reads all of a session without touching it: { shown, flat viewed } or nil. */
export const copy = defineScript({
  name: "sessions.copy",
  keys: ["session", "viewed"],
  repeatable: true,
  lua: `
    if redis.call("EXISTS", session) == 0 then return nil end
    return {redis.call("HGETALL", session), redis.call("ZRANGE", viewed, 0, -1, "WITHSCORES")}
  `,
  reply: shownWithViews,
});

/**
 * Changes single pieces of data, so that two requests at once do not overwrite each other. `changes` holds the fields to set with
 * their values, `sets` of them, and then those to remove. `ifVersion` empty: whatever the version is. Answers the session as it was
 * before; or nil: no session; 0: another version; -1: more pieces than allowed.
 */
export const update = defineScript({
  name: "sessions.update",
  keys: ["session"],
  args: ["ifVersion", "maxPieces", "sets"],
  rest: "changes",
  lua: `
    local held = redis.call("HGETALL", session)
    local first = 2 * sets + 1
    -- A short hash keeps the order in which it was made.
    local version = held[9] == "version" and held[10]
    for i = 1, version and 0 or #held, 2 do
      if held[i] == "version" then version = held[i + 1] end
    end
    if not version then return nil end
    if ifVersion ~= "" and version ~= ifVersion then return 0 end
    -- Beside the data there are five fields of our own. Which are new matters only where all of them would be too many.
    local pieces = #held / 2 - 5 + sets
    if pieces > tonumber(maxPieces) then
      local isChanged = {}
      for i = 1, first - 1, 2 do isChanged[changes[i]] = true end
      for i = first, #changes do isChanged[changes[i]] = true end
      for i = 1, #held, 2 do
        if isChanged[held[i]] then pieces = pieces - 1 end
      end
      if pieces > tonumber(maxPieces) then return -1 end
    end
    redis.call("HSET", session, "version", version + 1, unpack(changes, 1, first - 1))
    if first <= #changes then redis.call("HDEL", session, unpack(changes, first)) end
    return held
  `,
  reply: (reply) => (reply === 0 ? "conflict" : reply === -1 ? "too-many" : shown(reply)),
});

/** What `update` changes: by name, a value or (null) that it goes. */
export type Changes = ReadonlyMap<string, string | Uint8Array | null>;

/** The words for `update`. */
export function changesOf(changes: Changes): { sets: number; changes: (string | Uint8Array)[] } {
  const set: (string | Uint8Array)[] = [];
  const removed: string[] = [];
  for (const [name, value] of changes) {
    if (value === null) removed.push(`d:${name}`);
    else set.push(`d:${name}`, value);
  }
  return { sets: set.length / 2, changes: [...set, ...removed] };
}

const textOf = (value: string | Uint8Array): string =>
  typeof value === "string" ? value : Buffer.from(value).toString("utf8");

/** A session after `update`, from what it was before. */
export function changed([user, created, seen, ends, version, flat]: Shown, changes: Changes): Shown {
  const data: string[] = [];
  for (const [name, value] of inPairs(flat)) if (!changes.has(name)) data.push(name, value);
  for (const [name, value] of changes) if (value !== null) data.push(name, textOf(value));
  return [user, created, seen, ends, String(Number(version) + 1), data];
}

/**
 * Takes a session away and answers what it held: { shown, flat viewed } or nil. What is bound to it goes too, unless it is `left`
 * for the session that takes it over.
 */
export const take = defineScript({
  name: "sessions.take",
  keys: ["session", "viewed", "owned"],
  args: ["id", "bound"],
  include: [BOUND],
  lua: `
    redis.call("ZREM", owned, id)
    if redis.call("EXISTS", session) == 0 then return nil end
    local held = {redis.call("HGETALL", session), redis.call("ZRANGE", viewed, 0, -1, "WITHSCORES")}
    if bound == "left" then redis.call("DEL", session .. ":bound") end
    finish(session)
    return held
  `,
  reply: shownWithViews,
});

/** All sessions of an owner but one: gone. Answers how many lived, and the ids of all that were listed. */
export const takeAll = defineScript({
  name: "sessions.take-all",
  keys: ["owned"],
  args: ["base", "except"],
  include: [BOUND],
  repeatable: true,
  lua: `
    local ended = 0
    local ids = {}
    for _, id in ipairs(redis.call("ZRANGE", owned, 0, -1)) do
      if id ~= except then
        ended = ended + finish(base .. id)
        redis.call("ZREM", owned, id)
        ids[#ids + 1] = id
      end
    end
    return {ended, ids}
  `,
  reply: asTuple(asNumber, asTexts),
});

/** The living sessions of an owner: { id, shown } each, the latest used first. */
export const list = defineScript({
  name: "sessions.list",
  keys: ["owned"],
  args: ["base"],
  repeatable: true,
  lua: `
    local found = {}
    for _, id in ipairs(redis.call("ZREVRANGE", owned, 0, -1)) do
      local fields = redis.call("HMGET", base .. id, "created", "seen", "ends")
      if fields[1] then found[#found + 1] = {id, fields[1], fields[2], fields[3]}
      else redis.call("ZREM", owned, id) end
    end
    return found
  `,
  reply: asListOf(asTuple(asText, asText, asText, asText)),
});

/** How many a shard of the list of all live sessions holds, without those that are over; and so many of the oldest, flat. */
export const liveOldest = defineScript({
  name: "sessions.live-oldest",
  keys: ["live"],
  args: ["listMs", "most"],
  include: [NOW_MS],
  repeatable: true,
  lua: `
    redis.call("ZREMRANGEBYSCORE", live, "-inf", now - listMs)
    return {redis.call("ZCARD", live), most == "0" and {} or redis.call("ZRANGE", live, 0, most - 1, "WITHSCORES")}
  `,
});

/** Takes the least recently used beyond `limit` from a shard, at most so many: two cleaners never take the same. */
export const oldest = defineScript({
  name: "sessions.oldest",
  keys: ["live"],
  args: ["limit", "most"],
  lua: `
    local over = math.min(redis.call("ZCARD", live) - limit, tonumber(most))
    if over <= 0 then return {} end
    local found = redis.call("ZRANGE", live, 0, over - 1)
    redis.call("ZREMRANGEBYRANK", live, 0, over - 1)
    return found
  `,
  reply: asTexts,
});

/**
 * Notes that a session is in use. On the way it drops a few that are over, more than it adds, so the list stays as long as
 * there are live sessions whether a cleaner runs or not; and it goes by itself when none is used any more.
 */
export const noteLive = defineScript({
  name: "sessions.live",
  keys: ["live"],
  args: ["member", "listMs"],
  include: [NOW_MS],
  repeatable: true,
  lua: `
    redis.call("ZADD", live, now, member)
    for _, old in ipairs(redis.call("ZRANGEBYSCORE", live, "-inf", now - listMs, "LIMIT", 0, 3)) do
      redis.call("ZREM", live, old)
    end
    redis.call("PEXPIRE", live, listMs)
    return 1
  `,
});
