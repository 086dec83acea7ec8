/** How many of the documents found have which tag, or a number in which range. */
import { InputError } from "../../base/errors.ts";
import { type NumberColumn, StringColumn, TagsColumn } from "./columns.ts";
import type { Matches } from "./evaluate.ts";
import { compareBytes } from "./order.ts";
import type { Replica } from "./replica.ts";
import type { Schema } from "./schema.ts";

/** Of a tags or string field: the most frequent values. Of a number field: the limits between ranges. */
export interface FacetOptions {
  readonly limit?: number;
  readonly buckets?: readonly number[];
}

export type FacetRequests = Readonly<Record<string, true | FacetOptions>>;

export interface FacetValue {
  readonly value: string;
  readonly count: number;
}

export interface FacetRange {
  /** Included; null: no limit. */
  readonly from: number | null;
  /** Not included. */
  readonly to: number | null;
  readonly count: number;
}

export type Facets = Readonly<Record<string, readonly FacetValue[] | readonly FacetRange[]>>;

const DEFAULT_VALUES = 10;

export class FacetCounts {
  readonly columns: ReadonlySet<string>;
  readonly #requests: readonly { readonly field: string; readonly options: FacetOptions }[];
  readonly #values = new Map<string, Map<string, number>>();
  readonly #ranges = new Map<string, number[]>();

  constructor(schema: Schema, requests: FacetRequests) {
    this.#requests = Object.entries(requests).map(([field, options]) => ({
      field,
      options: options === true ? {} : options,
    }));
    this.columns = new Set(this.#requests.map(({ field }) => field));
    for (const { field, options } of this.#requests) {
      const { type } = schema.sortable(field);
      if ((type === "number") !== (options.buckets !== undefined)) {
        throw new InputError(`facets of a number field have buckets, others have not: "${field}"`);
      }
      const { buckets } = options;
      if (buckets === undefined) this.#values.set(field, new Map());
      else {
        if (
          buckets.length === 0 ||
          buckets.length > 1_000 ||
          buckets.some((each, at) => !(at === 0 || each > buckets[at - 1]!))
        ) {
          throw new InputError(`the buckets of "${field}" must be 1 to 1000 ascending numbers`);
        }
        this.#ranges.set(field, new Array(buckets.length + 1).fill(0));
      }
    }
  }

  /** Adds what a shard found. */
  add(matches: Matches, replica: Replica): void {
    for (const { field, options } of this.#requests) {
      const column = replica.column(field);
      if (column instanceof TagsColumn) this.#addTags(field, column, matches);
      else if (column instanceof StringColumn) this.#addStrings(field, column, matches);
      else this.#addNumbers(field, column as NumberColumn, options.buckets!, matches);
    }
  }

  #addTags(field: string, column: TagsColumn, { docs, count }: Matches): void {
    const counts = new Uint32Array(column.names.length);
    for (let i = 0; i < count; i++) for (const tag of column.tagsOf(docs[i]!)) counts[tag]!++;
    const values = this.#values.get(field)!;
    for (const [tag, times] of counts.entries()) {
      if (times > 0) values.set(column.names[tag]!, (values.get(column.names[tag]!) ?? 0) + times);
    }
  }

  #addStrings(field: string, column: StringColumn, { docs, count }: Matches): void {
    const values = this.#values.get(field)!;
    for (let i = 0; i < count; i++) {
      const value = column.value(docs[i]!);
      if (value !== undefined) values.set(value, (values.get(value) ?? 0) + 1);
    }
  }

  #addNumbers(field: string, column: NumberColumn, buckets: readonly number[], { docs, count }: Matches): void {
    const ranges = this.#ranges.get(field)!;
    for (let i = 0; i < count; i++) {
      const value = column.value(docs[i]!);
      if (value === undefined) continue;
      let low = 0;
      let high = buckets.length;
      while (low < high) {
        const middle = (low + high) >>> 1;
        if (buckets[middle]! <= value) low = middle + 1;
        else high = middle;
      }
      ranges[low]!++;
    }
  }

  result(): Facets {
    const entries = this.#requests.map(({ field, options }) => {
      const { buckets, limit = DEFAULT_VALUES } = options;
      if (buckets !== undefined) {
        const counts = this.#ranges.get(field)!;
        const ranges = counts.map((count, at) => ({ from: buckets[at - 1] ?? null, to: buckets[at] ?? null, count }));
        return [field, ranges] as const;
      }
      const values = [...this.#values.get(field)!].map(([value, count]) => ({ value, count }));
      values.sort((a, b) => b.count - a.count || compareBytes(a.value, b.value));
      return [field, values.slice(0, limit)] as const;
    });
    return Object.fromEntries(entries);
  }
}
