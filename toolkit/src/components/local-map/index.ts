/**
 * A map in the store that is read from memory: what a process has read it keeps, until somebody changes it.
 *
 *   const flags = new LocalMap<boolean>(store, "flags");
 *   await flags.get("dark-mode");                                  // asks the store once, then answers from memory
 *   await flags.set("dark-mode", true);                            // every process knows within milliseconds
 */
import { aStore, word } from "../../base/checks.ts";
import { type Codec, encodeWithin, json } from "../../base/codec.ts";
import { inPairs, inSteps, only, zipped } from "../../base/lists.ts";
import { NameIndex } from "../../base/names.ts";
import { codec, defineOptions, prefix, whole } from "../../base/options.ts";
import { asByteList, asBytes, asNumber } from "../../base/replies.ts";
import type { Store } from "../../connection/store.ts";
import { type LocalMapKeys, localMapKeys } from "./keys.ts";
import { Memory } from "./memory.ts";
import { clear, current, deleteEntries, put, read, step } from "./scripts.ts";

/** What a `LocalMap` may be given. */
export interface LocalMapOptions<V> {
  /** How all keys begin (default "local-map"). */
  readonly prefix?: string;
  /** How old an answer from memory may be when messages are lost; 3 000 by default. Usually it is some milliseconds. */
  readonly maxLagMs?: number;
  /** How many entries this process holds; those not used for longest go first. By default 10 000. */
  readonly memoryItems?: number;
  /** How many entries the map has at most. By default 100 000. */
  readonly maxItems?: number;
  /** JSON by default. */
  readonly codec?: Codec<V>;
  /** Of one value, encoded; a larger one is an InputError (default 1 MiB). */
  readonly maxBytes?: number;
}

/** What became of an entry to create. */
export interface LocalCreateOutcome {
  /** "exists": there was one, and nothing has changed. "full": it was not stored. */
  readonly status: "created" | "exists" | "full";
}

/** Counts of this process. */
export interface LocalMapStats {
  /** Entries in memory, also such that are known not to be there. */
  readonly entries: number;
  /** Reads that were answered from memory. */
  readonly hits: number;
  /** Reads that asked the store. */
  readonly misses: number;
  /** Entries that were forgotten because they, or possibly they, had changed. */
  readonly invalidated: number;
}

const OPTIONS = defineOptions<LocalMapOptions<unknown>>("LocalMap", {
  prefix,
  maxLagMs: whole(30, 3_600_000),
  memoryItems: whole(1),
  maxItems: whole(1, 10_000_000),
  codec,
  maxBytes: whole(1),
});

const AT_ONCE = 1_000;
const STATUSES = ["exists", "created", "full"] as const;

/** A value as it is stored, or that there is none. Decoded for each caller, who may change what it gets. */
type Held = string | Buffer | null;

/**
 * A map in the store that is read from memory: what a process has read it keeps, until somebody changes it.
 *
 * @example
 * await using flags = new LocalMap<boolean>(db, "flags");
 * await flags.set("dark-mode", true); // → true
 * await flags.get("dark-mode"); // → true
 * await flags.create("dark-mode", false); // → { status: "exists" }
 * await flags.delete("dark-mode"); // → true
 * flags.stats(); // → { entries: …, hits: …, misses: …, invalidated: … }
 * @example
 * await using rates = new LocalMap<number>(db, "rates");
 * await rates.setMany([["EUR", 1.1], ["GBP", 1.3]]); // → [true, true]
 * await rates.getMany(["EUR", "USD"]); // → [1.1, null]
 * await rates.deleteMany(["EUR", "USD"]); // → [true, false]
 * for await (const [currency, rate] of rates.entries()) console.log(currency, rate);
 * [await rates.has("GBP"), await rates.count()]; // → [true, 1]
 * @example
 * const tenants = new LocalMap<string>(db, "tenants");
 * await tenants.clear();
 * await tenants.close();
 */
export class LocalMap<V = unknown> {
  /** The name of the map, as it was given. */
  readonly name: string;
  readonly #store: Store;
  readonly #keys: LocalMapKeys;
  readonly #maxItems: number;
  readonly #codec: Codec<V>;
  readonly #maxBytes: number;
  readonly #memory: Memory<Held>;
  readonly #names: NameIndex;
  #hits = 0;
  #misses = 0;

  constructor(store: Store, name: string, options: LocalMapOptions<V> = {}) {
    this.#store = aStore("LocalMap", store);
    OPTIONS.check(options);
    this.name = name;
    const first = options.prefix ?? "local-map";
    this.#keys = localMapKeys(first, name);
    this.#maxItems = options.maxItems ?? 100_000;
    this.#codec = options.codec ?? json<V>();
    this.#maxBytes = options.maxBytes ?? 1_048_576;
    this.#names = new NameIndex(store, { kind: "local-maps", prefix: first, details: { maxItems: this.#maxItems } });
    this.#memory = new Memory(store, {
      channel: this.#keys.channel,
      memoryItems: options.memoryItems ?? 10_000,
      maxLagMs: options.maxLagMs ?? 3_000,
      version: () => store.run(current, { version: this.#keys.version }),
    });
  }

