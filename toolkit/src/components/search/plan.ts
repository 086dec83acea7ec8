/**
 * From a query to what is to be looked up: words as the analysers make them, beginnings and misspelt words as the words they
 * stand for. A plan is made anew when the words of the index have changed; what it found is shared by all shards.
 */
import { integer } from "../../base/checks.ts";
import { InputError } from "../../base/errors.ts";
import { only } from "../../base/lists.ts";
import { PICTURES } from "../../text/scripts.ts";
import type { Analyser, Located, Sought } from "./analyser.ts";
import type { Query } from "./query.ts";
import { ranged, type Schema } from "./schema.ts";
import { byNearness, type Found, type Vocabulary as WholeVocabulary } from "./vocabulary.ts";

type Vocabulary = Pick<WholeVocabulary, "beginningWith" | "near">;

/** A word in some text fields (bits), with what its occurrences count. */
export interface Entry {
  readonly word: string;
  readonly weight: number;
  readonly mask: number;
}

/** Entries that count as one word. */
export interface WordsLeaf {
  readonly kind: "words";
  readonly text: string;
  readonly entries: readonly Entry[];
  readonly boost: number;
}

export interface PhraseLeaf {
  readonly kind: "phrase";
  readonly text: string;
  readonly words: readonly { readonly word: string; readonly offset: number }[];
  readonly mask: number;
  readonly boost: number;
}

export type Leaf = WordsLeaf | PhraseLeaf;

export interface RangeFilter {
  readonly kind: "range";
  readonly column: string;
  readonly min: number;
  readonly max: number;
  readonly minExcluded: boolean;
  readonly maxExcluded: boolean;
}

export interface TagsFilter {
  readonly kind: "tags";
  readonly column: string;
  readonly any: readonly string[];
}

export type Plan =
  | Leaf
  | RangeFilter
  | TagsFilter
  | { readonly kind: "everything" }
  | { readonly kind: "and" | "or"; readonly of: readonly Plan[] }
  | { readonly kind: "not"; readonly of: Plan };

export interface Planned {
  /** Null: nothing can match, and `ignored` or `notes` say why. */
  readonly plan: Plan | null;
  readonly words: ReadonlySet<string>;
  readonly columns: ReadonlySet<string>;
  /** Whether it depends on which words there are. */
  readonly expands: boolean;
  readonly ignored: readonly { readonly text: string; readonly why: string }[];
  readonly notes: readonly string[];
  /** False if some beginning or misspelt word stands for more words than are looked up. */
  readonly complete: boolean;
}

const MAX_DEPTH = 64;
const MAX_NODES = 1_024;
/** What the words of a run count when they stand apart, against the run as it was asked for. */
const APART = 1 / 16;
const HAS_WORD = new RegExp(`[\\p{L}\\p{N}${PICTURES}]`, "u");

export class Planner {
  readonly #schema: Schema;
  readonly #vocabularies: readonly Vocabulary[];
  readonly #maxExpansions: number;
  readonly #everyField: number;
  readonly #analysers: readonly { readonly analyser: Analyser; readonly mask: number }[];
  #words = new Set<string>();
  #columns = new Set<string>();
  #ignored: { text: string; why: string }[] = [];
  #notes: string[] = [];
  #expands = false;
  #complete = true;
  #nodes = 0;

  constructor(schema: Schema, vocabularies: readonly Vocabulary[], maxExpansions: number) {
    this.#schema = schema;
    this.#vocabularies = vocabularies;
    this.#maxExpansions = maxExpansions;
    this.#everyField = 2 ** schema.text.length - 1;
    this.#analysers = this.#grouped(this.#everyField);
  }

  plan(query: Query): Planned {
    this.#words = new Set();
    this.#columns = new Set();
    this.#ignored = [];
    this.#notes = [];
    this.#expands = false;
    this.#complete = true;
    this.#nodes = 0;
    const plan = this.#node(query, 0);
    return {
      plan,
      words: this.#words,
      columns: this.#columns,
      expands: this.#expands,
      ignored: this.#ignored,
      notes: this.#notes,
      complete: this.#complete,
    };
  }

