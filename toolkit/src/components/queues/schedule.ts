/**
 * Schedules: jobs that come again and again. The time of the next one stands in the store; whichever worker looks first when it
 * is due makes the job, in the same script, under an id that names the time: however many processes run, each time gives one
 * job. Times by a calendar (cron, with a time zone) are then worked out by that worker; should it die before it has, the next
 * one does it a few seconds later. Times that passed while no worker ran are made up for by one job, not by one each.
 */
import { Cron } from "croner";
import { InputError, messageOf } from "../../base/errors.ts";
import { defineOptions, text, time, whole } from "../../base/options.ts";
import type { Store } from "../../connection/store.ts";
import { checkWord, type QueueKeys } from "./keys.ts";
import { type JobOptions, MAX_MS } from "./options.ts";
import type { Fired } from "./scripts/outcomes.ts";
import { advanceSchedule, listSchedules, removeSchedule, serverNow, upsertSchedule } from "./scripts/schedules.ts";

export interface ScheduleTimes {
  /** `minute hour day month weekday`, or with seconds in front. */
  readonly cron?: string;
  /** IANA name, "Europe/Rome"; UTC by default. */
  readonly timeZone?: string;
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
  "priority" | "attempts" | "backoff" | "timeoutMs" | "group" | "keep"
>;

export interface Schedule<T> extends ScheduleTimes {
  readonly name: string;
  readonly data: T;
  readonly nextAt: Date;
  /** How many jobs it has made. */
  readonly count: number;
}

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
  const next = nextTime(JSON.parse(spec) as Spec, Math.max(nowMs, Number(at)));
  await store.run(advanceSchedule, { ...keys, name, spec, fired: at, at: next ?? -1 });
}

export function dropSchedule(store: Store, keys: QueueKeys, name: string): Promise<boolean> {
  return store.run(removeSchedule, { ...keys, name });
}

export async function schedulesOf<T>(
  store: Store,
  keys: QueueKeys,
  most: number,
  decode: (payload: string) => T,
): Promise<Schedule<T>[]> {
  const found: Schedule<T>[] = [];
  for (const [name, text, state] of await store.run(listSchedules, { ...keys, most })) {
    const spec = JSON.parse(text) as Spec;
    const [next, , count] = state.split(";");
    const { tail } = spec;
    found.push({
      name,
      data: decode(tail.slice(tail.indexOf("\n", tail.indexOf("\n") + 1) + 1)),
      nextAt: new Date(Number(next)),
      count: Number(count),
      ...(spec.cron === undefined ? { everyMs: spec.every } : { cron: spec.cron, timeZone: spec.tz }),
      ...(spec.start === undefined ? {} : { startAt: new Date(spec.start) }),
      ...(spec.until === undefined ? {} : { endAt: new Date(spec.until) }),
      ...(spec.limit === undefined ? {} : { limit: spec.limit }),
    });
  }
  return found;
}
