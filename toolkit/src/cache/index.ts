/**
 * A cache of what is expensive to make.
 *
 *   const cache = new Cache(store, "products", { freshMs: 60_000, staleMs: 600_000 });
 *   const product = await cache.get("17", () => database.load(17), { tags: ["catalogue"] });
 *   await cache.invalidate("catalogue");
 *
 * Of all processes that ask for a value which is not there, one makes it and the others wait for that one. Of those who ask for
 * one that is stale, one makes it anew and the rest get the stale one at once. When making fails, the stale one is given as long
 * as there is one. When the store cannot be reached, values are made without it, and it is asked again a second later.
 */
import { integer, word } from "../checks.ts";
import { randomToken, sleep } from "../clock.ts";
import { type Codec, encodeWithin, json } from "../codec.ts";
import type { RunOptions, Store } from "../connection/store.ts";
import { ConnectionError, InputError } from "../errors.ts";
import { Changes } from "./changes.ts";
import { changesChannel, type EntryKeys, entryKeys, shardKeys } from "./keys.ts";
import { MemoryCache } from "./memory.ts";
import { pack, unpack } from "./packing.ts";
import { CacheReport } from "./report.ts";
import { drop, fill, giveUp, invalidate, put, read } from "./scripts.ts";

export { type CacheInfo, Caches, type InvalidatedTag } from "./report.ts";

/** How long a store that could not be reached is left alone. */
const BREAK_MS = 1_000;
const MAX_TAGS = 64;

export interface CacheOptions<T> {
  readonly prefix?: string;
  /** How long a value is given without a thought. */
  readonly freshMs?: number;
  /** How long after that it is still given while a new one is made, or when that fails. */
  readonly staleMs?: number;
  /** Lifetimes are shortened by up to this part at random, so that values made together do not end together. */
  readonly jitter?: number;
  /** How long a value may take to make before another process tries too. */
  readonly loadMs?: number;
  /** Values are also kept in this process for so long, which bounds how old they can be here. 0: not at all. */
  readonly memoryMs?: number;
  readonly memoryItems?: number;
  /** How long one question to the store may take in all before the value is made without it; 1 000 by default. */
  readonly timeoutMs?: number;
  /** How many slots the cache is spread over. All processes must agree on it. */
  readonly shards?: number;
  readonly codec?: Codec<T>;
  readonly maxBytes?: number;
  /** Values larger than this are compressed. */
  readonly compressAbove?: number;
  /** Told of loads that failed behind a stale value, and of a store that cannot be reached. */
  readonly onError?: (error: unknown) => void;
}

export interface EntryOptions {
  readonly tags?: readonly string[];
  readonly freshMs?: number;
  readonly staleMs?: number;
}

export interface CacheStats {
  readonly hits: number;
  readonly staleHits: number;
  readonly misses: number;
  readonly loads: number;
  readonly failures: number;
}

/** What a loader can say about the value that it makes. */
export interface Loading {
  /** The value is for the caller only and is not kept; others who wait have to make their own. */
  skip(): void;
  /** Further tags, known only now. */
  tag(...tags: readonly string[]): void;
  /** How long this value stays fresh. */
  freshFor(ms: number): void;
}

export type Loader<T> = (loading: Loading) => Promise<T> | T;

export interface Found<T> {
  readonly value: T;
  readonly state: "fresh" | "stale" | "loaded";
  readonly ageMs: number;
}

export class Cache<T = unknown> {
  readonly name: string;
  readonly #store: Store;
  readonly #prefix: string;
  readonly #freshMs: number;
  readonly #staleMs: number;
  readonly #jitter: number;
  readonly #loadMs: number;
  readonly #limits: RunOptions;
  readonly #shards: number;
  readonly #codec: Codec<T>;
  readonly #maxBytes: number;
  readonly #compressAbove: number;
  readonly #onError: (error: unknown) => void;
  readonly #memoryMs: number;
  readonly #memory: MemoryCache<T>;
  readonly #changes: Changes;
  readonly #channel: string;
  /** What this process is asking or making now: one at a time for each key. */
  readonly #underWay = new Map<string, Promise<Found<T>>>();
  /** The same of those who only look. */
  readonly #glances = new Map<string, Promise<{ readonly value: T } | null>>();
  readonly #report: CacheReport;
  #brokenUntil = 0;

