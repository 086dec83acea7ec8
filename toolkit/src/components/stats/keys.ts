/** The keys of statistics: the running hour and the one before, for each context and type. */

import { tagged } from "../../base/keys.ts";
import { defineLayout } from "../../base/layout.ts";

defineLayout("stats");

/** Hashes: `hour`, `count`, `min`, `max`, `mean`, `m2`, and `b<index>` for each bucket of the sketch. Both expire. */
export function statKeys(prefix: string, context: string, type: string): { current: string; last: string } {
  const base = tagged(`${prefix}:${type}`, context, "context");
  return { current: `${base}:current`, last: `${base}:last` };
}

/** Sorted sets: contexts by their mean time in milliseconds, this hour and the last; string: which hour this is. */
export function slowestKeys(prefix: string): { current: string; last: string; hour: string } {
  const base = `${prefix}:{slowest}`;
  return { current: `${base}:current`, last: `${base}:last`, hour: `${base}:hour` };
}
