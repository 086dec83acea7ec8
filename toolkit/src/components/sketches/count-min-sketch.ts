/**
 * How often each of any number of items was seen, in a fixed number of bytes. A count is never too small. It is too large by more
 * than `errorRate` of everything that was counted with a probability of at most `missRate`.
 */
import { aStore, integer } from "../../base/checks.ts";
import { InputError } from "../../base/errors.ts";
import { nthHash } from "../../base/hash.ts";
import { only } from "../../base/lists.ts";
import { defineOptions, number, prefix, whole } from "../../base/options.ts";
import type { Store } from "../../connection/store.ts";
import { type SketchKeys, sketchKeys } from "./keys.ts";
import { CELL_BITS, countMinAdd, countMinCounts, figures } from "./scripts.ts";
import { hashed, MOST_BYTES, Sketch, type SketchOptions } from "./sketch.ts";

/** Settings of a `CountMinSketch`. All processes give the same ones; other options than the stored ones are refused. */
export interface CountMinSketchOptions extends SketchOptions {
  /** By which part of everything counted a count may be too large; 0.001 by default. */
  readonly errorRate?: number;
  /** For which part of the items it may be more; 0.01 by default. */
  readonly missRate?: number;
}

/** Figures of a `CountMinSketch`. */
export interface CountMinInspection {
  /** All that was counted. */
  readonly total: number;
  /** By which part of everything counted a count may be too large. */
  readonly errorRate: number;
  /** For which part of the items it may be more. */
  readonly missRate: number;
  /** What a count may be too large by now. */
  readonly error: number;
  /** What it takes in the store now; 0 before the first `add`. */
  readonly bytes: number;
}

/** An item, or an item and how often it was seen. */
export type Counted = string | readonly [item: string, by: number];

const OPTIONS = defineOptions<CountMinSketchOptions>("CountMinSketch", {
  prefix,
  ttlMs: whole(1),
  errorRate: number(1e-7, 0.5),
  missRate: number(1e-7, 0.5),
});

const MOST = 2 ** CELL_BITS - 1;

/**
 * How often each of any number of items was seen, in a fixed number of bytes: never too small, and rarely much too large.
 *
 * @example
 * const hits = new CountMinSketch(db, "hits");
 * await hits.add("/"); // → 1
 * await hits.addMany(["/", ["/about", 40]]); // → [2, 40]
 * await hits.count("/about"); // → 40
 * await hits.counts(["/", "/nowhere"]); // → [2, 0]
 * @example
 * const hits = new CountMinSketch(db, "hits");
 * await hits.add("/", 42);
 * await hits.inspect(); // → { errorRate: 0.001, missRate: 0.01, total: 42, error: 0.042, bytes: … }
 * await hits.clear();
 */
export class CountMinSketch {
  /** The sketch's name, as given. */
  readonly name: string;
  readonly #keys: SketchKeys;
  readonly #sketch: Sketch;
  readonly #width: number;
  readonly #depth: number;
  readonly #plan: string;
  readonly #ttlMs: number;
  readonly #rates: { readonly errorRate: number; readonly missRate: number };

  constructor(store: Store, name: string, options: CountMinSketchOptions = {}) {
    aStore("CountMinSketch", store);
    OPTIONS.check(options);
    const { errorRate = 0.001, missRate = 0.01 } = options;
    this.name = name;
    this.#rates = { errorRate, missRate };
    this.#width = Math.ceil(Math.E / errorRate);
    this.#depth = Math.ceil(Math.log(1 / missRate));
    this.#plan = `${this.#width} ${this.#depth}`;
    const bytes = (this.#width * this.#depth * CELL_BITS) / 8;
    if (bytes > MOST_BYTES) {
      throw new InputError(
        `a count-min sketch like that takes ${bytes} bytes, more than the ${MOST_BYTES} of a string`,
      );
    }
    this.#ttlMs = options.ttlMs ?? 0;
    const first = options.prefix ?? "count-min";
    this.#keys = sketchKeys(first, name, "count-min sketch");
    const plan = this.#plan;
    this.#sketch = new Sketch(store, {
      kind: "count-min-sketches",
      what: "count-min sketch",
      prefix: first,
      name,
      plan,
      details: this.#rates,
    });
  }

  /** Counts an item; how often it was seen by now, about. */
  async add(item: string, by = 1): Promise<number> {
    return only(await this.addMany([[item, by]]));
  }

  /** Counts items in steps of a thousand; each step is atomic. */
  async addMany(items: readonly Counted[]): Promise<number[]> {
    const words = items.map((each) => {
      const [item, by] = typeof each === "string" ? [each, 1] : each;
      return [integer("by", by, 1, MOST), ...this.#columns(item)];
    });
    this.#sketch.announce();
    const answers = await this.#sketch.inSteps(words, (some) =>
      this.#sketch.run(countMinAdd, { ...this.#keys, plan: this.#plan, ttlMs: this.#ttlMs, items: some.flat() }),
    );
    return answers.map(Number);
  }

  /** How often an item was seen, about: not less than it was. */
  async count(item: string): Promise<number> {
    return only(await this.counts([item]));
  }

  /** How often each item was seen, in order, about: not less than it was. Reads in steps of a thousand. */
  async counts(items: readonly string[]): Promise<number[]> {
    const words = items.map((item) => this.#columns(item));
    const answers = await this.#sketch.inSteps(words, (some) =>
      this.#sketch.run(countMinCounts, { ...this.#keys, plan: this.#plan, items: some.flat() }),
    );
    return answers.map(Number);
  }

  /** How much was counted, how large the error may be, and what it takes. */
  async inspect(): Promise<CountMinInspection> {
    const [text, , bytes] = await this.#sketch.run(figures, { ...this.#keys, plan: this.#plan });
    const total = Number(text ?? 0);
    return { ...this.#rates, total, error: total * this.#rates.errorRate, bytes };
  }

  /** Forgets all of it, also how it was made. */
  clear(): Promise<void> {
    return this.#sketch.delete([this.#keys.meta, this.#keys.cells]);
  }

  /** The column of its cell in each row. */
  #columns(item: string): number[] {
    const lanes = hashed(item);
    return Array.from({ length: this.#depth }, (_, row) => nthHash(lanes, row) % this.#width);
  }
}
