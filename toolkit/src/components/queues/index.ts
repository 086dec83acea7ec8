/** Task queues: `Queue` adds and manages, `Worker` runs. README.md says what is promised and what is not. */
export type { Added, Counts, Group, JobPage, ListOptions, MinuteCounts, NewJob, UpdateOutcome } from "./answers.ts";
export type { CleanableState, CleanOptions } from "./cleaning.ts";
export type { ResultOrigin, ResultStore } from "./elsewhere.ts";
export {
  JobCancelledError,
  JobTimeoutError,
  NoHandlerError,
  QueueFullError,
  RetryLaterError,
  SandboxError,
  UnrecoverableError,
  WorkerStoppedError,
} from "./errors.ts";
export { EventFeed, type EventsOptions, type QueueEvent, type QueueEventKind, type QueueEventOf } from "./events.ts";
export type { WorkerReport, WorkerStats } from "./figures.ts";
export type { FlowNode, FlowQueue, FlowTarget } from "./flows.ts";
export type { Attempt, Incident, IncidentsOptions } from "./history.ts";
export type { FlowChild, FlowMember, FlowOptions, FlowTree } from "./kin.ts";
export type { Backoff, Dedup, JobOptions, JobUpdate, QueueOptions, RateLimit, Settings } from "./options.ts";
export { Queue } from "./queue.ts";
export type { Job, JobError, JobState } from "./record.ts";
export type { ChildOutcome, JobContext, RunningJob } from "./running.ts";
export { type Sandboxed, type SandboxOptions, sandboxed } from "./sandbox/index.ts";
export type { Schedule, ScheduledJobOptions, ScheduleTimes, ScheduleUpdate } from "./schedule.ts";
export type { Outcome, WaitForOptions } from "./waiters.ts";
export {
  type CustomBackoff,
  type Handler,
  type Handlers,
  type StopOptions,
  Worker,
  type WorkerEvents,
  type WorkerOptions,
} from "./worker.ts";
