/** The pages of the commands: one for each group of docs/commands.md, with a prompt below every command. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { CommandHint } from "../lab/hints.ts";
import { madePrompt, whyNoPrompt, writtenPrompts } from "./prompts.ts";
import { ROOT, type Route } from "./routes.ts";

export interface CommandEntry {
  /** `CONFIG GET`. */
  readonly name: string;
  readonly syntax: string;
  readonly summary: string;
  readonly facts: string;
}

export interface CommandGroup {
  readonly title: string;
  readonly route: Route;
  readonly entries: readonly CommandEntry[];
}

/** What docs/commands.md says, which `npm run docs` makes from the command table. */
export function commandGroups(): CommandGroup[] {
  const text = readFileSync(join(ROOT, "docs/commands.md"), "utf8");
  const [, ...groups] = text.split(/^## /m);
  return groups.map((group) => {
    const [head = "", ...entries] = group.split(/^### /m);
    const title = head.trim();
    return {
      title,
      route: `/commands/${title.toLowerCase().replaceAll(" ", "-")}`,
      entries: entries.map((entry) => {
        const [, name, syntax, summary, facts] = /^(.*)\n\n```\n(.*)\n```\n\n([\s\S]*?)\n\n<sub>(.*)<\/sub>/.exec(
          entry,
        )!;
        return { name: name!, syntax: syntax!, summary: summary!, facts: facts! };
      }),
    };
  });
}

const attribute = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;").replaceAll("\n", "&#10;");

/** The text of a group's page. */
export function groupPage({ title, entries }: CommandGroup, prompts: ReadonlyMap<string, readonly string[]>): string {
  const parts = entries.map(({ name, syntax, summary, facts }) => {
    const lines = prompts.get(name);
    const live =
      lines === undefined
        ? `<p class="no-prompt">No prompt here. ${whyNoPrompt(name)}</p>`
        : `<LivePrompt lines="${attribute(lines.join("\n"))}" />`;
    return `## ${name}\n\n\`\`\`text\n${syntax}\n\`\`\`\n\n${summary}\n\n${live}\n\n<p class="facts">${facts}</p>\n`;
  });
  return [`# ${title}`, "", ...parts].join("\n");
}

/** The prompts of all commands. */
export function promptsOf(groups: readonly CommandGroup[]): ReadonlyMap<string, readonly string[]> {
  const entries = groups.flatMap((group) => group.entries);
  const prompts = new Map(writtenPrompts(entries.map(({ name }) => name)));
  for (const { name, syntax } of entries) {
    const made = prompts.has(name) ? undefined : madePrompt(name, syntax);
    if (made !== undefined) prompts.set(name, made);
  }
  return prompts;
}

/** The text of the page that has them all. */
export function overviewPage(groups: readonly CommandGroup[]): string {
  const lists = groups.map(({ title, route, entries }) => {
    const links = entries.map(({ name, summary }) => `| [${name}](${route}#${anchorOf(name)}) | ${summary} |`);
    return `## ${title}\n\n| command | |\n| --- | --- |\n${links.join("\n")}\n`;
  });
  const intro =
    "Answers are those of Redis 7.0.15. Each command has a prompt that runs on a store in this page. Words in capitals are written as they are, `[…]` may be left out, `<a | b>` is a choice, and `key [key ...]` is one or more.";
  return [`# Commands`, "", intro, "", ...lists].join("\n");
}

export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");

/** For the playground's prompt. */
export const commandHints = (): CommandHint[] =>
  commandGroups().flatMap(({ entries }) =>
    entries.map(({ name, syntax, summary }) => ({ name, syntax: syntax.slice(name.length).trim(), summary })),
  );
