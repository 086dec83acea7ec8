/**
 * A worker's work on one shard.
 *
 * At most one cycle is under way: while it is, endings gather, and the next one takes them all along and asks for as many jobs
 * as there is room for. So a worker with much to do at once sends few, large requests without waiting for anything, and one
 * with little sends each at once.
 *
 * With room and nothing to do it blocks on the wake list over a connection of its own, with a guard, and looks for itself every
 * few seconds whatever happens: a wake that was lost, or a server that failed over, costs seconds and never a standstill. An
 * alarm wakes it for what is due at a known time.
 *
 * When an answer is lost, jobs may have been leased to this session that nobody here has heard of. Before the next cycle the
 * lane therefore makes sure of its session (scripts/sessions.ts): what it does not hold is put back at once.
 */
import type { Timer } from "../../base/clock.ts";
import { sleep } from "../../base/clock.ts";
import { encodeWithin } from "../../base/codec.ts";
import { ClosedError, ServerError } from "../../base/errors.ts";
import type { BlockingConnection } from "../../connection/blocking.ts";
import type { Word } from "../../connection/port.ts";
import type { Store } from "../../connection/store.ts";
import type { Subscription } from "../../connection/subscriptions.ts";
import { type KeptLease, Renewal, renewDueFirst } from "../../leases/renewal.ts";
import {
  describeError,
  JobCancelledError,
  JobTimeoutError,
  RetryLater,
  UnrecoverableError,
  WorkerStoppedError,
} from "./errors.ts";
import { childrenOf, relay } from "./flows.ts";
import { backoffMs } from "./options.ts";
import { cancelChannel, type Queue, type Shard } from "./queue.ts";
import { textFrom } from "./record.ts";
import { type ChildOutcome, type Runner, Running } from "./running.ts";
import { advance } from "./schedule.ts";
import { type CycleReply, cycle, cycleBytes, endWithEffects, MAX_TAKEN } from "./scripts/cycle.ts";
import { noteOnJob } from "./scripts/manage.ts";
import { dead, done, Endings, endingOf, handBackFor, jobCount, retryIn, takenAt } from "./scripts/outcomes.ts";
import { joinSession, leaveSession, renewSession } from "./scripts/sessions.ts";
import type { LaneHost } from "./worker.ts";

/** How long a lane goes without looking, at most. */
const POLL_MS = 5_000;
const RETRY_MS = 100;
/** How long the store in this process may keep the event loop to itself. */
const SLICE_MS = 5;
/** A lane in a hurry looks at what is due so often. */
const LOOK_MS = 2;

export class Lane<T, R> implements Runner {
  readonly tag: string;
  readonly #host: LaneHost<T, R>;
  readonly #queue: Queue<T, R>;
  readonly #store: Store;
  readonly #shard: Shard;
  readonly #stopped = new AbortController();
  /** By fence. */
  readonly #running = new Map<string, Running<T>>();
  readonly #endings = new Endings();
  #session = "0";
  #kept: KeptLease | null = null;
  #blocking: BlockingConnection | null = null;
  #subscription: Promise<Subscription | null> = Promise.resolve(null);
  #alarm: Timer | null = null;
  #poll: Timer | null = null;
  #doubtful = true;
  #hungry = true;
  #overdue = false;
  #inFlight = false;
  #waiting = false;
  #scheduled = false;
  #failures = 0;
  #lookedMs = Number.NEGATIVE_INFINITY;
  #yieldedMs = 0;

  constructor(host: LaneHost<T, R>, queue: Queue<T, R>, shard: Shard) {
    this.#host = host;
    this.#queue = queue;
    this.#store = queue.store;
    this.#shard = shard;
    this.tag = shard.tag;
  }

  get hungry(): boolean {
    return this.#hungry && !this.#inFlight;
  }

  get runningCount(): number {
    return this.#running.size;
  }

  get idle(): boolean {
    return this.#running.size === 0 && this.#endings.isEmpty && !this.#inFlight;
  }

