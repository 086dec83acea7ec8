/**
 * Waiting for something to pop. Each lane has a bell on the server; a process that has somebody waiting waits at the bells, with one
 * connection for all lanes (in a Cluster one for each), however many wait. When a bell rings, waiting callers pop, the longest waiting
 * first. Nobody asks again and again; only every few seconds, since a process that has heard a bell may have died before it popped.
 */
import { ConnectionError } from "../../base/errors.ts";
import type { Store } from "../../connection/store.ts";
import { BlockingLoop, type Wait } from "../../waiting/blocking-loop.ts";
import { settleWhen, type Waiting } from "../../waiting/settle-when.ts";
import type { Lanes } from "./lanes.ts";
import type { OnceOptions } from "./once.ts";

/** How long a wait at a bell takes before the store is asked all the same. */
const ROUND_MS = 5_000;

/** An end of a list. */
export type Side = "left" | "right";

interface Waiter<T> extends Waiting<T | null> {
  readonly side: Side;
  readonly id: string | undefined;
  /** What to do once the pop that is under way for it has found nothing. */
  ended: (() => void) | null;
}

export interface WaitOptions extends OnceOptions {
  /** How long to wait for an element. By default `pop` does not wait, unless it has a `signal`: then for ever. */
  readonly waitMs?: number;
  /** Ends waiting: `pop` rejects with the signal's reason. None by default. */
  readonly signal?: AbortSignal;
}

export interface Popping<T> {
  /** Pops, first of all from the lane whose bell was heard. */
  pop(side: Side, once: OnceOptions, heard: number | null): Promise<T | null>;
  /** Nobody wants what the bell was rung for: lets others know. */
  pass(lane: number): Promise<void>;
}

export class Bells<T> {
  readonly #lanes: Lanes;
  readonly #store: Store;
  readonly #popping: Popping<T>;
  readonly #waiting: Waiter<T>[] = [];
  /** Each keeps its connection while nobody waits. */
  readonly #loops: BlockingLoop[] = [];
  /** How many of them it takes to listen at every bell. */
  #needed = 0;
  /** Also those for whom a pop is under way. */
  #count = 0;
  #serving: Promise<void> = Promise.resolve();

  constructor(lanes: Lanes, popping: Popping<T>) {
    this.#lanes = lanes;
    this.#store = lanes.store;
    this.#popping = popping;
  }

  /** What somebody put in; null after `waitMs`. */
  wait(side: Side, { waitMs, signal, id }: WaitOptions): Promise<T | null> {
    let waiter!: Waiter<T>;
    const leave = (end: () => void): void => this.#leave(waiter, end);
    const limits = { signal, timeoutMs: waitMs, onTimeout: null, leave };
    return settleWhen<T | null>(this.#store, limits, ({ settle, fail }) => {
      waiter = { side, id, settle, fail, ended: null };
      this.#count++;
      this.#waiting.push(waiter);
      void this.#listen();
      return () => {
        this.#count--;
      };
    });
  }

  /** One for whom a pop is under way must not be told that there is nothing: it may have something the next moment. */
  #leave(waiter: Waiter<T>, end: () => void): void {
    const at = this.#waiting.indexOf(waiter);
    if (at < 0) waiter.ended = end;
    else {
      this.#waiting.splice(at, 1);
      end();
    }
  }

  /** Sees to it that somebody listens at every bell. */
  async #listen(): Promise<void> {
    try {
      const { wide } = await this.#lanes.view();
      this.#needed = this.#store.topology === "cluster" ? wide : 1;
      while (this.#loops.length < this.#needed) this.#loops.push(this.#loop(this.#loops.length));
      for (const loop of this.#loops.slice(0, this.#needed)) void loop.run();
    } catch (error) {
      this.#failAll(error);
    }
  }

  #loop(nth: number): BlockingLoop {
    return new BlockingLoop(this.#store, {
      isWanted: () => this.#count > 0 && nth < this.#needed && !this.#store.closed,
      round: async (wait) => {
        const heard = await this.#hear(nth, wait);
        const serving = this.#serving.then(() => this.#serve(heard));
        // What fails is for this round to hear of, and not for those that come after it.
        this.#serving = serving.catch(() => {});
        await serving;
        // There may be more lanes by now.
        await this.#listen();
      },
      onFault: (error) => {
        if (error instanceof ConnectionError) return true;
        this.#failAll(error);
        return false;
      },
    });
  }

  #failAll(error: unknown): void {
    for (const waiter of this.#waiting.splice(0)) waiter.fail(error);
  }

  /** Which lane's bell was heard; null when none was for a while. */
  async #hear(nth: number, wait: Wait): Promise<number | null> {
    const isCluster = this.#store.topology === "cluster";
    const { wide } = await this.#lanes.view();
    const lanes = isCluster ? [nth] : Array.from({ length: wide }, (_, lane) => lane);
    const bellOf = (lane: number): string => this.#lanes.keys(lane).bell;
    const words = ["BLPOP", ...lanes.map(bellOf), ROUND_MS / 1_000];
    const reply = await wait(bellOf(isCluster ? nth : 0), words, { timeoutMs: ROUND_MS });
    if (!Array.isArray(reply)) return null;
    return lanes.find((lane) => bellOf(lane) === String(reply[0])) ?? null;
  }

  /** Pops for waiting callers, until there is nothing more. */
  async #serve(heardAt: number | null): Promise<void> {
    let heard = heardAt;
    for (let waiter = this.#waiting.shift(); waiter !== undefined; waiter = this.#waiting.shift()) {
      try {
        const value = await this.#popping.pop(waiter.side, onceOf(waiter.id), heard);
        heard = null;
        if (value !== null) waiter.settle(value);
        else {
          if (waiter.ended !== null) waiter.ended();
          else this.#waiting.unshift(waiter);
          return;
        }
      } catch (error) {
        waiter.fail(error);
        throw error;
      }
    }
    if (heard !== null) await this.#popping.pass(heard);
  }
}

const onceOf = (id: string | undefined): OnceOptions => (id === undefined ? {} : { id });
