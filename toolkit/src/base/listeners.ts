/** Listeners by event. One that throws stops nobody: its error is thrown where the process hears of it. */
import { oneOf } from "./checks.ts";

type Functions<E> = { readonly [event in keyof E]: (...args: never[]) => void };

export class Listeners<E extends Functions<E>> {
  readonly #events: readonly (keyof E & string)[];
  readonly #heard = new Map<keyof E, Set<(...args: never[]) => void>>();

  constructor(...events: readonly (keyof E & string)[]) {
    this.#events = events;
  }

  /** Returns what takes the listener off. */
  add<N extends keyof E & string>(event: N, listener: E[N]): () => void {
    oneOf("event", event, this.#events);
    const listeners = this.#heard.get(event) ?? new Set();
    this.#heard.set(event, listeners.add(listener));
    return () => void listeners.delete(listener);
  }

  tell<N extends keyof E & string>(event: N, ...args: Parameters<E[N]>): void {
    for (const listener of this.#heard.get(event) ?? []) {
      try {
        listener(...args);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
