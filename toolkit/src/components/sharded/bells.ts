/**
 * Waiting for something to pop. Each lane has a bell on the server; a process that has somebody waiting waits at the bells, with one
 * connection for all lanes (in a Cluster one for each), however many wait. When a bell rings, those who wait pop, the longest waiting
 * first. Nobody asks again and again; only every few seconds, since one who has heard a bell may have died before it popped.
 */
import { sleep } from "../../base/clock.ts";
import { ClosedError, ConnectionError } from "../../base/errors.ts";
import type { BlockingConnection } from "../../connection/blocking.ts";
import type { Store } from "../../connection/store.ts";
import type { Lanes } from "./lanes.ts";
import type { OnceOptions } from "./once.ts";

/** How long a wait at a bell takes before the store is asked all the same. */
const ROUND_MS = 5_000;
const PAUSE_AFTER_FAULT_MS = 200;

export type Side = "left" | "right";

interface Waiter<T> {
  readonly side: Side;
  readonly id: string | undefined;
  settle(value: T | null): void;
  fail(error: unknown): void;
  /** What to do once the pop that is under way for it has found nothing. */
  ended: (() => void) | null;
}

export interface WaitOptions extends OnceOptions {
  /** How long to wait; without it, for ever. */
  readonly waitMs?: number;
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
  readonly #loops = new Set<number>();
  readonly #connections = new Map<number, BlockingConnection>();
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
    return new Promise((resolve, reject) => {
      const stop = AbortSignal.any([this.#store.closeSignal, ...(signal === undefined ? [] : [signal])]);
      const waiter: Waiter<T> = {
        side,
        id,
        ended: null,
        settle: (value) => over(() => resolve(value)),
        fail: (error) => over(() => reject(error)),
      };
      const over = (then: () => void): void => {
        this.#count--;
        timer?.cancel();
        stop.removeEventListener("abort", onAbort);
        then();
      };
      // One for whom a pop is under way must not be told that there is nothing: it may have something the next moment.
      const leave = (then: () => void): void => {
        const at = this.#waiting.indexOf(waiter);
        if (at < 0) waiter.ended = then;
        else {
          this.#waiting.splice(at, 1);
          then();
        }
      };
      const onAbort = (): void => leave(() => waiter.fail(stop.reason ?? new ClosedError()));
      const timer =
        waitMs === undefined
          ? null
          : this.#store.clock.after(waitMs, () => leave(() => waiter.settle(null)), { keepAlive: true });
      stop.addEventListener("abort", onAbort, { once: true });
      this.#count++;
      this.#waiting.push(waiter);
      if (stop.aborted) return onAbort();
      void this.#listen();
    });
  }

  /** Sees to it that somebody listens at every bell. */
  async #listen(): Promise<void> {
    try {
      const { wide } = await this.#lanes.view();
      const loops = this.#store.topology === "cluster" ? wide : 1;
      for (let nth = 0; nth < loops; nth++) {
        if (this.#loops.has(nth)) continue;
        this.#loops.add(nth);
        void this.#loop(nth).finally(() => this.#loops.delete(nth));
      }
    } catch (error) {
      for (const waiter of this.#waiting.splice(0)) waiter.fail(error);
    }
  }

  async #loop(nth: number): Promise<void> {
    while (this.#count > 0 && !this.#store.closed) {
      try {
        const heard = await this.#hear(nth);
        this.#serving = this.#serving.then(() => this.#serve(heard));
        await this.#serving;
        // There may be more lanes by now.
        await this.#listen();
        if (this.#store.topology === "cluster" && nth >= (await this.#lanes.view()).wide) return;
      } catch (error) {
        if (this.#store.closed) return;
        if (!(error instanceof ConnectionError)) {
          for (const waiter of this.#waiting.splice(0)) waiter.fail(error);
          return;
        }
        await sleep(this.#store.clock, PAUSE_AFTER_FAULT_MS, this.#store.closeSignal).catch(() => {});
      }
    }
  }

  /** Which lane's bell was heard; null when none was for a while. */
  async #hear(nth: number): Promise<number | null> {
    const isCluster = this.#store.topology === "cluster";
    const { wide } = await this.#lanes.view();
    const lanes = isCluster ? [nth] : Array.from({ length: wide }, (_, lane) => lane);
    const bells = lanes.map((lane) => this.#lanes.keys(lane).bell);
    let connection = this.#connections.get(nth);
    if (connection === undefined) {
      connection = this.#store.blocking(bells[0]!);
      this.#connections.set(nth, connection);
    }
    const reply = (await connection.call(["BLPOP", ...bells, ROUND_MS / 1_000], { timeoutMs: ROUND_MS })) as
      | string[]
      | null;
    return reply === null ? null : lanes[bells.indexOf(reply[0]!)]!;
  }

  /** Pops for those who wait, until there is nothing more. */
  async #serve(heardAt: number | null): Promise<void> {
    let heard = heardAt;
    while (this.#waiting.length > 0) {
      const waiter = this.#waiting.shift()!;
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
