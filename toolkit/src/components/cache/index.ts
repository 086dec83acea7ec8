/**
 * A cache of what is expensive to make.
 *
 *   const cache = new Cache(store, "products", { freshMs: 60_000, staleMs: 600_000 });
 *   const product = await cache.get("17", () => database.load(17), { tags: ["catalogue"] });
 *   await cache.invalidate("catalogue");
 *
 * Of all processes that ask for a value which is not there, one makes it and the others wait for that one. Of callers that ask for
 * one that is stale, one makes it anew and the rest get the stale one at once. When making fails, the stale one is given as long
 * as there is one. When the store cannot be reached, values are made without it, and it is asked again a second later.
 */

import { aStore, integer, word } from "../../base/checks.ts";
import { randomToken } from "../../base/clock.ts";
import { type Codec, encodeWithin, json } from "../../base/codec.ts";
import { ConnectionError, InputError, isUnavailable, refusesWrites, ServerError } from "../../base/errors.ts";
import { observed, type Probe } from "../../base/probe.ts";
import { asBytesOrNulls, asTextsOrNulls } from "../../base/replies.ts";
import { GuardingCodec, SchemaError } from "../../base/schema.ts";
import { settled } from "../../base/together.ts";
import type { Reply } from "../../connection/port.ts";
import { type RunOptions, runOptions, type SendOptions, type Store, sendOptions } from "../../connection/store.ts";
import { settleWhen } from "../../waiting/settle-when.ts";
import { type Asking, loaded, type Made, type Shared, shared, spareOf } from "./asking.ts";
import { Batch, type ManyLoader } from "./batch.ts";
import { Changes, EVERYTHING, type Notice } from "./changes.ts";
import { claim } from "./claim.ts";
import { changesChannel, type EntryKeys, entryKeys, type ShardKeys, shardKeys } from "./keys.ts";
import { Making } from "./making.ts";
import { type Held, MemoryCache } from "./memory.ts";
import { AHEAD_OPTIONS, checkTags, ENTRY_OPTIONS, listed, MAX_TAGS, OPTIONS, STALE_OPTIONS } from "./options.ts";
import { pack, unpack } from "./packing.ts";
import { isThere } from "./presence.ts";
import { CacheReport } from "./report.ts";
import { drop, type FoundEntry, fill, giveUp, invalidate, put, type ReadReply, read } from "./scripts.ts";
import { SharedQuestions } from "./shared-questions.ts";
import { Sightings } from "./sightings.ts";
import { clearShards, type Shards, tagsMatching } from "./sweep.ts";
import type {
  AheadOptions,
  CacheOptions,
  CacheStats,
  EntryOptions,
  Found,
  Loader,
  Loading,
  StaleIfErrorOptions,
} from "./types.ts";

export type { ManyLoader } from "./batch.ts";
export { type CacheInfo, Caches, type InvalidatedTag } from "./report.ts";
export type {
  AheadOptions,
  CacheOptions,
  CacheStats,
  EntryOptions,
  Found,
  Loader,
  Loading,
  StaleIfErrorOptions,
} from "./types.ts";

/** How much the latest load counts in how long making takes. */
const LATEST_LOAD = 1 / 8;

/** How long a store that could not be reached is left alone. */
const BREAK_MS = 1_000;

/** As telemetry has them. */
const OUTCOMES: Readonly<Record<Found<unknown>["state"], string>> = { fresh: "hit", stale: "stale", loaded: "miss" };

