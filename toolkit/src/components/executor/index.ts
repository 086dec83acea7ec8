/**
 * A scheduled executor over all processes: named tasks that run once, after a delay, at a fixed rate or by a calendar, in whichever
 * process is free. It is a queue (../queues) whose jobs are calls of tasks, so everything about queues holds: leases, retries, dead
 * letters, the server's clock.
 *
 * The runs of one schedule are a group of the queue, so they never overlap. Those that could not begin before the next one came are
 * left out, so that a slow task does not pile up.
 */
import { aStore, seen, word } from "../../base/checks.ts";
import { CinnabarError, InputError } from "../../base/errors.ts";
import { Listeners } from "../../base/listeners.ts";
import { NameIndex } from "../../base/names.ts";
import {
  anything,
  type Check,
  callback,
  choice,
  defineOptions,
  prefix,
  recordOf,
  required,
  text,
  time,
  whole,
  withDefaults,
} from "../../base/options.ts";
import { type Page, type PageOptions, pageChecks } from "../../base/page.ts";
import type { Store } from "../../connection/store.ts";
import {
  type Backoff,
  type Job,
  type JobContext,
  type JobError,
  type JobState,
  type Outcome,
  Queue,
  RetryLaterError,
  type RunningJob,
  type ScheduleTimes,
  type StopOptions,
  UnrecoverableError,
  type WaitForOptions,
  Worker,
} from "../queues/index.ts";
import { PREFIX } from "./keys.ts";
import { hasComeAgain } from "./late.ts";

export { RetryLaterError, UnrecoverableError } from "../queues/index.ts";

/** What a task is told besides its data. */
export interface TaskContext {
  /** Of the run. */
  readonly id: string;
  /** The schedule that it belongs to; null for a run that was asked for. */
  readonly schedule: string | null;
  /** 1 for the first. */
  readonly attempt: number;
  /** Aborted when the run is cancelled, takes longer than it may, is handed back, or its lease is lost. */
  readonly signal: AbortSignal;
  /** Grows with every run: something outside that remembers the largest can refuse a late write. */
  readonly fence: number;
  /** False: the lease is lost. */
  progress(value: unknown): Promise<boolean>;
  /** Adds a line to the run's log. False: the lease is lost. */
  log(line: string): Promise<boolean>;
}

/** A function that runs under a name, with data from JSON. What it returns is the result; what it throws is a failed attempt. */
// biome-ignore lint/suspicious/noExplicitAny: the data of a task is what its function takes.
export type Task = (data: any, context: TaskContext) => unknown;

/** Tasks by their names. */
export type Tasks = Readonly<Record<string, Task>>;

/** What a task takes. */
export type TaskData<F extends Task> = Parameters<F> extends [infer D, ...unknown[]] ? D : undefined;

/** What an `Executor` may be given. */
export interface ExecutorOptions<T extends Tasks> {
  /** What this process can run. Without any, which is the default, it only asks for runs. */
  readonly tasks?: T;
  /** How all keys begin (default "executor"). */
  readonly prefix?: string;
  /** Runs at once in this process. 10 by default. */
  readonly concurrency?: number;
  /** How long after a process died its runs begin elsewhere. 30 s by default. */
  readonly leaseMs?: number;
  /** How often a run that fails is tried. 1 by default. */
  readonly attempts?: number;
  /** How long to wait before another attempt; a number is milliseconds. 0 by default. */
  readonly backoff?: Backoff;
  /** How long one attempt may take: then its signal is aborted and it has failed. By default as long as it likes. */
  readonly timeoutMs?: number;
}

/** How one run is asked for. */
export interface RunOptions {
  /** A run of an id that is known already is not added again: to ask for it from several processes. Made up by default. */
  readonly id?: string;
  /** How long from now it may run at the earliest (default 0). */
  readonly delayMs?: number;
  /** Not before this time, by the server's clock. Now by default. */
  readonly at?: Date | number;
  /** −1000 … 1000: larger is sooner (default 0). */
  readonly priority?: number;
  /** How often it is tried if it fails; by default as the executor was made. */
  readonly attempts?: number;
  /** How long to wait before another attempt; by default as the executor was made. */
  readonly backoff?: Backoff;
  /** How long one attempt may take; by default as the executor was made. */
  readonly timeoutMs?: number;
}

/** When a schedule runs, and what. */
export interface TaskSchedule<N extends string = string, D = unknown> extends ScheduleTimes {
  /** The name of the task. */
  readonly task: N;
  /** What the task is given at each run. */
  readonly data?: D;
  /** A run that could not begin before the next one came: skip it (the default), or run both. */
  readonly whenLate?: "skip" | "run";
  /** How often a run is tried if it fails; by default as the executor was made. */
  readonly attempts?: number;
  /** How long to wait before another attempt; by default as the executor was made. */
  readonly backoff?: Backoff;
  /** How long one attempt may take; by default as the executor was made. */
  readonly timeoutMs?: number;
}

