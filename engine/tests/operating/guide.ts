/** docs/operating.md, read: the sessions of each section, its settings and its files. */
import { readFileSync } from "node:fs";

export interface Step {
  readonly machine: string;
  readonly command: string;
  /** The lines that it prints; none: nothing is compared. */
  readonly output: readonly string[];
}

/** What is typed on the machines, one thing after the other. */
export interface Session {
  /** `Snapshots …, session 2`. */
  readonly name: string;
  readonly steps: readonly Step[];
}

export interface Section {
  readonly title: string;
  readonly text: string;
  readonly sessions: readonly Session[];
}

const PROMPT = /^(machine-[a-z])\$ (.*)$/;

function readSession(block: string, name: string): Session {
  const steps: { machine: string; command: string; output: string[] }[] = [];
  for (const line of block.trimEnd().split("\n")) {
    const [, machine, command] = PROMPT.exec(line) ?? [];
    if (machine !== undefined && command !== undefined) steps.push({ machine, command, output: [] });
    else {
      const step = steps.at(-1);
      if (step === undefined) throw new Error(`${name} begins without a prompt: ${line}`);
      step.output.push(line);
    }
  }
  return { name, steps };
}

export function readGuide(): Section[] {
  const text = readFileSync(new URL("../../../docs/operating.md", import.meta.url), "utf8");
  return text
    .split(/^## /m)
    .slice(1)
    .map((part) => {
      const title = part.split("\n", 1).join("");
      const blocks = [...part.matchAll(/^```console\n([\s\S]*?)^```$/gm)].map(([, block = ""]) => block);
      return {
        title,
        text: part,
        sessions: blocks.map((block, i) => readSession(block, `${title}, session ${i + 1}`)),
      };
    });
}

/** The block of a file that a section shows. */
export function fileIn({ title, text }: Section): string {
  const [, file] = /^```conf\n([\s\S]*?)^```$/m.exec(text) ?? [];
  if (file === undefined) throw new Error(`${title} shows no file`);
  return file;
}

/** The rows of a section's table of settings: directives and their values. */
export function settingsIn({ text }: Section): [name: string, value: string][][] {
  const rows = text.split("\n").filter((line) => line.startsWith("| ") && line.includes("`"));
  return rows.map((row) => {
    const cell = row.split(" | ")[1] ?? "";
    return [...cell.matchAll(/`([\w-]+) ([^`]*)`/g)].map(([, name = "", value = ""]) => [
      name,
      value.replaceAll('"', ""),
    ]);
  });
}
