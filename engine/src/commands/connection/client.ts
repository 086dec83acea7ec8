/** CLIENT: what clients there are, and what may be done to them. */

import type { Client } from "../../core/client.ts";
import { CLIENT_TYPES, type ClientType, clientLine, clientTypeOf } from "../../core/client-info.ts";
import { isPlainWord, setClientName } from "../../core/client-name.ts";
import { SYNTAX, subcommandSyntax, TIMEOUT_NEGATIVE } from "../../core/errors.ts";
import type { UserPort } from "../../core/ports.ts";
import {
  BAD_CLIENT_ID,
  BAD_PAUSE_MODE,
  BAD_UNBLOCK_REASON,
  badClientAttribute,
  CLIENT_ID_NOT_POSITIVE,
  NO_SUCH_CLIENT,
  noSuchUser,
  TIMEOUT_NOT_INTEGER,
  UNBLOCKED,
  unknownClientOption,
  unknownClientType,
} from "../../core/rare-errors.ts";
import { NO_REPLY, OK, type Reply, Verbatim } from "../../core/reply.ts";
import type { Args } from "../../table/args.ts";
import { type Flag, group, type Row } from "../../table/command.ts";
import { withHelp } from "../shared/help.ts";
import { clientTracking } from "./client-tracking.ts";

const PLAIN: Flag[] = ["noscript", "loading", "stale"];
const ADMIN: Flag[] = ["admin", "noscript", "loading", "stale"];

// ------------------------------------------------------------------------------------------------ names

function setInfo(client: Client, args: Args): Reply {
  const name = args.next();
  const value = args.next();
  const option = name.toLowerCase();
  if (option !== "lib-name" && option !== "lib-ver") throw unknownClientOption(name);
  if (!isPlainWord(value)) throw badClientAttribute(option);
  if (option === "lib-name") client.libName = value;
  else client.libVersion = value;
  return OK;
}

// ------------------------------------------------------------------------------------------------ lists

function readType(word: string): ClientType {
  const type = CLIENT_TYPES.get(word.toLowerCase());
  if (type === undefined) throw unknownClientType(word);
  return type;
}

const listing = (clients: Iterable<Client>) => {
  let text = "";
  for (const client of clients) text += `${clientLine(client)}\n`;
  return new Verbatim(text);
};

function list({ engine }: Client, args: Args): Reply {
  if (!args.more) return listing(engine.clients.values());
  const filter = args.option();
  if (filter === "type" && args.left === 1) {
    const type = readType(args.next());
    return listing([...engine.clients.values()].filter((client) => clientTypeOf(client) === type));
  }
  if (filter !== "id" || !args.more) throw SYNTAX;
  const found: Client[] = [];
  while (args.more) {
    const client = engine.clients.get(args.int(BAD_CLIENT_ID));
    if (client !== undefined) found.push(client);
  }
  return listing(found);
}

// ------------------------------------------------------------------------------------------------ killing

interface KillFilter {
  id?: number;
  address?: string;
  localAddress?: string;
  type?: ClientType;
  user?: UserPort;
  skipMe: boolean;
}

function readKillFilter({ engine }: Client, args: Args): KillFilter {
  const filter: KillFilter = { skipMe: true };
  while (args.more) {
    const option = args.option();
    if (!args.more) throw SYNTAX;
    if (option === "id") filter.id = args.intBetween(1, Number.POSITIVE_INFINITY, CLIENT_ID_NOT_POSITIVE);
    else if (option === "type") filter.type = readType(args.next());
    else if (option === "addr") filter.address = args.next();
    else if (option === "laddr") filter.localAddress = args.next();
    else if (option === "user") {
      const name = args.next();
      const user = engine.acl.find(name);
      if (user === undefined) throw noSuchUser(name);
      filter.user = user;
    } else if (option === "skipme") {
      const answer = args.option();
      if (answer !== "yes" && answer !== "no") throw SYNTAX;
      filter.skipMe = answer === "yes";
    } else throw SYNTAX;
  }
  return filter;
}

function matches(client: Client, { id, address, localAddress, type, user }: KillFilter): boolean {
  return (
    (id === undefined || client.id === id) &&
    (address === undefined || client.transport.address === address) &&
    (localAddress === undefined || client.transport.localAddress === localAddress) &&
    (type === undefined || clientTypeOf(client) === type) &&
    (user === undefined || client.user === user)
  );
}

/** A client that kills itself still gets its reply. */
function killAll(self: Client, filter: KillFilter): number {
  const { engine } = self;
  let killed = 0;
  for (const client of [...engine.clients.values()]) {
    if (!matches(client, filter) || (client === self && filter.skipMe)) continue;
    killed++;
    if (client === self) client.transport.close(true);
    else {
      engine.removeClient(client);
      client.transport.close(false);
    }
  }
  return killed;
}

function kill(client: Client, args: Args): Reply {
  if (args.left > 1) return killAll(client, readKillFilter(client, args));
  if (killAll(client, { address: args.next(), skipMe: false }) === 0) throw NO_SUCH_CLIENT;
  return OK;
}

// ------------------------------------------------------------------------------------------------ holding up and going on

function pause({ engine }: Client, args: Args): Reply {
  if (args.left > 2) throw subcommandSyntax(args.argv[1]!, "CLIENT");
  const mode = args.left === 2 ? args.argv[3]!.toLowerCase() : "all";
  if (mode !== "write" && mode !== "all") throw BAD_PAUSE_MODE;
  const ms = args.int(TIMEOUT_NOT_INTEGER);
  if (ms < 0) throw TIMEOUT_NEGATIVE;
  engine.pause.begin(engine.clock.monotonic() + ms, mode);
  return OK;
}

