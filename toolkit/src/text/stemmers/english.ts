/**
 * English: Martin Porter's second algorithm ("Porter2"). It takes off what inflection and the commonest derivations add, in
 * five steps, each of which looks at the longest ending that it knows. An ending goes only if enough of the word is left:
 * `r1` is what follows the first consonant after a vowel, `r2` the same within `r1`.
 *
 * A `y` that is a consonant (at the beginning, or behind a vowel) is written `Y` meanwhile.
 */
import { endings, longestEnding, regionAfter, without } from "./regions.ts";

const VOWELS = "aeiouy";
const isVowel = (letter: string | undefined): boolean => letter !== undefined && VOWELS.includes(letter);

/** Words that the rules would take apart wrongly, with their stems. */
const IRREGULAR = new Map(
  Object.entries({
    skis: "ski",
    skies: "sky",
    dying: "die",
    lying: "lie",
    tying: "tie",
    idly: "idl",
    gently: "gentl",
    ugly: "ugli",
    early: "earli",
    only: "onli",
    singly: "singl",
  }),
);
for (const word of ["sky", "news", "howe", "atlas", "cosmos", "bias", "andes"]) IRREGULAR.set(word, word);

/** What stays as it is once a plural's end is off. */
const WHOLE = new Set(["inning", "outing", "canning", "herring", "earring", "proceed", "exceed", "succeed"]);
/** Beginnings behind which r1 begins, wherever vowels are. */
const LONG_BEGINNINGS = ["gener", "commun", "arsen"];

export function stemEnglish(word: string): string {
  if (word.length < 3) return word;
  const irregular = IRREGULAR.get(word);
  if (irregular !== undefined) return irregular;
  return new Word(word).stem().replaceAll("Y", "y");
}

const POSSESSIVE = endings("' 's 's'");
const PAST = endings("eed eedly ed edly ing ingly");

/** Ending → what takes its place in step 2; a function may refuse. */
const STEP_2: Readonly<Record<string, string>> = {
  tional: "tion",
  enci: "ence",
  anci: "ance",
  abli: "able",
  entli: "ent",
  izer: "ize",
  ization: "ize",
  ational: "ate",
  ation: "ate",
  ator: "ate",
  alism: "al",
  aliti: "al",
  alli: "al",
  fulness: "ful",
  ousli: "ous",
  ousness: "ous",
  iveness: "ive",
  iviti: "ive",
  biliti: "ble",
  bli: "ble",
  fulli: "ful",
  lessli: "less",
};
const STEP_2_ENDINGS = endings(`${Object.keys(STEP_2).join(" ")} ogi li`);
/** Letters behind which -li is an ending. */
const BEFORE_LI = "cdeghkmnrt";

const STEP_3: Readonly<Record<string, string>> = {
  tional: "tion",
  ational: "ate",
  alize: "al",
  icate: "ic",
  iciti: "ic",
  ical: "ic",
  ful: "",
  ness: "",
};
const STEP_3_ENDINGS = endings(`${Object.keys(STEP_3).join(" ")} ative`);

const STEP_4_ENDINGS = endings("al ance ence er ic able ible ant ement ment ent ism ate iti ous ive ize ion");

class Word {
  #word: string;
  readonly #r1: number;
  readonly #r2: number;

  constructor(word: string) {
    this.#word = withConsonantY(word.startsWith("'") ? word.slice(1) : word);
    const beginning = LONG_BEGINNINGS.find((each) => this.#word.startsWith(each));
    this.#r1 = beginning?.length ?? regionAfter(this.#word, VOWELS);
    this.#r2 = regionAfter(this.#word, VOWELS, this.#r1);
  }

  stem(): string {
    this.#word = without(this.#word, longestEnding(this.#word, POSSESSIVE).length);
    this.#plural();
    if (WHOLE.has(this.#word)) return this.#word;
    this.#past();
    this.#finalY();
    this.#derivations();
    this.#moreDerivations();
    this.#lastEnding();
    this.#lastLetter();
    return this.#word;
  }

  /** Whether the last so many letters are within a region. */
  #isWithin(region: number, letters: number): boolean {
    return this.#word.length - letters >= region;
  }

  /** Replaces an ending as a table says. */
  #replaceFrom(table: Readonly<Record<string, string>>, ending: string): void {
    const by = table[ending];
    if (by !== undefined) this.#replace(ending.length, by);
  }

  #replace(letters: number, by: string): void {
    this.#word = without(this.#word, letters) + by;
  }

