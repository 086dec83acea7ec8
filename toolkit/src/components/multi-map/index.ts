/**
 * A map with several values for a key: a set of them, or a list.
 *
 *   const tags = new MultiMap<string>(store, "tags");
 *   await tags.add("article:17", "redis");
 *   await tags.get("article:17");
 */
import { aStore, integer, word } from "../../base/checks.ts";
import { type Codec, encodeWithin, json } from "../../base/codec.ts";
import { inSteps, only, zipped } from "../../base/lists.ts";
import { NameIndex } from "../../base/names.ts";
import { choice, codec, defineOptions, prefix, whole } from "../../base/options.ts";
import { type Page, type PageOptions, pageChecks } from "../../base/page.ts";
import { asNumber } from "../../base/replies.ts";
import type { Store } from "../../connection/store.ts";
import { type MultiMapKeys, multiMapKeys } from "./keys.ts";
import { add, deleteKeys, deleteValues, get, occurrences, page, replace, totals, type ValuesKind } from "./scripts.ts";

export interface MultiMapOptions<V> {
  readonly prefix?: string;
  /** `set`: each value once, in no order. `list`: any number of times, in the order in which they were added. */
  readonly values?: ValuesKind;
  readonly maxKeys?: number;
  /** Of one key. */
  readonly maxValues?: number;
  /** JSON by default. Values are equal if their encoding is. */
  readonly codec?: Codec<V>;
  /** Of one value. */
  readonly maxBytes?: number;
}

/** `exists`: the set had it. `full`: the key has as many values as it may, or the map as many keys. */
export interface ValueAddOutcome {
  readonly status: "added" | "exists" | "full";
}

const OPTIONS = defineOptions<MultiMapOptions<unknown>>("MultiMap", {
  prefix,
  values: choice("set", "list"),
  maxKeys: whole(1, 10_000_000),
  maxValues: whole(1, 1_000_000),
  codec,
  maxBytes: whole(1),
});
const LIST_OPTIONS = defineOptions<PageOptions>("MultiMap.list", pageChecks(10_000));

/** So many values, or the values of so many keys, go into one script. */
const AT_ONCE = 1_000;
const STATUSES = ["exists", "added", "full"] as const;

export class MultiMap<V = unknown> {
  readonly name: string;
  readonly #store: Store;
  readonly #keys: MultiMapKeys;
  readonly #kind: ValuesKind;
  readonly #maxKeys: number;
  readonly #maxValues: number;
  readonly #codec: Codec<V>;
  readonly #maxBytes: number;
  readonly #names: NameIndex;

