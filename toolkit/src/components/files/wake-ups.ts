/**
 * Waiting for something to happen in a channel. Messages are hints: whoever waits looks again after each, and after a while
 * without any. The channel is subscribed to before the first look, so that nothing can happen unseen between look and wait.
 */

import { onAbort } from "../../base/abort.ts";
import type { Store } from "../../connection/store.ts";
import type { Subscription } from "../../connection/subscriptions.ts";

/** "b": blocks or the end of a file; "f": a file; "r": room. */
export type Happening = "b" | "f" | "r";

interface Waiting {
  readonly kinds: string;
  wake(): void;
}

export class WakeUps {
  readonly #store: Store;
  readonly #channel: string;
  readonly #waiting = new Set<Waiting>();
  /** How often each has happened. */
  readonly #seen: Record<string, number> = { b: 0, f: 0, r: 0 };
  #subscription: Promise<Subscription> | null = null;
  #users = 0;

  constructor(store: Store, channel: string) {
    this.#store = store;
    this.#channel = channel;
  }

  /**
   * Looks until there is something to see. `look` answers null for nothing yet, and may say through `again` how soon to look again
   * in any case. Rejects when the signal is aborted or the store is closed.
   */
  async until<T>(
    kinds: Happening | "bf",
    look: (again: (ms: number) => void) => Promise<T | null>,
    options: { readonly signal?: AbortSignal | undefined; readonly pollMs: number },
  ): Promise<T> {
    const { signal, pollMs } = options;
    signal?.throwIfAborted();
    // Most often there is nothing to wait for.
    const first = await look(() => {});
    if (first !== null) return first;
    this.#users++;
    try {
      await this.#subscribe();
      for (;;) {
        const before = this.#count(kinds);
        let soonMs = pollMs;
        const seen = await look((ms) => {
          soonMs = Math.min(soonMs, Math.max(1, ms));
        });
        if (seen !== null) return seen;
        if (this.#count(kinds) === before) await this.#next(kinds, soonMs, signal);
        signal?.throwIfAborted();
      }
    } finally {
      if (--this.#users === 0) this.#unsubscribe();
    }
  }

  #count(kinds: string): number {
    let count = 0;
    for (const kind of kinds) count += this.#seen[kind]!;
    return count;
  }

  #next(kinds: string, ms: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const stops = [this.#store.closeSignal, ...(signal === undefined ? [] : [signal])];
      let forget: (() => void)[] = [];
      const end = (): void => {
        timer.cancel();
        this.#waiting.delete(waiting);
        for (const each of forget) each();
      };
      const waiting: Waiting = {
        kinds,
        wake: () => {
          end();
          resolve();
        },
      };
      const interrupted = (): void => {
        end();
        reject(stops.find(({ aborted }) => aborted)!.reason);
      };
      const timer = this.#store.clock.after(ms, waiting.wake, { keepAlive: true });
      if (stops.some(({ aborted }) => aborted)) return interrupted();
      forget = stops.map((stop) => onAbort(stop, interrupted));
      this.#waiting.add(waiting);
    });
  }

  #happened(kind: string): void {
    this.#seen[kind] = (this.#seen[kind] ?? 0) + 1;
    for (const waiting of [...this.#waiting]) if (waiting.kinds.includes(kind)) waiting.wake();
  }

  async #subscribe(): Promise<void> {
    this.#subscription ??= this.#store.subscribe(
      this.#channel,
      (message) => this.#happened(message.toString("latin1")),
      () => {
        for (const kind of ["b", "f", "r"]) this.#happened(kind);
      },
    );
    try {
      await this.#subscription;
    } catch (error) {
      this.#subscription = null;
      throw error;
    }
  }

  /** Kept for a moment: who has waited once often waits again. */
  #unsubscribe(): void {
    this.#store.clock.after(1_000, () => {
      if (this.#users > 0 || this.#subscription === null) return;
      const subscription = this.#subscription;
      this.#subscription = null;
      subscription.then((each) => each.close()).catch(() => {});
    });
  }
}
