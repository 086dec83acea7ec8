/**
 * What an index knows of its documents: the fields, and how text becomes words. All processes that use an index must agree on
 * it; the first write records it, and a process that comes with another is refused.
 */
import { createHash } from "node:crypto";
import { integer, word } from "../../base/checks.ts";
import { InputError } from "../../base/errors.ts";
import { choice, defineOptions, flag, having, number, required } from "../../base/options.ts";
import { type Analyser, analyser, namedAnalyser } from "./analyser.ts";

/** A field of words. */
export interface TextField {
  /** Text, which is searched by its words. */
  readonly type: "text";
  /** How much a word in this field counts against one in another. 1 by default. */
  readonly weight?: number;
  /** How much a long field is held against its words: 0 not at all, 1 fully. 0.75 by default. */
  readonly b?: number;
  /** Keep the text, for `get`, `fields` and snippets. False by default. */
  readonly store?: boolean;
  /** How its text becomes words; the index's by default. */
  readonly analyser?: Analyser;
}

/** A field with a number. */
export interface NumberField {
  /** A number, for ranges, order, weights and facets. */
  readonly type: "number";
}

/** A field with a string that is compared as a whole. */
export interface StringField {
  /** A string, compared as bytes, for filters, order and facets. */
  readonly type: "string";
}

/** A field with a list of tags. */
export interface TagsField {
  /** Up to 256 tags, for filters and facets. */
  readonly type: "tags";
}

/** A field of the documents of an index. */
export type Field = TextField | NumberField | StringField | TagsField;

/** The fields of an index by name: 1 to 32. */
export type Fields = Readonly<Record<string, Field>>;

type ValueOf<F extends Field> = F extends TextField | StringField
  ? string
  : F extends NumberField
    ? number
    : readonly string[];

/** A document: a value for any of the fields. */
export type DocumentOf<F extends Fields> = { readonly [name in keyof F]?: ValueOf<F[name]> };

type ColumnNames<F extends Fields> = {
  [name in keyof F]: F[name] extends TextField ? never : name;
}[keyof F];

/** A change of fields that are no text; null takes a value away. */
export type PatchOf<F extends Fields> = { readonly [name in ColumnNames<F>]?: ValueOf<F[name]> | null };

/** What an index knows of its documents. */
export interface SchemaOptions<F extends Fields> {
  /** The fields by name. */
  readonly fields: F;
  /** How text becomes words, where a field does not say it for itself. English by default. */
  readonly analyser?: Analyser;
  /** Whether it is kept where words stand, for phrases (default true). Without, a phrase asks only for all of its words. */
  readonly positions?: boolean;
  /** How fast the worth of a repeated word levels off (default 1.2). */
  readonly k1?: number;
}

export interface TextColumn {
  readonly name: string;
  readonly weight: number;
  readonly b: number;
  readonly store: boolean;
  readonly analyser: Analyser;
}

export interface ValueColumn {
  readonly name: string;
  readonly type: "number" | "string" | "tags";
}

const MAX_FIELDS = 32;
const MAX_VALUE_BYTES = 65_535;
const MAX_TAGS = 256;
const NAME = /^[\p{L}_][\p{L}\p{N}_.-]*$/u;

const FIELD = defineOptions<Omit<TextField, "type"> & { readonly type: Field["type"] }>("SearchIndex.fields", {
  type: required(choice("text", "number", "string", "tags")),
  weight: number(0, 1e6),
  b: number(0, 1),
  store: flag,
  analyser: having("an analyser", "words"),
});

function checkField(name: string, field: Field): void {
  FIELD.check(field);
  const given = Object.keys(field).filter((option) => option !== "type");
  if (field.type !== "text" && given.length > 0)
    throw new InputError(`field "${name}" is of type "${field.type}": only text fields have ${given.join(", ")}`);
}

/**
 * The fields of an index, checked, and how text becomes words in it.
 *
 * @example
 * const schema = new Schema({ fields: { title: { type: "text" }, year: { type: "number" } } });
 * schema.textAt("title"); // → 0
 * schema.column("year"); // → { name: "year", type: "number" }
 * schema.sortable("year").type; // → "number"
 * schema.check({ title: "Tides", year: 2011 });
 */
export class Schema {
  /** The text fields, in order. */
  readonly text: readonly TextColumn[];
  /** The number, string and tags fields, in order. */
  readonly columns: readonly ValueColumn[];
  /** Whether it is kept where words stand. */
  readonly positions: boolean;
  /** How fast the worth of a repeated word levels off. */
  readonly k1: number;
  /** The same for two that understand each other. */
  readonly signature: string;
  /** What the signature stands for, kept with the index for programs that do not know it. */
  readonly description: string;
  readonly #textByName: ReadonlyMap<string, number>;
  readonly #columnByName: ReadonlyMap<string, ValueColumn>;

