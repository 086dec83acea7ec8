/**
 * JSON schemas that carry the type of what they accept, so that a route's input is written once: Fastify validates with the
 * schema, the handler gets the type, and openapi.ts shows it.
 */

declare const TYPE: unique symbol;

export interface Schema<T = unknown> {
  readonly [TYPE]?: T;
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

interface Whole {
  readonly description?: string;
  readonly default?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

export const string = (keywords: Text = {}): Schema<string> => ({ type: "string", ...keywords });
export const integer = (keywords: Whole = {}): Schema<number> => ({ type: "integer", ...keywords });
export const boolean = (description?: string): Schema<boolean> => ({
  type: "boolean",
  ...(description && { description }),
});
export const nullable = <T>(schema: Schema<T>): Schema<T | null> => ({ ...schema, nullable: true }) as Schema<T | null>;
export const array = <T>(items: Schema<T>, keywords: { minItems?: number; maxItems?: number } = {}): Schema<T[]> => ({
  type: "array",
  items,
  ...keywords,
});
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
