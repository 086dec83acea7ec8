/**
 * A light English stemmer: number, -ed and -ing, and the endings that go with them. It takes off what inflection adds and leaves
 * derivation alone ("nation" and "national" stay apart), so that little is found that was not meant. What it makes is a key, not
 * a word: "stores", "stored", "storing" and "store" are all "stor".
 */

const VOWEL = /[aeiouy]/;
/** Words that only look like plurals. */
const AS_THEY_ARE = new Set(["news", "lens", "series", "species", "always", "perhaps", "linux", "chaos", "less"]);

export function stemEnglish(word: string): string {
  if (word.length <= 3 || AS_THEY_ARE.has(word) || !/^[a-z]+$/.test(word)) return word;
  return withoutEnd(withoutTense(withoutPlural(word)));
}

function withoutPlural(word: string): string {
  if (!word.endsWith("s") || /(ss|us|is)$/.test(word)) return word;
  if (word.endsWith("ies")) return word.length > 4 ? `${word.slice(0, -3)}y` : word.slice(0, -1);
  return word.slice(0, -1);
}

function withoutTense(word: string): string {
  const ending = word.endsWith("ing") ? 3 : word.endsWith("ied") ? -1 : word.endsWith("ed") ? 2 : 0;
  if (ending === -1) return word.length > 4 ? `${word.slice(0, -3)}y` : word;
  if (ending === 0 || word.endsWith("eed")) return word;
  const stem = word.slice(0, -ending);
  // "sing" and "red" have lost nothing.
  if (stem.length < 2 || !VOWEL.test(stem)) return word;
  const last = stem.at(-1)!;
  const doubled = stem.length > 3 && last === stem.at(-2) && !"aeioulsz".includes(last);
  return doubled ? stem.slice(0, -1) : stem;
}

/** So that forms which lost their last letter meet those which did not: "store" and "stored", "library" and "libraries". */
function withoutEnd(word: string): string {
  if (word.length > 3 && word.endsWith("e") && !word.endsWith("ee")) return word.slice(0, -1);
  if (word.length > 3 && word.endsWith("y") && !VOWEL.test(word.at(-2)!)) return `${word.slice(0, -1)}i`;
  return word;
}
