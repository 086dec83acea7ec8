/**
 * Russian. ё is е. Endings go within `rv`, what follows the first vowel: of a gerund, or of a reflexive and then of an adjective
 * (with a participle's before it), a verb or a noun; then the endings of abstract nouns and superlatives.
 */
import { Draft, type Endings, endings, longestEnding } from "./regions.ts";

const VOWELS = "аеиоуыэюя";
/** Endings that go only behind а or я, which stay; and others. */
interface Group {
  readonly all: Endings;
  readonly behindA: ReadonlySet<string>;
}

function group(behindA: string, others: string): Group {
  return { all: endings(`${behindA} ${others}`), behindA: new Set(behindA.split(" ")) };
}

const GERUNDS = group("в вши вшись", "ив ивши ившись ыв ывши ывшись");
const ADJECTIVES = endings("ее ие ые ое ими ыми ей ий ый ой ем им ым ом его ого ему ому их ых ую юю ая яя ою ею");
const PARTICIPLES = group("ем нн вш ющ щ", "ивш ывш ующ");
const REFLEXIVES = endings("ся сь");
const VERBS = group(
  "ла на ете йте ли й л ем н ло но ет ют ны ть ешь нно",
  `ила ыла ена ейте уйте ите или ыли ей уй ил ыл им ым ен ило ыло ено ят ует уют ит ыт ены ить ыть ишь ую ю`,
);
const NOUNS = endings(
  "а ев ов ие ье е иями ями ами еи ии и ией ей ой ий й иям ям ием ем ам ом о у ах иях ях ы ь ию ью ю ия ья я",
);
const ABSTRACTS = endings("ост ость");
const LAST = endings("ейш ейше н ь");

export function stemRussian(word: string): string {
  const plain = word.replaceAll("ё", "е");
  const firstVowel = plain.search(/[аеиоуыэюя]/);
  const draft = new Draft(plain, VOWELS, firstVowel < 0 ? plain.length : firstVowel + 1);
  if (!dropOf(draft, GERUNDS)) {
    draft.dropVerb(REFLEXIVES);
    if (draft.dropVerb(ADJECTIVES)) dropOf(draft, PARTICIPLES);
    else if (!dropOf(draft, VERBS)) draft.dropVerb(NOUNS);
  }
  draft.drop("и", draft.rv);
  const abstract = longestEnding(draft.word, ABSTRACTS, draft.rv);
  if (abstract !== "") draft.drop(abstract, draft.r2);
  dropLast(draft);
  return draft.word;
}

function dropOf(draft: Draft, { all, behindA }: Group): boolean {
  const ending = longestEnding(draft.word, all, draft.rv);
  if (ending === "") return false;
  const before = draft.word.length - ending.length - 1;
  if (behindA.has(ending) && !(before >= draft.rv && "ая".includes(draft.word.charAt(before)))) return false;
  return draft.drop(ending);
}

function dropLast(draft: Draft): void {
  const ending = longestEnding(draft.word, LAST, draft.rv);
  if (ending !== "н" && ending !== "") draft.drop(ending);
  const isDoubled = draft.word.endsWith("нн") && draft.word.length - 2 >= draft.rv;
  if (ending !== "ь" && ending !== "" && isDoubled) draft.drop("н");
}
