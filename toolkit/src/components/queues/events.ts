/**
 * What happens in a queue, as a stream that can be followed from any point that it still has.
 *
 * A script writes one entry for all that it did, so following costs little whatever the number of jobs. A cursor names an entry
 * and how many events of it have been seen; who comes back with one gets what came after it, as long as that is kept.
 */
import { onAbort } from "../../base/abort.ts";
import { InputError } from "../../base/errors.ts";
import { zipped } from "../../base/lists.ts";
import { asList, asListOf, asReply, asText, asTextOrBytes, asTuple } from "../../base/replies.ts";
import type { Reply } from "../../connection/port.ts";
import type { Store } from "../../connection/store.ts";
import { BlockingLoop } from "../../waiting/blocking-loop.ts";
import type { JobError } from "./record.ts";
import { textFrom } from "./record.ts";

/** Something that happened in a queue, and the cursor from which events after it are read. */
export type QueueEvent<R = unknown> = { readonly cursor: string } & (
  | { readonly kind: "added" | "waiting" | "active" | "updated" | "stalled" | "removed"; readonly id: string }
  /** With the result, where the settings say so (`resultsInEvents`). */
  | { readonly kind: "done"; readonly id: string; readonly result?: R | null }
  | { readonly kind: "retry"; readonly id: string; readonly delayMs: number; readonly error: JobError }
  | { readonly kind: "dead"; readonly id: string; readonly error: JobError }
  | { readonly kind: "progress"; readonly id: string; readonly progress: unknown }
  /** It has been running for so long, and still is. */
  | { readonly kind: "slow"; readonly id: string; readonly runningMs: number }
  /** `drained`: the last job has ended; nothing waits, and nothing runs. */
  | { readonly kind: "paused" | "resumed" | "drained" }
);

export const EVENT_KINDS = [
  "added",
  "waiting",
  "active",
  "updated",
  "done",
  "retry",
  "dead",
  "stalled",
  "slow",
  "progress",
  "removed",
  "paused",
  "resumed",
  "drained",
] as const;

/** What happened: a job was added, began, ended …, or the queue was paused, resumed or drained. */
export type QueueEventKind = QueueEvent["kind"];

/** Events of these kinds only. */
export type QueueEventOf<K extends QueueEventKind, R = unknown> = Extract<QueueEvent<R>, { readonly kind: K }>;

/** One entry of the stream: kinds and texts in turn. */
export interface Entry {
  readonly id: string;
  readonly fields: readonly Reply[];
}

const BLOCK_MS = 5_000;
const PAGE = 200;

export interface Following {
  readonly key: string;
  /** Reads what comes after this entry. */
  readonly from: string;
  readonly buffers: boolean;
  readonly onEntries: (entries: readonly Entry[]) => void | Promise<void>;
  /** Nothing has come for a while, or something may be missing. */
  readonly onIdle?: () => void;
}

/** The loop that reads a stream; it survives lost connections. */
export function streamLoop(store: Store, { key, from, buffers, onEntries, onIdle }: Following): BlockingLoop {
  let last = from;
  return new BlockingLoop(store, {
    round: async (wait) => {
      const words = ["XREAD", "COUNT", PAGE, "BLOCK", BLOCK_MS, "STREAMS", key, last];
      const entries = entriesOf(await wait(key, words, { timeoutMs: BLOCK_MS, buffers }));
      const newest = entries.at(-1);
      if (newest === undefined) return onIdle?.();
      last = newest.id;
      await onEntries(entries);
    },
    onFault: () => {
      onIdle?.();
      return true;
    },
  });
}

function entriesOf(reply: Reply): Entry[] {
  if (!Array.isArray(reply) || reply.length === 0) return [];
  const [[, entries]] = asTuple(asTuple(asReply, asListOf(asTuple(asReply, asList))))(reply);
  return entries.map(([id, fields]) => ({ id: textFrom(id), fields }));
}

/** Reads a result. */
type Decode = (payload: string | Buffer) => unknown;

