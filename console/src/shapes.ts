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
  pair,
  reference,
  type Schema,
  string,
} from "./schema.ts";
import type { Text, Value } from "./values.ts";

/** Where there is nothing else to tell. */
export const DONE = named("Done", object({ ok: boolean() }));

const BYTES = object({ bytes: string({ description: "Bytes that are no text, as base64." }) });

export const TEXT: Schema<Text> = named("Text", either(string(), BYTES));

const PAIR = pair(reference<Value>("Value"));

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
