/** docs/commands.md says what the table says. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { groups } from "../commands/index.ts";
import { commandDocs } from "./command-docs.ts";
import { CommandTable } from "./command-table.ts";

const file = new URL("../../../docs/commands.md", import.meta.url);

test("docs/commands.md is up to date (npm run docs writes it)", () => {
  expect(readFileSync(file, "utf8")).toBe(commandDocs(new CommandTable(groups)));
});
