/**
 * A hash. While it is small it is one packed string (`listpack`), past the configured limits a table (`hashtable`); it
 * never goes back. Words that come out may share memory with the packed string: right for replies, wrong for keeping.
 */

import { seek, skip, unpack, wordAt } from "../packed.ts";
import { sampleIndexes } from "../sample.ts";
import type { Collection, Limits } from "../value.ts";
import { stringBytes } from "../value.ts";
import { addField, findField, removeField, replaceValue, valueAt, valueLengthAt } from "./packed.ts";
import { HashTable } from "./table.ts";

/** This object: its header and two fields. */
const OBJECT_BYTES = 40;

/** However high the limits are set, a packed hash stays well below the longest string that V8 can make. */
const LONGEST_PACKED = 1 << 27;

export class HashValue implements Collection {
  static readonly typeName = "hash";

  /** The packed string, or the table. Two fields in all: a million small hashes pay for each one. */
  #store: string | HashTable = "";
  #size = 0;

  /** From fields and values in turn in a packed string that nothing shares: distinct fields, all within the limits. */
  static fromPacked(packed: string, size: number): HashValue {
    const made = new HashValue();
    made.#store = packed;
    made.#size = size;
    return made;
  }

  get type(): "hash" {
    return "hash";
  }

  get size(): number {
    return this.#size;
  }

  get encoding(): "listpack" | "hashtable" {
    return typeof this.#store === "string" ? "listpack" : "hashtable";
  }

  get sizeBytes(): number {
    const store = this.#store;
    return OBJECT_BYTES + (typeof store === "string" ? stringBytes(store.length) : store.sizeBytes);
  }

  clone(): HashValue {
    const copy = new HashValue();
    copy.#store = typeof this.#store === "string" ? this.#store : this.#store.clone();
    copy.#size = this.#size;
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
    if (typeof this.#store !== "string") return;
    const most = limits.hashMaxListpackValue;
    for (let i = from; i < words.length; i++) {
      if (words[i]!.length > most) {
        this.#store = HashTable.unpack(this.#store);
        return;
      }
    }
  }

  /** The packed string of a small hash, for the files. */
  get packed(): string | undefined {
    return typeof this.#store === "string" ? this.#store : undefined;
  }

  /** Becomes a table now, with room for so many fields that are about to come. */
  widen(expected: number): void {
    if (typeof this.#store !== "string") return;
    const table = HashTable.unpack(this.#store);
    table.dict.reserve(expected);
    this.#store = table;
  }

  /** Sets a field; true if it is new. */
  set(field: string, value: string, limits: Limits): boolean {
    const store = this.#store;
    if (typeof store !== "string") return this.setInTable(store, field, value);
    const longest = limits.hashMaxListpackValue;
    if (field.length > longest || value.length > longest || store.length > LONGEST_PACKED) {
      const table = HashTable.unpack(store);
      this.#store = table;
      return this.setInTable(table, field, value);
    }
    const at = findField(store, field);
    this.#store = at >= 0 ? replaceValue(store, at, value) : addField(store, field, value);
    if (at < 0) this.#size++;
    if (this.#size > limits.hashMaxListpackEntries) this.#store = HashTable.unpack(this.#store);
    return at < 0;
  }

  private setInTable(table: HashTable, field: string, value: string): boolean {
    const isNew = table.set(field, value);
    if (isNew) this.#size++;
    return isNew;
  }

  delete(field: string): boolean {
    const store = this.#store;
    if (typeof store === "string") {
      const at = findField(store, field);
      if (at < 0) return false;
      this.#store = removeField(store, at);
    } else if (!store.delete(field)) return false;
    this.#size--;
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
    if (typeof store !== "string") return store.dict.randomKey(random)!;
    return wordAt(store, seek(store, 2 * Math.floor(random() * this.#size)));
  }

  /** `count` fields chosen evenly, none of them twice, as field, value, field, value …; all of them when there are fewer. */
  sample(count: number, random: () => number): string[] {
    const store = this.#store;
    if (count >= this.#size) return this.pairs();
    if (typeof store === "string" || count * 3 > this.#size) {
      const all = this.pairs();
      const chosen: string[] = [];
      for (const i of sampleIndexes(this.#size, count, random)) chosen.push(all[2 * i]!, all[2 * i + 1]!);
      return chosen;
    }
    const fields = new Set<string>();
    while (fields.size < count) fields.add(store.dict.randomKey(random)!);
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
        const field = store.dict.randomKey(random)!;
        chosen.push(field, store.dict.get(field)!);
      }
      return chosen;
    }
    const all = unpack(store);
    for (let i = 0; i < count; i++) {
      const at = 2 * Math.floor(random() * this.#size);
      chosen.push(all[at]!, all[at + 1]!);
    }
    return chosen;
  }
}
