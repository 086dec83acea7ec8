/**
 * One open-addressed table: a part of a Dict (dict.ts), responsible for a range of hashes.
 *
 * Linear probing over parallel arrays: 32-bit hashes, words (word-column.ts), values. A probe reads the hash and how long the word is,
 * and not the word itself: words are compared when the whole hash is equal. Growing moves hashes along and hashes no word.
 *
 * The home of an entry is its hash times an odd factor, modulo 2^32, scaled to the capacity. The factor is another one, and a
 * secret, for every range and every capacity. So entries that come in the order of their hashes, or in the order in which
 * another table has them, are spread over the whole table, however small it is yet, and how they lie says nothing about the
 * table after it has grown. A capacity need not be a power of two (it grows by 1.3, which wastes less).
 *
 * Entries never wrap around: arrays are a little longer than the capacity, and a cluster that would run past the end makes
 * the table grow. A free place has the hash 0 and no key. Deleting shifts the rest of the cluster back, so there are no tombstones.
 */

import { chooseBlocks, countLength, guessBlocks, type Lengths, noLengths, WordColumn } from "./word-column.ts";
import { factorOf } from "./word-hash.ts";

/** A table with so many entries is split, if its hashes are far enough apart. */
export const SPLIT_AT = 4096;
const MAX_LOAD = 0.85;
/**
 * The capacity of every table that was split: it has room for all that come until it is split again. Half of that is free after a
 * split; but no entry is moved twice on the way, and memory that one table of a large dict gives back fits the next.
 */
const FULL = Math.ceil(SPLIT_AT / MAX_LOAD) + 1;
const GROWTH = 1.3;
const MIN_LOAD = 0.15;
/**
 * An entry that comes to lie so far from its home has the table laid out by another factor: its words may be chosen by somebody who has
 * seen how they lie. Not again before a number of entries has come, since words with one hash stay side by side by any factor.
 */
const FAR = 256;
const ENTRIES_BETWEEN = 256;
/** How full a table is that was made for what it holds. */
const MADE_LOAD = 0.7;
export const SMALLEST = 8;
const SLACK = 16;
const HASHES = 4294967296;

/** What stands beside a key: anything, a double (unboxed, 8 bytes), or nothing. */
export type ValueKind = "any" | "numbers" | "none";

function makeValues<V>(kind: ValueKind, length: number): (V | undefined)[] | null {
  if (kind === "none") return null;
  if (kind === "numbers") return new Float64Array(length) as unknown as V[];
  return new Array(length).fill(undefined);
}

/** The arrays of a table. */
type Parts<V> = Pick<Table<V>, "hashes" | "words" | "values" | "stamps">;

/**
 * The arrays of the last table that was split, emptied, for one of the next halves. A dict that grows would otherwise leave as much
 * garbage as it holds, outside the heap and in the old generation, until V8 comes by.
 */
let spare: (Parts<unknown> & { readonly kind: ValueKind }) | null = null;

export interface TableOptions {
  readonly values: ValueKind;
  readonly stamps: boolean;
  /** Keep words as strings, for somebody who shares them. */
  readonly strings: boolean;
}

/** More than a capacity. */
const SALTED = 2 ** 20;

/** The table's own objects. */
const OBJECT_BYTES = 400;

/** The number of words that do not fit at which a table looks for the second time whether it should have other slots. */
const FIRST_LOOK = 8;

/** `values` and `stamps` exist only in tables that were made with them. */
export class Table<V> {
  hashes: Uint32Array;
  words: WordColumn;
  values: (V | undefined)[] | null;
  /** A number beside every entry; the keyspace keeps access times in it. */
  stamps: Uint32Array | null;
  capacity: number;
  used = 0;
  /** Counts what takes entries out, or to other places. */
  moves = 0;
  /** The arrays are a frozen table's as well: they are copied before they change. */
  shared = false;
  /** The hashes of this table agree in so many of their upper bits, with those of `base`. */
  readonly depth: number;
  readonly base: number;
  #factor: number;
  /** Tells one factor for a capacity from the next. */
  #salt = 0;
  /** So many entries must be there before an entry that is far from its home means something. */
  #spreadAt = 0;
  /** How many table places one unit of the product is worth. */
  #scale: number;

  readonly #options: TableOptions;
  #arrayBytes = 0;
  /** How many places there are beyond the capacity. */
  #slack = SLACK;

