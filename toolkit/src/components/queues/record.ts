/**
 * A job as the store has it (scripts/core.ts says how) and as callers see it.
 * Records are made here and read here; the scripts only look at the facts in front.
 */
import type { Codec } from "../../base/codec.ts";
import { encodeWithin } from "../../base/codec.ts";
import { InputError } from "../../base/errors.ts";
import type { Carrier } from "../../base/probe.ts";
import { asTextOrBytes, ReplyFormError } from "../../base/replies.ts";
import type { Reply } from "../../connection/port.ts";
import { KeptElsewhere, keptElsewhere } from "./elsewhere.ts";
import { checkWord } from "./keys.ts";
import { type Backoff, checkBackoff, checkDedup, checkInteger, checkMs, type JobOptions } from "./options.ts";

export const JOB_STATES = ["waiting", "delayed", "active", "done", "dead", "waiting-for-children"] as const;
/** Where a job stands. `dead`: it failed for good. `waiting-for-children`: a parent in a flow that cannot run yet. */
export type JobState = (typeof JOB_STATES)[number];

/** An error as it is stored with a job. */
export interface JobError {
  /** The name of its class. */
  readonly name: string;
  /** Its message, at most 4 000 characters. */
  readonly message: string;
  /** As `ECONNREFUSED`, where the error has one. */
  readonly code?: string;
  /** With those of its causes. */
  readonly stack?: string;
}

/** A job at one moment. */
export interface Job<T, R> {
  /** Its id in the queue. */
  readonly id: string;
  /** Which handler it is for, where the worker has several. */
  readonly name: string | null;
  /** Where it stands. */
  readonly state: JobState;
  /** What its handler gets. */
  readonly data: T;
  /** When it was added, by the server's clock. */
  readonly createdAt: Date;
  /** Larger is sooner; 0 where none was given. */
  readonly priority: number;
  /** Its group; null if it has none. */
  readonly group: string | null;
  /** How often it is tried, at most. */
  readonly attempts: number;
  /** Attempts that have ended. */
  readonly attemptsMade: number;
  /** How often its worker was lost. */
  readonly stalls: number;
  /** When it may run, if it is delayed. */
  readonly dueAt: Date | null;
  /** What its handler has reported last; null if nothing. */
  readonly progress: unknown;
  /** Of a job that is done. */
  readonly result: R | null;
  /** Of a dead one, or the last one of a job that is tried again. */
  readonly error: JobError | null;
  /** When it ended; null before. */
  readonly finishedAt: Date | null;
  /** When the attempt began that ended it; null before, and where nobody ran it. */
  readonly startedAt: Date | null;
  /** The name of the worker that ran this attempt. */
  readonly worker: string | null;
  /** Where its result is, if the queue keeps large results elsewhere. */
  readonly resultRef: string | null;
  /** The id of the job that waits for this one; null if there is none. */
  readonly parent: string | null;
  /** The jobs of a flow that it waits for: their ids, or `queue/id` for those of other queues. */
  readonly children: readonly string[];
}

/** What the server must know of a job; short names, since they are in every record. */
export interface Facts {
  g?: string;
  p?: number;
  u?: string;
  /** The parent; K its shard's address if that is in another slot, C this job's name there, f what its death means. */
  k?: string;
  K?: string;
  C?: string;
  f?: "wait" | "fail" | "ignore";
  c?: readonly string[];
  /** The addresses of children that are in other slots, by their names. */
  A?: Readonly<Record<string, string>>;
  /** Nothing is kept when it is done. */
  n?: 1;
}

export interface StoredOptions {
  readonly attempts: number;
  readonly backoff: Backoff | undefined;
  readonly timeoutMs: number | undefined;
  readonly name: string | undefined;
  /** The trace that it was added in. */
  readonly carrier: Carrier | undefined;
}

/** As they stand in the record. */
interface OwnOptions {
  a?: number;
  b?: Backoff;
  t?: number;
  n?: string;
  c?: Carrier;
}

/** A job ready to be sent: its id, how to place it, and its record from the facts on. */
export interface Prepared {
  readonly id: string;
  readonly how: string;
  readonly tail: string | Uint8Array;
}

export interface Kinship {
  readonly parent?: {
    readonly id: string;
    readonly address?: string;
    readonly name?: string;
    readonly onDead?: Facts["f"];
  };
  readonly children?: readonly string[];
  readonly addresses?: Readonly<Record<string, string>>;
  readonly messages?: readonly string[];
  /** What goes along with the job for telemetry. */
  readonly carrier?: Carrier | undefined;
}

const PLAIN: JobOptions = {};

export type Prepare<T> = (id: string, data: T, options?: JobOptions, kin?: Kinship) => Prepared;

