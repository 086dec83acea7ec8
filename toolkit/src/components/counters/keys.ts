/** The keys of a counter: one hash for each precision, together on one node. */

import { tagged } from "../../base/keys.ts";
import { defineLayout } from "../../base/layout.ts";

defineLayout("counters");

export interface CounterKeys {
  /** Hashes: start of a slice in milliseconds → count. Each expires when its last slice is older than what is kept. */
  readonly slices: readonly string[];
  /** String, short-lived: the last batch of a process that was counted, so that a repeated one is not. */
  batch(instance: string): string;
}

export function counterKeys(prefix: string, name: string, precisionsMs: readonly number[]): CounterKeys {
  const base = tagged(prefix, name, "counter");
  return {
    slices: precisionsMs.map((precision) => `${base}:${precision}`),
    batch: (instance) => `${base}:batch:${instance}`,
  };
}
