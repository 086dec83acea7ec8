/**
 * One index over several shards, each an index of its own on its own or the same store. A document is on the shard that its id
 * leads to. A search goes to all of them: document frequencies, the number of documents and the average lengths of fields are
 * added up once for each query, before anything is scored, so that scores, order, counts and facets are those of one index with
 * all documents.
 *
 * Ids lead to shards by rendezvous hashing over the shards' names: a shard more takes its part from each of the others, and
 * nothing else moves. While documents move, every writer must know both sets of shards (`previous`): it writes to the new home
 * and takes the document from the old one. `move` brings over what nobody has written.
 */

import { aStore, integer } from "../../base/checks.ts";
import { randomToken } from "../../base/clock.ts";
import { InputError } from "../../base/errors.ts";
import { hashOf } from "../../base/hash.ts";
import { zipped } from "../../base/lists.ts";
import { callback, defineOptions, listOf, signal, text, whole } from "../../base/options.ts";
import type { Store } from "../../connection/store.ts";
import { Answers, type PageOptions, type SearchOptions, type SearchResult } from "./answers.ts";
import { type Inspection, type InspectOptions, inspect } from "./inspect.ts";
import { goneKey } from "./keys.ts";
import { indexing, paging, searching } from "./options.ts";
import type { Query } from "./query.ts";
import { Results } from "./results.ts";
import { type DocumentOf, type Fields, type PatchOf, Schema } from "./schema.ts";
import { type IndexOptions, limitsOf, type Shard, type StoredDocument, shardOf } from "./search-index.ts";
import { Searcher } from "./searcher.ts";
import type { SetManyOutcome, SetOutcome, UpdateOutcome } from "./writer.ts";

/** Where a shard is. */
export interface ShardPlace {
  /** The store that it is on; several shards may share one. */
  readonly store: Store;
  /** Of the shard's index; different ones, since ids lead to shards by it. */
  readonly name: string;
}

/** Settings of an index over shards. */
export interface ShardedOptions<F extends Fields> extends IndexOptions<F> {
  /** While documents move: the names of the shards that they were on before. None by default. */
  readonly previous?: readonly string[];
}

/** How to move documents to the shards that they belong to. */
export interface MoveOptions<F extends Fields> {
  /**
   * The document of an id, where the index does not store all texts; null to leave it where it is. By default the stored texts
   * are used.
   */
  readonly document?: (id: string) => Promise<DocumentOf<F> | null> | DocumentOf<F> | null;
  /** Ends moving: `move` rejects with the signal's reason. None by default. */
  readonly signal?: AbortSignal;
  /** Called after each document, with how many were moved, how many were looked at, and how many there are. None by default. */
  readonly onProgress?: (moved: number, seen: number, total: number) => void;
}

const BATCH = 500;
/** Longer than anybody needs from reading a document to having copied it. */
const GONE_MS = 600_000;
const NO_NEEDS = { words: new Set<string>(), columns: new Set<string>(), vocabulary: false };

const OPTIONS = defineOptions<ShardedOptions<Fields>>("ShardedSearch", {
  ...indexing,
  previous: listOf(text),
});

const VERSION_OPTIONS = defineOptions<{ readonly ifVersion?: number }>("ShardedSearch.update", {
  ifVersion: whole(0),
});

const SEARCH_OPTIONS = defineOptions<SearchOptions>("ShardedSearch.search", searching);

const PAGE_OPTIONS = defineOptions<PageOptions>("ShardedSearch.page", paging);

const INSPECT_OPTIONS = defineOptions<InspectOptions>("ShardedSearch.inspect", {
  maxTerms: whole(0),
  longest: whole(0, 1_000),
});

const MOVE_OPTIONS = defineOptions<MoveOptions<Fields>>("ShardedSearch.move", {
  document: callback,
  signal,
  onProgress: callback,
});

/**
 * One index over several shards, on one store or many: scores, order, counts and facets are those of one index.
 *
 * @example
 * const places = ["notes 0", "notes 1"].map((name) => ({ store: db, name }));
 * const notes = new ShardedSearch(places, { fields: { text: { type: "text", store: true }, year: { type: "number" } } });
 * await notes.set("a", { text: "First note" }); // → { status: "added", version: 1 }
 * await notes.setMany([["b", { text: "Another note" }]]); // → { added: 1, changed: 0, same: 0 }
 * (await notes.search("note")).count; // → 2
 * await notes.get("b"); // → { id: "b", version: 1, document: { text: "Another note" } }
 * @example
 * const places = ["notes 0", "notes 1"].map((name) => ({ store: db, name }));
 * const notes = new ShardedSearch(places, { fields: { text: { type: "text", store: true }, year: { type: "number" } } });
 * await notes.set("a", { text: "First note" });
 * await notes.update("a", { year: 2020 }); // → { status: "changed", version: … }
 * await notes.delete("a"); // → true
 * await notes.count(); // → 0
 * @example
 * const places = ["notes 0", "notes 1"].map((name) => ({ store: db, name }));
 * const notes = new ShardedSearch(places, { fields: { text: { type: "text", store: true } } });
 * const { id } = await notes.search("*", { cacheTtlMs: 60_000 });
 * await notes.page(id!, { offset: 10 }); // → { count: 0, hits: [], …
 * (await notes.inspect())[notes.shardOf("a")]?.documents; // → 0
 * await notes.move(); // → 0
 */
