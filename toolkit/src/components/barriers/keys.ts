/** The keys of one barrier, in one slot. */
import { tagged } from "../../base/keys.ts";
import { defineLayout } from "../../base/layout.ts";

defineLayout("barriers");

export interface BarrierKeys {
  /** Hash: the last generation released, how many parties there are, how often it was reset, and the arrival of each named party. */
  readonly state: string;
  /** Zset: arrival → end of its lease. */
  readonly arrived: string;
  /** Zset: arrival → what became of it, for those that have not heard of it. */
  readonly outcomes: string;
}

export function barrierKeys(prefix: string, name: string): BarrierKeys {
  const state = tagged(prefix, name, "barrier");
  return { state, arrived: `${state}:arrived`, outcomes: `${state}:outcomes` };
}

export function newsChannel({ state }: BarrierKeys): string {
  return `${state}:news`;
}
