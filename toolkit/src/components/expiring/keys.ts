/** The keys of a set or map whose elements expire: one tag each, since it is one structure. */

import { tagged } from "../../base/keys.ts";
import { defineLayout } from "../../base/layout.ts";

defineLayout("expiring");

export interface SetKeys {
  /** Sorted set: member by when it ends, in milliseconds; `NEVER` for one that does not. Expires with its last member. */
  readonly ends: string;
}

export interface MapKeys extends SetKeys {
  /** Hash: key → value. Expires with its last element. */
  readonly values: string;
}

export function setKeys(prefix: string, name: string): SetKeys {
  return { ends: `${tagged(prefix, name, "expiring set")}:ends` };
}

export function mapKeys(prefix: string, name: string): MapKeys {
  const base = tagged(prefix, name, "expiring map");
  return { ends: `${base}:ends`, values: `${base}:values` };
}
