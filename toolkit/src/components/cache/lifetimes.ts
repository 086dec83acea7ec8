/** How long the values of a cache last. */
import { integer } from "../../base/checks.ts";
import type { Clock } from "../../base/clock.ts";
import type { CacheOptions, EntryOptions } from "./types.ts";

type Given = Pick<CacheOptions<unknown>, "freshMs" | "staleMs" | "errorStaleMs" | "jitter">;

export class Lifetimes {
  readonly #clock: Clock;
  readonly freshMs: number;
  readonly staleMs: number;
  /** Of the values that are kept for when making a new one fails. */
  readonly errorStaleMs: number;
  readonly jitter: number;

  constructor(clock: Clock, { freshMs = 300_000, staleMs = 0, errorStaleMs = 0, jitter = 0.1 }: Given) {
    this.#clock = clock;
    this.freshMs = freshMs;
    this.staleMs = staleMs;
    this.errorStaleMs = errorStaleMs;
    this.jitter = jitter;
  }

  /** How long it is remembered that a tag was invalidated, and so the longest life of an entry with tags. */
  get tagMemoryMs(): number {
    return Math.max(7 * 86_400_000, 2 * (this.freshMs + this.staleMs));
  }

  of(options: EntryOptions): { freshMs: number; keepMs: number } {
    const fresh = integer("freshMs", options.freshMs ?? this.freshMs, 1);
    const stale = integer("staleMs", options.staleMs ?? this.staleMs, 0);
    const freshMs = Math.max(1, Math.round(fresh * (1 - this.jitter * this.#clock.random())));
    const keepMs = freshMs + stale;
    // An entry must not outlive the note that makes it invalid.
    return { freshMs, keepMs: (options.tags?.length ?? 0) > 0 ? Math.min(keepMs, this.tagMemoryMs) : keepMs };
  }
}
