/**
 * The Lua of barriers.
 *
 *   state     hash  generation → the last one released; parties; resets; =<party> → the arrival of a party that has a name
 *   arrived   zset  arrival → end of its lease by the server's clock
 *   outcomes  zset  arrival → 4 × generation + what: 0 released, 1 released as the last to come, 2 replaced
 *
 * An arrival is a random token and the name of its party: `<22 characters>:<party>`. Rules, all kept within one script:
 *
 *  1. A generation is released by the script that brings the arrivals with a valid lease to the number of parties, and nowhere else.
 *     That script writes the outcome of each of them, empties `arrived` and only then tells.
 *  2. An arrival that is repeated with the same token gets its outcome, if there is one. So a lost answer costs nothing.
 *  3. A party that has a name has one arrival. A new one takes the place of the old, which is told that it was replaced; so a process
 *     that died and was started again does not count twice.
 *  4. An arrival whose lease has run out does not count. Its process, if it lives, arrives again with its next look.
 *  5. No lease ends later than its length from now: where one would, the server's clock was put back, and its end is brought forward.
 *  6. Outcomes are kept for some generations, and with the other keys for `keepMs` after the last use.
 */
import { inPairs } from "../../base/lists.ts";
import { asNumber, asTexts, asTuple, wordOf } from "../../base/replies.ts";
import { defineScript, NOW_MS } from "../../base/script.ts";
import type { Reply } from "../../connection/port.ts";

const KEYS = ["state", "arrived", "outcomes"] as const;
/** Arrivals that slept through more generations than this are told that they have lost their place. */
const KEPT_GENERATIONS = 16;

const PARTS = `
local KINDS = {[0] = "released", [1] = "last", [2] = "replaced"}

local function partyOf(who)
  return string.sub(who, 24)
end

local function leave(who)
  redis.call("ZREM", arrived, who)
  local party = partyOf(who)
  if party ~= "" and redis.call("HGET", state, "=" .. party) == who then redis.call("HDEL", state, "=" .. party) end
end

local function outcomeOf(who)
  local score = redis.call("ZSCORE", outcomes, who)
  if not score then return nil end
  return {KINDS[score % 4], math.floor(score / 4), 0, 0}
end
`;

const asStatus = wordOf("waiting", "released", "last", "replaced", "reset", "conflict", "withdrawn");

export interface Arrival {
  readonly status: ReturnType<typeof asStatus>;
  /** Of what was released; of `conflict` the number of parties that the others have. */
  readonly generation: number;
  /** How many have come. */
  readonly count: number;
  readonly resets: number;
}

const ARRIVAL = asTuple(asStatus, asNumber, asNumber, asNumber);

function arrival(reply: Reply): Arrival {
  const [status, generation, count, resets] = ARRIVAL(reply);
  return { status, generation, count, resets };
}

/** Comes, or comes again: `again` is "" at first, then the number of resets that the first answer told. */
export const arrive = defineScript({
  name: "barriers.arrive",
  keys: KEYS,
  args: ["token", "parties", "leaseMs", "keepMs", "again", "channel"],
  include: [NOW_MS, PARTS],
  lua: `
    local known = outcomeOf(token)
    if known then return known end
    local noted = redis.call("HMGET", state, "generation", "parties", "resets")
    local generation, resets = tonumber(noted[1] or 0), tonumber(noted[3] or 0)
    if again ~= "" and tonumber(again) ~= resets then return {"reset", generation, 0, resets} end
    local latest = now + leaseMs
    for _, who in ipairs(redis.call("ZRANGEBYSCORE", arrived, "(" .. string.format("%.0f", latest), "+inf")) do
      redis.call("ZADD", arrived, latest, who)
    end
    for _, who in ipairs(redis.call("ZRANGEBYSCORE", arrived, "-inf", now)) do
      if who ~= token then leave(who) end
    end
    local isIn = redis.call("ZSCORE", arrived, token)
    if noted[2] and noted[2] ~= parties and redis.call("ZCARD", arrived) > (isIn and 1 or 0) then
      return {"conflict", tonumber(noted[2]), 0, resets}
    end
    local party = partyOf(token)
    if party ~= "" then
      local other = redis.call("HGET", state, "=" .. party)
      if other and other ~= token then
        if again ~= "" then return {"replaced", generation, 0, resets} end
        redis.call("ZREM", arrived, other)
        redis.call("ZADD", outcomes, (generation + 1) * 4 + 2, other)
        redis.call("PEXPIRE", outcomes, keepMs)
        redis.call("PUBLISH", channel, "replaced")
      end
    end
    redis.call("ZADD", arrived, latest, token)
    redis.call("HSET", state, "parties", parties)
    if party ~= "" then redis.call("HSET", state, "=" .. party, token) end
    local count = redis.call("ZCARD", arrived)
    if count < tonumber(parties) then
      redis.call("PEXPIRE", state, keepMs)
      redis.call("PEXPIRE", arrived, keepMs)
      return {"waiting", generation, count, resets}
    end
    generation = generation + 1
    for _, who in ipairs(redis.call("ZRANGE", arrived, 0, -1)) do
      redis.call("ZADD", outcomes, generation * 4 + (who == token and 1 or 0), who)
      if partyOf(who) ~= "" then redis.call("HDEL", state, "=" .. partyOf(who)) end
    end
    redis.call("DEL", arrived)
    redis.call("ZREMRANGEBYSCORE", outcomes, "-inf", (generation - ${KEPT_GENERATIONS}) * 4 + 3)
    redis.call("HSET", state, "generation", generation)
    redis.call("PEXPIRE", state, keepMs)
    redis.call("PEXPIRE", outcomes, keepMs)
    redis.call("PUBLISH", channel, "released")
    return {"last", generation, count, resets}
  `,
  reply: arrival,
  repeatable: true,
});

