/**
 * A store for @fastify/rate-limit.
 *
 *   await app.register(rateLimit, { max: 100, timeWindow: "1 minute", store: rateLimitStore(db) });
 *
 * Where the choice is open, `rateLimitsPlugin` of `cinnabar/fastify` has exact windows, several rules at once, and an answer while the
 * store is away.
 */
import type { FastifyRateLimitStore, FastifyRateLimitStoreCtor } from "@fastify/rate-limit";
import { aStore } from "../../base/checks.ts";
import { errorOf } from "../../base/errors.ts";
import { defineOptions, prefix } from "../../base/options.ts";
import type { Store } from "../../connection/store.ts";
import { type Hits, hit, peek } from "../shared/hits.ts";
import { Values } from "../shared/values.ts";

/** Which counters a store for @fastify/rate-limit has. */
export interface FastifyRateLimitStoreOptions {
  /** Applications with different prefixes count apart; "fastify-rate-limit" by default. */
  readonly prefix?: string;
}

const OPTIONS = defineOptions<FastifyRateLimitStoreOptions>("rateLimitStore", { prefix });

type Callback = (error: Error | null, result?: { current: number; ttl: number }) => void;

/** What the plugin gives to its store: its own options, and those of a route with what the route is. */
interface PluginOptions {
  readonly continueExceeding?: boolean;
  readonly exponentialBackoff?: boolean;
  readonly routeInfo?: { readonly method?: string | string[]; readonly url?: string };
}

/**
 * For the option `store` of the plugin.
 * @example
 * import rateLimit from "@fastify/rate-limit";
 * import fastify from "fastify";
 * const app = fastify();
 * await app.register(rateLimit, { max: 100, timeWindow: "1 minute", store: rateLimitStore(db) });
 * app.get("/", async () => "hello");
 * (await app.inject("/")).headers["x-ratelimit-remaining"]; // → "99"
 */
export function rateLimitStore(store: Store, options: FastifyRateLimitStoreOptions = {}): FastifyRateLimitStoreCtor {
  OPTIONS.check(options);
  aStore("rateLimitStore", store);
  const counters = new Values(store, options.prefix ?? "fastify-rate-limit");
  return class extends HitStore {
    constructor(given: object) {
      super(store, counters, given, "");
    }
  };
}

class HitStore implements FastifyRateLimitStore {
  readonly #store: Store;
  readonly #counters: Values;
  readonly #options: PluginOptions;
  readonly #route: string;

  constructor(store: Store, counters: Values, options: PluginOptions, route: string) {
    this.#store = store;
    this.#counters = counters;
    this.#options = options;
    this.#route = route;
  }

  incr(key: string, callback: Callback, timeWindow: number, max: number): void {
    const { continueExceeding, exponentialBackoff } = this.#options;
    const beyond = continueExceeding === true ? "extend" : exponentialBackoff === true ? "backoff" : "";
    const counter = this.#counters.keyOf(this.#route + key);
    settle(this.#store.run(hit, { counter, windowMs: Math.ceil(timeWindow), most: max, beyond }), callback);
  }

  read(key: string, callback: Callback): void {
    settle(this.#store.run(peek, { counter: this.#counters.keyOf(this.#route + key) }), callback);
  }

  /** Routes with limits of their own count apart. */
  child(given: object): HitStore {
    const options: PluginOptions = given;
    const { method = "", url = "" } = options.routeInfo ?? {};
    const route = `${this.#route}${String(method)} ${url} `;
    return new HitStore(this.#store, this.#counters, options, route);
  }
}

/** The plugin's callbacks throw into the request if they must; never into our promise. */
function settle(hits: Promise<Hits>, callback: Callback): void {
  hits.then(
    ({ count, remainingMs }) => queueMicrotask(() => callback(null, { current: count, ttl: remainingMs })),
    (error: unknown) => queueMicrotask(() => callback(errorOf(error))),
  );
}
