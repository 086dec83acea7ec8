/**
 * A command line with placeholders, made once into what renders a request quickly. Text is latin1: one character, one byte.
 *
 *   __key__    a key of the benchmark's own: its prefix and a random number below --keys
 *   __rand__   a random number below --keys; __rand:100__ one below 100; __rand_int__ as redis-benchmark has it, 12 digits
 *   __seq__    1, 2, 3 …
 *   __data__   a value of --value-bytes
 */
import { UsageError } from "../../options.ts";
import type { Chance } from "./chance.ts";
import type { BenchKeys } from "./keys.ts";

export interface Request {
  readonly bytes: string;
  /** The first key, which decides the node of a Cluster; "" for none. */
  readonly key: string;
}

export interface Surroundings {
  readonly keys: BenchKeys;
  readonly chance: Chance;
  readonly value: string;
}

type Part = (isSameKey: boolean) => string;

const PLACEHOLDER = /__(key|rand|rand_int|seq|data|rand:\d{1,9})__/;
const LIKE_PLACEHOLDER = /__[a-z_]+(?::\w*)?__/i;

export const isOwnKey = (word: string): boolean => word.startsWith("__key__") && !LIKE_PLACEHOLDER.test(word.slice(7));

/** `keysAt`: which words are keys. */
export class Template {
  readonly #head: string;
  readonly #words: readonly (string | readonly (string | Part)[])[];
  readonly #keyAt: number;
  #sequence = 0;

  constructor(words: readonly string[], keysAt: readonly number[], around: Surroundings) {
    this.#head = `*${words.length}\r\n`;
    this.#words = words.map((word) => this.#compiled(word, around));
    this.#keyAt = keysAt[0] ?? -1;
    for (const at of keysAt) if (isOwnKey(words[at]!)) around.keys.addEnding(words[at]!.slice(7));
  }

  #compiled(word: string, around: Surroundings): string | readonly (string | Part)[] {
    if (!LIKE_PLACEHOLDER.test(word)) return word;
    const parts: (string | Part)[] = [];
    let rest = word;
    for (let found = PLACEHOLDER.exec(rest); found !== null; found = PLACEHOLDER.exec(rest)) {
      if (found.index > 0) parts.push(rest.slice(0, found.index));
      parts.push(this.#part(found[1]!, around));
      rest = rest.slice(found.index + found[0].length);
    }
    if (LIKE_PLACEHOLDER.test(rest)) {
      throw new UsageError(`'${LIKE_PLACEHOLDER.exec(rest)![0]}' is no placeholder (${PLACEHOLDERS.join(", ")})`);
    }
    if (rest !== "") parts.push(rest);
    return parts;
  }

  #part(name: string, { keys, chance, value }: Surroundings): Part {
    if (name === "key") return (isSame) => keys.draw(isSame);
    if (name === "data") return () => value;
    if (name === "seq") return () => String(++this.#sequence);
    if (name === "rand_int") return () => String(chance.below(keys.count)).padStart(12, "0");
    const bound = name === "rand" ? keys.count : Number(name.slice(5));
    return () => String(chance.below(bound));
  }

  /** `isSameKey`: with the key of the request before. */
  next(isSameKey = false): Request {
    let bytes = this.#head;
    let key = "";
    for (const [at, word] of this.#words.entries()) {
      const text = typeof word === "string" ? word : rendered(word, isSameKey);
      if (at === this.#keyAt) key = text;
      bytes += `$${text.length}\r\n${text}\r\n`;
    }
    return { bytes, key };
  }
}

const rendered = (parts: readonly (string | Part)[], isSameKey: boolean): string => {
  let text = "";
  for (const part of parts) text += typeof part === "string" ? part : part(isSameKey);
  return text;
};

export const PLACEHOLDERS = ["__key__", "__rand__", "__rand:N__", "__rand_int__", "__seq__", "__data__"];
