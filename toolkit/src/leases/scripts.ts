/**
 * The Lua under locks and semaphores: permits of one name, held for a time, given in the order of asking.
 *
 * A name has a limit. A holder has a token, a weight (how many of the permits), a fence and an end. A token begins with
 * the weight and the length of the lease: `<weight>:<lease ms>:<random>`, and ends in `:<who>` where holders have names. A semaphore is
 * this as it stands; a lock is a limit of WHOLE_LOCK, of which an exclusive holder takes all and a shared holder one, so that
 * a read/write lock is nothing else and writers wait in the same line as readers.
 *
 *   held    zset   token → end, in milliseconds of the server's clock
 *   queue   zset   token → ticket: who waits, in order
 *   state   hash   fence → the last one given; extra → weights above one, summed; <token> → of a holder its fence (but not of
 *                  an exclusive holder of a lock, whose fence is the last one), of a waiter "<alive until> <lease ms> <address>",
 *                  an address being "<channel>" or "<channel>@<server>": where it listens, and on which server it did;
 *                  <token>! → of a caller that asks several servers, how often it has asked
 *   limit   string only semaphores, and only after a resize
 *
 * Rules, all kept within one script:
 *
 *  1. Permits are given by `grant` and nowhere else, and only when count + extra + weight ≤ limit after those that have run
 *     out were taken away. So the limit holds under any interleaving, and only the server's clock decides.
 *  2. `serve` walks the line from its head and stops at the first who does not fit: nobody overtakes. Passed over, in their
 *     place, are waiters that ask for more than the limit is (until it grows) and waiters whose channel nobody listens to,
 *     unless somebody of their own process asks.
 *  3. Passing on happens in the script that makes room: one waiter gets the permits and one message says so. Nobody else is
 *     woken. A message that is lost costs until that waiter's next poll, since a poll of a holder answers with what it holds.
 *  4. A waiter is alive while it polls. A dead one is dropped when the line comes to it. PUBSUB NUMSUB tells how many listen, so
 *     a process that was killed is passed over at once; in a Cluster the number counts one node only and means nothing. Nor does
 *     it mean anything of a waiter that listened to another server: this one has replaced that one, nobody listens yet, and the
 *     order of the line must hold until they do. Such a waiter is believed, as one in a Cluster is.
 *  5. A fence is max(last + 1, server's microseconds): it grows with every grant, and goes on growing when the keys are lost
 *     or the server comes back empty, as long as its clock does not go backwards meanwhile.
 *  6. A lease that has run out stays in `held` until somebody else needs the place. Until then its holder may renew it: nobody
 *     had it in between. Hence keys outlive leases by far (`keepMs`), and vanish by themselves.
 *  7. No lease ends later than its length from now, and no waiter is believed for longer than `aliveMs`. Where one would, the
 *     server's clock was put back, and the end is brought forward: nobody waits for a dead holder for as long as the step.
 *
 * Work per call: O(log n) for each one granted, dropped or passed over; dropping is paid once for each who came.
 */

import { defineLayout } from "../base/layout.ts";
import { asList, asListOf, asReply, asText, asTexts, asTuple, wordOf } from "../base/replies.ts";
import { defineScript } from "../base/script.ts";
import type { Reply } from "../connection/port.ts";

defineLayout("locks");
defineLayout("semaphores");
defineLayout("elections");

/** The permits of a lock: how many may share it. */
export const WHOLE_LOCK = 1_000_000;

const WEIGHTS = `
local function weightOf(who)
  return tonumber(string.match(who, "^%d+"))
end
local function leaseOf(who)
  return tonumber(string.match(who, "^%d+:(%d+):"))
end
-- Whether nobody else can get any while this one holds: it has all, and there will not be more.
local function alone(who)
  return fixed and weightOf(who) == limit
end
`;

const TIME = `
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local micros = time[1] * 1000000 + time[2]
`;

