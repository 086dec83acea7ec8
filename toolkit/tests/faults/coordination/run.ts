/**
 * `npm run faults:coordination -- [--seconds 300] [--seed 1]`: histories of elections, barriers and topics on a redis-server under
 * faults (history.ts). Prints a summary, and exits with 1 if anything was wrong.
 */
import { parseArgs } from "node:util";
import { runHistory, type Summary } from "./history.ts";

const { values } = parseArgs({
  options: { seconds: { type: "string", default: "300" }, seed: { type: "string", default: "1" } },
});
const seconds = Number(values.seconds);
const seed = Number(values.seed);
if (!(Number.isInteger(seconds) && seconds > 0 && Number.isInteger(seed))) {
  console.error("--seconds and --seed must be whole numbers");
  process.exit(2);
}

const line = ({ violations: _, ...counts }: Summary): string =>
  Object.entries(counts)
    .map(([what, count]) => `${what.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)} ${count}`)
    .join(", ");

let told = 0;
const summary = await runHistory({
  seconds,
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
