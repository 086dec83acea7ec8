/**
 * Values that this process makes: under a lease of the store, which keeps what was made and tells others, or alone while the store
 * cannot be used.
 */
import { ConnectionError, isUnavailable, refusesWrites } from "../../base/errors.ts";
import { observed } from "../../base/probe.ts";
import type { RunOptions, Store } from "../../connection/store.ts";
import { settleWhen } from "../../waiting/settle-when.ts";
import { type Asking, type Made, type Shared, shared } from "./asking.ts";
import type { Changes, Notice } from "./changes.ts";
import type { EntryKeys } from "./keys.ts";
import type { Lifetimes } from "./lifetimes.ts";
import { Making } from "./making.ts";
import type { Outage } from "./outage.ts";
import type { CacheReport } from "./report.ts";
import { fill, giveUp, type ReadReply } from "./scripts.ts";
import type { Sightings } from "./sightings.ts";
import type { EntryOptions, Loader } from "./types.ts";
import type { Values } from "./values.ts";

/** The cache that values are made for. */
interface Place<T> {
  readonly store: Store;
  readonly name: string;
  readonly channel: string;
  readonly limits: RunOptions;
  /** Whether processes keep values in their memory, so that each value that is stored must be announced to them. */
  readonly isHeld: boolean;
  readonly values: Values<T>;
  readonly lifetimes: Lifetimes;
  readonly changes: Changes;
  readonly outage: Outage;
  readonly report: CacheReport;
  readonly sightings: Sightings;
  readonly onError: (error: unknown) => void;
}

export class Loads<T> {
  readonly #cache: Place<T>;
  /** What this process loads under a lease, by the lease's token. */
  readonly #leased = new Map<string, Promise<Made<T>>>();
  /** What it loads without the store, by key. */
  readonly #alone = new Map<string, Promise<Made<T>>>();

  constructor(cache: Place<T>) {
    this.#cache = cache;
  }

  /** What is being made without the store is shared with no further caller. */
  forget(key: string): void {
    this.#alone.delete(key);
  }

  clear(): void {
    this.#alone.clear();
  }

  /**
   * Until the holder of the lease is done, its lease is over, or something else happens to the key. What it has made is taken
   * only from this process and only if the store took it: then nothing has happened to the key since before this caller came.
   */
  async wait({ holder, leaseMs }: ReadReply, noticed: Notice | null): Promise<Made<T> | null> {
    const { changes, outage, store } = this.#cache;
    const ours = this.#leased.get(holder);
    if (ours === undefined && noticed === null) {
      await changes.listen().catch((error) => outage.unreachable(error));
      return null;
    }
    try {
      const limits = { timeoutMs: leaseMs, onTimeout: null };
      return await settleWhen<Made<T> | null>(store, limits, ({ settle, fail }) => {
        // What is for its caller alone, or was not kept, is nobody else's: ask again.
        ours?.then((made) => settle(made.fate === "kept" ? made : null), fail);
        return noticed?.listen(() => settle(null)) ?? (() => {});
      });
    } catch (error) {
      // A waiting caller asks again when the store is closed, and hears of it.
      const { closeSignal } = store;
      if (closeSignal.aborted && error === closeSignal.reason) return null;
      throw error;
    }
  }

  /** Makes it under the lease. Others of this process can wait for it until it is sent to the store. */
  leased(asking: Asking<T>): Promise<Made<T>> {
    const loading = this.#makeAndKeep(asking);
    this.#leased.set(asking.token, loading);
    return loading;
  }

  async #makeAndKeep({ key, keys, token, load, options }: Asking<T>): Promise<Made<T>> {
    const { channel, isHeld, lifetimes, limits, onError, outage, sightings, store, values } = this.#cache;
    let made: { value: T; kept: EntryOptions | null };
    let filling: Parameters<typeof fill.with>[0];
    try {
      made = await this.make(key, load, options);
      const { value, kept } = made;
      if (kept === null) {
        await this.giveUp(key, keys, token);
        return { value, fate: "for its caller" };
      }
      const packing = values.packed(value);
      const { entry, loader, tags } = keys;
      const { freshMs, keepMs } = lifetimes.of(kept);
      filling = {
        entry,
        loader,
        tags,
        token,
        value: packing instanceof Promise ? await packing : packing,
        freshMs,
        keepMs,
        tagList: kept.tags === undefined ? "" : kept.tags.join("\n"),
        channel,
        key,
        tells: isHeld ? 1 : 0,
      };
    } catch (error) {
      await this.giveUp(key, keys, token);
      throw error;
    } finally {
      this.#leased.delete(token);
    }
    try {
      const isKept = await store.run(fill, filling, limits);
      if (isKept) sightings.lasts(key, Number(filling.freshMs));
      return { value: made.value, fate: isKept ? "kept" : "not kept" };
    } catch (error) {
      // The caller gets what was made, whatever keeps the store from keeping it.
      if (refusesWrites(error)) outage.refused(error);
      else if (isUnavailable(error)) outage.unreachable(error);
      else onError(error);
      if (error instanceof ConnectionError) void this.giveUp(key, keys, token);
      return { value: made.value, fate: "not kept" };
    }
  }

  /** Lets others load. A store that does not answer is told when it does; until then they wait for the end of the lease. */
  async giveUp(key: string, { loader }: EntryKeys, token: string): Promise<void> {
    const { channel, limits, onError, store } = this.#cache;
    const giving = { loader, token, channel, key };
    try {
      await store.run(giveUp, giving, limits);
    } catch (error) {
      onError(error);
      if (!store.closed) store.run(giveUp, giving, { whenOpen: "wait" }).catch(() => {});
    }
  }

  /** Without the store: one at a time in this process, every process for itself. */
  async alone({ key, load, options }: Asking<T>): Promise<Shared<T>> {
    const begun = this.#alone.get(key);
    if (begun !== undefined) {
      const made = await begun;
      return made.fate === "for its caller" ? shared(await this.#makeAlone(key, load, options)) : shared(made);
    }
    const loading = this.#makeAlone(key, load, options);
    this.#alone.set(key, loading);
    try {
      return shared(await loading);
    } finally {
      if (this.#alone.get(key) === loading) this.#alone.delete(key);
    }
  }

  async #makeAlone(key: string, load: Loader<T>, options: EntryOptions): Promise<Made<T>> {
    const { value, kept } = await this.make(key, load, options);
    return { value, fate: kept === null ? "for its caller" : "not kept" };
  }

  /** Calls the loader. `kept`: how its value is to be kept, or null if it is not. */
  async make(key: string, load: Loader<T>, options: EntryOptions): Promise<{ value: T; kept: EntryOptions | null }> {
    const { name, report, store, values } = this.#cache;
    const making = new Making(options);
    report.count("misses");
    report.count("loads");
    try {
      const span = store.probe?.begin({ kind: "load", cache: name, key }) ?? null;
      const value =
        span === null
          ? await load(making)
          : await observed(
              span,
              async () => load(making),
              () => ({ outcome: "loaded" }),
            );
      return { value: values.checked(value), kept: making.kept };
    } catch (error) {
      report.count("failures");
      throw error;
    }
  }
}
