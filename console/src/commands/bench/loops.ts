/**
 * The two ways of sending. In a closed loop each client sends its next requests when the last ones are answered: it finds out how
 * much a store can do. In an open loop requests are due at fixed times, whatever became of those before: it finds out how long
 * users wait at a given rate. There a latency counts from the time at which the request was due, so a store that stands still
 * for a second shows that second in every request of it (no coordinated omission).
 *
 * Requests that are due and cannot be sent, since too many are in flight, take no memory: a due time follows from a number.
 */
import type { Recorder } from "./recorder.ts";
import type { Target } from "./target.ts";

export interface Load {
  readonly clients: number;
  /** Requests that a client has in flight at once, in a closed loop. */
  readonly pipeline: number;
  /** Requests a second; undefined: a closed loop. */
  readonly rate: number | undefined;
  /** In an open loop. */
  readonly mostInFlight: number;
  /** Nothing came for so long: the round is over. */
  readonly timeoutMs: number;
}

/** How long, or how many; whichever is first. */
export interface Extent {
  readonly ms: number;
  readonly count: number;
}

const LOOK_MS = 50;
/** After Ctrl-C. */
const GRACE_MS = 1_000;
/** Timers and signals get their turn at least so often. */
const TURN_MS = 10;
/** Timers are as exact as a millisecond: the last part of a wait is spent looking at the clock. */
const SPIN_MS = 2;

/** One round on one side; settles when everything is answered, or nothing comes any more. */
export function runRound(
  load: Load,
  extent: Extent,
  target: Target,
  recorder: Recorder,
  signal: AbortSignal | undefined,
): Promise<void> {
  return new Round(load, extent, target, recorder, signal).run();
}

class Round {
  readonly #load: Load;
  readonly #extent: Extent;
  readonly #target: Target;
  readonly #recorder: Recorder;
  readonly #signal: AbortSignal | undefined;
  readonly #began = performance.now();
  #answeredAt = this.#began;
  #inFlight = 0;
  #sent = 0;
  #isOver = false;
  #isDone = false;
  #turnAt = this.#began;
  readonly #outstanding: Int32Array;
  #finish: () => void = () => {};

  constructor(load: Load, extent: Extent, target: Target, recorder: Recorder, signal: AbortSignal | undefined) {
    this.#load = load;
    this.#extent = extent;
    this.#target = target;
    this.#recorder = recorder;
    this.#signal = signal;
    this.#outstanding = new Int32Array(load.clients);
  }

  async run(): Promise<void> {
    const { rate, clients } = this.#load;
    this.#recorder.begin(this.#began);
    const finished = new Promise<void>((resolve) => {
      this.#finish = resolve;
    });
    const look = setInterval(() => this.#look(), LOOK_MS);
    this.#target.onAnswer = (client, intended, at, error) => this.#answered(client, intended, at, error);
    if (rate === undefined) for (let client = 0; client < clients; client++) this.#sendBatch(client);
    else this.#sendDue(1_000 / rate);
    await finished;
    clearInterval(look);
    this.#target.onAnswer = () => {};
    this.#recorder.unanswered += this.#inFlight;
    if (rate !== undefined) this.#recorder.unsent += this.#dueAt(performance.now(), 1_000 / rate) - this.#sent;
    this.#recorder.end(this.#answeredAt);
  }

  #answered(client: number, intended: number, at: number, error: string | null): void {
    if (this.#isDone) return;
    this.#inFlight--;
    this.#answeredAt = Math.max(this.#answeredAt, at);
    this.#recorder.answer(at, at - intended, error);
    this.#outstanding[client]!--;
    if (this.#load.rate === undefined && this.#outstanding[client] === 0) this.#nextBatch(client, at);
    this.#endIfDone();
  }

  #endIfDone(): void {
    if (!this.#isOver || this.#inFlight > 0) return;
    this.#isDone = true;
    this.#finish();
  }

  /** Ends what hangs, and what was interrupted. */
  #look(): void {
    const now = performance.now();
    const isInterrupted = this.#signal?.aborted === true;
    if (isInterrupted || now - this.#began >= this.#extent.ms) this.#isOver = true;
    this.#endIfDone();
    const patienceMs = isInterrupted ? Math.min(GRACE_MS, this.#load.timeoutMs) : this.#load.timeoutMs;
    if (this.#isDone || this.#inFlight === 0 || now - this.#answeredAt < patienceMs) return;
    [this.#isOver, this.#isDone] = [true, true];
    this.#finish();
  }

  // ---------------------------------------------------------------------------------------------- closed loop

  #nextBatch(client: number, now: number): void {
    if (now - this.#turnAt < TURN_MS) {
      this.#sendBatch(client);
      return;
    }
    setImmediate(() => {
      this.#turnAt = performance.now();
      this.#sendBatch(client);
    });
  }

  #sendBatch(client: number): void {
    const now = performance.now();
    const size = Math.min(this.#load.pipeline, this.#extent.count - this.#sent);
    if (size <= 0 || now - this.#began >= this.#extent.ms) this.#isOver = true;
    if (this.#isOver) {
      this.#endIfDone();
      return;
    }
    this.#sent += size;
    this.#inFlight += size;
    this.#outstanding[client] = size;
    this.#target.send(client, new Array<number>(size).fill(now));
  }

  // ---------------------------------------------------------------------------------------------- open loop

  #sendDue(everyMs: number): void {
    if (this.#isDone) return;
    const { clients, mostInFlight } = this.#load;
    const now = performance.now();
    const due = this.#dueAt(now, everyMs);
    const times = new Map<number, number[]>();
    for (; this.#sent < due && this.#inFlight < mostInFlight && !this.#isOver; this.#sent++, this.#inFlight++) {
      const intended = this.#began + this.#sent * everyMs;
      this.#recorder.late.record(now - intended);
      const client = this.#sent % clients;
      const known = times.get(client);
      if (known === undefined) times.set(client, [intended]);
      else known.push(intended);
    }
    for (const [client, each] of times) {
      this.#outstanding[client]! += each.length;
      this.#target.send(client, each);
    }
    if (this.#sent === this.#total(everyMs)) this.#isOver = true;
    if (this.#isOver) {
      this.#endIfDone();
      return;
    }
    const again = (): void => this.#sendDue(everyMs);
    const waitMs = this.#sent < due ? SPIN_MS + 1 : this.#began + this.#sent * everyMs - performance.now();
    if (waitMs > SPIN_MS) setTimeout(again, waitMs - SPIN_MS);
    else setImmediate(again);
  }

  #total(everyMs: number): number {
    return Math.min(this.#extent.count, Math.max(1, Math.floor(this.#extent.ms / everyMs)));
  }

  /** How many should have been sent by then. */
  #dueAt(now: number, everyMs: number): number {
    return Math.min(this.#total(everyMs), Math.floor((now - this.#began) / everyMs) + 1);
  }
}
