/**
 * A full-text index on plain data types, for any store.
 *
 *   const packages = new SearchIndex(store, "packages", {
 *     fields: { name: { type: "text", weight: 3 }, summary: { type: "text", store: true }, section: { type: "tags" } },
 *   });
 *   await packages.put("redis", { name: "redis", summary: "Persistent key-value database", section: ["database"] });
 *   const found = await packages.search("persistent data* -sql section:{database|net}");
 *
 * The store has logs that writers append to (log.ts, scripts.ts); a process that searches follows the logs that its queries
 * touch (replica.ts) and evaluates them itself (searcher.ts, evaluate.ts).
 */
import { aStore } from "../../base/checks.ts";
import { NameIndex } from "../../base/names.ts";
import { defineOptions, prefix, text, whole } from "../../base/options.ts";
import { type Page, type PageOptions as Paging, pageChecks } from "../../base/page.ts";
import type { Store } from "../../connection/store.ts";
import { Answers, type PageOptions, type SearchOptions, type SearchResult } from "./answers.ts";
import { type Inspection, type InspectOptions, inspect, type TermsOptions, type TermsPage, terms } from "./inspect.ts";
import { documentKey, type IndexKeys, indexKeys } from "./keys.ts";
import { indexing, paging, searching } from "./options.ts";
import type { Query } from "./query.ts";
import { Replica } from "./replica.ts";
import { Results } from "./results.ts";
import { type DocumentOf, describedOptions, type Fields, type PatchOf, Schema, type SchemaOptions } from "./schema.ts";
import { type Limits, Searcher } from "./searcher.ts";
import { type SetManyOutcome, type SetOutcome, type UpdateOutcome, Writer } from "./writer.ts";

/** Settings of an index. All processes that use it agree on the fields and analysers. */
export interface IndexOptions<F extends Fields> extends SchemaOptions<F> {
  /** How all keys begin (default `"search"`). */
  readonly prefix?: string;
  /** How many words a beginning or a misspelt word may stand for (default 1 000). */
  readonly maxExpansions?: number;
  /** How many entries of word lists a query may go through (default 2 000 000). */
  readonly maxPostings?: number;
  /** Memory of this process for word lists (default 128 MiB). */
  readonly cacheBytes?: number;
  /** How many words one script writes, which bounds how long it keeps the server from others; 1 000 by default. */
  readonly wordsAtOnce?: number;
}

/** What is stored of a document. */
export interface StoredDocument<F extends Fields> {
  /** The document's id. */
  readonly id: string;
  /** Grows with each change; for `ifVersion`. */
  readonly version: number;
  /** Number, string and tags fields, and the texts that are stored. */
  readonly document: DocumentOf<F>;
}

const CLEARED_AT_ONCE = 200;

export function limitsOf(options: { readonly maxExpansions?: number; readonly maxPostings?: number }): Limits {
  return {
    maxExpansions: options.maxExpansions ?? 1_000,
    maxPostings: options.maxPostings ?? 2_000_000,
  };
}

/** The parts that a sharded index has of each of its shards. */
export interface Shard {
  readonly name: string;
  readonly names: NameIndex;
  readonly store: Store;
  readonly keys: IndexKeys;
  readonly schema: Schema;
  readonly writer: Writer;
  readonly replica: Replica;
}

export function shardOf(store: Store, name: string, schema: Schema, options: IndexOptions<Fields>): Shard {
  const keys = indexKeys(options.prefix ?? "search", name);
  const cacheBytes = options.cacheBytes ?? 128 * 1024 * 1024;
  const writer = new Writer(store, keys, schema, options.wordsAtOnce ?? 1_000);
  const replica = new Replica(store, keys, schema, cacheBytes);
  return { name, names: indexNames(store, options.prefix), store, keys, schema, writer, replica };
}

const indexNames = (store: Store, prefix = "search"): NameIndex => new NameIndex(store, { kind: "search", prefix });

const OPTIONS = defineOptions<IndexOptions<Fields>>("SearchIndex", indexing);

const OPEN_OPTIONS = defineOptions<{ readonly prefix?: string }>("SearchIndex.open", {
  prefix,
});

const VERSION_OPTIONS = defineOptions<{ readonly ifVersion?: number }>("SearchIndex.update", {
  ifVersion: whole(0),
});

const SEARCH_OPTIONS = defineOptions<SearchOptions>("SearchIndex.search", searching);

