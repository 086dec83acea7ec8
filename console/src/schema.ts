/**
 * JSON schemas that carry the type of what they accept, so that a route's input is written once: Fastify validates with the
 * schema, the handler gets the type, and openapi.ts shows it. Schemas of answers are for the document only: a serialiser that
 * went by them would drop what they forget, instead of letting a test find it.
 */

declare const TYPE: unique symbol;
/** Under this a schema keeps the name that it has in the document. No keyword, so that validators do not see it. */
export const NAME: unique symbol = Symbol("name");

export interface Schema<T = unknown> {
  readonly [TYPE]?: T;
  readonly [NAME]?: string | undefined;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly [keyword: string]: unknown;
}

export type Typed<S> = S extends Schema<infer T> ? T : never;

type Fields = Readonly<Record<string, Schema>>;
type Required<F extends Fields, O extends keyof F> = { readonly [name in Exclude<keyof F, O>]: Typed<F[name]> };
type Optional<F extends Fields, O extends keyof F> = { readonly [name in O]?: Typed<F[name]> };

interface Text {
  readonly description?: string;
  readonly default?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
}

interface Amount {
  readonly description?: string;
  readonly default?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

export const string = (keywords: Text = {}): Schema<string> => ({ type: "string", ...keywords });
export const integer = (keywords: Amount = {}): Schema<number> => ({ type: "integer", ...keywords });
export const number = (keywords: Amount = {}): Schema<number> => ({ type: "number", ...keywords });
/** A time, as JSON has it. */
export const date = (description?: string): Schema<string> => ({
  type: "string",
  format: "date-time",
  ...(description && { description }),
});
export const boolean = (description?: string): Schema<boolean> => ({
  type: "boolean",
  ...(description && { description }),
});
export const anything = (description?: string): Schema => (description === undefined ? {} : { description });
/** What is nullable is another shape, and does not go by the name of this one. */
export const nullable = <T>(schema: Schema<T>): Schema<T | null> => ({
  ...schema,
  [NAME]: undefined,
  nullable: true,
  ...(Array.isArray(schema.enum) && { enum: [...schema.enum, null] }),
});
export const array = <T>(items: Schema<T>, keywords: { minItems?: number; maxItems?: number } = {}): Schema<T[]> => ({
  type: "array",
  items,
  ...keywords,
});
/** Two of a kind. */
export const pair = <T>(items: Schema<T>): Schema<[T, T]> => ({ type: "array", items, minItems: 2, maxItems: 2 });
export const oneOf = <const T extends string>(values: readonly T[], description?: string): Schema<T> => ({
  type: "string",
  enum: values,
  ...(description && { description }),
});

/** An object of these fields and no others; those named in `optional` may be left out. */
export function object<F extends Fields, const O extends keyof F & string = never>(
  fields: F,
  optional: readonly O[] = [],
): Schema<Required<F, O> & Optional<F, O>> {
  const left: readonly string[] = optional;
  return {
    type: "object",
    properties: fields,
    required: Object.keys(fields).filter((name) => !left.includes(name) && fields[name]!.default === undefined),
    additionalProperties: false,
  };
}

/** An object of some of these fields and no others. */
export const partial = <F extends Fields>(fields: F): Schema<Optional<F, keyof F>> =>
  object(fields, Object.keys(fields));

/** An object whose fields have any names. */
export const record = <T>(values: Schema<T>): Schema<Readonly<Record<string, T>>> => ({
  type: "object",
  additionalProperties: values,
});

export const either = <const S extends readonly Schema[]>(...schemas: S): Schema<Typed<S[number]>> => ({
  anyOf: schemas,
});

/** A shape that the document describes once, under this name, wherever it is used. */
export const named = <T>(name: string, schema: Schema<T>): Schema<T> => ({ ...schema, [NAME]: name });

/** A named shape inside itself. */
export const reference = <T = unknown>(name: string): Schema<T> => ({ $ref: `#/components/schemas/${name}` });
