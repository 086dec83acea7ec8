/**
 * A topic that keeps its messages, in a stream: at least once for each consumer group, again from any place for who asks, for as long
 * and as many as is said. The rules are in scripts.ts, the consumers in subscriber.ts.
 */
import { aStore, word } from "../../base/checks.ts";
import { randomToken } from "../../base/clock.ts";
import { type Codec, encodeWithin, json } from "../../base/codec.ts";
import { InputError } from "../../base/errors.ts";
import { only } from "../../base/lists.ts";
import { NameIndex } from "../../base/names.ts";
import {
  type Check,
  callback,
  codec,
  defineOptions,
  either,
  prefix,
  signal,
  text,
  time,
  whole,
  withDefaults,
} from "../../base/options.ts";
import { type Page, type PageOptions, pageByScore, pageChecks } from "../../base/page.ts";
import { asBytes, asList, asNumber, asText } from "../../base/replies.ts";
import type { Store } from "../../connection/store.ts";
import { Hint } from "../../waiting/hint.ts";
import { settleWhen } from "../../waiting/settle-when.ts";
import { durableKeys, type GroupKeys, groupKeys, newsChannel, type TopicKeys } from "./keys.ts";
import { checkId, type From, fromWord, type Message, messageOf, numberOf, timeOf } from "./message.ts";
import {
  acknowledge,
  createGroup,
  deleteDead,
  deleteGroup,
  fail,
  inspectGroup,
  inspectTopic,
  listDead,
  type Published,
  position,
  publish,
  publishOnce,
  read,
  renewDelivery,
  replayDead,
  seek,
  take,
  trim,
} from "./scripts.ts";
import { type Delivered, Subscriber } from "./subscriber.ts";
import { MAX_PAYLOAD_BYTES } from "./topic.ts";

/** Settings of a `DurableTopic`. All processes give the same ones. */
export interface DurableTopicOptions<T> {
  /** How all keys begin (default `"topic"`). */
  readonly prefix?: string;
  /** How payloads become text or bytes (default `json()`). */
  readonly codec?: Codec<T>;
  /** A payload larger than this is refused. 1 MiB by default. */
  readonly maxPayloadBytes?: number;
  /** Messages that are kept, and up to a hundred more. 100 000 by default. */
  readonly keepCount?: number;
  /** How long messages are kept. A week by default. */
  readonly keepMs?: number;
  /** How long the ids that producers choose are remembered. Ten minutes by default. */
  readonly dedupWindowMs?: number;
  /** A group that was not used for so long is forgotten, with its dead letters. 30 days by default. */
  readonly groupIdleMs?: number;
  /** Dead letters that are kept for each group. 1 000 by default. */
  readonly keepDead?: number;
  /** How long a follower may not notice what a lost message told. 5 s by default. */
  readonly pollMs?: number;
}

/** How to publish one message. */
export interface PublishOptions {
  /**
   * A second message of this id is not published while it is remembered; with one, a lost answer is asked for again. None by
   * default.
   */
  readonly id?: string;
}

/** A message to publish, for `publishMany`. */
export interface NewMessage<T> extends PublishOptions {
  /** The payload. */
  readonly data: T;
}

/** How to follow a `DurableTopic` without a group. */
export interface FollowOptions {
  /** Where to begin: "now" by default. */
  readonly from?: From;
  /** Ends following: the loop rejects with the signal's reason. None by default. */
  readonly signal?: AbortSignal;
}

/** A message, as a follower gets it. */
export interface Followed<T> extends Message<T> {
  /** How many messages before this one are gone: they were trimmed before they were read, or could not be decoded. */
  readonly missed: number;
}

/** Where a consumer group begins. */
export interface GroupOptions {
  /** Where a group that is new begins: "now" by default. */
  readonly from?: From;
}

/** How a process works for a consumer group. */
export interface SubscriberOptions extends GroupOptions {
  /** Messages at once in this process. 1 by default. */
  readonly concurrency?: number;
  /** How long after this process died its messages go to others. 30 s by default. */
  readonly leaseMs?: number;
  /** How often a message is tried before it is a dead letter. 5 by default. */
  readonly attempts?: number;
  /** The pause after the first failure; doubled with each, up to a minute. 1 s by default. */
  readonly backoffMs?: number;
  /** Messages that a group may have under way or to be tried again; no new ones beyond. 10 000 by default. */
  readonly maxPending?: number;
}

