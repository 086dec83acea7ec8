/**
 * Time and chance, as the toolkit sees them. Nothing here ever decides who wins: that is the server's clock, read inside the
 * scripts. What is here drives local timers and back-off, and comes in from outside so that tests can move it, skew it, or
 * make it jump.
 */
import { randomBytes } from "node:crypto";
import { letGo } from "../platform/timers.ts";
import { onAbort } from "./abort.ts";

/** A callback that is waiting for its time. */
export interface Timer {
  /** Takes it back; it does nothing when the callback has been called. */
  cancel(): void;
}

/** Where a store takes time and chance from. Only local timers and back-off depend on it: the server's clock decides everything else. */
export interface Clock {
  /** Milliseconds that only go forward; for durations. */
  monotonicMs(): number;
  /** Milliseconds since 1970 as this machine believes; for people, never for decisions. */
  wallMs(): number;
  /** Uniform in [0, 1). */
  random(): number;
  /** Calls back once. A timer does not keep the process alive unless it is asked to. */
  after(ms: number, callback: () => void, options?: { readonly keepAlive?: boolean }): Timer;
}

/** Microseconds that only go forward and are the same on all threads of this process, which `monotonicMs` is not. */
export function threadsMicros(): bigint {
  return process.hrtime.bigint() / 1_000n;
}

/** Longest delay that Node's timers can hold. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** The clocks and timers of this machine, and `Math.random`. */
export const systemClock: Clock = {
  monotonicMs: () => performance.now(),
  wallMs: () => Date.now(),
  random: () => Math.random(),
  after(ms, callback, options) {
    const timer = setTimeout(callback, Math.min(Math.max(ms, 0), MAX_DELAY_MS));
    if (options?.keepAlive !== true) letGo(timer);
    return { cancel: () => clearTimeout(timer) };
  },
};

/** Resolves after a while; rejects with the signal's reason when that comes first. Keeps the process alive meanwhile. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(signal.reason);
    let forget = (): void => {};
    const timer = clock.after(
      ms,
      () => {
        forget();
        resolve();
      },
      { keepAlive: true },
    );
    if (signal === undefined) return;
    forget = onAbort(signal, () => {
      timer.cancel();
      reject(signal.reason);
    });
  });
}

const TOKEN_BYTES = 16;
let pool = Buffer.alloc(0);
let used = 0;

/** 128 random bits as 22 characters: names of leases, sessions and owners that nobody can guess. */
export function randomToken(): string {
  // Asking for many at once costs hardly more than asking for one.
  if (used >= pool.length) {
    pool = randomBytes(TOKEN_BYTES * 256);
    used = 0;
  }
  used += TOKEN_BYTES;
  return pool.toString("base64url", used - TOKEN_BYTES, used);
}
