/**
 * Named connections that follow a configuration. When the configuration names another address for one, the new store is opened
 * first; only when it answers does it take the old one's place, and the old one is closed when its users are done, or
 * after a while. An address that cannot be reached changes nothing: the old connection stays, the error is reported, and it is
 * tried again.
 */

import { onAbort } from "../../base/abort.ts";
import { aStore, oneOf } from "../../base/checks.ts";
import type { Clock, Timer } from "../../base/clock.ts";
import { ClosedError, InputError } from "../../base/errors.ts";
import { callback, defineOptions, whole } from "../../base/options.ts";
import { type OpenOptions, open } from "../../connection/open.ts";
import type { Store } from "../../connection/store.ts";
import type { Config } from "./index.ts";

/** What `open` takes: a URL or a folder, and options of plain data. */
export type ConnectionSpec =
  | string
  | {
      /** What `open` takes: a URL or a folder. */
      readonly url: string;
      /** Options of `open` that are plain data. */
      readonly options?: OpenOptions;
    };

/** Settings of `Connections`. */
export interface ConnectionsOptions {
  /** How long an old connection waits for its users. 10 s by default. */
  readonly drainTimeoutMs?: number;
  /** How long after a failure the new address is tried again. 5 s by default. */
  readonly retryMs?: number;
  /** Called when a new address cannot be reached, with the connection's name and the error. None by default. */
  readonly onError?: (name: string, error: unknown) => void;
}

/** A store, and who uses it. */
class Entry {
  /** What it was made from, to see whether that has changed. */
  readonly made: string;
  readonly store: Store;
  /** Given out by `get`: nobody knows for how long. */
  givenOut = false;
  #users = 0;
  #onIdle = (): void => {};

  constructor(made: string, store: Store) {
    this.made = made;
    this.store = store;
  }

  async use<R>(work: (store: Store) => Promise<R>): Promise<R> {
    this.#users++;
    try {
      return await work(this.store);
    } finally {
      this.#users--;
      this.#onIdle();
    }
  }

  /** Closes the store when nobody uses it. Who has it from `get` gets the whole time, unless everything is closed. */
  async drain(clock: Clock, withinMs: number, closing: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = clock.after(withinMs, resolve);
      this.#onIdle = () => {
        if (this.#users > 0 || (this.givenOut && !closing.aborted)) return;
        timer.cancel();
        resolve();
      };
      onAbort(closing, this.#onIdle);
      this.#onIdle();
    });
    await this.store.close();
  }
}

const OPTIONS = defineOptions<ConnectionsOptions>("Connections", {
  drainTimeoutMs: whole(0),
  retryMs: whole(1),
  onError: callback,
});

/**
 * Named connections that follow a configuration: opened when first used, and opened anew when their address changes.
 *
 * @example
 * const validate = (value: unknown) => value as { cache: string };
 * const settings = new Config(db, "shop", { defaults: { cache: "memory:" }, validate });
 * const connections = new Connections(db, settings, ({ cache }) => ({ cache }));
 * await connections.use("cache", (cache) => cache.set("k", "v")); // → "OK"
 * await (await connections.get("cache")).get("k"); // → "v"
 * await connections.close();
 * @example
 * const validate = (value: unknown) => value as { cache: string };
 * const settings = new Config(db, "shop", { defaults: { cache: "memory:" }, validate });
 * await using connections = new Connections(db, settings, ({ cache }) => ({ cache }));
 * connections.on("remade", (name) => console.log(name, "has another address"));
 */
export class Connections<T> {
  readonly #config: Config<T>;
  readonly #select: (value: T) => Readonly<Record<string, ConnectionSpec>>;
  readonly #clock: Clock;
  readonly #options: ConnectionsOptions;
  readonly #drainTimeoutMs: number;
  readonly #retryMs: number;
  readonly #entries = new Map<string, Entry>();
  readonly #opening = new Map<string, Promise<Entry>>();
  readonly #draining = new Set<Promise<void>>();
  readonly #listeners = new Set<(name: string, store: Store) => void>();
  readonly #unfollow: () => void;
  /** Names whose new address could not be reached, with what was tried. */
  readonly #failed = new Map<string, { readonly made: string; readonly again: Timer }>();
  readonly #closing = new AbortController();

