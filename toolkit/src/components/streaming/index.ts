/**
 * The public statuses as they are posted, for any number of listeners, each with a filter.
 *
 *   const stream = new StatusStream(store, "public");
 *   await stream.publish({ kind: "status", id: "17", userId: "4", login: "ann", text: "Redis is fast", atMs });
 *   for await (const message of await stream.listen({ track: ["redis"] })) console.log(message);
 *
 * Events stand in a bounded log in the store. Every process that listens has one reader of it (tail.ts), which finds the
 * listeners of each event by an index (filter-index.ts). A listener that comes back with its last cursor goes on where it
 * was, as long as that is in the log, and is told when it is not. Over HTTP: ./http.ts.
 */
import { aStore, integer, oneOf, word } from "../../base/checks.ts";
import { ClosedError, InputError } from "../../base/errors.ts";
import { NameIndex } from "../../base/names.ts";
import { callback, defineOptions, prefix, signal, text, whole, withDefaults, within } from "../../base/options.ts";
import type { Store } from "../../connection/store.ts";
import { BEGINNING, checkCursor } from "./cursor.ts";
import type { StatusEvent, StatusSink } from "./events.ts";
import { Feed, type Outlet } from "./feed.ts";
import {
  CompiledFilter,
  degrees,
  FILTER_LIMIT_OPTIONS,
  FILTER_LIMITS,
  type FilterLimits,
  type StreamFilter,
} from "./filters.ts";
import { type StreamKeys, streamKeys } from "./keys.ts";
import { Listening } from "./listening.ts";
import type { GapMessage } from "./messages.ts";
import { inspect, publish, read } from "./scripts.ts";
import { Tail, type TailOptions } from "./tail.ts";

export type { StatusEvent, StatusSink } from "./events.ts";
export type { Box, FilterLimits, StreamFilter } from "./filters.ts";
export { Listening } from "./listening.ts";
export type { EndMessage, EndReason, GapMessage, HeartbeatMessage, StreamMessage } from "./messages.ts";
export { type AccessToken, AccessTokens, type AccessTokensOptions, type TokenInfo } from "./tokens.ts";

/** Settings of a `StatusStream`. All processes give the same ones. */
export interface StatusStreamOptions {
  /** How all keys begin (default `"stream"`). */
  readonly prefix?: string;
  /** The log holds at most so many events. 100 000 by default. */
  readonly maxEvents?: number;
  /** And at most so many bytes of them. 64 MiB by default. */
  readonly maxBytes?: number;
  /** And none that is older. A day by default. */
  readonly keepMs?: number;
  /** The longest text of a status, in bytes (default 16 384). */
  readonly maxTextBytes?: number;
  /**
   * The last events that a process with listeners keeps in memory: who resumes among them costs the store nothing. 10 000 by
   * default.
   */
  readonly recentEvents?: number;
  /** The most bytes of these events in memory (default 32 MiB). */
  readonly recentBytes?: number;
  /** How often the log is looked at though no message has come. 2 s by default. */
  readonly pollMs?: number;
  /** A listener that reads nothing for so long, though something waits for it, is cut off. 10 s by default. */
  readonly readTimeoutMs?: number;
  /** How much a filter may ask for; see `FilterLimits` for the defaults. */
  readonly filterLimits?: Partial<FilterLimits>;
  /** Called when the log cannot be read. It is tried again; listeners keep their place. None by default. */
  readonly onError?: (error: unknown) => void;
}

/** Where to begin to listen, and until when. */
export interface EventsOptions {
  /** The cursor of the last message; or "oldest" for all that the log has. From now on by default. */
  readonly from?: string;
  /** Ends listening, as `close()` does. None by default. */
  readonly signal?: AbortSignal;
  /** How many messages may wait to be read. 1 000 by default. */
  readonly maxWaiting?: number;
}

/** How a stream is doing. */
export interface StreamInspection {
  /** Events in the log. */
  readonly events: number;
  /** What they take. */
  readonly bytes: number;
  /** Everything behind this cursor is in the log. */
  readonly oldest: string;
  /** The cursor of the last event. */
  readonly newest: string;
  /** Listeners of this process. */
  readonly listeners: number;
}

