/**
 * What `acquire` gives: the right to something for a time, kept until `release` or until it is lost.
 *
 * `fence` is what makes a lock safe for things outside the store. A holder can be stopped for any length of time between
 * looking at its lease and acting on it; no lock can prevent that. But a later holder has a larger fence, so a service that receives
 * the write refuses one that comes with a smaller fence than it has seen.
 */
import { InputError } from "../base/errors.ts";
import type { Observation } from "../base/probe.ts";

/** How a lease is renewed and given back, told by its maker. */
export interface LeaseKeeper {
  readonly kept: { validForMs(): number; end(): void };
  renew(): Promise<boolean>;
  release(): Promise<boolean>;
}

export interface LeaseFacts {
  readonly name: string;
  readonly token: string;
  readonly fence: number;
  readonly leaseMs: number;
  /** How many replicas have confirmed it, where that was asked for. */
  readonly replicas: number | null;
  /** Where somebody watches. @internal */
  readonly holding?: Observation | null;
}

/**
 * What was got: a lock or permits, held until it is given back or its time runs out without renewal.
 *
 * @example
 * const lease = (await new Locks(db).acquire("order:17", { leaseMs: 60_000, renew: false }))!;
 * [lease.name, lease.lost]; // → ["order:17", false]
 * await lease.renew(); // → true
 * await lease.release(); // → true
 * @example
 * const locks = new Locks(db);
 * const handle = (await locks.acquire("upload"))!.detach();
 * const lease = await locks.resume(handle); // Another process goes on with it.
 * await lease?.release(); // → true
 */
export class Lease {
  /** What is held. */
  readonly name: string;
  /** Unguessable; a process that knows it can renew and release. */
  readonly token: string;
  /** Larger than that of every earlier holder of this name. */
  readonly fence: number;
  /** How long it lives without renewal, from its beginning or its last renewal. */
  readonly leaseMs: number;
  /** How many replicas had confirmed it when it was given; null where nothing was waited for. */
  readonly replicas: number | null;
  readonly #keeper: LeaseKeeper;
  #controller: AbortController | null = null;
  #lost: Error | null = null;
  #over: Promise<boolean> | null = null;
  readonly #holding: Observation | null;

  /** Made by components; `keep` begins the watch over it. */
  constructor(facts: LeaseFacts, keep: (onLost: (reason: Error) => void) => LeaseKeeper) {
    this.name = facts.name;
    this.token = facts.token;
    this.fence = facts.fence;
    this.leaseMs = facts.leaseMs;
    this.replicas = facts.replicas;
    this.#holding = facts.holding ?? null;
    this.#keeper = keep((reason) => {
      this.#lost = reason;
      this.#holding?.end({ outcome: "lost", error: reason });
      this.#controller?.abort(reason);
    });
  }

  /**
   * What is certainly left, at least: from before the request was sent that got or renewed it, by a monotonic clock. 0 when it
   * has run out or was given back. Renewal raises it again.
   */
  get validForMs(): number {
    if (this.#lost !== null || this.#over !== null) return 0;
    return Math.max(0, this.#keeper.kept.validForMs());
  }

  /** Aborted when the lease is lost before it was given back; the reason is a LeaseLostError. */
  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.#lost !== null) this.#controller.abort(this.#lost);
    }
    return this.#controller.signal;
  }

  /** Whether it was lost before it was given back. */
  get lost(): boolean {
    return this.#lost !== null;
  }

  /** Extends it to its full length from now. False when it is lost. Needed only where renewal is not automatic. */
  async renew(): Promise<boolean> {
    if (this.#lost !== null || this.#over !== null) return false;
    return this.#keeper.renew();
  }

  /**
   * Gives it back, and the next in line gets it in the same step. True when nobody else had it until now; false when it ran out
   * and was given to another (or when the answer to a first attempt was lost on the way). Safe to call twice.
   */
  release(): Promise<boolean> {
    this.#over ??= this.#end(() => this.#keeper.release(), "released");
    return this.#over;
  }

  /**
   * Plain text with which another process can take this lease over, by `resume`. Treat it as a secret.
   * While both keep it, both renew it; `detach` ends it here without giving it back.
   */
  get handle(): string {
    return JSON.stringify([1, this.name, this.token, this.fence, this.leaseMs]);
  }

  /** Stops renewing and watching, keeps it on the server for what is left of it, and returns the handle. */
  detach(): string {
    this.#over ??= this.#end(async () => false, "detached");
    return this.handle;
  }

  async #end(last: () => Promise<boolean>, outcome: "released" | "detached"): Promise<boolean> {
    this.#keeper.kept.end();
    this.#holding?.end({ outcome });
    return last();
  }

  /** As `release`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.release().then(() => {});
  }
}

export interface Handle {
  readonly name: string;
  readonly token: string;
  readonly fence: number;
  readonly leaseMs: number;
}

export function readHandle(handle: string): Handle {
  let parts: unknown;
  try {
    parts = JSON.parse(handle);
  } catch {
    parts = null;
  }
  const [version, name, token, fence, leaseMs]: unknown[] = Array.isArray(parts) ? parts : [];
  if (
    version !== 1 ||
    typeof name !== "string" ||
    typeof token !== "string" ||
    !/^\d+:/.test(token) ||
    typeof fence !== "number" ||
    !Number.isSafeInteger(fence) ||
    typeof leaseMs !== "number"
  ) {
    throw new InputError("this is not the handle of a lease");
  }
  return { name, token, fence, leaseMs };
}