/**
 * A cache of what is expensive to make. Of all processes that ask for a value which is not there, one makes it and the others wait for
 * that one; a stale value is given at once while one process makes it anew.
 *
 * @example
 * const products = new Cache<string>(db, "products", { freshMs: 60_000, staleMs: 600_000 });
 * await products.get("17", () => "chair", { tags: ["catalogue"] }); // → "chair"
 * await products.invalidate("catalogue");
 * await products.get("17"); // → null
 * @example
 * const prices = new Cache<number>(db, "prices");
 * await prices.setMany([["17", 5], ["18", 7]], { tags: ["shop:1"] });
 * await prices.getMany(["17", "18", "19"]); // → [5, 7, null]
 * const found = await prices.getEntry("17", () => 6);
 * [found.state, found.value]; // → ["fresh", 5]
 * await prices.invalidateMatching("shop:*"); // → 1
 * @example
 * const rates = new Cache<number>(db, "rates", { errorStaleMs: 3_600_000 });
 * await rates.set("EUR", 1.1);
 * await rates.has("EUR"); // → true
 * await rates.refresh("EUR", () => 1.2); // → 1.2
 * await rates.getAhead("EUR", () => 1.3, { eagerness: 0.001 }); // → 1.2
 * await rates.delete("EUR"); // → true
 * @example
 * const pages = new Cache<string>(db, "pages", { errorStaleMs: 3_600_000 });
 * await pages.get("/", pages.staleIfError("/", () => "<h1>Hello</h1>")); // → "<h1>Hello</h1>"
 * await pages.get("/"); // → "<h1>Hello</h1>"
 * pages.stats(); // → { hits: 1, staleHits: 0, misses: 2, loads: 2, failures: 0 }
 * await pages.clear(); // → …
 */
export class Cache<T = unknown> {
  /** The name of the cache, as it was given. */
  readonly name: string;
  readonly #store: Store;
  readonly #prefix: string;
  readonly #freshMs: number;
  readonly #staleMs: number;
  readonly #errorStaleMs: number;
  /** How long making takes, on average. */
  #loadMs = 0;
  readonly #jitter: number;
  readonly #leaseMs: number;
  readonly #limits: RunOptions;
  readonly #shards: readonly ShardKeys[];
  readonly #glance: SendOptions;
  readonly #codec: Codec<T>;
  /** The same, if it checks values. */
  readonly #guard: GuardingCodec<T> | null;
  readonly #maxBytes: number;
  readonly #compressAboveBytes: number;
  readonly #onError: (error: unknown) => void;
  readonly #memoryTtlMs: number;
  readonly #memory: MemoryCache<T>;
  readonly #changes: Changes;
  readonly #channel: string;
  readonly #questions = new SharedQuestions<Shared<T>>();
  readonly #glances = new SharedQuestions<{ readonly value: T } | null>();
  readonly #sightings: Sightings;
  /** What this process loads under a lease, by the lease's token. */
  readonly #loads = new Map<string, Promise<Made<T>>>();
  /** What it loads without the store, by key. */
  readonly #alone = new Map<string, Promise<Made<T>>>();
  readonly #report: CacheReport;
  /** Until then the store is left alone, and nobody is told again of a store that takes no writes. */
  #brokenUntil = 0;
  #toldUntil = 0;

