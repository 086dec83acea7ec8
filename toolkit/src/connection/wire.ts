/**
 * One connection to one server: either open or over, it never comes back by itself. It stands on any stream of bytes: a socket, a
 * TLS session, an engine in this process.
 *
 * **Requests of one turn of the event loop leave together**, answers are handed to the requests in their order. No promise, no
 * closure and no copy stands between a request and its bytes but the promise that the caller gets.
 *
 * **Both sides work at once.** A server that gets fifty scripts in one write runs them while this process waits, and this process
 * handles fifty answers while the server waits. So a turn with much work leaves in several writes: the server begins with the first
 * while the rest is made. Few enough small commands still cost one write, since waking the server costs more than they do.
 *
 * **Bounded.** No more than `MOST_IN_FLIGHT_BYTES` of requests wait for their answers; more requests wait unsent, and a slow
 * server does not make the socket's buffer grow. What waits unsent has certainly not run.
 *
 * **Deadlines.** Answers come in the order of the requests, so a request past its deadline means that everything behind it waits
 * too. It is rejected. Whether the connection goes with it depends: if anything was answered since that request was written, the
 * server is slow but alive; if nothing was, the connection is taken for dead, as a half-open one looks exactly like this.
 */
import type { Duplex } from "node:stream";
import type { Clock, Timer } from "../base/clock.ts";
import { ConnectionError, codeOf, ServerError } from "../base/errors.ts";
import { Decoder, ProtocolError, type Receiver } from "./decoder.ts";
import { Encoder } from "./encoder.ts";
import type { Answer, Reply, Request } from "./port.ts";
import { LEND, type Lending } from "./socket.ts";

/** Requests of more bytes than this are not sent before earlier ones are answered. */
const MOST_IN_FLIGHT_BYTES = 32 << 20;
/** Requests of more bytes than this leave before the turn ends, */
const MOST_WRITE_BYTES = 256 << 10;
/** and so does so much work for the server, in commands. */
const MOST_WRITE_WORK = 128;
/** A script takes a server about as long as so many commands. */
const WORK_OF_A_SCRIPT = 8;
/** A reply of more bytes than this fails. Redis has 512 MB as the largest string. */
const MOST_REPLY_BYTES = 1 << 30;

export interface SendLimits {
  /** None: the request may take as long as it likes. */
  readonly timeoutMs: number | undefined;
  /** A server's error rejects, rather than being an answer. */
  readonly throws?: boolean;
}

export interface WireBounds {
  readonly inFlightBytes?: number;
  readonly replyBytes?: number;
  /** Lets the process end while no answer is waited for. */
  readonly rests?: boolean;
}

export type Resolve = (answer: Reply) => void;
export type Reject = (error: Error) => void;

/** A request that has no answer yet. */
class Pending {
  readonly request: Request;
  readonly throws: boolean;
  readonly resolve: Resolve;
  readonly reject: Reject;
  sentAt = 0;
  /** Past it the connection is judged. */
  deadline = Number.POSITIVE_INFINITY;
  /** Past it the caller has given it up, which says nothing of the connection. */
  patience = Number.POSITIVE_INFINITY;
  /** What it takes on the wire; 0 while it is not encoded. */
  bytes = 0;
  isDone = false;

  constructor(request: Request, limits: SendLimits, resolve: Resolve, reject: Reject) {
    this.request = request;
    this.throws = limits.throws === true;
    this.resolve = resolve;
    this.reject = reject;
  }

  answer(answer: Answer): void {
    this.isDone = true;
    if (this.throws && answer instanceof ServerError) this.reject(answer);
    // What throws gets replies alone.
    else this.resolve(answer as Reply);
  }

  fail(error: Error): void {
    this.isDone = true;
    this.reject(error);
  }
}

interface Restable {
  ref?(): unknown;
  unref?(): unknown;
}

/** A socket has all of it, other streams what they have. */
type WireStream = Duplex & Restable & Partial<Lending>;

const nothing = (): void => {};
/** In the place of those that were answered. */
const ANSWERED = new Pending({ words: [], key: undefined, buffers: false }, { timeoutMs: undefined }, nothing, nothing);

