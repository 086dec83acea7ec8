/**
 * The hash table under the keyspace and under every large set, hash and sorted set.
 *
 * V8's Map cannot be entered in the middle (SCAN), has no random element (RANDOMKEY, SPOP, eviction, active expiry), holds
 * at most 2^24 entries and stops the world for up to a second when it doubles. So:
 *
 * - A table is open addressing with linear probing over parallel arrays: 32-bit hashes, keys, values. A probe reads the
 *   hashes only; strings are compared when the whole hash is equal. Growing moves hashes along and never touches a string.
 * - **The place of an entry follows the order of its hash**: home = hash × capacity / 2^32. That holds for every capacity,
 *   so a capacity need not be a power of two (it grows by 1.3, which wastes less), and "everything with a hash below h" is
 *   the same set of entries before and after a table has grown. A SCAN cursor is therefore just a hash: what stays in the
 *   table during a whole scan is returned exactly once, whatever comes, goes or grows meanwhile.
 * - Past SPLIT_AT entries there are 256 tables, chosen by the hash's top byte, which keeps that order; so one table's
 *   growing is a pause of microseconds at any size.
 *
 * Entries never wrap around: arrays are a little longer than the capacity, and a cluster that would run past the end makes
 * the table grow. A hash of 0 marks a free place. Deleting shifts the rest of the cluster back, so there are no tombstones.
 */
import { randomBytes } from "node:crypto";

const SPLIT_AT = 32_768;
const SEGMENTS = 256;
const MAX_LOAD = 0.85;
const GROWTH = 1.3;
const MIN_LOAD = 0.15;
/** How full a table is when what room was reserved for has come. */
const RESERVED_LOAD = 0.7;
const SMALLEST = 8;
const SLACK = 16;

let seed = randomBytes(4).readUInt32LE();

/** Fixes the hash seed: only for tests that want the same order every time, before the first Dict is made. */
export function seedHashes(value: number): void {
  seed = value >>> 0;
  recentHash = 0;
}

// A command's key is hashed where it is read (resp/word-cache.ts) and looked up soon after, maybe twice.
let recentWord = "";
let recentHash = 0;

/** Lets the next look-ups of this very word go without hashing it. */
export function rememberHash(word: string, hash: number): void {
  recentWord = word;
  recentHash = hash;
}

/** The hash of this very word if it is the one that was remembered; 0 if not. */
export function rememberedHash(word: string): number {
  return word === recentWord ? recentHash : 0;
}

/**
 * A word's hash: 1 to 2^32 − 1, seeded per process so that nobody can choose colliding keys from outside. Four chars a
 * step, because each step has to wait for the one before.
 */
export function hashWord(word: string): number {
  if (word === recentWord && recentHash !== 0) return recentHash;
  const { length } = word;
  const fours = length & ~3;
  let h = seed ^ length;
  let i = 0;
  for (; i < fours; i += 4) {
    h = step(
      h,
      word.charCodeAt(i) |
        (word.charCodeAt(i + 1) << 8) |
        (word.charCodeAt(i + 2) << 16) |
        (word.charCodeAt(i + 3) << 24),
    );
  }
  for (; i < length; i++) h = step(h, word.charCodeAt(i));
  return finish(h);
}

/** The hash that the word with these bytes has. */
export function hashBytes(bytes: Uint8Array, start: number, end: number): number {
  const fours = start + ((end - start) & ~3);
  let h = seed ^ (end - start);
  let i = start;
  for (; i < fours; i += 4) {
    h = step(h, bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24));
  }
  for (; i < end; i++) h = step(h, bytes[i]!);
  return finish(h);
}

function step(hash: number, chars: number): number {
  const h = Math.imul(hash ^ chars, 0x9e3779b1);
  return h ^ (h >>> 15);
}

function finish(mixed: number): number {
  let h = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  h = (h ^ (h >>> 16)) >>> 0;
  return h === 0 ? 1 : h;
}

/** What stands beside a key: anything, a double (unboxed, 8 bytes), or nothing. */
export type ValueKind = "any" | "numbers" | "none";

function makeValues<V>(kind: ValueKind, length: number): (V | undefined)[] | null {
  if (kind === "none") return null;
  if (kind === "numbers") return new Float64Array(length) as unknown as V[];
  return new Array(length).fill(undefined);
}