export class ShardedSearch<F extends Fields> {
  /** Its fields and analysers. */
  readonly schema: Schema;
  readonly #shards: ReadonlyMap<string, Shard>;
  readonly #names: readonly string[];
  readonly #previous: readonly string[];
  readonly #searcher: Searcher;
  readonly #answers: Answers<F>;

  constructor(places: readonly ShardPlace[], options: ShardedOptions<F>) {
    OPTIONS.check(options);
    for (const { store } of places) aStore("ShardedSearch", store);
    integer("the number of shards", places.length, 1, 1_024);
    this.schema = new Schema(options);
    this.#shards = new Map(places.map(({ store, name }) => [name, shardOf(store, name, this.schema, options)]));
    this.#names = [...this.#shards.keys()];
    if (this.#names.length < places.length) throw new InputError("two shards have the same name");
    this.#previous = options.previous ?? [];
    for (const name of this.#previous) {
      if (!this.#shards.has(name)) throw new InputError(`the previous shard "${name}" is not among the shards`);
    }
    const shards = [...this.#shards.values()];
    this.#searcher = new Searcher(
      shards.map(({ replica }) => replica),
      this.schema,
      limitsOf(options),
    );
    const results = new Results(shards[0]!.store, shards[0]!.keys);
    this.#answers = new Answers(this.schema, this.#searcher, results, shards);
  }

  /** The name of the shard that a document is on. */
  shardOf(id: string): string {
    return rendezvous(this.#names, id);
  }

  #home(id: string): Shard {
    return this.#shards.get(this.shardOf(id))!;
  }

  /** Where it may be still; null if that is its home. */
  #formerHome(id: string): Shard | null {
    if (this.#previous.length === 0) return null;
    const former = rendezvous(this.#previous, id);
    return former === this.shardOf(id) ? null : this.#shards.get(former)!;
  }

  /** Adds a document, or puts it in the place of the one with its id. With `ifVersion`, only if that is its version (0: new). */
  async set(id: string, document: DocumentOf<F>, options: { readonly ifVersion?: number } = {}): Promise<SetOutcome> {
    VERSION_OPTIONS.check(options);
    const former = this.#formerHome(id);
    // Versions go on at the new home.
    if (former !== null && options.ifVersion !== undefined) await this.#moveOne(former, id);
    const home = this.#home(id);
    const outcome = await home.writer.put(id, document, options.ifVersion);
    home.names.announce(home.name);
    if (former !== null && outcome.status !== "conflict") await former.writer.remove([id], undefined);
    return outcome;
  }

  /** Puts many, fast: in batches of 500 for each shard. */
  async setMany(
    documents: Iterable<readonly [string, DocumentOf<F>]> | AsyncIterable<readonly [string, DocumentOf<F>]>,
  ): Promise<SetManyOutcome> {
    const total: SetManyOutcome = { added: 0, changed: 0, same: 0 };
    const waiting = new Map<Shard, (readonly [string, DocumentOf<F>])[]>();
    const flush = async (shard: Shard, batch: readonly (readonly [string, DocumentOf<F>])[]): Promise<void> => {
      const { added, changed, same } = await shard.writer.putMany(batch);
      shard.names.announce(shard.name);
      total.added += added;
      total.changed += changed;
      total.same += same;
      for (const [id] of this.#previous.length === 0 ? [] : batch)
        await this.#formerHome(id)?.writer.remove([id], undefined);
    };
    for await (const each of documents) {
      const home = this.#home(each[0]);
      const batch = waiting.get(home) ?? [];
      if (batch.push(each) === 1) waiting.set(home, batch);
      if (batch.length < BATCH) continue;
      waiting.delete(home);
      await flush(home, batch);
    }
    await Promise.all([...waiting].map(([shard, batch]) => flush(shard, batch)));
    return total;
  }

  /** Changes number, string and tags fields, and leaves the words alone. Null takes a value away. */
  async update(id: string, changes: PatchOf<F>, options: { readonly ifVersion?: number } = {}): Promise<UpdateOutcome> {
    VERSION_OPTIONS.check(options);
    const former = this.#formerHome(id);
    if (former !== null) await this.#moveOne(former, id);
    return this.#home(id).writer.patch(id, changes, options.ifVersion);
  }

  /** Deletes a document. False if there was none. */
  async delete(id: string): Promise<boolean> {
    const former = this.#formerHome(id);
    const home = this.#home(id);
    if (former === null) return (await home.writer.remove([id], undefined)) > 0;
    await home.store.send(["SET", goneKey(home.keys.base, id), "1", "PX", GONE_MS], { repeatable: true });
    const removed = await former.writer.remove([id], undefined);
    return (await home.writer.remove([id], undefined)) + removed > 0;
  }

  /** What is stored of a document, or null. */
  async get(id: string): Promise<StoredDocument<F> | null> {
    const kept = (await this.#home(id).writer.kept(id)) ?? (await this.#formerHome(id)?.writer.kept(id)) ?? null;
    return kept === null ? null : { id, version: kept.version, document: JSON.parse(kept.stored) };
  }

  /** Documents that match, best first, of all shards. Text is never refused; what was not understood is in the explanation. */
  async search(query: string | Query, options: SearchOptions = {}): Promise<SearchResult<F>> {
    SEARCH_OPTIONS.check(options);
    return this.#answers.search(query, options);
  }

  /** A page of an answer that was kept with `cacheTtlMs`, on the first shard; null if it is no longer. */
  async page(id: string, options: PageOptions = {}): Promise<SearchResult<F> | null> {
    PAGE_OPTIONS.check(options);
    return this.#answers.page(id, options);
  }

  /** How many documents there are on all shards. */
  async count(): Promise<number> {
    const counts = await Promise.all(
      [...this.#shards.values()].map(({ store, keys }) => store.call("HGET", keys.meta, "count")),
    );
    return counts.reduce((sum: number, count) => sum + Number(count ?? 0), 0);
  }

  /** Of each shard, by its name. */
  async inspect(options: InspectOptions = {}): Promise<Record<string, Inspection>> {
    INSPECT_OPTIONS.check(options);
    const looked: [string, Inspection][] = [];
    for (const [name, shard] of this.#shards) looked.push([name, await inspect(shard, this.#searcher, options)]);
    return Object.fromEntries(looked);
  }

  /** Brings every document to its home. May be stopped and run again, and by several at once. Answers how many it moved. */
  async move(options: MoveOptions<F> = {}): Promise<number> {
    MOVE_OPTIONS.check(options);
    if (options.document === undefined) this.#needStored();
    const shards = [...this.#shards];
    const ids = await this.#searcher.view(NO_NEEDS, (replicas) =>
      zipped(shards, replicas).flatMap(([[name, from], replica]) =>
        replica.documents.ids.flatMap((id) => (id === undefined || this.shardOf(id) === name ? [] : [{ id, from }])),
      ),
    );
    let moved = 0;
    for (const [at, { id, from }] of ids.entries()) {
      options.signal?.throwIfAborted();
      if (await this.#moveOne(from, id, options.document)) moved++;
      options.onProgress?.(moved, at + 1, ids.length);
    }
    return moved;
  }

  #needStored(): void {
    const missing = this.schema.text.filter(({ store }) => !store).map(({ name }) => `"${name}"`);
    if (missing.length === 0) return;
    throw new InputError(`moving needs the texts, and ${missing.join(", ")} is not stored: give \`document\``);
  }

  /**
   * Copies, then removes. Who writes to the new home in between has the last word, since the copy is only made where there is
   * nothing. Who removes the document in between says so at its new home first and removes it there last, so that either of the
   * two takes the copy away.
   */
  async #moveOne(
    from: Shard,
    id: string,
    read?: (id: string) => Promise<DocumentOf<F> | null> | DocumentOf<F> | null,
  ): Promise<boolean> {
    for (;;) {
      const kept = await from.writer.kept(id);
      if (kept === null) return false;
      if (read === undefined) this.#needStored();
      const document: DocumentOf<F> | null = read === undefined ? JSON.parse(kept.stored) : await read(id);
      if (document === null) return false;
      const home = this.#home(id);
      // A hash unlike any other: the same content, put by somebody else, is another version.
      const copy = await home.writer.put(id, document, 0, randomToken());
      const isOurs = copy.status !== "conflict";
      const wasRemoved = isOurs && (await home.store.call("EXISTS", goneKey(home.keys.base, id))) === 1;
      if (wasRemoved) {
        await home.writer.remove([id], copy.version);
        return false;
      }
      if ((await from.writer.remove([id], kept.version)) === 1) return isOurs;
      // Gone: somebody else has brought it over. Still there: it was changed, and is copied once more.
      if (!isOurs || (await from.writer.kept(id)) === null) return false;
      await home.writer.remove([id], copy.version);
    }
  }
}

/** The name that goes best with the id, by a hash of both: the same everywhere and for ever. */
export function rendezvous(names: readonly string[], id: string): string {
  let best = names[0]!;
  let most = -1;
  for (const name of names) {
    const weight = hashOf(`${name}\0${id}`);
    if (weight > most || (weight === most && name < best)) {
      most = weight;
      best = name;
    }
  }
  return best;
}
