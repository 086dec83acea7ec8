/**
 * One open-addressed table: a part of a Dict (dict.ts), responsible for a range of hashes.
 *
 * Linear probing over parallel arrays: 32-bit hashes, keys, values. A probe reads the hash and the place of the key, and not the
 * key itself: strings are compared when the whole hash is equal. Growing moves hashes along and never touches a string.
 *
 * The home of an entry is its hash times an odd factor, modulo 2^32, scaled to the capacity. The factor is another one, and a
 * secret, for every range and every capacity. So entries that come in the order of their hashes, or in the order in which
 * another table has them, are spread over the whole table, however small it is yet, and how they lie says nothing about the
 * table after it has grown. A capacity need not be a power of two (it grows by 1.3, which wastes less).
 *
 * Entries never wrap around: arrays are a little longer than the capacity, and a cluster that would run past the end makes
 * the table grow. A free place has the hash 0 and no key. Deleting shifts the rest of the cluster back, so there are no tombstones.
 */

import { factorOf } from "./word-hash.ts";

const MAX_LOAD = 0.85;
const GROWTH = 1.3;
const MIN_LOAD = 0.15;
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
type Parts<V> = Pick<Table<V>, "hashes" | "keys" | "values" | "stamps">;

/** `values` and `stamps` exist only in tables that were made with them. */
export class Table<V> {
  hashes: Uint32Array;
  keys: (string | undefined)[];
  values: (V | undefined)[] | null;
  /** A number beside every entry; the keyspace keeps access times in it. */
  stamps: Uint32Array | null;
  capacity: number;
  used = 0;
  /** The arrays are a frozen table's as well: they are copied before they change. */
  shared = false;
  /** The hashes of this table agree in so many of their upper bits, with those of `base`. */
  readonly depth: number;
  readonly base: number;
  #factor: number;
  /** How many table places one unit of the product is worth. */
  #scale: number;

  readonly #kind: ValueKind;
  /** How many places there are beyond the capacity. */
  #slack = SLACK;

  constructor(base: number, depth: number, kind: ValueKind, withStamps: boolean, capacity = SMALLEST) {
    this.base = base;
    this.depth = depth;
    this.#kind = kind;
    this.capacity = capacity;
    this.#factor = factorOf(base, depth, capacity);
    this.#scale = capacity / HASHES;
    const length = capacity + SLACK;
    this.hashes = new Uint32Array(length);
    this.keys = new Array(length).fill(undefined);
    this.values = makeValues(kind, length);
    this.stamps = withStamps ? new Uint32Array(length) : null;
  }

  /** How many hashes this table is responsible for. */
  get span(): number {
    return HASHES / 2 ** this.depth;
  }

