/**
 * A store for express-session, for applications that have it already.
 *
 *   import session from "express-session";
 *   const Sessions = expressSessionStore(session.Store);
 *   app.use(session({ store: new Sessions(store), secret, resave: false, saveUninitialized: false }));
 *
 * express-session keeps a session as one JSON document and writes it whole: of two requests at once the later one wins. Where
 * that matters, use our own middleware (http.ts), which changes single fields.
 */

import { aStore } from "../../base/checks.ts";
import { json } from "../../base/codec.ts";
import { defineOptions, prefix, whole } from "../../base/options.ts";
import { asText } from "../../base/replies.ts";
import type { Reply } from "../../connection/port.ts";
import type { Store } from "../../connection/store.ts";

/** What express-session passes around: only the cookie's age matters here. */
interface SessionDocument {
  readonly cookie?: { readonly maxAge?: number | null; readonly originalMaxAge?: number | null };
}

type Callback<T = void> = (error?: unknown, value?: T) => void;

export interface ExpressStoreOptions {
  readonly prefix?: string;
  /** For sessions whose cookie has no age of its own. */
  readonly ttlMs?: number;
}

const OPTIONS = defineOptions<ExpressStoreOptions>("expressSessionStore", { prefix, ttlMs: whole(1) });

const codec = json<SessionDocument>();

/** The base class comes from express-session itself, so that it need not be installed with us. */
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
  }
  return CinnabarStore as unknown as new (
    store: Store,
    options?: ExpressStoreOptions,
  ) => B & ExpressSessionStore;
}

export interface ExpressSessionStore {
  get(sid: string, callback: Callback<SessionDocument | null>): void;
  set(sid: string, session: SessionDocument, callback?: Callback): void;
  touch(sid: string, session: SessionDocument, callback?: Callback): void;
  destroy(sid: string, callback?: Callback): void;
}

/** Strings, one for each session, each with a tag of its own. */
class Documents {
  readonly #store: Store;
  readonly #prefix: string;
  readonly #ttlMs: number;

  constructor(store: Store, options: ExpressStoreOptions) {
    this.#store = store;
    this.#prefix = options.prefix ?? "express-session";
    this.#ttlMs = options.ttlMs ?? 86_400_000;
  }

  async get(sid: string): Promise<SessionDocument | null> {
    const stored = await this.#store.call("GET", this.#key(sid));
    return stored === null ? null : codec.decode(asText(stored));
  }

  async set(sid: string, session: SessionDocument): Promise<void> {
    const ttl = this.#ttlOf(session);
    if (ttl <= 0) return this.destroy(sid);
    await this.#write(["SET", this.#key(sid), codec.encode(session), "PX", ttl]);
  }

  /** Lets it live on, and writes no data: a request that only reads cannot undo another's write. */
  async touch(sid: string, session: SessionDocument): Promise<void> {
    await this.#write(["PEXPIRE", this.#key(sid), Math.max(1, this.#ttlOf(session))]);
  }

  async destroy(sid: string): Promise<void> {
    await this.#write(["DEL", this.#key(sid)]);
  }

  #write(words: readonly (string | number | Uint8Array)[]): Promise<Reply> {
    return this.#store.send(words, { repeatable: true });
  }

  #ttlOf({ cookie }: SessionDocument): number {
    return Math.ceil(cookie?.maxAge ?? cookie?.originalMaxAge ?? this.#ttlMs);
  }

  #key(sid: string): string {
    return `${this.#prefix}:${sid}`;
  }
}

/** express-session's callbacks throw into the request if they must; never into our promise. */
function settle<T>(promise: Promise<T>, callback: Callback<T> | undefined): void {
  promise.then(
    (value) => queueMicrotask(() => callback?.(null, value)),
    (error) => queueMicrotask(() => callback?.(error)),
  );
}
