/**
 * Time and chance come in from outside, so that tests move the clock and seed the dice instead of sleeping and hoping.
 * Nothing else in the engine reads `Date.now`, `performance.now` or `Math.random`.
 */

import { performance } from "node:perf_hooks";

export interface Clock {
  /** Milliseconds since 1970: what expiry and stream ids go by. */
  now(): number;
  /** Microseconds since 1970: what TIME answers. */
  nowMicros(): number;
  /** Milliseconds with fractions that never go back: what durations are measured with. */
  monotonic(): number;
  /** At least 0, less than 1. */
  random(): number;
}

export const systemClock: Clock = {
  now: Date.now,
  nowMicros: () => Math.floor((performance.timeOrigin + performance.now()) * 1000),
  monotonic: () => performance.now(),
  random: Math.random,
};

/** A clock for tests: stands still until moved, and its chance repeats. */
export class ManualClock implements Clock {
  #ms: number;
  #state: number;

  constructor(startMs = 1_700_000_000_000, seed = 1) {
    this.#ms = startMs;
    this.#state = seed >>> 0;
  }

  advance(ms: number): void {
    this.#ms += ms;
  }

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
    return this.#ms;
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
