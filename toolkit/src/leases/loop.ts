/**
 * Renews leases from this thread: for the embedded store, for clients that the program brought along, and for the moments
 * before the thread runs. One timer for all; what is due at about the same time leaves in one pipeline.
 */
import { Bag, type BagPlace } from "../base/bag.ts";
import type { Timer } from "../base/clock.ts";
import { ServerError } from "../base/errors.ts";
import type { Store } from "../connection/store.ts";
import type { KeptLease, Renewer } from "./renewal.ts";

/** Those of embedded stores that have anything to do. */
const embedded = new Set<LoopRenewer>();

/** What the loop knows of a lease that it renews. */
export interface LoopEntry {
  readonly place: BagPlace<KeptLease>;
  /** Infinity while its renewal is under way. */
  dueMs: number;
}

export class LoopRenewer implements Renewer {
  readonly #store: Store;
  readonly #leases = new Bag<KeptLease>();
  #timer: Timer | null = null;
  #timerMs = Number.POSITIVE_INFINITY;
  #closed = false;

  constructor(store: Store) {
    this.#store = store;
  }

  static renewDueEmbedded(): void {
    for (const renewer of embedded) {
      if (renewer.#timerMs <= renewer.#store.clock.monotonicMs()) renewer.#renewDue();
    }
  }

  add(lease: KeptLease): void {
    if (this.#closed) return;
    if (this.#store.topology === "embedded") embedded.add(this);
    lease.loop ??= { place: this.#leases.add(lease), dueMs: Number.POSITIVE_INFINITY };
    this.#schedule(lease, this.#store.clock.monotonicMs() + lease.task.leaseMs / 3);
  }

  remove(lease: KeptLease): void {
    if (lease.loop === null) return;
    this.#leases.remove(lease.loop.place);
    lease.loop = null;
    if (this.#leases.size === 0) embedded.delete(this);
  }

  rescue(lease: KeptLease): boolean {
    const { loop } = lease;
    if (this.#store.topology !== "embedded" || loop === null) return false;
    if (loop.dueMs !== Number.POSITIVE_INFINITY) {
      loop.dueMs = 0;
      this.#renewDue();
    }
    return true;
  }

  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
    embedded.delete(this);
    for (const lease of this.#leases.items()) lease.lose("the store was closed");
  }

  #schedule(lease: KeptLease, dueMs: number): void {
    if (lease.loop !== null) lease.loop.dueMs = dueMs;
    if (dueMs >= this.#timerMs) return;
    this.#timer?.cancel();
    this.#timerMs = dueMs;
    this.#timer = this.#store.clock.after(dueMs - this.#store.clock.monotonicMs(), () => this.#renewDue());
  }

  #renewDue(): void {
    this.#timer?.cancel();
    this.#timerMs = Number.POSITIVE_INFINITY;
    const now = this.#store.clock.monotonicMs();
    const due: KeptLease[] = [];
    let next: KeptLease | undefined;
    let nextMs = Number.POSITIVE_INFINITY;
    for (const lease of this.#leases.items()) {
      const dueMs = lease.loop?.dueMs ?? Number.POSITIVE_INFINITY;
      // What is nearly due comes along.
      if (dueMs <= now + lease.task.leaseMs / 20) due.push(lease);
      else if (dueMs < nextMs) {
        next = lease;
        nextMs = dueMs;
      }
    }
    if (next !== undefined) this.#schedule(next, nextMs);
    if (due.length > 0) void this.#renew(due, now);
  }

  async #renew(leases: readonly KeptLease[], sentMs: number): Promise<void> {
    for (const { loop } of leases) if (loop !== null) loop.dueMs = Number.POSITIVE_INFINITY;
    let answers: readonly unknown[];
    try {
      answers = await this.#store.pipeline(leases.map(({ task }) => task.call()));
    } catch {
      answers = leases.map(() => undefined);
    }
    leases.forEach((lease, at) => {
      if (lease.loop === null || this.#closed) return;
      const answer = answers[at];
      const { leaseMs } = lease.task;
      if (answer === undefined || answer instanceof ServerError) {
        this.#schedule(lease, this.#store.clock.monotonicMs() + Math.min(leaseMs / 10, 500));
      } else if (Number(answer) > 0) {
        lease.renewed(sentMs);
        this.#schedule(lease, sentMs + leaseMs / 3);
      } else {
        lease.lose("the server knows the lease no longer");
      }
    });
  }
}
