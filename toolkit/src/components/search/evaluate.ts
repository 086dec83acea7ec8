/**
 * Searching, on what a replica has.
 *
 * A word, a phrase, or a group that counts as one word is a list of documents with how often it stands in each field; that is
 * all that scoring needs, and lists of all shards are made before any is scored, since how rare a word is, how many documents
 * there are and how long fields are on average hold for all of them together (`Statistics`).
 *
 *   tf(d)    = Σ over fields  weight · times(d) / (1 − b + b · length(d) / average length)
 *   idf      = ln(1 + (N − n + 0.5) / (n + 0.5))        n of N documents have it
 *   score(d) = Σ over what matches  boost · idf · tf · (k1 + 1) / (tf + k1)
 *
 * Lists are joined as sorted arrays; the documents of an OR are added up in arrays as long as the index has documents.
 */
import { type NumberColumn, StringColumn, TagsColumn } from "./columns.ts";
import type { Leaf, PhraseLeaf, Plan, RangeFilter, TagsFilter, WordsLeaf } from "./plan.ts";
import { lowerBound, type Postings } from "./postings.ts";
import type { Replica } from "./replica.ts";
import type { Schema } from "./schema.ts";

/** What holds for all shards together. */
export interface Statistics {
  readonly documents: number;
  /** Of each text field. */
  readonly averages: readonly number[];
}

/** The documents of a leaf, in ascending order. */
export class List {
  readonly docs: Uint32Array;
  readonly count: number;
  /** How often: one for each text field of each document; fractions for words that count less. */
  readonly times: Uint32Array | Float64Array;
  /** Where the list is just that of a word. */
  readonly postings: Postings | null;
  scores: Float64Array | null = null;

  constructor(docs: Uint32Array, count: number, times: Uint32Array | Float64Array, postings: Postings | null = null) {
    this.docs = docs;
    this.count = count;
    this.times = times;
    this.postings = postings;
  }
}

/** Documents in ascending order with their scores. */
export interface Matches {
  readonly docs: Uint32Array;
  readonly scores: Float64Array;
  readonly count: number;
}

const NOTHING: Matches = { docs: new Uint32Array(0), scores: new Float64Array(0), count: 0 };

/** One shard's part in one query. */
export class Evaluation {
  readonly #replica: Replica;
  readonly #schema: Schema;
  readonly #scratch: Scratch;
  readonly lists = new Map<Leaf, List>();
  /** Of leaves, in all shards. */
  #frequencies: ReadonlyMap<Leaf, number> = new Map();
  #statistics: Statistics = { documents: 0, averages: [] };

  constructor(replica: Replica, schema: Schema, scratch: Scratch) {
    this.#replica = replica;
    this.#schema = schema;
    this.#scratch = scratch;
  }

  get replica(): Replica {
    return this.#replica;
  }

  /** Makes the lists of the leaves. */
  prepare(leaves: readonly Leaf[]): void {
    for (const leaf of leaves) this.lists.set(leaf, leaf.kind === "phrase" ? this.#phrase(leaf) : this.#words(leaf));
  }

  search(plan: Plan, frequencies: ReadonlyMap<Leaf, number>, statistics: Statistics): Matches {
    this.#frequencies = frequencies;
    this.#statistics = statistics;
    return this.#matches(plan);
  }

  // ---------------------------------------------------------------------------------------------- lists

  #words({ entries }: WordsLeaf): List {
    const all = 2 ** this.#schema.text.length - 1;
    if (entries.length === 1) {
      const { word, weight, mask } = entries[0]!;
      const postings = this.#replica.postings(word);
      if (mask === all && weight === 1) return new List(postings.docs, postings.count, postings.times, postings);
    }
    return this.#union(entries);
  }

