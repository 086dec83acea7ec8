/**
 * Each request is one script: what is numbered is stored, and what is counted is there.
 *
 * Ids grow by one from message to message. The first of a chat is made of the time at which the chat began, in microseconds, so a
 * chat that is deleted and made anew never gives a number twice: an old cursor or a late acknowledgement means in the new chat what
 * it meant in the old one, everything before its beginning. They have sixteen digits, which a double and a score hold exactly, and
 * which Lua's own conversion to text does not; so ids are handed to commands as numbers and never joined to text.
 */

import { asListOf, asNumber, asReply, asText, asTexts, asTuple, orNull, wordOf } from "../../base/replies.ts";
import { defineScript, IF_WRITABLE } from "../../base/script.ts";

/** `micros` and `now`, for the paths that need the time: reading it is a command. */
const TIME = `
local micros, now
local function readTime()
  local time = redis.call("TIME")
  micros = time[1] * 1000000 + time[2]
  now = math.floor(micros / 1000)
end
`;

/** No presence lasts longer than its length from now; one that would is from before the server's clock was put back. */
const PRESENT = `
local function mindPresence()
  for _, member in ipairs(redis.call("ZRANGEBYSCORE", presence, "(" .. now + presenceMs, "+inf")) do
    redis.call("ZADD", presence, now + presenceMs, member)
  end
end
`;

/** A chat that nobody has joined yet; `first` and `last` are then its first id and the one before. */
const BEGIN = `
local function begin()
  redis.call("HSET", meta, "first", micros + 1, "last", micros, "base", micros, "left", micros, "total", 0, "freed", 0)
  return micros + 1, micros
end
`;

/**
 * Each message has the bytes that came before it in the chat's life noted in it (`before`), so what is dropped need not be added up.
 * `dropTo(id, freed)`: the oldest message is `id` from now on. `dropSeen` drops what all have seen, but for the last `keepSeen`.
 */
const DROP = `
local function before(entry)
  return tonumber(entry[2][2]:match("^%d+ (%d+) "))
end
local function dropTo(id, freed)
  redis.call("XTRIM", log, "MINID", id)
  redis.call("HSET", meta, "first", id, "freed", freed)
end
local function dropSeen(first, last, total)
  local behind = redis.call("ZRANGE", seen, 0, 0, "WITHSCORES")
  local upTo = math.min(tonumber(behind[2]), last - keepSeen)
  if upTo < first then return end
  if upTo < last then
    dropTo(upTo + 1, before(redis.call("XRANGE", log, upTo + 1, upTo + 1)[1]))
  else
    redis.call("DEL", log)
    redis.call("HSET", meta, "first", last + 1, "freed", total)
  end
end
`;

/**
 * { id, 1 if it had been sent before } · nil: there is no such chat, or the sender is not in it.
 *
 * `recipient`: begins a mailbox of theirs if there is none; empty for a chat. `anyone`: senders need not be members. `idKey` is the
 * sender's own id of the message, with the sender. Those ids are kept for `keepIdsMs` at least, and for less only when there come
 * more than `rememberMost` in that time: in two hashes, of which one fills while the other is there to be asked.
 */
