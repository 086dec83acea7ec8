/** A large hash: a Dict from fields to values that also knows what the values take. */
import { Dict } from "../../core/dict.ts";
import { hashWord } from "../../core/word-hash.ts";
import { stringBytes } from "../collection.ts";
import { own, skip, wordAt } from "../packed.ts";

/** The object itself and the Dict around its tables. */
const FIXED_BYTES = 120;

export class HashTable {
  readonly dict: Dict<string>;
  #valueBytes = 0;

  constructor(dict = new Dict<string>()) {
    this.dict = dict;
  }

  /** From a packed hash; `expected` fields are to come in all. */
  static unpack(packed: string, expected = 0): HashTable {
    const table = new HashTable();
    table.dict.reserve(expected);
    for (let at = 0; at < packed.length; ) {
      const value = skip(packed, at);
      table.set(own(wordAt(packed, at)), own(wordAt(packed, value)));
      at = skip(packed, value);
    }
    return table;
  }

  get sizeBytes(): number {
    return FIXED_BYTES + this.dict.sizeBytes + this.#valueBytes;
  }

  /** Sets a field; true if it is new. */
  set(field: string, value: string): boolean {
    const hash = hashWord(field);
    const table = this.dict.tableOf(hash);
    const place = table.find(field, hash);
    if (place < 0) {
      this.dict.addNew(field, hash, value);
      this.#valueBytes += stringBytes(value.length);
      return true;
    }
    const values = table.values!;
    this.#valueBytes += stringBytes(value.length) - stringBytes(values[place]!.length);
    table.put(place, value);
    return false;
  }

  delete(field: string): boolean {
    const hash = hashWord(field);
    const table = this.dict.tableOf(hash);
    const place = table.find(field, hash);
    if (place < 0) return false;
    this.#valueBytes -= stringBytes(table.values![place]!.length);
    this.dict.deleteAt(table, place);
    return true;
  }

  /** For reading, as it is now (dict.ts). */
  freeze(): HashTable {
    const frozen = new HashTable(this.dict.freeze());
    frozen.#valueBytes = this.#valueBytes;
    return frozen;
  }

  clone(): HashTable {
    const copy = new HashTable(this.dict.clone());
    copy.#valueBytes = this.#valueBytes;
    return copy;
  }
}
