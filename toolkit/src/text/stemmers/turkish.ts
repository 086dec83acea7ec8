/**
 * Turkish: Evren Çilden's algorithm. Suffixes follow each other in a grammar's order, so they are read from the end of the word
 * backwards, as an automaton reads: first the suffixes of nominal verbs, then those of nouns. Most are suffixes only if their vowel
 * agrees with one before it (vowel harmony). A suffix is named by its letters: `A` is a or e, `U` one of ı i u ü, `D` d or t; a small
 * `n`, `s` or `y` in front may be left out.
 *
 * A step that fails half-way keeps what it has dropped: the steps after it go on with what is left.
 */
import { respelled } from "../respelled.ts";
import { type Endings, endings, longestEnding } from "./regions.ts";

const VOWEL = /[aeıioöuü]/;
const U = /[ıiuü]/;
/** Last vowel → those, one of which must stand somewhere before it. */
const HARMONY: Readonly<Record<string, RegExp>> = {
  a: /[aıou]/,
  e: /[eiöü]/,
  ı: /[aı]/,
  i: /[ei]/,
  o: /[ou]/,
  ö: /[öü]/,
  u: /[ou]/,
  ü: /[öü]/,
};
const LAST_VOWEL = /[aeıioöuü](?=[^aeıioöuü]*$)/;
const HARD: Readonly<Record<string, string>> = { b: "p", c: "ç", d: "t", ğ: "k" };
const NARROW: Readonly<Record<string, string>> = { a: "ı", ı: "ı", e: "i", i: "i", o: "u", u: "u", ö: "ü", ü: "ü" };

interface Suffix {
  readonly forms: Endings;
  readonly isHarmonic: boolean;
  /** A letter that may stand before it: a consonant between vowels, or a vowel (any `U`) between consonants. */
  readonly link: "n" | "s" | "y" | "U" | "";
}

function suffix(forms: string, link: Suffix["link"] = "", isHarmonic = true): Suffix {
  return { forms: endings(forms), isHarmonic, link };
}

const POSSESSIVE = suffix("mız miz muz müz nız niz nuz nüz m n", "U", false);
const SU = suffix("ı i u ü", "s");
const LARI = suffix("leri ları", "", false);
const YU = suffix("ı i u ü", "y");
const NU = suffix("nı ni nu nü");
const NUN = suffix("ın in un ün", "n");
const YA = suffix("a e", "y");
const NA = suffix("na ne");
const DA = suffix("da de ta te");
const NDA = suffix("nda nde");
const DAN = suffix("dan den tan ten");
const NDAN = suffix("ndan nden");
const YLA = suffix("la le", "y");
const KI = suffix("ki", "", false);
const NCA = suffix("ca ce", "n");
const YUM = suffix("ım im um üm", "y");
const SUN = suffix("sın sin sun sün");
const YUZ = suffix("ız iz uz üz", "y");
const SUNUZ = suffix("sınız siniz sunuz sünüz", "", false);
const LAR = suffix("ler lar");
const NUZ = suffix("nız niz nuz nüz");
const DUR = suffix("tır tir tur tür dır dir dur dür");
const CASINA = suffix("casına cesine", "", false);
const YDU = suffix(
  `tım tim tum tüm dım dim dum düm tın tin tun tün dın din dun dün tık tik tuk tük dık dik duk dük tı ti tu tü dı di du dü`,
  "y",
);
const YSA = suffix("sam san sak sem sen sek sa se", "y", false);
const YMUS = suffix("mış miş muş müş", "y");
const YKEN = suffix("ken", "y", false);
const PERSONS = [SUNUZ, LAR, YUM, SUN, YUZ];

export function stemTurkish(word: string): string {
  if (!/[aeıioöuü].*[aeıioöuü]/.test(word)) return word;
  const reader = new Reader(word);
  if (!reader.dropVerbSuffixes()) return reader.word;
  reader.dropNounSuffixes();
  return finished(reader.word);
}

/** A stem that ends in d or g gets a vowel; other soft consonants at the end become hard. */
function finished(stem: string): string {
  if (stem === "ad" || stem === "soyad") return stem;
  const vowel = LAST_VOWEL.exec(stem)?.[0];
  if (/[dg]$/.test(stem) && vowel !== undefined) return stem + NARROW[vowel];
  return respelled(stem, /[bcdğ]$/, HARD);
}

/** Where suffixes begin, what stands before them decides: see Suffix.link. */
function linked(before: string, link: Suffix["link"]): string | undefined {
  const last = before.at(-1) ?? "";
  const beforeLast = before.at(-2);
  const isLink = link === "U" ? U.test(last) : last === link;
  const isRight = beforeLast !== undefined && VOWEL.test(beforeLast) !== (link === "U");
  if (!isRight) return undefined;
  return isLink ? before.slice(0, -1) : before;
}

class Reader {
  word: string;
  /** How many letters at the end have been read, and from where on a drop drops them. */
  #read = 0;
  #from = 0;

  constructor(word: string) {
    this.word = word;
  }

  /** Reads one of the suffixes, the first that is there. */
  #reads(...suffixes: readonly Suffix[]): boolean {
    return suffixes.some((each) => this.#readsOne(each));
  }

  #readsOne({ forms, isHarmonic, link }: Suffix): boolean {
    const unread = this.word.slice(0, this.word.length - this.#read);
    if (isHarmonic && !isInHarmony(unread)) return false;
    const form = longestEnding(unread, forms);
    if (form === "") return false;
    const before = unread.slice(0, -form.length);
    const rest = link === "" ? before : linked(before, link);
    if (rest === undefined) return false;
    this.#read = this.word.length - rest.length;
    return true;
  }

