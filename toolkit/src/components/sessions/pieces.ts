/** The pieces of data that sessions have, each with its schema. */
import { InputError } from "../../base/errors.ts";
import { nearest } from "../../base/options.ts";
import { SchemaError, type StandardSchema, validated } from "../../base/schema.ts";

export class Pieces {
  readonly #schemas: ReadonlyMap<string, StandardSchema>;

  constructor(schemas: Readonly<Record<string, StandardSchema>>) {
    this.#schemas = new Map(Object.entries(schemas));
  }

  /** Throws for a piece that is to be stored and is not right. */
  check(name: string, value: unknown): void {
    const schema = this.#schemas.get(name);
    if (schema === undefined) {
      const near = nearest(name, [...this.#schemas.keys()]);
      throw new InputError(`sessions have no piece "${name}"${near === null ? "" : `; did you mean "${near}"?`}`);
    }
    validated(schema, value, `"${name}"`);
  }

  /** What the schemas make of stored data. What they refuse, an older or newer program has left there. */
  accepted(stored: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
    const data: Record<string, unknown> = {};
    for (const [name, schema] of this.#schemas) {
      if (!Object.hasOwn(stored, name)) continue;
      try {
        data[name] = validated(schema, stored[name], `"${name}"`);
      } catch (error) {
        if (!(error instanceof SchemaError)) throw error;
      }
    }
    return data;
  }
}
