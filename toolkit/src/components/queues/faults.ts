/**
 * What goes wrong between a worker and its store, on one shard. A fault is told, and then there is a pause, which grows from fault to
 * fault; the worker goes on after it. The end of the store is the end of the work on the shard, and so is `stop`.
 */
import { sleep } from "../../base/clock.ts";
import { ClosedError } from "../../base/errors.ts";
import type { Store } from "../../connection/store.ts";

const RETRY_MS = 100;
const LONGEST_PAUSE_MS = 2_000;

export class Faults {
  readonly #store: Store;
  readonly #tell: (error: unknown) => void;
  readonly #stopping = new AbortController();
  #inARow = 0;

  constructor(store: Store, tell: (error: unknown) => void) {
    this.#store = store;
    this.#tell = tell;
  }

  get isStopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  stop(): void {
    this.#stopping.abort();
  }

  /** The store has answered. */
  overcome(): void {
    this.#inARow = 0;
  }

  /** Resolves when it is time to go on. */
  async after(error: unknown): Promise<void> {
    if (this.isStopped) return;
    if (error instanceof ClosedError || this.#store.closed) return this.stop();
    this.#tell(error);
    const { clock } = this.#store;
    const pauseMs = Math.min(RETRY_MS * 2 ** this.#inARow++, LONGEST_PAUSE_MS) * (0.5 + clock.random() / 2);
    await sleep(clock, pauseMs, this.#stopping.signal).catch(() => {});
  }
}
