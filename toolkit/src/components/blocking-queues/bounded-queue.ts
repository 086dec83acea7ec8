/** First in, first out, with a bound: who pushes onto a full queue can wait for room, who takes from an empty one for a value. */
import { aStore } from "../../base/checks.ts";
import { defineOptions } from "../../base/options.ts";
import type { Store } from "../../connection/store.ts";
import { lineKeys } from "./keys.ts";
import type { WaitOptions } from "./line.ts";
import {
  type BlockingQueueOptions,
  DEFAULTS,
  making,
  type TakeManyOptions,
  type ValuesOptions,
  waitChecks,
} from "./options.ts";
import { peekFirst, pushLast, takeFirst } from "./scripts.ts";
import { ValueLine } from "./value-line.ts";

const OPTIONS = defineOptions<BlockingQueueOptions<unknown>>("BoundedQueue", making);
const PUSH_OPTIONS = defineOptions<WaitOptions>("BoundedQueue.push", waitChecks);

/**
 * A queue with a bound that processes share, first in, first out. Callers wait for a value, or for room.
 *
 * @example
 * const pages = new BoundedQueue<string>(db, "pages", { capacity: 2 });
 * await pages.pushMany(["/1", "/2", "/3"]); // → [true, true, false]
 * await pages.push("/4", { waitMs: 10 }); // → false
 * await pages.peek(); // → "/1"
 * await pages.take({ waitMs: 1_000 }); // → "/1"
 * await pages.takeMany({ limit: 10 }); // → ["/2"]
 * @example
 * const lines = new BoundedQueue<string>(db, "lines");
 * await lines.push("hello");
 * for await (const line of lines.values()) if (line === "hello") break;
 * await lines.count(); // → 0
 * await lines.clear(); // → 0
 */
export class BoundedQueue<T = unknown> {
  /** The name of the queue, as it was given. */
  readonly name: string;
  /** How many values it holds at most, for callers of this object. */
  readonly capacity: number;
  readonly #line: ValueLine<T, string | Uint8Array>;

  constructor(store: Store, name: string, options: BlockingQueueOptions<T> = {}) {
    aStore("BoundedQueue", store);
    OPTIONS.check(options);
    this.name = name;
    this.capacity = options.capacity ?? DEFAULTS.capacity;
    const prefix = options.prefix ?? "bounded-queue";
    const { capacity } = this;
    const keys = lineKeys(prefix, name, "bounded queue");
    const { items, channel } = keys;
    this.#line = new ValueLine(store, options, {
      ...{ name, keys, kind: "bounded-queues", prefix, capacity, counting: "LLEN" },
      push: (values) => store.run(pushLast, { items, channel, capacity, values }),
      take: (count) => store.run(takeFirst, { items, channel, capacity, count }),
      peek: () => store.run(peekFirst, { items }),
    });
  }

  /** Puts a value at the end. False: it was full, for as long as the caller waited. */
  async push(value: T, options: WaitOptions = {}): Promise<boolean> {
    PUSH_OPTIONS.check(options);
    return this.#line.push(this.#line.encoded(value), options);
  }

  /** Puts values at the end, in steps of a thousand, as far as there is room now. False for those that did not fit. */
  async pushMany(values: readonly T[]): Promise<boolean[]> {
    return this.#line.pushMany(values.map((value) => this.#line.encoded(value)));
  }

  /** The first value, which nobody else gets. Null: it was empty, for as long as the caller waited. */
  async take(options: WaitOptions = {}): Promise<T | null> {
    return this.#line.take(options);
  }

  /** The first values, as many as there are now. */
  async takeMany(options: TakeManyOptions = {}): Promise<T[]> {
    return this.#line.takeMany(options);
  }

  /** Takes values as they come, until the signal ends it. */
  values(options: ValuesOptions = {}): AsyncGenerator<T, void, void> {
    return this.#line.values(options);
  }

  /** The first value, which stays. */
  async peek(): Promise<T | null> {
    return this.#line.peek();
  }

  /** How many values are in the queue now. */
  async count(): Promise<number> {
    return this.#line.count();
  }

  /** Deletes all values; how many there were. */
  async clear(): Promise<number> {
    return this.#line.clear();
  }
}
