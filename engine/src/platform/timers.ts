/**
 * Timers that hold the process and timers that do not, and the next turn of the event loop. They ask for the globals at every call,
 * since tests put others in their place.
 */
import { setImmediate as systemsOwn } from "node:timers";

export type Timer = NodeJS.Timeout;

export function heldTimeout(run: () => void, ms: number): Timer {
  return setTimeout(run, ms);
}

export function unheldTimeout(run: () => void, ms: number): Timer {
  return setTimeout(run, ms).unref();
}

export function unheldInterval(run: () => void, ms: number): Timer {
  return setInterval(run, ms).unref();
}

/** Runs it when what has arrived by now has been read. */
export function soon(run: () => void): void {
  setImmediate(run);
}

/** The same by the system's own timers, which tests that replace timers do not move. */
export function certainlySoon(run: () => void): void {
  systemsOwn(run);
}
