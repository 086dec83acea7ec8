/**
 * A store for Keyv, and through it for everything that takes a Keyv.
 *
 *   const users = createKeyv(db, { namespace: "users" });
 *   await users.set("17", { name: "Ann" }, 60_000);
 */
import { EventEmitter } from "node:events";
import { Keyv, type KeyvOptions, type KeyvStoreAdapter, type StoredData } from "keyv";
import { aStore } from "../../base/checks.ts";
import { zipped } from "../../base/lists.ts";
import { defineOptions, prefix, text, whole } from "../../base/options.ts";
import type { Store } from "../../connection/store.ts";
import { Values } from "../shared/values.ts";

/** Where a store for Keyv keeps its values. */
export interface KeyvStoreOptions {
  /** The first word of the keys; "keyv" by default. */
  readonly prefix?: string;
}

const OPTIONS = defineOptions<KeyvStoreOptions>("KeyvStore", { prefix });

/** How a Keyv is made. */
export interface CreateKeyvOptions extends KeyvStoreOptions {
  /** Keyvs with different namespaces do not see each other's values. None by default. */
  readonly namespace?: string;
  /** How long values live that say nothing else; for ever by default. */
  readonly ttl?: number;
}

const KEYV_OPTIONS = defineOptions<CreateKeyvOptions>("createKeyv", { prefix, namespace: text, ttl: whole(1) });

/**
 * A Keyv on a store. Errors of the store are thrown, not only emitted.
 * @example
 * const users = createKeyv<{ readonly name: string }>(db, { namespace: "users", ttl: 60_000 });
 * await users.set("17", { name: "Ann" }); // → true
 * await users.get("17"); // → { name: "Ann" }
 */
export function createKeyv<T = unknown>(store: Store, options: CreateKeyvOptions = {}): Keyv<T> {
  KEYV_OPTIONS.check(options);
  const { namespace, ttl, prefix: first } = options;
  const chosen: KeyvOptions = {
    throwOnErrors: true,
    ...(namespace !== undefined && { namespace }),
    ...(ttl && { ttl }),
  };
  return new Keyv<T>({ store: new KeyvStore(store, first === undefined ? {} : { prefix: first }), ...chosen });
}

/**
 * A store for Keyv. Its methods are those that Keyv calls; values come as the text that it has made of them.
 * @example
 * import { Keyv } from "keyv";
 * const users = new Keyv({ store: new KeyvStore(db, { prefix: "shop" }) });
 * await users.set("17", "Ann", 60_000); // → true
 * await users.get("17"); // → "Ann"
 */
export class KeyvStore extends EventEmitter implements KeyvStoreAdapter {
  /** Keyv iterates over stores of dialects that it knows. */
  readonly opts: KeyvStoreOptions & { readonly dialect: "redis" };
  /** The namespace of the Keyv that uses it, which sets it. */
  namespace?: string | undefined;
  readonly #values: Values;

  constructor(store: Store, options: KeyvStoreOptions = {}) {
    super();
    aStore("KeyvStore", store);
    OPTIONS.check(options);
    this.opts = { ...options, dialect: "redis" };
    this.#values = new Values(store, options.prefix ?? "keyv");
  }

  /** Reads a value; undefined if there is none. */
  async get<Value>(key: string): Promise<StoredData<Value> | undefined> {
    return ((await this.#values.get(key)) as StoredData<Value> | null) ?? undefined;
  }

  /** Reads many values, in the order of their keys; undefined for those that are not there. */
  async getMany<Value>(keys: string[]): Promise<StoredData<Value | undefined>[]> {
    const found = await this.#values.getMany(keys);
    return found.map((each) => (each ?? undefined) as StoredData<Value | undefined>);
  }

  /** Writes a value, which lives for `ttl` milliseconds; for ever without it. */
  async set(key: string, value: string, ttl?: number): Promise<boolean> {
    await this.#values.set(key, value, ttl === 0 ? undefined : ttl);
    return true;
  }

  /** Writes many values, each with its own lifetime. */
  async setMany(entries: { key: string; value: string; ttl?: number }[]): Promise<void> {
    await this.#values.setMany(entries.map(({ key, value, ttl }) => ({ name: key, value, ttlMs: ttl || undefined })));
  }

  /** Deletes a value; whether there was one. */
  delete(key: string): Promise<boolean> {
    return this.#values.delete(key);
  }

  /** Deletes many values; whether there was any. */
  async deleteMany(keys: string[]): Promise<boolean> {
    return (await this.#values.deleteMany(keys)) > 0;
  }

  /** Whether there is a value. */
  has(key: string): Promise<boolean> {
    return this.#values.has(key);
  }

  /** Whether there are values, in the order of their keys. */
  hasMany(keys: string[]): Promise<boolean[]> {
    return this.#values.hasMany(keys);
  }

  /** Those of the namespace. Walks over the keys of the store. */
  async clear(): Promise<void> {
    await this.#values.clear(this.#beginning(this.namespace));
  }

  /** Keys and values of a namespace. Walks over the keys of the store. */
  async *iterator<Value>(namespace?: string): AsyncGenerator<(string | Awaited<Value> | undefined)[], void> {
    for await (const names of this.#values.names(this.#beginning(namespace))) {
      const stored = await this.#values.getMany(names);
      for (const [name, value] of zipped(names, stored)) if (value !== null) yield [name, value];
    }
  }

  #beginning(namespace: string | undefined): string {
    return namespace === undefined ? "" : `${namespace}:`;
  }
}