/** What makes the records of a queue's jobs. `defaults` have been checked. */
export function preparing<T>({
  defaults,
  codec,
  maxBytes,
}: {
  readonly defaults: JobOptions;
  readonly codec: Codec<unknown, T>;
  readonly maxBytes: number;
}): Prepare<T> {
  return (id, data, options = PLAIN, kin) => {
    const payload = encodeWithin(codec, data, maxBytes, "the payload of a job");
    if (options === PLAIN && defaults === PLAIN && kin === undefined)
      return { id, how: "", tail: join("\n\n", payload) };
    const facts: Facts = {};
    const how: Record<string, unknown> = {};
    placing(options, defaults, facts, how);
    if (kin?.parent !== undefined) {
      facts.k = kin.parent.id;
      if (kin.parent.address !== undefined) facts.K = kin.parent.address;
      if (kin.parent.name !== undefined) facts.C = kin.parent.name;
      if (kin.parent.onDead !== undefined) facts.f = kin.parent.onDead;
    }
    if (kin?.children !== undefined) {
      facts.c = kin.children;
      how.c = kin.children;
      if (kin.addresses !== undefined) facts.A = kin.addresses;
      if (kin.messages !== undefined && kin.messages.length > 0) how.o = kin.messages;
    }
    if ((options.keep ?? defaults.keep) === false) facts.n = 1;
    const head = `${textOf(facts)}\n${ownOptions(options, defaults, kin?.carrier)}\n`;
    return { id, how: textOf(how), tail: join(head, payload) };
  };
}

export const NO_OPTIONS = PLAIN;

function placing(options: JobOptions, defaults: JobOptions, facts: Facts, how: Record<string, unknown>): void {
  const priority = options.priority ?? defaults.priority ?? 0;
  if (priority !== 0) how.p = facts.p = checkInteger(priority, "priority", -1000, 1000);
  if (options.group !== undefined) how.g = facts.g = checkWord(options.group, "group");
  if (options.delayMs !== undefined && options.at !== undefined) {
    throw new InputError("a job has a delay or a time, not both");
  }
  if (options.delayMs !== undefined && options.delayMs !== 0) how.d = checkMs(options.delayMs, "delayMs");
  if (options.at !== undefined) {
    const at = typeof options.at === "number" ? options.at : options.at.getTime();
    if (!Number.isFinite(at) || at < 0 || at > 8.64e15) throw new InputError("at must be a time");
    how.t = Math.ceil(at);
  }
  if (options.lifo === true) how.l = true;
  if (options.dedup !== undefined) {
    const { id, mode, windowMs } = checkDedup(options.dedup);
    how.u = id;
    if (mode === "simple") facts.u = id;
    else how.w = windowMs;
    if (mode === "debounce") {
      if (options.delayMs !== undefined || options.at !== undefined) {
        throw new InputError("a debounced job is delayed by its window");
      }
      how.m = mode;
      how.d = windowMs;
    }
  }
}

function ownOptions(options: JobOptions, defaults: JobOptions, carrier: Carrier | undefined): string {
  const own: OwnOptions = carrier === undefined ? {} : { c: carrier };
  if (options.name !== undefined) own.n = checkWord(options.name, "the name of a job");
  const attempts = options.attempts ?? defaults.attempts ?? 1;
  if (attempts !== 1) own.a = checkInteger(attempts, "attempts", 1, 1_000_000);
  const backoff = options.backoff ?? defaults.backoff;
  if (backoff !== undefined) own.b = checkBackoff(backoff);
  const timeoutMs = options.timeoutMs ?? defaults.timeoutMs;
  if (timeoutMs !== undefined) own.t = checkMs(timeoutMs, "timeoutMs", 1);
  return textOf(own);
}

function textOf(value: object): string {
  for (const _ in value) return JSON.stringify(value);
  return "";
}

function join(head: string, payload: string | Uint8Array): string | Uint8Array {
  return typeof payload === "string" ? head + payload : Buffer.concat([Buffer.from(head, "utf8"), payload]);
}

// ------------------------------------------------------------------------------------------------ reading

export interface ParsedRecord {
  readonly createdMs: number;
  readonly facts: Facts;
  readonly options: StoredOptions;
  readonly payload: string | Buffer;
}

const NO_FACTS: Facts = {};
const NO_STORED: StoredOptions = {
  attempts: 1,
  backoff: undefined,
  timeoutMs: undefined,
  name: undefined,
  carrier: undefined,
};

export function parseRecord(record: string | Buffer): ParsedRecord {
  if (typeof record === "string") {
    const first = record.indexOf("\n");
    const second = record.indexOf("\n", first + 1);
    return parsed(record.slice(0, first), record.slice(first + 1, second), record.slice(second + 1));
  }
  const first = record.indexOf(10);
  const second = record.indexOf(10, first + 1);
  return parsed(
    record.toString("utf8", 0, first),
    record.toString("utf8", first + 1, second),
    record.subarray(second + 1),
  );
}

