/**
 * Two ways to see what was slow: spikes of named events above latency-monitor-threshold (LATENCY LATEST, HISTORY …), and a
 * histogram per command of every call (LATENCY HISTOGRAM, INFO latencystats).
 */
import type { Engine } from "./engine.ts";
import type { CommandStats } from "./stats.ts";

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
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
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
    const at = Math.floor(this.#engine.clock.now() / 1000);
    const last = event.samples.at(-1);
    if (last !== undefined && last.at === at) {
      if (ms > last.ms) last.ms = ms;
      return;
    }
    event.samples.push({ at, ms });
    if (event.samples.length > HISTORY) event.samples.shift();
  }

  /** Counts one call of a command. */
  record(stats: CommandStats, microseconds: number): void {
    if (stats.histogram === null) stats.histogram = new Histogram();
    stats.histogram.record(microseconds);
  }

  /** Forgets these events, or all; says how many there were. */
  reset(names: readonly string[]): number {
    if (names.length > 0) return names.filter((name) => this.events.delete(name)).length;
    const { size } = this.events;
    this.events.clear();
    return size;
  }
}

/** Up to 256 ns one bucket a nanosecond, then 128 buckets for each doubling, up to a second and a bit. */
const BUCKETS = 3072;
const LONGEST_NS = 1_000_000_000;

/** Durations by logarithm, at most 1 % off: two additions and a shift a call. */
export class Histogram {
  readonly #counts = new Uint32Array(BUCKETS);
  total = 0;

  record(microseconds: number): void {
    const ns = Math.min(Math.max(1, Math.round(microseconds * 1000)), LONGEST_NS);
    this.#counts[bucketOf(ns)]!++;
    this.total++;
  }

  /** The duration in microseconds that this share of the calls did not exceed. */
  percentile(percent: number): number {
    const wanted = Math.max(1, Math.floor((percent / 100) * this.total + 0.5));
    let seen = 0;
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      seen += this.#counts[bucket]!;
      if (seen >= wanted) return highest(bucket) / 1000;
    }
    return 0;
  }

  /** Bounds in microseconds that double, each with how many calls took no longer; only those where that number grows. */
  doublings(): { readonly microseconds: number; readonly calls: number }[] {
    const steps: { microseconds: number; calls: number }[] = [];
    let calls = 0;
    let bucket = 0;
    for (let bound = 1024; calls < this.total && bucket < BUCKETS; bound *= 2) {
      const before = calls;
      const last = Math.min(bucketOf(bound), BUCKETS - 1);
      while (bucket <= last) calls += this.#counts[bucket++]!;
      if (calls > before) steps.push({ microseconds: Math.floor(highest(last) / 1000), calls });
    }
    return steps;
  }
}

function bucketOf(ns: number): number {
  const shift = Math.max(0, 24 - Math.clz32(ns));
  return (shift << 7) + (ns >>> shift);
}

/** The highest duration, in nanoseconds, that falls into a bucket. */
function highest(bucket: number): number {
  const shift = bucket < 256 ? 0 : (bucket >> 7) - 1;
  return (bucket - (shift << 7) + 1) * 2 ** shift - 1;
}
