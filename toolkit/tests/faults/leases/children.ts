/** Programs of this folder as child processes that a test may kill and stop; whatever it leaves behind is ended with it. */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { nodeWords } from "../../../../scripts/program.ts";

const children = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of children) child.kill("SIGKILL");
});

/** Resolves when the child says "ready"; its other lines are handed on. */
export function start(program: string, argument: unknown, onLine: (line: string) => void): Promise<ChildProcess> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("VITEST")));
  const args = [...nodeWords(join(import.meta.dirname, program)), JSON.stringify(argument)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"], env });
  children.add(child);
  child.once("exit", () => children.delete(child));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`${program} ended with ${code}`)));
    createInterface(child.stdout!).on("line", (line) => {
      if (line === "ready") resolve(child);
      else onLine(line);
    });
  });
}

/** Resolves when the child is gone and all that it wrote has arrived. */
export function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => void child.once("close", () => resolve()));
}
