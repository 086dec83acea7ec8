/** First in, first out, with a bound: who pushes onto a full queue can wait for room, who takes from an empty one for a value. */
import { aStore } from "../../base/checks.ts";
import { type Codec, encodeWithin, json } from "../../base/codec.ts";
import { inSteps } from "../../base/lists.ts";
import { NameIndex } from "../../base/names.ts";
import { defineOptions } from "../../base/options.ts";
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
import { clear, peekFirst, pushLast, takeFirst } from "./scripts.ts";

const OPTIONS = defineOptions<BlockingQueueOptions<unknown>>("BoundedQueue", making);
const PUSH_OPTIONS = defineOptions<WaitOptions>("BoundedQueue.push", waitChecks);

export class BoundedQueue<T = unknown> {
  readonly name: string;
  readonly capacity: number;
  readonly #store: Store;
  readonly #keys: LineKeys;
  readonly #codec: Codec<T>;
  readonly #maxBytes: number;
  readonly #line: WaitingLine<string | Uint8Array, Buffer>;
  readonly #names: NameIndex;

  constructor(store: Store, name: string, options: BlockingQueueOptions<T> = {}) {
    this.#store = aStore("BoundedQueue", store);
    OPTIONS.check(options);
    this.name = name;
    this.capacity = options.capacity ?? DEFAULTS.capacity;
    const first = options.prefix ?? "bounded-queue";
    this.#keys = lineKeys(first, name, "bounded queue");
    this.#codec = options.codec ?? json<T>();
    this.#maxBytes = options.maxBytes ?? DEFAULTS.maxBytes;
    this.#names = new NameIndex(store, { kind: "bounded-queues", prefix: first });
    this.#line = new WaitingLine(store, this.#keys.channel, {
      push: (values) => this.#push(values),
      take: (count) => this.#take(count),
    });
  }

  /** Puts a value at the end. False: it was full, for as long as the caller waited. */
  async push(value: T, options: WaitOptions = {}): Promise<boolean> {
    PUSH_OPTIONS.check(options);
    return this.#line.push(this.#encoded(value), options);
  }

  /** Puts values at the end, in steps of a thousand, as far as there is room now. False for those that did not fit. */
  async pushMany(values: readonly T[]): Promise<boolean[]> {
    return inSteps(
      values.map((value) => this.#encoded(value)),
      MOST_TAKEN,
      async (some) => {
        const fits = await this.#push(some);
        return some.map((_, at) => at < fits);
      },
    );
  }

  /** The first value, which nobody else gets. Null: it was empty, for as long as the caller waited. */
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

  /** The first value, which stays. */
  async peek(): Promise<T | null> {
    const [stored] = await this.#store.run(peekFirst, { items: this.#keys.items });
    return stored === undefined ? null : this.#codec.decode(stored);
  }

  async count(): Promise<number> {
    return asNumber(await this.#store.call("LLEN", this.#keys.items));
  }

  /** Deletes all values; how many there were. */
  async clear(): Promise<number> {
    const { items, sequence, channel } = this.#keys;
    const deleted = await this.#store.run(clear, { items, sequence, channel, counting: "LLEN" });
    await this.#names.remove(this.name);
    return deleted;
  }

  #push(values: readonly (string | Uint8Array)[]): Promise<number> {
    this.#names.announce(this.name);
    const { items, channel } = this.#keys;
    return this.#store.run(pushLast, { items, channel, capacity: this.capacity, values });
  }

  #take(count: number): Promise<Buffer[]> {
    const { items, channel } = this.#keys;
    return this.#store.run(takeFirst, { items, channel, capacity: this.capacity, count });
  }

  #encoded(value: T): string | Uint8Array {
    return encodeWithin(this.#codec, value, this.#maxBytes, "a value");
  }
}
