/**
 * A lock that outlives the loss of servers: held when more than half of N independent servers have given it.
 *
 * Each server has the lock as `Locks` has it, and the same token is used on all. An attempt asks all of them at once, each
 * for at most `timeoutMs`. It has succeeded when a majority said yes and time is left: the lease less what the asking took and
 * less the drift of clocks. Otherwise everything is given back, and the next attempt comes after a pause of random length, so
 * that two callers who each got a part do not meet for ever. There is no line: first come, first served needs one server that
 * decides, which is what this lock does without.
 *
 * Fences. Each server numbers by itself, so their numbers cannot be compared as they are. The fence of the lease is the largest
 * that any of the majority gave, and before the lease is handed out a majority has been raised to it (one more round trip,
 * only to those that are below). The next majority has a server in common with this one, and that server gives a larger
 * number: so the fences of a quorum lock grow too.
 *
 * Renewal is that of the single lock, on each of the servers that said yes; the lease is as good as the majority of them.
 *
 * The servers must not be replicas of one another, and one that comes back empty must stay away for one lease (or keep its
 * data on disk), as with any lock of this kind.
 */
import { aStore } from "../../base/checks.ts";
import { type Clock, sleep, type Timer } from "../../base/clock.ts";
import { InputError } from "../../base/errors.ts";
import { defineOptions, prefix, whole, withDefaults } from "../../base/options.ts";
import type { Store } from "../../connection/store.ts";
import { permitKeys } from "../../leases/keys.ts";
import { type Handle, Lease, readHandle } from "../../leases/lease.ts";
import { acquiring, leasing, resuming } from "../../leases/options.ts";
import { type AcquireOptions, newToken } from "../../leases/permits.ts";
import { DRIFT, type KeptLease, Renewal, renewDueFirst } from "../../leases/renewal.ts";
import { lockScripts, type PermitScripts, raiseFence, renew, WHOLE_LOCK } from "../../leases/scripts.ts";
import { whileHeld } from "../../leases/while-held.ts";

export interface QuorumOptions {
  readonly prefix?: string;
  readonly leaseMs?: number;
  readonly waitMs?: number;
  /** How long one server may take to answer before it counts as silent. */
  readonly timeoutMs?: number;
  /** The longest pause between two attempts. */
  readonly retryMs?: number;
  readonly keepFenceMs?: number;
}

const DEFAULTS = {
  prefix: "lock",
  leaseMs: 30_000,
  waitMs: 10_000,
  timeoutMs: 1_000,
  retryMs: 200,
  keepFenceMs: 3_600_000,
};

/** A yes of one server. */
interface Vote {
  readonly store: Store;
  readonly fence: number;
}

const OPTIONS = defineOptions<QuorumOptions>("QuorumLocks", {
  prefix,
  leaseMs: leasing.leaseMs,
  waitMs: leasing.waitMs,
  timeoutMs: whole(1),
  retryMs: whole(1),
  keepFenceMs: leasing.keepFenceMs,
});

const ACQUIRE_OPTIONS = defineOptions<AcquireOptions>("QuorumLocks.acquire", acquiring);

const RESUME_OPTIONS = defineOptions<{ readonly renew?: boolean }>("QuorumLocks.resume", resuming);

export class QuorumLocks {
  readonly #stores: readonly Store[];
  readonly #options: Required<QuorumOptions>;
  readonly #clock: Clock;
  readonly #scripts: PermitScripts;

  /** Of an odd number of servers, three or more. */
  constructor(stores: readonly Store[], options: QuorumOptions = {}) {
    OPTIONS.check(options);
    for (const store of Array.isArray(stores) ? stores : [stores]) aStore("QuorumLocks", store);
    const [first] = stores;
    if (first === undefined || stores.length < 3 || stores.length % 2 === 0 || new Set(stores).size !== stores.length) {
      throw new InputError("a quorum lock needs an odd number of different stores, three or more");
    }
    this.#stores = stores;
    this.#options = withDefaults(DEFAULTS, options);
    this.#clock = first.clock;
    const keepMs = this.#options.keepFenceMs;
    this.#scripts = lockScripts({ keepMs, maxWaiting: 1, aliveMs: 1, listenersCount: false });
  }

  get #majority(): number {
    return (this.#stores.length + 1) / 2;
  }

