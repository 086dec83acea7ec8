/**
 * Hears of what several servers give to one caller that waits in all their lines. Messages are hints: the caller asks the servers
 * when enough of them have said that it is its turn, soon after some of them have, and in any case after a while.
 */
import { onAbort } from "../../base/abort.ts";
import type { Clock, Timer } from "../../base/clock.ts";
import type { Store } from "../../connection/store.ts";
import { Mailbox } from "../../leases/mailbox.ts";
import { settleWhen } from "../../waiting/settle-when.ts";

/** The lock outlives single stores, so the end of one of them does not end the waiting. */
const NEVER = new AbortController().signal;

export interface Patience {
  /** Servers that have given it, as far as their last answers tell. */
  readonly held: readonly Store[];
  readonly majority: number;
  /** How long to wait for messages at all, and how long for more of them after the first. */
  readonly pollMs: number;
  readonly retryMs: number;
  readonly signal: AbortSignal | undefined;
}

export class QuorumHints {
  readonly #stores: readonly Store[];
  readonly #token: string;
  readonly #clock: Clock;
  /** Servers that have given it since they were last asked. */
  readonly #given = new Set<Store>();
  #heard: (() => void) | null = null;
  #isInterrupted = false;
  readonly #unhear: (() => void)[] = [];

  constructor(stores: readonly Store[], token: string, clock: Clock) {
    this.#stores = stores;
    this.#token = token;
    this.#clock = clock;
    const interrupted = (): void => {
      this.#isInterrupted = true;
      this.#heard?.();
    };
    for (const store of stores) {
      this.#unhear.push(onAbort(store.closeSignal, interrupted));
      Mailbox.of(store).expect(token, {
        granted: () => {
          this.#given.add(store);
          this.#heard?.();
        },
        interrupted,
      });
    }
  }

  /** What came before is part of the answers to what is asked now. */
  begin(): void {
    this.#given.clear();
    this.#isInterrupted = false;
  }

  /** Until it is worth asking again. Rejects with the signal's reason. */
  wait({ held, majority, pollMs, retryMs, signal }: Patience): Promise<void> {
    const isEnough = (): boolean => this.#isInterrupted || new Set([...held, ...this.#given]).size >= majority;
    const limits = { signal, timeoutMs: pollMs, onTimeout: undefined };
    return settleWhen<void>({ clock: this.#clock, closeSignal: NEVER }, limits, ({ settle }) => {
      let soon: Timer | null = null;
      this.#heard = () => {
        if (isEnough()) settle();
        else if (this.#given.size > 0) soon ??= this.#clock.after(retryMs, settle, { keepAlive: true });
      };
      this.#heard();
      return () => {
        soon?.cancel();
        this.#heard = null;
      };
    });
  }

  end(): void {
    for (const unhear of this.#unhear) unhear();
    for (const store of this.#stores) Mailbox.of(store).forget(this.#token);
  }
}
