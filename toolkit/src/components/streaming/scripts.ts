/**
 * The log in Lua.
 *
 * `known` has exactly what is in the log, so that publishing again does nothing for as long as the event is there. `lost` is the
 * last event that was dropped: a reader whose cursor stands before it has missed something. Where the log itself is gone (it
 * expires when nobody publishes), all up to `top` was dropped.
 */

import { asNumber, asPairs, asText, asTextOrNull, asTexts, asTuple } from "../../base/replies.ts";
import { defineScript, IF_WRITABLE, NOW_MS } from "../../base/script.ts";
import type { Reply } from "../../connection/port.ts";

/** How many events one call may drop: the log goes down to its limits over some calls if an option was lowered. */
const MOST_DROPPED = 128;

const BEGIN = `
${IF_WRITABLE}
local meta = redis.call("HMGET", meta_key, "top", "lost", "bytes", "checked", "epoch")
local top, lost, epoch = meta[1], meta[2], meta[5]
if not top then
  -- Behind all that a log of this name can have held until now, so that cursors from before are known as such.
  top = string.format("%.0f-0", now + 1)
  lost = top
  epoch = time[1] .. "." .. time[2]
  -- A reader of a full server gets what there is: nothing yet.
  ifWritable("HSET", meta_key, "top", top, "lost", lost, "epoch", epoch)
end
`;

/**
 * Adds an event once. A delete takes the status out of the log, and keeps it from coming back. Answers the event's cursor; nil for
 * a status that was deleted before it came.
 */
export const publish = defineScript({
  name: "streaming.publish",
  keys: ["log", "known", "meta_key"],
  args: ["member", "other", "kind", "event", "maxEvents", "maxBytes", "keepMs", "wake"],
  include: [NOW_MS, BEGIN],
  repeatable: true,
  lua: `
    local before = redis.call("HGET", known, member)
    if before then return before end
    local length = redis.call("XLEN", log)
    local bytes = tonumber(meta[3]) or 0
    if length == 0 then
      bytes = 0
      lost = top
    end
    local pair = redis.call("HGET", known, other)
    if pair and kind == "status" then return false end
    if pair then
      local found = redis.call("XRANGE", log, pair, pair)[1]
      if found then
        redis.call("XDEL", log, pair)
        bytes = bytes - #found[2][2] - #found[2][4]
        length = length - 1
      end
      redis.call("HDEL", known, other)
    end
    -- By the clock; but always behind the last one, also if the log is gone or the clock was put back.
    local id = "*"
    local ms, nth = top:match("^(%d+)-(%d+)$")
    if tonumber(ms) >= now then id = string.format("%s-%.0f", ms, nth + 1) end
    id = redis.call("XADD", log, id, "k", member, "e", event)
    redis.call("HSET", known, member, id)
    bytes = bytes + #member + #event
    length = length + 1

    -- Some more than needed at once, so that not every call has to.
    maxEvents, maxBytes = tonumber(maxEvents), tonumber(maxBytes)
    local checked = tonumber(meta[4]) or 0
    local over = length > maxEvents or bytes > maxBytes
    if over or now - checked >= 1000 or now < checked then
      checked = now
      local toEvents = over and math.ceil(maxEvents * 0.99) or maxEvents
      local toBytes = over and maxBytes * 0.99 or maxBytes
      local oldest = now - keepMs
      for _, entry in ipairs(redis.call("XRANGE", log, "-", "+", "COUNT", ${MOST_DROPPED})) do
        local stale = tonumber(entry[1]:match("^%d+")) < oldest
        if entry[1] == id or not (stale or length > toEvents or bytes > toBytes) then break end
        redis.call("XDEL", log, entry[1])
        redis.call("HDEL", known, entry[2][2])
        bytes = bytes - #entry[2][2] - #entry[2][4]
        length = length - 1
        lost = entry[1]
      end
    end
    redis.call("HSET", meta_key, "top", id, "lost", lost, "bytes", bytes, "checked", checked)
    redis.call("PEXPIRE", log, keepMs)
    redis.call("PEXPIRE", known, keepMs)
    redis.call("PUBLISH", wake, id)
    return id
  `,
  reply: (reply: Reply): string | null => asTextOrNull(reply),
});

export interface Page {
  /** Everything up to here may be missing. */
  readonly lost: string;
  /** The last event that there was. */
  readonly top: string;
  /** Another one: the log was lost with all that is known of it, and another has begun. */
  readonly epoch: string;
  /** Cursor and JSON, in order. */
  readonly entries: readonly (readonly [cursor: string, json: string])[];
}

