/**
 * From text to words. A run of letters and digits is a word, except in scripts that do not put spaces between words (Chinese,
 * Japanese, Thai, Lao, Khmer, Burmese), where Intl.Segmenter finds them. Words are compared in one form: NFKC, lower case,
 * without diacritics if asked, stemmed if the language has a stemmer. Stop words are left out but counted, so that the words of
 * a phrase keep their distance.
 *
 * Most words of most texts have been seen before, so what becomes of a run is remembered.
 */
import { createHash } from "node:crypto";
import { InputError } from "../errors.ts";
import { stemEnglish } from "./stem.ts";
import { STOP_WORDS } from "./stop-words.ts";

/** A word of a text: `word` as it is indexed, `start` and `end` where it stands. */
export type OnWord = (word: string, position: number, start: number, end: number) => void;

export interface Analyser {
  /** The same for two that make the same words of the same text. */
  readonly name: string;
  /** Calls back for each word that is not a stop word. Answers how many words there are with the stop words. */
  words(text: string, onWord: OnWord): number;
  /** One word in the form that is compared, not stemmed; for beginnings of words. */
  fold(word: string): string;
}

export interface AnalyserOptions {
  /** BCP 47: chooses stop words, stemmer and segmentation. "en" by default, "und" for none of them. */
  readonly language?: string;
  /** Instead of the language's. */
  readonly stopWords?: readonly string[];
  /** "é" is "e". */
  readonly foldDiacritics?: boolean;
  /** Instead of the language's; false for none. Its name says which it is to those who share the index. */
  readonly stem?: false | { readonly name: string; readonly stem: (word: string) => string };
}

const STEMMERS: Readonly<Record<string, { readonly name: string; readonly stem: (word: string) => string }>> = {
  en: { name: "en-light-1", stem: stemEnglish },
};