const PARTS = `
local known = redis.call("HMGET", state, "fence", "extra")
local fence = tonumber(known[1] or 0)
local count = redis.call("ZCARD", held)
local extra = count > 0 and tonumber(known[2] or 0) or 0

local function takeAway(holder)
  redis.call("ZREM", held, holder)
  redis.call("HDEL", state, holder, holder .. "!")
  count = count - 1
  local weight = weightOf(holder)
  extra = extra - (weight - 1)
  -- Of an empty name nobody reads it.
  if weight > 1 and count > 0 then redis.call("HSET", state, "extra", extra) end
end

local function takeAwayRunOut()
  if count == 0 then return end
  for _, holder in ipairs(redis.call("ZRANGEBYSCORE", held, "-inf", now)) do takeAway(holder) end
end

local function nextFence()
  return math.max(fence + 1, micros)
end

local function grant(who, leaseMs, number)
  fence = number
  count = count + 1
  extra = extra + weightOf(who) - 1
  local text = string.format("%.0f", number)
  redis.call("ZADD", held, now + leaseMs, who)
  redis.call("HSET", state, "fence", text, "extra", extra)
  if not alone(who) then redis.call("HSET", state, who, text) end
  redis.call("PEXPIRE", held, keepMs)
  redis.call("PEXPIRE", state, keepMs)
end

local function fenceOf(holder)
  return redis.call("HGET", state, holder) or redis.call("HGET", state, "fence")
end

local function fits(who)
  return count + extra + weightOf(who) <= limit
end

local function dequeue(who)
  redis.call("ZREM", queue, who)
  redis.call("HDEL", state, who, who .. "!")
end

-- The first letters of this server's run id; nothing where the user may not ask for it.
local function thisServer()
  local about = redis.pcall("INFO", "server")
  return type(about) == "string" and string.match(about, "run_id:(%x%x%x%x%x%x%x%x)") or ""
end

-- Whether a waiter hears a message, or will as soon as it has found this server.
local function isHeard(channel, server)
  if not listenersCount or redis.call("PUBSUB", "NUMSUB", channel)[2] > 0 then return true end
  if server == "" then return false end
  local this = thisServer()
  return this ~= "" and this ~= server
end

local function waiter(who)
  return string.match(redis.call("HGET", state, who) or "", "^(%d+) (%d+) ([^@]*)@?(.*)$")
end

local function channelOf(address)
  return string.match(address or "", "^[^@]*")
end

-- Gives what there is to the waiters. A waiter hears about its permits after they are written, never before. The caller's own
-- turn comes without a message. Tells whether the caller got it, whether somebody has to go on waiting before whom nobody may
-- be served, and who. Those of the caller's own channel are alive, heard or not: they ask again as soon as they listen.
local function serve(caller, own)
  local at = 0
  local ownChannel = channelOf(own)
  while true do
    local who = redis.call("ZRANGE", queue, at, at)[1]
    if not who then return false, false end
    local alive, leaseMs, channel, server = waiter(who)
    if alive and tonumber(alive) > now + aliveMs then
      redis.call("HSET", state, who, string.format("%.0f %s %s@%s", now + aliveMs, leaseMs, channel, server))
    end
    if not alive or tonumber(alive) < now then
      dequeue(who)
    elseif weightOf(who) > limit then
      at = at + 1
    elseif not fits(who) then
      return false, true, who
    elseif who == caller then
      dequeue(who)
      grant(who, leaseMs, nextFence())
      return true, false
    elseif channel ~= ownChannel and not isHeard(channel, server) then
      at = at + 1
    else
      local number = nextFence()
      dequeue(who)
      grant(who, leaseMs, number)
      redis.call("PUBLISH", channel, string.format("%s %.0f %.0f %s", who, number, now, leaseMs))
    end
  end
end
`;

/** The answer is one text: a list of four costs clients more than all the rest. */
const ANSWER = `
local function answer(outcome, number, ms)
  return string.format("%s %s %.0f %.0f", outcome, number, ms, now)
end
`;

/**
 * The usual case first, by the same rules: nobody holds it and nobody waits. It comes before all functions, and gives texts to
 * commands: the server turns each number into a text by itself, which takes it as long as a small command.
 */
const ACQUIRE_FREE = `
local asked = isWhole and limit or tonumber(string.match(token, "^%d+"))
if asked <= limit and redis.call("EXISTS", held, queue) == 0 then
  local last = tonumber(redis.call("HGET", state, "fence") or 0)
  local fence = string.format("%.0f", math.max(last + 1, micros))
  redis.call("ZADD", held, now + leaseMs, token)
  if isWhole then
    redis.call("HSET", state, "fence", fence, "extra", "${WHOLE_LOCK - 1}")
  else
    redis.call("HSET", state, "fence", fence, "extra", asked - 1, token, fence)
  end
  redis.call("PEXPIRE", held, keepText)
  -- A fence tells when it was given. Once in each quarter is enough: leases are not longer than half of it.
  local quarter = keepMs * 250
  if math.floor(last / quarter) ~= math.floor(micros / quarter) then redis.call("PEXPIRE", state, keepText) end
  return "held " .. fence .. " " .. leaseMs .. " " .. now
end
`;

