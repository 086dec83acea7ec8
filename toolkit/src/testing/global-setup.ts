/** Gives a test run a folder and an owner, and ends the servers that its files have shared (shared.ts) when it is over. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export function setup(): () => void {
  const run = mkdtempSync(join(tmpdir(), "cinnabar-run-"));
  process.env.CINNABAR_TEST_RUN = run;
  process.env.CINNABAR_TEST_OWNER = String(process.pid);
  return () => {
    for (const worker of existsSync(run) ? readdirSync(run) : []) {
      for (const file of readdirSync(join(run, worker))) {
        const { pids } = JSON.parse(readFileSync(join(run, worker, file), "utf8")) as {
          readonly pids: readonly number[];
        };
        for (const pid of pids) end(pid);
      }
    }
    rmSync(run, { recursive: true, force: true });
  };
}

function end(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}
