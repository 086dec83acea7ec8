/**
 * The store in this process: calls go straight to the engine, with no encoding and no socket.
 *
 * A call is over when it returns, so a loop of awaited calls would never leave the microtask queue: no timer, no request, no
 * signal would be seen until it ends. With a server on a socket every answer is a turn of the event loop. So here, now and then,
 * an answer waits for one (`Turn`).
 */
import { CommandError, Engine, type LocalClient, type OpenOptions, type ReplyValue } from "@cinnabar/engine";
import { systemClock } from "../base/clock.ts";
import { ClosedError, ConnectionError, errorOf, ServerError } from "../base/errors.ts";
import { asReply } from "../base/replies.ts";
import type {
  Answer,
  ConnectionState,
  Driver,
  Reply,
  Request,
  Session,
  Subscriber,
  SubscriberEvents,
  Word,
} from "./port.ts";
import { asBuffers, EXEC, executed } from "./sessions.ts";

export class EmbeddedDriver implements Driver {
  readonly topology = "embedded";
  /** Another thread cannot call into this one; while this one is busy, so is the store. */
  readonly address = null;
  readonly #engine: Engine;
  readonly #owned: boolean;
  readonly #beforeClose: (() => void) | undefined;
  readonly #client: LocalClient;
  readonly #turn = new Turn();
  readonly #sessions = new Set<LocalClient>();
  readonly #listeners = new Set<(state: ConnectionState) => void>();
  #closed = false;

  /** `owned`: the engine is closed with the driver; `beforeClose` is called first. */
  constructor(engine: Engine, owned: boolean, beforeClose?: () => void) {
    this.#engine = engine;
    this.#owned = owned;
    this.#beforeClose = beforeClose;
    this.#client = engine.connect();
  }

  static async open(options: OpenOptions): Promise<EmbeddedDriver> {
    return new EmbeddedDriver(await Engine.open(options), true);
  }

