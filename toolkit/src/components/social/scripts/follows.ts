/**
 * Who follows whom. An edge is in two slots: the subject's (a user, or a list) `following`, and the user's `followers` or `listed`.
 * Each side's count is the size of its own set. The sides are brought together by three steps, each of which may be repeated:
 *
 *   1. the subject notes what is to be, under a version: the server's time, larger than any before for this subject;
 *   2. the other side does it, unless it has seen a larger version of this edge;
 *   3. the subject does it, unless another note has taken the place of this one.
 *
 * The version of an edge that is there is its score. Of one that is gone it is kept for an hour, and what is older than half an
 * hour is refused, so that a step that comes very late cannot bring back what was ended since. A call that dies between the steps
 * leaves its note, and the journal leads others to it.
 */

import { asList, asNumber, asText, asTexts, asTuple, optional, wordOf } from "../../../base/replies.ts";
import { defineScript, NOW_MS } from "../../../base/script.ts";
import { LUA_ORDER } from "../ids.ts";

const KEEP_MS = 3_600_000;
const STALE_MS = KEEP_MS / 2;

const asIntended = asTuple(wordOf("ok"), asText, asNumber);
const asNotIntended = asTuple(wordOf("not-found", "exists", "blocked", "full", "absent"), optional(asText));

/**
 * Step 1. { outcome, version, 1 if there may be an edge on either side }: "ok", or why nothing is to be done: "exists", "absent",
 * "blocked", "full", "not-found".
 */
export const intend = defineScript({
  name: "social.follows.intend",
  keys: ["graph", "following", "blocks"],
  args: ["other", "op", "most"],
  include: [NOW_MS],
  repeatable: true,
  lua: `
    local is = redis.call("HMGET", graph, "closed", "v", "i:" .. other)
    local follows = redis.call("ZSCORE", following, other)
    if op == "add" then
      if is[1] then return {"not-found"} end
      if follows and not is[3] then return {"exists", follows} end
      if redis.call("ZSCORE", blocks, other) then return {"blocked"} end
      if not follows and redis.call("ZCARD", following) >= tonumber(most) then return {"full"} end
    elseif not follows and not is[3] then
      return {"absent"}
    end
    local version = math.max(now, tonumber(is[2] or 0) + 1)
    local text = string.format("%.0f", version)
    redis.call("HSET", graph, "v", text, "i:" .. other, op .. " " .. text)
    return {"ok", text, (follows or is[3]) and 1 or 0}
  `,
  reply: (reply) => (asList(reply)[0] === "ok" ? asIntended(reply) : asNotIntended(reply)),
});

const asAttached = asTuple(wordOf("ok"), asText, asNumber);
const asNotAttached = asTuple(wordOf("not-found", "blocked", "late"), optional(asText), optional(asNumber));

/** Step 2 of following. { "ok", mode, size } or { why not }: "not-found", "blocked", "late" (a newer step was there before). */
export const attach = defineScript({
  name: "social.follows.attach",
  keys: ["set", "left", "blocks", "graph"],
  args: ["subject", "owner", "version"],
  include: [NOW_MS],
  repeatable: true,
  lua: `
    local is = redis.call("HMGET", graph, "closed", "mode")
    if is[1] then return {"not-found"} end
    if redis.call("ZSCORE", blocks, owner) then return {"blocked"} end
    local v = tonumber(version)
    local gone = redis.call("ZSCORE", left, subject)
    if v < now - ${STALE_MS} or (gone and tonumber(gone) >= v) then return {"late"} end
    local there = redis.call("ZSCORE", set, subject)
    if not there or tonumber(there) < v then redis.call("ZADD", set, version, subject) end
    return {"ok", is[2] or "push", redis.call("ZCARD", set)}
  `,
  reply: (reply) => (asList(reply)[0] === "ok" ? asAttached(reply) : asNotAttached(reply)),
});

/** Step 2 of leaving. { mode, size }. */
export const detach = defineScript({
  name: "social.follows.detach",
  keys: ["set", "left", "graph"],
  args: ["subject", "version"],
  include: [NOW_MS],
  repeatable: true,
  lua: `
    local there = redis.call("ZSCORE", set, subject)
    if there and tonumber(there) <= tonumber(version) then redis.call("ZREM", set, subject) end
    redis.call("ZADD", left, "GT", version, subject)
    redis.call("ZREMRANGEBYSCORE", left, "-inf", now - ${KEEP_MS})
    redis.call("PEXPIRE", left, ${KEEP_MS})
    return {redis.call("HGET", graph, "mode") or "push", redis.call("ZCARD", set)}
  `,
  reply: asTuple(asText, asNumber),
});

