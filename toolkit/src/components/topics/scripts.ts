/**
 * The Lua of topics that keep their messages.
 *
 *   log      stream  <ms>-<number> → d payload. The number counts messages, the time never goes back; so ids only grow, a range of
 *                    time is a range of ids, and the difference of two numbers is how many messages lie between.
 *   meta     hash    seq, ms: of the last message
 *   ids, sent        ids that producers chose: zset id → ms, hash id → message
 *   groups   zset    group → when it was last used
 *   group    hash    seq, id: up to where it was delivered; delivered, acknowledged, failed, missed, deaths: counts;
 *                    m<id> → "<attempts> <ms> <token> <error>" of a delivery that has not ended
 *   pending  zset    message → when it is due again: the end of its lease, or of the pause after a failure
 *   dead, letters    zset message → a number that counts deaths; hash message → "<attempts>;<ms>;<error>", d<message> → payload
 *
 * Rules, all kept within one script:
 *
 *  1. A delivery belongs to the token and the attempt that were given with it. Only they acknowledge, fail or renew it; who comes late
 *     changes nothing.
 *  2. A message is delivered again when its lease has run out, or its pause is over; what is due again comes before what is new. After
 *     so many attempts it is a dead letter, with its payload, which the retention of the log does not touch.
 *  3. Retention wins: what a group has not read by then is gone. It is counted (missed), by the numbers of messages.
 *  4. Nothing is due later than its own length from now: where it would be, the server's clock was put back, and it is brought forward.
 *
 * Groups are not those of Redis (XGROUP), which know only how long a message was idle: no pause after a failure, no lease of a message's
 * own, no lag before Redis 7, and entries without a message once the stream was trimmed.
 */
import { asBytes, asList, asNumber, asReply } from "../../base/replies.ts";
import { defineScript, NOW_MS } from "../../base/script.ts";
import type { Reply } from "../../connection/port.ts";

const GROUP_KEYS = ["log", "meta", "groups", "group", "pending", "dead", "letters"] as const;
/** Groups that a topic remembers. */
const MOST_GROUPS = 10_000;
/** Ids of producers that a topic remembers. */
const MOST_IDS = 100_000;

const text = (reply: Reply | undefined): string =>
  typeof reply === "string" ? reply : asBytes(reply).toString("utf8");
const bytesOf = (reply: Reply | undefined): Buffer => (typeof reply === "string" ? Buffer.from(reply) : asBytes(reply));

/** The last message that there was: its number and its time. */
const LAST = `
local function lastMessage()
  local noted = redis.call("HMGET", meta, "seq", "ms")
  if noted[1] then return tonumber(noted[1]), tonumber(noted[2]) end
  local entry = redis.call("XREVRANGE", log, "+", "-", "COUNT", 1)[1]
  if not entry then return 0, 0 end
  local ms, seq = string.match(entry[1], "^(%d+)-(%d+)$")
  return tonumber(seq), tonumber(ms)
end
local function seqOf(id)
  return tonumber(string.match(id, "-(%d+)$"))
end
local function number(value)
  return string.format("%.0f", value)
end
`;

/** What became of a message that was to be published. */
export interface Published {
  /** `duplicate`: a message with this `id` was published within `dedupWindowMs`, and this one was not. */
  readonly status: "published" | "duplicate";
  /** Of the message; for a duplicate, of the one that was published before. */
  readonly id: string;
}

const PUBLISH = `
    local seq, ms = lastMessage()
    ms = math.max(ms, now)
    local published, isNew, isNamed = {}, false, false
    for at = 1, #messages, 2 do
      local id = messages[at]
      local before = id ~= "" and redis.call("HGET", sent, id)
      if before then
        published[#published + 1] = before
        published[#published + 1] = 0
      else
        seq = seq + 1
        local message = number(ms) .. "-" .. number(seq)
        redis.call("XADD", log, message, "d", messages[at + 1])
        if id ~= "" then
          redis.call("ZADD", ids, ms, id)
          redis.call("HSET", sent, id, message)
          isNamed = true
        end
        published[#published + 1] = message
        published[#published + 1] = 1
        isNew = true
      end
    end
    if not isNew then return published end
    redis.call("HSET", meta, "seq", number(seq), "ms", number(ms))
    redis.call("PEXPIRE", meta, metaMs)
    redis.call("XTRIM", log, "MAXLEN", "~", keepCount)
    redis.call("XTRIM", log, "MINID", number(math.max(now - keepMs, 0)))
    redis.call("PEXPIRE", log, keepMs)
    if isNamed then
      local old = redis.call("ZRANGEBYSCORE", ids, "-inf", now - dedupMs, "LIMIT", 0, 1000)
      local over = redis.call("ZCARD", ids) - #old - ${MOST_IDS}
      if over > 0 then old = redis.call("ZRANGE", ids, 0, math.min(#old + over, 1000) - 1) end
      for _, each in ipairs(old) do
        redis.call("ZREM", ids, each)
        redis.call("HDEL", sent, each)
      end
      redis.call("PEXPIRE", ids, dedupMs)
      redis.call("PEXPIRE", sent, dedupMs)
    end
    redis.call("PUBLISH", channel, number(seq))
    return published
`;

