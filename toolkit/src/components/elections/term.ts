/** One time of leading: a lease with a fence, which ends by resigning, by handing over, or by being lost. */
import { onAbort } from "../../base/abort.ts";
import { word } from "../../base/checks.ts";
import { CinnabarError } from "../../base/errors.ts";
import type { Lease } from "../../leases/lease.ts";
import type { HandedOver } from "../../leases/scripts.ts";

/** What became of a handing over. */
export interface HandOverOutcome {
  /** not-found: no candidate of this id waits, and the term goes on. lost: somebody else leads already. */
  readonly status: HandedOver;
}

/** How a term speaks to its election. */
export interface TermKeeper {
  handOver(lease: Lease, to: string): Promise<HandedOver>;
  /** The term is over: observers are to look. */
  ended(): void;
}

/**
 * One time of leading. `campaign` gives it, and candidates get it.
 *
 * @example
 * const elections = new Elections(db);
 * const term = (await elections.campaign("writer", { id: "a" }))!;
 * const next = elections.campaign("writer", { id: "b" });
 * while ((await elections.inspect("writer")).waiting === 0) await new Promise(setImmediate);
 * await term.handOver("b"); // → { status: "handed-over" }
 * await (await next)?.resign(); // → true
 */
export class Term {
  /** Of the election. */
  readonly name: string;
  /** Of the candidate. */
  readonly id: string;
  readonly #lease: Lease;
  readonly #keeper: TermKeeper;
  #isHandingOver = false;
  /** Made when somebody asks for the signal, which most terms end without. */
  #over: AbortController | null = null;
  /** How it ended, unless it was lost. */
  #ended: string | null = null;

  constructor(id: string, lease: Lease, keeper: TermKeeper) {
    this.name = lease.name;
    this.id = id;
    this.#lease = lease;
    this.#keeper = keeper;
  }

  /** Larger than that of every earlier leader. Send it with every write to something outside, which refuses a smaller one. */
  get fence(): number {
    return this.#lease.fence;
  }

  /** For how long nobody else can lead, at least; 0 when the term is over, and while it is being handed over. */
  get validForMs(): number {
    return this.#isHandingOver ? 0 : this.#lease.validForMs;
  }

  /** Aborted when the term is over: by a LeaseLostError when it was lost, by an error with the code RESIGNED otherwise. */
  get signal(): AbortSignal {
    if (this.#over === null) {
      const over = new AbortController();
      const { signal } = this.#lease;
      this.#over = over;
      if (this.#ended !== null) over.abort(resigned(this.#ended));
      else if (signal.aborted) over.abort(signal.reason);
      else onAbort(signal, () => over.abort(signal.reason));
    }
    return this.#over.signal;
  }

  /** Whether leadership was taken away before the term was ended here. */
  get lost(): boolean {
    return this.#lease.lost;
  }

  /** Ends the term; the next in line leads in the same step. False: somebody else led already. Safe to call twice. */
  async resign(): Promise<boolean> {
    const released = this.#lease.release();
    this.#end("the leader has resigned");
    const resigned = await released;
    this.#keeper.ended();
    return resigned;
  }

  /**
   * Ends the term in favour of one candidate that waits, before all others. While the answer is on its way, nobody knows who leads: the
   * term is not valid meanwhile. Where no answer comes, it is over.
   */
  async handOver(to: string): Promise<HandOverOutcome> {
    word("the id of a candidate", to, 256);
    if (this.validForMs <= 0) return { status: "lost" };
    this.#isHandingOver = true;
    let status: HandedOver;
    try {
      status = await this.#keeper.handOver(this.#lease, to);
    } catch (error) {
      // It may have been handed over. What is still ours is given back, or runs out by itself.
      this.resign().catch(() => {});
      throw error;
    }
    this.#isHandingOver = false;
    if (status === "not-found") return { status };
    // It holds no longer: what is renewed and watched here ends, and nothing is left to give back.
    this.#lease.detach();
    this.#end(`the leader has handed over to "${to}"`);
    this.#keeper.ended();
    return { status };
  }

  #end(how: string): void {
    if (this.#ended !== null || this.#lease.lost) return;
    this.#ended = how;
    this.#over?.abort(resigned(how));
  }

  /** As `resign`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.resign().then(() => {});
  }
}

function resigned(how: string): CinnabarError {
  return new CinnabarError("RESIGNED", how);
}
