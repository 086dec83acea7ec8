/**
 * `Worker`: runs the jobs of a queue, any number at once in one process, in any number of processes. One lane (lane.ts) for each
 * shard of the queue; they share the room. Every worker serves every shard, so none is left behind when work is uneven.
 */
import type { Timer } from "../../base/clock.ts";
import { ClosedError } from "../../base/errors.ts";
import { callback, defineOptions, recordOf, whole, within } from "../../base/options.ts";
import { Lane } from "./lane.ts";
import { MAX_MS } from "./options.ts";
import type { Queue } from "./queue.ts";
import type { JobContext, RunningJob } from "./running.ts";

export type Handler<T, R> = (job: RunningJob<T>, context: JobContext) => R | Promise<R>;

/** The delay before the next attempt in milliseconds; below 0, the job goes to the dead letters. */
export type CustomBackoff<T> = (attemptsMade: number, error: unknown, job: RunningJob<T>) => number;

export interface WorkerEvents<T, R> {
  readonly done?: (job: RunningJob<T>, result: R) => void;
  readonly failed?: (job: RunningJob<T>, error: unknown, outcome: { readonly willRetry: boolean }) => void;
  /** A job ended here after its lease was lost: what it gave was not taken. */
  readonly lost?: (id: string) => void;
  /** Something went wrong that is not a handler's fault; the worker goes on. */
  readonly error?: (error: Error) => void;
}

export interface WorkerOptions<T, R> {
  /** Jobs at once. 1 by default. */
  readonly concurrency?: number;
  /** How long after this process died its jobs run again, at the latest. 30 s by default. Renewed by itself. */
  readonly leaseMs?: number;
  readonly backoffs?: Readonly<Record<string, CustomBackoff<T>>>;
  readonly on?: WorkerEvents<T, R>;
}

export interface StopOptions {
  /** How long jobs under way may take to end; then they are handed back and run elsewhere. 30 s by default. */
  readonly timeoutMs?: number;
}

/** What a lane needs of its worker. */
export interface LaneHost<T, R> {
  readonly handler: Handler<T, R>;
  readonly leaseMs: number;
  readonly backoffs: Readonly<Record<string, CustomBackoff<T>>>;
  readonly free: number;
  /** Jobs that arrive now are handed back. */
  readonly accepting: boolean;
  /** Room for so many jobs, reserved for the lane until `unclaim`. */
  claim(lane: Lane<T, R>, most: number): number;
  unclaim(count: number): void;
  started(): void;
  ended(): void;
  onDone(job: RunningJob<T>, result: R): void;
  onFailed(job: RunningJob<T>, error: unknown, willRetry: boolean): void;
  onLost(id: string): void;
  onError(error: Error): void;
}

const EVENT_OPTIONS = defineOptions<WorkerEvents<unknown, unknown>>("Worker.on", {
  done: callback,
  failed: callback,
  lost: callback,
  error: callback,
});

const OPTIONS = defineOptions<WorkerOptions<unknown, unknown>>("Worker", {
  concurrency: whole(1, 10_000),
  leaseMs: whole(100, MAX_MS),
  backoffs: recordOf(callback),
  on: within(EVENT_OPTIONS),
});

const STOP_OPTIONS = defineOptions<StopOptions>("Worker.stop", {
  timeoutMs: whole(0, MAX_MS),
});

export class Worker<T = unknown, R = unknown> {
  readonly concurrency: number;
  readonly #queue: Queue<T, R>;
  readonly #lanes: readonly Lane<T, R>[];
  readonly #on: WorkerEvents<T, R>;
  #nextLane = 0;
  #feeding = false;
  #running = 0;
  #claimed = 0;
  #state: "new" | "running" | "paused" | "stopping" | "stopped" = "new";
  #stopping: Promise<void> | null = null;
  #onIdle: (() => void) | null = null;
  #forgetClose: (() => void) | null = null;

  constructor(queue: Queue<T, R>, handler: Handler<T, R>, options: WorkerOptions<T, R> = {}) {
    OPTIONS.check(options as WorkerOptions<unknown, unknown>);
    this.#queue = queue;
    this.concurrency = options.concurrency ?? 1;
    this.#on = options.on ?? {};
    const host = this.#host(handler, options.leaseMs ?? 30_000, options.backoffs ?? {});
    this.#lanes = queue.shards.map((shard) => new Lane(host, queue, shard));
  }

