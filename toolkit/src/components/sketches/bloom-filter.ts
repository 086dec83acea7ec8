/**
 * A set that forgets what its items are: whether an item was added is answered with "no" for certain, and with "yes" wrongly for at
 * most `errorRate` of the items that were never added. Nothing can be deleted.
 *
 * Where it may grow (`maxCapacity`), layers follow each other, each twice as large and with half of the error of the one before: the
 * errors of all of them together stay below `errorRate`.
 */
import { aStore } from "../../base/checks.ts";
import { InputError } from "../../base/errors.ts";
import { only } from "../../base/lists.ts";
import { defineOptions, number, prefix, required, whole } from "../../base/options.ts";
import type { Store } from "../../connection/store.ts";
import { type SketchKeys, sketchKeys } from "./keys.ts";
import { bloomAdd, bloomHas, figures } from "./scripts.ts";
import { hashed, MOST_BYTES, Sketch, type SketchOptions } from "./sketch.ts";

/** Settings of a `BloomFilter`. All processes give the same ones; other options than the stored ones are refused. */
export interface BloomFilterOptions extends SketchOptions {
  /** For how many items it is made. */
  readonly capacity: number;
  /** Which part of the items that were never added may be taken for added; 0.01 by default. */
  readonly errorRate?: number;
  /** To how many items it may grow, by doubling; `capacity` by default. */
  readonly maxCapacity?: number;
}

/** `full`: it was not added, since the error would grow past what was asked for. */
export interface FilterAddOutcome {
  /** `exists`: it was there, or is taken for another item. `full`: nothing was added. */
  readonly status: "added" | "exists" | "full";
}

/** Figures of a `BloomFilter`. */
export interface BloomFilterInspection {
  /** Items that were added: such that were taken for others are not among them. */
  readonly count: number;
  /** For how many items it was made. */
  readonly capacity: number;
  /** To how many items it may grow. */
  readonly maxCapacity: number;
  /** Which part of the items that were never added may be taken for added. */
  readonly errorRate: number;
  /** How often it has grown. */
  readonly grown: number;
  /** What it takes in the store now; 0 before the first `add`. */
  readonly bytes: number;
  /** What it takes when it has grown to `maxCapacity`. */
  readonly maxBytes: number;
}

const MOST_ITEMS = 1_000_000_000;

const OPTIONS = defineOptions<BloomFilterOptions>("BloomFilter", {
  prefix,
  ttlMs: whole(1),
  capacity: required(whole(1, MOST_ITEMS)),
  errorRate: number(1e-9, 0.5),
  maxCapacity: whole(1, MOST_ITEMS),
});

const STATUSES = ["exists", "added", "full"] as const;

/**
 * Whether an item was added before, in a few bits an item: "no" is certain, "yes" may be wrong for `errorRate` of the others.
 *
 * @example
 * const mails = new BloomFilter(db, "mails", { capacity: 100_000, errorRate: 0.001 });
 * await mails.add("a@example.org"); // → { status: "added" }
 * await mails.addMany(["a@example.org", "b@example.org"]); // → [{ status: "exists" }, { status: "added" }]
 * await mails.has("c@example.org"); // → false
 * await mails.hasMany(["a@example.org", "c@example.org"]); // → [true, false]
 * await mails.count(); // → 2
 * await mails.inspect(); // → { capacity: 100000, maxCapacity: 100000, errorRate: 0.001, count: 2, …
 * await mails.clear();
 */
export class BloomFilter {
  /** The filter's name, as given. */
  readonly name: string;
  readonly #keys: SketchKeys;
  readonly #sketch: Sketch;
  readonly #plan: BloomPlan;
  readonly #ttlMs: number;
  readonly #options: { readonly capacity: number; readonly maxCapacity: number; readonly errorRate: number };

