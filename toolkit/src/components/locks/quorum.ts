/**
 * A lock that outlives the loss of servers: held when more than half of N independent servers have given it.
 *
 * Each server has the lock as `Locks` has it, and the same token is used on all. Asking goes to all of them at once, each
 * for at most `timeoutMs`. It has succeeded when a majority said yes and time is left: the lease less what the asking took and
 * less the drift of clocks.
 *
 * The line. A caller that has no majority waits in the lines of all servers. Their order is the same: the first answers tell
 * what the servers' clocks said when it came, and the median of them, in microseconds, is its place everywhere. So a release lets
 * the same caller in on all servers, and each tells it so. Callers that come at the same moment may each get a part first. Then
 * one that has no majority hands its part to the caller before it in that server's line, when it asks again: by a number that all
 * servers agree on, so the first of them gets everything, and no two wait for each other. Only the holder of a part can hand it
 * over, by the latest of its requests, so nobody loses a majority that it relies on.
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
import type { Clock, Timer } from "../../base/clock.ts";
import { InputError } from "../../base/errors.ts";
import { defineOptions, flag, prefix, whole, withDefaults } from "../../base/options.ts";
import { type Observation, observed } from "../../base/probe.ts";
import type { Store } from "../../connection/store.ts";
import { permitKeys } from "../../leases/keys.ts";
import { type Handle, Lease, readHandle } from "../../leases/lease.ts";
import { Mailbox } from "../../leases/mailbox.ts";
import { acquiring, leasing, resuming } from "../../leases/options.ts";
import { type AcquireOptions, newToken, outcomeOfAcquiring } from "../../leases/permits.ts";
import { DRIFT, type KeptLease, Renewal, renewDueFirst } from "../../leases/renewal.ts";
import {
  type LineReply,
  lockScripts,
  type PermitScripts,
  raiseFence,
  renew,
  WHOLE_LOCK,
} from "../../leases/scripts.ts";
import { whileHeld } from "../../leases/while-held.ts";
import { LeaseGroup } from "./group.ts";
import { QuorumHints } from "./quorum-wait.ts";

/** What `QuorumLocks` may be given. */
export interface QuorumOptions {
  /** How all keys begin (default "lock"). */
  readonly prefix?: string;
  /** How long a lease lives without renewal (default 30 000). */
  readonly leaseMs?: number;
  /** How long a call waits for a name; 0 tries once (default 10 000). */
  readonly waitMs?: number;
  /** How long one server may take to answer before it counts as silent (default 1 000). */
  readonly timeoutMs?: number;
  /** How soon a caller that got a part asks again for the rest; twice as late each time, up to a third of the lease. By default 200. */
  readonly retryMs?: number;
  /** How many may wait for one name; further callers get null at once (default 10 000). */
  readonly maxWaiting?: number;
  /**
   * How long a name's last fence is remembered after its last use; at least twice the longest lease. The same everywhere. An hour by
   * default.
   */
  readonly keepFenceMs?: number;
}

/** How a name is asked for. */
export interface QuorumLockOptions extends AcquireOptions {
  /** Together with others who share, and with nobody who does not: a reader. False by default. */
  readonly shared?: boolean;
}

const DEFAULTS = {
  prefix: "lock",
  leaseMs: 30_000,
  waitMs: 10_000,
  timeoutMs: 1_000,
  retryMs: 200,
  maxWaiting: 10_000,
  keepFenceMs: 3_600_000,
};

/** A caller that waits sends a sign of life at least this often, and is dead after three times as long. */
const HEARTBEAT_MS = 5_000;
const SHORTEST_POLL_MS = 25;
const MOST_NAMES = 1_000;

/** A yes of one server. */
interface Vote {
  readonly store: Store;
  readonly fence: number;
}

interface Wanted {
  readonly name: string;
  readonly token: string;
  readonly leaseMs: number;
}

interface Answered {
  readonly store: Store;
  readonly value: LineReply;
}

