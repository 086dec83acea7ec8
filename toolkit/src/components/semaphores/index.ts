/**
 * Counting semaphores: at most so many permits of a name are held at a time, each for as long as its lease is kept, given in
 * the order of asking. All of it is in ../leases; here is the API.
 */
import { aStore } from "../../base/checks.ts";
import { InputError } from "../../base/errors.ts";
import { defineOptions, prefix, required, whole, withDefaults } from "../../base/options.ts";
import type { Store } from "../../connection/store.ts";
import type { Lease } from "../../leases/lease.ts";
import { acquiring, leasing, resuming } from "../../leases/options.ts";
import { type AcquireOptions, Permits, positive } from "../../leases/permits.ts";
import { semaphoreScripts } from "../../leases/scripts.ts";
import { whileHeld } from "../../leases/while-held.ts";

export { LeaseLostError } from "../../base/errors.ts";
export { Lease } from "../../leases/lease.ts";

/** What `Semaphores` are given. */
export interface SemaphoresOptions {
  /** How many permits a name has, unless `resize` has stored another number. All processes should agree on it. */
  readonly limit: number;
  /** How all keys begin (default "semaphore"). */
  readonly prefix?: string;
  /** How long a lease lives without renewal (default 30 000). */
  readonly leaseMs?: number;
  /** How long a call waits for permits; 0 tries once (default 10 000). */
  readonly waitMs?: number;
  /** How many may wait for one name; further callers get null at once (default 10 000). */
  readonly maxWaiting?: number;
  /**
   * How long a name's last fence is remembered after its last use; at least twice the longest lease. The same everywhere. An hour by
   * default.
   */
  readonly keepFenceMs?: number;
}

/** How permits are asked for. */
export interface PermitOptions extends AcquireOptions {
  /** How many at once; all or none (default 1). */
  readonly permits?: number;
}

/** A name at one moment. */
export interface SemaphoreInspection {
  /** How many permits it has. */
  readonly limit: number;
  /** Permits held, those included whose lease has run out and whose place nobody has needed yet. */
  readonly used: number;
  /** How many callers wait. */
  readonly waiting: number;
  /** Who holds permits: how many each, with the number and the rest of its lease. */
  readonly holders: readonly { readonly permits: number; readonly fence: number; readonly validForMs: number }[];
}

const DEFAULTS = { prefix: "semaphore", leaseMs: 30_000, waitMs: 10_000, maxWaiting: 10_000, keepFenceMs: 3_600_000 };
const MOST_PERMITS = 1_000_000_000;

const OPTIONS = defineOptions<SemaphoresOptions>("Semaphores", {
  ...leasing,
  limit: required(whole(1, MOST_PERMITS)),
  prefix,
});

const ACQUIRE_OPTIONS = defineOptions<PermitOptions>("Semaphores.acquire", {
  ...acquiring,
  permits: whole(1, MOST_PERMITS),
});

const RESUME_OPTIONS = defineOptions<{ readonly renew?: boolean }>("Semaphores.resume", resuming);

/**
 * Counting semaphores: at most so many permits of a name are held at a time, each for as long as its lease is kept, given in the order of
 * asking.
 *
 * @example
 * const semaphores = new Semaphores(db, { limit: 3 });
 * await semaphores.using("payments-api", { waitMs: 5_000 }, async () => "paid"); // → "paid"
 * const lease = await semaphores.acquire("payments-api", { permits: 2 });
 * await semaphores.acquire("payments-api", { permits: 2, waitMs: 0 }); // → null
 * await semaphores.resize("payments-api", 5); // For all processes.
 * (await semaphores.inspect("payments-api")).used; // → 2
 * @example
 * const semaphores = new Semaphores(db, { limit: 1 });
 * const lease = await semaphores.acquire("printer");
 * const same = await semaphores.resume(lease!.handle); // In another process.
 * await semaphores.release("printer"); // → 1
 */
export class Semaphores {
  readonly #permits: Permits;

  constructor(store: Store, options: SemaphoresOptions) {
    aStore("Semaphores", store);
    OPTIONS.check(options);
    const { limit, prefix, leaseMs, waitMs, maxWaiting, keepFenceMs } = withDefaults(DEFAULTS, options);
    this.#permits = new Permits(store, {
      prefix,
      what: "semaphore",
      scripts: semaphoreScripts,
      limit,
      leaseMs,
      waitMs,
      maxWaiting,
      keepMs: keepFenceMs,
      confirm: null,
    });
  }

  /**
   * The permits, or null when they could not be had in time. Rejects with the signal's reason, and with an InputError when
   * more are asked for than there are in all.
   */
  async acquire(name: string, options: PermitOptions = {}): Promise<Lease | null> {
    ACQUIRE_OPTIONS.check(options);
    const permits = options.permits ?? 1;
    return this.#permits.acquire(name, permits, options);
  }

  /** Runs `body` while holding permits, then gives them back. Null when they could not be had in time. */
  async using<T>(
    name: string,
    options: PermitOptions,
    body: (lease: Lease, signal: AbortSignal) => Promise<T> | T,
  ): Promise<T | null> {
    const lease = await this.acquire(name, options);
    return lease === null ? null : whileHeld(lease, options.signal, body);
  }

  /**
   * Stores the number of permits of a name, for all processes, at once and for good; null goes back to what each was made
   * with. Raising it lets waiters in; lowering it takes from nobody, and lets nobody in until enough have left.
   */
  async resize(name: string, limit: number | null): Promise<void> {
    if (limit !== null) checkCount("limit", limit);
    await this.#permits.resize(name, limit);
  }

  /** Takes permits over by their handle. Null when they have run out. */
  async resume(handle: string, options: { readonly renew?: boolean } = {}): Promise<Lease | null> {
    RESUME_OPTIONS.check(options);
    return this.#permits.resume(handle, options);
  }

  /**
   * Takes a name from all who hold permits, without asking: for operators, when a holder hangs. It notices at its next renewal and may work on until
   * then, beside the next holder; what checks fences refuses it. How many held it.
   */
  async release(name: string): Promise<number> {
    return this.#permits.evict(name);
  }

  /** What is going on, for people; the first hundred holders by their end. */
  async inspect(name: string): Promise<SemaphoreInspection> {
    const { limit, used, waiting, holders } = await this.#permits.inspect(name, 100);
    return {
      limit,
      used,
      waiting,
      holders: holders.map(({ token, ...rest }) => ({ permits: Number.parseInt(token, 10), ...rest })),
    };
  }
}

function checkCount(what: string, count: number): void {
  positive(what, count);
  if (count > MOST_PERMITS) throw new InputError(`${what} must not be more than ${MOST_PERMITS}`);
}
