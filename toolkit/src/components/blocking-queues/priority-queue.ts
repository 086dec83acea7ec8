/** What has the highest priority comes out first; of equal priorities, what went in first. Bounded, and waited at from both ends. */
import { aStore } from "../../base/checks.ts";
import { anything, defineOptions, number, required } from "../../base/options.ts";
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
import { peekByPriority, pushByPriority, takeByPriority } from "./scripts.ts";
import { ValueLine } from "./value-line.ts";

/** How a value is put into a `PriorityQueue`. */
export interface PriorityPushOptions extends WaitOptions {
  /** Larger is sooner; 0 by default. */
  readonly priority?: number;
}

/** A value with its priority. */
export interface Prioritised<T> {
  /** What is put in. */
  readonly value: T;
  /** Larger is sooner; 0 by default. */
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

/**
 * A queue with a bound that processes share and that gives the highest priority first; values of one priority in the order in which they
 * came.
 *
 * @example
 * const tasks = new PriorityQueue<string>(db, "tasks", { capacity: 100 });
 * await tasks.pushMany([{ value: "tidy" }, { value: "rescue", priority: 9 }]); // → [true, true]
 * await tasks.push("feed", { priority: 5 }); // → true
 * await tasks.peek(); // → "rescue"
 * await tasks.take(); // → "rescue"
 * await tasks.takeMany({ limit: 10 }); // → ["feed", "tidy"]
 * @example
 * const alarms = new PriorityQueue<string>(db, "alarms");
 * await alarms.push("fire", { priority: 1 });
 * for await (const alarm of alarms.values()) if (alarm === "fire") break;
 * await alarms.count(); // → 0
 * await alarms.clear(); // → 0
 */
export class PriorityQueue<T = unknown> {
  /** The name of the queue, as it was given. */
  readonly name: string;
  /** How many values it holds at most, for callers of this object. */
  readonly capacity: number;
  readonly #line: ValueLine<T, Ranked>;

  constructor(store: Store, name: string, options: BlockingQueueOptions<T> = {}) {
    aStore("PriorityQueue", store);
    OPTIONS.check(options);
    this.name = name;
    this.capacity = options.capacity ?? DEFAULTS.capacity;
    const prefix = options.prefix ?? "priority-queue";
    const { capacity } = this;
    const keys = lineKeys(prefix, name, "priority queue");
    this.#line = new ValueLine(store, options, {
      ...{ name, keys, kind: "priority-queues", prefix, capacity, counting: "ZCARD" },
      push: (ranked) => {
        const values = ranked.flatMap(({ score, value }) => [score, value]);
        return store.run(pushByPriority, { ...keys, capacity, values });
      },
      take: (count) => store.run(takeByPriority, { ...keys, capacity, count }),
      peek: () => store.run(peekByPriority, { items: keys.items }),
    });
  }

  /** Puts a value in. False: it was full, for as long as the caller waited. */
  async push(value: T, options: PriorityPushOptions = {}): Promise<boolean> {
    PUSH_OPTIONS.check(options);
    return this.#line.push(this.#ranked({ value, priority: options.priority ?? 0 }), options);
  }

  /** Puts values in, in steps of a thousand, as far as there is room now. False for those that did not fit. */
  async pushMany(items: readonly Prioritised<T>[]): Promise<boolean[]> {
    return this.#line.pushMany(items.map((item) => this.#ranked(ITEM.check(item))));
  }

  /** The value with the highest priority, which nobody else gets. Null: it was empty, for as long as the caller waited. */
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

  /** The value with the highest priority, which stays. */
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

  #ranked({ value, priority: rank = 0 }: Prioritised<T>): Ranked {
    return { score: -rank, value: this.#line.encoded(value) };
  }
}