const MAX_WORD_UNITS = 64;
const MAX_REMEMBERED = 100_000;
const ASCII = /^[\0-\x7f]*$/;
const RUNS = /[\p{L}\p{N}\p{M}]+(?:['’][\p{L}\p{N}\p{M}]+)*/gu;
const RUNS_APART = /[\p{L}\p{N}\p{M}]+/gu;
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const NOT_OF_WORDS = /[^\p{L}\p{N}\p{M}]+/gu;
const MARKS = /\p{M}+/gu;

/** Which ASCII characters words are made of. */
const OF_WORDS = Uint8Array.from({ length: 128 }, (_, code) => (/[0-9A-Za-z]/.test(String.fromCharCode(code)) ? 1 : 0));
const APOSTROPHE = 39;

/** The usual analyser of a language. */
export function analyser(options: AnalyserOptions = {}): Analyser {
  return new LanguageAnalyser(options);
}

/** The usual analyser of that name; null if it has stop words or a stemmer of somebody's own. */
export function namedAnalyser(name: string): Analyser | null {
  const [language = "", , stemmer, diacritics] = name.split("/");
  try {
    const foldDiacritics = diacritics === "folded";
    const made = analyser({ language, foldDiacritics, ...(stemmer === "no stemmer" ? { stem: false } : {}) });
    return made.name === name ? made : null;
  } catch {
    return null;
  }
}

class LanguageAnalyser implements Analyser {
  readonly name: string;
  readonly #segmenter: Intl.Segmenter;
  readonly #stops: ReadonlySet<string>;
  readonly #stem: ((word: string) => string) | null;
  readonly #foldDiacritics: boolean;
  /** In English an apostrophe is part of a word ("don't"); elsewhere it parts them ("l'avion"). */
  readonly #joins: boolean;
  /** What becomes of a run: the word, or null for a stop word. */
  readonly #known = new Map<string, string | null>();

  constructor(options: AnalyserOptions) {
    const { language = "en", foldDiacritics = false } = options;
    const main = language.split("-")[0]!.toLowerCase();
    try {
      this.#segmenter = new Intl.Segmenter(main === "und" ? undefined : language, { granularity: "word" });
    } catch (cause) {
      throw new InputError(`"${language}" is no language tag`, { cause });
    }
    this.#foldDiacritics = foldDiacritics;
    this.#joins = main === "en" || main === "und";
    this.#stops = new Set([...(options.stopWords ?? STOP_WORDS[main] ?? [])].map((word) => this.fold(word)));
    const stemmer = options.stem === false ? undefined : (options.stem ?? STEMMERS[main]);
    this.#stem = stemmer?.stem ?? null;
    const stops = createHash("sha1")
      .update([...this.#stops].sort().join(" "))
      .digest("base64url")
      .slice(0, 8);
    this.name = [language, stops, stemmer?.name ?? "no stemmer", foldDiacritics ? "folded" : "as written"].join("/");
  }

  words(text: string, onWord: OnWord): number {
    return ASCII.test(text) ? this.#ascii(text, onWord) : this.#unicode(text, onWord);
  }

  #ascii(text: string, onWord: OnWord): number {
    const { length } = text;
    let position = 0;
    let at = 0;
    while (at < length) {
      while (at < length && OF_WORDS[text.charCodeAt(at)] === 0) at++;
      if (at >= length) break;
      const start = at;
      for (;;) {
        while (at < length && OF_WORDS[text.charCodeAt(at)] === 1) at++;
        const inside = this.#joins && at + 1 < length && text.charCodeAt(at) === APOSTROPHE;
        if (!inside || OF_WORDS[text.charCodeAt(at + 1)] === 0) break;
        at++;
      }
      const word = this.#known.get(text.slice(start, at)) ?? this.#learned(text.slice(start, at));
      if (word !== null) onWord(word, position, start, at);
      position++;
    }
    return position;
  }

  #unicode(text: string, onWord: OnWord): number {
    let position = 0;
    const take = (run: string, start: number): void => {
      const word = this.#known.get(run) ?? this.#learned(run);
      if (word !== null) onWord(word, position, start, start + run.length);
      position++;
    };
    for (const { 0: run, index } of text.matchAll(this.#joins ? RUNS : RUNS_APART)) {
      if (!UNSPACED.test(run)) {
        take(run, index);
        continue;
      }
      for (const { segment, index: within, isWordLike } of this.#segmenter.segment(run)) {
        if (isWordLike === true) take(segment, index + within);
      }
    }
    return position;
  }

  #learned(run: string): string | null {
    if (this.#known.has(run)) return null;
    const folded = this.fold(run);
    // Marks that stand alone can be folded to nothing, and so can a stemmer.
    const word = this.#stops.has(folded) ? null : this.#stemmed(folded) || null;
    if (this.#known.size >= MAX_REMEMBERED) this.#known.clear();
    // A slice keeps the whole text it was cut from alive.
    this.#known.set(Buffer.from(run, "utf16le").toString("utf16le"), word);
    return word;
  }

  #stemmed(folded: string): string {
    return this.#stem === null ? folded : this.#stem(folded);
  }

  fold(word: string): string {
    let folded = word.toLowerCase();
    if (!ASCII.test(folded)) {
      folded = folded.normalize("NFKC").toLowerCase().normalize("NFKC");
      if (this.#foldDiacritics) folded = folded.normalize("NFD").replace(MARKS, "").normalize("NFC");
    }
    if (folded.includes("'") || folded.includes("’")) folded = folded.replace(/['’]s$/, "");
    folded = folded.replace(NOT_OF_WORDS, "");
    return folded.length > MAX_WORD_UNITS ? wholeUnits(folded) : folded;
  }
}

/** Cut, but not inside a pair of surrogates. */
function wholeUnits(word: string): string {
  const last = word.charCodeAt(MAX_WORD_UNITS - 1);
  return word.slice(0, last >= 0xd800 && last <= 0xdbff ? MAX_WORD_UNITS - 1 : MAX_WORD_UNITS);
}
