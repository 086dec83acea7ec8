/** What callers may ask for, with defaults and bounds. Everything is checked before anything is written. */
import type { Codec } from "../../base/codec.ts";
import { InputError } from "../../base/errors.ts";
import {
  anything,
  type Check,
  choice,
  defineOptions,
  flag,
  object,
  required,
  text,
  time,
  whole,
  within,
} from "../../base/options.ts";
import type { StandardSchema } from "../../base/schema.ts";
import type { ResultStore } from "./elsewhere.ts";
import { checkWord } from "./keys.ts";

/** How long to wait before another attempt. A number is a fixed delay in milliseconds. */
export type Backoff =
  | number
  | {
      /** `fixed`: always the same delay. `exponential`: each is twice as long as the one before. `custom`: the worker says. */
      readonly type: "fixed" | "exponential";
      /** The delay before the second attempt. */
      readonly delayMs: number;
      /** No delay grows past this; an hour by default. */
      readonly maxMs?: number;
      /** 0 … 1: up to this part of the delay is taken off at random, so that many do not come back at once. */
      readonly jitter?: number;
    }
  /** Worked out by the worker, in its `backoffs` of this name. */
  | {
      /** `fixed`: always the same delay. `exponential`: each is twice as long as the one before. `custom`: the worker says. */
      readonly type: "custom";
      /** Which of the worker's `backoffs`. */
      readonly name: string;
    };

/** How a job is deduplicated. */
export interface Dedup {
  /** Jobs with the same id are duplicates of each other. */
  readonly id: string;
  /**
   * simple: others with this id are ignored until the job has ended. throttle: for `windowMs` from the first, whatever becomes
   * of it. debounce: each takes the place of the one before and starts its delay of `windowMs` anew, so that the last one runs.
   */
  readonly mode?: "simple" | "throttle" | "debounce";
  /** The length of the window; for throttle and debounce, which need it. */
  readonly windowMs?: number;
}

/** How a job is run. */
export interface JobOptions {
  /** Which of a worker's handlers it is for. None by default: the handler `*`, or the only one. */
  readonly name?: string;
  /** Adding an id that the queue still knows adds nothing. By default one is made up. */
  readonly id?: string;
  /** How long from now it waits before it may run (default 0). */
  readonly delayMs?: number;
  /** Not before this time, by the server's clock. None by default. */
  readonly at?: Date | number;
  /** −1000 … 1000 (default 0): larger is sooner; equal ones in the order in which they were added. */
  readonly priority?: number;
  /** Before all that wait with the same priority rather than behind them. Not for groups. False by default. */
  readonly lifo?: boolean;
  /** How often it is tried before it goes to the dead letters. 1 by default. */
  readonly attempts?: number;
  /** How long to wait before another attempt. At once by default. */
  readonly backoff?: Backoff;
  /** How long one attempt may take; past it the signal is aborted and the attempt has failed. No limit by default. */
  readonly timeoutMs?: number;
  /** Jobs of a group run in order (or as many at once as the queue's settings allow), and groups take turns. None by default. */
  readonly group?: string;
  /** How it is deduplicated. Not at all by default. */
  readonly dedup?: Dedup;
  /** Whether the job is kept once it is done, as the queue's settings say (default true). False: nothing is kept of it. */
  readonly keep?: boolean;
}

/** What can be changed of a job that does not run. */
export interface JobUpdate<T> {
  /** What its handler gets from now on. */
  readonly data?: T;
  /** Which of a worker's handlers it is for. */
  readonly name?: string;
  /** Due so long from now. Not for jobs that have ended or wait for children. */
  readonly delayMs?: number;
  /** Due at this time, in place of `delayMs`. */
  readonly at?: Date | number;
  /** −1000 … 1000: larger is sooner. */
  readonly priority?: number;
  /** How often it is tried, at most; the attempts that it has made count. */
  readonly attempts?: number;
  /** How long to wait before another attempt. */
  readonly backoff?: Backoff;
  /** How long one attempt may take. */
  readonly timeoutMs?: number;
}

/** How a queue is opened. Prefix, shards and codecs are the same in every process that uses it. */
export interface QueueOptions<T, R, I = T, S = R> {
  /** The beginning of all keys (default `queue`). */
  readonly prefix?: string;
  /** Spread over so many slots; the same number in every process. 1 by default. */
  readonly shards?: number;
  /** How the data of jobs is stored. JSON by default. */
  readonly codec?: Codec<T>;
  /** How results are stored. JSON by default. */
  readonly resultCodec?: Codec<R>;
  /**
   * Checks the data of jobs, when they are added and when they are read (Standard Schema: zod, valibot, arktype …). Handlers get what the
   * schema makes of it. None by default.
   */
  readonly schema?: StandardSchema<I, T>;
  /** Checks results, when a handler gives one and when one is read. None by default. */
  readonly resultSchema?: StandardSchema<S, R>;
  /** A payload larger than this is refused. 1 MiB by default. */
  readonly maxPayloadBytes?: number;
  /** Options of jobs that say nothing else. None by default. */
  readonly defaults?: Pick<JobOptions, "attempts" | "backoff" | "timeoutMs" | "priority" | "keep">;
  /** Lines of log kept for each job. 100 by default. */
  readonly maxLogLines?: number;
  /** Keeps results elsewhere that take more than `maxInlineResultBytes`. None by default: they stay in the store. */
  readonly results?: ResultStore;
  /** With `results`, the size up to which results stay in the store. 64 KiB by default. */
  readonly maxInlineResultBytes?: number;
}

