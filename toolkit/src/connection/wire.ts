/**
 * One connection to one server: either open or over, it never comes back by itself. An adapter of a client library gives a
 * `RawLink`; `Wire` adds what must not differ from library to library: one shape of answers, one meaning of "not answered"
 * (was it written or not), and deadlines.
 *
 * Answers come in the order of the requests, so a request past its deadline means that everything behind it waits too. It is
 * rejected. Whether the connection goes with it depends: if anything was answered since that request was written, the server
 * is slow but alive; if nothing was, the connection is taken for dead, as a half-open one looks exactly like this.
 */
import type { Clock, Timer } from "../base/clock.ts";
import { ConnectionError, ServerError } from "../base/errors.ts";
import type { Answer, Reply, Request, Word } from "./port.ts";

/** What libraries give: strings are Buffers (or text), integers text or numbers, errors already a ServerError. */
export type RawAnswer = string | number | bigint | boolean | null | undefined | Buffer | ServerError | RawAnswer[];

export interface RawLink {
  /** Writes at once, in the order of the calls. One of the two is called later: `lost` only when no answer will come. */
  write(
    words: readonly (string | Buffer)[],
    answered: (answer: RawAnswer) => void,
    lost: (error: unknown) => void,
  ): void;
  /** Between the two, what is written leaves together. */
  cork(): void;
  uncork(): void;
  /** Resolves when the server has confirmed. */
  subscribe(channel: string, listener: (message: Buffer) => void): Promise<void>;
  unsubscribe(channel: string): Promise<void>;
  /** Called once, when the connection is over, for any reason. */
  onClose(listener: (error: Error | undefined) => void): void;
  /** Ends it at once. */
  destroy(): void;
  /** Whether integers come as text and all strings as Buffers, so that the two can be told apart. */
  readonly exact: boolean;
}

export interface SendLimits {
  /** None: the request may take as long as it likes. */
  readonly timeoutMs: number | undefined;
}

interface Pending {
  readonly reject: (error: ConnectionError) => void;
  readonly sentAt: number;
  readonly deadline: number;
  done: boolean;
}

export class Wire {
  /** Where it leads, for messages; never with a password. */
  readonly label: string;
  readonly #link: RawLink;
  readonly #clock: Clock;
  readonly #pending: Pending[] = [];
  readonly #onClose = new Set<(error: Error) => void>();
  #head = 0;
  #timer: Timer | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  #corked = false;
  #draining: string | null = null;
  #lastAnswerAt = Number.NEGATIVE_INFINITY;
  #closed: ConnectionError | null = null;

  constructor(link: RawLink, label: string, clock: Clock) {
    this.#link = link;
    this.label = label;
    this.#clock = clock;
    link.onClose((error) => this.#over(`the connection to ${label} was lost`, "CONNECTION", error));
  }

  get closed(): boolean {
    return this.#closed !== null;
  }

  onClose(listener: (error: Error) => void): void {
    if (this.#closed !== null) listener(this.#closed);
    else this.#onClose.add(listener);
  }

  async send(request: Request, limits: SendLimits): Promise<Reply> {
    const answer = await this.ask(request, limits);
    if (answer instanceof ServerError) throw answer;
    return answer;
  }

  /** All of them leave together, and nothing of anybody else comes between. */
  askAll(requests: readonly Request[], limits: SendLimits): Promise<Answer[]> {
    return Promise.all(requests.map((request) => this.ask(request, limits)));
  }

  /** A server's error is an answer; rejects with a ConnectionError only. */
  ask(request: Request, limits: SendLimits): Promise<Answer> {
    const closed = this.#closed;
    if (closed !== null) {
      return Promise.reject(new ConnectionError(closed.message, { maybeExecuted: false, cause: closed.cause }));
    }
    // With nothing under way there is nothing to gather, and corking costs more than it saves.
    if (this.#head < this.#pending.length) this.#cork();
    return new Promise((resolve, reject) => {
      const pending = this.#track(reject, limits.timeoutMs);
      this.#link.write(
        wordsOf(request.words),
        (raw) => {
          this.#lastAnswerAt = this.#clock.monotonicMs();
          resolve(normalised(raw, request.buffers, this.#link.exact));
          this.#settle(pending);
        },
        (error) => {
          reject(this.#lost(error));
          this.#settle(pending);
        },
      );
    });
  }

  /** Requests of one turn of the event loop leave in one write; the turn's end is near enough to cost no latency. */
  #cork(): void {
    if (this.#corked) return;
    this.#corked = true;
    this.#link.cork();
    process.nextTick(() => {
      this.#corked = false;
      this.#link.uncork();
    });
  }

  subscribe(channel: string, listener: (message: Buffer) => void): Promise<void> {
    return this.#link.subscribe(channel, listener).catch((error) => {
      throw error instanceof ServerError ? error : this.#lost(error);
    });
  }

  unsubscribe(channel: string): Promise<void> {
    return this.#link.unsubscribe(channel).catch((error) => {
      throw error instanceof ServerError ? error : this.#lost(error);
    });
  }

  /** Ends it at once; what waits for an answer is rejected. */
  destroy(reason?: string): void {
    this.#over(reason ?? `the connection to ${this.label} was closed`, "CONNECTION", undefined);
  }

  /** Ends it when everything that was sent has been answered, or after a while. */
  drain(withinMs: number, reason: string): Promise<void> {
    return new Promise((resolve) => {
      this.onClose(() => resolve());
      if (this.#head === this.#pending.length) return this.destroy(reason);
      this.#draining = reason;
      const timer = this.#clock.after(withinMs, () => this.destroy(reason), { keepAlive: true });
      this.onClose(() => timer.cancel());
    });
  }

  // ---------------------------------------------------------------------------------------------- deadlines

  #track(reject: (error: ConnectionError) => void, timeoutMs: number | undefined): Pending {
    const sentAt = this.#clock.monotonicMs();
    const deadline = timeoutMs === undefined ? Number.POSITIVE_INFINITY : sentAt + timeoutMs;
    const pending: Pending = { reject, sentAt, deadline, done: false };
    this.#pending.push(pending);
    if (deadline < this.#timerAt) this.#arm(deadline, sentAt);
    return pending;
  }

  /** Answers come in order, so those that are done stand at the front. */
  #settle(pending: Pending): void {
    pending.done = true;
    while (this.#head < this.#pending.length && this.#pending[this.#head]!.done) this.#head++;
    if (this.#head === this.#pending.length || this.#head > 1_024) {
      this.#pending.splice(0, this.#head);
      this.#head = 0;
      if (this.#draining !== null && this.#pending.length === 0) this.destroy(this.#draining);
    }
  }

  /** One timer for all: it looks at everything that waits when it fires, and is set again for what has time left. */
  #arm(at: number, now: number): void {
    this.#timer?.cancel();
    this.#timerAt = at;
    this.#timer = this.#clock.after(Math.max(at - now, 1), () => {
      this.#timerAt = Number.POSITIVE_INFINITY;
      this.#expire();
    });
  }

