/**
 * A topic on publish/subscribe: all current listeners get a message, and nothing is kept. At most once: a message is lost for a listener whose
 * connection is lost at that moment, and for one that is too slow. Both are told with the next message.
 */
import { aStore } from "../../base/checks.ts";
import { type Codec, encodeWithin, json } from "../../base/codec.ts";
import { NameIndex } from "../../base/names.ts";
import { codec, defineOptions, prefix, signal, whole } from "../../base/options.ts";
import type { Store } from "../../connection/store.ts";
import { Channel } from "../../waiting/channel.ts";
import { settleWhen } from "../../waiting/settle-when.ts";
import { topicChannel } from "./keys.ts";

/** Settings of a `Topic`. Publishers and listeners need the same `prefix` and `codec`. */
export interface TopicOptions<T> {
  /** How the channel's name begins (default `"topic"`). */
  readonly prefix?: string;
  /** How payloads become text or bytes (default `json()`). */
  readonly codec?: Codec<T>;
  /** A payload larger than this is refused. 1 MiB by default. */
  readonly maxPayloadBytes?: number;
}

/** How to listen to a `Topic`. */
export interface ListenOptions {
  /** Messages that wait for a slow reader; beyond that the oldest are dropped. 1 000 by default. */
  readonly maxWaiting?: number;
  /** Ends listening: the loop rejects with the signal's reason. None by default. */
  readonly signal?: AbortSignal;
}

/** A message of a `Topic`, as a listener gets it. */
export interface Heard<T> {
  /** The payload, decoded. */
  readonly data: T;
  /** How many messages before this one were dropped, since the reader was slow or they could not be decoded. */
  readonly dropped: number;
  /** The connection was lost before this one: messages may be missing. */
  readonly interrupted: boolean;
}

export const MAX_PAYLOAD_BYTES = 1 << 20;
const ALIVE_MS = 60_000;

const OPTIONS = defineOptions<TopicOptions<unknown>>("Topic", {
  prefix,
  codec,
  maxPayloadBytes: whole(1, 2 ** 29),
});

const MESSAGES_OPTIONS = defineOptions<ListenOptions>("Topic.messages", { maxWaiting: whole(1, 1_000_000), signal });

/**
 * Publish/subscribe with typed payloads: every current listener gets a message, at most once; nothing is kept.
 *
 * @example
 * const prices = new Topic<{ cents: number }>(db, "prices");
 * const heard = await prices.messages();
 * await prices.publish({ cents: 1_250 });
 * for await (const { data } of heard) if (data.cents === 1_250) break;
 */
export class Topic<T = unknown> {
  /** The topic's name, as given. */
  readonly name: string;
  readonly #store: Store;
  readonly #channel: string;
  readonly #codec: Codec<T>;
  readonly #maxBytes: number;
  readonly #names: NameIndex;

  constructor(store: Store, name: string, options: TopicOptions<T> = {}) {
    this.#store = aStore("Topic", store);
    OPTIONS.check(options);
    const { prefix = "topic", codec = json<T>(), maxPayloadBytes = MAX_PAYLOAD_BYTES } = options;
    this.name = name;
    this.#channel = topicChannel(prefix, name);
    this.#codec = codec;
    this.#maxBytes = maxPayloadBytes;
    this.#names = new NameIndex(store, { kind: "topics", prefix });
  }

  /** Sends a message to all who listen now. Rejects with an `InputError` when the payload is larger than `maxPayloadBytes`. */
  async publish(data: T): Promise<void> {
    const payload = encodeWithin(this.#codec, data, this.#maxBytes, "the payload of a message");
    // In a Cluster always by the same node, so that messages of one publisher stay in order.
    await this.#store.send(["PUBLISH", this.#channel, payload], { key: this.#channel });
    this.#names.announce(this.name);
  }

  /** Resolves when it listens: what is published from then on is heard. Ends when the loop is left; rejects by the signal. */
  async messages(options: ListenOptions = {}): Promise<AsyncIterableIterator<Heard<T>>> {
    MESSAGES_OPTIONS.check(options);
    const { maxWaiting = 1_000, signal } = options;
    signal?.throwIfAborted();
    const listening = new Listening(this.#codec, maxWaiting);
    const channel = new Channel(this.#store, this.#channel, {
      message: (message) => listening.heard(message),
      resumed: () => listening.interrupted(),
    });
    await channel.open();
    return this.#follow(listening, channel, signal);
  }

  async *#follow(
    listening: Listening<T>,
    channel: Channel,
    signal?: AbortSignal,
  ): AsyncGenerator<Heard<T>, void, void> {
    try {
      for (;;) {
        const next = listening.next();
        if (next !== null) {
          signal?.throwIfAborted();
          yield next;
          continue;
        }
        // The timer keeps the process alive: somebody waits.
        const limits = { signal, timeoutMs: ALIVE_MS, onTimeout: undefined };
        await settleWhen<void>(this.#store, limits, ({ settle }) => {
          listening.onHeard = settle;
          return () => {
            listening.onHeard = null;
          };
        });
      }
    } finally {
      await channel.close();
    }
  }
}

/** What was heard and not read yet. */
class Listening<T> {
  readonly #codec: Codec<T>;
  readonly #most: number;
  readonly #waiting: { readonly data: T; readonly interrupted: boolean }[] = [];
  #dropped = 0;
  #isInterrupted = false;
  onHeard: (() => void) | null = null;

  constructor(codec: Codec<T>, most: number) {
    this.#codec = codec;
    this.#most = most;
  }

  heard(message: Buffer): void {
    let data: T;
    try {
      data = this.#codec.decode(this.#codec.binary ? message : message.toString("utf8"));
    } catch {
      // Anybody may publish anything to a channel.
      this.#dropped += 1;
      return;
    }
    if (this.#waiting.length >= this.#most) {
      const oldest = this.#waiting.shift();
      this.#dropped += 1;
      // That messages may be missing is true of what comes after it, too.
      const [first] = this.#waiting;
      if (oldest?.interrupted === true && first !== undefined) this.#waiting[0] = { ...first, interrupted: true };
    }
    this.#waiting.push({ data, interrupted: this.#isInterrupted });
    this.#isInterrupted = false;
    this.onHeard?.();
  }

  interrupted(): void {
    this.#isInterrupted = true;
  }

  next(): Heard<T> | null {
    const next = this.#waiting.shift();
    if (next === undefined) return null;
    const dropped = this.#dropped;
    this.#dropped = 0;
    return { ...next, dropped };
  }
}
