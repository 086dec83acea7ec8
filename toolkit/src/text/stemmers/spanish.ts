/**
 * Spanish. Pronouns behind an infinitive or gerund go first, then a derivation or a verb's ending, then what nouns end in; acute
 * accents are lost. Derivations go within `r1` and `r2`, inflections within `rv`.
 */
import { respelled } from "../respelled.ts";
import { Draft, dropBeforeAmente, endings, longestEnding, rules, verbRegion } from "./regions.ts";

const VOWELS = "aeiouáéíóúü";
const PRONOUNS = endings("me se sela selo selas selos la le lo las les los nos");
const BEFORE_PRONOUNS = endings("iéndo ándo ár ér ír ando iendo ar er ir yendo");
const DERIVATIONS = rules({
  drop: `anza anzas ico ica icos icas ismo ismos able ables ible ibles ista istas oso osa osos osas amiento amientos imiento
         imientos`,
  agent: "adora ador ación adoras adores aciones ante antes ancia ancias",
  log: "logía logías",
  u: "ución uciones",
  ente: "encia encias",
  amente: "amente",
  mente: "mente",
  idad: "idad idades",
  ivo: "iva ivo ivas ivos",
});
const BEFORE_AMENTE = endings("iv os ic ad");
const BEFORE_MENTE = endings("ante able ible");
const BEFORE_IDAD = endings("abil ic iv");
const VERBS_IN_Y = endings("ya ye yan yen yeron yendo yo yó yas yes yais yamos");
/** Verbs whose `g` is written `gu` before them. */
const VERBS_WITH_U = new Set(["en", "es", "éis", "emos"]);
const VERBS = endings(
  `en es éis emos arían arías arán arás aríais aría aréis aríamos aremos ará aré erían erías erán erás eríais ería eréis eríamos
   eremos erá eré irían irías irán irás iríais iría iréis iríamos iremos irá iré aba ada ida ía ara iera ad ed id ase iese aste
   iste an aban ían aran ieran asen iesen aron ieron ado ido ando iendo ió ar er ir as abas adas idas ías aras ieras ases ieses
   ís áis abais íais arais ierais aseis ieseis asteis isteis ados idos amos ábamos íamos imos áramos iéramos iésemos ásemos`,
);
const RESIDUES = endings("os a o á í ó e é");
const PLAIN: Readonly<Record<string, string>> = { á: "a", é: "e", í: "i", ó: "o", ú: "u" };
const plain = (word: string): string => respelled(word, /[áéíóú]/g, PLAIN);

export function stemSpanish(word: string): string {
  const draft = new Draft(word, VOWELS, verbRegion(word, VOWELS));
  dropPronoun(draft);
  if (!dropDerivation(draft) && !dropVerbInY(draft)) dropVerb(draft);
  dropResidue(draft);
  return plain(draft.word);
}

function dropPronoun(draft: Draft): void {
  const pronoun = longestEnding(draft.word, PRONOUNS);
  if (pronoun === "") return;
  const rest = draft.word.slice(0, -pronoun.length);
  const ending = longestEnding(rest, BEFORE_PRONOUNS);
  if (ending === "" || rest.length - ending.length < draft.rv) return;
  if (ending === "yendo" && !rest.endsWith("uyendo")) return;
  draft.replace(ending + pronoun, plain(ending));
}

function dropDerivation(draft: Draft): boolean {
  const { r1, r2 } = draft;
  const ending = longestEnding(draft.word, DERIVATIONS.all);
  const action = DERIVATIONS.actions.get(ending);
  if (action === undefined) return false;
  if (action === "log" || action === "u" || action === "ente") return draft.replace(ending, action, r2);
  if (!draft.replace(ending, "", action === "amente" ? r1 : r2)) return false;
  if (action === "agent") draft.drop("ic", r2);
  else if (action === "amente") dropBeforeAmente(draft, BEFORE_AMENTE);
  else if (action === "mente") draft.dropLongest(BEFORE_MENTE, r2);
  else if (action === "idad") draft.dropLongest(BEFORE_IDAD, r2);
  else if (action === "ivo") draft.drop("at", r2);
  return true;
}

function dropVerbInY(draft: Draft): boolean {
  const ending = longestEnding(draft.word, VERBS_IN_Y, draft.rv);
  return ending !== "" && draft.word.endsWith(`u${ending}`) && draft.replace(ending, "");
}

function dropVerb(draft: Draft): void {
  const ending = longestEnding(draft.word, VERBS, draft.rv);
  draft.replace(ending, "");
  if (VERBS_WITH_U.has(ending) && draft.word.endsWith("gu")) draft.drop("u");
}

function dropResidue(draft: Draft): void {
  const ending = draft.dropLongest(RESIDUES, draft.rv);
  if (/[eé]/.test(ending) && draft.word.endsWith("gu")) draft.drop("u", draft.rv);
}