export class Wire implements Receiver {
  /** Where it leads, for messages; never with a password. */
  readonly label: string;
  readonly #stream: Duplex;
  readonly #clock: Clock;
  readonly #bounds: Required<WireBounds>;
  /** What keeps the process alive, and does not while nothing is under way; null: it always does. */
  readonly #resting: Restable | null;
  readonly #encoder = new Encoder();
  readonly #decoder: Decoder;
  /** In the order of their answers; those before `#head` are answered, those from `#unsent` on are not encoded. */
  #pending: Pending[] = [];
  #head = 0;
  #unsent = 0;
  #inFlightBytes = 0;
  /** What is encoded and not written, in commands. */
  #unwrittenWork = 0;
  #isScheduled = false;
  /** The time of this turn, read once. */
  #turnAt = 0;
  #timer: Timer | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  #draining: string | null = null;
  #lastAnswerAt = Number.NEGATIVE_INFINITY;
  #closed: ConnectionError | null = null;
  #error: Error | undefined;
  readonly #onClose = new Set<(error: Error) => void>();
  #onReadonly: ((error: ServerError) => void) | null = null;
  #onPush: ((kind: string, items: readonly Reply[]) => void) | null = null;
  /** By channel; null until the first subscription, when messages come between answers. */
  #listeners: Map<string, (message: Buffer) => void> | null = null;
  readonly #flush = (): void => {
    this.#isScheduled = false;
    if (this.#closed === null) this.#write();
  };