  constructor(store: Store, name: string, options: CacheOptions<T> = {}) {
    OPTIONS.check(options);
    this.name = name;
    this.#store = aStore("Cache", store);
    this.#prefix = options.prefix ?? "cache";
    this.#freshMs = options.freshMs ?? 300_000;
    this.#staleMs = options.staleMs ?? 0;
    this.#errorStaleMs = options.errorStaleMs ?? 0;
    this.#jitter = options.jitter ?? 0.1;
    this.#leaseMs = options.leaseMs ?? 30_000;
    this.#limits = runOptions({ timeoutMs: options.timeoutMs ?? 1_000, whenOpen: "fail" });
    const shards = options.shards ?? 16;
    this.#glance = sendOptions({ ...this.#limits, buffers: true });
    const plain = options.codec ?? json<T>();
    this.#guard = options.schema === undefined ? null : new GuardingCodec(plain, options.schema, "a cached value");
    this.#codec = this.#guard ?? plain;
    this.#maxBytes = options.maxBytes ?? 16 * 1024 * 1024;
    this.#compressAboveBytes = options.compressAboveBytes ?? 1_024;
    this.#onError = options.onError ?? (() => {});
    this.#memoryTtlMs = options.memoryTtlMs ?? 0;
    this.#memory = new MemoryCache(store.clock, options.memoryItems ?? 1_000);
    this.#channel = changesChannel(this.#prefix, word("the name of a cache", name));
    this.#shards = Array.from({ length: shards }, (_, shard) => shardKeys(this.#prefix, name, shard));
    this.#sightings = new Sightings(store.clock);
    this.#report = new CacheReport(store, this.#prefix, name, shards);
    const outdated = {
      key: (key: string) => this.#forget(key),
      tags: (tags: ReadonlySet<string>) => this.#forgetTagged(tags),
      all: () => {
        this.#memory.clear();
        this.#alone.clear();
      },
    };
    this.#changes = new Changes(store, this.#channel, outdated, this.#onError);
    if (this.#memoryTtlMs > 0) this.#changes.listen().catch(() => {});
  }

  /** Counts of this process. */
  stats(): CacheStats {
    return this.#report.total;
  }

  /** The value of a key; made by `load` if it is not there or stale. Without `load`, null when it is not there. */
  async get(key: string): Promise<T | null>;
  async get(key: string, load: Loader<T>, options?: EntryOptions): Promise<T>;
  async get(key: string, load?: Loader<T>, options: EntryOptions = {}): Promise<T | null> {
    ENTRY_OPTIONS.check(options);
    if (load === undefined) return this.#peek(key);
    const held = this.#held(key);
    if (held !== undefined) return held.value;
    if (this.#store.probe !== null) return (await this.#watched(this.#store.probe, key, load, options)).value;
    const looking = this.#seen(key, options);
    const seen = looking === null ? null : await looking;
    return seen === null ? (await this.getEntry(key, load, options)).value : seen.value;
  }

  /** As `get`, and says where the value came from. */
  async getEntry(key: string, load: Loader<T>, options: EntryOptions = {}): Promise<Found<T>> {
    ENTRY_OPTIONS.check(options);
    word("key", key);
    checkTags(options.tags);
    const held = this.#held(key);
    if (held !== undefined) {
      const ageMs = Math.max(0, Math.round(this.#store.clock.monotonicMs() - held.bornMs));
      return { value: held.value, state: "fresh", ageMs };
    }
    if (this.#store.probe !== null) return this.#watched(this.#store.probe, key, load, options);
    const { answer, isMine } = this.#asked(key, load, options);
    const { found, isPrivate } = await answer;
    return isPrivate && !isMine ? loaded(await this.#make(key, load, options)) : found;
  }

  #asked(key: string, load: Loader<T>, options: EntryOptions) {
    return this.#questions.ask(key, () =>
      this.#ask({ key, keys: this.#keys(key), token: randomToken(), load, options }),
    );
  }

  /** The same, while somebody watches. */
  #watched(probe: Probe, key: string, load: Loader<T>, options: EntryOptions): Promise<Found<T>> {
    const find = async (): Promise<Found<T>> => {
      const seen = await this.#seen(key, options);
      if (seen !== null) return { value: seen.value, state: "fresh", ageMs: 0 };
      word("key", key);
      checkTags(options.tags);
      const { answer, isMine } = this.#asked(key, load, options);
      const { found, isPrivate } = await answer;
      return isPrivate && !isMine ? loaded(await this.#make(key, load, options)) : found;
    };
    return observed(probe.begin({ kind: "get", cache: this.name, key }), find, ({ state }) => ({
      outcome: OUTCOMES[state],
    }));
  }

  /** Puts a value. When it fails, the old one may be gone all the same. */
  async set(key: string, value: T, options: EntryOptions = {}): Promise<void> {
    ENTRY_OPTIONS.check(options);
    word("key", key);
    checkTags(options.tags);
    await this.#put(key, value, options);
    if (this.#errorStaleMs > 0) await this.#keepSpare(key, value, options.tags ?? []);
  }

  async #put(key: string, value: T, options: EntryOptions): Promise<void> {
    const { freshMs, keepMs } = this.#lifetimes(options);
    const { entry, loader, tags } = this.#keys(key);
    const packed = await this.#packed(value);
    await this.#changing(
      () => this.#forget(key),
      () =>
        this.#store.run(put, {
          ...{ entry, loader, tags, freshMs, keepMs, key },
          tagMs: this.#tagMemoryMs,
          value: packed,
          tagList: (options.tags ?? []).join("\n"),
          channel: this.#channel,
        }),
    );
    this.#sightings.lasts(key, freshMs);
  }

  /** Removes a value, and what is being made for it. */
  async delete(key: string): Promise<boolean> {
    const { entry, loader } = this.#keys(word("key", key));
    if (this.#errorStaleMs > 0) await this.#deleteSpare(key);
    return this.#changing(
      () => this.#forget(key),
      () => this.#store.run(drop, { entry, loader, channel: this.#channel, key }),
    );
  }

  /** Makes all values with one of the tags invalid: in one step for each shard, whatever their number. */
  async invalidate(tagged: string | readonly string[]): Promise<void> {
    const tags = listed(tagged);
    integer("the number of tags", tags.length, 1, MAX_TAGS);
    checkTags(tags);
    const tagMs = this.#tagMemoryMs;
    const everywhere = this.#shards.map((shard) => invalidate.with({ tags: shard.tags, tagMs, names: tags }));
    const those = new Set(tags);
    await this.#changing(
      () => this.#forgetTagged(those),
      async () => {
        for (const answer of await this.#store.pipeline(everywhere)) if (answer instanceof Error) throw answer;
        await this.#store.call("PUBLISH", this.#channel, `\0${tags.join("\n")}`);
      },
    );
  }

  /**
   * Makes all values invalid that have a tag which matches: `*` is any text, `?` any character. Answers how many tags that were. It
   * walks over all keys of the store to find them; `invalidate` does not, where you know the tags.
   */
  async invalidateMatching(pattern: string): Promise<number> {
    word("pattern", pattern, 256);
    const tags = await tagsMatching(this.#store, this.#allShards, pattern);
    for (let at = 0; at < tags.length; at += MAX_TAGS) await this.invalidate(tags.slice(at, at + MAX_TAGS));
    // What was being made has lost its lease: who waits for it looks again.
    await this.#changing(
      () => this.#alone.clear(),
      () => this.#store.call("PUBLISH", this.#channel, EVERYTHING),
    );
    return tags.length;
  }

  /** Deletes everything; how many values that were. It walks over all keys of the store, and is no single step. */
  async clear(): Promise<number> {
    const forget = (): void => {
      this.#memory.clear();
      this.#alone.clear();
    };
    return this.#changing(forget, async () => {
      const count = await clearShards(this.#store, this.#allShards);
      await this.#store.call("PUBLISH", this.#channel, EVERYTHING);
      return count;
    });
  }

