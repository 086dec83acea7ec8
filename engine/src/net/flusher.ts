/**
 * Writes for all connections that have something to say, once per turn of the event loop. What has to be on disk before a
 * reply may leave is brought there first, once for all of them.
 */

export interface Flushable {
  flush(): void;
  /** Ends it; `afterReplies` lets what is queued go out first. */
  close(afterReplies: boolean): void;
}

export class Flusher {
  /** Called before anything is written; false if nothing may be. */
  readonly #before: () => boolean;
  #waiting = new Set<Flushable>();
  #scheduled = false;
  readonly #run = () => this.flush();

  constructor(before: () => boolean) {
    this.#before = before;
  }

  add(connection: Flushable): void {
    this.#waiting.add(connection);
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(this.#run);
  }

  forget(connection: Flushable): void {
    this.#waiting.delete(connection);
  }

  flush(): void {
    this.#scheduled = false;
    const waiting = this.#waiting;
    if (waiting.size === 0) return;
    const kept = this.#before();
    this.#waiting = new Set();
    for (const connection of waiting) {
      if (kept) connection.flush();
      // What could not be brought to disk is not acknowledged: the peers cannot know how it ended, as after a crash.
      else connection.close(false);
    }
  }
}
