/**
 * Locks: one holder at a time (or many who share), for as long as it keeps its lease, in the order of asking.
 *
 * A lock is a name with WHOLE_LOCK permits: an exclusive holder takes all of them, a shared one takes one. Everything else is
 * in ../leases: the scripts and their rules, waiting in line, renewal. Here are several names at once, and the API.
 *
 * Several names are tried together first, in one step where one script may touch them all (anywhere but in a Cluster; there,
 * those of one tag). Nothing is held while that fails. Then they are taken one after the other, ordered by tag and name, so
 * that two callers can never wait for each other, and given back if the last one cannot be had.
 */
import { aStore } from "../../base/checks.ts";
import { InputError } from "../../base/errors.ts";
import { zipped } from "../../base/lists.ts";
import { defineOptions, flag, prefix, withDefaults, within } from "../../base/options.ts";
import { observed } from "../../base/probe.ts";
import type { Store } from "../../connection/store.ts";
import type { Confirmation } from "../../leases/confirm.ts";
import { tagOf } from "../../leases/keys.ts";
import type { Lease } from "../../leases/lease.ts";
import { acquiring, confirming, leasing, resuming } from "../../leases/options.ts";
import { type AcquireOptions, newToken, outcomeOfAcquiring, Permits } from "../../leases/permits.ts";
import { DRIFT, renewDueFirst } from "../../leases/renewal.ts";
import { acquireMany, lockScripts, WHOLE_LOCK } from "../../leases/scripts.ts";
import { whileHeld } from "../../leases/while-held.ts";
import { LeaseGroup } from "./group.ts";

export { LeaseLostError } from "../../base/errors.ts";
export { Lease } from "../../leases/lease.ts";
export { LeaseGroup } from "./group.ts";
export { type QuorumLockOptions, QuorumLocks, type QuorumOptions } from "./quorum.ts";
export type { Confirmation };

/** What `Locks` may be given. */
export interface LocksOptions {
  /** How all keys begin (default "lock"). */
  readonly prefix?: string;
  /** How long a lease lives without renewal (default 30 000). */
  readonly leaseMs?: number;
  /** How long a call waits for a name; 0 tries once (default 10 000). */
  readonly waitMs?: number;
  /** How many may wait for one name; further callers get null at once (default 10 000). */
  readonly maxWaiting?: number;
  /**
   * How long a name's last fence is remembered after its last use; at least twice the longest lease. The same everywhere. An hour by
   * default.
   */
  readonly keepFenceMs?: number;
  /**
   * Wait for replicas to have each lease. By default it waits for none; what is left out is `{ replicas: 1, timeoutMs: 1000, otherwise:
   * "fail" }`.
   */
  readonly confirm?: Partial<Confirmation>;
}

/** How a name is asked for. */
export interface LockOptions extends AcquireOptions {
  /** Together with others who share, and with nobody who does not: a reader. False by default. */
  readonly shared?: boolean;
}

/** A name at one moment. */
export interface LockInspection {
  /** How many callers wait for it. */
  readonly waiting: number;
  /** The last one given, 0 where none is remembered. */
  readonly fence: number;
  /** Who holds it: the number and the rest of each lease. */
  readonly holders: readonly { readonly fence: number; readonly validForMs: number; readonly shared: boolean }[];
}

const DEFAULTS = { prefix: "lock", leaseMs: 30_000, waitMs: 10_000, maxWaiting: 10_000, keepFenceMs: 3_600_000 };
const CONFIRMATION: Confirmation = { replicas: 1, timeoutMs: 1_000, otherwise: "fail" };
const MOST_NAMES = 1_000;

const CONFIRM_OPTIONS = defineOptions<Partial<Confirmation>>("Locks.confirm", confirming);

const OPTIONS = defineOptions<LocksOptions>("Locks", {
  ...leasing,
  prefix,
  confirm: within(CONFIRM_OPTIONS),
});

const ACQUIRE_OPTIONS = defineOptions<LockOptions>("Locks.acquire", {
  ...acquiring,
  shared: flag,
});

const ACQUIRE_MANY_OPTIONS = defineOptions<AcquireOptions>("Locks.acquireMany", acquiring);

const RESUME_OPTIONS = defineOptions<{ readonly renew?: boolean }>("Locks.resume", resuming);

/**
 * Locks: one holder of a name at a time (or many who share), for as long as it keeps its lease, in the order of asking.
 *
 * @example
 * const locks = new Locks(db, { leaseMs: 10_000 });
 * await locks.using("report", { waitMs: 1_000 }, async (_lease, signal) => (signal.aborted ? "late" : "made")); // → "made"
 * const lease = await locks.acquire("order:17", { waitMs: 0 });
 * await locks.acquire("order:17", { waitMs: 0 }); // → null
 * (await locks.inspect("order:17")).waiting; // → 0
 * await lease?.release(); // → true
 * @example
 * const locks = new Locks(db);
 * const both = await locks.acquireMany(["account:1", "account:2"]);
 * await both?.release(); // → true
 * const lease = await locks.acquire("upload");
 * const again = await locks.resume(lease!.handle); // In another process.
 * await locks.release("upload"); // → 1
 */
export class Locks {
  readonly #permits: Permits;

