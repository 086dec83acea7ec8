/**
 * What others do to the cache, as far as this process must know: a value that it waits for is there, a value that it holds in
 * memory is not valid any more. Subscribed from the first need on. A lost message delays a waiter until the loader's lease is
 * over, and keeps a value in memory until its moment there is over; both are bounded.
 */
import type { Store } from "../../connection/store.ts";
import { Channel } from "../../waiting/channel.ts";

/** A message: anything may have changed. No tag is called so. */
export const EVERYTHING = "\0\0";

/** What becomes of values that this process has, and of those that it is about to have. */
export interface Outdated {
  key(key: string): void;
  tags(tags: ReadonlySet<string>): void;
  all(): void;
}

/** Whether something has happened to a key since somebody began to read it. */
export class Notice {
  readonly cancel: () => void;
  #happened = false;
  #listener: (() => void) | null = null;

  constructor(cancel: (notice: Notice) => void) {
    this.cancel = () => cancel(this);
  }

  happen(): void {
    this.#happened = true;
    this.#listener?.();
  }

  /** Called when something happens, at once if it has. Returns what takes it back. */
  listen(listener: () => void): () => void {
    if (this.#happened) listener();
    else this.#listener = listener;
    return () => {
      this.#listener = null;
    };
  }
}

export class Changes {
  readonly #store: Store;
  readonly #channel: Channel;
  readonly #outdated: Outdated;
  readonly #onError: (error: unknown) => void;
  readonly #waiting = new Map<string, Set<Notice>>();
  #opening: Promise<void> | null = null;

  constructor(store: Store, channel: string, outdated: Outdated, onError: (error: unknown) => void) {
    this.#store = store;
    this.#outdated = outdated;
    this.#onError = onError;
    this.#channel = new Channel(store, channel, {
      message: (message) => this.#heard(message.toString("utf8")),
      // Of what was read before, changes may have been missed.
      begun: () => outdated.all(),
      resumed: () => this.#resumed(),
    });
  }

  /** Ask before reading, so that nothing that happens in between is missed. */
  next(key: string): Notice {
    const waiting = this.#waiting.get(key) ?? new Set();
    this.#waiting.set(key, waiting);
    const notice = new Notice((each) => {
      waiting.delete(each);
      if (waiting.size === 0 && this.#waiting.get(key) === waiting) this.#waiting.delete(key);
    });
    waiting.add(notice);
    return notice;
  }

  /** Whether messages are certain to arrive. If not, `listen` makes it so, and what happened before must be looked up. */
  get listening(): boolean {
    return this.#channel.isOpen;
  }

  /** Many callers share one attempt, and a failure is told to `onError` once. */
  listen(): Promise<void> {
    this.#opening ??= this.#channel.open().catch((error) => {
      this.#opening = null;
      if (this.#store.closed) return;
      this.#onError(error);
      throw error;
    });
    return this.#opening;
  }

  /** A key, or after a NUL the tags that were invalidated. */
  #heard(message: string): void {
    if (message === EVERYTHING) {
      this.#resumed();
      return;
    }
    if (message.startsWith("\0")) {
      this.#outdated.tags(new Set(message.slice(1).split("\n")));
      return;
    }
    this.#outdated.key(message);
    for (const notice of this.#waiting.get(message) ?? []) notice.happen();
  }

  /** Messages may be missing: nothing held is believed, and everybody looks again. */
  #resumed(): void {
    this.#outdated.all();
    for (const waiting of this.#waiting.values()) for (const notice of waiting) notice.happen();
  }
}
