/**
 * The scripts of an index. Writing appends to the logs (log.ts) that a document's words, values and id are in; reading answers
 * with what was appended since. Nothing here knows how to search.
 *
 * A document is kept as one string: "number version hash size call\n", then `size` bytes of MessagePack (its words, each after
 * the bytes of its payload), then JSON. `call` is the call that wrote it, by which one whose answer was lost knows itself again.
 * The words that a document had are found there, so keys of logs are made from `base`, which carries the index's tag: same slot,
 * by construction.
 *
 * The bytes of a log that no longer count are added up in `waste`. When they are all that is in the log of a word, the log goes,
 * and the word with it; when they are more than half, the caller is told its name and writes it anew (`rewrite`).
 */

import { asList, wordOf } from "../../base/replies.ts";
import { defineScript } from "../../base/script.ts";
import type { Reply } from "../../connection/port.ts";

/** The version of an index goes up with every write. Its life is named after the call that made it. */
export const BEGIN = `
local function known()
  local made = redis.call("HGET", meta, "s")
  return not made or made == signature
end
local function begin()
  if redis.call("EXISTS", meta) == 0 then
    redis.call("HSET", meta, "s", signature, "f", fields, "e", call, "n", 0, "count", 0)
  end
  return redis.call("HINCRBY", meta, "v", 1)
end
local refused = "SCHEMA the index was made with other fields or another analyser"
local generation, ripe, spoken = "", {}, {}
local function varint(n)
  local bytes = ""
  while n > 127 do
    bytes = bytes .. string.char(n % 128 + 128)
    n = math.floor(n / 128)
  end
  return bytes .. string.char(n)
end
-- The new length of a log, and whether it is a new one.
local function append(key, bytes)
  local length = redis.call("APPEND", key, bytes)
  if length > #bytes then return length, false end
  redis.call("SET", key, generation .. bytes)
  return length + 4, true
end
local function wasted(name, bytes, length)
  local sum = redis.call("HINCRBY", waste, name, bytes)
  if length > 512 and sum * 2 > length and #ripe < 100 then ripe[#ripe + 1] = name end
  return sum
end
-- A word's payload of some bytes no longer counts. True if nothing in its log does.
local function unsaid(word, bytes, length)
  local name = "w:" .. word
  if wasted(name, bytes, length) + 4 < length then return false end
  if ripe[#ripe] == name then ripe[#ripe] = nil end
  redis.call("DEL", base .. ":w:" .. word)
  redis.call("HDEL", waste, name)
  spoken[#spoken + 1] = varint(#word * 2 + 1) .. word
  return true
end
-- Tells the caller that there are ghosts, which it may have to sweep.
local function haunted()
  if redis.call("EXISTS", ghosts) == 1 then ripe[#ripe + 1] = "ghosts" end
end
local function unsay(word, number, bytes)
  local length = append(base .. ":w:" .. word, number .. "\\0")
  unsaid(word, bytes + #number * 2 + 1, length)
end
local function speak()
  if #spoken == 0 then return end
  local bytes = table.concat(spoken)
  local length = append(words, bytes)
  local gone = 0
  for _, each in ipairs(spoken) do
    if string.byte(each) % 2 == 1 then gone = gone + #each * 2 end
  end
  if gone > 0 then wasted("words", gone, length) end
end
-- How many words a record's MessagePack names: its length is that of a list of pairs.
local function wordsIn(blob)
  local kind = string.byte(blob, 1)
  if kind == 0xdc then return struct.unpack(">I2", blob, 2) / 2 end
  if kind == 0xdd then return struct.unpack(">I4", blob, 2) / 2 end
  return (kind - 0x90) / 2
end
local function parse(record)
  local _, stop, number, version, hash, size, by = string.find(record, "^(%d+) (%d+) (%S+) (%d+) (%S+)\\n")
  return tonumber(number), tonumber(version), hash, string.sub(record, stop + 1, stop + size), by
end
`;

