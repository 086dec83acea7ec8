/**
 * Yiddish, in the spelling of YIVO: Assaf Urieli's algorithm. Points go, final letters become the usual ones, and pairs of letters
 * one. The ge- of participles and the tsu behind a verb's prefix are taken out. Then endings go, in three steps, within `r1`: what
 * follows the first vowels, or the three consonants of a Hebrew root, but at least three letters behind the prefix. Irregular
 * participles become what the infinitive has.
 */
import { respelled } from "../respelled.ts";
import { longestEnding, type Rules, rules, without } from "./regions.ts";

const PAIRS: Readonly<Record<string, string>> = {
  וו: "װ",
  וי: "ױ",
  יי: "ײ",
  ך: "כ",
  ם: "מ",
  ן: "נ",
  ף: "פ",
  ץ: "צ",
};
const TO_PLAIN = /וו(?!\u05bc)|וי(?!\u05b4)|יי(?!\u05b4)|[ךםןףץ]/g;
const POINTS = /[\u05b0-\u05b9\u05bb\u05bc\u05bf\u05c1\u05c2]/g;

const CONSONANT = "[בגדהזחטכלמנספצקרשתװךםןףץ]";
const VOWEL = "[אויעױײ]";
/** Of the words that begin with ge-, those that are no participles. */
const GE = /^גע(?!לט|בנ)/;
/** In capitals, so that nothing takes them for letters of the word. */
const TAKEN_OUT = /GE|TSU/g;
const PREFIXES = `אדורכ אהינ אהער אהײמ אומ אונטער איבער אנ אנט אנטקעגנ אנידער אפ אפיר אקעגנ אראפ ארומ ארונטער אריבער ארױס ארױפ ארײנ
  אװעק אױס אױפ אײנ בא בײ דורכ דער מיט נאכ פאר פארבײ פארױס פונאנדער צו צוזאמענ צונױפ צוריק צע`;
const PREFIX = new RegExp(
  `^(?:GE)?(?:${PREFIXES.split(/\s+/)
    .sort((a, b) => b.length - a.length)
    .join("|")})`,
);
const BEHIND_PREFIX = /^(?:(?=צו(?:גנ|קט|קנ)$)|(?=געבנ)|(גע)|(צו))/;
const THREE_CONSONANTS = new RegExp(`^${CONSONANT}{3}`);
/** Combinations of three consonants that words of other than Hebrew origin have. */
const CLUSTERS = /^(?:שפר|שטר|שטש|דזש)/;
const FIRST_VOWELS = new RegExp(`^.*?${VOWEL}+`);

type Action = "drop" | "keep" | "ie" | "participle" | "t" | "h" | "ist" | "irregular";

const IRREGULAR: Readonly<Record<string, string>> = {
  בונדנ: "בינד",
  GEביטנ: "בײט",
  GEביסנ: "בײס",
  בראכט: "ברענג",
  בױגנ: "בײג",
  גאנגענ: "גײ",
  גײנ: "גײ",
  הױבנ: "הײב",
  זונגנ: "זינג",
  טרונקנ: "טרינק",
  טריבנ: "טרײב",
  GEליטנ: "לײט",
  GEמיטנ: "מײד",
  נומענ: "נעמ",
  פארלױרנ: "פארליר",
  צװונגנ: "צװינג",
  קליבנ: "קלײב",
  ריבנ: "רײב",
  GEריסנ: "רײס",
  שטאנענ: "שטײ",
  שלונגנ: "שלינג",
  שמיסנ: "שמײס",
  שניטנ: "שנײד",
  שריבנ: "שרײב",
  שװיגנ: "שװײג",
  שװױרנ: "שװער",
  װוטשנ: "װיטש",
  װיזנ: "װײז",
};
/** The same participles without their ending. */
const STEMS: readonly (readonly [stem: RegExp, by: string])[] = Object.entries(IRREGULAR)
  .filter(([participle]) => !/^(?:גײנ|בראכט)$/.test(participle))
  .map(([participle, by]) => [new RegExp(`${participle.replace(/^GE|ע?נ$/g, "")}$`), by]);