function publishing(name: string, repeatable: boolean) {
  return defineScript({
    name,
    keys: ["log", "meta", "ids", "sent"],
    args: ["keepCount", "keepMs", "dedupMs", "metaMs", "channel"],
    rest: "messages",
    include: [NOW_MS, LAST],
    lua: PUBLISH,
    reply: (reply): Published[] => {
      const flat = asList(reply);
      const all: Published[] = [];
      for (let at = 0; at < flat.length; at += 2) {
        all.push({ id: text(flat[at]), status: asNumber(flat[at + 1]) === 1 ? "published" : "duplicate" });
      }
      return all;
    },
    repeatable,
  });
}

/** `messages`: the producer's id or "", and the payload, in turn. All are published, or none. */
export const publish = publishing("topics.publish", false);

/** The same for messages that all have an id: it may be repeated. */
export const publishOnce = publishing("topics.publishOnce", true);

export interface Entry {
  readonly id: string;
  readonly payload: Buffer;
}

export interface Read {
  /** The number of the last message that there is. */
  readonly lastSeq: number;
  readonly entries: readonly Entry[];
}

function entriesOf(reply: Reply | undefined): Entry[] {
  return asList(reply).map((each) => {
    const [id, fields] = asList(each);
    return { id: text(id), payload: bytesOf(asList(fields)[1]) };
  });
}

/** Messages after an id, or from one on. `from`: "(<id>", "<id>", "-". */
export const read = defineScript({
  name: "topics.read",
  keys: ["log", "meta"],
  args: ["from", "most"],
  include: [LAST],
  lua: `
    local seq = lastMessage()
    return {seq, redis.call("XRANGE", log, from, "+", "COUNT", most)}
  `,
  reply: (reply): Read => {
    const [seq, entries] = asList(reply);
    return { lastSeq: asNumber(seq), entries: entriesOf(entries) };
  },
  readOnly: true,
  buffers: true,
});

/** Where a follower begins: the id before the first message that it is to get. From a time on, or after a message. */
const POSITION = `
local function positionFrom(from)
  local seq, ms = lastMessage()
  local last = number(ms) .. "-" .. number(seq)
  if from == "now" then return last end
  local at, nth = string.match(from, "^(%d+)-(%d+)$")
  if at then
    local isLater = tonumber(at) > ms or (tonumber(at) == ms and tonumber(nth) > seq)
    return isLater and last or from
  end
  local entry = redis.call("XRANGE", log, from == "start" and "-" or from, "+", "COUNT", 1)[1]
  if not entry then return last end
  at, nth = string.match(entry[1], "^(%d+)-(%d+)$")
  return at .. "-" .. number(tonumber(nth) - 1)
end
`;

export const position = defineScript({
  name: "topics.position",
  keys: ["log", "meta"],
  args: ["from"],
  include: [LAST, POSITION],
  lua: "return positionFrom(from)",
  reply: text,
  readOnly: true,
});

/** A server that is full refuses a script only before its first write, and what is there must be worked off then, too. */
const MAY_BE_FULL = `redis.call("PEXPIRE", group, idleMs)`;

