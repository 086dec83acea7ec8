/** docs/commands.md, made from the command table: `npm run docs` writes it, a test checks that it is up to date. */
import type { GroupName } from "./command.ts";
import type { Command, CommandTable } from "./command-table.ts";

const TITLES: Readonly<Record<GroupName, string>> = {
  string: "Strings",
  bitmap: "Bits",
  hash: "Hashes",
  list: "Lists",
  set: "Sets",
  "sorted-set": "Sorted sets",
  stream: "Streams",
  hyperloglog: "HyperLogLog",
  geo: "Geo",
  generic: "Keys",
  transactions: "Transactions",
  pubsub: "Publish and subscribe",
  scripting: "Scripts",
  connection: "Connection",
  server: "Server",
  cluster: "Cluster",
};

const byName = (a: Command, b: Command) => (a.name < b.name ? -1 : 1);

/** A command, or its subcommands where it is only their container. */
function callable(command: Command): Command[] {
  const subcommands = [...(command.subcommands?.values() ?? [])].filter(({ row }) => !row.undocumented).sort(byName);
  return command.run === undefined ? subcommands : [command, ...subcommands];
}

function entry({ name, row }: Command): string {
  const title = name.replace("|", " ").toUpperCase();
  const facts = [row.complexity, `since ${row.since}`];
  if (row.deprecated !== undefined) facts.push(`deprecated since ${row.deprecated.since}: use ${row.deprecated.use}`);
  return [
    `### ${title}`,
    "",
    "```",
    `${title} ${row.syntax}`.trimEnd(),
    "```",
    "",
    row.summary,
    "",
    `<sub>${facts.filter((fact) => fact !== "").join(" · ")}</sub>`,
    "",
  ].join("\n");
}

export function commandDocs(table: CommandTable): string {
  const all = [...table.commands.values()];
  const parts = [
    "# Commands",
    "",
    `The ${all.length} commands of the engine, by group. This page is made from the command table (\`npm run docs\`); answers`,
    "are those of Redis 7.0.15. Words in capitals are written as they are, `[…]` may be left out, `<a | b>` is a choice, and",
    "`key [key ...]` is one or more.",
    "",
  ];
  for (const [group, title] of Object.entries(TITLES)) {
    const commands = all.filter((command) => command.group === group).sort(byName);
    if (commands.length > 0) parts.push(`## ${title}`, "", ...commands.flatMap(callable).map(entry));
  }
  return `${parts.join("\n").trimEnd()}\n`;
}
