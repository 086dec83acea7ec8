/**
 * A process that leads whenever it is its turn: it waits in line, runs its body as the leader, and stands again afterwards, until it
 * is stopped. It never runs the body twice at a time: after a loss it waits for the body to end before it stands again.
 */
import { BackgroundLoop } from "../../base/background-loop.ts";
import { errorOf } from "../../base/errors.ts";
import { Listeners } from "../../base/listeners.ts";
import type { Store } from "../../connection/store.ts";
import type { Term } from "./term.ts";

/** How a term ended: "ended" by the leader, or "lost" because its lease ran out or was taken. */
export type TermEnd = "lost" | "ended";

/** What happens to a candidate. */
export interface CandidateEvents {
  /** Before the body runs. */
  elected(term: Term): void;
  /** After the body has ended. `lost`: leadership was taken away before that. */
  ended(term: Term, how: TermEnd): void;
  /** The body threw, or the store cannot be reached; the candidate goes on. */
  error(error: Error): void;
}

export interface CandidateTask {
  readonly name: string;
  readonly id: string;
  readonly retryMs: number;
  campaign(signal: AbortSignal): Promise<Term | null>;
  body(term: Term, signal: AbortSignal): Promise<unknown> | unknown;
}

/**
 * Stands for a name and leads whenever it is its turn. `Elections.candidate` makes it.
 *
 * @example
 * const work = async (term: Term, signal: AbortSignal) => console.log("I lead", term.fence, signal.aborted);
 * const candidate = new Elections(db).candidate("indexer", { id: "web-1" }, work);
 * const ended = new Promise((resolve) => candidate.on("ended", (_term, how) => resolve(how)));
 * candidate.start();
 * await ended; // → "ended"
 * await candidate.stop();
 */
export class Candidate {
  /** The name that it stands for. */
  readonly name: string;
  /** Names this candidate among those of the election. */
  readonly id: string;
  readonly #task: CandidateTask;
  readonly #loop: BackgroundLoop;
  readonly #listeners = new Listeners<CandidateEvents>("elected", "ended", "error");
  #term: Term | null = null;

  constructor(store: Store, task: CandidateTask) {
    this.name = task.name;
    this.id = task.id;
    this.#task = task;
    this.#loop = new BackgroundLoop(store, {
      everyMs: task.retryMs,
      round: (signal) => this.#round(signal),
      onError: (error) => this.#listeners.tell("error", errorOf(error)),
    });
  }

  /** The term that this process has now; null while it does not lead. */
  get term(): Term | null {
    return this.#term !== null && this.#term.validForMs > 0 ? this.#term : null;
  }

  /** Whether it was started and not stopped. */
  get running(): boolean {
    return this.#loop.running;
  }

  /** Stands for the name from now on, again after each term. */
  start(): this {
    this.#loop.start();
    return this;
  }

  /** Aborts the signal of a body that runs, waits for its end, and resigns. */
  stop(): Promise<void> {
    return this.#loop.stop();
  }

  /** Calls a listener at each event. Returns the function that takes it off. */
  on<E extends keyof CandidateEvents>(event: E, listener: CandidateEvents[E]): () => void {
    return this.#listeners.add(event, listener);
  }

  /** As `stop`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #round(signal: AbortSignal): Promise<number> {
    const term = await this.#task.campaign(signal);
    // More wait than may: it stands again after a pause.
    if (term === null) return 0;
    this.#term = term;
    this.#listeners.tell("elected", term);
    try {
      await this.#task.body(term, AbortSignal.any([signal, term.signal]));
    } catch (error) {
      // What is thrown because of the signal is no fault.
      if (!signal.aborted && !term.signal.aborted) throw error;
    } finally {
      const how: TermEnd = term.lost ? "lost" : "ended";
      this.#term = null;
      // What cannot be given back runs out by itself.
      await term.resign().catch(() => {});
      this.#listeners.tell("ended", term, how);
    }
    return 1;
  }
}