  constructor(store: Store, name: string, options: BloomFilterOptions) {
    aStore("BloomFilter", store);
    OPTIONS.check(options);
    const { capacity, maxCapacity = capacity, errorRate = 0.01 } = options;
    if (maxCapacity < capacity) throw new InputError("maxCapacity must not be below capacity");
    this.name = name;
    this.#options = { capacity, maxCapacity, errorRate };
    this.#plan = planOf(capacity, maxCapacity, errorRate);
    this.#ttlMs = options.ttlMs ?? 0;
    const first = options.prefix ?? "bloom";
    this.#keys = sketchKeys(first, name, "Bloom filter");
    this.#sketch = new Sketch(store, {
      kind: "bloom-filters",
      what: "Bloom filter",
      prefix: first,
      name,
      plan: this.#plan.text,
      details: this.#options,
    });
  }

  /** Adds an item. `exists`: it was there, or is taken for one that was. */
  async add(item: string): Promise<FilterAddOutcome> {
    return only(await this.addMany([item]));
  }

  /** Adds items in steps of a thousand; each step is atomic. */
  async addMany(items: readonly string[]): Promise<FilterAddOutcome[]> {
    const hashes = items.map(twoNumbers);
    this.#sketch.announce();
    const answers = await this.#sketch.inSteps(hashes, (some) =>
      this.#sketch.run(bloomAdd, {
        ...this.#keys,
        plan: this.#plan.text,
        ttlMs: this.#ttlMs,
        hashes: some.flat(),
      }),
    );
    return answers.map((answer) => ({ status: STATUSES[answer] ?? "full" }));
  }

  /** False: it was never added. */
  async has(item: string): Promise<boolean> {
    return only(await this.hasMany([item]));
  }

  /** Whether each item was added, in order: false is certain. Reads in steps of a thousand. */
  async hasMany(items: readonly string[]): Promise<boolean[]> {
    const hashes = items.map(twoNumbers);
    const answers = await this.#sketch.inSteps(hashes, (some) =>
      this.#sketch.run(bloomHas, { ...this.#keys, plan: this.#plan.text, hashes: some.flat() }),
    );
    return answers.map((answer) => answer === 1);
  }

  /** How many items were added. */
  async count(): Promise<number> {
    return (await this.inspect()).count;
  }

  /** How it was made, how many items were added, and what it takes. */
  async inspect(): Promise<BloomFilterInspection> {
    const [total, layer, bytes] = await this.#sketch.run(figures, { ...this.#keys, plan: this.#plan.text });
    return {
      ...this.#options,
      count: Number(total ?? 0),
      grown: Number(layer ?? 1) - 1,
      bytes,
      maxBytes: this.#plan.bytes,
    };
  }

  /** Forgets all of it, also how it was made. */
  clear(): Promise<void> {
    return this.#sketch.delete([this.#keys.meta, this.#keys.cells]);
  }
}

interface BloomPlan {
  readonly text: string;
  readonly bytes: number;
}

/** Computed here and stored, since two machines need not agree on the last digit of a logarithm. */
function planOf(capacity: number, maxCapacity: number, errorRate: number): BloomPlan {
  const layers: string[] = [];
  let offset = 0;
  let planned = 0;
  const mayGrow = maxCapacity > capacity;
  for (let nth = 0; planned < maxCapacity; nth++) {
    const items = Math.min(capacity * 2 ** nth, maxCapacity - planned);
    const error = mayGrow ? errorRate * 0.5 ** (nth + 1) : errorRate;
    const hashes = Math.max(1, Math.round(-Math.log2(error)));
    // For a whole number of hashes, the size at which the error is what was asked for. An item that is taken for another is not
    // counted: when as many are counted as there is room for, a few more were added.
    const size = Math.ceil(-(hashes * items * (1 + error)) / Math.log(1 - error ** (1 / hashes))) + hashes;
    layers.push(`${offset} ${size} ${hashes} ${items}`);
    offset += size;
    planned += items;
  }
  const bytes = Math.ceil(offset / 8);
  if (bytes > MOST_BYTES) {
    throw new InputError(`a Bloom filter like that takes ${bytes} bytes, more than the ${MOST_BYTES} of a string`);
  }
  return { text: layers.join(","), bytes };
}

/** 48 bits each: with any number of hashes they stay exact in Lua. */
function twoNumbers(item: string): [number, number] {
  const [a, b, c, d] = hashed(item);
  return [a * 65_536 + (c >>> 16), b * 65_536 + (d >>> 16)];
}
