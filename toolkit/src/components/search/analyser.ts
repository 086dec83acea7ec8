/**
 * From text to words. A run of letters and digits is a word, and so is each picture (emoji). Words are compared in one form:
 * folded (text/fold.ts), without diacritics if asked, stemmed if the language has a stemmer. Stop words are left out but counted,
 * so that the words of a phrase keep their distance.
 *
 * In Chinese, Japanese and Korean people look for parts of words, and where words end is a matter of opinion. There each
 * character, each pair of neighbours, and each longer word that Intl.Segmenter finds is indexed at the place of its first
 * character. A query asks for the pairs as a phrase, so it finds whatever contains it; a query of several words also finds
 * texts that have all of these words apart. In other scripts without spaces (Thai, Lao, Khmer, Burmese) the segmenter decides.
 *
 * Most words of most texts have been seen before, so what becomes of a run is remembered.
 */
import { createHash } from "node:crypto";
import { InputError } from "../../base/errors.ts";
import { choice, defineOptions, either, flag, having, listOf, text } from "../../base/options.ts";
import { fold, foldTurkic, withoutDiacritics } from "../../text/fold.ts";
import { IDEOGRAPHIC, LETTER_RUN, LETTERS, PICTURE, PICTURES, UNSPACED } from "../../text/scripts.ts";
import { STEMMER_NAMES, type Stemmer, type StemmerName, stemmer, stemmerOf } from "../../text/stemmers/index.ts";
import { STOP_WORDS } from "./stop-words.ts";

/** A word of a text: `word` as it is indexed, `start` and `end` where it stands. */
export type OnWord = (word: string, position: number, start: number, end: number) => void;

/** How text becomes words. `analyser()` makes one for a language; a program may bring its own. */
export interface Analyser {
  /** The same for two that make the same words of the same text. */
  readonly name: string;
  /** Calls back for each word that is not a stop word. Answers how many words there are with the stop words. */
  words(text: string, onWord: OnWord): number;
  /** One word in the form that is compared, not stemmed; for beginnings of words. */
  fold(word: string): string;
  /** What a query for a text asks for: all of these. Without, it asks for the words of the text. */
  sought?(text: string): readonly Sought[];
}

/** A word of a text, with its place among the words. */
export interface Located {
  /** The word, as it is indexed. */
  readonly word: string;
  /** Which word of the text it is, from 0; stop words count. */
  readonly position: number;
}

/** A word that a query asks for, or several that have to stand together. */
export interface Sought {
  /** The words, all of which must be there; several stand one behind the other. */
  readonly words: readonly Located[];
  /** Where there is more than one: parts of it that are worth something without each other's company. */
  readonly segments: readonly (readonly Located[])[];
}

/** How to find and compare words. */
export interface AnalyserOptions {
  /** BCP 47: chooses stop words, stemmer and segmentation. "en" by default, "und" for none of them. */
  readonly language?: string;
  /** Words that are left out, in place of the language's (the default). */
  readonly stopWords?: readonly string[];
  /** Whether "é" is "e" and "ø" is "o" (default false). */
  readonly foldDiacritics?: boolean;
  /**
   * One of Snowball's stemmers by its name, or one of your own, whose name says which it is to all programs that share the index;
   * false for none. The language's by default.
   */
  readonly stem?: false | StemmerName | Stemmer;
}

/** How words are found, as part of the name: indexes of an earlier way are told apart. */
const WAY = "words-3";