/** For scripts that never make an index: there is a document in it. */
export const MADE = `local fields = ""`;

/**
 * What a write finds: an answer for its caller, or nil, then the record that is there, its number, its version and its words.
 * Needs `ifVersion` and `hash`.
 */
export const FOUND = `
local function found()
  local record = redis.call("GET", document)
  local n, version, oldHash, old, by = nil, 0, nil, nil, nil
  if record then n, version, oldHash, old, by = parse(record) end
  local expected = tonumber(ifVersion)
  if expected >= 0 and expected ~= version then
    -- A call whose answer was lost meets itself.
    if by == call and version == expected + 1 then return {expected == 0 and "added" or "changed", version} end
    return {"conflict", version}
  end
  if oldHash == hash then return {"same", version} end
  return nil, record, n, version, old
end
`;

export const KEYS = ["document", "meta", "docs", "words", "waste", "free", "ghosts"] as const;

export const asOutcome = wordOf("added", "changed", "same", "conflict", "large");

export interface Written {
  /** `large`: nothing was done, since the old version has more words than one script may take out. */
  readonly outcome: "added" | "changed" | "same" | "conflict" | "large";
  readonly version: number;
  /** Logs to be written anew. */
  readonly ripe: readonly string[];
}

/**
 * Puts a document in the place of what was there. `rest`: name and payload of each column (`columns` of them), then of each
 * word. The same content again changes nothing, so that a repeated call is safe.
 */
export const put = defineScript({
  name: "search.put",
  keys: KEYS,
  args: ["base", "signature", "fields", "call", "hash", "ifVersion", "stored", "entry", "blob", "columns", "atOnce"],
  rest: "rest",
  include: [BEGIN, FOUND],
  repeatable: true,
  lua: `
    if not known() then return redis.error_reply(refused) end
    local answer, record, n, version, old = found()
    if answer then return answer end
    if record and wordsIn(old) > tonumber(atOnce) then return {"large", version} end
    generation = struct.pack(">I4", begin() % 4294967296)
    local before = {}
    if record then
      local flat = cmsgpack.unpack(old)
      for i = 1, #flat, 2 do before[flat[i + 1]] = flat[i] end
    else
      n = tonumber(redis.call("RPOP", free) or redis.call("HINCRBY", meta, "n", 1) - 1)
      redis.call("HINCRBY", meta, "count", 1)
    end
    local number = varint(n)
    local length = append(docs, number .. entry)
    if record then wasted("docs", #number + #entry, length) end
    local first = tonumber(columns) * 2 + 1
    for i = 1, first - 1, 2 do
      local payload = rest[i + 1]
      if record or payload ~= "\\0" then
        length = append(base .. ":c:" .. rest[i], number .. payload)
        if record then wasted("c:" .. rest[i], #number + #payload, length) end
      end
    end
    for i = first, #rest, 2 do
      local word, payload = rest[i], rest[i + 1]
      local new
      length, new = append(base .. ":w:" .. word, number .. payload)
      if new then spoken[#spoken + 1] = varint(#word * 2) .. word end
      if before[word] then
        unsaid(word, #number + before[word], length)
        before[word] = nil
      end
    end
    for word, bytes in pairs(before) do unsay(word, number, bytes) end
    speak()
    version = version + 1
    redis.call("SET", document, table.concat({n, version, hash, #blob, call}, " ") .. "\\n" .. blob .. stored)
    haunted()
    return {record and "changed" or "added", version, unpack(ripe)}
  `,
  reply: toWritten,
});

/**
 * Puts many documents that are all new, with numbers from `first` on, which the caller has put into what it sends. Changes
 * nothing if one of them is there ("there", then which), or if the numbers are not the next ones ("number", the next one, how
 * many are free). `rest`: the records; the name and the records of each column; each word and its records.
 */
