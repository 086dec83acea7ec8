/**
 * `Worker`: runs the jobs of a queue, any number at once in one process, in any number of processes. One cycle (cycle.ts) for each
 * shard of the queue; they share the room. Every worker serves every shard, so none is left behind when work is uneven.
 */

import { oneOf } from "../../base/checks.ts";
import type { Timer } from "../../base/clock.ts";
import type { Codec } from "../../base/codec.ts";
import { ClosedError, errorOf, InputError } from "../../base/errors.ts";
import { callback, defineOptions, recordOf, text, whole } from "../../base/options.ts";
import { Cycle } from "./cycle.ts";
import { dispatching } from "./dispatching.ts";
import { defaultName, Figures, type Identity, newIdentity, statsOf, type WorkerStats } from "./figures.ts";
import { checkWord } from "./keys.ts";
import { MAX_MS } from "./options.ts";
import type { Queue } from "./queue.ts";
import type { JobContext, RunningJob } from "./running.ts";
import type { Sandboxed } from "./sandbox/index.ts";
import type { SandboxPool } from "./sandbox/pool.ts";

/** Runs a job. What it returns is the result; what it throws fails the attempt. */
export type Handler<T, R> = (job: RunningJob<T>, context: JobContext) => R | Promise<R>;

/** Written as a method, so that a handler may say which of the queue's data the jobs of its name have. */
type NamedHandler<T, R> = { of(job: RunningJob<T>, context: JobContext): R | Promise<R> }["of"];

/** A handler for each name of a job. `*` is for all others, and for jobs without a name. */
export type Handlers<T, R> = Readonly<Record<string, NamedHandler<T, R> | Sandboxed>>;

/** The delay before the next attempt in milliseconds; below 0, the job goes to the dead letters. */
export type CustomBackoff<T> = (attemptsMade: number, error: unknown, job: RunningJob<T>) => number;

/** A queue as its worker sees it: data is read, results are given. What others give and read has other types where it has schemas. */
type WorkQueue<T, R> = Pick<Queue, "store" | "name" | "shards"> & {
  readonly codec: Codec<T, never>;
  readonly resultCodec: Codec<unknown, R>;
};

/** What a worker tells: `worker.on("failed", (job, error) => …)`. */
export interface WorkerEvents<T, R> {
  /** A job ended well. */
  done(job: RunningJob<T>, result: R): void;
  /** An attempt failed; `willRetry` says whether another one follows. */
  failed(job: RunningJob<T>, error: unknown, outcome: { readonly willRetry: boolean }): void;
  /** A job ended here after its lease was lost: what it gave was not taken. */
  lost(id: string): void;
  /** A job has been running for longer than `slowMs`, and still does. Once for each attempt. */
  slow(job: RunningJob<T>, about: { readonly runningMs: number }): void;
  /** Something went wrong that is not a handler's fault; the worker goes on. */
  error(error: Error): void;
}

/** How a worker runs jobs. */
export interface WorkerOptions<T> {
  /** Jobs at once. 1 by default. */
  readonly concurrency?: number;
  /** How long after this process died its jobs run again, at the latest. 30 s by default. Renewed by itself. */
  readonly leaseMs?: number;
  /** The delays that jobs with a `custom` backoff ask for, by its name. None by default. */
  readonly backoffs?: Readonly<Record<string, CustomBackoff<T>>>;
  /** What it is called in histories and figures: host and process by default. */
  readonly name?: string;
  /** Jobs that run longer are reported: by the event `slow`, here and of the queue, and among its incidents. None by default. */
  readonly slowMs?: number;
}

/** How a worker stops. */
export interface StopOptions {
  /** How long jobs under way may take to end; then they are handed back and run elsewhere. 30 s by default. */
  readonly timeoutMs?: number;
}

export interface WorkSettings<T, R> {
  readonly handler: Handler<T, R>;
  readonly leaseMs: number;
  readonly backoffs: Readonly<Record<string, CustomBackoff<T>>>;
  readonly slowMs: number | null;
}

