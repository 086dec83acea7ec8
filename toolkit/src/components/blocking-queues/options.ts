/** What both kinds of queue take. */
import type { Codec } from "../../base/codec.ts";
import { codec, defineOptions, patience, prefix, signal, whole } from "../../base/options.ts";
import type { WaitOptions } from "./line.ts";

export interface BlockingQueueOptions<T> {
  readonly prefix?: string;
  /** How many values it holds; the same in all processes. 10 000 by default. */
  readonly capacity?: number;
  /** JSON by default. */
  readonly codec?: Codec<T>;
  /** Of one value. */
  readonly maxBytes?: number;
}

export interface TakeManyOptions {
  readonly limit?: number;
}

export interface ValuesOptions {
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
