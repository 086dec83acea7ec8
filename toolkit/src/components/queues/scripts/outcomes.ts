/**
 * What a worker and the scripts of its queue tell each other about jobs, made and read here for both sides.
 *
 * Jobs go as words in one flat list, a few for each. An ending is the job's id, the fence of its lease, how it ended, and its result
 * or error. How is a kind and a number: `d1` done and `x1` dead in the first attempt, `r500` to be tried again in 500 ms, `h0` handed
 * back as it was, to run at once; behind it `+` and how many milliseconds the attempt took, if that is a whole one at least. A job that a worker takes is its id, its fence, what has befallen it, and its record. A schedule
 * whose next time is to be worked out is its name, the time that it has fired for, and its specification.
 */

import { asReply, asRows, asTextOrBytes } from "../../../base/replies.ts";
import type { Reply, Word } from "../../../connection/port.ts";
import { textFrom } from "../record.ts";

/** With the number of attempts that were made. */
const DONE = "d";
const DEAD = "x";
/** With the delay in milliseconds. */
export const RETRY = "r";
export const HAND_BACK = "h";

/** Most jobs are done at the first attempt, within a millisecond. */
const DONE_AT_ONCE = `${DONE}1`;

const taking = (tookMs: number): string => (tookMs >= 1 ? `+${Math.floor(tookMs)}` : "");

export const done = (attempts: number, tookMs: number): string =>
  attempts === 1 && tookMs < 1 ? DONE_AT_ONCE : `${DONE}${attempts}${taking(tookMs)}`;
export const dead = (attempts: number, tookMs: number): string => `${DEAD}${attempts}${taking(tookMs)}`;
export const retryIn = (delayMs: number, tookMs: number): string => `${RETRY}${delayMs}${taking(tookMs)}`;
export const handBackFor = (ms: number): string => `${HAND_BACK}${ms}`;

export const ENDING_WORDS = 4;
const JOB_WORDS = 4;

/** Of the ending at `i` in `finished`: `id`, `fence`, `how` and `payload`. */
export const ENDING_LUA =
  "local id, fence, how, payload = finished[i], finished[i + 1], finished[i + 2], finished[i + 3]";
/** Of an ending: its kind, its number, and how long it took, nil for less than a millisecond. */
export const KIND_LUA = `
  local kind, number, ms = string.sub(how, 1, 1), tonumber(string.sub(how, 2)), nil
  if not number then
    number, ms = string.match(how, "^.(%d+)%+(%d+)$")
    number, ms = tonumber(number), tonumber(ms)
  end`;
export const IS_DONE_LUA = `kind == "${DONE}"`;
export const IS_DEAD_LUA = `kind == "${DEAD}"`;
/** The fence of the first ending. */
export const FIRST_FENCE_LUA = "finished[2]";

/** Adds a job with these facts, expressions in Lua, to `jobs`. */
export const jobLua = (facts: { id: string; fence: string; state: string; record: string }): string =>
  [facts.id, facts.fence, facts.state, facts.record].map((fact) => `jobs[#jobs + 1] = ${fact}`).join("\n");
/** How many jobs are in `jobs`. */
export const JOB_COUNT_LUA = `#jobs / ${JOB_WORDS}`;

export const jobCount = (jobs: readonly Reply[]): number => jobs.length / JOB_WORDS;

/** A job that was taken. */
export interface Taken {
  readonly id: string;
  readonly fence: string;
  readonly state: string;
  readonly record: string | Buffer;
}

export function takenAt(jobs: readonly Reply[], nth: number): Taken {
  const at = nth * JOB_WORDS;
  return {
    id: textFrom(jobs[at]),
    fence: textFrom(jobs[at + 1]),
    state: textFrom(jobs[at + 2]),
    record: asTextOrBytes(jobs[at + 3]),
  };
}

/** A schedule by a calendar that has made a job: the worker works out its next time. */
export interface Fired {
  readonly name: string;
  /** For which time. */
  readonly at: string;
  readonly spec: string;
}

const asFired = asRows(asReply, asReply, asReply);

/** Adds a schedule with these facts, expressions in Lua, to `schedules`. */
export const firedLua = (facts: { name: string; at: string; spec: string }): string =>
  [facts.name, facts.at, facts.spec].map((fact) => `schedules[#schedules + 1] = ${fact}`).join("\n");

export function firedIn(schedules: readonly Reply[]): Fired[] {
  return asFired([...schedules]).map(([name, at, spec]) => ({
    name: textFrom(name),
    at: textFrom(at),
    spec: textFrom(spec),
  }));
}

/** The ending of one job, for a script of its own. */
export const endingOf = (job: { readonly id: string; readonly fence: string }, how: string, payload: Word): Word[] => [
  job.id,
  job.fence,
  how,
  payload,
];

/** Endings that are to be told, in the order in which they came. */
export class Endings {
  #words: Word[] = [];

  get isEmpty(): boolean {
    return this.#words.length === 0;
  }

  add(id: string, fence: string, how: string, payload: Word): void {
    this.#words.push(id, fence, how, payload);
  }

  /** Takes out the first, so many at most, as words. */
  take(most: number): readonly Word[] {
    const words = this.#words;
    if (words.length <= most * ENDING_WORDS) {
      this.#words = [];
      return words;
    }
    this.#words = words.slice(most * ENDING_WORDS);
    return words.slice(0, most * ENDING_WORDS);
  }

  /** Puts back what was taken last: it could not be told. */
  putBack(words: readonly Word[]): void {
    this.#words = words.concat(this.#words);
  }

  /** Adds the id and the fence of each to `held`. */
  nameIn(held: Word[]): void {
    for (let at = 0; at < this.#words.length; at += ENDING_WORDS) held.push(this.#words[at]!, this.#words[at + 1]!);
  }
}
