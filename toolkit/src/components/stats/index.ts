/**
 * Statistics of anything that can be measured: count, least, most, mean, deviation and quantiles for the running hour and the one
 * before; a timer for a block of code; the slowest contexts.
 *
 *   const stats = new Stats(store);
 *   await stats.record("checkout", "items", 3);
 *   const page = await stats.time("/products", () => render());      // notes how long it took
 *   const { p95 } = (await stats.get("/products", "ms"))!.thisHour!;
 *   const worst = await stats.slowest({ limit: 10 });
 */
import { aStore, integer, seen, word } from "../../base/checks.ts";
import { InputError } from "../../base/errors.ts";
import { HOUR_MS } from "../../base/hourly.ts";
import { NameIndex } from "../../base/names.ts";
import { callback, defineOptions, prefix, whole } from "../../base/options.ts";
import { type Page, type PageOptions, pageChecks } from "../../base/page.ts";
import { asPairs } from "../../base/replies.ts";
import type { Reply } from "../../connection/port.ts";
import type { Store } from "../../connection/store.ts";
import { slowestKeys, statKeys } from "./keys.ts";
import { noteSlow, read, record, slowest, WIDE } from "./scripts.ts";
import { bucketOf, quantile } from "./sketch.ts";

const MAX_VALUES = 1_000;
/** What `time` records under. */
const DURATION = "ms";

/** What `Stats` may be given. */
export interface StatsOptions {
  /** How all keys begin (default "stats"). */
  readonly prefix?: string;
  /** How many of the slowest contexts are kept (default 100). */
  readonly keepSlowest?: number;
  /** Called with the error when `time` could not record; the block's own outcome stays as it is. None by default. */
  readonly onError?: (error: unknown) => void;
}

/** Figures of the values of one hour. */
export interface Summary {
  /** When the hour begins, by the server's clock. */
  readonly from: Date;
  /** How many values there were. */
  readonly count: number;
  /** The least value. */
  readonly min: number;
  /** The largest value. */
  readonly max: number;
  /** The sum of the values. */
  readonly sum: number;
  /** The sum of their squares. */
  readonly sumOfSquares: number;
  /** Their mean. */
  readonly mean: number;
  /** Of the sample; 0 for a single value. */
  readonly standardDeviation: number;
  /** The median, within one per cent. */
  readonly p50: number;
  /** Nineteen in twenty are at most this, within one per cent. */
  readonly p95: number;
  /** Ninety-nine in a hundred are at most this, within one per cent. */
  readonly p99: number;
  /** Any other, between 0 and 1; within one per cent. */
  quantile(q: number): number;
}

/** Figures of the running hour and the one before. */
export interface Hours {
  /** Of the running hour; null if nothing was recorded in it. */
  readonly thisHour: Summary | null;
  /** Of the hour before; null if nothing was recorded in it. */
  readonly lastHour: Summary | null;
}

/** A context with how long it takes. */
export interface SlowContext {
  /** Its name, as it was given to `time` or `duration`. */
  readonly context: string;
  /** Its mean duration in that hour. */
  readonly meanMs: number;
}

const OPTIONS = defineOptions<StatsOptions>("Stats", {
  prefix,
  keepSlowest: whole(1, 10_000),
  onError: callback,
});

const SLOWEST_OPTIONS = defineOptions<{ readonly limit?: number }>("Stats.slowest", { limit: whole(1, 10_000) });
const LIST_OPTIONS = defineOptions<PageOptions>("Stats.list", pageChecks(10_000));

/**
 * Statistics of anything that can be measured: count, least, most, mean, deviation and quantiles for the running hour and the one before;
 * a timer for a block of code; the slowest contexts.
 *
 * @example
 * const stats = new Stats(db);
 * await stats.record("checkout", "items", [1, 2, 3, 4]); // → 2.5
 * (await stats.get("checkout", "items"))?.thisHour?.max; // → 4
 * await stats.time("/products", () => "rendered"); // → "rendered"
 * @example
 * const stats = new Stats(db);
 * await stats.duration("/report", 60_000);
 * await stats.slowest({ limit: 1 }); // → [{ context: "/report", meanMs: 60000 }]
 * const { items } = await stats.list({ limit: 10 });
 */
export class Stats {
  readonly #store: Store;
  readonly #prefix: string;
  readonly #keepSlowest: number;
  readonly #onError: (error: unknown) => void;
  readonly #names: NameIndex;

  constructor(store: Store, options: StatsOptions = {}) {
    aStore("Stats", store);
    OPTIONS.check(options);
    this.#store = store;
    this.#prefix = options.prefix ?? "stats";
    this.#keepSlowest = options.keepSlowest ?? 100;
    this.#names = new NameIndex(store, { kind: "stats", prefix: this.#prefix, keepMs: 2 * HOUR_MS });
    this.#onError = options.onError ?? (() => {});
  }

