/** One step each: a change is compared, written, noted and told, or it is not. */

import { asNumber, asTuple } from "../../base/replies.ts";
import { defineScript, NOW_MS } from "../../base/script.ts";
import type { Reply } from "../../connection/port.ts";

export interface ChangeOutcome {
  /** `conflict`: another version than the expected one was there, and still is. */
  readonly status: "changed" | "conflict";
  /** The version that is stored now. */
  readonly version: number;
}

/**
 * `ifVersion` empty: whatever is there. `token` names this call: when the answer was lost and it is sent again, the change is
 * found among the latest and not made twice.
 */
export const change = defineScript({
  name: "config.change",
  keys: ["current", "audit"],
  args: ["value", "ifVersion", "by", "note", "token", "keep", "channel"],
  include: [NOW_MS],
  lua: `
    for _, entry in ipairs(redis.call("XREVRANGE", audit, "+", "-", "COUNT", 16)) do
      local fields = entry[2]
      local made, version
      for i = 1, #fields, 2 do
        if fields[i] == "token" and fields[i + 1] == token then made = true end
        if fields[i] == "version" then version = tonumber(fields[i + 1]) end
      end
      if made then return { 1, version } end
    end
    local version = tonumber(redis.call("HGET", current, "version") or 0)
    if ifVersion ~= "" and tonumber(ifVersion) ~= version then return { 0, version } end
    version = version + 1
    redis.call("HSET", current, "version", version, "value", value, "at", now, "by", by)
    redis.call("XADD", audit, "MAXLEN", keep, "*",
      "version", version, "at", now, "by", by, "note", note, "token", token, "value", value)
    redis.call("PUBLISH", channel, version)
    return { 1, version }
  `,
  repeatable: true,
  reply: (reply: Reply): ChangeOutcome => {
    const [changed, version] = asTuple(asNumber, asNumber)(reply);
    return { status: changed === 1 ? "changed" : "conflict", version };
  },
});