  /** Occurrences of all entries added up, by document. */
  #union(entries: WordsLeaf["entries"]): List {
    const width = this.#schema.text.length;
    const set = this.#scratch.set(this.#replica.documents.end);
    for (const { word, mask } of entries) {
      const { docs, times, count } = this.#replica.postings(word);
      for (let i = 0; i < count; i++) if (isIn(times, i * width, width, mask)) set.add(docs[i]!);
    }
    const docs = set.sorted();
    const sums = new Float64Array(docs.length * width);
    const place = this.#scratch.places(this.#replica.documents.end);
    for (let i = 0; i < docs.length; i++) place[docs[i]!] = i;
    for (const { word, weight, mask } of entries) {
      const list = this.#replica.postings(word);
      for (let i = 0; i < list.count; i++) {
        if (!isIn(list.times, i * width, width, mask)) continue;
        const base = place[list.docs[i]!]! * width;
        for (let field = 0; field < width; field++) {
          if (hasBit(mask, field)) sums[base + field]! += weight * list.times[i * width + field]!;
        }
      }
    }
    return new List(docs, docs.length, sums);
  }

  #phrase({ words, mask }: PhraseLeaf): List {
    const width = this.#schema.text.length;
    const lists = words.map(({ word, offset }) => ({ offset, list: this.#replica.postings(word) }));
    const rarest = lists.reduce((a, b) => (b.list.count < a.list.count ? b : a)).list;
    const docs: number[] = [];
    const times: number[] = [];
    for (let i = 0; i < rarest.count; i++) {
      const doc = rarest.docs[i]!;
      const places = lists.map(({ list }) => list.indexOf(doc));
      if (places.includes(-1)) continue;
      const counts: number[] = [];
      for (let field = 0; field < width; field++) {
        counts.push(hasBit(mask, field) ? occurrences(lists, places, field) : 0);
      }
      if (counts.every((count) => count === 0)) continue;
      docs.push(doc);
      times.push(...counts);
    }
    return new List(Uint32Array.from(docs), docs.length, Uint32Array.from(times));
  }

  // ---------------------------------------------------------------------------------------------- scores

  #idf(leaf: Leaf): number {
    const n = this.#frequencies.get(leaf) ?? 0;
    return Math.log(1 + (this.#statistics.documents - n + 0.5) / (n + 0.5));
  }

  /** The scores of all documents of a leaf; kept with the word's list as long as nothing that they depend on has changed. */
  #scores(leaf: Leaf, list: List): Float64Array {
    if (list.scores !== null) return list.scores;
    const { postings } = list;
    const factor = leaf.boost * this.#idf(leaf);
    const { documents } = this.#replica;
    const isKept = postings !== null && !postings.isReduced && leaf.boost === 1;
    if (isKept && postings.scores !== null) {
      const made = postings.scoredFor;
      if (made?.statistics === this.#statistics && made.factor === factor && made.revision === documents.revision) {
        list.scores = postings.scores;
        return postings.scores;
      }
    }
    const scores = new Float64Array(list.count);
    for (let i = 0; i < list.count; i++) scores[i] = this.#score(list, i, factor);
    list.scores = scores;
    if (isKept) {
      this.#replica.grew((scores.length - (postings.scores?.length ?? 0)) * 8);
      postings.scores = scores;
      postings.scoredFor = { statistics: this.#statistics, factor, revision: documents.revision };
    }
    return scores;
  }

  #score(list: List, i: number, factor: number): number {
    const { text, k1 } = this.#schema;
    const tf = this.#frequency(list, i);
    // Fields may count nothing at all.
    return text.length === 0 || tf === 0 ? 0 : (factor * tf * (k1 + 1)) / (tf + k1);
  }

  #frequency(list: List, i: number): number {
    const { text } = this.#schema;
    const { averages } = this.#statistics;
    const { lengths } = this.#replica.documents;
    const width = text.length;
    const doc = list.docs[i]!;
    let tf = 0;
    for (let field = 0; field < width; field++) {
      const times = list.times[i * width + field]!;
      if (times === 0) continue;
      const { weight, b } = text[field]!;
      tf += (weight * times) / (1 - b + (b * lengths[field]![doc]!) / averages[field]!);
    }
    return tf;
  }

  /** What each leaf adds to the score of a document, for explanations. */
  explain(
    doc: number,
    leaves: ReadonlySet<Leaf>,
  ): { readonly text: string; readonly score: number; readonly tf: number; readonly idf: number }[] {
    const parts = [];
    for (const leaf of leaves) {
      const list = this.lists.get(leaf)!;
      const at = lowerBound(list.docs, doc, 0, list.count);
      if (at >= list.count || list.docs[at] !== doc) continue;
      const idf = this.#idf(leaf);
      const score = this.#score(list, at, leaf.boost * idf);
      parts.push({ text: leaf.text, score, tf: this.#frequency(list, at), idf });
    }
    return parts;
  }

  // ---------------------------------------------------------------------------------------------- joining

  #matches(plan: Plan): Matches {
    switch (plan.kind) {
      case "words":
      case "phrase": {
        const list = this.lists.get(plan)!;
        return { docs: list.docs, scores: this.#scores(plan, list), count: list.count };
      }
      case "and":
        return this.#and(plan.of);
      case "or":
        return this.#or(plan.of);
      case "not":
        return this.#and([plan]);
      default:
        return this.#and([plan]);
    }
  }

  /** Whether a document passes, where that can be said without a list. */
  #filter(plan: Plan): ((doc: number) => boolean) | null {
    if (plan.kind === "range") return this.#range(plan);
    if (plan.kind === "tags") return this.#tags(plan);
    if (plan.kind === "everything") return () => true;
    if (plan.kind !== "not") return null;
    const inner = this.#filter(plan.of);
    if (inner !== null) return (doc) => !inner(doc);
    const { docs, count } = this.#matches(plan.of);
    let at = 0;
    // Documents come in ascending order.
    return (doc) => {
      if (at < count && docs[at]! < doc) at = lowerBound(docs, doc, at, count);
      return at >= count || docs[at] !== doc;
    };
  }

  #range({ column, min, max, minExcluded, maxExcluded }: RangeFilter): (doc: number) => boolean {
    const { values } = this.#replica.column(column) as NumberColumn;
    return (doc) => {
      const value = values[doc]!;
      return (minExcluded ? value > min : value >= min) && (maxExcluded ? value < max : value <= max);
    };
  }

  #tags({ column, any }: TagsFilter): (doc: number) => boolean {
    const values = this.#replica.column(column);
    const wanted = new Set(any);
    if (values instanceof StringColumn) {
      return (doc) => {
        const value = values.value(doc);
        return value !== undefined && wanted.has(value);
      };
    }
    if (!(values instanceof TagsColumn)) return () => false;
    const { names } = values;
    return (doc) => values.tagsOf(doc).some((tag) => wanted.has(names[tag]!));
  }

  #and(plans: readonly Plan[]): Matches {
    const lists = plans.filter((plan) => !isFilter(plan)).map((plan) => this.#matches(plan));
    lists.sort((a, b) => a.count - b.count);
    let found = lists[0] ?? this.#candidates(plans);
    for (const list of lists.slice(1)) found = intersection(found, list);
    for (const plan of plans) if (isFilter(plan)) found = filtered(found, this.#filter(plan)!);
    return found;
  }

  /** Where nothing but filters says which documents: those of a tag, or all. */
  #candidates(plans: readonly Plan[]): Matches {
    for (const plan of plans) {
      if (plan.kind !== "tags" || plan.any.length !== 1) continue;
      const column = this.#replica.column(plan.column);
      if (!(column instanceof TagsColumn)) continue;
      const docs = column.docsOf(plan.any[0]!);
      return { docs, scores: new Float64Array(docs.length), count: docs.length };
    }
    const { ids, count } = this.#replica.documents;
    const docs = new Uint32Array(count);
    let n = 0;
    for (let doc = 0; doc < ids.length; doc++) if (ids[doc] !== undefined) docs[n++] = doc;
    return { docs, scores: new Float64Array(count), count };
  }

  #or(plans: readonly Plan[]): Matches {
    const lists = plans.map((plan) => this.#matches(plan)).filter(({ count }) => count > 0);
    if (lists.length === 0) return NOTHING;
    if (lists.length === 1) return lists[0]!;
    const { end } = this.#replica.documents;
    const set = this.#scratch.set(end);
    const sums = this.#scratch.sums(end);
    for (const { docs, scores, count } of lists) {
      for (let i = 0; i < count; i++) {
        const doc = docs[i]!;
        if (set.add(doc)) sums[doc] = scores[i]!;
        else sums[doc]! += scores[i]!;
      }
    }
    const docs = set.sorted();
    const scores = new Float64Array(docs.length);
    for (let i = 0; i < docs.length; i++) scores[i] = sums[docs[i]!]!;
    return { docs, scores, count: docs.length };
  }
}

