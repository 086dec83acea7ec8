/** Statuses: each is a key of its author's slot, and the profile has the times of all of them, newest last. */

import { asNumber, asText, asTextOrNull, asTuple, orNull } from "../../../base/replies.ts";
import { defineScript, NOW_MS } from "../../../base/script.ts";
import { EPOCH_MS, LUA_TIME, STEPS_PER_MS } from "../ids.ts";

/**
 * { time, how many the author has }, or nil when there is no such author. With `check`, their record is looked at, too; where that is on
 * another server, the caller has. A request that was seen before gives the
 * status of that time. The status is at `base` and its time, with the author's tag.
 */
export const postStatus = defineScript({
  name: "social.statuses.post",
  keys: ["posts", "profile", "request", "user"],
  args: ["base", "body", "keepMs", "check"],
  include: [NOW_MS, LUA_TIME],
  repeatable: true,
  lua: `
    local is = redis.call("HMGET", posts, "last", "closed")
    if is[2] or (check == "1" and redis.call("HGET", user, "state") ~= "a") then return nil end
    local before = redis.call("GET", request)
    if before then return {before, redis.call("ZCARD", profile)} end
    local steps = (now - ${EPOCH_MS}) * ${STEPS_PER_MS} + math.floor(time[2] % 1000 * ${STEPS_PER_MS} / 1000)
    local last = tonumber(is[1] or 0)
    if steps <= last then steps = last + 1 end
    local at = timeText(steps)
    redis.call("HSET", posts, "last", string.format("%.0f", steps))
    redis.call("SET", base .. at, body)
    redis.call("ZADD", profile, 0, at)
    redis.call("SET", request, at, "PX", keepMs)
    return {at, redis.call("ZCARD", profile)}
  `,
  reply: orNull(asTuple(asText, asNumber)),
});

/** The status that there was, or nil. */
export const removeStatus = defineScript({
  name: "social.statuses.remove",
  keys: ["status", "profile"],
  args: ["at"],
  lua: `
    local body = redis.call("GET", status)
    redis.call("DEL", status)
    redis.call("ZREM", profile, at)
    return body
  `,
  reply: asTextOrNull,
});

/** Notes that a status was reposted, if it is still there. */
export const noteRepost = defineScript({
  name: "social.statuses.reposted",
  keys: ["status", "reposts"],
  args: ["repost"],
  repeatable: true,
  lua: `
    if redis.call("EXISTS", status) == 0 then return 0 end
    redis.call("ZADD", reposts, 0, repost)
    return 1
  `,
});
