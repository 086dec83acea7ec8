/**
 * The time of a test: one clock for the store and for what uses it, so that expiry, leases, delays and schedules move together.
 *
 * By default it stands still, and `advance` moves it. With `{ follows: "timers" }` it is what `Date` and `setTimeout` of the program
 * say, asked for each time: with the fake timers of vitest and Jest it moves when these are advanced, and without them it is
 * ordinary time.
 */
// The system's own: what a test lets happen between two moments is real.
import { setImmediate as nextTurn } from "node:timers";
import type { Clock as EngineClock } from "@cinnabar/engine";
import type { Clock, Timer } from "../base/clock.ts";
import { InputError } from "../base/errors.ts";
import { choice, defineOptions, time, whole } from "../base/options.ts";

/** What time it is at first, and what moves it. */
export interface TestClockOptions {
  /** Where it stands at first; now by default. */
  readonly startAt?: Date | number;
  /** What moves it: `advance` (the default), or the timers of the program, which may be fake. */
  readonly follows?: "advance" | "timers";
  /** Chance repeats itself with the same one (default 1). */
  readonly seed?: number;
}

const OPTIONS = defineOptions<TestClockOptions>("TestClock", {
  startAt: time,
  follows: choice("advance", "timers"),
  seed: whole(0),
});

/** Turns of the event loop after which what follows from a timer has happened: commands in process take one or two. */
const TURNS = 10;

interface Waiting {
  readonly at: number;
  readonly callback: () => void;
}

/**
 * The time of a test: one clock for the store and for what uses it. By default it stands still, and `advance` moves it.
 * @example
 * const clock = new TestClock({ startAt: 1_000 });
 * clock.after(500, () => console.log("due"));
 * const end = clock.on("advance", () => console.log(clock.wallMs()));
 * await clock.advance(500);
 * [clock.now(), clock.nowMicros(), clock.monotonic(), clock.monotonicMs()]; // → [1500, 1500000, 500, 500]
 * end();
 */
export class TestClock implements Clock, EngineClock {
  /** Whether `advance` moves it. */
  readonly isManual: boolean;
  #wallMs: number;
  /** What has gone by; never back, also when the wall clock is set. */
  #monotonicMs = 0;
  #chance: number;
  readonly #waiting = new Set<Waiting>();
  readonly #followers = new Set<() => void>();

  constructor(options: TestClockOptions = {}) {
    const { startAt = Date.now(), follows = "advance", seed = 1 } = OPTIONS.check(options);
    this.#wallMs = Math.floor(Number(startAt));
    this.isManual = follows === "advance";
    this.#chance = seed >>> 0;
  }

  /** Lets time go by: what is due on the way runs at its time, one after the other, and so does what follows from it. */
  async advance(ms: number): Promise<void> {
    if (!this.isManual) throw new InputError("this clock follows the timers of the program: advance these");
    if (!(ms >= 0) || !Number.isFinite(ms)) throw new InputError("advance() takes milliseconds, 0 or more");
    const end = this.#monotonicMs + Math.ceil(ms);
    // What was begun before is over at the time that it is now.
    await settled();
    for (let next = this.#next(); next !== null && next.at <= end; next = this.#next()) {
      this.#move(Math.max(0, next.at - this.#monotonicMs));
      this.#waiting.delete(next);
      next.callback();
      await settled();
    }
    this.#move(end - this.#monotonicMs);
    await settled();
  }

  #move(ms: number): void {
    this.#wallMs += ms;
    this.#monotonicMs += ms;
    for (const follower of this.#followers) follower();
  }

  /**
   * Sets the wall clock, forwards or backwards, without time going by: as NTP or an administrator does.
   * @example
   * const clock = new TestClock({ seed: 7 });
   * clock.set(new Date("2030-01-01"));
   * new Date(clock.now()); // → 2030-01-01T00:00:00.000Z
   * clock.clear();
   * clock.random(); // → 0.0117…
   */
  set(to: Date | number): void {
    if (!this.isManual) throw new InputError("this clock follows the timers of the program: set these");
    this.#wallMs = Math.floor(Number(to));
  }

  /** Forgets what waits for it. */
  clear(): void {
    this.#waiting.clear();
  }

  #next(): Waiting | null {
    let first: Waiting | null = null;
    for (const each of this.#waiting) if (first === null || each.at < first.at) first = each;
    return first;
  }

  /** Calls back whenever it has moved. Returns what ends it. */
  on(event: "advance", listener: () => void): () => void {
    if (event !== "advance") throw new InputError('a TestClock has one event: "advance"');
    this.#followers.add(listener);
    return () => void this.#followers.delete(listener);
  }

  // ---------------------------------------------------------------------------------------------- as the store asks

  now(): number {
    // Fake timers may stand between two milliseconds, as the real clock never does.
    return this.isManual ? this.#wallMs : Math.floor(Date.now());
  }

  nowMicros(): number {
    return this.now() * 1000;
  }

  /** Never back, also when somebody sets the time of fake timers. */
  monotonic(): number {
    if (!this.isManual) this.#monotonicMs = Math.max(this.#monotonicMs, this.now());
    return this.#monotonicMs;
  }

  /** Mulberry32, as the engine's own manual clock has it. */
  random(): number {
    this.#chance = (this.#chance + 0x6d2b79f5) >>> 0;
    let t = this.#chance;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  // ---------------------------------------------------------------------------------------------- as components ask

  monotonicMs(): number {
    return this.monotonic();
  }

  wallMs(): number {
    return this.now();
  }

  after(ms: number, callback: () => void, options?: { readonly keepAlive?: boolean }): Timer {
    if (!this.isManual) return systemTimer(ms, callback, options?.keepAlive === true);
    const waiting = { at: this.#monotonicMs + Math.ceil(Math.max(ms, 0)), callback };
    this.#waiting.add(waiting);
    return { cancel: () => void this.#waiting.delete(waiting) };
  }
}

function systemTimer(ms: number, callback: () => void, keepAlive: boolean): Timer {
  const timer = setTimeout(callback, Math.min(Math.max(ms, 0), 2 ** 31 - 1));
  // Fake timers need not have it.
  if (!keepAlive) (timer as { unref?: () => void }).unref?.();
  return { cancel: () => clearTimeout(timer) };
}

/** Resolves when what is under way in this process has happened. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await new Promise<void>((resolve) => void nextTurn(resolve));
}
