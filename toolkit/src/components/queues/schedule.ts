/**
 * Schedules: jobs that come again and again. The time of the next one stands in the store; whichever worker looks first when it
 * is due makes the job, in the same script, under an id that names the time: however many processes run, each time gives one
 * job. Times by a calendar (cron, with a time zone) are then worked out by that worker; should it die before it has, the next
 * one does it a few seconds later. Times that passed while no worker ran are made up for by one job, not by one each.
 */
import { Cron } from "croner";
import { InputError, messageOf } from "../../base/errors.ts";
import { anything, defineOptions, object, text, time, whole } from "../../base/options.ts";
import type { Store } from "../../connection/store.ts";
import { checkWord, type QueueKeys } from "./keys.ts";
import { type JobOptions, MAX_MS } from "./options.ts";
import { parseRecord } from "./record.ts";
import type { Fired } from "./scripts/outcomes.ts";
import {
  advanceSchedule,
  listSchedules,
  pauseSchedule,
  readSchedule,
  removeSchedule,
  replaceSchedule,
  resumeSchedule,
  serverNow,
  upsertSchedule,
} from "./scripts/schedules.ts";

/** When a schedule makes its jobs: by `cron` or by `everyMs`, one of the two. */
export interface ScheduleTimes {
  /** `minute hour day month weekday`, or with seconds in front. */
  readonly cron?: string;
  /** IANA name, "Europe/Rome"; UTC by default. */
  readonly timeZone?: string;
  /** A fixed rate in milliseconds, in place of `cron`. */
  readonly everyMs?: number;
  /** Nothing before this time. */
  readonly startAt?: Date | number;
  /** Nothing after this time. */
  readonly endAt?: Date | number;
  /** So many jobs at most. */
  readonly limit?: number;
}

/** Options of the jobs that a schedule makes. */
export type ScheduledJobOptions = Pick<
  JobOptions,
  "name" | "priority" | "attempts" | "backoff" | "timeoutMs" | "group" | "keep"
>;

/** A schedule as it stands in the store. */
export interface Schedule<T> extends ScheduleTimes {
  /** Its name in the queue. */
  readonly name: string;
  /** What its jobs get. */
  readonly data: T;
  /** How its jobs are run. */
  readonly options: ScheduledJobOptions;
  /** When its next job is due, unless it is paused until then. */
  readonly nextAt: Date;
  /** For which time it made its last job; null if it has made none. */
  readonly lastAt: Date | null;
  /** How many jobs it has made. */
  readonly count: number;
  /** Since when it makes none. */
  readonly pausedAt: Date | null;
}

/** What is to be another; the rest stays. `times` and `options` are taken whole. */
export interface ScheduleUpdate<T> {
  /** When it makes its jobs. */
  readonly times?: ScheduleTimes;
  /** What its jobs get. */
  readonly data?: T;
  /** How its jobs are run. */
  readonly options?: ScheduledJobOptions;
}

export const SCHEDULE_UPDATE_OPTIONS = defineOptions<ScheduleUpdate<unknown>>("Queue.updateSchedule", {
  times: object,
  data: anything,
  options: object,
});

/** As it stands in the store. */
type Spec = Rhythm & Bounds;

/** By a calendar, or so many milliseconds after one another. */
type Rhythm = { readonly cron: string; readonly tz: string } | { readonly cron?: undefined; readonly every: number };

interface Bounds {
  readonly start?: number;
  readonly until?: number;
  readonly limit?: number;
  /** Names the shard at the end of ids. */
  readonly suffix?: string;
  readonly tail: string;
}

const TIMES_OPTIONS = defineOptions<ScheduleTimes>("Queue.schedule.times", {
  cron: text,
  timeZone: text,
  everyMs: whole(1, MAX_MS),
  startAt: time,
  endAt: time,
  limit: whole(1, 1_000_000_000),
});

const ms = (at: Date | number): number => (typeof at === "number" ? at : at.getTime());

function specOf(times: ScheduleTimes, tail: string, suffix: string): Spec {
  TIMES_OPTIONS.check(times);
  return {
    ...rhythmOf(times),
    ...(times.startAt === undefined ? {} : { start: ms(times.startAt) }),
    ...(times.endAt === undefined ? {} : { until: ms(times.endAt) }),
    ...(times.limit === undefined ? {} : { limit: times.limit }),
    ...(suffix === "" ? {} : { suffix }),
    tail,
  };
}

