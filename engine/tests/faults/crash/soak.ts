/**
 * Many rounds of kill -9: `npm run soak:crash -- 100`. Prints what was acknowledged, what was lost, and how old it was.
 */
import { systemClock } from "../../../src/core/clock.ts";
import { crashRounds } from "./rounds.ts";

const rounds = Number(process.argv[2] ?? 100);
let failed = false;
for (const mode of ["server", "inside"] as const) {
  for (const appendfsync of ["always", "everysec"] as const) {
    const started = systemClock.monotonic();
    const figures = await crashRounds({ rounds: Math.ceil(rounds / 4), mode, appendfsync });
    const { acknowledged, lost, oldestLostMs } = figures;
    const seconds = ((systemClock.monotonic() - started) / 1000).toFixed(0);
    console.log(
      `${mode} ${appendfsync}: ${figures.rounds} kills in ${seconds} s, ${acknowledged} writes acknowledged, ${lost} lost` +
        (lost > 0 ? `, the oldest ${oldestLostMs.toFixed(0)} ms old` : "") +
        `; ${figures.duringSave} kills in the middle of a snapshot, ${figures.duringRewrite} of a rewrite`,
    );
    if (lost > 0 && (appendfsync === "always" || oldestLostMs >= 1000)) failed = true;
  }
}
if (failed) {
  console.error("Something was lost that must not be.");
  process.exitCode = 1;
}
