/**
 * The Lua of latches. A latch is a number that only goes down; it is open at 0 and never closes again. Who counts has an id that
 * counts once, so a call that is repeated after a lost answer changes nothing.
 */
import { asNumber, asTuple, orNull } from "../../base/replies.ts";
import { defineScript } from "../../base/script.ts";

const KEYS = ["latch", "counted"] as const;

/** Answers 1 where it was made, 2 where the same call made it before, 0 where another made it. */
export const createLatch = defineScript({
  name: "latches.create",
  keys: KEYS,
  args: ["count", "ttlMs", "maker"],
  lua: `
    local maker_ = redis.call("HGET", latch, "maker")
    if maker_ then return maker_ == maker and 2 or 0 end
    redis.call("DEL", counted)
    redis.call("HSET", latch, "maker", maker, "count", count, "left", count)
    redis.call("PEXPIRE", latch, ttlMs)
    return 1
  `,
  reply: asNumber,
  repeatable: true,
});

/** How many are left; nothing where there is no latch. */
export const countDownLatch = defineScript({
  name: "latches.countDown",
  keys: KEYS,
  args: ["id", "by", "channel"],
  lua: `
    local left = tonumber(redis.call("HGET", latch, "left") or -1)
    if left < 0 then return nil end
    if left == 0 or redis.call("SADD", counted, id) == 0 then return left end
    redis.call("PEXPIRE", counted, math.max(redis.call("PTTL", latch), 1))
    left = math.max(0, left - by)
    redis.call("HSET", latch, "left", left)
    if left == 0 then redis.call("PUBLISH", channel, "0") end
    return left
  `,
  reply: orNull(asNumber),
  repeatable: true,
});

export interface LatchState {
  readonly count: number;
  readonly left: number;
  readonly ttlMs: number;
}

const STATE = orNull(asTuple(asNumber, asNumber, asNumber));

export const readLatch = defineScript({
  name: "latches.read",
  keys: ["latch"],
  lua: `
    local known = redis.call("HMGET", latch, "count", "left")
    if not known[2] then return nil end
    return {tonumber(known[1]), tonumber(known[2]), redis.call("PTTL", latch)}
  `,
  reply: (reply): LatchState | null => {
    const state = STATE(reply);
    return state === null ? null : { count: state[0], left: state[1], ttlMs: state[2] };
  },
  readOnly: true,
});

export const deleteLatch = defineScript({
  name: "latches.delete",
  keys: KEYS,
  args: ["channel"],
  lua: `
    local gone = redis.call("DEL", latch, counted)
    if gone > 0 then redis.call("PUBLISH", channel, "deleted") end
    return gone
  `,
  reply: (reply) => Number(reply) > 0,
  repeatable: true,
});
