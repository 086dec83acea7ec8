/** One question about a key, from its asking to what all who share it get. */
import type { EntryKeys } from "./keys.ts";
import type { EntryOptions, Found, Loader } from "./types.ts";

/** One call for a key. */
export interface Asking<T> {
  readonly key: string;
  readonly keys: EntryKeys;
  /** Of the lease under which it loads. */
  readonly token: string;
  readonly load: Loader<T>;
  readonly options: EntryOptions;
}

/** What a loader has made. `kept`: the store took it, so nothing has happened to the key since the lease was taken. */
export interface Made<T> {
  readonly value: T;
  readonly fate: "kept" | "not kept" | "for its caller";
}

/** What one call has found, for all who share it. `isPrivate`: only for the one whose loader was called. */
export interface Shared<T> {
  readonly found: Found<T>;
  readonly isPrivate: boolean;
}

export function loaded<T>({ value }: { readonly value: T }): Found<T> {
  return { value, state: "loaded", ageMs: 0 };
}

export function shared<T>(made: Made<T>): Shared<T> {
  return { found: loaded(made), isPrivate: made.fate === "for its caller" };
}

/** Under which key the value of a key is kept for when making a new one fails. */
export const spareOf = (key: string): string => `${key}\0spare`;
