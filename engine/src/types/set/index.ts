/**
 * A set. Three forms, widened one way:
 *
 * - integers only, and not too many: sorted, in a string of bytes (intset.ts); reported as `intset`;
 * - a few words: one packed string (types/packed.ts); reported as `hashtable`, for Redis 7.0 has no packed sets;
 * - anything else: a table (table.ts); `hashtable`.
 *
 * The packed form has no limit in the configuration, since nothing outside can see it. Its own is where searching it from
 * end to end begins to take longer than hashing a word.
 *
 * Words that come out may share memory with the packed string: right for replies, wrong for keeping.
 */
import { parseInt64 } from "../../lib/numbers.ts";
import type { Collection, Limits } from "../collection.ts";
import { stringBytes } from "../collection.ts";
import { append, entry, find, own, pack, seek, skip, splice, unpack, wordAt } from "../packed.ts";
import { sampleIndexes } from "../sample.ts";
import { findInt, type Int, insertInt, intAt, removeInt, rewiden, widthOf } from "./intset.ts";
import { SetTable } from "./table.ts";

/** This object: its header and two fields. Methods are not `#private`, which would take a field more. */
const OBJECT_BYTES = 40;

const MOST_PACKED_WORDS = 32;
const MOST_PACKED_CHARS = 2048;

/** V8 shares memory only for substrings of this length and more. */
const SHORTEST_SHARED = 13;

// The forms; 2, 4 and 8 are the widths of an intset.
const TABLE = 0;
const PACKED = 1;
const NARROWEST = 2;

/** Where the size begins in a set's shape, and one element there. */
const FORM_BITS = 4;
const ONE = 1 << FORM_BITS;

export class SetValue implements Collection {
  static readonly typeName = "set";

  #store: string | SetTable = "";
  /** Size and form in one number: a field less in every small set. */
  #shape = NARROWEST;

  /** From distinct words, not all of them integers, in a packed string that nothing shares. */
  static fromPacked(packed: string, size: number): SetValue {
    const made = new SetValue();
    const small = size <= MOST_PACKED_WORDS && packed.length <= MOST_PACKED_CHARS;
    made.#store = small ? packed : tableOf(unpack(packed));
    made.#shape = size * ONE + (small ? PACKED : TABLE);
    return made;
  }

  /** From integers as intset.ts has them. */
  static fromInts(text: string, width: 2 | 4 | 8, size: number, limits: Limits): SetValue {
    const made = new SetValue();
    made.#store = text;
    made.#shape = size * ONE + width;
    if (size > limits.setMaxIntsetEntries) made.leaveInts();
    return made;
  }

  get type(): "set" {
    return "set";
  }

  get size(): number {
    return this.#shape >> FORM_BITS;
  }

  private get form(): number {
    return this.#shape & (ONE - 1);
  }

  private set form(form: number) {
    this.#shape = (this.#shape & -ONE) | form;
  }

  get encoding(): "intset" | "hashtable" {
    return this.form >= NARROWEST ? "intset" : "hashtable";
  }

  get sizeBytes(): number {
    const store = this.#store;
    return OBJECT_BYTES + (typeof store === "string" ? stringBytes(store.length) : store.sizeBytes);
  }

  freeze(): SetValue {
    const frozen = new SetValue();
    frozen.#store = typeof this.#store === "string" ? this.#store : this.#store.freeze();
    frozen.#shape = this.#shape;
    return frozen;
  }

