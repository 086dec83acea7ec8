/**
 * Rows of a database, kept in the store and refreshed on a schedule of their own.
 *
 *   const rows = new RowCache(store, "inventory", { load: (id) => database.row(id) });
 *   await rows.schedule("17", 5_000);                 // every five seconds, from now on
 *   rows.refresher().start();                          // in as many processes as one likes
 *   await rows.get("17");
 *   await rows.schedule("17", 0);                      // no longer: the row is gone
 */
import { BackgroundLoop } from "../../base/background-loop.ts";
import { aStore, integer, word } from "../../base/checks.ts";
import { type Codec, encodeWithin, json } from "../../base/codec.ts";
import { inPairs } from "../../base/lists.ts";
import { NameIndex } from "../../base/names.ts";
import { callback, codec, defineOptions, prefix, required, whole } from "../../base/options.ts";
import { asTextOrBytes } from "../../base/replies.ts";
import type { Store } from "../../connection/store.ts";
import { type RowKeys, rowKeys } from "./keys.ts";
import { claim, done, schedule } from "./scripts.ts";

/** What a `RowCache` is given. */
export interface RowCacheOptions<T> {
  /** Loads a row; null or undefined: there is no such row any more. */
  readonly load: (id: string) => Promise<T | null | undefined> | T | null | undefined;
  /** How all keys begin (default "rows"). */
  readonly prefix?: string;
  /** How rows become text or bytes and come back. JSON by default. */
  readonly codec?: Codec<T>;
  /** Of one row, encoded; a larger one is a failure of its load (default 1 MiB). */
  readonly maxBytes?: number;
  /** At most so many rows are scheduled (default 100 000). */
  readonly maxRows?: number;
  /** How long a row may take to load before another worker tries too. 30 s by default. */
  readonly leaseMs?: number;
  /** How long after a failure the row is tried again; doubled from failure to failure (default 1 000). */
  readonly backoffMs?: number;
}

/** How one process refreshes rows. */
export interface RefresherOptions {
  /** Rows that this process loads at the same time (default 10). */
  readonly concurrency?: number;
  /** How often at least the schedule is looked at (default 200). */
  readonly everyMs?: number;
  /** Called with the error and the id of a row that could not be loaded, and with the error of a round that failed. None by default. */
  readonly onError?: (error: unknown, id?: string) => void;
}

const OPTIONS = defineOptions<RowCacheOptions<unknown>>("RowCache", {
  load: required(callback),
  prefix,
  codec,
  maxBytes: whole(1),
  maxRows: whole(1),
  leaseMs: whole(10),
  backoffMs: whole(1),
});

const REFRESHER_OPTIONS = defineOptions<RefresherOptions>("RowCache.refresher", {
  concurrency: whole(1, 1_000),
  everyMs: whole(1),
  onError: callback,
});

/**
 * Rows of a database, kept in the store and each refreshed on a schedule of its own, by any number of processes without double work.
 *
 * @example
 * const rows = new RowCache(db, "inventory", { load: async (id) => ({ id, stock: 5 }) });
 * await rows.schedule("17", 5_000); // → true
 * await using refresher = rows.refresher().start();
 * while ((await rows.get("17")) === null) await new Promise(setImmediate);
 * await rows.get("17"); // → { id: "17", stock: 5 }
 * await rows.count(); // → 1
 */
export class RowCache<T = unknown> {
  /** The name of the cache, as it was given. */
  readonly name: string;
  readonly #store: Store;
  readonly #keys: RowKeys;
  readonly #options: RowCacheOptions<T>;
  readonly #codec: Codec<T>;
  readonly #maxBytes: number;
  readonly #maxRows: number;
  readonly #leaseMs: number;
  readonly #backoffMs: number;
  readonly #names: NameIndex;

  constructor(store: Store, name: string, options: RowCacheOptions<T>) {
    aStore("RowCache", store);
    OPTIONS.check(options);
    this.name = name;
    this.#store = store;
    this.#keys = rowKeys(options.prefix ?? "rows", name);
    this.#names = new NameIndex(store, { kind: "row-cache", prefix: options.prefix ?? "rows" });
    this.#options = options;
    this.#codec = options.codec ?? json<T>();
    this.#maxBytes = options.maxBytes ?? 1024 * 1024;
    this.#maxRows = options.maxRows ?? 100_000;
    this.#leaseMs = options.leaseMs ?? 30_000;
    this.#backoffMs = options.backoffMs ?? 1_000;
  }

  /**
   * Has a row refreshed every so often, the first time at once. 0 or less: no longer, and the row is removed. False: `maxRows` rows
   * are scheduled, and this would be one more.
   */
  async schedule(id: string, everyMs: number): Promise<boolean> {
    word("id", id);
    integer("everyMs", everyMs, Number.MIN_SAFE_INTEGER, 366 * 86_400_000);
    const { due, every, claims, failures } = this.#keys;
    this.#names.announce(this.name);
    const keys = { due, every, claims, failures, row: this.#row(id) };
    return this.#store.run(schedule, { ...keys, id, everyMs, maxRows: this.#maxRows });
  }

  /** The row as it was when it was last refreshed; null if it has not been yet, or is not scheduled. */
  async get(id: string): Promise<T | null> {
    const key = this.#row(word("id", id));
    const stored = await (this.#codec.binary ? this.#store.callBuffer("GET", key) : this.#store.call("GET", key));
    return stored === null ? null : this.#codec.decode(asTextOrBytes(stored));
  }

  /** How many rows are scheduled. */
  async count(): Promise<number> {
    return Number(await this.#store.call("HLEN", this.#keys.every));
  }

  /** Refreshes rows that are due. Any number of processes may run one: a row is refreshed by one of them at a time. */
  refresher(options: RefresherOptions = {}): BackgroundLoop {
    REFRESHER_OPTIONS.check(options);
    const concurrency = options.concurrency ?? 10;
    const everyMs = options.everyMs ?? 200;
    const onError = options.onError ?? (() => {});
    return new BackgroundLoop(this.#store, { everyMs, onError, round: () => this.#refresh(concurrency, onError) });
  }

  async #refresh(most: number, onError: (error: unknown, id?: string) => void): Promise<number> {
    const { due, claims, next, clock } = this.#keys;
    const [, ...claimed] = await this.#store.run(claim, { due, claims, next, clock, most, leaseMs: this.#leaseMs });
    const work = inPairs(claimed).map(([id, number]) => this.#refreshOne(String(id), number, onError));
    await Promise.all(work);
    return work.length;
  }

  async #refreshOne(
    id: string,
    number: string | number,
    onError: (error: unknown, id?: string) => void,
  ): Promise<void> {
    let outcome: "loaded" | "gone" | "failed" = "loaded";
    let value: string | Uint8Array = "";
    try {
      const row = await this.#options.load(id);
      if (row === null || row === undefined) outcome = "gone";
      else value = encodeWithin(this.#codec, row, this.#maxBytes, `row "${id}"`);
    } catch (error) {
      outcome = "failed";
      onError(error, id);
    }
    const { due, every, claims, failures } = this.#keys;
    const keys = { due, every, claims, failures, row: this.#row(id) };
    await this.#store.run(done, { ...keys, id, number, outcome, value, backoffMs: this.#backoffMs });
  }

  #row(id: string): string {
    return this.#keys.rows + id;
  }
}