  constructor(store: Store, name: string, options: CacheOptions<T> = {}) {
    this.name = name;
    this.#store = store;
    this.#prefix = options.prefix ?? "cache";
    this.#freshMs = integer("freshMs", options.freshMs ?? 300_000, 1);
    this.#staleMs = integer("staleMs", options.staleMs ?? 0, 0);
    this.#jitter = options.jitter ?? 0.1;
    if (!(this.#jitter >= 0 && this.#jitter < 1)) throw new InputError("jitter must be from 0 to below 1");
    this.#loadMs = integer("loadMs", options.loadMs ?? 30_000, 10);
    this.#limits = { timeoutMs: integer("timeoutMs", options.timeoutMs ?? 1_000, 1), whenOpen: "fail" };
    this.#shards = integer("shards", options.shards ?? 16, 1, 16_384);
    this.#codec = options.codec ?? json<T>();
    this.#maxBytes = integer("maxBytes", options.maxBytes ?? 16 * 1024 * 1024, 1);
    this.#compressAbove = integer("compressAbove", options.compressAbove ?? 1_024, 0);
    this.#onError = options.onError ?? (() => {});
    this.#memoryMs = integer("memoryMs", options.memoryMs ?? 0, 0);
    this.#memory = new MemoryCache(store.clock, integer("memoryItems", options.memoryItems ?? 1_000, 1));
    this.#channel = changesChannel(this.#prefix, word("the name of a cache", name));
    this.#report = new CacheReport(store, this.#prefix, name, this.#shards);
    this.#changes = new Changes(store, this.#channel, this.#memoryMs > 0 ? this.#memory : null, this.#onError);
  }

  /** Counts of this process. */
  get stats(): CacheStats {
    return this.#report.total;
  }

  /** The value of a key; made by `load` if it is not there or stale. Without `load`, null when it is not there. */
  async get(key: string): Promise<T | null>;
  async get(key: string, load: Loader<T>, options?: EntryOptions): Promise<T>;
  async get(key: string, load?: Loader<T>, options: EntryOptions = {}): Promise<T | null> {
    if (load === undefined) return this.#peek(key);
    const held = this.#held(key);
    if (held !== undefined) return held.value;
    const seen = await this.#glance(key, options);
    return seen === null ? (await this.find(key, load, options)).value : seen.value;
  }

  /** As `get`, and says where the value came from. */
  async find(key: string, load: Loader<T>, options: EntryOptions = {}): Promise<Found<T>> {
    word("key", key);
    checkTags(options.tags);
    const held = this.#held(key);
    if (held !== undefined) return { value: held.value, state: "fresh", ageMs: 0 };
    let asking = this.#underWay.get(key);
    if (asking === undefined) {
      asking = this.#ask(key, load, options).finally(() => this.#underWay.delete(key));
      this.#underWay.set(key, asking);
    }
    return asking;
  }

  /** Puts a value. */
  async set(key: string, value: T, options: EntryOptions = {}): Promise<void> {
    word("key", key);
    checkTags(options.tags);
    const { freshMs, keepMs } = this.#lifetimes(options);
    const { entry, loader } = this.#keys(key);
    this.#memory.delete(key);
    await this.#store.run(put, {
      ...{ entry, loader, freshMs, keepMs, key },
      value: await this.#packed(value),
      tagList: (options.tags ?? []).join("\n"),
      channel: this.#channel,
    });
  }

  /** Removes a value, and what is being made for it. */
  async delete(key: string): Promise<boolean> {
    this.#memory.delete(word("key", key));
    const { entry, loader } = this.#keys(key);
    return this.#store.run(drop, { entry, loader, channel: this.#channel, key });
  }