const PAGE_OPTIONS = defineOptions<PageOptions>("SearchIndex.page", paging);

const INSPECT_OPTIONS = defineOptions<InspectOptions>("SearchIndex.inspect", {
  maxTerms: whole(0),
  longest: whole(0, 1_000),
});

const TERMS_OPTIONS = defineOptions<TermsOptions>("SearchIndex.terms", {
  prefix: text,
  cursor: text,
  limit: whole(1, 10_000),
});

const LIST_OPTIONS = defineOptions<ListOptions>("SearchIndex.list", { prefix, ...pageChecks(10_000) });

type ListOptions = Paging & { readonly prefix?: string };

/**
 * A full-text index on plain data types: words, phrases, misspelt words, ranges, tags, facets and snippets, best first.
 *
 * @example
 * const books = new SearchIndex(db, "books", { fields: { title: { type: "text", store: true }, year: { type: "number" } } });
 * await books.set("dunes", { title: "The walking dunes", year: 1998 }); // → { status: "added", version: 1 }
 * await books.setMany([["tides", { title: "Tides" }], ["salt", { title: "Salt" }]]); // → { added: 2, changed: 0, same: 0 }
 * (await books.search("walk")).hits; // → [{ id: "dunes", score: … }]
 * await books.update("dunes", { year: 1999 }); // → { status: "changed", version: … }
 * await books.get("dunes"); // → { id: "dunes", version: …, document: { year: 1999, title: "The walking dunes" } }
 * @example
 * const books = new SearchIndex(db, "books", { fields: { title: { type: "text" } } });
 * await books.setMany(["a", "b", "c"].map((id) => [id, { title: `Book ${id}` }]));
 * const { id } = await books.search("*", { limit: 2, cacheTtlMs: 60_000 });
 * await books.delete("c"); // → true
 * await books.deleteMany(["b", "none"]); // → 1
 * (await books.page(id!, { offset: 2 }))?.hits.length; // → 1
 * @example
 * const books = new SearchIndex(db, "books", { fields: { title: { type: "text" } } });
 * await books.set("dunes", { title: "The walking dunes" });
 * await books.count(); // → 1
 * await books.ids(); // → ["dunes"]
 * (await books.inspect()).terms; // → 2
 * (await books.terms({ prefix: "w" })).items; // → [{ term: "walk", bytes: … }]
 * @example
 * const books = new SearchIndex(db, "books", { fields: { title: { type: "text" } } });
 * await books.set("dunes", { title: "The walking dunes" });
 * await SearchIndex.list(db); // → { items: […], cursor: null }
 * (await SearchIndex.open(db, "books"))?.isSearchable; // → true
 * books.keyOf("dunes"); // → "search:{books}:d:dunes"
 * await books.clear();
 */
export class SearchIndex<F extends Fields> {
  /** The index's name, as given. */
  readonly name: string;
  /** Its fields and analysers. */
  readonly schema: Schema;
  readonly #shard: Shard;
  readonly #searcher: Searcher;
  readonly #answers: Answers<F>;

  constructor(store: Store, name: string, options: IndexOptions<F>) {
    aStore("SearchIndex", store);
    OPTIONS.check(options);
    this.name = name;
    this.schema = new Schema(options);
    this.#shard = shardOf(store, name, this.schema, options);
    const { keys, replica } = this.#shard;
    this.#searcher = new Searcher([replica], this.schema, limitsOf(options));
    this.#answers = new Answers(this.schema, this.#searcher, new Results(store, keys), [{ store, keys }]);
  }

  /** The names of the indexes with a prefix, the latest announced first. */
  static async list(store: Store, options: ListOptions = {}): Promise<Page<string>> {
    LIST_OPTIONS.check(options);
    const { prefix, ...paging } = options;
    return indexNames(store, prefix).list(paging);
  }

  /**
   * An index that somebody else has made, by what it says of itself; null if there is none. It can be looked into; `isSearchable`
   * is false if its words were made by an analyser that this process does not have.
   */
  static async open(
    store: Store,
    name: string,
    options: { readonly prefix?: string } = {},
  ): Promise<{ readonly index: SearchIndex<Fields>; readonly isSearchable: boolean } | null> {
    aStore("SearchIndex", store);
    OPEN_OPTIONS.check(options);
    const { meta } = indexKeys(options.prefix ?? "search", name);
    const description = await store.call("HGET", meta, "f");
    if (typeof description !== "string" || description === "") return null;
    const { isSearchable, ...described } = describedOptions(description);
    return { index: new SearchIndex<Fields>(store, name, { ...described, ...options }), isSearchable };
  }

