/** A large set: a Dict of words without values that also knows what its strings take. */
import { Dict } from "../../core/dict.ts";
import { hashWord } from "../../core/word-hash.ts";
import { stringBytes } from "../collection.ts";

/** The object itself and the Dict around its tables. */
const FIXED_BYTES = 120;

export class SetTable {
  readonly dict: Dict;
  #stringBytes = 0;

  constructor(dict: Dict = new Dict({ values: "none" })) {
    this.dict = dict;
  }

  get sizeBytes(): number {
    return FIXED_BYTES + this.dict.sizeBytes + this.#stringBytes;
  }

  /** Adds a word that must share memory with nothing; false if it is there already. */
  add(word: string): boolean {
    const hash = hashWord(word);
    if (this.dict.tableOf(hash).find(word, hash) >= 0) return false;
    this.dict.addNew(word, hash, undefined);
    this.#stringBytes += stringBytes(word.length);
    return true;
  }

  delete(word: string): boolean {
    if (!this.dict.delete(word)) return false;
    this.#stringBytes -= stringBytes(word.length);
    return true;
  }

  /** For reading, as it is now (dict.ts). */
  freeze(): SetTable {
    const frozen = new SetTable(this.dict.freeze());
    frozen.#stringBytes = this.#stringBytes;
    return frozen;
  }

  clone(): SetTable {
    const copy = new SetTable(this.dict.clone());
    copy.#stringBytes = this.#stringBytes;
    return copy;
  }
}
