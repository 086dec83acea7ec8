/**
 * Runs queries on one or more shards, each with a replica in this process.
 *
 * Queries that come while others are on their way to the server wait and then go together: what they need is fetched in one
 * round trip for each shard, and all of them see that moment. Nothing else moves the replicas, so that between the end of a trip
 * and the last answer computed from it there is no change: an answer is that of the whole index at a moment between the
 * question and the answer (with several shards, of each shard at such a moment).
 *
 * A query with beginnings or misspelt words depends on which words there are. It is planned with the words known so far; if the
 * trip brings others that it stands for, another trip fetches those.
 */
import { integer } from "../../base/checks.ts";
import { CinnabarError, InputError } from "../../base/errors.ts";
import { only } from "../../base/lists.ts";
import { Evaluation, type Matches, Scratch, type Statistics } from "./evaluate.ts";
import { FacetCounts, type FacetRequests, type Facets } from "./facets.ts";
import { type Candidate, Order } from "./order.ts";
import { parseQuery } from "./parse.ts";
import { type Leaf, type Plan, type Planned, Planner } from "./plan.ts";
import type { Query } from "./query.ts";
import type { Needs, Replica } from "./replica.ts";
import type { Schema } from "./schema.ts";

/** Which of the documents found, in which order. */
export interface QueryOptions {
  /** So many of the first are left out (default 0). */
  readonly offset?: number;
  /** At most so many hits (default 10, at most 10 000). */
  readonly limit?: number;
  /** Fields to order by, "-" before one for descending; "relevance" is one too. By score by default. */
  readonly sort?: string | readonly string[];
  /** A score made of several: weight of "relevance" and of number and string fields. Relevance alone by default. */
  readonly rank?: Readonly<Record<string, number>>;
  /** What to count among all documents found; nothing by default. */
  readonly facets?: FacetRequests;
  /** How words of a text are joined where nothing stands between them (default `"and"`). */
  readonly operator?: "and" | "or";
  /** For each hit, what its score is made of. False by default. */
  readonly explain?: boolean;
}

/** What a part of the query adds to the score of a hit. */
export interface ScorePart {
  /** The word, phrase or group. */
  readonly text: string;
  /** What it adds. */
  readonly score: number;
  /** How often it is there, weighted by fields and their lengths. */
  readonly tf: number;
  /** How rare it is among all documents. */
  readonly idf: number;
}

export interface Ranked {
  readonly id: string;
  readonly score: number;
  readonly shard: number;
  /** With `explain`. */
  readonly parts?: readonly ScorePart[];
}

/** How a query was understood. */
export interface Explanation {
  /** Each word, phrase or group: how many words it stands for, and how many documents have it. */
  readonly words: readonly { readonly text: string; readonly words: number; readonly documents: number }[];
  /** What was left out of the query, and why. */
  readonly ignored: readonly { readonly text: string; readonly why: string }[];
  /** What was not taken as written, for people. */
  readonly notes: readonly string[];
  /** Entries of word lists that the query went through. */
  readonly postings: number;
}

export interface Found {
  /** All documents found, not only those given back. */
  readonly count: number;
  readonly hits: readonly Ranked[];
  readonly facets: Facets;
  /** False if the query was cut down to stay within its limits; the explanation says how. */
  readonly complete: boolean;
  readonly explanation: Explanation;
  /** The words that were looked for, for highlighting. */
  readonly highlighted: ReadonlySet<string>;
}

export interface Limits {
  readonly maxExpansions: number;
  readonly maxPostings: number;
}

interface Waiting {
  readonly query: Query | null;
  readonly notes: readonly string[];
  readonly options: QueryOptions;
  readonly order: Order;
  readonly facets: FacetCounts;
  planned: Planned | null;
  /** The revisions of the vocabularies that the plan was made with. */
  plannedFor: string;
  readonly resolve: (found: Found) => void;
  readonly reject: (error: unknown) => void;
}