const MEBIBYTE = 1_048_576;
const DAY_MS = 86_400_000;

const OPTIONS = defineOptions<StatusStreamOptions>("StatusStream", {
  prefix,
  maxEvents: whole(1, 100_000_000),
  maxBytes: whole(1_024),
  keepMs: whole(1_000, 366 * DAY_MS),
  maxTextBytes: whole(1, MEBIBYTE),
  recentEvents: whole(1, 1_000_000),
  recentBytes: whole(1_024),
  pollMs: whole(1, 60_000),
  readTimeoutMs: whole(1, DAY_MS),
  filterLimits: within(FILTER_LIMIT_OPTIONS),
  onError: callback,
});

const LISTEN_OPTIONS = defineOptions<EventsOptions>("StatusStream.listen", {
  from: text,
  signal,
  maxWaiting: whole(1),
});

/**
 * The public statuses as they are posted, for any number of listeners, each with a filter.
 *
 * @example
 * const stream = new StatusStream(db, "public");
 * const listening = await stream.events({ track: ["redis"] });
 * await stream.publish({ kind: "status", id: "1", userId: "4", login: "ann", text: "Redis is fast", atMs: 1_000 });
 * for await (const message of listening) if (message.kind === "status") break;
 * (await stream.inspect()).events; // → 1
 * await stream.close();
 */
export class StatusStream implements StatusSink {
  /** The stream's name, as given. */
  readonly name: string;
  /** The store that it is on. */
  readonly store: Store;
  readonly #keys: StreamKeys;
  readonly #maxEvents: number;
  readonly #maxBytes: number;
  readonly #keepMs: number;
  readonly #maxTextBytes: number;
  readonly #readTimeoutMs: number;
  readonly #filterLimits: FilterLimits;
  readonly #tailOptions: TailOptions;
  readonly #feeds = new Set<Feed>();
  #tail: Promise<Tail> | null = null;
  /** Listeners, and requests that are about to become listeners. */
  #users = 0;
  #closed = false;
  #removeFromStore: (() => void) | null = null;
  readonly #names: NameIndex;

