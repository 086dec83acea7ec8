/** A store whose subscriptions, blocking commands and clock a test moves by hand. */
import { getEventListeners } from "node:events";
import { type ManualClock, manualClock } from "../../../tests/kit/manual-clock.ts";
import type { Clock, Timer } from "../../base/clock.ts";
import { ClosedError, ConnectionError } from "../../base/errors.ts";
import type { WaitOptions } from "../../connection/blocking.ts";
import type { Reply, Word } from "../../connection/port.ts";
import type { Subscription } from "../../connection/subscriptions.ts";

/** Everything that promises which are settled lead to has happened. */
export const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
export const lost = (): ConnectionError => new ConnectionError("lost", { maybeExecuted: true });

/** One that a test settles by hand. */
export class Pending<T> {
  resolve!: (value: T) => void;
  reject!: (error: unknown) => void;
  readonly promise = new Promise<T>((resolve, reject) => {
    this.resolve = resolve;
    this.reject = reject;
  });
}

/** A subscription that was asked for. */
export class Asked implements Subscription {
  readonly channel: string;
  readonly message: (message: Buffer) => void;
  readonly resumed: (() => void) | undefined;
  readonly answer = new Pending<Subscription>();
  isClosed = false;

  constructor(channel: string, message: (message: Buffer) => void, resumed: (() => void) | undefined) {
    this.channel = channel;
    this.message = message;
    this.resumed = resumed;
  }

  say(text: string): void {
    this.message(Buffer.from(text));
  }

  async confirm(): Promise<void> {
    this.answer.resolve(this);
    await turn();
  }

  async refuse(): Promise<void> {
    this.answer.reject(lost());
    await turn();
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }
}

/** A clock that also knows which of its timers are under way, and whether they keep the process alive. */
export class WatchedClock implements Clock {
  readonly manual: ManualClock = manualClock();
  readonly timers = new Set<{ readonly ms: number; readonly keepAlive: boolean }>();

  monotonicMs = (): number => this.manual.monotonicMs();
  wallMs = (): number => this.manual.wallMs();
  random = (): number => this.manual.random();

  after(ms: number, callback: () => void, options?: { readonly keepAlive?: boolean }): Timer {
    const facts = { ms, keepAlive: options?.keepAlive === true };
    this.timers.add(facts);
    const timer = this.manual.after(ms, () => {
      this.timers.delete(facts);
      callback();
    });
    return {
      cancel: () => {
        this.timers.delete(facts);
        timer.cancel();
      },
    };
  }

  async advance(ms: number): Promise<void> {
    this.manual.advance(ms);
    await turn();
  }
}

/** A connection on which each call waits until the test answers it. */
export class Blocked {
  readonly key: string;
  readonly calls: {
    readonly words: readonly Word[];
    readonly options: WaitOptions;
    readonly answer: Pending<Reply>;
  }[] = [];
  isClosed = false;

  constructor(key: string) {
    this.key = key;
  }

  call(words: readonly Word[], options: WaitOptions): Promise<Reply> {
    const answer = new Pending<Reply>();
    options.signal?.addEventListener("abort", () => answer.reject(options.signal?.reason), { once: true });
    this.calls.push({ words, options, answer });
    return answer.promise;
  }

  close(): void {
    this.isClosed = true;
    this.calls.at(-1)?.answer.reject(lost());
  }
}

export class FakeStore {
  readonly clock = new WatchedClock();
  readonly asked: Asked[] = [];
  readonly connections: Blocked[] = [];
  readonly #closing = new AbortController();
  closed = false;

  get closeSignal(): AbortSignal {
    return this.#closing.signal;
  }

  subscribe(channel: string, message: (message: Buffer) => void, resumed?: () => void): Promise<Subscription> {
    const asked = new Asked(channel, message, resumed);
    this.asked.push(asked);
    return asked.answer.promise;
  }

  blocking(key: string): Blocked {
    const connection = new Blocked(key);
    this.connections.push(connection);
    return connection;
  }

  close(): void {
    this.closed = true;
    this.#closing.abort(new ClosedError());
  }
}

export const listenersOf = (signal: AbortSignal): number => getEventListeners(signal, "abort").length;
