/** Random documents and queries out of a small vocabulary, so that they meet; from a seed, so that what failed can be run again. */
import type { Query } from "../query.ts";

export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0 || 1;
  }

  /** From 0 to below `end`. */
  below(end: number): number {
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    this.#state >>>= 0;
    return this.#state % end;
  }

  of<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }
}

export const WORDS =
  `lake lakes baking bake baker store stored storing library libraries red read reader ready run running the of and
  café cafe naïve straße 検索 東京都 全文検索 ประเทศไทย data database databases datum index indexes indexed key value don't 17 2026`
    .split(/\s+/)
    .filter((word) => word !== "");

export const TAGS = ["red", "green", "blue", "über"];

export function randomDocument(chance: Chance) {
  const text = (most: number): string =>
    Array.from({ length: chance.below(most) }, () => chance.of(WORDS)).join(chance.of([" ", " ", ", ", "-"]));
  return {
    title: text(6),
    body: text(30),
    ...(chance.below(4) === 0 ? {} : { tags: TAGS.filter(() => chance.below(2) === 0) }),
    ...(chance.below(4) === 0 ? {} : { price: chance.below(20) - 5 + chance.below(2) / 2 }),
    ...(chance.below(4) === 0 ? {} : { name: chance.of(["a", "b", "ab", "ä", "\u{1f600}", "\uffee", ""]) }),
  };
}

export function randomQuery(chance: Chance, depth = 0): Query {
  const field = chance.below(4) === 0 ? { field: chance.of(["title", "body"]) } : {};
  const boost = chance.below(6) === 0 ? { boost: chance.below(5) / 2 } : {};
  const kind = chance.below(depth > 2 ? 6 : 12);
  const several = () => Array.from({ length: 1 + chance.below(3) }, () => randomQuery(chance, depth + 1));
  switch (kind) {
    case 0:
    case 1:
      return { word: chance.of(WORDS), ...field, ...boost };
    case 2:
      return { prefix: chance.of(WORDS).slice(0, 1 + chance.below(5)), ...field, ...boost };
    case 3:
      return { fuzzy: misspelt(chance, chance.of(WORDS)), distance: chance.of([1, 2] as const), ...field };
    case 4:
      return {
        phrase: Array.from({ length: 1 + chance.below(3) }, () => chance.of(WORDS)).join(" "),
        ...field,
        ...boost,
      };
    case 5:
      return chance.of<Query>([
        { range: "price", min: chance.below(20) - 5, minExcluded: chance.below(2) === 0 },
        { range: "price", min: 0, max: chance.below(20), maxExcluded: chance.below(2) === 0 },
        { tags: "tags", any: TAGS.filter(() => chance.below(2) === 0) },
        { tags: "name", any: ["ab", "ä"] },
        { everything: true },
      ]);
    case 6:
    case 7:
      return { all: several() };
    case 8:
    case 9:
      return { any: several() };
    case 10:
      return { synonyms: [{ word: "library" }, { word: chance.of(["lake", "bake", "red"]) }, { prefix: "dat" }] };
    default:
      return { not: randomQuery(chance, depth + 1) };
  }
}

function misspelt(chance: Chance, word: string): string {
  const at = chance.below(word.length);
  return chance.of([word, word.slice(0, at) + word.slice(at + 1), `${word.slice(0, at)}x${word.slice(at)}`]);
}
