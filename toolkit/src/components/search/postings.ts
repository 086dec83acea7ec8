/**
 * A word's log as a reader has it: its bytes, and the documents they come down to, in ascending order, with how often the word
 * stands in each field. What was appended is added to that; positions are read from the bytes when a phrase asks for them.
 */
import { Cursor, HEADER_BYTES } from "./log.ts";

export interface Shape {
  readonly textFields: number;
  readonly positions: boolean;
}

/** Bookkeeping for each list in a reader's memory besides its bytes. */
const OVERHEAD_BYTES = 200;

/** What scores depend on besides the list itself. */
export interface ScoredFor {
  readonly statistics: object;
  readonly factor: number;
  readonly revision: number;
}

export class Postings {
  readonly #shape: Shape;
  /** The log as far as it is known; `length` bytes of it are used. */
  #log: Buffer = Buffer.alloc(0);
  length = 0;
  /** How many documents have the word. */
  count = 0;
  docs: Uint32Array = new Uint32Array(0);
  /** How often: `textFields` for each document. */
  times: Uint32Array = new Uint32Array(0);
  /** Where in the log a document's fields begin. */
  #at: Uint32Array = new Uint32Array(0);
  /** For the evaluation: the scores of its documents, and what they are valid for. */
  scores: Float64Array | null = null;
  scoredFor: ScoredFor | null = null;

  /** Whether it is a passing copy of another. */
  isReduced = false;
  /** What is left of it without some numbers, as long as it is the same. */
  #reduced: { readonly of: string; readonly log: Buffer; readonly length: number; readonly list: Postings } | null =
    null;

  constructor(shape: Shape) {
    this.#shape = shape;
  }

  get generation(): Buffer {
    return this.#log.subarray(0, HEADER_BYTES);
  }

  get sizeBytes(): number {
    return (
      OVERHEAD_BYTES + this.#log.length + this.docs.length * 8 + this.times.length * 4 + (this.scores?.length ?? 0) * 8
    );
  }

  /** All of a log, in the place of what was known. */
  replace(log: Buffer): void {
    this.#log = log;
    this.length = log.length;
    this.count = 0;
    this.docs = new Uint32Array(0);
    this.times = new Uint32Array(0);
    this.#at = new Uint32Array(0);
    this.#read(HEADER_BYTES);
  }

  /** What follows. */
  append(bytes: Buffer): void {
    if (this.length + bytes.length > this.#log.length) {
      const larger = Buffer.allocUnsafe(Math.max((this.length + bytes.length) * 1.25, 64) | 0);
      this.#log.copy(larger, 0, 0, this.length);
      this.#log = larger;
    }
    this.#log.set(bytes, this.length);
    const from = this.length;
    this.length += bytes.length;
    this.#read(from);
  }

  /** Records that only add documents behind the last are put there; others need the whole to be sorted. */
  #read(from: number): void {
    this.scoredFor = null;
    const { textFields, positions } = this.#shape;
    const cursor = new Cursor(this.#log, from);
    let last = this.count === 0 ? -1 : this.docs[this.count - 1]!;
    let isSorted = true;
    const start = this.count;
    // No record is shorter than three bytes but those that take a word away.
    this.#room(start + Math.ceil((this.length - from) / 2));
    const { docs, times } = this;
    const at = this.#at;
    let n = start;
    while (cursor.at < this.length) {
      const doc = cursor.varint();
      const fields = cursor.at;
      let mask = cursor.varint();
      if (doc <= last || mask === 0) isSorted = false;
      last = doc;
      docs[n] = doc;
      at[n] = fields;
      const base = n * textFields;
      for (let field = 0; field < textFields; field++) {
        let count = 0;
        if (mask % 2 === 1) {
          count = cursor.varint();
          if (positions) cursor.skipVarints(count);
        }
        mask = mask < 2 ? 0 : Math.floor(mask / 2);
        times[base + field] = count;
      }
      n++;
    }
    this.count = n;
    if (!isSorted) this.#settle();
    this.#trim();
  }