const asPage = asTuple(asText, asText, asText, asTexts);

const toPage = (reply: Reply): Page => {
  const [lost, top, epoch, flat] = asPage(reply);
  return { lost, top, epoch, entries: asPairs(flat) };
};

const ANSWER = `
local function answer(entries, first, last, step)
  if redis.call("XLEN", log) == 0 then lost = top end
  local flat = {}
  for at = first, last, step do
    flat[#flat + 1] = entries[at][1]
    flat[#flat + 1] = entries[at][2][4]
  end
  return {lost, top, epoch, flat}
end
`;

/** What stands behind a cursor. */
export const read = defineScript({
  name: "streaming.read",
  keys: ["log", "meta_key"],
  args: ["after", "count"],
  include: [NOW_MS, BEGIN, ANSWER],
  repeatable: true,
  lua: `
    local entries = redis.call("XRANGE", log, "(" .. after, "+", "COUNT", count)
    return answer(entries, 1, #entries, 1)
  `,
  reply: toPage,
});

/** The last events. */
export const tail = defineScript({
  name: "streaming.tail",
  keys: ["log", "meta_key"],
  args: ["count"],
  include: [NOW_MS, BEGIN, ANSWER],
  repeatable: true,
  lua: `
    local entries = redis.call("XREVRANGE", log, "+", "-", "COUNT", count)
    return answer(entries, #entries, 1, -1)
  `,
  reply: toPage,
});

/** { events, bytes, lost, top }. */
export const inspect = defineScript({
  name: "streaming.inspect",
  keys: ["log", "meta_key"],
  include: [NOW_MS, BEGIN],
  repeatable: true,
  lua: `
    local events = redis.call("XLEN", log)
    if events == 0 then return {0, "0", top, top} end
    return {events, meta[3] or "0", lost, top}
  `,
  reply: asTuple(asNumber, asText, asText, asText),
});

/** Notes a token of a user; 0 when they have as many as they may. Those that have ended make room first. */
export const issue = defineScript({
  name: "streaming.issue",
  keys: ["tokens"],
  args: ["id", "secretHash", "user", "scopes", "label", "ttlMs", "maxTokens"],
  include: [NOW_MS],
  lua: `
    if redis.call("HLEN", tokens) >= tonumber(maxTokens) then
      local all = redis.call("HGETALL", tokens)
      for at = 1, #all, 2 do
        local ends = cjson.decode(all[at + 1])[5]
        if ends > 0 and ends <= now then redis.call("HDEL", tokens, all[at]) end
      end
      if redis.call("HLEN", tokens) >= tonumber(maxTokens) then return {0, 0} end
    end
    local ends = 0
    if tonumber(ttlMs) > 0 then ends = now + ttlMs end
    redis.call("HSET", tokens, id, cjson.encode({secretHash, user, scopes, now, ends, label}))
    -- The hash goes with the last of its tokens, unless one of them has no end.
    local lasts = ends
    for _, record in ipairs(redis.call("HVALS", tokens)) do
      local each = cjson.decode(record)[5]
      if each == 0 or lasts == 0 then lasts = 0 else lasts = math.max(lasts, each) end
    end
    if lasts == 0 then redis.call("PERSIST", tokens) else redis.call("PEXPIREAT", tokens, lasts) end
    return {now, ends}
  `,
  reply: asTuple(asNumber, asNumber),
});

/** The token's record, and the server's time to judge it by. */
export const lookUp = defineScript({
  name: "streaming.lookUp",
  keys: ["tokens"],
  args: ["id"],
  include: [NOW_MS],
  repeatable: true,
  lua: `return {redis.call("HGET", tokens, id), now}`,
  reply: asTuple(asTextOrNull, asNumber),
});

/** Ends one token, or with "" all of them; tells the processes that hold connections open by them. Answers how many ended. */
export const revoke = defineScript({
  name: "streaming.revoke",
  keys: ["tokens"],
  args: ["id", "tag", "channel"],
  repeatable: true,
  lua: `
    local ended
    if id == "" then
      ended = redis.call("HLEN", tokens)
      redis.call("DEL", tokens)
    else
      ended = redis.call("HDEL", tokens, id)
    end
    redis.call("PUBLISH", channel, tag .. "." .. id)
    return ended
  `,
  reply: Number,
});
