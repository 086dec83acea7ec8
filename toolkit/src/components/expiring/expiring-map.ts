/** A map in which each entry has a lifetime of its own. */
import { aStore } from "../../base/checks.ts";
import { type Codec, encodeWithin, json } from "../../base/codec.ts";
import { inPairs, inSteps, only, zipped } from "../../base/lists.ts";
import { NameIndex } from "../../base/names.ts";
import { codec, defineOptions, prefix, required, whole } from "../../base/options.ts";
import { type Page, type PageOptions, pageChecks } from "../../base/page.ts";
import type { Store } from "../../connection/store.ts";
import { type MapKeys, mapKeys } from "./keys.ts";
import {
  AT_ONCE,
  asked,
  checkItem,
  cursorOf,
  endAt,
  MOST_LISTED,
  type RequiredTtl,
  type TtlOptions,
  ttlChecks,
} from "./options.ts";
import { countLive, deleteElements, endsOf, pageOfEntries, putEntries, takeEntry, touch, valuesOf } from "./scripts.ts";

/** What an `ExpiringMap` may be given. */
export interface ExpiringMapOptions<V> {
  /** How all keys begin (default "expiring-map"). */
  readonly prefix?: string;
  /** How long an entry lives, unless `set` says otherwise; for ever by default. */
  readonly ttlMs?: number;
  /** How many entries it has at most (default 100 000). */
  readonly maxItems?: number;
  /** JSON by default. */
  readonly codec?: Codec<V>;
  /** Of one value, encoded; a larger one is an InputError (default 1 MiB). */
  readonly maxBytes?: number;
}

/** An entry with its end. */
export interface ExpiringEntry<V> {
  /** The entry's key. */
  readonly key: string;
  /** Its value. */
  readonly value: V;
  /** Null: it does not end. */
  readonly expiresAt: Date | null;
}

/** What became of an entry to create. */
export interface EntryCreateOutcome {
  /** "exists": there was one, and nothing has changed. "full": it was not stored. */
  readonly status: "created" | "exists" | "full";
}

const OPTIONS = defineOptions<ExpiringMapOptions<unknown>>("ExpiringMap", {
  prefix,
  ttlMs: whole(1),
  maxItems: whole(1, 10_000_000),
  codec,
  maxBytes: whole(1),
});
const SET_OPTIONS = defineOptions<TtlOptions>("ExpiringMap.set", ttlChecks);
const TOUCH_OPTIONS = defineOptions<RequiredTtl>("ExpiringMap.touch", { ttlMs: required(whole(1)) });
const LIST_OPTIONS = defineOptions<PageOptions>("ExpiringMap.list", pageChecks(MOST_LISTED));

const STATUSES = ["exists", "created", "full"] as const;

/**
 * A map whose entries end, each at its own time.
 *
 * @example
 * const codes = new ExpiringMap<string>(db, "codes", { ttlMs: 300_000 });
 * await codes.set("ann", "482 113"); // → true
 * await codes.create("ann", "917 554"); // → { status: "exists" }
 * await codes.touch("ann", { ttlMs: 600_000 }); // → true
 * await codes.take("ann"); // → "482 113"
 * await codes.get("ann"); // → null
 * @example
 * const rates = new ExpiringMap<number>(db, "rates");
 * await rates.setMany([["EUR", 1.1], ["GBP", 1.3], ["CHF", 1.2]]); // → [true, true, true]
 * await rates.getMany(["EUR", "USD"]); // → [1.1, null]
 * await rates.deleteMany(["EUR", "USD"]); // → [true, false]
 * await rates.delete("GBP"); // → true
 * (await rates.list()).items; // → [{ key: "CHF", value: 1.2, expiresAt: null }]
 * @example
 * const sums = new ExpiringMap<number>(db, "sums");
 * await sums.set("17", 5);
 * await sums.has("17"); // → true
 * await sums.expiry("17"); // → { expiresAt: null }
 * await sums.count(); // → 1
 * await sums.clear();
 */
export class ExpiringMap<V = unknown> {
  /** The name of the map, as it was given. */
  readonly name: string;
  readonly #store: Store;
  readonly #keys: MapKeys;
  readonly #ttlMs: number;
  readonly #maxItems: number;
  readonly #codec: Codec<V>;
  readonly #maxBytes: number;
  readonly #names: NameIndex;

  constructor(store: Store, name: string, options: ExpiringMapOptions<V> = {}) {
    this.#store = aStore("ExpiringMap", store);
    OPTIONS.check(options);
    this.name = name;
    const first = options.prefix ?? "expiring-map";
    this.#keys = mapKeys(first, name);
    this.#ttlMs = options.ttlMs ?? 0;
    this.#maxItems = options.maxItems ?? 100_000;
    this.#codec = options.codec ?? json<V>();
    this.#maxBytes = options.maxBytes ?? 1_048_576;
    this.#names = new NameIndex(store, { kind: "expiring-maps", prefix: first, details: { maxItems: this.#maxItems } });
  }

