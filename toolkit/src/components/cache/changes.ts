/**
 * What others do to the cache, as far as this process must know: a value that it waits for is there, a value that it holds in
 * memory is not valid any more. Subscribed from the first need on. A lost message delays a waiter until the loader's lease is
 * over, and keeps a value in memory until its moment there is over; both are bounded.
 */
import type { Store } from "../../connection/store.ts";
import type { Subscription } from "../../connection/subscriptions.ts";

/** What becomes of values that this process has, and of those that it is about to have. */
export interface Outdated {
  key(key: string): void;
  tags(tags: ReadonlySet<string>): void;
  all(): void;
}

export interface Notice {
  /** Resolves when something has happened to the key. */
  readonly promise: Promise<void>;
  /** As if something had. */
  readonly wake: () => void;
  /** Aborted by `cancel`. */
  readonly signal: AbortSignal;
  cancel(): void;
}

export class Changes {
  readonly #store: Store;
  readonly #channel: string;
  readonly #outdated: Outdated;
  readonly #onError: (error: unknown) => void;
  readonly #waiting = new Map<string, Set<() => void>>();
  #subscription: Promise<Subscription | null> | null = null;
  #listening = false;

  constructor(store: Store, channel: string, outdated: Outdated, onError: (error: unknown) => void) {
    this.#store = store;
    this.#channel = channel;
    this.#outdated = outdated;
    this.#onError = onError;
  }

  /** Ask before reading, so that nothing that happens in between is missed. */
  next(key: string): Notice {
    let wake!: () => void;
    const promise = new Promise<void>((resolve) => {
      wake = () => resolve();
    });
    const waiting = this.#waiting.get(key) ?? new Set();
    this.#waiting.set(key, waiting);
    waiting.add(wake);
    const ending = new AbortController();
    return {
      promise,
      wake,
      signal: ending.signal,
      cancel: () => {
        waiting.delete(wake);
        if (waiting.size === 0 && this.#waiting.get(key) === waiting) this.#waiting.delete(key);
        ending.abort();
      },
    };
  }

  /** Whether messages are certain to arrive. If not, `listen` makes it so, and what happened before must be looked up. */
  get listening(): boolean {
    return this.#listening;
  }

  async listen(): Promise<void> {
    this.#subscribe();
    await this.#subscription;
  }

  #subscribe(): void {
    this.#subscription ??= this.#store
      .subscribe(
        this.#channel,
        (message) => this.#heard(message.toString("utf8")),
        () => this.#resumed(),
      )
      .then((subscription) => {
        this.#listening = true;
        // Of what was read before, changes may have been missed.
        this.#outdated.all();
        return subscription;
      })
      .catch((error) => {
        this.#subscription = null;
        if (this.#store.closed) return null;
        this.#onError(error);
        throw error;
      });
  }

  /** A key, or after a NUL the tags that were invalidated. */
  #heard(message: string): void {
    if (message.startsWith("\0")) {
      this.#outdated.tags(new Set(message.slice(1).split("\n")));
      return;
    }
    this.#outdated.key(message);
    for (const wake of this.#waiting.get(message) ?? []) wake();
  }

  /** Messages may be missing: nothing held is believed, and everybody looks again. */
  #resumed(): void {
    this.#outdated.all();
    for (const waiting of this.#waiting.values()) for (const wake of waiting) wake();
  }
}
