/**
 * Every change has a version, and is told to all processes with it and with the version before. So a process knows whether it has
 * heard of every change: the version that it has heard of last must be the stored one.
 *
 * Versions are microseconds of the server's clock, and grow whatever that clock does. A map that was emptied and filled again
 * therefore never has a version that it had before.
 */

import { asBytesOrNulls, asList, asNumbers, asText } from "../../base/replies.ts";
import { defineScript } from "../../base/script.ts";

/** An empty map is remembered for so long: until then every process has noticed that it has changed. */
const KEEP_VERSION_MS = 86_400_000;

/** Lua: notes a change of these keys; without any, of all of them. */
const CHANGED = `
local function changed(names)
  local time = redis.call("TIME")
  local before = redis.call("GET", version) or "0"
  local now = string.format("%.0f", math.max(time[1] * 1000000 + time[2], before + 1))
  redis.call("SET", version, now)
  if redis.call("EXISTS", values) == 0 then redis.call("PEXPIRE", version, ${KEEP_VERSION_MS}) end
  local message = {before, now}
  for _, name in ipairs(names) do message[#message + 1] = name end
  redis.call("PUBLISH", channel, cjson.encode(message))
end
`;

/** Answers 1 for stored, 0 for exists (mode "create"), 2 for full. */
export const put = defineScript({
  name: "local-map.put",
  keys: ["values", "version"],
  args: ["channel", "maxItems", "mode"],
  rest: "entries",
  include: [CHANGED],
  lua: `
    local answers, names = {}, {}
    local count = redis.call("HLEN", values)
    for i = 1, #entries, 2 do
      local isThere = redis.call("HEXISTS", values, entries[i]) == 1
      local answer = 1
      if isThere and mode == "create" then answer = 0
      elseif not isThere and count >= tonumber(maxItems) then answer = 2
      else
        redis.call("HSET", values, entries[i], entries[i + 1])
        names[#names + 1] = entries[i]
        if not isThere then count = count + 1 end
      end
      answers[#answers + 1] = answer
    end
    if #names > 0 then changed(names) end
    return answers
  `,
  reply: asNumbers,
});

/** Answers 1 for those that were there. */
export const deleteEntries = defineScript({
  name: "local-map.delete",
  keys: ["values", "version"],
  args: ["channel"],
  rest: "names",
  include: [CHANGED],
  lua: `
    local answers, gone = {}, {}
    for at, name in ipairs(names) do
      answers[at] = redis.call("HDEL", values, name)
      if answers[at] == 1 then gone[#gone + 1] = name end
    end
    if #gone > 0 then changed(gone) end
    return answers
  `,
  reply: asNumbers,
});

export const clear = defineScript({
  name: "local-map.clear",
  keys: ["values", "version"],
  args: ["channel"],
  include: [CHANGED],
  repeatable: true,
  lua: `
    redis.call("UNLINK", values)
    changed({})
    return 1
  `,
});

/** Only the primary has the last word: this must not be answered by a replica, so it does not say that it only reads. */
export const read = defineScript({
  name: "local-map.read",
  keys: ["values"],
  rest: "names",
  repeatable: true,
  buffers: true,
  lua: `
    local answers = {}
    for at, name in ipairs(names) do answers[at] = redis.call("HGET", values, name) end
    return answers
  `,
  reply: asBytesOrNulls,
});

/** The version of the last change; 0 for a map that has been empty for long. Of the primary, too. */
export const current = defineScript({
  name: "local-map.version",
  keys: ["version"],
  repeatable: true,
  lua: `return redis.call("GET", version) or "0"`,
  reply: (reply) => Number(asText(reply)),
});

/** One step through all entries: the next cursor, and keys and values in turn. */
export const step = defineScript({
  name: "local-map.step",
  keys: ["values"],
  args: ["cursor"],
  buffers: true,
  readOnly: true,
  lua: `return redis.call("HSCAN", values, cursor, "COUNT", 200)`,
  reply: asList,
});