const UNTIL_ROOM = `
-- How long the first of the holders has still, after ends that only a clock put back explains were brought forward.
local function untilRoom()
  local first = redis.call("ZRANGE", held, 0, 0, "WITHSCORES")
  if not first[2] then return 0 end
  local left = first[2] - now
  local lease = leaseOf(first[1])
  if not lease or left <= lease then return math.max(left, 0) end
  local all = redis.call("ZRANGE", held, 0, -1, "WITHSCORES")
  for i = 1, #all, 2 do
    local length = leaseOf(all[i]) or lease
    if tonumber(all[i + 1]) > now + length then redis.call("ZADD", held, now + length, all[i]) end
  end
  return tonumber(redis.call("ZRANGE", held, 0, 0, "WITHSCORES")[2]) - now
end
`;

const ACQUIRE = `
local function granted()
  return answer("held", string.format("%.0f", fence), leaseMs)
end
if count > 0 then
  local ends = redis.call("ZSCORE", held, token)
  if ends and tonumber(ends) > now then return answer("held", fenceOf(token), math.min(ends - now, tonumber(leaseMs))) end
  takeAwayRunOut()
end
local blocked, queued = false, false
if redis.call("EXISTS", queue) == 1 then
  queued = redis.call("ZSCORE", queue, token)
  if queued then redis.call("HSET", state, token, string.format("%.0f %s %s", now + aliveMs, leaseMs, address)) end
  local mine
  mine, blocked = serve(token, address)
  if mine then return granted() end
end
if weightOf(token) > limit then
  if queued then dequeue(token) end
  return answer("never", limit, 0)
end
if not queued and not blocked and fits(token) then
  grant(token, leaseMs, nextFence())
  return granted()
end
if address == "" then
  if queued then dequeue(token) end
  return answer("taken", 0, untilRoom())
end
if not queued then
  if redis.call("ZCARD", queue) >= maxWaiting then return answer("full", 0, untilRoom()) end
  local last = redis.call("ZREVRANGE", queue, 0, 0, "WITHSCORES")
  redis.call("ZADD", queue, (last[2] or 0) + 1, token)
  redis.call("HSET", state, token, string.format("%.0f %s %s", now + aliveMs, leaseMs, address))
end
redis.call("PEXPIRE", queue, keepMs)
redis.call("PEXPIRE", state, keepMs)
return answer("queued", redis.call("ZRANK", queue, token), untilRoom())
`;

/**
 * Asks on one of several independent servers, in an order that is the same on all: the place in line is a number that the caller
 * brings along. The first time it has none, and gets the server's time in microseconds. Asking again is a sign of life, and
 * extends what is held here. It also yields: a caller that brings its number has no majority, so it hands what it holds here to
 * somebody before it who waits for that. A request that arrives after a later one of the same caller does nothing: by then the
 * caller may have its majority. So requests are numbered (`round`).
 */
const ASK_IN_LINE = `
local place = ticket == "" and micros or tonumber(ticket)
local function reply(outcome, number, ms)
  return string.format("%s %s %.0f %.0f", outcome, number, ms, micros)
end
if tonumber(round) < tonumber(redis.call("HGET", state, token .. "!") or 0) then return reply("queued", 0, 0) end
takeAwayRunOut()
if redis.call("ZSCORE", held, token) then
  local _, blocked, first = serve("", address)
  local ahead = blocked and tonumber(redis.call("ZSCORE", queue, first))
  if ticket == "" or not ahead or ahead > place or (ahead == place and first >= token) then
    redis.call("ZADD", held, "XX", now + leaseMs, token)
    redis.call("HSET", state, token .. "!", round)
    redis.call("PEXPIRE", held, keepMs)
    redis.call("PEXPIRE", state, keepMs)
    return reply("held", fenceOf(token), leaseMs)
  end
  takeAway(token)
elseif not redis.call("ZSCORE", queue, token) and redis.call("ZCARD", queue) >= maxWaiting then
  return reply("full", 0, untilRoom())
end
redis.call("ZADD", queue, place, token)
redis.call("HSET", state, token, string.format("%.0f %s %s", now + aliveMs, leaseMs, address))
redis.call("PEXPIRE", queue, keepMs)
redis.call("PEXPIRE", state, keepMs)
local mine = serve(token, address)
redis.call("HSET", state, token .. "!", round)
if mine then return reply("held", string.format("%.0f", fence), leaseMs) end
return reply("queued", redis.call("ZRANK", queue, token), untilRoom())
`;

