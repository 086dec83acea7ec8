/** What both kinds of queue take. */
import type { Codec } from "../../base/codec.ts";
import { codec, defineOptions, patience, prefix, signal, whole } from "../../base/options.ts";
import type { WaitOptions } from "./line.ts";

/** What a `BoundedQueue` or `PriorityQueue` may be given. */
export interface BlockingQueueOptions<T> {
  /** How all keys begin (default "bounded-queue" or "priority-queue"). */
  readonly prefix?: string;
  /** How many values it holds; the same in all processes. 10 000 by default. */
  readonly capacity?: number;
  /** JSON by default. */
  readonly codec?: Codec<T>;
  /** Of one value, encoded; a larger one is an InputError (default 1 MiB). */
  readonly maxBytes?: number;
}

/** How many values to take. */
export interface TakeManyOptions {
  /** At most so many, up to 1 000 (default 100). */
  readonly limit?: number;
}

/** How to end an iteration. */
export interface ValuesOptions {
  /** Ends the iteration without an error. None by default. */
  readonly signal?: AbortSignal;
}

export const making = { prefix, capacity: whole(1, 10_000_000), codec, maxBytes: whole(1) };
export const waitChecks = { waitMs: patience, signal };
export const DEFAULTS = { capacity: 10_000, maxBytes: 1_048_576 };
export const MOST_TAKEN = 1_000;

export const TAKE_OPTIONS = defineOptions<WaitOptions>("BlockingQueue.take", waitChecks);
export const TAKE_MANY_OPTIONS = defineOptions<TakeManyOptions>("BlockingQueue.takeMany", {
  limit: whole(1, MOST_TAKEN),
});
export const VALUES_OPTIONS = defineOptions<ValuesOptions>("BlockingQueue.values", { signal });
