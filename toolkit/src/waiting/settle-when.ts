/**
 * One wait in this process that ends once: by what was waited for, after a time, by the caller's signal, or with the store.
 * However it ends, the timer is cancelled, nothing listens to a signal any more, and what `begin` has set up is taken down.
 *
 * The timer keeps the process alive: somebody waits for it. Signals that many share have one listener (base/abort.ts).
 */
import { onAbort } from "../base/abort.ts";
import type { Timer } from "../base/clock.ts";
import type { Store } from "../connection/store.ts";

export type EndingStore = Pick<Store, "clock" | "closeSignal">;

export interface Limits<T> {
  /** Rejects with its reason. */
  readonly signal?: AbortSignal | undefined;
  /** Without it, there is no end to the waiting. */
  readonly timeoutMs?: number | undefined;
  /** What it resolves with after `timeoutMs`. */
  readonly onTimeout: T;
  /** Calls `end` when time, signal or store may end the wait: at once by default, later where an answer is on its way. */
  readonly leave?: (end: () => void) => void;
}

/** How what is waited for ends the wait. Only the first end counts. */
export interface Waiting<T> {
  readonly settle: (value: T) => void;
  readonly fail: (error: unknown) => void;
}

/** `begin` is told how to end the wait, and answers what takes down what it has set up. Not called where all is over already. */
export function settleWhen<T>(
  { clock, closeSignal }: EndingStore,
  { signal, timeoutMs, onTimeout, leave = atOnce }: Limits<T>,
  begin: (waiting: Waiting<T>) => () => void,
): Promise<T> {
  if (closeSignal.aborted) return Promise.reject(closeSignal.reason);
  if (signal?.aborted === true) return Promise.reject(signal.reason);
  const wait = new OneWait<T>();
  wait.unhearClose = onAbort(closeSignal, () => leave(() => wait.fail(closeSignal.reason)));
  if (signal !== undefined) wait.unhearSignal = onAbort(signal, () => leave(() => wait.fail(signal.reason)));
  if (timeoutMs !== undefined) {
    wait.timer = clock.after(timeoutMs, () => leave(() => wait.settle(onTimeout)), KEEP_ALIVE);
  }
  try {
    wait.begun(begin(wait));
  } catch (error) {
    wait.fail(error);
  }
  return wait.promise;
}

const atOnce = (end: () => void): void => end();
const KEEP_ALIVE = { keepAlive: true };

/** A class and not a handful of closures, which cost more: contended locks make one for each turn. */
class OneWait<T> implements Waiting<T> {
  readonly promise: Promise<T>;
  timer: Timer | null = null;
  unhearClose: (() => void) | null = null;
  unhearSignal: (() => void) | null = null;
  #takeDown: (() => void) | null = null;
  #isOver = false;
  #resolve!: (value: T) => void;
  #reject!: (error: unknown) => void;

  constructor() {
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  readonly settle = (value: T): void => {
    if (this.#end()) this.#resolve(value);
  };

  readonly fail = (error: unknown): void => {
    if (this.#end()) this.#reject(error);
  };

  begun(takeDown: () => void): void {
    if (this.#isOver) takeDown();
    else this.#takeDown = takeDown;
  }

  #end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.timer?.cancel();
    this.unhearClose?.();
    this.unhearSignal?.();
    this.#takeDown?.();
    return true;
  }
}
