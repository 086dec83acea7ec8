/**
 * Counters over time, at several precisions at once: hits per second, minute, hour and day.
 *
 *   const counters = new Counters(store);
 *   await counters.add("hits");
 *   const perMinute = await counters.series("hits", 60_000);       // 120 points, the last one still growing
 *
 * With `bufferMs` a busy process counts in memory and sends sums; a sum whose answer was lost is sent again and counted once.
 */

import { aStore, integer } from "../../base/checks.ts";
import { randomToken, sleep, type Timer } from "../../base/clock.ts";
import { ConnectionError, InputError } from "../../base/errors.ts";
import { NameIndex } from "../../base/names.ts";
import { defineOptions, listOf, prefix, whole } from "../../base/options.ts";
import { type Page, type PageOptions, pageChecks } from "../../base/page.ts";
import type { Store } from "../../connection/store.ts";
import { type CounterKeys, counterKeys } from "./keys.ts";
import { add, series } from "./scripts.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** The precisions that counters have by default, in milliseconds: 1 s, 5 s, a minute, 5 minutes, an hour, 5 hours and a day. */
export const DEFAULT_PRECISIONS_MS: readonly number[] = [
  SECOND,
  5 * SECOND,
  MINUTE,
  5 * MINUTE,
  HOUR,
  5 * HOUR,
  24 * HOUR,
];

const FLUSH_ATTEMPTS = 5;
/** Calls that an open circuit refuses cost no time, so they are no measure of patience: these are waited for. */
const CIRCUIT_PATIENCE_MS = 50_000;
const CIRCUIT_PAUSE_MS = 500;

/** What `Counters` may be given. */
export interface CountersOptions {
  /** How all keys begin (default "counter"). */
  readonly prefix?: string;
  /** The lengths of slices that are counted in, all at once (default `DEFAULT_PRECISIONS_MS`). */
  readonly precisionsMs?: readonly number[];
  /** How many slices are kept for each precision. By default 120. */
  readonly keepCount?: number;
  /** Collects hits in memory for this long; what a crash then loses. 0, the default: every hit is sent at once. */
  readonly bufferMs?: number;
}

/** The hits of one slice of time. */
export interface Sample {
  /** When the slice begins, by the server's clock. */
  readonly at: Date;
  /** How many hits there were. */
  readonly count: number;
}

interface Pending {
  by: number;
  readonly done: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

const OPTIONS = defineOptions<CountersOptions>("Counters", {
  prefix,
  precisionsMs: listOf(whole(1), 1),
  keepCount: whole(1, 100_000),
  bufferMs: whole(0, MINUTE),
});

const SERIES_OPTIONS = defineOptions<{ readonly samples?: number }>("Counters.series", {
  samples: whole(1, 100_000),
});

const LIST_OPTIONS = defineOptions<PageOptions>("Counters.list", pageChecks(10_000));

/**
 * Counters over time, at several precisions at once.
 *
 * @example
 * const counters = new Counters(db, { precisionsMs: [1_000, 60_000], bufferMs: 100 });
 * await counters.add("hits", 3);
 * await counters.flush();
 * (await counters.series("hits", 60_000)).reduce((sum, { count }) => sum + count, 0); // → 3
 * await counters.rate("hits", 60_000, 10); // Hits a second over the last ten minutes.
 * @example
 * const counters = new Counters(db);
 * await counters.add("hits");
 * (await counters.list()).items; // → ["hits"]
 * await counters.delete("hits");
 */
export class Counters {
  /** The lengths of slices that this object counts in. */
  readonly precisionsMs: readonly number[];
  readonly #store: Store;
  readonly #prefix: string;
  readonly #samples: number;
  readonly #bufferMs: number;
  readonly #instance = randomToken();
  readonly #names: NameIndex;
  #pending = new Map<string, Pending>();
  #timer: Timer | null = null;
  #flushing: Promise<void> = Promise.resolve();
  #sequence = 0;