const INFLECTIONS: Rules<Action> = rules({
  drop: `הײט ונג ט יזמ יזמענ ימ יסטנ יקײט לעכ נ נס ס סט סטו סטנ סטע סטער ע עט עטנ עטס עטע עטער עלע עלעכ עלענ עלעס עמ ענ ענערס
  עס ער ערס קײט שאפט`,
  keep: "יע",
  ie: "יעס",
  participle: "ענע ענעמ ענער ענס",
  t: "טנ טע טער טס טנס טענע טענעמ טענער",
  h: "ות",
  ist: "יסט",
  irregular: Object.keys(IRREGULAR).join(" "),
});
const DERIVATIONS: Rules<"drop" | "diminutive"> = rules({ drop: "ונג הײט קײט יקײט שאפט", diminutive: "ל" });
const ADJECTIVES: Rules<"drop" | "keep"> = rules({ drop: "יג יק יש ניק דיק נדיק ענדיק", keep: "בליק גליק" });
const ENDS_IN_CONSONANT = new RegExp(`${CONSONANT}$`);

export function stemYiddish(word: string): string {
  const plain = respelled(word, TO_PLAIN, PAIRS).replace(POINTS, "");
  const { marked, r1 } = withPrefixes(plain);
  let stem = withoutInflection(marked, r1);
  const derivation = longestEnding(stem, DERIVATIONS.all);
  const rest = without(stem, derivation.length);
  const isDropped = DERIVATIONS.actions.get(derivation) === "drop" || ENDS_IN_CONSONANT.test(rest);
  if (isDropped && rest.length >= r1) stem = rest;
  const adjective = longestEnding(stem, ADJECTIVES.all);
  const isAdjective = ADJECTIVES.actions.get(adjective) === "drop" && stem.length - adjective.length >= r1;
  return (isAdjective ? without(stem, adjective.length) : stem).replace(TAKEN_OUT, "");
}

/** The word with what is to be taken out in capitals, and where `r1` begins. */
function withPrefixes(plain: string): { readonly marked: string; readonly r1: number } {
  let marked = plain.replace(GE, "GE");
  let start = marked.startsWith("GE") && !plain.startsWith("GE") ? 2 : 0;
  const prefix = PREFIX.exec(marked)?.[0] ?? "";
  const behind = prefix === "" ? null : BEHIND_PREFIX.exec(marked.slice(prefix.length));
  if (behind !== null) {
    const by = behind[1] !== undefined ? "GE" : behind[2] !== undefined ? "TSU" : "";
    marked = prefix + by + marked.slice(prefix.length + behind[0].length);
    start = prefix.length + by.length;
  }
  if (marked.length < start + 3) return { marked, r1: marked.length };
  const cluster = CLUSTERS.test(marked.slice(start)) ? 3 : 0;
  const rest = marked.slice(start + cluster);
  if (THREE_CONSONANTS.test(rest)) return { marked, r1: start + cluster + 3 };
  const vowels = FIRST_VOWELS.exec(rest)?.[0];
  if (vowels === undefined) return { marked, r1: marked.length };
  return { marked, r1: Math.max(start + cluster + vowels.length, start + 3) };
}

function withoutInflection(word: string, r1: number): string {
  const ending = longestEnding(word, INFLECTIONS.all);
  const rest = without(word, ending.length);
  const isWithin = rest.length >= r1;
  switch (INFLECTIONS.actions.get(ending)) {
    case "drop":
      return isWithin ? rest : word;
    case "ie":
      return isWithin ? `${rest}יע` : word;
    case "h":
      return isWithin ? `${rest}ה` : word;
    case "participle":
      return isWithin ? asInfinitive(rest) : word;
    case "t":
      return rest.replace(/(?:גע)?בראכ$/, "ברענג") + (isWithin ? "" : "ט");
    case "ist":
      if (/[גש]$/.test(rest)) return rest.length + 2 >= r1 ? `${rest}יס` : word;
      return isWithin ? rest : word;
    case "irregular":
      return rest + IRREGULAR[ending]!;
    default:
      return word;
  }
}

function asInfinitive(stem: string): string {
  const found = STEMS.find(([participle]) => participle.test(stem));
  return found === undefined ? stem : stem.replace(...found);
}