/** How far a consumer group is, and what it has counted. */
export interface GroupInspection {
  /** Messages that the group has not been given yet. */
  readonly lag: number;
  /** Messages that were given and have not ended, those that are to be tried again included. */
  readonly pending: number;
  /** Dead letters that are kept. */
  readonly dead: number;
  /** Up to where it was given messages. */
  readonly position: string;
  /** Messages that the group was given so far. */
  readonly delivered: number;
  /** Deliveries that ended well. */
  readonly acknowledged: number;
  /** Attempts that failed. */
  readonly failed: number;
  /** Messages that were trimmed before the group had them. */
  readonly missed: number;
}

/** Figures of a `DurableTopic`. */
export interface TopicStats {
  /** Messages that are kept. */
  readonly count: number;
  /** Messages that there ever were. */
  readonly published: number;
  /** When the oldest message that is kept was published; null if none is kept. */
  readonly firstAt: Date | null;
  /** When the latest message that is kept was published; null if none is kept. */
  readonly lastAt: Date | null;
}

/** A message that a group gave up. */
export interface DeadLetter<T> {
  /** The message's id. */
  readonly id: string;
  /** Null if it cannot be decoded. */
  readonly data: T | null;
  /** How often it was tried. */
  readonly attempts: number;
  /** The text of the last attempt's error, in one line of at most 1 000 characters. */
  readonly error: string;
  /** When it was published, by the server's clock. */
  readonly publishedAt: Date;
  /** When the group gave it up, by the server's clock. */
  readonly diedAt: Date;
}

const DAY_MS = 86_400_000;
const DEFAULTS = {
  prefix: "topic",
  maxPayloadBytes: MAX_PAYLOAD_BYTES,
  keepCount: 100_000,
  keepMs: 7 * DAY_MS,
  dedupWindowMs: 600_000,
  groupIdleMs: 30 * DAY_MS,
  keepDead: 1_000,
  pollMs: 5_000,
};
const SUBSCRIBER_DEFAULTS = { concurrency: 1, leaseMs: 30_000, attempts: 5, backoffMs: 1_000, maxPending: 10_000 };
const MAX_MS = 10 * 365 * DAY_MS;
const AT_ONCE = 500;
const READ_AT_ONCE = 100;

const from: Check = either({ expected: '"start", "now" or the id of a message', accepts: text.accepts }, time);

const OPTIONS = defineOptions<DurableTopicOptions<unknown>>("DurableTopic", {
  prefix,
  codec,
  maxPayloadBytes: whole(1, 2 ** 29),
  keepCount: whole(1, 1_000_000_000),
  keepMs: whole(1, MAX_MS),
  dedupWindowMs: whole(1, MAX_MS),
  groupIdleMs: whole(1_000, MAX_MS),
  keepDead: whole(0, 1_000_000),
  pollMs: whole(10),
});

const PUBLISH_OPTIONS = defineOptions<PublishOptions>("DurableTopic.publish", { id: text });

const MESSAGES_OPTIONS = defineOptions<FollowOptions>("DurableTopic.messages", { from, signal });

const GROUP_OPTIONS = defineOptions<GroupOptions>("DurableTopic.createGroup", { from });

const REPLAY_OPTIONS = defineOptions<GroupOptions>("DurableTopic.replay", { from });

const SUBSCRIBER_OPTIONS = defineOptions<SubscriberOptions>("DurableTopic.subscriber", {
  from,
  concurrency: whole(1, 10_000),
  leaseMs: whole(100, MAX_MS),
  attempts: whole(1, 1_000_000),
  backoffMs: whole(0, MAX_MS),
  maxPending: whole(1, 1_000_000),
});

const LIST_OPTIONS = defineOptions<PageOptions>("DurableTopic.list", pageChecks(1_000));

