/**
 * Finnish. Particles go first, then possessives, cases, degrees of comparison and plurals, all within `r1` or `r2`; then doubled
 * letters become single.
 */
import { Draft, endings, longestEnding } from "./regions.ts";

const VOWELS = "aeiouyäö";
const LONG = /(?:aa|ee|ii|oo|uu|ää|öö)$/;
const CONSONANT = "[bcdfghjklmnpqrstvwxz]";

const PARTICLES = endings("kin kaan kään ko kö han hän pa pä sti");
const POSSESSIVES = endings("si ni nsa nsä mme nne an än en");
/** What must stand before those of the possessives that other words end in too. */
const BEFORE_POSSESSIVES: Readonly<Record<string, RegExp>> = {
  si: /(?:^|[^k])$/,
  an: /(?:ta|ssa|sta|lla|lta|na)$/,
  än: /(?:tä|ssä|stä|llä|ltä|nä)$/,
  en: /(?:lle|ine)$/,
};
const CASES = endings(
  `han hen hin hon hän hön siin den tten seen a ä tta ttä ta tä ssa ssä sta stä lla llä lta ltä lle na nä ksi ine n`,
);
const I_BEHIND_VOWEL = /[aeiouäö]i$/;
const VOWEL_BEHIND_CONSONANT = new RegExp(`${CONSONANT}[${VOWELS}]$`);
const BEFORE_CASES: Readonly<Record<string, RegExp>> = {
  han: /a$/,
  hen: /e$/,
  hin: /i$/,
  hon: /o$/,
  hän: /ä$/,
  hön: /ö$/,
  a: VOWEL_BEHIND_CONSONANT,
  ä: VOWEL_BEHIND_CONSONANT,
  tta: /e$/,
  ttä: /e$/,
};
/** As above, but within `r1`; if it does not stand there, the ending is a genitive's -n. */
const BEFORE_CASES_IN_N: Readonly<Record<string, RegExp>> = {
  siin: I_BEHIND_VOWEL,
  den: I_BEHIND_VOWEL,
  tten: I_BEHIND_VOWEL,
  seen: LONG,
};
const DEGREES = endings("mpi mpa mpä mmi mma mmä impi impa impä immi imma immä eja ejä");
const PLURALS_IN_I = endings("i j");
const PLURAL_DEGREES = endings("mma imma");
const LAST_VOWEL = new RegExp(`${CONSONANT}[aäei]$`);
const DOUBLED = new RegExp(`(${CONSONANT})\\1([${VOWELS}]*)$`);

export function stemFinnish(word: string): string {
  const draft = new Draft(word, VOWELS, 0);
  dropParticle(draft);
  dropPossessive(draft);
  const hadCase = dropCase(draft);
  dropDegree(draft);
  if (hadCase) draft.drop(longestEnding(draft.word, PLURALS_IN_I, draft.r1));
  else dropPluralT(draft);
  tidy(draft);
  return draft.word.replace(DOUBLED, "$1$2");
}

function dropParticle(draft: Draft): void {
  const ending = longestEnding(draft.word, PARTICLES, draft.r1);
  if (ending === "sti") draft.drop(ending, draft.r2);
  else if (/[aeiouyäönt]$/.test(rest(draft, ending))) draft.drop(ending);
}

const rest = (draft: Draft, ending: string): string => draft.word.slice(0, draft.word.length - ending.length);

function dropPossessive(draft: Draft): void {
  const ending = longestEnding(draft.word, POSSESSIVES, draft.r1);
  if (BEFORE_POSSESSIVES[ending]?.test(rest(draft, ending)) === false) return;
  draft.drop(ending);
  if (ending === "ni" && draft.word.endsWith("kse")) draft.replace("e", "i");
}

function dropCase(draft: Draft): boolean {
  const longest = longestEnding(draft.word, CASES, draft.r1);
  const isGenitive = BEFORE_CASES_IN_N[longest]?.test(rest(draft, longest).slice(draft.r1)) === false;
  const ending = isGenitive ? "n" : longest;
  const before = rest(draft, ending);
  if (ending === "" || BEFORE_CASES[ending]?.test(before) === false) return false;
  draft.drop(ending);
  if (ending === "n" && (LONG.test(before) || before.endsWith("ie"))) draft.replace(".", "");
  return true;
}

function dropDegree(draft: Draft): void {
  const ending = longestEnding(draft.word, DEGREES, draft.r2);
  if (!(ending.startsWith("m") && rest(draft, ending).endsWith("po"))) draft.drop(ending);
}

function dropPluralT(draft: Draft): void {
  const { word, r1, r2 } = draft;
  if (!/[aeiouyäö]t$/.test(word) || word.length - 2 < r1) return;
  draft.drop("t");
  const ending = longestEnding(draft.word, PLURAL_DEGREES, r2);
  if (!(ending === "mma" && draft.word.endsWith("pomma"))) draft.drop(ending);
}

function tidy(draft: Draft): void {
  const isWithin = (): boolean => draft.word.length - 2 >= draft.r1;
  if (LONG.test(draft.word) && isWithin()) draft.replace(".", "");
  if (LAST_VOWEL.test(draft.word) && isWithin()) draft.replace(".", "");
  if (/[ou]j$/.test(draft.word) && isWithin()) draft.drop("j");
  if (draft.word.endsWith("jo") && isWithin()) draft.drop("o");
}