  constructor(base: number, depth: number, options: TableOptions, capacity = depth > 0 ? FULL : SMALLEST) {
    this.base = base;
    this.depth = depth;
    this.#options = options;
    this.capacity = capacity;
    this.#factor = factorOf(base, depth, capacity);
    this.#scale = capacity / HASHES;
    const length = capacity + SLACK;
    this.hashes = new Uint32Array(length);
    this.words = new WordColumn(length, 0);
    this.values = makeValues(options.values, length);
    this.stamps = options.stamps ? new Uint32Array(length) : null;
    this.#measureArrays();
  }

  /** How many hashes this table is responsible for. */
  get span(): number {
    return HASHES / 2 ** this.depth;
  }

  home(hash: number): number {
    return Math.floor((Math.imul(hash, this.#factor) >>> 0) * this.#scale);
  }

  /**
   * The place of a key, or -1. A free place is told by its mark rather than by its hash. So the processor reads both at once: in a
   * large table neither is in the cache, and a branch on the hash would hold the second read back.
   */
  find(key: string, hash: number): number {
    const { hashes, words } = this;
    const { length } = key;
    const width = words.blocks * 4;
    if (length >= width) return this.#findString(key, hash);
    const { bytes } = words;
    let i = this.home(hash);
    for (let end = (i + 1) * width - 1; ; i++, end += width) {
      const mark = bytes[end];
      if (mark === 0) return -1;
      if (hashes[i] === hash && mark === length + 1 && words.holds(i, key)) return i;
    }
  }

  #findString(key: string, hash: number): number {
    const { hashes } = this;
    const { strings, blocks } = this.words;
    if (strings === null) return -1;
    for (let i = this.home(hash); ; i++) {
      const found = strings[i];
      // A word in a slot is no string, and not what is looked for.
      if (found === undefined && (blocks === 0 || i >= hashes.length || hashes[i] === 0)) return -1;
      if (hashes[i] === hash && found === key) return i;
    }
  }

  /** Puts a key that is not there yet; returns its place. */
  add(key: string, hash: number, value: V | undefined): number {
    if (this.used >= this.capacity * MAX_LOAD) this.#resize(Math.ceil(this.capacity * GROWTH));
    else if (!this.words.fits(key.length)) this.#lookAtWords(key);
    if (this.shared) this.#unshare();
    for (;;) {
      const hashes = this.hashes;
      const home = this.home(hash);
      let i = home;
      while (i < hashes.length && hashes[i] !== 0) i++;
      if (i - home > FAR && this.used >= this.#spreadAt) {
        this.#salt++;
        this.#spreadAt = this.used + ENTRIES_BETWEEN;
        this.#resize(this.capacity);
      } else if (i < hashes.length) {
        hashes[i] = hash;
        this.words.put(i, key);
        if (this.values !== null) this.values[i] = value;
        this.used++;
        return i;
      } else {
        // A crowd at the end is thinned by growing, unless the table is empty enough already: then it shares one hash.
        const crowded = this.used > this.capacity * MIN_LOAD * 2;
        if (!crowded) this.#slack *= 2;
        this.#resize(crowded ? Math.ceil(this.capacity * GROWTH) : this.capacity);
      }
    }
  }

  /**
   * A key is about to be added as a string. Slots are made by the first key of a table; and by all keys when the first comes that does
   * not fit, since room for strings is needed from then on, and again when more have come.
   */
  #lookAtWords(key: string): void {
    if (this.#options.strings) return;
    const { strays } = this.words;
    if (this.used === 0) {
      const blocks = guessBlocks(key.length);
      if (blocks !== this.words.blocks) this.#beginWords(blocks);
    } else if (strays === 0 || (strays >= FIRST_LOOK && (strays & (strays - 1)) === 0)) {
      const lengths = this.#lengthsOf([this]);
      countLength(key.length, lengths);
      const blocks = chooseBlocks(lengths, this.hashes.length);
      if (blocks !== this.words.blocks) this.#resize(this.capacity, blocks);
    }
  }

  /** Other slots for a table without entries. What is counted here of strings that are elsewhere (see `split`) stays. */
  #beginWords(blocks: number): void {
    const { stringBytes } = this.words;
    this.words = new WordColumn(this.hashes.length, blocks);
    this.words.sizeBytes += stringBytes;
  }

  /** The word at a place; undefined where there is none. */
  keyAt(place: number): string | undefined {
    return this.words.at(place);
  }

  /** Takes the entry at a place out and closes the gap behind it. */
  removeAt(place: number): void {
    if (this.shared) this.#unshare();
    const { hashes, words, values, stamps } = this;
    this.moves++;
    words.drop(place);
    let gap = place;
    for (let i = place + 1; i < hashes.length && hashes[i] !== 0; i++) {
      if (this.home(hashes[i]!) > gap) continue;
      hashes[gap] = hashes[i]!;
      words.move(i, gap);
      if (values !== null) values[gap] = values[i];
      if (stamps !== null) stamps[gap] = stamps[i]!;
      gap = i;
    }
    hashes[gap] = 0;
    words.free(gap);
    if (values !== null) values[gap] = undefined;
    this.used--;
    // The next first word decides again what slots there are.
    if (this.used === 0 && (words.blocks > 0 || words.strings !== null)) this.#beginWords(0);
    if (this.capacity > SMALLEST && this.used < this.capacity * MIN_LOAD) {
      this.#resize(Math.max(SMALLEST, Math.ceil(this.used * 2)));
    }
  }

  /** Puts another value beside the key at a place. */
  put(place: number, value: V): void {
    if (this.shared) this.#unshare();
    this.values![place] = value;
  }

  /** A table that stays as this one is now: it has the same arrays, and this one copies them before it changes them. */
  freeze(): Table<V> {
    const frozen = this.#twin();
    this.shared = true;
    return frozen;
  }

  clone(): Table<V> {
    const copy = this.#twin();
    copy.#unshare();
    return copy;
  }

  #twin(): Table<V> {
    const twin = new Table<V>(this.base, this.depth, this.#options, 0);
    twin.hashes = this.hashes;
    twin.words = this.words;
    twin.values = this.values;
    twin.stamps = this.stamps;
    twin.capacity = this.capacity;
    twin.used = this.used;
    twin.#arrayBytes = this.#arrayBytes;
    twin.#factor = this.#factor;
    twin.#scale = this.#scale;
    twin.#salt = this.#salt;
    twin.#slack = this.#slack;
    return twin;
  }

  #unshare(): void {
    this.hashes = this.hashes.slice();
    this.words = this.words.clone();
    if (this.values !== null) this.values = this.values.slice();
    if (this.stamps !== null) this.stamps = this.stamps.slice();
    this.shared = false;
  }

