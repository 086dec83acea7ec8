/** The part of a cache that is in this process: bounded by number, each value believed for a moment only. */
import type { Clock } from "../clock.ts";

interface Held<T> {
  readonly value: T;
  readonly until: number;
  readonly tags: readonly string[];
}

export class MemoryCache<T> {
  readonly #clock: Clock;
  readonly #max: number;
  /** In the order of last use. */
  readonly #held = new Map<string, Held<T>>();

  constructor(clock: Clock, max: number) {
    this.#clock = clock;
    this.#max = max;
  }

  get(key: string): Held<T> | undefined {
    const held = this.#held.get(key);
    if (held === undefined) return undefined;
    this.#held.delete(key);
    if (held.until <= this.#clock.monotonicMs()) return undefined;
    this.#held.set(key, held);
    return held;
  }

  set(key: string, value: T, forMs: number, tags: readonly string[]): void {
    this.#held.delete(key);
    if (this.#held.size >= this.#max) this.#held.delete(this.#held.keys().next().value!);
    this.#held.set(key, { value, until: this.#clock.monotonicMs() + forMs, tags });
  }

  delete(key: string): void {
    this.#held.delete(key);
  }

  deleteTagged(tags: ReadonlySet<string>): void {
    for (const [key, held] of this.#held) if (held.tags.some((tag) => tags.has(tag))) this.#held.delete(key);
  }

  clear(): void {
    this.#held.clear();
  }
}
