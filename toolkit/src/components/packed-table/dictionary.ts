/**
 * The words of a column and their codes. Codes are given by the store, in the order in which words come up, and never change, so
 * what is known here stays true; what is not known is asked for. A code without a word, which only damage can leave behind, is named
 * by its number and not dropped: `#17`.
 */

import { InputError } from "../../base/errors.ts";
import { zipped } from "../../base/lists.ts";
import { asPairs } from "../../base/replies.ts";
import type { Store } from "../../connection/store.ts";
import { type ColumnFacts, checkWord } from "./columns.ts";
import { intern } from "./scripts.ts";

/** How long a code that has no word is not asked for again. */
const BELIEVE_MS = 1_000;
const WORDS_PER_CALL = 1_000;

export class Dictionary {
  readonly #store: Store;
  readonly #key: string;
  readonly #name: string;
  readonly #facts: ColumnFacts;
  readonly #codes = new Map<string, number>();
  readonly #words: (string | undefined)[] = [];
  /** Codes that were found to have no word, and when. */
  readonly #nameless = new Map<number, number>();

  constructor(store: Store, key: string, name: string, facts: ColumnFacts) {
    this.#store = store;
    this.#key = key;
    this.#name = name;
    this.#facts = facts;
  }

  get size(): number {
    return this.#codes.size;
  }

  entries(): [string, number][] {
    return [...this.#codes];
  }

  async load(): Promise<void> {
    for (const [word, code] of asPairs(await this.#store.call("HGETALL", this.#key))) this.#learn(word, Number(code));
  }

  #learn(word: string, code: number): void {
    this.#codes.set(word, code);
    this.#words[code] = word;
  }

  codeOf(word: string): number | undefined {
    return this.#codes.get(word);
  }

  /** Has codes for these afterwards; `isGiven`: those that the column was made with. */
  async ensure(words: Iterable<string>, isGiven = false): Promise<void> {
    const fresh = [...new Set(words)].filter((word) => !this.#codes.has(checkWord(word)));
    if (fresh.length === 0) return;
    if (this.#facts.grows === false && !isGiven) {
      await this.load();
      const foreign = fresh.find((word) => !this.#codes.has(word));
      if (foreign !== undefined) throw new InputError(`"${foreign}" is none of the words of "${this.#name}"`);
      return;
    }
    const most = 256 ** this.#facts.width - 1;
    for (let at = 0; at < fresh.length; at += WORDS_PER_CALL) {
      const some = fresh.slice(at, at + WORDS_PER_CALL);
      const codes = await this.#store.run(intern, { dictionary: this.#key, most, words: some });
      for (const [word, code] of zipped(some, codes)) {
        if (code === 0) throw new InputError(`"${this.#name}" has ${most} words, and none is left for "${word}"`);
        this.#learn(word, code);
      }
    }
  }

  /** Asks for words that others have added, if one of the codes is not known. */
  async refresh(codes: Iterable<number>): Promise<void> {
    const now = this.#store.clock.monotonicMs();
    const missing = [...new Set(codes)].filter((code) => code !== 0 && this.#words[code] === undefined);
    const isNews = (code: number): boolean =>
      now - (this.#nameless.get(code) ?? Number.NEGATIVE_INFINITY) >= BELIEVE_MS;
    if (!missing.some(isNews)) return;
    // A word is there before its code is used, so what is not found now has none.
    await this.load();
    for (const code of missing) if (this.#words[code] === undefined) this.#nameless.set(code, now);
  }

  wordOf(code: number): string | null {
    return code === 0 ? null : (this.#words[code] ?? `#${code}`);
  }
}
