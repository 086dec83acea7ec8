/** ACL: who may do what. The mechanism is in core/acl/. */

import type { Client } from "../../core/client.ts";
import { subcommandSyntax, wrongArity } from "../../core/errors.ts";
import type { RefusedEntry, UserPort } from "../../core/ports.ts";
import {
  BAD_PASSWORD_BITS,
  dryRunDenied,
  dryRunNoCommand,
  dryRunNoUser,
  unknownCategory,
} from "../../core/rare-errors.ts";
import { Double, MapReply, OK, type Reply, SetReply } from "../../core/reply.ts";
import { Buffer } from "../../platform/bytes.ts";
import { randomBytes } from "../../platform/random.ts";
import type { Args } from "../../table/args.ts";
import { type Flag, group, type Row } from "../../table/command.ts";
import { CATEGORIES } from "../../table/command-info.ts";
import { withHelp } from "../shared/help.ts";
import { redactFrom } from "../shared/redact.ts";

const PLAIN: Flag[] = ["noscript", "loading", "stale"];
const ADMIN: Flag[] = ["admin", "noscript", "loading", "stale"];

// ------------------------------------------------------------------------------------------------ users

function setUser(client: Client, args: Args): Reply {
  redactFrom(client, args.argv, 2);
  client.engine.acl.set(args.next(), args.rest());
  return OK;
}

const selectorFields = ({ commandRules, keyRules, channelRules }: UserPort["selectors"][number]): Reply[] => [
  "commands",
  commandRules,
  "keys",
  keyRules,
  "channels",
  channelRules,
];

function getUser({ engine }: Client, args: Args): Reply {
  const user = engine.acl.find(args.next());
  if (user === undefined) return null;
  const [root, ...others] = user.selectors;
  return new MapReply([
    "flags",
    new SetReply([...user.flags]),
    "passwords",
    [...user.passwords],
    ...selectorFields(root!),
    "selectors",
    others.map((selector) => new MapReply(selectorFields(selector))),
  ]);
}

function categories({ engine }: Client, args: Args): Reply {
  if (args.left > 1) throw subcommandSyntax(args.argv[1]!, "ACL");
  if (!args.more) return [...CATEGORIES];
  const name = args.next();
  const commands = engine.acl.catalog.inCategory(name);
  if (commands === undefined) throw unknownCategory(name);
  return commands.map((command) => command.name);
}

// ------------------------------------------------------------------------------------------------ trying and looking

function dryRun({ engine }: Client, args: Args): Reply {
  const name = args.next();
  const user = engine.acl.find(name);
  if (user === undefined) throw dryRunNoUser(name);
  const argv = args.rest();
  const command = engine.commands.find(argv);
  if (command === undefined || (command.subcommands !== null && argv.length > 1)) throw dryRunNoCommand(argv[0]!);
  if (!command.accepts(argv.length)) throw wrongArity(command.name);
  const denial = user.denial(command, argv);
  if (denial === null) return OK;
  return dryRunDenied(denial.reason, denial.reason === "command" ? command.name : argv[denial.index]!);
}

function logEntry(entry: RefusedEntry, now: number): Reply {
  return new MapReply([
    "count",
    entry.count,
    "reason",
    entry.reason,
    "context",
    entry.context,
    "object",
    entry.object,
    "username",
    entry.user,
    "age-seconds",
    new Double((now - entry.at) / 1000),
    "client-info",
    entry.clientInfo,
  ]);
}

const SHOWN = 10;

function log({ engine }: Client, args: Args): Reply {
  if (args.left > 1) throw subcommandSyntax(args.argv[1]!, "ACL");
  if (args.accept("reset")) {
    engine.acl.log.clear();
    return OK;
  }
  const count = args.more ? Math.max(0, args.int()) : SHOWN;
  const now = engine.clock.now();
  return engine.acl.log.entries.slice(0, count).map((entry) => logEntry(entry, now));
}

const MOST_BITS = 4096;
const DEFAULT_BITS = 256;

/** A password of random bits, four in each hexadecimal digit. */
function generate(_client: Client, args: Args): Reply {
  if (args.left > 1) throw subcommandSyntax(args.argv[1]!, "ACL");
  const bits = args.more ? args.int() : DEFAULT_BITS;
  if (bits < 1 || bits > MOST_BITS) throw BAD_PASSWORD_BITS;
  const digits = Math.ceil(bits / 4);
  return Buffer.from(randomBytes(Math.ceil(digits / 2)))
    .toString("hex")
    .slice(0, digits);
}

