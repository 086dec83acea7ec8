/** Writes docs/commands.md: `npm run docs`. */
import { mkdirSync, writeFileSync } from "node:fs";
import { commandDocs } from "../engine/src/command-docs.ts";
import { CommandTable } from "../engine/src/command-table.ts";
import { groups } from "../engine/src/commands/index.ts";

const file = new URL("../docs/commands.md", import.meta.url);
mkdirSync(new URL(".", file), { recursive: true });
writeFileSync(file, commandDocs(new CommandTable(groups)));
