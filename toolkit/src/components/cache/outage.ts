/** A store that a cache cannot use: one that cannot be reached is left alone for a while, one that takes no writes can be read. */
import type { Clock } from "../../base/clock.ts";
import { isUnavailable, type ServerError } from "../../base/errors.ts";

/** How long a store that could not be reached is left alone. */
const BREAK_MS = 1_000;

export class Outage {
  readonly #clock: Clock;
  readonly #onError: (error: unknown) => void;
  /** Until then the store is left alone, and nobody is told again of a store that takes no writes. */
  #brokenUntil = 0;
  #toldUntil = 0;

  constructor(clock: Clock, onError: (error: unknown) => void) {
    this.#clock = clock;
    this.#onError = onError;
  }

  /** Whether the store is left alone now. */
  get isOn(): boolean {
    return this.#clock.monotonicMs() < this.#brokenUntil;
  }

  /** Notes that the store cannot be used, and throws what says something else. */
  unreachable(error: unknown): void {
    if (!isUnavailable(error)) throw error;
    this.#brokenUntil = this.#clock.monotonicMs() + BREAK_MS;
    this.#onError(error);
  }

  /** The store takes no writes, and its entries can be read. Told once in a while: it is so for every value that is not there. */
  refused(error: ServerError): void {
    const now = this.#clock.monotonicMs();
    if (now < this.#toldUntil) return;
    this.#toldUntil = now + BREAK_MS;
    this.#onError(error);
  }
}
