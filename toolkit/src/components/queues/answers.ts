/** What a queue is asked and what it answers. */
import type { QueueKeys } from "./keys.ts";
import type { JobOptions } from "./options.ts";
import type { Job } from "./record.ts";
import type { Cancelled, Deleted, Updated } from "./scripts/manage.ts";

/** What became of a job that was to be added. */
export interface Added {
  /** The id of the job, or of the one that stands in its place. */
  readonly id: string;
  /**
   * added; exists: the queue knows a job of this id; duplicate: another job with this deduplication id stands in the way, and
   * its id is given; replaced: that job has been given the new payload.
   */
  readonly status: "added" | "exists" | "duplicate" | "replaced";
}

/** A job to be added. */
export interface NewJob<T> {
  /** What its handler gets. */
  readonly data: T;
  /** How it is run; the queue's own defaults where nothing is said. */
  readonly options?: JobOptions;
}

/** How many jobs a queue has, by their states. */
export interface Counts {
  /** Jobs that may run now. */
  readonly waiting: number;
  /** Jobs that wait for their time, or for their next attempt. */
  readonly delayed: number;
  /** Jobs that run. */
  readonly active: number;
  /** Jobs that ended well and are kept. */
  readonly done: number;
  /** Dead letters: jobs that failed for good and are kept. */
  readonly dead: number;
  /** Parents in flows whose children have not all ended. */
  readonly waitingForChildren: number;
  /** Whether the queue is paused. */
  readonly paused: boolean;
}

/** Which part of a list of jobs is read. */
export interface ListOptions {
  /** At most so many jobs (default 50). */
  readonly limit?: number;
  /** The `cursor` of the page before; the first page by default. */
  readonly cursor?: string;
  /** The most recently ended first; for done and dead. False by default. */
  readonly newestFirst?: boolean;
}

/** A part of a list of jobs. */
export interface JobPage<T, R> {
  /** At most `limit` jobs. */
  readonly items: readonly Job<T, R>[];
  /** For the next page; null after the last. */
  readonly cursor: string | null;
}

export interface DeleteOutcome {
  readonly status: Deleted;
}

export interface CancelOutcome {
  readonly status: Cancelled;
}

/** `active`: it runs, and stays as it is. `finished`, `waiting-for-children`: such a job has no time at which it is to run. */
export interface UpdateOutcome {
  /** What became of the change. */
  readonly status: Updated;
}

/** A group with jobs that wait. */
export interface Group {
  /** The name of the group. */
  readonly name: string;
  /** Its jobs that wait. */
  readonly waiting: number;
  /** Its jobs that run. */
  readonly active: number;
  /** It waits for a retry, or its rate limit. */
  readonly blocked: boolean;
}

/** What happened in a queue in one minute. */
export interface MinuteCounts {
  /** When the minute began, by the server's clock. */
  readonly at: Date;
  /** Jobs that ended well. */
  readonly done: number;
  /** Attempts that failed and are followed by another one. */
  readonly retried: number;
  /** Jobs that became dead letters. */
  readonly dead: number;
  /** Jobs that lost their worker. */
  readonly stalled: number;
}

/** One slot's part of a queue. */
export interface Shard {
  readonly index: number;
  readonly keys: QueueKeys;
  readonly tag: string;
  readonly address: string;
}