  /** Adds a document, or puts it in the place of the one with its id. With `ifVersion`, only if that is its version (0: new). */
  async set(id: string, document: DocumentOf<F>, options: { readonly ifVersion?: number } = {}): Promise<SetOutcome> {
    VERSION_OPTIONS.check(options);
    const outcome = await this.#shard.writer.put(id, document, options.ifVersion);
    this.#shard.names.announce(this.name);
    return outcome;
  }

  /** Puts many, fast: one step for some hundred new ones. */
  async setMany(
    documents: Iterable<readonly [string, DocumentOf<F>]> | AsyncIterable<readonly [string, DocumentOf<F>]>,
  ): Promise<SetManyOutcome> {
    const outcome = await this.#shard.writer.putMany(documents);
    this.#shard.names.announce(this.name);
    return outcome;
  }

  /** Changes number, string and tags fields, and leaves the words alone. Null takes a value away. */
  async update(id: string, changes: PatchOf<F>, options: { readonly ifVersion?: number } = {}): Promise<UpdateOutcome> {
    VERSION_OPTIONS.check(options);
    return this.#shard.writer.patch(id, changes, options.ifVersion);
  }

  /** True if it was there. With `ifVersion`, only if that is its version. */
  async delete(id: string, options: { readonly ifVersion?: number } = {}): Promise<boolean> {
    VERSION_OPTIONS.check(options);
    return (await this.#shard.writer.remove([id], options.ifVersion)) === 1;
  }

  /** How many of them were there. */
  deleteMany(ids: readonly string[]): Promise<number> {
    return this.#shard.writer.remove(ids, undefined);
  }

  /** What is stored of a document, or null. */
  async get(id: string): Promise<StoredDocument<F> | null> {
    const kept = await this.#shard.writer.kept(id);
    return kept === null ? null : { id, version: kept.version, document: JSON.parse(kept.stored) };
  }

  /** Documents that match, best first. Text is never refused; what was not understood is in the explanation. */
  async search(query: string | Query, options: SearchOptions = {}): Promise<SearchResult<F>> {
    SEARCH_OPTIONS.check(options);
    return this.#answers.search(query, options);
  }

  /** A page of an answer that was kept with `cacheTtlMs`; null if it is no longer. */
  async page(id: string, options: PageOptions = {}): Promise<SearchResult<F> | null> {
    PAGE_OPTIONS.check(options);
    return this.#answers.page(id, options);
  }

  /** How many documents there are. */
  async count(): Promise<number> {
    return Number((await this.#shard.store.call("HGET", this.#shard.keys.meta, "count")) ?? 0);
  }

  /** Removes every document. In steps: others see it become smaller. */
  async clear(): Promise<void> {
    const none = { words: new Set<string>(), columns: new Set<string>(), vocabulary: false };
    for (;;) {
      const ids = await this.#searcher.viewOnly(none, (replica) =>
        replica.documents.ids.filter((id) => id !== undefined),
      );
      if (ids.length === 0) return;
      for (let at = 0; at < ids.length; at += CLEARED_AT_ONCE) {
        await this.#shard.writer.remove(ids.slice(at, at + CLEARED_AT_ONCE), undefined);
      }
      await this.#shard.names.remove(this.name);
    }
  }

  /** The ids of all documents, as of one moment. */
  ids(): Promise<string[]> {
    const none = { words: new Set<string>(), columns: new Set<string>(), vocabulary: false };
    return this.#searcher.viewOnly(none, (replica) => replica.documents.ids.filter((id) => id !== undefined));
  }

  /** For people: how large the index is and what its longest lists are. */
  async inspect(options: InspectOptions = {}): Promise<Inspection> {
    INSPECT_OPTIONS.check(options);
    return inspect(this.#shard, this.#searcher, options);
  }

  /** The words of the index in order, with how many bytes each takes. */
  async terms(options: TermsOptions = {}): Promise<TermsPage> {
    TERMS_OPTIONS.check(options);
    return terms(this.#shard, this.#searcher, options);
  }

  /** Where a document is kept: for programs that watch keys. */
  keyOf(id: string): string {
    return documentKey(this.#shard.keys.base, id);
  }
}
