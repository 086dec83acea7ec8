/** The state of a connection and who wants to hear of it. */
import type { ConnectionState } from "./port.ts";

export class States {
  readonly #listeners = new Set<(state: ConnectionState) => void>();
  #state: ConnectionState = "connecting";

  get current(): ConnectionState {
    return this.#state;
  }

  set(state: ConnectionState): void {
    if (state === this.#state || this.#state === "closed") return;
    this.#state = state;
    for (const listener of [...this.#listeners]) listener(state);
  }

  /** The listener hears the present state first. */
  add(listener: (state: ConnectionState) => void): () => void {
    this.#listeners.add(listener);
    queueMicrotask(() => {
      if (this.#listeners.has(listener)) listener(this.#state);
    });
    return () => this.#listeners.delete(listener);
  }
}
