/** Runs vitest as `npm test` does, its output on the terminal, and returns what its report says. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";

/** `failed`: files with what failed in them; empty with `passed` false where something failed outside of any test. */
export function runVitest(args, env = {}) {
  const folder = mkdtempSync(join(tmpdir(), "cinnabar-report-"));
  const file = join(folder, "report.json");
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${file}`];
  const started = performance.now();
  const { status } = spawnSync(process.execPath, ["node_modules/vitest/vitest.mjs", "run", ...reporters, ...args], {
    stdio: "inherit",
    env: { ...process.env, ...env },
  });
  const report = readReport(file);
  rmSync(folder, { recursive: true, force: true });
  const failed = (report?.testResults ?? [])
    .filter((each) => each.status === "failed")
    .map((each) => ({
      file: relative(process.cwd(), each.name),
      tests: each.assertionResults.filter((test) => test.status === "failed").map((test) => test.fullName),
    }));
  const seconds = Math.round((performance.now() - started) / 1_000);
  return {
    passed: status === 0,
    failed,
    seconds,
    total: report?.numTotalTests ?? 0,
    passedTests: report?.numPassedTests ?? 0,
    skippedTests: (report?.numPendingTests ?? 0) + (report?.numTodoTests ?? 0),
  };
}

function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    // It was killed before it could write one.
    return undefined;
  }
}
