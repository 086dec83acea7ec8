/** A clock that tests move by hand. */
import type { Clock } from "../../src/base/clock.ts";

export interface ManualClock extends Clock {
  /** Moves time; what is due is called. */
  advance(ms: number): void;
  /** From now on pauses are over at once, and deadlines of a second and more never come. */
  run(): void;
}

/** Time stands still until it is moved; then everything that is due is run. */
export function manualClock(): ManualClock {
  let now = 0;
  let running = false;
  let timers: { at: number; callback: () => void }[] = [];
  const due = (): void => {
    for (const timer of timers.filter(({ at }) => at <= now)) {
      timers = timers.filter((each) => each !== timer);
      timer.callback();
    }
  };
  return {
    monotonicMs: () => now,
    wallMs: () => now,
    random: () => 0.5,
    after(ms: number, callback: () => void) {
      const timer = { at: now + ms, callback };
      // Once time runs freely pauses are over at once, and deadlines never come.
      const soon = running && ms < 1_000 ? setImmediate(callback) : undefined;
      if (soon === undefined) timers.push(timer);
      return {
        cancel: () => {
          clearImmediate(soon);
          timers = timers.filter((each) => each !== timer);
        },
      };
    },
    advance(ms: number) {
      now += ms;
      due();
    },
    run() {
      running = true;
      now += 1;
      const rest = timers.filter(({ at }) => at - now < 1_000);
      timers = timers.filter((each) => !rest.includes(each));
      for (const { callback } of rest) callback();
    },
  };
}
