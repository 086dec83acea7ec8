/**
 * What both handlers stand on: entries with a lifetime, and the times at which tags were revalidated.
 *
 * Next.js stamps entries with the clock of the process that made them and compares them with tags by that clock. Times of tags are
 * therefore taken from the clock of the process that revalidates: servers must keep their clocks together, as Next.js asks anyway.
 */
import { isUnavailable } from "../../base/errors.ts";
import type { Store } from "../../connection/store.ts";
import { Values } from "../shared/values.ts";

/** No entry is kept for longer, and no tag remembered for longer: then no entry is left that it could concern. */
const LONGEST_MS = 30 * 86_400_000;

/** When a tag was marked as stale, and from when on entries with it are not given any more; 0 for never. */
interface TagTimes {
  readonly stale: number;
  readonly expired: number;
}

export interface Freshness {
  /** A tag has made it invalid. */
  readonly expired: boolean;
  /** It may be given once more while a new one is made. */
  readonly stale: boolean;
}

export class NextEntries {
  readonly #connect: () => Store | Promise<Store>;
  readonly #prefix: string;
  readonly #onError: (error: unknown) => void;
  #store: Promise<Store> | null = null;

  constructor(connect: () => Store | Promise<Store>, prefix: string, onError: (error: unknown) => void) {
    this.#connect = connect;
    this.#prefix = prefix;
    this.#onError = onError;
  }

  get(key: string): Promise<Buffer | null> {
    return this.#trying(null, async (store) => new Values(store, this.#prefix).getBytes(key));
  }

  set(key: string, value: string | Uint8Array, lifeMs: number): Promise<void> {
    const ttlMs = Math.min(LONGEST_MS, Math.max(1, lifeMs));
    return this.#trying(undefined, (store) => new Values(store, this.#prefix).set(key, value, ttlMs));
  }

  delete(key: string): Promise<boolean> {
    return this.#trying(false, (store) => new Values(store, this.#prefix).delete(key));
  }

  /** How entries stand that were made at a time and have these tags. */
  freshness(tags: readonly string[], madeMs: number): Promise<Freshness> {
    if (tags.length === 0) return Promise.resolve({ expired: false, stale: false });
    return this.#trying({ expired: false, stale: false }, async (store) => {
      const times = await this.#times(store, tags);
      const nowMs = store.clock.wallMs();
      const isExpired = times.some(({ expired }) => expired !== 0 && expired >= madeMs && expired <= nowMs);
      return { expired: isExpired, stale: times.some(({ stale }) => stale !== 0 && stale >= madeMs) };
    });
  }

  /** When the last of the tags expired; 0 for never. */
  expiration(tags: readonly string[]): Promise<number> {
    if (tags.length === 0) return Promise.resolve(0);
    return this.#trying(0, async (store) => {
      const nowMs = store.clock.wallMs();
      const times = await this.#times(store, tags);
      return Math.max(0, ...times.map(({ expired }) => (expired <= nowMs ? expired : 0)));
    });
  }

  /** With `expireSeconds`, entries are stale now and expire then; without, they expire now. */
  revalidate(tags: readonly string[], expireSeconds?: number): Promise<void> {
    if (tags.length === 0) return Promise.resolve();
    return this.#trying(undefined, async (store) => {
      const nowMs = store.clock.wallMs();
      const isLater = expireSeconds !== undefined && expireSeconds > 0;
      const times = { stale: nowMs, expired: isLater ? nowMs + expireSeconds * 1_000 : nowMs };
      const value = JSON.stringify(times);
      await this.#tags(store).setMany(tags.map((name) => ({ name, value, ttlMs: LONGEST_MS })));
    });
  }

  nowMs(): Promise<number> {
    return this.#trying(0, async (store) => store.clock.wallMs());
  }

  async #times(store: Store, tags: readonly string[]): Promise<TagTimes[]> {
    const found = await this.#tags(store).getMany(tags);
    return found.flatMap((each): TagTimes[] => (each === null ? [] : [JSON.parse(each)]));
  }

  #tags(store: Store): Values {
    return new Values(store, `${this.#prefix}-tags`);
  }

  /** A page is rendered without the cache while its store cannot be reached. */
  async #trying<T>(otherwise: T, body: (store: Store) => Promise<T>): Promise<T> {
    try {
      this.#store ??= Promise.resolve(this.#connect());
      return await body(await this.#store.catch((error: unknown) => this.#notOpened(error)));
    } catch (error) {
      this.#onError(error);
      if (isUnavailable(error)) return otherwise;
      throw error;
    }
  }

  #notOpened(error: unknown): never {
    this.#store = null;
    throw error;
  }
}
