/**
 * Romanian, written with the cedillas ş and ţ. A `u` or `i` between vowels is a consonant, written in upper case meanwhile. The
 * article and plurals go first; then chains of derivations are made shorter; if there are none, a verb's ending goes; then the last
 * vowel. Derivations go within `r1` and `r2`, inflections within `rv`.
 */
import { consonantsMarked, Draft, endings, longestEnding, rules, verbRegion } from "./regions.ts";

const VOWELS = "aeiouâîă";
const ARTICLES = rules({
  "": "ul ului",
  a: "aua",
  e: "ea ele elor",
  i: "ii iua iei iile iilor ilor ile",
  at: "atei",
  aţi: "aţie aţia",
});
const CHAINS = rules({
  abil: "abilitate abilitati abilităi abilităţi",
  ibil: "ibilitate",
  iv: "ivitate ivitati ivităi ivităţi",
  ic: "icitate icitati icităi icităţi icator icatori iciv iciva icive icivi icivă ical icala icale icali icală",
  at: "ativ ativa ative ativi ativă aţiune atoare ator atori ătoare ător ători",
  it: "itiv itiva itive itivi itivă iţiune itoare itor itori",
});
const DERIVATIONS = rules({
  "": `at ata ată ati ate ut uta ută uti ute it ita ită iti ite ic ica ice ici ică abil abila abile abili abilă ibil ibila ibile ibili
       ibilă oasa oasă oase os osi oşi ant anta ante anti antă ator atori itate itati ităi ităţi iv iva ive ivi ivă`,
  t: "iune iuni",
  ist: "ism isme ist ista iste isti istă işti",
});
const VERBS = rules({
  behindConsonant: `are ere ire âre ind ând indu ându eze ească ez ezi ează esc eşti eşte ăsc ăşti ăşte am ai au eam eai ea eaţi eau
    iam iai ia iaţi iau ui aşi arăm arăţi ară uşi urăm urăţi ură işi irăm irăţi iră âi âşi ârăm ârăţi âră asem aseşi ase aserăm
    aserăţi aseră isem iseşi ise iserăm iserăţi iseră âsem âseşi âse âserăm âserăţi âseră usem useşi use userăm userăţi useră`,
  anywhere: `ăm aţi em eţi im iţi âm âţi seşi serăm serăţi seră sei se sesem seseşi sese seserăm seserăţi seseră`,
});
const LAST_VOWELS = endings("a e i ie ă");

export function stemRomanian(word: string): string {
  const marked = consonantsMarked(word, VOWELS);
  const draft = new Draft(marked, VOWELS, verbRegion(marked, VOWELS));
  dropArticle(draft);
  const hadChain = shortenChains(draft);
  if (!dropDerivation(draft) && !hadChain) dropVerb(draft);
  draft.dropLongest(LAST_VOWELS, draft.rv);
  return draft.word.replace(/[IU]/g, (letter) => letter.toLowerCase());
}

function dropArticle(draft: Draft): void {
  const ending = longestEnding(draft.word, ARTICLES.all);
  if (ending === "ile" && draft.word.endsWith("abile")) return;
  draft.replace(ending, ARTICLES.actions.get(ending) ?? "", draft.r1);
}

function shortenChains(draft: Draft): boolean {
  for (let hadChain = false; ; hadChain = true) {
    const ending = longestEnding(draft.word, CHAINS.all);
    const by = CHAINS.actions.get(ending);
    if (by === undefined || !draft.replace(ending, by, draft.r1)) return hadChain;
  }
}

function dropDerivation(draft: Draft): boolean {
  const ending = longestEnding(draft.word, DERIVATIONS.all);
  const by = DERIVATIONS.actions.get(ending);
  if (by === undefined || draft.word.length - ending.length < draft.r2) return false;
  if (by === "t") return draft.word.endsWith(`ţ${ending}`) && draft.replace(`ţ${ending}`, by);
  return draft.replace(ending, by);
}

function dropVerb(draft: Draft): void {
  const ending = longestEnding(draft.word, VERBS.all, draft.rv);
  const before = draft.word.length - ending.length - 1;
  const isBehindConsonant = before >= draft.rv && !"aeioâîă".includes(draft.word.charAt(before));
  if (VERBS.actions.get(ending) === "anywhere" || isBehindConsonant) draft.drop(ending);
}
