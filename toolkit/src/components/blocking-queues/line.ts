/**
 * Callers of this process that wait, for something to take or for room. They are served in the order in which they came, by as few
 * scripts as possible: one takes for all of them, one pushes for all of them. A hint says when to look; what the scripts find decides.
 *
 * Of a caller for whom a script is under way nobody knows yet how its wait ends. Its time, its signal and the end of the store
 * therefore count only when the answer is there: nothing is taken for somebody who has left.
 */
import { ConnectionError } from "../../base/errors.ts";
import type { Store } from "../../connection/store.ts";
import { Hint } from "../../waiting/hint.ts";
import { settleWhen, type Waiting } from "../../waiting/settle-when.ts";

/** How long a lost message can go unnoticed. */
const POLL_MS = 5_000;
/** So many are served by one script. */
const AT_ONCE = 100;

/** How long a call waits for a value or for room. */
export interface WaitOptions {
  /** How long to wait; 0, which is the default, does not. Infinity waits for as long as it takes. */
  readonly waitMs?: number;
  /** Ends the waiting; the call rejects with its reason. None by default. */
  readonly signal?: AbortSignal;
}

/** What a script does for some callers: how it went for each that was served, from the first on. */
type Serve<I, O> = (inputs: readonly I[]) => Promise<readonly O[]>;

interface Caller<I, O> extends Waiting<O | null> {
  readonly input: I;
  isServed: boolean;
  /** How its wait ends if it is not served now. */
  ended: (() => void) | null;
}

class Callers<I, O> {
  readonly #store: Store;
  readonly #serve: Serve<I, O>;
  readonly #waiting: Caller<I, O>[] = [];

  constructor(store: Store, serve: Serve<I, O>) {
    this.#store = store;
    this.#serve = serve;
  }

  get count(): number {
    return this.#waiting.length;
  }

  wait(input: I, { waitMs, signal }: WaitOptions, begun: () => void): Promise<O | null> {
    let caller: Caller<I, O> | undefined;
    const leave = (end: () => void): void => {
      if (caller === undefined) end();
      else if (caller.isServed) caller.ended = end;
      else {
        this.#waiting.splice(this.#waiting.indexOf(caller), 1);
        end();
      }
    };
    const timeoutMs = waitMs === Number.POSITIVE_INFINITY ? undefined : waitMs;
    return settleWhen<O | null>(this.#store, { signal, timeoutMs, onTimeout: null, leave }, ({ settle, fail }) => {
      caller = { input, settle, fail, isServed: false, ended: null };
      this.#waiting.push(caller);
      begun();
      return () => {};
    });
  }

  /** Serves callers until the queue has nothing more for them. */
  async serve(): Promise<void> {
    while (this.#waiting.length > 0) {
      const served = this.#waiting.slice(0, AT_ONCE);
      for (const caller of served) caller.isServed = true;
      try {
        const results = await this.#serve(served.map(({ input }) => input));
        this.#waiting.splice(0, results.length);
        for (const [at, result] of results.entries()) served[at]?.settle(result);
        const left = served.slice(results.length);
        this.#release(left);
        if (left.length > 0) return;
      } catch (error) {
        // It has not run: they go on waiting, and the next look tries again.
        if (error instanceof ConnectionError && !error.maybeExecuted) this.#release(served);
        else {
          this.#waiting.splice(0, served.length);
          for (const caller of served) caller.fail(error);
        }
        throw error;
      }
    }
  }

  #release(callers: readonly Caller<I, O>[]): void {
    for (const caller of callers) {
      caller.isServed = false;
      if (caller.ended === null) continue;
      this.#waiting.splice(this.#waiting.indexOf(caller), 1);
      caller.ended();
    }
  }
}

export interface LineScripts<I, O> {
  /** Pushes as many as fit; answers how many. */
  push(inputs: readonly I[]): Promise<number>;
  /** Takes up to so many. */
  take(count: number): Promise<readonly O[]>;
}

export class WaitingLine<I, O> {
  readonly #scripts: LineScripts<I, O>;
  readonly #takers: Callers<null, O>;
  readonly #pushers: Callers<I, true>;
  readonly #hint: Hint;

  constructor(store: Store, channel: string, scripts: LineScripts<I, O>) {
    this.#scripts = scripts;
    this.#takers = new Callers(store, (inputs) => scripts.take(inputs.length));
    this.#pushers = new Callers(store, async (inputs) =>
      Array.from({ length: await scripts.push(inputs) }, () => true as const),
    );
    this.#hint = new Hint(store, {
      channel,
      pollMs: POLL_MS,
      look: async () => {
        await this.#takers.serve();
        await this.#pushers.serve();
      },
      isNeeded: () => this.#takers.count + this.#pushers.count > 0,
    });
  }

  /** Null: there was nothing in time. */
  async take(options: WaitOptions): Promise<O | null> {
    options.signal?.throwIfAborted();
    if (waits(options)) return this.#takers.wait(null, options, () => void this.#begin());
    const [first] = await this.#scripts.take(1);
    return first ?? null;
  }

  /** False: there was no room in time. */
  async push(input: I, options: WaitOptions): Promise<boolean> {
    options.signal?.throwIfAborted();
    if (waits(options)) return (await this.#pushers.wait(input, options, () => void this.#begin())) === true;
    return (await this.#scripts.push([input])) === 1;
  }

  /** Somebody has come: most are served at once, and nothing is subscribed to for those. */
  async #begin(): Promise<void> {
    // Callers that are concerned by an error hear of it; the others wait for the next look.
    await this.#hint.look().catch(() => {});
    if (this.#takers.count + this.#pushers.count > 0) this.#hint.follow();
  }
}

const waits = ({ waitMs = 0 }: WaitOptions): boolean => waitMs > 0;
