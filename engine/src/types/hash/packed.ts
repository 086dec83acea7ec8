/**
 * A small hash: field, value, field, value … in one packed string (types/packed.ts), in the order in which the fields came.
 * A field that is set again keeps its place, as in Redis's listpack; HGETALL shows that order.
 */
import { append, entry, find, isWordAt, skip, splice, wordAt, wordStart } from "../packed.ts";

/** Where a field's entry begins, or -1. */
export function findField(packed: string, field: string): number {
  return find(packed, field, 2);
}

/** The value of the field whose entry begins at `at`. */
export function valueAt(packed: string, at: number): string {
  return wordAt(packed, skip(packed, at));
}

/** How long that value is. */
export function valueLengthAt(packed: string, at: number): number {
  const value = skip(packed, at);
  return skip(packed, value) - wordStart(packed, value);
}

/** The hash with another value for the field whose entry begins at `at`. */
export function replaceValue(packed: string, at: number, value: string): string {
  const from = skip(packed, at);
  if (isWordAt(packed, from, value)) return packed;
  const start = wordStart(packed, from);
  const to = skip(packed, from);
  // The same length: the header stays, and nothing moves.
  return to - start === value.length ? splice(packed, start, to, value) : splice(packed, from, to, entry(value));
}

/** The hash with a field that it did not have. */
export function addField(packed: string, field: string, value: string): string {
  return append(packed, entry(field) + entry(value));
}

/** The hash without the field whose entry begins at `at`. */
export function removeField(packed: string, at: number): string {
  return splice(packed, at, skip(packed, skip(packed, at)), "");
}
