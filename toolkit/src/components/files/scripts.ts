/**
 * A channel in Lua. The rules:
 *
 *  1. `bytes` of the channel is what all its blocks take, always; a block is stored only if the sum stays within the budget. A
 *     block counts for its length and for what a field of a hash takes beside it. Half of the budget is kept for the oldest
 *     file that is still being written: readers that read one file after the other wait for its end, and it must not wait for
 *     room that younger files have taken.
 *  2. A file has an entry in its `at` for every reader that it is for: the first block that the reader still needs, or DONE.
 *     Blocks below the least entry are freed. Without any reader nothing is.
 *  3. A reader is for every file that is announced while it is registered, and for those that were still whole when it came.
 *     When room is wanted, readers whose lease is over are dropped: they leave every `at`, and their record says so.
 *  4. Writers and readers have tokens. Who comes later with the same name has a new one, and the earlier can do nothing more.
 *
 * Keys of files and readers are completed from `base` by number and name, in the channel's slot.
 */

import {
  asByteList,
  asBytes,
  asListOf,
  asNumber,
  asText,
  asTextOrNumber,
  asTexts,
  asTuple,
  optional,
} from "../../base/replies.ts";
import { defineScript, NOW_MS } from "../../base/script.ts";
import type { Reply } from "../../connection/port.ts";

/** What a block takes beside its bytes, about. */
export const BLOCK_OVERHEAD = 64;
/** Freed in one step at most, so that a step is short however small the blocks are; the rest goes with the next. */
const FREED_AT_ONCE = 1_000;
/** In `at`: needs nothing more. */
const DONE = Number.MAX_SAFE_INTEGER;
/** Names of files that everybody has read, so that one that is sent again by mistake is not read again. */
const KEPT_NAMES = 10_000;

const SHARED = `
local DONE = ${DONE}
local call = redis.call
local channel, files, readers = base .. ":channel", base .. ":files", base .. ":readers"
local function tell(kind) call("PUBLISH", base .. ":signal", kind) end

-- Takes away a file and what is stored of it.
local function erase(number, name)
  local file, at = base .. ":file:" .. number, base .. ":at:" .. number
  local bytes = tonumber(call("HGET", file, "bytes"))
  if bytes > 0 then call("HINCRBY", channel, "bytes", -bytes) end
  for _, reader in ipairs(call("ZRANGE", at, 0, -1)) do call("HDEL", base .. ":reader:" .. reader, number) end
  call("UNLINK", file, at, base .. ":blocks:" .. number)
  call("ZREM", files, name)
end

-- Frees what no reader needs; ends a file that everybody has read. Answers whether there is more room now, and could be more.
local function free(number)
  local file, blocks = base .. ":file:" .. number, base .. ":blocks:" .. number
  local least = tonumber(call("ZRANGE", base .. ":at:" .. number, 0, 0, "WITHSCORES")[2])
  if not least then return false end
  local found = call("HMGET", file, "first", "blocks", "status", "name")
  if not found[1] then return false end
  if least == DONE and found[3] == "closed" then
    erase(number, found[4])
    call("ZADD", base .. ":ended", number, found[4])
    call("ZREMRANGEBYRANK", base .. ":ended", 0, -${KEPT_NAMES + 1})
    return true
  end
  local first = tonumber(found[1])
  local upto = math.min(least, tonumber(found[2]), first + ${FREED_AT_ONCE})
  if upto <= first then return false end
  local freed = 0
  for block = first, upto - 1 do
    freed = freed + call("HSTRLEN", blocks, block) + ${BLOCK_OVERHEAD}
    call("HDEL", blocks, block)
  end
  call("HSET", file, "first", upto)
  call("HINCRBY", file, "bytes", -freed)
  call("HINCRBY", channel, "bytes", -freed)
  return true, upto < math.min(least, tonumber(found[2]))
end

-- Takes a reader out of all files.
local function forget(reader)
  call("ZREM", readers, reader)
  local freed = false
  local all = call("ZRANGE", files, 0, -1, "WITHSCORES")
  for i = 2, #all, 2 do
    if call("ZREM", base .. ":at:" .. all[i], reader) == 1 then freed = free(all[i]) or freed end
  end
  return freed
end

-- No lease ends later than its length from now; one that would is from before the server's clock was put back.
local function mindLeases(now)
  local function lengthOf(reader) return tonumber(call("HGET", base .. ":reader:" .. reader, "leaseMs") or 0) end
  local first = call("ZRANGE", readers, 0, 0, "WITHSCORES")
  if not first[2] or first[2] - now <= lengthOf(first[1]) then return end
  local all = call("ZRANGE", readers, 0, -1, "WITHSCORES")
  for i = 1, #all, 2 do
    local ends = now + lengthOf(all[i])
    if tonumber(all[i + 1]) > ends then call("ZADD", readers, ends, all[i]) end
  end
end

-- Drops one reader whose lease is over, if there is any. Answers whether that has made room.
local function reclaim(now)
  local late = call("ZRANGEBYSCORE", readers, "-inf", now, "LIMIT", 0, 1)[1]
  if not late then return false end
  local record = base .. ":reader:" .. late
  local keepMs = call("HGET", record, "keepMs")
  call("HDEL", record, "token")
  call("HSET", record, "dropped", now)
  if keepMs then call("PEXPIRE", record, keepMs) end
  return forget(late)
end
`;