  start(): void {
    this.#subscription = this.#store
      .subscribe(cancelChannel(this.#shard.keys), (message) => this.#cancel(message.toString("utf8")))
      .catch((error) => {
        // Cancellations are then seen at the next look.
        this.#host.onError(error);
        return null;
      });
    this.#schedulePoll(POLL_MS);
    this.pump();
  }

  /** There may be something to do. */
  rouse(): void {
    this.#hungry = true;
    this.pump();
  }

  // ---------------------------------------------------------------------------------------------- the cycle

  pump(): void {
    if (this.#inFlight || this.#stopped.signal.aborted) return;
    if (this.#doubtful) {
      this.#inFlight = true;
      void this.#join();
      return;
    }
    const ended = !this.#endings.isEmpty;
    const want = ended || this.#hungry ? this.#host.claim(this, MAX_TAKEN) : 0;
    if (!ended && want === 0 && !this.#overdue) {
      this.#wait();
      return;
    }
    this.#overdue = false;
    this.#inFlight = true;
    void this.#cycle(want);
  }

  #pumpSoon(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      this.pump();
    });
  }

  async #cycle(want: number): Promise<void> {
    const finished = this.#endings.take(MAX_TAKEN);
    const script = this.#queue.codec.binary ? cycleBytes : cycle;
    let reply: CycleReply | null = null;
    try {
      renewDueFirst(this.#store);
      if (this.#store.topology === "embedded") await this.#yield();
      const nowMs = this.#store.clock.monotonicMs();
      const look = want === 0 || nowMs - this.#lookedMs >= LOOK_MS ? 1 : 0;
      if (look === 1) this.#lookedMs = nowMs;
      const params = { session: this.#session, leaseMs: this.#host.leaseMs, look, most: want, finished };
      reply = await this.#store.run(script, { ...this.#shard.keys, ...params });
      this.#failures = 0;
    } catch (error) {
      this.#endings.putBack(finished);
      this.#doubtful = true;
      await this.#failed(error);
    }
    this.#host.unclaim(want);
    this.#inFlight = false;
    if (reply !== null) this.#accept(reply, want);
    this.pump();
  }

  /** Nothing in this process waits for a socket: without this, a long backlog would run before any timer or request. */
  async #yield(): Promise<void> {
    const nowMs = this.#store.clock.monotonicMs();
    if (nowMs - this.#yieldedMs < SLICE_MS) return;
    await new Promise<void>((resolve) => void setImmediate(resolve));
    this.#yieldedMs = this.#store.clock.monotonicMs();
  }

  async #failed(error: unknown): Promise<void> {
    if (this.#stopped.signal.aborted) return;
    if (error instanceof ClosedError || this.#store.closed) {
      this.#stopped.abort();
      return;
    }
    this.#host.onError(error as Error);
    const delay = Math.min(RETRY_MS * 2 ** this.#failures++, 2_000);
    await sleep(this.#store.clock, delay * (0.5 + this.#store.clock.random() / 2), this.#stopped.signal).catch(
      () => {},
    );
  }

  #accept(reply: CycleReply, want: number): void {
    const { now, next, jobs } = reply;
    const taken = jobCount(jobs);
    if (want > 0) this.#hungry = taken === want || next === 0;
    if (next === 0) this.#lookedMs = Number.NEGATIVE_INFINITY;
    for (const id of reply.lost) this.#host.onLost(textFrom(id));
    for (const id of reply.cancels) this.#cancel(textFrom(id).slice(1));
    if (reply.schedules.length > 0) void this.#advance(reply.schedules.map(textFrom), now);
    for (const message of reply.messages) void this.#relay(textFrom(message));
    if (!reply.alive) this.#doubtful = true;
    if (want > 0 && taken < want && next > 0) this.#setAlarm(next);
    for (let nth = 0; nth < taken; nth++) {
      const each = takenAt(jobs, nth);
      if (!this.#host.accepting) {
        this.#endings.add(each.id, each.fence, handBackFor(0), "");
        continue;
      }
      const job = new Running<T>(this, this.#queue.codec, each, now);
      this.#running.set(job.fence, job);
      this.#host.started();
      this.#run(job);
    }
  }

  async #join(): Promise<void> {
    const held: Word[] = [];
    for (const job of this.#running.values()) held.push(job.id, job.fence);
    this.#endings.nameIn(held);
    const { leaseMs } = this.#host;
    const sentMs = this.#store.clock.monotonicMs();
    try {
      const { session, lost } = await this.#store.run(joinSession, {
        ...this.#shard.keys,
        session: this.#session,
        leaseMs,
        held,
      });
      this.#doubtful = false;
      this.#failures = 0;
      this.#hungry = true;
      const gone = new Set(lost);
      for (const job of this.#running.values()) if (gone.has(job.id)) job.lose();
      if (!this.#stopped.signal.aborted) this.#keep(session, sentMs);
    } catch (error) {
      await this.#failed(error);
    }
    this.#inFlight = false;
    this.pump();
  }

  #keep(session: string, sentMs: number): void {
    if (session === this.#session && this.#kept !== null) return;
    this.#kept?.end();
    this.#session = session;
    const { leaseMs } = this.#host;
    const { data, timers } = this.#shard.keys;
    const renewal = renewSession.with({ data, timers, session, leaseMs });
    this.#kept = Renewal.of(this.#store).keep({
      call: () => renewal,
      leaseMs,
      validUntilMs: sentMs + leaseMs * 0.99,
      renew: true,
      onLost: () => {
        // Others may have the jobs from now on. What still ends here is offered to the store, which knows.
        this.#kept = null;
        for (const job of this.#running.values()) job.lose();
        this.#doubtful = true;
        this.pump();
      },
    });
  }

  // ---------------------------------------------------------------------------------------------- waiting

  #wait(): void {
    if (this.#waiting || this.#hungry || this.#host.free === 0) return;
    this.#waiting = true;
    void this.#blocked();
  }

  async #blocked(): Promise<void> {
    const { wake } = this.#shard.keys;
    try {
      this.#blocking ??= this.#store.blocking(wake);
      const options = { timeoutMs: POLL_MS, signal: this.#stopped.signal };
      const token = await this.#blocking.call(["BLPOP", wake, POLL_MS / 1000], options);
      // Room was filled meanwhile: the sign is for somebody else.
      if (token !== null && this.#host.free === 0) await this.#store.call("RPUSH", wake, 1);
    } catch (error) {
      await this.#failed(error);
    }
    this.#waiting = false;
    this.rouse();
  }

  #setAlarm(ms: number): void {
    this.#alarm?.cancel();
    this.#alarm = this.#store.clock.after(Math.min(ms, POLL_MS), () => this.rouse(), { keepAlive: true });
  }

  /** Looks even when nothing woke it, and when there is no room: for cancellations, and for a session that is gone. */
  #schedulePoll(delayMs: number): void {
    const poll = () => {
      const restMs = POLL_MS - (this.#store.clock.monotonicMs() - this.#lookedMs);
      this.#schedulePoll(restMs > 1 ? restMs : POLL_MS);
      if (restMs > 1) return;
      this.#overdue = true;
      this.rouse();
    };
    this.#poll = this.#store.clock.after(delayMs, poll, { keepAlive: true });
  }

  // ---------------------------------------------------------------------------------------------- jobs

  #run(job: Running<T>): void {
    const { timeoutMs } = job.options;
    if (timeoutMs !== undefined) {
      job.timer = this.#store.clock.after(timeoutMs, () => this.#fail(job, new JobTimeoutError(timeoutMs), true));
    }
    let result: R | Promise<R>;
    try {
      result = this.#host.handler(job, job);
    } catch (error) {
      this.#fail(job, error);
      return;
    }
    if (result instanceof Promise) {
      result.then(
        (value) => this.#succeed(job, value),
        (error) => this.#fail(job, error),
      );
    } else {
      this.#succeed(job, result);
    }
  }

  #succeed(job: Running<T>, result: R): void {
    if (job.over) return;
    let payload: string | Uint8Array;
    try {
      const { resultCodec, maxPayloadBytes } = this.#queue;
      payload = result === undefined ? "" : encodeWithin(resultCodec, result, maxPayloadBytes, "the result of a job");
    } catch (error) {
      this.#fail(job, error);
      return;
    }
    if (job.effects !== null) {
      void this.#commit(job, payload, result);
      return;
    }
    this.#end(job, done(job.attempt), payload);
    this.#host.onDone(job, result);
  }

