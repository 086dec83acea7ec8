/**
 * Italian. Acute accents are grave ones. A `u` or `i` between vowels and the `u` of `qu` are consonants, written in upper case
 * meanwhile. Pronouns behind an infinitive or gerund go first, then a derivation or a verb's ending, then the last vowels.
 * Derivations go within `r1` and `r2`, inflections within `rv`.
 */
import { respelled } from "../respelled.ts";
import { consonantsMarked, Draft, dropBeforeAmente, endings, longestEnding, rules, verbRegion } from "./regions.ts";

const VOWELS = "aeiouàèìòù";
const GRAVE: Readonly<Record<string, string>> = { á: "à", é: "è", í: "ì", ó: "ò", ú: "ù" };
const PRONOUNS = endings(
  `ci gli la le li lo mi ne si ti vi sene gliela gliele glieli glielo gliene mela mele meli melo mene tela tele teli telo tene
   cela cele celi celo cene vela vele veli velo vene`,
);
const BEFORE_PRONOUNS = endings("ando endo ar er ir");
const DERIVATIONS = rules({
  drop: `anza anze ico ici ica ice iche ichi ismo ismi abile abili ibile ibili ista iste isti istà istè istì oso osi osa ose mente
         atrice atrici ante anti`,
  agent: "azione azioni atore atori",
  log: "logia logie",
  u: "uzione uzioni usione usioni",
  ente: "enza enze",
  amento: "amento amenti imento imenti",
  amente: "amente",
  ità: "ità",
  ivo: "ivo ivi iva ive",
});
const BEFORE_AMENTE = endings("iv os ic abil");
const BEFORE_ITÀ = endings("abil ic iv");
const VERBS = endings(
  `ammo ando ano are arono asse assero assi assimo ata ate ati ato ava avamo avano avate avi avo emmo enda ende endi endo erà erai
   eranno ere erebbe erebbero erei eremmo eremo ereste eresti erete erò erono essero ete eva evamo evano evate evi evo Yamo iamo
   immo irà irai iranno ire irebbe irebbero irei iremmo iremo ireste iresti irete irò irono isca iscano isce isci isco iscono
   issero ita ite iti ito iva ivamo ivano ivate ivi ivo ono uta ute uti uto ar ir`,
);
const LAST_VOWELS = endings("a e i o à è ì ò");

export function stemItalian(word: string): string {
  const grave = respelled(word, /[áéíóú]/g, GRAVE).replaceAll("qu", "qU");
  const marked = consonantsMarked(grave, VOWELS);
  const draft = new Draft(marked, VOWELS, verbRegion(marked, VOWELS));
  dropPronoun(draft);
  if (!dropDerivation(draft)) draft.dropVerb(VERBS);
  if (draft.dropLongest(LAST_VOWELS, draft.rv) !== "") draft.drop("i", draft.rv);
  if (/[cg]h$/.test(draft.word) && draft.word.length - 2 >= draft.rv) draft.drop("h");
  return draft.word.replace(/[IU]/g, (letter) => letter.toLowerCase());
}

function dropPronoun(draft: Draft): void {
  const pronoun = longestEnding(draft.word, PRONOUNS);
  if (pronoun === "") return;
  const rest = draft.word.slice(0, -pronoun.length);
  const ending = longestEnding(rest, BEFORE_PRONOUNS);
  if (ending === "" || rest.length - ending.length < draft.rv) return;
  draft.replace(pronoun, ending.endsWith("r") ? "e" : "");
}

function dropDerivation(draft: Draft): boolean {
  const { rv, r1, r2 } = draft;
  const ending = longestEnding(draft.word, DERIVATIONS.all);
  const action = DERIVATIONS.actions.get(ending);
  if (action === undefined) return false;
  if (action === "log" || action === "u" || action === "ente") return draft.replace(ending, action, r2);
  if (!draft.replace(ending, "", action === "amento" ? rv : action === "amente" ? r1 : r2)) return false;
  if (action === "agent") draft.drop("ic", r2);
  else if (action === "amente") dropBeforeAmente(draft, BEFORE_AMENTE);
  else if (action === "ità") draft.dropLongest(BEFORE_ITÀ, r2);
  else if (action === "ivo" && draft.drop("at", r2)) draft.drop("ic", r2);
  return true;
}
