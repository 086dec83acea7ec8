/**
 * The jobs of one shard that a worker has: those that run, from the handler's call to the ending that is to be told, and those
 * endings. Everything about one job's fate is decided here; telling it is the cycle's part (cycle.ts).
 */
import { ServerError } from "../../base/errors.ts";
import type { Observation, Probe } from "../../base/probe.ts";
import type { Word } from "../../connection/port.ts";
import type { Store } from "../../connection/store.ts";
import type { Shard } from "./answers.ts";
import { encodeResult } from "./elsewhere.ts";
import {
  describeError,
  JobCancelledError,
  JobTimeoutError,
  RetryLaterError,
  UnrecoverableError,
  WorkerStoppedError,
} from "./errors.ts";
import type { Faults } from "./faults.ts";
import type { Figures } from "./figures.ts";
import { childrenOf } from "./flows.ts";
import { backoffMs } from "./options.ts";
import type { Queue } from "./queue.ts";
import { type ChildOutcome, type Effect, type Runner, Running } from "./running.ts";
import { endWithEffects } from "./scripts/cycle.ts";
import { noteOnJob } from "./scripts/manage.ts";
import { dead, done, Endings, endingOf, handBackFor, retryIn, type Taken } from "./scripts/outcomes.ts";
import type { Session } from "./session.ts";
import type { Room, Telling, WorkSettings } from "./worker.ts";

/** What a worker's work on one shard has to do with. */
export interface LaneFacts<T, R> {
  readonly queue: Queue<T, R>;
  readonly shard: Shard;
  readonly settings: WorkSettings<T, R>;
  readonly room: Room;
  readonly tell: Telling<T, R>;
  readonly faults: Faults;
  readonly figures: Figures;
}

/** What hears about work for the cycle. */
export interface Endward {
  /** Something is to be told. */
  readonly ended: () => void;
  /** There is room again, and nothing to be told. */
  readonly committed: () => void;
}

