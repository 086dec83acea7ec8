/** Task queues: `Queue` adds and manages, `Worker` runs. README.md says what is promised and what is not. */
export {
  JobCancelledError,
  JobTimeoutError,
  QueueFullError,
  RetryLaterError,
  UnrecoverableError,
  WorkerStoppedError,
} from "./errors.ts";
export { EventFeed, type EventsOptions, type QueueEvent } from "./events.ts";
export type { FlowNode, FlowQueue, FlowTarget } from "./flows.ts";
export type { Backoff, Dedup, JobOptions, QueueOptions, RateLimit, Settings } from "./options.ts";
export {
  type Added,
  type Counts,
  type JobPage,
  type ListOptions,
  type MinuteCounts,
  type NewJob,
  Queue,
} from "./queue.ts";
export type { Job, JobError, JobState } from "./record.ts";
export type { ChildOutcome, JobContext, RunningJob } from "./running.ts";
export type { Schedule, ScheduledJobOptions, ScheduleTimes } from "./schedule.ts";
export type { Outcome, WaitForOptions } from "./waiters.ts";
export {
  type CustomBackoff,
  type Handler,
  type StopOptions,
  Worker,
  type WorkerEvents,
  type WorkerOptions,
} from "./worker.ts";
