/**
 * Measured values over time: count, sum, least, largest, average and last of each ten seconds, minute and hour, kept for as long as
 * each is worth it.
 *
 *   const series = new TimeSeries(store);
 *   await series.add("cpu:web-1", 0.42);
 *   await series.range("cpu:web-1", { from: Date.now() - 3_600_000, everyMs: 60_000 });
 */
import { aStore, integer, word } from "../../base/checks.ts";
import { InputError } from "../../base/errors.ts";
import { inSteps, only } from "../../base/lists.ts";
import { NameIndex } from "../../base/names.ts";
import { defineOptions, listOf, object, prefix, recordOf, required, text, time, whole } from "../../base/options.ts";
import { type Page, type PageOptions, pageChecks } from "../../base/page.ts";
import { asTexts } from "../../base/replies.ts";
import type { Word } from "../../connection/port.ts";
import type { Store } from "../../connection/store.ts";
import { type LabelKeys, labelKeys, type SeriesKeys, seriesKeys } from "./keys.ts";
import { pointsOf, type SeriesPoint, totalOf } from "./points.ts";
import { add, deleteSeries, label, labelled, labelsOf, newestOf, type RangeReply, range } from "./scripts.ts";

export type { SeriesPoint } from "./points.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Buckets of one width. */
export interface RollUp {
  /** The width of a bucket. */
  readonly everyMs: number;
  /** How long buckets are kept. */
  readonly keepMs: number;
}

/** The roll-ups that series have by default: ten seconds for an hour, minutes for a day, hours for 90 days. */
export const DEFAULT_ROLL_UPS: readonly RollUp[] = [
  { everyMs: 10 * SECOND, keepMs: HOUR },
  { everyMs: MINUTE, keepMs: DAY },
  { everyMs: HOUR, keepMs: 90 * DAY },
];

/** What a `TimeSeries` may be given. */
export interface TimeSeriesOptions {
  /** How all keys begin (default "series"). */
  readonly prefix?: string;
  /** Widths of buckets and how long each is kept, the finest first (default `DEFAULT_ROLL_UPS`). The same in all processes. */
  readonly rollUps?: readonly RollUp[];
  /** How many series may have labels (default 100 000). */
  readonly maxSeries?: number;
}

/** A measured value. */
export interface SeriesSample {
  /** A finite number. */
  readonly value: number;
  /** When it was measured; now by default. */
  readonly at?: Date | number;
}

/** When a sample was measured. */
export interface SeriesAddOptions {
  /** When it was measured; now by default. */
  readonly at?: Date | number;
}

/** Which points of a series. */
export interface SeriesRangeOptions {
  /** The first moment; as long ago as there is something by default. */
  readonly from?: Date | number;
  /** The last moment; now by default. */
  readonly to?: Date | number;
  /** The width of the points: a multiple of a roll-up's. The finest that fits by default. */
  readonly everyMs?: number;
  /** At most so many points, the newest; 1 000 by default. */
  readonly limit?: number;
}

/** Which range of a series. */
export interface SeriesStatsOptions {
  /** The first moment; as long ago as there is something by default. */
  readonly from?: Date | number;
  /** The last moment; now by default. */
  readonly to?: Date | number;
}

/** Which series to list. */
export interface SeriesListOptions extends PageOptions {
  /** Only series that have all of these. By default all series. */
  readonly labels?: Readonly<Record<string, string>>;
}

const MOST_BUCKETS = 100_000;
const MOST_POINTS = 10_000;
const MOST_LABELS = 32;
/** So many samples go into one script. */
const AT_ONCE = 500;

const ROLL_UP = defineOptions<RollUp>("TimeSeries.rollUps", {
  everyMs: required(whole(1, 366 * DAY)),
  keepMs: required(whole(1, 3_660 * DAY)),
});

const OPTIONS = defineOptions<TimeSeriesOptions>("TimeSeries", {
  prefix,
  rollUps: listOf(object, 1),
  maxSeries: whole(1, 10_000_000),
});

