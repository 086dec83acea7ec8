/**
 * Long work that a request begins and others ask about: a scan, a bulk action, an export. Each has a number of things done and in
 * all, can be stopped, and is kept for a while after its end. How many run at once and how many are kept is bounded.
 */

import { randomUUID } from "node:crypto";
import type { Store } from "cinnabar";
import { Problem } from "./route.ts";
import { integer, nullable, oneOf, string } from "./schema.ts";
import { MILLISECONDS } from "./shapes.ts";
import { untraced } from "./trace.ts";
import { messageOf } from "./values.ts";
import { alsoStop, ownerOf, perStore } from "./work.ts";

export const TASK_FIELDS = {
  id: string(),
  state: oneOf(["running", "done", "stopped", "failed"] as const),
  done: integer({ description: "How many of `total`." }),
  total: integer(),
  startedAt: integer({ description: MILLISECONDS }),
  endedAt: nullable(integer({ description: MILLISECONDS })),
  error: nullable(string({ description: "Why it failed." })),
};

type TaskState = "running" | "done" | "stopped" | "failed";

export interface TaskFacts {
  readonly id: string;
  readonly state: TaskState;
  readonly done: number;
  readonly total: number;
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly error: string | null;
}

export interface Progress {
  readonly signal: AbortSignal;
  /** Says how far it is. The sum never falls below what is done. */
  (done: number, total: number): void;
}

/** A kind of tasks, all of which work on a `T`. */
export class TaskKind<T> {
  readonly #tasks = new WeakSet<Task>();

  add(task: Task<T>): void {
    this.#tasks.add(task);
  }

  has(task: Task): task is Task<T> {
    return this.#tasks.has(task);
  }
}

/** `T`: what the task works on, which may be looked at meanwhile. */
export class Task<T = unknown> {
  readonly id: string;
  readonly about: T;
  readonly ended: Promise<void>;
  readonly startedAt = Date.now();
  readonly #stopping = new AbortController();
  #state: TaskState = "running";
  #done = 0;
  #total = 0;
  #endedAt: number | null = null;
  #error: string | null = null;

  constructor(id: string, about: T, run: (progress: Progress) => Promise<void>) {
    this.id = id;
    this.about = about;
    const tell = (done: number, total: number) => {
      this.#done = done;
      this.#total = Math.max(done, total);
    };
    const progress: Progress = Object.assign(tell, { signal: this.#stopping.signal });
    this.ended = untraced(() => run(progress)).then(
      () => this.#end("done"),
      (error: unknown) => {
        if (this.#stopping.signal.aborted) return this.#end("stopped");
        this.#error = messageOf(error);
        this.#end("failed");
      },
    );
  }

  get facts(): TaskFacts {
    return {
      id: this.id,
      state: this.#state,
      done: this.#done,
      total: this.#total,
      startedAt: this.startedAt,
      endedAt: this.#endedAt,
      error: this.#error,
    };
  }

  get isRunning(): boolean {
    return this.#state === "running";
  }

  /** It has ended when this resolves. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.ended;
  }

  #end(state: TaskState): void {
    this.#state = state;
    this.#endedAt = Date.now();
    if (state === "done") this.#total = Math.max(this.#done, this.#total);
  }
}

const MOST_RUNNING = 4;
const MOST_KEPT = 8;

class Tasks {
  readonly #all = new Map<string, Task>();

  start<T>(
    kind: TaskKind<T>,
    about: T,
    run: (progress: Progress) => Promise<void>,
    id: string = randomUUID(),
  ): Task<T> {
    const running = [...this.#all.values()].filter((task) => task.isRunning).length;
    if (running >= MOST_RUNNING)
      throw new Problem(429, "BUSY", `${MOST_RUNNING} tasks are running already; wait for one to end, or stop it`);
    if (this.#all.has(id)) throw new Problem(409, "EXISTS", "there is such a task already");
    const task = new Task(id, about, run);
    kind.add(task);
    this.#all.set(id, task);
    const over = [...this.#all.values()].filter((each) => !each.isRunning).slice(0, -MOST_KEPT);
    for (const each of over) this.#all.delete(each.id);
    return task;
  }

  /** The task of an id and a kind. */
  get<T>(id: string, kind: TaskKind<T>): Task<T> {
    const task = this.#all.get(id);
    if (task === undefined || !kind.has(task))
      throw new Problem(404, "NO_TASK", "there is no such task any more; start it again");
    return task;
  }

  of<T>(kind: TaskKind<T>): Task<T>[] {
    return [...this.#all.values()].filter((task) => kind.has(task));
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.#all.values()].map((task) => task.stop()));
    this.#all.clear();
  }
}

/** The tasks of a store. */
const kept = perStore(() => new Tasks());
export const tasksOf = ({ store }: { readonly store: Store }): Tasks => kept({ store: ownerOf(store) });

alsoStop((of) => tasksOf(of).stopAll());
