/** What a component promises when clocks are set, and how long tests wait for things to happen. */
import type { ClockedStore } from "../../kit/clocked-store.ts";

export interface Promised {
  readonly startMs?: number;
  check(world: ClockedStore, stepMs: number): Promise<void>;
}

type Check = Promised["check"];

export const promised = (check: Check, startMs?: number): Promised =>
  startMs === undefined ? { check } : { check, startMs };

export const LEASE_MS = 8_000;
export const DAY_MS = 86_400_000;
/** A step back is noticed to the second by what looks all the time … */
export const NOTICED_MS = 1_000;
/** … and by an idle worker of a queue when it looks next. */
export const LOOK_MS = 6_000;