/** The usual case first: nobody waits. Of an empty name nobody reads the sum of weights. */
const RELEASE_UNWAITED = `
if redis.call("EXISTS", queue) == 0 then
  if redis.call("ZREM", held, token) == 0 then return 0 end
  if isWhole then return 1 end
  redis.call("HDEL", state, token)
  local above = tonumber(string.match(token, "^%d+")) - 1
  if above > 0 and redis.call("EXISTS", held) == 1 then redis.call("HINCRBY", state, "extra", -above) end
  return 1
end
`;

/** Gives back what is held, or leaves the line; either may let somebody in. */
const RELEASE = `
local ends = redis.call("ZSCORE", held, token)
if ends then takeAway(token) else dequeue(token) end
if redis.call("EXISTS", queue) == 1 then
  takeAwayRunOut()
  serve("")
end
return ends and 1 or 0
`;

const INSPECT = `
local holders = {}
for i, who in ipairs(redis.call("ZRANGE", held, 0, tonumber(most) - 1, "WITHSCORES")) do
  if i % 2 == 1 then
    holders[#holders + 1] = {who, fenceOf(who), 0}
  else
    holders[#holders][3] = tonumber(who) - now
  end
end
local line = {}
for _, who in ipairs(redis.call("ZRANGE", queue, 0, tonumber(most) - 1)) do
  local alive = string.match(redis.call("HGET", state, who) or "", "^(%d+) ")
  if alive and tonumber(alive) >= now then line[#line + 1] = who end
end
return {limit, count + extra, redis.call("ZCARD", queue), string.format("%.0f", fence), holders, line}
`;

/**
 * Gives what is held to a waiter that is named, before all others in the line. Nothing changes where none of that name waits. A
 * repeated call finds that the name holds it already.
 */
const HAND_OVER = `
local function isNamed(who)
  return string.sub(who, -#name) == name
end
if not redis.call("ZSCORE", held, token) then
  for _, holder in ipairs(redis.call("ZRANGE", held, 0, -1)) do
    if isNamed(holder) then return "handed-over" end
  end
  return "lost"
end
local successor
for _, who in ipairs(redis.call("ZRANGE", queue, 0, -1)) do
  if isNamed(who) then
    local alive, _, channel, server = waiter(who)
    if alive and tonumber(alive) >= now and isHeard(channel, server) then
      successor = who
      break
    end
  end
end
if not successor then return "not-found" end
local first = redis.call("ZRANGE", queue, 0, 0, "WITHSCORES")
if first[1] ~= successor then redis.call("ZADD", queue, first[2] - 1, successor) end
takeAway(token)
serve("")
return "handed-over"
`;

export interface AcquireReply {
  /** `never`: more than the limit was asked for. `full`: as many wait as may. */
  readonly outcome: "held" | "queued" | "taken" | "full" | "never";
  /** Of `held` the fence, of `queued` how many are ahead, of `never` the limit. */
  readonly number: number;
  /** Of `held` how long, of the others in how long the first of the holders may be gone. */
  readonly ms: number;
  /** The server's clock. */
  readonly serverMs: number;
}

const asOutcome = wordOf<AcquireReply["outcome"]>("held", "queued", "taken", "full", "never");

function acquireReply(reply: Reply): AcquireReply {
  const [outcome, number, ms, serverMs] = asText(reply).split(" ");
  return { outcome: asOutcome(outcome), number: Number(number), ms: Number(ms), serverMs: Number(serverMs) };
}

/** As AcquireReply, with the server's clock in microseconds. */
export interface LineReply extends Omit<AcquireReply, "serverMs"> {
  readonly micros: number;
}

function lineReply(reply: Reply): LineReply {
  const { serverMs: micros, ...rest } = acquireReply(reply);
  return { ...rest, micros };
}

export interface Holding {
  readonly token: string;
  readonly fence: number;
  /** Negative: it has run out, and nobody has needed the place yet. */
  readonly validForMs: number;
}

export interface Inspection {
  readonly limit: number;
  readonly used: number;
  readonly waiting: number;
  readonly fence: number;
  readonly holders: readonly Holding[];
  /** Tokens of the waiters that are alive, the first first. */
  readonly line: readonly string[];
}

export type HandedOver = "handed-over" | "not-found" | "lost";

