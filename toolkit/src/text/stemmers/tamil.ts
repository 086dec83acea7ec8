/**
 * Tamil: Damodharan Rajalingam's algorithm. A questioning or pointing prefix goes, then what is hung on the word's end, from the
 * outside in: question particles, -um, words that are written together with others, cases, the plural, commands, and tenses with
 * their persons as long as there is one. An ending that begins with a vowel leaves the sign of a consonant without one (pulli)
 * behind; where letters changed because of an ending, they are changed back after each step. Words of four letters and signs or
 * fewer stay.
 */
import { respelled } from "../respelled.ts";

const LEAST = 5;
const SIGN = "[ாிீுூெேை]";
const HARD = "[கசடதபற]";

/** An ending, and what takes its place. */
type Change = readonly [ending: RegExp, by: string];

const change = (endings: string, by: string): Change => [new RegExp(`(?:${endings.replace(/\s+/g, "|")})$`), by];

const PREFIXES: readonly RegExp[] = [/^எ[கசதவநபமயஙஞ]்/, /^[அஇஉ][கசதவநபமயஙஞ]்/];
const FIRST_VOWELS: Readonly<Record<string, string>> = { வோ: "ஓ", வொ: "ஒ", வு: "உ", வூ: "ஊ" };

/** What letters at the end become: the first of these changes is made. In the middle of them one is made only behind a case. */
const CHANGED: readonly Change[] = [
  change("ந் ந்த ந்த்", ""),
  change("(?<=[ைிீ])ய்", ""),
  change("ட்ப் ட்க்", "ள்"),
  change("ன்ற் ற்க்", "ல்"),
  change("ட்ட்", "டு"),
];
const CHANGED_BEFORE_CASE = change("(?<!ை)த்த்", "ம்");
const CHANGED_FURTHER: readonly Change[] = [
  change("ுக் ுக்க்", "்"),
  change(`${HARD}்(?:${HARD}்)?`, ""),
  change("்[யரலவழளஙஞணநமன]்", "்"),
  change("வ் வ ய", ""),
  change(`(?<!${SIGN})னு`, ""),
  change("(?<!ை)ங்", "ம்"),
  change("ங்", ""),
  change(`(?<=${SIGN}|்)்`, ""),
];

const QUESTION = change("ோ ே ா", "்");
const UM = change("ும்", "்");
const ATTACHED: readonly Change[] = [
  change(`(?<!${SIGN})ல்ல ாகி ாகிய ிடம் ின்றி ில்லை ுடன் ுடை ுடைய ுள்ள ென ெனும் ென்று`, "்"),
  change("குரிய தான படி படிதான படு பட்ட பட்டண பட்டது பட்டு பற்றி விடு விட்டு ெல்லாம்", ""),
];
const CASES: readonly Change[] = [
  change("னை", ""),
  change(`(?<!${HARD})ை (?<=்${HARD})ை`, "்"),
  change(`(?<!${SIGN})ல் விட ாமல் ால் (?<=^.{3,})ிடம் (?<!ம)ின் ின்று ிருந்து ிற் ில் ுடை ுள் ொடு ோடு`, "்"),
  change(`கண் கீழ் (?<!${SIGN})து பின் முன் மேற் மேல்`, ""),
  change("ீ", "ி"),
];
const IN = change("ின்", "்");
const PLURALS: readonly Change[] = [
  change(`(?<!${HARD})ுங்கள்`, "்"),
  change("ற்கள்", "ல்"),
  change("ட்கள்", "ள்"),
  change("கள்", ""),
];
const COMMANDS = change("பி வி", "");
const TENSES: readonly Change[] = [
  change("கொண்டிர் படு", ""),
  change(
    `க கும் த (?<!${SIGN})து தும் ன னன் னம் னர் னள் னான் னார் னாள் னென் னை ப பன் பம் பர் பள் மார் மின் ய றும்
     (?<![அஆஇஈஉஊஎஏஐஒஓஔ])வன் வர் வள் வை ிற்று`,
    "",
  ),
  change("டும் னிர் ா (?<!ச)ான் ாம் ாய் ார் ாள் ீயர் ீர் ெம் ேன் ேம் ோம்", "்"),
  change("(?<=்)கு (?<=்)து", ""),
];
const PRESENTS = change("கின்ற கின்ற் கிற கிற் ாநின்ற ாநின்ற்", "");

export function stemTamil(word: string): string {
  const draft = new Word(word);
  draft.changeBack();
  if (!draft.isLong) return draft.word;
  for (const prefix of PREFIXES) draft.dropPrefix(prefix);
  draft.drop([QUESTION], "any");
  draft.drop([UM], "once");
  draft.drop(ATTACHED);
  draft.dropCase();
  draft.replaces(PLURALS);
  if (draft.isLong) draft.replaces([COMMANDS]);
  while (draft.dropTense());
  return draft.word;
}

class Word {
  word: string;
  #hadCase = false;

  constructor(word: string) {
    this.word = word;
  }

  get isLong(): boolean {
    return this.word.length >= LEAST;
  }

  /** Makes the first of the changes whose ending is there. */
  replaces(changes: readonly Change[]): boolean {
    const found = changes.find(([ending]) => ending.test(this.word));
    if (found === undefined) return false;
    this.word = this.word.replace(...found);
    return true;
  }

  changeBack(): boolean {
    if (this.word.length < LEAST - 1) return false;
    const ofCase = this.#hadCase ? [CHANGED_BEFORE_CASE] : [];
    return this.replaces([...CHANGED, ...ofCase, ...CHANGED_FURTHER]);
  }

  #changeAllBack(): void {
    while (this.changeBack());
  }

  dropPrefix(prefix: RegExp): void {
    if (!prefix.test(this.word)) return;
    this.word = respelled(this.word.replace(prefix, ""), /^வ[ோொுூ]/, FIRST_VOWELS);
  }

  /** Makes a change in a long word; then letters are changed back, once or as often as can be, or even if there was no change. */
  drop(changes: readonly Change[], back: "once" | "all" | "any" = "all"): boolean {
    if (!this.isLong) return false;
    const isFound = this.replaces(changes);
    if (isFound && back === "once") this.changeBack();
    else if (isFound || back === "any") this.#changeAllBack();
    return isFound;
  }

  dropCase(): void {
    if (!this.isLong || !this.replaces(CASES)) return;
    this.#hadCase = true;
    this.replaces([IN]);
    this.#changeAllBack();
  }

  dropTense(): boolean {
    if (!this.isLong) return false;
    const hadTense = this.replaces(TENSES);
    const wasPresent = this.replaces([PRESENTS]);
    this.#changeAllBack();
    return hadTense || wasPresent;
  }
}
