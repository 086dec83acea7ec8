/** The order of hits: by score, by fields, by weighted sums of both; and what strings have to do with it. */
import { InputError } from "../../base/errors.ts";
import { NumberColumn, StringColumn } from "./columns.ts";
import type { Matches } from "./evaluate.ts";
import type { Replica } from "./replica.ts";
import type { Schema } from "./schema.ts";

/** A document that may be a hit, with what it is ordered by. */
export interface Candidate {
  readonly id: string;
  readonly doc: number;
  readonly shard: number;
  readonly score: number;
  readonly keys: readonly (number | string | undefined)[];
}

const NO_KEYS: readonly never[] = [];

interface Key {
  /** Undefined: by score. */
  readonly field: string | undefined;
  readonly descending: boolean;
}

/**
 * As UTF-8 orders them, which is not what `<` does with characters beyond the first 65 536. Below 0 if `a` comes first.
 *
 * @example
 * ["b", "é", "a"].sort(compareBytes); // → ["a", "b", "é"]
 */
export function compareBytes(a: string, b: string): number {
  const most = Math.min(a.length, b.length);
  for (let at = 0; at < most; at++) {
    const x = a.charCodeAt(at);
    const y = b.charCodeAt(at);
    if (x === y) continue;
    // Surrogates stand for what comes after everything else.
    return (x >= 0xd800 && x < 0xe000 ? x + 0x10000 : x) - (y >= 0xd800 && y < 0xe000 ? y + 0x10000 : y);
  }
  return a.length - b.length;
}

/**
 * A number that orders as the first six bytes of a string do: for scores of sorted sets, and for weighted sums.
 *
 * @example
 * stringScore("ann") < stringScore("ben"); // → true
 */
export function stringScore(text: string): number {
  const bytes = Buffer.from(text, "utf8");
  let score = 0;
  // A byte counts one more than its value, so that "a" is less than "a\0"; 257^6 is well below 2^53.
  for (let at = 0; at < 6; at++) score = score * 257 + (bytes[at] ?? -1) + 1;
  return score;
}

export class Order {
  readonly #keys: readonly Key[];
  /** A score instead of the relevance: the sum of these. */
  readonly #weights: readonly { readonly field: string | undefined; readonly weight: number }[] | null;
  readonly columns: ReadonlySet<string>;

