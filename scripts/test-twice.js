/**
 * `npm test` for a machine that decides: files that failed are run once more, alone. One that passes then is printed as flaky, with
 * what failed, and is to be mended; the second result is the one that counts.
 */
import { runVitest } from "./vitest.js";

const first = runVitest(process.argv.slice(2));
if (!first.passed && first.failed.length === 0) {
  // Nothing to run again: an error outside of any test, or no report at all.
  process.exitCode = 1;
} else if (!first.passed) {
  console.log(`\nOnce more: ${first.failed.map(({ file }) => file).join(" ")}\n`);
  const second = runVitest(first.failed.map(({ file }) => file));
  const still = new Set(second.failed.map(({ file }) => file));
  for (const { file, tests } of first.failed) {
    if (still.has(file)) continue;
    console.log(`FLAKY: ${file}`);
    for (const test of tests) console.log(`         ${test}`);
  }
  process.exitCode = second.passed ? 0 : 1;
}