/** { "full" } · { "ended" } · { "differs", encoding } · { status, number, size, blocks, crc } */
export const announce = defineScript({
  name: "files.announce",
  keys: ["channelKey"],
  args: ["base", "file", "token", "encoding", "info", "maxFiles"],
  include: [SHARED, NOW_MS],
  repeatable: true,
  lua: `
    if call("ZSCORE", base .. ":ended", file) then return {"ended"} end
    local number = call("ZSCORE", files, file)
    if number then
      local key = base .. ":file:" .. number
      local found = call("HMGET", key, "status", "size", "blocks", "crc", "encoding")
      if found[5] ~= encoding then return {"differs", found[5]} end
      if found[1] == "open" then call("HSET", key, "token", token) end
      return {found[1], number, found[2], found[3], found[4]}
    end
    if reclaim(now) then tell("r") end
    if call("ZCARD", files) >= tonumber(maxFiles) then return {"full"} end
    number = call("HINCRBY", channel, "files", 1)
    call("HSET", base .. ":file:" .. number, "name", file, "status", "open", "token", token, "encoding", encoding, "info", info,
      "size", 0, "blocks", 0, "first", 0, "bytes", 0, "crc", 0, "since", now)
    call("ZADD", files, number, file)
    call("ZADD", base .. ":open", number, number)
    for _, reader in ipairs(call("ZRANGE", readers, 0, -1)) do call("ZADD", base .. ":at:" .. number, 0, reader) end
    tell("f")
    return {"open", number, "0", "0", "0"}
  `,
  reply: asTuple(asText, optional(asTextOrNumber), optional(asText), optional(asText), optional(asText)),
});

/**
 * Stores blocks as far as there is room. `more` has two words a block: its bytes with the checksum before them, and the checksum of
 * the file up to its end. What is stored already is passed over, so it may be repeated. { how many are stored, size, how long until
 * a reader's lease ends } or { "taken" · "closed" · "gone" · "gap" }.
 */
export const append = defineScript({
  name: "files.append",
  keys: ["file", "blocks"],
  args: ["base", "number", "token", "offset", "budget", "reserve"],
  rest: "more",
  include: [SHARED, NOW_MS],
  repeatable: true,
  lua: `
    local found = call("HMGET", file, "token", "status", "size", "blocks", "crc")
    if not found[1] then return {"gone"} end
    if found[1] ~= token then return {"taken"} end
    if found[2] ~= "open" then return {"closed"} end
    local size, count, crc = tonumber(found[3]), tonumber(found[4]), found[5]
    local at = tonumber(offset)
    if at > size then return {"gap"} end
    local limit = tonumber(budget)
    if call("ZRANGE", base .. ":open", 0, 0)[1] ~= number then limit = limit - reserve end
    local bytes = tonumber(call("HGET", channel, "bytes") or 0)
    local before, stored, roomy = size, 0, false
    for i = 1, #more, 2 do
      local block = more[i]
      if at >= size then
        local need = #block + ${BLOCK_OVERHEAD}
        if bytes + need > limit then
          roomy = free(number) or roomy
          for _ = 1, 3 do
            if call("ZCOUNT", readers, "-inf", now) > 0 then roomy = reclaim(now) or roomy end
          end
          bytes = tonumber(call("HGET", channel, "bytes") or 0)
        end
        if bytes + need > limit then break end
        call("HSET", blocks, count, block)
        call("HINCRBY", file, "bytes", need)
        bytes = call("HINCRBY", channel, "bytes", need)
        count, size, crc = count + 1, size + #block - 4, more[i + 1]
      end
      at = at + #block - 4
      stored = stored + 1
    end
    if size > before then
      call("HSET", file, "size", size, "blocks", count, "crc", crc)
      tell("b")
    end
    if roomy then tell("r") end
    if stored * 2 < #more then mindLeases(now) end
    local soonest = call("ZRANGE", readers, 0, 0, "WITHSCORES")[2]
    return {stored, size, soonest and math.max(0, soonest - now) or -1}
  `,
  reply: asTuple(asTextOrNumber, optional(asNumber), optional(asNumber)),
});

