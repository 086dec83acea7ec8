/**
 * How often a call is sent, and for how long: retries of what is safe to repeat, the breaker of its servers (breaker.ts), and
 * the deadline of the whole call. `Store` says what a call sends; this decides when.
 *
 * What is repeated: a request that certainly did not run (the connection failed before it was sent; the server was loading,
 * failing over or moving a slot), and one that may have run but is declared repeatable (reads; scripts with `repeatable`).
 * Everything else rejects with a ConnectionError. Its `maybeExecuted` speaks of all attempts: it is false only if none of
 * them can have run.
 */
import { setMaxListeners } from "node:events";
import { onAbort } from "../base/abort.ts";
import { type Clock, sleep } from "../base/clock.ts";
import { ConnectionError, ServerError } from "../base/errors.ts";
import { Breaker, type BreakerOptions, type Circuit, type WhenOpen } from "./breaker.ts";
import type { Attempt, Driver } from "./port.ts";

/** Errors which say that the server did not run the command and may be able to soon. */
const PASSING = new Set(["CLUSTERDOWN", "LOADING", "MASTERDOWN", "READONLY", "TRYAGAIN"]);

/** Whether an answer says that the server did not run the command and may be able to soon. */
export const isPassing = (answer: unknown): boolean => answer instanceof ServerError && PASSING.has(answer.code);

/** Connection errors that say nothing about a server: what was refused before anybody was asked. */
const NOT_A_FAILURE = new Set(["CIRCUIT_OPEN", "MOVING"]);
/** Between attempts: a server that does not answer needs time, while others' transactions are over in a moment. */
const FAULT_DELAYS = { firstMs: 20, longestMs: 1_000 };
export const CONFLICT_DELAYS = { firstMs: 0.5, longestMs: 50 };
const DEFAULT_RETRY_MS = 10_000;
/** A whole call with its repetitions, if nothing else is said: room for one attempt that times out, and for another one. */
const DEFAULT_TIMEOUT_MS = 15_000;
const LAST_ATTEMPT_MS = 5_000;

/** How often and how long a store tries a call. */
export interface AttemptOptions {
  /** How long a request that is safe to repeat is repeated before its error is passed on (default 10 000). */
  readonly retryMs?: number;
  /**
   * How long a call may take in all, with all attempts. Calls can have a shorter one of their own. By default 15 000, or
   * 5 000 more than `retryMs`.
   */
  readonly timeoutMs?: number;
  /**
   * When nothing more is written to a server that does not answer, and what calls do then; false: there is no breaker. By default there is
   * one, with its own defaults.
   */
  readonly breaker?: BreakerOptions | false;
}

const SOUND = { state: "closed", failures: 0, openForMs: 0, error: null } as const;

export interface Sending {
  readonly repeatable: boolean;
  /** A key of each request; undefined for one that has none. */
  readonly keys: readonly (string | undefined)[];
  readonly timeoutMs?: number | undefined;
  readonly whenOpen?: WhenOpen | undefined;
  readonly signal?: AbortSignal | undefined;
}

export class Attempts {
  readonly #clock: Clock;
  readonly #driver: Driver;
  readonly #closing: AbortSignal;
  readonly #breaker: Breaker | null;
  /** How long a request that is safe to repeat is repeated. */
  readonly retryMs: number;
  /** What the store was opened with; undefined: repetitions alone are bounded. */
  readonly timeoutMs: number | undefined;
  readonly #longestMs: number;
  readonly #whenOpen: WhenOpen;

  constructor(
    driver: Driver,
    options: AttemptOptions,
    {
      clock,
      closing,
      onCircuit,
    }: {
      readonly clock: Clock;
      readonly closing: AbortSignal;
      readonly onCircuit: (circuit: Circuit) => void;
    },
  ) {
    this.#driver = driver;
    this.#clock = clock;
    this.#closing = closing;
    this.retryMs = options.retryMs ?? DEFAULT_RETRY_MS;
    this.timeoutMs = options.timeoutMs;
    this.#longestMs = options.timeoutMs ?? Math.max(DEFAULT_TIMEOUT_MS, this.retryMs + LAST_ATTEMPT_MS);
    this.#whenOpen = (options.breaker === false ? undefined : options.breaker?.whenOpen) ?? "wait";
    const isGuarded = driver.topology !== "embedded" && options.breaker !== false;
    const probe = (server: string) => driver.probe?.(server) ?? Promise.resolve();
    this.#breaker = isGuarded ? new Breaker(clock, options.breaker || {}, probe, onCircuit) : null;
    // As many listen to it as requests are being repeated, which is no leak.
    setMaxListeners(0, closing);
    driver.onState((state) => {
      if (state === "ready") this.#breaker?.healed();
    });
  }