  async acquire(name: string, options: AcquireOptions = {}): Promise<Lease | null> {
    ACQUIRE_OPTIONS.check(options);
    const leaseMs = options.leaseMs ?? this.#options.leaseMs;
    if (!(Number.isInteger(leaseMs) && leaseMs >= 10 && leaseMs <= this.#options.keepFenceMs / 2)) {
      throw new InputError(`leaseMs must be a whole number from 10 to ${this.#options.keepFenceMs / 2}`);
    }
    permitKeys(this.#options.prefix, name, "lock");
    const deadlineMs = this.#clock.monotonicMs() + (options.waitMs ?? this.#options.waitMs);
    for (;;) {
      options.signal?.throwIfAborted();
      const lease = await this.#attempt(name, leaseMs, options.renew ?? true);
      if (lease !== null && options.signal?.aborted === true) await lease.release();
      options.signal?.throwIfAborted();
      const leftMs = deadlineMs - this.#clock.monotonicMs();
      if (lease !== null || leftMs <= 0) return lease;
      await sleep(this.#clock, Math.min(leftMs, this.#clock.random() * this.#options.retryMs), options.signal);
    }
  }

  /** As `Locks.using`. */
  async using<T>(
    name: string,
    options: AcquireOptions,
    body: (lease: Lease, signal: AbortSignal) => Promise<T> | T,
  ): Promise<T | null> {
    const lease = await this.acquire(name, options);
    return lease === null ? null : whileHeld(lease, options.signal, body);
  }

  /** As `Locks.resume`. */
  async resume(handle: string, options: { readonly renew?: boolean } = {}): Promise<Lease | null> {
    RESUME_OPTIONS.check(options);
    const facts = readHandle(handle);
    const sentMs = this.#clock.monotonicMs();
    const stores = await this.#renewed(facts);
    const validForMs = sentMs + facts.leaseMs * (1 - DRIFT) - this.#clock.monotonicMs();
    if (stores.length < this.#majority || validForMs <= 0) return null;
    return this.#lease(facts, stores, validForMs, options.renew ?? true);
  }

  async #attempt(name: string, leaseMs: number, renewed: boolean): Promise<Lease | null> {
    const token = newToken(WHOLE_LOCK, leaseMs);
    const sentMs = this.#clock.monotonicMs();
    const votes = await this.#vote(name, token, leaseMs);
    const fence = Math.max(...votes.map((vote) => vote.fence), 0);
    if (votes.length >= this.#majority && (await this.#raised(name, votes, fence))) {
      const validForMs = sentMs + leaseMs * (1 - DRIFT) - this.#clock.monotonicMs();
      const stores = votes.map(({ store }) => store);
      if (validForMs > 0) return this.#lease({ name, token, fence, leaseMs }, stores, validForMs, renewed);
    }
    await this.#release(name, token);
    return null;
  }

  #lease(facts: Handle, stores: readonly Store[], validForMs: number, renewed: boolean): Lease {
    const { name, token, leaseMs } = facts;
    return new Lease({ ...facts, replicas: null }, (onLost) => {
      let left = stores.length;
      const kept = new Map<Store, KeptLease>();
      const end = (): void => {
        for (const each of kept.values()) each.end();
      };
      for (const store of stores) {
        const task = {
          call: () => renew.with(this.#renewal(facts)),
          leaseMs,
          validUntilMs: store.clock.monotonicMs() + validForMs,
          renew: renewed,
          onLost: (reason: Error) => {
            left -= 1;
            if (left !== this.#majority - 1) return;
            end();
            onLost(reason);
          },
        };
        kept.set(store, Renewal.of(store).keep(task));
      }
      const validFor = (): number => {
        const each = [...kept.values()].map((lease) => lease.validForMs()).sort((a, b) => b - a);
        return each[this.#majority - 1]!;
      };
      return {
        kept: { validForMs: validFor, end },
        release: () => this.#release(name, token),
        renew: async () => {
          const sentMs = new Map(stores.map((store) => [store, store.clock.monotonicMs()]));
          const yes = await this.#renewed(facts);
          for (const store of yes) kept.get(store)?.renewed(sentMs.get(store)!);
          return yes.length >= this.#majority;
        },
      };
    });
  }

  async #vote(name: string, token: string, leaseMs: number): Promise<Vote[]> {
    const replies = await this.#askAll((store) =>
      store.run(this.#scripts.acquire, {
        ...permitKeys(this.#options.prefix, name, "lock"),
        token,
        leaseMs,
        channel: "",
        limitArg: WHOLE_LOCK,
      }),
    );
    return replies.flatMap(({ store, value }) => (value?.outcome === "held" ? [{ store, fence: value.number }] : []));
  }

  /** A majority knows the fence: those that gave it, and those that were raised to it. */
  async #raised(name: string, votes: readonly Vote[], fence: number): Promise<boolean> {
    const below = votes.filter((vote) => vote.fence < fence).map((vote) => vote.store);
    const { state } = permitKeys(this.#options.prefix, name, "lock");
    const keepMs = this.#options.keepFenceMs;
    const replies = await this.#askAll((store) => store.run(raiseFence, { state, fence, keepMs }), below);
    const raised = replies.filter(({ value }) => value !== undefined).length;
    return votes.length - below.length + raised >= this.#majority;
  }

  #renewal({ name, token, leaseMs }: Handle) {
    const { state, held } = permitKeys(this.#options.prefix, name, "lock");
    return { state, held, token, leaseMs, keepMs: this.#options.keepFenceMs };
  }

  /** The servers on which it was extended. */
  async #renewed(facts: Handle): Promise<Store[]> {
    const replies = await this.#askAll((store) => store.run(renew, this.#renewal(facts)));
    return replies.filter(({ value }) => value !== undefined && value > 0).map(({ store }) => store);
  }

  /** On all, also where no answer came: it may have been given there. */
  async #release(name: string, token: string): Promise<boolean> {
    const replies = await this.#askAll((store) =>
      store.run(this.#scripts.release, {
        ...permitKeys(this.#options.prefix, name, "lock"),
        token,
        limitArg: WHOLE_LOCK,
      }),
    );
    return replies.filter(({ value }) => value === true).length >= this.#majority;
  }

  /** Asks all at once; undefined where no answer came in time. Never rejects. */
  #askAll<T>(
    ask: (store: Store) => Promise<T>,
    stores: readonly Store[] = this.#stores,
  ): Promise<{ readonly store: Store; readonly value: T | undefined }[]> {
    return Promise.all(
      stores.map(async (store) => {
        renewDueFirst(store);
        let timer: Timer | undefined;
        const late = new Promise<undefined>((resolve) => {
          timer = this.#clock.after(this.#options.timeoutMs, () => resolve(undefined), { keepAlive: true });
        });
        const value = await Promise.race([ask(store).catch(() => undefined), late]);
        timer?.cancel();
        return { store, value };
      }),
    );
  }
}
