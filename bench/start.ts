/**
 * How long it takes to begin, each in a process of its own: from the first import until the store answers, and from the start of a
 * server until it says that it is ready. Medians of 20, sides in turn; the time that Node itself takes to start is in the servers'
 * figures and not in the others.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort, median, run } from "./servers.ts";

export interface StartRow {
  readonly what: string;
  readonly ms: number;
  /** The middle half of the rounds. */
  readonly fromMs: number;
  readonly toMs: number;
}

const ROOT = join(import.meta.dirname, "..");

/** A program that opens a store and prints how many milliseconds that took. */
function opening(imported: string, opened: string): readonly string[] {
  const program = `
    const started = performance.now();
    const { ${imported} } = await import(${JSON.stringify(opened)});
    const store = await ${imported === "Engine" ? "Engine.open()" : "open()"};
    const client = ${imported === "Engine" ? "store.connect()" : "store"};
    await client.call("SET", "key", "value");
    console.log(performance.now() - started);
    process.exit(0);
  `;
  return [process.execPath, "--input-type=module", "-e", program];
}

const here = (command: readonly string[]): number => Number(run(command[0]!, command.slice(1)).trim());

async function readyAfter(command: readonly string[]): Promise<number> {
  const dir = mkdtempSync(join(tmpdir(), "cinnabar-start-"));
  const port = String(await freePort());
  const started = performance.now();
  const [program = "", ...args] = command;
  const child = spawn(program, [...args, "--port", port, "--dir", dir, "--save", "", "--bind", "127.0.0.1"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    let said = "";
    for await (const chunk of child.stdout) {
      said += chunk;
      if (said.includes("Ready to accept connections")) return performance.now() - started;
    }
    throw new Error(`${program} ended before it was ready: ${said}`);
  } finally {
    child.kill("SIGKILL");
    rmSync(dir, { recursive: true });
  }
}

export async function measureStart(quick: boolean): Promise<StartRow[]> {
  const subjects = new Map<string, () => number | Promise<number>>([
    ['import "@cinnabar/engine", open, first call', () => here(opening("Engine", join(ROOT, "engine/dist/index.js")))],
    ['import "cinnabar", open(), first call', () => here(opening("open", join(ROOT, "toolkit/dist/index.js")))],
    ["cinnabar-server until it is ready", () => readyAfter([join(ROOT, "engine/bin/cinnabar-server")])],
    ["redis-server until it is ready", () => readyAfter(["redis-server"])],
  ]);
  const figures = new Map([...subjects.keys()].map((what) => [what, [] as number[]]));
  for (let round = 0; round < (quick ? 3 : 20); round++) {
    for (const [what, measure] of subjects) figures.get(what)!.push(await measure());
    process.stderr.write(".");
  }
  return [...figures].map(([what, times]) => {
    const sorted = times.sort((a, b) => a - b);
    const at = (part: number): number => sorted[Math.round((sorted.length - 1) * part)]!;
    return { what, ms: median(sorted), fromMs: at(0.25), toMs: at(0.75) };
  });
}

export function startTable(rows: readonly StartRow[]): string {
  return [
    "**Until it begins**, milliseconds: median of 20 processes, and the middle half of them",
    "",
    "| what | ms | from | to |",
    "| --- | ---: | ---: | ---: |",
    ...rows.map(
      ({ what, ms, fromMs, toMs }) => `| ${what} | ${ms.toFixed(0)} | ${fromMs.toFixed(0)} | ${toMs.toFixed(0)} |`,
    ),
  ].join("\n");
}
