/** MONITOR: shows a client all commands that the server runs (monitor.ts). */

import { MONITOR_MAY_NOT_BLOCK } from "../../core/rare-errors.ts";
import { NO_REPLY, OK } from "../../core/reply.ts";
import { group } from "../../table/command.ts";

export const monitor = group("server", [
  {
    name: "monitor",
    arity: 1,
    flags: ["admin", "noscript", "loading", "stale"],
    since: "1.0.0",
    summary: "Shows every command that the server runs, as it runs.",
    syntax: "",
    reply: '"OK"',
    ownConnection: true,
    complexity: "",
    run(client) {
      if (client.inTransaction) throw MONITOR_MAY_NOT_BLOCK;
      if (client.monitoring) return NO_REPLY;
      client.engine.monitor.add(client);
      return OK;
    },
  },
]);
