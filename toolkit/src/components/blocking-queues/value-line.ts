/** What both queues are: a line of values that is bounded, and waited at from both ends. How values are stored is told by the maker. */
import { type Codec, encodeWithin, json } from "../../base/codec.ts";
import { inSteps } from "../../base/lists.ts";
import { NameIndex } from "../../base/names.ts";
import { asNumber } from "../../base/replies.ts";
import type { Store } from "../../connection/store.ts";
import type { LineKeys } from "./keys.ts";
import { WaitingLine, type WaitOptions } from "./line.ts";
import {
  type BlockingQueueOptions,
  DEFAULTS,
  MOST_TAKEN,
  TAKE_MANY_OPTIONS,
  TAKE_OPTIONS,
  type TakeManyOptions,
  VALUES_OPTIONS,
  type ValuesOptions,
} from "./options.ts";
import { clear } from "./scripts.ts";

/** `P` is what is pushed: a value as it is stored, and what else its place depends on. */
export interface Storing<P> {
  readonly name: string;
  readonly keys: LineKeys;
  /** Of the index of names. */
  readonly kind: string;
  readonly prefix: string;
  readonly capacity: number;
  /** The command that counts the values. */
  readonly counting: "LLEN" | "ZCARD";
  /** How many of them there was room for. */
  push(items: readonly P[]): Promise<number>;
  take(count: number): Promise<Buffer[]>;
  peek(): Promise<readonly Buffer[]>;
}

export class ValueLine<T, P> {
  readonly #store: Store;
  readonly #storing: Storing<P>;
  readonly #codec: Codec<T>;
  readonly #maxBytes: number;
  readonly #line: WaitingLine<P, Buffer>;
  readonly #names: NameIndex;

  constructor(store: Store, options: BlockingQueueOptions<T>, storing: Storing<P>) {
    this.#store = store;
    this.#storing = storing;
    this.#codec = options.codec ?? json<T>();
    this.#maxBytes = options.maxBytes ?? DEFAULTS.maxBytes;
    this.#names = new NameIndex(store, {
      kind: storing.kind,
      prefix: storing.prefix,
      details: { capacity: storing.capacity },
    });
    this.#line = new WaitingLine(store, storing.keys.channel, {
      push: (items) => this.#push(items),
      take: (count) => storing.take(count),
    });
  }

  encoded(value: T): string | Uint8Array {
    return encodeWithin(this.#codec, value, this.#maxBytes, "a value");
  }

  push(item: P, options: WaitOptions): Promise<boolean> {
    return this.#line.push(item, options);
  }

  pushMany(items: readonly P[]): Promise<boolean[]> {
    return inSteps(items, MOST_TAKEN, async (some) => {
      const fits = await this.#push(some);
      return some.map((_, at) => at < fits);
    });
  }

  async take(options: WaitOptions): Promise<T | null> {
    TAKE_OPTIONS.check(options);
    const stored = await this.#line.take(options);
    return stored === null ? null : this.#codec.decode(stored);
  }

  async takeMany(options: TakeManyOptions): Promise<T[]> {
    TAKE_MANY_OPTIONS.check(options);
    return (await this.#storing.take(options.limit ?? 100)).map((stored) => this.#codec.decode(stored));
  }

  async *values(options: ValuesOptions): AsyncGenerator<T, void, void> {
    VALUES_OPTIONS.check(options);
    for (;;) {
      const stored = await this.#line.take({ ...options, waitMs: Number.POSITIVE_INFINITY });
      if (stored !== null) yield this.#codec.decode(stored);
    }
  }

  async peek(): Promise<T | null> {
    const [stored] = await this.#storing.peek();
    return stored === undefined ? null : this.#codec.decode(stored);
  }

  async count(): Promise<number> {
    const { counting, keys } = this.#storing;
    return asNumber(await this.#store.call(counting, keys.items));
  }

  async clear(): Promise<number> {
    const { keys, counting, name } = this.#storing;
    const { items, sequence, channel } = keys;
    const deleted = await this.#store.run(clear, { items, sequence, channel, counting });
    await this.#names.remove(name);
    return deleted;
  }

  #push(items: readonly P[]): Promise<number> {
    this.#names.announce(this.#storing.name);
    return this.#storing.push(items);
  }
}
