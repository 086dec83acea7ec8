/** Every key of a configuration, and the channel on which its changes are told. */

import { tagged } from "../../base/keys.ts";
import { defineLayout } from "../../base/layout.ts";

defineLayout("config");

export interface ConfigKeys {
  /** Hash: `version`, `value` (JSON), `at`, `by`, `token` of the last change. Stays. */
  readonly current: string;
  /** Stream, newest last: one entry for each change, bounded. */
  readonly audit: string;
  /** Published to: the new version. */
  readonly channel: string;
}

export function configKeys(prefix: string, name: string): ConfigKeys {
  const base = tagged(prefix, name, "configuration");
  return { current: base, audit: `${base}:audit`, channel: `${base}:changed` };
}

/** String, with a lifetime if the end is known: JSON of who switched maintenance on, and why. */
export function maintenanceKey(prefix: string, name: string): string {
  return tagged(`${prefix}:maintenance`, name, "service");
}