const HOLDING = asTuple(asText, asReply, asReply);
const INSPECTION = asTuple(asReply, asReply, asReply, asReply, asListOf(HOLDING), asTexts);

function inspection(reply: Reply): Inspection {
  const [limit, used, waiting, fence, holders, line] = INSPECTION(reply);
  return {
    limit: Number(limit),
    used: Number(used),
    waiting: Number(waiting),
    fence: Number(fence),
    holders: holders.map(([token, number, ms]) => ({ token, fence: Number(number), validForMs: Number(ms) })),
    line,
  };
}

const KEYS = ["state", "held", "queue", "limitKey"] as const;

/** What is the same in all calls of a component, and so part of the text of its scripts. */
export interface Settings {
  /** How long keys stay after their last use. */
  readonly keepMs: number;
  readonly maxWaiting: number;
  /** How long a waiter is believed to be alive after a sign of life. */
  readonly aliveMs: number;
  /** Whether the number that PUBSUB NUMSUB answers with says if anybody listens. */
  readonly listenersCount: boolean;
}

type Component = "locks" | "semaphores" | "elections";

function permitScripts(component: Component, settings: Settings) {
  // A lock's limit is no parameter: both names are left out there, and callers need not care.
  const fixed = component !== "semaphores";
  const keys: readonly (typeof KEYS)[number][] = fixed ? ["state", "held", "queue"] : KEYS;
  const limitArg: readonly "limitArg"[] = fixed ? [] : ["limitArg"];
  const limitLua = fixed
    ? `local limit = ${WHOLE_LOCK}`
    : `local limit = tonumber(redis.call("GET", limitKey) or limitArg)`;
  const { keepMs, maxWaiting, aliveMs, listenersCount } = settings;
  const constants = `
local keepMs, maxWaiting, aliveMs, listenersCount = ${keepMs}, ${maxWaiting}, ${aliveMs}, ${listenersCount}
local keepText = "${keepMs}"`;
  // Whether the caller asks for all that there will ever be.
  const whole = `${WHOLE_LOCK}:`;
  const wholeLua = fixed ? `string.sub(token, 1, ${whole.length}) == "${whole}"` : "false";
  const usual = [constants, `local fixed = ${fixed}`, limitLua, `local isWhole = ${wholeLua}`];
  const common = [constants, `local fixed = ${fixed}`, limitLua, WEIGHTS];
  return {
    /** Asks for permits, or asks again: repeating it with the same token changes nothing but the time of the last sign of life. */
    acquire: defineScript({
      name: `${component}.acquire`,
      keys,
      args: ["token", "leaseMs", "address", ...limitArg],
      include: [...usual, TIME, ACQUIRE_FREE, WEIGHTS, ANSWER, PARTS, UNTIL_ROOM],
      lua: ACQUIRE,
      reply: acquireReply,
      repeatable: true,
    }),
    askInLine: defineScript({
      name: `${component}.askInLine`,
      keys,
      args: ["token", "leaseMs", "address", "ticket", "round", ...limitArg],
      include: [...common, TIME, PARTS, UNTIL_ROOM],
      lua: ASK_IN_LINE,
      reply: lineReply,
      repeatable: true,
    }),
    release: defineScript({
      name: `${component}.release`,
      keys,
      args: ["token", ...limitArg],
      include: [...usual, RELEASE_UNWAITED, WEIGHTS, TIME, PARTS],
      lua: RELEASE,
      reply: (reply) => reply === 1,
      repeatable: true,
    }),
    /** Of a caller that asks several servers: leaves nothing of it behind. */
    leaveLine: defineScript({
      name: `${component}.leaveLine`,
      keys,
      args: ["token", ...limitArg],
      include: [...common, TIME, PARTS],
      lua: RELEASE,
      reply: (reply) => reply === 1,
      repeatable: true,
    }),
    /** Lets in whom a larger limit makes room for. */
    resize: defineScript({
      name: `${component}.resize`,
      keys,
      args: ["newLimit", ...limitArg],
      include: [
        `if newLimit == "" then redis.call("DEL", limitKey) else redis.call("SET", limitKey, newLimit) end`,
        ...common,
        TIME,
        PARTS,
      ],
      lua: `takeAwayRunOut() serve("") return limit`,
      reply: Number,
      repeatable: true,
    }),
    inspect: defineScript({
      name: `${component}.inspect`,
      keys,
      args: ["most", ...limitArg],
      include: [...common, TIME, PARTS],
      lua: INSPECT,
      reply: inspection,
      repeatable: true,
    }),
    /** `name` is how the token of the waiter ends that is to have it next. */
    handOver: defineScript({
      name: `${component}.handOver`,
      keys,
      args: ["token", "name", ...limitArg],
      include: [...common, TIME, PARTS],
      lua: HAND_OVER,
      reply: wordOf<HandedOver>("handed-over", "not-found", "lost"),
      repeatable: true,
    }),
  };
}