/** The events of an entry for callers; what is only for callers that wait for a result is left out. */
function eventsOf(entry: Entry, decode: Decode): QueueEvent[] {
  const events: QueueEvent[] = [];
  const push = (event: Record<string, unknown>) => {
    events.push({ ...event, cursor: `${entry.id}:${events.length + 1}` } as unknown as QueueEvent);
  };
  for (let at = 0; at + 1 < entry.fields.length; at += 2) {
    const kind = textFrom(entry.fields[at]);
    if (kind === "result" || kind === "error") continue;
    if (kind === "ended") {
      const value = asTextOrBytes(entry.fields[at + 1]);
      const end = value.indexOf("\n");
      const payload = typeof value === "string" ? value.slice(end + 1) : value.subarray(end + 1);
      push({ kind: "done", id: textFrom(value.slice(0, end)), result: decode(payload) });
      continue;
    }
    const text = textFrom(entry.fields[at + 1]);
    if (kind === "paused" || kind === "resumed" || kind === "drained") push({ kind });
    else if (kind === "slow") {
      const { line: id, rest } = firstLine(text);
      push({ kind, id, runningMs: Number(rest) });
    } else if (kind === "retry") {
      const { line: id, rest } = firstLine(text);
      const { line: delayMs, rest: error } = firstLine(rest);
      push({ kind, id, delayMs: Number(delayMs), error: JSON.parse(error) });
    } else if (kind === "dead" || kind === "progress") {
      const { line: id, rest } = firstLine(text);
      push(kind === "dead" ? { kind, id, error: JSON.parse(rest) } : { kind, id, progress: JSON.parse(rest) });
    } else for (const id of text.split("\n")) push({ kind, id });
  }
  return events;
}

function firstLine(text: string): { readonly line: string; readonly rest: string } {
  const end = text.indexOf("\n");
  return { line: text.slice(0, end), rest: text.slice(end + 1) };
}

interface Position {
  readonly after: string;
  readonly entry: string;
  readonly seen: number;
}

/** Where to read on from a cursor: from before its entry, of which `seen` events are skipped. */
function positionOf(cursor: string): Position {
  const match = /^(\d+)-(\d+)(?::(\d+))?$/.exec(cursor);
  if (match === null) throw new InputError(`"${cursor}" is no cursor of a queue's events`);
  const [, ms = "", seq = "", seen] = match;
  if (seen === undefined) return { after: cursor, entry: "", seen: 0 };
  const before =
    seq !== "0" ? `${ms}-${BigInt(seq) - 1n}` : ms === "0" ? "0-0" : `${BigInt(ms) - 1n}-18446744073709551615`;
  return { after: before, entry: `${ms}-${seq}`, seen: Number(seen) };
}

/** Which events are read, and from where. */
export interface EventsOptions {
  /** A cursor, "start" for all that is kept, or "now", which is the default. */
  readonly from?: string;
  /** Only events of these kinds; all by default. */
  readonly kinds?: readonly QueueEventKind[];
  /** Ends the feed, as `close` does. None by default. */
  readonly signal?: AbortSignal;
}

/** What a feed reads, and how. */
export interface FeedSource {
  readonly store: Store;
  /** The streams. */
  readonly keys: readonly string[];
  readonly buffers: boolean;
  readonly decode: Decode;
}

const MAX_BUFFERED = 1_000;

/**
 * Events of a queue: `for await (const event of feed)`. The cursor of a queue of several shards has one part for each.
 * @example
 * const queue = new Queue(db, "mails");
 * await queue.add("hello");
 * const feed = await queue.events({ from: "start", kinds: ["added"] });
 * for await (const { id } of feed) feed.close();
 */
export class EventFeed<E extends QueueEvent = QueueEvent> implements AsyncIterable<E> {
  readonly #buffer: QueueEvent[] = [];
  readonly #cursors: string[];
  readonly #loops: BlockingLoop[] = [];
  readonly #stopListening: (() => void)[] = [];
  #isEnded = false;
  #wakeReader: (() => void) | null = null;
  #wakeWriters: (() => void)[] = [];

  private constructor(cursors: string[]) {
    this.#cursors = cursors;
  }