  thaw(): void {
    if (typeof this.#store !== "string") this.#store.dict.thaw();
  }

  clone(): SetValue {
    const copy = new SetValue();
    copy.#store = typeof this.#store === "string" ? this.#store : this.#store.clone();
    copy.#shape = this.#shape;
    return copy;
  }

  /** Whether a number is in an intset, and where (as findInt says). */
  private indexOfInt(value: Int): number {
    return widthOf(value) > this.form ? -1 : findInt(this.#store as string, this.form, value);
  }

  has(word: string): boolean {
    const store = this.#store;
    if (typeof store !== "string") return store.dict.has(word);
    if (this.form === PACKED) return find(store, word) >= 0;
    const value = parseInt64(word);
    return value !== undefined && this.indexOfInt(value) >= 0;
  }

  /** Adds a word that shares memory with nothing; false if it is there already. */
  add(word: string, limits: Limits): boolean {
    return this.addWord(word, limits, false);
  }

  /** Adds a word that came out of another set. */
  addFrom(source: SetValue, word: string, limits: Limits): boolean {
    return this.addWord(word, limits, source.form === PACKED);
  }

  private addWord(word: string, limits: Limits, shared: boolean): boolean {
    if (this.form >= NARROWEST) {
      const value = parseInt64(word);
      if (value !== undefined) return this.addInt(value, limits);
      this.leaveInts();
    }
    return this.form === PACKED ? this.addPacked(word, shared) : this.addToTable(word, shared);
  }

  private addInt(value: Int, limits: Limits): boolean {
    const width = widthOf(value);
    let text = this.#store as string;
    if (width > this.form) {
      text = rewiden(text, this.form, width);
      this.form = width;
    }
    const index = findInt(text, this.form, value);
    if (index >= 0) return false;
    this.#store = insertInt(text, this.form, -1 - index, value);
    this.#shape += ONE;
    // Redis counts entries in 30 bits here, whatever the configuration says.
    if (this.size > Math.min(limits.setMaxIntsetEntries, 1 << 30)) this.leaveInts();
    return true;
  }

  private addPacked(word: string, shared: boolean): boolean {
    const packed = this.#store as string;
    if (find(packed, word) >= 0) return false;
    if (this.size >= MOST_PACKED_WORDS || packed.length + word.length >= MOST_PACKED_CHARS) {
      this.#store = tableOf(unpack(packed));
      this.form = TABLE;
      return this.addToTable(word, shared);
    }
    this.#store = append(packed, entry(word));
    this.#shape += ONE;
    return true;
  }

  private addToTable(word: string, shared: boolean): boolean {
    const isNew = (this.#store as SetTable).add(shared ? flat(word) : word);
    if (isNew) this.#shape += ONE;
    return isNew;
  }

  /** The numbers of an intset as intset.ts has them, and their width; for the files. */
  get ints(): { readonly text: string; readonly width: number } | undefined {
    return this.form >= NARROWEST ? { text: this.#store as string, width: this.form } : undefined;
  }

  /** Becomes a table now, with room for so many members. */
  widen(expected: number): void {
    if (this.form === TABLE) return;
    this.#store = tableOf(this.members(), expected);
    this.form = TABLE;
  }

  /** From integers to words. */
  private leaveInts(): void {
    const words = this.members();
    if (words.length < MOST_PACKED_WORDS) {
      this.#store = pack(words);
      this.form = PACKED;
    } else {
      this.#store = tableOf(words);
      this.form = TABLE;
    }
  }

  delete(word: string): boolean {
    const store = this.#store;
    if (typeof store !== "string") {
      if (!store.delete(word)) return false;
    } else if (this.form === PACKED) {
      const at = find(store, word);
      if (at < 0) return false;
      this.#store = splice(store, at, skip(store, at), "");
    } else {
      const value = parseInt64(word);
      const index = value === undefined ? -1 : this.indexOfInt(value);
      if (index < 0) return false;
      this.#store = removeInt(store, this.form, index);
    }
    this.#shape -= ONE;
    return true;
  }

  clear(): void {
    this.#store = "";
    this.#shape = NARROWEST;
  }

  members(): string[] {
    const store = this.#store;
    if (this.form === PACKED) return unpack(store as string);
    const words: string[] = [];
    this.forEach((word) => {
      words.push(word);
    });
    return words;
  }

  /** Every word, for loops that may stop early; the set must not change meanwhile. */
  words(): Iterable<string> {
    return this.form === TABLE ? (this.#store as SetTable).dict.keys() : this.members();
  }

  /** Calls back for every word; the set must not change meanwhile. */
  forEach(visit: (word: string) => void): void {
    const store = this.#store;
    if (typeof store !== "string") store.dict.forEach(visit);
    else if (this.form === PACKED) {
      for (let at = 0; at < store.length; at = skip(store, at)) visit(wordAt(store, at));
    } else for (let i = 0; i < this.size; i++) visit(String(intAt(store, this.form, i)));
  }

  /** Visits about `count` words from a cursor on; returns the next cursor, 0 at the end. A small set is one page. */
  scan(cursor: number, count: number, visit: (word: string) => void): number {
    const store = this.#store;
    if (typeof store !== "string") return store.dict.scan(cursor, count, visit);
    this.forEach(visit);
    return 0;
  }

  /** A word chosen evenly. The set must not be empty. */
  random(random: () => number): string {
    const store = this.#store;
    if (typeof store !== "string") return store.dict.drawKey(random);
    const index = Math.floor(random() * this.size);
    return this.form === PACKED ? wordAt(store, seek(store, index)) : String(intAt(store, this.form, index));
  }

  /** Takes a word out that is chosen evenly. The set must not be empty. */
  pop(random: () => number): string {
    const store = this.#store;
    if (typeof store !== "string") {
      this.#shape -= ONE;
      return store.dict.takeKey(random);
    }
    const index = Math.floor(random() * this.size);
    this.#shape -= ONE;
    if (this.form === PACKED) {
      const at = seek(store, index);
      const word = wordAt(store, at);
      this.#store = splice(store, at, skip(store, at), "");
      return word;
    }
    this.#store = removeInt(store, this.form, index);
    return String(intAt(store, this.form, index));
  }

  /**
   * Takes `count` words out that are chosen evenly; all of them when there are fewer. Where few are left behind these are
   * put in a new set, as Redis does it; so integers become an intset again, and OBJECT ENCODING shows it.
   */
  popSome(count: number, random: () => number, limits: Limits): string[] {
    const left = this.size - count;
    if (left > 0 && left * 5 > count) {
      const popped: string[] = [];
      for (let i = 0; i < count; i++) popped.push(this.pop(random));
      return popped;
    }
    const words = this.members();
    this.clear();
    if (left <= 0) return words;
    const staying = new Set(sampleIndexes(words.length, left, random));
    const popped: string[] = [];
    for (const [index, word] of words.entries()) {
      if (staying.has(index)) this.addWord(word, limits, true);
      else popped.push(word);
    }
    return popped;
  }

  /** `count` words chosen evenly, none of them twice; all of them when there are fewer. */
  sample(count: number, random: () => number): string[] {
    const store = this.#store;
    if (count >= this.size) return this.members();
    if (typeof store === "string" || count * 3 > this.size) {
      const words = this.members();
      return sampleIndexes(words.length, count, random).map((index) => words[index]!);
    }
    const chosen = new Set<string>();
    while (chosen.size < count) chosen.add(store.dict.drawKey(random));
    return [...chosen];
  }

  /** `count` words, each chosen evenly and independently of the others. */
  draw(count: number, random: () => number): string[] {
    const chosen: string[] = [];
    for (let i = 0; i < count; i++) chosen.push(this.random(random));
    return chosen;
  }
}

/** The word, sharing memory with nothing. */
function flat(word: string): string {
  return word.length < SHORTEST_SHARED ? word : own(word);
}

function tableOf(words: readonly string[], expected = words.length): SetTable {
  const table = new SetTable();
  table.dict.reserve(expected);
  for (const word of words) table.add(flat(word));
  return table;
}