  constructor(store: Store, name: string, options: MultiMapOptions<V> = {}) {
    this.#store = aStore("MultiMap", store);
    OPTIONS.check(options);
    this.name = name;
    const first = options.prefix ?? "multi-map";
    this.#keys = multiMapKeys(first, name);
    this.#kind = options.values ?? "set";
    this.#maxKeys = options.maxKeys ?? 100_000;
    this.#maxValues = options.maxValues ?? 10_000;
    this.#codec = options.codec ?? json<V>();
    this.#maxBytes = options.maxBytes ?? 65_536;
    this.#names = new NameIndex(store, {
      kind: "multi-maps",
      prefix: first,
      details: { values: this.#kind, maxKeys: this.#maxKeys },
    });
  }

  /** Adds a value to those of a key. */
  async add(key: string, value: V): Promise<ValueAddOutcome> {
    return only(await this.addMany(key, [value]));
  }

  /** Adds values in steps of a thousand; each step is atomic. */
  async addMany(key: string, values: readonly V[]): Promise<ValueAddOutcome[]> {
    const { keys, total } = this.#keys;
    const held = this.#held(key);
    const words = this.#encoded(values);
    this.#names.announce(this.name);
    const limits = { maxKeys: this.#maxKeys, maxValues: this.#maxValues };
    const answers = await inSteps(words, AT_ONCE, (some) =>
      this.#store.run(add, { keys, total, held, kind: this.#kind, key, ...limits, values: some }),
    );
    return answers.map((answer) => ({ status: STATUSES[answer] ?? "full" }));
  }

  /**
   * Puts values in the place of all that a key has, in one step; none deletes the key. False: the map has as many keys as it may.
   * An InputError if there are more values than a key may have.
   */
  async set(key: string, values: readonly V[]): Promise<boolean> {
    const { keys, total } = this.#keys;
    const held = this.#held(key);
    integer("the number of values", values.length, 0, this.#maxValues);
    const words = this.#encoded(values);
    this.#names.announce(this.name);
    const kind = this.#kind;
    return this.#store.run(replace, { keys, total, held, kind, key, maxKeys: this.#maxKeys, values: words });
  }

  /** All values of a key; none where it is not there. */
  async get(key: string): Promise<V[]> {
    return only(await this.getMany([key]));
  }

  async getMany(keys: readonly string[]): Promise<V[][]> {
    const helds = keys.map((key) => this.#held(key));
    const found = await inSteps(helds, AT_ONCE, (some) => this.#store.run(get, { helds: some, kind: this.#kind }));
    return found.map((values) => values.map((stored) => this.#codec.decode(stored)));
  }

  /** Whether a key has this value, or any at all. */
  async has(key: string, value?: V): Promise<boolean> {
    const held = this.#held(key);
    if (value === undefined) return asNumber(await this.#store.call("EXISTS", held)) === 1;
    const values = this.#encoded([value]);
    return only(await this.#store.run(occurrences, { held, kind: this.#kind, values })) === 1;
  }

  /** Deletes a key with all its values. False: it had none. */
  async delete(key: string): Promise<boolean> {
    return only(await this.deleteMany([key]));
  }

  async deleteMany(keys: readonly string[]): Promise<boolean[]> {
    return (await this.#delete(keys)).map((count) => count > 0);
  }

  /** Deletes a value of a key, of a list all that are equal. False: it was not there. */
  async deleteValue(key: string, value: V): Promise<boolean> {
    return only(await this.deleteValues(key, [value]));
  }

  async deleteValues(key: string, values: readonly V[]): Promise<boolean[]> {
    const { keys, total } = this.#keys;
    const held = this.#held(key);
    const answers = await inSteps(this.#encoded(values), AT_ONCE, (some) =>
      this.#store.run(deleteValues, { keys, total, held, kind: this.#kind, key, values: some }),
    );
    return answers.map((count) => count > 0);
  }

  /** How many values a key has. */
  async count(key: string): Promise<number> {
    return asNumber(await this.#store.call(this.#kind === "set" ? "SCARD" : "LLEN", this.#held(key)));
  }

  /** How many keys there are, and how many values in all. */
  async counts(): Promise<{ readonly keys: number; readonly values: number }> {
    const { keys, total } = this.#keys;
    const [count, values] = await this.#store.run(totals, { keys, total });
    return { keys: count, values: Number(values ?? 0) };
  }

  /** Keys that have values, in the order of their bytes. */
  async list(options: PageOptions = {}): Promise<Page<string>> {
    LIST_OPTIONS.check(options);
    const { limit = 100, cursor = "" } = options;
    const found = await this.#store.run(page, { keys: this.#keys.keys, after: cursor, limit });
    const items = found.slice(0, limit);
    return { items, cursor: found.length > limit ? (items.at(-1) ?? null) : null };
  }

  /** Deletes everything, a thousand keys a step. What others add meanwhile may go too, or stay. */
  async clear(): Promise<void> {
    for (let cursor: string | null = ""; cursor !== null; ) {
      const found: Page<string> = await this.list({ limit: AT_ONCE, cursor });
      await this.#delete(found.items);
      cursor = found.cursor;
    }
    await this.#names.remove(this.name);
  }

  #delete(names: readonly string[]): Promise<number[]> {
    const { keys, total } = this.#keys;
    const pairs = zipped(
      names,
      names.map((key) => this.#held(key)),
    );
    return inSteps(pairs, AT_ONCE, (some) =>
      this.#store.run(deleteKeys, {
        keys,
        total,
        helds: some.map(([, held]) => held),
        kind: this.#kind,
        names: some.map(([key]) => key),
      }),
    );
  }

  #held(key: string): string {
    return this.#keys.values + word("key", key);
  }

  #encoded(values: readonly V[]): (string | Uint8Array)[] {
    return values.map((value) => encodeWithin(this.#codec, value, this.#maxBytes, "a value"));
  }
}