  constructor(
    schema: Schema,
    sort: string | readonly string[] | undefined,
    rank: Readonly<Record<string, number>> | undefined,
  ) {
    const names = sort === undefined ? [] : typeof sort === "string" ? [sort] : sort;
    this.#keys = names.map((name) => {
      const descending = name.startsWith("-");
      const bare = name.replace(/^[-+]/, "");
      if (bare === "relevance") return { field: undefined, descending: !descending };
      if (schema.sortable(bare).type === "tags")
        throw new InputError(`hits cannot be sorted by the tags field "${bare}"`);
      return { field: bare, descending };
    });
    this.#weights = rank === undefined ? null : weights(schema, rank);
    const fields = [...this.#keys, ...(this.#weights ?? [])].flatMap(({ field }) =>
      field === undefined ? [] : [field],
    );
    this.columns = new Set(fields);
  }

  /** Scores as they are ordered by and given back. */
  scored(matches: Matches, replica: Replica): Matches {
    if (this.#weights === null) return matches;
    const { docs, count } = matches;
    const scores = new Float64Array(count);
    for (const { field, weight } of this.#weights) {
      const column = field === undefined ? null : replica.column(field);
      for (let i = 0; i < count; i++) {
        const value =
          column === null
            ? matches.scores[i]!
            : column instanceof NumberColumn
              ? (column.value(docs[i]!) ?? 0)
              : stringScore((column as StringColumn).value(docs[i]!) ?? "");
        scores[i]! += weight * value;
      }
    }
    return { docs, scores, count };
  }

  /** The first `limit` of a shard. */
  top(matches: Matches, limit: number, shard: number, replica: Replica): Candidate[] {
    const { docs, scores, count } = matches;
    const { ids } = replica.documents;
    const columns = this.#keys.map(({ field }) => (field === undefined ? null : replica.column(field)));
    const candidate = (i: number): Candidate => {
      const doc = docs[i]!;
      if (columns.length === 0) return { id: ids[doc]!, doc, shard, score: scores[i]!, keys: NO_KEYS };
      const keys = columns.map((column) => {
        if (column === null) return scores[i]!;
        return column instanceof NumberColumn || column instanceof StringColumn ? column.value(doc) : undefined;
      });
      return { id: ids[doc]!, doc, shard, score: scores[i]!, keys };
    };
    const heap = new Heap<Candidate>(limit, (a, b) => this.compare(a, b));
    if (limit === 0) return [];
    const byScore = this.#keys.length === 0;
    for (let i = 0; i < count; i++) {
      // Most are not among the first, which is seen without making anything of them.
      if (byScore && heap.isFull) {
        const { score, id } = heap.worst;
        if (scores[i]! < score || (scores[i] === score && compareBytes(ids[docs[i]!]!, id) > 0)) continue;
      }
      heap.add(candidate(i));
    }
    return heap.sorted();
  }

  /** Less than 0 if `a` comes first. Of two that are alike, the one with the lesser id. */
  compare(a: Candidate, b: Candidate): number {
    if (this.#keys.length === 0) return a.score === b.score ? compareBytes(a.id, b.id) : b.score - a.score;
    for (const [at, { descending }] of this.#keys.entries()) {
      const x = a.keys[at];
      const y = b.keys[at];
      if (x === y) continue;
      // Those without a value come last, whatever the direction.
      if (x === undefined) return 1;
      if (y === undefined) return -1;
      const order = typeof x === "string" && typeof y === "string" ? compareBytes(x, y) : Number(x) - Number(y);
      if (order !== 0) return descending ? -order : order;
    }
    return compareBytes(a.id, b.id);
  }
}

function weights(
  schema: Schema,
  rank: Readonly<Record<string, number>>,
): { readonly field: string | undefined; readonly weight: number }[] {
  return Object.entries(rank).map(([name, weight]) => {
    if (!Number.isFinite(weight)) throw new InputError(`the weight of "${name}" must be a finite number`);
    if (name === "relevance") return { field: undefined, weight };
    if (schema.sortable(name).type === "tags") throw new InputError(`the tags field "${name}" has no score`);
    return { field: name, weight };
  });
}

/** The first few of many. */
class Heap<T> {
  readonly #limit: number;
  readonly #compare: (a: T, b: T) => number;
  /** The last of them on top. */
  readonly #items: T[] = [];

  constructor(limit: number, compare: (a: T, b: T) => number) {
    this.#limit = limit;
    this.#compare = compare;
  }

  get isFull(): boolean {
    return this.#items.length >= this.#limit;
  }

  get worst(): T {
    return this.#items[0]!;
  }

  add(item: T): void {
    if (!this.isFull) {
      this.#items.push(item);
      this.#rise(this.#items.length - 1);
    } else if (this.#compare(item, this.#items[0]!) < 0) {
      this.#items[0] = item;
      this.#sink();
    }
  }

  #rise(from: number): void {
    const items = this.#items;
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >>> 1;
      if (this.#compare(items[at]!, items[parent]!) <= 0) return;
      [items[at], items[parent]] = [items[parent]!, items[at]!];
      at = parent;
    }
  }

  #sink(): void {
    const items = this.#items;
    let at = 0;
    for (;;) {
      let last = at;
      for (const child of [at * 2 + 1, at * 2 + 2]) {
        if (child < items.length && this.#compare(items[child]!, items[last]!) > 0) last = child;
      }
      if (last === at) return;
      [items[at], items[last]] = [items[last]!, items[at]!];
      at = last;
    }
  }

  sorted(): T[] {
    return this.#items.sort(this.#compare);
  }
}
