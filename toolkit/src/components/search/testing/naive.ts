/**
 * The naive search that the index is compared with: all documents in a Map, everything computed anew for every query, straight
 * from the definitions in the README. It shares the analyser and the query trees with the index, and nothing else.
 */
import { only, zipped } from "../../../base/lists.ts";
import type { Analyser, Located, Sought } from "../analyser.ts";
import type { Query } from "../query.ts";
import type { Schema } from "../schema.ts";

export type NaiveDocument = Readonly<Record<string, unknown>>;

export interface NaiveAnswer {
  readonly count: number;
  readonly hits: readonly { readonly id: string; readonly score: number }[];
}

interface CountedField {
  readonly name: string;
  /** Of each word. */
  readonly positions: ReadonlyMap<string, readonly number[]>;
  /** How many words it has. */
  readonly length: number;
}

interface Counted {
  readonly fields: readonly CountedField[];
  readonly values: NaiveDocument;
}

/** What matches: by document, how often in each field. */
type Times = Map<string, number[]>;

export class NaiveSearch {
  readonly #schema: Schema;
  /** Of the first field: the schemas that are compared have one for all. */
  readonly #analyser: Analyser;
  readonly #docs = new Map<string, Counted>();

  constructor(schema: Schema, documents: Iterable<readonly [string, NaiveDocument]>) {
    this.#schema = schema;
    const [first] = schema.text;
    if (first === undefined) throw new Error("the naive search needs a text field");
    this.#analyser = first.analyser;
    for (const [id, values] of documents) this.#docs.set(id, count(schema, values));
  }

  search(query: Query): NaiveAnswer {
    const found = this.#evaluate(query) ?? new Map<string, number>();
    const hits = [...found].map(([id, score]) => ({ id, score }));
    return { count: hits.length, hits };
  }

