/** Positions in the log: the ids of a Redis stream, `milliseconds-number`, which only grow. */
import { InputError } from "../../base/errors.ts";

const CURSOR = /^(\d{1,15})-(\d{1,15})$/;

/** Before everything. */
export const BEGINNING = "0-0";

/** Below 0, 0 or above 0, as in sorting. */
export function compareCursors(one: string, other: string): number {
  if (one === other) return 0;
  const a = one.indexOf("-");
  const b = other.indexOf("-");
  const byTime = Number(one.slice(0, a)) - Number(other.slice(0, b));
  return byTime !== 0 ? byTime : Number(one.slice(a + 1)) - Number(other.slice(b + 1));
}

export function isCursor(text: string): boolean {
  return CURSOR.test(text);
}

export function checkCursor(what: string, text: string): string {
  if (typeof text !== "string" || !isCursor(text)) throw new InputError(`${what} is no cursor that this stream gave`);
  return text;
}
