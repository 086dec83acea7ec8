/**
 * Writes for all connections that have something to say, once per turn of the event loop. What has to be on disk before a
 * reply may leave is brought there first, once for all of them; while that takes time, replies are held, each connection's in
 * order, and commands go on.
 */
import { certainlySoon } from "../platform/timers.ts";

export interface Flushable {
  /** Writes everything that it has to say, what was held included. */
  flush(): void;
  /** Puts what it has to say aside. */
  hold(group: number): void;
  /** Writes what was put aside with this group and those before. */
  release(group: number): void;
  /** Ends it; `afterReplies` lets what is queued go out first. */
  close(afterReplies: boolean): void;
}

export type Before = (then: (kept: boolean) => void) => boolean | undefined;

export class Flusher {
  /** Called before anything is written: whether that may be, or undefined if `then` will be told. */
  readonly #before: Before;
  /** Counts the times that replies were held. */
  #group = 0;
  #waiting = new Set<Flushable>();
  #scheduled = false;
  readonly #run = () => this.flush();

  constructor(before: Before) {
    this.#before = before;
  }

  add(connection: Flushable): void {
    this.#waiting.add(connection);
    if (this.#scheduled) return;
    this.#scheduled = true;
    certainlySoon(this.#run);
  }

  forget(connection: Flushable): void {
    this.#waiting.delete(connection);
  }

  flush(): void {
    this.#scheduled = false;
    const waiting = this.#waiting;
    if (waiting.size === 0) return;
    const group = ++this.#group;
    let held = false;
    let known: boolean | undefined;
    const then = (kept: boolean) => {
      known = kept;
      if (held) for (const connection of waiting) settle(connection, kept, group);
    };
    known = this.#before(then) ?? known;
    this.#waiting = new Set();
    if (known !== undefined) for (const connection of waiting) settle(connection, known, Number.POSITIVE_INFINITY);
    else {
      held = true;
      for (const connection of waiting) connection.hold(group);
    }
  }
}

function settle(connection: Flushable, kept: boolean, group: number): void {
  // What could not be brought to disk is not acknowledged: the peers cannot know how it ended, as after a crash.
  if (!kept) connection.close(false);
  else if (group === Number.POSITIVE_INFINITY) connection.flush();
  else connection.release(group);
}
