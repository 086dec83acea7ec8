/** The keys of a row cache: one tag, since its schedule is one structure. Several caches spread over the nodes. */

import { tagged } from "../../base/keys.ts";
import { defineLayout } from "../../base/layout.ts";

defineLayout("row-cache");

export interface RowKeys {
  /** Sorted set: row by when it is due, in milliseconds. */
  readonly due: string;
  /** Hash: row → how often it is refreshed, in milliseconds. */
  readonly every: string;
  /** Hash: row → number of the last claim, while somebody refreshes it. */
  readonly claims: string;
  /** String: numbers of claims. */
  readonly next: string;
  /** String: the server's clock when rows were last claimed, in milliseconds. */
  readonly clock: string;
  /** Hash: row → how often in a row refreshing it has failed. */
  readonly failures: string;
  /** Beginning of the keys of rows: strings, the rows as JSON. */
  readonly rows: string;
}

export function rowKeys(prefix: string, name: string): RowKeys {
  const base = tagged(prefix, name, "row cache");
  return {
    due: `${base}:due`,
    every: `${base}:every`,
    claims: `${base}:claims`,
    next: `${base}:next`,
    clock: `${base}:clock`,
    failures: `${base}:failures`,
    rows: `${base}:row:`,
  };
}
