/** `wait` and `stream`: both go along a chat with a follower; a stream also acknowledges what was read. */
import { sleep, type Timer } from "../../base/clock.ts";
import { ConnectionError, ServerError } from "../../base/errors.ts";
import { Follower } from "./follower.ts";
import type { Message } from "./message.ts";
import { readOptions, type StreamOptions, type WaitOptions } from "./options.ts";
import type { Page, Room } from "./room.ts";

export async function waited<T>(
  room: Room<T>,
  name: string,
  member: string,
  options: WaitOptions,
): Promise<Page<T> | null> {
  const { waitMs = 25_000, signal, present = room.rules.what === "chat" } = options;
  const untilMs = room.store.clock.monotonicMs() + waitMs;
  const follower = new Follower(room, name, member, { ...readOptions(options), present, signal });
  try {
    return await follower.next(untilMs);
  } finally {
    follower.close();
  }
}

/** A reader that is busy acknowledges so often and not with every message: what it has come to last counts. */
const ACKNOWLEDGE_EVERY_MS = 100;

class Acknowledging<T> {
  readonly #room: Room<T>;
  readonly #name: string;
  readonly #member: string;
  #noted = 0;
  #told = 0;
  #lastMs = Number.NEGATIVE_INFINITY;
  #timer: Timer | null = null;
  #telling: Promise<unknown> | null = null;

  constructor(room: Room<T>, name: string, member: string) {
    this.#room = room;
    this.#name = name;
    this.#member = member;
  }

  /** The first is told of at once, what follows soon after it together. */
  note(id: number): void {
    this.#noted = id;
    if (this.#timer !== null || this.#telling !== null) return;
    const { clock } = this.#room.store;
    const now = clock.monotonicMs();
    const dueMs = this.#lastMs + ACKNOWLEDGE_EVERY_MS - now;
    if (dueMs <= 0) this.#tell(now);
    else this.#timer = clock.after(dueMs, () => this.#tell(now + dueMs));
  }

  #tell(now: number): void {
    const id = this.#noted;
    this.#lastMs = now;
    this.#timer?.cancel();
    this.#timer = null;
    this.#telling = this.#room.acknowledge(this.#name, this.#member, id).then(
      () => {
        this.#told = id;
        this.#telling = null;
        if (this.#noted > id) this.note(this.#noted);
      },
      // What was not acknowledged comes again; and the next acknowledgement says this one too.
      () => {
        this.#telling = null;
      },
    );
  }

  async end(): Promise<void> {
    await this.#telling;
    if (this.#noted > this.#told && !this.#room.store.closed) this.#tell(this.#lastMs);
    await this.#telling;
    this.#timer?.cancel();
  }
}

/** Messages one by one, for as long as the member is in it. What the loop has come back from is acknowledged, if that is wanted. */
export async function* streamed<T>(
  room: Room<T>,
  name: string,
  member: string,
  options: StreamOptions,
): AsyncGenerator<Message<T>, void, undefined> {
  const { signal, present = room.rules.what === "chat", acknowledge = true } = options;
  const follower = new Follower(room, name, member, { ...readOptions(options), present, signal });
  const acknowledging = acknowledge ? new Acknowledging(room, name, member) : null;
  const isOver = (): boolean => signal?.aborted === true || room.store.closed;
  let missed = 0;
  try {
    while (!isOver()) {
      const page = await nextPage(room, follower, signal);
      if (page === null) return;
      missed += page.missed;
      for (const [nth, message] of page.messages.entries()) {
        if (isOver()) return;
        yield nth === 0 && missed !== message.missed ? { ...message, missed } : message;
        if (nth === 0) missed = 0;
        acknowledging?.note(message.id);
      }
    }
  } finally {
    follower.close();
    await acknowledging?.end();
  }
}

/** Outlasts lost connections. Null: it is over. */
async function nextPage<T>(
  room: Room<T>,
  follower: Follower<T>,
  signal: AbortSignal | undefined,
): Promise<Page<T> | null> {
  for (;;) {
    try {
      return await follower.next(null);
    } catch (error) {
      if (signal?.aborted === true || room.store.closed) return null;
      if (!isPassing(error)) throw error;
      await sleep(room.store.clock, room.rules.pollMs, signal).catch(() => {});
    }
  }
}

/** What a server says that cannot answer now and may be able to soon, as while it fails over. */
const PASSING = new Set(["ASK", "CLUSTERDOWN", "LOADING", "MASTERDOWN", "MOVED", "READONLY", "TRYAGAIN"]);

function isPassing(error: unknown): boolean {
  return error instanceof ConnectionError || (error instanceof ServerError && PASSING.has(error.code));
}
