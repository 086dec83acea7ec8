/** From what a searcher found to what a caller gets: kept answers, documents and snippets for the hits. Shared by both indexes. */

import { InputError, refusesWrites } from "../../base/errors.ts";
import { zipped } from "../../base/lists.ts";
import { asBytesOrNulls } from "../../base/replies.ts";
import type { Store } from "../../connection/store.ts";
import { parseKept } from "./document.ts";
import type { Facets } from "./facets.ts";
import { documentKey, type IndexKeys } from "./keys.ts";
import type { Query } from "./query.ts";
import type { Results } from "./results.ts";
import type { DocumentOf, Fields, Schema } from "./schema.ts";
import type { Explanation, Found, QueryOptions, ScorePart, Searcher } from "./searcher.ts";
import { type HighlightOptions, snippet } from "./snippets.ts";

/** What to give back of what a query finds. */
export interface SearchOptions extends QueryOptions {
  /** Give back what is stored of each hit. False by default. */
  readonly documents?: boolean;
  /** Snippets of the stored texts with the words marked. False by default. */
  readonly highlight?: boolean | HighlightOptions;
  /** Keep the answer for so long, for paging by its id; and take one that was kept for the same question. Not kept by default. */
  readonly cacheTtlMs?: number;
  /** How many hits are kept with `cacheTtlMs` (default 1 000, at most 10 000). */
  readonly cacheHits?: number;
  /** Do not take a kept answer, but put a new one in its place. False by default. */
  readonly fresh?: boolean;
}

/** A document that a query found. */
export interface Hit<F extends Fields> {
  /** The document's id. */
  readonly id: string;
  /** How well it matches, or what `rank` makes of it: higher is better. */
  readonly score: number;
  /** With `documents`: null if it was removed since. */
  readonly document?: DocumentOf<F> | null;
  /** With `highlight`: by field. */
  readonly snippets?: Readonly<Record<string, string>>;
  /** With `explain`. */
  readonly parts?: readonly ScorePart[];
}

/** The answer to a query. */
export interface SearchResult<F extends Fields> {
  /** All documents found, not only those given back. */
  readonly count: number;
  /** The best, or the first by `sort`: `limit` of them from `offset` on. */
  readonly hits: readonly Hit<F>[];
  /** What `facets` asked for, by field. */
  readonly facets: Facets;
  /** False if the query was cut down to stay within its limits; the explanation says how. */
  readonly complete: boolean;
  /** How the query was understood. */
  readonly explanation: Explanation;
  /** Of the kept answer, for `page`; null without `cacheTtlMs`, and where the store takes no writes now. */
  readonly id: string | null;
  /** Whether it was kept from an earlier question. */
  readonly cached: boolean;
}

/** Which hits of a kept answer to give back, and what of them. */
export type PageOptions = Pick<SearchOptions, "offset" | "limit" | "documents" | "highlight">;

/** Where the documents of a shard are. */
export interface Place {
  readonly store: Store;
  readonly keys: IndexKeys;
}

export class Answers<F extends Fields> {
  readonly #schema: Schema;
  readonly #searcher: Searcher;
  readonly #results: Results;
  readonly #places: readonly Place[];

  constructor(schema: Schema, searcher: Searcher, results: Results, places: readonly Place[]) {
    this.#schema = schema;
    this.#searcher = searcher;
    this.#results = results;
    this.#places = places;
  }

  async search(query: string | Query, options: SearchOptions): Promise<SearchResult<F>> {
    if (options.cacheTtlMs === undefined) {
      const found = await this.#searcher.search(query, options);
      return this.#complete(found, null, false, options);
    }
    return this.#cached(query, options, options.cacheTtlMs);
  }

  async #cached(query: string | Query, options: SearchOptions, cacheTtlMs: number): Promise<SearchResult<F>> {
    const { offset = 0, limit = 10, cacheHits = 1_000, sort, rank, facets, operator, explain } = options;
    const hash = this.#results.hash([query, sort, rank, facets, operator, explain, cacheHits]);
    const kept = options.fresh === true ? null : await this.#results.recall(hash, offset, limit);
    if (kept !== null) return this.#complete(kept, kept.id, true, options);
    const found = await this.#searcher.search(query, { ...options, offset: 0, limit: cacheHits });
    const id = await this.#results.keep(hash, found, cacheTtlMs).catch((error) => {
      if (!refusesWrites(error)) throw error;
      return null;
    });
    return this.#complete({ ...found, hits: found.hits.slice(offset, offset + limit) }, id, false, options);
  }

  /** A page of a kept answer; null if it is no longer kept. */
  async page(id: string, options: PageOptions): Promise<SearchResult<F> | null> {
    const { offset = 0, limit = 10 } = options;
    if (typeof id !== "string" || id === "") throw new InputError("id must be that of a kept answer");
    const kept = await this.#results.page(id, offset, limit);
    return kept === null ? null : this.#complete(kept, id, true, options);
  }

  async #complete(found: Found, id: string | null, cached: boolean, options: PageOptions): Promise<SearchResult<F>> {
    const { count, facets, complete, explanation } = found;
    const { documents = false, highlight = false } = options;
    const wanted = documents || highlight !== false;
    const stored = wanted ? await this.#stored(found) : [];
    const hits = found.hits.map(({ id: hit, score, parts }, at) => ({
      id: hit,
      score,
      ...(documents ? { document: stored[at] ?? null } : {}),
      ...(highlight === false ? {} : { snippets: this.#snippets(stored[at] ?? null, found.highlighted, highlight) }),
      ...(parts === undefined ? {} : { parts }),
    }));
    return { count, hits: hits as Hit<F>[], facets, complete, explanation, id, cached };
  }

  /** Of each hit, in one round trip for each shard. */
  async #stored({ hits }: Found): Promise<(Readonly<Record<string, unknown>> | null)[]> {
    const stored: (Readonly<Record<string, unknown>> | null)[] = hits.map(() => null);
    await Promise.all(
      this.#places.map(async ({ store, keys }, shard) => {
        const own = hits.flatMap((hit, at) => (hit.shard === shard ? [{ at, id: hit.id }] : []));
        if (own.length === 0) return;
        const names = own.map(({ id }) => documentKey(keys.base, id));
        const records = await store.send(["MGET", ...names], { buffers: true });
        for (const [{ at }, record] of zipped(own, asBytesOrNulls(records))) {
          if (record !== null) stored[at] = JSON.parse(parseKept(record).stored);
        }
      }),
    );
    return stored;
  }

  #snippets(
    document: Readonly<Record<string, unknown>> | null,
    words: ReadonlySet<string>,
    highlight: true | HighlightOptions,
  ): Record<string, string> {
    const options = highlight === true ? {} : highlight;
    const fields = this.#schema.text.filter(({ name, store }) => store && (options.fields?.includes(name) ?? true));
    const made = fields.flatMap(({ name, analyser }) => {
      const text = document?.[name];
      return typeof text === "string" ? [[name, snippet(text, analyser, words, options)] as const] : [];
    });
    return Object.fromEntries(made);
  }
}
