/**
 * Listening to a channel of the store. It is subscribed to when it is first needed, by one subscription however many ask for it
 * meanwhile, and again after an attempt that failed.
 *
 * Publish/subscribe loses messages: those from before the subscription is confirmed, and those from while its connection was lost.
 * A listener therefore hears of both moments (`begun`, `resumed`) and then looks at the store for itself. A channel that is closed
 * hears nothing more, also when its subscription was only on its way, and may be opened again.
 */
import type { Timer } from "../base/clock.ts";
import type { Store } from "../connection/store.ts";
import type { Subscription } from "../connection/subscriptions.ts";

export type ChannelStore = Pick<Store, "subscribe" | "clock" | "closed">;

/** What a channel tells. */
export interface ChannelEvents {
  /** A message, after the channel was opened. */
  message(message: Buffer): void;
  /** Messages arrive from now on. */
  begun?(): void;
  /** The connection was lost and is back: messages may be missing. */
  resumed(): void;
}

/**
 * Listens to one channel of a store, and says when messages may be missing.
 * @example
 * const heard: string[] = [];
 * const channel = new Channel(db, "news", { message: (message) => heard.push(message.toString()), resumed: () => {} });
 * await channel.open();
 * await db.publish("news", "hello"); // → 1
 * await channel.close();
 * channel.openEventually(1_000);
 */
export class Channel {
  readonly #store: ChannelStore;
  readonly #name: string;
  readonly #events: ChannelEvents;
  #opening: Promise<void> | null = null;
  #subscription: Subscription | null = null;
  #retryMs: number | null = null;
  #retry: Timer | null = null;

  constructor(store: ChannelStore, name: string, events: ChannelEvents) {
    this.#store = store;
    this.#name = name;
    this.#events = events;
  }

  /** Whether messages arrive, as long as the connection holds. */
  get isOpen(): boolean {
    return this.#subscription !== null;
  }

  /** Resolves when messages arrive. Rejects if the store cannot be reached; the next call tries again. */
  open(): Promise<void> {
    if (this.#opening !== null) return this.#opening;
    const opening: Promise<void> = this.#subscribe(() => this.#opening === opening);
    this.#opening = opening;
    opening.catch(() => {
      if (this.#opening === opening) this.#opening = null;
    });
    return opening;
  }

  async #subscribe(isCurrent: () => boolean): Promise<void> {
    const subscription = await this.#store.subscribe(
      this.#name,
      (message) => {
        if (isCurrent()) this.#events.message(message);
      },
      () => {
        if (isCurrent()) this.#events.resumed();
      },
    );
    // It was closed while it was on its way.
    if (!isCurrent()) return end(subscription);
    this.#subscription = subscription;
    this.#events.begun?.();
  }

  /** Opens it as soon as the store can be reached: tries again every `retryMs` until then. */
  openEventually(retryMs: number): void {
    this.#retryMs = retryMs;
    this.open().catch(() => {
      if (this.#retryMs === null || this.#store.closed) return;
      this.#retry = this.#store.clock.after(retryMs, () => this.openEventually(retryMs));
    });
  }

  /** Nothing is heard after the call. Waits for no subscription that is still on its way: the store may not answer. */
  async close(): Promise<void> {
    const subscription = this.#subscription;
    this.#retryMs = null;
    this.#retry?.cancel();
    this.#opening = null;
    this.#subscription = null;
    if (subscription !== null) await end(subscription);
  }

  /** The same as `close`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** What cannot be ended has ended: its connection is gone. */
const end = (subscription: Subscription): Promise<void> => subscription.close().catch(() => {});