  /** Stores a value, in the place of what is there. False: the map is full, and has no entry with this key. */
  async set(key: string, value: V, options: TtlOptions = {}): Promise<boolean> {
    SET_OPTIONS.check(options);
    return only(await this.setMany([[key, value]], options));
  }

  /** Stores values in steps of a thousand; each step is atomic. */
  async setMany(entries: readonly (readonly [key: string, value: V])[], options: TtlOptions = {}): Promise<boolean[]> {
    SET_OPTIONS.check(options);
    return (await this.#put(entries, options, "set")).map((answer) => answer === 1);
  }

  /** Stores a value if there is none. */
  async create(key: string, value: V, options: TtlOptions = {}): Promise<EntryCreateOutcome> {
    SET_OPTIONS.check(options);
    const answer = only(await this.#put([[key, value]], options, "create"));
    return { status: STATUSES[answer] ?? "full" };
  }

  /** A value; null if it is not there. */
  async get(key: string): Promise<V | null> {
    return only(await this.getMany([key]));
  }

  /** Values in the order of their keys; null for those that are not there. */
  async getMany(keys: readonly string[]): Promise<(V | null)[]> {
    const found = await this.#each(keys, (wanted) => this.#store.run(valuesOf, { ...this.#keys, wanted }));
    return found.map((stored) => (stored === null ? null : this.#codec.decode(stored)));
  }

  /** Whether there is an entry with this key. */
  async has(key: string): Promise<boolean> {
    return (await this.expiry(key)) !== null;
  }

  /** When an entry ends: `{ expiresAt: null }` if it does not. Null if it is not there. */
  async expiry(key: string): Promise<{ readonly expiresAt: Date | null } | null> {
    const { ends } = this.#keys;
    const ending = only(await this.#each([key], (members) => this.#store.run(endsOf, { ends, members })));
    return ending === null ? null : { expiresAt: endAt(ending) };
  }

  /** Sets how long an entry lives from now on. False: it is not there. */
  async touch(key: string, options: RequiredTtl): Promise<boolean> {
    TOUCH_OPTIONS.check(options);
    const { ends, values } = this.#keys;
    const members = [checkItem("key", key)];
    return only(await this.#store.run(touch, { ends, others: [values], ttlMs: options.ttlMs, members })) === 1;
  }

  /** The value, which nobody else gets. Null if there is none. */
  async take(key: string): Promise<V | null> {
    const stored = only(await this.#store.run(takeEntry, { ...this.#keys, key: checkItem("key", key) }));
    return stored === null ? null : this.#codec.decode(stored);
  }

  /** False: it was not there. */
  async delete(key: string): Promise<boolean> {
    return only(await this.deleteMany([key]));
  }

  /** Deletes entries, and answers for each whether it was there. */
  async deleteMany(keys: readonly string[]): Promise<boolean[]> {
    const { ends, values } = this.#keys;
    const answers = await this.#each(keys, (members) =>
      this.#store.run(deleteElements, { ends, others: [values], members }),
    );
    return answers.map((answer) => answer === 1);
  }

  /** How many are there. */
  count(): Promise<number> {
    return this.#store.run(countLive, { ends: this.#keys.ends });
  }

  /** Entries in the order in which they end. */
  async list(options: PageOptions = {}): Promise<Page<ExpiringEntry<V>>> {
    LIST_OPTIONS.check(options);
    const asking = asked(options);
    const [flat, values] = await this.#store.run(pageOfEntries, { ...this.#keys, ...asking });
    const found = inPairs(flat.map(String));
    const entries = zipped(found, values).map(([[key, ending], stored]) => ({
      key,
      value: this.#codec.decode(stored),
      expiresAt: endAt(ending),
    }));
    return { items: entries.slice(0, asking.limit), cursor: cursorOf(found, asking.limit) };
  }

  /** Deletes all entries. */
  async clear(): Promise<void> {
    await this.#store.send(["UNLINK", this.#keys.ends, this.#keys.values], { repeatable: true });
    await this.#names.remove(this.name);
  }

  #put(
    entries: readonly (readonly [key: string, value: V])[],
    options: TtlOptions,
    mode: "set" | "create",
  ): Promise<number[]> {
    const words = entries.map(([key, value]) => [
      checkItem("key", key),
      encodeWithin(this.#codec, value, this.#maxBytes, "a value"),
    ]);
    this.#names.announce(this.name);
    const ttlMs = options.ttlMs ?? this.#ttlMs;
    return inSteps(words, AT_ONCE, (some) =>
      this.#store.run(putEntries, { ...this.#keys, ttlMs, maxItems: this.#maxItems, mode, entries: some.flat() }),
    );
  }

  #each<O>(keys: readonly string[], ask: (some: readonly string[]) => Promise<readonly O[]>): Promise<O[]> {
    for (const key of keys) checkItem("key", key);
    return inSteps(keys, AT_ONCE, ask);
  }
}
