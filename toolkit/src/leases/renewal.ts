/**
 * Keeping leases: renewing them in time, and telling their holder when they are lost. Shared by locks, semaphores and queues.
 *
 * A lease is renewed each time a third of it has passed, so two renewals may fail before it is lost. Where the store has an
 * address that a thread can reach, a thread renews over a connection of its own (thread.ts), so that a process that computes
 * for longer than its lease keeps it. Elsewhere this loop does it (loop.ts).
 *
 * How long a lease is valid is measured from before the request was sent that got or renewed it, by a monotonic clock, and
 * shortened by a hundredth for clocks that run at different rates. So the holder believes it lost before the server gives it
 * to another, never after. What the thread has renewed stands in memory that both threads see: a holder that was busy learns
 * the truth before it reads any message.
 *
 * A lease is lost when the server says so, or when its time has passed and nobody has renewed it. One exception: the embedded
 * store lives in this thread, so that nobody can have got the lease before this thread runs again. There due renewals run
 * before anything else may ask for a lease, and only the store's answer says what is lost.
 */
import type { Timer } from "../base/clock.ts";
import { LeaseLostError } from "../base/errors.ts";
import type { ScriptCall } from "../base/script.ts";
import type { Store } from "../connection/store.ts";
import { type LoopEntry, LoopRenewer } from "./loop.ts";
import { type ThreadEntry, ThreadRenewer } from "./thread.ts";

/** Of each lease this part is left unused, for clocks that run at different rates. */
export const DRIFT = 0.01;

export interface RenewalTask {
  /** A repeatable script that extends the lease from now and answers with a number above 0, or with 0 where it is lost. */
  call(): ScriptCall;
  readonly leaseMs: number;
  /** Until when it is valid now, by the store's `clock.monotonicMs`. */
  readonly validUntilMs: number;
  /** False: only watched, not renewed. */
  readonly renew: boolean;
  /** Called once, never after `end`. */
  onLost(reason: LeaseLostError): void;
}

export interface Renewer {
  add(lease: KeptLease): void;
  remove(lease: KeptLease): void;
  /** Asks the server about a lease that has run out, where its answer still counts. False: it is lost by the clock. */
  rescue(lease: KeptLease): boolean;
}

/** A lease that is watched and renewed until `end`. */
export class KeptLease {
  readonly task: RenewalTask;
  readonly #store: Store;
  readonly #renewer: Renewer | null;
  #untilMs: number;
  #watchdog: Timer | null = null;
  #over = false;
  /** Set by the thread's side: where the thread says how long it has made it valid. */
  thread: ThreadEntry | null = null;
  /** Set by the loop while it renews. */
  loop: LoopEntry | null = null;

  constructor(store: Store, renewer: Renewer | null, task: RenewalTask) {
    this.#store = store;
    this.task = task;
    this.#untilMs = task.validUntilMs;
    this.#renewer = task.renew ? renewer : null;
    this.#renewer?.add(this);
    this.#watch();
  }

  /** What is left of it; 0 or less when it has run out. */
  validForMs(): number {
    const here = this.#untilMs - this.#store.clock.monotonicMs();
    const { thread } = this;
    return thread === null ? here : Math.max(here, thread.slot.board.validForMs(thread.slot.at));
  }

  /** It was renewed from this thread, by a request sent at `sentMs`. */
  renewed(sentMs: number, leaseMs: number = this.task.leaseMs): void {
    this.#untilMs = sentMs + leaseMs * (1 - DRIFT);
  }

  /** The server says, or the clock does, that it is no longer held. */
  lose(message: string): void {
    if (this.#over) return;
    this.end();
    this.task.onLost(new LeaseLostError(message));
  }

  /** It was given back or handed on: nobody watches it any more. */
  end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#watchdog?.cancel();
    this.#renewer?.remove(this);
  }

  #watch(): void {
    const leftMs = Math.max(this.validForMs(), 0) + 1;
    // A little early at first, at a round number: Node keeps timers of equal length in one list, and most are cancelled.
    const round = 2 ** Math.floor(Math.log2(leftMs) - 3);
    const afterMs = leftMs < 100 ? leftMs : Math.floor(leftMs / round) * round;
    this.#watchdog = this.#store.clock.after(afterMs, () => {
      if (this.#over) return;
      if (this.validForMs() > 0 || this.#renewer?.rescue(this) === true) this.#watch();
      else this.lose("the lease has run out and could not be renewed");
    });
  }
}

const renewals = new WeakMap<Store, Renewal>();

/** Keeps the leases of a store. */
export class Renewal {
  readonly #store: Store;
  readonly #loop: LoopRenewer;
  #thread: ThreadRenewer | null = null;

  private constructor(store: Store) {
    this.#store = store;
    this.#loop = new LoopRenewer(store);
    const { workerAddress } = store;
    if (workerAddress !== null) this.#thread = new ThreadRenewer(store, workerAddress, this.#loop);
    store.on("close", async () => {
      this.#loop.close();
      await this.#thread?.close();
    });
  }

  static of(store: Store): Renewal {
    const renewal = renewals.get(store) ?? new Renewal(store);
    renewals.set(store, renewal);
    return renewal;
  }

  keep(task: RenewalTask): KeptLease {
    return new KeptLease(this.#store, this.#thread ?? this.#loop, task);
  }

  /** Whether a thread of its own renews: "starting" while this loop still does it too. */
  get thread(): "none" | "starting" | "running" {
    return this.#thread?.state ?? "none";
  }
}

/**
 * To be called before a script that may give leases away: on the embedded store, what is due for renewal in this process is
 * renewed first, so that a loop that was busy does not lose its leases to a caller of its own.
 */
export function renewDueFirst(store: Store): void {
  if (store.topology === "embedded") LoopRenewer.renewDueEmbedded();
}