/** What became of a request to run a task. */
export interface Submitted {
  /** The id of the run, for `get`, `cancel` and `waitFor`. */
  readonly id: string;
  /** exists: a run of this id is known, and nothing was added. */
  readonly status: "added" | "exists";
}

/** A run at one moment. */
export interface TaskRun {
  /** The id of the run. */
  readonly id: string;
  /** The name of its task. */
  readonly task: string;
  /** What the task is given; null for nothing. */
  readonly data: unknown;
  /** The schedule that it belongs to; null for a run that was asked for. */
  readonly schedule: string | null;
  /** Whether it waits, is delayed, runs ("active"), is done, or has failed for good ("dead"). */
  readonly state: JobState;
  /** When it was added, by the server's clock. */
  readonly createdAt: Date;
  /** When it may run, if it is delayed. */
  readonly dueAt: Date | null;
  /** When it ended; null before that. */
  readonly finishedAt: Date | null;
  /** How many attempts have ended. */
  readonly attemptsMade: number;
  /** What the task returned; null unless it is done. */
  readonly result: unknown;
  /** Why it is dead, or why the last attempt failed; null if none has. */
  readonly error: JobError | null;
}

/** A schedule at one moment. */
export interface ScheduledTask extends ScheduleTimes {
  /** The name of the schedule. */
  readonly name: string;
  /** The name of its task. */
  readonly task: string;
  /** What the task is given at each run; null for nothing. */
  readonly data: unknown;
  /** When it runs next. */
  readonly nextAt: Date;
  /** For which time it made its last run; null if it has made none. */
  readonly lastAt: Date | null;
  /** How many runs it has made. */
  readonly count: number;
  /** Since when it makes none. */
  readonly pausedAt: Date | null;
}

/** What became of a request to end a run. */
export interface CancelRunOutcome {
  /** asked: it runs, and its signal is aborted. */
  readonly status: "cancelled" | "asked" | "finished" | "not-found";
}

/** Which page of runs. */
export interface RunsOptions {
  /** At most so many, up to 1 000 (default 50). */
  readonly limit?: number;
  /** `cursor` of the page before; by default the first page. */
  readonly cursor?: string;
  /** The last to run, to be due, or to have ended first (default false). */
  readonly newestFirst?: boolean;
}

/** No process knows the task. */
export class UnknownTaskError extends CinnabarError {
  override readonly name = "UnknownTaskError";

  constructor(task: string) {
    super("UNKNOWN_TASK", `no process that runs this executor has a task "${task}"`);
  }
}

/** What happens in this process. */
export interface ExecutorEvents {
  /** A run has ended well. */
  done(run: { readonly id: string; readonly task: string }, result: unknown): void;
  /** An attempt has failed; the run may be tried again. */
  failed(run: { readonly id: string; readonly task: string }, error: unknown): void;
  /** A run of a schedule was left out, since the next one is there. */
  skipped(run: { readonly id: string; readonly task: string }): void;
  /** Something went wrong that is not a task's fault; the executor goes on. */
  error(error: Error): void;
}

/** A call of a task as it stands in the queue. */
interface Call {
  readonly task: string;
  readonly data?: unknown;
  /** The schedule, and its times where a late run is left out. */
  readonly of?: string;
  readonly times?: Pick<ScheduleTimes, "everyMs" | "cron" | "timeZone">;
}

const DEFAULTS = { prefix: PREFIX, concurrency: 10, leaseMs: 30_000, attempts: 1 };
/** A process of another version may know the task: it has a while to take the run. */
const UNKNOWN_RETRY_MS = 1_000;
const UNKNOWN_FOR_MS = 300_000;
const MAX_MS = 10 * 365 * 86_400_000;
const SKIPPED = { skipped: true } as const;

const backoff: Check = {
  expected: "an integer of milliseconds, or an object with a type",
  accepts: (value) => whole(0, MAX_MS).accepts(value) || (typeof value === "object" && value !== null),
};

const trying = { attempts: whole(1, 1_000_000), backoff, timeoutMs: whole(1, MAX_MS) };

const OPTIONS = defineOptions<ExecutorOptions<Tasks>>("Executor", {
  ...trying,
  tasks: recordOf(callback),
  prefix,
  concurrency: whole(1, 10_000),
  leaseMs: whole(100, MAX_MS),
});

const RUN_OPTIONS = defineOptions<RunOptions>("Executor.run", {
  ...trying,
  id: text,
  delayMs: whole(0, MAX_MS),
  at: time,
  priority: whole(-1_000, 1_000),
});

