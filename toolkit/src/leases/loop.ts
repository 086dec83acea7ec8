/**
 * Renews leases from this thread: for the embedded store, for clients that the program brought along, and for the moments
 * before the thread runs. One timer for all; what is due at about the same time leaves in one pipeline.
 */
import type { Timer } from "../base/clock.ts";
import { ServerError } from "../base/errors.ts";
import type { Store } from "../connection/store.ts";
import type { KeptLease, Renewer } from "./renewal.ts";

/** Those of embedded stores that have anything to do. */
const embedded = new Set<LoopRenewer>();

export class LoopRenewer implements Renewer {
  readonly #store: Store;
  /** When each is due; Infinity while its renewal is under way. */
  readonly #due = new Map<KeptLease, number>();
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
    this.#schedule(lease, this.#store.clock.monotonicMs() + lease.task.leaseMs / 3);
  }

  remove(lease: KeptLease): void {
    this.#due.delete(lease);
    if (this.#due.size === 0) embedded.delete(this);
  }

  rescue(lease: KeptLease): boolean {
    const due = this.#due.get(lease);
    if (this.#store.topology !== "embedded" || due === undefined) return false;
    if (due !== Number.POSITIVE_INFINITY) {
      this.#due.set(lease, 0);
      this.#renewDue();
    }
    return true;
  }

  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
    embedded.delete(this);
    for (const lease of [...this.#due.keys()]) lease.lose("the store was closed");
  }

  #schedule(lease: KeptLease, dueMs: number): void {
    this.#due.set(lease, dueMs);
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
    for (const [lease, dueMs] of this.#due) {
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
    for (const lease of leases) this.#due.set(lease, Number.POSITIVE_INFINITY);
    let answers: readonly unknown[];
    try {
      answers = await this.#store.pipeline(leases.map(({ task }) => task.call()));
    } catch {
      answers = leases.map(() => undefined);
    }
    leases.forEach((lease, at) => {
      if (!this.#due.has(lease) || this.#closed) return;
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
