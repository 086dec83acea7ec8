/** What a queue is asked and what it answers. */
import type { QueueKeys } from "./keys.ts";
import type { JobOptions } from "./options.ts";
import type { Job } from "./record.ts";
import type { Cancelled, Deleted, Updated } from "./scripts/manage.ts";

export interface Added {
  readonly id: string;
  /**
   * added; exists: the queue knows a job of this id; duplicate: another job with this deduplication id stands in the way, and
   * its id is given; replaced: that job has been given the new payload.
   */
  readonly status: "added" | "exists" | "duplicate" | "replaced";
}

export interface NewJob<T> {
  readonly data: T;
  readonly options?: JobOptions;
}

export interface Counts {
  readonly waiting: number;
  readonly delayed: number;
  readonly active: number;
  readonly done: number;
  readonly dead: number;
  readonly waitingForChildren: number;
  readonly paused: boolean;
}

export interface ListOptions {
  readonly limit?: number;
  /** From the page before. */
  readonly cursor?: string;
  /** The most recently ended first; for done and dead. */
  readonly newestFirst?: boolean;
}

export interface JobPage<T, R> {
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
  readonly status: Updated;
}

/** A group with jobs that wait. */
export interface Group {
  readonly name: string;
  readonly waiting: number;
  readonly active: number;
  /** It waits for a retry, or its rate limit. */
  readonly blocked: boolean;
}

export interface MinuteCounts {
  readonly at: Date;
  readonly done: number;
  readonly retried: number;
  readonly dead: number;
  readonly stalled: number;
}

/** One slot's part of a queue. */
export interface Shard {
  readonly index: number;
  readonly keys: QueueKeys;
  readonly tag: string;
  readonly address: string;
}