  /** The lower and the upper half of this table's hashes as two tables. */
  split(): [Table<V>, Table<V>] {
    const { hashes } = this;
    const middle = this.base + this.span / 2;
    let below = 0;
    for (let i = 0; i < hashes.length; i++) if (hashes[i] !== 0 && hashes[i]! < middle) below++;
    const lower = this.#gather(this.base, this.depth + 1, below, [this]);
    // All strings are counted in the lower half, wherever they are: what counts is the sum.
    lower.words.sizeBytes += this.words.stringBytes;
    return [lower, this.#gather(middle, this.depth + 1, this.used - below, [this])];
  }

  /** This table and the other half of the range that it was once split from, as one. */
  merge(buddy: Table<V>): Table<V> {
    const parts = this.base < buddy.base ? [this, buddy] : [buddy, this];
    const merged = this.#gather(parts[0]!.base, this.depth - 1, this.used + buddy.used, parts);
    merged.words.sizeBytes += this.words.stringBytes + buddy.words.stringBytes;
    return merged;
  }

  #gather(base: number, depth: number, entries: number, parts: readonly Parts<V>[]): Table<V> {
    const made = new Table<V>(base, depth, this.#options, 0);
    const capacity = Math.max(SMALLEST, Math.ceil(entries / MADE_LOAD));
    made.#fill(depth > 0 ? Math.max(FULL, capacity) : capacity, parts);
    return made;
  }

  /**
   * Lets go of everything, since others have it now: a place that somebody remembers must not keep it alive. The arrays serve the next
   * split if nobody else has them.
   */
  retire(): void {
    this.moves++;
    if (!this.shared) this.#spareArrays();
    this.hashes = new Uint32Array(0);
    this.words = new WordColumn(0, 0);
    if (this.values !== null) this.values = [];
    this.stamps = null;
    this.used = 0;
    this.#measureArrays();
  }

  /** Only of the one size that all tables of large dicts have. */
  #spareArrays(): void {
    const { hashes, words, values, stamps } = this;
    const kind = this.#options.values;
    if (hashes.length !== FULL + SLACK || (words.strings !== null && words.blocks > 0)) return;
    hashes.fill(0);
    words.clear();
    if (kind === "any") values!.fill(undefined);
    spare = { hashes, words, values, stamps, kind };
  }