  #node(query: Query, depth: number): Plan | null {
    if (depth > MAX_DEPTH || ++this.#nodes > MAX_NODES) {
      throw new InputError(`a query has at most ${MAX_NODES} parts, ${MAX_DEPTH} in each other`);
    }
    if ("word" in query) return this.#word(query);
    if ("prefix" in query || "fuzzy" in query) return this.#leaf(this.#expanded(query), query);
    if ("phrase" in query) return this.#phrase(query);
    if ("synonyms" in query) return this.#synonyms(query.synonyms, query.boost);
    if ("all" in query) return this.#all(query.all, depth);
    if ("tags" in query) return this.#tags(query);
    if ("any" in query) return joined("or", this.#nodesOf(query.any, depth));
    if ("not" in query) {
      const of = this.#node(query.not, depth + 1);
      return of === null ? null : { kind: "not", of };
    }
    if ("range" in query) return this.#range(query);
    if ("everything" in query) return { kind: "everything" };
    throw new InputError(`a query has no part like ${JSON.stringify(query)}`);
  }

  #all(queries: readonly Query[], depth: number): Plan | null {
    const plans = this.#nodesOf(queries, depth);
    const isOnlyExclusions = plans.every(({ kind }) => kind === "not");
    // "the -proxy" does not ask for everything without "proxy".
    if (isOnlyExclusions && plans.length < queries.length) return null;
    return joined("and", plans);
  }

  #nodesOf(queries: readonly Query[], depth: number): Plan[] {
    if (!Array.isArray(queries)) throw new InputError("all, any and synonyms take a list of queries");
    return queries.map((each) => this.#node(each, depth + 1)).filter((plan) => plan !== null);
  }

  #mask(field: string | undefined): number {
    if (field === undefined) return this.#everyField;
    const at = this.#schema.textAt(field);
    if (at < 0) throw new InputError(`there is no text field "${field}"`);
    return 2 ** at;
  }

  /** The analysers of some fields, each with those that it is for. */
  #grouped(mask: number): { readonly analyser: Analyser; readonly mask: number }[] {
    const masks = new Map<string, { analyser: Analyser; mask: number }>();
    this.#schema.text.forEach(({ analyser }, at) => {
      if (Math.floor(mask / 2 ** at) % 2 === 0) return;
      const known = masks.get(analyser.name) ?? { analyser, mask: 0 };
      masks.set(analyser.name, { analyser, mask: known.mask + 2 ** at });
    });
    return [...masks.values()];
  }

  #analysersOf(mask: number): readonly { readonly analyser: Analyser; readonly mask: number }[] {
    return mask === this.#everyField ? this.#analysers : this.#grouped(mask);
  }

  #ignore(text: string): null {
    this.#ignored.push({ text, why: HAS_WORD.test(text) ? "stop word" : "no word in it" });
    return null;
  }

  #word(query: { readonly word: string; readonly field?: string; readonly boost?: number }): Plan | null {
    const ways = this.#analysersOf(this.#mask(query.field)).map(({ analyser, mask }) => ({
      mask,
      sought: soughtBy(analyser, query.word),
    }));
    const some = ways.filter(({ sought }) => sought.length > 0);
    if (some.length === 0) return this.#ignore(query.word);
    const entries = some.flatMap(({ mask, sought }) => {
      const word = singleIn(sought);
      return word === null ? [] : [{ word, weight: 1, mask }];
    });
    if (entries.length === some.length) return this.#leaf(entries, query);
    // What is one word to the user may be several to the analyser: all of them, in the fields of one analyser.
    const boost = boostOf(query.boost);
    return joined(
      "or",
      some.map(({ mask, sought }) =>
        joined(
          "and",
          distinct(sought).map((each) => this.#sought(each, mask, boost)),
        ),
      ),
    );
  }

  /** What stands together as it was asked for is worth more than its parts in different places. */
  #sought({ words, segments }: Sought, mask: number, boost: number): Plan {
    const text = words.map(({ word }) => word).join(" ");
    if (segments.length < 2) return this.#together(words, mask, text, boost);
    const parts = segments.map((each) => {
      const part = each.map(({ word }) => word).join(" ");
      return this.#together(each, mask, part, boost * APART);
    });
    return { kind: "or", of: [this.#together(words, mask, text, boost), { kind: "and", of: parts }] };
  }

  /** Words at their distances from each other. */
  #together(words: readonly Located[], mask: number, text: string, boost: number): Plan {
    for (const { word } of words) this.#words.add(word);
    if (words.length === 1)
      return { kind: "words", text, entries: [{ word: only(words).word, weight: 1, mask }], boost };
    if (!this.#schema.positions) {
      this.#notes.push("the index keeps no positions; a phrase asks for all of its words");
      const single = [...new Set(words.map(({ word }) => word))];
      const leaves = single.map((word) => this.#leaf([{ word, weight: 1, mask }], { word, boost }));
      return leaves.length === 1 ? only(leaves) : { kind: "and", of: leaves };
    }
    const first = words[0]!.position;
    const offsets = words.map(({ word, position }) => ({ word, offset: position - first }));
    return { kind: "phrase", text, words: offsets, mask, boost };
  }

  #leaf(entries: readonly Entry[], query: Query & { readonly boost?: number }): Leaf {
    const text = "word" in query ? query.word : "prefix" in query ? `${query.prefix}*` : textOf(query);
    if (entries.length === 0) return { kind: "words", text, entries, boost: 1 };
    for (const { word } of entries) this.#words.add(word);
    return { kind: "words", text, entries, boost: boostOf(query.boost) };
  }

  #expanded(
    query:
      | { readonly prefix: string; readonly field?: string }
      | { readonly fuzzy: string; readonly distance?: 1 | 2; readonly field?: string },
  ): Entry[] {
    this.#expands = true;
    return this.#analysersOf(this.#mask(query.field)).flatMap(({ analyser, mask }) =>
      ("prefix" in query ? this.#beginning(query.prefix, analyser) : this.#near(query, analyser)).map((each) => ({
        ...each,
        mask,
      })),
    );
  }

  /** A word that begins so counts by how much of it was typed. */
  #beginning(prefix: string, analyser: Analyser): { readonly word: string; readonly weight: number }[] {
    const folded = analyser.fold(prefix);
    if (folded === "") return [];
    const found = this.#everywhere((words) => words.beginningWith(folded, this.#maxExpansions), prefix);
    const entries = found.map(({ word }) => ({ word, weight: folded.length / word.length }));
    if (entries.length > 0) return entries;
    // The word may be typed in full, and stand in the index without its ending.
    const stems = wordsOf(analyser, prefix);
    return stems.length === 1 ? [{ word: only(stems).word, weight: 1 }] : [];
  }

  #near(
    query: { readonly fuzzy: string; readonly distance?: 1 | 2 },
    analyser: Analyser,
  ): { readonly word: string; readonly weight: number }[] {
    const distance = integer("distance", query.distance ?? 1, 1, 2);
    const stems = wordsOf(analyser, query.fuzzy);
    const word = stems.length === 1 ? only(stems).word : analyser.fold(query.fuzzy);
    if (word === "") return [];
    const found = this.#everywhere((words) => words.near(word, distance, this.#maxExpansions), query.fuzzy);
    return found.map((each) => ({ word: each.word, weight: 1 / (1 + each.distance) }));
  }

  /** The first in the order of nearness, over the words of all shards. */
  #everywhere(
    look: (words: Vocabulary) => { readonly found: readonly Found[]; readonly all: boolean },
    text: string,
  ): readonly Found[] {
    const answers = this.#vocabularies.map(look);
    let found = answers[0]?.found ?? [];
    if (answers.length > 1) {
      const all = new Map(answers.flatMap((answer) => answer.found).map((each) => [each.word, each]));
      found = [...all.values()].sort(byNearness);
    }
    if (answers.some(({ all }) => !all) || found.length > this.#maxExpansions) {
      this.#complete = false;
      this.#notes.push(`"${text}" stands for more than ${this.#maxExpansions} words; only the nearest were looked up`);
    }
    return found.slice(0, this.#maxExpansions);
  }

  #synonyms(queries: readonly Query[], boost: number | undefined): Plan | null {
    const entries: Entry[] = [];
    for (const query of queries) {
      if ("prefix" in query || "fuzzy" in query) for (const entry of this.#expanded(query)) entries.push(entry);
      else if ("word" in query) {
        const plan = this.#word(query);
        if (plan === null) continue;
        if (plan.kind !== "words") {
          this.#notes.push(`"${query.word}" is several words and cannot be a synonym; all of them count as one`);
          for (const { analyser, mask } of this.#analysersOf(this.#mask(query.field))) {
            for (const { words } of soughtBy(analyser, query.word)) {
              for (const { word } of words) entries.push({ word, weight: 1, mask });
            }
          }
        } else {
          for (const entry of plan.entries) entries.push(entry);
        }
      } else throw new InputError("synonyms are words, prefixes and fuzzy words");
    }
    if (entries.length === 0) return null;
    // A word that is meant twice counts once, as much as the more of the two.
    const merged = new Map<string, Entry>();
    for (const entry of entries) {
      const key = `${entry.mask} ${entry.word}`;
      const known = merged.get(key);
      if (known === undefined || known.weight < entry.weight) merged.set(key, entry);
    }
    return this.#leaf([...merged.values()], { synonyms: queries, ...(boost === undefined ? {} : { boost }) });
  }

  #phrase(query: { readonly phrase: string; readonly field?: string; readonly boost?: number }): Plan | null {
    const plans = this.#analysersOf(this.#mask(query.field)).flatMap(({ analyser, mask }): Plan[] => {
      const words = soughtBy(analyser, query.phrase).flatMap((each) => each.words);
      if (words.length === 0) return [];
      return [this.#together(words, mask, `"${query.phrase}"`, boostOf(query.boost))];
    });
    return plans.length === 0 ? this.#ignore(query.phrase) : joined("or", plans);
  }

  #range(query: Extract<Query, { readonly range: string }>): RangeFilter {
    const column = this.#schema.sortable(query.range);
    if (column.type !== "number") throw new InputError(`"${query.range}" is no number field`);
    this.#columns.add(column.name);
    const { min = -Infinity, max = Infinity, minExcluded = false, maxExcluded = false } = query;
    return { kind: "range", column: column.name, min, max, minExcluded, maxExcluded };
  }

  #tags(query: { readonly tags: string; readonly any: readonly string[] }): TagsFilter {
    const column = this.#schema.sortable(query.tags);
    if (column.type === "number") throw new InputError(`"${query.tags}" is a number field`);
    this.#columns.add(column.name);
    return { kind: "tags", column: column.name, any: [...query.any] };
  }
}

