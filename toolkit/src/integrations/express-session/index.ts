/**
 * A store for express-session, for applications that have it already.
 *
 *   import session from "express-session";
 *   const Sessions = expressSessionStore(session.Store);
 *   app.use(session({ store: new Sessions(store), secret, resave: false, saveUninitialized: false }));
 *
 * express-session keeps a session as one JSON document and writes it whole: of two requests at once the later one wins. Where
 * that matters, use the middleware of `cinnabar/express`, which changes single fields.
 */

import { aStore } from "../../base/checks.ts";
import { json } from "../../base/codec.ts";
import { zipped } from "../../base/lists.ts";
import { defineOptions, prefix, whole } from "../../base/options.ts";
import type { Store } from "../../connection/store.ts";
import { Values } from "../shared/values.ts";

/** What express-session passes around: only the cookie's age matters here. */
interface SessionDocument {
  readonly cookie?: { readonly maxAge?: number | null; readonly originalMaxAge?: number | null };
  /** In the answer of `all`. */
  readonly id?: string;
}

type Callback<T = void> = (error?: unknown, value?: T) => void;

/** How sessions of express-session are kept. */
export interface ExpressStoreOptions {
  /** The first word of the keys; "express-session" by default. */
  readonly prefix?: string;
  /** How long sessions live whose cookie has no age of its own; a day by default. */
  readonly ttlMs?: number;
}

const OPTIONS = defineOptions<ExpressStoreOptions>("expressSessionStore", { prefix, ttlMs: whole(1) });

const codec = json<SessionDocument>();

/**
 * Makes the class of a store for express-session. The base class comes from express-session itself, so that it need not be installed with
 * us.
 * @example
 * import session from "express-session";
 * const StoreOfSessions = expressSessionStore(session.Store);
 * const store = new StoreOfSessions(db, { ttlMs: 3_600_000 });
 * const middleware = session({ store, secret: "a long secret", resave: false, saveUninitialized: false });
 * typeof middleware; // → "function"
 */
export function expressSessionStore<B extends object>(
  StoreBase: abstract new () => B,
): new (
  store: Store,
  options?: ExpressStoreOptions,
) => B & ExpressSessionStore {
  const Base = StoreBase as unknown as new () => object;

  class CinnabarStore extends Base implements ExpressSessionStore {
    readonly #documents: Documents;

    constructor(store: Store, options: ExpressStoreOptions = {}) {
      super();
      aStore("expressSessionStore", store);
      OPTIONS.check(options);
      this.#documents = new Documents(store, options);
    }

    get(sid: string, callback: Callback<SessionDocument | null>): void {
      settle(this.#documents.get(sid), callback);
    }

    set(sid: string, session: SessionDocument, callback?: Callback): void {
      settle(this.#documents.set(sid, session), callback);
    }

    touch(sid: string, session: SessionDocument, callback?: Callback): void {
      settle(this.#documents.touch(sid, session), callback);
    }

    destroy(sid: string, callback?: Callback): void {
      settle(this.#documents.destroy(sid), callback);
    }

    all(callback: Callback<SessionDocument[]>): void {
      settle(this.#documents.all(), callback);
    }

    length(callback: Callback<number>): void {
      settle(this.#documents.count(), callback);
    }

    clear(callback?: Callback): void {
      settle(this.#documents.clear(), callback);
    }
  }
  return CinnabarStore as unknown as new (
    store: Store,
    options?: ExpressStoreOptions,
  ) => B & ExpressSessionStore;
}

/** The methods that express-session calls. Callbacks get an error where the store failed. */
export interface ExpressSessionStore {
  /** Reads a session; null if there is none, or its time is over. */
  get(sid: string, callback: Callback<SessionDocument | null>): void;
  /** Writes a session whole; it lives as long as its cookie. */
  set(sid: string, session: SessionDocument, callback?: Callback): void;
  /** Lets a session live on, as long as its cookie, and writes none of its data. */
  touch(sid: string, session: SessionDocument, callback?: Callback): void;
  /** Deletes a session. */
  destroy(sid: string, callback?: Callback): void;
  /** All sessions, each with its `id`. It walks over all keys of the store. */
  all(callback: Callback<SessionDocument[]>): void;
  /** How many sessions there are. It walks over all keys of the store. */
  length(callback: Callback<number>): void;
  /** Deletes all sessions. It walks over all keys of the store. */
  clear(callback?: Callback): void;
}

class Documents {
  readonly #values: Values;
  readonly #ttlMs: number;

  constructor(store: Store, options: ExpressStoreOptions) {
    this.#values = new Values(store, options.prefix ?? "express-session");
    this.#ttlMs = options.ttlMs ?? 86_400_000;
  }

  async get(sid: string): Promise<SessionDocument | null> {
    const stored = await this.#values.get(sid);
    return stored === null ? null : codec.decode(stored);
  }

  async set(sid: string, session: SessionDocument): Promise<void> {
    const ttl = this.#ttlOf(session);
    if (ttl <= 0) return this.destroy(sid);
    await this.#values.set(sid, codec.encode(session), ttl);
  }

  /** Lets it live on, and writes no data: a request that only reads cannot undo another's write. */
  async touch(sid: string, session: SessionDocument): Promise<void> {
    await this.#values.touch(sid, this.#ttlOf(session));
  }

  async destroy(sid: string): Promise<void> {
    await this.#values.delete(sid);
  }

  async all(): Promise<SessionDocument[]> {
    const sessions: SessionDocument[] = [];
    for await (const names of this.#values.names()) {
      const stored = await this.#values.getMany(names);
      for (const [id, each] of zipped(names, stored)) {
        if (each !== null) sessions.push({ ...codec.decode(each), id });
      }
    }
    return sessions;
  }

  async count(): Promise<number> {
    let count = 0;
    for await (const names of this.#values.names()) count += names.length;
    return count;
  }

  async clear(): Promise<void> {
    await this.#values.clear();
  }

  #ttlOf({ cookie }: SessionDocument): number {
    return Math.ceil(cookie?.maxAge ?? cookie?.originalMaxAge ?? this.#ttlMs);
  }
}

/** express-session's callbacks throw into the request if they must; never into our promise. */
function settle<T>(promise: Promise<T>, callback: Callback<T> | undefined): void {
  promise.then(
    (value) => queueMicrotask(() => callback?.(null, value)),
    (error) => queueMicrotask(() => callback?.(error)),
  );
}