function isFilter(plan: Plan): boolean {
  return plan.kind === "range" || plan.kind === "tags" || plan.kind === "everything" || plan.kind === "not";
}

const hasBit = (mask: number, bit: number): boolean =>
  mask < 0x8000_0000 ? (mask & (1 << bit)) !== 0 : Math.floor(mask / 2 ** bit) % 2 === 1;

function isIn(times: Uint32Array, base: number, width: number, mask: number): boolean {
  for (let field = 0; field < width; field++) if (times[base + field]! > 0 && hasBit(mask, field)) return true;
  return false;
}

/** How often the words of a phrase follow each other in a field of a document. */
function occurrences(
  lists: readonly { readonly offset: number; readonly list: Postings }[],
  places: readonly number[],
  field: number,
): number {
  const starts = lists.map(({ list, offset }, at) => {
    const positions = list.positions(places[at]!, field);
    return offset === 0 ? positions : positions.map((position) => position - offset);
  });
  const [first = [], ...others] = starts;
  const sets = others.map((positions) => new Set(positions));
  return first.filter((start) => sets.every((positions) => positions.has(start))).length;
}

/** The shorter goes through the longer: step by step, or by leaps where it is much longer. */
function intersection(a: Matches, b: Matches): Matches {
  const docs = new Uint32Array(a.count);
  const scores = new Float64Array(a.count);
  const leaps = b.count > a.count * 16;
  let n = 0;
  let at = 0;
  for (let i = 0; i < a.count && at < b.count; i++) {
    const doc = a.docs[i]!;
    if (leaps) at = leapTo(b.docs, doc, at, b.count);
    else while (at < b.count && b.docs[at]! < doc) at++;
    if (at < b.count && b.docs[at] === doc) {
      docs[n] = doc;
      scores[n++] = a.scores[i]! + b.scores[at]!;
    }
  }
  return { docs, scores, count: n };
}