const ADD_OPTIONS = defineOptions<SeriesAddOptions>("TimeSeries.add", { at: time });
const SAMPLE = defineOptions<SeriesSample>("TimeSeries.addMany", {
  value: required({ expected: "a finite number", accepts: (value) => Number.isFinite(value) }),
  at: time,
});
const RANGE_OPTIONS = defineOptions<SeriesRangeOptions>("TimeSeries.range", {
  from: time,
  to: time,
  everyMs: whole(1),
  limit: whole(1, MOST_POINTS),
});
const STATS_OPTIONS = defineOptions<SeriesStatsOptions>("TimeSeries.stats", { from: time, to: time });
const LIST_OPTIONS = defineOptions<SeriesListOptions>("TimeSeries.list", {
  ...pageChecks(1_000),
  labels: recordOf(text),
});

/**
 * Measured values over time: count, sum, least, largest, average and last of each ten seconds, minute and hour, kept for as long as each
 * is worth it.
 *
 * @example
 * const series = new TimeSeries(db);
 * await series.add("cpu:web-1", 0.4); // → true
 * await series.addMany("cpu:web-1", [{ value: 0.8 }, { value: 0.6 }]); // → [true, true]
 * (await series.range("cpu:web-1", { everyMs: 3_600_000 })).at(-1)?.last; // → 0.6
 * (await series.stats("cpu:web-1"))?.max; // → 0.8
 * (await series.get("cpu:web-1"))?.value; // → 0.6
 * @example
 * const series = new TimeSeries(db);
 * await series.add("cpu:web-1", 0.4);
 * await series.label("cpu:web-1", { region: "eu" }); // → true
 * (await series.list({ labels: { region: "eu" } })).items; // → ["cpu:web-1"]
 * await series.labels("cpu:web-1"); // → { region: "eu" }
 * await series.delete("cpu:web-1"); // → true
 */
export class TimeSeries {
  /** The widths of buckets that this object counts in, and how long each is kept. */
  readonly rollUps: readonly RollUp[];
  readonly #store: Store;
  readonly #prefix: string;
  readonly #words: readonly number[];
  readonly #labels: LabelKeys;
  readonly #maxSeries: number;
  readonly #names: NameIndex;

