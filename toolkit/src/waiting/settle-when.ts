/**
 * One wait in this process that ends once: by what was waited for, after a time, by the caller's signal, or with the store.
 * However it ends, the timer is cancelled, nothing listens to a signal any more, and what `begin` has set up is taken down.
 *
 * The timer keeps the process alive: somebody waits for it. Signals that many share have one listener (base/abort.ts).
 */
import { onAbort } from "../base/abort.ts";
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

export interface Waiting<T> {
  settle(value: T): void;
  fail(error: unknown): void;
}

/** `begin` is told how to end the wait, and answers what takes down what it has set up. Not called where all is over already. */
export function settleWhen<T>(
  { clock, closeSignal }: EndingStore,
  { signal, timeoutMs, onTimeout, leave = atOnce }: Limits<T>,
  begin: (waiting: Waiting<T>) => () => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const stopped = closeSignal.aborted ? closeSignal : signal?.aborted === true ? signal : null;
    if (stopped !== null) return reject(stopped.reason);
    let isOver = false;
    let takeDown: (() => void) | null = null;
    const end = (): boolean => {
      if (isOver) return false;
      isOver = true;
      timer?.cancel();
      unhearClose();
      unhearSignal?.();
      takeDown?.();
      return true;
    };
    const settle = (value: T): void => {
      if (end()) resolve(value);
    };
    const fail = (error: unknown): void => {
      if (end()) reject(error);
    };
    const unhearClose = onAbort(closeSignal, () => leave(() => fail(closeSignal.reason)));
    const unhearSignal = signal && onAbort(signal, () => leave(() => fail(signal.reason)));
    const onTime = (): void => leave(() => settle(onTimeout));
    const timer = timeoutMs === undefined ? null : clock.after(timeoutMs, onTime, { keepAlive: true });
    takeDown = begin({ settle, fail });
    if (isOver) takeDown();
  });
}

const atOnce = (end: () => void): void => end();
