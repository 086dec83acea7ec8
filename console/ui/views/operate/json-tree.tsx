/**
 * JSON as a tree that loses nothing: numbers are shown as they were written, fields in the order in which they stand, and twice where
 * they stand twice. JSON.parse would round numbers past 2⁵³ and sort fields that look like numbers.
 */
import { useState } from "react";

export type Json =
  | { readonly kind: "object"; readonly entries: readonly (readonly [name: string, value: Json])[] }
  | { readonly kind: "array"; readonly items: readonly Json[] }
  | { readonly kind: "string"; readonly text: string }
  /** A number, true, false or null, as it was written. */
  | { readonly kind: "word"; readonly text: string };

const TOKEN =
  /\s*(?:([{}[\],:])|("[^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*")|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null))/y;
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

/** The same text with indents; every number and name as it was. */
export function indented(json: Json, depth = 0): string {
  if (json.kind === "word") return json.text;
  if (json.kind === "string") return JSON.stringify(json.text);
  const [open, close] = json.kind === "object" ? "{}" : "[]";
  const parts =
    json.kind === "object"
      ? json.entries.map(([name, value]) => `${JSON.stringify(name)}: ${indented(value, depth + 1)}`)
      : json.items.map((value) => indented(value, depth + 1));
  if (parts.length === 0) return `${open}${close}`;
  const space = "  ".repeat(depth + 1);
  return `${open}\n${parts.map((part) => space + part).join(",\n")}\n${"  ".repeat(depth)}${close}`;
}

const STEP = 100;
/** Levels that are open at first, where they are small. */
const OPEN_DEPTH = 3;
const OPEN_SIZE = 50;

function Leaf({ json }: { json: Json & { kind: "string" | "word" } }) {
  if (json.kind === "string") return <span className="json-string">{JSON.stringify(json.text)}</span>;
  return <span className={/^[tfn]/.test(json.text) ? "json-word" : "json-number"}>{json.text}</span>;
}

function Branch({ name, json, depth }: { name: string | null; json: Json; depth: number }) {
  const parts: readonly (readonly [string | null, Json])[] =
    json.kind === "object"
      ? json.entries
      : json.kind === "array"
        ? json.items.map((item, at) => [String(at), item])
        : [];
  const [isOpen, setOpen] = useState(depth < OPEN_DEPTH && parts.length <= OPEN_SIZE);
  const [count, setCount] = useState(STEP);
  const label = name !== null && <span className="json-name">{name}</span>;
  if (json.kind === "string" || json.kind === "word") {
    return (
      <li>
        {label}
        <Leaf json={json} />
      </li>
    );
  }
  const size = json.kind === "object" ? `{ ${parts.length} }` : `[ ${parts.length} ]`;
  if (parts.length === 0) {
    return (
      <li>
        {label}
        <span className="dim">{size}</span>
      </li>
    );
  }
  return (
    <li>
      <button type="button" className="json-fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {label}
        <span className="dim">{size}</span>
      </button>
      {isOpen && (
        <ul>
          {parts.slice(0, count).map(([part, value], at) => (
            <Branch key={at} name={part} json={value} depth={depth + 1} />
          ))}
          {parts.length > count && (
            <li>
              <button type="button" className="small" onClick={() => setCount(count + STEP)}>
                {`Show ${Math.min(STEP, parts.length - count)} more of ${parts.length}`}
              </button>
            </li>
          )}
        </ul>
      )}
    </li>
  );
}

export function JsonTree({ json }: { json: Json }) {
  return (
    <ul className="json" aria-label="JSON">
      <Branch name={null} json={json} depth={0} />
    </ul>
  );
}