  /** Whether there is a value, fresh or stale. Loads nothing and counts as no hit. */
  async has(key: string): Promise<boolean> {
    word("key", key);
    if (this.#memoryTtlMs > 0 && this.#memory.get(key) !== undefined) return true;
    const { entry, tags } = this.#keys(key);
    return this.#store.run(isThere, { entry, tags }, this.#limits);
  }

  /**
   * Several values at once, in order, asked for in one go. Without `load`, null for those that are not there; with it, they are made as
   * with `get`, and those of one moment in one call.
   */
  async getMany(keys: readonly string[]): Promise<(T | null)[]>;
  async getMany(keys: readonly string[], load: ManyLoader<T>, options?: EntryOptions): Promise<T[]>;
  async getMany(keys: readonly string[], load?: ManyLoader<T>, options: EntryOptions = {}): Promise<(T | null)[]> {
    ENTRY_OPTIONS.check(options);
    for (const key of keys) word("key", key);
    if (load === undefined) return Promise.all(keys.map((key) => this.get(key)));
    const batch = new Batch(load);
    return settled(keys.map((key) => this.get(key, (loading) => batch.load(key, loading), options)));
  }

  /** Puts several values, in one go; all have the same options. Rejects if one was not put; others may have been. */
  async setMany(entries: readonly (readonly [key: string, value: T])[], options: EntryOptions = {}): Promise<void> {
    ENTRY_OPTIONS.check(options);
    for (const [key] of entries) word("key", key);
    await settled(entries.map(([key, value]) => this.set(key, value, options)));
  }

  /**
   * A loader that, when it fails, gives the value which it has made last, up to `errorStaleMs` after that: stale-if-error. That value is
   * kept beside the other one and goes with it: by `delete`, and by its tags.
   */
  staleIfError(key: string, load: Loader<T>, options: StaleIfErrorOptions = {}): Loader<T> {
    STALE_OPTIONS.check(options);
    word("key", key);
    if (this.#errorStaleMs === 0) throw new InputError("staleIfError needs a cache that was made with errorStaleMs");
    const { tags = [], retryMs = 1_000 } = options;
    return async (loading) => {
      try {
        return await this.#makeWithSpare(key, load, { loading, tags });
      } catch (error) {
        const value = await this.get(spareOf(key)).catch(() => null);
        if (value === null) throw error;
        this.#onError(error);
        loading.freshFor(retryMs);
        return value;
      }
    };
  }

  /** The spare value is made under a lease of its own: what happens to its key or its tags meanwhile keeps it from being kept. */
  async #makeWithSpare(
    key: string,
    load: Loader<T>,
    { loading, tags }: { readonly loading: Loading; readonly tags: readonly string[] },
  ): Promise<T> {
    let isCalled = false;
    const loadBoth: Loader<T> = (spare) => {
      isCalled = true;
      return load({
        skip: () => {
          spare.skip();
          loading.skip();
        },
        tag: (more) => {
          spare.tag(more);
          loading.tag(more);
        },
        freshFor: (ms) => loading.freshFor(ms),
      });
    };
    const kept = { tags, freshMs: this.#errorStaleMs, staleMs: 0 };
    const value = await this.refresh(spareOf(key), loadBoth, kept).catch((error) => {
      if (isCalled) throw error;
      return null;
    });
    // Without a lease, the value is made all the same.
    return isCalled ? (value as T) : load(loading);
  }

  async #deleteSpare(key: string): Promise<void> {
    const { entry, loader } = this.#keys(spareOf(key));
    await this.#store.run(drop, { entry, loader, channel: this.#channel, key: spareOf(key) });
  }

  async #keepSpare(key: string, value: T, tags: readonly string[]): Promise<void> {
    await this.#put(spareOf(key), value, { tags, freshMs: this.#errorStaleMs, staleMs: 0 });
  }

