/**
 * Questions that are about to be sent. Callers with the same question share it until it is sent, in the next microtask, and never
 * after: by then its answer can be older than a caller, and older than a change that the caller knows to be over.
 */
export class SharedQuestions<R> {
  readonly #unsent = new Map<string, Promise<R>>();

  /** `isMine`: it is this caller's `send` that is called. */
  ask(key: string, send: () => Promise<R>): { readonly answer: Promise<R>; readonly isMine: boolean } {
    const unsent = this.#unsent.get(key);
    if (unsent !== undefined) return { answer: unsent, isMine: false };
    const answer = Promise.resolve().then(() => {
      this.#unsent.delete(key);
      return send();
    });
    this.#unsent.set(key, answer);
    return { answer, isMine: true };
  }
}