/**
 * Step 3: "add", "remove", "cancel" for a wish that came to nothing, or "look". 0 when another note has taken its place. A wish may be
 * cancelled only where there was neither an edge nor another's note before: that note would be lost with it, and what it had begun on
 * the other side would never be finished on this one.
 */
export const conclude = defineScript({
  name: "social.follows.conclude",
  keys: ["graph", "following"],
  args: ["other", "op", "version"],
  repeatable: true,
  lua: `
    local note = redis.call("HGET", graph, "i:" .. other)
    local meant = op == "remove" and "remove" or "add"
    if note ~= meant .. " " .. version then return 0 end
    if op == "look" then return 1 end
    redis.call("HDEL", graph, "i:" .. other)
    if op == "add" then redis.call("ZADD", following, version, other)
    elseif op == "remove" then redis.call("ZREM", following, other)
    elseif redis.call("HLEN", graph) == 1 and redis.call("EXISTS", following) == 0 then
      -- Only the version is left, of a wish that nobody has seen: who is no user leaves nothing behind.
      redis.call("DEL", graph)
    end
    return 1
  `,
});

/** Adds to a set of a user's own (blocks, mutes, lists), up to a size: "added", "there", "full", "not-found". */
export const addOwn = defineScript({
  name: "social.follows.own",
  keys: ["graph", "set"],
  args: ["member", "most"],
  include: [NOW_MS],
  repeatable: true,
  lua: `
    if redis.call("HEXISTS", graph, "closed") == 1 then return "not-found" end
    if redis.call("ZSCORE", set, member) then return "there" end
    if redis.call("ZCARD", set) >= tonumber(most) then return "full" end
    redis.call("ZADD", set, now, member)
    return "added"
  `,
});

/** A new list, if there is none: whose it is. Empty for one that was removed lately. */
export const createList = defineScript({
  name: "social.follows.list",
  keys: ["list", "graph"],
  args: ["owner", "name"],
  repeatable: true,
  lua: `
    if redis.call("HEXISTS", graph, "closed") == 1 then return "" end
    local is = redis.call("HGET", list, "owner")
    if is then return is end
    redis.call("HSET", list, "owner", owner, "name", name)
    return owner
  `,
  reply: (reply) => String(reply),
});

/** 0 if there is no such list. */
export const renameList = defineScript({
  name: "social.follows.rename",
  keys: ["list"],
  args: ["name"],
  repeatable: true,
  lua: `
    if redis.call("EXISTS", list) == 0 then return 0 end
    redis.call("HSET", list, "name", name)
    return 1
  `,
});

/**
 * A page of a set in the order of its versions, behind a place: { mode, modeAt, [member, version …] }. The place is that of a
 * member, whether it is still there or not; without a name it is behind all of that version. Ends at `untilVersion`.
 */
export const pageOf = defineScript({
  name: "social.follows.page",
  keys: ["set", "graph"],
  args: ["version", "member", "untilVersion", "limit"],
  include: [LUA_ORDER],
  repeatable: true,
  lua: `
    local from = 0
    if version ~= "" then
      local there = member ~= "" and redis.call("ZSCORE", set, member)
      if there and tonumber(there) == tonumber(version) then
        from = redis.call("ZRANK", set, member) + 1
      elseif member == "" then
        from = redis.call("ZCOUNT", set, "-inf", version)
      else
        -- It has left, or has come again: its place is among those of the same version, by name.
        from = redis.call("ZCOUNT", set, "-inf", "(" .. version)
        for _, name in ipairs(redis.call("ZRANGEBYSCORE", set, version, version)) do
          if not isAfter(name, member) then from = from + 1 end
        end
      end
    end
    local found = redis.call("ZRANGE", set, from, from + limit - 1, "WITHSCORES")
    local last = #found
    if untilVersion ~= "" then while last > 0 and tonumber(found[last]) > tonumber(untilVersion) do last = last - 2 end end
    local kept = {}
    for at = 1, last do kept[at] = found[at] end
    local is = redis.call("HMGET", graph, "mode", "modeAt")
    return {is[1] or "push", is[2] or "0", kept}
  `,
  reply: asTuple(asText, asText, asTexts),
});

/** From one mode to another, and since when it is in that; "" if it was in a third. */
export const setMode = defineScript({
  name: "social.follows.mode",
  keys: ["graph"],
  args: ["from", "to"],
  include: [NOW_MS],
  repeatable: true,
  lua: `
    local is = redis.call("HMGET", graph, "mode", "modeAt")
    local mode = is[1] or "push"
    if mode == to then return is[2] or "0" end
    if mode ~= from then return "" end
    if to == "push" then
      redis.call("HDEL", graph, "mode", "modeAt")
      return "0"
    end
    local at = string.format("%.0f", now)
    redis.call("HSET", graph, "mode", to, "modeAt", at)
    return at
  `,
  reply: (reply) => String(reply),
});
