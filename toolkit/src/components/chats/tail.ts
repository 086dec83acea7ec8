/**
 * The end of a chat, kept in memory for all who read it in this process.
 *
 * A message that a thousand members wait for in one process is fetched once. When there may be something new (a hint, see
 * waiting/hint.ts), the tail fetches what came after what it has, and wakes the readers, who take it from here. So a lost wake-up
 * costs a poll at most, and what is delivered comes from the log, in its order.
 *
 * What a member may see is judged by the store, not here. A reader that has looked for itself knows the chat's `left`, a number
 * that changes with everyone who leaves; while the tail was fetched at the same number, nobody has left in between, and the reader
 * may take what is here. When the numbers differ it looks for itself again. So nobody is handed what was sent after they left.
 */
import type { Codec } from "../../base/codec.ts";
import type { Store } from "../../connection/store.ts";
import { Hint } from "../../waiting/hint.ts";
import type { ChatKeys } from "./keys.ts";
import { decodeEntries, type Message, type Sized } from "./message.ts";
import { tail, tailBytes } from "./scripts.ts";

export interface TailSource<T> {
  readonly store: Store;
  readonly keys: ChatKeys;
  readonly codec: Codec<T>;
  readonly pollMs: number;
}

/** Readers that are further behind read from the log themselves. */
const MAX_KEPT = 500;
const MAX_KEPT_BYTES = 1024 * 1024;
/** A chat that does not exist. */
export const NOBODY = -1;

export class Tail<T> {
  readonly #source: TailSource<T>;
  readonly #onEnd: () => void;
  readonly #hint: Hint;
  readonly #listeners = new Set<() => void>();
  /** Contiguous, up to `#to`; those before `#from` are gone, and cleared away now and then. */
  #kept: Sized<T>[] = [];
  #from = 0;
  #keptBytes = 0;
  /** The last id that is known of; unknown until the first reader says. */
  #to = -1;
  #left = NOBODY;
  /** Grows with everything that readers may have to look at. */
  #version = 0;
  #wasAsked = false;
  #isUsed = true;

  constructor(source: TailSource<T>, onEnd: () => void) {
    this.#source = source;
    this.#onEnd = onEnd;
    const { store, keys, pollMs } = source;
    this.#hint = new Hint(store, {
      channel: keys.wake,
      pollMs,
      // An id, or a word for what has happened to members.
      versions: { of: (message) => versionOf(message.toString("latin1")), seen: () => this.#to },
      look: () => this.#fetch(),
      isNeeded: () => this.#isNeeded(),
    });
  }

  get version(): number {
    return this.#version;
  }

  /** The last id that is known of. */
  get last(): number {
    return this.#to;
  }

  /** From now on `listener` is called when there may be something new, and now and then. `last`, `left`: as the reader saw them. */
  join(listener: () => void, last: number, left: number): void {
    this.#listeners.add(listener);
    this.#isUsed = true;
    if (this.#to >= 0) return;
    this.#to = last;
    this.#left = left;
    this.#hint.follow();
  }

  leave(listener: () => void): void {
    this.#listeners.delete(listener);
  }

  /**
   * The messages after `after`. "behind": they are no longer here, and the log has to be asked. "unsure": the tail is older than
   * what the reader knows, or the reader than the tail.
   */
  after(after: number, left: number, limit: number): readonly Message<T>[] | "behind" | "unsure" {
    if (left !== this.#left || after > this.#to) return "unsure";
    if (after === this.#to) return [];
    const start = this.#kept.length - (this.#to - after);
    if (start < this.#from) return "behind";
    return this.#kept.slice(start, start + limit).map(({ message }) => message);
  }

  /** Fetches, and calls the listeners afterwards whatever comes of it. */
  refresh(): void {
    this.#wasAsked = true;
    // After a look that failed the next poll comes by itself.
    this.#hint.look().catch(() => {});
  }

  /** At each poll: wakes the readers, who may have to renew their presence. */
  #isNeeded(): boolean {
    // One round without readers, so that readers that ask again and again find it as they left it.
    if (this.#listeners.size === 0 && !this.#isUsed) {
      this.#onEnd();
      return false;
    }
    this.#isUsed = this.#listeners.size > 0;
    this.#wake();
    return true;
  }

  async #fetch(): Promise<void> {
    const { store, keys, codec } = this.#source;
    const wasAsked = this.#wasAsked;
    this.#wasAsked = false;
    const params = { meta: keys.meta, log: keys.log, after: this.#to, limit: MAX_KEPT };
    const found = await store.run(codec.binary ? tailBytes : tail, params);
    if (!this.#take(found) && !wasAsked) return;
    this.#version++;
    this.#wake();
  }

  /** Whether anything has changed. */
  #take(found: ReturnType<typeof tail.reply>): boolean {
    if (found === null) {
      const wasThere = this.#left !== NOBODY;
      this.#left = NOBODY;
      this.#empty();
      return wasThere;
    }
    const [, last, left, entries] = found;
    const isNew = left !== this.#left || last !== this.#to;
    const fetched = decodeEntries(entries, this.#source.codec);
    if (last !== this.#to && fetched[0]?.message.id !== this.#to + 1) this.#empty();
    this.#keep(fetched);
    this.#left = left;
    this.#to = last;
    return isNew;
  }

  #empty(): void {
    this.#kept = [];
    this.#from = 0;
    this.#keptBytes = 0;
  }

  #keep(fetched: readonly Sized<T>[]): void {
    for (const each of fetched) {
      this.#kept.push(each);
      this.#keptBytes += each.bytes;
    }
    while (this.#kept.length - this.#from > MAX_KEPT || this.#keptBytes > MAX_KEPT_BYTES) {
      this.#keptBytes -= this.#kept[this.#from++]!.bytes;
    }
    if (this.#from <= MAX_KEPT) return;
    this.#kept.splice(0, this.#from);
    this.#from = 0;
  }

  #wake(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}

function versionOf(message: string): number {
  const id = Number(message);
  return Number.isNaN(id) ? Number.POSITIVE_INFINITY : id;
}
