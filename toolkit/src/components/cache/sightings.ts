/** What this process has seen of the values of a cache: whether a glance at one is likely to be enough. */
import type { Clock } from "../../base/clock.ts";

/**
 * A glance costs a third of what the script does, and a round trip more where it is not enough. So what this process has not seen
 * before is worth one only if so many of the like are there.
 */
const WORTH_A_GLANCE = 0.9;
/** How much the latest question counts in the rate of hits. */
const LATEST = 1 / 32;
/** Of the values that this process has seen, how many are remembered. */
const MOST_SEEN = 10_000;

export class Sightings {
  readonly #clock: Clock;
  /** Values that were seen, and until when they last by this process's clock. */
  readonly #lasting = new Map<string, number>();
  /** Of the latest questions about others, the part that a glance could answer. */
  #hitRate = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether a glance is likely to be enough. */
  isLikely(key: string): boolean {
    const until = this.#lasting.get(key);
    return until === undefined ? this.#hitRate >= WORTH_A_GLANCE : until > this.#clock.monotonicMs();
  }

  /** Whether a glance was, or would have been, enough. */
  learn(key: string, isHit: boolean): void {
    if (!this.#lasting.has(key)) this.#hitRate += ((isHit ? 1 : 0) - this.#hitRate) * LATEST;
  }

  lasts(key: string, ms: number): void {
    if (this.#lasting.size >= MOST_SEEN) this.#lasting.clear();
    this.#lasting.set(key, this.#clock.monotonicMs() + ms);
  }

  forget(key: string): void {
    this.#lasting.delete(key);
  }

  clear(): void {
    this.#lasting.clear();
  }
}
