/** What BullMQ says about a job or a scheduler, in the words of `Queue`. */
import type { Backoff, JobOptions } from "../options.ts";
import type { ScheduledJobOptions, ScheduleTimes } from "../schedule.ts";
import type { BullJob, BullScheduler } from "./source.ts";

/** The score of a delayed job is its time in 1/4096 ms; the rest is a number that keeps the order. */
const DELAY_STEPS = 4_096;
const LOWEST_PRIORITY = -1_000;

type Json = Readonly<Record<string, unknown>>;

function json(text: string | undefined): Json {
  const value: unknown = text === undefined ? {} : JSON.parse(text);
  return typeof value === "object" && value !== null ? { ...value } : {};
}

const positive = (value: unknown): number => (typeof value === "number" && value > 0 ? value : 0);

export const dataOf = ({ fields }: BullJob): unknown => JSON.parse(fields.get("data") ?? "null");

export function jobOptions(job: BullJob): JobOptions {
  const { id, fields, origin, score, dedupMs } = job;
  const opts = json(fields.get("opts"));
  const deid = fields.get("deid");
  const made = Number(fields.get("atm") ?? 0);
  const dedup = dedupMs === -1 ? { id: deid! } : dedupMs > 0 ? { id: deid!, windowMs: dedupMs } : undefined;
  const due = origin === "delayed" ? { at: Math.floor(score / DELAY_STEPS) } : {};
  return {
    id,
    ...due,
    ...common(opts, fields.get("name"), made),
    ...priorityOf(origin === "delayed" ? positive(opts.priority) : Number(fields.get("priority") ?? 0)),
    ...(dedup === undefined || deid === undefined ? {} : { dedup }),
  };
}

function common(opts: Json, name: string | undefined, made: number): ScheduledJobOptions {
  const attempts = Math.max(1, positive(opts.attempts) - made);
  const backoff = backoffOf(opts.backoff);
  return {
    ...(name === undefined || name === "" ? {} : { name }),
    ...(attempts === 1 ? {} : { attempts }),
    ...(backoff === undefined ? {} : { backoff }),
    ...(opts.removeOnComplete === true ? { keep: false } : {}),
  };
}

/** BullMQ runs jobs without a priority first, then 1, 2, …; `Queue` runs the larger one first. */
const priorityOf = (priority: number): { priority?: number } =>
  priority > 0 ? { priority: Math.max(LOWEST_PRIORITY, -Math.round(priority)) } : {};

function backoffOf(backoff: unknown): Backoff | undefined {
  if (typeof backoff === "number") return backoff;
  if (typeof backoff !== "object" || backoff === null) return undefined;
  const { type, delay, jitter }: Json = { ...backoff };
  if (type !== "fixed" && type !== "exponential") return { type: "custom", name: String(type) };
  return { type, delayMs: positive(delay), ...(typeof jitter === "number" ? { jitter } : {}) };
}

export interface TranslatedSchedule {
  readonly times: ScheduleTimes;
  readonly data: unknown;
  readonly options: ScheduledJobOptions;
}

/** Null: it has made all its jobs. Undefined: BullMQ wrote it in a form that is not known here. */
export function scheduleOf({ nextMs, isAhead, fields }: BullScheduler): TranslatedSchedule | null | undefined {
  const [pattern, every] = [fields.get("pattern"), Number(fields.get("every") ?? 0)];
  if (pattern === undefined && !(every > 0)) return undefined;
  const timeZone = fields.get("tz");
  const endMs = Number(fields.get("endDate") ?? Number.NaN);
  const limit = Number(fields.get("limit") ?? Number.NaN);
  // The job that was ahead of its time is counted already, and is made anew; any other is a job by itself by now.
  const left = limit - Number(fields.get("ic") ?? 1) + (isAhead ? 1 : 0);
  const startAt = isAhead ? nextMs : nextMs + (pattern === undefined ? every : 1);
  if (left <= 0) return null;
  const opts = json(fields.get("opts"));
  return {
    times: {
      ...(pattern === undefined ? { everyMs: every } : { cron: pattern, ...(timeZone ? { timeZone } : {}) }),
      startAt,
      ...(Number.isNaN(endMs) ? {} : { endAt: endMs }),
      ...(Number.isNaN(left) ? {} : { limit: left }),
    },
    data: JSON.parse(fields.get("data") ?? "null"),
    options: { ...common(opts, fields.get("name"), 0), ...priorityOf(positive(opts.priority)) },
  };
}
