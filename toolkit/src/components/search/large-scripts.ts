/**
 * Documents with so many words that one script would keep the server from others for too long are written in steps, and seen in
 * one.
 *
 * A new version gets a number of its own. Until it is in the log of documents, that number is a ghost: its words are appended in
 * bounded steps (`stage`), and readers leave them out. `commit` is the one step that everybody sees: it puts the new number into
 * the log of documents and takes the old one out, which becomes a ghost in turn. Then the words of the ghost are taken out in
 * bounded steps (`sweep`), and its number is free.
 *
 *   ghosts   hash    number → "<in|out> <words done> <of how many> <until when somebody is at it> <call>"
 *   s:<n>    string  the record of a ghost, by which its words are known
 *
 * A process that dies leaves a ghost behind. Any writer that meets one whose time is over takes it over and sweeps it.
 */

import { asList, asListOf, asReply, asTuple } from "../../base/replies.ts";
import { defineScript, NOW_MS } from "../../base/script.ts";
import { BEGIN, FOUND, KEYS, MADE } from "./scripts.ts";

const GHOSTS = `
local function ghostOf(number)
  local ghost = redis.call("HGET", ghosts, number) or ""
  local phase, at, total, by = string.match(ghost, "^(%S+) (%d+) (%d+) %d+ (%S+)$")
  return phase, tonumber(at), tonumber(total), by
end
local function setGhost(number, phase, at, total)
  redis.call("HSET", ghosts, number, string.format("%s %d %d %.0f %s", phase, at, total, now + leaseMs, call))
end
-- The number of a document that is no more is one until its words are taken out. Its record says which they are.
local function leave(number, record, columns)
  local old = varint(number)
  wasted("docs", #old * 2 + 20, append(docs, old .. "\\0"))
  for _, column in ipairs(columns) do
    local key = base .. ":c:" .. column
    if redis.call("EXISTS", key) == 1 then wasted("c:" .. column, #old * 2 + 9, append(key, old .. "\\0")) end
  end
  redis.call("RENAME", document, base .. ":s:" .. number)
  setGhost(number, "out", 0, wordsIn(record))
end
`;

/**
 * Takes a number for a document of `total` words. Answers { "staged", number }, or what there is to say without: { "same" },
 * { "conflict" }, or the outcome of this call, each with the version.
 */
export const stageBegin = defineScript({
  name: "search.stage-begin",
  keys: KEYS,
  args: ["base", "signature", "fields", "call", "hash", "ifVersion", "blob", "total", "leaseMs"],
  include: [NOW_MS, BEGIN, FOUND, GHOSTS],
  repeatable: true,
  lua: `
    if not known() then return redis.error_reply(refused) end
    local answer = found()
    if answer then return answer end
    local all = redis.call("HGETALL", ghosts)
    for i = 1, #all, 2 do
      if string.match(all[i + 1], "(%S+)$") == call then return {"staged", tonumber(all[i])} end
    end
    begin()
    local n = tonumber(redis.call("RPOP", free) or redis.call("HINCRBY", meta, "n", 1) - 1)
    redis.call("SET", base .. ":s:" .. n, table.concat({n, 0, hash, #blob, call}, " ") .. "\\n" .. blob)
    setGhost(n, "in", 0, total)
    return {"staged", n}
  `,
  reply: (reply) => {
    const [outcome, number] = asList(reply);
    return { outcome: String(outcome), number: Number(number) };
  },
});

/** Appends the words from `from` on. `rest`: word and payload of each. False: the ghost is another's by now. */
export const stage = defineScript({
  name: "search.stage",
  keys: ["meta", "words", "waste", "ghosts"],
  args: ["base", "signature", "call", "number", "from", "leaseMs"],
  rest: "rest",
  include: [NOW_MS, MADE, BEGIN, "local docs, document", GHOSTS],
  repeatable: true,
  lua: `
    local phase, at, total, by = ghostOf(number)
    if phase ~= "in" or by ~= call then return 0 end
    if at > tonumber(from) then return 1 end
    generation = struct.pack(">I4", begin() % 4294967296)
    local bytes = varint(tonumber(number))
    for i = 1, #rest, 2 do
      local _, new = append(base .. ":w:" .. rest[i], bytes .. rest[i + 1])
      if new then spoken[#spoken + 1] = varint(#rest[i] * 2) .. rest[i] end
    end
    speak()
    setGhost(number, "in", at + #rest / 2, total)
    return 1
  `,
  reply: (reply) => reply === 1,
});

/**
 * Puts the staged document in the place of what was there. `rest`: name and payload of each column. Outcome "lost": the ghost is
 * another's by now.
 */
