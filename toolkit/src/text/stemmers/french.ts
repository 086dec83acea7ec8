/**
 * French. A `u` or `i` between vowels, the `u` of `qu` and a `y` beside a vowel are consonants, written in upper case meanwhile;
 * ë and ï are `He` and `Hi`, so that they part syllables. Derivations go within `r1` and `r2`, inflections within `rv`: behind the
 * first vowel that is not the first letter, or behind the third letter of a word that begins with two vowels.
 */
import { respelled } from "../respelled.ts";
import { Draft, endings, longestEnding, rules } from "./regions.ts";

const VOWELS = "aeiouyâàëéêèïîôûù";
const V = `[${VOWELS}]`;
const BEGINNING = new RegExp(`^(?:${V}${V}.|par|col|tap|.[^${VOWELS}]*${V})`);

const DERIVATIONS = rules({
  drop: "ance iqUe isme able iste eux ances iqUes ismes ables istes",
  agent: "atrice ateur ation atrices ateurs ations",
  log: "logie logies",
  u: "usion ution usions utions",
  ent: "ence ences",
  ement: "ement ements",
  ité: "ité ités",
  if: "if ive ifs ives",
  eau: "eaux",
  al: "aux",
  eux: "euse euses",
  issement: "issement issements",
  amment: "amment",
  emment: "emment",
  ment: "ment ments",
});
const BEFORE_EMENT = endings("iv eus abl iqU ièr Ièr");
const BEFORE_ITÉ = endings("abil ic iv");
const VERBS_IN_I = endings(
  `îmes ît îtes i ie ies ir ira irai iraIent irais irait iras irent irez iriez irions irons iront is issaIent issais issait
   issant issante issantes issants isse issent isses issez issiez issions issons it`,
);
const VERBS = rules({
  ions: "ions",
  drop: "é ée ées és èrent er era erai eraIent erais erait eras erez eriez erions erons eront ez iez",
  dropWithE: "âmes ât âtes a ai aIent ais ait ant ante antes ants as asse assent asses assiez assions",
});
const RESIDUES = endings("ion ier ière Ier Ière e");
const DOUBLED = /(?:enn|onn|ett|ell|eill)$/;
const ACCENTED = new RegExp(`[éè]([^${VOWELS}]+)$`);
const MARKED: Readonly<Record<string, string>> = { He: "ë", Hi: "ï", H: "", I: "i", U: "u", Y: "y" };

export function stemFrench(word: string): string {
  const marked = withConsonants(word);
  const draft = new Draft(marked, VOWELS, BEGINNING.exec(marked)?.[0].length ?? marked.length);
  if (dropDerivation(draft) || dropVerbInI(draft) || dropVerb(draft)) {
    draft.word = draft.word.replace(/Y$/, "i").replace(/ç$/, "c");
  } else dropResidue(draft);
  if (DOUBLED.test(draft.word)) draft.replace(".", "");
  return respelled(draft.word.replace(ACCENTED, "e$1"), /H[ei]?|[IUY]/g, MARKED);
}

function withConsonants(word: string): string {
  const letters = word.split("");
  const isVowel = (at: number): boolean => VOWELS.includes(letters[at] ?? "-");
  for (let at = 0; at < letters.length; at++) {
    const next = letters[at + 1];
    if (isVowel(at)) {
      if ((next === "u" || next === "i") && isVowel(at + 2)) letters[at + 1] = next.toUpperCase();
      else if (next === "y") letters[at + 1] = "Y";
    }
    const letter = letters[at];
    if (letter === "ë") letters.splice(at, 1, "H", "e");
    else if (letter === "ï") letters.splice(at, 1, "H", "i");
    else if (letter === "y" && isVowel(at + 1)) letters[at] = "Y";
    else if (letter === "q" && next === "u") letters[at + 1] = "U";
  }
  return letters.join("");
}

