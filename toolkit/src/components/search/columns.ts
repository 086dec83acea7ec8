/**
 * What a reader knows of all documents: their ids and the lengths of their fields, and the values of the number, string and tags
 * fields that its queries use. Each is a log (log.ts) that is followed; documents are addressed by their number.
 */
import { Cursor, HEADER_BYTES } from "./log.ts";

/** A log that is followed from its beginning. */
export interface Followed {
  readonly length: number;
  readonly generation: Buffer;
  readonly sizeBytes: number;
  replace(log: Buffer): void;
  append(bytes: Buffer): void;
}

abstract class Table implements Followed {
  length = 0;
  generation: Buffer = Buffer.alloc(HEADER_BYTES);
  /** Goes up with every change. */
  revision = 0;

  replace(log: Buffer): void {
    this.clear();
    this.generation = Buffer.from(log.subarray(0, HEADER_BYTES));
    this.length = HEADER_BYTES;
    this.append(log.subarray(HEADER_BYTES));
  }

  append(bytes: Buffer): void {
    this.length += bytes.length;
    this.revision++;
    const cursor = new Cursor(bytes);
    while (!cursor.atEnd) this.read(cursor.varint(), cursor);
  }

  abstract get sizeBytes(): number;
  protected abstract clear(): void;
  protected abstract read(doc: number, cursor: Cursor): void;
}

export class Documents extends Table {
  readonly #textFields: number;
  /** By number; undefined for numbers that no document has. */
  ids: (string | undefined)[] = [];
  count = 0;
  /** For each text field, its length in each document. */
  lengths: Uint32Array[];
  /** For each text field, the sum of its lengths. */
  totals: Float64Array;

  constructor(textFields: number) {
    super();
    this.#textFields = textFields;
    this.lengths = [];
    this.totals = new Float64Array(textFields);
    this.clear();
  }

  /** One more than the highest number. */
  get end(): number {
    return this.ids.length;
  }

  get sizeBytes(): number {
    return this.ids.length * (40 + 4 * this.#textFields);
  }

  protected clear(): void {
    this.ids = [];
    this.count = 0;
    this.revision++;
    this.lengths = Array.from({ length: this.#textFields }, () => new Uint32Array(0));
    this.totals = new Float64Array(this.#textFields);
  }

  protected read(doc: number, cursor: Cursor): void {
    const size = cursor.varint();
    const id = size === 0 ? undefined : cursor.text(size);
    while (this.ids.length <= doc) this.ids.push(undefined);
    const before = this.ids[doc];
    this.count += (id === undefined ? 0 : 1) - (before === undefined ? 0 : 1);
    this.ids[doc] = id;
    for (let field = 0; field < this.#textFields; field++) {
      const length = id === undefined ? 0 : cursor.varint();
      let lengths = this.lengths[field]!;
      if (doc >= lengths.length) {
        const larger = new Uint32Array(Math.max(doc + 1, lengths.length * 2, 64));
        larger.set(lengths);
        this.lengths[field] = lengths = larger;
      }
      this.totals[field]! += length - lengths[doc]!;
      lengths[doc] = length;
    }
  }
}

export class NumberColumn extends Table {
  /** By number of the document; NaN where there is none. */
  values = new Float64Array(0);

  get sizeBytes(): number {
    return this.values.length * 8;
  }

  value(doc: number): number | undefined {
    const value = this.values[doc];
    return value === undefined || Number.isNaN(value) ? undefined : value;
  }

  protected clear(): void {
    this.values = new Float64Array(0);
  }

  protected read(doc: number, cursor: Cursor): void {
    const value = cursor.varint() === 0 ? Number.NaN : cursor.double();
    if (doc >= this.values.length) {
      const larger = new Float64Array(Math.max(doc + 1, this.values.length * 2, 64)).fill(Number.NaN);
      larger.set(this.values);
      this.values = larger;
    }
    this.values[doc] = value;
  }
}

export class StringColumn extends Table {
  values: (string | undefined)[] = [];

  get sizeBytes(): number {
    return this.values.length * 40;
  }

  value(doc: number): string | undefined {
    return this.values[doc];
  }

  protected clear(): void {
    this.values = [];
  }

  protected read(doc: number, cursor: Cursor): void {
    const size = cursor.varint();
    while (this.values.length <= doc) this.values.push(undefined);
    this.values[doc] = size === 0 ? undefined : cursor.text(size - 1);
  }
}

const NO_TAGS: readonly number[] = [];

export class TagsColumn extends Table {
  /** Tags have numbers here, in the order they were met. */
  readonly #numbers = new Map<string, number>();
  names: string[] = [];
  #values: (readonly number[] | undefined)[] = [];
  /** The documents of a tag, as of a revision. */
  readonly #docs = new Map<number, { readonly revision: number; readonly docs: Uint32Array }>();

  get sizeBytes(): number {
    return this.#values.length * 48 + this.names.length * 64;
  }

  /** The numbers of a document's tags. */
  tagsOf(doc: number): readonly number[] {
    return this.#values[doc] ?? NO_TAGS;
  }

  value(doc: number): readonly string[] | undefined {
    return this.#values[doc]?.map((tag) => this.names[tag]!);
  }

  /** The documents that have a tag, in ascending order. */
  docsOf(name: string): Uint32Array {
    const tag = this.#numbers.get(name);
    if (tag === undefined) return new Uint32Array(0);
    const known = this.#docs.get(tag);
    if (known?.revision === this.revision) return known.docs;
    const found: number[] = [];
    for (let doc = 0; doc < this.#values.length; doc++) if (this.#values[doc]?.includes(tag) === true) found.push(doc);
    const docs = Uint32Array.from(found);
    this.#docs.set(tag, { revision: this.revision, docs });
    return docs;
  }

  protected clear(): void {
    this.#values = [];
    this.names = [];
    this.#numbers.clear();
    this.#docs.clear();
  }

  protected read(doc: number, cursor: Cursor): void {
    const count = cursor.varint();
    const tags: number[] = [];
    for (let i = 0; i < count; i++) tags.push(this.#number(cursor.text(cursor.varint())));
    while (this.#values.length <= doc) this.#values.push(undefined);
    this.#values[doc] = count === 0 ? undefined : tags;
  }

  #number(name: string): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    this.#numbers.set(name, this.names.length);
    return this.names.push(name) - 1;
  }
}

export type Column = NumberColumn | StringColumn | TagsColumn;

export function newColumn(type: "number" | "string" | "tags"): Column {
  return type === "number" ? new NumberColumn() : type === "string" ? new StringColumn() : new TagsColumn();
}
