/** The keys of a multi-map: one tag, since a step may touch a key, its values and the totals. */

import { tagged } from "../../base/keys.ts";
import { defineLayout } from "../../base/layout.ts";

defineLayout("multi-map");

export interface MultiMapKeys {
  /** Sorted set, all scores 0: the keys that have values, in the order of their bytes. */
  readonly keys: string;
  /** String: how many values there are in all. Gone when there are none. */
  readonly total: string;
  /** The beginning of the keys of values: a set or a list each. */
  readonly values: string;
}

export function multiMapKeys(prefix: string, name: string): MultiMapKeys {
  const base = tagged(prefix, name, "multi-map");
  return { keys: `${base}:keys`, total: `${base}:total`, values: `${base}:v:` };
}