  constructor(stream: WireStream, label: string, clock: Clock, bounds: WireBounds = {}) {
    this.#stream = stream;
    this.label = label;
    this.#clock = clock;
    this.#bounds = { inFlightBytes: MOST_IN_FLIGHT_BYTES, replyBytes: MOST_REPLY_BYTES, rests: false, ...bounds };
    this.#resting = this.#bounds.rests ? stream : null;
    this.#resting?.unref?.();
    this.#decoder = new Decoder(this, this.#bounds.replyBytes);
    // The end of a stream that lends its bytes comes as with any other.
    stream.on("data", (chunk: Buffer) => this.#read(chunk, false));
    stream[LEND]?.((bytes) => this.#read(bytes, true));
    stream.on("error", (error: Error) => {
      this.#error ??= error;
    });
    const over = (): void => this.#over(`the connection to ${label} was lost`, "CONNECTION", this.#error);
    stream.on("end", over);
    stream.on("close", over);
  }

  get closed(): boolean {
    return this.#closed !== null;
  }

  onClose(listener: (error: Error) => void): void {
    if (this.#closed !== null) listener(this.#closed);
    else this.#onClose.add(listener);
  }

  /** Rejects with a server's error, or with a ConnectionError. */
  send(request: Request, { timeoutMs }: SendLimits): Promise<Reply> {
    return new Promise((resolve, reject) => void this.post(request, { timeoutMs, throws: true }, resolve, reject));
  }

  /** All of them leave together, and nothing of anybody else comes between. */
  askAll(requests: readonly Request[], limits: SendLimits): Promise<Answer[]> {
    return Promise.all(requests.map((request) => this.ask(request, limits)));
  }

  /** A server's error is an answer; rejects with a ConnectionError only. */
  ask(request: Request, limits: SendLimits): Promise<Answer> {
    return new Promise<Answer>((resolve, reject) => void this.post(request, limits, resolve, reject));
  }

  /** The same without a promise, for callers that have one. Answers when it was taken. */
  post(request: Request, limits: SendLimits, resolve: Resolve, reject: Reject): number {
    const closed = this.#closed;
    if (closed !== null) {
      // Never before it returns: the caller may not be ready for it.
      queueMicrotask(() => reject(new ConnectionError(closed.message, { maybeExecuted: false, cause: closed.cause })));
      return this.#clock.monotonicMs();
    }
    const now = this.#now();
    const pending = new Pending(request, limits, resolve, reject);
    pending.sentAt = now;
    const { timeoutMs } = limits;
    if (timeoutMs !== undefined) {
      pending.deadline = now + timeoutMs;
      if (pending.deadline < this.#timerAt) this.#arm(pending.deadline, now);
    }
    if (request.timeoutMs !== undefined) {
      pending.patience = now + request.timeoutMs;
      if (pending.patience < this.#timerAt) this.#arm(pending.patience, now);
    }
    const isNext = this.#unsent === this.#pending.length;
    if (this.#pending.length === 0) this.#resting?.ref?.();
    this.#pending.push(pending);
    if (isNext && this.#hasRoom()) this.#encode(pending);
    if (this.#unwrittenWork >= MOST_WRITE_WORK || this.#encoder.bytes > MOST_WRITE_BYTES) this.#write();
    return now;
  }

  /** Calls the listener when the server says that it takes no writes: it was a primary once. */
  onReadonly(listener: (error: ServerError) => void): void {
    this.#onReadonly = listener;
  }

  /** Calls the listener with messages that no request asked for, by their kind (RESP3); not with those of channels. */
  onPush(listener: (kind: string, items: readonly Reply[]) => void): void {
    this.#onPush = listener;
  }

  /** The end of the turn is near enough to cost no latency, and all that is asked until then leaves in one write. */
  #now(): number {
    if (!this.#isScheduled) {
      this.#isScheduled = true;
      this.#turnAt = this.#clock.monotonicMs();
      process.nextTick(this.#flush);
    }
    return this.#turnAt;
  }

  // ---------------------------------------------------------------------------------------------- writing

  #hasRoom(): boolean {
    return this.#inFlightBytes < this.#bounds.inFlightBytes;
  }

  #encode(pending: Pending): void {
    this.#unsent++;
    // One that was given up before it could be sent is not sent.
    if (pending.isDone) return;
    if (pending.request.attempt?.isAbandoned === true) {
      pending.fail(new ConnectionError("the call was given up before it could be sent", { maybeExecuted: false }));
      return;
    }
    pending.bytes = this.#encoder.add(pending.request.words);
    this.#inFlightBytes += pending.bytes;
    this.#unwrittenWork += pending.request.words[0] === "EVALSHA" ? WORK_OF_A_SCRIPT : 1;
  }

  #write(): void {
    if (this.#encoder.isEmpty) return;
    this.#unwrittenWork = 0;
    const parts = this.#encoder.take();
    if (parts.length === 1) {
      this.#stream.write(parts[0]!, "utf8");
      return;
    }
    this.#stream.cork();
    for (const part of parts) this.#stream.write(part, "utf8");
    this.#stream.uncork();
  }

  // ---------------------------------------------------------------------------------------------- reading

  #read(chunk: Buffer, isLent: boolean): void {
    if (this.#closed !== null) return;
    this.#lastAnswerAt = this.#clock.monotonicMs();
    try {
      this.#decoder.feed(chunk, isLent);
    } catch (error) {
      this.#over(`what ${this.label} sends is no reply`, "PROTOCOL", error instanceof Error ? error : undefined);
      return;
    }
    this.#tidy();
  }

  /** For the decoder. */
  wantsBytes(): boolean {
    // A message may come instead of the answer.
    if (this.#listeners !== null) return true;
    return this.#first()?.request.buffers ?? true;
  }

  /** For the decoder. */
  reply(answer: Answer): void {
    if (this.#listeners !== null && Array.isArray(answer) && this.#deliver(answer)) return;
    const pending = this.#next();
    if (!pending.isDone) pending.answer(this.#listeners === null || pending.request.buffers ? answer : asText(answer));
    if (answer instanceof ServerError && answer.code === "READONLY") this.#onReadonly?.(answer);
  }

  /** For the decoder. */
  tooLarge(): void {
    const pending = this.#next();
    if (pending.isDone) return;
    const most = this.#bounds.replyBytes;
    pending.fail(
      new ConnectionError(`the answer of ${this.label} is larger than ${most} bytes`, {
        maybeExecuted: true,
        code: "REPLY_TOO_LARGE",
      }),
    );
  }

  /** For the decoder. */
  push(items: Reply[]): void {
    if (this.#listeners !== null && this.#deliver(items)) return;
    // A confirmation of a subscription answers its request, in RESP3 too.
    const kind = String(items[0]);
    if (kind === "subscribe" || kind === "unsubscribe") this.reply(items);
    else this.#onPush?.(kind, items);
  }

  /** The request that the next answer is for. Those that were given up before they could be sent have none. */
  #first(): Pending | undefined {
    let pending = this.#pending[this.#head];
    while (pending?.isDone && pending.bytes === 0) pending = this.#pending[++this.#head];
    return this.#head < this.#unsent ? pending : undefined;
  }

  #next(): Pending {
    const pending = this.#first();
    if (pending === undefined) throw new ProtocolError("an answer came that nobody asked for");
    // What is answered is let go: it would keep its answer alive.
    this.#pending[this.#head++] = ANSWERED;
    this.#inFlightBytes -= pending.bytes;
    return pending;
  }

  /** What was answered is forgotten now and then; what waits is sent when there is room. */
  #tidy(): void {
    if (this.#head === this.#pending.length) {
      this.#pending.length = 0;
      this.#head = 0;
      this.#unsent = 0;
      this.#resting?.unref?.();
      if (this.#draining !== null) this.destroy(this.#draining);
      return;
    }
    if (this.#head > 1_024 && this.#head * 2 > this.#pending.length) {
      this.#pending = this.#pending.slice(this.#head);
      this.#unsent -= this.#head;
      this.#head = 0;
    }
    if (this.#unsent === this.#pending.length || !this.#hasRoom()) return;
    while (this.#unsent < this.#pending.length && this.#hasRoom()) this.#encode(this.#pending[this.#unsent]!);
    this.#now();
  }

  // ---------------------------------------------------------------------------------------------- messages

  /** Resolves when the server has confirmed. */
  async subscribe(channel: string, listener: (message: Buffer) => void): Promise<void> {
    this.#listeners ??= new Map();
    this.#listeners.set(channel, listener);
    await this.send({ words: ["SUBSCRIBE", channel], key: undefined, buffers: true }, UNLIMITED);
  }

  async unsubscribe(channel: string): Promise<void> {
    this.#listeners?.delete(channel);
    await this.send({ words: ["UNSUBSCRIBE", channel], key: undefined, buffers: true }, UNLIMITED);
  }

  /** Whether it was a message. */
  #deliver(items: readonly Reply[]): boolean {
    if (items.length !== 3 || String(items[0]) !== "message") return false;
    const message = items[2];
    if (Buffer.isBuffer(message)) this.#listeners?.get(String(items[1]))?.(message);
    return true;
  }

  // ---------------------------------------------------------------------------------------------- the end

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

  /** One timer for all: it looks at everything that waits when it fires, and is set again for what has time left. */
  #arm(at: number, now: number): void {
    this.#timer?.cancel();
    this.#timerAt = at;
    this.#timer = this.#clock.after(Math.max(at - now, 1), () => {
      this.#timerAt = Number.POSITIVE_INFINITY;
      // After a pause of the whole process the timer comes before the answers that have arrived meanwhile: they are read first.
      setImmediate(() => this.#expire());
    });
  }

  #expire(): void {
    if (this.#closed !== null) return;
    const now = this.#clock.monotonicMs();
    let next = Number.POSITIVE_INFINITY;
    let isSilent = false;
    for (let at = this.#head; at < this.#pending.length; at++) {
      const pending = this.#pending[at]!;
      const isSent = at < this.#unsent;
      if (!pending.isDone) {
        const late = lateness(pending, now, this.label);
        if (late !== null) pending.fail(new ConnectionError(late.message, { maybeExecuted: isSent, code: late.code }));
        else next = Math.min(next, pending.patience);
      }
      if (pending.deadline > now) next = Math.min(next, pending.deadline);
      else if (isSent && pending.bytes > 0) isSilent ||= this.#lastAnswerAt < pending.sentAt;
    }
    if (isSilent) this.#over(`${this.label} did not answer in time; the connection is given up`, "TIMEOUT", undefined);
    else if (next !== Number.POSITIVE_INFINITY) this.#arm(next, now);
  }

  #over(message: string, code: string, error: Error | undefined): void {
    if (this.#closed !== null) return;
    this.#timer?.cancel();
    const cause = error === undefined ? undefined : plain(error);
    const text = cause === undefined ? message : `${message}: ${cause.message}`;
    const closed = new ConnectionError(text, { maybeExecuted: true, code, cause });
    this.#closed = closed;
    const unsent = new ConnectionError(text, { maybeExecuted: false, code, cause });
    for (let at = this.#head; at < this.#pending.length; at++) {
      const pending = this.#pending[at]!;
      if (!pending.isDone) pending.fail(at < this.#unsent ? closed : unsent);
    }
    this.#pending = [];
    this.#head = 0;
    this.#unsent = 0;
    for (const listener of this.#onClose) listener(closed);
    this.#onClose.clear();
    this.#stream.destroy();
  }
}

/** What a request is rejected with that has waited too long; null if it has not. */
function lateness(
  { patience, deadline }: Pending,
  now: number,
  label: string,
): { message: string; code: string } | null {
  if (deadline <= now) return { message: `${label} did not answer in time`, code: "TIMEOUT" };
  return patience <= now ? { message: "the call was not answered within its timeoutMs", code: "DEADLINE" } : null;
}

const UNLIMITED: SendLimits = { timeoutMs: undefined };

/** The system hangs addresses on errors, and streams of others what they like: a message and a code are enough for logs. */
function plain(error: Error): Error {
  const copy = new Error(error.message);
  const code = codeOf(error);
  if (code !== undefined) Object.assign(copy, { code });
  return copy;
}

function asText(answer: Reply): Reply;
function asText(answer: Answer): Answer;
function asText(answer: Answer): Answer {
  if (Buffer.isBuffer(answer)) return answer.toString("utf8");
  return Array.isArray(answer) ? answer.map((each) => asText(each)) : answer;
}
