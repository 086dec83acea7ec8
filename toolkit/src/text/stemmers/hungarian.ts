/**
 * Hungarian. Nine steps take off cases, possessives and plurals, each the longest ending that it knows, within `r1`: what follows
 * the first vowel, or in a word that begins with one, the first consonant (some are written with two or three letters). A vowel
 * that is long because of an ending becomes short.
 */
import { endings, longestEnding, type Rules, rules, without } from "./regions.ts";

const FIRST = /^(?:[aeiouáéíóöőúüű]+(?:cs|gy|ly|ny|sz|ty|zs|dzs|.)|[^aeiouáéíóöőúüű]+[aeiouáéíóöőúüű])/;
const DOUBLED = /(?:bb|cc|ccs|dd|ff|gg|ggy|jj|kk|ll|lly|mm|nn|nny|pp|rr|ss|ssz|tt|tty|vv|zz|zzs)$/;

/** What a step puts in the place of an ending. */
type Replacement = "" | "a" | "e";

const INSTRUMENTAL = endings("al el");
const CASES = endings(
  `ban ben ba be ra re nak nek val vel tól től ról ről ból ből hoz hez höz nál nél ig at et ot öt ért képp képpen kor ul ül vá vé
   onként enként anként ként en on an ön n t`,
);
const MORE_CASES: readonly Rules<Replacement>[] = [
  rules({ e: "én", a: "án ánként" }),
  rules({ "": "astul estül stul stül", a: "ástul", e: "éstül" }),
];
const FACTIVE = endings("á é");
const POSSESSIVES: readonly Rules<Replacement>[] = [
  rules({ "": "oké öké aké eké ké éi é", a: "áké áéi", e: "éké ééi éé" }),
  rules({
    "": "ünk unk nk juk jük uk ük em om am m od ed ad öd d ja je a e o",
    a: "ánk ájuk ám ád á",
    e: "énk éjük ém éd é",
  }),
  rules({
    "": `jaim jeim aim eim im jaid jeid aid eid id jai jei ai ei i jaink jeink eink aink ink jaitok jeitek aitok eitek itek jeik jaik
         aik eik ik`,
    a: "áim áid ái áink áitok áik",
    e: "éim éid éi éink éitek éik",
  }),
  rules({ "": "ök ak ok ek k", a: "ák", e: "ék" }),
];

export function stemHungarian(word: string): string {
  const r1 = FIRST.exec(word)?.[0].length ?? word.length;
  let stem = withoutDoubling(word, INSTRUMENTAL, r1);
  stem = withoutCase(stem, r1);
  for (const step of MORE_CASES) stem = replaced(stem, step, r1);
  stem = withoutDoubling(stem, FACTIVE, r1);
  for (const step of POSSESSIVES) stem = replaced(stem, step, r1);
  return stem;
}

function replaced(word: string, step: Rules<Replacement>, r1: number): string {
  const ending = longestEnding(word, step.all);
  const by = step.actions.get(ending);
  return by === undefined || word.length - ending.length < r1 ? word : without(word, ending.length) + by;
}

/** Without an ending before which a consonant is doubled, and with that consonant single. */
function withoutDoubling(word: string, list: readonly (readonly string[])[], r1: number): string {
  const ending = longestEnding(word, list);
  const rest = without(word, ending.length);
  if (ending === "" || rest.length < r1 || !DOUBLED.test(rest)) return word;
  return without(rest, 2) + rest.slice(-1);
}

function withoutCase(word: string, r1: number): string {
  const ending = longestEnding(word, CASES);
  if (ending === "" || word.length - ending.length < r1) return word;
  const rest = without(word, ending.length);
  const last = rest.length > r1 ? rest.at(-1) : undefined;
  return last === "á" || last === "é" ? without(rest, 1) + (last === "á" ? "a" : "e") : rest;
}
