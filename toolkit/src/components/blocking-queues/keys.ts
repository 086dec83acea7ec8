/** The keys of a queue: one tag, since it is one structure. */

import { tagged } from "../../base/keys.ts";
import { defineLayout } from "../../base/layout.ts";

defineLayout("blocking-queues");

export interface LineKeys {
  /** List of values, or sorted set of values behind their numbers, by priority. Gone when it is empty. */
  readonly items: string;
  /** String: the number of the last value of a priority queue. Gone when it is empty. */
  readonly sequence: string;
  /** Channel: there is something to take, or room for something. */
  readonly channel: string;
}

export function lineKeys(prefix: string, name: string, what: string): LineKeys {
  const base = tagged(prefix, name, what);
  return { items: `${base}:items`, sequence: `${base}:sequence`, channel: `${base}:changes` };
}
