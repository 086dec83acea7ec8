/**
 * Stemmers by language, with the stems of Snowball 2.2 (stemmers.test.ts compares them with its program, word by word). The
 * name is part of what an index remembers, so that stems of another kind are told apart.
 */
import { stemArabic } from "./arabic.ts";
import { stemArmenian } from "./armenian.ts";
import { stemBasque } from "./basque.ts";
import { stemCatalan } from "./catalan.ts";
import { stemDutch } from "./dutch.ts";
import { stemEnglish } from "./english.ts";
import { stemFinnish } from "./finnish.ts";
import { stemFrench } from "./french.ts";
import { stemGerman } from "./german.ts";
import { stemGreek } from "./greek.ts";
import { stemHindi } from "./hindi.ts";
import { stemHungarian } from "./hungarian.ts";
import { stemIndonesian } from "./indonesian.ts";
import { stemIrish } from "./irish.ts";
import { stemItalian } from "./italian.ts";
import { stemLithuanian } from "./lithuanian.ts";
import { stemNepali } from "./nepali.ts";
import { stemPortuguese } from "./portuguese.ts";
import { stemRomanian } from "./romanian.ts";
import { stemRussian } from "./russian.ts";
import { stemDanish, stemNorwegian, stemSwedish } from "./scandinavian.ts";
import { stemSerbian } from "./serbian.ts";
import { stemSpanish } from "./spanish.ts";
import { stemTamil } from "./tamil.ts";
import { stemTurkish } from "./turkish.ts";
import { stemYiddish } from "./yiddish.ts";

/** Makes one form of the forms of a word. */
export interface Stemmer {
  /** The same for two that make the same stems. */
  readonly name: string;
  /** Of a word in lower case. */
  readonly stem: (word: string) => string;
}

const STEMS = {
  arabic: stemArabic,
  armenian: stemArmenian,
  basque: stemBasque,
  catalan: stemCatalan,
  danish: stemDanish,
  dutch: stemDutch,
  english: stemEnglish,
  finnish: stemFinnish,
  french: stemFrench,
  german: stemGerman,
  greek: stemGreek,
  hindi: stemHindi,
  hungarian: stemHungarian,
  indonesian: stemIndonesian,
  irish: stemIrish,
  italian: stemItalian,
  lithuanian: stemLithuanian,
  nepali: stemNepali,
  norwegian: stemNorwegian,
  portuguese: stemPortuguese,
  romanian: stemRomanian,
  russian: stemRussian,
  serbian: stemSerbian,
  spanish: stemSpanish,
  swedish: stemSwedish,
  tamil: stemTamil,
  turkish: stemTurkish,
  yiddish: stemYiddish,
};

/** The name of one of Snowball's stemmers. */
export type StemmerName = keyof typeof STEMS;

/** The names of all stemmers. */
export const STEMMER_NAMES = Object.keys(STEMS) as readonly StemmerName[];

/** By the first part of a language tag. */
const LANGUAGES: Readonly<Record<string, StemmerName>> = {
  ar: "arabic",
  ca: "catalan",
  da: "danish",
  de: "german",
  el: "greek",
  en: "english",
  es: "spanish",
  eu: "basque",
  fi: "finnish",
  fr: "french",
  ga: "irish",
  hi: "hindi",
  hu: "hungarian",
  hy: "armenian",
  id: "indonesian",
  it: "italian",
  lt: "lithuanian",
  nb: "norwegian",
  ne: "nepali",
  nl: "dutch",
  nn: "norwegian",
  no: "norwegian",
  pt: "portuguese",
  ro: "romanian",
  ru: "russian",
  sr: "serbian",
  sv: "swedish",
  ta: "tamil",
  tr: "turkish",
  yi: "yiddish",
};

/**
 * One of Snowball's stemmers.
 *
 * @example
 * stemmer("english").stem("walking"); // → "walk"
 */
export function stemmer(name: StemmerName): Stemmer {
  return { name: `snowball-2.2-${name}`, stem: STEMS[name] };
}

/**
 * The stemmer of a language by its tag ("en-GB" is "en"); undefined where there is none.
 *
 * @example
 * stemmerOf("de-AT")?.name; // → "snowball-2.2-german"
 */
export function stemmerOf(language: string): Stemmer | undefined {
  const name = LANGUAGES[language.replace(/-.*/s, "").toLowerCase()];
  return name === undefined ? undefined : stemmer(name);
}