const GROUP = `
-- Once in a while: the lives of keys are long.
local function touch()
  local since = now - tonumber(redis.call("HGET", group, "touched") or 0)
  if since >= 0 and since < math.min(60000, idleMs / 10) then return end
  redis.call("HSET", group, "touched", number(now))
  redis.call("ZADD", groups, now, name)
  redis.call("ZREMRANGEBYSCORE", groups, "-inf", now - idleMs)
  redis.call("ZREMRANGEBYRANK", groups, 0, -(${MOST_GROUPS} + 1))
  for _, key in ipairs({groups, group, pending, dead, letters}) do redis.call("PEXPIRE", key, idleMs) end
  redis.call("PEXPIRE", meta, metaMs)
end
local function postpone(id, ms)
  redis.call("ZADD", pending, now + ms, id)
  redis.call("PEXPIRE", pending, idleMs)
end
local function ensure(from)
  if redis.call("HEXISTS", group, "id") == 1 then return false end
  local id = positionFrom(from)
  redis.call("HSET", group, "id", id)
  touch()
  return true
end
local function deliveryOf(id)
  local attempts, ms, token, err = string.match(redis.call("HGET", group, "m" .. id) or "", "^(%d+) (%d+) (%S+) (.*)$")
  return tonumber(attempts or 0), tonumber(ms or 0), token, err or ""
end
local function forget(id)
  redis.call("ZREM", pending, id)
  redis.call("HDEL", group, "m" .. id)
  redis.call("HDEL", letters, "d" .. id)
end
local function bury(id, payload, attempts, err, keepDead)
  forget(id)
  -- By a number, not by the time: many may die in a millisecond.
  redis.call("ZADD", dead, redis.call("HINCRBY", group, "deaths", 1), id)
  redis.call("HSET", letters, id, number(attempts) .. ";" .. number(now) .. ";" .. err, "d" .. id, payload)
  redis.call("PEXPIRE", dead, idleMs)
  redis.call("PEXPIRE", letters, idleMs)
  local over = redis.call("ZCARD", dead) - keepDead
  if over > 0 then
    for _, old in ipairs(redis.call("ZRANGE", dead, 0, over - 1)) do
      redis.call("ZREM", dead, old)
      redis.call("HDEL", letters, old, "d" .. old)
    end
  end
end
-- Of a dead letter that is delivered again, it may be kept where the log has it no longer.
local function payloadOf(id)
  local entry = redis.call("XRANGE", log, id, id)[1]
  return entry and entry[2][2] or redis.call("HGET", letters, "d" .. id)
end
`;

export const createGroup = defineScript({
  name: "topics.createGroup",
  keys: GROUP_KEYS,
  args: ["name", "from", "idleMs", "metaMs"],
  include: [NOW_MS, LAST, POSITION, GROUP],
  lua: "return ensure(from) and 1 or 0",
  reply: (reply) => Number(reply) === 1,
  repeatable: true,
});

export interface Delivery extends Entry {
  readonly attempt: number;
}

export interface Taken {
  readonly deliveries: readonly Delivery[];
  /** In how long the first that waits is due again; null where none does. */
  readonly nextMs: number | null;
  /** The number of the last message that the group has been given. */
  readonly seq: number;
}

/**
 * Gives up to `most` messages to a token, for a lease: what is due again first, then what is new. `lost` is the token of a call whose
 * answer was lost: what it was given is due at once, and that was no attempt.
 */
export const take = defineScript({
  name: "topics.take",
  keys: GROUP_KEYS,
  args: ["name", "from", "idleMs", "metaMs", "most", "leaseMs", "attempts", "token", "lost", "maxPending", "keepDead"],
  include: [NOW_MS, LAST, POSITION, GROUP],
  lua: `
    ${MAY_BE_FULL}
    ensure(from)
    local first = redis.call("ZRANGE", pending, 0, 0, "WITHSCORES")
    if first[1] then
      local _, length = deliveryOf(first[1])
      if first[2] - now > length then
        local all = redis.call("ZRANGE", pending, 0, -1, "WITHSCORES")
        for at = 1, #all, 2 do
          local _, own = deliveryOf(all[at])
          if all[at + 1] - now > own then redis.call("ZADD", pending, now + own, all[at]) end
        end
      end
    end
    if lost ~= "" then
      for _, id in ipairs(redis.call("ZRANGE", pending, 0, -1)) do
        local made, _, owner, err = deliveryOf(id)
        if owner == lost then
          redis.call("HSET", group, "m" .. id, number(made - 1) .. " 0 - " .. err)
          redis.call("ZADD", pending, now, id)
        end
      end
    end
    local given = {}
    local function give(id, payload, attempt, err)
      redis.call("HSET", group, "m" .. id, number(attempt) .. " " .. leaseMs .. " " .. token .. " " .. err)
      postpone(id, leaseMs)
      given[#given + 1] = {id, payload, attempt}
    end
    for _, id in ipairs(redis.call("ZRANGEBYSCORE", pending, "-inf", now, "LIMIT", 0, most)) do
      local made, _, _, err = deliveryOf(id)
      local payload = payloadOf(id)
      if not payload then
        forget(id)
        redis.call("HINCRBY", group, "missed", 1)
      elseif made >= tonumber(attempts) then
        bury(id, payload, made, err ~= "" and err or "the lease of the last attempt ran out", tonumber(keepDead))
      else
        give(id, payload, made + 1, err)
      end
    end
    local place = redis.call("HGET", group, "id")
    local room = math.min(most - #given, maxPending - redis.call("ZCARD", pending))
    if room > 0 then
      local entries = redis.call("XRANGE", log, "(" .. place, "+", "COUNT", room)
      local seq = seqOf(place)
      local missed = 0
      for _, entry in ipairs(entries) do
        place = entry[1]
        missed = missed + math.max(seqOf(place) - seq - 1, 0)
        seq = seqOf(place)
        give(place, entry[2][2], 1, "")
      end
      -- What was trimmed before anybody came to it, although nothing is behind it now.
      if #entries == 0 then
        local last, ms = lastMessage()
        if last > seq then
          missed = last - seq
          place = number(ms) .. "-" .. number(last)
        end
      end
      if #entries > 0 or missed > 0 then
        redis.call("HSET", group, "id", place)
        if #entries > 0 then redis.call("HINCRBY", group, "delivered", #entries) end
        if missed > 0 then redis.call("HINCRBY", group, "missed", missed) end
      end
    end
    touch()
    local due = redis.call("ZRANGE", pending, 0, 0, "WITHSCORES")
    return {given, number(due[2] and math.max(0, due[2] - now) or -1), seqOf(place)}
  `,
  reply: (reply): Taken => {
    const [given, next, seq] = asList(reply);
    const deliveries = asList(given).map((each) => {
      const [id, payload, attempt] = asList(each);
      return { id: text(id), payload: bytesOf(payload), attempt: asNumber(attempt) };
    });
    const nextMs = Number(text(asReply(next)));
    return { deliveries, nextMs: nextMs < 0 ? null : nextMs, seq: asNumber(seq) };
  },
  buffers: true,
});

