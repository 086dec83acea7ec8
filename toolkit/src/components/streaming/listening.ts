/**
 * A listener in this process: an async iterator over the messages. What has not been read waits in a bounded list; beyond that the
 * feed waits, and a loop that stands still for too long is ended, with a last message that says so.
 */

import { onAbort } from "../../base/abort.ts";
import type { Entry } from "./entry.ts";
import type { Feed } from "./feed.ts";
import type { EndMessage, GapMessage, StreamMessage } from "./messages.ts";

/**
 * It is an `Outlet`, too: that is internal, so its declaration does not say so.
 *
 * @example
 * const stream = new StatusStream(db, "public");
 * await stream.publish({ kind: "status", id: "1", userId: "4", login: "ann", text: "hello", atMs: 1_000 });
 * const listening = await stream.events({ all: true }, { from: "oldest" });
 * (await listening.next()).value; // → { cursor: "…", kind: "status", id: "1", userId: "4", login: "ann", text: "hello", atMs: 1000 }
 * listening.close();
 * await listening.return(); // → { done: true }
 */
export class Listening implements AsyncIterableIterator<StreamMessage> {
  readonly #maxWaiting: number;
  #waiting: StreamMessage[] = [];
  #read = 0;
  #wake: (() => void) | null = null;
  #drained: (() => void) | null = null;
  #over = false;
  #feed: Feed | null = null;
  #removeFromSignal = (): void => {};

  /** Made by `stream.events`. */
  constructor(maxWaiting: number, signal: AbortSignal | undefined) {
    this.#maxWaiting = maxWaiting;
    if (signal === undefined) return;
    this.#removeFromSignal = onAbort(signal, () => this.close());
  }

  /** @internal */
  join(feed: Feed): void {
    this.#feed = feed;
    if (this.#over) feed.close();
  }

  /** Everything up to here has been handed to this listener, or was not asked for. What it has not read yet is included. */
  get cursor(): string {
    return this.#feed!.cursor;
  }

  /** Ends it; the loop over it ends after what it has not read yet. */
  close(): void {
    this.#finish();
    this.#feed?.close();
  }

  /** The same as `close()`. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  /** The next message, waiting for it if there is none. Done after `close()`, when everything was read. */
  async next(): Promise<IteratorResult<StreamMessage>> {
    for (;;) {
      const message = this.#waiting[this.#read];
      if (message !== undefined) {
        if (++this.#read === this.#waiting.length) {
          this.#waiting = [];
          this.#read = 0;
          this.#drained?.();
        }
        return { value: message, done: false };
      }
      if (this.#over) return { value: undefined, done: true };
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Ends it, without what was not read yet: what a loop calls when it is left. */
  async return(): Promise<IteratorResult<StreamMessage>> {
    this.#waiting = [];
    this.#read = 0;
    this.close();
    return { value: undefined, done: true };
  }

  /** It is its own iterator. */
  [Symbol.asyncIterator](): this {
    return this;
  }

  // ---------------------------------------------------------------------------------------------- for the feed

  /** @internal */
  send(entries: readonly Entry[]): boolean {
    for (const { cursor, event } of entries) this.#waiting.push({ cursor, ...event });
    this.#wake?.();
    return this.#waiting.length - this.#read < this.#maxWaiting;
  }

  /** @internal */
  gap(message: GapMessage): void {
    this.#waiting.push(message);
    this.#wake?.();
  }

  /** @internal */
  end(message: EndMessage): void {
    this.#waiting.push(message);
    this.#finish();
  }

  /** @internal */
  drained(): Promise<void> {
    if (this.#waiting.length === 0 || this.#over) return Promise.resolve();
    return new Promise((resolve) => {
      this.#drained = resolve;
    });
  }

  #finish(): void {
    this.#over = true;
    this.#removeFromSignal();
    this.#wake?.();
    this.#drained?.();
  }
}