  #host(handler: Handler<T, R>, leaseMs: number, backoffs: LaneHost<T, R>["backoffs"]): LaneHost<T, R> {
    const worker = this;
    return {
      handler,
      leaseMs,
      backoffs,
      get free() {
        return worker.#free;
      },
      get accepting() {
        return worker.#state === "running";
      },
      claim: (lane, most) => this.#claim(lane, most),
      unclaim: (count) => {
        this.#claimed -= count;
        if (count > 0 && this.#lanes.length > 1) this.#feedOthers();
      },
      started: () => {
        this.#running++;
      },
      ended: () => {
        this.#running--;
        if (this.#running === 0) this.#onIdle?.();
        if (this.#lanes.length > 1) this.#feedOthers();
      },
      onDone: (job, result) => this.#tell(() => this.#on.done?.(job, result)),
      onFailed: (job, error, willRetry) => this.#tell(() => this.#on.failed?.(job, error, { willRetry })),
      onLost: (id) => this.#tell(() => this.#on.lost?.(id)),
      onError: (error) => this.#tell(() => this.#on.error?.(error)),
    };
  }

  /** A listener that throws must not stop the worker. */
  #tell(call: () => void): void {
    try {
      call();
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  }

  get #free(): number {
    return this.#state === "running" ? Math.max(0, this.concurrency - this.#running - this.#claimed) : 0;
  }

  #claim(lane: Lane<T, R>, most: number): number {
    const free = this.#free;
    if (free === 0) return 0;
    let hungry = 1;
    if (this.#lanes.length > 1) for (const other of this.#lanes) if (other !== lane && other.hungry) hungry++;
    const share = Math.min(most, Math.ceil(free / hungry));
    this.#claimed += share;
    return share;
  }

  /** Room has come free in one lane that another may need, to take jobs or to wait for them. */
  #feedOthers(): void {
    if (this.#feeding) return;
    this.#feeding = true;
    queueMicrotask(() => {
      this.#feeding = false;
      // From another one each time, so that none is always the last.
      const first = this.#nextLane++ % this.#lanes.length;
      for (let at = 0; at < this.#lanes.length; at++) this.#lanes[(first + at) % this.#lanes.length]!.pump();
    });
  }

  /** How many jobs run here now. */
  get running(): number {
    return this.#running;
  }

  start(): this {
    if (this.#state !== "new") return this;
    if (this.#queue.store.closed) {
      throw new ClosedError(`the store of the queue "${this.#queue.name}" is closed; its worker cannot start`);
    }
    this.#state = "running";
    this.#forgetClose = this.#queue.store.onClose(() => this.stop({ timeoutMs: 0 }));
    for (const lane of this.#lanes) lane.start();
    return this;
  }

  /** Takes no further jobs until `resume`; those under way go on. Only this worker; `queue.pause` is for all. */
  pause(): void {
    if (this.#state === "running") this.#state = "paused";
  }

  resume(): void {
    if (this.#state !== "paused") return;
    this.#state = "running";
    for (const lane of this.#lanes) lane.rouse();
  }

  /** Takes no further jobs, lets those under way end, hands back what has not ended in time. Safe to call twice. */
  async stop(options: StopOptions = {}): Promise<void> {
    STOP_OPTIONS.check(options);
    this.#stopping ??= this.#stop(options.timeoutMs ?? 30_000);
    return this.#stopping;
  }

  async #stop(timeoutMs: number): Promise<void> {
    if (this.#state === "new") {
      this.#state = "stopped";
      return;
    }
    this.#state = "stopping";
    const { clock } = this.#queue.store;
    if (this.#running > 0 && timeoutMs > 0) {
      let timer: Timer | undefined;
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
        timer = clock.after(timeoutMs, resolve, { keepAlive: true });
      });
      timer?.cancel();
    }
    for (const lane of this.#lanes) lane.handBack();
    await this.#settled();
    await Promise.all(this.#lanes.map((lane) => lane.close()));
    this.#state = "stopped";
    this.#forgetClose?.();
  }

  /** Until the last endings are written, or the server does not answer for a while: then they run again elsewhere. */
  async #settled(): Promise<void> {
    const { clock } = this.#queue.store;
    const until = clock.monotonicMs() + 5_000;
    while (this.#lanes.some((lane) => !lane.idle) && clock.monotonicMs() < until) {
      await new Promise<void>((resolve) => clock.after(1, resolve, { keepAlive: true }));
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}
