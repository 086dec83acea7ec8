/** A driver that answers reads from memory where `open` was given `clientCache`: client-cache.ts says what is kept and when. */
import type { Clock } from "../base/clock.ts";
import { zipped } from "../base/lists.ts";
import type { ClientCache, ClientCacheStats, Place, Read } from "./client-cache.ts";
import type {
  Answer,
  ConnectionState,
  Driver,
  Reply,
  Request,
  Session,
  SessionOptions,
  Subscriber,
  SubscriberEvents,
  Topology,
  WorkerAddress,
} from "./port.ts";
import { isRead } from "./routing.ts";

/** A driver that listens for changes. */
export interface Tracked extends Driver {
  post(request: Request, resolve: (reply: Reply) => void, reject: (error: Error) => void): number;
  /** Until when all changes are known to have been told, but for those on their way. */
  readonly soundUntil: number;
}

export class CachingDriver implements Driver {
  readonly topology: Topology;
  readonly address: WorkerAddress | null;
  readonly #inner: Tracked;
  readonly #cache: ClientCache;
  readonly #clock: Clock;

  constructor(inner: Tracked, cache: ClientCache, clock: Clock) {
    this.topology = inner.topology;
    this.address = inner.address;
    this.#inner = inner;
    this.#cache = cache;
    this.#clock = clock;
  }

  cacheStats(): ClientCacheStats {
    return this.#cache.stats();
  }

  // ---------------------------------------------------------------------------------------------- requests

  /** The reply, if it is kept. */
  peek({ words, buffers }: Request): Reply | undefined {
    const read = this.#cache.readOf(words, buffers);
    return read === null ? undefined : this.#known(read);
  }

  #known(read: Read): Reply | undefined {
    const now = this.#clock.monotonicMs();
    return now <= this.#inner.soundUntil ? this.#cache.get(read, now) : undefined;
  }

  post(each: Request, resolve: (reply: Reply) => void, reject: (error: Error) => void): number {
    const read = this.#cache.readOf(each.words, each.buffers);
    if (read !== null) return this.#ask(each, read, resolve, reject);
    if (changesNothing(each)) return this.#inner.post(each, resolve, reject);
    return this.#inner.post(
      each,
      (reply) => {
        this.#cache.wrote(each.words);
        resolve(reply);
      },
      (error) => {
        this.#cache.wrote(each.words);
        reject(error);
      },
    );
  }

  /** The read and the times to live of its keys leave in one write. */
  #ask(each: Request, read: Read, resolve: (reply: Reply) => void, reject: (error: Error) => void): number {
    const place = this.#take(read);
    if (place === null) return this.#inner.post(each, resolve, reject);
    const at = this.#inner.post(
      each,
      (reply) => {
        this.#cache.answered(place, reply);
        resolve(reply);
      },
      (error) => {
        this.#cache.give(place);
        reject(error);
      },
    );
    for (const key of read.keys) {
      this.#inner.post(
        ttlOf(key),
        (ttl) => this.#lives(place, at, ttl),
        () => this.#cache.give(place),
      );
    }
    return at;
  }

  #take(read: Read): Place | null {
    return this.#clock.monotonicMs() <= this.#inner.soundUntil ? this.#cache.take(read) : null;
  }

  /** The key lived for so long when it was asked for, which was after `at`. */
  #lives(place: Place, at: number, ttl: Answer): void {
    if (ttl === -1) this.#cache.lives(place, Number.POSITIVE_INFINITY);
    // A slot may move to a node that nobody here knows yet. It tells of keys that leave, but there is none to leave.
    else if (ttl === -2 && this.topology !== "cluster") this.#cache.lives(place, Number.POSITIVE_INFINITY);
    else if (typeof ttl === "number" && ttl > 0) this.#cache.lives(place, at + ttl);
    else this.#cache.give(place);
  }

  send(each: Request): Promise<Reply> {
    return new Promise((resolve, reject) => void this.post(each, resolve, reject));
  }

  /** In a pipeline that writes, reads see its writes: nothing is answered from memory. */
  async sendMany(requests: readonly Request[]): Promise<Answer[]> {
    const reads = requests.map(({ words, buffers }) => this.#cache.readOf(words, buffers));
    if (!requests.every(changesNothing) || !reads.some((read) => read !== null)) {
      return this.#noting(requests, () => this.#inner.sendMany(requests));
    }
    const answers: (Answer | undefined)[] = reads.map((read) => (read === null ? undefined : this.#known(read)));
    const missing = requests.flatMap((request, at) => {
      return answers[at] === undefined ? [{ at, request, read: reads[at] ?? null }] : [];
    });
    if (missing.length > 0) await this.#askAll(missing, answers);
    return answers as Answer[];
  }

  async #askAll(
    missing: readonly { readonly at: number; readonly request: Request; readonly read: Read | null }[],
    answers: (Answer | undefined)[],
  ): Promise<void> {
    const places = missing.map(({ read }) => (read === null ? null : this.#take(read)));
    const at = this.#clock.monotonicMs();
    const ttls = places.flatMap((place) => place?.read.keys.map(ttlOf) ?? []);
    try {
      const got = await this.#inner.sendMany([...missing.map(({ request }) => request), ...ttls]);
      const lives = got.slice(missing.length);
      for (const [[each, place], answer] of zipped(zipped(missing, places), got.slice(0, missing.length))) {
        answers[each.at] = answer;
        if (place === null) continue;
        if (answer instanceof Error) this.#cache.give(place);
        else this.#cache.answered(place, answer);
        for (const ttl of lives.splice(0, place.read.keys.length)) this.#lives(place, at, ttl);
      }
    } catch (error) {
      for (const place of places) if (place !== null) this.#cache.give(place);
      throw error;
    }
  }

  transact(requests: readonly Request[]): Promise<Answer[]> {
    return this.#noting(requests, () => this.#inner.transact(requests));
  }

  async #noting<T>(requests: readonly Request[], send: () => Promise<T>): Promise<T> {
    try {
      return await send();
    } finally {
      for (const each of requests) if (!changesNothing(each)) this.#cache.wrote(each.words);
    }
  }

  sendToAll(each: Request): Promise<Answer[]> {
    return this.#noting([each], () => this.#inner.sendToAll(each));
  }

  async session(key: string | undefined, options?: SessionOptions): Promise<Session> {
    const session = await this.#inner.session(key, options);
    return {
      send: (each) => this.#noting([each], () => session.send(each)),
      sendMany: (requests) => this.#noting(requests, () => session.sendMany(requests)),
      destroy: () => session.destroy(),
    };
  }

  // ---------------------------------------------------------------------------------------------- all else

  subscriber(events: SubscriberEvents): Promise<Subscriber> {
    return this.#inner.subscriber(events);
  }

  onState(listener: (state: ConnectionState) => void): () => void {
    return this.#inner.onState(listener);
  }

  serverOf(key: string | undefined): string {
    return this.#inner.serverOf?.(key) ?? "";
  }

  servers(): readonly string[] {
    return this.#inner.servers?.() ?? [""];
  }

  probe(server: string): Promise<unknown> {
    return this.#inner.probe?.(server) ?? Promise.resolve();
  }

  close(): Promise<void> {
    this.#cache.forget(null);
    return this.#inner.close();
  }
}

function changesNothing({ words, readOnly }: Request): boolean {
  return readOnly === true || isRead(words);
}

function ttlOf(key: string): Request {
  return { words: ["PTTL", key], key, buffers: false };
}
