/**
 * The schedules of a queue, over its shards: each is in the shard of its jobs' group, or of its name. What one is and does in its shard
 * is in schedule.ts. Options have been checked.
 */
import type { Codec } from "../../base/codec.ts";
import { InputError } from "../../base/errors.ts";
import type { Filled } from "../../base/lists.ts";
import type { Page, PageOptions } from "../../base/page.ts";
import { ValidatingCodec } from "../../base/schema.ts";
import type { Store } from "../../connection/store.ts";
import type { Shard } from "./answers.ts";
import { pageByName } from "./bulk.ts";
import { checkWord, type QueueKeys, shardOf } from "./keys.ts";
import { type Prepare, parseRecord } from "./record.ts";
import {
  changeSchedule,
  cutTail,
  dropSchedule,
  findSchedule,
  holdSchedule,
  releaseSchedule,
  type Schedule,
  type ScheduledJobOptions,
  type ScheduleTimes,
  type ScheduleUpdate,
  schedulesAfter,
  setSchedule,
  timesAhead,
} from "./schedule.ts";

interface Facts<T, I> {
  readonly store: Store;
  readonly shards: Filled<Shard>;
  readonly codec: Codec<T, I>;
  readonly prepare: Prepare<I>;
}

export class ScheduleBook<T, I> {
  readonly #facts: Facts<T, I>;
  readonly #decode: (payload: string) => T;

  constructor(facts: Facts<T, I>) {
    this.#facts = facts;
    this.#decode = (payload) => facts.codec.decode(payload);
  }

  async set(
    name: string,
    to: { readonly times: ScheduleTimes; readonly data: I; readonly options: ScheduledJobOptions },
  ): Promise<Date> {
    const { store, shards } = this.#facts;
    const shard = shards[shardOf(to.options.group ?? name, shards.length)] ?? shards[0];
    const tail = this.#tailOf(to.data, to.options);
    const suffix = shards.length === 1 ? "" : `@${shard.index}`;
    const nextAt = await setSchedule(store, shard.keys, name, { times: to.times, tail, suffix });
    // With another group it may have been in another shard.
    const others = shards.filter((each) => each !== shard);
    await Promise.all(others.map(({ keys }) => dropSchedule(store, keys, name)));
    return nextAt;
  }

  /** Asks every shard; the answer of the one that has it, which is not the one for "not here". */
  async #ask<V>(name: string, no: V, ask: (keys: QueueKeys) => Promise<V>): Promise<V> {
    checkWord(name, "the name of a schedule");
    const found = await Promise.all(this.#facts.shards.map(({ keys }) => ask(keys)));
    return found.find((each) => each !== no) ?? no;
  }

  get(name: string): Promise<Schedule<T> | null> {
    const { store } = this.#facts;
    return this.#ask(name, null, (keys) => findSchedule(store, keys, name, this.#decode));
  }

  update(name: string, { times, data, options }: ScheduleUpdate<I>): Promise<boolean> {
    const { store, codec } = this.#facts;
    const payload = data === undefined ? undefined : cutTail(this.#tailOf(data, {})).payload;
    // As it was given: not what a schema makes of it.
    const given = (stored: string): I => (codec instanceof ValidatingCodec ? codec.plain : codec).decode(stored) as I;
    const tail = (before: string): string => {
      const old = cutTail(before);
      if (options === undefined) return old.head + (payload ?? old.payload);
      const group = parseRecord(`0,;${before}`).facts.g;
      if (options.group !== undefined && options.group !== group) {
        throw new InputError(`the jobs of the schedule "${name}" stay in their group; set it again with schedule()`);
      }
      const kept = group === undefined ? options : { ...options, group };
      return this.#tailOf(data === undefined ? given(old.payload) : data, kept);
    };
    const to = { tail, ...(times === undefined ? {} : { times }) };
    return this.#ask(name, false, (keys) => changeSchedule(store, keys, name, to));
  }

  /** What its jobs get. */
  #tailOf(data: I, options: ScheduledJobOptions): string {
    const { tail } = this.#facts.prepare("", data, options);
    if (typeof tail !== "string") throw new InputError("schedules are for payloads that are text");
    return tail;
  }

  pause(name: string): Promise<boolean> {
    return this.#ask(name, false, (keys) => holdSchedule(this.#facts.store, keys, name));
  }

  resume(name: string): Promise<boolean> {
    return this.#ask(name, false, (keys) => releaseSchedule(this.#facts.store, keys, name));
  }

  upcoming(name: string, limit: number): Promise<Date[] | null> {
    return this.#ask<Date[] | null>(name, null, (keys) => timesAhead(this.#facts.store, keys, name, limit));
  }

  delete(name: string): Promise<boolean> {
    return this.#ask(name, false, (keys) => dropSchedule(this.#facts.store, keys, name));
  }

  list(options: PageOptions): Promise<Page<Schedule<T>>> {
    const { store, shards } = this.#facts;
    return pageByName(shards, options, ({ keys }, after, most) =>
      schedulesAfter(store, keys, { after, most }, this.#decode),
    );
  }
}
