/**
 * What the prompt of each command runs: pages/prompts.redis has a block for each. The last line is the command's own, or the one
 * that is marked with `*`.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";

const BLOCKS = readFileSync(join(import.meta.dirname, "prompts.redis"), "utf8")
  .split(/\n\n+/)
  .map((text) => text.split("\n").filter((line) => line !== ""));

/** The lines for a command; undefined where a page cannot show it. `names`: of all commands, `CONFIG GET` among them. */
export function promptsFor(names: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const known = new Set(names);
  return new Map(
    BLOCKS.map((lines) => {
      const own = lines.find((line) => line.startsWith("* "))?.slice(2) ?? lines.at(-1)!;
      const [first = "", second = ""] = own.split(" ");
      const name = known.has(`${first} ${second}`) ? `${first} ${second}` : first;
      return [name, lines.map((line) => line.replace(/^\* /, ""))];
    }),
  );
}

/** Why a page cannot show a command. */
export function whyNoPrompt(name: string): string {
  if (name.startsWith("CLUSTER ") || name === "ASKING") return "The store in this page is no node of a Cluster.";
  if (/^(BG|SAVE|SHUTDOWN|DEBUG|CONFIG REWRITE|MODULE|ACL (LOAD|SAVE))/.test(name))
    return "It is about files or the process of a server, and the store in this page has neither.";
  return "It takes over a connection or needs a second server, and a page has neither.";
}