export type PermitScripts = ReturnType<typeof permitScripts>;

const made = new Map<string, PermitScripts>();

function cached(component: Component, settings: Settings): PermitScripts {
  const key = JSON.stringify([
    component,
    settings.keepMs,
    settings.maxWaiting,
    settings.aliveMs,
    settings.listenersCount,
  ]);
  const scripts = made.get(key) ?? permitScripts(component, settings);
  made.set(key, scripts);
  return scripts;
}

/** Locks and semaphores differ in where the limit comes from; an election is a lock whose holders have names. */
export function lockScripts(settings: Settings): PermitScripts {
  return cached("locks", settings);
}

export function semaphoreScripts(settings: Settings): PermitScripts {
  return cached("semaphores", settings);
}

export function electionScripts(settings: Settings): PermitScripts {
  return cached("elections", settings);
}

/**
 * Answers with the fence where the token still holds, else with 0. The keys' own lives come first: a server that is full refuses a
 * script only before its first write, and nobody must lose a lease because of that.
 */
export const renew = defineScript({
  name: "leases.renew",
  whileMoving: true,
  keys: ["state", "held"],
  args: ["token", "leaseMs", "keepMs"],
  lua: `
    if not redis.call("ZSCORE", held, token) then return 0 end
    local time = redis.call("TIME")
    redis.call("PEXPIRE", held, keepMs)
    redis.call("PEXPIRE", state, keepMs)
    redis.call("ZADD", held, "XX", time[1] * 1000 + math.floor(time[2] / 1000) + leaseMs, token)
    return redis.call("HGET", state, token) or redis.call("HGET", state, "fence") or 1
  `,
  reply: Number,
  repeatable: true,
});

/**
 * Takes several locks exclusively, all or none, without waiting; they are in one slot. Three keys for each: state, held,
 * queue. Answers with the fences, or with nothing where one is taken or waited for.
 */
export const acquireMany = defineScript({
  name: "locks.acquireMany",
  keys: [],
  restKeys: "each",
  args: ["token", "leaseMs", "keepMs"],
  lua: `
    local time = redis.call("TIME")
    local now = time[1] * 1000 + math.floor(time[2] / 1000)
    local micros = time[1] * 1000000 + time[2]
    for i = 1, #each, 3 do
      if redis.call("ZSCORE", each[i + 1], token) then
        -- Ours already: the answer to the same call was lost.
      elseif redis.call("ZCOUNT", each[i + 1], "(" .. string.format("%.0f", now), "+inf") > 0
        or redis.call("EXISTS", each[i + 2]) == 1 then
        return nil
      end
    end
    local fences = {}
    for i = 1, #each, 3 do
      local state, held = each[i], each[i + 1]
      local fence = redis.call("HGET", state, "fence")
      if not redis.call("ZSCORE", held, token) then
        for _, gone in ipairs(redis.call("ZRANGE", held, 0, -1)) do redis.call("HDEL", state, gone) end
        redis.call("DEL", held)
        fence = string.format("%.0f", math.max(tonumber(fence or 0) + 1, micros))
        redis.call("ZADD", held, now + leaseMs, token)
        redis.call("HSET", state, "fence", fence, "extra", tonumber(string.match(token, "^%d+")) - 1)
        redis.call("PEXPIRE", held, keepMs)
        redis.call("PEXPIRE", state, keepMs)
      end
      fences[#fences + 1] = fence
    end
    return fences
  `,
  reply: (reply) => (reply === null ? null : asList(reply).map(Number)),
  repeatable: true,
});

/** Raises the last fence of a name to at least a number, so that the next one given is above it. */
export const raiseFence = defineScript({
  name: "locks.raiseFence",
  keys: ["state"],
  args: ["fence", "keepMs"],
  lua: `
    if tonumber(redis.call("HGET", state, "fence") or 0) < tonumber(fence) then
      redis.call("HSET", state, "fence", fence)
      redis.call("PEXPIRE", state, keepMs)
    end
    return 1
  `,
  repeatable: true,
});
