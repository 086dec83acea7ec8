/** Writes docs/commands.md: `npm run docs`. */
import { mkdirSync, writeFileSync } from "node:fs";
import { groups } from "../engine/src/commands/index.ts";
import { commandDocs } from "../engine/src/table/command-docs.ts";
import { CommandTable } from "../engine/src/table/command-table.ts";

const file = new URL("../docs/commands.md", import.meta.url);
mkdirSync(new URL(".", file), { recursive: true });
writeFileSync(file, commandDocs(new CommandTable(groups)));
