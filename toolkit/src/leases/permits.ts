/**
 * The near side of the scripts: asking, waiting in line, and making a Lease of what was got. Locks and semaphores are thin
 * over it.
 *
 * Asking takes one round trip, and so does giving back. Who has to wait is in the line after that same round trip, and then sends
 * nothing but a sign of life every few seconds until the message comes. So a contended section costs two commands.
 *
 * The first who waits in a process opens the channel for the message when it is in the line already, so that nobody who comes
 * while it does so is before it, and then asks once more: it may have been passed over, or given what it never heard of.
 *
 * A poll is that sign of life. It comes when the first of the holders could have run out, a little later for those further
 * back, and at least every HEARTBEAT_MS. It also brings what was missed: a lease whose message was lost.
 *
 * A lease that comes by message was given at a moment that this process did not see. That moment is told by the server's clock
 * and the last poll tied the two clocks together (the server read its clock after the poll was sent, so the estimate is early,
 * never late). Where half of the lease or more has gone by that estimate, it is renewed before anybody gets to see it.
 */
import { randomToken } from "../base/clock.ts";
import { ConnectionError, InputError, LeaseLostError } from "../base/errors.ts";
import { NameIndex } from "../base/names.ts";
import { type Observation, observed } from "../base/probe.ts";
import type { Store } from "../connection/store.ts";
import { settleWhen } from "../waiting/settle-when.ts";
import { type Confirmation, confirmed } from "./confirm.ts";
import { type PermitKeys, permitKeys } from "./keys.ts";
import { Lease, readHandle } from "./lease.ts";
import { type Grant, Mailbox } from "./mailbox.ts";
import { DRIFT, Renewal, renewDueFirst } from "./renewal.ts";
import {
  type AcquireReply,
  type HandedOver,
  type Inspection,
  type PermitScripts,
  renew,
  type Settings,
} from "./scripts.ts";

export interface AcquireOptions {
  /** How long it is kept without a sign of life from the holder; by default as the component was made. */
  readonly leaseMs?: number;
  /** How long to wait for it; 0 tries once, Infinity waits on. By default as the component was made. */
  readonly waitMs?: number;
  /** Ends the waiting; `acquire` rejects with its reason. None by default. */
  readonly signal?: AbortSignal;
  /** Whether it is renewed by itself until it is given back. True by default; false: nobody renews but `lease.renew()`. */
  readonly renew?: boolean;
}

export interface PermitsOptions {
  readonly prefix: string;
  /** "lock", "semaphore" or "election", for messages. */
  readonly what: string;
  readonly scripts: (settings: Settings) => PermitScripts;
  /** Where the server has no other. */
  readonly limit: number;
  readonly leaseMs: number;
  readonly waitMs: number;
  readonly maxWaiting: number;
  /** How long the keys stay after the last use: the memory of fences. */
  readonly keepMs: number;
  readonly confirm: Confirmation | null;
}

/** Holders that are evicted by one call. */
const MOST_EVICTED = 10_000;
const HEARTBEAT_MS = 5_000;
/** A waiter that has sent no sign of life for this long is dead. */
const ALIVE_MS = 3 * HEARTBEAT_MS;
/** How much later the polls of those further back in the line are. */
const SPREAD_MS = 25;

/** Clocks that run at different rates are apart by less than this between two polls. */
const MOST_SKEW_MS = 1_000;

/** What was got, before it is a Lease. */
interface Held {
  readonly fence: number;
  readonly validUntilMs: number;
}

/** The last poll: the server's clock said `serverMs` not before `sentMs` here. */
interface Tie {
  readonly sentMs: number;
  readonly serverMs: number;
}

interface Asking {
  readonly keys: PermitKeys;
  readonly token: string;
  readonly leaseMs: number;
}

export class Permits {
  readonly store: Store;
  readonly options: PermitsOptions;
  readonly #mailbox: Mailbox;
  readonly #renewal: Renewal;
  readonly #scripts: PermitScripts;
  readonly #names: NameIndex;