  /**
   * As `get`, and makes a value anew before it stops being fresh, behind the caller's back: the more often a value is asked for and the
   * longer it takes to make, the more surely. So a value in demand is hardly ever waited for, and one that nobody wants is not made.
   */
  async getAhead(key: string, load: Loader<T>, options: AheadOptions = {}): Promise<T> {
    AHEAD_OPTIONS.check(options);
    const { eagerness = 1, ...entry } = options;
    const { clock } = this.#store;
    const timed: Loader<T> = async (loading) => {
      const begunMs = clock.monotonicMs();
      const value = await load(loading);
      this.#loadMs += (clock.monotonicMs() - begunMs - this.#loadMs) * (this.#loadMs === 0 ? 1 : LATEST_LOAD);
      return value;
    };
    const { value, state, ageMs } = await this.getEntry(key, timed, entry);
    // An exponential share of the time that making takes: many callers make it likely that one of them is early.
    const earlyMs = -Math.log(1 - clock.random()) * this.#loadMs * eagerness;
    const freshMs = (options.freshMs ?? this.#freshMs) * (1 - this.#jitter);
    if (state === "fresh" && ageMs + earlyMs >= freshMs) this.refresh(key, timed, entry).catch(this.#onError);
    return value;
  }

  /** Makes a value anew, whether it is fresh or not. Null: somebody else does. */
  async refresh(key: string, load: Loader<T>, options: EntryOptions = {}): Promise<T | null> {
    ENTRY_OPTIONS.check(options);
    checkTags(options.tags);
    const keys = this.#keys(word("key", key));
    const token = randomToken();
    const { loader, tags } = keys;
    const claiming = { loader, tags, token, leaseMs: this.#leaseMs, tagMs: this.#tagMemoryMs };
    if (!(await this.#store.run(claim, claiming, this.#limits))) return null;
    const made = await this.#load({ key, keys, token, load, options });
    this.#forget(key);
    return made.value;
  }

  get #allShards(): Shards {
    return { prefix: this.#prefix, name: this.name, tags: this.#shards.map(({ tags }) => tags) };
  }

  /**
   * A change, and what this process must not give any more when it is over: what it had before, and what it got from questions
   * that were asked meanwhile.
   */
  async #changing<R>(forget: () => void, change: () => Promise<R>): Promise<R> {
    forget();
    try {
      return await change();
    } finally {
      forget();
    }
  }

  #forget(key: string): void {
    this.#memory.delete(key);
    this.#alone.delete(key);
    this.#sightings.forget(key);
  }

  #forgetTagged(tags: ReadonlySet<string>): void {
    this.#memory.deleteTagged(tags);
    // Their tags are known when they are made.
    this.#alone.clear();
    this.#sightings.clear();
  }

  /** What this process has of it. */
  #held(key: string): Held<T> | undefined {
    const held = this.#memoryTtlMs > 0 ? this.#memory.get(key) : undefined;
    if (held !== undefined) this.#report.count("hits");
    return held;
  }

  /** A value that is certainly fresh, without a script; null if it takes more than a glance. */
  #seen(key: string, options: EntryOptions): Promise<{ readonly value: T } | null> | null {
    // Of a value that can be stale, only the server can say whether it is: that is up to the script. So it is with how long a
    // value stays fresh, which memory has to know.
    if ((options.staleMs ?? this.#staleMs) > 0 || this.#memoryTtlMs > 0 || this.#isBroken) return null;
    if (!this.#sightings.isLikely(key)) return null;
    word("key", key);
    checkTags(options.tags);
    return this.#glances.ask(`${key}\0${options.tags?.join("\n") ?? ""}`, () => this.#look(key, options)).answer;
  }

  /**
   * An entry that ends when it stops being fresh is fresh as long as the server has it. What the caller says of its tags saves a
   * second round trip: where that is not what the entry says, the script looks.
   */
  async #look(key: string, options: EntryOptions): Promise<{ readonly value: T } | null> {
    const { entry, tags } = this.#keys(key);
    const names = options.tags ?? [];
    let found: Reply;
    let invalidated: Reply = [];
    try {
      const finding = this.#store.send(["HMGET", entry, "v", "at", "fresh", "ends", "t"], this.#glance);
      if (names.length === 0) found = await finding;
      else
        [found, invalidated] = await Promise.all([
          finding,
          this.#store.send(["ZMSCORE", tags, ...names], this.#limits),
        ]);
    } catch (error) {
      this.#unreachable(error);
      return null;
    }
    const [stored, at, fresh, ends, tagList] = asBytesOrNulls(found);
    // The same digits, unless it can be stale.
    if (!stored || !at || !fresh || !ends || !tagList || !fresh.equals(ends)) return null;
    if (tagList.toString() !== names.join("\n")) return null;
    if (asTextsOrNulls(invalidated).some((each) => each !== null && Number(each) >= Number(at))) return null;
    this.#report.count("hits");
    this.#sightings.learn(key, true);
    if (this.#guard !== null) return this.#accepted(stored);
    const value = this.#unpacked(stored);
    return { value: value instanceof Promise ? await value : value };
  }

  get #isBroken(): boolean {
    return this.#store.clock.monotonicMs() < this.#brokenUntil;
  }

  /** Notes that the store cannot be used, and throws what says something else. */
  #unreachable(error: unknown): void {
    if (!isUnavailable(error)) throw error;
    this.#brokenUntil = this.#store.clock.monotonicMs() + BREAK_MS;
    this.#onError(error);
  }

  async #peek(key: string): Promise<T | null> {
    word("key", key);
    const held = this.#held(key);
    if (held !== undefined) return held.value;
    const { entry } = await this.#store.run(
      read,
      { ...this.#keys(key), token: "", leaseMs: 1, tagMs: 1 },
      this.#limits,
    );
    this.#report.count(entry === null ? "misses" : "hits");
    if (entry === null) return null;
    return this.#guard === null ? this.#unpacked(entry.stored) : ((await this.#accepted(entry.stored))?.value ?? null);
  }

