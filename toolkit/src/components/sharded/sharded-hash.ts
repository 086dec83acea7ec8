/**
 * A hash of any size, kept in shards that are small enough for the server to pack, and spread over the nodes of a Cluster.
 *
 *   const cities = new ShardedHash<City>(store, "cities", { expected: 320_000 });
 *   await cities.set("17", { name: "Berlin", country: "DE" });
 *   await cities.get("17");
 */
import { aStore, integer, word } from "../../base/checks.ts";
import { type Codec, encodeWithin, json } from "../../base/codec.ts";
import { only } from "../../base/lists.ts";
import { codec, defineOptions, text, whole } from "../../base/options.ts";
import { type Page, type PageOptions, pageChecks } from "../../base/page.ts";
import { asBytes } from "../../base/replies.ts";
import type { Store } from "../../connection/store.ts";
import { type OnceOptions, receiptOf } from "./once.ts";
import { spotOf } from "./place.ts";
import { scanAll, scanPage } from "./scan.ts";
import { get, has, increment, incrementOnce, remove, set, setIfAbsent } from "./scripts/hash.ts";
import { Shards } from "./shards.ts";
import { type Item, type ShardedOptions, Structure, sharding } from "./structure.ts";

/** Fields and members: the limit of what is packed is far below. */
export const MAX_ELEMENT_BYTES = 65_536;

/** Settings of a `ShardedHash`. What decides where fields are is stored at the first use; later ones get what is stored. */
export interface ShardedHashOptions<T> extends ShardedOptions {
  /** How values become text or bytes (default `json()`). */
  readonly codec?: Codec<T>;
  /** A value larger than this is refused (default 1 MiB). */
  readonly maxValueBytes?: number;
}

const OPTIONS = defineOptions<ShardedHashOptions<unknown>>("ShardedHash", {
  ...sharding,
  codec,
  maxValueBytes: whole(1, 536_870_912),
});

const INCREMENT_OPTIONS = defineOptions<OnceOptions>("ShardedHash.increment", {
  id: text,
});

const LIST_OPTIONS = defineOptions<PageOptions>("ShardedHash.list", pageChecks(100_000));

/**
 * A hash of any size, in shards that the server packs, over the nodes of a Cluster.
 *
 * @example
 * const cities = new ShardedHash<string>(db, "cities", { expected: 320_000 });
 * await cities.set("17", "Berlin"); // → true
 * await cities.setMany([["18", "Bern"], ["home", "Bonn"]]); // → 2
 * await cities.setIfAbsent("17", "Bremen"); // → false
 * await cities.getMany(["17", "19"]); // → ["Berlin", null]
 * await cities.deleteMany(["17", "18"]); // → 2
 * @example
 * const hits = new ShardedHash<number>(db, "hits");
 * await hits.increment("/", 2); // → 2
 * await hits.get("/"); // → 2
 * await hits.has("/about"); // → false
 * await hits.count(); // → 1
 * await hits.delete("/"); // → true
 * @example
 * const hits = new ShardedHash<number>(db, "hits");
 * await hits.set("/", 2);
 * await hits.list({ limit: 100 }); // → { cursor: null, items: [["/", 2]] }
 * for await (const entry of hits.entries()) entry; // → ["/", 2]
 */
export class ShardedHash<T = unknown> {
  /** The hash's name, as given. */
  readonly name: string;
  /** Its shards, for operators. */
  readonly shards: Shards;
  readonly #structure: Structure;
  readonly #codec: Codec<T>;
  readonly #maxValueBytes: number;