  #fail(job: Running<T>, error: unknown, abort = false): void {
    if (job.over) return;
    if (abort) job.abort(error as Error);
    const last = job.cancelled || error instanceof UnrecoverableError || job.attempt >= job.attempts;
    if (error instanceof RetryLater && !job.cancelled) {
      this.#end(job, handBackFor(Math.max(0, Math.round(error.delayMs))), "");
    } else {
      const text = JSON.stringify(describeError(job.cancelled ? new JobCancelledError() : error));
      const delay = last ? -1 : this.#backoff(job, error);
      this.#end(job, delay < 0 ? dead(job.attempt) : retryIn(delay), text);
      this.#host.onFailed(job, error, delay >= 0);
    }
  }

  /** Below 0: no further attempt. */
  #backoff(job: Running<T>, error: unknown): number {
    const { backoff } = job.options;
    if (typeof backoff !== "object" || backoff.type !== "custom") {
      return backoffMs(backoff, job.attempt, this.#store.clock.random());
    }
    const custom = this.#host.backoffs[backoff.name];
    try {
      if (custom === undefined) throw new Error(`this worker has no backoff "${backoff.name}"`);
      const delay = custom(job.attempt, error, job);
      if (!Number.isFinite(delay)) throw new Error(`the backoff "${backoff.name}" gave ${delay}`);
      return Math.max(-1, Math.round(delay));
    } catch (problem) {
      this.#host.onError(problem as Error);
      return 1_000;
    }
  }

  #end(job: Running<T>, how: string, payload: Word): void {
    job.over = true;
    job.timer?.cancel();
    this.#running.delete(job.fence);
    this.#endings.add(job.id, job.fence, how, payload);
    this.#host.ended();
    this.#pumpSoon();
  }

  /** Ends a job together with its effects. Asked again until there is an answer: the fence makes that safe. */
  async #commit(job: Running<T>, payload: string | Uint8Array, result: R): Promise<void> {
    job.timer?.cancel();
    const effects = JSON.stringify(job.effects!.map(({ words }) => words));
    const touched = [...new Set(job.effects!.flatMap(({ keys }) => keys))];
    const finished = endingOf(job, done(job.attempt), payload);
    while (!job.over) {
      try {
        const params = {
          session: this.#session,
          leaseMs: this.#host.leaseMs,
          look: 1,
          most: 0,
          effects,
          touched,
          finished,
        };
        const reply = await this.#store.run(endWithEffects, { ...this.#shard.keys, ...params });
        job.over = true;
        this.#running.delete(job.fence);
        this.#host.ended();
        if (reply.lost.length > 0) this.#host.onLost(job.id);
        else this.#host.onDone(job, result);
      } catch (error) {
        if (error instanceof ServerError) {
          job.effects = null;
          this.#fail(job, error);
        } else {
          await this.#failed(error);
          if (this.#stopped.signal.aborted) return;
        }
      }
    }
    this.rouse();
  }

  #cancel(id: string): void {
    for (const job of this.#running.values()) {
      if (job.id !== id || job.cancelled) continue;
      job.cancelled = true;
      job.abort(new JobCancelledError());
    }
  }

  async note(job: Running<unknown>, kind: "progress" | "log", value: string): Promise<boolean> {
    const { maxLogLines: maxLines } = this.#queue;
    const params = { id: job.id, fence: job.fence, kind, value, maxLines };
    const noted = await this.#store.run(noteOnJob, { ...this.#shard.keys, ...params });
    if (noted !== 1 && !job.over) job.lose();
    return noted === 1;
  }

  children(id: string): Promise<Map<string, ChildOutcome>> {
    return childrenOf(this.#store, this.#shard.keys, id, this.#queue.resultCodec.binary);
  }

  async #advance(schedules: readonly string[], now: number): Promise<void> {
    for (let at = 0; at + 2 < schedules.length; at += 3) {
      const [name, fired, spec] = schedules.slice(at, at + 3) as [string, string, string];
      await advance(this.#store, this.#shard.keys, name, fired, spec, now).catch((error) => this.#host.onError(error));
    }
  }

  async #relay(message: string): Promise<void> {
    await relay(this.#store, this.#shard.keys, message).catch((error) => this.#host.onError(error));
  }

  // ---------------------------------------------------------------------------------------------- the end

  /** Hands back what still runs; the handlers' signals are aborted. */
  handBack(): void {
    for (const job of [...this.#running.values()]) {
      if (job.over) continue;
      job.abort(new WorkerStoppedError());
      this.#end(job, handBackFor(0), "");
    }
  }

  async close(): Promise<void> {
    this.#stopped.abort();
    this.#alarm?.cancel();
    this.#poll?.cancel();
    this.#blocking?.close();
    this.#kept?.end();
    const subscription = await this.#subscription;
    await subscription?.close().catch(() => {});
    if (this.#session === "0" || this.#store.closed) return;
    await this.#store.run(leaveSession, { ...this.#shard.keys, session: this.#session }).catch(() => {});
  }
}