  constructor(options: SchemaOptions<Fields>) {
    const entries = Object.entries(options.fields);
    if (entries.length === 0 || entries.length > MAX_FIELDS) {
      throw new InputError(`an index has between 1 and ${MAX_FIELDS} fields`);
    }
    for (const [name, field] of entries) {
      checkName(name);
      checkField(name, field);
    }
    const standard = options.analyser ?? analyser();
    this.text = entries.flatMap(([name, field]) => (field.type === "text" ? [textColumn(name, field, standard)] : []));
    this.columns = entries.flatMap(([name, field]) => (field.type === "text" ? [] : [{ name, type: field.type }]));
    this.positions = options.positions ?? true;
    this.k1 = options.k1 ?? 1.2;
    this.#textByName = new Map(this.text.map(({ name }, at) => [name, at]));
    this.#columnByName = new Map(this.columns.map((column) => [column.name, column]));
    // Weights, b and k1 are no part of it: they are applied when asking, and each process may have its own.
    const agreed = {
      text: this.text.map(({ name, analyser: { name: by } }) => [name, by]),
      columns: this.columns.map(({ name, type }) => [name, type]),
      positions: this.positions,
    };
    this.description = JSON.stringify(agreed);
    this.signature = createHash("sha1").update(this.description).digest("base64url");
  }

  /** Where a text field stands in `text`; -1 if there is none of that name. */
  textAt(name: string): number {
    return this.#textByName.get(name) ?? -1;
  }

  /** The number, string or tags field of a name; undefined if there is none. */
  column(name: string): ValueColumn | undefined {
    return this.#columnByName.get(name);
  }

  /** The column, or an error that says what there is. */
  sortable(name: string): ValueColumn {
    const column = this.column(name);
    if (column === undefined) {
      const known = this.columns.map((each) => `"${each.name}"`).join(", ") || "none";
      throw new InputError(`there is no number, string or tags field "${name}" (there are: ${known})`);
    }
    return column;
  }

  /** Refuses a document with fields that are unknown or values that do not fit. */
  check(document: Readonly<Record<string, unknown>>): void {
    for (const [name, value] of Object.entries(document)) {
      if (value === undefined) continue;
      const column = this.column(name);
      if (column !== undefined) checkValue(column, value);
      else if (this.textAt(name) < 0) throw new InputError(`there is no field "${name}"`);
      else if (typeof value !== "string") throw new InputError(`field "${name}" must be a string`);
    }
  }
}

interface Description {
  readonly text: readonly [name: string, analyser: string][];
  readonly columns: readonly [name: string, type: ValueColumn["type"]][];
  readonly positions: boolean;
}

/** Options for an index of which only the description is known. Analysers that are not the usual ones of a language cannot be had. */
export function describedOptions(description: string): SchemaOptions<Fields> & { readonly isSearchable: boolean } {
  const { text, columns, positions }: Description = JSON.parse(description);
  const analysers = text.map(([name, by]) => ({ name, by, found: namedAnalyser(by) }));
  const fields = [
    ...analysers.map(
      ({ name, by, found }) => [name, { type: "text", analyser: found ?? unknownAnalyser(by) }] as const,
    ),
    ...columns.map(([name, type]) => [name, { type }] as const),
  ];
  return {
    fields: Object.fromEntries(fields),
    positions,
    isSearchable: analysers.every(({ found }) => found !== null),
  };
}

function unknownAnalyser(name: string): Analyser {
  const refuse = (): never => {
    throw new InputError(`the analyser "${name}" is not known here`);
  };
  return { name, words: refuse, fold: refuse };
}

function checkName(name: string): void {
  if (!NAME.test(name) || name.length > 64) {
    throw new InputError(
      `"${name}" cannot be the name of a field: a letter, then up to 63 letters, digits, "_", "-", "."`,
    );
  }
}

function textColumn(name: string, field: TextField, standard: Analyser): TextColumn {
  return {
    name,
    weight: field.weight ?? 1,
    b: field.b ?? 0.75,
    store: field.store ?? false,
    analyser: field.analyser ?? standard,
  };
}

export function checkValue({ name, type }: ValueColumn, value: unknown): void {
  if (type === "number") {
    if (typeof value !== "number" || !Number.isFinite(value))
      throw new InputError(`field "${name}" must be a finite number`);
  } else if (type === "string") {
    if (typeof value !== "string") throw new InputError(`field "${name}" must be a string`);
    if (value !== "") word(`field "${name}"`, value, MAX_VALUE_BYTES);
  } else {
    if (!Array.isArray(value)) throw new InputError(`field "${name}" must be a list of tags`);
    integer(`the number of tags in "${name}"`, value.length, 0, MAX_TAGS);
    for (const tag of value) word(`a tag in "${name}"`, tag, 256);
  }
}

export function ranged(what: string, value: number, least: number, most: number): number {
  if (typeof value !== "number" || !(value >= least && value <= most)) {
    throw new InputError(`${what} must be a number from ${least} to ${most}`);
  }
  return value;
}
