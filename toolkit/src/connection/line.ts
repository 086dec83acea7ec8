/**
 * A connection that comes back: a wire, and when that is over another one, dialled with growing pauses. While there is none,
 * requests are refused at once as certainly not sent, or wait for the attempt that is under way; `Store` decides what is
 * tried again.
 *
 * A server that answers READONLY was a primary once. The connection is given up, so that the next one leads to the server that is the
 * primary now.
 */
import type { Timer } from "../base/clock.ts";
import { ClosedError, ConnectionError, errorOf, ServerError } from "../base/errors.ts";
import { mayPass, openWithin, type Settings } from "./dial.ts";
import type { Answer, Attempt, ConnectionState, Reply, Request } from "./port.ts";
import type { Reject, Resolve, SendLimits, Wire } from "./wire.ts";

const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 1_000;
/** A connection that ends sooner than this counts as a failed attempt, so that nobody is dialled in a tight loop. */
const SOUND_MS = 1_000;
/** How long answers are waited for when the line is closed. */
export const DRAIN_MS = 1_000;

export interface LineOptions {
  readonly settings: Settings;
  readonly dial: () => Promise<Wire>;
  readonly onState: (state: ConnectionState) => void;
}

/** Dials a wire that is given out only when it is prepared. */
export function preparedBy(prepare: (wire: Wire) => Promise<void>, dial: () => Promise<Wire>): () => Promise<Wire> {
  return async () => {
    const wire = await dial();
    try {
      await prepare(wire);
    } catch (error) {
      wire.destroy();
      throw error;
    }
    return wire;
  };
}

export class Line {
  readonly #settings: Settings;
  readonly #dial: () => Promise<Wire>;
  readonly #onState: (state: ConnectionState) => void;
  readonly #limits: SendLimits;
  readonly #throwing: SendLimits;
  #wire: Wire | null = null;
  #dialling: Promise<Wire> | null = null;
  #pause: Timer | undefined;
  #failures = 0;
  #readyAt = 0;
  #error: Error | undefined;
  #closed = false;

  constructor({ settings, dial, onState }: LineOptions) {
    this.#settings = settings;
    this.#limits = { timeoutMs: settings.commandTimeoutMs };
    this.#throwing = { timeoutMs: settings.commandTimeoutMs, throws: true };
    this.#dial = dial;
    this.#onState = onState;
  }

  get ready(): boolean {
    return this.#wire !== null;
  }

