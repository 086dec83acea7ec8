/**
 * The language of queries. What people type is never an error: what makes no sense as an operator is text, what is not closed
 * ends at the end, and `notes` says so.
 *
 *   any    = all { ("OR" | "|") all }
 *   all    = group { ["AND"] group }
 *   group  = part { "+" part }                      synonyms: count as one word
 *   part   = ("-" | "NOT") part | "(" any ")" | [ field ":" ] value [ "^" boost ]
 *   value  = word | "*" (everything) | word "*" | word "~" [ 1 | 2 ] | '"' words '"'
 *          | "(" any ")" | "[" number "TO" number "]" | "{" tag { "|" tag } "}" | (">" | ">=" | "<" | "<=") number
 *
 * In a range `*` is no limit, and a round or curly bracket in the place of a square one leaves the limit itself out.
 */
import { PICTURES } from "../../text/scripts.ts";
import type { Query } from "./query.ts";
import type { Schema } from "./schema.ts";

/** What a query that was typed means. */
export interface Parsed {
  /** Null if there is nothing to look for. */
  readonly query: Query | null;
  /** What was not understood as written, for people. */
  readonly notes: readonly string[];
}

const MAX_UNITS = 8_192;
const MAX_PARTS = 256;
const MAX_DEPTH = 32;