/** `deliveries`: message and attempt, in turn. 1 for each that this token had. */
export const acknowledge = defineScript({
  name: "topics.acknowledge",
  keys: ["group", "pending", "letters"],
  args: ["token"],
  rest: "deliveries",
  lua: `
    local taken = {}
    for at = 1, #deliveries, 2 do
      local id = deliveries[at]
      local made, _, owner = string.match(redis.call("HGET", group, "m" .. id) or "", "^(%d+) (%d+) (%S+) ")
      if made == deliveries[at + 1] and owner == token then
        redis.call("HDEL", group, "m" .. id)
        redis.call("ZREM", pending, id)
        redis.call("HDEL", letters, "d" .. id)
        redis.call("HINCRBY", group, "acknowledged", 1)
        taken[#taken + 1] = 1
      else
        taken[#taken + 1] = 0
      end
    end
    return taken
  `,
  reply: (reply) => asList(reply).map((each) => asNumber(each) === 1),
  repeatable: true,
});

/**
 * Ends an attempt that failed: the message comes again after `delayMs`, or goes to the dead letters (below 0, or after so many
 * attempts). `isAttempt` 0: it was handed back, and this was no attempt.
 */
export const fail = defineScript({
  name: "topics.fail",
  keys: GROUP_KEYS,
  args: ["id", "token", "attempt", "attempts", "delayMs", "isAttempt", "err", "keepDead", "idleMs", "channel"],
  include: [NOW_MS, LAST, GROUP],
  lua: `
    local made, _, owner = deliveryOf(id)
    if owner ~= token or made ~= tonumber(attempt) then return "lost" end
    ${MAY_BE_FULL}
    local counts = isAttempt == "1"
    if counts then redis.call("HINCRBY", group, "failed", 1) end
    if counts and (tonumber(delayMs) < 0 or made >= tonumber(attempts)) then
      local payload = payloadOf(id)
      if payload then
        bury(id, payload, made, err, tonumber(keepDead))
      else
        forget(id)
        redis.call("HINCRBY", group, "missed", 1)
      end
      return "dead"
    end
    local length = number(math.max(tonumber(delayMs), 0))
    redis.call("HSET", group, "m" .. id, number(counts and made or made - 1) .. " " .. length .. " - " .. err)
    postpone(id, length)
    redis.call("PUBLISH", channel, "due")
    return "retry"
  `,
  reply: (reply) => text(reply),
  repeatable: true,
});

/** 1 while the token has the delivery, else 0. */
export const renewDelivery = defineScript({
  name: "topics.renew",
  whileMoving: true,
  keys: ["group", "pending"],
  args: ["id", "token", "attempt", "leaseMs", "idleMs"],
  lua: `
    local made, _, owner = string.match(redis.call("HGET", group, "m" .. id) or "", "^(%d+) (%d+) (%S+) ")
    if made ~= attempt or owner ~= token then return 0 end
    local time = redis.call("TIME")
    redis.call("PEXPIRE", group, idleMs)
    redis.call("PEXPIRE", pending, idleMs)
    redis.call("ZADD", pending, "XX", time[1] * 1000 + math.floor(time[2] / 1000) + leaseMs, id)
    return 1
  `,
  reply: asNumber,
  repeatable: true,
});