/** Doubling steps, then the middle of what was stepped over. */
function leapTo(docs: Uint32Array, doc: number, from: number, to: number): number {
  let step = 1;
  let low = from;
  while (low + step < to && docs[low + step]! < doc) {
    low += step;
    step *= 2;
  }
  return lowerBound(docs, doc, low, Math.min(to, low + step + 1));
}

function filtered({ docs, scores, count }: Matches, passes: (doc: number) => boolean): Matches {
  const keptDocs = new Uint32Array(count);
  const keptScores = new Float64Array(count);
  let n = 0;
  for (let i = 0; i < count; i++) {
    if (!passes(docs[i]!)) continue;
    keptDocs[n] = docs[i]!;
    keptScores[n++] = scores[i]!;
  }
  return { docs: keptDocs, scores: keptScores, count: n };
}

/** Arrays as long as the index, used again by every query. */
export class Scratch {
  #sums = new Float64Array(0);
  #places = new Uint32Array(0);

  sums(end: number): Float64Array {
    if (this.#sums.length < end) this.#sums = new Float64Array(Math.ceil(end * 1.25));
    return this.#sums;
  }

  places(end: number): Uint32Array {
    if (this.#places.length < end) this.#places = new Uint32Array(Math.ceil(end * 1.25));
    return this.#places;
  }

  set(end: number): BitSet {
    return new BitSet(end);
  }
}

/** Documents that come in any order and leave in ascending order. */
class BitSet {
  readonly #bits: Uint32Array;
  #count = 0;

  constructor(end: number) {
    this.#bits = new Uint32Array((end >>> 5) + 1);
  }

  /** False if it was in already. */
  add(doc: number): boolean {
    const at = doc >>> 5;
    const bit = 1 << (doc & 31);
    if ((this.#bits[at]! & bit) !== 0) return false;
    this.#bits[at]! |= bit;
    this.#count++;
    return true;
  }

  sorted(): Uint32Array {
    const docs = new Uint32Array(this.#count);
    const bits = this.#bits;
    let n = 0;
    for (let at = 0; n < docs.length; at++) {
      let left = bits[at]!;
      while (left !== 0) {
        const lowest = left & -left;
        docs[n++] = at * 32 + 31 - Math.clz32(lowest);
        left ^= lowest;
      }
    }
    return docs;
  }
}