/** One open-addressed table. `values` and `stamps` exist only in dicts that were made with them. */
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
  /** Where this table's share of the hashes begins, and how many table places one unit of hash is worth. */
  readonly #base: number;
  readonly #span: number;
  #scale: number;

  readonly #kind: ValueKind;
  /** How many places there are beyond the capacity. */
  #slack = SLACK;

  constructor(base: number, span: number, kind: ValueKind, withStamps: boolean, capacity = SMALLEST) {
    this.#base = base;
    this.#span = span;
    this.#kind = kind;
    this.capacity = capacity;
    this.#scale = capacity / span;
    const length = capacity + SLACK;
    this.hashes = new Uint32Array(length);
    this.keys = new Array(length).fill(undefined);
    this.values = makeValues(kind, length);
    this.stamps = withStamps ? new Uint32Array(length) : null;
  }

  home(hash: number): number {
    return Math.floor((hash - this.#base) * this.#scale);
  }

  /** The lowest hash whose home is this place or a later one. */
  lowestHash(place: number): number {
    let hash = this.#base + Math.ceil(place / this.#scale);
    while (hash > this.#base && this.home(hash - 1) >= place) hash--;
    return hash;
  }

  /** The place of a key, or -1. */
  find(key: string, hash: number): number {
    const hashes = this.hashes;
    for (let i = this.home(hash); ; i++) {
      const h = hashes[i];
      if (h === hash && this.keys[i] === key) return i;
      if (h === 0 || h === undefined) return -1;
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
    const frozen = new Table<V>(this.#base, this.#span, this.#kind, false);
    frozen.hashes = this.hashes;
    frozen.keys = this.keys;
    frozen.values = this.values;
    frozen.stamps = this.stamps;
    frozen.capacity = this.capacity;
    frozen.used = this.used;
    frozen.#scale = this.#scale;
    this.shared = true;
    return frozen;
  }

  #unshare(): void {
    this.hashes = this.hashes.slice();
    this.keys = this.keys.slice();
    if (this.values !== null) this.values = this.values.slice();
    if (this.stamps !== null) this.stamps = this.stamps.slice();
    this.shared = false;
  }

  /** Makes room for what a table of this capacity holds. */
  widen(capacity: number): void {
    if (capacity > this.capacity) this.#resize(capacity);
  }

  #resize(capacity: number): void {
    const { hashes, keys, values, stamps } = this;
    for (this.#allocate(capacity); !this.#refill(hashes, keys, values, stamps); this.#allocate(capacity))
      this.#slack *= 2;
  }

  #allocate(capacity: number): void {
    const length = capacity + this.#slack;
    this.capacity = capacity;
    this.shared = false;
    this.#scale = capacity / this.#span;
    this.hashes = new Uint32Array(length);
    this.keys = new Array(length).fill(undefined);
    this.values = makeValues(this.#kind, length);
    if (this.stamps !== null) this.stamps = new Uint32Array(length);
  }

  #refill(
    hashes: Uint32Array,
    keys: (string | undefined)[],
    values: (V | undefined)[] | null,
    stamps: Uint32Array | null,
  ): boolean {
    for (let from = 0; from < hashes.length; from++) {
      const hash = hashes[from]!;
      if (hash === 0) continue;
      let i = this.home(hash);
      while (i < this.hashes.length && this.hashes[i] !== 0) i++;
      if (i >= this.hashes.length) return false;
      this.hashes[i] = hash;
      this.keys[i] = keys[from];
      if (values !== null) this.values![i] = values[from];
      if (stamps !== null) this.stamps![i] = stamps[from]!;
    }
    return true;
  }

  /** What the arrays take, without the strings in them. */
  get sizeBytes(): number {
    return this.hashes.length * (12 + (this.values === null ? 0 : 8) + (this.stamps === null ? 0 : 4)) + 160;
  }
}

export interface DictOptions {
  /** What to keep beside each key (default anything); a set of words needs none. */
  readonly values?: ValueKind;
  /** Keep a 32-bit number beside each entry. */
  readonly stamps?: boolean;
}

/** Words to values. Keys must be flat strings that share memory with nothing large (`own` in types/packed.ts). */
export class Dict<V = undefined> {
  #tables: Table<V>[];
  readonly #values: ValueKind;
  readonly #stamps: boolean;
  #size = 0;
  #tableBytes: number;
  /** The length of the longest table: every place in every table is equally likely to be looked at by randomKey. */
  #longest = SMALLEST + SLACK;

  constructor(options: DictOptions = {}) {
    this.#values = options.values ?? "any";
    this.#stamps = options.stamps ?? false;
    this.#tables = [this.#newTable(0, 4294967296)];
    this.#tableBytes = this.#tables[0]!.sizeBytes;
  }

  #newTable(base: number, span: number): Table<V> {
    return new Table<V>(base, span, this.#values, this.#stamps);
  }

  get size(): number {
    return this.#size;
  }

  /** What the tables take, without the strings and values in them. */
  get sizeBytes(): number {
    return this.#tableBytes;
  }

  /** The table that a hash belongs to. For callers that need a place in it; the rest use get and set. */
  tableOf(hash: number): Table<V> {
    return this.#tables.length === 1 ? this.#tables[0]! : this.#tables[hash >>> 24]!;
  }

  has(key: string): boolean {
    const hash = hashWord(key);
    return this.tableOf(hash).find(key, hash) >= 0;
  }

  get(key: string): V | undefined {
    const hash = hashWord(key);
    const table = this.tableOf(hash);
    const i = table.find(key, hash);
    return i < 0 ? undefined : table.values![i];
  }

  /** The number beside a key, where the dict keeps them. */
  stampOf(key: string): number | undefined {
    const hash = hashWord(key);
    const table = this.tableOf(hash);
    const i = table.find(key, hash);
    return i < 0 ? undefined : table.stamps![i];
  }

  /** Sets a key's value; true if the key is new. */
  set(key: string, value: V): boolean {
    const hash = hashWord(key);
    const table = this.tableOf(hash);
    const i = table.find(key, hash);
    if (i >= 0) {
      table.put(i, value);
      return false;
    }
    this.addNew(key, hash, value);
    return true;
  }

  /** Adds a key without a value; true if it is new. */
  add(key: string): boolean {
    const hash = hashWord(key);
    if (this.tableOf(hash).find(key, hash) >= 0) return false;
    this.addNew(key, hash, undefined);
    return true;
  }

  /** Adds a key that is known not to be there; returns its place in the hash's table. */
  addNew(key: string, hash: number, value: V | undefined): number {
    if (this.#size === SPLIT_AT && this.#tables.length === 1) this.#split();
    const table = this.tableOf(hash);
    const capacity = table.capacity;
    const place = table.add(key, hash, value);
    this.#size++;
    if (table.capacity !== capacity) this.#account();
    return place;
  }

  /**
   * Makes room for so many entries that are about to come. Not only to spare the growing: entries that come in the order of
   * their hashes, as they do from another dict, would crowd together at the front of a table that is too small for them.
   */
  reserve(count: number): void {
    if (count >= SPLIT_AT && this.#tables.length === 1) this.#split();
    const each = count / this.#tables.length;
    // Hashes spread as dice do: hardly a table gets more than this.
    const most = this.#tables.length === 1 ? count : Math.ceil(each + 3 * Math.sqrt(each));
    for (const table of this.#tables) table.widen(Math.ceil(most / RESERVED_LOAD));
    this.#account();
  }

  /** Makes the room that another dict has, for a copy of it. */
  reserveLike(other: Dict<V>): void {
    if (other.#tables.length > 1 && this.#tables.length === 1) this.#split();
    for (const [i, table] of other.#tables.entries()) this.#tables[i]!.widen(table.capacity);
    this.#account();
  }

  delete(key: string): boolean {
    const hash = hashWord(key);
    const table = this.tableOf(hash);
    const i = table.find(key, hash);
    if (i < 0) return false;
    this.deleteAt(table, i);
    return true;
  }

  /** Deletes the entry at a place in one of this dict's tables. */
  deleteAt(table: Table<V>, place: number): void {
    const capacity = table.capacity;
    table.removeAt(place);
    this.#size--;
    if (table.capacity !== capacity) this.#account();
  }

  clear(): void {
    this.#tables = [this.#newTable(0, 4294967296)];
    this.#size = 0;
    this.#account();
  }

  /**
   * A dict that stays as this one is now, for reading. It takes no time worth mentioning; what this one changes from here on
   * it copies first, a table at a time, until `thaw` says that the frozen one is not needed any more.
   */
  freeze(): Dict<V> {
    const frozen = new Dict<V>({ values: this.#values, stamps: this.#stamps });
    frozen.#tables = this.#tables.map((table) => table.freeze());
    frozen.#size = this.#size;
    frozen.#account();
    return frozen;
  }

  thaw(): void {
    for (const table of this.#tables) table.shared = false;
  }

  #split(): void {
    const old = this.#tables[0]!;
    const span = 4294967296 / SEGMENTS;
    this.#tables = Array.from({ length: SEGMENTS }, (_, i) => this.#newTable(i * span, span));
    for (let i = 0; i < old.hashes.length; i++) {
      const hash = old.hashes[i]!;
      if (hash === 0) continue;
      const table = this.#tables[hash >>> 24]!;
      const place = table.add(old.keys[i]!, hash, old.values?.[i]);
      if (old.stamps !== null) table.stamps![place] = old.stamps[i]!;
    }
    this.#account();
  }

  #account(): void {
    let bytes = 0;
    let longest = 0;
    for (const table of this.#tables) {
      bytes += table.sizeBytes;
      if (table.keys.length > longest) longest = table.keys.length;
    }
    this.#tableBytes = bytes;
    this.#longest = longest;
  }

  *keys(): Generator<string> {
    for (const table of this.#tables) {
      for (let i = 0; i < table.keys.length; i++) {
        const key = table.keys[i];
        if (key !== undefined) yield key;
      }
    }
  }

  *entries(): Generator<[string, V]> {
    for (const table of this.#tables) {
      for (let i = 0; i < table.keys.length; i++) {
        const key = table.keys[i];
        if (key !== undefined) yield [key, table.values![i]!];
      }
    }
  }

  /** Calls back for every entry; the dict must not change meanwhile. Faster than the generators. */
  forEach(visit: (key: string, value: V, place: number, table: Table<V>) => void): void {
    for (const table of this.#tables) {
      const { keys, values } = table;
      for (let i = 0; i < keys.length; i++) {
        const key = keys[i];
        if (key !== undefined) visit(key, (values === null ? undefined : values[i]) as V, i, table);
      }
    }
  }

  /**
   * Visits about `count` entries from a cursor on and returns the next cursor, 0 at the end. Start with 0. The visitor must
   * not change the dict.
   */
  scan(cursor: number, count: number, visit: (key: string, value: V) => void): number {
    let from = cursor;
    let seen = 0;
    let looked = 0;
    const most = count * 10;
    while (from < 4294967296) {
      const table = this.tableOf(from);
      const { hashes, keys, values } = table;
      let place = table.home(from);
      for (; place < table.capacity; place++) {
        if (seen >= count || looked >= most) return table.lowestHash(place);
        looked++;
        // Entries whose home is this place stand here or a little later in the same cluster.
        for (let i = place; i < hashes.length && hashes[i] !== 0; i++) {
          const hash = hashes[i]!;
          if (hash < from || table.home(hash) !== place) continue;
          visit(keys[i]!, (values === null ? undefined : values[i]) as V);
          seen++;
        }
      }
      if (this.#tables.length === 1) return 0;
      from = (Math.floor(from / 16777216) + 1) * 16777216;
      if (from < 4294967296 && (seen >= count || looked >= most)) return from;
    }
    return 0;
  }

  /** A key chosen evenly; undefined when there is none. `random` gives 0 ≤ x < 1. */
  randomKey(random: () => number): string | undefined {
    if (this.#size === 0) return undefined;
    for (;;) {
      const table = this.#tables[Math.floor(random() * this.#tables.length)]!;
      const key = table.keys[Math.floor(random() * this.#longest)];
      if (key !== undefined) return key;
    }
  }

  /** A few entries, chosen cheaply rather than evenly: for sampling in eviction and expiry. */
  sample(
    count: number,
    random: () => number,
    visit: (key: string, value: V, place: number, table: Table<V>) => void,
  ): void {
    if (this.#size === 0) return;
    let left = Math.min(count, this.#size);
    for (let tries = 0; left > 0 && tries < count * 10; tries++) {
      const table = this.#tables[Math.floor(random() * this.#tables.length)]!;
      if (table.used === 0) continue;
      const { keys, values } = table;
      let i = Math.floor(random() * keys.length);
      for (let steps = 0; left > 0 && steps < 20; steps++, i++) {
        if (i === keys.length) i = 0;
        const key = keys[i];
        if (key === undefined) continue;
        visit(key, (values === null ? undefined : values[i]) as V, i, table);
        left--;
      }
    }
  }
}