  constructor(store: Store, options: PermitsOptions) {
    positive("keepMs", options.keepMs);
    positive("maxWaiting", options.maxWaiting);
    this.store = store;
    this.options = options;
    this.#mailbox = Mailbox.of(store);
    this.#renewal = Renewal.of(store);
    this.#names = new NameIndex(store, { kind: `${options.what}s`, prefix: options.prefix });
    const { keepMs, maxWaiting } = options;
    // In a Cluster the number that PUBSUB NUMSUB answers with counts one node of several.
    this.#scripts = options.scripts({
      keepMs,
      maxWaiting,
      aliveMs: ALIVE_MS,
      listenersCount: store.topology !== "cluster",
    });
    this.leaseMs(options.leaseMs);
  }

  keys(name: string): PermitKeys {
    return permitKeys(this.options.prefix, name, this.options.what);
  }

  leaseMs(given: number | undefined): number {
    const leaseMs = given ?? this.options.leaseMs;
    // Keys must outlive every lease, or a crash of the holder would be the end of its fence.
    const longest = this.options.keepMs / 2;
    if (!(Number.isInteger(leaseMs) && leaseMs >= 10 && leaseMs <= longest)) {
      throw new InputError(`leaseMs must be a whole number from 10 to ${longest}, and is ${leaseMs}`);
    }
    return leaseMs;
  }

  /** `holder` names the holder, for who looks at the line and for `handOver`. */
  acquire(
    name: string,
    weight: number,
    options: AcquireOptions = {},
    holder: string | null = null,
  ): Promise<Lease | null> {
    const acquiring = this.observe("acquire", name);
    if (acquiring === null) return this.#acquire(name, weight, options, holder);
    return observed(acquiring, () => this.#acquire(name, weight, options, holder), outcomeOfAcquiring);
  }

  /** Null where nobody watches. */
  observe(kind: "acquire" | "hold", name: string): Observation | null {
    const { what, prefix } = this.options;
    return this.store.probe?.begin({ kind, what, prefix, name }) ?? null;
  }

  async #acquire(name: string, weight: number, options: AcquireOptions, holder: string | null): Promise<Lease | null> {
    const leaseMs = this.leaseMs(options.leaseMs);
    const waitMs = options.waitMs ?? this.options.waitMs;
    if (!(waitMs >= 0)) throw new InputError(`waitMs must be 0 or more, and is ${waitMs}`);
    const asking: Asking = { keys: this.keys(name), token: newToken(weight, leaseMs, holder), leaseMs };
    options.signal?.throwIfAborted();
    const deadlineMs = this.store.clock.monotonicMs() + waitMs;
    const held = await this.#obtain(asking, deadlineMs, options.signal);
    this.#names.announce(name);
    if (held === null) return null;
    return this.#make(name, asking, held, options.renew ?? true);
  }

  async #obtain(asking: Asking, deadlineMs: number, signal: AbortSignal | undefined): Promise<Held | null> {
    const { clock } = this.store;
    if (clock.monotonicMs() < deadlineMs) return new Wait(this, this.#mailbox, asking, { deadlineMs, signal }).held();
    const sentMs = clock.monotonicMs();
    const reply = await this.ask(asking, false).catch((error) => {
      // It may have been given, for all we know.
      this.leave(asking).catch(() => {});
      throw error;
    });
    if (signal?.aborted === true) {
      await this.leave(asking);
      throw signal.reason;
    }
    if (reply.outcome !== "held") return this.#refused(reply, asking);
    const held = heldSince(sentMs, reply.ms, reply.number);
    if (held.validUntilMs > clock.monotonicMs()) return held;
    // It took longer than the lease to hear of it.
    await this.leave(asking);
    return null;
  }

  #refused(reply: AcquireReply, asking: Asking): null {
    if (reply.outcome !== "never") return null;
    const weight = asking.token.split(":", 1)[0];
    throw new InputError(`${weight} permits were asked for, and there are ${reply.number}`);
  }

  async ask(asking: Asking, wait: boolean): Promise<AcquireReply> {
    renewDueFirst(this.store);
    const { state, held, queue, limitKey } = asking.keys;
    const reply = await this.store.run(this.#scripts.acquire, {
      state,
      held,
      queue,
      limitKey,
      token: asking.token,
      leaseMs: asking.leaseMs,
      address: wait ? this.#mailbox.address : "",
      limitArg: this.options.limit,
    });
    if (wait && reply.outcome === "never") this.#refused(reply, asking);
    return reply;
  }

  /** Gives it back or leaves the line. */
  leave({ keys, token }: Pick<Asking, "keys" | "token">): Promise<boolean> {
    renewDueFirst(this.store);
    const { state, held, queue, limitKey } = keys;
    const limitArg = this.options.limit;
    return this.store.run(this.#scripts.release, { state, held, queue, limitKey, token, limitArg });
  }

  async extend({ keys, token, leaseMs }: Asking): Promise<Held | null> {
    const sentMs = this.store.clock.monotonicMs();
    const { state, held } = keys;
    const fence = await this.store.run(renew, { state, held, token, leaseMs, keepMs: this.options.keepMs });
    return fence > 0 ? heldSince(sentMs, leaseMs, fence) : null;
  }

  async #make(name: string, asking: Asking, held: Held, renewed: boolean): Promise<Lease> {
    const { confirm } = this.options;
    if (confirm === null) return this.lease(name, asking, held, { renewed });
    try {
      const { replicas, sentMs } = await confirmed(this.store, confirm, this.#renewCall(asking), asking.keys.state);
      const latest = heldSince(sentMs, asking.leaseMs, held.fence);
      if (latest.validUntilMs <= this.store.clock.monotonicMs()) {
        throw new LeaseLostError("replicas took longer to confirm the lease than it lasts");
      }
      return this.lease(name, asking, latest, { renewed, replicas });
    } catch (error) {
      await this.leave(asking).catch(() => {});
      throw error;
    }
  }

  #renewCall({ keys: { state, held }, token, leaseMs }: Asking) {
    return renew.with({ state, held, token, leaseMs, keepMs: this.options.keepMs });
  }

  /** A lease of what is held already. */
  lease(
    name: string,
    asking: Asking,
    held: Held,
    { renewed, replicas = null }: { readonly renewed: boolean; readonly replicas?: number | null },
  ): Lease {
    const { leaseMs, token } = asking;
    const facts = { name, token, fence: held.fence, leaseMs, replicas, holding: this.observe("hold", name) };
    return new Lease(facts, (onLost) => {
      const { validUntilMs } = held;
      const kept = this.#renewal.keep({
        call: () => this.#renewCall(asking),
        leaseMs,
        validUntilMs,
        renew: renewed,
        onLost,
      });
      return {
        kept,
        release: () => this.leave(asking),
        renew: async () => {
          const sentMs = this.store.clock.monotonicMs();
          const still = await this.extend(asking);
          if (still === null) kept.lose("the server knows the lease no longer");
          else kept.renewed(sentMs);
          return still !== null;
        },
      };
    });
  }

  async resume(handle: string, options: { readonly renew?: boolean } = {}): Promise<Lease | null> {
    const { name, token, fence, leaseMs } = readHandle(handle);
    const asking = { keys: this.keys(name), token, leaseMs: this.leaseMs(leaseMs) };
    const held = await this.extend(asking);
    if (held === null || held.fence !== fence || held.validUntilMs <= this.store.clock.monotonicMs()) return null;
    return this.lease(name, asking, held, { renewed: options.renew ?? true });
  }

  resize(name: string, limit: number | null): Promise<number> {
    renewDueFirst(this.store);
    return this.store.run(this.#scripts.resize, {
      ...this.keys(name),
      newLimit: limit ?? "",
      limitArg: this.options.limit,
    });
  }

  /** Gives what `token` holds to a waiter, by the name of its holder. */
  handOver(name: string, token: string, to: string): Promise<HandedOver> {
    renewDueFirst(this.store);
    const limitArg = this.options.limit;
    return this.store.run(this.#scripts.handOver, { ...this.keys(name), token, name: nameEnd(to), limitArg });
  }

  /** Takes a name from all its holders; how many. Waiters are served. */
  async evict(name: string): Promise<number> {
    const { holders } = await this.inspect(name, MOST_EVICTED);
    const keys = this.keys(name);
    const gone = await Promise.all(holders.map(({ token }) => this.leave({ keys, token })));
    return gone.filter(Boolean).length;
  }

  inspect(name: string, most: number): Promise<Inspection> {
    renewDueFirst(this.store);
    return this.store.run(this.#scripts.inspect, { ...this.keys(name), most, limitArg: this.options.limit });
  }
}

/** Names a holder; the scripts read the weight and the length of the lease from it. */
export function newToken(weight: number, leaseMs: number, holder: string | null = null): string {
  return `${weight}:${leaseMs}:${randomToken()}${holder === null ? "" : nameEnd(holder)}`;
}

/** How the token of a named holder ends. Encoded: messages are words with spaces between them. */
function nameEnd(holder: string): string {
  return `:${Buffer.from(holder, "utf8").toString("base64url")}`;
}

/** The name of the holder that a token belongs to. */
export function holderOf(token: string): string {
  return Buffer.from(token.split(":")[3] ?? "", "base64url").toString("utf8");
}

export const outcomeOfAcquiring = (got: unknown) => ({ outcome: got === null ? "timeout" : "acquired" });

export function positive(what: string, value: number): void {
  if (!(Number.isInteger(value) && value > 0)) throw new InputError(`${what} must be a whole number above 0`);
}

function heldSince(sentMs: number, leaseMs: number, fence: number): Held {
  return { fence, validUntilMs: sentMs + leaseMs * (1 - DRIFT) };
}

/** A waiter in line. */
class Wait {
  readonly #permits: Permits;
  readonly #mailbox: Mailbox;
  readonly #asking: Asking;
  readonly #deadlineMs: number;
  readonly #signal: AbortSignal | undefined;
  #tie: Tie | null = null;
  #message: Grant | null = null;
  #wake: (() => void) | null = null;
  /** Something happened that a poll will tell about. */
  #stirred = false;
  #isExpected = false;

  constructor(
    permits: Permits,
    mailbox: Mailbox,
    asking: Asking,
    { deadlineMs, signal }: { readonly deadlineMs: number; readonly signal: AbortSignal | undefined },
  ) {
    this.#permits = permits;
    this.#mailbox = mailbox;
    this.#asking = asking;
    this.#deadlineMs = deadlineMs;
    this.#signal = signal;
  }

  async held(): Promise<Held | null> {
    try {
      const held = await this.#turns();
      if (held === null) await this.#permits.leave(this.#asking).catch(() => {});
      return held;
    } catch (error) {
      // It may have got it, or stand in line, for all we know.
      const left = this.#permits.leave(this.#asking).catch(() => {});
      // Nobody waits a second time for a server that does not answer.
      if (!(error instanceof ConnectionError)) await left;
      throw error;
    } finally {
      if (this.#isExpected) this.#mailbox.forget(this.#asking.token);
    }
  }

  /** From now on messages are for this one, and those that came before this was known. */
  #expect(interruptions: number): void {
    if (this.#isExpected) return;
    this.#isExpected = true;
    this.#stirred = this.#mailbox.interruptions !== interruptions;
    this.#mailbox.expect(this.#asking.token, {
      granted: (grant) => {
        this.#message = grant;
        this.#wake?.();
      },
      interrupted: () => {
        this.#stirred = true;
        this.#wake?.();
      },
    });
  }

  async #turns(): Promise<Held | null> {
    const { clock } = this.#permits.store;
    for (;;) {
      this.#signal?.throwIfAborted();
      const sentMs = clock.monotonicMs();
      const isHeard = this.#mailbox.ready;
      const { interruptions } = this.#mailbox;
      const reply = await this.#permits.ask(this.#asking, true);
      if (reply.outcome === "full") return null;
      if (reply.outcome !== "held") this.#expect(interruptions);
      this.#tie = { sentMs, serverMs: reply.serverMs };
      // A message from before this answer is about a lease that has run out unnoticed.
      if (this.#message !== null && this.#message.serverMs < reply.serverMs) this.#message = null;
      const pollMs = Math.min(Math.max(reply.ms + 1, SPREAD_MS) + reply.number * SPREAD_MS, HEARTBEAT_MS);
      const held =
        reply.outcome === "held"
          ? await this.#sound(heldSince(sentMs, reply.ms, reply.number))
          : isHeard
            ? await this.#sleep(pollMs)
            : await this.#opened();
      this.#signal?.throwIfAborted();
      if (held !== null) return held;
      if (clock.monotonicMs() >= this.#deadlineMs) return null;
    }
  }

  /** Messages arrive from now on; what happened before is asked for. */
  async #opened(): Promise<null> {
    await this.#mailbox.open();
    return null;
  }

  /** Until a message, the time for a poll, the deadline or the signal, whichever is first. */
  async #sleep(pollMs: number): Promise<Held | null> {
    const { clock } = this.#permits.store;
    const ms = Math.min(pollMs, this.#deadlineMs - clock.monotonicMs());
    if (this.#message === null && !this.#stirred) await this.#stir(ms);
    this.#stirred = false;
    const grant = this.#message;
    if (grant === null || this.#signal?.aborted === true) return null;
    this.#message = null;
    const { sentMs, serverMs } = this.#tie!;
    const nowMs = clock.monotonicMs();
    const givenMs = sentMs + (grant.serverMs - serverMs);
    // Far in the future: the server's clock was put back between the two, and only the server knows what is held.
    if (givenMs > nowMs + MOST_SKEW_MS)
      return this.#sound(heldSince(nowMs - grant.leaseMs, grant.leaseMs, grant.fence));
    return this.#sound(heldSince(Math.min(givenMs, nowMs), grant.leaseMs, grant.fence));
  }

  #stir(timeoutMs: number): Promise<void> {
    const limits = { signal: this.#signal, timeoutMs, onTimeout: undefined };
    return settleWhen<void>(this.#permits.store, limits, ({ settle }) => {
      this.#wake = settle;
      return () => {
        this.#wake = null;
      };
    });
  }

  /** The lease as it may be given to the caller: with more than half of it left. */
  async #sound(held: Held): Promise<Held | null> {
    const { clock } = this.#permits.store;
    const { leaseMs } = this.#asking;
    if (held.validUntilMs - clock.monotonicMs() > leaseMs / 2) return held;
    // With the fence that it has now: it may have been lost and got again since.
    const extended = await this.#permits.extend(this.#asking);
    return extended === null || extended.validUntilMs <= clock.monotonicMs() ? null : extended;
  }
}
