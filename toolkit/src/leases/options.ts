/** The options that everything with a lease has. */
import { type Checks, flag, patience, signal, whole } from "../base/options.ts";
import type { Confirmation } from "./confirm.ts";
import type { AcquireOptions } from "./permits.ts";

/** How long a lease may be depends on how long fences are remembered: leases/permits.ts. */
const SHORTEST_LEASE_MS = 10;
const MOST_WAITING = 100_000_000;

export const acquiring: Checks<AcquireOptions> = {
  leaseMs: whole(SHORTEST_LEASE_MS),
  waitMs: patience,
  signal,
  renew: flag,
};

export const resuming: Checks<{ readonly renew?: boolean }> = { renew: flag };

/** Of the objects that give leases. */
export const leasing = {
  leaseMs: whole(SHORTEST_LEASE_MS),
  waitMs: patience,
  maxWaiting: whole(1, MOST_WAITING),
  keepFenceMs: whole(2 * SHORTEST_LEASE_MS),
};

export const confirming: Checks<Partial<Confirmation>> = {
  replicas: whole(1, 1_000),
  timeoutMs: whole(1),
  otherwise: { expected: '"fail" or "accept"', accepts: (value) => value === "fail" || value === "accept" },
};
