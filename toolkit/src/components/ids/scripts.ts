/** The Lua of ids. Numbers are below 2^53, so that JavaScript and Lua read them exactly. */
import { asText, orNull } from "../../base/replies.ts";
import { defineScript } from "../../base/script.ts";

/** The last number that every client reads exactly. */
export const LARGEST = Number.MAX_SAFE_INTEGER;

/** Reserves the next `count` numbers; answers with the last of them, or with nothing where there are not so many left. */
export const reserve = defineScript({
  name: "ids.reserve",
  keys: ["last"],
  args: ["count"],
  lua: `
    if tonumber(redis.call("GET", last) or 0) > ${LARGEST} - count then return nil end
    return string.format("%.0f", redis.call("INCRBY", last, count))
  `,
  reply: (reply) => {
    const last = orNull(asText)(reply);
    return last === null ? null : Number(last);
  },
  // A block that was reserved for an answer that was lost is a gap.
  repeatable: true,
});

/** Numbers up to `to` are not given from now on. Answers with the last one that is taken. */
export const raise = defineScript({
  name: "ids.raise",
  keys: ["last"],
  args: ["to"],
  lua: `
    local current = tonumber(redis.call("GET", last) or 0)
    if current < tonumber(to) then
      redis.call("SET", last, to)
      return to
    end
    return string.format("%.0f", current)
  `,
  reply: (reply) => Number(asText(reply)),
  repeatable: true,
});