export function wordsOf(analyser: Analyser, text: string): Located[] {
  const words: Located[] = [];
  analyser.words(text, (word, position) => words.push({ word, position }));
  return words;
}

function soughtBy(analyser: Analyser, text: string): readonly Sought[] {
  return analyser.sought?.(text) ?? wordsOf(analyser, text).map((each) => ({ words: [each], segments: [] }));
}

/** A word that stands there twice is asked for once. */
function distinct(sought: readonly Sought[]): Sought[] {
  return [...new Map(sought.map((each) => [each.words.map(({ word }) => word).join(" "), each])).values()];
}

function textOf(query: Query): string {
  if ("fuzzy" in query) return `${query.fuzzy}~${query.distance ?? 1}`;
  if ("word" in query) return query.word;
  if ("prefix" in query) return `${query.prefix}*`;
  return "synonyms" in query ? query.synonyms.map(textOf).join(" +") : "";
}

function boostOf(boost: number | undefined): number {
  return boost === undefined ? 1 : ranged("boost", boost, 0, 1_000);
}

function joined(kind: "and" | "or", plans: readonly (Plan | null)[]): Plan | null {
  const of = plans.filter((plan) => plan !== null);
  const [first] = of;
  return first === undefined ? null : of.length === 1 ? first : { kind, of };
}

/** The word, if what is sought is a single one. */
function singleIn(sought: readonly Sought[]): string | null {
  const [first] = sought;
  if (first === undefined || sought.length > 1 || first.words.length > 1) return null;
  return first.words[0]?.word ?? null;
}
