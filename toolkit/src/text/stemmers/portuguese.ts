/**
 * Portuguese. A nasal vowel is a vowel and a consonant: ã and õ are `a~` and `o~` meanwhile. Derivations go within `r1` and `r2`,
 * inflections within `rv`.
 */
import { Draft, dropBeforeAmente, endings, longestEnding, rules, verbRegion } from "./regions.ts";

const VOWELS = "aeiouáéíóúâêô";
const DERIVATIONS = rules({
  drop: `eza ezas ico ica icos icas ismo ismos ável ível ista istas oso osa osos osas amento amentos imento imentos adora ador
         aça~o adoras adores aço~es ante antes ância`,
  log: "logia logias",
  u: "uça~o uço~es",
  ente: "ência ências",
  amente: "amente",
  mente: "mente",
  idade: "idade idades",
  ivo: "iva ivo ivas ivos",
  ir: "ira iras",
});
const BEFORE_AMENTE = endings("iv os ic ad");
const BEFORE_MENTE = endings("ante avel ível");
const BEFORE_IDADE = endings("abil ic iv");
const VERBS = endings(
  `ada ida ia aria eria iria ará ara erá era irá ava asse esse isse aste este iste ei arei erei irei am iam ariam eriam iriam aram
   eram iram avam em arem erem irem assem essem issem ado ido ando endo indo ara~o era~o ira~o ar er ir as adas idas ias arias
   erias irias arás aras erás eras irás avas es ardes erdes irdes ares eres ires asses esses isses astes estes istes is ais eis
   íeis aríeis eríeis iríeis áreis areis éreis ereis íreis ireis ásseis ésseis ísseis áveis ados idos ámos amos íamos aríamos
   eríamos iríamos áramos éramos íramos ávamos emos aremos eremos iremos ássemos êssemos íssemos imos armos ermos irmos eu iu ou
   ira iras`,
);
const RESIDUES = endings("os a i o á í ó");
const LAST_VOWELS = endings("e é ê");

export function stemPortuguese(word: string): string {
  const marked = word.replaceAll("ã", "a~").replaceAll("õ", "o~");
  const draft = new Draft(marked, VOWELS, verbRegion(marked, VOWELS));
  if (dropDerivation(draft) || draft.dropVerb(VERBS)) {
    if (draft.word.endsWith("ci")) draft.drop("i", draft.rv);
  } else draft.dropLongest(RESIDUES, draft.rv);
  dropLastVowel(draft);
  return draft.word.replaceAll("a~", "ã").replaceAll("o~", "õ");
}

function dropDerivation(draft: Draft): boolean {
  const { rv, r1, r2 } = draft;
  const ending = longestEnding(draft.word, DERIVATIONS.all);
  const action = DERIVATIONS.actions.get(ending);
  if (action === undefined) return false;
  if (action === "ir") return draft.word.endsWith(`e${ending}`) && draft.replace(ending, "ir", rv);
  if (action === "log" || action === "u" || action === "ente") return draft.replace(ending, action, r2);
  if (!draft.replace(ending, "", action === "amente" ? r1 : r2)) return false;
  if (action === "amente") dropBeforeAmente(draft, BEFORE_AMENTE);
  else if (action === "mente") draft.dropLongest(BEFORE_MENTE, r2);
  else if (action === "idade") draft.dropLongest(BEFORE_IDADE, r2);
  else if (action === "ivo") draft.drop("at", r2);
  return true;
}

function dropLastVowel(draft: Draft): void {
  if (draft.word.endsWith("ç")) draft.replace("ç", "c");
  else if (draft.dropLongest(LAST_VOWELS, draft.rv) !== "" && /(?:gu|ci)$/.test(draft.word)) {
    draft.replace(".", "", draft.rv);
  }
}