function rhythmOf({ cron, timeZone, everyMs }: ScheduleTimes): Rhythm {
  if (cron !== undefined && everyMs === undefined) return { cron, tz: timeZone ?? "UTC" };
  if (cron !== undefined || everyMs === undefined) throw new InputError("a schedule has either cron or everyMs");
  if (timeZone !== undefined) throw new InputError("timeZone is for cron");
  return { every: everyMs };
}

/** The first time after `afterMs`; null if there is none. */
function nextTime(spec: Spec, afterMs: number): number | null {
  const from = Math.max(afterMs, (spec.start ?? 0) - 1);
  let next: number | null;
  if (spec.cron === undefined) {
    next = spec.start !== undefined && spec.start > afterMs ? spec.start : afterMs + spec.every;
  } else {
    next = calendar(spec.cron, spec.tz).nextRun(new Date(from))?.getTime() ?? null;
  }
  return next !== null && (spec.until === undefined || next <= spec.until) ? next : null;
}

function calendar(pattern: string, timezone: string): Cron {
  try {
    const cron = new Cron(pattern, { timezone, paused: true });
    // An unknown time zone shows only when a time is asked for.
    cron.nextRun(new Date(0));
    return cron;
  } catch (error) {
    throw new InputError(`"${pattern}" in "${timezone}" is no schedule: ${messageOf(error)}`, { cause: error });
  }
}

export async function setSchedule(
  store: Store,
  keys: QueueKeys,
  name: string,
  { times, tail, suffix }: { readonly times: ScheduleTimes; readonly tail: string; readonly suffix: string },
): Promise<Date> {
  checkWord(name, "the name of a schedule");
  const spec = specOf(times, tail, suffix);
  const now = await store.run(serverNow, { data: keys.data });
  const next = nextTime(spec, now);
  if (next === null) throw new InputError(`the schedule "${name}" has no time in the future`);
  return new Date(await store.run(upsertSchedule, { ...keys, name, spec: JSON.stringify(spec), at: next }));
}

/** What a worker does after a schedule by a calendar has fired. */
export async function advance(store: Store, keys: QueueKeys, { name, at, spec }: Fired, nowMs: number): Promise<void> {
  const next = nextTime(JSON.parse(spec), Math.max(nowMs, Number(at)));
  await store.run(advanceSchedule, { ...keys, name, spec, fired: at, at: next ?? -1 });
}

export function dropSchedule(store: Store, keys: QueueKeys, name: string): Promise<boolean> {
  return store.run(removeSchedule, { ...keys, name });
}

/** As it stands in the store, and when that was so by the server's clock. */
interface Stored {
  readonly text: string;
  readonly spec: Spec;
  readonly state: string;
  readonly paused: string;
  readonly nowMs: number;
}

async function stored(store: Store, keys: QueueKeys, name: string): Promise<Stored | null> {
  const found = await store.run(readSchedule, { data: keys.data, name });
  if (found === null) return null;
  const [text, state, paused, now] = found;
  return { text, spec: JSON.parse(text), state, paused, nowMs: Number(now) };
}

type Decode<T> = (payload: string) => T;

/** Of the record that its jobs get: the facts and options in front, and the payload. */
export function cutTail(tail: string): { readonly head: string; readonly payload: string } {
  const end = tail.indexOf("\n", tail.indexOf("\n") + 1) + 1;
  return { head: tail.slice(0, end), payload: tail.slice(end) };
}

function timesOf(spec: Spec): ScheduleTimes {
  return {
    ...(spec.cron === undefined ? { everyMs: spec.every } : { cron: spec.cron, timeZone: spec.tz }),
    ...(spec.start === undefined ? {} : { startAt: new Date(spec.start) }),
    ...(spec.until === undefined ? {} : { endAt: new Date(spec.until) }),
    ...(spec.limit === undefined ? {} : { limit: spec.limit }),
  };
}

function optionsOf(tail: string): ScheduledJobOptions {
  const { facts, options } = parseRecord(`0,;${tail}`);
  return {
    ...(facts.p === undefined ? {} : { priority: facts.p }),
    ...(facts.g === undefined ? {} : { group: facts.g }),
    ...(facts.n === undefined ? {} : { keep: false }),
    ...(options.attempts === 1 ? {} : { attempts: options.attempts }),
    ...(options.backoff === undefined ? {} : { backoff: options.backoff }),
    ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
    ...(options.name === undefined ? {} : { name: options.name }),
  };
}