export const commit = defineScript({
  name: "search.commit",
  keys: KEYS,
  args: ["base", "signature", "call", "hash", "ifVersion", "stored", "entry", "blob", "number", "leaseMs"],
  rest: "rest",
  include: [NOW_MS, MADE, BEGIN, FOUND, GHOSTS],
  repeatable: true,
  lua: `
    if not known() then return redis.error_reply(refused) end
    local answer, record, n, version, old = found()
    if answer then return answer end
    local phase, at, total, by = ghostOf(number)
    if phase ~= "in" or by ~= call or at < total then return {"lost", version} end
    generation = struct.pack(">I4", begin() % 4294967296)
    local names = {}
    for i = 1, #rest, 2 do names[#names + 1] = rest[i] end
    if record then leave(n, old, names) else redis.call("HINCRBY", meta, "count", 1) end
    local bytes = varint(tonumber(number))
    append(docs, bytes .. entry)
    for i = 1, #rest, 2 do
      if rest[i + 1] ~= "\\0" then append(base .. ":c:" .. rest[i], bytes .. rest[i + 1]) end
    end
    version = version + 1
    redis.call("SET", document, table.concat({number, version, hash, #blob, call}, " ") .. "\\n" .. blob .. stored)
    redis.call("HDEL", ghosts, number)
    redis.call("DEL", base .. ":s:" .. number)
    return {record and "changed" or "added", version, unpack(ripe)}
  `,
});

/** Takes a document out, and leaves its words to be swept. `rest`: the names of the columns. */
export const retire = defineScript({
  name: "search.retire",
  keys: KEYS,
  args: ["base", "signature", "call", "ifVersion", "leaseMs"],
  rest: "rest",
  include: [NOW_MS, MADE, BEGIN, GHOSTS],
  repeatable: true,
  lua: `
    if not known() then return redis.error_reply(refused) end
    local record = redis.call("GET", document)
    if not record then return {"missing", 0} end
    local n, version, _, blob = parse(record)
    if tonumber(ifVersion) >= 0 and tonumber(ifVersion) ~= version then return {"conflict", version} end
    generation = struct.pack(">I4", begin() % 4294967296)
    leave(n, blob, rest)
    redis.call("HINCRBY", meta, "count", -1)
    return {"removed", version, unpack(ripe)}
  `,
});

export interface Ghost {
  readonly number: number;
  /** How many of its words are taken out, and how many there are. */
  readonly at: number;
  readonly total: number;
}

/** The ghosts of a call, and those that nobody is at any more: they are to be swept by the caller. */
export const claimGhosts = defineScript({
  name: "search.claim-ghosts",
  keys: ["ghosts"],
  args: ["call", "leaseMs"],
  include: [NOW_MS],
  repeatable: true,
  lua: `
    local claimed = {}
    local all = redis.call("HGETALL", ghosts)
    for i = 1, #all, 2 do
      local phase, at, total, untilMs, by = string.match(all[i + 1], "^(%S+) (%d+) (%d+) (%d+) (%S+)$")
      if by == call or tonumber(untilMs) < now then
        if phase == "in" then at, total = 0, at end
        redis.call("HSET", ghosts, all[i], string.format("out %d %d %.0f %s", at, total, now + leaseMs, call))
        claimed[#claimed + 1] = {tonumber(all[i]), tonumber(at), tonumber(total)}
      end
    end
    return claimed
  `,
  reply: (reply): Ghost[] =>
    asListOf(asTuple(asReply, asReply, asReply))(reply).map(([number, at, total]) => ({
      number: Number(number),
      at: Number(at),
      total: Number(total),
    })),
});

/**
 * Takes words of a ghost out, from the one at `from` on; with the last of them the ghost goes, and with the last ghost of an index
 * without documents everything. `columns`: their names, as JSON. `rest`: size of the payload and word of each.
 */
export const sweep = defineScript({
  name: "search.sweep",
  keys: ["meta", "docs", "words", "waste", "free", "ghosts"],
  args: ["base", "signature", "call", "number", "from", "leaseMs", "columns"],
  rest: "rest",
  include: [NOW_MS, MADE, BEGIN, "local document", GHOSTS],
  repeatable: true,
  lua: `
    local phase, at, total, by = ghostOf(number)
    if phase ~= "out" or by ~= call or at > tonumber(from) then return {} end
    generation = struct.pack(">I4", begin() % 4294967296)
    local bytes = varint(tonumber(number))
    for i = 1, #rest, 2 do unsay(rest[i + 1], bytes, tonumber(rest[i])) end
    speak()
    at = at + #rest / 2
    if at < total then
      setGhost(number, "out", at, total)
      return ripe
    end
    redis.call("HDEL", ghosts, number)
    redis.call("DEL", base .. ":s:" .. number)
    redis.call("RPUSH", free, number)
    if redis.call("HGET", meta, "count") ~= "0" or redis.call("EXISTS", ghosts) == 1 then return ripe end
    redis.call("DEL", meta, docs, words, waste, free)
    for _, column in ipairs(cjson.decode(columns)) do redis.call("DEL", base .. ":c:" .. column) end
    return {}
  `,
  reply: (reply) => asList(reply).map(String),
});