  /** A value; null where there is none. */
  async get(key: string): Promise<V | null> {
    const held = this.#memory.get(word("key", key));
    if (held === undefined) return only(await this.getMany([key]));
    this.#hits++;
    return this.#decoded(held);
  }

  /** Values in the order of their keys; null for those that are not there. */
  async getMany(keys: readonly string[]): Promise<(V | null)[]> {
    for (const key of keys) word("key", key);
    const found = new Map<string, Held>();
    for (const key of new Set(keys)) {
      const held = this.#memory.get(key);
      if (held !== undefined) found.set(key, held);
    }
    this.#hits += found.size;
    const missing = [...new Set(keys)].filter((key) => !found.has(key));
    if (missing.length > 0) await this.#read(missing, found);
    return keys.map((key) => this.#decoded(found.get(key) ?? null));
  }

  /** Whether there is an entry with this key. */
  async has(key: string): Promise<boolean> {
    return (await this.get(key)) !== null;
  }

  /** Stores a value. False: the map is full, and has no entry with this key. */
  async set(key: string, value: V): Promise<boolean> {
    return only(await this.setMany([[key, value]]));
  }

  /** Stores values in steps of a thousand; each step is atomic. */
  async setMany(entries: readonly (readonly [key: string, value: V])[]): Promise<boolean[]> {
    return (await this.#put(entries, "set")).map((answer) => answer === 1);
  }

  /** Stores a value if there is none. */
  async create(key: string, value: V): Promise<LocalCreateOutcome> {
    return { status: STATUSES[only(await this.#put([[key, value]], "create"))] ?? "full" };
  }

  /** False: it was not there. */
  async delete(key: string): Promise<boolean> {
    return only(await this.deleteMany([key]));
  }

  /** Deletes entries, and answers for each whether it was there. */
  async deleteMany(keys: readonly string[]): Promise<boolean[]> {
    for (const key of keys) word("key", key);
    const answers = await this.#changing(keys, () =>
      inSteps(keys, AT_ONCE, (names) => this.#store.run(deleteEntries, { ...this.#keys, names })),
    );
    return answers.map((answer) => answer === 1);
  }

  /** Deletes all entries, for every process. */
  async clear(): Promise<void> {
    this.#memory.forgetAll();
    try {
      await this.#store.run(clear, this.#keys);
    } finally {
      this.#memory.forgetAll();
    }
    await this.#names.remove(this.name);
  }

  /** How many entries there are, by the store. */
  async count(): Promise<number> {
    return asNumber(await this.#store.call("HLEN", this.#keys.values));
  }

  /** All entries, by the store and in no order. What comes or goes meanwhile may be among them or not. */
  async *entries(): AsyncGenerator<readonly [key: string, value: V], void, void> {
    const given = new Set<string>();
    let cursor = "0";
    do {
      const [next, flat] = await this.#store.run(step, { values: this.#keys.values, cursor });
      cursor = asBytes(next).toString();
      for (const [key, stored] of inPairs(asByteList(flat))) {
        // A hash that grows or shrinks meanwhile is walked over twice in part.
        if (given.has(key.toString())) continue;
        given.add(key.toString());
        yield [key.toString(), this.#codec.decode(stored)];
      }
    } while (cursor !== "0");
  }

  /** Counts of this process. */
  stats(): LocalMapStats {
    const { count, invalidated } = this.#memory;
    return { entries: count, hits: this.#hits, misses: this.#misses, invalidated };
  }

  /** Forgets what is in memory and stops listening. A read after that begins again. */
  close(): Promise<void> {
    return this.#memory.stop();
  }

  /** As `close`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #read(missing: readonly string[], found: Map<string, Held>): Promise<void> {
    this.#misses += missing.length;
    const question = this.#memory.begin(missing);
    try {
      const { values } = this.#keys;
      const stored = await inSteps(missing, AT_ONCE, (names) => this.#store.run(read, { values, names }));
      for (const [key, each] of zipped(missing, stored)) {
        const held = each === null || this.#codec.binary ? each : each.toString("utf8");
        found.set(key, held);
        this.#memory.keep(question, key, held);
      }
    } finally {
      this.#memory.end(question);
    }
  }

  async #put(entries: readonly (readonly [key: string, value: V])[], mode: "set" | "create"): Promise<number[]> {
    const words = entries.map(([key, value]) => [
      word("key", key),
      encodeWithin(this.#codec, value, this.#maxBytes, "a value"),
    ]);
    this.#names.announce(this.name);
    return this.#changing(
      entries.map(([key]) => key),
      () =>
        inSteps(words, AT_ONCE, (some) =>
          this.#store.run(put, { ...this.#keys, maxItems: this.#maxItems, mode, entries: some.flat() }),
        ),
    );
  }

  /** What this process had before, and what it reads while the change is under way, it must not give when that is over. */
  async #changing<R>(keys: readonly string[], change: () => Promise<R>): Promise<R> {
    this.#memory.forget(keys);
    try {
      return await change();
    } finally {
      this.#memory.forget(keys);
    }
  }

  #decoded(held: Held): V | null {
    // Bytes are copied: the caller may change them.
    return held === null ? null : this.#codec.decode(typeof held === "string" ? held : Buffer.from(held));
  }
}