  /** The servers that have failed since their last answer. */
  circuits(): Circuit[] {
    return this.#breaker?.list() ?? [];
  }

  /** All servers, those included that answer. */
  servers(): Circuit[] {
    if (this.#breaker === null) return [];
    const failing = new Map(this.#breaker.list().map((circuit) => [circuit.server, circuit]));
    for (const server of this.#driver.servers?.() ?? [""]) {
      if (!failing.has(server)) failing.set(server, { server, ...SOUND });
    }
    return [...failing.values()].sort((a, b) => (a.server < b.server ? -1 : 1));
  }

  stop(): void {
    this.#breaker?.stop();
  }

  run<T>(sending: Sending, send: (attempt?: Attempt) => Promise<T>): Promise<T> {
    const begunAt = this.#clock.monotonicMs();
    const timeoutMs = sending.timeoutMs ?? this.timeoutMs;
    const first =
      timeoutMs === undefined ? this.#once(sending, send) : this.#within(sending, begunAt + timeoutMs, send);
    return first.catch((error) => this.recover(error, begunAt, sending, send));
  }

  /** Whether a first attempt needs nothing of this: no server has failed. */
  get isCalm(): boolean {
    return this.#breaker === null || this.#breaker.isCalm;
  }

  /** One attempt, with its outcome told to the breaker. */
  #once<T>(sending: Sending, send: (attempt?: Attempt) => Promise<T>, attempt?: Attempt): Promise<T> {
    const breaker = this.#breaker;
    if (breaker === null || breaker.isCalm) return send(attempt);
    const servers = this.#servers(sending);
    const refused = this.#refused<T>(servers);
    if (refused !== null) return refused;
    const answered = () => {
      for (const server of servers) breaker.answered(server);
    };
    return send(attempt).then(
      (value) => {
        answered();
        return value;
      },
      (error) => {
        if (error instanceof ServerError) answered();
        throw error;
      },
    );
  }

  /**
   * Rejects where the circuit of one of the servers is open; null otherwise. In a turn of its own: a caller that tries again at once
   * would keep the probe's timer and answer from ever coming.
   */
  #refused<T>(servers: readonly string[]): Promise<T> | null {
    for (const server of servers) {
      const refusal = this.#breaker!.refusal(server);
      if (refusal !== null) return new Promise((_, reject) => void setImmediate(reject, refusal));
    }
    return null;
  }

