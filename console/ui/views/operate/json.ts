/**
 * JSON that loses nothing: numbers are as they were written, fields in the order in which they stand, and twice where they stand
 * twice. JSON.parse would round numbers past 2⁵³ and sort fields that look like numbers.
 */

export type Json =
  | { readonly kind: "object"; readonly entries: readonly (readonly [name: string, value: Json])[] }
  | { readonly kind: "array"; readonly items: readonly Json[] }
  | { readonly kind: "string"; readonly text: string }
  /** A number, true, false or null, as it was written. */
  | { readonly kind: "word"; readonly text: string };

const TOKEN =
  /\s*(?:([{}[\],:])|("[^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null))/y;
const MOST_DEPTH = 500;

class Reader {
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  whole(): Json {
    const value = this.#value(this.#next());
    if (this.#text.slice(this.#at).trim() !== "") throw new SyntaxError("text follows the end");
    return value;
  }

  #next(): string {
    TOKEN.lastIndex = this.#at;
    const match = TOKEN.exec(this.#text);
    if (match === null) throw new SyntaxError(`no JSON at ${this.#at}`);
    this.#at = TOKEN.lastIndex;
    return match[1] ?? match[2] ?? match[3]!;
  }

  #value(token: string): Json {
    if (token[0] === '"') return { kind: "string", text: JSON.parse(token) as string };
    if (token !== "{" && token !== "[") {
      if (/^[}\],:]$/.test(token)) throw new SyntaxError(`${token} stands in place of a value`);
      return { kind: "word", text: token };
    }
    if (++this.#depth > MOST_DEPTH) throw new SyntaxError("it is nested too deeply");
    const value: Json =
      token === "{"
        ? { kind: "object", entries: this.#list("}", (first) => this.#entry(first)) }
        : { kind: "array", items: this.#list("]", (first) => this.#value(first)) };
    this.#depth--;
    return value;
  }

  #entry(token: string): readonly [string, Json] {
    if (token[0] !== '"' || this.#next() !== ":") throw new SyntaxError("a field has no name");
    return [JSON.parse(token) as string, this.#value(this.#next())];
  }

  #list<T>(end: string, read: (first: string) => T): T[] {
    const found: T[] = [];
    let token = this.#next();
    if (token === end) return found;
    for (;;) {
      found.push(read(token));
      token = this.#next();
      if (token === end) return found;
      if (token !== ",") throw new SyntaxError("a comma is missing");
      token = this.#next();
    }
  }
}

/** Null where it is no JSON. */
export function readJson(text: string): Json | null {
  try {
    return new Reader(text).whole();
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