  constructor(store: Store, name: string, options: StatusStreamOptions = {}) {
    aStore("StatusStream", store);
    OPTIONS.check(options);
    this.name = name;
    this.store = store;
    this.#keys = streamKeys(options.prefix ?? "stream", name);
    this.#names = new NameIndex(store, { kind: "streaming", prefix: options.prefix ?? "stream" });
    this.#maxEvents = options.maxEvents ?? 100_000;
    this.#maxTextBytes = options.maxTextBytes ?? 16_384;
    this.#maxBytes = options.maxBytes ?? 64 * MEBIBYTE;
    this.#keepMs = options.keepMs ?? DAY_MS;
    this.#readTimeoutMs = options.readTimeoutMs ?? 10_000;
    this.#filterLimits = withDefaults(FILTER_LIMITS, options.filterLimits ?? {});
    this.#tailOptions = {
      recentEvents: options.recentEvents ?? 10_000,
      recentBytes: options.recentBytes ?? 32 * MEBIBYTE,
      pollMs: options.pollMs ?? 2_000,
      onError: options.onError ?? (() => {}),
    };
  }

  /**
   * Puts an event into the log and wakes all listeners; once for each kind and id, for as long as the event is in the log. A
   * delete takes the status out of the log; a status that comes after its delete is left out.
   */
  async publish(event: StatusEvent): Promise<void> {
    const { log, known, meta, wake } = this.#keys;
    const { kind, id } = event;
    await this.store.run(publish, {
      ...{ log, known, meta_key: meta, wake, kind },
      event: JSON.stringify(this.#checked(event)),
      member: (kind === "status" ? "s" : "d") + id,
      other: (kind === "status" ? "d" : "s") + id,
      maxEvents: this.#maxEvents,
      maxBytes: this.#maxBytes,
      keepMs: this.#keepMs,
    });
    this.#names.announce(this.name);
  }

  /** Listens in this process. What has to be waited for has happened when it resolves: all that is published from now on comes. */
  async events(filter: StreamFilter, options: EventsOptions = {}): Promise<Listening> {
    LISTEN_OPTIONS.check(options);
    options.signal?.throwIfAborted();
    const outlet = new Listening(options.maxWaiting ?? 1_000, options.signal);
    const { feed } = await this.attach(this.compile(filter), outlet, options.from);
    outlet.join(feed);
    feed.start();
    return outlet;
  }

  /** Checks a filter. @internal */
  compile(filter: StreamFilter): CompiledFilter {
    return new CompiledFilter(filter, this.#filterLimits);
  }

  /**
   * For callers with an outlet of their own. The feed begins with its `start`; `gap` says whether something is missing behind
   * the cursor, which the feed will also say.
   * @internal
   */
  async attach(
    filter: CompiledFilter,
    outlet: Outlet,
    after: string | undefined,
  ): Promise<{ readonly feed: Feed; readonly gap: GapMessage | null }> {
    if (after !== undefined && after !== "oldest") checkCursor("after", after);
    const tail = await this.#retain();
    let feed: Feed | null = null;
    try {
      const from = after === "oldest" ? await this.#oldest() : after;
      const made: Feed = new Feed(tail, filter, outlet, {
        after: from,
        readTimeoutMs: this.#readTimeoutMs,
        onEnd: () => {
          this.#feeds.delete(made);
          this.#release();
        },
      });
      feed = made;
      this.#feeds.add(made);
      const gap = await made.check();
      if (this.#closed) throw new ClosedError("the stream is closed");
      return { feed: made, gap };
    } catch (error) {
      if (feed === null) this.#release();
      else feed.close();
      throw error;
    }
  }

  async #oldest(): Promise<string> {
    const { log, meta } = this.#keys;
    return (await this.store.run(read, { log, meta_key: meta, after: BEGINNING, count: 1 })).lost;
  }

  /** How much is in the log, and how many listen in this process. */
  async inspect(): Promise<StreamInspection> {
    const { log, meta } = this.#keys;
    const [events, bytes, lost, top] = await this.store.run(inspect, { log, meta_key: meta });
    return { events, bytes: Number(bytes), oldest: lost, newest: top, listeners: this.#feeds.size };
  }

  /** Ends all listeners of this process, who are told. Safe to call twice. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#removeFromStore?.();
    for (const feed of [...this.#feeds]) feed.end("closing", "this end of the stream is closed");
  }

  /** The same as `close()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** The one reader of this process, from the first listener to the last. */
  async #retain(): Promise<Tail> {
    if (this.#closed) throw new ClosedError("the stream is closed");
    this.#removeFromStore ??= this.store.on("close", () => this.close());
    this.#users++;
    this.#tail ??= Tail.start(this.store, this.#keys, this.#tailOptions);
    const starting = this.#tail;
    try {
      return await starting;
    } catch (error) {
      if (this.#tail === starting) this.#tail = null;
      this.#users--;
      throw error;
    }
  }

  #release(): void {
    if (--this.#users > 0) return;
    this.#tail?.then(
      (tail) => tail.stop(),
      () => {},
    );
    this.#tail = null;
  }

  /** What is stored, and nothing else that the caller's object may have. */
  #checked(event: StatusEvent): StatusEvent {
    const { kind, id, userId, atMs } = event;
    oneOf("kind", kind, ["status", "delete"]);
    word("id", id, 256);
    word("userId", userId, 256);
    integer("atMs", atMs, 0);
    if (event.kind === "delete") return { kind: event.kind, id, userId, atMs };
    const { login, text, place } = event;
    word("login", login, 256);
    if (typeof text !== "string") throw new InputError("text must be a string");
    if (text !== "") word("text", text, this.#maxTextBytes);
    const status = { kind: event.kind, id, userId, login, text, atMs };
    if (place === undefined) return status;
    const longitude = degrees("longitude", place.longitude, 180);
    return { ...status, place: { longitude, latitude: degrees("latitude", place.latitude, 90) } };
  }
}
