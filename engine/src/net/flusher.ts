/**
 * Writes for all connections that have something to say, once per turn of the event loop. What has to be on disk before a
 * reply may leave is brought there first, once for all of them.
 */

export interface Flushable {
  flush(): void;
}

export class Flusher {
  /** Called before anything is written. */
  readonly #before: () => void;
  #waiting = new Set<Flushable>();
  #scheduled = false;
  readonly #run = () => this.flush();

  constructor(before: () => void) {
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
    this.#before();
    this.#waiting = new Set();
    for (const connection of waiting) connection.flush();
  }
}
