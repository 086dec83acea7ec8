/** What can be asked of any value, whatever its type. */

import { wordBytes } from "../core/word-column.ts";
import { Bytes, type StringValue, sizeOfString } from "./bytes.ts";
import type { TypeName } from "./collection.ts";
import type { StreamValue } from "./stream/index.ts";
import type { Value } from "./value.ts";

/** What a key costs beside its value: its word, its place in the table. */
export const keyBytes = (key: string) => wordBytes(key.length) + 24;

export function isCollection(value: Value): value is Exclude<Value, StringValue> {
  return typeof value === "object" && !(value instanceof Bytes);
}

/** Does not load what streams are made of, as `instanceof` would. */
export function isStream(value: Value): value is StreamValue {
  return typeOf(value) === "stream";
}

export function typeOf(value: Value): TypeName {
  return isCollection(value) ? value.type : "string";
}

export function sizeOf(value: Value): number {
  return isCollection(value) ? value.sizeBytes : sizeOfString(value);
}

/** What a key takes together with its value. */
export function sizeOfKey(key: string, value: Value): number {
  return keyBytes(key) + sizeOf(value);
}