  #expire(): void {
    const now = this.#clock.monotonicMs();
    let next = Number.POSITIVE_INFINITY;
    let silent = false;
    for (let at = this.#head; at < this.#pending.length; at++) {
      const pending = this.#pending[at]!;
      if (pending.done) continue;
      if (pending.deadline > now) {
        next = Math.min(next, pending.deadline);
        continue;
      }
      pending.done = true;
      silent ||= this.#lastAnswerAt < pending.sentAt;
      pending.reject(
        new ConnectionError(`${this.label} did not answer in time`, { maybeExecuted: true, code: "TIMEOUT" }),
      );
    }
    if (silent) this.#over(`${this.label} did not answer in time; the connection is given up`, "TIMEOUT", undefined);
    else if (next !== Number.POSITIVE_INFINITY) this.#arm(next, now);
  }

  #lost(error: unknown): ConnectionError {
    const message = this.#closed?.message ?? `the connection to ${this.label} was lost`;
    return new ConnectionError(message, {
      maybeExecuted: true,
      cause: error instanceof Error ? plain(error) : undefined,
    });
  }

  #over(message: string, code: string, error: Error | undefined): void {
    if (this.#closed !== null) return;
    this.#timer?.cancel();
    const cause = error === undefined ? undefined : plain(error);
    const text = cause === undefined ? message : `${message}: ${cause.message}`;
    this.#closed = new ConnectionError(text, { maybeExecuted: true, code, cause });
    const waiting = this.#pending.splice(0).slice(this.#head);
    this.#head = 0;
    for (const pending of waiting) if (!pending.done) pending.reject(this.#closed);
    for (const listener of this.#onClose) listener(this.#closed);
    this.#onClose.clear();
    this.#link.destroy();
  }
}

/** Libraries hang commands with their arguments on errors; values and passwords do not belong into logs. */
function plain(error: Error): Error {
  const copy = new Error(error.message);
  const { code } = error as { readonly code?: unknown };
  if (typeof code === "string") Object.assign(copy, { code });
  return copy;
}

/** Text, or Buffers over the same bytes. */
function wordsOf(words: readonly Word[]): (string | Buffer)[] {
  return words.map((word) => {
    if (typeof word === "string") return word;
    if (word instanceof Uint8Array) {
      return Buffer.isBuffer(word) ? word : Buffer.from(word.buffer, word.byteOffset, word.byteLength);
    }
    return String(word);
  });
}

/** The one shape of answers that port.ts promises. */
export function normalised(raw: RawAnswer, buffers: boolean, exact: boolean): Answer {
  if (Buffer.isBuffer(raw)) return buffers ? raw : raw.toString("utf8");
  if (typeof raw === "string") return exact ? integer(raw) : buffers ? Buffer.from(raw, "utf8") : raw;
  if (raw === null || raw === undefined) return null;
  if (typeof raw === "number") return Number.isInteger(raw) ? raw : String(raw);
  if (Array.isArray(raw)) return raw.map((each) => normalised(each, buffers, exact)) as Reply;
  if (raw instanceof ServerError) return raw;
  return typeof raw === "bigint" ? integer(String(raw)) : Number(raw);
}

function integer(text: string): number | string {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : text;
}

/**
 * A server's error text as the error it means. Redis 6 wraps what a script's command was refused with into an ERR of its own;
 * that a replica refuses writes must be seen all the same.
 */
export function serverError(text: string): ServerError {
  const wrapped = text.startsWith("ERR Error running script") ? /-(READONLY [^\n]*)/.exec(text) : null;
  return new ServerError(wrapped?.[1] ?? text);
}
