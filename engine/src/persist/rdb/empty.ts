/** What reading a collection without elements gives: no such thing may exist, but files by old versions have had some. */
export const EMPTY = Symbol("empty");
export type Empty = typeof EMPTY;
