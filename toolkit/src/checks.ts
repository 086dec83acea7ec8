/** What callers pass in, checked before anything is written. Each returns the value, so that it can stand where it is used. */
import { InputError } from "./errors.ts";

export function integer(what: string, value: number, least: number, most: number = Number.MAX_SAFE_INTEGER): number {
  if (!Number.isSafeInteger(value) || value < least || value > most) {
    const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
    throw new InputError(`${what} must be an integer ${range}`);
  }
  return value;
}

/** Text that is not empty and takes no more than so many bytes. */
export function word(what: string, value: string, maxBytes = 1_024): string {
  if (typeof value !== "string" || value === "") throw new InputError(`${what} must be a non-empty string`);
  // No character takes more than three bytes for each of its units.
  if (value.length * 3 > maxBytes && Buffer.byteLength(value, "utf8") > maxBytes) {
    throw new InputError(`${what} must not be longer than ${maxBytes} bytes`);
  }
  return value;
}

export function oneOf<const T extends string>(what: string, value: string, allowed: readonly T[]): T {
  if (!(allowed as readonly string[]).includes(value)) {
    throw new InputError(`${what} must be ${allowed.map((each) => `"${each}"`).join(" or ")}`);
  }
  return value as T;
}
