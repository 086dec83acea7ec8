/** Who follows which layout, and the fenced steps of a move. */
import { defineScript, NOW_MS } from "../../base/script.ts";

const FORGET_MS = 86_400_000;

/**
 * Gives a process the right to use a layout for a while, if it is the present one; answers the present version. A process
 * that follows an older layout keeps the time it has and gets no more: nobody can come back to a layout that was left.
 * Who has not been heard of for a day is forgotten. A key's own life comes first: a home that is full refuses a script only
 * before its first write, and must not stop the fleet.
 */
export const renew = defineScript({
  name: "fleet.renew",
  keys: ["current", "members", "seen"],
  args: ["member", "version", "untilMs"],
  include: [NOW_MS],
  repeatable: true,
  lua: `
    local present = redis.call("HGET", current, "version") or "0"
    if present == version then
      redis.call("PEXPIRE", members, ${FORGET_MS})
      redis.call("ZADD", members, now + untilMs, member)
      redis.call("HSET", seen, member, version .. " " .. untilMs)
      for _, gone in ipairs(redis.call("ZRANGEBYSCORE", members, "-inf", now - ${FORGET_MS}, "LIMIT", 0, 10)) do
        redis.call("ZREM", members, gone)
        redis.call("HDEL", seen, gone)
      end
      redis.call("PEXPIRE", members, ${FORGET_MS})
      redis.call("PEXPIRE", seen, ${FORGET_MS})
    end
    return present
  `,
  reply: (reply) => Number(reply),
});

/**
 * How many processes may still use a layout older than this version. Their right to it has ended when the caller, who saw it
 * replaced before, has waited for as long as it lasts. That is measured by the caller: the server's clock may be set meanwhile.
 */
export const behind = defineScript({
  name: "fleet.behind",
  keys: ["members", "seen"],
  args: ["version", "waitedMs"],
  repeatable: true,
  lua: `
    local count = 0
    for _, member in ipairs(redis.call("ZRANGE", members, 0, -1)) do
      local follows, untilMs = string.match(redis.call("HGET", seen, member) or "0 0", "^(%d+) ?(%d*)$")
      if tonumber(follows) < tonumber(version) then
        if tonumber(waitedMs) > (tonumber(untilMs) or 0) then
          redis.call("ZREM", members, member)
          redis.call("HDEL", seen, member)
        else
          count = count + 1
        end
      end
    end
    return count
  `,
  reply: (reply) => Number(reply),
});

/** A process that uses the fleet no more. */
export const leave = defineScript({
  name: "fleet.leave",
  keys: ["members", "seen"],
  args: ["member"],
  repeatable: true,
  lua: `
    redis.call("ZREM", members, member)
    return redis.call("HDEL", seen, member)
  `,
});

/** A larger number takes over from a smaller one; a smaller one is refused from then on. */
export const RAISE_FENCE = `
  if tonumber(redis.call("GET", KEYS[1]) or 0) > tonumber(ARGV[1]) then return 0 end
  redis.call("SET", KEYS[1], ARGV[1])
  return 1
`;

/** ARGV: fence, then for each key but the first its payload and its time to live. */
export const RESTORE_FENCED = `
  if redis.call("GET", KEYS[1]) ~= ARGV[1] then return redis.error_reply("FENCED another one moves these slots now") end
  for i = 2, #KEYS do
    redis.call("RESTORE", KEYS[i], ARGV[i * 2 - 1], ARGV[i * 2 - 2], "REPLACE")
  end
  return #KEYS - 1
`;

/** ARGV: fence. */
export const UNLINK_FENCED = `
  if redis.call("GET", KEYS[1]) ~= ARGV[1] then return redis.error_reply("FENCED another one moves these slots now") end
  local count = 0
  for i = 2, #KEYS do count = count + redis.call("UNLINK", KEYS[i]) end
  return count
`;