  /** Documents with their scores; null for what is ignored. */
  #evaluate(query: Query): Map<string, number> | null {
    if ("word" in query) {
      const sought = this.#sought(query.word);
      if (sought.length === 0) return null;
      const distinct = new Map(sought.map((each) => [each.words.map(({ word }) => word).join(" "), each]));
      return both([...distinct.values()].map((each) => this.#run(each, query.field, query.boost)));
    }
    if ("prefix" in query || "fuzzy" in query)
      return this.#score(this.#timesOf(this.#alternatives(query), query.field), query.boost);
    if ("phrase" in query) return this.#phrase(query.phrase, query.field, query.boost);
    if ("synonyms" in query) {
      const weights = new Map<string, number>();
      for (const each of query.synonyms) {
        const words =
          "word" in each
            ? this.#sought(each.word).flatMap((some) => some.words.map(({ word }) => [word, 1] as const))
            : this.#alternatives(each);
        for (const [word, weight] of words) weights.set(word, Math.max(weights.get(word) ?? 0, weight));
      }
      return weights.size === 0 ? null : this.#score(this.#timesOf([...weights], undefined), query.boost);
    }
    if ("tags" in query) {
      return this.#where((values) => {
        const value = values[query.tags];
        const tags = Array.isArray(value) ? value : value === undefined ? [] : [value];
        return tags.some((tag) => query.any.includes(tag));
      });
    }
    if ("range" in query) {
      const { min = -Infinity, max = Infinity } = query;
      return this.#where((values) => {
        const value = values[query.range];
        if (typeof value !== "number") return false;
        return (query.minExcluded ? value > min : value >= min) && (query.maxExcluded ? value < max : value <= max);
      });
    }
    if ("everything" in query) return this.#where(() => true);
    if ("not" in query) {
      const inner = this.#evaluate(query.not);
      if (inner === null) return null;
      return new Map([...this.#docs.keys()].filter((id) => !inner.has(id)).map((id) => [id, 0]));
    }
    if ("any" in query) {
      const parts = query.any.map((each) => this.#evaluate(each)).filter((part) => part !== null);
      if (parts.length === 0) return null;
      const sums = new Map<string, number>();
      for (const part of parts) for (const [id, score] of part) sums.set(id, (sums.get(id) ?? 0) + score);
      return sums;
    }
    const kept = query.all.flatMap((each) => {
      const part = this.#evaluate(each);
      return part === null ? [] : [{ each, part }];
    });
    if (kept.length === 0) return null;
    if (kept.length < query.all.length && kept.every(({ each }) => "not" in each)) return null;
    return both(kept.map(({ part }) => part));
  }

  #where(passes: (values: NaiveDocument) => boolean): Map<string, number> {
    return new Map([...this.#docs].filter(([, { values }]) => passes(values)).map(([id]) => [id, 0]));
  }

  #words(text: string): { word: string; position: number }[] {
    const words: { word: string; position: number }[] = [];
    this.#analyser.words(text, (word, position) => words.push({ word, position }));
    return words;
  }

  #sought(text: string): readonly Sought[] {
    return this.#analyser.sought!(text);
  }

  /** As it was asked for, or its words apart, which count a sixteenth. */
  #run({ words, segments }: Sought, field: string | undefined, boost = 1): Map<string, number> {
    const whole = this.#together(words, field, boost);
    if (segments.length < 2) return whole;
    const apart = both(segments.map((each) => this.#together(each, field, boost / 16)));
    for (const [id, score] of apart) whole.set(id, (whole.get(id) ?? 0) + score);
    return whole;
  }

  #alternatives(query: Query): (readonly [string, number])[] {
    const analyser = this.#analyser;
    const all = new Set(
      [...this.#docs.values()].flatMap(({ fields }) => fields.flatMap(({ positions }) => [...positions.keys()])),
    );
    if ("prefix" in query) {
      const folded = analyser.fold(query.prefix);
      const found = folded === "" ? [] : [...all].filter((word) => word.startsWith(folded));
      if (found.length > 0) return found.map((word) => [word, folded.length / word.length] as const);
      const stems = this.#words(query.prefix);
      return folded !== "" && stems.length === 1 ? [[only(stems).word, 1]] : [];
    }
    if (!("fuzzy" in query)) return [];
    const stems = this.#words(query.fuzzy);
    const word = stems.length === 1 ? only(stems).word : analyser.fold(query.fuzzy);
    const near = [...all].map((each) => [each, distance(word, each)] as const);
    return word === ""
      ? []
      : near.filter(([, away]) => away <= (query.distance ?? 1)).map(([each, away]) => [each, 1 / (1 + away)]);
  }

  #timesOf(words: readonly (readonly [string, number])[], field: string | undefined): Times {
    const times: Times = new Map();
    for (const [id, { fields }] of this.#docs) {
      const counts = fields.map(({ name, positions }) => {
        if (field !== undefined && name !== field) return 0;
        return words.reduce((sum, [word, weight]) => sum + weight * (positions.get(word)?.length ?? 0), 0);
      });
      if (counts.some((each) => each > 0)) times.set(id, counts);
    }
    return times;
  }

  #phrase(text: string, field: string | undefined, boost: number | undefined): Map<string, number> | null {
    const words = this.#sought(text).flatMap((each) => each.words);
    return words.length === 0 ? null : this.#together(words, field, boost);
  }

  #together(words: readonly Located[], field: string | undefined, boost: number | undefined): Map<string, number> {
    const times: Times = new Map();
    const [first] = words;
    if (first === undefined) return new Map();
    for (const [id, { fields }] of this.#docs) {
      const counts = fields.map(({ name, positions }) => {
        if (field !== undefined && name !== field) return 0;
        const starts = positions.get(first.word) ?? [];
        return starts.filter((start) =>
          words.every(
            ({ word, position }) => positions.get(word)?.includes(start + position - first.position) === true,
          ),
        ).length;
      });
      if (counts.some((each) => each > 0)) times.set(id, counts);
    }
    return this.#score(times, boost);
  }

  #score(times: Times, boost = 1): Map<string, number> {
    const N = this.#docs.size;
    const n = times.size;
    const { text, k1 } = this.#schema;
    const averages = text.map(({ name }) => {
      const lengths = [...this.#docs.values()].map(({ fields }) => lengthOf(fields, name));
      return lengths.reduce((sum, each) => sum + each, 0) / N;
    });
    const idf = Math.log(1 + (N - n + 0.5) / (n + 0.5));
    const scores = new Map<string, number>();
    for (const [id, counts] of times) {
      const doc = this.#docs.get(id);
      if (doc === undefined) continue;
      let tf = 0;
      for (const [[{ name, weight, b }, times], average] of zipped(zipped(text, counts), averages)) {
        if (times > 0) tf += (weight * times) / (1 - b + (b * lengthOf(doc.fields, name)) / average);
      }
      scores.set(id, (boost * idf * tf * (k1 + 1)) / (tf + k1));
    }
    return scores;
  }
}

function count(schema: Schema, values: NaiveDocument): Counted {
  const fields = schema.text.map(({ name, analyser }) => {
    const positions = new Map<string, number[]>();
    const text = values[name];
    if (typeof text === "string") {
      analyser.words(text, (word, position) => positions.set(word, [...(positions.get(word) ?? []), position]));
    }
    return { name, positions, length: [...positions.values()].reduce((sum, each) => sum + each.length, 0) };
  });
  return { fields, values };
}

/** How many words a field has; none where a document has no such field. */
function lengthOf(fields: Counted["fields"], name: string): number {
  return fields.find((field) => field.name === name)?.length ?? 0;
}

function both(parts: readonly Map<string, number>[]): Map<string, number> {
  const [first, ...others] = parts as [Map<string, number>, ...Map<string, number>[]];
  const sums = new Map(first);
  for (const other of others) {
    for (const [id, score] of sums) {
      const more = other.get(id);
      if (more === undefined) sums.delete(id);
      else sums.set(id, score + more);
    }
  }
  return sums;
}

function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const changed = stepsAt(row, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(stepsAt(next, j - 1) + 1, stepsAt(row, j) + 1, changed));
    }
    row = next;
  }
  return stepsAt(row, b.length);
}

/** No steps lead to what lies outside of the table. */
function stepsAt(row: readonly number[], at: number): number {
  return row[at] ?? Number.POSITIVE_INFINITY;
}