  /** Makes all values with one of the tags invalid: in one step for each shard, whatever their number. */
  async invalidate(...tags: readonly string[]): Promise<void> {
    integer("the number of tags", tags.length, 1, MAX_TAGS);
    checkTags(tags);
    this.#memory.deleteTagged(new Set(tags));
    const keepMs = this.#tagMemoryMs;
    const everywhere = Array.from({ length: this.#shards }, (_, shard) =>
      invalidate.with({ tags: shardKeys(this.#prefix, this.name, shard).tags, keepMs, names: tags }),
    );
    for (const answer of await this.#store.pipeline(everywhere)) if (answer instanceof Error) throw answer;
    await this.#store.call("PUBLISH", this.#channel, `\0${tags.join("\n")}`);
  }

  /** What this process has of it. */
  #held(key: string): { readonly value: T } | undefined {
    const held = this.#memoryMs > 0 ? this.#memory.get(key) : undefined;
    if (held !== undefined) this.#report.count("hits");
    return held;
  }

  /** A value that is certainly fresh, without a script; null if it takes more than a glance. */
  #glance(key: string, options: EntryOptions): Promise<{ readonly value: T } | null> | null {
    // Of a value that can be stale, only the server can say whether it is: that is up to the script.
    if ((options.staleMs ?? this.#staleMs) > 0) return null;
    if (this.#store.clock.monotonicMs() < this.#brokenUntil) return null;
    word("key", key);
    checkTags(options.tags);
    const wanted = `${key}\0${options.tags?.join("\n") ?? ""}`;
    let looking = this.#glances.get(wanted);
    if (looking === undefined) {
      looking = this.#look(key, options).finally(() => this.#glances.delete(wanted));
      this.#glances.set(wanted, looking);
    }
    return looking;
  }

  /**
   * An entry that ends when it stops being fresh is fresh as long as the server has it. What the caller says of its tags saves a
   * second round trip: where that is not what the entry says, the script looks.
   */
  async #look(key: string, options: EntryOptions): Promise<{ readonly value: T } | null> {
    const { entry, tags } = this.#keys(key);
    const names = options.tags ?? [];
    try {
      const [found, invalidated] = await Promise.all([
        this.#store.send(["HMGET", entry, "v", "at", "fresh", "ends", "t"], { buffers: true, ...this.#limits }),
        names.length === 0 ? [] : this.#store.send(["ZMSCORE", tags, ...names], this.#limits),
      ]);
      const [stored, at, fresh, ends, tagList] = found as (Buffer | null)[];
      if (!stored || !at || !fresh || !ends || !tagList || Number(fresh) < Number(ends)) return null;
      if (tagList.toString() !== names.join("\n")) return null;
      if ((invalidated as (string | null)[]).some((each) => each !== null && Number(each) >= Number(at))) return null;
      return { value: (await this.#hit(key, stored, 0, options)).value };
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error;
      this.#unreachable(error);
      return null;
    }
  }

  #unreachable(error: ConnectionError): void {
    this.#brokenUntil = this.#store.clock.monotonicMs() + BREAK_MS;
    this.#onError(error);
  }

  async #peek(key: string): Promise<T | null> {
    word("key", key);
    const held = this.#held(key);
    if (held !== undefined) return held.value;
    const looking = { ...this.#keys(key), token: "", leaseMs: 1, leadMs: 0 };
    const [state, , stored] = await this.#store.run(read, looking, this.#limits);
    this.#report.count(state === 0 ? "misses" : "hits");
    return stored === undefined ? null : this.#unpacked(stored);
  }

  async #ask(key: string, load: Loader<T>, options: EntryOptions): Promise<Found<T>> {
    if (this.#store.clock.monotonicMs() < this.#brokenUntil) return this.#loadAlone(load);
    const token = randomToken();
    const keys = this.#keys(key);
    try {
      for (;;) {
        const noticed = this.#changes.next(key);
        const asking = { ...keys, token, leaseMs: this.#loadMs, leadMs: 0 };
        const [code, ageMs, stored] = await this.#store.run(read, asking, this.#limits);
        const state = code % 10;
        if (state === 1) {
          noticed.cancel();
          return this.#hit(key, stored!, ageMs!, options);
        }
        if (code >= 10) {
          noticed.cancel();
          return state === 2
            ? this.#refreshBehind(key, keys, token, stored!, ageMs!, load, options)
            : await this.#load(key, keys, token, load, options);
        }
        if (state === 2) {
          noticed.cancel();
          this.#report.count("staleHits");
          return { value: await this.#unpacked(stored!), state: "stale", ageMs: ageMs! };
        }
        // Somebody else makes it. Told when they are done; looks again when their lease is over, told or not.
        if (this.#changes.listening) {
          await Promise.race([noticed.promise, sleep(this.#store.clock, ageMs!, noticed.signal).catch(() => {})]);
        } else {
          await this.#changes.listen();
        }
        noticed.cancel();
      }
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error;
      this.#unreachable(error);
      return this.#loadAlone(load);
    }
  }

  async #hit(key: string, stored: Buffer, ageMs: number, options: EntryOptions): Promise<Found<T>> {
    this.#report.count("hits");
    const value = await this.#unpacked(stored);
    this.#remember(key, value, options);
    return { value, state: "fresh", ageMs };
  }

  /** The stale value at once; the new one is made behind the caller's back. */
  async #refreshBehind(
    key: string,
    keys: EntryKeys,
    token: string,
    stored: Buffer,
    ageMs: number,
    load: Loader<T>,
    options: EntryOptions,
  ): Promise<Found<T>> {
    this.#report.count("staleHits");
    this.#load(key, keys, token, load, options).catch(this.#onError);
    return { value: await this.#unpacked(stored), state: "stale", ageMs };
  }

  async #load(key: string, keys: EntryKeys, token: string, load: Loader<T>, options: EntryOptions): Promise<Found<T>> {
    const channel = this.#channel;
    let taken = false;
    try {
      const { value, kept } = await this.#make(load, options);
      if (kept !== null) {
        const filling = {
          token,
          value: await this.#packed(value),
          tagList: (kept.tags ?? []).join("\n"),
          channel,
          key,
        };
        taken = true;
        const filled = await this.#store.run(fill, { ...keys, ...this.#lifetimes(kept), ...filling }, this.#limits);
        if (filled) this.#remember(key, value, kept);
      }
      return { value, state: "loaded", ageMs: 0 };
    } finally {
      if (!taken)
        await this.#store.run(giveUp, { loader: keys.loader, token, channel, key }, this.#limits).catch(this.#onError);
    }
  }

  /** Without the store: every process for itself. */
  async #loadAlone(load: Loader<T>): Promise<Found<T>> {
    return { value: (await this.#make(load, {})).value, state: "loaded", ageMs: 0 };
  }

  /** Calls the loader. `kept`: how its value is to be kept, or null if it is not. */
  async #make(load: Loader<T>, options: EntryOptions): Promise<{ value: T; kept: EntryOptions | null }> {
    let kept: EntryOptions | null = options;
    const loading: Loading = {
      skip: () => {
        kept = null;
      },
      tag: (...tags) => {
        if (kept !== null) kept = { ...kept, tags: [...(kept.tags ?? []), ...tags] };
        checkTags(kept?.tags);
      },
      freshFor: (freshMs) => {
        if (kept !== null) kept = { ...kept, freshMs: integer("freshFor", freshMs, 1) };
      },
    };
    this.#report.count("misses");
    this.#report.count("loads");
    try {
      return { value: await load(loading), kept };
    } catch (error) {
      this.#report.count("failures");
      throw error;
    }
  }

  #remember(key: string, value: T, options: EntryOptions): void {
    if (this.#memoryMs > 0) this.#memory.set(key, value, this.#memoryMs, options.tags ?? []);
  }

  /** How long it is remembered that a tag was invalidated, and so the longest life of an entry with tags. */
  get #tagMemoryMs(): number {
    return Math.max(7 * 86_400_000, 2 * (this.#freshMs + this.#staleMs));
  }

  #lifetimes(options: EntryOptions): { freshMs: number; keepMs: number } {
    const fresh = integer("freshMs", options.freshMs ?? this.#freshMs, 1);
    const stale = integer("staleMs", options.staleMs ?? this.#staleMs, 0);
    const freshMs = Math.max(1, Math.round(fresh * (1 - this.#jitter * this.#store.clock.random())));
    const keepMs = freshMs + stale;
    // An entry must not outlive the note that makes it invalid.
    return { freshMs, keepMs: (options.tags?.length ?? 0) > 0 ? Math.min(keepMs, this.#tagMemoryMs) : keepMs };
  }

  async #packed(value: T): Promise<Buffer> {
    return pack(encodeWithin(this.#codec, value, this.#maxBytes, "a cached value"), this.#compressAbove);
  }

  async #unpacked(stored: Buffer): Promise<T> {
    return this.#codec.decode(await unpack(stored));
  }

  #keys(key: string): EntryKeys {
    return entryKeys(this.#prefix, this.name, this.#shards, key);
  }
}

function checkTags(tags: readonly string[] = []): void {
  if (tags.length > MAX_TAGS) throw new InputError(`a value has at most ${MAX_TAGS} tags`);
  for (const tag of tags) {
    word("tag", tag, 256);
    if (/[\n\0]/.test(tag)) throw new InputError("a tag must not contain a line break or NUL");
  }
}
