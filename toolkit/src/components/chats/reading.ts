/** `read` that waits and `messages`: both go along a chat with a follower; `messages` also acknowledges what was read. */
import { sleep, type Timer } from "../../base/clock.ts";
import { ConnectionError, ServerError } from "../../base/errors.ts";
import { Follower } from "./follower.ts";
import type { Message } from "./message.ts";
import type { MessagesOptions, ReadOptions } from "./options.ts";
import type { MessagePage, Room } from "./room.ts";

/** Messages in a page. */
const DEFAULT_LIMIT = 100;

/** What there is now, or the next that comes while it waits. Null: not a member. */
export async function readOrWait<T>(
  room: Room<T>,
  name: string,
  member: string,
  options: ReadOptions,
): Promise<MessagePage<T> | null> {
  const { cursor: after = null, limit = DEFAULT_LIMIT, waitMs = 0, signal } = options;
  const present = options.present ?? (waitMs > 0 && room.rules.what === "chat");
  if (waitMs === 0) {
    signal?.throwIfAborted();
    const presenceMs = present ? room.rules.presenceMs : 0;
    return (await room.look(name, member, { after, limit, presenceMs }))?.page ?? null;
  }
  const untilMs = room.store.clock.monotonicMs() + waitMs;
  const follower = new Follower(room, name, member, { after, limit, present, signal });
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

  /** The first is announced at once, the ones that follow soon after it together. */
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
  options: MessagesOptions,
): AsyncGenerator<Message<T>, void, undefined> {
  const { from: after = null, limit = DEFAULT_LIMIT, signal, acknowledge = true } = options;
  const { present = room.rules.what === "chat" } = options;
  const follower = new Follower(room, name, member, { after, limit, present, signal });
  const acknowledging = acknowledge ? new Acknowledging(room, name, member) : null;
  const isOver = (): boolean => signal?.aborted === true || room.store.closed;
  let missed = 0;
  try {
    while (!isOver()) {
      const page = await nextPage(room, follower, signal);
      if (page === null) return;
      missed += page.missed;
      for (const [nth, message] of page.items.entries()) {
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
): Promise<MessagePage<T> | null> {
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