function parsed(head: string, own: string, payload: string | Buffer): ParsedRecord {
  const semicolon = head.indexOf(";");
  const facts: Facts = semicolon === head.length - 1 ? NO_FACTS : JSON.parse(head.slice(semicolon + 1));
  return { createdMs: Number.parseInt(head, 10), facts, options: own === "" ? NO_STORED : storedOptions(own), payload };
}

function storedOptions(own: string): StoredOptions {
  const { a, b, t, n, c }: OwnOptions = JSON.parse(own);
  return { attempts: a ?? 1, backoff: b, timeoutMs: t, name: n, carrier: c };
}

export interface Befallen {
  readonly made: number;
  readonly stalls: number;
  readonly error: JobError | null;
}

const NOTHING: Befallen = { made: 0, stalls: 0, error: null };

export function parseState(state: string): Befallen {
  if (state === "") return NOTHING;
  const [, made, stalls, error] = /^(\d+);(\d+);([\s\S]*)$/.exec(state) ?? [];
  if (error === undefined) throw new ReplyFormError("what has befallen a job", state);
  return { made: Number(made), stalls: Number(stalls), error: error === "" ? null : JSON.parse(error) };
}

export interface Ending {
  readonly finishedMs: number;
  readonly made: number;
  /** How long the last attempt took, and who ran it; null if nobody did. */
  readonly tookMs: number;
  readonly worker: string | null;
  readonly payload: string | Buffer;
}

export function parseEnding(ending: string | Buffer): Ending {
  if (typeof ending === "string") {
    const [head = "", when = "", last = ""] = ending.split(";", 3);
    return { ...endOf(when, last), payload: ending.slice(head.length + when.length + last.length + 3) };
  }
  const end = ending.indexOf(59, ending.indexOf(59, ending.indexOf(59) + 1) + 1);
  const [, when = "", last = ""] = ending.toString("utf8", 0, end).split(";");
  return { ...endOf(when, last), payload: ending.subarray(end + 1) };
}

/** `last`: attempts, then `+` and what the last one took, then `@` and the worker. */
function endOf(when: string, last: string): Omit<Ending, "payload"> {
  const [, made, tookMs, worker] = /^(\d+)(?:\+(\d+))?(?:@([\s\S]*))?$/.exec(last) ?? [];
  if (made === undefined) throw new ReplyFormError("how a job ended", `${when};${last}`);
  return {
    finishedMs: Number(when),
    made: Number(made),
    tookMs: Number(tookMs ?? 0),
    worker: worker === undefined || worker === "" ? null : worker,
  };
}

export function textFrom(value: Reply | undefined): string {
  if (typeof value === "string") return value;
  return Buffer.isBuffer(value) ? value.toString("utf8") : String(value ?? "");
}

/** From what the scripts of scripts/read.ts say about a job. */
export function describeJob<T, R>(
  reply: Reply,
  codec: Codec<T, never>,
  resultCodec: Codec<R, never>,
): Job<T, R | KeptElsewhere> | null {
  if (!Array.isArray(reply)) return null;
  const state = textFrom(reply[1]);
  const { createdMs, facts, options, payload } = parseRecord(asTextOrBytes(reply[2]));
  const befallen = parseState(textFrom(reply[3]));
  const ended = state === "done" || state === "dead";
  const ending = ended ? parseEnding(asTextOrBytes(reply[4])) : null;
  const progress = textFrom(reply[5]);
  const due = textFrom(reply[6]);
  const result = ending !== null && state === "done" ? decodeResult(ending.payload, resultCodec) : null;
  return {
    id: textFrom(reply[0]),
    name: options.name ?? null,
    state: state === "parent" ? "waiting-for-children" : (state as JobState),
    data: codec.decode(payload),
    createdAt: new Date(createdMs),
    priority: facts.p ?? 0,
    group: facts.g ?? null,
    attempts: options.attempts,
    attemptsMade: ending?.made ?? befallen.made,
    stalls: befallen.stalls,
    dueAt: due === "" ? null : new Date(Number(due)),
    progress: progress === "" ? null : JSON.parse(progress),
    result,
    error: ending !== null && state === "dead" ? JSON.parse(textFrom(ending.payload)) : befallen.error,
    finishedAt: ending === null ? null : new Date(ending.finishedMs),
    startedAt: ending === null || ending.worker === null ? null : new Date(ending.finishedMs - ending.tookMs),
    worker: ending?.worker ?? null,
    resultRef: result instanceof KeptElsewhere ? result.ref : null,
    parent: facts.k ?? null,
    children: facts.c ?? [],
  };
}

/** A handler that returns nothing leaves an empty result. */
export function decodeResult<R>(payload: string | Buffer, codec: Codec<R, never>): R | KeptElsewhere | null {
  return payload.length === 0 ? null : (keptElsewhere(payload) ?? codec.decode(payload));
}
