/** Counters of a window, for stores of rate limiters: one script a hit, so that no counter stays without an end. */
import { asNumber, asTuple } from "../../base/replies.ts";
import { defineScript } from "../../base/script.ts";

const asHits = asTuple(asNumber, asNumber);

export interface Hits {
  readonly count: number;
  /** Until the window ends. */
  readonly remainingMs: number;
}

const hitsOf = ([count, remainingMs]: readonly [number, number]): Hits => ({
  count,
  remainingMs: Math.max(0, remainingMs),
});

/**
 * Counts a hit. `beyond`: what one past `most` does to the window; "extend" begins it anew, "backoff" doubles it with each, "" leaves it.
 * Not repeatable: a hit whose answer is lost is an error to the caller, not a second hit.
 */
export const hit = defineScript({
  name: "rate-limit.hit",
  keys: ["counter"],
  args: ["windowMs", "most", "beyond"],
  lua: `
    local count = redis.call("INCR", counter)
    local left = redis.call("PTTL", counter)
    local window = tonumber(windowMs)
    local over = count - tonumber(most)
    if left < 0 or (beyond == "extend" and over > 0) then
      left = window
      redis.call("PEXPIRE", counter, left)
    elseif beyond == "backoff" and over > 0 then
      left = math.min(window * 2 ^ (over - 1), 31536000000)
      redis.call("PEXPIRE", counter, string.format("%.0f", left))
    end
    return {count, left}
  `,
  reply: (reply) => hitsOf(asHits(reply)),
});

/** How it stands, without counting. */
export const peek = defineScript({
  name: "rate-limit.peek",
  keys: ["counter"],
  args: [],
  readOnly: true,
  lua: `
    return {tonumber(redis.call("GET", counter) or "0"), redis.call("PTTL", counter)}
  `,
  reply: (reply) => hitsOf(asHits(reply)),
});

/** Takes a hit back; never below none, and never a counter without an end. */
export const unhit = defineScript({
  name: "rate-limit.unhit",
  keys: ["counter"],
  args: [],
  lua: `
    if tonumber(redis.call("GET", counter) or "0") > 0 then redis.call("DECR", counter) end
    return 1
  `,
  reply: asNumber,
});