  constructor(store: Store, options: TimeSeriesOptions = {}) {
    this.#store = aStore("TimeSeries", store);
    OPTIONS.check(options);
    this.rollUps = options.rollUps ?? DEFAULT_ROLL_UPS;
    checkRollUps(this.rollUps);
    this.#prefix = options.prefix ?? "series";
    this.#words = this.rollUps.flatMap(({ everyMs, keepMs }) => [everyMs, keepMs]);
    this.#labels = labelKeys(this.#prefix);
    this.#maxSeries = options.maxSeries ?? 100_000;
    const keepMs = Math.max(...this.rollUps.map((each) => each.keepMs));
    this.#names = new NameIndex(store, {
      kind: "time-series",
      prefix: this.#prefix,
      keepMs,
      ...(options.rollUps !== undefined && { details: { rollUps: options.rollUps } }),
    });
  }

  /** Counts a sample. False: it is older than anything that is kept, or more than a minute ahead of the server's clock. */
  async add(name: string, value: number, options: SeriesAddOptions = {}): Promise<boolean> {
    ADD_OPTIONS.check(options);
    return only(await this.addMany(name, [{ ...options, value }]));
  }

  /** Counts samples in steps of five hundred; each step is atomic. */
  async addMany(name: string, samples: readonly SeriesSample[]): Promise<boolean[]> {
    const keys = this.#keys(name);
    const words = samples.map((sample): Word[] => {
      const { value, at } = SAMPLE.check(sample);
      return [at === undefined ? "" : Math.round(Number(at)), value];
    });
    this.#names.announce(name);
    const answers = await inSteps(words, AT_ONCE, (some) =>
      this.#store.run(add, { ...keys, widths: this.rollUps.length, words: [...this.#words, ...some.flat()] }),
    );
    return answers.map((answer) => answer === 1);
  }

  /** Figures of each stretch of time in which there is something, oldest first. */
  async range(name: string, options: SeriesRangeOptions = {}): Promise<SeriesPoint[]> {
    RANGE_OPTIONS.check(options);
    const { everyMs = 0, limit = 1_000 } = options;
    if (everyMs > 0 && !this.rollUps.some((each) => everyMs % each.everyMs === 0)) {
      const widths = this.rollUps.map((each) => each.everyMs).join(", ");
      throw new InputError(`TimeSeries.range: everyMs must be a multiple of ${widths}, not ${everyMs}`);
    }
    const reply = await this.#range(name, options, everyMs, limit);
    return pointsOf(reply, Math.max(reply.everyMs, everyMs)).slice(-limit);
  }

  /** Figures of a whole range, at the precision of the buckets that reach back so far; null where there is nothing. */
  async stats(name: string, options: SeriesStatsOptions = {}): Promise<SeriesPoint | null> {
    STATS_OPTIONS.check(options);
    return totalOf(await this.#range(name, options, 0, MOST_BUCKETS));
  }

  /** The newest sample; null where there is none. */
  async get(name: string): Promise<{ readonly at: Date; readonly value: number } | null> {
    const found = await this.#store.run(newestOf, { newest: this.#keys(name).newest });
    return found === null ? null : { at: new Date(Number(found[0])), value: Number(found[1]) };
  }

  /** Deletes a series with its labels. False: there was nothing. */
  async delete(name: string): Promise<boolean> {
    await this.#label(name, []);
    const deleted = await this.#store.run(deleteSeries, { ...this.#keys(name), words: this.#words });
    await this.#names.remove(name);
    return deleted;
  }

  /** Puts labels in the place of those that a series has. False: as many series as may have labels have some. */
  async label(name: string, labels: Readonly<Record<string, string>>): Promise<boolean> {
    this.#keys(name);
    return this.#label(name, pairsOf(labels));
  }

  /** The labels of a series; none where it has none. */
  async labels(name: string): Promise<Record<string, string>> {
    this.#keys(name);
    const found = await this.#store.run(labelsOf, { labels: this.#labels.labels, name });
    const pairs = found === null ? [] : asTexts(JSON.parse(found));
    return Object.fromEntries(
      pairs.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]),
    );
  }

  /** Series that have all the labels, in the order of their names; without labels all that were added to, the latest announced first. */
  async list(options: SeriesListOptions = {}): Promise<Page<string>> {
    LIST_OPTIONS.check(options);
    const { labels, limit = 100, cursor } = options;
    if (labels === undefined) return this.#names.list(cursor === undefined ? { limit } : { limit, cursor });
    const pairs = pairsOf(labels);
    integer("the number of labels", pairs.length, 1, MOST_LABELS);
    const found = await this.#store.run(labelled, { ...this.#labels, after: cursor ?? "", limit, pairs });
    const items = found.slice(0, limit);
    return { items, cursor: found.length > limit ? (items.at(-1) ?? null) : null };
  }

  #label(name: string, pairs: readonly string[]): Promise<boolean> {
    const json = JSON.stringify(pairs);
    return this.#store.run(label, { ...this.#labels, name, json, maxSeries: this.#maxSeries, pairs });
  }

  #range(name: string, { from, to }: SeriesStatsOptions, wanted: number, limit: number): Promise<RangeReply> {
    if (from !== undefined && to !== undefined && Number(from) > Number(to)) {
      throw new InputError("from must not be after to");
    }
    const moment = (at: Date | number | undefined): Word => (at === undefined ? "" : Math.round(Number(at)));
    return this.#store.run(range, {
      ...this.#keys(name),
      from: moment(from),
      to: moment(to),
      wanted,
      limit,
      words: this.#words,
    });
  }

  #keys(name: string): SeriesKeys {
    return seriesKeys(this.#prefix, name);
  }
}

function checkRollUps(rollUps: readonly RollUp[]): void {
  let finest = 0;
  for (const each of rollUps) {
    const { everyMs, keepMs } = ROLL_UP.check(each);
    if (everyMs <= finest) throw new InputError("TimeSeries: rollUps must be from the finest to the widest");
    integer("the number of buckets that a roll-up keeps", Math.ceil(keepMs / everyMs), 1, MOST_BUCKETS);
    finest = everyMs;
  }
}

/** As "host=a", in the order of their names. */
function pairsOf(labels: Readonly<Record<string, string>>): string[] {
  const pairs = Object.entries(labels).map(([name, value]) => {
    word("the name of a label", name, 128);
    if (name.includes("=")) throw new InputError(`the name of a label must not contain "=": ${name}`);
    return `${name}=${word("a label", value, 256)}`;
  });
  integer("the number of labels", pairs.length, 0, MOST_LABELS);
  return pairs.sort();
}
