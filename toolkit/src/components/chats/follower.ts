/**
 * A reader that goes along a chat: the one way of reading under `wait`, `stream`, long polls and server-sent events. It looks for
 * itself at the beginning, whenever the tail (tail.ts) cannot tell, and often enough to stay present; everything else it takes from
 * the tail, without a request.
 */
import { settleWhen } from "../../waiting/settle-when.ts";
import type { Message } from "./message.ts";
import type { MessagePage, Room } from "./room.ts";
import { NOBODY, type Tail } from "./tail.ts";

export interface FollowOptions {
  /** Null: from what the member has acknowledged. */
  readonly after: number | null;
  /** Messages in a page at most. */
  readonly limit: number;
  /** Keeps the member present. */
  readonly present: boolean;
  readonly signal: AbortSignal | undefined;
}

export class Follower<T> {
  readonly #room: Room<T>;
  readonly #name: string;
  readonly #member: string;
  readonly #options: FollowOptions;
  readonly #presenceMs: number;
  readonly #wake = (): void => this.#onWake?.();
  #onWake: (() => void) | null = null;
  #after: number | null;
  #left = NOBODY;
  #tail: Tail<T> | null = null;
  /** The tail's version when a look of our own found nothing; -1: it found something, or there was none. */
  #emptyAt = -1;
  #presentUntilMs = Number.NEGATIVE_INFINITY;

  constructor(room: Room<T>, name: string, member: string, options: FollowOptions) {
    this.#room = room;
    this.#name = name;
    this.#member = member;
    this.#options = options;
    this.#after = options.after;
    this.#presenceMs = options.present ? room.rules.presenceMs : 0;
  }

  /** The next page; an empty one when `untilMs` (of the monotonic clock) has come; null: not, or no longer, a member. */
  async next(untilMs: number | null): Promise<MessagePage<T> | null> {
    const { limit, signal } = this.#options;
    const { store } = this.#room;
    for (;;) {
      signal?.throwIfAborted();
      store.closeSignal.throwIfAborted();
      const tail = this.#isDue() ? null : this.#tail;
      const after = this.#after;
      const found = tail === null || after === null ? "behind" : tail.after(after, this.#left, limit);
      if (tail === null || after === null || (typeof found === "string" && this.#emptyAt !== tail.version)) {
        const page = await this.#look();
        if (page === null || page.items.length > 0 || page.missed > 0) return page;
        continue;
      }
      if (typeof found !== "string" && found.length > 0) return this.#served(tail, after, found);
      if (untilMs !== null && store.clock.monotonicMs() >= untilMs) return this.#served(tail, after, []);
      // A look found nothing, and the tail does not know that yet.
      if (typeof found === "string") tail.refresh();
      await this.#woken(untilMs);
    }
  }

  /** Whether it has to look for itself, whatever the tail has. */
  #isDue(): boolean {
    return (
      this.#tail === null || (this.#presenceMs > 0 && this.#room.store.clock.monotonicMs() >= this.#presentUntilMs)
    );
  }

  async #look(): Promise<MessagePage<T> | null> {
    const { clock } = this.#room.store;
    const { limit } = this.#options;
    const version = this.#tail?.version ?? 0;
    // A third of the lease: two renewals may fail.
    if (this.#presenceMs > 0) this.#presentUntilMs = clock.monotonicMs() + this.#presenceMs / 3;
    const what = { after: this.#after, limit, presenceMs: this.#presenceMs };
    const looked = await this.#room.look(this.#name, this.#member, what);
    if (looked === null && this.#room.rules.what === "chat") return null;
    const page = looked?.page ?? { items: [], cursor: this.#after ?? 0, missed: 0, remaining: 0 };
    this.#after = page.cursor;
    this.#left = looked?.left ?? NOBODY;
    this.#emptyAt = page.items.length > 0 ? -1 : version;
    if (page.items.length === 0 && this.#tail === null) {
      this.#tail = this.#room.tail(this.#name);
      this.#tail.join(this.#wake, page.cursor, this.#left);
      this.#emptyAt = this.#tail.version;
    }
    return page;
  }

  #served(tail: Tail<T>, after: number, messages: readonly Message<T>[]): MessagePage<T> {
    const cursor = messages.at(-1)?.id ?? after;
    this.#after = cursor;
    return { items: messages, cursor, missed: 0, remaining: Math.max(0, tail.last - cursor) };
  }

  /** Until the tail calls, or it is `untilMs`. */
  #woken(untilMs: number | null): Promise<void> {
    const { store } = this.#room;
    const timeoutMs = untilMs === null ? undefined : untilMs - store.clock.monotonicMs();
    return settleWhen<void>(store, { signal: this.#options.signal, timeoutMs, onTimeout: undefined }, ({ settle }) => {
      this.#onWake = settle;
      return () => {
        this.#onWake = null;
      };
    });
  }

  close(): void {
    this.#tail?.leave(this.#wake);
  }
}
