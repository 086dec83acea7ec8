/** The lease to make a value anew while the old one is fresh. */

import { asNumber } from "../../base/replies.ts";
import { defineScript } from "../../base/script.ts";
import { MOMENTS, NOW, TEXT } from "./scripts.ts";

/** False: somebody makes it already. */
export const claim = defineScript({
  name: "cache.claim",
  keys: ["loader", "tags"],
  args: ["token", "leaseMs", "tagMs"],
  include: [NOW, TEXT, MOMENTS],
  lua: `
    local began, isNew = beginning()
    if not redis.call("SET", loader, token .. " " .. text(began), "PX", leaseMs, "NX") then return 0 end
    note(began, isNew)
    return 1
  `,
  reply: (reply) => asNumber(reply) === 1,
});
