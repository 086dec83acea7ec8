/**
 * Where columns are. Columns that were there from the beginning are one segment: a string for each shard with a row behind the other.
 * Columns that are added later are a segment of their own, so that adding them rewrites nothing: rows that were there before have
 * zeros in them.
 */
import { InputError } from "../../base/errors.ts";
import { zipped } from "../../base/lists.ts";
import type { Column, ColumnFacts } from "./columns.ts";

/** Columns by their names, in the order in which they are stored. */
export type Schema = Readonly<Record<string, Column<unknown>>>;

/** As it is stored, in JSON. */
export interface StoredSchema {
  readonly version: 1;
  readonly rowsPerShard: number;
  readonly segments: readonly (readonly (ColumnFacts & { readonly name: string })[])[];
}

export interface PlacedColumn extends ColumnFacts {
  readonly name: string;
  readonly segment: number;
  readonly offset: number;
}

export interface Layout {
  readonly rowsPerShard: number;
  readonly columns: ReadonlyMap<string, PlacedColumn>;
  /** How many bytes of each segment are a row. */
  readonly widths: readonly number[];
}

const MAX_COLUMNS = 256;
const MAX_ROW_BYTES = 4_096;

export function storedSchema(schema: Schema, rowsPerShard: number): StoredSchema {
  const columns = Object.entries(schema);
  if (columns.length === 0 || columns.length > MAX_COLUMNS)
    throw new InputError(`a table has 1 to ${MAX_COLUMNS} columns`);
  return { version: 1, rowsPerShard, segments: [columns.map(([name, column]) => factsOf(name, column))] };
}

function factsOf(
  name: string,
  { kind, width, names, grows }: Column<unknown>,
): ColumnFacts & { readonly name: string } {
  if (!/^\w[\w -]{0,63}$/.test(name)) throw new InputError(`"${name}" is not a name for a column`);
  return {
    name,
    kind,
    width,
    ...(names === undefined ? {} : { names }),
    ...(grows === undefined ? {} : { grows }),
  };
}

export function layoutOf(stored: StoredSchema): Layout {
  const columns = new Map<string, PlacedColumn>();
  const widths = stored.segments.map((segment, at) => {
    let offset = 0;
    for (const column of segment) {
      columns.set(column.name, { ...column, segment: at, offset });
      offset += column.width;
    }
    return offset;
  });
  if (widths.reduce((sum, width) => sum + width, 0) > MAX_ROW_BYTES) {
    throw new InputError(`a row must not take more than ${MAX_ROW_BYTES} bytes`);
  }
  return { rowsPerShard: stored.rowsPerShard, columns, widths };
}

/**
 * Compares what is wanted with what is stored: the same columns in the same order, or the first of them, which is what a process has
 * that was started before others were added. Answers what has to be stored: with columns that are new, another segment.
 */
export function reconciled(stored: StoredSchema, wanted: StoredSchema, mayAdd: boolean): StoredSchema {
  const have = stored.segments.flat();
  const want = wanted.segments.flat();
  if (stored.version !== 1) throw new InputError("the table was made by a later version of this program");
  const both = Math.min(have.length, want.length);
  for (const [at, [stands, given]] of zipped(have.slice(0, both), want.slice(0, both)).entries()) {
    const [there, here] = [describe(stands), describe(given)];
    if (there !== here) throw new InputError(`the table has ${there} as its column ${at + 1}, not ${here}`);
  }
  if (stored.rowsPerShard !== wanted.rowsPerShard) {
    throw new InputError(`the table has ${stored.rowsPerShard} rows in a shard, not ${wanted.rowsPerShard}`);
  }
  const more = want.slice(have.length);
  if (more.length === 0) return stored;
  if (!mayAdd) {
    const names = more.map(({ name }) => `"${name}"`).join(", ");
    throw new InputError(`the table has no ${names}: open it with addColumns to add columns at its end`);
  }
  return { ...stored, segments: [...stored.segments, more] };
}

function describe({ name, kind, width, names, grows }: ColumnFacts & { readonly name: string }): string {
  const about = names === undefined ? "" : ` (${names.join(", ")})`;
  return `"${name}" of ${kind}${kind === "bytes" ? ` ${width}` : ""}${about}${grows === false ? " that does not grow" : ""}`;
}