export const send = defineScript({
  name: "chats.send",
  keys: ["meta", "log", "seen", "ids", "oldIds"],
  args: [
    "sender",
    "idKey",
    "ownId",
    "body",
    "recipient",
    "anyone",
    "markSeen",
    "maxMessages",
    "maxBytes",
    "keepSeen",
    "keepIdsMs",
    "rememberMost",
    "channel",
  ],
  include: [TIME, BEGIN, DROP],
  repeatable: true,
  lua: `
    local had = redis.call("HMGET", meta, "first", "last", "total", "freed", "idsFrom", "idsUntil")
    local first, last = tonumber(had[1]), tonumber(had[2])
    local total, freed = tonumber(had[3] or 0), tonumber(had[4] or 0)
    local sent = redis.call("HGET", oldIds, idKey)
    local mayNot = not last and recipient == "" or anyone == "0" and not redis.call("ZSCORE", seen, sender)
    if not sent and (mayNot or not last) then sent = redis.call("HGET", ids, idKey) end
    if sent then return {tonumber(sent), 1} end
    if mayNot then return nil end
    readTime()
    if not last then
      first, last = begin()
      redis.call("ZADD", seen, last, recipient)
    elseif recipient ~= "" and first > last then
      redis.call("PERSIST", meta)
      redis.call("PERSIST", seen)
    end

    local id = last + 1
    if redis.call("HSETNX", ids, idKey, id) == 0 then return {tonumber(redis.call("HGET", ids, idKey)), 1} end
    redis.call("XADD", log, id, sender, now .. " " .. total .. " " .. ownId .. "\\n" .. body)
    total = total + #sender + #ownId + #body
    redis.call("HSET", meta, "last", id, "total", total)
    if now > tonumber(had[6] or 0) or id - had[5] >= tonumber(rememberMost) then
      redis.call("UNLINK", oldIds)
      redis.call("RENAME", ids, oldIds)
      redis.call("PEXPIRE", oldIds, keepIdsMs)
      redis.call("HSET", meta, "idsFrom", id, "idsUntil", now + keepIdsMs)
    elseif id - had[5] == 1 then
      redis.call("PEXPIRE", ids, 2 * keepIdsMs)
    end

    local keepFrom = first
    if id - first >= tonumber(maxMessages) then
      keepFrom = id - maxMessages + 1
      freed = before(redis.call("XRANGE", log, keepFrom, keepFrom)[1])
    end
    while total - freed > tonumber(maxBytes) and keepFrom < id do
      local page = redis.call("XRANGE", log, keepFrom + 1, "+", "COUNT", 64)
      for i = 1, #page do
        keepFrom = keepFrom + 1
        freed = before(page[i])
        if total - freed <= tonumber(maxBytes) then break end
      end
    end
    if keepFrom > first then
      dropTo(keepFrom, freed)
      first = keepFrom
    end
    if markSeen == "1" then
      local at = redis.call("ZSCORE", seen, sender)
      if at and tonumber(at) == last then
        redis.call("ZADD", seen, id, sender)
        dropSeen(first, id, total)
      end
    end
    redis.call("PUBLISH", channel, id)
    return {id, 0}
  `,
  reply: orNull(asTuple(asNumber, asNumber)),
});

/** { what became of it, 1 if that began the chat }. `from`: "now" or "start". */
export const join = defineScript({
  name: "chats.join",
  keys: ["meta", "seen"],
  args: ["member", "from", "maxMembers"],
  include: [TIME, BEGIN],
  repeatable: true,
  lua: `
    if redis.call("ZSCORE", seen, member) then return {"exists", 0} end
    local had = redis.call("HMGET", meta, "first", "last")
    local first, last = tonumber(had[1]), tonumber(had[2])
    local begun = 0
    if not last then
      readTime()
      first, last = begin()
      begun = 1
    elseif redis.call("ZCARD", seen) >= tonumber(maxMembers) then
      return {"full", 0}
    end
    redis.call("ZADD", seen, from == "now" and last or first - 1, member)
    return {"joined", begun}
  `,
  reply: asTuple(wordOf("joined", "exists", "full"), asNumber),
});

/** 0 not a member · 1 left · 2 left, and was the last: everything is gone. */
export const leave = defineScript({
  name: "chats.leave",
  keys: ["meta", "log", "seen", "presence", "ids", "oldIds"],
  args: ["member", "keepSeen", "channel"],
  include: [DROP],
  repeatable: true,
  lua: `
    if redis.call("ZREM", seen, member) == 0 then return 0 end
    redis.call("ZREM", presence, member)
    if redis.call("ZCARD", seen) == 0 then
      redis.call("UNLINK", meta, log, presence, ids, oldIds)
      redis.call("PUBLISH", channel, "gone")
      return 2
    end
    redis.call("HINCRBY", meta, "left", 1)
    local had = redis.call("HMGET", meta, "first", "last", "total")
    dropSeen(tonumber(had[1]), tonumber(had[2]), tonumber(had[3]))
    redis.call("PUBLISH", channel, "left")
    return 1
  `,
  reply: Number,
});

