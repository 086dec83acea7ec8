/**
 * Indonesian, after Fadillah Tala. Particles and possessives go from the end, then prefixes and derivational suffixes; which suffix
 * may go depends on the prefix. Nothing more goes from a word of two syllables; each ending or prefix that goes counts as one.
 */
import { type Endings, endings, longestEnding } from "./regions.ts";

const LEAST = 2;
const PARTICLES = endings("kah lah pun");
const POSSESSIVES = endings("ku mu nya");

type Kind = "none" | "di" | "per" | "ke" | "ber";

/** A beginning, the kind of prefix it is, and what takes its place: a letter of the root that the prefix has swallowed. */
type Prefix = readonly [beginning: RegExp, kind: Kind | undefined, by: string];

const FIRST_PREFIXES: readonly Prefix[] = [
  [/^meny(?=[aeiou])/, "di", "s"],
  [/^peny(?=[aeiou])/, "ke", "s"],
  [/^mem(?=[aeiou])/, "di", "p"],
  [/^pem(?=[aeiou])/, "ke", "p"],
  [/^(?:meng|mem|men|me|di|ter)/, "di", ""],
  [/^(?:peng|pem|pen|ke)/, "ke", ""],
];
const SECOND_PREFIXES: readonly Prefix[] = [
  [/^pelajar/, undefined, "ajar"],
  [/^belajar/, "ber", "ajar"],
  [/^(?:per|pe)/, "per", ""],
  [/^(?:ber|be(?=[^aeiou]er))/, "ber", ""],
];

export function stemIndonesian(word: string): string {
  const draft = new Word(word);
  if (!draft.isLong) return word;
  draft.dropEnding(PARTICLES);
  if (!draft.isLong) return draft.word;
  draft.dropEnding(POSSESSIVES);
  if (!draft.isLong) return draft.word;
  const first = draft.dropPrefix(FIRST_PREFIXES);
  if (first !== undefined) {
    const [, , rootLetter] = first;
    if (draft.isLong && draft.dropSuffix() && draft.isLong && rootLetter === "") draft.dropPrefix(SECOND_PREFIXES);
  } else {
    draft.dropPrefix(SECOND_PREFIXES);
    if (draft.isLong) draft.dropSuffix();
  }
  return draft.word;
}

class Word {
  word: string;
  #syllables: number;
  #prefix: Kind = "none";

  constructor(word: string) {
    this.word = word;
    this.#syllables = word.replace(/[^aeiou]/g, "").length;
  }

  get isLong(): boolean {
    return this.#syllables > LEAST;
  }

  #set(word: string): true {
    this.word = word;
    this.#syllables--;
    return true;
  }

  dropEnding(list: Endings): void {
    const ending = longestEnding(this.word, list);
    if (ending !== "") this.#set(this.word.slice(0, -ending.length));
  }

  dropPrefix(prefixes: readonly Prefix[]): Prefix | undefined {
    const found = prefixes.find(([beginning]) => beginning.test(this.word));
    if (found === undefined) return undefined;
    const [beginning, kind, by] = found;
    this.#prefix = kind ?? this.#prefix;
    this.#set(this.word.replace(beginning, by));
    return found;
  }

  dropSuffix(): boolean {
    const { word } = this;
    const prefix = this.#prefix;
    if (word.endsWith("kan") && prefix !== "ke" && prefix !== "per") return this.#set(word.slice(0, -3));
    if (word.endsWith("an") && prefix !== "di") return this.#set(word.slice(0, -2));
    const mayLoseI = prefix === "none" || prefix === "di" || prefix === "per";
    return /(?:^|[^s])i$/.test(word) && mayLoseI && this.#set(word.slice(0, -1));
  }
}