  /** What `Queue.events` calls. @internal */
  static async open<E extends QueueEvent>(source: FeedSource, options: EventsOptions): Promise<EventFeed<E>> {
    const { store, keys } = source;
    const { from = "now", signal, kinds } = options;
    const isWanted = kinds === undefined ? () => true : (event: QueueEvent) => kinds.includes(event.kind);
    const parts = from === "start" ? keys.map(() => "0-0") : from === "now" ? await ends(store, keys) : from.split(",");
    if (parts.length !== keys.length) throw new InputError(`"${from}" is no cursor of this queue's events`);
    const positions = parts.map(positionOf);
    const feed = new EventFeed<E>(parts);
    for (const [shard, [key, position]] of zipped(keys, positions).entries()) {
      feed.#loops.push(feed.#follow(source, isWanted, { key, shard, position }));
    }
    for (const stop of signal === undefined ? [store.closeSignal] : [store.closeSignal, signal]) {
      if (stop.aborted) feed.#finish();
      else feed.#stopListening.push(onAbort(stop, () => feed.#finish()));
    }
    if (!feed.#isEnded) for (const loop of feed.#loops) void loop.run();
    return feed;
  }

  #follow(
    { store, buffers, decode }: FeedSource,
    isWanted: (event: QueueEvent) => boolean,
    { key, shard, position }: { readonly key: string; readonly shard: number; readonly position: Position },
  ): BlockingLoop {
    const { after, entry, seen } = position;
    return streamLoop(store, {
      key,
      from: after,
      buffers,
      onEntries: async (entries) => {
        for (const each of entries) {
          const events = eventsOf(each, decode).slice(each.id === entry ? seen : 0);
          this.#push(shard, events.filter(isWanted));
        }
        while (this.#buffer.length > MAX_BUFFERED && !this.#isEnded) await this.#room();
      },
    });
  }

  /** From where to go on after what has been read so far. */
  get cursor(): string {
    return this.#cursors.join(",");
  }

  #push(shard: number, events: readonly QueueEvent[]): void {
    for (const event of events) {
      const cursors = this.#cursors.length === 1 ? event.cursor : `${shard} ${event.cursor}`;
      this.#buffer.push({ ...event, cursor: cursors });
    }
    if (events.length > 0) this.#wakeReader?.();
  }

  #room(): Promise<void> {
    return new Promise((resolve) => this.#wakeWriters.push(resolve));
  }

  #finish(): void {
    this.#isEnded = true;
    for (const stopListening of this.#stopListening.splice(0)) stopListening();
    for (const loop of this.#loops.splice(0)) loop.close();
    this.#wakeReader?.();
    for (const wake of this.#wakeWriters.splice(0)) wake();
  }

  /** Ends it; a loop over it comes to its end. */
  close(): void {
    this.#finish();
  }

  /** The same as `close`. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  /** The events in order. Leaving the loop ends the feed. */
  async *[Symbol.asyncIterator](): AsyncGenerator<E, void, undefined> {
    try {
      for (;;) {
        const event = this.#buffer.shift();
        if (event !== undefined) {
          if (this.#buffer.length <= MAX_BUFFERED / 2) for (const wake of this.#wakeWriters.splice(0)) wake();
          // Others were left out before.
          yield this.#passed(event) as E;
        } else if (this.#isEnded) {
          return;
        } else {
          await new Promise<void>((resolve) => {
            this.#wakeReader = resolve;
          });
          this.#wakeReader = null;
        }
      }
    } finally {
      this.#finish();
    }
  }

  /** Notes how far the reader is, and gives each event the cursor of the whole queue. */
  #passed(event: QueueEvent): QueueEvent {
    if (this.#cursors.length === 1) {
      this.#cursors[0] = event.cursor;
      return event;
    }
    const [shard, cursor = ""] = event.cursor.split(" ");
    this.#cursors[Number(shard)] = cursor;
    return { ...event, cursor: this.cursor };
  }
}

/** The ends of the streams as they are now. */
async function ends(store: Store, keys: readonly string[]): Promise<string[]> {
  const heads = await Promise.all(keys.map((key) => store.call("XREVRANGE", key, "+", "-", "COUNT", 1)));
  return heads.map((reply) => asListOf(asTuple(asText, asReply))(reply)[0]?.[0] ?? "0-0");
}