export const remove = defineScript({
  name: "chats.remove",
  keys: ["meta", "log", "seen", "presence", "ids", "oldIds"],
  args: ["channel"],
  repeatable: true,
  lua: `
    local gone = redis.call("UNLINK", meta, log, seen, presence, ids, oldIds)
    redis.call("PUBLISH", channel, "gone")
    return gone
  `,
  reply: (reply) => Number(reply) > 0,
});

/** What a reader gets: entries of the stream as they are, and what to judge them by. */

const LOOK = {
  keys: ["meta", "log", "seen", "presence"],
  args: ["member", "after", "limit", "presenceMs"],
  include: [TIME, IF_WRITABLE],
  repeatable: true,
  lua: `
    local at = redis.call("ZSCORE", seen, member)
    if not at then return nil end
    local had = redis.call("HMGET", meta, "first", "last", "left", "base")
    local first, last = tonumber(had[1]), tonumber(had[2])
    if presenceMs ~= "0" then
      readTime()
      ifWritable("ZADD", presence, now + presenceMs, member)
    end
    local from = math.max(math.min(tonumber(after == "" and at or after), last), tonumber(had[4]))
    local entries = {}
    if from < last then entries = redis.call("XRANGE", log, math.max(from + 1, first), "+", "COUNT", limit) end
    return {first, last, tonumber(had[3]), from, entries}
  `,
  reply: orNull(asTuple(asNumber, asNumber, asNumber, asNumber, asReply)),
} as const;

/**
 * From after `after`, or from what the member has acknowledged; nil if they are not in it. An `after` past the end is one that a
 * failover has forgotten: it counts as the end. One from before the chat began counts as its beginning.
 */
export const look = defineScript({ name: "chats.look", ...LOOK });
export const lookBytes = defineScript({ name: "chats.look", ...LOOK, buffers: true });

/** { first, last, left, entries }: what is new in a chat, for all of its readers in a process; nil if there is no such chat. */
const TAIL = {
  keys: ["meta", "log"],
  args: ["after", "limit"],
  repeatable: true,
  lua: `
    local had = redis.call("HMGET", meta, "first", "last", "left")
    local first, last = tonumber(had[1]), tonumber(had[2])
    if not last then return nil end
    local entries = {}
    local from = math.max(tonumber(after), first - 1, last - limit)
    if from < last then entries = redis.call("XRANGE", log, from + 1, "+", "COUNT", limit) end
    return {first, last, tonumber(had[3]), entries}
  `,
  reply: orNull(asTuple(asNumber, asNumber, asNumber, asReply)),
} as const;

export const tail = defineScript({ name: "chats.tail", ...TAIL });
export const tailBytes = defineScript({ name: "chats.tail", ...TAIL, buffers: true });

export type Place = readonly [first: number, last: number, seen: number];

const PLACE = orNull(asTuple(asNumber, asNumber, asNumber));

/** { first, last, seen } · nil: not a member. `emptyMs`: how long a mailbox that was read to its end is kept; 0 for a chat. */
export const acknowledge = defineScript({
  name: "chats.acknowledge",
  keys: ["meta", "log", "seen"],
  args: ["member", "id", "keepSeen", "emptyMs"],
  include: [DROP],
  repeatable: true,
  lua: `
    local at = tonumber(redis.call("ZSCORE", seen, member) or -1)
    if at < 0 then return nil end
    local had = redis.call("HMGET", meta, "first", "last", "total")
    local first, last = tonumber(had[1]), tonumber(had[2])
    local upTo = math.min(tonumber(id), last)
    if upTo > at then
      redis.call("ZADD", seen, upTo, member)
      dropSeen(first, last, tonumber(had[3]))
      if emptyMs ~= "0" and upTo == last then
        redis.call("PEXPIRE", meta, emptyMs)
        redis.call("PEXPIRE", seen, emptyMs)
      end
      at = upTo
    end
    return {first, last, at}
  `,
  reply: PLACE,
});

