/** Several leases that are used as one. */
import type { Lease } from "../../leases/lease.ts";

/**
 * Several leases that were taken together. `Locks.acquireMany` gives it.
 *
 * @example
 * const group = await new Locks(db).acquireMany(["account:1", "account:2"]);
 * await group?.renew(); // → true
 * await group?.release(); // → true
 */
export class LeaseGroup {
  /** In the order in which the names were given. */
  readonly leases: readonly Lease[];
  #signal: AbortSignal | null = null;

  constructor(leases: readonly Lease[]) {
    this.leases = leases;
  }

  /** Of the one that ends first. */
  get validForMs(): number {
    return this.leases.reduce((least, lease) => Math.min(least, lease.validForMs), Number.POSITIVE_INFINITY);
  }

  /** Aborted when any of them is lost. */
  get signal(): AbortSignal {
    this.#signal ??= AbortSignal.any(this.leases.map((lease) => lease.signal));
    return this.#signal;
  }

  /** Whether any of them is lost. */
  get lost(): boolean {
    return this.leases.some((lease) => lease.lost);
  }

  /** Renews all of them; true when none is lost. */
  async renew(): Promise<boolean> {
    const renewed = await Promise.all(this.leases.map((lease) => lease.renew()));
    return renewed.every((each) => each);
  }

  /** Gives all back; true when all were held until now. */
  async release(): Promise<boolean> {
    const released = await Promise.all(this.leases.map((lease) => lease.release()));
    return released.every((each) => each);
  }

  /** As `release`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.release().then(() => {});
  }
}