function described<T>(
  name: string,
  { spec, state, paused }: Pick<Stored, "spec" | "state" | "paused">,
  decode: Decode<T>,
): Schedule<T> {
  const [next, fired, count] = state.split(";").map(Number);
  return {
    name,
    data: decode(cutTail(spec.tail).payload),
    options: optionsOf(spec.tail),
    nextAt: new Date(next ?? 0),
    lastAt: fired === undefined || fired === 0 ? null : new Date(fired),
    count: count ?? 0,
    pausedAt: paused === "" ? null : new Date(Number(paused)),
    ...timesOf(spec),
  };
}

export async function findSchedule<T>(
  store: Store,
  keys: QueueKeys,
  name: string,
  decode: Decode<T>,
): Promise<Schedule<T> | null> {
  const found = await stored(store, keys, name);
  return found === null ? null : described(name, found, decode);
}

/** Some of a shard's schedules, by name, behind `after`. */
export async function schedulesAfter<T>(
  store: Store,
  keys: QueueKeys,
  { after, most }: { readonly after: string; readonly most: number },
  decode: Decode<T>,
): Promise<Schedule<T>[]> {
  const found = await store.run(listSchedules, { ...keys, after, most });
  return found.map(([name, text, state, paused]) => described(name, { spec: JSON.parse(text), state, paused }, decode));
}

/** Changes what a schedule says, as it was read: when somebody else changes it meanwhile, on the ground of what that made of it. */
export async function changeSchedule(
  store: Store,
  keys: QueueKeys,
  name: string,
  to: { readonly times?: ScheduleTimes; readonly tail: (before: string) => string },
): Promise<boolean> {
  for (;;) {
    const found = await stored(store, keys, name);
    if (found === null) return false;
    const { text, spec: before, nowMs } = found;
    const spec = specOf(to.times ?? timesOf(before), to.tail(before.tail), before.suffix ?? "");
    const isSameTimes = to.times === undefined;
    const next = isSameTimes ? Number(found.state.split(";")[0]) : nextTime(spec, nowMs);
    if (next === null) throw new InputError(`the schedule "${name}" has no time in the future`);
    const params = { name, before: text, spec: JSON.stringify(spec), at: next };
    const status = await store.run(replaceSchedule, { ...keys, ...params });
    if (status !== "conflict") return status === "updated";
  }
}

export function holdSchedule(store: Store, keys: QueueKeys, name: string): Promise<boolean> {
  return store.run(pauseSchedule, { ...keys, name });
}

/** False if there is no such schedule, or it is not paused. One whose time is over meanwhile is gone then. */
export async function releaseSchedule(store: Store, keys: QueueKeys, name: string): Promise<boolean> {
  for (;;) {
    const found = await stored(store, keys, name);
    if (found === null || found.paused === "") return false;
    const at = nextTime(found.spec, found.nowMs) ?? -1;
    const status = await store.run(resumeSchedule, { ...keys, name, spec: found.text, at });
    if (status !== "conflict") return status === "updated";
  }
}

/** The times of the next jobs; none of a schedule that is paused, null if there is no such schedule. */
export async function timesAhead(store: Store, keys: QueueKeys, name: string, limit: number): Promise<Date[] | null> {
  const found = await stored(store, keys, name);
  if (found === null) return null;
  if (found.paused !== "") return [];
  const { spec, state } = found;
  const [next = 0, fired, count = 0] = state.split(";").map(Number);
  const most = Math.min(limit, (spec.limit ?? Number.POSITIVE_INFINITY) - count);
  const ahead: Date[] = [];
  // A schedule by a calendar that has just fired still shows that time: its next one is being worked out.
  let at = next === fired ? nextTime(spec, next) : next;
  while (at !== null && ahead.length < most) {
    ahead.push(new Date(at));
    at = spec.cron === undefined ? after(spec, at + spec.every) : nextTime(spec, at);
  }
  return ahead;
}

const after = (spec: Spec, at: number): number | null => (spec.until === undefined || at <= spec.until ? at : null);
