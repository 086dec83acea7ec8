/** A large set: a Dict of words without values. */
import { Dict } from "../../core/dict.ts";
import { hashWord } from "../../core/word-hash.ts";

/** The object itself and the Dict around its tables. */
const FIXED_BYTES = 120;

export class SetTable {
  readonly dict: Dict;

  constructor(dict: Dict = new Dict({ values: "none" })) {
    this.dict = dict;
  }

  get sizeBytes(): number {
    return FIXED_BYTES + this.dict.sizeBytes;
  }

  /** Adds a word that must share memory with nothing; false if it is there already. */
  add(word: string): boolean {
    const hash = hashWord(word);
    if (this.dict.tableOf(hash).find(word, hash) >= 0) return false;
    this.dict.addNew(word, hash, undefined);
    return true;
  }

  delete(word: string): boolean {
    return this.dict.delete(word);
  }

  /** For reading, as it is now (dict.ts). */
  freeze(): SetTable {
    return new SetTable(this.dict.freeze());
  }

  clone(): SetTable {
    return new SetTable(this.dict.clone());
  }
}
