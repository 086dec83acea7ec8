/**
 * What a worker has done, told by itself: counted here, and put into the store every few seconds while it changes, beside the session
 * of each shard. It goes with the session, so those that are there belong to workers that live.
 */
import { hostname } from "node:os";
import { randomToken, type Timer } from "../../base/clock.ts";
import type { Store } from "../../connection/store.ts";
import type { Shard } from "./answers.ts";
import type { Running } from "./running.ts";
import { listWorkers, reportFigures } from "./scripts/sessions.ts";

/** Of one worker since it started. */
export interface WorkerStats {
  /** What it is called: host and process, unless it was given a name. */
  readonly name: string;
  /** How many jobs it runs at once, at most. */
  readonly concurrency: number;
  /** Jobs that it runs now. */
  readonly running: number;
  /** Attempts that ended well. */
  readonly done: number;
  /** Attempts that did not end well. */
  readonly failed: number;
  /** Jobs that ended here after their lease was lost. */
  readonly lost: number;
  /** How long its attempts took in all. */
  readonly busyMs: number;
}

/** A worker of a queue, as it told last. */
export interface WorkerReport extends WorkerStats {
  /** Of this one among all, also of those with the same name. */
  readonly id: string;
  /** The name of its machine. */
  readonly host: string;
  /** The id of its process. */
  readonly pid: number;
  /** When it started, by the server's clock. */
  readonly startedAt: Date;
  /** When it told this. A worker that has nothing new to tell says nothing. */
  readonly toldAt: Date;
  /** Of the jobs that it runs, those that have been running longest: 10 at most. */
  readonly oldest: readonly { readonly id: string; readonly startedAt: Date }[];
}

/** How often it tells, at most. */
const TELL_MS = 5_000;
const OLDEST = 10;
const PAGE = 500;

/** Short names, as in the store. */
interface Told {
  readonly i: string;
  readonly n: string;
  readonly h: string;
  readonly p: number;
  readonly c: number;
  readonly r: number;
  readonly d: number;
  readonly f: number;
  readonly l: number;
  readonly b: number;
  readonly o: readonly (readonly [id: string, startedMs: number])[];
}

/** Who a worker is. */
export interface Identity {
  readonly id: string;
  readonly name: string;
  readonly concurrency: number;
}

export const defaultName = (): string => `${hostname()}:${process.pid}`.replaceAll(";", "-");

export const newIdentity = (name: string, concurrency: number): Identity => ({ id: randomToken(), name, concurrency });

/** Of a worker on one shard. */
export class Figures {
  readonly identity: Identity;
  done = 0;
  failed = 0;
  lost = 0;
  busyMs = 0;
  #oldest: () => Iterable<Running<unknown>> = () => [];
  #count: () => number = () => 0;
  #told = "";
  #timer: Timer | null = null;

  constructor(identity: Identity) {
    this.identity = identity;
  }

  /** The jobs that run, those that began first before the others. */
  watch(jobs: { readonly size: number; values(): Iterable<Running<unknown>> }): void {
    this.#oldest = () => jobs.values();
    this.#count = () => jobs.size;
  }

  get running(): number {
    return this.#count();
  }

  /** As they go into the store. */
  get text(): string {
    const { id, name, concurrency } = this.identity;
    const oldest: (readonly [string, number])[] = [];
    for (const job of this.#oldest()) {
      if (oldest.length === OLDEST) break;
      oldest.push([job.id, job.startedMs]);
    }
    const told: Told = {
      i: id,
      n: name,
      h: hostname(),
      p: process.pid,
      c: concurrency,
      r: this.running,
      d: this.done,
      f: this.failed,
      l: this.lost,
      b: Math.round(this.busyMs),
      o: oldest,
    };
    return JSON.stringify(told);
  }

  /** Tells them every few seconds from now on. Where that fails, the next time does. */
  start(store: Store, data: string, session: () => string): void {
    const tell = async (): Promise<void> => {
      const figures = this.text;
      if (figures === this.#told) return;
      const isTold = await store.run(reportFigures, { data, session: session(), figures }).catch(() => 0);
      if (isTold === 1) this.#told = figures;
    };
    const again = (): void => {
      this.#timer = store.clock.after(TELL_MS, () => {
        again();
        void tell();
      });
    };
    again();
  }

  stop(): void {
    this.#timer?.cancel();
  }
}

/** What several shards' parts of one worker come to. */
export function statsOf(identity: Identity, parts: readonly Figures[]): WorkerStats {
  const sum = (pick: (part: Figures) => number): number => parts.reduce((total, each) => total + pick(each), 0);
  return {
    name: identity.name,
    concurrency: identity.concurrency,
    running: sum((each) => each.running),
    done: sum((each) => each.done),
    failed: sum((each) => each.failed),
    lost: sum((each) => each.lost),
    busyMs: Math.round(sum((each) => each.busyMs)),
  };
}

/** `started;told;figures`. */
function parse(stored: string): { startedMs: number; toldMs: number; told: Told } | null {
  const [, started, when, text] = /^(\d+);(\d+);([\s\S]*)$/.exec(stored) ?? [];
  if (text === undefined) return null;
  return { startedMs: Number(started), toldMs: Number(when), told: JSON.parse(text) };
}

/** All workers of a queue that live, the one that started first before the others. */
export async function workersOf(queue: {
  readonly store: Store;
  readonly shards: readonly Shard[];
}): Promise<WorkerReport[]> {
  const found = new Map<string, WorkerReport>();
  for (const { keys } of queue.shards) {
    for (let after: string | undefined = ""; after !== undefined; ) {
      const rows: [string, string][] = await queue.store.run(listWorkers, { ...keys, after, most: PAGE });
      for (const [, stored] of rows) add(found, stored);
      after = rows.length < PAGE ? undefined : rows.at(-1)?.[0];
    }
  }
  return [...found.values()].sort((a, b) => a.startedAt.getTime() - b.startedAt.getTime());
}

function add(found: Map<string, WorkerReport>, stored: string): void {
  const parsed = parse(stored);
  if (parsed === null) return;
  const { startedMs, toldMs, told } = parsed;
  const before = found.get(told.i);
  const oldest = told.o.map(([id, ms]) => ({ id, startedAt: new Date(ms) }));
  const earlier = (a: Date, b: Date): number => a.getTime() - b.getTime();
  found.set(told.i, {
    id: told.i,
    name: told.n,
    host: told.h,
    pid: told.p,
    concurrency: told.c,
    running: told.r + (before?.running ?? 0),
    done: told.d + (before?.done ?? 0),
    failed: told.f + (before?.failed ?? 0),
    lost: told.l + (before?.lost ?? 0),
    busyMs: told.b + (before?.busyMs ?? 0),
    startedAt: new Date(Math.min(startedMs, before?.startedAt.getTime() ?? startedMs)),
    toldAt: new Date(Math.max(toldMs, before?.toldAt.getTime() ?? toldMs)),
    oldest: [...(before?.oldest ?? []), ...oldest].sort((a, b) => earlier(a.startedAt, b.startedAt)).slice(0, OLDEST),
  });
}

/** When a job began that runs, if its worker has told so. */
export function beganAt(stored: string, id: string): Date | null {
  const began = parse(stored)?.told.o.find(([each]) => each === id);
  return began === undefined ? null : new Date(began[1]);
}