const MAX_WORD_UNITS = 64;
const MAX_REMEMBERED = 100_000;
const ASCII = /^[\0-\x7f]*$/;
const RUNS = new RegExp(`${LETTER_RUN}(?:['’]${LETTER_RUN})*|${PICTURE}`, "gu");
const RUNS_APART = new RegExp(`${LETTER_RUN}|${PICTURE}`, "gu");
/** Catalan writes a doubled l with a point ("col·legi"). */
const RUNS_WITH_POINTS = new RegExp(`[${LETTERS}]+(?:(?<=l)·(?=l)[${LETTERS}]+)*|${PICTURE}`, "giu");
const HAS_UNSPACED = new RegExp(`[${UNSPACED}${IDEOGRAPHIC}]`, "u");
const IS_IDEOGRAPHIC = new RegExp(`^[${IDEOGRAPHIC}]`, "u");
/** A run of one way of writing. */
const ALIKE = new RegExp(
  `[${IDEOGRAPHIC}]+|[[${UNSPACED}]--[${IDEOGRAPHIC}]][${UNSPACED}\\p{M}]*|[^${UNSPACED}${IDEOGRAPHIC}]+`,
  "gv",
);
const NOT_OF_WORDS = new RegExp(`[^${LETTERS}${PICTURES}]+`, "gu");
const SURROGATE = /[\ud800-\udfff]/;

/** Which ASCII characters words are made of. */
const OF_WORDS = Uint8Array.from({ length: 128 }, (_, code) => (/[0-9A-Za-z]/.test(String.fromCharCode(code)) ? 1 : 0));
const APOSTROPHE = 39;

const ANALYSER_OPTIONS = defineOptions<AnalyserOptions>("analyser", {
  language: text,
  stopWords: listOf(text),
  foldDiacritics: flag,
  stem: either(choice(false, ...STEMMER_NAMES), having("a stemmer", "stem")),
});

/**
 * The usual analyser of a language.
 *
 * @example
 * const words: string[] = [];
 * analyser({ language: "en" }).words("The walking dunes", (word) => words.push(word)); // → 3
 * words; // → ["walk", "dune"]
 */
export function analyser(options: AnalyserOptions = {}): Analyser {
  ANALYSER_OPTIONS.check(options);
  return new LanguageAnalyser(options);
}

