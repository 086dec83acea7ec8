/** Programs of this folder as child processes that a test kills; whatever it leaves behind is ended with it. */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { nodeWords } from "../../../../scripts/program.ts";

const living = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of living) child.kill("SIGKILL");
});

export interface Child {
  /** Resolves when it says "ready". */
  readonly ready: Promise<void>;
  /** Resolves when it is gone and all that it said has arrived: with its exit code, or null if a signal ended it. */
  readonly ended: Promise<number | null>;
  kill(signal: "SIGKILL" | "SIGTERM"): void;
}

/** Everything that it says but "ready" is handed on. */
export function start(program: string, argument: unknown, onLine: (line: string) => void): Child {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("VITEST")));
  const args = [...nodeWords(join(import.meta.dirname, program)), JSON.stringify(argument)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"], env });
  living.add(child);
  const lines = createInterface(child.stdout!);
  const ready = new Promise<void>((resolve, reject) => {
    lines.on("line", (line) => {
      if (line === "ready") resolve();
      else onLine(line);
    });
    child.once("close", (code) => reject(new Error(`${program} ended with ${code} before it was ready`)));
  });
  // A test that only kills it does not wait for it.
  ready.catch(() => {});
  const said = new Promise<void>((resolve) => void lines.once("close", resolve));
  const closed = new Promise<number | null>((resolve) => void child.once("close", resolve));
  const ended = closed.then(async (code) => {
    living.delete(child);
    await said;
    return code;
  });
  return { ready, ended, kill: (signal) => void child.kill(signal) };
}

export async function endAll(): Promise<void> {
  const closing = [...living].map((child) => new Promise((resolve) => child.once("close", resolve)));
  for (const child of living) child.kill("SIGKILL");
  await Promise.all(closing);
}