const OPTIONS = defineOptions<QuorumOptions>("QuorumLocks", {
  prefix,
  leaseMs: leasing.leaseMs,
  waitMs: leasing.waitMs,
  timeoutMs: whole(1),
  retryMs: whole(1),
  maxWaiting: leasing.maxWaiting,
  keepFenceMs: leasing.keepFenceMs,
});

const ACQUIRE_OPTIONS = defineOptions<QuorumLockOptions>("QuorumLocks.acquire", { ...acquiring, shared: flag });

const ACQUIRE_MANY_OPTIONS = defineOptions<AcquireOptions>("QuorumLocks.acquireMany", acquiring);

const RESUME_OPTIONS = defineOptions<{ readonly renew?: boolean }>("QuorumLocks.resume", resuming);

/**
 * Locks over several independent servers: held while a majority of them says so, so that the loss of one server neither frees nor blocks
 * anything.
 *
 * @example
 * const locks = new QuorumLocks(await Promise.all([open(), open(), open()]));
 * const lease = await locks.acquire("order:17", { waitMs: 2_000 });
 * const same = await locks.resume(lease!.handle); // In another process.
 * await same?.release(); // → true
 * @example
 * const locks = new QuorumLocks(await Promise.all([open(), open(), open()]));
 * await locks.using("report", {}, () => "made"); // → "made"
 * const both = await locks.acquireMany(["account:1", "account:2"]);
 * await both?.release(); // → true
 */