  /** Adds a value or several. Answers the mean of the running hour. */
  async record(context: string, type: string, values: number | readonly number[]): Promise<number> {
    const list = typeof values === "number" ? [values] : values;
    word("type", type, 256);
    integer("the number of values", list.length, 1, MAX_VALUES);
    for (const value of list) if (!Number.isFinite(value)) throw new InputError("a value must be a finite number");
    const keys = statKeys(this.#prefix, context, type);
    this.#names.announce(`${type}\0${context}`);
    return this.#store.run(record, { ...keys, values: list.flatMap((value) => [value, bucketOf(value)]) });
  }

  /** What is known of this hour and the last; null when nothing is. */
  async get(context: string, type: string): Promise<Hours | null> {
    const [hour, current, last] = await this.#store.run(read, statKeys(this.#prefix, context, word("type", type, 256)));
    const known = [summary(current), summary(last)].filter((each) => each !== null);
    const hourOf = ({ from }: Summary): number => from.getTime() / HOUR_MS;
    // One of a later hour is from before the server's clock was put back: this hour goes on with it.
    const hours = {
      thisHour: known.find((each) => hourOf(each) >= hour) ?? null,
      lastHour: known.find((each) => hourOf(each) === hour - 1) ?? null,
    };
    return hours.thisHour === null && hours.lastHour === null ? null : hours;
  }

  /** Runs a block, notes how many milliseconds it took, and gives what it gives. A block that throws is noted too. */
  async time<T>(context: string, block: () => Promise<T> | T): Promise<T> {
    const { clock } = this.#store;
    const begin = clock.monotonicMs();
    try {
      return await block();
    } finally {
      this.duration(context, clock.monotonicMs() - begin).catch(this.#onError);
    }
  }

  /** Notes a duration that was measured elsewhere, and ranks the context among the slowest. */
  async duration(context: string, ms: number): Promise<void> {
    const meanMs = await this.record(context, DURATION, ms);
    const keys = slowestKeys(this.#prefix);
    await this.#store.run(noteSlow, { ...keys, context, meanMs, keep: this.#keepSlowest });
  }

  /** Contexts with the highest mean time of this hour, or of the last where this one is younger. At most `limit` (default 10). */
  async slowest(options: { readonly limit?: number } = {}): Promise<SlowContext[]> {
    SLOWEST_OPTIONS.check(options);
    const limit = integer("limit", options.limit ?? Math.min(10, this.#keepSlowest), 1, this.#keepSlowest);
    const means = new Map<string, number>();
    for (const flat of await this.#store.run(slowest, { ...slowestKeys(this.#prefix), limit })) {
      for (const [context, mean] of asPairs(flat)) if (!means.has(context)) means.set(context, Number(mean));
    }
    return [...means]
      .map(([context, meanMs]) => ({ context, meanMs }))
      .sort((a, b) => b.meanMs - a.meanMs)
      .slice(0, limit);
  }

  /** What was recorded in the last two hours, the latest announced first. */
  async list(options: PageOptions = {}): Promise<Page<{ readonly context: string; readonly type: string }>> {
    LIST_OPTIONS.check(options);
    const { items, cursor } = await this.#names.list(options);
    const named = items.map((name) => {
      const at = name.indexOf("\0");
      return { type: name.slice(0, at), context: name.slice(at + 1) };
    });
    return { items: named, cursor };
  }
}

function deviation(fields: ReadonlyMap<string, number>, count: number): number {
  const wide = fields.get("wide");
  if (wide === undefined) return Math.sqrt((fields.get("m2") ?? 0) / (count - 1));
  return Math.min(Number.MAX_VALUE, Math.sqrt(wide / (count - 1)) * WIDE);
}

function summary(flat: readonly Reply[]): Summary | null {
  if (flat.length === 0) return null;
  const fields = new Map<string, number>();
  const buckets = new Map<number, number>();
  for (let i = 0; i < flat.length; i += 2) {
    const name = String(flat[i]);
    const value = Number(flat[i + 1]);
    if (/^b-?\d/.test(name)) buckets.set(Number(name.slice(1)), value);
    else fields.set(name, value);
  }
  const get = (name: string): number => fields.get(name) ?? 0;
  const [count, mean, min, max] = [get("count"), get("mean"), get("min"), get("max")];
  const at = (q: number): number => {
    if (!(q >= 0 && q <= 1)) throw new InputError(`a quantile must be a number from 0 to 1, not ${seen(q)}`);
    return Math.min(max, Math.max(min, quantile(buckets, q)));
  };
  return {
    from: new Date(get("hour") * HOUR_MS),
    count,
    min,
    max,
    mean,
    sum: mean * count,
    sumOfSquares: (fields.has("wide") ? Number.POSITIVE_INFINITY : get("m2")) + count * mean * mean,
    standardDeviation: count > 1 ? deviation(fields, count) : 0,
    p50: at(0.5),
    p95: at(0.95),
    p99: at(0.99),
    quantile: at,
  };
}
