/**
 * A driver for unstorage, and through it for Nitro and Nuxt.
 *
 *   const storage = createStorage({ driver: cinnabarDriver({ store: db }) });
 *   await storage.setItem("users:17", { name: "Ann" }, { ttl: 60 });
 */
import type { Driver } from "unstorage";
import { aStore } from "../../base/checks.ts";
import { InputError } from "../../base/errors.ts";
import { type Check, defineOptions, prefix, required, text, whole } from "../../base/options.ts";
import { open } from "../../connection/open.ts";
import type { Store } from "../../connection/store.ts";
import { Values } from "../shared/values.ts";

/** Where the driver keeps items. */
export interface CinnabarDriverOptions {
  /** A store, or what `open` takes as text: a URL, a folder, `memory:`. The driver closes what it has opened. */
  readonly store: Store | string;
  /** The first word of the keys; "unstorage" by default. */
  readonly prefix?: string;
  /** Before every key: `users` keeps `17` as `users:17`. None by default. */
  readonly base?: string;
  /** How long items live that say nothing else, in milliseconds; for ever by default. */
  readonly ttlMs?: number;
}

const aStoreOrText: Check = {
  expected: "a store or a URL",
  accepts: (value) => typeof value === "string" || (typeof value === "object" && value !== null),
};

const OPTIONS = defineOptions<CinnabarDriverOptions>("cinnabarDriver", {
  store: required(aStoreOrText),
  prefix,
  base: text,
  ttlMs: whole(1),
});

/** As unstorage passes them: the lifetime of an item is in seconds there. */
interface ItemOptions {
  readonly ttl?: number;
}

/**
 * A driver for unstorage. Lifetimes of items (`ttl`) are in seconds, as unstorage has them.
 * @example
 * import { createStorage } from "unstorage";
 * const storage = createStorage({ driver: cinnabarDriver({ store: db }) });
 * await storage.setItem("users:17", { name: "Ann" }, { ttl: 60 });
 * await storage.getItem("users:17"); // → { name: "Ann" }
 */
export function cinnabarDriver(options: CinnabarDriverOptions): Driver<CinnabarDriverOptions, Promise<Store>> {
  OPTIONS.check(options);
  const { store: given, base = "" } = options;
  if (typeof given !== "string") aStore("cinnabarDriver", given);
  let opening: Promise<Store> | null = null;
  const opened = (): Promise<Store> => {
    opening ??= typeof given === "string" ? open(given) : Promise.resolve(given);
    return opening;
  };
  const values = async (): Promise<Values> => new Values(await opened(), options.prefix ?? "unstorage");
  const start = base === "" ? "" : `${base.replace(/:$/, "")}:`;
  const lifetimeOf = (item: ItemOptions = {}): number | undefined => {
    if (item.ttl === undefined) return options.ttlMs;
    if (!(item.ttl > 0)) throw new InputError(`ttl must be a number of seconds above 0, not ${String(item.ttl)}`);
    return item.ttl * 1_000;
  };
  return {
    name: "cinnabar",
    options,
    getInstance: opened,
    hasItem: async (key) => (await values()).has(start + key),
    getItem: async (key) => (await values()).get(start + key),
    getItems: async (items) => {
      const found = await (await values()).getMany(items.map(({ key }) => start + key));
      return items.map(({ key }, at) => ({ key, value: found[at] ?? null }));
    },
    getItemRaw: async (key) => (await values()).getBytes(start + key),
    setItem: async (key, value, item) => (await values()).set(start + key, value, lifetimeOf(item)),
    setItemRaw: async (key, value, item) => (await values()).set(start + key, rawOf(value), lifetimeOf(item)),
    removeItem: async (key) => void (await (await values()).delete(start + key)),
    getMeta: async (key) => {
      const remainingMs = await (await values()).remainingMs(start + key);
      return remainingMs === null ? null : { ttl: Math.ceil(remainingMs / 1_000) };
    },
    getKeys: async (below) => {
      const keys: string[] = [];
      for await (const names of (await values()).names(start + (below ?? ""))) {
        keys.push(...names.map((name) => name.slice(start.length)));
      }
      return keys;
    },
    clear: async (below) => void (await (await values()).clear(start + (below ?? ""))),
    dispose: async () => {
      if (typeof given === "string" && opening !== null) await (await opening).close();
      opening = null;
    },
  };
}

function rawOf(value: unknown): string | Uint8Array {
  if (typeof value === "string" || value instanceof Uint8Array) return value;
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  throw new InputError("setItemRaw takes text or bytes");
}
