/** Shapes of answers that several routes share. Those of one file stand beside its routes. */
import {
  array,
  boolean,
  either,
  integer,
  named,
  nullable,
  number,
  object,
  reference,
  type Schema,
  string,
} from "./schema.ts";
import type { Text, Value } from "./values.ts";

/** Where there is nothing else to tell. */
export const DONE = named("Done", object({ ok: boolean() }));

const BYTES = object({ bytes: string({ description: "Bytes that are no text, as base64." }) });

export const TEXT: Schema<Text> = named("Text", either(string(), BYTES));

const PAIR = array(reference<Value>("Value"), { minItems: 2, maxItems: 2 }) as unknown as Schema<[Value, Value]>;

/** A reply of the store. */
export const VALUE: Schema<Value> = named(
  "Value",
  either(
    nullable(number()),
    string(),
    BYTES,
    object({ error: string() }),
    object({ map: array(PAIR) }),
    array(reference<Value>("Value")),
  ),
);

export const MILLISECONDS = "Milliseconds since 1970.";

/** Of a queue, by state. */
export const COUNTS = named(
  "JobCounts",
  object({
    waiting: integer(),
    delayed: integer(),
    active: integer(),
    done: integer(),
    dead: integer(),
    waitingForChildren: integer(),
    paused: boolean(),
  }),
);
