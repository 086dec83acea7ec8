/** The server group: what concerns the process and the people who run it. */

import type { Client } from "../../core/client.ts";
import { SYNTAX } from "../../core/errors.ts";
import { NO_SHUTDOWN, SHUTDOWN_FAILED } from "../../core/rare-errors.ts";
import { NO_REPLY, OK, type Reply, Verbatim } from "../../core/reply.ts";
import { REDIS_VERSION, VERSION } from "../../core/version.ts";
import type { Args } from "../../table/args.ts";
import { group } from "../../table/command.ts";
import { latency } from "./latency.ts";
import { memory } from "./memory.ts";
import { persistence } from "./persistence.ts";
import { slowlog } from "./slowlog.ts";

function shutdown(client: Client, args: Args): Reply {
  const { engine } = client;
  const wanted = new Set<string>();
  while (args.more) {
    const option = args.option();
    if (!["save", "nosave", "now", "force", "abort"].includes(option)) throw SYNTAX;
    wanted.add(option);
  }
  if ((wanted.has("abort") && wanted.size > 1) || (wanted.has("save") && wanted.has("nosave"))) throw SYNTAX;
  // One that waits for nobody is over before the next command is read.
  if (wanted.has("abort")) {
    const abort = engine.onShutdownAbort ?? (() => engine.replication.handover.abort());
    if (!abort()) throw NO_SHUTDOWN;
    return OK;
  }
  if (engine.scripts.running !== null && !wanted.has("nosave")) throw engine.scripts.busyError;
  if (engine.onShutdown === null) throw SHUTDOWN_FAILED;
  const save = wanted.has("save") ? true : wanted.has("nosave") ? false : undefined;
  const stopping = engine.onShutdown({ save, now: wanted.has("now"), force: wanted.has("force") });
  if (stopping === false) throw SHUTDOWN_FAILED;
  if (stopping === true) return NO_REPLY;
  void stopping.then((stopped) => {
    if (!stopped && !client.closed) engine.blocking.release(client, SHUTDOWN_FAILED);
  });
  return engine.blocking.park(client);
}

/** A crystal of cinnabar, different every day, and who we are. */
function lolwut({ engine }: Client, args: Args): Reply {
  if (args.accept("version") && args.more) args.int();
  const day = Math.floor(engine.now / 86_400_000);
  const shades = " .:-=+*#%@";
  const lines: string[] = [];
  for (let y = -8; y <= 8; y++) {
    let line = "";
    for (let x = -16; x <= 16; x++) {
      const edge = 1 - (Math.abs(x) / 16 + Math.abs(y) / 8);
      const facet = Math.abs(Math.sin(x * 0.35 + day) * Math.cos(y * 0.6 - day * 0.7));
      line += edge < 0 ? " " : shades[Math.min(9, 1 + Math.floor(facet * 8 + edge))];
    }
    lines.push(line.trimEnd());
  }
  return new Verbatim(`${lines.join("\n")}\nCinnabar ${VERSION}, Redis ver. ${REDIS_VERSION}\n`);
}

export const operation = group("server", [
  {
    name: "info",
    arity: -1,
    flags: ["loading", "stale"],
    categories: ["dangerous"],
    tips: ["nondeterministic_output", "request_policy:all_shards", "response_policy:special"],
    since: "1.0.0",
    summary: "Shows figures about the server, section by section.",
    syntax: "[section [section ...]]",
    reply: "string",
    complexity: "O(1)",
    run: ({ engine }, args) => new Verbatim(engine.info(args.rest())),
  },
  latency,
  {
    name: "lolwut",
    arity: -1,
    flags: ["readonly", "fast"],
    since: "5.0.0",
    summary: "Draws something and tells the version.",
    syntax: "[VERSION version]",
    reply: "string",
    complexity: "O(1)",
    run: lolwut,
  },
  memory,
  ...persistence,
  {
    name: "shutdown",
    arity: -1,
    flags: ["admin", "noscript", "loading", "stale", "no_multi", "allow_busy"],
    since: "1.0.0",
    summary: "Stops the server.",
    syntax: "[NOSAVE | SAVE] [NOW] [FORCE] [ABORT]",
    reply: '"OK"',
    complexity: "O(N) with N keys when saving, otherwise O(1)",
    run: shutdown,
  },
  slowlog,
]);