  #begin(): true {
    this.#from = this.#read;
    return true;
  }

  #drop(): true {
    const end = this.word.length;
    this.word = this.word.slice(0, end - this.#read) + this.word.slice(end - this.#from);
    this.#read = this.#from;
    return true;
  }

  /** Whether a step succeeds; if not, its letters are unread. */
  #tries(step: () => boolean): boolean {
    const read = this.#read;
    if (step()) return true;
    this.#read = read;
    return false;
  }

  #either(...steps: readonly (() => boolean)[]): boolean {
    return steps.some((step) => this.#tries(step));
  }

  /** Begins at a suffix and drops it. */
  #drops(...suffixes: readonly Suffix[]): boolean {
    this.#begin();
    return this.#reads(...suffixes) && this.#drop();
  }

  /** Whether suffixes of nouns may follow. */
  dropVerbSuffixes(): boolean {
    this.#read = 0;
    this.#begin();
    let mayFollow = true;
    const isFound = this.#either(
      () => this.#reads(YMUS, YDU, YSA, YKEN),
      () => this.#reads(CASINA) && (this.#reads(...PERSONS) || true) && this.#reads(YMUS),
      () => {
        if (!this.#reads(LAR)) return false;
        this.#drop();
        this.#tries(() => this.#begin() && this.#reads(DUR, YDU, YSA, YMUS));
        mayFollow = false;
        return true;
      },
      () => this.#reads(NUZ) && this.#reads(YDU, YSA),
      () => {
        if (!this.#reads(SUNUZ, YUZ, SUN, YUM)) return false;
        this.#drop();
        this.#tries(() => this.#begin() && this.#reads(YMUS));
        return true;
      },
      () => {
        if (!this.#reads(DUR)) return false;
        this.#drop();
        this.#tries(() => this.#begin() && (this.#reads(...PERSONS) || true) && this.#reads(YMUS));
        return true;
      },
    );
    if (isFound) this.#drop();
    return mayFollow;
  }

  dropNounSuffixes(): void {
    this.#read = 0;
    const chain = (): boolean => this.#dropChainBeforeKi();
    this.#either(
      () => this.#drops(LAR) && (this.#tries(chain) || true),
      () => this.#drops(NCA) && (this.#either(() => this.#drops(LARI), this.#owned, this.#plural) || true),
      () => this.#begin() && this.#reads(NDA, NA) && this.#either(this.#droppedLari, this.#ownedByThird, chain),
      () => this.#begin() && this.#reads(NDAN, NU) && this.#either(this.#ownedByThird, () => this.#reads(LARI)),
      () => this.#drops(DAN) && (this.#tries(() => this.#afterAblative()) || true),
      () => this.#drops(NUN, YLA) && (this.#either(this.#plural, this.#owned, chain) || true),
      () => this.#drops(LARI),
      chain,
      () => this.#drops(DA, YU, YA) && (this.#tries(() => this.#afterDative()) || true),
      this.#owned,
    );
  }

  /** A plural's suffix, and a chain before it. */
  readonly #plural = (): boolean => this.#drops(LAR) && this.#dropChainBeforeKi();
  readonly #droppedLari = (): boolean => this.#reads(LARI) && this.#drop();
  /** A possessive, and perhaps a plural before it. */
  readonly #owned = (): boolean => this.#drops(POSSESSIVE, SU) && (this.#tries(this.#plural) || true);
  readonly #ownedByThird = (): boolean => this.#reads(SU) && this.#drop() && (this.#tries(this.#plural) || true);

  #afterAblative(): boolean {
    this.#begin();
    return this.#either(
      () => this.#reads(POSSESSIVE) && this.#drop() && (this.#tries(this.#plural) || true),
      () => this.#reads(LAR) && this.#drop() && (this.#tries(() => this.#dropChainBeforeKi()) || true),
      () => this.#dropChainBeforeKi(),
    );
  }

  #afterDative(): boolean {
    this.#begin();
    const isFound = this.#either(
      () => {
        if (!this.#reads(POSSESSIVE)) return false;
        this.#drop();
        this.#tries(() => this.#begin() && this.#reads(LAR));
        return true;
      },
      () => this.#reads(LAR),
    );
    return isFound && this.#drop() && this.#begin() && this.#dropChainBeforeKi();
  }

  /** -ki makes an adjective of a noun with a case, before which the suffixes of nouns begin again. */
  #dropChainBeforeKi(): boolean {
    this.#begin();
    const chain = (): boolean => this.#dropChainBeforeKi();
    if (!this.#reads(KI)) return false;
    return this.#either(
      () => {
        if (!this.#reads(DA)) return false;
        this.#drop();
        this.#tries(() => {
          this.#begin();
          return this.#either(
            () => this.#reads(LAR) && this.#drop() && (this.#tries(chain) || true),
            () => this.#reads(POSSESSIVE) && this.#drop() && (this.#tries(this.#plural) || true),
          );
        });
        return true;
      },
      () => {
        if (!this.#reads(NUN)) return false;
        this.#drop();
        this.#tries(() => this.#begin() && this.#either(this.#droppedLari, this.#owned, chain));
        return true;
      },
      () => this.#reads(NDA) && this.#either(this.#droppedLari, this.#ownedByThird, chain),
    );
  }
}

function isInHarmony(word: string): boolean {
  const last = LAST_VOWEL.exec(word);
  return last !== null && HARMONY[last[0]]?.test(word.slice(0, last.index)) === true;
}