/** The usual analyser of that name; null if it has stop words or a stemmer of somebody's own. */
export function namedAnalyser(name: string): Analyser | null {
  const [language = "", , stem, diacritics] = name.split("/");
  try {
    const foldDiacritics = diacritics === "folded";
    const made = analyser({ language, foldDiacritics, ...(stem === "no stemmer" ? { stem: false } : {}) });
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
  readonly #isTurkic: boolean;
  /** In English an apostrophe is part of a word ("don't"); elsewhere it parts them ("l'avion"). */
  readonly #joins: boolean;
  readonly #runs: RegExp;
  /** What becomes of a run: the word, or null for a stop word. */
  readonly #known = new Map<string, string | null>();

  constructor(options: AnalyserOptions) {
    const { language = "en", foldDiacritics = false } = options;
    const main = language.replace(/-.*/s, "").toLowerCase();
    try {
      this.#segmenter = new Intl.Segmenter(main === "und" ? undefined : language, { granularity: "word" });
    } catch (cause) {
      throw new InputError(`"${language}" is no language tag`, { cause });
    }
    this.#foldDiacritics = foldDiacritics;
    this.#isTurkic = main === "tr" || main === "az";
    this.#joins = main === "en" || main === "und";
    this.#runs = this.#joins ? RUNS : main === "ca" ? RUNS_WITH_POINTS : RUNS_APART;
    this.#stops = new Set([...(options.stopWords ?? STOP_WORDS[main] ?? [])].map((word) => this.fold(word)));
    const { stem = stemmerOf(main) } = options;
    const stems = typeof stem === "string" ? stemmer(stem) : stem === false ? undefined : stem;
    this.#stem = stems?.stem ?? null;
    const stops = createHash("sha1")
      .update([...this.#stops].sort().join(" "))
      .digest("base64url")
      .slice(0, 8);
    const diacritics = foldDiacritics ? "folded" : "as written";
    this.name = [language, stops, stems?.name ?? "no stemmer", diacritics, WAY].join("/");
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
    for (const { 0: run, index } of text.matchAll(this.#runs)) {
      for (const { part, start } of this.#alike(run, index)) {
        if (IS_IDEOGRAPHIC.test(part)) {
          position += this.#ideographs(part, position, start, onWord);
          continue;
        }
        const word = this.#known.get(part) ?? this.#learned(part);
        if (word !== null) onWord(word, position, start, start + part.length);
        position++;
      }
    }
    return position;
  }

  /** A run by its ways of writing; where words are written together without being ideographs, by its words. */
  *#alike(run: string, index: number): Generator<{ readonly part: string; readonly start: number }> {
    if (!HAS_UNSPACED.test(run)) {
      yield { part: run, start: index };
      return;
    }
    for (const { 0: part, index: within } of run.matchAll(ALIKE)) {
      const start = index + within;
      if (IS_IDEOGRAPHIC.test(part) || !HAS_UNSPACED.test(part)) yield { part, start };
      else for (const { segment, at } of this.#segments(part)) yield { part: segment, start: start + at };
    }
  }

  *#segments(text: string): Generator<{ readonly segment: string; readonly at: number }> {
    for (const { segment, index, isWordLike } of this.#segmenter.segment(text)) {
      if (isWordLike === true) yield { segment, at: index };
    }
  }

  /** Characters, pairs and longer words, each at the place of its first character. Answers how many characters there are. */
  #ideographs(run: string, position: number, start: number, onWord: OnWord): number {
    const folded = this.fold(run);
    // Narrow forms can become fewer characters; then all that is known is where the run stands.
    const isSame = folded.length === run.length;
    const characters = Array.from(folded);
    const longer = new Map<number, string>();
    for (const { segment, at } of this.#segments(folded)) {
      if (Array.from(segment).length > 2) longer.set(at, segment.slice(0, MAX_WORD_UNITS));
    }
    let at = 0;
    for (const [nth, character] of characters.entries()) {
      const next = characters[nth + 1];
      const pair = next === undefined ? null : character + next;
      for (const word of [character, pair, longer.get(at)]) {
        if (word === null || word === undefined) continue;
        const from = isSame ? start + at : start;
        onWord(word, position + nth, from, isSame ? from + word.length : start + run.length);
      }
      at += character.length;
    }
    return characters.length;
  }

  sought(text: string): readonly Sought[] {
    const all: Sought[] = [];
    let position = 0;
    for (const { 0: run, index } of text.matchAll(this.#runs)) {
      for (const { part } of this.#alike(run, index)) {
        if (IS_IDEOGRAPHIC.test(part)) {
          const folded = this.fold(part);
          const segments = Array.from(this.#segments(folded), ({ segment }) => pairs(segment, 0));
          all.push({ words: pairs(folded, position), segments });
          position += Array.from(folded).length;
          continue;
        }
        const word = this.#known.get(part) ?? this.#learned(part);
        if (word !== null) all.push({ words: [{ word, position }], segments: [] });
        position++;
      }
    }
    return all;
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
    return this.#stem === null || SURROGATE.test(folded) ? folded : this.#stem(folded);
  }

  fold(word: string): string {
    let folded = this.#isTurkic ? foldTurkic(word) : fold(word);
    if (this.#foldDiacritics) folded = withoutDiacritics(folded);
    if (folded.includes("'") || folded.includes("’")) folded = folded.replace(/['’]s$/, "");
    folded = folded.replace(NOT_OF_WORDS, "");
    return folded.length > MAX_WORD_UNITS && !IS_IDEOGRAPHIC.test(folded) ? wholeUnits(folded) : folded;
  }
}

/** Neighbours, two by two; a single character is one word. */
function pairs(text: string, position: number): Located[] {
  const characters = Array.from(text);
  if (characters.length === 1) return [{ word: text, position }];
  const found: Located[] = [];
  let before: string | null = null;
  for (const each of characters) {
    if (before !== null) found.push({ word: before + each, position: position + found.length });
    before = each;
  }
  return found;
}

/** Cut, but not inside a pair of surrogates. */
function wholeUnits(word: string): string {
  const last = word.charCodeAt(MAX_WORD_UNITS - 1);
  return word.slice(0, last >= 0xd800 && last <= 0xdbff ? MAX_WORD_UNITS - 1 : MAX_WORD_UNITS);
}
