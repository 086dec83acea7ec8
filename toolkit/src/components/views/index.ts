/**
 * What is viewed most lately. Counts fade with a half-life of five minutes, so that new items can rise, and only the top 20 000
 * are kept.
 *
 *   const views = new Views(store, "pages");
 *   await views.add("/products/17");
 *   await views.top({ limit: 10 });                            // [{ item, views, rank }]
 *   await views.rank("/products/17");               // 0 is the most viewed; null if it is not among them
 *
 * With `bufferMs` a busy process counts in memory and sends sums; a crash loses what was not sent yet.
 */
import { aStore, integer, word } from "../../base/checks.ts";
import type { Timer } from "../../base/clock.ts";
import { inPairs } from "../../base/lists.ts";
import { NameIndex } from "../../base/names.ts";
import { callback, defineOptions, prefix, whole } from "../../base/options.ts";
import { asNumber, orNull } from "../../base/replies.ts";
import type { Store } from "../../connection/store.ts";
import { viewKeys } from "./keys.ts";
import { standing, top, view } from "./scripts.ts";

const AT_ONCE = 500;

/** What `Views` may be given. */
export interface ViewsOptions {
  /** How all keys begin (default "views"). */
  readonly prefix?: string;
  /** After so long a view is worth half (default 300 000). The same in all processes. */
  readonly halfLifeMs?: number;
  /** How many items are kept: the most viewed (default 20 000). */
  readonly maxItems?: number;
  /** Counts in memory for this long, which a crash loses, and sends sums. 0, the default: every view is sent at once. */
  readonly bufferMs?: number;
  /** Called with the error when sums could not be sent and are given up. None by default. */
  readonly onError?: (error: unknown) => void;
}

/** An item, and how it stands. */
export interface Viewed {
  /** The item. */
  readonly item: string;
  /** Faded: a view half a half-life ago is worth 0.7. */
  readonly views: number;
  /** 0 is the most viewed. */
  readonly rank: number;
}

/** Which page of the ranking. */
export interface TopOptions {
  /** At most so many items (default 10). */
  readonly limit?: number;
  /** The rank of the first one (default 0). */
  readonly offset?: number;
}

const TOP_OPTIONS = defineOptions<TopOptions>("Views.top", { limit: whole(1, 100_000), offset: whole(0) });

const OPTIONS = defineOptions<ViewsOptions>("Views", {
  prefix,
  halfLifeMs: whole(1),
  maxItems: whole(1, 10_000_000),
  bufferMs: whole(0, 60_000),
  onError: callback,
});

/**
 * What is viewed most lately: counts fade with a half-life, so that new items can rise, and only the top items are kept.
 *
 * @example
 * const views = new Views(db, "pages", { bufferMs: 100 });
 * await views.add("/about");
 * await views.add("/products/17", 2); // Two views, counted elsewhere.
 * await views.flush();
 * (await views.top({ limit: 10 })).map(({ item }) => item); // → ["/products/17", "/about"]
 * [await views.rank("/about"), (await views.get("/products/17"))?.rank]; // → [1, 0]
 */
export class Views {
  readonly #store: Store;
  readonly #keys: { readonly counts: string; readonly epoch: string };
  readonly #halfLifeMs: number;
  readonly #maxItems: number;
  readonly #bufferMs: number;
  readonly #onError: (error: unknown) => void;
  #pending = new Map<string, number>();
  #timer: Timer | null = null;
  #flushing: Promise<void> = Promise.resolve();
  readonly #names: NameIndex;
  readonly #name: string;

  constructor(store: Store, name: string, options: ViewsOptions = {}) {
    aStore("Views", store);
    OPTIONS.check(options);
    this.#store = store;
    this.#keys = viewKeys(options.prefix ?? "views", name);
    this.#names = new NameIndex(store, { kind: "views", prefix: options.prefix ?? "views" });
    this.#name = name;
    this.#halfLifeMs = options.halfLifeMs ?? 300_000;
    this.#maxItems = options.maxItems ?? 20_000;
    this.#bufferMs = options.bufferMs ?? 0;
    this.#onError = options.onError ?? (() => {});
    if (this.#bufferMs > 0) store.on("close", () => this.flush());
  }

  /** Counts a view. With a buffer it does not wait for the store. */
  async add(item: string, views = 1): Promise<void> {
    word("item", item);
    integer("views", views, 1);
    this.#names.announce(this.#name);
    if (this.#bufferMs === 0) return this.#send([[item, views]]);
    this.#pending.set(item, (this.#pending.get(item) ?? 0) + views);
    this.#timer ??= this.#store.clock.after(this.#bufferMs, () => void this.flush(), { keepAlive: true });
  }

  /** Sends what was counted in memory. Resolves when all of it has been sent, also what was on its way before. */
  flush(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = null;
    this.#flushing = this.#flushing.then(() => this.#flush());
    return this.#flushing;
  }

  async #flush(): Promise<void> {
    const pending = [...this.#pending];
    this.#pending = new Map();
    try {
      for (let at = 0; at < pending.length; at += AT_ONCE) await this.#send(pending.slice(at, at + AT_ONCE));
    } catch (error) {
      this.#onError(error);
    }
  }

  /** The items that are viewed most. */
  async top(options: TopOptions = {}): Promise<Viewed[]> {
    TOP_OPTIONS.check(options);
    const { limit = 10, offset = 0 } = options;
    const [halfLives, flat] = await this.#store.run(top, {
      ...this.#keys,
      halfLifeMs: this.#halfLifeMs,
      from: offset,
      to: offset + limit - 1,
    });
    return inPairs(flat).map(([item, score], at) => ({
      item,
      views: faded(score, halfLives),
      rank: offset + at,
    }));
  }

  /** How an item stands; null if it is not among those kept. */
  async get(item: string): Promise<Viewed | null> {
    const found = await this.#store.run(standing, {
      ...this.#keys,
      halfLifeMs: this.#halfLifeMs,
      item: word("item", item),
    });
    return found === null ? null : { item, views: faded(found[1], found[0]), rank: found[2] };
  }

  /** The rank of an item, 0 is the most viewed; null if it is not among those kept. */
  async rank(item: string): Promise<number | null> {
    return orNull(asNumber)(await this.#store.call("ZREVRANK", this.#keys.counts, word("item", item)));
  }

  async #send(items: readonly (readonly [string, number])[]): Promise<void> {
    await this.#store.run(view, {
      ...this.#keys,
      halfLifeMs: this.#halfLifeMs,
      maxItems: this.#maxItems,
      items: items.flat(),
    });
  }
}

/** What a score is worth now. */
function faded(score: string, halfLives: string): number {
  return Number(score) * 2 ** -Number(halfLives);
}
