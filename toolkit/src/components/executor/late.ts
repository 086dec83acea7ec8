/** Whether a run of a schedule comes so late that a newer one is there already. */
import { Cron } from "croner";
import type { ScheduleTimes } from "../queues/index.ts";

/** The next time of a schedule after a moment; null if there is none. */
export function nextTime({ everyMs, cron, timeZone = "UTC" }: ScheduleTimes, afterMs: number): number | null {
  if (everyMs !== undefined) return afterMs + everyMs;
  if (cron === undefined) return null;
  return new Cron(cron, { timezone: timeZone, paused: true }).nextRun(new Date(afterMs))?.getTime() ?? null;
}

/** The run was added at one moment and begins at another: has the schedule come again in between? */
export function hasComeAgain(times: ScheduleTimes, addedMs: number, beganMs: number): boolean {
  const next = nextTime(times, addedMs);
  return next !== null && next <= beganMs;
}