/** { first, last, seen } · nil: not a member. */
export const place = defineScript({
  name: "chats.place",
  keys: ["meta", "seen"],
  args: ["member"],
  repeatable: true,
  lua: `
    local at = redis.call("ZSCORE", seen, member)
    if not at then return nil end
    local had = redis.call("HMGET", meta, "first", "last")
    return {tonumber(had[1]), tonumber(had[2]), tonumber(at)}
  `,
  reply: PLACE,
});

/** Whether they are a member; then they are present for `presenceMs`, or no longer if that is 0. */
export const presence = defineScript({
  name: "chats.presence",
  keys: ["seen", "presence"],
  args: ["member", "presenceMs"],
  include: [TIME],
  repeatable: true,
  lua: `
    if not redis.call("ZSCORE", seen, member) then return 0 end
    if presenceMs == "0" then
      redis.call("ZREM", presence, member)
    else
      readTime()
      redis.call("ZADD", presence, now + presenceMs, member)
    end
    return 1
  `,
  reply: (reply) => reply === 1,
});

/** Members whose presence has not ended. */
export const present = defineScript({
  name: "chats.present",
  keys: ["presence"],
  args: ["limit", "presenceMs"],
  include: [TIME, PRESENT],
  repeatable: true,
  lua: `
    readTime()
    mindPresence()
    return redis.call("ZRANGEBYSCORE", presence, "(" .. now, "+inf", "LIMIT", 0, limit)
  `,
  reply: asTexts,
});

/** Some members, the furthest behind first: { first, last, { member, seen, 1 if present } each }. */
export const members = defineScript({
  name: "chats.members",
  keys: ["meta", "seen", "presence"],
  args: ["start", "limit", "presenceMs"],
  include: [TIME, PRESENT],
  repeatable: true,
  lua: `
    readTime()
    mindPresence()
    local had = redis.call("HMGET", meta, "first", "last")
    local rows = {}
    local found = redis.call("ZRANGE", seen, start, start + limit - 1, "WITHSCORES")
    for i = 1, #found, 2 do
      local untilMs = redis.call("ZSCORE", presence, found[i])
      rows[#rows + 1] = {found[i], tonumber(found[i + 1]), untilMs and tonumber(untilMs) > now and 1 or 0}
    end
    return {tonumber(had[1] or 0), tonumber(had[2] or 0), rows}
  `,
  reply: asTuple(asNumber, asNumber, asListOf(asTuple(asText, asNumber, asNumber))),
});

/** { first, last, bytes, members, present, the lowest seen }; nil if there is no such chat. */
export const inspect = defineScript({
  name: "chats.inspect",
  keys: ["meta", "seen", "presence"],
  args: ["presenceMs"],
  include: [TIME, PRESENT],
  repeatable: true,
  lua: `
    local had = redis.call("HMGET", meta, "first", "last", "total", "freed")
    if not had[2] then return nil end
    readTime()
    mindPresence()
    local behind = redis.call("ZRANGE", seen, 0, 0, "WITHSCORES")
    return {
      tonumber(had[1]), tonumber(had[2]), had[3] - had[4], redis.call("ZCARD", seen),
      redis.call("ZCOUNT", presence, "(" .. now, "+inf"), tonumber(behind[2] or had[2]),
    }
  `,
  reply: orNull(asTuple(asNumber, asNumber, asNumber, asNumber, asNumber, asNumber)),
});

/** Notes that a member is about to be, or is, in a chat. 0: they are in too many. */
export const note = defineScript({
  name: "chats.note",
  keys: ["chats"],
  args: ["chat", "token", "most"],
  repeatable: true,
  lua: `
    if redis.call("HEXISTS", chats, chat) == 0 and redis.call("HLEN", chats) >= tonumber(most) then return 0 end
    redis.call("HSET", chats, chat, token)
    return 1
  `,
  reply: (reply) => reply === 1,
});

/** Takes the note back, unless there is another by now. */
export const forget = defineScript({
  name: "chats.forget",
  keys: ["chats"],
  args: ["chat", "token"],
  repeatable: true,
  lua: `
    if redis.call("HGET", chats, chat) ~= token then return 0 end
    return redis.call("HDEL", chats, chat)
  `,
});
