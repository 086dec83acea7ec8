/**
 * Calls of one turn of the event loop, asked as one question. Where many callers ask the same kind of thing at once, as the requests
 * of a busy service do, one script that judges all of them costs the server less than a script for each.
 *
 * Callers notice nothing: each gets its own answer or error. What is asked alone is asked as it is.
 */

/** So many travel together at most: a server does nothing else meanwhile. */
const MOST = 64;

export class Together<I, O> {
  readonly #ask: (items: readonly I[]) => Promise<readonly (O | Error)[]>;
  #items: I[] = [];
  #callers: { readonly resolve: (answer: O) => void; readonly reject: (error: unknown) => void }[] = [];
  readonly #leave = (): void => void this.#send();

  /** `ask` answers in the order of the items, with an error where one of them failed by itself. */
  constructor(ask: (items: readonly I[]) => Promise<readonly (O | Error)[]>) {
    this.#ask = ask;
  }

  ask(item: I): Promise<O> {
    return new Promise((resolve, reject) => {
      if (this.#items.length === 0) process.nextTick(this.#leave);
      this.#items.push(item);
      this.#callers.push({ resolve, reject });
      if (this.#items.length === MOST) void this.#send();
    });
  }

  async #send(): Promise<void> {
    const [items, callers] = [this.#items, this.#callers];
    if (items.length === 0) return;
    this.#items = [];
    this.#callers = [];
    try {
      const answers = await this.#ask(items);
      callers.forEach(({ resolve, reject }, at) => {
        const answer = answers[at];
        if (answer === undefined || answer instanceof Error) reject(answer ?? new Error("a call was not answered"));
        else resolve(answer);
      });
    } catch (error) {
      for (const { reject } of callers) reject(error);
    }
  }
}

/** What all of them give. Rejects as the first that failed does, but only when none is under way any more. */
export async function settled<T>(calls: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(calls);
  return Promise.all(calls);
}