  /** `select` picks the addresses out of the configuration. */
  constructor(
    store: Store,
    config: Config<T>,
    select: (value: T) => Readonly<Record<string, ConnectionSpec>>,
    options: ConnectionsOptions = {},
  ) {
    aStore("Connections", store);
    OPTIONS.check(options);
    this.#config = config;
    this.#select = select;
    this.#clock = store.clock;
    this.#options = options;
    this.#drainTimeoutMs = options.drainTimeoutMs ?? 10_000;
    this.#retryMs = options.retryMs ?? 5_000;
    this.#unfollow = config.on("change", () => this.#follow());
  }

  /**
   * The store of that name as it is now. Ask each time rather than keep it: after a change it is another one, and this one is
   * closed `drainTimeoutMs` later.
   */
  async get(name: string): Promise<Store> {
    const entry = await this.#entry(name);
    entry.givenOut = true;
    return entry.store;
  }

  /** Runs with the store of that name, which stays open until it is done, for `drainTimeoutMs` at most. */
  async use<R>(name: string, work: (store: Store) => Promise<R>): Promise<R> {
    return (await this.#entry(name)).use(work);
  }

  /** Calls the listener when a name leads to another store than before. Returns what takes the listener off. */
  on(event: "remade", listener: (name: string, store: Store) => void): () => void {
    oneOf("event", event, ["remade"]);
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async #entry(name: string): Promise<Entry> {
    if (this.#closed) throw new ClosedError("the connections are closed");
    const existing = this.#entries.get(name);
    if (existing !== undefined) return existing;
    const spec = this.#specs()[name];
    if (spec === undefined) throw new InputError(`the configuration names no connection "${name}"`);
    return this.#make(name, spec);
  }

  #specs(): Readonly<Record<string, ConnectionSpec>> {
    return this.#select(this.#config.value);
  }

  #make(name: string, spec: ConnectionSpec): Promise<Entry> {
    const existing = this.#opening.get(name);
    if (existing !== undefined) return existing;
    const opening = this.#open(name, spec).finally(() => this.#opening.delete(name));
    this.#opening.set(name, opening);
    // It may have changed again meanwhile.
    opening.then(
      () => this.#follow(),
      () => {},
    );
    return opening;
  }

  async #open(name: string, spec: ConnectionSpec): Promise<Entry> {
    const { url, options = {} } = typeof spec === "string" ? { url: spec } : spec;
    const entry = new Entry(JSON.stringify(spec), await open(url, options));
    if (this.#closed) {
      await entry.store.close();
      throw new ClosedError("the connections are closed");
    }
    const before = this.#entries.get(name);
    this.#entries.set(name, entry);
    if (before !== undefined) {
      this.#drain(before);
      for (const listener of [...this.#listeners]) listener(name, entry.store);
    }
    return entry;
  }

  /** What is open and no longer as configured is made anew; what is not configured any more goes. */
  #follow(): void {
    if (this.#closed) return;
    const specs = this.#specs();
    for (const [name, entry] of [...this.#entries]) {
      const spec = specs[name];
      const made = JSON.stringify(spec);
      if (spec === undefined) {
        this.#entries.delete(name);
        this.#drain(entry);
      } else if (made !== entry.made && made !== this.#failed.get(name)?.made && !this.#opening.has(name)) {
        this.#forgive(name);
        this.#make(name, spec).catch((error) => this.#fail(name, made, error));
      }
    }
  }

  #fail(name: string, made: string, error: unknown): void {
    if (this.#closed) return;
    this.#options.onError?.(name, error);
    const again = this.#clock.after(this.#retryMs, () => {
      this.#failed.delete(name);
      this.#follow();
    });
    this.#failed.set(name, { made, again });
    this.#follow();
  }

  #forgive(name: string): void {
    this.#failed.get(name)?.again.cancel();
    this.#failed.delete(name);
  }

  #drain(entry: Entry): void {
    const draining = entry.drain(this.#clock, this.#drainTimeoutMs, this.#closing.signal).catch(() => {});
    this.#draining.add(draining);
    void draining.finally(() => this.#draining.delete(draining));
  }

  get #closed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** Stops following and closes all stores. Resolves when their users are done, or after `drainTimeoutMs`. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#unfollow();
    for (const name of [...this.#failed.keys()]) this.#forgive(name);
    for (const entry of this.#entries.values()) this.#drain(entry);
    this.#entries.clear();
    this.#closing.abort();
    await Promise.allSettled([...this.#opening.values(), ...this.#draining]);
  }

  /** The same as `close()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
