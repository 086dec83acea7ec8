/** The keys of an index. All share its tag: an index lives on one node, and indexes (or shards of one) spread over a Cluster. */

import { tagged } from "../../base/keys.ts";
import { defineLayout } from "../../base/layout.ts";

defineLayout("search");

export interface IndexKeys {
  readonly base: string;
  /** Hash: `s` and `f` the fields, hashed and described; `e` this life of the index, `v` its version, `n` the next document number, `count` of documents. */
  readonly meta: string;
  /** Log: document number → id and lengths of its text fields. */
  readonly docs: string;
  /** Log: which words there are. */
  readonly words: string;
  /** Hash: log → bytes in it that no longer count. Logs without any are not in it. */
  readonly waste: string;
  /** List: numbers of removed documents, for new ones. */
  readonly free: string;
  /** Hash: number that is no document, or not yet, though words name it → what becomes of it (large-scripts.ts). */
  readonly ghosts: string;
}

export function indexKeys(prefix: string, name: string): IndexKeys {
  const base = tagged(prefix, name, "search index");
  return {
    base,
    meta: `${base}:meta`,
    docs: `${base}:docs`,
    words: `${base}:words`,
    waste: `${base}:waste`,
    free: `${base}:free`,
    ghosts: `${base}:ghosts`,
  };
}

/** Log: document number → how often, in which fields and where the word stands. */
export const wordKey = (base: string, word: string): string => `${base}:w:${word}`;

/** Log: document number → the value of a number, string or tags field. */
export const columnKey = (base: string, field: string): string => `${base}:c:${field}`;

/** String: what is kept of a document: its number, version, words, and the fields to give back. */
export const documentKey = (base: string, id: string): string => `${base}:d:${id}`;

/** String: the record of a ghost. */
export const ghostKey = (base: string, number: number): string => `${base}:s:${number}`;

/** List: an answer, kept for paging. */
export const resultKey = (base: string, id: string): string => `${base}:r:${id}`;

/** String: the id of the last answer to a query. */
export const queryKey = (base: string, hash: string): string => `${base}:q:${hash}`;

/** String: a document was removed while documents move from shard to shard. */
export const goneKey = (base: string, id: string): string => `${base}:gone:${id}`;
