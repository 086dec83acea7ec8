/** Starts worker processes and reads what they say. */
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { nodeWords } from "../../../../scripts/program.ts";

export interface Line {
  readonly t: "ready" | "threaded" | "start" | "end" | "fail" | "lost";
  readonly id?: string;
  readonly n?: number;
  readonly fence?: number;
  readonly group?: string | null;
}

export interface WorkerProcess {
  readonly lines: readonly Line[];
  readonly pid: number;
  /** Resolves with the first line of this kind, said already or to come. */
  says(kind: Line["t"]): Promise<Line>;
  kill(signal: "SIGKILL" | "SIGSTOP" | "SIGCONT"): void;
  ended(): Promise<void>;
}

export interface StartWorker {
  readonly url: string;
  readonly queue: string;
  readonly mode: "history" | "hang" | "block";
  readonly concurrency: number;
  readonly leaseMs: number;
  readonly seed: number;
}

const PROGRAM = fileURLToPath(new URL("./worker-process.ts", import.meta.url));
const living = new Set<ChildProcess>();

export function startWorker({ url, queue, mode, concurrency, leaseMs, seed }: StartWorker): WorkerProcess {
  const words = [url, queue, mode, concurrency, leaseMs, seed].map(String);
  const child = spawn(process.execPath, [...nodeWords(PROGRAM), ...words], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  living.add(child);
  const lines: Line[] = [];
  const listeners = new Set<() => void>();
  let rest = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const parts = (rest + text).split("\n");
    rest = parts.pop()!;
    for (const part of parts) lines.push(JSON.parse(part) as Line);
    for (const listener of listeners) listener();
  });
  const closed = new Promise<void>((resolve) => {
    child.once("close", () => {
      living.delete(child);
      resolve();
    });
  });
  return {
    lines,
    pid: child.pid!,
    says: (kind) =>
      new Promise((resolve) => {
        const look = () => {
          const line = lines.find((each) => each.t === kind);
          if (line === undefined) return;
          listeners.delete(look);
          resolve(line);
        };
        listeners.add(look);
        look();
      }),
    kill: (signal) => void child.kill(signal),
    ended: () => closed,
  };
}

/** Ends all that are left. */
export async function endWorkers(): Promise<void> {
  const ending = [...living].map((child) => new Promise((resolve) => child.once("close", resolve)));
  for (const child of living) {
    child.kill("SIGCONT");
    child.kill("SIGKILL");
  }
  await Promise.all(ending);
}
