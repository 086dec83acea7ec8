/**
 * German. ß is ss, and umlauts lose their dots in the end. A `u` or `y` between vowels is a consonant, written `U` or `Y`
 * meanwhile. Inflection goes within `r1`, which never begins before the fourth letter; derivation within `r2`.
 */
import { respelled } from "../respelled.ts";
import { endings, longestEnding, regionAfter, without } from "./regions.ts";

const VOWELS = "aeiouyäöü";
const LEAST = 3;
const CASES = endings("em ern er e en es s");
const BEFORE_S = "bdfghklmnrt";
const DEGREES = endings("en er est st");
const BEFORE_ST = "bdfghklmnt";
const DERIVED = endings("end ung ig ik isch lich heit keit");
const UMLAUTS: Readonly<Record<string, string>> = { ä: "a", ö: "o", ü: "u", U: "u", Y: "y" };

export function stemGerman(word: string): string {
  const marked = withConsonants(word.replaceAll("ß", "ss"));
  const isLong = marked.length >= LEAST;
  const first = isLong ? regionAfter(marked, VOWELS) : marked.length;
  const r1 = isLong ? Math.max(LEAST, first) : marked.length;
  const r2 = isLong ? regionAfter(marked, VOWELS, first) : marked.length;
  const stem = withoutDerivation(withoutDegree(withoutCase(marked, r1), r1), r1, r2);
  return respelled(stem, /[äöüUY]/g, UMLAUTS);
}

function withConsonants(word: string): string {
  let made = "";
  for (let at = 0; at < word.length; at++) {
    const letter = word.charAt(at);
    const isBetween = VOWELS.includes(made.at(-1) ?? "-") && VOWELS.includes(word[at + 1] ?? "-");
    made += (letter === "u" || letter === "y") && isBetween ? letter.toUpperCase() : letter;
  }
  return made;
}

function withoutCase(word: string, r1: number): string {
  const ending = longestEnding(word, CASES);
  if (ending === "" || word.length - ending.length < r1) return word;
  if (ending === "s") return BEFORE_S.includes(word.at(-2) ?? "-") ? without(word, 1) : word;
  const rest = without(word, ending.length);
  return /^e[ns]?$/.test(ending) && rest.endsWith("niss") ? without(rest, 1) : rest;
}

function withoutDegree(word: string, r1: number): string {
  const ending = longestEnding(word, DEGREES);
  if (ending === "" || word.length - ending.length < r1) return word;
  if (ending !== "st") return without(word, ending.length);
  return word.length >= 6 && BEFORE_ST.includes(word.charAt(word.length - 3)) ? without(word, 2) : word;
}

function withoutDerivation(word: string, r1: number, r2: number): string {
  const ending = longestEnding(word, DERIVED);
  const rest = without(word, ending.length);
  if (ending === "" || rest.length < r2) return word;
  switch (ending) {
    case "end":
    case "ung":
      return rest.endsWith("ig") && rest.length - 2 >= r2 && !rest.endsWith("eig") ? without(rest, 2) : rest;
    case "lich":
    case "heit":
      return /(?:er|en)$/.test(rest) && rest.length - 2 >= r1 ? without(rest, 2) : rest;
    case "keit": {
      const before = longestEnding(rest, BEFORE_KEIT);
      return before !== "" && rest.length - before.length >= r2 ? without(rest, before.length) : rest;
    }
    default:
      return rest.endsWith("e") ? word : rest;
  }
}

const BEFORE_KEIT = endings("lich ig");