function unblock({ engine }: Client, args: Args): Reply {
  if (args.left > 2) throw subcommandSyntax(args.argv[1]!, "CLIENT");
  const reason = args.left === 2 ? args.argv[3]!.toLowerCase() : "timeout";
  if (reason !== "timeout" && reason !== "error") throw BAD_UNBLOCK_REASON;
  const target = engine.clients.get(args.int());
  if (target === undefined || target.blocked === null || target.blocked.stays) return 0;
  if (reason === "error") engine.blocking.release(target, UNBLOCKED);
  else engine.blocking.timeOut(target);
  return 1;
}

function reply(client: Client, args: Args): Reply {
  const mode = args.option();
  if (mode === "on") {
    client.replyMode = "on";
    return OK;
  }
  if (mode === "off") client.replyMode = "off";
  else if (mode !== "skip") throw SYNTAX;
  else if (client.replyMode !== "off") client.replyMode = "skip-next";
  return NO_REPLY;
}

function noEvict(client: Client, args: Args): Reply {
  const state = args.option();
  if (state !== "on" && state !== "off") throw SYNTAX;
  client.noEvict = state === "on";
  return OK;
}

// ------------------------------------------------------------------------------------------------ rows

const own: readonly Row[] = [
  {
    name: "getname",
    arity: 2,
    flags: PLAIN,
    since: "2.6.9",
    summary: "Tells the connection's name.",
    syntax: "",
    reply: "string | null",
    complexity: "O(1)",
    run: (client) => (client.name === "" ? null : client.name),
  },
  {
    name: "id",
    arity: 2,
    flags: PLAIN,
    since: "5.0.0",
    summary: "Tells the connection's number, which is never given twice.",
    syntax: "",
    reply: "number",
    complexity: "O(1)",
    run: (client) => client.id,
  },
  {
    name: "info",
    arity: 2,
    flags: PLAIN,
    tips: ["nondeterministic_output"],
    since: "6.2.0",
    summary: "Describes this connection in a line.",
    syntax: "",
    reply: "string",
    complexity: "O(1)",
    run: (client) => listing([client]),
  },
  {
    name: "no-evict",
    arity: 3,
    flags: ADMIN,
    since: "7.0.0",
    summary: "Keeps this connection from being dropped when clients take too much memory.",
    syntax: "<ON | OFF>",
    reply: '"OK"',
    ownConnection: true,
    complexity: "O(1)",
    run: noEvict,
  },
  {
    name: "reply",
    arity: 3,
    flags: PLAIN,
    since: "3.2.0",
    summary: "Switches replies on or off, or leaves out the next one.",
    syntax: "<ON | OFF | SKIP>",
    reply: '"OK"',
    ownConnection: true,
    complexity: "O(1)",
    run: reply,
  },
  {
    name: "setinfo",
    arity: 4,
    flags: PLAIN,
    since: "7.2.0",
    summary: "Notes the name or version of the client's library.",
    syntax: "<LIB-NAME libname | LIB-VER libver>",
    reply: '"OK"',
    ownConnection: true,
    complexity: "O(1)",
    run: setInfo,
  },
  {
    name: "setname",
    arity: 3,
    flags: PLAIN,
    since: "2.6.9",
    summary: "Names the connection.",
    syntax: "connection-name",
    reply: '"OK"',
    ownConnection: true,
    complexity: "O(1)",
    run(client, args) {
      setClientName(client, args.next());
      return OK;
    },
  },
];

const others: readonly Row[] = [
  {
    name: "kill",
    arity: -3,
    flags: ADMIN,
    since: "2.4.0",
    summary: "Ends connections, by address or by filters.",
    syntax:
      "<ip:port | <[ID client-id] | [TYPE <NORMAL | MASTER | SLAVE | REPLICA | PUBSUB>] | [USER username] | [ADDR ip:port] | [LADDR ip:port] | [SKIPME <YES | NO>]> [...]>",
    reply: 'number | "OK"',
    complexity: "O(N) for N clients",
    run: kill,
  },
  {
    name: "list",
    arity: -2,
    flags: ADMIN,
    tips: ["nondeterministic_output"],
    since: "2.4.0",
    summary: "Describes the connections, a line each.",
    syntax: "[TYPE <NORMAL | MASTER | REPLICA | PUBSUB>] [ID client-id [client-id ...]]",
    reply: "string",
    complexity: "O(N) for N clients",
    run: list,
  },
  {
    name: "pause",
    arity: -3,
    flags: ADMIN,
    since: "2.9.50",
    summary: "Puts off all commands, or those that write, for some milliseconds.",
    syntax: "timeout [WRITE | ALL]",
    reply: '"OK"',
    complexity: "O(1)",
    run: pause,
  },
  {
    name: "unblock",
    arity: -3,
    flags: ADMIN,
    since: "5.0.0",
    summary: "Ends another connection's wait in a blocking command.",
    syntax: "client-id [TIMEOUT | ERROR]",
    reply: "number",
    complexity: "O(1)",
    run: unblock,
  },
  {
    name: "unpause",
    arity: 2,
    flags: ADMIN,
    since: "6.2.0",
    summary: "Ends a pause before its time.",
    syntax: "",
    reply: '"OK"',
    complexity: "O(N) for N clients that wait",
    run({ engine }) {
      engine.pause.end();
      return OK;
    },
  },
];

const byName = (a: Row, b: Row) => (a.name < b.name ? -1 : 1);

export const clients = group("connection", [
  {
    name: "client",
    arity: -2,
    flags: [],
    keepsCaching: true,
    since: "2.4.0",
    summary: "Looks after connections.",
    syntax: "",
    complexity: "depends on the subcommand",
    subcommands: withHelp("client", "5.0.0", [...own, ...others, ...clientTracking].sort(byName)),
  },
]);