/** Goes, unless what was waited for has come already. */
export const withdraw = defineScript({
  name: "barriers.withdraw",
  keys: KEYS,
  args: ["token"],
  include: [PARTS],
  lua: `
    local known = outcomeOf(token)
    if known then return known end
    leave(token)
    return {"withdrawn", 0, 0, 0}
  `,
  reply: arrival,
  repeatable: true,
});

/**
 * 1 while it counts; 0 where it has been counted, or its lease has run out: then its process asks. Only keys that are there while
 * somebody waits: in a slot that is being moved, a server refuses a script with one that is not.
 */
export const renewArrival = defineScript({
  name: "barriers.renew",
  whileMoving: true,
  keys: ["state", "arrived"],
  args: ["token", "leaseMs", "keepMs"],
  lua: `
    if not redis.call("ZSCORE", arrived, token) then return 0 end
    local time = redis.call("TIME")
    redis.call("PEXPIRE", arrived, keepMs)
    redis.call("PEXPIRE", state, keepMs)
    redis.call("ZADD", arrived, "XX", time[1] * 1000 + math.floor(time[2] / 1000) + leaseMs, token)
    return 1
  `,
  reply: asNumber,
  repeatable: true,
});

export interface BarrierState {
  readonly generation: number;
  readonly arrived: number;
  readonly resets: number;
  readonly waiting: readonly { readonly id: string | null; readonly validForMs: number }[];
}

const STATE = asTuple(asNumber, asNumber, asNumber, asTexts);
/** How many of the waiting parties are told at most. */
const MOST_TOLD = 100;
/** Of an arrival, before the name of its party. */
const TOKEN = 23;

export const readBarrier = defineScript({
  name: "barriers.read",
  keys: KEYS,
  include: [NOW_MS],
  lua: `
    local noted = redis.call("HMGET", state, "generation", "resets")
    local count = redis.call("ZCOUNT", arrived, "(" .. string.format("%.0f", now), "+inf")
    local told = {}
    local live = redis.call("ZRANGEBYSCORE", arrived, "(" .. string.format("%.0f", now), "+inf", "WITHSCORES", "LIMIT", 0, ${MOST_TOLD})
    for at = 1, #live, 2 do
      told[at], told[at + 1] = live[at], string.format("%.0f", live[at + 1] - now)
    end
    return {tonumber(noted[1] or 0), count, tonumber(noted[2] or 0), told}
  `,
  reply: (reply): BarrierState => {
    const [generation, arrived, resets, told] = STATE(reply);
    const waiting = inPairs(told).map(([who, left]) => ({
      id: who.slice(TOKEN) === "" ? null : who.slice(TOKEN),
      validForMs: Number(left),
    }));
    return { generation, arrived, resets, waiting };
  },
  readOnly: true,
});

/** Sends all waiters away; how many. `seen` is the number of resets before, so that a repeated call resets once. */
export const resetBarrier = defineScript({
  name: "barriers.reset",
  keys: KEYS,
  args: ["seen", "keepMs", "channel"],
  include: [PARTS],
  lua: `
    local resets = tonumber(redis.call("HGET", state, "resets") or 0)
    if resets ~= tonumber(seen) then return 0 end
    local waiting = redis.call("ZRANGE", arrived, 0, -1)
    for _, who in ipairs(waiting) do leave(who) end
    redis.call("HSET", state, "resets", resets + 1)
    redis.call("PEXPIRE", state, keepMs)
    redis.call("PUBLISH", channel, "reset")
    return #waiting
  `,
  reply: asNumber,
  repeatable: true,
});