/** How many jobs may start in how long. */
export interface RateLimit {
  /** At most so many starts in a window, from 1 to 100 000. */
  readonly limit: number;
  /** The length of the window, which slides. */
  readonly windowMs: number;
}

/** What holds for a queue and all its workers; kept in the store. In a queue of N shards, for each shard. */
export interface Settings {
  /** How many jobs are kept after they are done: 1 000 by default. */
  readonly keepDone?: number;
  /** How long they are kept, at most. No such limit by default. */
  readonly keepDoneMs?: number;
  /** How many dead letters are kept: 10 000 by default. */
  readonly keepDead?: number;
  /** How long they are kept, at most. No such limit by default. */
  readonly keepDeadMs?: number;
  /** Entries kept in the stream of events: about 1 000 by default; 0 for no events, and then no waiting for results either. */
  readonly maxEvents?: number;
  /** True: the events of jobs that are done have their results. */
  readonly resultsInEvents?: boolean;
  /** Failed and stalled attempts kept in the history of each job: 10 by default. */
  readonly keepAttempts?: number;
  /** How often a job may lose its worker before it is a dead letter: 3 by default. */
  readonly stalledLimit?: number;
  /** Jobs at once, over all workers. */
  readonly concurrency?: number;
  /** At most `limit` starts in any `windowMs`. */
  readonly rate?: RateLimit;
  /** Jobs of one group at once: 1 by default, which keeps their order. */
  readonly groupConcurrency?: number;
  /** At most `limit` starts of jobs of one group in any `windowMs`. None by default. */
  readonly groupRate?: RateLimit;
  /** With so many waiting and delayed, `add` rejects with QueueFullError. */
  readonly maxWaiting?: number;
}

export const MAX_MS = 10 * 365 * 86_400_000;

const backoff: Check = {
  expected: "an integer of milliseconds, or an object with a type",
  accepts: (value) => whole(0, MAX_MS).accepts(value) || object.accepts(value),
};

/** What a queue can say for all of its jobs. */
const lasting = {
  attempts: whole(1, 1_000_000),
  backoff,
  timeoutMs: whole(1, MAX_MS),
  priority: whole(-1_000, 1_000),
  keep: flag,
};

export const DEFAULT_OPTIONS = defineOptions<NonNullable<QueueOptions<unknown, unknown>["defaults"]>>(
  "Queue.defaults",
  lasting,
);

export const SCHEDULE_OPTIONS = defineOptions<
  Pick<JobOptions, "name" | "priority" | "attempts" | "backoff" | "timeoutMs" | "group" | "keep">
>("Queue.schedule", { ...lasting, group: text, name: text });

const DEDUP_OPTIONS = defineOptions<Dedup>("Queue.add.dedup", {
  id: required(text),
  mode: choice("simple", "throttle", "debounce"),
  windowMs: whole(1, MAX_MS),
});

export const JOB_OPTIONS = defineOptions<JobOptions>("Queue.add", {
  ...lasting,
  id: text,
  name: text,
  delayMs: whole(0, MAX_MS),
  at: time,
  lifo: flag,
  group: text,
  dedup: within(DEDUP_OPTIONS),
});

const UPDATE_OPTIONS = defineOptions<JobUpdate<unknown>>("Queue.update", {
  data: anything,
  name: text,
  delayMs: whole(0, MAX_MS),
  at: time,
  priority: whole(-1_000, 1_000),
  attempts: whole(1, 1_000_000),
  backoff,
  timeoutMs: whole(1, MAX_MS),
});

/** What a script does about it: see scripts/manage.ts. Without the payload. */
export function encodeUpdate(update: JobUpdate<unknown>): string {
  UPDATE_OPTIONS.check(update);
  const { data, name, delayMs, at, priority, attempts, backoff: wait, timeoutMs } = update;
  if (delayMs !== undefined && at !== undefined) throw new InputError("a job has a delay or a time, not both");
  const own = {
    ...(attempts === undefined ? {} : { a: attempts }),
    ...(wait === undefined ? {} : { b: checkBackoff(wait) }),
    ...(timeoutMs === undefined ? {} : { t: timeoutMs }),
    ...(name === undefined ? {} : { n: checkWord(name, "the name of a job") }),
  };
  return JSON.stringify({
    ...(data === undefined ? {} : { s: 1 }),
    ...(priority === undefined ? {} : { p: priority }),
    ...(delayMs === undefined ? {} : { d: delayMs }),
    ...(at === undefined ? {} : { t: Math.ceil(typeof at === "number" ? at : at.getTime()) }),
    ...(Object.keys(own).length === 0 ? {} : { o: own }),
  });
}