  #plural(): void {
    const word = this.#word;
    if (word.endsWith("sses")) this.#replace(2, "");
    else if (word.endsWith("ied") || word.endsWith("ies")) this.#replace(word.length > 4 ? 2 : 1, "");
    else if (word.endsWith("s") && !/[us]s$/.test(word)) {
      // Not if the only vowel stands right before it: "gas" and "this" stay.
      if (hasVowel(without(word, 2))) this.#replace(1, "");
    }
  }

  #past(): void {
    const ending = longestEnding(this.#word, PAST);
    if (ending === "") return;
    if (ending.startsWith("eed")) {
      if (this.#isWithin(this.#r1, ending.length)) this.#replace(ending.length, "ee");
      return;
    }
    const rest = without(this.#word, ending.length);
    if (!hasVowel(rest)) return;
    this.#word = rest;
    if (/(?:at|bl|iz)$/.test(rest)) this.#word += "e";
    else if (/(?:bb|dd|ff|gg|mm|nn|pp|rr|tt)$/.test(rest)) this.#replace(1, "");
    else if (rest.length <= this.#r1 && endsInShortSyllable(rest)) this.#word += "e";
  }

  #finalY(): void {
    const word = this.#word;
    if (/[yY]$/.test(word) && word.length > 2 && !isVowel(word.at(-2))) this.#replace(1, "i");
  }

  #derivations(): void {
    const ending = longestEnding(this.#word, STEP_2_ENDINGS);
    if (ending === "" || !this.#isWithin(this.#r1, ending.length)) return;
    const before = this.#word.at(-ending.length - 1) ?? "";
    if (ending === "li") {
      if (BEFORE_LI.includes(before) && before !== "") this.#replace(2, "");
    } else if (ending === "ogi") {
      if (before === "l") this.#replace(1, "");
    } else this.#replaceFrom(STEP_2, ending);
  }

  #moreDerivations(): void {
    const ending = longestEnding(this.#word, STEP_3_ENDINGS);
    if (ending === "" || !this.#isWithin(this.#r1, ending.length)) return;
    if (ending !== "ative") this.#replaceFrom(STEP_3, ending);
    else if (this.#isWithin(this.#r2, ending.length)) this.#replace(ending.length, "");
  }

  #lastEnding(): void {
    const ending = longestEnding(this.#word, STEP_4_ENDINGS);
    if (ending === "" || !this.#isWithin(this.#r2, ending.length)) return;
    if (ending === "ion" && !/[st]ion$/.test(this.#word)) return;
    this.#replace(ending.length, "");
  }

  #lastLetter(): void {
    const word = this.#word;
    if (word.endsWith("e")) {
      const isLong = this.#isWithin(this.#r1, 1) && !endsInShortSyllable(without(word, 1));
      if (this.#isWithin(this.#r2, 1) || isLong) this.#replace(1, "");
    } else if (word.endsWith("ll") && this.#isWithin(this.#r2, 1)) this.#replace(1, "");
  }
}

function withConsonantY(word: string): string {
  if (!word.includes("y")) return word;
  let made = "";
  for (const letter of word) made += letter === "y" && (made === "" || isVowel(made.at(-1))) ? "Y" : letter;
  return made;
}

function hasVowel(word: string): boolean {
  return /[aeiouy]/.test(word);
}

/** A vowel between consonants, the last of which is not w, x or a consonant y; or a word of a vowel and a consonant. */
function endsInShortSyllable(word: string): boolean {
  const [before, vowel, last] = [word.at(-3), word.at(-2), word.at(-1)];
  if (!isVowel(vowel) || last === undefined || isVowel(last)) return false;
  return before === undefined ? true : !isVowel(before) && !"wxY".includes(last);
}