/** Nothing more will come. { "closed" } · { "taken" } · { "gone" } · { "gap" } */
export const close = defineScript({
  name: "files.close",
  keys: ["file"],
  args: ["base", "number", "name", "token", "size"],
  include: [SHARED],
  repeatable: true,
  lua: `
    local found = call("HMGET", file, "token", "status", "size")
    if not found[1] then
      -- Everybody may have read it before an answer that was lost is asked for again.
      return call("ZSCORE", base .. ":ended", name) == number and "closed" or "gone"
    end
    if found[1] ~= token then return "taken" end
    if found[3] ~= size then return "gap" end
    if found[2] == "open" then
      call("HSET", file, "status", "closed")
      call("ZREM", base .. ":open", number)
      free(number)
      -- Also to writers that wait for room: another file may be the oldest now.
      tell("b")
      tell("r")
    end
    return "closed"
  `,
  reply: asText,
});

/** Removes a file, even if a reader still needs it, and the record that it was ever there. */
export const remove = defineScript({
  name: "files.remove",
  keys: ["channelKey"],
  args: ["base", "name"],
  include: [SHARED],
  repeatable: true,
  lua: `
    local known = call("ZREM", base .. ":ended", name)
    local number = call("ZSCORE", files, name)
    if not number then return known end
    erase(number, name)
    call("ZREM", base .. ":open", number)
    tell("b")
    tell("r")
    return 1
  `,
  reply: (reply) => reply === 1,
});

/**
 * Registers a reader, new or come back; without a token only for the time until it comes. { "full" } or
 * { "new" · "here" · "dropped", then for each file that it cannot read or go on reading: number, name, where it stood }.
 */
export const join = defineScript({
  name: "files.join",
  keys: ["channelKey", "record"],
  args: ["base", "reader", "token", "leaseMs", "keepMs", "maxReaders"],
  include: [SHARED, NOW_MS],
  repeatable: true,
  lua: `
    local known = call("ZSCORE", readers, reader)
    if not known and call("ZCARD", readers) >= tonumber(maxReaders) then
      mindLeases(now)
      reclaim(now)
      if call("ZCARD", readers) >= tonumber(maxReaders) then return {"full"} end
    end
    local was = known and "here" or call("HGET", record, "dropped") and "dropped" or "new"
    if known and token == "" then return {was} end
    call("ZADD", readers, now + leaseMs, reader)
    if token ~= "" then call("HSET", record, "token", token) end
    call("HSET", record, "leaseMs", leaseMs, "keepMs", keepMs)
    -- That it was dropped is told to the reader itself, not to the process that invites it.
    if token ~= "" then call("HDEL", record, "dropped") end
    call("PERSIST", record)
    local answer, live = {was}, {}
    local all = call("ZRANGE", files, 0, -1, "WITHSCORES")
    for i = 2, #all, 2 do
      local number = all[i]
      live[number] = true
      local at = base .. ":at:" .. number
      if not call("ZSCORE", at, reader) then
        local cursor = call("HGET", record, number)
        local block = cursor and tonumber(string.match(cursor, "^%d+ (%d+)")) or 0
        if block >= tonumber(call("HGET", base .. ":file:" .. number, "first")) then call("ZADD", at, block, reader)
        else
          answer[#answer + 1], answer[#answer + 2] = number, all[i - 1]
          answer[#answer + 1] = cursor and string.match(cursor, "^%d+ %d+ (%d+)") or "0"
        end
      end
    end
    for _, field in ipairs(call("HKEYS", record)) do
      if string.match(field, "^%d+$") and not live[field] then call("HDEL", record, field) end
    end
    return answer
  `,
  reply: asTexts,
});