  home(hash: number): number {
    return Math.floor((Math.imul(hash, this.#factor) >>> 0) * this.#scale);
  }

  /**
   * The place of a key, or -1. A free place is told by its missing key rather than by its hash. So the processor reads both arrays at
   * once: in a large table neither is in the cache, and a branch on the hash would hold the second read back.
   */
  find(key: string, hash: number): number {
    const { hashes, keys } = this;
    for (let i = this.home(hash); ; i++) {
      const found = keys[i];
      if (found === undefined) return -1;
      if (hashes[i] === hash && found === key) return i;
    }
  }

  /** Puts a key that is not there yet; returns its place. */
  add(key: string, hash: number, value: V | undefined): number {
    if (this.used >= this.capacity * MAX_LOAD) this.#resize(Math.ceil(this.capacity * GROWTH));
    if (this.shared) this.#unshare();
    for (;;) {
      const hashes = this.hashes;
      let i = this.home(hash);
      while (i < hashes.length && hashes[i] !== 0) i++;
      if (i < hashes.length) {
        hashes[i] = hash;
        this.keys[i] = key;
        if (this.values !== null) this.values[i] = value;
        this.used++;
        return i;
      }
      // A crowd at the end is thinned by growing, unless the table is empty enough already: then it shares one hash.
      const crowded = this.used > this.capacity * MIN_LOAD * 2;
      if (!crowded) this.#slack *= 2;
      this.#resize(crowded ? Math.ceil(this.capacity * GROWTH) : this.capacity);
    }
  }

  /** Takes the entry at a place out and closes the gap behind it. */
  removeAt(place: number): void {
    if (this.shared) this.#unshare();
    const { hashes, keys, values, stamps } = this;
    let gap = place;
    for (let i = place + 1; i < hashes.length && hashes[i] !== 0; i++) {
      if (this.home(hashes[i]!) > gap) continue;
      hashes[gap] = hashes[i]!;
      keys[gap] = keys[i];
      if (values !== null) values[gap] = values[i];
      if (stamps !== null) stamps[gap] = stamps[i]!;
      gap = i;
    }
    hashes[gap] = 0;
    keys[gap] = undefined;
    if (values !== null) values[gap] = undefined;
    this.used--;
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
    const twin = new Table<V>(this.base, this.depth, this.#kind, false, 0);
    twin.hashes = this.hashes;
    twin.keys = this.keys;
    twin.values = this.values;
    twin.stamps = this.stamps;
    twin.capacity = this.capacity;
    twin.used = this.used;
    twin.#factor = this.#factor;
    twin.#scale = this.#scale;
    twin.#slack = this.#slack;
    return twin;
  }

  #unshare(): void {
    this.hashes = this.hashes.slice();
    this.keys = this.keys.slice();
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
    return [lower, this.#gather(middle, this.depth + 1, this.used - below, [this])];
  }

  /** This table and the other half of the range that it was once split from, as one. */
  merge(buddy: Table<V>): Table<V> {
    const parts = this.base < buddy.base ? [this, buddy] : [buddy, this];
    return this.#gather(parts[0]!.base, this.depth - 1, this.used + buddy.used, parts);
  }

  #gather(base: number, depth: number, entries: number, parts: readonly Parts<V>[]): Table<V> {
    const made = new Table<V>(base, depth, this.#kind, this.stamps !== null, 0);
    made.#fill(Math.max(SMALLEST, Math.ceil(entries / MADE_LOAD)), parts);
    return made;
  }

  /** Lets go of everything, since others have it now: a place that somebody remembers must not keep it alive. */
  retire(): void {
    this.hashes = new Uint32Array(0);
    this.keys = [];
    if (this.values !== null) this.values = [];
    this.stamps = null;
    this.used = 0;
  }

  #resize(capacity: number): void {
    const { hashes, keys, values, stamps } = this;
    this.#fill(capacity, [{ hashes, keys, values, stamps }]);
  }

  /** Holds what these have, and nothing else. */
  #fill(capacity: number, parts: readonly Parts<V>[]): void {
    for (this.#allocate(capacity); !parts.every((part) => this.#take(part)); this.#allocate(capacity)) this.#slack *= 2;
  }

  #allocate(capacity: number): void {
    const length = capacity + this.#slack;
    this.capacity = capacity;
    this.used = 0;
    this.shared = false;
    this.#factor = factorOf(this.base, this.depth, capacity);
    this.#scale = capacity / HASHES;
    this.hashes = new Uint32Array(length);
    this.keys = new Array(length).fill(undefined);
    this.values = makeValues(this.#kind, length);
    if (this.stamps !== null) this.stamps = new Uint32Array(length);
  }

  /** Adds what another table has of this one's hashes; false if a cluster runs past the end. */
  #take(part: Parts<V>): boolean {
    // Everything in variables: this loop is most of what a growing table costs.
    const { hashes, keys, values, stamps } = part;
    const { hashes: toHashes, keys: toKeys, values: toValues, stamps: toStamps, base } = this;
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
      toKeys[i] = keys[from];
      if (toValues !== null) toValues[i] = values![from];
      if (toStamps !== null) toStamps[i] = stamps![from]!;
      taken++;
    }
    this.used += taken;
    return true;
  }

  /** Visits the entries whose hashes are in a range, in any order; returns how many there were. */
  visitRange(from: number, to: number, visit: (key: string, value: V) => void): number {
    const { hashes, keys, values } = this;
    let seen = 0;
    for (let i = 0; i < hashes.length; i++) {
      const hash = hashes[i]!;
      if (hash < from || hash >= to || hash === 0) continue;
      visit(keys[i]!, (values === null ? undefined : values[i]) as V);
      seen++;
    }
    return seen;
  }

  /** What the arrays take, without the strings in them. */
  get sizeBytes(): number {
    return this.hashes.length * this.placeBytes + 160;
  }

  get placeBytes(): number {
    return 12 + (this.values === null ? 0 : 8) + (this.stamps === null ? 0 : 4);
  }
}