export const load = defineScript({
  name: "search.load",
  keys: ["meta", "docs", "words", "waste", "free"],
  restKeys: "documents",
  args: ["base", "signature", "fields", "call", "first", "entries", "columns"],
  rest: "rest",
  include: [BEGIN],
  repeatable: true,
  lua: `
    if not known() then return redis.error_reply(refused) end
    local there = {}
    for i = 1, #documents do
      if redis.call("EXISTS", documents[i]) == 1 then there[#there + 1] = i - 1 end
    end
    if #there > 0 then return {"there", unpack(there)} end
    local n = tonumber(redis.call("HGET", meta, "n") or 0)
    local unused = redis.call("LLEN", free)
    if n ~= tonumber(first) or unused >= #documents then return {"number", n, unused} end
    generation = struct.pack(">I4", begin() % 4294967296)
    redis.call("HINCRBY", meta, "n", #documents)
    redis.call("HINCRBY", meta, "count", #documents)
    for i = 1, #documents do redis.call("SET", documents[i], rest[i]) end
    append(docs, entries)
    local at = #documents
    for _ = 1, tonumber(columns) do
      append(base .. ":c:" .. rest[at + 1], rest[at + 2])
      at = at + 2
    end
    for i = at + 1, #rest, 2 do
      local word = rest[i]
      local _, new = append(base .. ":w:" .. word, rest[i + 1])
      if new then spoken[#spoken + 1] = varint(#word * 2) .. word end
    end
    speak()
    return {"loaded", n + #documents}
  `,
});

/** Other values for some columns, if the document is still of that version. `rest`: name and payload of each. */
export const patch = defineScript({
  name: "search.patch",
  keys: KEYS,
  args: ["base", "signature", "call", "hash", "ifVersion", "stored"],
  rest: "rest",
  include: [MADE, BEGIN],
  repeatable: true,
  lua: `
    if not known() then return redis.error_reply(refused) end
    local record = redis.call("GET", document)
    if not record then return {"conflict", 0} end
    local n, version, oldHash, blob, by = parse(record)
    if version ~= tonumber(ifVersion) then
      if by == call and version == tonumber(ifVersion) + 1 then return {"changed", version} end
      return {"conflict", version}
    end
    if oldHash == hash then return {"same", version} end
    generation = struct.pack(">I4", begin() % 4294967296)
    local number = varint(n)
    for i = 1, #rest, 2 do
      local length = append(base .. ":c:" .. rest[i], number .. rest[i + 1])
      wasted("c:" .. rest[i], #number + #rest[i + 1], length)
    end
    version = version + 1
    redis.call("SET", document, table.concat({n, version, hash, #blob, call}, " ") .. "\\n" .. blob .. stored)
    return {"changed", version, unpack(ripe)}
  `,
  reply: toWritten,
});

export const asRemovedOutcome = wordOf("removed", "missing", "conflict", "large");

export interface Removed {
  /** `large`: nothing was done, since it has more words than one script may take out. */
  readonly outcome: "removed" | "missing" | "conflict" | "large";
  readonly version: number;
  /** Logs to be written anew. */
  readonly ripe: readonly string[];
}