/** 1 while it is registered under this token. */
export const renew = defineScript({
  name: "files.renew",
  whileMoving: true,
  keys: ["readers", "record"],
  args: ["reader", "token", "leaseMs"],
  include: [NOW_MS],
  repeatable: true,
  lua: `
    if redis.call("HGET", record, "token") ~= token then return 0 end
    redis.call("ZADD", readers, "XX", now + leaseMs, reader)
    return 1
  `,
});

/** Nothing is kept for this reader any more. */
export const leave = defineScript({
  name: "files.leave",
  keys: ["record"],
  args: ["base", "reader", "token"],
  include: [SHARED],
  repeatable: true,
  lua: `
    local owner = call("HGET", record, "token")
    if token ~= "" and owner and owner ~= token then return 0 end
    if forget(reader) then tell("r") end
    call("DEL", record)
    return 1
  `,
});

/**
 * Commits how far a reader is and what it has counted, in one step, once: `step` is the number of the commit that this one follows.
 * `cursor` begins with the next step and the first block that is needed; `done`: nothing is. `counts` has three words each: which
 * of the totals, field, how much. "ok" · "more" (so much is to be freed that it is not all done) · "dropped" · "taken" · "conflict" · "gone".
 */
export const commit = defineScript({
  name: "files.commit",
  keys: ["record", "file", "at"],
  restKeys: "totals",
  args: ["base", "number", "name", "reader", "token", "step", "block", "cursor", "done", "leaseMs"],
  rest: "counts",
  include: [SHARED, NOW_MS],
  repeatable: true,
  lua: `
    local owner = call("HGET", record, "token")
    if not owner then return "dropped" end
    if owner ~= token then return "taken" end
    call("ZADD", readers, "XX", now + leaseMs, reader)
    if call("EXISTS", file) == 0 then
      -- A file ends when the last reader is done: this one was, and its answer was lost.
      return done == "1" and call("ZSCORE", base .. ":ended", name) == number and "ok" or "gone"
    end
    local reached = tonumber(string.match(call("HGET", record, number) or "0", "^%d+"))
    if reached == step + 1 then return "ok" end
    if reached ~= tonumber(step) then return "conflict" end
    if not call("ZSCORE", at, reader) then return "dropped" end
    for i = 1, #counts, 3 do call("HINCRBY", totals[tonumber(counts[i])], counts[i + 1], counts[i + 2]) end
    call("HSET", record, number, cursor)
    call("ZADD", at, done == "1" and DONE or block, reader)
    local late = done == "1" and reclaim(now)
    local freed, more = free(number)
    if freed or late then tell("r") end
    return more and "more" or "ok"
  `,
  reply: asText,
});

/** Frees more of what nobody needs. True: there is still more. */
export const freeMore = defineScript({
  name: "files.free",
  keys: ["file"],
  args: ["base", "number"],
  include: [SHARED],
  repeatable: true,
  lua: `
    local freed, more = free(number)
    if freed then tell("r") end
    return more and 1 or 0
  `,
  reply: (reply) => reply === 1,
});

/** The files after a number that a reader is not done with: { number, name, encoding, info, cursor } each. */
export const pending = defineScript({
  name: "files.pending",
  keys: ["files", "record"],
  args: ["base", "reader", "token", "after", "limit"],
  repeatable: true,
  buffers: true,
  lua: `
    local owner = redis.call("HGET", record, "token")
    if owner ~= token then return owner and "taken" or "dropped" end
    local found = {}
    local all = redis.call("ZRANGEBYSCORE", files, "(" .. after, "+inf", "WITHSCORES")
    for i = 2, #all, 2 do
      local needs = redis.call("ZSCORE", base .. ":at:" .. all[i], reader)
      if needs and tonumber(needs) < ${DONE} then
        local file = redis.call("HMGET", base .. ":file:" .. all[i], "encoding", "info")
        found[#found + 1] = {all[i], all[i - 1], file[1], file[2], redis.call("HGET", record, all[i]) or ""}
        if #found >= tonumber(limit) then break end
      end
    end
    return found
  `,
  reply: (reply) => (Array.isArray(reply) ? asListOf(asByteList)(reply) : asBytes(reply)),
});

/** Drops a reader whose lease is over. Answers 1 if there was one. */
export const sweep = defineScript({
  name: "files.sweep",
  keys: ["readersKey"],
  args: ["base"],
  include: [SHARED, NOW_MS],
  repeatable: true,
  lua: `
    mindLeases(now)
    if call("ZCOUNT", readers, "-inf", now) == 0 then return 0 end
    if reclaim(now) then tell("r") end
    return 1
  `,
  reply: (reply: Reply) => Number(reply),
});
