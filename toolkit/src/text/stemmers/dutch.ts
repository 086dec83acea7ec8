/**
 * Dutch: Martin Porter's algorithm. Diaereses and acute accents go first. A `y` at the beginning or behind a vowel and an `i`
 * between vowels are consonants, written `Y` and `I` meanwhile. `r1` never begins before the fourth letter. A consonant that is
 * doubled before an ending becomes single without it, and in the end so does a vowel that is doubled in the last syllable.
 */
import { respelled } from "../respelled.ts";
import { Draft, endings, longestEnding } from "./regions.ts";

const VOWELS = "aeiouyè";
const LEAST = 3;
const PLAIN: Readonly<Record<string, string>> = {
  ä: "a",
  á: "a",
  ë: "e",
  é: "e",
  ï: "i",
  í: "i",
  ö: "o",
  ó: "o",
  ü: "u",
  ú: "u",
};
const PLURALS = endings("heden en ene s se");
const DERIVATIONS = endings("end ing ig lijk baar bar");
const DOUBLED_VOWEL = /([^aeiouyè](?:a(?=a)|e(?=e)|o(?=o)|u(?=u))).([^aeiouyèI])$/;

export function stemDutch(word: string): string {
  const marked = withConsonants(respelled(word, /[äáëéïíöóüú]/g, PLAIN));
  const draft = new Draft(marked, VOWELS, 0);
  const r1 = Math.max(LEAST, draft.r1);
  dropPlural(draft, r1);
  const hadE = dropE(draft, r1);
  if (!draft.word.endsWith("cheid") && draft.drop("heid", draft.r2)) dropEn(draft, "en", r1);
  dropDerivation(draft, r1, hadE);
  return draft.word.replace(DOUBLED_VOWEL, "$1$2").replace(/[IY]/g, (letter) => letter.toLowerCase());
}

function withConsonants(word: string): string {
  const letters = word.split("");
  const isVowel = (at: number): boolean => VOWELS.includes(letters[at] ?? "-");
  if (letters[0] === "y") letters[0] = "Y";
  for (let at = 1; at < letters.length; at++) {
    if (!isVowel(at - 1)) continue;
    if (letters[at] === "i" && isVowel(at + 1)) letters[at] = "I";
    else if (letters[at] === "y") letters[at] = "Y";
  }
  return letters.join("");
}

/** The letter before an ending; a vowel where there is none, since endings need a consonant. */
const before = (word: string, ending: string): string => word.at(-ending.length - 1) ?? "e";

function makeSingle(draft: Draft): void {
  if (/(?:kk|dd|tt)$/.test(draft.word)) draft.replace(".", "");
}

function dropPlural(draft: Draft, r1: number): void {
  const ending = longestEnding(draft.word, PLURALS);
  if (ending === "heden") draft.replace(ending, "heid", r1);
  else if (ending.startsWith("e")) dropEn(draft, ending, r1);
  else if (ending !== "" && !`${VOWELS}j`.includes(before(draft.word, ending))) draft.drop(ending, r1);
}

function dropEn(draft: Draft, ending: string, r1: number): void {
  if (VOWELS.includes(before(draft.word, ending)) || draft.word.endsWith(`gem${ending}`)) return;
  if (draft.drop(ending, r1)) makeSingle(draft);
}

function dropE(draft: Draft, r1: number): boolean {
  if (VOWELS.includes(before(draft.word, "e")) || !draft.drop("e", r1)) return false;
  makeSingle(draft);
  return true;
}

function dropDerivation(draft: Draft, r1: number, hadE: boolean): void {
  const { word, r2 } = draft;
  const ending = longestEnding(word, DERIVATIONS);
  if (ending === "" || (ending === "ig" && word.endsWith("eig")) || (ending === "bar" && !hadE)) return;
  if (!draft.drop(ending, r2)) return;
  if (ending === "lijk") dropE(draft, r1);
  else if ((ending === "end" || ending === "ing") && (draft.word.endsWith("eig") || !draft.drop("ig", r2))) {
    makeSingle(draft);
  }
}
