/**
 * A hash. Within the configured limits it is one packed string (`listpack`), past them it is reported as `hashtable`; it
 * never goes back. Long values alone do not make a table of it, though: a few fields are faster found and cheaper kept in a
 * packed string, whatever they hold, and nothing outside can see the difference.
 *
 * Words that come out may share memory with the packed string: right for replies, wrong for keeping.
 */

import type { Collection, Limits } from "../collection.ts";
import { stringBytes } from "../collection.ts";
import { entry, flat, seek, skip, unpack, wordAt } from "../packed.ts";
import { sampleIndexes } from "../sample.ts";
import { addField, findField, removeField, replaceValue, valueAt, valueLengthAt } from "./packed.ts";
import { HashTable } from "./table.ts";

/** This object: its header and two fields. */
const OBJECT_BYTES = 40;

/** However high the limits are set, a packed hash stays well below the longest string that V8 can make. */
const LONGEST_PACKED = 1 << 27;

/** Past the limits, a hash stays a packed string up to this many fields and chars. */
const MOST_PACKED_FIELDS = 32;
const MOST_PACKED_CHARS = 4096;

/** A hash's shape: 1 when it is past the limits, plus 2 for each field. */
const WIDE = 1;
const ONE = 2;

export class HashValue implements Collection {
  static readonly typeName = "hash";

  /** The packed string, or the table. Two fields in all: a million small hashes pay for each one. */
  #store: string | HashTable = "";
  #shape = 0;

  /** From fields and values in turn in a packed string that nothing shares: distinct fields, all within the limits. */
  static fromPacked(packed: string, size: number): HashValue {
    const made = new HashValue();
    made.#store = packed;
    made.#shape = size * ONE;
    return made;
  }

  get type(): "hash" {
    return "hash";
  }

  get size(): number {
    return this.#shape >> 1;
  }

