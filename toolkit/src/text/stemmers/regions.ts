/** What the stemmers of several languages share: regions of a word, and the longest ending of a list. */

/** Where the part of a word begins that follows the first consonant after a vowel, looked for from `from`; its length if nowhere. */
export function regionAfter(word: string, vowels: string, from = 0): number {
  let at = from;
  while (at < word.length && !vowels.includes(word[at]!)) at++;
  while (at < word.length && vowels.includes(word[at]!)) at++;
  return Math.min(at + 1, word.length);
}

/** Endings by their length, the longest first. */
export type Endings = readonly (readonly string[])[];

export function endings(words: string): Endings {
  const byLength = new Map<number, string[]>();
  for (const word of words.split(/\s+/)) byLength.set(word.length, [...(byLength.get(word.length) ?? []), word]);
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