export class JobsInHand<T, R> implements Runner {
  readonly tag: string;
  readonly endings = new Endings();
  readonly #lane: LaneFacts<T, R>;
  readonly #store: Store;
  readonly #session: Session;
  readonly #endward: Endward;
  /** By fence. */
  readonly #running = new Map<string, Running<T>>();
  #turnMs = Number.NaN;
  readonly #endTurn = (): void => {
    this.#turnMs = Number.NaN;
  };

  constructor(lane: LaneFacts<T, R>, session: Session, endward: Endward) {
    this.#lane = lane;
    this.#store = lane.queue.store;
    this.#session = session;
    this.#endward = endward;
    this.tag = lane.shard.tag;
    lane.figures.watch(this.#running);
    if (lane.settings.slowMs !== null) this.#watchSlow(lane.settings.slowMs);
  }

  /** Looks now and then, and reports each slow attempt once. */
  #watchSlow(slowMs: number): void {
    const { faults, tell } = this.#lane;
    const { clock } = this.#store;
    clock.after(Math.max(10, Math.min(slowMs / 2, 1_000)), () => {
      if (faults.isStopped) return;
      this.#watchSlow(slowMs);
      const nowMs = clock.monotonicMs();
      for (const job of this.#running.values()) {
        const runningMs = Math.floor(nowMs - job.beganMs);
        // They stand in the order in which they began.
        if (runningMs < slowMs) return;
        if (job.slow || job.over) continue;
        job.slow = true;
        tell.slow(job, runningMs);
        this.note(job, "slow", String(runningMs)).catch((error) => tell.error(error));
      }
    });
  }

  /** Nothing runs, and nothing is to be told. */
  get isEmpty(): boolean {
    return this.#running.size === 0 && this.endings.isEmpty;
  }

  /** Id and fence of each. */
  get held(): readonly Word[] {
    const held: Word[] = [];
    for (const job of this.#running.values()) held.push(job.id, job.fence);
    this.endings.nameIn(held);
    return held;
  }

  /** Runs a job that was taken at a time of the server, or hands it back where nothing is taken any more. */
  take(taken: Taken, nowMs: number): void {
    const { room, queue } = this.#lane;
    if (!room.isAccepting) {
      this.endings.add(taken.id, taken.fence, handBackFor(0), "");
      return;
    }
    const job = new Running<T>(this, queue.codec, taken, nowMs);
    job.beganMs = this.#store.clock.monotonicMs();
    this.#running.set(job.fence, job);
    room.started();
    this.#run(job);
  }

  #run(job: Running<T>): void {
    const { timeoutMs } = job.options;
    if (timeoutMs !== undefined) {
      job.timer = this.#store.clock.after(timeoutMs, () => {
        if (job.over) return;
        const error = new JobTimeoutError(timeoutMs);
        job.abort(error);
        this.#fail(job, error);
      });
    }
    let result: R | Promise<R>;
    try {
      job.checkData();
      const { handler } = this.#lane.settings;
      const observation = this.#store.probe === null ? null : this.#observe(job, this.#store.probe);
      result = observation === null ? handler(job, job) : observation.run(() => handler(job, job));
    } catch (error) {
      this.#endNow(() => this.#fail(job, error));
      return;
    }
    if (result instanceof Promise) {
      result.then(
        (value) => this.#succeed(job, value),
        (error) => this.#fail(job, error),
      );
    } else {
      const value = result;
      this.#endNow(() => this.#succeed(job, value));
    }
  }

  #observe(job: Running<T>, probe: Probe): Observation {
    const { id, name, attempt, stalls, options } = job;
    const waitedMs = Math.max(0, job.startedMs - job.createdAt.getTime());
    const queue = this.#lane.queue.name;
    const { carrier } = options;
    job.observation = probe.begin({ kind: "process", queue, id, name, attempt, stalls, waitedMs, carrier });
    return job.observation;
  }

  /** For a handler that returned its result, or threw: it may have kept the thread busy until now. */
  #endNow(end: () => void): void {
    this.#turnMs = this.#store.clock.monotonicMs();
    end();
    this.#turnMs = Number.NaN;
  }

  /** The time at which a job ends. Jobs that end in one turn of the microtasks share one look at the clock, which is not cheap. */
  #endMs(): number {
    if (Number.isNaN(this.#turnMs)) {
      this.#turnMs = this.#store.clock.monotonicMs();
      queueMicrotask(this.#endTurn);
    }
    return this.#turnMs;
  }

  #succeed(job: Running<T>, result: R): void {
    if (job.over) return;
    let payload: string | Uint8Array | Promise<string>;
    try {
      payload = encodeResult(this.#lane.queue, result, job);
    } catch (error) {
      this.#fail(job, error);
      return;
    }
    if (payload instanceof Promise) {
      payload.then(
        (ref) => this.#succeedWith(job, ref, result),
        (error) => this.#fail(job, error),
      );
    } else {
      this.#succeedWith(job, payload, result);
    }
  }

  #succeedWith(job: Running<T>, payload: string | Uint8Array, result: R): void {
    if (job.over) return;
    if (job.effects !== null) {
      void this.#commit(job, job.effects, payload, result);
      return;
    }
    job.observation?.end({ outcome: "done" });
    this.#end(job, done(job.attempt, this.#count(job, "done")), payload);
    this.#lane.tell.done(job, result);
  }

  /** How long it took. */
  #count(job: Running<T>, how: "done" | "failed"): number {
    const tookMs = this.#endMs() - job.beganMs;
    const { figures } = this.#lane;
    if (how === "done") figures.done++;
    else figures.failed++;
    figures.busyMs += tookMs;
    return tookMs;
  }

  #fail(job: Running<T>, error: unknown): void {
    if (job.over) return;
    if (error instanceof RetryLaterError && !job.cancelled) {
      job.observation?.end({ outcome: "postponed" });
      this.#end(job, handBackFor(Math.max(0, Math.round(error.delayMs))), "");
      return;
    }
    const isLast = job.cancelled || error instanceof UnrecoverableError || job.attempt >= job.attempts;
    const text = JSON.stringify(describeError(job.cancelled ? new JobCancelledError() : error));
    const delayMs = isLast ? null : this.#backoff(job, error);
    const tookMs = this.#count(job, "failed");
    job.observation?.end({ outcome: delayMs === null ? "dead" : "retry", error });
    this.#end(job, delayMs === null ? dead(job.attempt, tookMs) : retryIn(delayMs, tookMs), text);
    this.#lane.tell.failed(job, error, delayMs !== null);
  }

  /** Null: no further attempt. */
  #backoff(job: Running<T>, error: unknown): number | null {
    const { backoff } = job.options;
    if (typeof backoff !== "object" || backoff.type !== "custom") {
      return backoffMs(backoff, job.attempt, this.#store.clock.random());
    }
    const custom = this.#lane.settings.backoffs[backoff.name];
    try {
      if (custom === undefined) throw new Error(`this worker has no backoff "${backoff.name}"`);
      const delayMs = custom(job.attempt, error, job);
      if (!Number.isFinite(delayMs)) throw new Error(`the backoff "${backoff.name}" gave ${delayMs}`);
      return Math.round(delayMs) < 0 ? null : Math.round(delayMs);
    } catch (problem) {
      this.#lane.tell.error(problem);
      return 1_000;
    }
  }

  #end(job: Running<T>, how: string, payload: Word): void {
    job.over = true;
    job.timer?.cancel();
    this.#running.delete(job.fence);
    this.endings.add(job.id, job.fence, how, payload);
    this.#lane.room.ended();
    this.#endward.ended();
  }

  /** Ends a job together with its effects. Asked again until there is an answer: the fence makes that safe. */
  async #commit(job: Running<T>, made: readonly Effect[], payload: string | Uint8Array, result: R): Promise<void> {
    const { shard, settings, room, tell, faults } = this.#lane;
    job.timer?.cancel();
    const effects = JSON.stringify(made.map(({ words }) => words));
    const touched = [...new Set(made.flatMap(({ keys }) => keys))];
    const tookMs = this.#store.clock.monotonicMs() - job.beganMs;
    const finished = endingOf(job, done(job.attempt, tookMs), payload);
    while (!job.over) {
      try {
        const params = { leaseMs: settings.leaseMs, look: 1, most: 0, effects, touched, finished };
        const reply = await this.#store.run(endWithEffects, { ...shard.keys, session: this.#session.id, ...params });
        job.over = true;
        this.#running.delete(job.fence);
        room.ended();
        job.observation?.end({ outcome: reply.lost.length > 0 ? "lost" : "done" });
        if (reply.lost.length > 0) {
          this.#lane.figures.lost++;
          tell.lost(job.id);
        } else {
          this.#count(job, "done");
          tell.done(job, result);
        }
      } catch (error) {
        if (error instanceof ServerError) {
          job.effects = null;
          this.#fail(job, error);
        } else {
          await faults.after(error);
          if (faults.isStopped) return;
        }
      }
    }
    this.#endward.committed();
  }

  cancel(id: string): void {
    for (const job of this.#running.values()) {
      if (job.id !== id || job.cancelled) continue;
      job.cancelled = true;
      job.abort(new JobCancelledError());
    }
  }

  /** Others have these jobs, or may have: all of them by default. What still ends here is offered to the store, which knows. */
  lose(ids?: ReadonlySet<string>): void {
    for (const job of this.#running.values()) if (ids === undefined || ids.has(job.id)) job.lose();
  }

  /** Hands back what still runs; the handlers' signals are aborted. */
  handBack(): void {
    for (const job of [...this.#running.values()]) {
      if (job.over) continue;
      job.abort(new WorkerStoppedError());
      job.observation?.end({ outcome: "handed-back" });
      this.#end(job, handBackFor(0), "");
    }
  }

  async note(job: Running<unknown>, kind: "progress" | "log" | "slow", value: string): Promise<boolean> {
    const { queue, shard } = this.#lane;
    const params = { id: job.id, fence: job.fence, kind, value, maxLines: queue.maxLogLines };
    const isNoted = (await this.#store.run(noteOnJob, { ...shard.keys, ...params })) === 1;
    if (!isNoted && !job.over) job.lose();
    return isNoted;
  }

  children(id: string): Promise<Map<string, ChildOutcome>> {
    const { queue, shard } = this.#lane;
    const { resultCodec, results } = queue;
    return childrenOf({ store: this.#store, keys: shard.keys, id, binary: resultCodec.binary, results });
  }
}
