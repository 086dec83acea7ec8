/** Parents and children, and messages between slots. */

import { asList } from "../../../base/replies.ts";
import { defineScript } from "../../../base/script.ts";
import type { Reply } from "../../../connection/port.ts";
import { KEY_NAMES } from "../keys.ts";
import { ENDING } from "./core.ts";

/** A child in another slot has ended. Told twice, it counts once. */
export const settleChild = defineScript({
  name: "queues.child",
  keys: KEY_NAMES,
  args: ["parent", "child", "ok", "payload", "policy"],
  include: ENDING,
  repeatable: true,
  lua: `
local opened = call("HMGET", data, "#settings", "#trail")
configure(opened[1], opened[2])
settleChild(parent, child, ok == "1", payload, policy)
publish()
return 1
`,
});

/** The message has arrived. */
export const forgetMessage = defineScript({
  name: "queues.delivered",
  keys: ["timers"],
  args: ["message"],
  repeatable: true,
  lua: `return redis.call("ZREM", timers, "o" .. message)`,
});

/** The children of a job from the one at `skip` on, and what they gave: name, then `+` or `-` and the payload, or nothing while it is not settled. */
const childrenShape = {
  keys: KEY_NAMES,
  args: ["id", "skip", "most"],
  repeatable: true,
  lua: String.raw`
local record = redis.call("HGET", data, "j" .. id)
local text = record and string.match(record, "^[^;]*;([^\n]*)\n")
if not text or text == "" then return {} end
local found = {}
local all = cjson.decode(text).c or {}
for at = skip + 1, math.min(#all, skip + most) do
  local child = all[at]
  found[#found + 1] = child
  found[#found + 1] = redis.call("HGET", data, "c" .. id .. "\n" .. child) or ""
end
return found
`,
  reply: (reply: Reply): Reply[] => asList(reply),
} as const;
export const readChildren = defineScript({ ...childrenShape, name: "queues.children" });
export const readChildrenBytes = defineScript({ ...childrenShape, name: "queues.children", buffers: true });
