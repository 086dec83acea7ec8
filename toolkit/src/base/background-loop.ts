/**
 * Work that is done again and again beside everything else: cleaners, pollers, refreshers. It starts and stops, survives a lost
 * connection by waiting longer from failure to failure, ends with the store, and does not keep the process alive.
 */

import type { Store } from "../connection/store.ts";
import type { Timer } from "./clock.ts";
import { ClosedError } from "./errors.ts";

const LONGEST_PAUSE_MS = 30_000;

export interface LoopOptions {
  /** The pause after a round that found nothing to do; after one that did something, the next begins at once. */
  readonly everyMs: number;
  /** One round of the work; answers how much it did. The signal asks a long one to end early. */
  readonly round: (signal: AbortSignal) => Promise<number>;
  readonly onError?: (error: unknown) => void;
}

export class BackgroundLoop {
  readonly #store: Store;
  readonly #options: LoopOptions;
  #stopping: AbortController | null = null;
  #timer: Timer | null = null;
  #round: Promise<unknown> = Promise.resolve();
  #failures = 0;
  #removeFromStore = (): void => {};

  constructor(store: Store, options: LoopOptions) {
    this.#store = store;
    this.#options = options;
  }

  get running(): boolean {
    return this.#stopping !== null;
  }

  /** A round by hand, whether the loop is running or not. */
  runOnce(): Promise<number> {
    return this.#options.round(new AbortController().signal);
  }

  start(): this {
    if (this.#stopping !== null) return this;
    if (this.#store.closed)
      throw new ClosedError("the store is closed; what works on it in the background cannot start");
    const stopping = new AbortController();
    this.#stopping = stopping;
    this.#removeFromStore = this.#store.on("close", () => this.stop());
    this.#schedule(0, stopping);
    return this;
  }

  /** Resolves when the round that is under way is over. */
  async stop(): Promise<void> {
    this.#stopping?.abort(new Error("the loop is stopped"));
    this.#stopping = null;
    this.#timer?.cancel();
    this.#removeFromStore();
    await this.#round;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #schedule(ms: number, stopping: AbortController): void {
    this.#timer = this.#store.clock.after(ms, () => {
      this.#round = this.#run(stopping);
    });
  }

  async #run(stopping: AbortController): Promise<void> {
    const { everyMs, round, onError } = this.#options;
    let pause = everyMs;
    try {
      const done = await round(stopping.signal);
      this.#failures = 0;
      if (done > 0) pause = 0;
    } catch (error) {
      this.#failures++;
      const longest = Math.min(LONGEST_PAUSE_MS, Math.max(100, everyMs) * 2 ** Math.min(this.#failures, 10));
      pause = longest * (0.5 + this.#store.clock.random() / 2);
      if (!stopping.signal.aborted) onError?.(error);
    }
    if (this.#stopping === stopping) this.#schedule(pause, stopping);
  }
}
