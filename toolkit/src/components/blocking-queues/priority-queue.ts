/** What has the highest priority comes out first; of equal priorities, what went in first. Bounded, and waited at from both ends. */
import { aStore } from "../../base/checks.ts";
import { type Codec, encodeWithin, json } from "../../base/codec.ts";
import { inSteps } from "../../base/lists.ts";
import { NameIndex } from "../../base/names.ts";
import { anything, defineOptions, number, required } from "../../base/options.ts";
import { asNumber } from "../../base/replies.ts";
import type { Store } from "../../connection/store.ts";
import { type LineKeys, lineKeys } from "./keys.ts";
import { WaitingLine, type WaitOptions } from "./line.ts";
import {
  type BlockingQueueOptions,
  DEFAULTS,
  MOST_TAKEN,
  making,
  TAKE_MANY_OPTIONS,
  TAKE_OPTIONS,
  type TakeManyOptions,
  VALUES_OPTIONS,
  type ValuesOptions,
  waitChecks,
} from "./options.ts";
import { clear, peekByPriority, pushByPriority, takeByPriority } from "./scripts.ts";

export interface PriorityPushOptions extends WaitOptions {
  /** Larger is sooner; 0 by default. */
  readonly priority?: number;
}

export interface Prioritised<T> {
  readonly value: T;
  readonly priority?: number;
}

/** Exact in a score. */
const MOST = Number.MAX_SAFE_INTEGER;
const priority = number(-MOST, MOST);

const OPTIONS = defineOptions<BlockingQueueOptions<unknown>>("PriorityQueue", making);
const PUSH_OPTIONS = defineOptions<PriorityPushOptions>("PriorityQueue.push", { ...waitChecks, priority });
const ITEM = defineOptions<Prioritised<unknown>>("PriorityQueue.pushMany", { value: required(anything), priority });

interface Ranked {
  readonly score: number;
  readonly value: string | Uint8Array;
}

export class PriorityQueue<T = unknown> {
  readonly name: string;
  readonly capacity: number;
  readonly #store: Store;
  readonly #keys: LineKeys;
  readonly #codec: Codec<T>;
  readonly #maxBytes: number;
  readonly #line: WaitingLine<Ranked, Buffer>;
  readonly #names: NameIndex;

  constructor(store: Store, name: string, options: BlockingQueueOptions<T> = {}) {
    this.#store = aStore("PriorityQueue", store);
    OPTIONS.check(options);
    this.name = name;
    this.capacity = options.capacity ?? DEFAULTS.capacity;
    const first = options.prefix ?? "priority-queue";
    this.#keys = lineKeys(first, name, "priority queue");
    this.#codec = options.codec ?? json<T>();
    this.#maxBytes = options.maxBytes ?? DEFAULTS.maxBytes;
    this.#names = new NameIndex(store, { kind: "priority-queues", prefix: first });
    this.#line = new WaitingLine(store, this.#keys.channel, {
      push: (values) => this.#push(values),
      take: (count) => this.#take(count),
    });
  }

  /** Puts a value in. False: it was full, for as long as the caller waited. */
  async push(value: T, options: PriorityPushOptions = {}): Promise<boolean> {
    PUSH_OPTIONS.check(options);
    return this.#line.push(this.#ranked({ value, priority: options.priority ?? 0 }), options);
  }

  /** Puts values in, in steps of a thousand, as far as there is room now. False for those that did not fit. */
  async pushMany(items: readonly Prioritised<T>[]): Promise<boolean[]> {
    const ranked = items.map((item) => this.#ranked(ITEM.check(item)));
    return inSteps(ranked, MOST_TAKEN, async (some) => {
      const fits = await this.#push(some);
      return some.map((_, at) => at < fits);
    });
  }

  /** The value with the highest priority, which nobody else gets. Null: it was empty, for as long as the caller waited. */
  async take(options: WaitOptions = {}): Promise<T | null> {
    TAKE_OPTIONS.check(options);
    const stored = await this.#line.take(options);
    return stored === null ? null : this.#codec.decode(stored);
  }

  /** The first values, as many as there are now. */
  async takeMany(options: TakeManyOptions = {}): Promise<T[]> {
    TAKE_MANY_OPTIONS.check(options);
    return (await this.#take(options.limit ?? 100)).map((stored) => this.#codec.decode(stored));
  }

  /** Takes values as they come, until the signal ends it. */
  async *values(options: ValuesOptions = {}): AsyncGenerator<T, void, void> {
    VALUES_OPTIONS.check(options);
    for (;;) {
      const stored = await this.#line.take({ ...options, waitMs: Number.POSITIVE_INFINITY });
      if (stored !== null) yield this.#codec.decode(stored);
    }
  }

  /** The value with the highest priority, which stays. */
  async peek(): Promise<T | null> {
    const [stored] = await this.#store.run(peekByPriority, { items: this.#keys.items });
    return stored === undefined ? null : this.#codec.decode(stored);
  }

  async count(): Promise<number> {
    return asNumber(await this.#store.call("ZCARD", this.#keys.items));
  }

  /** Deletes all values; how many there were. */
  async clear(): Promise<number> {
    const { items, sequence, channel } = this.#keys;
    const deleted = await this.#store.run(clear, { items, sequence, channel, counting: "ZCARD" });
    await this.#names.remove(this.name);
    return deleted;
  }

  #push(ranked: readonly Ranked[]): Promise<number> {
    this.#names.announce(this.name);
    const values = ranked.flatMap(({ score, value }) => [score, value]);
    return this.#store.run(pushByPriority, { ...this.#keys, capacity: this.capacity, values });
  }

  #take(count: number): Promise<Buffer[]> {
    return this.#store.run(takeByPriority, { ...this.#keys, capacity: this.capacity, count });
  }

  #ranked({ value, priority: rank = 0 }: Prioritised<T>): Ranked {
    return { score: -rank, value: encodeWithin(this.#codec, value, this.#maxBytes, "a value") };
  }
}