/** Sets where a group reads on. What was under way is under way no longer. */
export const seek = defineScript({
  name: "topics.seek",
  keys: GROUP_KEYS,
  args: ["name", "from", "idleMs", "metaMs", "channel"],
  include: [NOW_MS, LAST, POSITION, GROUP],
  lua: `
    local id = positionFrom(from)
    for _, each in ipairs(redis.call("ZRANGE", pending, 0, -1)) do redis.call("HDEL", group, "m" .. each) end
    redis.call("DEL", pending)
    redis.call("HSET", group, "id", id)
    touch()
    redis.call("PUBLISH", channel, "sought")
    return id
  `,
  reply: text,
  repeatable: true,
});

export const inspectGroup = defineScript({
  name: "topics.inspect",
  keys: GROUP_KEYS,
  include: [LAST],
  lua: `
    local noted = redis.call("HMGET", group, "id", "delivered", "acknowledged", "failed", "missed")
    if not noted[1] then return nil end
    local last = lastMessage()
    local found = {noted[1], number(math.max(last - seqOf(noted[1]), 0)), redis.call("ZCARD", pending), redis.call("ZCARD", dead)}
    for at = 2, 5 do found[#found + 1] = tonumber(noted[at] or 0) end
    return found
  `,
  readOnly: true,
});

/** What there is of the topic: how many, the first and the last, and how many there ever were. */
export const inspectTopic = defineScript({
  name: "topics.stats",
  keys: ["log", "meta"],
  include: [LAST],
  lua: `
    local seq = lastMessage()
    local first = redis.call("XRANGE", log, "-", "+", "COUNT", 1)[1]
    local last = redis.call("XREVRANGE", log, "+", "-", "COUNT", 1)[1]
    return {redis.call("XLEN", log), first and first[1] or "", last and last[1] or "", number(seq)}
  `,
  readOnly: true,
});

/** Applies other limits now; how many messages went. */
export const trim = defineScript({
  name: "topics.trim",
  keys: ["log"],
  args: ["keepCount", "keepMs"],
  include: [NOW_MS],
  lua: `
    local gone = redis.call("XTRIM", log, "MAXLEN", keepCount)
    return gone + redis.call("XTRIM", log, "MINID", string.format("%.0f", math.max(now - keepMs, 0)))
  `,
  reply: asNumber,
  repeatable: true,
});

/** A page of dead letters, the oldest first: message, facts, payload. */
export const listDead = defineScript({
  name: "topics.listDead",
  keys: ["dead", "letters"],
  args: ["skip", "most"],
  lua: `
    local found = {}
    for _, id in ipairs(redis.call("ZRANGE", dead, skip, skip + most - 1)) do
      local letter = redis.call("HMGET", letters, id, "d" .. id)
      found[#found + 1] = {id, letter[1] or "0;0;", letter[2] or ""}
    end
    return found
  `,
  readOnly: true,
  buffers: true,
});

/** Dead letters are due at once, under their own ids and with fresh attempts: one of them, or the oldest. How many. */
export const replayDead = defineScript({
  name: "topics.replayDead",
  keys: GROUP_KEYS,
  args: ["most", "id", "idleMs", "channel"],
  include: [NOW_MS, LAST, GROUP],
  lua: `
    local count = 0
    for _, each in ipairs(id ~= "" and {id} or redis.call("ZRANGE", dead, 0, most - 1)) do
      if redis.call("ZREM", dead, each) == 1 then
        redis.call("HDEL", letters, each)
        redis.call("HSET", group, "m" .. each, "0 0 - ")
        postpone(each, 0)
        count = count + 1
      end
    end
    if count > 0 then redis.call("PUBLISH", channel, "replayed") end
    return count
  `,
  reply: asNumber,
});

export const deleteDead = defineScript({
  name: "topics.deleteDead",
  keys: ["dead", "letters"],
  args: ["id"],
  lua: `
    redis.call("HDEL", letters, id, "d" .. id)
    return redis.call("ZREM", dead, id)
  `,
  reply: (reply) => Number(reply) === 1,
  repeatable: true,
});

export const deleteGroup = defineScript({
  name: "topics.deleteGroup",
  keys: ["groups", "group", "pending", "dead", "letters"],
  args: ["name"],
  lua: `
    redis.call("ZREM", groups, name)
    return redis.call("DEL", group, pending, dead, letters)
  `,
  reply: (reply) => Number(reply) > 0,
  repeatable: true,
});
