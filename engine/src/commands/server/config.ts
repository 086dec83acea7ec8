/** CONFIG: reading and changing directives at run time. The directives themselves are in ../config/. */

import type { Change, Refusal } from "../../config/config.ts";
import { DIRECTIVES, NAMES } from "../../config/directives.ts";
import type { Client } from "../../core/client.ts";
import { LOADING, type ReplyError, SYNTAX } from "../../core/errors.ts";
import type { Host } from "../../core/ports.ts";
import {
  BIND_FAILED,
  configRefused,
  LISTEN_FAILED,
  LISTENS_ELSEWHERE,
  LISTENS_NOT_IN_MULTI,
  unknownDirective,
} from "../../core/rare-errors.ts";
import { MapReply, OK, type Reply } from "../../core/reply.ts";
import type { Args } from "../../table/args.ts";
import { group } from "../../table/command.ts";
import { helpRow } from "../shared/help.ts";
import { isAllowed } from "../shared/permission.ts";
import { rewriteConfig } from "./rewrite-config.ts";

const ADMIN = ["admin", "noscript", "loading", "stale"] as const;

/** CONFIG SET with passwords blanked, for the slow log; also where a word is missing before them. */
function withoutSecrets(argv: readonly string[]): string[] {
  return argv.map((word, i) => {
    if (i < 3) return word;
    const name = NAMES.get(argv[i - 1]!.toLowerCase());
    return name !== undefined && DIRECTIVES[name].secret ? "(redacted)" : word;
  });
}

function set(client: Client, args: Args): Reply {
  const { engine } = client;
  client.shownArgv = withoutSecrets(args.argv);
  const words = args.rest();
  if (words.length % 2 !== 0) throw SYNTAX;
  const pairs: [string, string][] = [];
  for (let i = 0; i < words.length; i += 2) pairs.push([words[i]!, words[i + 1]!]);
  const change = engine.config.plan(pairs, () => isAllowed(client, engine.config.values["enable-protected-configs"]));
  if (!("wanted" in change)) return refused(change);
  const address = addressChange(engine, change);
  return address === undefined ? apply(engine, change) : listenFirst(client, change, address);
}

function refused({ name, text, loading }: Refusal): ReplyError {
  if (loading) return LOADING;
  return text === null ? unknownDirective(name) : configRefused(name, text);
}

function apply({ config }: Host, change: Change): Reply {
  const refusal = config.apply(change);
  return refusal === undefined ? OK : refused(refusal);
}

/** The directive that moves the server to other addresses, if one does. */
function addressChange({ config }: Host, { wanted, values }: Change): string | undefined {
  const moves = ({ name }: { name: string }) =>
    (name === "port" && values.port !== config.values.port) ||
    (name === "tls-port" && values["tls-port"] !== config.values["tls-port"]) ||
    (name === "bind" && values.bind.join(" ") !== config.values.bind.join(" "));
  return wanted.find(moves)?.key;
}

/**
 * Listens on the new addresses before anything changes, with the client waiting, so that a port that is taken changes
 * nothing. The old addresses are left when everything else is in force.
 */
function listenFirst(client: Client, change: Change, name: string): Reply {
  const { engine } = client;
  const { port, bind, "tls-port": tlsPort } = change.values;
  if (engine.onListen === null) throw configRefused(name, LISTENS_ELSEWHERE);
  if (client.inTransaction) throw configRefused(name, LISTENS_NOT_IN_MULTI);
  void engine.onListen({ port, tlsPort, bind }).then((move) => {
    const reply = engine.runAfterwards(client, () => {
      if (move === null) return configRefused(name, name === "bind" ? BIND_FAILED : LISTEN_FAILED);
      const answer = apply(engine, change);
      if (answer === OK) move.commit();
      else move.cancel();
      return answer;
    });
    if (client.isParked) engine.blocking.release(client, reply);
  });
  return engine.blocking.park(client);
}

export const settings = group("server", [
  {
    name: "config",
    arity: -2,
    flags: [],
    since: "2.0.0",
    summary: "Reads and changes the configuration.",
    syntax: "",
    complexity: "depends on the subcommand",
    subcommands: [
      {
        name: "get",
        arity: -3,
        flags: ADMIN,
        since: "2.0.0",
        summary: "Shows the directives that match patterns.",
        syntax: "parameter [parameter ...]",
        reply: "Map<string, string>",
        complexity: "O(N) with N patterns",
        run: ({ engine }, args) => new MapReply(engine.config.get(args.rest())),
      },
      helpRow("config", "5.0.0", [
        ["GET <pattern> [<pattern> ...]", "The directives that match, with their values."],
        ["SET <directive> <value> [<directive> <value> ...]", "Changes directives, all of them or none."],
        ["RESETSTAT", "Starts the statistics of INFO anew."],
        ["REWRITE", "Writes the current values into the configuration file."],
      ]),
      {
        name: "resetstat",
        arity: 2,
        flags: ADMIN,
        since: "2.0.0",
        summary: "Starts the statistics of INFO anew.",
        syntax: "",
        reply: '"OK"',
        complexity: "O(1)",
        run({ engine }) {
          engine.stats.reset();
          return OK;
        },
      },
      {
        name: "rewrite",
        arity: 2,
        flags: ADMIN,
        since: "2.8.0",
        summary: "Writes the current values into the configuration file, keeping its comments.",
        syntax: "",
        reply: '"OK"',
        complexity: "O(N) with N directives",
        run: ({ engine }) => rewriteConfig(engine),
      },
      {
        name: "set",
        arity: -4,
        flags: ADMIN,
        tips: ["request_policy:all_nodes", "response_policy:all_succeeded"],
        since: "2.0.0",
        summary: "Changes directives, all of them or none.",
        syntax: "parameter value [parameter value ...]",
        reply: '"OK"',
        complexity: "O(N) with N directives",
        run: set,
      },
    ],
  },
]);
