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

/** What a `MultiMap` may be given. */
export interface MultiMapOptions<V> {
  /** How all keys begin (default "multi-map"). */
  readonly prefix?: string;
  /** `set`, the default: each value once, in no order. `list`: any number of times, in the order in which they were added. */
  readonly values?: ValuesKind;
  /** How many keys it has at most (default 100 000). */
  readonly maxKeys?: number;
  /** How many values a key has at most (default 10 000). */
  readonly maxValues?: number;
  /** JSON by default. Values are equal if their encoding is. */
  readonly codec?: Codec<V>;
  /** Of one value, encoded; a larger one is an InputError (default 64 KiB). */
  readonly maxBytes?: number;
}

/** What became of a value to add. */
export interface ValueAddOutcome {
  /** "exists": the set had it. "full": the key has as many values as it may, or the map as many keys. */
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

/**
 * A map with several values for a key: a set of them, or a list.
 *
 * @example
 * const tags = new MultiMap<string>(db, "tags");
 * await tags.addMany("article:17", ["redis", "node", "redis"]); // → [{ status: "added" }, { status: "added" }, { status: "exists" }]
 * await tags.has("article:17", "node"); // → true
 * await tags.deleteValue("article:17", "node"); // → true
 * await tags.get("article:17"); // → ["redis"]
 * (await tags.list()).items; // → ["article:17"]
 * @example
 * const events = new MultiMap<string>(db, "events", { values: "list" });
 * await events.add("order:1", "paid"); // → { status: "added" }
 * await events.set("order:2", ["paid", "sent", "sent"]); // → true
 * await events.getMany(["order:1", "order:2"]); // → [["paid"], ["paid", "sent", "sent"]]
 * await events.deleteValues("order:2", ["sent", "lost"]); // → [true, false]
 * await events.counts(); // → { keys: 2, values: 2 }
 * @example
 * const members = new MultiMap<string>(db, "members");
 * await members.set("team", ["ann", "ben"]);
 * await members.count("team"); // → 2
 * await members.delete("team"); // → true
 * await members.deleteMany(["team"]); // → [false]
 * await members.clear();
 */
export class MultiMap<V = unknown> {
  /** The name of the map, as it was given. */
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

  /** All values of several keys, in the order of the keys. */
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

  /** Deletes keys with all their values, and answers for each whether it was there. */
  async deleteMany(keys: readonly string[]): Promise<boolean[]> {
    return (await this.#delete(keys)).map((count) => count > 0);
  }

  /** Deletes a value of a key, of a list all that are equal. False: it was not there. */
  async deleteValue(key: string, value: V): Promise<boolean> {
    return only(await this.deleteValues(key, [value]));
  }

  /** Deletes values of a key, and answers for each whether it was there. */
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
