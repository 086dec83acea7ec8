/**
 * Which words an index has, as a reader knows them, for beginnings of words and for misspelt ones.
 *
 * Words are kept sorted, and with each how many units it shares with the one before. A misspelt word is looked for by walking
 * them with the table of edit distances, one row for each unit: rows of a shared beginning are not computed again, and where all
 * of a row is too far away, every word with that beginning is passed over. New words wait unsorted until they are many.
 */
import { Cursor, HEADER_BYTES } from "./log.ts";

export interface Found {
  readonly word: string;
  readonly distance: number;
}

const MAX_UNSORTED = 1_000;

let revisions = 0;

export class Vocabulary {
  length = 0;
  generation: Buffer = Buffer.alloc(HEADER_BYTES);
  /** Another one with every change, and in every vocabulary. */
  revision = ++revisions;
  #sorted: string[] = [];
  #shared = new Uint8Array(0);
  /** Of the sorted ones. */
  readonly #removed = new Set<string>();
  readonly #added = new Set<string>();
  #units = 0;

  get size(): number {
    return this.#sorted.length - this.#removed.size + this.#added.size;
  }

  get sizeBytes(): number {
    return this.#sorted.length * 24 + this.#units;
  }

  replace(log: Buffer): void {
    this.#sorted = [];
    this.#shared = new Uint8Array(0);
    this.#removed.clear();
    this.#added.clear();
    this.generation = Buffer.from(log.subarray(0, HEADER_BYTES));
    this.length = HEADER_BYTES;
    this.append(log.subarray(HEADER_BYTES));
  }

  append(bytes: Buffer): void {
    this.length += bytes.length;
    this.revision = ++revisions;
    const cursor = new Cursor(bytes);
    while (!cursor.atEnd) {
      const size = cursor.varint();
      const word = cursor.text(Math.floor(size / 2));
      if (size % 2 === 0) {
        if (!this.#removed.delete(word)) this.#added.add(word);
      } else if (!this.#added.delete(word)) {
        this.#removed.add(word);
      }
    }
    if (this.#added.size + this.#removed.size > MAX_UNSORTED) this.#settle();
  }

  #settle(): void {
    const kept = this.#removed.size === 0 ? this.#sorted : this.#sorted.filter((word) => !this.#removed.has(word));
    const added = [...this.#added].sort();
    this.#removed.clear();
    this.#added.clear();
    const merged: string[] = new Array(kept.length + added.length);
    let a = 0;
    let b = 0;
    for (let i = 0; i < merged.length; i++) {
      merged[i] = b >= added.length || (a < kept.length && kept[a]! < added[b]!) ? kept[a++]! : added[b++]!;
    }
    this.#sorted = merged;
    this.#shared = new Uint8Array(merged.length);
    this.#units = 0;
    for (let i = 0; i < merged.length; i++) {
      this.#units += merged[i]!.length;
      if (i > 0) this.#shared[i] = sharedUnits(merged[i - 1]!, merged[i]!);
    }
  }

  /** Words from one on, in order. */
  from(first: string, limit: number): string[] {
    if (this.#added.size > 0) this.#settle();
    const found: string[] = [];
    for (let at = this.#lowerBound(first); at < this.#sorted.length && found.length < limit; at++) {
      if (!this.#removed.has(this.#sorted[at]!)) found.push(this.#sorted[at]!);
    }
    return found;
  }

  /** Words with a beginning: the shortest first, then in order; as many as allowed, and whether that was all. */
  beginningWith(beginning: string, limit: number): { readonly found: readonly Found[]; readonly all: boolean } {
    const byLength: string[][] = [];
    let count = 0;
    const take = (word: string): void => {
      if (!word.startsWith(beginning)) return;
      const same = byLength[word.length];
      if (same === undefined) byLength[word.length] = [word];
      else same.push(word);
      count++;
    };
    for (let at = this.#lowerBound(beginning); at < this.#sorted.length; at++) {
      const word = this.#sorted[at]!;
      if (!word.startsWith(beginning)) break;
      if (!this.#removed.has(word)) take(word);
    }
    for (const word of this.#added) take(word);
    const found: Found[] = [];
    for (const words of byLength) {
      if (words === undefined) continue;
      if (found.length >= limit) break;
      for (const word of words.sort()) found.push({ word, distance: 0 });
    }
    return { found: found.slice(0, limit), all: count <= limit };
  }

  /** Words at most so many insertions, deletions and replacements away: the nearest first, then the shortest, then in order. */
  near(word: string, most: number, limit: number): { readonly found: readonly Found[]; readonly all: boolean } {
    const found: Found[] = [];
    const walk = new Distances(word, most);
    const sorted = this.#sorted;
    const shared = this.#shared;
    let at = 0;
    while (at < sorted.length) {
      const other = sorted[at]!;
      const depth = walk.through(other, shared[at]!);
      if (depth < 0) {
        if (walk.distance <= most && !this.#removed.has(other)) found.push({ word: other, distance: walk.distance });
        at++;
      } else {
        do at++;
        while (at < sorted.length && shared[at]! >= depth);
      }
    }
    for (const other of this.#added) {
      if (walk.through(other, 0) < 0 && walk.distance <= most) found.push({ word: other, distance: walk.distance });
    }
    found.sort(byNearness);
    return { found: found.slice(0, limit), all: found.length <= limit };
  }

  #lowerBound(word: string): number {
    let low = 0;
    let high = this.#sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#sorted[middle]! < word) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

export function byNearness(a: Found, b: Found): number {
  return a.distance - b.distance || a.word.length - b.word.length || (a.word < b.word ? -1 : a.word > b.word ? 1 : 0);
}

function sharedUnits(a: string, b: string): number {
  const most = Math.min(a.length, b.length);
  let at = 0;
  while (at < most && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  return at;
}

/** The table of edit distances between one word and others that come sorted. */
class Distances {
  readonly #units: Uint16Array;
  readonly #most: number;
  readonly #rows: Uint8Array[] = [];
  distance = 0;

  constructor(word: string, most: number) {
    this.#units = Uint16Array.from({ length: word.length }, (_, at) => word.charCodeAt(at));
    this.#most = most;
    this.#rows.push(Uint8Array.from({ length: word.length + 1 }, (_, at) => at));
  }

  /**
   * Goes on from the first `known` units, which the word before shared. -1 when it came to the end, with `distance`; otherwise
   * the number of units after which no word can be near enough.
   */
  through(other: string, known: number): number {
    const units = this.#units;
    const width = units.length;
    const { length } = other;
    for (let depth = known + 1; depth <= length; depth++) {
      const above = this.#rows[depth - 1]!;
      let row = this.#rows[depth];
      if (row === undefined) {
        row = new Uint8Array(width + 1);
        this.#rows.push(row);
      }
      const unit = other.charCodeAt(depth - 1);
      let left = depth;
      row[0] = depth;
      let least = depth;
      for (let at = 1; at <= width; at++) {
        let cost = above[at - 1]! + (units[at - 1] === unit ? 0 : 1);
        const up = above[at]! + 1;
        if (up < cost) cost = up;
        if (left + 1 < cost) cost = left + 1;
        row[at] = cost;
        left = cost;
        if (cost < least) least = cost;
      }
      if (least > this.#most) return depth;
    }
    this.distance = this.#rows[length]![width]!;
    return -1;
  }
}
