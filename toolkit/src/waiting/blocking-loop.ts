/**
 * Waiting on the server, again and again: BLPOP, XREAD BLOCK and their like, in rounds over a connection of its own.
 *
 * A round waits once and does what follows from the answer. What is lost with a connection is not asked for again here: a round
 * reads on from where the last one came to, or takes the truth from a script. After a fault there is a pause and another round, so
 * a server that is gone is not asked without end. The loop ends when nobody wants another round, when it is closed (also in the
 * middle of a wait), and with the store.
 *
 * The connection is made with the first wait and kept from run to run: a loop that is needed now and then does not connect each time.
 */
import { onAbort } from "../base/abort.ts";
import { sleep } from "../base/clock.ts";
import { ClosedError } from "../base/errors.ts";
import type { WaitOptions } from "../connection/blocking.ts";
import type { Reply, Word } from "../connection/port.ts";
import type { Store } from "../connection/store.ts";

/** What is needed of a connection for commands that wait. */
export interface BlockingCalls {
  call(words: readonly Word[], options: WaitOptions): Promise<Reply>;
  close(): void;
}

export interface BlockingStore extends Pick<Store, "clock" | "closeSignal"> {
  blocking(key: string): BlockingCalls;
}

export interface Rounds {
  /** One round. `wait` sends one command that waits on the server that has the key, always the same in one loop. */
  round(wait: Wait): Promise<void>;
  /** Asked before each round; without it, the loop goes on until it is closed. */
  isWanted?(): boolean;
  /** A round that failed, unless the loop has ended; false ends it. */
  onFault?(error: unknown): boolean;
}

export type Wait = (key: string, words: readonly Word[], options: Omit<WaitOptions, "signal">) => Promise<Reply>;

const PAUSE_AFTER_FAULT_MS = 200;

export class BlockingLoop {
  readonly #store: BlockingStore;
  readonly #rounds: Rounds;
  readonly #ending = new AbortController();
  #connection: BlockingCalls | null = null;
  #isRunning = false;
  #run = Promise.resolve();

  constructor(store: BlockingStore, rounds: Rounds) {
    this.#store = store;
    this.#rounds = rounds;
  }

  /** Resolves when the loop has ended. A call while it runs changes nothing. */
  run(): Promise<void> {
    if (!this.#isRunning) this.#run = this.#runOnce();
    return this.#run;
  }

  /** Ends it at once, and its connection. */
  close(): void {
    this.#ending.abort(new ClosedError("the loop is closed"));
    this.#connection?.close();
  }

  async #runOnce(): Promise<void> {
    const { clock, closeSignal } = this.#store;
    const { signal } = this.#ending;
    const { isWanted, onFault } = this.#rounds;
    if (closeSignal.aborted) return;
    this.#isRunning = true;
    const forget = onAbort(closeSignal, () => this.close());
    try {
      while (!signal.aborted && isWanted?.call(this.#rounds) !== false) {
        try {
          await this.#rounds.round(this.#wait);
        } catch (error) {
          if (signal.aborted || error instanceof ClosedError) return;
          if (onFault?.call(this.#rounds, error) === false) return;
          await sleep(clock, PAUSE_AFTER_FAULT_MS, signal).catch(() => {});
        }
      }
    } finally {
      forget();
      // In one step with the decision to end: who comes after it runs it again.
      this.#isRunning = false;
    }
  }

  readonly #wait: Wait = (key, words, options) => {
    this.#connection ??= this.#store.blocking(key);
    return this.#connection.call(words, { ...options, signal: this.#ending.signal });
  };
}
