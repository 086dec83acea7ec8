/**
 * A set that forgets what its items are, and from which items can be deleted: of each item it keeps a fingerprint. Whether an item
 * is there is answered with "no" for certain, and with "yes" wrongly for at most `errorRate` of the items that are not there.
 */
import { aStore } from "../../base/checks.ts";
import { InputError } from "../../base/errors.ts";
import { only } from "../../base/lists.ts";
import { defineOptions, number, prefix, required, whole } from "../../base/options.ts";
import type { Store } from "../../connection/store.ts";
import { type SketchKeys, sketchKeys } from "./keys.ts";
import { cuckooAdd, cuckooDelete, cuckooHas, figures } from "./scripts.ts";
import { hashed, MOST_BYTES, Sketch, type SketchOptions } from "./sketch.ts";

/** Settings of a `CuckooFilter`. All processes give the same ones; other options than the stored ones are refused. */
export interface CuckooFilterOptions extends SketchOptions {
  /** For how many items it is made. */
  readonly capacity: number;
  /** Which part of the items that are not there may be taken for others; 0.01 by default. */
  readonly errorRate?: number;
}

/** Figures of a `CuckooFilter`. */
export interface CuckooFilterInspection {
  /** How often something was added and not deleted. */
  readonly count: number;
  /** For how many items it was made. */
  readonly capacity: number;
  /** Which part of the items that are not there may be taken for others. */
  readonly errorRate: number;
  /** What it takes in the store now; 0 before the first `add`. */
  readonly bytes: number;
}

/** Fingerprints in a bucket. */
const PLACES = 4;
/** Which part of all places is taken when it is as full as it was made for. Above 95 % there is often no way to make room. */
const LOAD = 0.9;
/** A filter for few items has few buckets, and chance fills some of them sooner. */
const SPARE_BUCKETS = 4;
const LEAST_ERROR = 0.00001;

const OPTIONS = defineOptions<CuckooFilterOptions>("CuckooFilter", {
  prefix,
  ttlMs: whole(1),
  capacity: required(whole(1, 1_000_000_000)),
  errorRate: number(LEAST_ERROR, 0.5),
});

/**
 * Whether an item is there, in about ten bits an item. Items can be deleted, unlike from a `BloomFilter`.
 *
 * @example
 * const online = new CuckooFilter(db, "online", { capacity: 10_000 });
 * await online.add("ann"); // → true
 * await online.addMany(["ben", "cid"]); // → [true, true]
 * await online.has("ben"); // → true
 * await online.delete("ann"); // → true
 * await online.hasMany(["ann", "cid"]); // → [false, true]
 * @example
 * const online = new CuckooFilter(db, "online", { capacity: 10_000 });
 * await online.addMany(["ann", "ben"]);
 * await online.deleteMany(["ann", "ben"]); // → [true, true]
 * await online.count(); // → 0
 * await online.inspect(); // → { capacity: 10000, errorRate: 0.01, count: 0, bytes: … }
 * await online.clear();
 */
export class CuckooFilter {
  /** The filter's name, as given. */
  readonly name: string;
  readonly #keys: SketchKeys;
  readonly #sketch: Sketch;
  readonly #buckets: number;
  readonly #prints: number;
  readonly #plan: string;
  readonly #ttlMs: number;
  readonly #options: { readonly capacity: number; readonly errorRate: number };

  constructor(store: Store, name: string, options: CuckooFilterOptions) {
    aStore("CuckooFilter", store);
    OPTIONS.check(options);
    const { capacity, errorRate = 0.01 } = options;
    this.name = name;
    this.#options = { capacity, errorRate };
    this.#buckets = Math.ceil(capacity / LOAD / PLACES) + SPARE_BUCKETS;
    // An item is compared with all fingerprints of two buckets; none of them is 0.
    const bits = Math.ceil(Math.log2((2 * PLACES) / errorRate + 1));
    this.#prints = 2 ** bits - 1;
    this.#plan = `${this.#buckets} ${bits}`;
    const bytes = Math.ceil((this.#buckets * PLACES * bits) / 8);
    if (bytes > MOST_BYTES) {
      throw new InputError(`a cuckoo filter like that takes ${bytes} bytes, more than the ${MOST_BYTES} of a string`);
    }
    this.#ttlMs = options.ttlMs ?? 0;
    const first = options.prefix ?? "cuckoo";
    this.#keys = sketchKeys(first, name, "cuckoo filter");
    const plan = this.#plan;
    this.#sketch = new Sketch(store, {
      kind: "cuckoo-filters",
      what: "cuckoo filter",
      prefix: first,
      name,
      plan,
      details: this.#options,
    });
  }

  /**
   * Adds an item, also one that is there: it is there until it was deleted as often. False: there is no room for it, and nothing has
   * changed. The same item can be there eight times.
   */
  async add(item: string): Promise<boolean> {
    return only(await this.addMany([item]));
  }

  /** Adds items in steps of a thousand; each step is atomic. */
  async addMany(items: readonly string[]): Promise<boolean[]> {
    const prints = items.map((item) => this.#printOf(item));
    this.#sketch.announce();
    const answers = await this.#sketch.inSteps(prints, (some) =>
      this.#sketch.run(cuckooAdd, { ...this.#keys, plan: this.#plan, ttlMs: this.#ttlMs, prints: some.flat() }),
    );
    return answers.map((answer) => answer === 1);
  }

  /** False: it is not there. */
  async has(item: string): Promise<boolean> {
    return only(await this.hasMany([item]));
  }

  /** Whether each item is there, in order: false is certain. Reads in steps of a thousand. */
  async hasMany(items: readonly string[]): Promise<boolean[]> {
    const prints = items.map((item) => this.#printOf(item));
    const answers = await this.#sketch.inSteps(prints, (some) =>
      this.#sketch.run(cuckooHas, { ...this.#keys, plan: this.#plan, prints: some.flat() }),
    );
    return answers.map((answer) => answer === 1);
  }

  /**
   * Deletes an item that was added. One that never was may take the place of another: then that one is gone. False: it was not
   * there.
   */
  async delete(item: string): Promise<boolean> {
    return only(await this.deleteMany([item]));
  }

  /** Deletes items in steps of a thousand; each step is atomic. For each, in order: whether it was there. */
  async deleteMany(items: readonly string[]): Promise<boolean[]> {
    const prints = items.map((item) => this.#printOf(item));
    const answers = await this.#sketch.inSteps(prints, (some) =>
      this.#sketch.run(cuckooDelete, { ...this.#keys, plan: this.#plan, prints: some.flat() }),
    );
    return answers.map((answer) => answer === 1);
  }

  /** How often something was added and not deleted. */
  async count(): Promise<number> {
    return (await this.inspect()).count;
  }

  /** How it was made, how many items are in it, and what it takes. */
  async inspect(): Promise<CuckooFilterInspection> {
    const [total, , bytes] = await this.#sketch.run(figures, { ...this.#keys, plan: this.#plan });
    return { ...this.#options, count: Number(total ?? 0), bytes };
  }

  /** Forgets all of it, also how it was made. */
  clear(): Promise<void> {
    return this.#sketch.delete([this.#keys.meta, this.#keys.cells]);
  }

  /** One of its two buckets, and its fingerprint. */
  #printOf(item: string): [number, number] {
    const [a, b, c] = hashed(item);
    return [(a * 65_536 + (c >>> 16)) % this.#buckets, (b % this.#prints) + 1];
  }
}