  /** One attempt that is given up at a moment. What has not been written by then never will be. */
  #within<T>(sending: Sending, until: number, send: (attempt?: Attempt) => Promise<T>): Promise<T> {
    // Known already: on a busy machine the deadline may be over before the turn in which the caller hears of it.
    const refused = this.isCalm ? null : this.#refused<T>(this.#servers(sending));
    if (refused !== null) return refused;
    const attempt: Attempt = { isAbandoned: false, isWritten: false };
    const answer = this.#once(sending, send, attempt);
    return new Promise((resolve, reject) => {
      const timer = this.#clock.after(
        Math.max(0, until - this.#clock.monotonicMs()),
        () => {
          attempt.isAbandoned = true;
          // Drivers that do not say whether they have written it may have.
          const maybeExecuted = attempt.isWritten || this.#driver.probe === undefined;
          reject(
            new ConnectionError("the call was not answered within its timeoutMs", { maybeExecuted, code: "DEADLINE" }),
          );
        },
        { keepAlive: true },
      );
      answer.finally(() => timer.cancel()).then(resolve, reject);
    });
  }

  /** What follows a first attempt that failed: others, while that is safe and of use. */
  async recover<T>(
    first: unknown,
    begunAt: number,
    sending: Sending,
    send: (attempt?: Attempt) => Promise<T>,
  ): Promise<T> {
    const { signal = this.#closing } = sending;
    const since = this.#clock.monotonicMs();
    const until = begunAt + (sending.timeoutMs ?? this.#longestMs);
    let error = first;
    let attemptAt = begunAt;
    let mayHaveRun = false;
    for (let attempt = 0; ; attempt++) {
      this.#note(error, sending, attemptAt);
      mayHaveRun ||= error instanceof ConnectionError && error.maybeExecuted;
      const now = this.#clock.monotonicMs();
      const isOver = now - since >= this.retryMs || now >= until || this.#closing.aborted;
      if (isOver || !this.#mayRepeat(error, sending)) throw mayHaveRun ? asMaybeExecuted(error) : error;
      await this.#pauseBefore(attempt, until - now, sending, signal);
      attemptAt = this.#clock.monotonicMs();
      try {
        return await this.#within(sending, until, send);
      } catch (again) {
        error = again;
      }
    }
  }

  #note(error: unknown, sending: Sending, attemptAt: number): void {
    if (this.#breaker === null || !(error instanceof ConnectionError) || NOT_A_FAILURE.has(error.code)) return;
    const servers = error.server === undefined ? this.#servers(sending) : [error.server];
    // Of several servers nobody knows which one it was.
    const [server, ...others] = servers;
    if (server !== undefined && others.length === 0) this.#breaker.failed(server, error, attemptAt);
  }

  #servers({ keys }: Sending): string[] {
    const driver = this.#driver;
    if (driver.serverOf === undefined) return [""];
    const servers = new Set<string>();
    for (const key of keys) servers.add(driver.serverOf(key));
    return [...servers];
  }

  #mayRepeat(error: unknown, sending: Sending): boolean {
    if (error instanceof ConnectionError) {
      if (error.code === "DEADLINE" || (error.code === "CIRCUIT_OPEN" && this.#failsFast(sending))) return false;
      return sending.repeatable || !error.maybeExecuted;
    }
    return this.isPassing(error);
  }

  #failsFast({ whenOpen = this.#whenOpen }: Sending): boolean {
    return whenOpen === "fail";
  }

  /** Whether a server has refused a request that it may take soon; the request did not run. */
  isPassing(answer: unknown): boolean {
    if (!(answer instanceof ServerError)) return false;
    const isCluster = this.#driver.topology === "cluster";
    return PASSING.has(answer.code) || (isCluster && (answer.code === "MOVED" || answer.code === "ASK"));
  }

  /** The pause of a call that does not wait for an open circuit ends when it opens: the next attempt is refused then. */
  async #pauseBefore(attempt: number, leftMs: number, sending: Sending, signal: AbortSignal): Promise<void> {
    const paused = new AbortController();
    const interrupt = () => paused.abort(signal.reason);
    const breaker = this.#failsFast(sending) ? this.#breaker : null;
    const ends =
      breaker === null || breaker.isCalm
        ? []
        : this.#servers(sending).map((server) => breaker.whenOpen(server, () => paused.abort()));
    ends.push(onAbort(signal, interrupt));
    if (signal.aborted) interrupt();
    try {
      await this.pause(attempt, paused.signal, FAULT_DELAYS, leftMs);
    } catch (error) {
      if (signal.aborted) throw error;
    } finally {
      for (const end of ends) end();
    }
  }

  /** Longer from attempt to attempt, with jitter, so that many clients do not come back at once. */
  pause(
    attempt: number,
    signal: AbortSignal | undefined,
    { firstMs, longestMs } = FAULT_DELAYS,
    atMostMs = Number.POSITIVE_INFINITY,
  ): Promise<void> {
    const longest = Math.min(longestMs, firstMs * 2 ** attempt, atMostMs);
    return sleep(this.#clock, longest * (0.5 + this.#clock.random() / 2), signal);
  }
}

/** An earlier attempt of the same call may have run, whatever became of the last. */
export function asMaybeExecuted(error: unknown): unknown {
  const isWrong =
    (error instanceof ConnectionError && !error.maybeExecuted) ||
    (error instanceof ServerError && PASSING.has(error.code));
  if (!isWrong) return error;
  const { message, code } = error;
  return new ConnectionError(message, { maybeExecuted: true, code, cause: error });
}
