/** All subscriptions of a store over one connection, made when the first is asked for and ended with the last. */
import { ClosedError } from "../base/errors.ts";
import type { Driver, Subscriber } from "./port.ts";

/** A listener to a channel, which `store.subscribe` has added. */
export interface Subscription {
  /** Ends it; no message is delivered after the call. */
  close(): Promise<void>;
}

interface Listener {
  readonly onMessage: (message: Buffer) => void;
  readonly onResumed: (() => void) | undefined;
}

export class Subscriptions {
  readonly #driver: Driver;
  readonly #channels = new Map<string, Set<Listener>>();
  #subscriber: Promise<Subscriber> | null = null;
  #closed = false;

  constructor(driver: Driver) {
    this.#driver = driver;
  }

  async add(
    channel: string,
    onMessage: (message: Buffer) => void,
    onResumed: (() => void) | undefined,
  ): Promise<Subscription> {
    if (this.#closed) throw new ClosedError();
    const listener: Listener = { onMessage, onResumed };
    const listeners = this.#channels.get(channel) ?? new Set();
    this.#channels.set(channel, listeners);
    listeners.add(listener);
    try {
      const subscriber = await this.#open();
      // Also for a second listener: it may have come before the first one's subscription is confirmed.
      await subscriber.subscribe(channel);
    } catch (error) {
      this.#forget(channel, listener);
      throw error;
    }
    return { close: () => this.#remove(channel, listener) };
  }

  #open(): Promise<Subscriber> {
    this.#subscriber ??= this.#driver
      .subscriber({
        message: (channel, message) => {
          for (const listener of [...(this.#channels.get(channel) ?? [])]) listener.onMessage(message);
        },
        resumed: () => {
          for (const listeners of [...this.#channels.values()]) for (const each of listeners) each.onResumed?.();
        },
      })
      .catch((error) => {
        this.#subscriber = null;
        throw error;
      });
    return this.#subscriber;
  }

  /** True when nobody listens to the channel any more. */
  #forget(channel: string, listener: Listener): boolean {
    const listeners = this.#channels.get(channel);
    if (listeners?.delete(listener) !== true || listeners.size > 0) return false;
    this.#channels.delete(channel);
    return true;
  }

  async #remove(channel: string, listener: Listener): Promise<void> {
    if (!this.#forget(channel, listener) || this.#closed || this.#subscriber === null) return;
    const subscriber = await this.#subscriber;
    // Somebody may have come meanwhile.
    if (!this.#channels.has(channel)) await subscriber.unsubscribe(channel).catch(() => {});
  }

  close(): void {
    this.#closed = true;
    this.#channels.clear();
    this.#subscriber?.then(
      (subscriber) => subscriber.destroy(),
      () => {},
    );
    this.#subscriber = null;
  }
}
