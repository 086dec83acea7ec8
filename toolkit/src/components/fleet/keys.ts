/** Every key of a fleet. All but `fence` are in the home store, in one slot with the fleet's configuration. */

import { tagged } from "../../base/keys.ts";
import { defineLayout } from "../../base/layout.ts";
import { configKeys } from "../config/keys.ts";

defineLayout("fleet");

export interface FleetKeys {
  /** Hash of the configuration: `version` and `value`, the layout. */
  readonly current: string;
  /** Sorted set: the processes that use the fleet, by when their right to do so ends. */
  readonly members: string;
  /** Hash: process → the version of the layout that it follows, and for how long it may without being heard of (ms). */
  readonly seen: string;
  /** On each shard, string: the fence of the process that moves slots of this component. */
  fence(component: string): string;
  /** What every key of any fleet with this prefix begins with, on the shards too. Such keys are never moved. */
  readonly reserved: string;
}

export function fleetKeys(prefix: string, name: string): FleetKeys {
  const base = tagged(prefix, name, "fleet");
  return {
    current: configKeys(prefix, name).current,
    members: `${base}:members`,
    seen: `${base}:seen`,
    fence: (component) => `${base}:fence:${component}`,
    reserved: `${prefix}:`,
  };
}