/** The room for jobs that a worker has, shared by the cycles of all shards. */
export interface Room {
  readonly free: number;
  /** Otherwise, jobs that arrive now are handed back. */
  readonly isAccepting: boolean;
  /** Room for so many jobs, reserved for the caller until `unclaim`. */
  claim(asking: { readonly isHungry: boolean }, most: number): number;
  unclaim(count: number): void;
  started(): void;
  ended(): void;
}

/** Who hears of what happens. */
export interface Telling<T, R> {
  done(job: RunningJob<T>, result: R): void;
  failed(job: RunningJob<T>, error: unknown, willRetry: boolean): void;
  lost(id: string): void;
  slow(job: RunningJob<T>, runningMs: number): void;
  error(error: unknown): void;
}

const EVENTS = ["done", "failed", "lost", "slow", "error"] as const;

const OPTIONS = defineOptions<WorkerOptions<unknown>>("Worker", {
  concurrency: whole(1, 10_000),
  leaseMs: whole(100, MAX_MS),
  backoffs: recordOf(callback),
  name: text,
  slowMs: whole(10, MAX_MS),
});

const STOP_OPTIONS = defineOptions<StopOptions>("Worker.stop", {
  timeoutMs: whole(0, MAX_MS),
});

/**
 * Runs the jobs of a queue, any number at once in one process, in any number of processes.
 * @example
 * const queue = new Queue<string>(db, "mails");
 * const worker = new Worker(queue, async ({ data }) => console.log(data), { concurrency: 10 }).start();
 * const end = worker.on("failed", (job, error) => console.log(job.id, error));
 * worker.pause();
 * worker.resume();
 * await worker.stop({ timeoutMs: 5_000 });
 * worker.stats().done; // → 0
 */