const SCHEDULE_OPTIONS = defineOptions<TaskSchedule>("Executor.schedule", {
  ...trying,
  task: required(text),
  data: anything,
  whenLate: choice("skip", "run"),
  cron: text,
  timeZone: text,
  everyMs: whole(1, MAX_MS),
  startAt: time,
  endAt: time,
  limit: whole(1, 1_000_000_000),
});

const LIST_OPTIONS = defineOptions<RunsOptions>("Executor.list", {
  limit: whole(1, 1_000),
  cursor: text,
  newestFirst: choice(true, false),
});

const SCHEDULES_OPTIONS = defineOptions<PageOptions>("Executor.listSchedules", pageChecks(1_000));

/**
 * Runs named tasks over all processes that share its name: once, after a delay, at a fixed rate or by a calendar.
 *
 * @example
 * const tasks = { greet: ({ name }: { name: string }) => `hello ${name}` };
 * await using executor = new Executor(db, "main", { tasks, attempts: 3, backoff: 1_000 }).start();
 * executor.on("failed", ({ task }, error) => console.error(task, error));
 * const { id } = await executor.run("greet", { name: "ann" });
 * await executor.waitFor(id); // → { status: "done", result: "hello ann" }
 * (await executor.get(id))?.state; // → "done"
 * @example
 * const executor = new Executor<{ report: () => void }>(db, "main");
 * await executor.schedule("daily", { task: "report", cron: "0 7 * * 1-5", timeZone: "Europe/Rome" });
 * (await executor.listSchedules()).items.map(({ name, task }) => [name, task]); // → [["daily", "report"]]
 * await executor.unschedule("daily"); // → true
 * await executor.stop();
 * @example
 * const executor = new Executor(db, "main");
 * const { id } = await executor.run("report", { month: 11 }, { delayMs: 60_000 });
 * (await executor.list("delayed")).items.map(({ data }) => data); // → [{ month: 11 }]
 * await executor.cancel(id); // → { status: "cancelled" }
 */
export class Executor<T extends Tasks = Tasks> {
  /** The name that its processes share. */
  readonly name: string;
  readonly #queue: Queue<Call, unknown>;
  readonly #names: NameIndex;
  readonly #tasks: ReadonlyMap<string, Task>;
  readonly #options: { readonly concurrency: number; readonly leaseMs: number };
  readonly #listeners = new Listeners<ExecutorEvents>("done", "failed", "skipped", "error");
  #worker: Worker<Call, unknown> | null = null;

