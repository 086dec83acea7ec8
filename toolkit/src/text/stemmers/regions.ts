/** What the stemmers of several languages share: regions of a word, and the longest ending of a list. */

/** Where the part of a word begins that follows the first consonant after a vowel, looked for from `from`; its length if nowhere. */
export function regionAfter(word: string, vowels: string, from = 0): number {
  let at = from;
  while (at < word.length && !vowels.includes(word.charAt(at))) at++;
  while (at < word.length && vowels.includes(word.charAt(at))) at++;
  return Math.min(at + 1, word.length);
}

/** Endings by their length, the longest first. */
export type Endings = readonly (readonly string[])[];

export function endings(words: string): Endings {
  const byLength = new Map<number, string[]>();
  for (const word of words.split(/\s+/)) {
    const same = byLength.get(word.length);
    if (same === undefined) byLength.set(word.length, [word]);
    else same.push(word);
  }
  return [...byLength].sort((a, b) => b[0] - a[0]).map(([, same]) => same);
}

/** The longest of the endings that a word has within its part from `from` on; "" for none. */
export function longestEnding(word: string, list: Endings, from = 0): string {
  for (const same of list) {
    for (const ending of same) if (word.length - ending.length >= from && word.endsWith(ending)) return ending;
  }
  return "";
}

export const without = (word: string, letters: number): string => word.slice(0, word.length - letters);

/** Where the word's part begins that verbs are inflected in, in Spanish, Portuguese, Italian and Romanian. */
export function verbRegion(word: string, vowels: string): number {
  const isVowel = (at: number): boolean => at < word.length && vowels.includes(word.charAt(at));
  if (word.length < 2) return word.length;
  if (!isVowel(0) && isVowel(1)) return Math.min(3, word.length);
  const searchesVowel = !isVowel(1);
  for (let at = 2; at < word.length; at++) if (isVowel(at) === searchesVowel) return at + 1;
  return word.length;
}

/** A word with each `u` or `i` between vowels in upper case, where it is a consonant: in Italian and Romanian. */
export function consonantsMarked(word: string, vowels: string): string {
  const letters = word.split("");
  const isVowel = (at: number): boolean => vowels.includes(letters[at] ?? "-");
  for (let at = 1; at < letters.length; at++) {
    const letter = word.charAt(at);
    if ((letter === "u" || letter === "i") && isVowel(at - 1) && isVowel(at + 1)) letters[at] = letter.toUpperCase();
  }
  return letters.join("");
}

/** A word while its endings are taken off, one after another. Its regions stay where they were found. */
export class Draft {
  word: string;
  /** Where verbs are inflected. */
  readonly rv: number;
  readonly r1: number;
  readonly r2: number;

  constructor(word: string, vowels: string, rv: number) {
    this.word = word;
    this.rv = rv;
    this.r1 = regionAfter(word, vowels);
    this.r2 = regionAfter(word, vowels, this.r1);
  }

  /** Replaces an ending that the word has, if it lies within a region, and tells whether it did. */
  replace(ending: string, by: string, region = 0): boolean {
    const rest = this.word.length - ending.length;
    if (rest < region) return false;
    this.word = this.word.slice(0, rest) + by;
    return true;
  }

  /** Drops an ending if the word has it within a region, and tells whether it did. */
  drop(ending: string, region = 0): boolean {
    return this.word.endsWith(ending) && this.replace(ending, "", region);
  }

  /** Drops the longest of these endings if that one lies within a region, and returns it; "" if nothing is dropped. */
  dropLongest(list: Endings, region: number): string {
    const ending = longestEnding(this.word, list);
    return ending !== "" && this.replace(ending, "", region) ? ending : "";
  }

  /** Drops the longest of these endings that lies within `rv`, and tells whether it did. */
  dropVerb(list: Endings): boolean {
    const ending = longestEnding(this.word, list, this.rv);
    return ending !== "" && this.replace(ending, "");
  }
}

/** What adjectives end in before an adverb's -amente, in Spanish, Portuguese and Italian. */
export function dropBeforeAmente(draft: Draft, list: Endings): void {
  if (draft.dropLongest(list, draft.r2) === "iv") draft.drop("at", draft.r2);
}

/** Groups of endings by what is to be done with them, and all of them in one list: the longest of all decides. */
export interface Rules<Action extends string> {
  readonly all: Endings;
  readonly actions: ReadonlyMap<string, Action>;
}

export function rules<Action extends string>(groups: Readonly<Record<Action, string>>): Rules<Action> {
  const actions = new Map<string, Action>();
  for (const [action, words] of Object.entries<string>(groups)) {
    for (const word of words.split(/\s+/)) actions.set(word, action as Action);
  }
  return { all: endings([...actions.keys()].join(" ")), actions };
}