export class Worker<T = unknown, R = unknown> {
  /** How many jobs it runs at once, at most. */
  readonly concurrency: number;
  readonly #queue: Queue<T, R>;
  readonly #cycles: readonly Cycle<T, R>[];
  readonly #listeners: { readonly [E in keyof WorkerEvents<T, R>]: Set<WorkerEvents<T, R>[E]> } = {
    done: new Set(),
    failed: new Set(),
    lost: new Set(),
    slow: new Set(),
    error: new Set(),
  };
  #nextCycle = 0;
  #feeding = false;
  #running = 0;
  #claimed = 0;
  #state: "new" | "running" | "paused" | "stopping" | "stopped" = "new";
  #stopping: Promise<void> | null = null;
  #onIdle: (() => void) | null = null;
  #forgetClose: (() => void) | null = null;
  readonly #identity: Identity;
  readonly #figures: readonly Figures[];
  readonly #sandboxes: readonly SandboxPool[];

  constructor(
    given: WorkQueue<T, R>,
    handler: Handler<T, R> | Sandboxed | Handlers<T, R>,
    options: WorkerOptions<T> = {},
  ) {
    OPTIONS.check(options as WorkerOptions<unknown>);
    const queue = given as unknown as Queue<T, R>;
    this.#queue = queue;
    this.concurrency = options.concurrency ?? 1;
    this.#identity = newIdentity(nameOf(options.name), this.concurrency);
    const { handle, sandboxes } = dispatching<T, R>(handler, queue.store.clock);
    this.#sandboxes = sandboxes;
    const settings = {
      handler: handle,
      leaseMs: options.leaseMs ?? 30_000,
      backoffs: options.backoffs ?? {},
      slowMs: options.slowMs ?? null,
    };
    const room = this.#room();
    const tell = this.#telling();
    const lanes = queue.shards.map((shard) => ({ shard, figures: new Figures(this.#identity) }));
    this.#figures = lanes.map(({ figures }) => figures);
    this.#cycles = lanes.map((lane) => new Cycle({ queue, ...lane, settings, room, tell }));
  }

  /** What it has done since it started. */
  stats(): WorkerStats {
    return statsOf(this.#identity, this.#figures);
  }

  #room(): Room {
    const worker = this;
    return {
      get free() {
        return worker.#free;
      },
      get isAccepting() {
        return worker.#state === "running";
      },
      claim: (asking, most) => this.#claim(asking, most),
      unclaim: (count) => {
        this.#claimed -= count;
        if (count > 0 && this.#cycles.length > 1) this.#feedOthers();
      },
      started: () => {
        this.#running++;
      },
      ended: () => {
        this.#running--;
        if (this.#running === 0) this.#onIdle?.();
        if (this.#cycles.length > 1) this.#feedOthers();
      },
    };
  }

  #telling(): Telling<T, R> {
    return {
      done: (job, result) => this.#tell("done", job, result),
      failed: (job, error, willRetry) => this.#tell("failed", job, error, { willRetry }),
      lost: (id) => this.#tell("lost", id),
      slow: (job, runningMs) => this.#tell("slow", job, { runningMs }),
      error: (error) => this.#tell("error", errorOf(error)),
    };
  }

  /** A listener that throws must not stop the worker. */
  #tell<E extends keyof WorkerEvents<T, R>>(event: E, ...args: Parameters<WorkerEvents<T, R>[E]>): void {
    for (const listener of this.#listeners[event]) {
      try {
        (listener as (...args: Parameters<WorkerEvents<T, R>[E]>) => void)(...args);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }

  /** Calls the listener whenever that happens. Returns what takes the listener off. */
  on<E extends keyof WorkerEvents<T, R>>(event: E, listener: WorkerEvents<T, R>[E]): () => void {
    oneOf("event", event, EVENTS);
    const listeners = this.#listeners[event];
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  get #free(): number {
    return this.#state === "running" ? Math.max(0, this.concurrency - this.#running - this.#claimed) : 0;
  }

  #claim(asking: { readonly isHungry: boolean }, most: number): number {
    const free = this.#free;
    if (free === 0) return 0;
    let hungry = 1;
    if (this.#cycles.length > 1) for (const other of this.#cycles) if (other !== asking && other.isHungry) hungry++;
    const share = Math.min(most, Math.ceil(free / hungry));
    this.#claimed += share;
    return share;
  }

  /** Room has come free on one shard that another may need, to take jobs or to wait for them. */
  #feedOthers(): void {
    if (this.#feeding) return;
    this.#feeding = true;
    queueMicrotask(() => {
      this.#feeding = false;
      // From another one each time, so that none is always the last.
      const first = this.#nextCycle++ % this.#cycles.length;
      for (let at = 0; at < this.#cycles.length; at++) this.#cycles[(first + at) % this.#cycles.length]!.pump();
    });
  }

  /** How many jobs run here now. */
  get running(): number {
    return this.#running;
  }

  /** Begins to take jobs. Throws a ClosedError where the store is closed; a worker that was stopped stays so. */
  start(): this {
    if (this.#state !== "new") return this;
    if (this.#queue.store.closed) {
      throw new ClosedError(`the store of the queue "${this.#queue.name}" is closed; its worker cannot start`);
    }
    this.#state = "running";
    this.#forgetClose = this.#queue.store.on("close", () => this.stop({ timeoutMs: 0 }));
    for (const cycle of this.#cycles) cycle.start();
    return this;
  }

  /** Takes no further jobs until `resume`; those under way go on. Only this worker; `queue.pause` is for all. */
  pause(): void {
    if (this.#state === "running") this.#state = "paused";
  }

  /** Takes jobs again after `pause`. */
  resume(): void {
    if (this.#state !== "paused") return;
    this.#state = "running";
    for (const cycle of this.#cycles) cycle.rouse();
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
    for (const cycle of this.#cycles) cycle.handBack();
    await this.#settled();
    await Promise.all([...this.#cycles, ...this.#sandboxes].map((each) => each.close()));
    this.#state = "stopped";
    this.#forgetClose?.();
  }

  /** Until the last endings are written, or the server does not answer for a while: then they run again elsewhere. */
  async #settled(): Promise<void> {
    const { clock } = this.#queue.store;
    const until = clock.monotonicMs() + 5_000;
    while (this.#cycles.some((cycle) => !cycle.isIdle) && clock.monotonicMs() < until) {
      await new Promise<void>((resolve) => clock.after(1, resolve, { keepAlive: true }));
    }
  }

  /** The same as `stop`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

function nameOf(given: string | undefined): string {
  if (given === undefined) return defaultName();
  if (given.includes(";")) throw new InputError('the name of a worker must not contain ";"');
  return checkWord(given, "the name of a worker");
}