  constructor(store: Store, options: LocksOptions = {}) {
    aStore("Locks", store);
    OPTIONS.check(options);
    const { prefix, leaseMs, waitMs, maxWaiting, keepFenceMs } = withDefaults(DEFAULTS, options);
    const { confirm } = options;
    this.#permits = new Permits(store, {
      prefix,
      what: "lock",
      scripts: lockScripts,
      limit: WHOLE_LOCK,
      leaseMs,
      waitMs,
      maxWaiting,
      keepMs: keepFenceMs,
      confirm: confirm === undefined ? null : withDefaults(CONFIRMATION, confirm),
    });
  }

  /** The lease, or null when it could not be had in time. Rejects with the signal's reason. */
  async acquire(name: string, options: LockOptions = {}): Promise<Lease | null> {
    ACQUIRE_OPTIONS.check(options);
    return this.#permits.acquire(name, options.shared === true ? 1 : WHOLE_LOCK, options);
  }

  /**
   * Runs `body` while holding the lock, then gives it back. `signal` is aborted when the lease is lost, or with the signal
   * given. Returns what `body` returns, or null when the lock could not be had in time.
   */
  async using<T>(
    name: string,
    options: LockOptions,
    body: (lease: Lease, signal: AbortSignal) => Promise<T> | T,
  ): Promise<T | null> {
    const lease = await this.acquire(name, options);
    return lease === null ? null : whileHeld(lease, options.signal, body);
  }

  /** All of the names or none of them. */
  async acquireMany(names: readonly string[], options: AcquireOptions = {}): Promise<LeaseGroup | null> {
    ACQUIRE_MANY_OPTIONS.check(options);
    const observation = this.#permits.observe("acquire", names.join(" "));
    if (observation === null) return this.#acquireMany(names, options);
    return observed(observation, () => this.#acquireMany(names, options), outcomeOfAcquiring);
  }

  async #acquireMany(names: readonly string[], options: AcquireOptions): Promise<LeaseGroup | null> {
    const unique = [...new Set(names)];
    if (unique.length === 0) throw new InputError("acquireMany needs at least one name");
    if (unique.length > MOST_NAMES) throw new InputError(`acquireMany takes at most ${MOST_NAMES} names`);
    const { clock } = this.#permits.store;
    const deadlineMs = clock.monotonicMs() + (options.waitMs ?? this.#permits.options.waitMs);
    const ordered = unique
      .map((name) => ({ name, tag: tagOf(this.#permits.keys(name).state) }))
      .sort((a, b) => compare(a.tag, b.tag) || compare(a.name, b.name));
    const got: Lease[] = [];
    try {
      for (const batch of this.#batches(ordered)) {
        options.signal?.throwIfAborted();
        const together = await this.#takeTogether(batch, options);
        if (together === null && !(await this.#takeInOrder(batch, options, deadlineMs, got))) break;
        got.push(...(together ?? []));
      }
      const byName = new Map(got.map((lease) => [lease.name, lease]));
      const leases = unique.flatMap((name) => byName.get(name) ?? []);
      if (leases.length === unique.length && got.every((lease) => lease.validForMs > 0)) return new LeaseGroup(leases);
    } catch (error) {
      await giveBack(got);
      throw error;
    }
    await giveBack(got);
    return null;
  }

  /** Names that one script may touch. */
  #batches(ordered: readonly { readonly name: string; readonly tag: string }[]): string[][] {
    if (this.#permits.store.topology !== "cluster") return [ordered.map(({ name }) => name)];
    const batches = new Map<string, string[]>();
    for (const { name, tag } of ordered) batches.set(tag, [...(batches.get(tag) ?? []), name]);
    return [...batches.values()];
  }

  async #takeTogether(names: readonly string[], options: AcquireOptions): Promise<Lease[] | null> {
    if (names.length === 1 || this.#permits.options.confirm !== null) return null;
    const leaseMs = this.#permits.leaseMs(options.leaseMs);
    const token = newToken(WHOLE_LOCK, leaseMs);
    const asking = names.map((name) => ({ keys: this.#permits.keys(name), token, leaseMs }));
    const sentMs = this.#permits.store.clock.monotonicMs();
    renewDueFirst(this.#permits.store);
    const fences = await this.#permits.store.run(acquireMany, {
      each: asking.flatMap(({ keys }) => [keys.state, keys.held, keys.queue]),
      token,
      leaseMs,
      keepMs: this.#permits.options.keepMs,
    });
    if (fences === null) return null;
    const validUntilMs = sentMs + leaseMs * (1 - DRIFT);
    return zipped(zipped(names, asking), fences).map(([[name, ask], fence]) =>
      this.#permits.lease(name, ask, { fence, validUntilMs }, { renewed: options.renew ?? true }),
    );
  }

  async #takeInOrder(
    names: readonly string[],
    options: AcquireOptions,
    deadlineMs: number,
    got: Lease[],
  ): Promise<boolean> {
    for (const name of names) {
      const waitMs = Math.max(0, deadlineMs - this.#permits.store.clock.monotonicMs());
      const lease = await this.acquire(name, { ...options, waitMs });
      if (lease === null) return false;
      got.push(lease);
    }
    return true;
  }

  /** Takes over a lease by its handle, from another process or an earlier life of this one. Null when it has run out. */
  async resume(handle: string, options: { readonly renew?: boolean } = {}): Promise<Lease | null> {
    RESUME_OPTIONS.check(options);
    return this.#permits.resume(handle, options);
  }

  /**
   * Takes a name from all who hold it, without asking: for operators, when a holder hangs. It notices at its next renewal and may work on until
   * then, beside the next holder; what checks fences refuses it. How many held it.
   */
  async release(name: string): Promise<number> {
    return this.#permits.evict(name);
  }

  /** Who holds a name and how many wait, for people. */
  async inspect(name: string): Promise<LockInspection> {
    const { waiting, fence, holders } = await this.#permits.inspect(name, 100);
    return {
      waiting,
      fence,
      holders: holders.map(({ token, ...rest }) => ({ ...rest, shared: token.startsWith("1:") })),
    };
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

async function giveBack(leases: readonly Lease[]): Promise<void> {
  await Promise.allSettled(leases.map((lease) => lease.release()));
}
