/** The keys of one latch, in one slot. */
import { tagged } from "../../base/keys.ts";
import { defineLayout } from "../../base/layout.ts";

defineLayout("latches");

export interface LatchKeys {
  /** Hash: how many there were, and how many are left. */
  readonly latch: string;
  /** Set: who has counted; never more than the latch began with. */
  readonly counted: string;
}

export function latchKeys(prefix: string, name: string): LatchKeys {
  const latch = tagged(prefix, name, "latch");
  return { latch, counted: `${latch}:counted` };
}

export function newsChannel({ latch }: LatchKeys): string {
  return `${latch}:news`;
}
