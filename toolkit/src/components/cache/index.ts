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
import { ConnectionError, InputError, ServerError } from "../../base/errors.ts";
import { observed, type Probe } from "../../base/probe.ts";
import { asBytesOrNulls, asTextsOrNulls } from "../../base/replies.ts";
import { settled } from "../../base/together.ts";
import type { Reply } from "../../connection/port.ts";
import { type RunOptions, runOptions, type SendOptions, type Store, sendOptions } from "../../connection/store.ts";
import { type Asking, loaded, type Shared, shared, spareOf } from "./asking.ts";
import { Batch, type ManyLoader } from "./batch.ts";
import { Changes, EVERYTHING } from "./changes.ts";
import { claim } from "./claim.ts";
import { changesChannel, type EntryKeys, entryKeys, type ShardKeys, shardKeys } from "./keys.ts";
import { Lifetimes } from "./lifetimes.ts";
import { Loads } from "./loads.ts";
import { type Held, MemoryCache } from "./memory.ts";
import { AHEAD_OPTIONS, checkTags, ENTRY_OPTIONS, listed, MAX_TAGS, OPTIONS, STALE_OPTIONS } from "./options.ts";
import { Outage } from "./outage.ts";
import { isThere } from "./presence.ts";
import { CacheReport } from "./report.ts";
import { drop, type FoundEntry, invalidate, put, type ReadReply, read } from "./scripts.ts";
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
import { Values } from "./values.ts";

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
  readonly #lifetimes: Lifetimes;
  /** How long making takes, on average. */
  #loadMs = 0;
  readonly #leaseMs: number;
  readonly #limits: RunOptions;
  readonly #shards: readonly ShardKeys[];
  readonly #glance: SendOptions;
  readonly #values: Values<T>;
  readonly #onError: (error: unknown) => void;
  readonly #memoryTtlMs: number;
  readonly #memory: MemoryCache<T>;
  readonly #changes: Changes;
  readonly #channel: string;
  readonly #questions = new SharedQuestions<Shared<T>>();
  readonly #glances = new SharedQuestions<{ readonly value: T } | null>();
  readonly #sightings: Sightings;
  readonly #outage: Outage;
  readonly #loads: Loads<T>;
  readonly #report: CacheReport;

  constructor(store: Store, name: string, options: CacheOptions<T> = {}) {
    OPTIONS.check(options);
    this.name = name;
    this.#store = aStore("Cache", store);
    this.#prefix = options.prefix ?? "cache";
    this.#lifetimes = new Lifetimes(store.clock, options);
    this.#leaseMs = options.leaseMs ?? 30_000;
    this.#limits = runOptions({ timeoutMs: options.timeoutMs ?? 1_000, whenOpen: "fail" });
    const shards = options.shards ?? 16;
    this.#glance = sendOptions({ ...this.#limits, buffers: true });
    this.#values = new Values(options);
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
        this.#loads.clear();
      },
    };
    this.#changes = new Changes(store, this.#channel, outdated, this.#onError);
    this.#outage = new Outage(store.clock, this.#onError);
    this.#loads = new Loads({
      store,
      name,
      channel: this.#channel,
      limits: this.#limits,
      isHeld: this.#memoryTtlMs > 0,
      values: this.#values,
      lifetimes: this.#lifetimes,
      changes: this.#changes,
      outage: this.#outage,
      report: this.#report,
      sightings: this.#sightings,
      onError: this.#onError,
    });
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
    return isPrivate && !isMine ? loaded(await this.#loads.make(key, load, options)) : found;
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
      return isPrivate && !isMine ? loaded(await this.#loads.make(key, load, options)) : found;
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
    if (this.#lifetimes.errorStaleMs > 0) await this.#keepSpare(key, value, options.tags ?? []);
  }

  async #put(key: string, value: T, options: EntryOptions): Promise<void> {
    const { freshMs, keepMs } = this.#lifetimes.of(options);
    const { entry, loader, tags } = this.#keys(key);
    const packed = await this.#values.packed(value);
    await this.#changing(
      () => this.#forget(key),
      () =>
        this.#store.run(put, {
          ...{ entry, loader, tags, freshMs, keepMs, key },
          tagMs: this.#lifetimes.tagMemoryMs,
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
    if (this.#lifetimes.errorStaleMs > 0) await this.#deleteSpare(key);
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
    const tagMs = this.#lifetimes.tagMemoryMs;
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
      () => this.#loads.clear(),
      () => this.#store.call("PUBLISH", this.#channel, EVERYTHING),
    );
    return tags.length;
  }

  /** Deletes everything; how many values that were. It walks over all keys of the store, and is no single step. */
  async clear(): Promise<number> {
    const forget = (): void => {
      this.#memory.clear();
      this.#loads.clear();
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
    if (this.#lifetimes.errorStaleMs === 0)
      throw new InputError("staleIfError needs a cache that was made with errorStaleMs");
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
    const kept = { tags, freshMs: this.#lifetimes.errorStaleMs, staleMs: 0 };
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
    await this.#put(spareOf(key), value, { tags, freshMs: this.#lifetimes.errorStaleMs, staleMs: 0 });
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
    const freshMs = (options.freshMs ?? this.#lifetimes.freshMs) * (1 - this.#lifetimes.jitter);
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
    const claiming = { loader, tags, token, leaseMs: this.#leaseMs, tagMs: this.#lifetimes.tagMemoryMs };
    if (!(await this.#store.run(claim, claiming, this.#limits))) return null;
    const made = await this.#loads.leased({ key, keys, token, load, options });
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
    this.#loads.forget(key);
    this.#sightings.forget(key);
  }

  #forgetTagged(tags: ReadonlySet<string>): void {
    this.#memory.deleteTagged(tags);
    // Their tags are known when they are made.
    this.#loads.clear();
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
    if ((options.staleMs ?? this.#lifetimes.staleMs) > 0 || this.#memoryTtlMs > 0 || this.#outage.isOn) return null;
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
      this.#outage.unreachable(error);
      return null;
    }
    const [stored, at, fresh, ends, tagList] = asBytesOrNulls(found);
    // The same digits, unless it can be stale.
    if (!stored || !at || !fresh || !ends || !tagList || !fresh.equals(ends)) return null;
    if (tagList.toString() !== names.join("\n")) return null;
    if (asTextsOrNulls(invalidated).some((each) => each !== null && Number(each) >= Number(at))) return null;
    this.#report.count("hits");
    this.#sightings.learn(key, true);
    if (this.#values.areChecked) return this.#values.accepted(stored);
    const value = this.#values.unpacked(stored);
    return { value: value instanceof Promise ? await value : value };
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
    if (!this.#values.areChecked) return this.#values.unpacked(entry.stored);
    return (await this.#values.accepted(entry.stored))?.value ?? null;
  }

  async #ask(asking: Asking<T>): Promise<Shared<T>> {
    const { key } = asking;
    for (;;) {
      // Nothing can be noticed while nobody listens.
      const noticed = this.#changes.listening ? this.#changes.next(key) : null;
      const question = this.#memoryTtlMs > 0 ? this.#memory.begin(key) : null;
      try {
        const sentMs = this.#store.clock.monotonicMs();
        const reply = this.#outage.isOn ? null : await this.#read(asking);
        if (reply === null) return await this.#loads.alone(asking);
        const { entry, loader } = reply;
        const isFresh = entry !== null && entry.freshForMs > 0;
        this.#sightings.learn(key, isFresh);
        const accepted = entry === null ? null : await this.#values.accepted(entry.stored);
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
        if (loader === "nobody") return await this.#loads.alone(asking);
        const made = loader === "caller" ? await this.#loads.leased(asking) : await this.#loads.wait(reply, noticed);
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
    const reading = { entry, loader, tags, token, leaseMs: this.#leaseMs, tagMs: this.#lifetimes.tagMemoryMs };
    try {
      const reply = await this.#store.run(read, reading, this.#limits);
      if (reply.loader === "nobody") this.#outage.refused(new ServerError(reply.holder));
      return reply;
    } catch (error) {
      this.#outage.unreachable(error);
      // The answer that was lost may have been the lease.
      if (error instanceof ConnectionError && error.maybeExecuted) void this.#loads.giveUp(key, keys, token);
      return null;
    }
  }

  #heldSince(sentMs: number, value: T, { ageMs, freshForMs, tags }: FoundEntry): Held<T> {
    return { value, bornMs: sentMs - ageMs, untilMs: sentMs + Math.min(this.#memoryTtlMs, freshForMs), tags };
  }

  /** The stale value at once; a new one is made behind the caller's back, if that is the caller's part. */
  #stale(asking: Asking<T>, value: T, ageMs: number, loader: ReadReply["loader"]): Shared<T> {
    this.#report.count("staleHits");
    if (loader === "caller") this.#loads.leased(asking).catch(this.#onError);
    return { found: { value, state: "stale", ageMs }, isPrivate: false };
  }

  #keys(key: string): EntryKeys {
    return entryKeys(this.#shards, key);
  }
}