/** Whether an ending was dropped and verbs need not be looked at. */
function dropDerivation(draft: Draft): boolean {
  const { rv, r1, r2 } = draft;
  const ending = longestEnding(draft.word, DERIVATIONS.all);
  const action = DERIVATIONS.actions.get(ending);
  switch (action) {
    case undefined:
      return false;
    case "drop":
      return draft.replace(ending, "", r2);
    case "agent":
      if (!draft.replace(ending, "", r2)) return false;
      dropIc(draft);
      return true;
    case "log":
    case "u":
    case "ent":
      return draft.replace(ending, action, r2);
    case "ement":
      if (!draft.replace(ending, "", rv)) return false;
      dropBeforeEment(draft);
      return true;
    case "ité":
      if (!draft.replace(ending, "", r2)) return false;
      dropBeforeIté(draft);
      return true;
    case "if":
      if (!draft.replace(ending, "", r2)) return false;
      if (draft.drop("at", r2)) dropIc(draft);
      return true;
    case "eau":
      return draft.replace(ending, "eau");
    case "al":
      return draft.replace(ending, "al", r1);
    case "eux":
      return draft.replace(ending, "", r2) || draft.replace(ending, "eux", r1);
    case "issement":
      return isBehindConsonant(draft.word, ending, 0) && draft.replace(ending, "", r1);
    case "amment":
    case "emment":
      // What is left may be a verb's participle.
      draft.replace(ending, action === "amment" ? "ant" : "ent", rv);
      return false;
    case "ment": {
      const before = draft.word.length - ending.length - 1;
      if (before >= rv && VOWELS.includes(draft.word.charAt(before))) draft.replace(ending, "");
      return false;
    }
  }
}

function dropIc(draft: Draft): void {
  if (draft.word.endsWith("ic") && !draft.drop("ic", draft.r2)) draft.replace("ic", "iqU");
}

function dropBeforeEment(draft: Draft): void {
  const { rv, r1, r2 } = draft;
  const ending = longestEnding(draft.word, BEFORE_EMENT);
  if (ending === "iv") {
    if (draft.drop("iv", r2)) draft.drop("at", r2);
  } else if (ending === "eus") {
    if (!draft.drop("eus", r2)) draft.replace("eus", "eux", r1);
  } else if (ending === "abl" || ending === "iqU") draft.drop(ending, r2);
  else if (ending !== "") draft.replace(ending, "i", rv);
}

function dropBeforeIté(draft: Draft): void {
  const ending = longestEnding(draft.word, BEFORE_ITÉ);
  if (ending === "ic") dropIc(draft);
  else if (ending !== "" && !draft.drop(ending, draft.r2) && ending === "abil") draft.replace("abil", "abl");
}

function isBehindConsonant(word: string, ending: string, from: number): boolean {
  const before = word.length - ending.length - 1;
  return before >= from && !VOWELS.includes(word.charAt(before));
}

function dropVerbInI(draft: Draft): boolean {
  const ending = longestEnding(draft.word, VERBS_IN_I, draft.rv);
  if (ending === "" || !isBehindConsonant(draft.word, ending, draft.rv)) return false;
  return !draft.word.endsWith(`H${ending}`) && draft.replace(ending, "");
}

function dropVerb(draft: Draft): boolean {
  const ending = longestEnding(draft.word, VERBS.all, draft.rv);
  const action = VERBS.actions.get(ending);
  if (action === undefined || !draft.replace(ending, "", action === "ions" ? draft.r2 : 0)) return false;
  if (action === "dropWithE") draft.drop("e", draft.rv);
  return true;
}

function dropResidue(draft: Draft): void {
  if (/(?:His|[^aiouès]s)$/.test(draft.word)) draft.drop("s");
  const { rv, r2 } = draft;
  const ending = longestEnding(draft.word, RESIDUES, rv);
  if (ending === "e") draft.drop("e");
  else if (ending !== "ion") draft.replace(ending, ending === "" ? "" : "i");
  else if (/[st]ion$/.test(draft.word) && draft.word.length - 4 >= rv) draft.drop("ion", r2);
}