  get encoding(): "listpack" | "hashtable" {
    return (this.#shape & WIDE) === 0 ? "listpack" : "hashtable";
  }

  get sizeBytes(): number {
    const store = this.#store;
    return OBJECT_BYTES + (typeof store === "string" ? stringBytes(store.length) : store.sizeBytes);
  }

  freeze(): HashValue {
    const frozen = new HashValue();
    frozen.#store = typeof this.#store === "string" ? this.#store : this.#store.freeze();
    frozen.#shape = this.#shape;
    return frozen;
  }

  thaw(): void {
    if (typeof this.#store !== "string") this.#store.dict.thaw();
  }

  clone(): HashValue {
    const copy = new HashValue();
    copy.#store = typeof this.#store === "string" ? this.#store : this.#store.clone();
    copy.#shape = this.#shape;
    return copy;
  }

  get(field: string): string | undefined {
    const store = this.#store;
    if (typeof store !== "string") return store.dict.get(field);
    const at = findField(store, field);
    return at < 0 ? undefined : valueAt(store, at);
  }

  has(field: string): boolean {
    const store = this.#store;
    return typeof store === "string" ? findField(store, field) >= 0 : store.dict.has(field);
  }

  /** How long a field's value is; 0 without the field. */
  lengthOf(field: string): number {
    const store = this.#store;
    if (typeof store !== "string") return store.dict.get(field)?.length ?? 0;
    const at = findField(store, field);
    return at < 0 ? 0 : valueLengthAt(store, at);
  }

  /**
   * Widens now if one of these words, from index `from` on, is too long for a packed hash. Redis looks at all the words of
   * a command before it sets the first, which saves packing what would be unpacked at once.
   */
  makeRoom(words: readonly string[], from: number, limits: Limits): void {
    if ((this.#shape & WIDE) !== 0) return;
    const most = limits.hashMaxListpackValue;
    for (let i = from; i < words.length; i++) {
      if (words[i]!.length > most) {
        this.#shape |= WIDE;
        return;
      }
    }
  }

  /**
   * Sets the fields and values from index `from` on in a hash that is empty, with one copy for all; returns how many fields
   * there are. For a few of them: a field that comes twice is looked for by comparing each with each.
   */
  fill(words: readonly string[], from: number, limits: Limits): number {
    this.makeRoom(words, from, limits);
    const repeats = hasRepeatedField(words, from);
    let text = "";
    let size = 0;
    for (let i = from; i < words.length; i += 2) {
      let last = i;
      if (repeats) {
        if (fieldBefore(words, from, i)) continue;
        for (let j = i + 2; j < words.length; j += 2) if (words[j] === words[i]) last = j;
      }
      text += entry(words[i]!) + entry(words[last + 1]!);
      size++;
    }
    this.#store = flat(text);
    this.#shape += size * ONE;
    if (size > limits.hashMaxListpackEntries) this.#shape |= WIDE;
    this.settle();
    return size;
  }

  /** Makes a table of a packed hash that has become too large to be one. */
  private settle(): void {
    const store = this.#store;
    if (typeof store !== "string" || (this.#shape & WIDE) === 0) return;
    if (this.size > MOST_PACKED_FIELDS || store.length > MOST_PACKED_CHARS) this.#store = HashTable.unpack(store);
  }

  /** The packed string of a hash within the limits, for the files. */
  get packed(): string | undefined {
    return typeof this.#store === "string" && (this.#shape & WIDE) === 0 ? this.#store : undefined;
  }

  /** Becomes a table now if so many fields are about to come that it would anyway. */
  widen(expected: number): void {
    this.#shape |= WIDE;
    if (typeof this.#store !== "string" || expected <= MOST_PACKED_FIELDS) return;
    this.#store = HashTable.unpack(this.#store, expected);
  }

  /** Sets a field; true if it is new. */
  set(field: string, value: string, limits: Limits): boolean {
    const store = this.#store;
    if (typeof store !== "string") return this.setInTable(store, field, value);
    const longest = limits.hashMaxListpackValue;
    if (field.length > longest || value.length > longest || store.length > LONGEST_PACKED) {
      this.#shape |= WIDE;
      if (store.length + value.length > MOST_PACKED_CHARS) {
        const table = HashTable.unpack(store);
        this.#store = table;
        return this.setInTable(table, field, value);
      }
    }
    const at = findField(store, field);
    this.#store = at >= 0 ? replaceValue(store, at, value) : addField(store, field, value);
    if (at < 0) this.#shape += ONE;
    if (this.size > limits.hashMaxListpackEntries) this.#shape |= WIDE;
    this.settle();
    return at < 0;
  }

  private setInTable(table: HashTable, field: string, value: string): boolean {
    const isNew = table.set(field, value);
    if (isNew) this.#shape += ONE;
    return isNew;
  }

  delete(field: string): boolean {
    const store = this.#store;
    if (typeof store === "string") {
      const at = findField(store, field);
      if (at < 0) return false;
      this.#store = removeField(store, at);
    } else if (!store.delete(field)) return false;
    this.#shape -= ONE;
    return true;
  }

  /** Field, value, field, value … */
  pairs(): string[] {
    const store = this.#store;
    if (typeof store === "string") return unpack(store);
    const flat: string[] = [];
    store.dict.forEach((field, value) => {
      flat.push(field, value);
    });
    return flat;
  }

  fields(): string[] {
    const fields: string[] = [];
    this.forEach((field) => {
      fields.push(field);
    });
    return fields;
  }

  values(): string[] {
    const values: string[] = [];
    this.forEach((_field, value) => {
      values.push(value);
    });
    return values;
  }

  /** Calls back for every field; the hash must not change meanwhile. */
  forEach(visit: (field: string, value: string) => void): void {
    const store = this.#store;
    if (typeof store !== "string") {
      store.dict.forEach(visit);
      return;
    }
    for (let at = 0; at < store.length; ) {
      const value = skip(store, at);
      visit(wordAt(store, at), wordAt(store, value));
      at = skip(store, value);
    }
  }

  /** Visits about `count` fields from a cursor on; returns the next cursor, 0 at the end. A packed hash is one page. */
  scan(cursor: number, count: number, visit: (field: string, value: string) => void): number {
    const store = this.#store;
    if (typeof store !== "string") return store.dict.scan(cursor, count, visit);
    this.forEach(visit);
    return 0;
  }

  /** A field chosen evenly. The hash must not be empty. */
  randomField(random: () => number): string {
    const store = this.#store;
    if (typeof store !== "string") return store.dict.drawKey(random);
    return wordAt(store, seek(store, 2 * Math.floor(random() * this.size)));
  }

  /** `count` fields chosen evenly, none of them twice, as field, value, field, value …; all of them when there are fewer. */
  sample(count: number, random: () => number): string[] {
    const store = this.#store;
    if (count >= this.size) return this.pairs();
    if (typeof store === "string" || count * 3 > this.size) {
      const all = this.pairs();
      const chosen: string[] = [];
      for (const i of sampleIndexes(this.size, count, random)) chosen.push(...all.slice(2 * i, 2 * i + 2));
      return chosen;
    }
    const fields = new Set<string>();
    while (fields.size < count) fields.add(store.dict.drawKey(random));
    const chosen: string[] = [];
    for (const field of fields) chosen.push(field, store.dict.get(field)!);
    return chosen;
  }

  /** `count` fields, each chosen evenly and independently of the others, as field, value, field, value … */
  draw(count: number, random: () => number): string[] {
    const store = this.#store;
    const chosen: string[] = [];
    if (typeof store !== "string") {
      for (let i = 0; i < count; i++) {
        const field = store.dict.drawKey(random);
        chosen.push(field, store.dict.get(field)!);
      }
      return chosen;
    }
    const all = unpack(store);
    for (let i = 0; i < count; i++) {
      const at = 2 * Math.floor(random() * this.size);
      chosen.push(...all.slice(at, at + 2));
    }
    return chosen;
  }
}

/** Whether a field comes twice. Those are compared that may be the same by their length and first char. */
function hasRepeatedField(words: readonly string[], from: number): boolean {
  let seen = 0;
  for (let i = from; i < words.length; i += 2) {
    const field = words[i]!;
    const bit = 1 << ((field.length * 7 + (field === "" ? 0 : field.charCodeAt(0))) & 31);
    if ((seen & bit) !== 0 && fieldBefore(words, from, i)) return true;
    seen |= bit;
  }
  return false;
}

/** Whether the field at index `at` also stands before it. */
function fieldBefore(words: readonly string[], from: number, at: number): boolean {
  for (let j = from; j < at; j += 2) if (words[j] === words[at]) return true;
  return false;
}
