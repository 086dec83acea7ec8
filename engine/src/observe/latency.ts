/**
 * Two ways to see what was slow: spikes of named events above latency-monitor-threshold (LATENCY LATEST, HISTORY …), and a
 * histogram per command of every call (LATENCY HISTOGRAM, INFO latencystats).
 */
import type { Clock } from "../core/clock.ts";

/** How many spikes of an event are kept. */
const HISTORY = 160;

export interface Spike {
  /** Seconds since 1970. */
  readonly at: number;
  ms: number;
}

export interface LatencyEvent {
  /** The longest since the last reset, also when it is not among the samples any more. */
  maxMs: number;
  readonly samples: Spike[];
}

export class LatencyMonitor {
  /** Milliseconds; 0 switches it off. */
  threshold = 0;
  /** Whether every call is counted in its command's histogram. */
  tracking = true;
  readonly events = new Map<string, LatencyEvent>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Keeps a duration if it reaches the threshold; of several in one second, the longest. */
  add(name: string, duration: number): void {
    const ms = Math.floor(duration);
    if (ms < this.threshold || this.threshold === 0) return;
    let event = this.events.get(name);
    if (event === undefined) {
      event = { maxMs: 0, samples: [] };
      this.events.set(name, event);
    }
    if (ms > event.maxMs) event.maxMs = ms;
    const at = Math.floor(this.#clock.now() / 1000);
    const last = event.samples.at(-1);
    if (last !== undefined && last.at === at) {
      if (ms > last.ms) last.ms = ms;
      return;
    }
    event.samples.push({ at, ms });
    if (event.samples.length > HISTORY) event.samples.shift();
  }

  /** Forgets these events, or all; says how many there were. */
  reset(names: readonly string[]): number {
    if (names.length > 0) return names.filter((name) => this.events.delete(name)).length;
    const { size } = this.events;
    this.events.clear();
    return size;
  }
}