const SPACE = /[\s\u3000]*/y;
const FIELD = /([\p{L}_][\p{L}\p{N}_.-]*):(?=\S)/uy;
const RANGE = /([[({])\s*(\S+)\s+TO\s+([^\s\])}]+)\s*([\])}])/iy;
const TAGS = /\{([^{}]*)\}?/y;
const COMPARED = /(>=|<=|>|<)\s*(-?[\d.]+(?:e[+-]?\d+)?)/iy;
const NUMBER = /-?[\d.]+(?:e[+-]?\d+)?(?=[\s)]|$)/iy;
const QUOTED = /["“”„]([^"“”]*)["“”]?/y;
const WORD = /[^\s()"“”|\u3000]+/y;
const SLOP = /~\d*/y;
const HAS_WORD = new RegExp(`[\\p{L}\\p{N}${PICTURES}]`, "u");
const BOOST = /\^(\d+(?:\.\d+)?)/y;

/**
 * Reads a query as people type it, for the fields of a schema. Never throws: what makes no sense is read as text, and `notes`
 * says so.
 *
 * @example
 * const schema = new Schema({ fields: { title: { type: "text" } } });
 * parseQuery("tea -green", schema).query; // → { all: [{ word: "tea" }, { not: { word: "green" } }] }
 */
export function parseQuery(text: string, schema: Schema, operator: "and" | "or" = "and"): Parsed {
  const parser = new Parser(text.slice(0, MAX_UNITS), schema, operator);
  if (text.length > MAX_UNITS) parser.notes.push(`only the first ${MAX_UNITS} characters of the query were read`);
  return { query: parser.whole(), notes: parser.notes };
}

class Parser {
  readonly notes: string[] = [];
  readonly #text: string;
  readonly #schema: Schema;
  readonly #operator: "and" | "or";
  #at = 0;
  #parts = 0;
  #depth = 0;

  constructor(text: string, schema: Schema, operator: "and" | "or") {
    this.#text = text;
    this.#schema = schema;
    this.#operator = operator;
  }

  whole(): Query | null {
    const queries: Query[] = [];
    for (;;) {
      const query = this.#any(undefined);
      if (query !== null) queries.push(query);
      if (this.#done()) return joined(queries, "all");
      // A bracket that nobody opened.
      this.#at++;
    }
  }

  #done(): boolean {
    this.#match(SPACE);
    return this.#at >= this.#text.length || this.#parts >= MAX_PARTS;
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found !== null) this.#at += found[0].length;
    return found;
  }

  /** Takes an operator if it stands here as a word of its own. */
  #takes(name: string): boolean {
    if (!this.#text.startsWith(name, this.#at)) return false;
    const next = this.#text[this.#at + name.length];
    if (name !== "|" && next !== undefined && !/[\s(]/.test(next)) return false;
    this.#at += name.length;
    return true;
  }

  #any(field: string | undefined): Query | null {
    const options: Query[] = [];
    do {
      const query = this.#all(field);
      if (query !== null) options.push(query);
      if (this.#done()) break;
    } while (this.#takes("OR") || this.#takes("|"));
    return joined(options, "any");
  }

  #all(field: string | undefined): Query | null {
    const parts: Query[] = [];
    for (;;) {
      if (this.#done() || this.#text[this.#at] === ")" || this.#text[this.#at] === "|") break;
      if (parts.length > 0) {
        const here = this.#at;
        if (this.#takes("OR")) {
          this.#at = here;
          break;
        }
        if (this.#takes("AND")) continue;
      }
      const part = this.#group(field);
      if (part !== null) parts.push(part);
    }
    if (this.#operator === "and") return joined(parts, "all");
    // Exclusions hold for all of it, whatever joins the rest.
    const exclusions = parts.filter((part) => "not" in part);
    const wanted = joined(
      parts.filter((part) => !("not" in part)),
      "any",
    );
    return joined(wanted === null ? exclusions : [wanted, ...exclusions], "all");
  }

  #group(field: string | undefined): Query | null {
    const first = this.#part(field);
    const synonyms: Query[] = [];
    for (;;) {
      this.#match(SPACE);
      if (this.#text[this.#at] !== "+") break;
      this.#at++;
      const synonym = this.#done() ? null : this.#part(field);
      if (synonym === null) continue;
      if (first !== null && isWordLike(first) && isWordLike(synonym)) synonyms.push(synonym);
      else if (first === null) return synonym;
      else {
        this.notes.push('"+" joins words, beginnings and misspelt words only; it was read as OR');
        return { any: [first, synonym] };
      }
    }
    return first === null || synonyms.length === 0 ? first : { synonyms: [first, ...synonyms] };
  }

  #part(field: string | undefined): Query | null {
    this.#match(SPACE);
    const sign = this.#text[this.#at];
    if (sign === "+") return null;
    const negated = /^-\S/.test(this.#text.slice(this.#at, this.#at + 2));
    if (negated) this.#at++;
    if (negated || this.#takes("NOT")) {
      const part = this.#done() ? null : this.#deeper(() => this.#part(field));
      return part === null ? null : { not: part };
    }
    const named = this.#field() ?? field;
    const value = this.#value(named);
    const boost = this.#match(BOOST);
    if (value === null || boost === null) return value;
    const factor = Math.min(Number(boost[1]), 1_000);
    return "word" in value || "prefix" in value || "fuzzy" in value || "phrase" in value
      ? { ...value, boost: factor }
      : value;
  }

  /** The name of a field that exists; anything else before a colon is text. */
  #field(): string | undefined {
    const here = this.#at;
    const name = this.#match(FIELD)?.[1];
    if (name === undefined) return undefined;
    if (this.#schema.textAt(name) >= 0 || this.#schema.column(name) !== undefined) return name;
    this.notes.push(`there is no field "${name}"; it was read as text`);
    this.#at = here;
    return undefined;
  }

  #deeper(read: () => Query | null): Query | null {
    if (this.#depth >= MAX_DEPTH) {
      if (this.#depth === MAX_DEPTH) this.notes.push(`more than ${MAX_DEPTH} brackets in each other were read as none`);
      return null;
    }
    this.#depth++;
    const query = read();
    this.#depth--;
    return query;
  }

  #value(field: string | undefined): Query | null {
    this.#parts++;
    if (this.#parts === MAX_PARTS) this.notes.push(`only the first ${MAX_PARTS} parts of the query were read`);
    const column = field === undefined ? undefined : this.#schema.column(field);
    if (column?.type === "number") return this.#number(column.name);
    if (column !== undefined) return this.#tags(column.name);
    if (this.#text[this.#at] === "(") {
      this.#at++;
      const query = this.#deeper(() => this.#any(field));
      this.#match(SPACE);
      if (this.#text[this.#at] === ")") this.#at++;
      return query;
    }
    const of = field === undefined ? {} : { field };
    const quoted = this.#match(QUOTED)?.[1];
    if (quoted !== undefined) {
      const slop = this.#match(SLOP)?.[0];
      if (slop !== undefined) {
        this.notes.push(
          `"${slop}" behind a phrase is not understood and was left out: its words have to stand together`,
        );
      }
      return quoted.trim() === "" ? null : { phrase: quoted, ...of };
    }
    return this.#word(of);
  }

  #word(of: { readonly field?: string }): Query | null {
    const raw = this.#match(WORD)?.[0];
    if (raw === undefined) {
      this.#at++;
      return null;
    }
    if (raw === "*") return { everything: true };
    const caret = raw.search(/\^\d+(?:\.\d+)?$/);
    const word = caret > 0 ? raw.slice(0, caret) : raw;
    this.#at -= raw.length - word.length;
    if (/[\p{L}\p{N}]\*$/u.test(word)) return { prefix: word.slice(0, -1), ...of };
    const [, fuzzy, distance] = /^(.*[\p{L}\p{N}])~([12]?)$/u.exec(word) ?? [];
    if (fuzzy !== undefined) return { fuzzy, distance: distance === "2" ? 2 : 1, ...of };
    const far = /[\p{L}\p{N}]~(\d+)$/u.exec(word)?.[1];
    if (far !== undefined) {
      this.notes.push(
        `"~${far}" is not understood: a misspelt word is at most 2 changes away; "${word}" was read as text`,
      );
    }
    return HAS_WORD.test(word) ? { word, ...of } : null;
  }

  #number(range: string): Query | null {
    const [, open, min, max, close] = this.#match(RANGE) ?? [];
    if (min !== undefined && max !== undefined) {
      return {
        range,
        ...limit("min", min),
        ...limit("max", max),
        ...(open === "[" ? {} : { minExcluded: true }),
        ...(close === "]" ? {} : { maxExcluded: true }),
      };
    }
    const [, sign, value] = this.#match(COMPARED) ?? [];
    if (sign !== undefined && Number.isFinite(Number(value))) {
      const end = sign.startsWith(">") ? "min" : "max";
      return { range, [end]: Number(value), ...(sign.length === 1 ? { [`${end}Excluded`]: true } : {}) };
    }
    const number = Number(this.#match(NUMBER)?.[0]);
    if (Number.isFinite(number)) return { range, min: number, max: number };
    this.#match(WORD);
    this.notes.push(`"${range}" is a number field: [1 TO 5], >=3 or 7 can follow it; what did was left out`);
    return null;
  }

  #tags(field: string): Query | null {
    const several = this.#match(TAGS)?.[1]?.split("|");
    const tags = several ?? [this.#match(QUOTED)?.[1] ?? this.#match(WORD)?.[0] ?? ""];
    const any = tags.map((tag) => tag.trim()).filter((tag) => tag !== "");
    return any.length === 0 ? null : { tags: field, any };
  }
}

function isWordLike(query: Query): boolean {
  return "word" in query || "prefix" in query || "fuzzy" in query;
}

function limit(end: "min" | "max", text: string): { readonly min?: number; readonly max?: number } {
  const value = Number(text);
  return text === "*" || Number.isNaN(value) ? {} : { [end]: value };
}

function joined(parts: readonly Query[], by: "all" | "any"): Query | null {
  const [first] = parts;
  if (first === undefined) return null;
  if (parts.length === 1) return first;
  return by === "all" ? { all: parts } : { any: parts };
}