  send(request: Request): Promise<Reply> {
    if (this.#closed) return Promise.reject(new ClosedError());
    return this.#turn.shared(ask(this.#client, request));
  }

  post(request: Request, resolve: (reply: Reply) => void, reject: (error: Error) => void): number {
    if (!this.#turn.isLong) this.#post(request, resolve, reject);
    // It runs now, in its order; only its caller hears of it in the next turn.
    else
      this.#post(
        request,
        (reply) => void setImmediate(resolve, reply),
        (error) => void setImmediate(reject, error),
      );
    return 0;
  }

  #post(request: Request, resolve: (reply: Reply) => void, reject: (error: Error) => void): void {
    if (this.#closed) {
      reject(new ClosedError());
      return;
    }
    this.#client.post(
      request.words,
      request,
      (reply) => resolve(typeof reply === "string" || typeof reply === "number" ? reply : asReply(toReply(reply))),
      (error) => reject(toError(error)),
    );
  }

  sendMany(requests: readonly Request[]): Promise<Answer[]> {
    if (this.#closed) return Promise.reject(new ClosedError());
    return this.#turn.shared(askAll(this.#client, requests));
  }

  async transact(requests: readonly Request[]): Promise<Answer[]> {
    if (this.#closed) throw new ClosedError();
    return this.#turn.shared(transact(this.#client, requests));
  }

  async session(): Promise<Session> {
    if (this.#closed) throw new ClosedError();
    const client = this.#engine.connect();
    this.#sessions.add(client);
    return {
      send: (request) => this.#turn.shared(ask(client, request)),
      sendMany: (requests) => this.#turn.shared(askAll(client, requests)),
      destroy: () => {
        this.#sessions.delete(client);
        client.close();
      },
    };
  }

  async subscriber(events: SubscriberEvents): Promise<Subscriber> {
    if (this.#closed) throw new ClosedError();
    const client = this.#engine.connect({ buffers: true });
    this.#sessions.add(client);
    client.onPush(([kind, channel, message]) => {
      if (String(kind) === "message" && Buffer.isBuffer(message)) events.message(String(channel), message);
    });
    return {
      subscribe: async (channel) => void (await client.call("SUBSCRIBE", channel)),
      unsubscribe: async (channel) => void (await client.call("UNSUBSCRIBE", channel)),
      destroy: () => {
        this.#sessions.delete(client);
        client.close();
      },
    };
  }

  async feed(words: readonly Word[], listener: (message: readonly unknown[]) => void): Promise<() => void> {
    if (this.#closed) throw new ClosedError();
    const client = this.#engine.connect();
    this.#sessions.add(client);
    const end = (): void => {
      this.#sessions.delete(client);
      client.close();
    };
    client.onPush(listener);
    try {
      await client.callWords(words);
    } catch (error) {
      end();
      throw toError(error);
    }
    return end;
  }

  async sendToAll(request: Request): Promise<Answer[]> {
    return this.sendMany([request]);
  }

  onState(listener: (state: ConnectionState) => void): () => void {
    this.#listeners.add(listener);
    queueMicrotask(() => listener(this.#closed ? "closed" : "ready"));
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    for (const client of this.#sessions) client.close();
    this.#client.close();
    this.#beforeClose?.();
    if (this.#owned) await this.#engine.close();
    for (const listener of this.#listeners) listener("closed");
  }
}

/** How long answers may come without a turn of the event loop between them. */
const LONGEST_TURN_MS = 10;
/** The clock is looked at once in so many calls; a power of two. */
const LOOK_EVERY = 32;

/** The turn of the event loop that is under way. */
class Turn {
  #isOpen = false;
  #begunMs = 0;
  #calls = 0;

  /** Passes an answer on; in a turn that has lasted too long, at the next one. */
  shared<T>(answer: Promise<T>): Promise<T> {
    return this.isLong ? answer.finally(nextTurn) : answer;
  }

  /** Whether it has lasted too long, as far as this call looks. */
  get isLong(): boolean {
    if (!this.#isOpen) this.#begin();
    if ((++this.#calls & (LOOK_EVERY - 1)) !== 0) return false;
    return systemClock.monotonicMs() - this.#begunMs >= LONGEST_TURN_MS;
  }

  #begin(): void {
    this.#isOpen = true;
    this.#begunMs = systemClock.monotonicMs();
    setImmediate(() => {
      this.#isOpen = false;
    });
  }
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function ask(client: LocalClient, request: Request): Promise<Reply> {
  try {
    const reply = await client.callWords(request.words, request);
    return typeof reply === "string" || typeof reply === "number" ? reply : asReply(toReply(reply));
  } catch (error) {
    throw toError(error);
  }
}

async function askAll(client: LocalClient, requests: readonly Request[]): Promise<Answer[]> {
  return Promise.all(
    requests.map((request) =>
      ask(client, request).catch((error) => {
        if (error instanceof ServerError) return error;
        throw error;
      }),
    ),
  );
}

async function transact(client: LocalClient, requests: readonly Request[]): Promise<Answer[]> {
  // One call right behind the other: nothing of anybody else comes between, since none of them waits.
  const multi: Request = { words: ["MULTI"], key: undefined, buffers: false };
  return executed(requests, await askAll(client, [multi, ...asBuffers(requests), EXEC]));
}

/** Lists are made for this call alone, so they are changed where they stand. */
function toReply(value: ReplyValue): Answer {
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) {
      const item = value[at]!;
      if (typeof item !== "string" && typeof item !== "number") value[at] = toReply(item) as ReplyValue;
    }
    return value as Reply;
  }
  if (value instanceof CommandError) return new ServerError(value.message);
  if (typeof value === "bigint") return String(value);
  return value as Reply;
}

function toError(error: unknown): Error {
  if (error instanceof CommandError) return new ServerError(error.message, { cause: error });
  if (error instanceof Error && error.message.includes("is closed")) {
    return new ConnectionError("the connection to the embedded store is closed", { maybeExecuted: true, cause: error });
  }
  return errorOf(error);
}