  constructor(store: Store, name: string, options: ShardedHashOptions<T> = {}) {
    aStore("ShardedHash", store);
    OPTIONS.check(options);
    this.#structure = new Structure(store, { kind: "hash" }, name, options);
    this.name = name;
    this.shards = new Shards(this.#structure);
    this.#codec = options.codec ?? json<T>();
    this.#maxValueBytes = options.maxValueBytes ?? 1_048_576;
  }

  /** True if the field is new. */
  async set(field: string, value: T): Promise<boolean> {
    return (await this.#write(set, [[field, value]])) === 1;
  }

  /** One round trip for all. Answers how many fields are new. */
  setMany(entries: Iterable<readonly [field: string, value: T]>): Promise<number> {
    return this.#write(set, [...entries]);
  }

  /** False if there is a value, which stays. */
  async setIfAbsent(field: string, value: T): Promise<boolean> {
    return (await this.#write(setIfAbsent, [[field, value]])) === 1;
  }

  async #write(script: typeof set, entries: readonly (readonly [string, T])[]): Promise<number> {
    const root = await this.#structure.root();
    const items = entries.map(([field, value]): Item => {
      word("field", field, MAX_ELEMENT_BYTES);
      const stored = encodeWithin(this.#codec, value, this.#maxValueBytes, `the value of ${field}`);
      return { spot: spotOf(field, root), element: field, words: [stored] };
    });
    const answers = await this.#structure.apply(script, items, { most: this.#structure.mostPerTag(root) });
    return answers.filter((created) => created === 1).length;
  }

  /** The value of a field; null if there is none. */
  async get(field: string): Promise<T | null> {
    return only(await this.getMany([field]));
  }

  /** In the order of the fields; null where there is none. */
  async getMany(fields: readonly string[]): Promise<(T | null)[]> {
    const answers = await this.#structure.apply(get, await this.#items(fields));
    return answers.map((stored) => (stored === null ? null : this.#decode(asBytes(stored))));
  }

  /** Whether there is a field. */
  async has(field: string): Promise<boolean> {
    return (await this.#structure.apply(has, await this.#items([field])))[0] === 1;
  }

  /** Deletes a field. False if there was none. */
  async delete(field: string): Promise<boolean> {
    return (await this.deleteMany([field])) === 1;
  }

  /** Answers how many there were. */
  async deleteMany(fields: readonly string[]): Promise<number> {
    const answers = await this.#structure.apply(remove, await this.#items(fields));
    return answers.filter((deleted) => deleted === 1).length;
  }

  /** Adds to an integer, 0 if there is none, and answers the sum. Values are stored as JSON stores numbers. */
  async increment(field: string, by = 1, options: OnceOptions = {}): Promise<number> {
    INCREMENT_OPTIONS.check(options);
    integer("by", by, Number.MIN_SAFE_INTEGER);
    const structure = this.#structure;
    const root = await structure.root();
    const item = only(await this.#items([field]));
    const { id, keepMs } = receiptOf(options);
    const receipt = structure.keys(item.spot.tag).once(id);
    const extra = { receipt, keepMs, most: structure.mostPerTag(root) };
    const [sum] = await structure.apply(keepMs > 0 ? incrementOnce : increment, [{ ...item, words: [by] }], extra);
    return Number(sum);
  }

  /** Exact for each tag at a moment; the sum is exact when nobody writes meanwhile. */
  count(): Promise<number> {
    return this.shards.count();
  }

  /** All that are there all the time, in no order; one that is moved to another shard meanwhile may come twice. */
  async *entries(): AsyncGenerator<[field: string, value: T]> {
    for await (const { element, value } of scanAll(this.#structure, 1_000)) {
      yield [element.toString("utf8"), this.#decode(asBytes(value))];
    }
  }

  /** The same page by page. A page can have more than `limit` items: a shard is given whole. */
  async list(options: PageOptions = {}): Promise<Page<[field: string, value: T]>> {
    LIST_OPTIONS.check(options);
    const count = options.limit ?? 1_000;
    const { elements, next } = await scanPage(this.#structure, options.cursor, count);
    return {
      cursor: next,
      items: elements.map(({ element, value }) => [element.toString("utf8"), this.#decode(asBytes(value))]),
    };
  }

  async #items(fields: readonly string[]): Promise<Item[]> {
    const root = await this.#structure.root();
    return fields.map((field) => ({
      spot: spotOf(word("field", field, MAX_ELEMENT_BYTES), root),
      element: field,
    }));
  }

  #decode(stored: Buffer): T {
    return this.#codec.decode(this.#codec.binary ? stored : stored.toString("utf8"));
  }
}
