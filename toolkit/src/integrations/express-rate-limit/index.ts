/**
 * A store for express-rate-limit.
 *
 *   app.use(rateLimit({ windowMs: 60_000, limit: 100, store: new RateLimitStore(db) }));
 *
 * Where the choice is open, `limited` of `cinnabar/express` has exact windows, several rules at once, and an answer while the store is away.
 */
import type { ClientRateLimitInfo, IncrementResponse, Store as LimitStore, Options } from "express-rate-limit";
import { aStore } from "../../base/checks.ts";
import { defineOptions, prefix } from "../../base/options.ts";
import type { Store } from "../../connection/store.ts";
import { type Hits, hit, peek, unhit } from "../shared/hits.ts";
import { Values } from "../shared/values.ts";

/** Which counters a store for express-rate-limit has. */
export interface RateLimitStoreOptions {
  /** Limiters with different prefixes count apart; "express-rate-limit" by default. */
  readonly prefix?: string;
}

const OPTIONS = defineOptions<RateLimitStoreOptions>("RateLimitStore", { prefix });

/**
 * A store for express-rate-limit, whose counters are those of all processes. Its methods are those that express-rate-limit calls.
 * @example
 * import { rateLimit } from "express-rate-limit";
 * const middleware = rateLimit({ windowMs: 60_000, limit: 100, store: new RateLimitStore(db) });
 * typeof middleware; // → "function"
 */
export class RateLimitStore implements LimitStore {
  readonly prefix: string;
  /** Counters are those of all processes. */
  readonly localKeys = false;
  readonly #store: Store;
  readonly #counters: Values;
  #windowMs = 60_000;

  constructor(store: Store, options: RateLimitStoreOptions = {}) {
    aStore("RateLimitStore", store);
    OPTIONS.check(options);
    this.prefix = options.prefix ?? "express-rate-limit";
    this.#store = store;
    this.#counters = new Values(store, this.prefix);
  }

  init({ windowMs }: Pick<Options, "windowMs">): void {
    this.#windowMs = windowMs;
  }

  async get(key: string): Promise<ClientRateLimitInfo | undefined> {
    const hits = await this.#store.run(peek, { counter: this.#counters.keyOf(key) });
    return hits.count === 0 ? undefined : this.#info(hits);
  }

  async increment(key: string): Promise<IncrementResponse> {
    const counter = this.#counters.keyOf(key);
    return this.#info(await this.#store.run(hit, { counter, windowMs: this.#windowMs, most: 0, beyond: "" }));
  }

  async decrement(key: string): Promise<void> {
    await this.#store.run(unhit, { counter: this.#counters.keyOf(key) });
  }

  async resetKey(key: string): Promise<void> {
    await this.#counters.delete(key);
  }

  /** Walks over the keys of the store. */
  async resetAll(): Promise<void> {
    await this.#counters.clear();
  }

  #info({ count, remainingMs }: Hits): IncrementResponse {
    return { totalHits: count, resetTime: new Date(this.#store.clock.wallMs() + remainingMs) };
  }
}