export const MAX_HITS = 10_000;
/** So many queries at most are answered in one turn of the event loop. */
const MAX_TOGETHER = 64;
const MAX_TRIPS = 100;

export class Searcher {
  readonly #replicas: readonly Replica[];
  readonly #schema: Schema;
  readonly #limits: Limits;
  readonly #planner: Planner;
  readonly #scratch = new Scratch();
  readonly #waiting: Waiting[] = [];
  readonly #viewers: (() => void)[] = [];
  #isUnderWay = false;
  #statistics: Statistics = { documents: 0, averages: [] };

  constructor(replicas: readonly Replica[], schema: Schema, limits: Limits) {
    this.#replicas = replicas;
    this.#schema = schema;
    this.#limits = limits;
    // Vocabularies are replaced when an index is emptied, so they are asked for each time.
    const vocabularies = replicas.map((replica) => ({
      beginningWith: (...args: [string, number]) => replica.vocabulary.beginningWith(...args),
      near: (...args: [string, number, number]) => replica.vocabulary.near(...args),
    }));
    this.#planner = new Planner(schema, vocabularies, limits.maxExpansions);
  }

  /** Text or a tree. Refuses options that make no sense; text is never refused. */
  search(query: string | Query, options: QueryOptions = {}): Promise<Found> {
    const { offset = 0, limit = 10 } = options;
    integer("limit", limit, 0, MAX_HITS);
    integer("offset", offset, 0, MAX_HITS - limit);
    const parsed = typeof query === "string" ? parseQuery(query, this.#schema, options.operator) : { query, notes: [] };
    if (parsed.query !== null && typeof parsed.query !== "object") throw new InputError("a query is text or a tree");
    const order = new Order(this.#schema, options.sort, options.rank);
    const facets = new FacetCounts(this.#schema, options.facets ?? {});
    const planned = parsed.query === null ? null : this.#planner.plan(parsed.query);
    return new Promise((resolve, reject) => {
      const plannedFor = this.#revisions();
      this.#waiting.push({ ...parsed, options, order, facets, planned, plannedFor, resolve, reject });
      if (!this.#isUnderWay) void this.#go();
    });
  }

  /** Runs something on the replicas as of one moment. */
  async view<T>(needs: Needs, read: (replicas: readonly Replica[]) => T): Promise<T> {
    if (this.#isUnderWay) await new Promise<void>((resolve) => this.#viewers.push(resolve));
    this.#isUnderWay = true;
    try {
      await Promise.all(this.#replicas.map((replica) => replica.sync(needs)));
      return read(this.#replicas);
    } finally {
      this.#passOn();
    }
  }

  /** The same of an index with one replica. */
  viewOnly<T>(needs: Needs, read: (replica: Replica) => T): Promise<T> {
    return this.view(needs, (replicas) => read(only(replicas)));
  }

  /** The replicas are free: for who waits to look, then for queries. */
  #passOn(): void {
    const viewer = this.#viewers.shift();
    if (viewer !== undefined) viewer();
    else if (this.#waiting.length > 0) void this.#go();
    else this.#isUnderWay = false;
  }

  async #go(): Promise<void> {
    this.#isUnderWay = true;
    while (this.#waiting.length > 0 && this.#viewers.length === 0) {
      const together = this.#waiting.splice(0, MAX_TOGETHER);
      try {
        await this.#fetch(together);
      } catch (error) {
        for (const { reject } of together) reject(error);
        continue;
      }
      for (const each of together) {
        try {
          each.resolve(this.#answer(each));
        } catch (error) {
          each.reject(error);
        }
      }
    }
    this.#passOn();
  }

  /** Brings the replicas to a moment at which all that the queries need is known. */
  async #fetch(together: readonly Waiting[]): Promise<void> {
    for (let trip = 0; trip < MAX_TRIPS; trip++) {
      const needs = needsOf(together);
      if (trip > 0 && this.#replicas.every((replica) => replica.has(needs))) return;
      await Promise.all(this.#replicas.map((replica) => replica.sync(needs)));
      const revisions = this.#revisions();
      for (const each of together) {
        const { query } = each;
        if (query === null || each.planned?.expands !== true || each.plannedFor === revisions) continue;
        each.planned = this.#planner.plan(query);
        each.plannedFor = revisions;
      }
    }
    throw new CinnabarError("BUSY", `the words that the query stands for changed in each of ${MAX_TRIPS} attempts`);
  }

  #revisions(): string {
    return this.#replicas.map((replica) => replica.vocabulary.revision).join(" ");
  }

  #answer({ planned, notes, options, order, facets }: Waiting): Found {
    const leaves: Leaf[] = [];
    const cut = planned === null ? null : this.#cut(planned, leaves);
    const explained = {
      ignored: [...(planned?.ignored ?? []), ...(cut?.ignored ?? [])],
      notes: [...notes, ...(planned?.notes ?? [])],
    };
    const complete = (planned?.complete ?? true) && (cut?.ignored.length ?? 0) === 0;
    if (cut === null || cut.plan === null) {
      explained.notes.push(nothingIn(planned));
      const explanation = { words: [], ...explained, postings: 0 };
      return { count: 0, hits: [], facets: facets.result(), complete, explanation, highlighted: new Set() };
    }
    const shards = this.#replicas.map((replica) => new Evaluation(replica, this.#schema, this.#scratch));
    for (const shard of shards) shard.prepare(leaves);
    const frequencies = new Map(leaves.map((leaf) => [leaf, sum(shards, (shard) => shard.lists.get(leaf)!.count)]));
    const statistics = this.#sharedStatistics();
    const { offset = 0, limit = 10 } = options;
    let count = 0;
    let best: Candidate[] = [];
    for (const [at, shard] of shards.entries()) {
      const found: Matches = shard.search(cut.plan, frequencies, statistics);
      count += found.count;
      facets.add(found, shard.replica);
      best = best.concat(order.top(order.scored(found, shard.replica), offset + limit, at, shard.replica));
    }
    if (shards.length > 1) best = withoutCopies(best.sort((a, b) => order.compare(a, b)));
    const scored = new Set(leavesOf(cut.plan, false));
    const hits = best.slice(offset, offset + limit).map(({ id, score, shard, doc }) => ({
      id,
      score,
      shard,
      ...(options.explain === true ? { parts: shards[shard]!.explain(doc, scored) } : {}),
    }));
    const explanation: Explanation = {
      words: leaves.map((leaf) => ({
        text: leaf.text,
        words: leaf.kind === "phrase" ? leaf.words.length : leaf.entries.length,
        documents: frequencies.get(leaf)!,
      })),
      ...explained,
      postings: cut.postings,
    };
    return { count, hits, facets: facets.result(), complete, explanation, highlighted: wordsIn(scored) };
  }

  /** The same object as long as it says the same, so that scores made for it can be recognised. */
  #sharedStatistics(): Statistics {
    const documents = sum(this.#replicas, (replica) => replica.documents.count);
    const averages = this.#schema.text.map((_, field) => {
      const total = sum(this.#replicas, (replica) => replica.documents.totals[field]!);
      return documents === 0 ? 0 : total / documents;
    });
    const before = this.#statistics;
    const isSame = before.documents === documents && averages.every((average, at) => average === before.averages[at]);
    if (!isSame) this.#statistics = { documents, averages };
    return this.#statistics;
  }

  /**
   * A query that would go through more postings than allowed loses its most frequent words, as if they were stop words. What it
   * excludes is kept, since a document that was excluded must not come back; if that alone is too much, nothing is found.
   */
  #cut(
    planned: Planned,
    leaves: Leaf[],
  ): { readonly plan: Plan | null; readonly ignored: { text: string; why: string }[]; readonly postings: number } {
    const { plan } = planned;
    if (plan === null) return { plan: null, ignored: [], postings: 0 };
    const cost = (leaf: Leaf): number =>
      sum<{ readonly word: string }>(leaf.kind === "phrase" ? leaf.words : leaf.entries, ({ word }) =>
        sum(this.#replicas, (replica) => replica.postings(word).count),
      );
    const wanted = leavesOf(plan, false).map((leaf) => ({ leaf, cost: cost(leaf) }));
    const excluded = leavesOf(plan, true).filter((leaf) => !wanted.some((each) => each.leaf === leaf));
    let postings = sum(wanted, (each) => each.cost) + sum(excluded, cost);
    const ignored: { text: string; why: string }[] = [];
    const dropped = new Set<Leaf>();
    if (postings > this.#limits.maxPostings) {
      for (const { leaf, cost: saved } of wanted.sort((a, b) => b.cost - a.cost)) {
        if (postings <= this.#limits.maxPostings) break;
        dropped.add(leaf);
        postings -= saved;
        ignored.push({ text: leaf.text, why: `in ${saved} postings, too many with the rest of the query` });
      }
    }
    const left = postings > this.#limits.maxPostings ? null : dropped.size === 0 ? plan : without(plan, dropped);
    if (left !== null) for (const leaf of leavesOf(left, true)) leaves.push(leaf);
    return { plan: left, ignored, postings: left === null ? 0 : postings };
  }
}

function needsOf(together: readonly Waiting[]): Needs {
  const [first] = together;
  if (first !== undefined && together.length === 1) {
    const { planned, order, facets } = first;
    if (planned !== null && order.columns.size + facets.columns.size === 0) {
      return { words: planned.words, columns: planned.columns, vocabulary: planned.expands };
    }
  }
  const words = new Set<string>();
  const columns = new Set<string>();
  for (const { planned, order, facets } of together) {
    for (const word of planned?.words ?? []) words.add(word);
    for (const names of [planned?.columns ?? [], order.columns, facets.columns])
      for (const name of names) columns.add(name);
  }
  return { words, columns, vocabulary: together.some(({ planned }) => planned?.expands === true) };
}

function nothingIn(planned: Planned | null): string {
  if (planned === null) return "there is nothing to look for in the query";
  if (planned.plan !== null) return "the query would go through more postings than allowed";
  return planned.ignored.some(({ why }) => why === "stop word")
    ? "every word of the query is a stop word"
    : "there is no word in the query";
}

/** The leaves of a plan; those under a "not" only if asked for. */
function leavesOf(plan: Plan, withExcluded: boolean): Leaf[] {
  if (plan.kind === "words" || plan.kind === "phrase") return [plan];
  if (plan.kind === "and" || plan.kind === "or") return plan.of.flatMap((each) => leavesOf(each, withExcluded));
  return plan.kind === "not" && withExcluded ? leavesOf(plan.of, true) : [];
}

function without(plan: Plan, dropped: ReadonlySet<Leaf>): Plan | null {
  if (plan.kind === "words" || plan.kind === "phrase") return dropped.has(plan) ? null : plan;
  if (plan.kind !== "and" && plan.kind !== "or") return plan;
  const of = plan.of.map((each) => without(each, dropped)).filter((each) => each !== null);
  // What remains of an AND when only its exclusions do is not what was asked for.
  if (of.every((each) => each.kind === "not") && !plan.of.every((each) => each.kind === "not")) return null;
  return of.length === 0 ? null : { kind: plan.kind, of };
}

function wordsIn(leaves: ReadonlySet<Leaf>): Set<string> {
  const words = new Set<string>();
  for (const leaf of leaves) for (const { word } of leaf.kind === "phrase" ? leaf.words : leaf.entries) words.add(word);
  return words;
}

/** While a document moves from shard to shard it is in both for a moment. */
function withoutCopies(sorted: readonly Candidate[]): Candidate[] {
  const seen = new Set<string>();
  return sorted.filter(({ id }) => !seen.has(id) && seen.add(id));
}

function sum<T>(items: readonly T[], value: (item: T) => number): number {
  let total = 0;
  for (const item of items) total += value(item);
  return total;
}
