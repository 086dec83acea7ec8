/** Writes engine/src/core/parts/commands.browser.ts, the names of the commands of each part: `npm run docs`. */
import { execFileSync } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { groups as all } from "../engine/src/commands/index.ts";
import type { Group } from "../engine/src/table/command.ts";

const biome = fileURLToPath(new URL("../node_modules/.bin/biome", import.meta.url));
const folder = new URL("../engine/src/core/parts/", import.meta.url);
const OUTPUT = "commands.browser.ts";
const NO_PARTS = new Set([OUTPUT, "texts.browser.ts"]);

/** The names of the commands of each part, and what every part that there is must have: each command once. */
export async function partNames(): Promise<string> {
  const lines: string[] = [];
  const known = new Set(all.flatMap(({ rows }) => rows.map(({ name }) => name)));
  const files = readdirSync(folder).filter((name) => name.endsWith(".browser.ts") && !NO_PARTS.has(name));
  for (const file of files.sort()) {
    const { groups } = (await import(new URL(file, folder).href)) as { readonly groups: readonly Group[] };
    const names = groups.flatMap(({ rows }) => rows.map(({ name }) => name));
    for (const name of names) if (!known.delete(name)) throw new Error(`${name} is in two parts, or in no group`);
    const part = file.slice(0, -".browser.ts".length);
    lines.push(`  ${part}: "${names.sort().join(" ")}",`);
  }
  const text = [
    "/** The commands of each part that is loaded when it is first used. Made by `npm run docs`. */",
    "export const COMMANDS_OF = {",
    ...lines,
    "};",
    "",
    "export type Part = keyof typeof COMMANDS_OF;",
    "",
  ].join("\n");
  const args = ["format", `--stdin-file-path=${fileURLToPath(new URL(OUTPUT, folder))}`];
  return execFileSync(biome, args, { input: text, encoding: "utf8" });
}

if (process.argv[1] === import.meta.filename) writeFileSync(new URL(OUTPUT, folder), await partNames());
