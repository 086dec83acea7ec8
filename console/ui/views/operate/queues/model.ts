/** What the pages of queues share: the shapes of answers, the words and meanings of states, and links. */
import type { Attempt, Counts, Group, Incident, Job, JobState, Schedule, WorkerReport } from "cinnabar/queues";
import type { Wire } from "../../../api.ts";

export type AnyJob = Wire<Job<unknown, unknown>>;
export type AnyAttempt = Wire<Attempt>;
export type AnyWorker = Wire<WorkerReport>;
export type AnyIncident = Wire<Incident>;
export type AnyGroup = Wire<Group>;
export type AnySchedule = Wire<Schedule<unknown>> & { readonly upcoming: readonly string[] };

export interface Listed {
  readonly name: string;
  readonly prefix: string;
  readonly shards: number;
  readonly counts: Counts;
  readonly hour: { readonly done: number; readonly dead: number; readonly retried: number };
}

export interface Minute {
  readonly at: string;
  readonly done: number;
  readonly retried: number;
  readonly dead: number;
  readonly stalled: number;
}

export interface Wait {
  readonly at: string;
  readonly jobs: number;
  readonly waitP50Ms: number;
  readonly waitP95Ms: number;
  readonly runP50Ms: number;
  readonly runP95Ms: number;
}

export interface QueueFacts {
  readonly counts: Counts;
  readonly minutes: readonly Minute[];
  readonly waits: readonly Wait[];
  readonly schedules: readonly AnySchedule[];
  readonly workers: number;
}

export const STATES: readonly { readonly state: JobState; readonly title: string }[] = [
  { state: "waiting", title: "Waiting" },
  { state: "active", title: "Active" },
  { state: "delayed", title: "Delayed" },
  { state: "waiting-for-children", title: "Waiting for children" },
  { state: "done", title: "Done" },
  { state: "dead", title: "Dead" },
];

/** Which of the meanings in tokens.css a state has. */
export const MEANINGS: Readonly<Record<JobState | "not-found", string>> = {
  waiting: "waiting",
  active: "active",
  delayed: "delayed",
  "waiting-for-children": "waiting",
  done: "done",
  dead: "dead",
  "not-found": "waiting",
};

export const countOf = (counts: Counts, state: JobState): number =>
  counts[state === "waiting-for-children" ? "waitingForChildren" : state];

/** Which queue is meant, in the address and in requests. */
export interface Opened {
  readonly name: string;
  readonly shards: string | null;
  readonly prefix: string | null;
}

export const pathOf = ({ name }: Opened): string => `/api/queues/${encodeURIComponent(name)}`;

export const queryOf = ({ shards, prefix }: Opened): Readonly<Record<string, string>> => ({
  ...(shards !== null && { shards }),
  ...(prefix !== null && { prefix }),
});

/** The address of something that is to be done to a queue or a part of it. */
export function actionUrl(opened: Opened, rest = ""): string {
  const words = new URLSearchParams(queryOf(opened)).toString();
  return `${pathOf(opened)}${rest}${words === "" ? "" : `?${words}`}`;
}