  #room(count: number): void {
    if (count <= this.docs.length) return;
    const room = Math.max(count, Math.ceil(this.docs.length * 1.5));
    this.docs = grown(this.docs, room);
    this.#at = grown(this.#at, room);
    // As many documents in each: what is written past the end of an array is lost.
    this.times = grown(this.times, room * this.#shape.textFields);
  }

  /** Gives back what was taken in advance. */
  #trim(): void {
    if (this.count * 2 > this.docs.length || this.docs.length < 64) return;
    this.docs = this.docs.slice(0, this.count);
    this.#at = this.#at.slice(0, this.count);
    this.times = this.times.slice(0, this.count * this.#shape.textFields);
  }

  /** Only the last record of each document, in order, and none of those taken away. */
  #settle(): void {
    const { textFields } = this.#shape;
    const { docs, times, count } = this;
    const at = this.#at;
    const order = new Float64Array(count);
    // Sorting by document and then by age, in one number: documents are fewer than 2^28, records than 2^25.
    for (let i = 0; i < count; i++) order[i] = docs[i]! * 0x200_0000 + i;
    order.sort();
    const newDocs = new Uint32Array(count);
    const newAt = new Uint32Array(count);
    const newTimes = new Uint32Array(count * textFields);
    let n = 0;
    for (let i = 0; i < count; i++) {
      const from = order[i]! % 0x200_0000;
      const doc = docs[from]!;
      if (i + 1 < count && Math.floor(order[i + 1]! / 0x200_0000) === doc) continue;
      let sum = 0;
      for (let field = 0; field < textFields; field++) {
        const value = times[from * textFields + field]!;
        newTimes[n * textFields + field] = value;
        sum += value;
      }
      if (sum === 0) continue;
      newDocs[n] = doc;
      newAt[n] = at[from]!;
      n++;
    }
    this.docs = newDocs;
    this.#at = newAt;
    this.times = newTimes;
    this.count = n;
  }

  /** The list without some numbers; itself if it has none of them. The next one with the same is the same. */
  without(numbers: readonly number[]): Postings {
    const out = numbers.filter((number) => this.indexOf(number) >= 0);
    if (out.length === 0) return this;
    const known = this.#reduced;
    const of = `${out}`;
    if (known !== null && known.of === of && known.log === this.#log && known.length === this.length) return known.list;
    const list = new Postings(this.#shape);
    list.isReduced = true;
    list.#log = this.#log;
    list.length = this.length;
    list.#take(this, new Set(out));
    this.#reduced = { of, log: this.#log, length: this.length, list };
    return list;
  }

  #take(from: Postings, without: ReadonlySet<number>): void {
    const { textFields } = this.#shape;
    this.#room(from.count);
    let n = 0;
    for (let i = 0; i < from.count; i++) {
      if (without.has(from.docs[i]!)) continue;
      this.docs[n] = from.docs[i]!;
      this.#at[n] = from.#at[i]!;
      for (let field = 0; field < textFields; field++) {
        this.times[n * textFields + field] = from.times[i * textFields + field]!;
      }
      n++;
    }
    this.count = n;
  }

  /** Where in `docs` a document is; -1 if it is not. */
  indexOf(doc: number): number {
    const at = lowerBound(this.docs, doc, 0, this.count);
    return at < this.count && this.docs[at] === doc ? at : -1;
  }

  /** The positions of the word in a field of the document at an index. */
  positions(index: number, field: number): number[] {
    const cursor = new Cursor(this.#log, this.#at[index]!);
    let mask = cursor.varint();
    for (let each = 0; ; each++) {
      if (mask % 2 === 1) {
        const count = cursor.varint();
        if (each === field) return deltas(cursor, count);
        cursor.skipVarints(count);
      } else if (each === field) {
        return [];
      }
      mask = Math.floor(mask / 2);
    }
  }
}

function deltas(cursor: Cursor, count: number): number[] {
  const found: number[] = [];
  let position = 0;
  for (let i = 0; i < count; i++) {
    position += cursor.varint();
    found.push(position);
  }
  return found;
}

function grown(array: Uint32Array, length: number): Uint32Array {
  const larger = new Uint32Array(length);
  larger.set(array);
  return larger;
}

/** The first index in [from, to) whose value is not less; `to` if there is none. */
export function lowerBound(sorted: Uint32Array, value: number, from: number, to: number): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
