/** What is still to be done when the process ends by itself: one listener, however many engines there are. */
import { onExit } from "../platform/process.ts";

const tasks = new Set<() => void>();
let forget = () => {};

/** The last first, so that a folder is still locked while its files are closed. */
function run(): void {
  for (const task of [...tasks].reverse()) {
    try {
      task();
    } catch {
      // The others come first: nobody is left to tell.
    }
  }
}

export function atExit(task: () => void): void {
  if (tasks.size === 0) forget = onExit(run);
  tasks.add(task);
}

export function notAtExit(task: () => void): void {
  if (tasks.delete(task) && tasks.size === 0) forget();
}
