/** The keys of a map that processes hold in memory: one tag, since a change and its version are one step. */

import { tagged } from "../../base/keys.ts";
import { defineLayout } from "../../base/layout.ts";

defineLayout("local-map");

export interface LocalMapKeys {
  /** Hash: key → value. Gone when it is empty. */
  readonly values: string;
  /** String: the version of the last change. Expires a day after the map was emptied. */
  readonly version: string;
  /** Channel: which keys a change was about, its version and the one before. */
  readonly channel: string;
}

export function localMapKeys(prefix: string, name: string): LocalMapKeys {
  const base = tagged(prefix, name, "local map");
  return { values: `${base}:values`, version: `${base}:version`, channel: `${base}:changes` };
}
