/** The keys of a table of views: one tag, since it is one ranking. */

import { tagged } from "../../base/keys.ts";
import { defineLayout } from "../../base/layout.ts";

defineLayout("views");

/** Sorted set: item by its decayed count, as of `epoch`. String: when `epoch` is, in milliseconds. */
export function viewKeys(prefix: string, name: string): { counts: string; epoch: string } {
  const base = tagged(prefix, name, "table of views");
  return { counts: `${base}:counts`, epoch: `${base}:epoch` };
}
