/// <reference lib="es2024.string" />
/** What callers pass in, checked before anything is written. Each returns the value, so that it can stand where it is used. */
import { InputError } from "./errors.ts";

export function integer(what: string, value: number, least: number, most: number = Number.MAX_SAFE_INTEGER): number {
  if (!Number.isSafeInteger(value) || value < least || value > most) {
    const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
    throw new InputError(`${what} must be an integer ${range}, not ${seen(value)}`);
  }
  return value;
}

/** Text that is not empty and takes no more than so many bytes. */
export function word(what: string, value: string, maxBytes = 1_024): string {
  if (typeof value !== "string" || value === "") {
    throw new InputError(`${what} must be a non-empty string, not ${seen(value)}`);
  }
  wellFormed(what, value);
  // No character takes more than three bytes for each of its units.
  if (value.length * 3 > maxBytes && Buffer.byteLength(value, "utf8") > maxBytes) {
    throw new InputError(`${what} must not be longer than ${maxBytes} bytes`);
  }
  return value;
}

export function oneOf<const T extends string>(what: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((each) => each === value);
  if (found === undefined) {
    throw new InputError(`${what} must be ${allowed.map((each) => `"${each}"`).join(" or ")}, not ${seen(value)}`);
  }
  return found;
}

/** Text with half of a surrogate pair has no encoding in UTF-8: what is read later would be another text. */
export function wellFormed(what: string, value: string): string {
  if (!isWellFormed(value)) {
    throw new InputError(
      `${what} contains a lone surrogate, which UTF-8 cannot encode; text.toWellFormed() replaces it`,
    );
  }
  return value;
}

/** At once for text that V8 keeps in one byte for each character. */
export function isWellFormed(value: string): boolean {
  return value.isWellFormed();
}

/** What somebody wrote instead of a store; `owner` begins the message. */
export function aStore<S extends object>(owner: string, store: S): S {
  const given: unknown = store;
  if (typeof given === "object" && given !== null) {
    if ("run" in given && "pipeline" in given && "clock" in given) return store;
    if ("then" in given) throw new InputError(`${owner} needs a store and got a promise: write "await open()"`);
    const isClient = "sendCommand" in given || ("connect" in given && "listen" in given);
    if (isClient) {
      throw new InputError(`${owner} needs a store and got a client: "await open(client)" makes one of it`);
    }
  }
  throw new InputError(`${owner} needs a store, as "await open()" gives it, and got ${seen(given)}`);
}

/**
 * The words of a command: text, numbers, bigints and bytes. Nothing else has one obvious form: `undefined` would be stored as
 * "undefined" and an object as "[object Object]". Infinity is a score and a bound in Redis; NaN is nothing.
 */
export function sendable(words: readonly unknown[]): void {
  for (let at = 0; at < words.length; at++) {
    if (!isSendable(words[at])) throw unsendable(`word ${at + 1} of ${seen(words[0])}`, words[at]);
  }
}

export function isSendable(word: unknown): boolean {
  switch (typeof word) {
    case "string":
      return isWellFormed(word);
    case "number":
      return !Number.isNaN(word);
    case "bigint":
      return true;
    default:
      return word instanceof Uint8Array;
  }
}

export function unsendable(what: string, word: unknown): InputError {
  if (typeof word === "string") {
    return new InputError(
      `${what} contains a lone surrogate, which UTF-8 cannot encode; text.toWellFormed() replaces it`,
    );
  }
  return new InputError(`${what} must be a string, a number, a bigint or a Uint8Array, not ${seen(word)}`);
}

const LONGEST_SEEN = 40;

/** A value as messages show it. */
export function seen(value: unknown): string {
  if (typeof value === "string") {
    return JSON.stringify(value.length > LONGEST_SEEN ? `${value.slice(0, LONGEST_SEEN)}…` : value);
  }
  if (typeof value === "function") return "a function";
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === "object" && value !== null) return `an object (${value.constructor?.name ?? "Object"})`;
  if (typeof value === "bigint") return `${value}n`;
  return Object.is(value, -0) ? "-0" : String(value);
}
