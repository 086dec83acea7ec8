/**
 * Time and chance come in from outside, so that tests move the clock and seed the dice instead of sleeping and hoping.
 * Nothing else in the engine reads `Date.now`, `performance.now` or `Math.random`.
 *
 * **There are two times, and each use has one of them.**
 *
 * `now` and `nowMicros` are the system's wall clock, one clock in two resolutions: `now` is always `nowMicros` without its
 * last three digits. Whatever is a moment goes by it: deadlines of keys, TIME, stream ids and the idle times of pending
 * entries, access times for eviction, LASTSAVE, MONITOR, the slow log's and latency monitor's time stamps, and how long a
 * client has been connected or idle. As in Redis it follows the system when that is set:
 *
 * - A step forwards (after a suspend, or by NTP) makes everything due that the new time has passed, at once. TIME says the
 *   new time, so a deadline that a script computes from TIME is as far ahead as the script means.
 * - A step backwards makes keys live longer by the step. What has expired stays gone. Stream ids go on from the last one.
 *
 * `monotonic` never steps. Whatever is a duration goes by it: timeouts of blocked clients, WAIT, CLIENT PAUSE, FAILOVER and
 * the replication link, the seconds of a save point, durations in the slow log and the statistics, budgets of cycles, time
 * limits of scripts. So a step neither wakes all blocked clients nor leaves them blocked for hours.
 *
 * While a command, a transaction or a script runs, `Engine.now` stands still: no key expires in the middle of it. TIME goes
 * on in a script, as in Redis, and is never behind `Engine.now`.
 */

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Microseconds since 1970. */
  nowMicros(): number;
  /** Milliseconds with fractions that never go back. */
  monotonic(): number;
  /** At least 0, less than 1. */
  random(): number;
}

/**
 * The machine's clocks. The wall clock has milliseconds only, so the microseconds within one are taken from the monotonic
 * clock: it stands at an offset from the wall clock, which is corrected whenever it says another millisecond.
 */
export class SystemClock implements Clock {
  readonly now: () => number;
  readonly monotonic: () => number;
  readonly random = Math.random;
  #offset: number;

  constructor(now = Date.now, monotonic = () => performance.now()) {
    this.now = now;
    this.monotonic = monotonic;
    this.#offset = now() - monotonic();
  }

  nowMicros(): number {
    const ms = this.now();
    const beyond = this.monotonic() + this.#offset - ms;
    const fraction = Math.min(Math.max(beyond, 0), 0.999);
    this.#offset += fraction - beyond;
    return ms * 1000 + Math.floor(fraction * 1000);
  }
}

/** The machine's clocks and `Math.random`: what an engine uses by default. */
export const systemClock: Clock = new SystemClock();

/**
 * A clock for tests: stands still until moved, and its chance repeats.
 * @example
 * const clock = new ManualClock(1_000, 7);
 * clock.advance(500);
 * clock.set(2_000);
 * clock.step(-100);
 * [clock.now(), clock.nowMicros(), clock.monotonic()]; // → [1900, 1900000, 2000]
 * clock.random(); // → 0.0117…
 */
export class ManualClock implements Clock {
  #ms: number;
  #stepsMs = 0;
  #state: number;

  constructor(startMs = 1_700_000_000_000, seed = 1) {
    this.#ms = startMs;
    this.#state = seed >>> 0;
  }

  /** Lets time go by, for the wall clock and for the monotonic one. */
  advance(ms: number): void {
    this.#ms += ms;
  }

  /** Sets the wall clock forwards or backwards without time going by. */
  step(ms: number): void {
    this.#ms += ms;
    this.#stepsMs += ms;
  }

  /** Sets the wall clock to a moment in milliseconds since 1970; as much time goes by as lies between. */
  set(ms: number): void {
    this.#ms = ms;
  }

  now(): number {
    return this.#ms;
  }

  nowMicros(): number {
    return this.#ms * 1000;
  }

  monotonic(): number {
    return this.#ms - this.#stepsMs;
  }

  /** Mulberry32: small, even enough for sampling, the same on every machine. */
  random(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }
}