// ------------------------------------------------------------------------------------------------ rows

const rows: readonly Row[] = [
  {
    name: "cat",
    arity: -2,
    flags: PLAIN,
    since: "6.0.0",
    summary: "Lists the categories of commands, or the commands of one.",
    syntax: "[categoryname]",
    reply: "string[]",
    complexity: "O(N) with N commands",
    run: categories,
  },
  {
    name: "deluser",
    arity: -3,
    flags: ADMIN,
    since: "6.0.0",
    summary: "Removes users and ends their connections.",
    syntax: "username [username ...]",
    reply: "number",
    complexity: "O(N) with N connections",
    run: ({ engine }, args) => engine.acl.delete(args.rest()),
  },
  {
    name: "dryrun",
    arity: -4,
    flags: ADMIN,
    since: "7.0.0",
    summary: "Tells whether a user may make a call, without making it.",
    syntax: "username command [arg [arg ...]]",
    reply: "string",
    complexity: "O(1)",
    run: dryRun,
  },
  {
    name: "genpass",
    arity: -2,
    flags: PLAIN,
    since: "6.0.0",
    summary: "Makes a random password.",
    syntax: "[bits]",
    reply: "string",
    complexity: "O(1)",
    run: generate,
  },
  {
    name: "getuser",
    arity: 3,
    flags: ADMIN,
    since: "6.0.0",
    summary: "Shows a user's flags, password digests and rules.",
    syntax: "username",
    reply: "Map<string, Reply> | null",
    complexity: "O(N) with N commands",
    run: getUser,
  },
  {
    name: "list",
    arity: 2,
    flags: ADMIN,
    since: "6.0.0",
    summary: "Shows all users with their rules, as a file has them.",
    syntax: "",
    reply: "string[]",
    complexity: "O(N) with N users",
    run: ({ engine }) => engine.acl.lines(),
  },
  {
    name: "load",
    arity: 2,
    flags: ADMIN,
    since: "6.0.0",
    summary: "Takes the users of the file in place of those that are there.",
    syntax: "",
    reply: '"OK"',
    complexity: "O(N) with N users",
    run({ engine }) {
      engine.acl.load();
      return OK;
    },
  },
  {
    name: "log",
    arity: -2,
    flags: ADMIN,
    since: "6.0.0",
    summary: "Shows what was refused lately, or forgets it.",
    syntax: "[count | RESET]",
    reply: 'Reply[] | "OK"',
    complexity: "O(N) with N entries shown",
    run: log,
  },
  {
    name: "save",
    arity: 2,
    flags: ADMIN,
    since: "6.0.0",
    summary: "Writes the users to the file.",
    syntax: "",
    reply: '"OK"',
    complexity: "O(N) with N users",
    run({ engine }) {
      engine.acl.save();
      return OK;
    },
  },
  {
    name: "setuser",
    arity: -3,
    flags: ADMIN,
    since: "6.0.0",
    summary: "Makes a user, or changes its passwords and what it may do.",
    syntax: "username [rule [rule ...]]",
    reply: '"OK"',
    complexity: "O(N) with N rules",
    run: setUser,
  },
  {
    name: "users",
    arity: 2,
    flags: ADMIN,
    since: "6.0.0",
    summary: "Lists the names of all users.",
    syntax: "",
    reply: "string[]",
    complexity: "O(N) with N users",
    run: ({ engine }) => engine.acl.users.map(({ name }) => name),
  },
  {
    name: "whoami",
    arity: 2,
    flags: PLAIN,
    since: "6.0.0",
    summary: "Tells which user the connection is.",
    syntax: "",
    reply: "string | null",
    complexity: "O(1)",
    run: ({ user, engine }) => (user === engine.acl.superuser ? null : user.name),
  },
];

export const users = group("server", [
  {
    name: "acl",
    arity: -2,
    flags: [],
    since: "6.0.0",
    summary: "Looks after users and what they may do.",
    syntax: "",
    complexity: "depends on the subcommand",
    subcommands: withHelp("acl", "6.0.0", rows),
  },
]);
