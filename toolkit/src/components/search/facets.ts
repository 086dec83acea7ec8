/** How many of the documents found have which tag, or a number in which range. */
import { InputError } from "../../base/errors.ts";
import { zipped } from "../../base/lists.ts";
import { type NumberColumn, StringColumn, TagsColumn } from "./columns.ts";
import type { Matches } from "./evaluate.ts";
import { compareBytes } from "./order.ts";
import type { Replica } from "./replica.ts";
import type { Schema } from "./schema.ts";

/** Of a tags or string field: the most frequent values. Of a number field: the limits between ranges. */
export interface FacetOptions {
  /** How many values of a tags or string field (default 10); the most frequent. */
  readonly limit?: number;
  /** The limits between the ranges of a number field, which needs them: 1 to 1 000 ascending numbers. None by default. */
  readonly buckets?: readonly number[];
}

/** What to count, by field: `true` for the ten most frequent values, or options. */
export type FacetRequests = Readonly<Record<string, true | FacetOptions>>;

/** How many of the documents found have a value. */
export interface FacetValue {
  /** The tag or string. */
  readonly value: string;
  /** Documents with it, of all that were found. */
  readonly count: number;
}

/** How many of the documents found have a number in a range. */
export interface FacetRange {
  /** Included; null: no limit. */
  readonly from: number | null;
  /** Not included. */
  readonly to: number | null;
  /** Documents with a number in the range, of all that were found. */
  readonly count: number;
}

/** What was counted, by field: values of tags and strings, ranges of numbers. */
export type Facets = Readonly<Record<string, readonly FacetValue[] | readonly FacetRange[]>>;

const DEFAULT_VALUES = 10;

/** What is counted of a field: numbers in ranges between buckets, or the values themselves. */
type Counted =
  | { readonly field: string; readonly buckets: readonly number[]; readonly ranges: number[] }
  | {
      readonly field: string;
      readonly buckets?: undefined;
      readonly limit: number;
      readonly values: Map<string, number>;
    };

export class FacetCounts {
  readonly columns: ReadonlySet<string>;
  readonly #counted: readonly Counted[];

  constructor(schema: Schema, requests: FacetRequests) {
    this.#counted = Object.entries(requests).map(([field, options]) =>
      countedIn(schema, field, options === true ? {} : options),
    );
    this.columns = new Set(this.#counted.map(({ field }) => field));
  }

  /** Adds what a shard found. */
  add(matches: Matches, replica: Replica): void {
    for (const counted of this.#counted) {
      const column = replica.column(counted.field);
      if (counted.buckets !== undefined) addNumbers(counted.ranges, column as NumberColumn, counted.buckets, matches);
      else if (column instanceof TagsColumn) addTags(counted.values, column, matches);
      else if (column instanceof StringColumn) addStrings(counted.values, column, matches);
    }
  }

  result(): Facets {
    const entries = this.#counted.map((counted) => {
      const { field, buckets } = counted;
      if (buckets !== undefined) {
        const ranges = counted.ranges.map((count, at) => {
          return { from: buckets[at - 1] ?? null, to: buckets[at] ?? null, count };
        });
        return [field, ranges] as const;
      }
      const values = [...counted.values].map(([value, count]) => ({ value, count }));
      values.sort((a, b) => b.count - a.count || compareBytes(a.value, b.value));
      return [field, values.slice(0, counted.limit)] as const;
    });
    return Object.fromEntries(entries);
  }
}

function countedIn(schema: Schema, field: string, { buckets, limit = DEFAULT_VALUES }: FacetOptions): Counted {
  const { type } = schema.sortable(field);
  if ((type === "number") !== (buckets !== undefined)) {
    throw new InputError(`facets of a number field have buckets, others have not: "${field}"`);
  }
  if (buckets === undefined) return { field, limit, values: new Map() };
  const isAscending = zipped(buckets.slice(1), buckets.slice(0, -1)).every(([each, before]) => each > before);
  if (buckets.length === 0 || buckets.length > 1_000 || !isAscending) {
    throw new InputError(`the buckets of "${field}" must be 1 to 1000 ascending numbers`);
  }
  return { field, buckets, ranges: new Array(buckets.length + 1).fill(0) };
}

function addTags(values: Map<string, number>, column: TagsColumn, { docs, count }: Matches): void {
  const counts = new Uint32Array(column.names.length);
  for (let i = 0; i < count; i++) for (const tag of column.tagsOf(docs[i]!)) counts[tag]!++;
  for (const [tag, name] of column.names.entries()) {
    const times = counts[tag]!;
    if (times > 0) values.set(name, (values.get(name) ?? 0) + times);
  }
}

function addStrings(values: Map<string, number>, column: StringColumn, { docs, count }: Matches): void {
  for (let i = 0; i < count; i++) {
    const value = column.value(docs[i]!);
    if (value !== undefined) values.set(value, (values.get(value) ?? 0) + 1);
  }
}

function addNumbers(
  ranges: number[],
  column: NumberColumn,
  buckets: readonly number[],
  { docs, count }: Matches,
): void {
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
