/** The HELP subcommand of containers. */

import { Status } from "../../core/reply.ts";
import type { Row } from "../../table/command.ts";

/** A row that prints calls and what they do. */
export function helpRow(container: string, since: string, calls: readonly (readonly [string, string])[]): Row {
  return {
    name: "help",
    arity: 2,
    flags: ["loading", "stale"],
    undocumented: true,
    since,
    summary: "Explains the subcommands.",
    syntax: "",
    reply: "string[]",
    complexity: "O(1)",
    run: () => helpReply(container, calls),
  };
}

/** One status line for each line of help, as redis-cli expects it. */
export function helpReply(container: string, calls: readonly (readonly [string, string])[]): Status[] {
  const lines = [`${container.toUpperCase()} <subcommand> [<arg> [value] [opt] ...]. Subcommands are:`];
  for (const [call, does] of calls) lines.push(call, `    ${does}`);
  lines.push("HELP", "    Prints this help.");
  return lines.map((line) => new Status(line));
}

/** A container's subcommands with a HELP behind them that is made from their own syntax and summaries. */
export function withHelp(container: string, since: string, rows: readonly Row[], more: Partial<Row> = {}): Row[] {
  const calls = rows.map(
    ({ name, syntax, summary }) => [`${name.toUpperCase()} ${syntax}`.trimEnd(), summary] as const,
  );
  return [...rows, { ...helpRow(container, since, calls), ...more }];
}