  /** The first connection: again and again until the time is over or trying is of no use. */
  open(): Promise<Wire> {
    this.#onState("connecting");
    return openWithin(this.#settings, this.#open());
  }

  async #open(): Promise<Wire> {
    const { clock, connectTimeoutMs } = this.#settings;
    const until = clock.monotonicMs() + connectTimeoutMs;
    for (;;) {
      try {
        return await (this.#dialling ?? this.#connect(false));
      } catch (error) {
        const pauseMs = this.#nextPauseMs();
        if (this.#closed || !mayPass(error) || clock.monotonicMs() + pauseMs >= until) throw error;
        await new Promise<void>((resolve) => clock.after(pauseMs, resolve, { keepAlive: true }));
      }
    }
  }

  /** The connection that is there, or the one that is being made. Rejects with what certainly was not sent. */
  wire(): Wire | Promise<Wire> {
    if (this.#wire !== null) return this.#wire;
    if (this.#closed) return Promise.reject(new ClosedError());
    if (this.#dialling !== null) return this.#dialling.catch((error) => Promise.reject(unsent(error)));
    if (this.#pause === undefined) return this.#connect(true).catch((error) => Promise.reject(unsent(error)));
    return Promise.reject(unsent(this.#error));
  }

  /** A server's error is an answer. */
  ask(request: Request): Promise<Answer> {
    const wire = this.#wire;
    if (wire === null) return this.#whenReady(request.attempt, (ready) => this.#asked(ready, request));
    return this.#asked(wire, request);
  }

  #asked(wire: Wire, request: Request): Promise<Answer> {
    written(request.attempt);
    return wire.ask(request, this.#limits);
  }

  /** The same, with a server's error thrown. */
  send(request: Request): Promise<Reply> {
    const wire = this.#wire;
    if (wire === null) return this.#whenReady(request.attempt, (ready) => this.#sent(ready, request));
    return this.#sent(wire, request);
  }

  #sent(wire: Wire, request: Request): Promise<Reply> {
    written(request.attempt);
    return wire.send(request, this.#throwing);
  }

  /** The same without a promise, for callers that have one. Answers when it was taken. */
  post(request: Request, resolve: Resolve, reject: Reject): number {
    if (this.#wire !== null) {
      written(request.attempt);
      return this.#wire.post(request, this.#throwing, resolve, reject);
    }
    if (request.timeoutMs !== undefined) {
      // A call with a deadline fails now instead of waiting for a connection past it.
      queueMicrotask(() => reject(unsent(this.#error)));
      return this.#settings.clock.monotonicMs();
    }
    this.send(request).then(resolve, reject);
    return this.#settings.clock.monotonicMs();
  }

  /** All together, with nothing of anybody else between. */
  askAll(requests: readonly Request[]): Promise<Answer[]> {
    const wire = this.#wire;
    const attempt = requests.find((request) => request.attempt !== undefined)?.attempt;
    if (wire === null) return this.#whenReady(attempt, (ready) => this.#askedAll(ready, requests, attempt));
    return this.#askedAll(wire, requests, attempt);
  }

  #askedAll(wire: Wire, requests: readonly Request[], attempt: Attempt | undefined): Promise<Answer[]> {
    written(attempt);
    return wire.askAll(requests, this.#limits);
  }

  async #whenReady<T>(attempt: Attempt | undefined, use: (wire: Wire) => Promise<T>): Promise<T> {
    const wire = await this.wire();
    if (attempt?.isAbandoned === true) throw unsent(new Error("the call was given up before it could be sent"));
    return use(wire);
  }

  /** Gives up a connection that leads elsewhere than to this server, and makes another. */
  leaveUnless(label: string, reason: string): void {
    if (this.#wire !== null && this.#wire.label !== label) this.renew(this.#wire, reason);
  }

  /** Gives up the connection, if it is this one, and makes another. What is under way on it is still answered. */
  renew(wire: Wire, reason: string): void {
    if (this.#wire !== wire) return;
    this.#lost(wire, new ConnectionError(reason, { maybeExecuted: false }));
    void wire.drain(DRAIN_MS, reason);
  }

  #connect(again: boolean): Promise<Wire> {
    const dialling = this.#dial().then(
      (wire) => {
        if (this.#dialling === dialling) this.#dialling = null;
        if (this.#closed) {
          wire.destroy();
          throw new ClosedError();
        }
        this.#wire = wire;
        this.#readyAt = this.#settings.clock.monotonicMs();
        wire.onClose((error) => this.#lost(wire, error));
        wire.onReadonly(() => this.renew(wire, `${wire.label} is no primary any more`));
        if (this.#wire === wire) this.#onState("ready");
        return wire;
      },
      (error) => {
        if (this.#dialling === dialling) this.#dialling = null;
        this.#error = errorOf(error);
        this.#failures++;
        if (again) this.#again();
        throw error;
      },
    );
    this.#dialling = dialling;
    return dialling;
  }

  #lost(wire: Wire, error: Error): void {
    if (this.#wire !== wire) return;
    this.#wire = null;
    this.#error = error;
    this.#failures = this.#settings.clock.monotonicMs() - this.#readyAt < SOUND_MS ? this.#failures + 1 : 0;
    if (this.#closed) return;
    this.#onState("lost");
    this.#again();
  }

  #again(): void {
    if (this.#closed || this.#pause !== undefined) return;
    // Keeps the process alive, as the connection that was lost did; calls that wait do so themselves.
    this.#pause = this.#settings.clock.after(
      this.#nextPauseMs(),
      () => {
        this.#pause = undefined;
        if (!this.#closed && this.#wire === null && this.#dialling === null) this.#connect(true).catch(() => {});
      },
      { keepAlive: this.#settings.rests !== true },
    );
  }

  #nextPauseMs(): number {
    if (this.#failures === 0) return 0;
    const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(this.#failures, 16));
    return longest * (0.5 + this.#settings.clock.random() / 2);
  }

  /** Takes nothing more; resolves when what is under way has been answered, or after a while. */
  async close(): Promise<void> {
    if (this.#closed) return;
    const wire = this.#wire;
    this.#closed = true;
    this.#pause?.cancel();
    this.#wire = null;
    await wire?.drain(DRAIN_MS, "the store is closed");
  }
}

function written(attempt: Attempt | undefined): void {
  if (attempt !== undefined) attempt.isWritten = true;
}

/** Whatever went wrong before anything was written. */
function unsent(error: unknown): Error {
  if (error instanceof ClosedError) return error;
  const message = error instanceof Error ? error.message : "not connected";
  const code = error instanceof ServerError ? error.code : "UNREACHABLE";
  return new ConnectionError(message, { maybeExecuted: false, code, cause: error });
}