const GROUPS_OPTIONS = defineOptions<PageOptions>("DurableTopic.listGroups", pageChecks(1_000));

const DEAD_OPTIONS = defineOptions<PageOptions>("DurableTopic.listDead", pageChecks(1_000));

const REPLAY_DEAD_OPTIONS = defineOptions<{ readonly limit?: number; readonly id?: string }>(
  "DurableTopic.replayDead",
  {
    limit: whole(1),
    id: text,
  },
);

const TRIM_OPTIONS = defineOptions<{ readonly keepCount?: number; readonly keepMs?: number }>("DurableTopic.trim", {
  keepCount: whole(0, 1_000_000_000),
  keepMs: whole(0, MAX_MS),
});

/**
 * A topic that keeps its messages: at least once for each consumer group, and again from any place that is kept.
 *
 * @example
 * const orders = new DurableTopic<{ n: number }>(db, "orders");
 * await orders.createGroup("billing"); // → true
 * await orders.publish({ n: 1 }, { id: "order 1" }); // → { id: "…", status: "published" }
 * await orders.publishMany([{ data: { n: 2 } }, { data: { n: 3 } }]);
 * (await orders.inspect("billing"))?.lag; // → 3
 * @example
 * const orders = new DurableTopic<{ n: number }>(db, "orders");
 * const following = await orders.messages({ from: "start" });
 * await orders.publish({ n: 1 });
 * for await (const { data } of following) if (data.n === 1) break;
 * @example
 * const orders = new DurableTopic<{ n: number }>(db, "orders");
 * await orders.publish({ n: 1 });
 * const billing = orders.subscriber("billing", { from: "start", attempts: 1 }, () => Promise.reject(new Error("no price")));
 * await new Promise((resolve) => billing.start().on("failed", resolve));
 * (await orders.listDead("billing")).items[0]?.error; // → "no price"
 * await billing.stop();
 * @example
 * const orders = new DurableTopic<{ n: number }>(db, "orders");
 * await orders.createGroup("billing");
 * await orders.replayDead("billing", { limit: 10 }); // → 0
 * await orders.deleteDead("billing", "1-1"); // → false
 * @example
 * const orders = new DurableTopic<{ n: number }>(db, "orders");
 * await orders.publishMany([{ data: { n: 1 } }, { data: { n: 2 } }]);
 * (await orders.list({ limit: 1 })).items; // → [{ id: "…-1", data: { n: 1 }, publishedAt: … }]
 * await orders.trim({ keepCount: 1 });
 * await orders.stats(); // → { count: 1, published: 2, firstAt: …, lastAt: … }
 * await orders.clear();
 * @example
 * const orders = new DurableTopic<{ n: number }>(db, "orders");
 * await orders.publish({ n: 1 });
 * await orders.replay("audit", { from: "start" });
 * (await orders.listGroups()).items; // → ["audit"]
 * await orders.deleteGroup("audit"); // → true
 */
export class DurableTopic<T = unknown> {
  /** The topic's name, as given. */
  readonly name: string;
  readonly #store: Store;
  readonly #keys: TopicKeys;
  readonly #channel: string;
  readonly #codec: Codec<T>;
  readonly #options: typeof DEFAULTS;
  /** What is the same in all calls for a group. */
  readonly #lives: { readonly idleMs: number; readonly metaMs: number };
  readonly #names: NameIndex;

  constructor(store: Store, name: string, options: DurableTopicOptions<T> = {}) {
    this.#store = aStore("DurableTopic", store);
    OPTIONS.check(options);
    const { codec: given, ...limits } = options;
    this.#options = withDefaults(DEFAULTS, limits);
    const { prefix, keepMs, groupIdleMs } = this.#options;
    this.name = name;
    this.#keys = durableKeys(prefix, name);
    this.#channel = newsChannel(this.#keys);
    this.#codec = given ?? json<T>();
    this.#lives = { idleMs: groupIdleMs, metaMs: 2 * Math.max(keepMs, groupIdleMs) };
    this.#names = new NameIndex(store, { kind: "durable-topics", prefix });
  }

  // ---------------------------------------------------------------------------------------------- publishing

