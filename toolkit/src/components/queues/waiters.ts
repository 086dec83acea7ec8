/**
 * Waiting for the ends of jobs. All waiters of a queue object share one follower of the events of each shard, which runs while
 * there are any. A job that somebody waits for has its result in the event itself, so it does not matter how soon the job is
 * dropped. Whenever something may have been missed, and every few seconds, the store is asked.
 */
import type { Codec } from "../../base/codec.ts";
import { asTextOrBytes, asTuple } from "../../base/replies.ts";
import type { Store } from "../../connection/store.ts";
import type { BlockingLoop } from "../../waiting/blocking-loop.ts";
import { settleWhen } from "../../waiting/settle-when.ts";
import type { KeptElsewhere } from "./elsewhere.ts";
import { type Entry, streamLoop } from "./events.ts";
import type { QueueKeys } from "./keys.ts";
import { decodeResult, type JobError, parseEnding, textFrom } from "./record.ts";
import { awaitJob, awaitJobBytes } from "./scripts/read.ts";

/**
 * How a job ended. `not-found`: there is no such job, or it ended and was dropped before anybody asked. `timeout`: it has not ended yet.
 */
export type Outcome<R> =
  | {
      /** What became of the wait. */
      readonly status: "done";
      /** What the handler gave; null if it returned nothing, or the result is gone. */
      readonly result: R | null;
    }
  | {
      /** What became of the wait. */
      readonly status: "dead";
      /** Why the job failed. */
      readonly error: JobError;
    }
  | {
      /** What became of the wait. */
      readonly status: "not-found";
    }
  | {
      /** What became of the wait. */
      readonly status: "timeout";
    };

/** How long to wait for the end of a job. */
export interface WaitForOptions {
  /** How long to wait. By default until the job has ended. */
  readonly timeoutMs?: number;
  /** Ends the wait: it rejects with the signal's reason. None by default. */
  readonly signal?: AbortSignal;
}

const RECHECKED = 100;

/** Its status, how it ended, and up to where events were written then. */
const ENDING = asTuple(asTextOrBytes, asTextOrBytes, asTextOrBytes);

export class Waiters<R> {
  readonly #store: Store;
  readonly #keys: QueueKeys;
  readonly #codec: Codec<R, never>;
  readonly #waiting = new Map<string, Set<(outcome: Outcome<R | KeptElsewhere>) => void>>();
  /** Ids that are being added: that the store does not know them yet means nothing. */
  readonly #expected = new Set<string>();
  /** Ids that the store does not know any more, by the end of the stream when it said so: their end may be in what is unread. */
  readonly #gone = new Map<string, string>();
  #follower: BlockingLoop | null = null;
  /** Up to where the follower has read. */
  #place = "";
  #rechecking = false;

  constructor(store: Store, keys: QueueKeys, codec: Codec<R, never>) {
    this.#store = store;
    this.#keys = keys;
    this.#codec = codec;
  }

  async wait(id: string, options: WaitForOptions): Promise<Outcome<R | KeptElsewhere>> {
    options.signal?.throwIfAborted();
    const { outcome, place } = await this.#ask(id);
    return outcome ?? this.#settled(id, options, place);
  }

  /** Listens for a job before it is there, so that however fast it ends, nothing is missed; then `add` adds it. */
  async expect(id: string, options: WaitForOptions, add: () => Promise<boolean>): Promise<Outcome<R | KeptElsewhere>> {
    options.signal?.throwIfAborted();
    const place = this.#follower === null ? (await this.#ask(id)).place : "";
    const abort = new AbortController();
    const signal = options.signal === undefined ? abort.signal : AbortSignal.any([abort.signal, options.signal]);
    const settled = this.#settled(id, { ...options, signal }, place);
    settled.catch(() => {});
    this.#expected.add(id);
    try {
      const added = await add();
      this.#expected.delete(id);
      if (added) return await settled;
    } catch (error) {
      this.#expected.delete(id);
      abort.abort();
      throw error;
    }
    abort.abort();
    return this.wait(id, options);
  }

