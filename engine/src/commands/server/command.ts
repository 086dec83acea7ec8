/** COMMAND: the command table, as clients ask for it. Everything is derived from the rows (command-info.ts). */

import type { Client } from "../../core/client.ts";
import { SYNTAX } from "../../core/errors.ts";
import { BAD_ARGUMENT_COUNT, BAD_ARGUMENTS, BAD_COMMAND, NO_KEY_ARGUMENTS } from "../../core/rare-errors.ts";
import { MapReply, type Reply } from "../../core/reply.ts";
import { compileGlob } from "../../lib/glob.ts";
import type { Args } from "../../table/args.ts";
import { type Flag, group } from "../../table/command.ts";
import { CATEGORIES, categoriesOf, docsReply, infoReply, keyFlagsReply } from "../../table/command-info.ts";
import type { Command, CommandTable } from "../../table/command-table.ts";
import { hasKeys, type KeyWord, keyWordsOf } from "../../table/key-extraction.ts";
import { withHelp } from "../shared/help.ts";

const FLAGS: Flag[] = ["loading", "stale"];

const allOf = ({ commands }: CommandTable) => [...commands.values()];

/** By its full name, `get` or `config|get`, in any case. */
function byName(table: CommandTable, name: string): Command | undefined {
  const [container, sub, ...rest] = name.split("|");
  const command = table.get(container!);
  if (sub === undefined) return command;
  return rest.length > 0 ? undefined : command?.subcommands?.get(sub.toLowerCase());
}

function info({ engine }: Client, args: Args): Reply {
  if (!args.more) return allOf(engine.commands).map(infoReply);
  return args.rest().map((name) => {
    const command = byName(engine.commands, name);
    return command === undefined ? null : infoReply(command);
  });
}

function docs({ engine }: Client, args: Args): Reply {
  const found = args.more ? args.rest().flatMap((name) => byName(engine.commands, name) ?? []) : allOf(engine.commands);
  return new MapReply(found.flatMap((command): Reply[] => [command.name, docsReply(command)]));
}

// ------------------------------------------------------------------------------------------------ COMMAND LIST

const withSubcommands = (table: CommandTable) =>
  allOf(table).flatMap((command) => [command, ...(command.subcommands?.values() ?? [])]);

function readFilter(args: Args): ((command: Command) => boolean) | undefined {
  if (!args.accept("filterby") || args.left !== 2) throw SYNTAX;
  const by = args.option();
  const word = args.next();
  if (by === "module") return () => false;
  if (by === "pattern") {
    const matches = compileGlob(word, true);
    return (command) => matches(command.name);
  }
  if (by !== "aclcat") throw SYNTAX;
  const category = CATEGORIES.find((name) => name === word.toLowerCase());
  return category === undefined ? () => false : (command) => categoriesOf(command).includes(category);
}

function list({ engine }: Client, args: Args): Reply {
  if (!args.more) return withSubcommands(engine.commands).map(({ name }) => name);
  const fits = readFilter(args);
  return withSubcommands(engine.commands).flatMap((command) => (fits?.(command) ? command.name : []));
}

// ------------------------------------------------------------------------------------------------ COMMAND GETKEYS

/** The keys of the command that these words are. */
function keysIn(table: CommandTable, words: readonly string[]): readonly KeyWord[] {
  const command = lookUp(table, words);
  if (command === undefined) throw BAD_COMMAND;
  if (!hasKeys(command.row)) throw NO_KEY_ARGUMENTS;
  if (!command.accepts(words.length)) throw BAD_ARGUMENT_COUNT;
  const found = keyWordsOf(command, words) ?? [];
  if (found.length === 0 && !command.row.flags.includes("no_mandatory_keys")) throw BAD_ARGUMENTS;
  return found;
}

function lookUp(table: CommandTable, words: readonly string[]): Command | undefined {
  const command = table.get(words[0]!);
  if (command === undefined || command.subcommands === null || words.length < 2) return command;
  return command.subcommands.get(words[1]!.toLowerCase());
}

function getKeys({ engine }: Client, args: Args): Reply {
  const words = args.rest();
  return keysIn(engine.commands, words).map(({ index }) => words[index]!);
}

function getKeysAndFlags({ engine }: Client, args: Args): Reply {
  const words = args.rest();
  return keysIn(engine.commands, words).map(({ index, flags }) => [words[index]!, keyFlagsReply(flags)]);
}

// ------------------------------------------------------------------------------------------------ rows

const CONNECTION = ["connection"];

export const command = group("server", [
  {
    name: "command",
    arity: -1,
    flags: FLAGS,
    categories: CONNECTION,
    tips: ["nondeterministic_output_order"],
    since: "2.8.13",
    summary: "Describes all commands.",
    syntax: "",
    reply: "Reply[]",
    complexity: "O(N) for N commands",
    run: ({ engine }) => allOf(engine.commands).map(infoReply),
    subcommands: withHelp(
      "command",
      "5.0.0",
      [
        {
          name: "count",
          arity: 2,
          flags: FLAGS,
          categories: CONNECTION,
          since: "2.8.13",
          summary: "Counts the commands.",
          syntax: "",
          reply: "number",
          complexity: "O(1)",
          run: ({ engine }) => engine.commands.commands.size,
        },
        {
          name: "docs",
          arity: -2,
          flags: FLAGS,
          categories: CONNECTION,
          tips: ["nondeterministic_output_order"],
          since: "7.0.0",
          summary: "Documents commands for people.",
          syntax: "[command-name [command-name ...]]",
          reply: "Map<string, Reply>",
          complexity: "O(N) for N commands",
          run: docs,
        },
        {
          name: "getkeys",
          arity: -4,
          flags: FLAGS,
          categories: CONNECTION,
          since: "2.8.13",
          summary: "Finds the keys in a full command.",
          syntax: "command [arg [arg ...]]",
          reply: "string[]",
          complexity: "O(N) for N arguments",
          run: getKeys,
        },
        {
          name: "getkeysandflags",
          arity: -4,
          flags: FLAGS,
          categories: CONNECTION,
          since: "7.0.0",
          summary: "Finds the keys in a full command, with what it does to them.",
          syntax: "command [arg [arg ...]]",
          reply: "[string, string[]][]",
          complexity: "O(N) for N arguments",
          run: getKeysAndFlags,
        },
        {
          name: "info",
          arity: -2,
          flags: FLAGS,
          categories: CONNECTION,
          tips: ["nondeterministic_output_order"],
          since: "2.8.13",
          summary: "Describes commands for programs.",
          syntax: "[command-name [command-name ...]]",
          reply: "(Reply[] | null)[]",
          complexity: "O(N) for N commands",
          run: info,
        },
        {
          name: "list",
          arity: -2,
          flags: FLAGS,
          categories: CONNECTION,
          tips: ["nondeterministic_output_order"],
          since: "7.0.0",
          summary: "Lists the names of commands.",
          syntax: "[FILTERBY <MODULE module-name | ACLCAT category | PATTERN pattern>]",
          reply: "string[]",
          complexity: "O(N) for N commands",
          run: list,
        },
      ],
      { categories: CONNECTION },
    ),
  },
]);
