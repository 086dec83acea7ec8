/**
 * A worker's session on one shard: its jobs there are leased together, and renewed as one (scripts/sessions.ts).
 *
 * When an answer is lost, jobs may have been leased to the session that nobody here has heard of. It is in doubt then, as it is before
 * it has begun and after its lease has run out; before the next cycle the worker makes sure of it by joining: what is not held here is
 * put back at once, and what is held here and lost is told.
 */
import type { Word } from "../../connection/port.ts";
import type { Store } from "../../connection/store.ts";
import { type KeptLease, Renewal } from "../../leases/renewal.ts";
import type { Figures } from "./figures.ts";
import type { QueueKeys } from "./keys.ts";
import { joinSession, leaveSession, renewSession } from "./scripts/sessions.ts";

/** Of each lease this part is counted on, for clocks that run at different rates. */
const VALID_PART = 0.99;
const NONE = "0";

export interface SessionFacts {
  readonly store: Store;
  readonly keys: QueueKeys;
  readonly leaseMs: number;
  /** Whose it is, and what that worker has done. */
  readonly figures: Figures;
  /** Others may have the jobs from now on. */
  readonly onLost: () => void;
}

export class Session {
  readonly #facts: SessionFacts;
  #id = NONE;
  #isDoubtful = true;
  #isOver = false;
  #kept: KeptLease | null = null;

  constructor(facts: SessionFacts) {
    this.#facts = facts;
  }

  get id(): string {
    return this.#id;
  }

  get isDoubtful(): boolean {
    return this.#isDoubtful;
  }

  doubt(): void {
    this.#isDoubtful = true;
  }

  /** Makes sure of it, or begins another. `held`: id and fence of each job in hand. Answers the ids of those that are lost. */
  async join(held: readonly Word[]): Promise<readonly string[]> {
    const { store, keys, leaseMs, figures } = this.#facts;
    const sentMs = store.clock.monotonicMs();
    const params = { session: this.#id, leaseMs, worker: figures.identity.name, figures: figures.text, held };
    const { session, lost } = await store.run(joinSession, { ...keys, ...params });
    this.#isDoubtful = false;
    if (!this.#isOver) this.#keep(session, sentMs);
    return lost;
  }

  #keep(id: string, sentMs: number): void {
    if (id === this.#id && this.#kept !== null) return;
    this.#kept?.end();
    this.#id = id;
    const { store, keys, leaseMs, onLost } = this.#facts;
    const renewal = renewSession.with({ data: keys.data, timers: keys.timers, session: id, leaseMs });
    this.#kept = Renewal.of(store).keep({
      call: () => renewal,
      leaseMs,
      validUntilMs: sentMs + leaseMs * VALID_PART,
      renew: true,
      onLost: () => {
        this.#kept = null;
        this.#isDoubtful = true;
        onLost();
      },
    });
  }

  /** Ends it: what is still leased to it runs again at once. */
  async leave(): Promise<void> {
    this.#isOver = true;
    this.#kept?.end();
    const { store, keys } = this.#facts;
    if (this.#id === NONE || store.closed) return;
    await store.run(leaveSession, { ...keys, session: this.#id }).catch(() => {});
  }
}
