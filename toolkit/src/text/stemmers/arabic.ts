/**
 * Arabic, a light stemmer: it takes off what is written together with a word, and does not look for the root. Vowel signs and the
 * stretching tatweel go, digits become European, presentation forms plain letters. Then suffixes go (pronouns, endings of a verb's
 * person, of dual, plural and gender), then prefixes (conjunctions, prepositions with the article, the future's s). In the end alif
 * with a hamza or a madda is alif. A word with an article is a noun; any other may be a verb as well, so endings of verbs are tried
 * first. A word loses an affix only if it has enough letters.
 */
import { type Endings, endings, longestEnding, without } from "./regions.ts";

/** An ending or beginning → how many letters a word must have to lose it. */
interface Affixes {
  readonly all: Endings;
  readonly least: ReadonlyMap<string, number>;
}

function affixes(byLeast: Readonly<Record<number, string>>): Affixes {
  const least = new Map(
    Object.entries(byLeast).flatMap(([letters, list]) =>
      list.split(" ").map((each) => [each, Number(letters)] as const),
    ),
  );
  return { all: endings([...least.keys()].join(" ")), least };
}

const VERB_PRONOUNS = affixes({ 4: "ك ه", 5: "كم كن نا ني ها هم هن", 6: "كما كمو هما" });
const VERB_PERSONS = affixes({ 4: "ا ت ن ي", 5: "تا تن نا", 6: "ان تما ون ين" });
const VERB_PLURALS_BEFORE_PRONOUNS = affixes({ 4: "و", 6: "تمو" });
const VERB_PLURALS = affixes({ 5: "تم وا" });
const NOUN_PRONOUNS = affixes({ 4: "ك ه ي", 5: "كم نا ها هم هن", 6: "كما هما" });
const NOUN_N = affixes({ 6: "ن" });
const NOUN_DUALS = affixes({ 5: "ا و ي" });
const NOUN_PLURALS = affixes({ 5: "ات" });
const NOUN_T = affixes({ 4: "ت" });
const NOUN_FEMININES = affixes({ 4: "ة" });
const NISBA = affixes({ 3: "ي" });

const WITH_ARTICLE = /^(?:[بك]ال..|(?:لل|ال)..)/u;
const SIGNS = /[\u064b-\u0652\u0640]/g;
const PRESENTATION_FORMS = /[\ufe80-\ufefc]/g;
const DIGITS = /[٠-٩]/g;

export function stemArabic(word: string): string {
  const isDefinite = WITH_ARTICLE.test(word);
  const plain = word
    .replace(SIGNS, "")
    .replace(DIGITS, (digit) => String(digit.charCodeAt(0) - 0x660))
    .replace(PRESENTATION_FORMS, (form) => form.normalize("NFKC"));
  const stem = (isDefinite ? undefined : withoutVerbSuffixes(plain)) ?? withoutNounSuffixes(plain, isDefinite);
  return withOneAlif(withoutPrefixes(stem, isDefinite));
}

/** The word without one of these endings; undefined if it has none, or is too short for the longest that it has. */
function dropped(word: string, { all, least }: Affixes): string | undefined {
  const ending = longestEnding(word, all);
  const letters = least.get(ending);
  return letters === undefined || word.length < letters ? undefined : without(word, ending.length);
}

function withoutVerbSuffixes(word: string): string | undefined {
  let rest = dropped(word, VERB_PRONOUNS);
  if (rest === undefined) return dropped(word, VERB_PLURALS) ?? dropped(word, VERB_PERSONS);
  for (let next: string | undefined = rest; next !== undefined; next = dropped(rest, VERB_PRONOUNS)) rest = next;
  return dropped(rest, VERB_PERSONS) ?? dropped(rest, VERB_PLURALS_BEFORE_PRONOUNS) ?? rest;
}

function withoutNounSuffixes(word: string, isDefinite: boolean): string {
  const feminine = dropped(word, NOUN_FEMININES);
  if (feminine !== undefined) return withoutNisba(feminine);
  const owned = isDefinite ? undefined : dropped(word, NOUN_PRONOUNS);
  if (owned !== undefined) {
    const number = withoutNumber(owned);
    // Behind a pronoun alone, the -y of an adjective goes from before the last letter.
    if (number !== undefined) return withoutNisba(number);
    return owned.length >= 3 && owned.at(-2) === "ي" ? without(owned, 2) + owned.slice(-1) : withoutMaqsura(owned);
  }
  const withoutN = dropped(word, NOUN_N);
  const number = withoutN === undefined ? undefined : withoutNumber(withoutN);
  if (number !== undefined) return withoutNisba(number);
  const rest = withoutN ?? word;
  return withoutNisba((isDefinite ? undefined : dropped(rest, NOUN_DUALS)) ?? dropped(rest, NOUN_PLURALS) ?? rest);
}

const withoutNumber = (word: string): string | undefined =>
  dropped(word, NOUN_DUALS) ?? dropped(word, NOUN_PLURALS) ?? dropped(word, NOUN_T);

const withoutNisba = (word: string): string => dropped(word, NISBA) ?? withoutMaqsura(word);

const withoutMaqsura = (word: string): string => word.replace(/ى$/, "ي");

/** Where prefixes are looked for: behind a doubled alif that became one, and behind a verb's person that lost the future's s. */
function withoutPrefixes(word: string, isDefinite: boolean): string {
  const isQuestion = word.length > 3 && /^أ[أآؤاإ]/.test(word);
  const head = isQuestion ? (word[1] === "ؤ" ? "أ" : word.charAt(1)) : "";
  const rest = isQuestion ? word.slice(2) : word;
  const long = (letters: number, text: string): boolean => head.length + text.length > letters;
  const main = long(3, rest) && /^[فو](?!ا)/.test(rest) ? rest.slice(1) : rest;
  if (/^[بك]ال/.test(main)) {
    if (long(5, main)) return head + main.slice(3);
  } else if (/^(?:لل|ال)/.test(main) && long(4, main)) {
    return head + main.slice(2);
  }
  if (long(3, main) && /^(?:ب(?!ا)|كك)/.test(main)) return head + main.slice(1);
  if (isDefinite || !long(4, main)) return head + main;
  if (/^س[يتنأ]/.test(main)) {
    const person = main.slice(1);
    return head + person.charAt(0) + asVerb(person.slice(1), head.length + 1);
  }
  return head + asVerb(main, head.length);
}

/** A derived verb of the tenth form, whose prefix is -st-: as in the past. */
function asVerb(word: string, before: number): string {
  return before + word.length > 4 ? word.replace(/^[ينت]ست/, "است") : word;
}

function withOneAlif(word: string): string {
  return word
    .replace(/[أإآؤئ]$/, "ء")
    .replace(/[أإآ]/g, "ا")
    .replaceAll("ؤ", "و")
    .replaceAll("ئ", "ي");
}
