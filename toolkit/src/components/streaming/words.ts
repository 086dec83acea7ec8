/**
 * The words of a status, as the track filter sees them.
 *
 * Compatibility forms and case do not count. A word is letters, digits, marks and underscores of any script, with apostrophes
 * inside; each pictograph is a word. A hashtag, a mention or a cashtag is the word with its sign and the word without it, so
 * that `redis` finds `#redis` and `#redis` does not find `redis`. A word with an apostrophe counts as its parts too.
 *
 * Scripts that are written without spaces (Han, Kana, Thai …) have no words to find without a dictionary. There every character
 * and every pair of neighbours counts, and a phrase asks for all of its pairs: what a search engine does in this place.
 */
import { fold } from "../../text/fold.ts";
import { LETTERS, PICTURE, UNSPACED } from "../../text/scripts.ts";

const LETTER = `[${LETTERS}_]`;
const WORD = new RegExp(`(?:(?<!${LETTER})([#@$]))?(${LETTER}+(?:'${LETTER}+)*)|${PICTURE}`, "gu");
const HAS_SPACELESS = new RegExp(`[${UNSPACED}]`, "u");
const RUNS = new RegExp(`[${UNSPACED}]+|[^${UNSPACED}]+`, "gu");

/** As `fold`, and an apostrophe is an apostrophe. */
export function foldWord(text: string): string {
  return fold(text).replaceAll("’", "'");
}

/** Everything that a phrase may ask a text for. */
export function wordsOf(text: string): Set<string> {
  const words = new Set<string>();
  for (const [all, sign, word] of foldWord(text).matchAll(WORD)) {
    if (word === undefined) {
      words.add(all);
      continue;
    }
    words.add(word);
    if (sign !== undefined) words.add(sign + word);
    if (word.includes("'")) for (const part of word.split("'")) words.add(part);
    if (HAS_SPACELESS.test(word)) addRuns(word, words);
  }
  return words;
}

function addRuns(word: string, words: Set<string>): void {
  for (const [run] of word.matchAll(RUNS)) {
    if (!HAS_SPACELESS.test(run)) {
      words.add(run);
      continue;
    }
    const characters = [...run];
    for (const each of characters) words.add(each);
    for (const pair of pairs(characters)) words.add(pair);
  }
}

/** What a text must have, all of it, for a phrase; nothing if the phrase has no words. */
export function wordsOfPhrase(phrase: string): string[] {
  const words = new Set<string>();
  for (const [all, sign, word] of foldWord(phrase).matchAll(WORD)) {
    if (word === undefined) words.add(all);
    else if (sign !== undefined) words.add(sign + word);
    else if (!HAS_SPACELESS.test(word)) words.add(word);
    else for (const [run] of word.matchAll(RUNS)) for (const part of partsOf(run)) words.add(part);
  }
  return [...words].sort();
}

function partsOf(run: string): readonly string[] {
  const characters = [...run];
  return HAS_SPACELESS.test(run) && characters.length > 1 ? pairs(characters) : [run];
}

function pairs(characters: readonly string[]): string[] {
  const found: string[] = [];
  let before: string | null = null;
  for (const each of characters) {
    if (before !== null) found.push(before + each);
    before = each;
  }
  return found;
}