/** Takes a document out, and with the last one everything. `rest`: the names of the columns. */
export const remove = defineScript({
  name: "search.remove",
  keys: KEYS,
  args: ["base", "signature", "call", "ifVersion", "atOnce"],
  rest: "rest",
  include: [MADE, BEGIN],
  repeatable: true,
  lua: `
    if not known() then return redis.error_reply(refused) end
    local record = redis.call("GET", document)
    if not record then return {"missing", 0} end
    local n, version, _, blob = parse(record)
    if tonumber(ifVersion) >= 0 and tonumber(ifVersion) ~= version then return {"conflict", version} end
    if wordsIn(blob) > tonumber(atOnce) then return {"large", version} end
    generation = struct.pack(">I4", begin() % 4294967296)
    local number = varint(n)
    local flat = cmsgpack.unpack(blob)
    for i = 1, #flat, 2 do unsay(flat[i + 1], number, flat[i]) end
    redis.call("DEL", document)
    if redis.call("HINCRBY", meta, "count", -1) == 0 and redis.call("EXISTS", ghosts) == 0 then
      redis.call("DEL", meta, docs, words, waste, free)
      for _, column in ipairs(rest) do redis.call("DEL", base .. ":c:" .. column) end
      return {"removed", version}
    end
    local length = append(docs, number .. "\\0")
    wasted("docs", #number * 2 + 20, length)
    for _, column in ipairs(rest) do
      local key = base .. ":c:" .. column
      if redis.call("EXISTS", key) == 1 then
        length = append(key, number .. "\\0")
        wasted("c:" .. column, #number * 2 + 9, length)
      end
    end
    speak()
    redis.call("RPUSH", free, n)
    haunted()
    return {"removed", version, unpack(ripe)}
  `,
  reply: (reply) => {
    const [outcome, version, ...names] = asList(reply);
    return {
      outcome: asRemovedOutcome(String(outcome)),
      version: Number(version),
      ripe: names.map(String),
    };
  },
});

/**
 * What is new: { life, version, the numbers of ghosts, then for each log 0 (nothing), -1 (there is no such log), the bytes that follow those known, or
 * { all of it } where what is known is of another generation }. Only life and version if `known` is the version still.
 * `rest`: for each log the generation known and how many bytes.
 */
export const sync = defineScript({
  name: "search.sync",
  keys: ["meta", "ghosts"],
  restKeys: "logs",
  args: ["signature", "known"],
  rest: "rest",
  repeatable: true,
  buffers: true,
  lua: `
    local state = redis.call("HMGET", meta, "s", "e", "v")
    if state[1] and state[1] ~= signature then
      return redis.error_reply("SCHEMA the index was made with other fields or another analyser")
    end
    local life, version = state[2] or "", state[3] or "0"
    local answer = {life, version}
    if life .. version == known then return answer end
    answer[3] = redis.call("HKEYS", ghosts)
    for i = 1, #logs do
      local log, generation, length = logs[i], rest[i * 2 - 1], tonumber(rest[i * 2])
      local now = redis.call("STRLEN", log)
      if now == 0 then
        answer[i + 3] = -1
      elseif length == 0 or now < length or redis.call("GETRANGE", log, 0, 3) ~= generation then
        answer[i + 3] = {redis.call("GET", log)}
      elseif now == length then
        answer[i + 3] = 0
      else
        answer[i + 3] = redis.call("GETRANGE", log, length, -1)
      end
    end
    return answer
  `,
});

/** A log as it is, and how much of it does not count. */
export const forRewrite = defineScript({
  name: "search.forRewrite",
  keys: ["log", "waste"],
  args: ["name"],
  repeatable: true,
  buffers: true,
  lua: `return {redis.call("GET", log), redis.call("HGET", waste, name) or "0"}`,
});

/** Puts a log without waste in the place of its first `length` bytes, if it is of that generation still. */
export const rewrite = defineScript({
  name: "search.rewrite",
  keys: ["log", "meta", "waste"],
  args: ["name", "generation", "length", "wasted", "body"],
  repeatable: true,
  lua: `
    if redis.call("STRLEN", log) < tonumber(length) or redis.call("GETRANGE", log, 0, 3) ~= generation then return 0 end
    local tail = redis.call("GETRANGE", log, length, -1)
    local version = redis.call("HINCRBY", meta, "v", 1)
    redis.call("SET", log, struct.pack(">I4", version % 4294967296) .. body .. tail)
    if redis.call("HINCRBY", waste, name, -wasted) <= 0 then redis.call("HDEL", waste, name) end
    return 1
  `,
});

function toWritten(reply: Reply): Written {
  const [outcome, version, ...names] = asList(reply);
  return { outcome: asOutcome(String(outcome)), version: Number(version), ripe: names.map(String) };
}