export function checkInteger(value: unknown, what: string, least: number, most: number): number {
  if (typeof value !== "number" || !Number.isInteger(value) || value < least || value > most) {
    throw new InputError(`${what} must be a whole number from ${least} to ${most}, not ${String(value)}`);
  }
  return value;
}

export const checkMs = (value: unknown, what: string, least = 0): number => checkInteger(value, what, least, MAX_MS);

/** Short names for the store: the script reads these. */
const SETTING_NAMES: Readonly<Record<string, readonly [short: string, least: number, most: number]>> = {
  keepDone: ["kd", 0, 10_000_000],
  keepDoneMs: ["da", 1, MAX_MS],
  keepDead: ["kx", 0, 10_000_000],
  keepDeadMs: ["xa", 1, MAX_MS],
  maxEvents: ["me", 0, 1_000_000],
  keepAttempts: ["ka", 0, 1_000],
  stalledLimit: ["sl", 0, 1_000],
  concurrency: ["c", 1, 1_000_000],
  groupConcurrency: ["gc", 1, 100_000],
  maxWaiting: ["mw", 1, 1_000_000_000],
};

const RATE_NAMES: Readonly<Record<string, readonly [max: string, window: string]>> = {
  rate: ["rm", "rw"],
  groupRate: ["gm", "gw"],
};

const FLAG_NAMES: Readonly<Record<string, string>> = { resultsInEvents: "er" };

export function encodeSettings(settings: Settings): string {
  const short: Record<string, number | true> = {};
  for (const [name, value] of Object.entries(settings)) {
    if (value === undefined) continue;
    const bounds = SETTING_NAMES[name];
    const rate = RATE_NAMES[name];
    const flagged = FLAG_NAMES[name];
    if (bounds !== undefined) {
      short[bounds[0]] = checkInteger(value, name, bounds[1], bounds[2]);
    } else if (rate !== undefined) {
      const limit = value as RateLimit;
      short[rate[0]] = checkInteger(limit.limit, `${name}.limit`, 1, 100_000);
      short[rate[1]] = checkMs(limit.windowMs, `${name}.windowMs`, 1);
    } else if (flagged !== undefined) {
      if (typeof value !== "boolean") throw new InputError(`${name} must be true or false`);
      if (value) short[flagged] = true;
    } else {
      throw new InputError(`a queue has no setting "${name}"`);
    }
  }
  return Object.keys(short).length === 0 ? "" : JSON.stringify(short);
}

export function decodeSettings(stored: string | null): Settings {
  if (stored === null || stored === "") return {};
  const short: Readonly<Record<string, number>> = JSON.parse(stored);
  const settings: Record<string, unknown> = {};
  for (const [name, key] of Object.entries(FLAG_NAMES)) if (short[key] !== undefined) settings[name] = true;
  for (const [name, [key]] of Object.entries(SETTING_NAMES)) if (short[key] !== undefined) settings[name] = short[key];
  for (const [name, [limit, window]] of Object.entries(RATE_NAMES)) {
    if (short[limit] !== undefined) settings[name] = { limit: short[limit], windowMs: short[window] };
  }
  return settings;
}

export function checkBackoff(backoff: Backoff): Backoff {
  if (typeof backoff === "number") return checkMs(backoff, "backoff");
  if (backoff.type === "custom") {
    checkWord(backoff.name, "the name of a backoff");
    return backoff;
  }
  if (backoff.type !== "fixed" && backoff.type !== "exponential") {
    throw new InputError(`backoff.type must be "fixed", "exponential" or "custom"`);
  }
  checkMs(backoff.delayMs, "backoff.delayMs");
  if (backoff.maxMs !== undefined) checkMs(backoff.maxMs, "backoff.maxMs");
  const { jitter } = backoff;
  if (jitter !== undefined && !(jitter >= 0 && jitter <= 1)) throw new InputError("backoff.jitter must be from 0 to 1");
  return backoff;
}

const LONGEST_BACKOFF_MS = 3_600_000;

/** The delay before attempt `made + 1`, after `made` have failed. */
export function backoffMs(
  backoff: Exclude<Backoff, { type: "custom" }> | undefined,
  made: number,
  random: number,
): number {
  if (backoff === undefined) return 0;
  if (typeof backoff === "number") return backoff;
  const grown = backoff.type === "fixed" ? backoff.delayMs : backoff.delayMs * 2 ** Math.min(made - 1, 52);
  const delay = Math.min(grown, backoff.maxMs ?? LONGEST_BACKOFF_MS);
  return Math.round(delay * (1 - (backoff.jitter ?? 0) * random));
}

export function checkDedup(dedup: Dedup): Dedup {
  checkWord(dedup.id, "dedup.id");
  const mode = dedup.mode ?? (dedup.windowMs === undefined ? "simple" : "throttle");
  if (mode === "simple") {
    if (dedup.windowMs !== undefined) throw new InputError("dedup.windowMs is for throttle and debounce");
    return { id: dedup.id, mode };
  }
  if (mode !== "throttle" && mode !== "debounce") throw new InputError(`dedup.mode "${mode}" is not known`);
  return { id: dedup.id, mode, windowMs: checkMs(dedup.windowMs, "dedup.windowMs", 1) };
}
