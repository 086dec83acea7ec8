/**
 * Waiting for something to happen in a channel. Messages are hints: a waiting process looks again after each, and after a while
 * without any. The channel is subscribed to before the first look, so that nothing can happen unseen between look and wait.
 */
import type { Store } from "../../connection/store.ts";
import { Channel } from "../../waiting/channel.ts";
import { settleWhen } from "../../waiting/settle-when.ts";
import type { ChannelKeys } from "./keys.ts";

/** "b": blocks or the end of a file; "f": a file; "r": room. */
export type Happening = "b" | "f" | "r";

interface Waiting {
  readonly kinds: string;
  wake(): void;
}

/** What everybody who reads or writes through a channel of files stands on. */
export interface FileChannel {
  readonly store: Store;
  readonly keys: ChannelKeys;
  readonly wakeUps: WakeUps;
}

export class WakeUps {
  readonly #store: Store;
  readonly #channel: Channel;
  readonly #waiting = new Set<Waiting>();
  /** How often each has happened. */
  readonly #seen: Record<string, number> = { b: 0, f: 0, r: 0 };
  #users = 0;

  constructor(store: Store, channel: string) {
    this.#store = store;
    this.#channel = new Channel(store, channel, {
      message: (message) => this.#happened(message.toString("latin1")),
      resumed: () => {
        for (const kind of ["b", "f", "r"]) this.#happened(kind);
      },
    });
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
      await this.#channel.open();
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
      if (--this.#users === 0) this.#closeSoon();
    }
  }

  #count(kinds: string): number {
    let count = 0;
    for (const kind of kinds) count += this.#seen[kind] ?? 0;
    return count;
  }

  #next(kinds: string, ms: number, signal: AbortSignal | undefined): Promise<void> {
    return settleWhen<void>(this.#store, { signal, timeoutMs: ms, onTimeout: undefined }, ({ settle }) => {
      const waiting: Waiting = { kinds, wake: settle };
      this.#waiting.add(waiting);
      return () => this.#waiting.delete(waiting);
    });
  }

  #happened(kind: string): void {
    this.#seen[kind] = (this.#seen[kind] ?? 0) + 1;
    for (const waiting of [...this.#waiting]) if (waiting.kinds.includes(kind)) waiting.wake();
  }

  /** Kept for a moment: who has waited once often waits again. */
  #closeSoon(): void {
    this.#store.clock.after(1_000, () => {
      if (this.#users === 0) void this.#channel.close();
    });
  }
}
