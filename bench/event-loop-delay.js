/**
 * Loaded into the server before anything else (`node --import`): on SIGUSR2 it writes the longest turn of the event loop
 * since the last time, in milliseconds, to the file that CINNABAR_DELAY_FILE names.
 */
import { writeFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";

const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
process.on("SIGUSR2", () => {
  writeFileSync(process.env.CINNABAR_DELAY_FILE, String(delay.max / 1e6));
  delay.reset();
});
