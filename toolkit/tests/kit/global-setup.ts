/**
 * Gives a test run a folder and an owner, and ends the servers that its files have shared (shared.ts) when it is over. Programs that tests
 * start run what is shipped, or are made into JavaScript: both here, from the sources as they are.
 */
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export function setup(): () => void {
  // Each project of vitest.config.ts sets up: the first does it for all.
  if (process.env.CINNABAR_TEST_OWNER === String(process.pid)) return () => {};
  for (const script of ["bundle", "test-programs"])
    execFileSync(process.execPath, [fileURLToPath(new URL(`../../../scripts/${script}.js`, import.meta.url))]);
  const run = mkdtempSync(join(tmpdir(), "cinnabar-run-"));
  process.env.CINNABAR_TEST_RUN = run;
  // A run that is killed cannot clean up.
  const watch = `while kill -0 ${process.pid} 2>/dev/null; do sleep 2; done; rm -rf "$1"`;
  spawn("sh", ["-c", watch, "sh", run], { stdio: "ignore", detached: true }).unref();
  process.env.CINNABAR_TEST_OWNER = String(process.pid);
  return () => {
    for (const worker of existsSync(run) ? readdirSync(run) : []) {
      for (const file of readdirSync(join(run, worker)).filter((name) => name.endsWith(".json"))) {
        const { pids } = JSON.parse(readFileSync(join(run, worker, file), "utf8")) as {
          readonly pids: readonly number[];
        };
        for (const pid of pids) end(pid);
      }
    }
    rmSync(run, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  };
}

function end(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}
