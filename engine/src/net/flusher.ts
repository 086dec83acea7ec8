/** Writes for all connections that have something to say, once per turn of the event loop. */

export interface Flushable {
  flush(): void;
}

export class Flusher {
  #waiting = new Set<Flushable>();
  #scheduled = false;
  readonly #run = () => this.flush();

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
    this.#waiting = new Set();
    for (const connection of waiting) connection.flush();
  }
}
