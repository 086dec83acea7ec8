/**
 * The most frequent of any number of items, with a fixed number of counters. Every item that makes up more than one part in
 * `maxItems` of everything is among them, and says within which bounds its count is.
 */
import { aStore, integer, word } from "../../base/checks.ts";
import { inPairs, only, zipped } from "../../base/lists.ts";
import { defineOptions, prefix, whole } from "../../base/options.ts";
import type { Store } from "../../connection/store.ts";
import type { Counted } from "./count-min-sketch.ts";
import { type TopKeys, topKeys } from "./keys.ts";
import { topAdd, topFigures, topGet, topRange } from "./scripts.ts";
import { Sketch, type SketchOptions } from "./sketch.ts";

/** Settings of a `TopK`. All processes give the same ones; other options than the stored ones are refused. */
export interface TopKOptions extends SketchOptions {
  /** How many counters there are; ten times as many as you want to list is a good number. 1 000 by default. */
  readonly maxItems?: number;
}

/** A frequent item, with the bounds of its count. */
export interface Frequent {
  /** The item, as it was added. */
  readonly item: string;
  /** Not less than it was seen. */
  readonly count: number;
  /** Not more than it was seen. */
  readonly atLeast: number;
}

/** Which part of the ranking to read. */
export interface FrequentOptions {
  /** At most so many items (default 10, 10 000 at most). */
  readonly limit?: number;
  /** So many of the most frequent are left out (default 0). */
  readonly offset?: number;
}

/** Figures of a `TopK`. */
export interface TopKInspection {
  /** All that was counted. */
  readonly total: number;
  /** Items that have a counter. */
  readonly count: number;
  /** How many counters there are. */
  readonly maxItems: number;
  /** What a count may be too large by, at most; and what an item must be seen more often than to have a counter for certain. */
  readonly error: number;
}

const MOST_ITEMS = 100_000;

const OPTIONS = defineOptions<TopKOptions>("TopK", { prefix, ttlMs: whole(1), maxItems: whole(1, MOST_ITEMS) });

const TOP_OPTIONS = defineOptions<FrequentOptions>("TopK.top", { limit: whole(1, 10_000), offset: whole(0) });

/**
 * The most frequent of any number of items, with a fixed number of counters, each with the bounds of its count.
 *
 * @example
 * const words = new TopK(db, "words", { maxItems: 100 });
 * await words.add("to"); // → 1
 * await words.addMany(["be", "to", ["or", 5]]); // → [1, 2, 5]
 * await words.top({ limit: 2 }); // → [{ item: "or", count: 5, atLeast: 5 }, { item: "to", count: 2, atLeast: 2 }]
 * await words.get("not"); // → null
 * @example
 * const words = new TopK(db, "words");
 * await words.add("to", 8);
 * await words.inspect(); // → { total: 8, count: 1, maxItems: 1000, error: 0 }
 * await words.clear();
 */
export class TopK {
  /** Its name, as given. */
  readonly name: string;
  readonly #keys: TopKeys;
  readonly #sketch: Sketch;
  readonly #maxItems: number;
  readonly #ttlMs: number;

  constructor(store: Store, name: string, options: TopKOptions = {}) {
    aStore("TopK", store);
    OPTIONS.check(options);
    this.name = name;
    this.#maxItems = options.maxItems ?? 1_000;
    this.#ttlMs = options.ttlMs ?? 0;
    const first = options.prefix ?? "top-k";
    this.#keys = topKeys(first, name);
    const plan = String(this.#maxItems);
    const details = { maxItems: this.#maxItems };
    this.#sketch = new Sketch(store, { kind: "top-k", what: "top-k", prefix: first, name, plan, details });
  }

  /** Counts an item; its count by now, not less than it was seen. */
  async add(item: string, by = 1): Promise<number> {
    return only(await this.addMany([[item, by]]));
  }

  /** Counts items in steps of a thousand; each step is atomic. */
  async addMany(items: readonly Counted[]): Promise<number[]> {
    const words = items.map((each) => {
      const [item, by] = typeof each === "string" ? [each, 1] : each;
      return [word("item", item), integer("by", by, 1)];
    });
    this.#sketch.announce();
    const answers = await this.#sketch.inSteps(words, (some) =>
      this.#sketch.run(topAdd, { ...this.#keys, plan: this.#maxItems, ttlMs: this.#ttlMs, items: some.flat() }),
    );
    return answers.map(Number);
  }

  /** The most frequent first. */
  async top(options: FrequentOptions = {}): Promise<Frequent[]> {
    TOP_OPTIONS.check(options);
    const { limit = 10, offset = 0 } = options;
    const [flat, errors] = await this.#sketch.run(topRange, {
      ...this.#keys,
      plan: this.#maxItems,
      from: offset,
      to: offset + limit - 1,
    });
    return zipped(inPairs(flat), errors).map(([[item, count], error]) => frequent(item, count, error));
  }

  /** An item; null if it has no counter, which means that it is not frequent. */
  async get(item: string): Promise<Frequent | null> {
    const found = await this.#sketch.run(topGet, { ...this.#keys, plan: this.#maxItems, item: word("item", item) });
    return found === null ? null : frequent(item, found[0], found[1]);
  }

  /** How much was counted, how many items have a counter, and how large the error may be. */
  async inspect(): Promise<TopKInspection> {
    const [text, count] = await this.#sketch.run(topFigures, { ...this.#keys, plan: this.#maxItems });
    const total = Number(text ?? 0);
    return { total, count, maxItems: this.#maxItems, error: Math.floor(total / this.#maxItems) };
  }

  /** Forgets all of it, also how it was made. */
  clear(): Promise<void> {
    return this.#sketch.delete([this.#keys.counts, this.#keys.errors, this.#keys.meta]);
  }
}

function frequent(item: string, count: string, error: string | null): Frequent {
  return { item, count: Number(count), atLeast: Number(count) - Number(error ?? 0) };
}
