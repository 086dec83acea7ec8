/** Several leases that are used as one. */
import type { Lease } from "../../leases/lease.ts";

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

  get lost(): boolean {
    return this.leases.some((lease) => lease.lost);
  }

  async renew(): Promise<boolean> {
    const renewed = await Promise.all(this.leases.map((lease) => lease.renew()));
    return renewed.every((each) => each);
  }

  /** Gives all back; true when all were held until now. */
  async release(): Promise<boolean> {
    const released = await Promise.all(this.leases.map((lease) => lease.release()));
    return released.every((each) => each);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release().then(() => {});
  }
}