  async #ask(asking: Asking<T>): Promise<Shared<T>> {
    const { key } = asking;
    for (;;) {
      // Nothing can be noticed while nobody listens.
      const noticed = this.#changes.listening ? this.#changes.next(key) : null;
      const question = this.#memoryTtlMs > 0 ? this.#memory.begin(key) : null;
      try {
        const sentMs = this.#store.clock.monotonicMs();
        const reply = this.#isBroken ? null : await this.#read(asking);
        if (reply === null) return await this.#loadAlone(asking);
        const { entry, loader } = reply;
        const isFresh = entry !== null && entry.freshForMs > 0;
        this.#sightings.learn(key, isFresh);
        const accepted = entry === null ? null : await this.#accepted(entry.stored);
        if (entry !== null && accepted === null && loader !== "caller") {
          await this.delete(key);
          continue;
        }
        if (isFresh && accepted !== null) {
          this.#sightings.lasts(key, entry.freshForMs);
          this.#report.count("hits");
          const { value } = accepted;
          if (question !== null) this.#memory.keep(question, this.#heldSince(sentMs, value, entry));
          return { found: { value, state: "fresh", ageMs: entry.ageMs }, isPrivate: false };
        }
        if (entry !== null && accepted !== null) return this.#stale(asking, accepted.value, entry.ageMs, loader);
        if (loader === "nobody") return await this.#loadAlone(asking);
        const made = loader === "caller" ? await this.#load(asking) : await this.#wait(reply, noticed);
        if (made !== null) return shared(made);
      } finally {
        noticed?.cancel();
        if (question !== null) this.#memory.end(question);
      }
    }
  }

  /** Null when the store cannot be used. */
  async #read({ key, keys, token }: Asking<T>): Promise<ReadReply | null> {
    const { entry, loader, tags } = keys;
    const reading = { entry, loader, tags, token, leaseMs: this.#leaseMs, tagMs: this.#tagMemoryMs };
    try {
      const reply = await this.#store.run(read, reading, this.#limits);
      if (reply.loader === "nobody") this.#refused(new ServerError(reply.holder));
      return reply;
    } catch (error) {
      this.#unreachable(error);
      // The answer that was lost may have been the lease.
      if (error instanceof ConnectionError && error.maybeExecuted) void this.#giveUp(key, keys, token);
      return null;
    }
  }

  /** The store takes no writes, and its entries can be read. Told once in a while: it is so for every value that is not there. */
  #refused(error: ServerError): void {
    const now = this.#store.clock.monotonicMs();
    if (now < this.#toldUntil) return;
    this.#toldUntil = now + BREAK_MS;
    this.#onError(error);
  }

  #heldSince(sentMs: number, value: T, { ageMs, freshForMs, tags }: FoundEntry): Held<T> {
    return { value, bornMs: sentMs - ageMs, untilMs: sentMs + Math.min(this.#memoryTtlMs, freshForMs), tags };
  }

  /** The stale value at once; a new one is made behind the caller's back, if that is the caller's part. */
  #stale(asking: Asking<T>, value: T, ageMs: number, loader: ReadReply["loader"]): Shared<T> {
    this.#report.count("staleHits");
    if (loader === "caller") this.#load(asking).catch(this.#onError);
    return { found: { value, state: "stale", ageMs }, isPrivate: false };
  }

  /**
   * Until the holder of the lease is done, its lease is over, or something else happens to the key. What it has made is taken
   * only from this process and only if the store took it: then nothing has happened to the key since before this caller came.
   */
  async #wait({ holder, leaseMs }: ReadReply, noticed: Notice | null): Promise<Made<T> | null> {
    const ours = this.#loads.get(holder);
    if (ours === undefined && noticed === null) {
      await this.#changes.listen().catch((error) => this.#unreachable(error));
      return null;
    }
    try {
      const limits = { timeoutMs: leaseMs, onTimeout: null };
      return await settleWhen<Made<T> | null>(this.#store, limits, ({ settle, fail }) => {
        // What is for its caller alone, or was not kept, is nobody else's: ask again.
        ours?.then((made) => settle(made.fate === "kept" ? made : null), fail);
        return noticed?.listen(() => settle(null)) ?? (() => {});
      });
    } catch (error) {
      // A waiting caller asks again when the store is closed, and hears of it.
      const { closeSignal } = this.#store;
      if (closeSignal.aborted && error === closeSignal.reason) return null;
      throw error;
    }
  }

  /** Makes it under the lease. Others of this process can wait for it until it is sent to the store. */
  #load(asking: Asking<T>): Promise<Made<T>> {
    const loading = this.#makeAndKeep(asking);
    this.#loads.set(asking.token, loading);
    return loading;
  }

  async #makeAndKeep({ key, keys, token, load, options }: Asking<T>): Promise<Made<T>> {
    let made: { value: T; kept: EntryOptions | null };
    let filling: Parameters<typeof fill.with>[0];
    try {
      made = await this.#make(key, load, options);
      const { value, kept } = made;
      if (kept === null) {
        await this.#giveUp(key, keys, token);
        return { value, fate: "for its caller" };
      }
      const packing = this.#packed(value);
      const { entry, loader, tags } = keys;
      const { freshMs, keepMs } = this.#lifetimes(kept);
      filling = {
        entry,
        loader,
        tags,
        token,
        value: packing instanceof Promise ? await packing : packing,
        freshMs,
        keepMs,
        tagList: kept.tags === undefined ? "" : kept.tags.join("\n"),
        channel: this.#channel,
        key,
        tells: this.#memoryTtlMs > 0 ? 1 : 0,
      };
    } catch (error) {
      await this.#giveUp(key, keys, token);
      throw error;
    } finally {
      this.#loads.delete(token);
    }
    try {
      const isKept = await this.#store.run(fill, filling, this.#limits);
      if (isKept) this.#sightings.lasts(key, Number(filling.freshMs));
      return { value: made.value, fate: isKept ? "kept" : "not kept" };
    } catch (error) {
      // The caller gets what was made, whatever keeps the store from keeping it.
      if (refusesWrites(error)) this.#refused(error);
      else if (isUnavailable(error)) this.#unreachable(error);
      else this.#onError(error);
      if (error instanceof ConnectionError) void this.#giveUp(key, keys, token);
      return { value: made.value, fate: "not kept" };
    }
  }

  /** Lets others load. A store that does not answer is told when it does; until then they wait for the end of the lease. */
  async #giveUp(key: string, { loader }: EntryKeys, token: string): Promise<void> {
    const giving = { loader, token, channel: this.#channel, key };
    try {
      await this.#store.run(giveUp, giving, this.#limits);
    } catch (error) {
      this.#onError(error);
      if (!this.#store.closed) this.#store.run(giveUp, giving, { whenOpen: "wait" }).catch(() => {});
    }
  }

  /** Without the store: one at a time in this process, every process for itself. */
  async #loadAlone({ key, load, options }: Asking<T>): Promise<Shared<T>> {
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
    const { value, kept } = await this.#make(key, load, options);
    return { value, fate: kept === null ? "for its caller" : "not kept" };
  }

  /** Calls the loader. `kept`: how its value is to be kept, or null if it is not. */
  async #make(key: string, load: Loader<T>, options: EntryOptions): Promise<{ value: T; kept: EntryOptions | null }> {
    const making = new Making(options);
    this.#report.count("misses");
    this.#report.count("loads");
    try {
      const span = this.#store.probe?.begin({ kind: "load", cache: this.name, key }) ?? null;
      const value =
        span === null
          ? await load(making)
          : await observed(
              span,
              async () => load(making),
              () => ({ outcome: "loaded" }),
            );
      return { value: this.#guard === null ? value : this.#guard.check(value), kept: making.kept };
    } catch (error) {
      this.#report.count("failures");
      throw error;
    }
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

  #packed(value: T): string | Buffer | Promise<Buffer> {
    return pack(encodeWithin(this.#codec, value, this.#maxBytes, "a cached value"), this.#compressAboveBytes);
  }

  #unpacked(stored: Buffer): T | Promise<T> {
    const bytes = unpack(stored);
    return bytes instanceof Promise ? bytes.then((each) => this.#codec.decode(each)) : this.#codec.decode(bytes);
  }

  /** Null for a value that the schema refuses: an older program may have stored it. */
  async #accepted(stored: Buffer): Promise<{ readonly value: T } | null> {
    try {
      return { value: await this.#unpacked(stored) };
    } catch (error) {
      if (error instanceof SchemaError) return null;
      throw error;
    }
  }

  #keys(key: string): EntryKeys {
    return entryKeys(this.#shards, key);
  }
}