export class QuorumLocks {
  readonly #stores: readonly Store[];
  readonly #options: Required<QuorumOptions>;
  readonly #clock: Clock;

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
  }

  #scripts(store: Store): PermitScripts {
    const { keepFenceMs: keepMs, maxWaiting } = this.#options;
    // In a Cluster the number that PUBSUB NUMSUB answers with counts one node of several.
    const listenersCount = store.topology !== "cluster";
    return lockScripts({ keepMs, maxWaiting, aliveMs: 3 * HEARTBEAT_MS, listenersCount });
  }

  get #majority(): number {
    return (this.#stores.length + 1) / 2;
  }

  /** The lease, or null when it could not be had in time. Rejects with the signal's reason. */
  async acquire(name: string, options: QuorumLockOptions = {}): Promise<Lease | null> {
    ACQUIRE_OPTIONS.check(options);
    const observation = this.#observe("acquire", name);
    if (observation === null) return this.#acquire(name, options);
    return observed(observation, () => this.#acquire(name, options), outcomeOfAcquiring);
  }

  /** By the first store that is watched; null where none is. */
  #observe(kind: "acquire" | "hold", name: string): Observation | null {
    const { prefix } = this.#options;
    const probe = this.#stores.find((store) => store.probe !== null)?.probe;
    return probe?.begin({ kind, what: "quorum-lock", prefix, name }) ?? null;
  }

  async #acquire(name: string, options: QuorumLockOptions): Promise<Lease | null> {
    const leaseMs = this.#leaseMs(options);
    permitKeys(this.#options.prefix, name, "lock");
    options.signal?.throwIfAborted();
    const waitMs = options.waitMs ?? this.#options.waitMs;
    const wanted = { name, token: newToken(options.shared === true ? 1 : WHOLE_LOCK, leaseMs), leaseMs };
    const lease = waitMs > 0 ? await this.#wait(wanted, waitMs, options) : await this.#try(wanted, options);
    if (options.signal?.aborted === true) {
      await lease?.release();
      throw options.signal.reason;
    }
    return lease;
  }

  /**
   * All of the names or none of them. They are tried together first, and nothing is held while that fails. Then they are taken one
   * after the other in one order, so that two callers can never wait for each other.
   */
  async acquireMany(names: readonly string[], options: AcquireOptions = {}): Promise<LeaseGroup | null> {
    ACQUIRE_MANY_OPTIONS.check(options);
    const unique = [...new Set(names)];
    if (unique.length === 0) throw new InputError("acquireMany needs at least one name");
    if (unique.length > MOST_NAMES) throw new InputError(`acquireMany takes at most ${MOST_NAMES} names`);
    for (const name of unique) permitKeys(this.#options.prefix, name, "lock");
    const deadlineMs = this.#clock.monotonicMs() + (options.waitMs ?? this.#options.waitMs);
    const got: Lease[] = [];
    try {
      const tried = await Promise.all(unique.map((name) => this.acquire(name, { ...options, waitMs: 0 })));
      got.push(...tried.flatMap((lease) => lease ?? []));
      if (got.length < unique.length) {
        await giveBack(got.splice(0));
        await this.#takeInOrder(unique, options, { deadlineMs, got });
      }
      const byName = new Map(got.map((lease) => [lease.name, lease]));
      const leases = unique.flatMap((name) => byName.get(name) ?? []);
      if (leases.length === unique.length && leases.every((lease) => lease.validForMs > 0)) {
        return new LeaseGroup(leases);
      }
    } catch (error) {
      await giveBack(got);
      throw error;
    }
    await giveBack(got);
    return null;
  }

  async #takeInOrder(
    names: readonly string[],
    options: AcquireOptions,
    { deadlineMs, got }: { readonly deadlineMs: number; readonly got: Lease[] },
  ): Promise<void> {
    for (const name of [...names].sort()) {
      const waitMs = Math.max(0, deadlineMs - this.#clock.monotonicMs());
      const lease = await this.acquire(name, { ...options, waitMs });
      if (lease === null) return;
      got.push(lease);
    }
  }

  /** As `Locks.using`. */
  async using<T>(
    name: string,
    options: QuorumLockOptions,
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

  #leaseMs(options: AcquireOptions): number {
    const leaseMs = options.leaseMs ?? this.#options.leaseMs;
    const longest = this.#options.keepFenceMs / 2;
    if (!(Number.isInteger(leaseMs) && leaseMs >= 10 && leaseMs <= longest)) {
      throw new InputError(`leaseMs must be a whole number from 10 to ${longest}`);
    }
    return leaseMs;
  }

  /** Once, without waiting in line. */
  async #try(wanted: Wanted, options: AcquireOptions): Promise<Lease | null> {
    const { name, token, leaseMs } = wanted;
    const sentMs = this.#clock.monotonicMs();
    const replies = await this.#askAll((store) =>
      store.run(this.#scripts(store).acquire, { ...this.#asking(name, token), leaseMs, address: "" }),
    );
    const votes = replies.flatMap(({ store, value }) =>
      value?.outcome === "held" ? [{ store, fence: value.number }] : [],
    );
    const lease = await this.#made(wanted, votes, { sentMs, renewed: options.renew ?? true });
    if (lease === null) await this.#release(name, token);
    return lease;
  }

  async #wait(wanted: Wanted, waitMs: number, options: AcquireOptions): Promise<Lease | null> {
    const hints = new QuorumHints(this.#stores, wanted.token, this.#clock);
    let lease: Lease | null = null;
    try {
      lease = await this.#turns(wanted, hints, { ...options, deadlineMs: this.#clock.monotonicMs() + waitMs });
      return lease;
    } finally {
      hints.end();
      if (lease === null) await this.#release(wanted.name, wanted.token);
    }
  }

  async #turns(
    wanted: Wanted,
    hints: QuorumHints,
    { deadlineMs, renew: renewed = true, signal }: AcquireOptions & { readonly deadlineMs: number },
  ): Promise<Lease | null> {
    let ticket: number | "" = "";
    let retryMs = this.#options.retryMs;
    for (let round = 1; ; round++) {
      signal?.throwIfAborted();
      hints.begin();
      const sentMs = this.#clock.monotonicMs();
      const replies = await this.#askInLine(wanted, ticket, round);
      const votes = replies.flatMap(({ store, value }) =>
        value.outcome === "held" ? [{ store, fence: value.number }] : [],
      );
      const lease = await this.#made(wanted, votes, { sentMs, renewed });
      if (lease !== null) {
        this.#leaveOthers(wanted, votes);
        return lease;
      }
      const leftMs = deadlineMs - this.#clock.monotonicMs();
      const isFull =
        replies.filter(({ value }) => value.outcome === "full").length > this.#stores.length - this.#majority;
      const isOver = this.#stores.filter((store) => !store.closed).length < this.#majority;
      if (leftMs <= 0 || isFull || isOver) return null;
      const isFirst: boolean = ticket === "" && replies.length > 0;
      if (isFirst) ticket = median(replies.map(({ value }) => value.micros));
      // Its place is the same everywhere only when all servers know it; and who hears nothing is passed over.
      const isHeard = await this.#isHeard(replies.map(({ store }) => store));
      if (isFirst || !isHeard) continue;
      // Soon, where a part must be handed over or extended, or too few servers have answered.
      const isSoon = votes.length > 0 || replies.length < this.#majority;
      const pollMs = isSoon ? Math.min(retryMs, wanted.leaseMs / 3, HEARTBEAT_MS) : pollOf(replies);
      if (isSoon) retryMs *= 2;
      const held = votes.map(({ store }) => store);
      const pauseMs = Math.min(leftMs, pollMs * (0.5 + this.#clock.random() / 2));
      await hints.wait({
        held,
        majority: this.#majority,
        pollMs: pauseMs,
        retryMs: Math.min(this.#options.retryMs, pauseMs),
        signal,
      });
    }
  }

  /** True when nothing had to be done for it: messages of these servers arrive already. */
  async #isHeard(stores: readonly Store[]): Promise<boolean> {
    const deaf = stores.filter((store) => !Mailbox.of(store).ready);
    const opened = await this.#askAll(
      (store) =>
        Mailbox.of(store)
          .open()
          .then(() => true),
      deaf,
    );
    return opened.every(({ value }) => value === undefined);
  }

  async #askInLine({ name, token, leaseMs }: Wanted, ticket: number | "", round: number): Promise<Answered[]> {
    const replies = await this.#askAll((store) =>
      store.run(this.#scripts(store).askInLine, {
        ...this.#asking(name, token),
        leaseMs,
        address: Mailbox.of(store).address,
        ticket,
        round,
      }),
    );
    return replies.flatMap(({ store, value }) => (value === undefined ? [] : [{ store, value }]));
  }

  #asking(name: string, token: string) {
    return { ...permitKeys(this.#options.prefix, name, "lock"), token, limitArg: WHOLE_LOCK };
  }

  /** The lease, if a majority has given it, knows its fence, and time is left. */
  async #made(
    { name, token, leaseMs }: Wanted,
    votes: readonly Vote[],
    { sentMs, renewed }: { readonly sentMs: number; readonly renewed: boolean },
  ): Promise<Lease | null> {
    if (votes.length < this.#majority) return null;
    const fence = Math.max(...votes.map((vote) => vote.fence));
    if (!(await this.#raised(name, votes, fence))) return null;
    const validForMs = sentMs + leaseMs * (1 - DRIFT) - this.#clock.monotonicMs();
    const stores = votes.map(({ store }) => store);
    return validForMs > 0 ? this.#lease({ name, token, fence, leaseMs }, stores, validForMs, renewed) : null;
  }

  /** Where it still waits, or no answer came, it must not be given what it does not need. Nobody waits for that. */
  #leaveOthers({ name, token }: Wanted, votes: readonly Vote[]): void {
    const others = this.#stores.filter((store) => votes.every((vote) => vote.store !== store));
    this.#askAll((store) => store.run(this.#scripts(store).leaveLine, this.#asking(name, token)), others).catch(
      () => {},
    );
  }

  #lease(facts: Handle, stores: readonly Store[], validForMs: number, renewed: boolean): Lease {
    const { name, token, leaseMs } = facts;
    return new Lease({ ...facts, replicas: null, holding: this.#observe("hold", name) }, (onLost) => {
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
    const replies = await this.#askAll((store) => store.run(this.#scripts(store).leaveLine, this.#asking(name, token)));
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

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
}

/** When the first of the holders could be gone, a little later for those further back. */
function pollOf(replies: readonly Answered[]): number {
  const each = replies.map(({ value }) => Math.max(value.ms + 1, SHORTEST_POLL_MS) + value.number * SHORTEST_POLL_MS);
  return Math.min(HEARTBEAT_MS, ...each);
}

async function giveBack(leases: readonly Lease[]): Promise<void> {
  await Promise.allSettled(leases.map((lease) => lease.release()));
}
