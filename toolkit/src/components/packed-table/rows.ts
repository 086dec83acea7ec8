/** Rows as values and as bytes: which parts of a row are to be written, and what the bytes of one mean. */
import { InputError } from "../../base/errors.ts";
import { fromNumber, readNumber, toNumber, writeNumber } from "./columns.ts";
import type { Dictionary } from "./dictionary.ts";
import type { Layout, PlacedColumn } from "./layout.ts";

type Values = Readonly<Record<string, unknown>>;

/** Bytes of a row, to be written to one of its segments. */
export interface Part {
  readonly row: number;
  readonly segment: number;
  readonly offset: number;
  readonly bytes: Buffer;
}

export class Rows {
  readonly #layout: Layout;
  readonly #columns: readonly PlacedColumn[];
  readonly #dictionaries: ReadonlyMap<string, Dictionary>;
  readonly #rowBytes: number;

  /** `columns`: those that the caller knows. */
  constructor(layout: Layout, columns: readonly PlacedColumn[], dictionaries: ReadonlyMap<string, Dictionary>) {
    this.#layout = layout;
    this.#columns = columns;
    this.#dictionaries = dictionaries;
    this.#rowBytes = layout.widths.reduce((sum, width) => sum + width, 0);
  }

  /** Has codes for the words of these rows afterwards. */
  async ensureWords(rows: readonly Values[]): Promise<void> {
    for (const { name } of this.#columns) {
      const dictionary = this.#dictionaries.get(name);
      if (dictionary === undefined) continue;
      const wanted = new Set<string>();
      for (const row of rows) {
        const value = row[name];
        if (value === undefined || value === null) continue;
        if (typeof value !== "string") throw new InputError(`"${name}" must be a word or null`);
        wanted.add(value);
      }
      await dictionary.ensure(wanted);
    }
  }

  /** What is given of a row; columns that lie side by side are one part. */
  partsOf(row: number, values: Values): Part[] {
    for (const name of Object.keys(values)) {
      if (!this.#columns.some((column) => column.name === name))
        throw new InputError(`the table has no column "${name}"`);
    }
    const parts: { segment: number; offset: number; bytes: Buffer[]; end: number }[] = [];
    for (const column of this.#columns) {
      const value = values[column.name];
      if (value === undefined) continue;
      const { segment, offset, width } = column;
      const last = parts.at(-1);
      const bytes = this.#encode(column, value);
      if (last !== undefined && last.segment === segment && last.end === offset) {
        last.bytes.push(bytes);
        last.end += width;
      } else parts.push({ segment, offset, bytes: [bytes], end: offset + width });
    }
    if (parts.length === 0) return [{ row, segment: 0, offset: 0, bytes: Buffer.alloc(0) }];
    return parts.map(({ segment, offset, bytes }) => {
      const [first] = bytes;
      const joined = first !== undefined && bytes.length === 1 ? first : Buffer.concat(bytes);
      return { row, segment, offset, bytes: joined };
    });
  }

  #encode(column: PlacedColumn, value: unknown): Buffer {
    const { name, kind, width } = column;
    if (kind === "bytes") {
      if (!(value instanceof Uint8Array) || value.length !== width) {
        throw new InputError(`"${name}" must be ${width} bytes`);
      }
      return Buffer.from(value);
    }
    const bytes = Buffer.alloc(width);
    const dictionary = this.#dictionaries.get(name);
    let number: number;
    if (dictionary === undefined) number = toNumber(`"${name}"`, column, value);
    else number = value === null ? 0 : dictionary.codeOf(value as string)!;
    writeNumber(bytes, 0, column, number);
    return bytes;
  }

  /** Where a column lies in a row whose segments are behind each other. */
  #offsetOf({ segment, offset }: PlacedColumn): number {
    let before = 0;
    for (let each = 0; each < segment; each++) before += this.#layout.widths[each]!;
    return before + offset;
  }

  decode(bytes: Buffer): Record<string, unknown> {
    const row: Record<string, unknown> = {};
    for (const column of this.#columns) {
      const at = this.#offsetOf(column);
      if (column.kind === "bytes") {
        row[column.name] = Buffer.from(bytes.subarray(at, at + column.width));
        continue;
      }
      const number = readNumber(bytes, at, column);
      const dictionary = this.#dictionaries.get(column.name);
      row[column.name] = dictionary === undefined ? fromNumber(column, number) : dictionary.wordOf(number);
    }
    return row;
  }

  /** Asks for words that others have added since. */
  async refresh(rows: readonly Buffer[]): Promise<void> {
    for (const column of this.#columns) {
      const dictionary = this.#dictionaries.get(column.name);
      const at = this.#offsetOf(column);
      await dictionary?.refresh(rows.map((bytes) => readNumber(bytes, at, column)));
    }
  }

  /** The rows of a part of a shard, by their places in it. */
  rowsIn(marks: Buffer, segments: readonly Buffer[]): [number, Buffer][] {
    const found: [number, Buffer][] = [];
    const { widths } = this.#layout;
    for (let row = 0; row < marks.length * 8; row++) {
      if (((marks[row >> 3]! >> (7 - (row & 7))) & 1) === 0) continue;
      const bytes = Buffer.alloc(this.#rowBytes);
      let to = 0;
      segments.forEach((segment, nth) => {
        const width = widths[nth]!;
        segment.copy(bytes, to, row * width, (row + 1) * width);
        to += width;
      });
      found.push([row, bytes]);
    }
    return found;
  }
}