  constructor(store: Store, name: string, options: ExecutorOptions<T> = {}) {
    aStore("Executor", store);
    OPTIONS.check(options);
    const { prefix, concurrency, leaseMs, attempts } = withDefaults(DEFAULTS, options);
    const { backoff, timeoutMs, tasks } = options;
    this.name = name;
    this.#options = { concurrency, leaseMs };
    this.#tasks = new Map(Object.entries(tasks ?? {}));
    this.#names = new NameIndex(store, { kind: "executors", prefix });
    this.#queue = new Queue<Call, unknown>(store, name, {
      prefix,
      defaults: {
        attempts,
        ...(backoff === undefined ? {} : { backoff }),
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
      },
    });
  }

  // ---------------------------------------------------------------------------------------------- asking

  /** Runs a task once, in one of the processes: now, after a delay, or at a time. Safe to repeat under an id. */
  async run<N extends keyof T & string>(task: N, data: TaskData<T[N]>, options: RunOptions = {}): Promise<Submitted> {
    RUN_OPTIONS.check(options);
    this.#names.announce(this.name);
    const { id, status } = await this.#queue.add(callOf({ task: taskName(task), data }), options);
    return { id, status: status === "added" ? "added" : "exists" };
  }

  /**
   * Runs a task again and again, once for each of its times over all processes; when it runs next. To be called by every process that
   * starts: the same schedule keeps its next time, another one takes its place.
   */
  async schedule<N extends keyof T & string>(name: string, schedule: TaskSchedule<N, TaskData<T[N]>>): Promise<Date> {
    SCHEDULE_OPTIONS.check(schedule);
    const { task, data, whenLate, attempts, backoff, timeoutMs, ...times } = schedule;
    word("the name of a schedule", name, 512);
    this.#names.announce(this.name);
    const { startAt: _start, endAt: _end, limit: _limit, ...rhythm } = times;
    const call = callOf({ task: taskName(task), data, of: name, ...(whenLate === "run" ? {} : { times: rhythm }) });
    return this.#queue.schedule(name, times, call, {
      group: `schedule:${name}`,
      ...(attempts === undefined ? {} : { attempts }),
      ...(backoff === undefined ? {} : { backoff }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    });
  }

  /** Ends a schedule; a run that is there already goes on. False: there is none of this name. */
  unschedule(name: string): Promise<boolean> {
    return this.#queue.unschedule(name);
  }

  /** Ends a run: one that has not begun never does, one that runs has its signal aborted. */
  async cancel(id: string): Promise<CancelRunOutcome> {
    return this.#queue.cancel(id);
  }

  /** Waits for the end of a run. */
  waitFor(id: string, options: WaitForOptions = {}): Promise<Outcome<unknown>> {
    return this.#queue.waitFor(id, options);
  }

  // ---------------------------------------------------------------------------------------------- looking

  /** A run; null where none of this id is known. */
  async get(id: string): Promise<TaskRun | null> {
    const job = await this.#queue.get(id);
    return job === null ? null : runOf(job);
  }

  /** Runs in one state: `delayed`, `waiting`, `active`, `done`, `dead`. */
  async list(state: JobState, options: RunsOptions = {}): Promise<Page<TaskRun>> {
    LIST_OPTIONS.check(options);
    const { items, cursor } = await this.#queue.list(state, options);
    return { items: items.map(runOf), cursor };
  }

  /** The schedules, by name. */
  async listSchedules(options: PageOptions = {}): Promise<Page<ScheduledTask>> {
    SCHEDULES_OPTIONS.check(options);
    const { items, cursor } = await this.#queue.listSchedules(options);
    const tasks = items.map(({ data: { task, data }, options: _options, ...schedule }) => {
      return { ...schedule, task, data: data ?? null };
    });
    return { items: tasks, cursor };
  }

  // ---------------------------------------------------------------------------------------------- running

  /** Runs tasks from now on. */
  start(): this {
    if (this.#tasks.size === 0) throw new InputError(`Executor: "${this.name}" has no tasks to run; give it some`);
    if (this.#worker !== null) return this;
    this.#names.announce(this.name);
    const worker = new Worker<Call, unknown>(this.#queue, (job, context) => this.#run(job, context), this.#options);
    worker.on("done", ({ id, data }, result) => {
      if (result === SKIPPED) this.#listeners.tell("skipped", { id, task: data.task });
      else this.#listeners.tell("done", { id, task: data.task }, result);
    });
    worker.on("failed", ({ id, data }, error) => this.#listeners.tell("failed", { id, task: data.task }, error));
    worker.on("error", (error) => this.#listeners.tell("error", error));
    this.#worker = worker.start();
    return this;
  }

  /** Begins no further run, lets those under way end, hands back what has not ended in time. */
  async stop(options: StopOptions = {}): Promise<void> {
    const worker = this.#worker;
    this.#worker = null;
    await worker?.stop(options);
  }

  /** Calls a listener at each event of this process. Returns the function that takes it off. */
  on<E extends keyof ExecutorEvents>(event: E, listener: ExecutorEvents[E]): () => void {
    return this.#listeners.add(event, listener);
  }

  /** As `stop`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #run(job: RunningJob<Call>, context: JobContext): Promise<unknown> {
    const { task, data, of } = job.data;
    const known = this.#tasks.get(task);
    if (known === undefined) {
      const isTooOld = job.startedAt.getTime() - job.createdAt.getTime() >= UNKNOWN_FOR_MS;
      if (isTooOld) throw new UnrecoverableError(new UnknownTaskError(task).message);
      throw new RetryLaterError(UNKNOWN_RETRY_MS);
    }
    if (await this.#isLate(job)) return SKIPPED;
    return known(data, {
      id: job.id,
      schedule: of ?? null,
      attempt: job.attempt,
      get signal() {
        return context.signal;
      },
      fence: context.lease.fence,
      progress: (value) => context.progress(value),
      log: (line) => context.log(line),
    });
  }

  /** Whether the schedule has come again since this run was added. What is tried again after a failure is not late. */
  async #isLate({ data, attempt, stalls, createdAt, startedAt }: RunningJob<Call>): Promise<boolean> {
    const { of, times } = data;
    if (of === undefined || times === undefined || attempt > 1 || stalls > 0) return false;
    if (!hasComeAgain(times, createdAt.getTime(), startedAt.getTime())) return false;
    // Of a schedule that has ended meanwhile, nothing newer may have come.
    return (await this.#queue.getSchedule(of)) !== null;
  }
}

/** JSON has no undefined. */
function callOf({ data, ...call }: Call): Call {
  return data === undefined ? call : { ...call, data };
}

function taskName(task: string): string {
  if (typeof task !== "string") throw new InputError(`task must be the name of a task, not ${seen(task)}`);
  return word("task", task, 256);
}

function runOf({ data: { task, data, of }, ...job }: Job<Call, unknown>): TaskRun {
  const { id, state, createdAt, dueAt, finishedAt, attemptsMade, result, error } = job;
  return {
    ...{ id, task, data: data ?? null, schedule: of ?? null, state },
    ...{ createdAt, dueAt, finishedAt, attemptsMade, result, error },
  };
}
