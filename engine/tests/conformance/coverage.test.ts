/** Every command and subcommand of the table occurs in a transcript. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { groups } from "../../src/commands/index.ts";
import { CommandTable } from "../../src/table/command-table.ts";
import { CONFORMANCE, transcriptFiles } from "./files.ts";
import { isLater } from "./later.ts";

test("every command is in a transcript", () => {
  const called = new Set<string>();
  for (const file of transcriptFiles()) {
    for (const line of readFileSync(join(CONFORMANCE, file), "utf8").split("\n")) {
      const [name, sub] = line
        .replace(/^@\d+\s+/, "")
        .toLowerCase()
        .split(/\s+/);
      if (name === undefined || name === "") continue;
      called.add(name);
      called.add(`${name}|${sub}`);
    }
  }
  const table = new CommandTable(groups);
  const missing: string[] = [];
  for (const command of table.commands.values()) {
    const rows = command.subcommands === null ? [command] : [...command.subcommands.values()];
    // There is nobody to compare later ones with.
    for (const { name, row } of rows) if (!called.has(name) && !isLater(row)) missing.push(name);
  }
  expect(missing).toEqual([]);
});
