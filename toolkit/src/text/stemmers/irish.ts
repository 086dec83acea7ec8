/**
 * Irish. What a word before it does to a word's beginning is undone (lenition: `bh` is b; eclipsis: `mb` is b); then endings of nouns,
 * derivations and endings of verbs go: within `rv`, what follows the first vowel, `r1` or `r2`.
 */
import { Draft, longestEnding, rules } from "./regions.ts";

const VOWELS = "aeiouáéíóú";
const BEGINNINGS: readonly (readonly [beginning: RegExp, by: string])[] = [
  [/^d'fh/, "f"],
  [/^(?:[hnt]-|[bdm]')/, ""],
  [/^bhf/, "f"],
  [/^([bcdfgmpst])h/, "$1"],
  [/^(?:m(?=b)|g(?=c)|n(?=[dg])|b(?=p)|t(?=s)|d(?=t))/, ""],
];
const NOUNS = rules({
  r1: "amh eamh abh eabh aibh ibh aimh imh íocht íochta aíocht aíochta",
  r2: "ire irí aire airí",
});
const DERIVATIONS = rules({
  "": "acht eacht ach each eachtúil eachta achta achtúil",
  arc: "arcacht arcachtaí arcachta",
  gin: "gineach gineas ginis",
  graf: "grafaíoch grafaíocht grafaíochta grafaíochtaí",
  paite: "paite patach pataigh patacha",
  óid: "óideach óideacha óidigh",
});
const VERBS = rules({
  rv: "imid aimid ímid aímid faidh fidh",
  r1: "adh eadh áil ain tear tar",
});

export function stemIrish(word: string): string {
  const change = BEGINNINGS.find(([beginning]) => beginning.test(word));
  const plain = change === undefined ? word : word.replace(...change);
  const firstVowel = plain.search(/[aeiouáéíóú]/);
  const draft = new Draft(plain, VOWELS, firstVowel < 0 ? plain.length : firstVowel + 1);
  const noun = longestEnding(draft.word, NOUNS.all);
  draft.replace(noun, "", draft[NOUNS.actions.get(noun) ?? "r1"]);
  const derivation = longestEnding(draft.word, DERIVATIONS.all);
  const by = DERIVATIONS.actions.get(derivation) ?? "";
  draft.replace(derivation, by, by === "" ? draft.r2 : 0);
  const verb = longestEnding(draft.word, VERBS.all);
  draft.replace(verb, "", draft[VERBS.actions.get(verb) ?? "r1"]);
  return draft.word;
}
