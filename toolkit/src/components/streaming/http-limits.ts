/**
 * How often and how many times at once somebody may connect, over all processes: for each user and for each address. How often is
 * a rate limit, how many at once are permits of a semaphore, which come free when their process dies.
 */

import { InputError } from "../../base/errors.ts";
import { defineOptions, either, none, whole } from "../../base/options.ts";
import type { Store } from "../../connection/store.ts";
import { RateLimits } from "../rate-limits/index.ts";
import { type Lease, Semaphores } from "../semaphores/index.ts";
import { tooMany } from "./http-request.ts";

/** Null: no limit. */
export interface StreamLimits {
  /** How often a user may connect in a minute (default 30). */
  readonly connectsPerMinutePerUser?: number | null;
  /** How often an address may connect in a minute (default 60). */
  readonly connectsPerMinutePerAddress?: number | null;
  /** Connections of a user at once (default 5). */
  readonly connectionsPerUser?: number | null;
  /** Connections of an address at once (default 20). */
  readonly connectionsPerAddress?: number | null;
}

const limit = either(whole(1), none);

export const LIMIT_OPTIONS = defineOptions<StreamLimits>("StreamEndpoint.limits", {
  connectsPerMinutePerUser: limit,
  connectsPerMinutePerAddress: limit,
  connectionsPerUser: limit,
  connectionsPerAddress: limit,
});

type Kind = "user" | "address";

const LEASE_MS = 60_000;

/** The places that a connection holds. */
export interface Places {
  /** Called when a place was lost and could not be had again. */
  onLost: () => void;
  released: boolean;
  release(): void;
}

export class Limits {
  readonly #connects: Readonly<Record<Kind, RateLimits | null>>;
  readonly #connections: Readonly<Record<Kind, Semaphores | null>>;

  constructor(store: Store, prefix: string, limits: StreamLimits) {
    const limiter = (kind: Kind, limit: number | null): RateLimits | null =>
      limit === null
        ? null
        : new RateLimits(store, {
            name: kind,
            rules: { limit, windowMs: 60_000, algorithm: "fixed" },
            prefix: `${prefix}:connects`,
          });
    const semaphores = (kind: Kind, limit: number | null): Semaphores | null =>
      limit === null
        ? null
        : new Semaphores(store, { limit, prefix: `${prefix}:${kind}`, leaseMs: LEASE_MS, waitMs: 0 });
    this.#connects = {
      user: limiter("user", limitOf(limits.connectsPerMinutePerUser, 30)),
      address: limiter("address", limitOf(limits.connectsPerMinutePerAddress, 60)),
    };
    this.#connections = {
      user: semaphores("user", limitOf(limits.connectionsPerUser, 5)),
      address: semaphores("address", limitOf(limits.connectionsPerAddress, 20)),
    };
  }

  /** Throws a Refusal when somebody connects too often. */
  async connect(kind: Kind, name: string): Promise<void> {
    const verdict = await this.#connects[kind]?.take(name);
    if (verdict?.allowed !== false) return;
    const whose = kind === "user" ? "you connect" : "your address connects";
    throw tooMany(`${whose} more than ${verdict.limit} times a minute`, verdict.retryAfterMs);
  }

  /** Throws a Refusal when somebody has too many connections. */
  async hold(names: Readonly<Partial<Record<Kind, string>>>): Promise<Places> {
    const leases: Lease[] = [];
    const places: Places = {
      onLost: () => {},
      released: false,
      release: () => {
        places.released = true;
        // What could not be given back runs out by itself.
        for (const lease of leases.splice(0)) lease.release().catch(() => {});
      },
    };
    for (const kind of ["address", "user"] as const) {
      const name = names[kind];
      const semaphores = this.#connections[kind];
      if (name === undefined || semaphores === null) continue;
      const held = await this.#take(semaphores, name, leases, places).catch((error) => {
        places.release();
        throw error;
      });
      if (held) continue;
      places.release();
      throw tooMany(`${kind === "user" ? "you have" : "your address has"} too many connections open`, 10_000);
    }
    return places;
  }

  async #take(semaphores: Semaphores, name: string, leases: Lease[], places: Places): Promise<boolean> {
    const lease = await semaphores.acquire(name, { waitMs: 0 });
    if (lease === null) return false;
    // The connection may have ended meanwhile.
    if (places.released) {
      await lease.release();
      return true;
    }
    leases.push(lease);
    const onLost = (): void => {
      const at = leases.indexOf(lease);
      if (at < 0) return;
      leases.splice(at, 1);
      // The store was away for too long. Only who would have no place now has to go.
      this.#take(semaphores, name, leases, places).then(
        (again) => (again ? undefined : places.onLost()),
        () => {},
      );
    };
    lease.signal.addEventListener("abort", onLost, { once: true });
    return true;
  }
}

function limitOf(given: number | null | undefined, byDefault: number): number | null {
  const limit = given === undefined ? byDefault : given;
  if (limit !== null && !(Number.isSafeInteger(limit) && limit > 0)) {
    throw new InputError("each limit must be an integer of at least 1, or null for none");
  }
  return limit;
}