  #settled(id: string, { timeoutMs, signal }: WaitForOptions, place: string): Promise<Outcome<R | KeptElsewhere>> {
    const limits = { signal, timeoutMs, onTimeout: { status: "timeout" } } as const;
    return settleWhen<Outcome<R | KeptElsewhere>>(this.#store, limits, ({ settle }) => {
      this.#add(id, settle, place);
      return () => this.#remove(id, settle);
    });
  }

  async #ask(id: string): Promise<{ readonly outcome: Outcome<R | KeptElsewhere> | null; readonly place: string }> {
    const script = this.#codec.binary ? awaitJobBytes : awaitJob;
    const [status, ending, place] = ENDING(await this.#store.run(script, { ...this.#keys, id }));
    const from = textFrom(place);
    switch (textFrom(status)) {
      case "done":
        return {
          outcome: { status: "done", result: decodeResult(parseEnding(ending).payload, this.#codec) },
          place: from,
        };
      case "dead":
        return { outcome: { status: "dead", error: JSON.parse(textFrom(parseEnding(ending).payload)) }, place: from };
      case "missing":
        return { outcome: { status: "not-found" }, place: from };
      default:
        return { outcome: null, place: from };
    }
  }

  #add(id: string, settle: (outcome: Outcome<R | KeptElsewhere>) => void, place: string): void {
    const same = this.#waiting.get(id);
    if (same === undefined) this.#waiting.set(id, new Set([settle]));
    else same.add(settle);
    if (this.#follower !== null) return;
    this.#place = place;
    this.#follower = streamLoop(this.#store, {
      key: this.#keys.events,
      from: place,
      buffers: this.#codec.binary,
      onEntries: (entries) => this.#read(entries),
      onIdle: () => void this.#recheck(),
    });
    void this.#follower.run();
  }

  #remove(id: string, settle: (outcome: Outcome<R | KeptElsewhere>) => void): void {
    const same = this.#waiting.get(id);
    same?.delete(settle);
    if (same?.size === 0) {
      this.#waiting.delete(id);
      this.#gone.delete(id);
    }
    if (this.#waiting.size > 0) return;
    this.#follower?.close();
    this.#follower = null;
  }

  #read(entries: readonly Entry[]): void {
    for (const { fields } of entries) {
      for (let at = 0; at + 1 < fields.length; at += 2) {
        const kind = textFrom(fields[at]);
        if (kind === "result" || kind === "error") this.#settle(kind, asTextOrBytes(fields[at + 1]));
      }
    }
    this.#place = entries.at(-1)?.id ?? this.#place;
    for (const [id, place] of this.#gone)
      if (!isBefore(this.#place, place)) this.#settleAll(id, { status: "not-found" });
  }

  #settle(kind: "result" | "error", value: string | Buffer): void {
    const end = value.indexOf("\n");
    const id = textFrom(value.slice(0, end));
    const payload = typeof value === "string" ? value.slice(end + 1) : value.subarray(end + 1);
    if (!this.#waiting.has(id)) return;
    const outcome: Outcome<R | KeptElsewhere> =
      kind === "result"
        ? { status: "done", result: decodeResult(payload, this.#codec) }
        : { status: "dead", error: JSON.parse(textFrom(payload)) };
    this.#settleAll(id, outcome);
  }

  #settleAll(id: string, outcome: Outcome<R | KeptElsewhere>): void {
    for (const settle of [...(this.#waiting.get(id) ?? [])]) settle(outcome);
  }

  /** Asks about all, a part at a time. */
  async #recheck(): Promise<void> {
    if (this.#rechecking) return;
    this.#rechecking = true;
    try {
      const ids = [...this.#waiting.keys()];
      for (let at = 0; at < ids.length; at += RECHECKED) {
        await Promise.all(ids.slice(at, at + RECHECKED).map((id) => this.#recheckOne(id)));
      }
    } catch {
      // The next look comes by itself.
    } finally {
      this.#rechecking = false;
    }
  }

  async #recheckOne(id: string): Promise<void> {
    const { outcome, place } = await this.#ask(id);
    if (outcome === null || (outcome.status === "not-found" && this.#expected.has(id))) return;
    // A job that is not kept is gone with its end. How it ended is in the stream.
    if (outcome.status === "not-found" && this.#waiting.has(id) && isBefore(this.#place, place))
      this.#gone.set(id, place);
    else this.#settleAll(id, outcome);
  }
}

/** Of two ids of a stream. */
function isBefore(one: string, other: string): boolean {
  const [ms = 0, nth = 0] = one.split("-").map(Number);
  const [otherMs = 0, otherNth = 0] = other.split("-").map(Number);
  return ms < otherMs || (ms === otherMs && nth < otherNth);
}
