/**
 * Values that a schema checks, by the interface that validation libraries share (https://standardschema.dev): zod, valibot, arktype
 * and others work as they are. The types below are that interface; nothing of it needs to be installed.
 *
 * What a caller gives is stored once the schema has accepted it, and a reader gets what the schema makes of it: defaults,
 * coerced dates, transformed fields. So a schema never meets its own output, and the reader's type holds whatever an older or newer
 * program has stored.
 */
import type { Codec } from "./codec.ts";
import { CinnabarError, InputError, messageOf } from "./errors.ts";

/** A schema of any library that implements Standard Schema, version 1. */
export interface StandardSchema<Input = unknown, Output = Input> {
  /** What the interface prescribes: the version, the name of the library, and `validate`, which must answer at once. */
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** What a schema answers: the value that it has made, or what it has against the one given. */
export type SchemaResult<Output> =
  | {
      /** What the schema has made of the value: with defaults, coerced, transformed. */
      readonly value: Output;
      /** What is wrong; undefined where the value is accepted. */
      readonly issues?: undefined;
    }
  | {
      /** What is wrong; undefined where the value is accepted. */
      readonly issues: readonly SchemaIssue[];
    };

/** What a schema has against a value. */
export interface SchemaIssue {
  /** What is wrong, in the words of the schema's library. */
  readonly message: string;
  /** Where in the value: property names and indexes, from the outside in. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** What may be given to a schema. */
export type InferInput<S extends StandardSchema> = NonNullable<S["~standard"]["types"]>["input"];
/** What a schema makes of a value that it accepts. */
export type InferOutput<S extends StandardSchema> = NonNullable<S["~standard"]["types"]>["output"];

/** A schema has refused a value: one that was to be stored, or one that is stored. `issues` says why. */
export class SchemaError extends CinnabarError {
  override readonly name = "SchemaError";
  /** What is wrong, in the order of the schema. */
  readonly issues: readonly SchemaIssue[];

  constructor(what: string, issues: readonly SchemaIssue[]) {
    super("SCHEMA", `${what} does not match its schema: ${issues.map(described).join("; ")}`);
    // Some libraries have lists of a class of their own, with everything about the value in them.
    this.issues = Array.from(issues, ({ message, path }) => ({ message, path }));
  }
}

/** So many characters of a path: names in it may be the caller's. */
const MAX_PATH = 100;

function described({ message, path = [] }: SchemaIssue): string {
  const keys = path.map((each) => String(typeof each === "object" ? each.key : each));
  return keys.length === 0 ? message : `${keys.join(".").slice(0, MAX_PATH)}: ${message}`;
}

/** What the schema makes of a value; `what` names it in the message. */
export function validated<Output>(schema: StandardSchema<unknown, Output>, value: unknown, what: string): Output {
  const result = schema["~standard"].validate(value);
  if (result instanceof Promise) {
    // Nobody waits for it: its failure is not to end the program.
    result.catch(() => {});
    throw new InputError(`the schema of ${what} answers with a promise; only schemas that answer at once can be used`);
  }
  if (result.issues !== undefined) throw new SchemaError(what, result.issues);
  return result.value;
}

/** A codec that lets through only what the schema accepts, in both directions. */
export class ValidatingCodec<Output, Input> implements Codec<Output, Input> {
  readonly binary: boolean;
  /** The one beneath, which takes anything. */
  readonly plain: Codec<unknown>;
  readonly #schema: StandardSchema<Input, Output>;
  readonly #what: string;

  constructor(plain: Codec<unknown>, schema: StandardSchema<Input, Output>, what: string) {
    this.binary = plain.binary;
    this.plain = plain;
    this.#schema = schema;
    this.#what = what;
  }

  /** What the schema makes of a value. */
  check(value: unknown): Output {
    return validated(this.#schema, value, this.#what);
  }

  encode(value: Input): string | Uint8Array {
    this.check(value);
    return this.plain.encode(value);
  }

  decode(stored: string | Buffer): Output {
    return this.check(this.plain.decode(stored));
  }
}

/**
 * For values that are given back as they came, in one type: what the schema makes of a value is stored, and it must accept that again.
 * The first value shows whether it does; otherwise every value would be refused when it is read.
 */
export class GuardingCodec<T> implements Codec<T> {
  readonly binary: boolean;
  readonly #plain: Codec<T>;
  readonly #schema: StandardSchema<unknown, T>;
  readonly #what: string;
  #isProved = false;

  constructor(plain: Codec<T>, schema: StandardSchema<unknown, T>, what: string) {
    this.binary = plain.binary;
    this.#plain = plain;
    this.#schema = schema;
    this.#what = what;
  }

  check(value: unknown): T {
    return validated(this.#schema, value, this.#what);
  }

  encode(value: T): string | Uint8Array {
    const stored = this.#plain.encode(this.check(value));
    if (!this.#isProved) this.#prove(stored);
    return stored;
  }

  decode(stored: string | Buffer): T {
    return this.check(this.#plain.decode(stored));
  }

  #prove(stored: string | Uint8Array): void {
    try {
      this.decode(typeof stored === "string" ? stored : Buffer.from(stored));
    } catch (cause) {
      const why = "the schema must accept what is read back, which its own output has become in the store";
      throw new InputError(`${this.#what} could never be read: ${why} (${messageOf(cause)})`, { cause });
    }
    this.#isProved = true;
  }
}