  /** Publishes a message. Rejects with an `InputError` when the payload is larger than `maxPayloadBytes`. */
  async publish(data: T, options: PublishOptions = {}): Promise<Published> {
    PUBLISH_OPTIONS.check(options);
    return only(await this.publishMany([{ ...options, data }]));
  }

  /** In order, one round trip for every 500; each such part is published whole or not at all. */
  async publishMany(messages: readonly NewMessage<T>[]): Promise<Published[]> {
    const words = messages.map(({ data, id }) => [
      id === undefined ? "" : word("the id of a message", id, 512),
      encodeWithin(this.#codec, data, this.#options.maxPayloadBytes, "the payload of a message"),
    ]);
    const published: Published[] = [];
    const { keepCount, keepMs, dedupWindowMs } = this.#options;
    const { metaMs } = this.#lives;
    const { log, meta, ids, sent } = this.#keys;
    for (let at = 0; at < words.length; at += AT_ONCE) {
      const part = words.slice(at, at + AT_ONCE);
      const script = part.every(([id]) => id !== "") ? publishOnce : publish;
      const limits = { keepCount, keepMs, dedupMs: dedupWindowMs, metaMs, channel: this.#channel };
      published.push(...(await this.#store.run(script, { log, meta, ids, sent, ...limits, messages: part.flat() })));
    }
    this.#names.announce(this.name);
    return published;
  }

  // ---------------------------------------------------------------------------------------------- reading

  /** Messages that are kept, the oldest first. */
  async list(options: PageOptions = {}): Promise<Page<Message<T>>> {
    LIST_OPTIONS.check(options);
    const { limit = 100, cursor } = options;
    const { log, meta } = this.#keys;
    const after = cursor === undefined ? "-" : `(${checkId(cursor)}`;
    const { entries } = await this.#store.run(read, { log, meta, from: after, most: limit + 1 });
    const shown = entries.slice(0, limit);
    return {
      items: shown.flatMap((entry) => this.#decoded(entry) ?? []),
      cursor: entries.length > limit ? (shown.at(-1)?.id ?? null) : null,
    };
  }

  /**
   * Follows all messages, from any place that is kept; every follower gets all of them. Its place is where this call found it, so
   * nothing that is published after it has resolved is missed. To go on after a restart, remember the id of the last message. Ends
   * when the loop is left; rejects by the signal.
   */
  async messages(options: FollowOptions = {}): Promise<AsyncIterableIterator<Followed<T>>> {
    MESSAGES_OPTIONS.check(options);
    const { from = "now", signal } = options;
    signal?.throwIfAborted();
    const { log, meta } = this.#keys;
    const place = await this.#store.run(position, { log, meta, from: fromWord(from) });
    return this.#follow(place, signal);
  }

  async *#follow(from: string, signal?: AbortSignal): AsyncGenerator<Followed<T>, void, void> {
    const { log, meta } = this.#keys;
    let place = from;
    let isNews = true;
    let wake = (): void => {};
    const hint = new Hint(this.#store, {
      channel: this.#channel,
      pollMs: this.#options.pollMs,
      look: async () => {
        isNews = true;
        wake();
      },
    });
    hint.follow();
    try {
      let missed = 0;
      for (;;) {
        signal?.throwIfAborted();
        isNews = false;
        const { entries, lastSeq } = await this.#store.run(read, { log, meta, from: `(${place}`, most: READ_AT_ONCE });
        for (const entry of entries) {
          missed += Math.max(0, numberOf(entry.id) - numberOf(place) - 1);
          place = entry.id;
          const message = this.#decoded(entry);
          if (message === null) {
            missed += 1;
            continue;
          }
          yield { ...message, missed };
          missed = 0;
          signal?.throwIfAborted();
        }
        if (entries.length > 0) continue;
        // The topic was cleared, and its numbers begin again.
        if (lastSeq < numberOf(place)) place = `${timeOf(place)}-${lastSeq}`;
        // The timer keeps the process alive: somebody waits.
        const limits = { signal, timeoutMs: this.#options.pollMs, onTimeout: undefined };
        await settleWhen<void>(this.#store, limits, ({ settle }) => {
          wake = settle;
          if (isNews) settle();
          return () => {
            wake = () => {};
          };
        });
      }
    } finally {
      await hint.stop();
    }
  }

  /** Null: what is stored is not what the codec writes. */
  #decoded(entry: { readonly id: string; readonly payload: Buffer }): Message<T> | null {
    try {
      return messageOf(entry, this.#codec);
    } catch {
      return null;
    }
  }

  // ---------------------------------------------------------------------------------------------- groups

  /** True: it was made, and gets what is published from its place on. False: it was there, and stays where it is. */
  async createGroup(group: string, options: GroupOptions = {}): Promise<boolean> {
    GROUP_OPTIONS.check(options);
    const { from = "now" } = options;
    const keys = this.#groupKeys(group);
    return this.#store.run(createGroup, { ...keys, name: group, from: fromWord(from), ...this.#lives });
  }

  /** Deletes a group with its dead letters. False if there is none of this name. */
  async deleteGroup(group: string): Promise<boolean> {
    return this.#store.run(deleteGroup, { ...this.#groupKeys(group), name: group });
  }

  /** Names of groups, the latest used first. */
  async listGroups(options: PageOptions = {}): Promise<Page<string>> {
    GROUPS_OPTIONS.check(options);
    const { limit = 100, cursor } = options;
    return pageByScore(this.#store, this.#keys.groups, { limit, cursor });
  }

  /**
   * A process of a group, to be started and stopped. A message is acknowledged when `body` ends well, and comes again when it throws,
   * or when the process dies. The signal is aborted when the lease is lost or the subscriber stops.
   */
  subscriber(
    group: string,
    options: SubscriberOptions,
    body: (message: Delivered<T>, signal: AbortSignal) => Promise<unknown> | unknown,
  ): Subscriber<T> {
    SUBSCRIBER_OPTIONS.check(options);
    if (!callback.accepts(body)) throw new InputError("DurableTopic.subscriber: body must be a function");
    const { concurrency, leaseMs, attempts, backoffMs, maxPending } = withDefaults(SUBSCRIBER_DEFAULTS, options);
    const from = fromWord(options.from ?? "now");
    const keys = this.#groupKeys(group);
    const { keepDead, pollMs } = this.#options;
    const { idleMs } = this.#lives;
    const channel = this.#channel;
    const limits = { ...this.#lives, leaseMs, attempts, maxPending, keepDead };
    return new Subscriber<T>(this.#store, {
      ...{ channel, group, concurrency, leaseMs, attempts, backoffMs, pollMs, body },
      newToken: randomToken,
      take: (most, token, lost) => this.#store.run(take, { ...keys, name: group, from, most, token, lost, ...limits }),
      acknowledge: (token, given) =>
        this.#store.run(acknowledge, { ...keys, token, deliveries: given.flatMap(({ id, attempt }) => [id, attempt]) }),
      fail: (token, { id, attempt }, { delayMs, isAttempt, error }) =>
        this.#store.run(fail, {
          ...{ ...keys, id, token, attempt, attempts, delayMs, isAttempt: isAttempt ? 1 : 0 },
          ...{ err: error, keepDead, idleMs, channel },
        }),
      renewal: (token, { id, attempt }) => renewDelivery.with({ ...keys, id, token, attempt, leaseMs, idleMs }),
      decode: (delivery) => messageOf(delivery, this.#codec),
    });
  }

  /** How far a group is; null where there is none of this name. */
  async inspect(group: string): Promise<GroupInspection | null> {
    const found = await this.#store.run(inspectGroup, this.#groupKeys(group));
    if (found === null) return null;
    const [at, lag, pending, dead, delivered, acknowledged, failed, missed] = asList(found);
    return {
      lag: Number(asText(lag)),
      pending: asNumber(pending),
      dead: asNumber(dead),
      position: asText(at),
      delivered: asNumber(delivered),
      acknowledged: asNumber(acknowledged),
      failed: asNumber(failed),
      missed: asNumber(missed),
    };
  }

  /**
   * Sets a group to a place: it gets the messages from there on, again or for the first time. What its processes have under way they
   * end, and their ends are not taken. Makes the group where there is none.
   */
  async replay(group: string, options: GroupOptions = {}): Promise<void> {
    REPLAY_OPTIONS.check(options);
    const place = fromWord(options.from ?? "start");
    const keys = this.#groupKeys(group);
    await this.#store.run(seek, { ...keys, name: group, from: place, ...this.#lives, channel: this.#channel });
  }

  // ---------------------------------------------------------------------------------------------- dead letters

  /** Dead letters of a group, the oldest first. */
  async listDead(group: string, options: PageOptions = {}): Promise<Page<DeadLetter<T>>> {
    DEAD_OPTIONS.check(options);
    const { limit = 100, cursor = "0" } = options;
    if (!/^\d{1,9}$/.test(cursor)) throw new InputError("cursor is not one that listDead() gave");
    const skip = Number(cursor);
    const found = asList(await this.#store.run(listDead, { ...this.#groupKeys(group), skip, most: limit + 1 }));
    const items = found.slice(0, limit).map((each) => {
      const [id, facts, payload] = asList(each).map(asBytes);
      return this.#letter(String(id), String(facts), payload ?? Buffer.alloc(0));
    });
    return { items, cursor: found.length > limit ? String(skip + limit) : null };
  }

  #letter(id: string, facts: string, payload: Buffer): DeadLetter<T> {
    const [, attempts = "0", ms = "0", error = ""] = /^(\d+);(\d+);(.*)$/s.exec(facts) ?? [];
    return {
      id,
      data: this.#decoded({ id, payload })?.data ?? null,
      attempts: Number(attempts),
      error,
      publishedAt: new Date(timeOf(id)),
      diedAt: new Date(Number(ms)),
    };
  }

  /** Delivers dead letters to their group again, with fresh attempts: one (`id`), or the oldest; how many. */
  async replayDead(group: string, options: { readonly limit?: number; readonly id?: string } = {}): Promise<number> {
    REPLAY_DEAD_OPTIONS.check(options);
    const { limit = 1_000, id } = options;
    const { idleMs } = this.#lives;
    const which = { most: limit, id: id === undefined ? "" : checkId(id) };
    return this.#store.run(replayDead, { ...this.#groupKeys(group), ...which, idleMs, channel: this.#channel });
  }

  /** Deletes a dead letter of a group. False if the group has none with this id. */
  async deleteDead(group: string, id: string): Promise<boolean> {
    return this.#store.run(deleteDead, { ...this.#groupKeys(group), id: checkId(id) });
  }

  // ---------------------------------------------------------------------------------------------- the whole

  /** How many messages are kept, how many there ever were, and from when to when. */
  async stats(): Promise<TopicStats> {
    const { log, meta } = this.#keys;
    const [count, first, last, seq] = asList(await this.#store.run(inspectTopic, { log, meta }));
    const at = (id: string): Date | null => (id === "" ? null : new Date(timeOf(id)));
    return {
      count: asNumber(count),
      published: Number(asText(seq)),
      firstAt: at(asText(first)),
      lastAt: at(asText(last)),
    };
  }

  /** Applies other limits once, now; how many messages went. */
  async trim(options: { readonly keepCount?: number; readonly keepMs?: number } = {}): Promise<number> {
    TRIM_OPTIONS.check(options);
    const { keepCount = this.#options.keepCount, keepMs = this.#options.keepMs } = options;
    return this.#store.run(trim, { log: this.#keys.log, keepCount, keepMs });
  }

  /** Deletes the topic with everything in it, groups and dead letters too. */
  async clear(): Promise<void> {
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page: Page<string> = await this.listGroups({ limit: 1_000 });
      for (const group of page.items) await this.deleteGroup(group);
      cursor = page.cursor;
    }
    await this.#store.call("UNLINK", ...Object.values(this.#keys));
    await this.#names.remove(this.name);
  }

  #groupKeys(group: string): TopicKeys & GroupKeys {
    return { ...this.#keys, ...groupKeys(this.#options.prefix, this.name, group) };
  }
}
