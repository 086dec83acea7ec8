/**
 * Danish, Norwegian and Swedish. Endings go where they are within `r1`, which follows the first consonant after a vowel and
 * never begins before the fourth letter.
 */
import { type Endings, endings, longestEnding, regionAfter, without } from "./regions.ts";

const LEAST = 3;

function r1Of(word: string, vowels: string): number {
  return word.length < LEAST ? word.length : Math.max(LEAST, regionAfter(word, vowels));
}

/** Takes the last letter off if the word ends, within the region, with one of the pairs. */
function withoutLastOf(word: string, pairs: Endings, from: number): string {
  return longestEnding(word, pairs, from) === "" ? word : without(word, 1);
}

const DANISH_VOWELS = "aeiouyæåø";
const DANISH_MAIN = endings(
  `hed ethed ered e erede ende erende ene erne ere en heden eren er heder erer heds es endes erendes enes ernes eres ens
   hedens erens ers ets erets et eret s`,
);
const DANISH_BEFORE_S = "abcdfghjklmnoprtvyzå";
const DANISH_PAIRS = endings("gd dt gt kt");
const DANISH_OTHER = endings("ig lig elig els løst");

export function stemDanish(word: string): string {
  const r1 = r1Of(word, DANISH_VOWELS);
  let stem = word;
  const main = longestEnding(stem, DANISH_MAIN, r1);
  if (main !== "s") stem = without(stem, main.length);
  else if (DANISH_BEFORE_S.includes(stem.at(-2) ?? "-")) stem = without(stem, 1);
  stem = withoutLastOf(stem, DANISH_PAIRS, r1);
  if (stem.endsWith("igst")) stem = without(stem, 2);
  const other = longestEnding(stem, DANISH_OTHER, r1);
  if (other === "løst") stem = without(stem, 1);
  else if (other !== "") stem = withoutLastOf(without(stem, other.length), DANISH_PAIRS, r1);
  // A double consonant at the end.
  const last = stem.at(-1);
  const isDouble = stem.length - 1 >= r1 && last === stem.at(-2) && last !== undefined;
  return isDouble && !DANISH_VOWELS.includes(last) && /\p{L}/u.test(last) ? without(stem, 1) : stem;
}

const NORWEGIAN_VOWELS = "aeiouyæåø";
const NORWEGIAN_MAIN = endings(
  `a e ede ande ende ane ene hetene en heten ar er heter as es edes endes enes hetenes ens hetens ers ets et het ast s
   erte ert`,
);
const NORWEGIAN_BEFORE_S = "bcdfghjlmnoprtvyz";
const NORWEGIAN_PAIRS = endings("dt vt");
const NORWEGIAN_OTHER = endings("leg eleg ig eig lig elig els lov elov slov hetslov");

export function stemNorwegian(word: string): string {
  const r1 = r1Of(word, NORWEGIAN_VOWELS);
  let stem = word;
  const main = longestEnding(stem, NORWEGIAN_MAIN, r1);
  if (main === "erte" || main === "ert") stem = `${without(stem, main.length)}er`;
  else if (main !== "s") stem = without(stem, main.length);
  else if (endsInNorwegianS(stem)) stem = without(stem, 1);
  stem = withoutLastOf(stem, NORWEGIAN_PAIRS, r1);
  return without(stem, longestEnding(stem, NORWEGIAN_OTHER, r1).length);
}

function endsInNorwegianS(word: string): boolean {
  const [before, letter] = [word.at(-3), word.at(-2)];
  if (letter === "k") return before !== undefined && !NORWEGIAN_VOWELS.includes(before);
  return letter !== undefined && NORWEGIAN_BEFORE_S.includes(letter);
}

const SWEDISH_VOWELS = "aeiouyäåö";
const SWEDISH_MAIN = endings(
  `a arna erna heterna orna ad e ade ande arne are aste en anden aren heten ern ar er heter or as arnas ernas ornas es ades
   andes ens arens hetens erns at andet het ast s`,
);
const SWEDISH_BEFORE_S = "bcdfghjklmnoprtvy";
const SWEDISH_PAIRS = endings("dd gd nn dt gt kt tt");
const SWEDISH_OTHER = endings("lig ig els löst fullt");

export function stemSwedish(word: string): string {
  const r1 = r1Of(word, SWEDISH_VOWELS);
  let stem = word;
  const main = longestEnding(stem, SWEDISH_MAIN, r1);
  if (main !== "s") stem = without(stem, main.length);
  else if (SWEDISH_BEFORE_S.includes(stem.at(-2) ?? "-")) stem = without(stem, 1);
  stem = withoutLastOf(stem, SWEDISH_PAIRS, r1);
  const other = longestEnding(stem, SWEDISH_OTHER, r1);
  const letters = other === "löst" || other === "fullt" ? 1 : other.length;
  return without(stem, letters);
}