  #resize(capacity: number, blocks?: number): void {
    const { hashes, words, values, stamps } = this;
    this.#fill(capacity, [{ hashes, words, values, stamps }], blocks);
    this.words.sizeBytes += words.stringBytes;
  }

  /** Holds what these have of this table's hashes, and nothing else. */
  #fill(capacity: number, parts: readonly Parts<V>[], wanted?: number): void {
    const blocks = wanted ?? this.#blocksFor(parts, capacity + this.#slack);
    for (this.#allocate(capacity, blocks); !parts.every((part) => this.#take(part)); this.#allocate(capacity, blocks)) {
      this.#slack *= 2;
    }
  }

  /** The size of the slots with which what these have takes the least. */
  #blocksFor(parts: readonly Parts<V>[], places: number): number {
    if (this.#options.strings) return 0;
    // Where all fit they go on as they are.
    const { blocks, strays } = parts[0]!.words;
    if (strays === 0 && blocks > 0 && parts.length === 1) return blocks;
    return chooseBlocks(this.#lengthsOf(parts), places);
  }

  #lengthsOf(parts: readonly Parts<V>[]): Lengths {
    const lengths = noLengths();
    const { base } = this;
    const end = base + this.span;
    for (const { hashes, words } of parts) {
      for (let i = 0; i < hashes.length; i++) {
        const hash = hashes[i]!;
        if (hash !== 0 && hash >= base && hash < end) words.count(i, lengths);
      }
    }
    return lengths;
  }

  #allocate(capacity: number, blocks: number): void {
    const length = capacity + this.#slack;
    this.moves++;
    this.capacity = capacity;
    this.used = 0;
    this.shared = false;
    this.#factor = factorOf(this.base, this.depth, capacity + this.#salt * SALTED);
    this.#scale = capacity / HASHES;
    if (!this.#takeSpare(length, blocks)) {
      this.hashes = new Uint32Array(length);
      this.words = new WordColumn(length, blocks);
      this.values = makeValues(this.#options.values, length);
      if (this.stamps !== null) this.stamps = new Uint32Array(length);
    }
    this.#measureArrays();
  }

  #takeSpare(length: number, blocks: number): boolean {
    if (spare === null || spare.hashes.length !== length || spare.words.blocks !== blocks) return false;
    if (spare.kind !== this.#options.values || (spare.stamps === null) !== (this.stamps === null)) return false;
    this.hashes = spare.hashes;
    this.words = spare.words;
    this.values = spare.values as (V | undefined)[] | null;
    this.stamps = spare.stamps;
    spare = null;
    return true;
  }

  /** Adds what another table has of this one's hashes; false if a cluster runs past the end. */
  #take(part: Parts<V>): boolean {
    // Everything in variables: this loop is most of what a growing table costs.
    const { hashes, words, values, stamps } = part;
    const { hashes: toHashes, words: toWords, values: toValues, stamps: toStamps, base } = this;
    const { memory: toMemory, blocks } = toWords;
    const { memory } = words;
    const alike = words.blocks === blocks && words.strays === 0;
    const end = base + this.span;
    const factor = this.#factor;
    const scale = this.#scale;
    const { length } = toHashes;
    let taken = 0;
    for (let from = 0; from < hashes.length; from++) {
      const hash = hashes[from]!;
      if (hash === 0 || hash < base || hash >= end) continue;
      let i = Math.floor((Math.imul(hash, factor) >>> 0) * scale);
      while (i < length && toHashes[i] !== 0) i++;
      if (i >= length) return false;
      toHashes[i] = hash;
      if (alike) for (let n = blocks, a = from * n, b = i * n; n > 0; n--) toMemory[b++] = memory[a++]!;
      else toWords.take(words, from, i);
      if (toValues !== null) toValues[i] = values![from];
      if (toStamps !== null) toStamps[i] = stamps![from]!;
      taken++;
    }
    this.used += taken;
    return true;
  }

  /** Visits the entries whose hashes are in a range, in any order; returns how many there were. */
  visitRange(from: number, to: number, visit: (key: string, value: V) => void): number {
    const { hashes, words, values } = this;
    let seen = 0;
    for (let i = 0; i < hashes.length; i++) {
      const hash = hashes[i]!;
      if (hash < from || hash >= to || hash === 0) continue;
      visit(words.at(i)!, (values === null ? undefined : values[i]) as V);
      seen++;
    }
    return seen;
  }

  /** What the arrays take, and the strings among the words. */
  get sizeBytes(): number {
    return this.#arrayBytes + this.words.sizeBytes;
  }

  #measureArrays(): void {
    const placeBytes = 4 + (this.values === null ? 0 : 8) + (this.stamps === null ? 0 : 4);
    this.#arrayBytes = OBJECT_BYTES + this.hashes.length * placeBytes;
  }
}
