/**
 * Large results that are kept elsewhere: in a bucket, on a disk, in another database. The store has a reference in their place.
 *
 * The reference stands behind a mark that no JSON begins with. A result that begins with the mark itself is kept elsewhere whatever its
 * size, so that none can be taken for a reference.
 */
import { type Codec, encodeWithin } from "../../base/codec.ts";
import { InputError } from "../../base/errors.ts";
import { having } from "../../base/options.ts";
import { ValidatingCodec } from "../../base/schema.ts";
import type { Job } from "./record.ts";
import type { Outcome } from "./waiters.ts";

/** Where large results go. What it keeps, it also drops: a queue that forgets a job says so to nobody. */
export interface ResultStore {
  /** Keeps a result and answers with a reference to it, of at most 1 000 characters. If it rejects, the attempt has failed. */
  set(result: string | Uint8Array, about: ResultOrigin): Promise<string>;
  /** The result as it was given; null if it is not there any more. */
  get(reference: string): Promise<string | Uint8Array | null>;
}

/** Which result it is. */
export interface ResultOrigin {
  /** The name of the queue. */
  readonly queue: string;
  /** The id of the job. */
  readonly id: string;
  /** Which attempt gave it: 1 for the first. */
  readonly attempt: number;
}

/** Results that take more bytes go elsewhere, unless the queue says otherwise. */
export const INLINE_RESULT_BYTES = 64 * 1024;

export const resultStore = having("an object with set and get", "set", "get");

const MARK = "\u0001cinnabar:result\n";
const MARK_BYTES = Buffer.from(MARK, "latin1");
const MAX_REF = 1_000;

/** In the place of a result: where it is. */
export class KeptElsewhere {
  readonly ref: string;

  constructor(ref: string) {
    this.ref = ref;
  }
}

/** Null if the result itself is there. */
export function keptElsewhere(payload: string | Uint8Array): KeptElsewhere | null {
  if (typeof payload === "string") {
    return payload.charCodeAt(0) === 1 && payload.startsWith(MARK)
      ? new KeptElsewhere(payload.slice(MARK.length))
      : null;
  }
  if (payload[0] !== 1) return null;
  const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
  return bytes.subarray(0, MARK_BYTES.length).equals(MARK_BYTES)
    ? new KeptElsewhere(bytes.toString("utf8", MARK_BYTES.length))
    : null;
}

/** What reading results takes. */
interface Fetching<R> {
  readonly results: ResultStore | null;
  readonly resultCodec: Codec<R, never>;
}

/** What keeping them takes. */
interface Keeping<R> {
  readonly name: string;
  readonly results: ResultStore | null;
  readonly resultCodec: Codec<unknown, R>;
  readonly maxPayloadBytes: number;
  readonly maxInlineResultBytes: number;
}

/** A result as it goes into the store; a promise if it goes elsewhere first. */
export function encodeResult<R>(
  queue: Keeping<R>,
  result: R,
  job: { readonly id: string; readonly attempt: number },
): string | Uint8Array | Promise<string> {
  const { results, resultCodec, maxPayloadBytes } = queue;
  if (result === undefined) {
    if (resultCodec instanceof ValidatingCodec) resultCodec.check(result);
    return "";
  }
  if (results === null) return encodeWithin(resultCodec, result, maxPayloadBytes, "the result of a job");
  const payload = resultCodec.encode(result);
  const most = Math.min(queue.maxInlineResultBytes, maxPayloadBytes);
  const size = typeof payload === "string" ? Buffer.byteLength(payload, "utf8") : payload.byteLength;
  if (size <= most && keptElsewhere(payload) === null) return payload;
  return keep(results, payload, { queue: queue.name, id: job.id, attempt: job.attempt });
}

async function keep(results: ResultStore, payload: string | Uint8Array, about: ResultOrigin): Promise<string> {
  const ref = await results.set(payload, about);
  if (typeof ref !== "string" || ref === "" || ref.length > MAX_REF) {
    throw new InputError(`results.set must answer with a reference of 1 to ${MAX_REF} characters`);
  }
  return MARK + ref;
}

/** The result that a reference stands for; null if it is gone, or this queue object does not know where results are kept. */
export async function fetched<R>(queue: Fetching<R>, value: R | KeptElsewhere | null): Promise<R | null> {
  if (!(value instanceof KeptElsewhere)) return value;
  const kept = (await queue.results?.get(value.ref)) ?? null;
  if (kept === null) return null;
  return queue.resultCodec.decode(typeof kept === "string" ? kept : Buffer.from(kept));
}

export async function fetchedJob<T, R>(queue: Fetching<R>, job: Job<T, R | KeptElsewhere>): Promise<Job<T, R>> {
  return { ...job, result: await fetched(queue, job.result) };
}

export async function fetchedOutcome<R>(queue: Fetching<R>, outcome: Outcome<R | KeptElsewhere>): Promise<Outcome<R>> {
  return outcome.status === "done" ? { status: "done", result: await fetched(queue, outcome.result) } : outcome;
}
