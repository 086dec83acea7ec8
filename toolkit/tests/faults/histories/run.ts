/**
 * `npm run faults:histories -- [--operations 1000000] [--seed 1]`: histories of locks, semaphores and queues on a Cluster under faults
 * (histories.ts). Prints a summary, and exits with 1 if anything was wrong.
 */
import { parseArgs } from "node:util";
import { runHistories, type Summary } from "./histories.ts";

const { values } = parseArgs({
  options: { operations: { type: "string", default: "1000000" }, seed: { type: "string", default: "1" } },
});
const operations = Number(values.operations);
const seed = Number(values.seed);
if (!(Number.isInteger(operations) && operations > 0 && Number.isInteger(seed))) {
  console.error("--operations and --seed must be whole numbers");
  process.exit(2);
}

const line = ({ violations: _, ...counts }: Summary): string =>
  Object.entries(counts)
    .map(([what, count]) => `${what.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)} ${count}`)
    .join(", ");

let told = 0;
const summary = await runHistories({
  operations,
  seed,
  onProgress: (now) => {
    if (now.seconds - told < 10) return;
    told = now.seconds;
    console.log(line(now));
  },
});
console.log(`seed ${seed}: ${line(summary)}, violations ${summary.violations.length}`);
for (const violation of summary.violations.slice(0, 20)) console.log(`VIOLATION: ${violation}`);
process.exit(summary.violations.length === 0 ? 0 : 1);