  constructor(store: Store, options: CountersOptions = {}) {
    aStore("Counters", store);
    OPTIONS.check(options);
    this.#store = store;
    this.#prefix = options.prefix ?? "counter";
    this.precisionsMs = options.precisionsMs ?? DEFAULT_PRECISIONS_MS;
    this.#samples = options.keepCount ?? 120;
    this.#bufferMs = options.bufferMs ?? 0;
    this.#names = new NameIndex(store, {
      kind: "counters",
      prefix: this.#prefix,
      keepMs: Math.max(...this.precisionsMs) * this.#samples,
    });
    store.on("close", () => this.flush());
  }

  /** Counts. Resolves when the store has counted it. */
  async add(name: string, by = 1): Promise<void> {
    integer("by", by, Number.MIN_SAFE_INTEGER);
    const keys = this.#keys(name);
    if (this.#bufferMs === 0) return this.#send(name, keys, by, 0);
    return this.#collect(name, by);
  }

  /** Sends what is collected now. One after the other: a later batch must not overtake one that is being repeated. */
  flush(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = null;
    this.#flushing = this.#flushing.then(() => this.#flush());
    return this.#flushing;
  }

  async #flush(): Promise<void> {
    const pending = this.#pending;
    this.#pending = new Map();
    await Promise.all(
      [...pending].map(async ([name, sum]) => {
        try {
          await this.#sendOnce(name, sum.by);
          sum.resolve();
        } catch (error) {
          sum.reject(error);
        }
      }),
    );
  }

  /**
   * The last samples of a precision, oldest first, slices without a hit as 0; the last one is still growing. `samples` is how many
   * (default `keepCount`).
   */
  async series(name: string, precisionMs: number, options: { readonly samples?: number } = {}): Promise<Sample[]> {
    SERIES_OPTIONS.check(options);
    const at = this.precisionsMs.indexOf(precisionMs);
    if (at < 0) throw new InputError(`precisionMs must be one of ${this.precisionsMs.join(", ")}`);
    const samples = integer("samples", options.samples ?? this.#samples, 1, this.#samples);
    const { now, counts } = await this.#store.run(series, { slices: this.#keys(name).slices[at]! });
    const last = now - (now % precisionMs);
    return Array.from({ length: samples }, (_, nth) => {
      const start = last - (samples - 1 - nth) * precisionMs;
      return { at: new Date(start), count: counts.get(start) ?? 0 };
    });
  }

  /** Hits a second over the last whole slices. */
  async rate(name: string, precisionMs: number, slices = 1): Promise<number> {
    const whole = (await this.series(name, precisionMs, { samples: slices + 1 })).slice(0, -1);
    return whole.reduce((sum, { count }) => sum + count, 0) / ((slices * precisionMs) / SECOND);
  }

  /** Counters that were hit within what their longest precision keeps, the latest announced first. */
  async list(options: PageOptions = {}): Promise<Page<string>> {
    LIST_OPTIONS.check(options);
    return this.#names.list(options);
  }

  /** Forgets a counter. */
  async delete(name: string): Promise<void> {
    await this.#store.send(["DEL", ...this.#keys(name).slices], { repeatable: true });
    await this.#names.remove(name);
  }

  #keys(name: string): CounterKeys {
    return counterKeys(this.#prefix, name, this.precisionsMs);
  }

  #collect(name: string, by: number): Promise<void> {
    // Keeps the process alive: what was counted is not lost because there is nothing else to do.
    this.#timer ??= this.#store.clock.after(this.#bufferMs, () => void this.flush(), { keepAlive: true });
    const sum = this.#pending.get(name);
    if (sum !== undefined) {
      sum.by += by;
      return sum.done;
    }
    const { promise, resolve, reject } = withResolvers();
    // A caller that counts without waiting must not bring the process down.
    promise.catch(() => {});
    this.#pending.set(name, { by, done: promise, resolve, reject });
    return promise;
  }

  /** The batch has a number, so it can be sent again when an answer was lost. */
  async #sendOnce(name: string, by: number): Promise<void> {
    const sequence = ++this.#sequence;
    const { clock, closeSignal } = this.#store;
    const until = clock.monotonicMs() + CIRCUIT_PATIENCE_MS;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#send(name, this.#keys(name), by, sequence);
      } catch (error) {
        if (!(error instanceof ConnectionError)) throw error;
        const isRefused = error.code === "CIRCUIT_OPEN";
        if (isRefused ? clock.monotonicMs() >= until : attempt >= FLUSH_ATTEMPTS) throw error;
        if (isRefused) await sleep(clock, CIRCUIT_PAUSE_MS, closeSignal);
      }
    }
  }

  async #send(name: string, keys: CounterKeys, by: number, sequence: number): Promise<void> {
    this.#names.announce(name);
    await this.#store.run(add, {
      batch: keys.batch(this.#instance),
      slices: keys.slices,
      by,
      sequence,
      samples: this.#samples,
      precisions: this.precisionsMs,
    });
  }
}

function withResolvers(): { promise: Promise<void>; resolve: () => void; reject: (error: unknown) => void } {
  let resolve!: () => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<void>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
